//! The states that a run begins with.

use super::failure::{Blame, Failure, FailureKind};
use super::motion::Motion;
use crate::diagnostic::Diagnostic;
use crate::kernels::{Arguments, KernelOptions, Layout, SparseKernel, expression};
use nalgebra::{DMatrix, DVector};

/// Relative agreement of starts that depend on each other, as where the equations are formulated.
const AGREEMENT: f64 = 1e-9;

/// Singular values below this share of the largest are zero, once rows and columns have been brought to one size.
const RANK: f64 = 1e-11;

/// A steady state of more unknowns than this is only looked for where all states are determined.
const DENSE: usize = 600;

/// Newton's iterations for a steady state.
const ITERATIONS: usize = 100;

/// The starts of all states with these parameters; those of dependent storage are compared with what follows.
pub(super) fn given(motion: &Motion<'_>, time: f64) -> Result<Vec<f64>, Failure> {
    let system = motion.system;
    let at = Arguments {
        time,
        parameters: motion.parameters,
        ..Arguments::default()
    };
    let states = motion.kernels.starts.values(&at);
    if let Some(index) = states.iter().position(|value| !value.is_finite()) {
        return Err(Failure {
            time,
            kind: FailureKind::LeftDomain(format!("its start is {}", states[index])),
            blame: motion.state(index),
            steps: 0,
        });
    }
    if system.start_constraints.is_empty() {
        return Ok(states);
    }
    let roots: Vec<_> = system
        .start_constraints
        .iter()
        .flat_map(|constraint| [constraint.given, constraint.follows])
        .collect();
    let layout = Layout::new(system);
    let values = expression(&system.exprs, &roots, &layout, &KernelOptions { native: false }).values(&at);
    for (constraint, pair) in system.start_constraints.iter().zip(values.chunks_exact(2)) {
        let (given, follows) = (pair[0], pair[1]);
        let agree = (follows - given).abs() <= AGREEMENT * follows.abs().max(given.abs());
        if !agree {
            return Err(Failure {
                time,
                kind: FailureKind::Starts { given, follows },
                blame: Some(Blame {
                    element: Some(constraint.element.to_string()),
                    variable: constraint.element.to_string(),
                    expression: String::new(),
                }),
                steps: 0,
            });
        }
    }
    Ok(states)
}

/// A steady state: all derivatives are zero with the inputs of the first instant, held.
///
/// Newton's iteration over states and loop unknowns together, beginning at the starts. Where states are not
/// determined (a free integrator), the nearest steady state to the starts is taken, and a remark says so.
pub(super) fn steady(
    motion: &Motion<'_>,
    time: f64,
    starts: &[f64],
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<f64>, Failure> {
    let (n, k) = (motion.states, motion.unknowns);
    let size = n + k;
    let failure = |blame: Option<Blame>| Failure {
        time,
        kind: FailureKind::NoEquilibrium,
        blame,
        steps: 0,
    };
    if size > DENSE {
        return Err(Failure {
            kind: FailureKind::Refused(format!(
                "a steady state of {size} unknowns is more than can be looked for (at most {DENSE})"
            )),
            ..failure(None)
        });
    }
    let kernels = motion.kernels;
    let mut y = vec![0.0; size];
    y[..n].copy_from_slice(starts);
    motion.solve_loops(time, starts);
    motion.copy_unknowns(&mut y[n..]);
    let still = vec![0.0; motion.system.inputs.len()];
    let mut value = vec![0.0; size];
    let mut free = Vec::new();
    let mut last = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let (states, unknowns) = y.split_at(n);
        motion.call_at_rest(&kernels.derivatives, time, states, unknowns, &still, &mut value[..n]);
        motion.call_at_rest(&kernels.residuals, time, states, unknowns, &still, &mut value[n..]);
        if let Some(at) = value.iter().position(|value| !value.is_finite()) {
            return Err(failure(motion.state(at)));
        }
        let mut jacobian = DMatrix::zeros(size, size);
        let mut fill = |kernel: &SparseKernel, row: usize, column: usize| {
            let mut entries = vec![0.0; kernel.stored()];
            motion.call_at_rest(&kernel.values, time, states, unknowns, &still, &mut entries);
            for inner in 0..kernel.rows {
                for at in kernel.row_starts[inner]..kernel.row_starts[inner + 1] {
                    jacobian[(row + inner, column + kernel.columns_of[at])] = entries[at];
                }
            }
        };
        fill(&kernels.jacobian, 0, 0);
        fill(&kernels.jacobian_unknowns, 0, n);
        fill(&kernels.residuals_by_states, n, 0);
        fill(&kernels.residuals_by_unknowns, n, n);
        if jacobian.iter().any(|entry| !entry.is_finite()) {
            return Err(failure(None));
        }
        let terms: Vec<f64> = (0..size)
            .map(|row| {
                (0..size)
                    .map(|column| (jacobian[(row, column)] * y[column]).abs())
                    .sum()
            })
            .collect();
        let (step, null) = least_step(jacobian, &value);
        free = null;
        let moved = (0..size)
            .map(|at| step[at].abs() / (y[at].abs() + step[at].abs()).max(1e-300))
            .fold(0.0, f64::max);
        for (unknown, step) in y.iter_mut().zip(step.iter()) {
            *unknown -= step;
        }
        let settled = moved <= 1e-13 || moved <= 1e-8 && moved >= 0.5 * last;
        last = moved;
        if settled || step.iter().all(|step| *step == 0.0) {
            // What a singular system leaves over must be round-off.
            let left = |row: usize| value[row].abs() / (terms[row] + 1e-300);
            let worst = (0..size).max_by(|a, b| left(*a).total_cmp(&left(*b)));
            return match worst {
                Some(row) if value[row] != 0.0 && left(row) > 1e-9 => Err(failure(motion.state(row))),
                _ => {
                    tell_free(motion, &free, notes);
                    y.truncate(n);
                    Ok(y)
                }
            };
        }
    }
    tell_free(motion, &free, notes);
    Err(failure(None))
}

/// The shortest solution of `jacobian * step = value` in least squares, and the unknowns that it does not determine.
fn least_step(mut jacobian: DMatrix<f64>, value: &[f64]) -> (DVector<f64>, Vec<usize>) {
    let size = value.len();
    let mut right = DVector::from_column_slice(value);
    let mut measure = vec![1.0; size];
    for (column, measure) in measure.iter_mut().enumerate() {
        let most = jacobian.column(column).amax();
        if most > 0.0 {
            *measure = 1.0 / most;
            jacobian.column_mut(column).scale_mut(*measure);
        }
    }
    for row in 0..size {
        let most = jacobian.row(row).amax();
        if most > 0.0 {
            jacobian.row_mut(row).scale_mut(1.0 / most);
            right[row] /= most;
        }
    }
    if size == 0 {
        return (right, Vec::new());
    }
    let decomposition = jacobian.svd(true, true);
    let (Some(u), Some(v)) = (&decomposition.u, &decomposition.v_t) else {
        unreachable!("invariant: both factors were asked for")
    };
    let largest = decomposition.singular_values.amax();
    let mut step = DVector::zeros(size);
    let mut free = vec![false; size];
    for (at, singular) in decomposition.singular_values.iter().enumerate() {
        if *singular > RANK * largest {
            let share = u.column(at).dot(&right) / singular;
            step += v.row(at).transpose() * share;
        } else {
            for (unknown, free) in free.iter_mut().enumerate() {
                *free |= v[(at, unknown)].abs() > 1e-8;
            }
        }
    }
    for (unknown, measure) in measure.iter().enumerate() {
        step[unknown] *= measure;
    }
    let free = (0..size).filter(|unknown| free[*unknown]).collect();
    (step, free)
}

/// Says which states a steady state leaves open.
fn tell_free(motion: &Motion<'_>, free: &[usize], notes: &mut Vec<Diagnostic>) {
    let states = &motion.system.states;
    let names: Vec<String> = free
        .iter()
        .filter_map(|at| states.get(*at))
        .map(|state| format!("`{}`", state.name))
        .collect();
    if names.is_empty() {
        return;
    }
    let shown = names.len().min(8);
    let mut list = names[..shown].join(", ");
    if names.len() > shown {
        list.push_str(&format!(" and {} more", names.len() - shown));
    }
    notes.push(
        Diagnostic::information(
            "LGM1021",
            format!("the steady state does not determine {list}; they begin as near to their starts as it allows"),
        )
        .help("give their `start` the value that they are to have"),
    );
}
