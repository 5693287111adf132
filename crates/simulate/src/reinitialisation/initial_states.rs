//! The states that a run begins with.

use crate::failure::{Blame, Failure, FailureKind};
use crate::motion::{Mass, Motion};
use crate::reinitialisation::steady_states;
use crate::solvers::finite::all_finite;
use crate::solvers::linear_factors::pattern;
use lgm_equations::search_starts;
use lgm_kernels::{Arguments, Kernel, KernelOptions, Layout, SparseKernel, expression};
use lgm_model::system::StateVariable;
use lgm_numerics::conserved::{conserved, not_kept};
use lgm_numerics::newton::{Linearised, find_zero};
use lgm_numerics::rest::{Rest, Sought, find_rest, running};
use lgm_numerics::search::scattered;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::DMatrix;

/// Relative agreement of starts that depend on each other, as where the equations are formulated.
const AGREEMENT: f64 = 1e-9;

/// A state of a steady state that is smaller than this is zero: what is left of an iteration towards it.
const AT_REST: f64 = 1e-36;

/// A steady state of more unknowns than this is looked for by sparse matrices first.
const SMALL: usize = 60;

/// A steady state of more unknowns than this is not looked for by dense ones.
const DENSE: usize = 600;

/// The starts of all states with these parameters; those of dependent storage are compared with what follows.
pub(crate) fn given(motion: &Motion<'_>, time: f64) -> Result<Vec<f64>, Failure> {
    let system = motion.system;
    let at = Arguments {
        time,
        parameters: motion.parameters,
        ..Arguments::default()
    };
    let mut states = motion.kernels.starts.values(&at);
    if let Some(index) = states.iter().position(|value| !value.is_finite()) {
        let kind = FailureKind::LeftDomain(format!("its start is {}", states[index]));
        return Err(Failure {
            blame: motion.state(index).map(Box::new),
            ..Failure::new(time, kind)
        });
    }
    let (inputs, rates) = motion.inputs(time);
    if search_starts(system, motion.parameters, (&inputs, &rates), &mut states).is_none() {
        return Err(Failure::new(time, FailureKind::StartsNotFound));
    }
    if system.starts.constraints.is_empty() {
        return Ok(states);
    }
    let roots: Vec<_> = system
        .starts
        .constraints
        .iter()
        .flat_map(|constraint| [constraint.given, constraint.follows])
        .collect();
    let layout = Layout::new(system);
    let values = expression(&system.exprs, &roots, &layout, &KernelOptions { native: false }).values(&at);
    for (constraint, pair) in system.starts.constraints.iter().zip(values.chunks_exact(2)) {
        let (given, follows) = (pair[0], pair[1]);
        let agree = (follows - given).abs() <= AGREEMENT * follows.abs().max(given.abs());
        if !agree {
            return Err(Failure {
                blame: Some(Box::new(Blame {
                    element: Some(constraint.name.to_string()),
                    variable: constraint.name.to_string(),
                    span: Some(constraint.span),
                    ..Blame::default()
                })),
                ..Failure::new(time, FailureKind::Starts { given, follows })
            });
        }
    }
    Ok(states)
}

/// The rates and the residuals of loops with the inputs held, and their Jacobian, by states and loop unknowns together.
fn linearised(motion: &Motion<'_>, time: f64, still: &[f64], y: &[f64]) -> Linearised {
    let n = motion.states;
    let size = n + motion.unknowns;
    let kernels = motion.kernels;
    let jacobians = kernels.jacobians(motion.system);
    let mut value = vec![0.0; size];
    let (states, unknowns) = y.split_at(n);
    motion.call(
        &kernels.derivatives,
        time,
        states,
        unknowns,
        Some(still),
        &mut value[..n],
    );
    motion.call(&kernels.residuals, time, states, unknowns, Some(still), &mut value[n..]);
    let mut jacobian = DMatrix::zeros(size, size);
    let mut fill = |kernel: &SparseKernel, row: usize, column: usize| {
        let mut entries = vec![0.0; kernel.stored()];
        motion.call(&kernel.values, time, states, unknowns, Some(still), &mut entries);
        for inner in 0..kernel.rows {
            for at in kernel.row_starts[inner]..kernel.row_starts[inner + 1] {
                jacobian[(row + inner, column + kernel.columns_of[at])] = entries[at];
            }
        }
    };
    fill(&jacobians.rates_by_states, 0, 0);
    fill(&jacobians.rates_by_unknowns, 0, n);
    fill(&jacobians.residuals_by_states, n, 0);
    fill(&jacobians.residuals_by_unknowns, n, n);
    all_finite(&value).then_some((value, jacobian))
}

/// A steady state: all derivatives are zero with the inputs of the first instant, held.
///
/// Newton's iteration over states and loop unknowns together, beginning at the starts. Combinations of states that the equations keep
/// constant, as the whole volume of two tanks that are joined, keep their values at the starts. Where states are still not
/// determined (a free integrator), the nearest steady state to the starts is taken, and a remark says so.
pub(crate) fn steady(
    motion: &Motion<'_>,
    time: f64,
    starts: &[f64],
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<f64>, Failure> {
    let (n, k) = (motion.states, motion.unknowns);
    let size = n + k;
    let failure = |blame: Option<Blame>| Failure {
        blame: blame.map(Box::new),
        ..Failure::new(time, FailureKind::NoEquilibrium)
    };
    let mut y = vec![0.0; size];
    y[..n].copy_from_slice(starts);
    motion.solve_loops(time, starts);
    motion.copy_unknowns(&mut y[n..]);
    if size > SMALL {
        match steady_states::find(motion, time, y.clone()) {
            Ok(rest) => {
                report_free(motion, &rest.free, notes);
                return Ok(rest.at[..n].to_vec());
            }
            Err(worst) if size > DENSE => return Err(failure(worst.and_then(|row| motion.state(row)))),
            Err(_) => {}
        }
    }
    let still = vec![0.0; motion.system.inputs.len()];
    let kept = constant_combinations(motion, time, &y, &still);
    let linearised = |y: &[f64]| linearised(motion, time, &still, y);
    // A state of rest that the starts lead to keeps what the equations keep.
    let sought = Sought {
        guess: &y,
        starts,
        kept: &kept,
        mass: &dense_mass(motion),
        running: &running_states(motion),
    };
    match find_rest(&sought, linearised) {
        Ok(found) => Ok(rest(motion, found, &kept, notes)),
        Err(stuck) => {
            let names = || motion.system.states.iter().map(|state| &*state.name);
            let whole = find_zero(y.clone(), linearised).ok();
            match whole.and_then(|zero| not_kept(&kept, starts, &zero.at, names)) {
                Some(words) => Err(Failure::new(time, FailureKind::RestNotReached(words))),
                None => Err(failure(stuck.worst.and_then(|(row, _)| motion.state(row)))),
            }
        }
    }
}

/// The states at rest, with remarks on those that it leaves open and those that go on changing.
fn rest(motion: &Motion<'_>, Rest { zero, running }: Rest, kept: &[Vec<f64>], notes: &mut Vec<Diagnostic>) -> Vec<f64> {
    let n = motion.states;
    // A state that never changes is where it starts, and nothing else holds it there.
    let alone = kept.iter().filter_map(|combination| {
        let mut parts = (0..n).filter(|at| combination[*at] != 0.0);
        parts.next().filter(|_| parts.next().is_none())
    });
    let mut free: Vec<usize> = zero.free.iter().copied().chain(alone).collect();
    free.sort_unstable();
    free.dedup();
    free.retain(|at| !running.contains(at));
    report_free(motion, &free, notes);
    report_running(motion, &running, notes);
    let mut states = zero.at;
    states.truncate(n);
    for state in states.iter_mut().filter(|state| state.abs() < AT_REST) {
        *state = 0.0;
    }
    states
}

/// The mass matrix where it is constant; where it follows the states, that of the states alone is near enough to find rest.
fn dense_mass(motion: &Motion<'_>) -> DMatrix<f64> {
    let mut matrix = DMatrix::identity(motion.states, motion.states);
    if let (Mass::Constant { values, .. }, Some(mass)) = (&motion.mass, &motion.kernels.mass) {
        matrix.fill(0.0);
        for (row, column, at) in pattern(mass).entries() {
            matrix[(row, column)] = values[at];
        }
    }
    matrix
}

/// The combinations of states that the equations keep constant with the inputs held: of `M x' = f` those of `M x` whose
/// combination of f vanishes everywhere. A matrix that changes keeps none that are looked for.
fn constant_combinations(motion: &Motion<'_>, time: f64, near: &[f64], still: &[f64]) -> Vec<Vec<f64>> {
    let n = motion.states;
    let combinations = |rates: &Kernel| {
        conserved(n, |set| {
            let there: Vec<f64> = near.iter().enumerate().map(|(k, at)| at + scattered(k, set)).collect();
            let (states, unknowns) = there.split_at(n);
            let mut found = vec![0.0; n];
            motion.call(rates, time, states, unknowns, Some(still), &mut found);
            Some(found)
        })
    };
    match (&motion.mass, &motion.kernels.mass) {
        (Mass::Identity, _) => combinations(&motion.kernels.derivatives),
        (Mass::Constant { values, .. }, Some(mass)) => combinations(&motion.kernels.derivatives)
            .into_iter()
            .map(|of_forces| {
                let mut of_states = vec![0.0; n];
                for (row, column, at) in pattern(mass).entries() {
                    of_states[column] += of_forces[row] * values[at];
                }
                of_states
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The states that integrate something for nobody.
fn running_states(motion: &Motion<'_>) -> Vec<usize> {
    let jacobians = motion.kernels.jacobians(motion.system);
    let reads = |kernel: &SparseKernel, first: usize| -> Vec<(usize, usize)> {
        let entries = pattern(kernel);
        entries
            .entries()
            .map(|(row, column, _)| (first + row, column))
            .collect()
    };
    let mut read = reads(&jacobians.rates_by_states, 0);
    read.extend(reads(&jacobians.residuals_by_states, motion.states));
    let states = motion.system.states.iter();
    running(
        states.map(|state| state.variable == StateVariable::Integral).collect(),
        &read,
    )
}

/// Names of states in a sentence; none without states.
fn quoted(motion: &Motion<'_>, states: &[usize]) -> Option<String> {
    let all = &motion.system.states;
    let names = states.iter().filter_map(|at| all.get(*at));
    let names: Vec<String> = names.map(|state| format!("`{}`", state.name)).collect();
    let shown = names.len().min(8);
    let mut list = names[..shown].join(", ");
    if names.len() > shown {
        list.push_str(&format!(" and {} more", names.len() - shown));
    }
    (shown > 0).then_some(list)
}

/// Says which states go on changing.
fn report_running(motion: &Motion<'_>, running: &[usize], notes: &mut Vec<Diagnostic>) {
    let Some(list) = quoted(motion, running) else { return };
    notes.push(
        Diagnostic::information(
            Code::LGM1021,
            format!("the steady state does not hold {list}: nothing else depends on it"),
        )
        .help("it goes on changing at a constant rate from its start"),
    );
}

/// Says which states a steady state leaves open.
fn report_free(motion: &Motion<'_>, free: &[usize], notes: &mut Vec<Diagnostic>) {
    let Some(list) = quoted(motion, free) else { return };
    notes.push(
        Diagnostic::information(
            Code::LGM1021,
            format!("the steady state does not determine {list}; they begin as near to their starts as it allows"),
        )
        .help("give their `start` the value that they are to have"),
    );
}
