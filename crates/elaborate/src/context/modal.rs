//! Expanded modal blocks: the elements of their modes, and the positions of their ports.

use crate::context::values::{Scalar, Value};
use crate::modal_rules::Rules;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::{ElementId, PathId, PortId};
use lgm_source::Span;
use lgm_syntax::ast;
use std::rc::Rc;

/// The position of a port.
#[derive(Clone, Debug)]
pub(crate) enum Position {
    /// At a point with one or two coordinates.
    Point(Vec<Scalar>),
    /// Uniformly over a span.
    Span(Scalar, Scalar),
}

/// The result of one mode.
#[derive(Clone, Debug)]
pub(crate) struct Mode<'a> {
    /// The index of the modes and the local names, with their values.
    pub scope: Vec<(&'a str, Value)>,
    /// The primary storage: A-type, or T-type of the dual.
    pub storage: ElementId,
    /// The restoring storage and the value by which its state is divided to get a displacement; none for a rigid mode.
    pub restoring: Option<(ElementId, ExprId)>,
    /// The value of the dissipator.
    pub dissipation: Option<ExprId>,
    /// The value of a loss in series with the restoring storage (in parallel for the dual).
    pub loss: Option<ExprId>,
}

/// The residual of a block: its elements, counted from the coupler.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Residual {
    /// The storage of the compliance.
    pub storage: Option<ElementId>,
    /// The dissipator of the resistance.
    pub dissipator: Option<ElementId>,
}

/// An expanded modal block. Elements are counted from the first one, the coupler.
#[derive(Debug)]
pub(crate) struct ModalBlock<'a> {
    pub owner: Owner,
    pub instance: &'a ast::Instance,
    pub modal: &'a ast::Modal,
    pub rules: Rc<Rules<'a>>,
    /// The parameters with their values.
    pub formals: Vec<(&'a str, Value)>,
    pub modes: Vec<Mode<'a>>,
    pub ports: Vec<Position>,
    /// The replacement of the omitted modes.
    pub residual: Residual,
    /// The bounds of positions: the length, or the two sides.
    pub sides: Vec<Scalar>,
}

/// The owner of a constant: its block, the location of its creation, and the positive positions along the block.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub block: PathId,
    /// True if the number of values is small enough to name them.
    pub is_read: bool,
    pub span: Span,
    pub sides: Vec<SymbolId>,
}

/// A port of a modal block in the flat graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModalPort {
    pub coupler: PortId,
    pub residual: [Option<PortId>; 2],
    pub in_series: bool,
}
