//! Modal blocks: a distributed-parameter element as its modes, each an ordinary storage, and one coupler between the
//! modes and the ports.
//!
//! In the flat graph nothing is special about them: with n modes and p ports there are n nodes, n A-types, up to n
//! T-types and dissipators, and one p-by-n transformer whose entries are the values of the shapes at the ports
//! (Pourazadi, sec. 4.5: `v_port = R' v`, `M v' = -f + R f_port`). So every causality at the ports works through
//! reduction. The dual (`drive across;`) has the modes' T-types where the A-types were, in series with the rest.

mod expand;
mod measures;
mod parts;
mod residual;
mod root;
mod rules;
mod starts;
mod table;
mod table_text;

use super::values::{Scalar, Value};
pub(super) use expand::KnownRules;
use lgm_algebra::expr::ExprId;
use lgm_model::ElementId;
use lgm_syntax::ast;
pub(super) use measures::{MEASURES, ModalPort};
use rules::Rules;
pub(super) use rules::check;
use std::rc::Rc;
pub(super) use table::TableScope;
pub(super) use table_text::{ModeTable, TABLE, table_use};

/// The arguments of every modal block, beside the parameters that it declares.
pub(super) const ARGUMENTS: &[&str] = &["modes", "at", "over", "residual"];

/// Where a port acts.
#[derive(Clone, Debug)]
pub(super) enum Position {
    /// At a point, one coordinate or two.
    Point(Vec<Scalar>),
    /// Evenly over a span.
    Span(Scalar, Scalar),
}

/// What one mode became.
#[derive(Clone, Debug)]
pub(super) struct Mode<'a> {
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

/// An expanded modal block. Elements are counted from its first one, which is its coupler.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub instance: &'a ast::Instance,
    pub modal: &'a ast::Modal,
    pub rules: Rc<Rules<'a>>,
    /// The parameters with their values.
    pub formals: Vec<(&'a str, Value)>,
    pub modes: Vec<Mode<'a>>,
    pub ports: Vec<Position>,
    /// What stands for the modes left out.
    pub residual: residual::Residual,
    /// What closes positions off: the length, or the two sides.
    pub sides: Vec<Scalar>,
}
