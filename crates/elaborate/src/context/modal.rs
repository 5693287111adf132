//! Modal blocks that were expanded: what their modes became, and where their ports act.

use crate::context::values::{Scalar, Value};
use crate::modal_rules::Rules;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::{ElementId, PathId, PortId};
use lgm_source::Span;
use lgm_syntax::ast;
use std::rc::Rc;

/// Where a port acts.
#[derive(Clone, Debug)]
pub(crate) enum Position {
    /// At a point, one coordinate or two.
    Point(Vec<Scalar>),
    /// Evenly over a span.
    Span(Scalar, Scalar),
}

/// What one mode became.
#[derive(Clone, Debug)]
pub(crate) struct Mode<'a> {
    /// The index of the modes and the local names, with their values.
    pub scope: Vec<(&'a str, Value)>,
    /// The primary storage: A-type, or T-type of the dual.
    pub storage: ElementId,
    /// The restoring storage and the value by which its state is divided to get a displacement; none of a rigid mode.
    pub restoring: Option<(ElementId, ExprId)>,
    /// The value of the dissipator.
    pub dissipation: Option<ExprId>,
    /// The value of a loss in series with the restoring storage (in parallel, of the dual).
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

/// An expanded modal block. Elements are counted from its first one, which is its coupler.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub owner: Owner,
    pub instance: &'a ast::Instance,
    pub modal: &'a ast::Modal,
    pub rules: Rc<Rules<'a>>,
    /// The parameters with their values.
    pub formals: Vec<(&'a str, Value)>,
    pub modes: Vec<Mode<'a>>,
    pub ports: Vec<Position>,
    /// What stands for the modes left out.
    pub residual: Residual,
    /// What closes positions off: the length, or the two sides.
    pub sides: Vec<Scalar>,
}

/// Whose constant a value becomes: the block, where it was made, and what is positive because the block lies along it.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub block: PathId,
    /// True if the values are few enough to be read by their names.
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
