//! The parts of a document, independent of the output format.

/// A part of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentPart {
    /// The name of the model.
    Title(String),
    /// The title of the following parts.
    Heading(String),
    /// Equations in separate lines, aligned at the sign after `&`.
    Aligned(Vec<String>),
    /// A displayed formula.
    Formula(String),
    /// A displayed matrix, in small type if it is wide.
    Matrix(String, Type),
    /// Running text.
    Text(Vec<Inline>, After),
}

/// The type size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Normal,
    Small,
}

/// The continuation after running text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The paragraph continues with a displayed formula.
    Formula,
    /// The paragraph ends.
    End,
}

/// A piece of running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inline {
    /// Running text; a non-breaking space is U+00A0.
    Words(String),
    /// A formula within the line.
    Formula(String),
    /// An expression in the modelling language.
    Code(String),
}
