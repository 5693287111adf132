//! The immediate effect of an input step: it moves states by E times the step, and causes impulses in outputs through
//! F.

use crate::failure::{Blame, Failure, FailureKind};
use crate::inputs::signals::{Corner, Side, Signals};
use crate::motion::Motion;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;
use lgm_runtime::jump::{Lost, Steps, after};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// The dependence of right sides and outputs on rates of inputs.
#[derive(Clone, Debug)]
pub(crate) struct RatesRead {
    states: bool,
    /// Outputs that may depend on a rate.
    outputs: Vec<usize>,
}

impl RatesRead {
    pub fn new(system: &StateSystem) -> RatesRead {
        let rates: FxHashSet<SymbolId> = system.input_rates.iter().copied().collect();
        let residuals: Vec<ExprId> = system.equations.residuals().collect();
        let reads = |roots: &[ExprId]| {
            let found = crate::motion::symbols_behind(system, roots);
            found.iter().any(|symbol| rates.contains(symbol))
        };
        let through_loops = reads(&residuals);
        let unknowns: FxHashSet<SymbolId> = system.equations.unknowns().collect();
        let reads_any = |roots: &[ExprId]| {
            let found = crate::motion::symbols_behind(system, roots);
            let direct = found.iter().any(|symbol| rates.contains(symbol));
            direct || through_loops && found.iter().any(|symbol| unknowns.contains(symbol))
        };
        RatesRead {
            states: reads_any(&system.equations.derivatives),
            outputs: match reads_any(&system.equations.output_values) {
                true => (0..system.equations.output_values.len())
                    .filter(|at| reads_any(&[system.equations.output_values[*at]]))
                    .collect(),
                false => Vec::new(),
            },
        }
    }
}

/// Moves the states by E times the steps of a corner. At the start of a run, states with given initial values stay.
pub(crate) fn move_states(
    motion: &Motion<'_>,
    signals: &dyn Signals,
    (read, rtol): (&RatesRead, f64),
    corner: &Corner,
    states: &mut [f64],
    at_start: bool,
) -> Result<(), Failure> {
    if !read.states || corner.steps.is_empty() {
        return Ok(());
    }
    let steps = step_vector(motion, corner);
    let time = corner.time;
    let moved: Vec<f64> = if motion.system.equations.linear {
        let change = change_at(motion, time, states.len(), &steps);
        states
            .iter()
            .zip(change)
            .map(|(value, change)| value + change)
            .collect()
    } else {
        let (mut before, mut rates) = (vec![0.0; steps.len()], vec![0.0; steps.len()]);
        signals.values(time, Side::Before, &mut before, &mut rates);
        let mut guesses = vec![motion.solution()];
        if at_start {
            guesses.insert(0, motion.system.first_unknowns(0.0));
        }
        let steps = Steps {
            kinds: &motion.system.kinds(),
            guesses: &guesses,
            before,
            steps,
        };
        let mut rates =
            |unknowns: &mut Vec<f64>, states: &Vec<f64>, inputs: (&Vec<f64>, &Vec<f64>), to: &mut Vec<f64>| {
                motion.guess_unknowns(unknowns);
                let is_known = motion.rates_with(time, states, Some(inputs.0), inputs.1, to);
                if is_known {
                    *unknowns = motion.solution();
                }
                is_known
            };
        let moved = motion.solving_exactly(|| after(&mut rates, &steps, rtol, &states.to_vec()));
        moved.map_err(|lost| failure(motion, corner, states, lost))?
    };
    for ((value, moved), state) in states.iter_mut().zip(moved).zip(&motion.system.states) {
        if !(at_start && state.start_given) {
            *value = moved;
        }
    }
    Ok(())
}

/// Returns the message for an unknown jump.
fn failure(motion: &Motion<'_>, corner: &Corner, states: &[f64], lost: Lost<f64>) -> Failure {
    let state = match &lost {
        Lost::NoWay => None,
        Lost::Endless(at) | Lost::Open(at, ..) => Some(*at),
    };
    let names: Vec<&str> = corner
        .steps
        .iter()
        .map(|(at, _)| &*motion.system.inputs[*at].name)
        .collect();
    let inputs: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let stepping = match inputs.len() {
        1 => format!("{} steps", inputs[0]),
        _ => format!("{} step at once", inputs.join(", ")),
    };
    let kind = match lost {
        Lost::NoWay => FailureKind::JumpNotFound(stepping),
        Lost::Endless(_) => FailureKind::JumpEndless(stepping),
        Lost::Open(_, one, other) => FailureKind::JumpOpen { stepping, one, other },
    };
    let blame = state.and_then(|at| motion.state(at)).unwrap_or_default();
    Failure {
        blame: Some(Box::new(Blame {
            states: motion.states_in_words(states),
            ..blame
        })),
        ..Failure::new(corner.time, kind)
    }
}

/// Returns the step of each input at a corner.
pub(crate) fn step_vector(motion: &Motion<'_>, corner: &Corner) -> Vec<f64> {
    let mut steps = vec![0.0; motion.system.inputs.len()];
    for (input, step) in &corner.steps {
        steps[*input] += step;
    }
    steps
}

/// Returns E times a step in linear equations, as the difference that it causes in the right sides.
fn change_at(motion: &Motion<'_>, time: f64, states: usize, steps: &[f64]) -> Vec<f64> {
    let (mut with, mut without) = (vec![0.0; states], vec![0.0; states]);
    let still = vec![0.0; steps.len()];
    let rest = vec![0.0; states];
    motion.rates_with(time, &rest, Some(&still), steps, &mut with);
    motion.rates_with(time, &rest, Some(&still), &still, &mut without);
    with.iter()
        .zip(&without)
        .map(|(with, without)| with - without)
        .collect()
}

/// Returns the remark on outputs with an impulse at this corner, if any.
pub(crate) fn impulse(motion: &Motion<'_>, read: &RatesRead, corner: &Corner, states: &[f64]) -> Option<Diagnostic> {
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
                "{} would contain an impulse where {inputs} steps at {time} s; the samples do not show it",
                names.join(", ")
            ),
        )
        .note("these outputs depend on the rate of the input, which is infinite at a step")
        .help("use a ramp with the rise time of the real input, such as `(ramp(0) - ramp(0.01))/0.01`"),
    )
}
