//! Ends of ranges, extended so that a run may pass them within its tolerance, and no further.
//!
//! The inverse of a root has no value if its argument is negative. A run that rests at such an end, or touches it, is
//! sometimes beyond it because of round-off or the tolerance. The end is therefore moved by a small fraction of the
//! margin's terms in a trial run: inverses are smooth there, and the law is satisfied within the tolerance. Ends at
//! which the function itself diverges, such as that of `atan`, are not moved: nothing approaches them by accident.

use crate::inputs::signals::Signals;
use crate::plan::{Plan, Silent, Sink, Stop};
use crate::run::expected::OrUnit;
use crate::simulator::Simulator;
use crate::trial::sizes::STEPS;
use lgm_algebra::expr::{End, ExprId, Exprs, Function, Guarded, Node};
use lgm_kernels::{KernelOptions, Kernels};
use lgm_model::system::{Quantity, StateSystem};
use lgm_source::{SourceId, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximum excess of a value beyond its range, in units of the tolerance of the run times the largest term of the margin.
const ALLOWED: f64 = 10.0;

/// Beyond this fraction past its end, a missing value is not accidental, and does not define magnitudes within the range.
const CLEARLY: f64 = 1e-2;

/// The maximum depth of nested sums and products in which the magnitudes of a margin are searched for.
const DEPTH: u32 = 4;

/// A guarded value with an end within its range.
#[derive(Clone, Copy)]
struct Ending {
    id: ExprId,
    guarded: Guarded,
}

/// Returns a system whose ranges are extended as far as a run with this plan allows; `None` if no law has such a range.
pub fn with_slack(system: &StateSystem, parameters: &[f64], signals: &dyn Signals, plan: &Plan) -> Option<StateSystem> {
    let endings = endings(system);
    if endings.is_empty() {
        return None;
    }
    let sizes = sizes(system, &endings, parameters, signals, plan);
    let mut widened = system.clone();
    let mut sizes = sizes.into_iter();
    replace(&mut widened, &endings, |exprs, guarded| {
        let slack = power_of_ten(ALLOWED * plan.rtol * sizes.next().unwrap_or(0.0));
        match slack {
            Some(slack) => exprs.widened(guarded, slack),
            None => exprs.guarded(guarded.margin, guarded.end, guarded.value),
        }
    });
    Some(widened)
}

/// Does the same for an emitted program: with the parameters of the model, and 1 for inputs without a signal.
pub fn with_default_slack(system: &StateSystem, plan: &Plan) -> Option<StateSystem> {
    if endings(system).is_empty() {
        return None;
    }
    let kernels = Kernels::new(system, &KernelOptions { native: false });
    let parameters = kernels.parameters(&[]);
    let signals = OrUnit::new(system, &kernels, &parameters, plan.start);
    with_slack(system, &parameters, &signals, plan)
}

/// Returns the guarded values of a system that end within their range, each after its components.
fn endings(system: &StateSystem) -> Vec<Ending> {
    let assignments = system.equations.assignments.iter().map(|assignment| assignment.value);
    let residuals = system.equations.residuals();
    let masses = system
        .equations
        .mass_matrix
        .iter()
        .flat_map(|matrix| matrix.rows.iter().flatten());
    let roots: Vec<ExprId> = assignments
        .chain(residuals)
        .chain(masses.map(|entry| entry.1))
        .chain(system.right_sides())
        .collect();
    let of = |id: ExprId| {
        let guarded = system.exprs.as_guarded(id)?;
        (guarded.end == End::Within && !guarded.is_widened).then_some(Ending { id, guarded })
    };
    system.exprs.reachable(&roots).into_iter().filter_map(of).collect()
}

/// Replaces each guarded value; its own parts are already replaced.
fn replace(
    system: &mut StateSystem,
    endings: &[Ending],
    mut with: impl FnMut(&mut Exprs, Guarded) -> ExprId,
) -> Vec<ExprId> {
    let exprs = &mut system.exprs;
    let mut known = FxHashMap::default();
    let mut margins = Vec::with_capacity(endings.len());
    for Ending { id, guarded } in endings {
        let parts = exprs.substitute_on(&[guarded.margin, guarded.value], &mut known, |_| None);
        margins.push(parts[0]);
        let changed = Guarded {
            margin: parts[0],
            value: parts[1],
            ..*guarded
        };
        known.insert(*id, with(exprs, changed));
    }
    let mut change = |id: &mut ExprId| *id = exprs.substitute_on(&[*id], &mut known, |_| None)[0];
    let assignments = system
        .equations
        .assignments
        .iter_mut()
        .map(|assignment| &mut assignment.value);
    let residuals = system.equations.loops.iter_mut().flat_map(|each| &mut each.residuals);
    let masses = system
        .equations
        .mass_matrix
        .iter_mut()
        .flat_map(|matrix| &mut matrix.rows);
    let blocks = system
        .equations
        .rate_blocks
        .iter_mut()
        .flat_map(|block| &mut block.rows);
    let entries = masses.chain(blocks).flatten().map(|entry| &mut entry.1);
    assignments
        .chain(residuals)
        .chain(entries)
        .chain(&mut system.equations.derivatives)
        .chain(&mut system.equations.output_values)
        .for_each(&mut change);
    if let Some(form) = &mut system.equations.mass_form {
        form.expressions_mut().for_each(change);
    }
    margins
}

/// Returns the largest magnitude of each margin in a run that passes all ends.
fn sizes(system: &StateSystem, endings: &[Ending], parameters: &[f64], signals: &dyn Signals, plan: &Plan) -> Vec<f64> {
    let mut trial = system.clone();
    let margins = replace(&mut trial, endings, |_, guarded| guarded.value);
    trial.equations.output_values.clear();
    for margin in &margins {
        let size = size(&mut trial.exprs, *margin, DEPTH);
        trial.equations.output_values.extend([*margin, size]);
    }
    let nameless = Quantity {
        name: Arc::from(""),
        unit: None,
        span: Span::new(SourceId(0), 0, 0),
    };
    trial.outputs = vec![nameless; trial.equations.output_values.len()];
    let kernels = Kernels::new(&trial, &KernelOptions { native: false });
    let plan = Plan {
        max_steps: STEPS,
        ..plan.clone()
    };
    let mut look = Look {
        largest: vec![0.0; margins.len()],
    };
    // A run that fails or is too long has still revealed magnitudes.
    let _ = Simulator::new(&trial, &kernels).run(parameters, signals, &plan, &mut look, &Silent);
    look.largest
}

/// Returns the magnitude of the sum of a margin's terms.
fn size(exprs: &mut Exprs, id: ExprId, depth: u32) -> ExprId {
    match exprs.node(id).clone() {
        Node::Sum(list) if depth > 0 => {
            let sizes: Vec<ExprId> = list.iter().map(|term| size(exprs, *term, depth - 1)).collect();
            exprs.sum(sizes)
        }
        Node::Product(list) if depth > 0 => {
            let sizes: Vec<ExprId> = list.iter().map(|factor| size(exprs, *factor, depth - 1)).collect();
            exprs.product(sizes)
        }
        _ => exprs.call(Function::Abs, [id]),
    }
}

/// Records the magnitudes of margins within their ranges.
struct Look {
    largest: Vec<f64>,
}

impl Sink for Look {
    fn row(&mut self, _time: f64, outputs: &[f64], _states: &[f64]) -> Result<(), Stop> {
        for (largest, seen) in self.largest.iter_mut().zip(outputs.chunks(2)) {
            let &[margin, size] = seen else { continue };
            if margin < -CLEARLY * largest.max(size) {
                return Err(Stop::Interrupted);
            }
            if size.is_finite() {
                *largest = largest.max(size);
            }
        }
        Ok(())
    }
}

/// Returns the exponent of the nearest power of ten; `None` for 0.
fn power_of_ten(size: f64) -> Option<i32> {
    let exponent = size.log10().round();
    exponent.is_finite().then_some(exponent as i32)
}
