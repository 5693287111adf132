//! Instants on every side of time events, for verification: equations that are correct before a step may be wrong after it.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId};

/// The maximum number of examined instants.
const MOST: usize = 8;

/// Returns one instant in every gap between the discontinuities of functions and conditions of time, and one after the
/// last discontinuity; none without discontinuities. `value_of` gives the parameters.
pub(crate) fn between_corners(exprs: &Exprs, time: SymbolId, value_of: &dyn Fn(SymbolId) -> Option<f64>) -> Vec<f64> {
    let mut corners: Vec<f64> = exprs
        .ids()
        .flat_map(|id| corners_of(exprs, time, id, value_of))
        .collect();
    corners.retain(|corner| corner.is_finite() && *corner >= 0.0);
    corners.sort_by(f64::total_cmp);
    corners.dedup();
    let Some(last) = corners.last() else {
        return Vec::new();
    };
    let mut instants = vec![last + 0.7 * last.max(1.0)];
    let mut before = 0.0;
    for corner in &corners {
        if *corner > before {
            instants.push(before + 0.6 * (corner - before));
        }
        before = *corner;
    }
    instants.truncate(MOST);
    instants
}

/// Returns the discontinuities of one node, with parameters at their values; none if they depend on anything else.
fn corners_of(exprs: &Exprs, time: SymbolId, id: ExprId, value_of: &dyn Fn(SymbolId) -> Option<f64>) -> Vec<f64> {
    let number = |id: ExprId| exprs.evaluate_unchecked(&[id], &|symbol| value_of(symbol).or(Some(f64::NAN)))[0];
    let is_time = |id: ExprId| matches!(exprs.node(id), Node::Symbol(symbol) if *symbol == time);
    match exprs.node(id) {
        Node::Call(Function::Step | Function::Ramp, arguments) => {
            arguments.iter().take(1).map(|at| number(*at)).collect()
        }
        Node::Call(Function::Pulse, arguments) if arguments.len() >= 2 => {
            let (start, width) = (number(arguments[0]), number(arguments[1]));
            vec![start, start + width]
        }
        Node::Relation(_, a, b) if is_time(*a) => vec![number(*b)],
        Node::Relation(_, a, b) if is_time(*b) => vec![number(*a)],
        _ => Vec::new(),
    }
}

/// One instant of a run.
#[derive(Clone, Debug, Default)]
pub struct Instant {
    /// The time in seconds.
    pub time: f64,
    /// States in order.
    pub states: Vec<f64>,
    /// Inputs in order.
    pub inputs: Vec<f64>,
    /// Time derivatives of the inputs.
    pub rates: Vec<f64>,
}
