//! A warning about laws whose pulses a run may step over.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, print};
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// Adds a warning if the rates jump with a periodic function of a state, such as `if cos(10*angle) > 0.5 then 1 else 0`.
///
/// A solver step may pass such a pulse, since the rates at its own points do not show it. Conditions of events are examined within each
/// step, and conditions of time bound the steps, so neither is affected.
pub fn warn_of_pulses(system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) {
    let Some(condition) = pulse(system) else { return };
    let message = format!(
        "a run may step over pulses of `{}`: the rates of the states jump with a periodic function of a state",
        print::text(&system.exprs, condition)
    );
    let help = "write the pulse as a `Switch`, or as a `discrete` variable that `when` blocks set; or compare the run with \
        `--method bdf`";
    diagnostics.push(Diagnostic::warning(Code::LGM1027, message).help(help));
}

/// Returns the first condition, or argument of `sign`, that contains a periodic function of a state.
fn pulse(system: &StateSystem) -> Option<ExprId> {
    let (exprs, equations) = (&system.exprs, &system.equations);
    let assignments = equations.assignments.iter();
    let unknowns = equations.loops.iter().flat_map(|each| &each.unknowns);
    let states = system.states.iter().map(|state| state.symbol);
    let moving: FxHashSet<SymbolId> = (states.chain(unknowns.copied()))
        .chain(assignments.clone().map(|assignment| assignment.symbol))
        .collect();
    let residuals = equations.loops.iter().flat_map(|each| &each.residuals);
    let roots: Vec<ExprId> = (equations.derivatives.iter().chain(residuals).copied())
        .chain(assignments.map(|assignment| assignment.value))
        .collect();
    let jump = |id: &ExprId| match exprs.node(*id) {
        Node::If(condition, ..) => Some(*condition),
        Node::Call(Function::Sign, list) => Some(list[0]),
        _ => None,
    };
    let jumps = exprs.reachable(&roots).into_iter().filter_map(|id| jump(&id));
    jumps
        .into_iter()
        .find(|condition| is_periodic(exprs, *condition, &moving))
}

/// Returns true if an expression contains a periodic function of a moving symbol.
fn is_periodic(exprs: &Exprs, condition: ExprId, moving: &FxHashSet<SymbolId>) -> bool {
    exprs
        .reachable(&[condition])
        .into_iter()
        .any(|id| match exprs.node(id) {
            Node::Call(Function::Sin | Function::Cos | Function::Tan | Function::Floor, list) => {
                exprs.symbols_of(list).iter().any(|symbol| moving.contains(symbol))
            }
            _ => false,
        })
}
