//! The equations of the model as the last steps, as printed by `lgm equations`, with the steps from which they follow.

use super::eliminate::{Draft, Elimination};
use super::report::Rule;
use super::variables::{Reading, Reason};
use lgm_algebra::expr::{ExprId, SymbolKind};
use rustc_hash::FxHashMap;

/// The value that an output measures.
#[derive(Clone, Copy)]
pub(super) struct Measured {
    /// The value over variables of ports and states.
    pub(super) value: ExprId,
    /// True if the output is the rate of the value.
    pub(super) is_rate: bool,
}

/// Adds the results: named parts, loops, states and outputs. `outputs` are their values over variables, if available.
pub(super) fn results(work: &mut Elimination<'_, '_>, outputs: &[Option<Measured>]) -> Result<(), Reason> {
    let ends = work.state_equations()?;
    let system = work.table.system;
    for assignment in system.read_assignments() {
        let left = work.table.exprs.symbol(assignment.symbol);
        let name = work.table.exprs.symbol_info(assignment.symbol).name.to_string();
        add(work, name, left, assignment.value, Vec::new());
    }
    for at in 0..system.equations.loops.len() {
        for residual in system.read_residuals(at) {
            let zero = work.table.exprs.zero();
            let because = work.loops.clone();
            add(work, String::new(), zero, *residual, because);
        }
    }
    for state in 0..system.states.len() {
        let (left, right) = read_equation(work, state);
        let because = behind(work, &ends, state);
        add(work, system.states[state].name.to_string(), left, right, because);
    }
    for (at, output) in system.outputs.iter().enumerate() {
        let symbol = work.table.exprs.new_symbol(output.name.clone(), SymbolKind::Measure);
        work.table.readings.insert(symbol, Reading::Output(at));
        let left = work.table.exprs.symbol(symbol);
        let measured = outputs.get(at).copied().flatten();
        let (value, mut because) = match measured {
            Some(measured) => work.substituted(measured.value)?,
            None => (work.table.exprs.zero(), Vec::new()),
        };
        let right = system.read_output(at);
        // Rates of the solved states, even if they cancel from the result.
        let mut read = vec![right];
        read.extend(measured.map(|measured| measured.value));
        read.extend(because.iter().map(|draft| work.drafts[*draft].right));
        for symbol in work.table.exprs.symbols_of(&read) {
            if let Some(Reading::StateRate(state)) = work.table.readings.get(&symbol) {
                because.extend(ends.get(state).filter(|end| !because.contains(end)));
            }
        }
        for symbol in work.table.exprs.symbols_of(&[value]) {
            if let (Some(Reading::State(state)), true) = (
                work.table.readings.get(&symbol),
                measured.is_some_and(|measured| measured.is_rate),
            ) {
                because.extend(ends.get(state).filter(|end| !because.contains(end)));
            }
        }
        add(work, output.name.to_string(), left, right, because);
    }
    Ok(())
}

fn add(work: &mut Elimination<'_, '_>, of: String, left: ExprId, right: ExprId, because: Vec<usize>) {
    work.drafts.push(Draft {
        rule: Rule::Result,
        of,
        left,
        right,
        because,
        together: Vec::new(),
        is_derivative: false,
    });
}

/// Returns the equation of a state, with rates times factors on the left.
fn read_equation(work: &mut Elimination<'_, '_>, state: usize) -> (ExprId, ExprId) {
    let table = &mut *work.table;
    let system = table.system;
    let (terms, right): (Vec<(u32, ExprId)>, ExprId) =
        match (&system.equations.mass_form, &system.equations.mass_matrix) {
            (Some(form), _) => (form.equations[state].terms.clone(), form.equations[state].right),
            (None, Some(mass)) => (mass.rows[state].clone(), system.equations.derivatives[state]),
            (None, None) => {
                let one = table.exprs.one();
                (vec![(state as u32, one)], system.equations.derivatives[state])
            }
        };
    let mut left = Vec::new();
    for (state, factor) in terms {
        let rate = table.state_rate(state as usize);
        left.push(table.exprs.mul(factor, rate));
    }
    (table.exprs.sum(left), right)
}

/// Returns the last lines of a state's equation, and of the equations of all states whose rates it contains.
fn behind(work: &Elimination<'_, '_>, ends: &FxHashMap<usize, usize>, state: usize) -> Vec<usize> {
    let table = &work.table;
    let (mut waiting, mut found, mut seen) = (vec![state], Vec::new(), vec![state]);
    while let Some(next) = waiting.pop() {
        let Some(end) = ends.get(&next) else { continue };
        found.push(*end);
        let draft = &work.drafts[*end];
        for symbol in table.exprs.symbols_of(&[draft.left, draft.right]) {
            if let Some(Reading::StateRate(other)) = table.readings.get(&symbol)
                && !seen.contains(other)
            {
                seen.push(*other);
                waiting.push(*other);
            }
        }
    }
    found
}
