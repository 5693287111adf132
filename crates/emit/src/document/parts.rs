//! The parts of a document, whatever it is set by.

/// A part of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The name of the model.
    Title(String),
    /// The title of what follows.
    Heading(String),
    /// Equations one below the other; `&` stands before the sign at which they are aligned.
    Aligned(Vec<String>),
    /// A formula that stands by itself.
    Formula(String),
    /// A matrix that stands by itself, in small type if it is wide.
    Matrix(String, Type),
    /// Running text.
    Text(Vec<Inline>, After),
}

/// The size of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Normal,
    Small,
}

/// What follows running text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The paragraph goes on, with a formula that stands by itself.
    Formula,
    /// It ends.
    End,
}

/// A piece of running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inline {
    /// Words as they are read; a space that no line ends at is U+00A0.
    Words(String),
    /// A formula within the line.
    Formula(String),
    /// An expression as the language writes it.
    Code(String),
}
