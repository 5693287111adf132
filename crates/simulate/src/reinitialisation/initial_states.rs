//! The states at the beginning of a run.

use crate::failure::{Blame, Failure, FailureKind};
use crate::finite::all_finite;
use crate::linear_factors::pattern;
use crate::motion::{Mass, Motion};
use crate::reinitialisation::steady_states;
use lgm_equations::{AGREEMENT, search_starts};
use lgm_kernels::{Arguments, Kernel, KernelOptions, Layout, SparseKernel, expression};
use lgm_model::system::StateVariable;
use lgm_numerics::conserved::{conserved, not_kept};
use lgm_numerics::newton::{Linearised, find_zero};
use lgm_numerics::rest::{Rest, Sought, find_rest, running};
use lgm_numerics::search::scattered;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::DMatrix;

/// Smaller values in a steady state are zero: the remainder of an iteration.
const AT_REST: f64 = 1e-36;

/// A steady state with more unknowns than this is first searched for with sparse matrices.
const SMALL: usize = 60;

/// A steady state with more unknowns than this is not searched for with dense matrices.
const DENSE: usize = 600;

/// Returns the initial values of all states with these parameters; those of dependent storage are checked against their derived values.
pub(crate) fn given(motion: &Motion<'_>, time: f64) -> Result<Vec<f64>, Failure> {
    let system = motion.system;
    let at = Arguments {
        time,
        parameters: motion.parameters,
        ..Arguments::default()
    };
    let mut states = motion.kernels.starts.values(&at);
    if let Some(index) = states.iter().position(|value| !value.is_finite()) {
        let kind = FailureKind::LeftDomain(format!("its initial value is {}", states[index]));
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

/// Returns the rates and the residuals of loops with the inputs held, and their Jacobian with respect to states and
/// loop unknowns together.
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

/// Returns a steady state: all derivatives are zero with the inputs of the first instant, held.
///
/// Newton's iteration solves for states and loop unknowns together, beginning at the initial values. Conserved
/// combinations of states, such as the total volume of two connected tanks, keep their initial values. If states are
/// still undetermined (a free integrator), the steady state nearest to the initial values is used, with a remark.
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
    // An equilibrium reachable from the initial values has the same conserved quantities.
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

/// Returns the states at rest, with remarks on states that are undetermined and on those that continue changing.
fn rest(motion: &Motion<'_>, Rest { zero, running }: Rest, kept: &[Vec<f64>], notes: &mut Vec<Diagnostic>) -> Vec<f64> {
    let n = motion.states;
    // A state that never changes has its initial value, and nothing else determines it.
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

/// Returns the mass matrix if it is constant; if it depends on the states, its value at the states is accurate enough
/// to find an equilibrium.
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

/// Returns the combinations of states that the equations conserve with the inputs held: for `M x' = f`, the
/// combinations of `M x` for which the same combination of f vanishes everywhere. For a changing matrix none are
/// searched for.
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

/// Returns the states that only integrate.
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

/// Formats names of states for a sentence; `None` without states.
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

/// Reports the states that continue changing.
fn report_running(motion: &Motion<'_>, running: &[usize], notes: &mut Vec<Diagnostic>) {
    let Some(list) = quoted(motion, running) else { return };
    notes.push(
        Diagnostic::information(
            Code::LGM1021,
            format!("the steady state leaves {list} free: nothing else depends on it"),
        )
        .help("it keeps changing at a constant rate"),
    );
}

/// Reports the states that a steady state leaves undetermined.
fn report_free(motion: &Motion<'_>, free: &[usize], notes: &mut Vec<Diagnostic>) {
    let Some(list) = quoted(motion, free) else { return };
    notes.push(
        Diagnostic::information(
            Code::LGM1021,
            format!(
                "the steady state does not determine {list}; they start as close to their initial values as it \
                allows"
            ),
        )
        .help("set their `start` to the intended value"),
    );
}
