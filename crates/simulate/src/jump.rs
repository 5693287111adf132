//! What a step of an input does at once: it moves states by E times the step, and makes impulses in outputs by F.

use super::motion::Motion;
use super::signals::{Corner, Side, Signals};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// Pieces of a step where E depends on states or inputs.
const PIECES: usize = 64;

/// Whether right sides and outputs depend on rates of inputs.
#[derive(Clone, Debug)]
pub(super) struct RatesRead {
    states: bool,
    /// Outputs that may depend on a rate.
    outputs: Vec<usize>,
}

impl RatesRead {
    pub fn new(system: &StateSystem) -> RatesRead {
        let rates: FxHashSet<SymbolId> = system.input_rates.iter().copied().collect();
        let residuals = system.loops.iter().flat_map(|entry| &entry.residuals);
        let residuals: Vec<ExprId> = residuals.copied().collect();
        let reads = |roots: &[ExprId]| {
            let found = super::motion::symbols_behind(system, roots);
            found.iter().any(|symbol| rates.contains(symbol))
        };
        let through_loops = reads(&residuals);
        let unknowns: FxHashSet<SymbolId> = system.loops.iter().flat_map(|entry| entry.unknowns.clone()).collect();
        let reads_any = |roots: &[ExprId]| {
            let found = super::motion::symbols_behind(system, roots);
            let direct = found.iter().any(|symbol| rates.contains(symbol));
            direct || through_loops && found.iter().any(|symbol| unknowns.contains(symbol))
        };
        RatesRead {
            states: reads_any(&system.derivatives),
            outputs: match reads_any(&system.output_values) {
                true => (0..system.output_values.len())
                    .filter(|at| reads_any(&[system.output_values[*at]]))
                    .collect(),
                false => Vec::new(),
            },
        }
    }
}

/// Moves the states by E times the steps of a corner. At the start of a run, states whose start was given stay.
pub(super) fn move_states(
    motion: &Motion<'_>,
    signals: &dyn Signals,
    read: &RatesRead,
    corner: &Corner,
    states: &mut [f64],
    at_start: bool,
) {
    if !read.states || corner.steps.is_empty() {
        return;
    }
    let steps = step_vector(motion, corner);
    let change = match motion.system.linear {
        true => change_at(
            motion,
            corner.time,
            &vec![0.0; states.len()],
            &vec![0.0; steps.len()],
            &steps,
        ),
        false => change_along(motion, signals, corner.time, states, &steps),
    };
    for ((value, change), state) in states.iter_mut().zip(change).zip(&motion.system.states) {
        if !(at_start && state.start_given) {
            *value += change;
        }
    }
}

fn step_vector(motion: &Motion<'_>, corner: &Corner) -> Vec<f64> {
    let mut steps = vec![0.0; motion.system.inputs.len()];
    for (input, step) in &corner.steps {
        steps[*input] += step;
    }
    steps
}

/// E times a step at one point, as the difference that it makes in the right sides, which are affine in u'.
fn change_at(motion: &Motion<'_>, time: f64, states: &[f64], inputs: &[f64], steps: &[f64]) -> Vec<f64> {
    let (mut with, mut without) = (vec![0.0; states.len()], vec![0.0; states.len()]);
    let still = vec![0.0; steps.len()];
    motion.rates_with(time, states, Some(inputs), steps, &mut with);
    motion.rates_with(time, states, Some(inputs), &still, &mut without);
    with.iter()
        .zip(&without)
        .map(|(with, without)| with - without)
        .collect()
}

/// The same where E depends on the point: the inputs go from before to after in a straight line.
fn change_along(motion: &Motion<'_>, signals: &dyn Signals, time: f64, states: &[f64], steps: &[f64]) -> Vec<f64> {
    let (mut before, mut rates) = (vec![0.0; steps.len()], vec![0.0; steps.len()]);
    signals.values(time, Side::Before, &mut before, &mut rates);
    let mut point = states.to_vec();
    let slope = |share: f64, point: &[f64]| {
        let inputs: Vec<f64> = before.iter().zip(steps).map(|(u, step)| u + share * step).collect();
        change_at(motion, time, point, &inputs, steps)
    };
    let beside = |point: &[f64], slope: &[f64], length: f64| -> Vec<f64> {
        point.iter().zip(slope).map(|(x, d)| x + length * d).collect()
    };
    let length = 1.0 / PIECES as f64;
    for piece in 0..PIECES {
        let share = piece as f64 * length;
        let k1 = slope(share, &point);
        let k2 = slope(share + 0.5 * length, &beside(&point, &k1, 0.5 * length));
        let k3 = slope(share + 0.5 * length, &beside(&point, &k2, 0.5 * length));
        let k4 = slope(share + length, &beside(&point, &k3, length));
        for (at, value) in point.iter_mut().enumerate() {
            *value += length / 6.0 * (k1[at] + 2.0 * k2[at] + 2.0 * k3[at] + k4[at]);
        }
    }
    point.iter().zip(states).map(|(after, before)| after - before).collect()
}

/// The remark on outputs that carry an impulse at this corner; none where there are none.
pub(super) fn impulse(motion: &Motion<'_>, read: &RatesRead, corner: &Corner, states: &[f64]) -> Option<Diagnostic> {
    if read.outputs.is_empty() || corner.steps.is_empty() {
        return None;
    }
    let count = motion.system.outputs.len();
    let (mut with, mut without) = (vec![0.0; count], vec![0.0; count]);
    let steps = step_vector(motion, corner);
    let still = vec![0.0; steps.len()];
    motion.outputs_with(corner.time, states, Some(&steps), &mut with);
    motion.outputs_with(corner.time, states, Some(&still), &mut without);
    let carries = |at: &&usize| {
        let scale = with[**at].abs().max(without[**at].abs());
        (with[**at] - without[**at]).abs() > 1e-10 * scale
    };
    let system = motion.system;
    let names: Vec<String> = read
        .outputs
        .iter()
        .filter(carries)
        .map(|at| format!("`{}`", system.outputs[*at].name))
        .collect();
    if names.is_empty() {
        return None;
    }
    let inputs: Vec<String> = corner
        .steps
        .iter()
        .map(|(input, _)| format!("`{}`", system.inputs[*input].name))
        .collect();
    let (inputs, time) = (inputs.join(", "), corner.time);
    Some(
        Diagnostic::warning(
            Code::LGM1022,
            format!(
                "{} would carry an impulse where {inputs} steps at {time} s; rows do not show it",
                names.join(", ")
            ),
        )
        .note("these outputs depend on the rate of the input, which is infinite in a step")
        .help("use a ramp of the length that the real input has, such as `(ramp(0) - ramp(0.01))/0.01`"),
    )
}
