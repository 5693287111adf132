//! The elements of a graph in LG2ss' matrices.

/// The reference node of every LG2ss graph.
pub(super) const GROUND: u32 = 1;

/// An element type of table 5-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementType {
    AType,
    TType,
    DType,
    AcrossSource,
    ThroughSource,
    Transformer,
    Gyrator,
}

impl ElementType {
    pub(super) fn of(number: u32) -> Option<ElementType> {
        Some(match number {
            1 => ElementType::AType,
            2 => ElementType::TType,
            3 => ElementType::DType,
            4 => ElementType::AcrossSource,
            5 => ElementType::ThroughSource,
            6 => ElementType::Transformer,
            7 => ElementType::Gyrator,
            _ => return None,
        })
    }

    pub(super) fn is_two_port(self) -> bool {
        matches!(self, ElementType::Transformer | ElementType::Gyrator)
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            ElementType::AType => "A-type element",
            ElementType::TType => "T-type element",
            ElementType::DType => "D-type element",
            ElementType::AcrossSource => "across source",
            ElementType::ThroughSource => "through source",
            ElementType::Transformer => "transformer",
            ElementType::Gyrator => "gyrator",
        }
    }
}

/// An output type of table 5-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputType {
    Across,
    Through,
    IntegratedAcross,
    IntegratedThrough,
}

impl OutputType {
    pub(super) fn of(number: u32) -> Option<OutputType> {
        Some(match number {
            1 => OutputType::Across,
            2 => OutputType::Through,
            3 => OutputType::IntegratedAcross,
            4 => OutputType::IntegratedThrough,
            _ => return None,
        })
    }
}

/// One row of the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    pub(super) number: u32,
    pub(super) tail: u32,
    pub(super) head: u32,
    pub(super) kind: ElementType,
}

/// One element: a branch, or the two branches of a two-port.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    One(Branch),
    Two(Branch, Branch),
}

/// One row of the output matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub(super) number: u32,
    pub(super) branch: u32,
    pub(super) kind: OutputType,
}
