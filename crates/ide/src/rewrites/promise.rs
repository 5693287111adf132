//! The promised response of a change, compared with the equations of the changed text.

use lgm_analysis::{MOST_STATES, Response, ResponseRequest, poles, response};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use num_complex::Complex;

/// The inserted dynamics are this many times faster than the fastest mode of the model.
const FASTER: f64 = 100.0;

/// The fastest rate in rad/s assumed for a model without modes.
const USUAL_RATE: f64 = 100.0;

/// Between two samples of the experiment, the inserted dynamics decay by this many time constants.
pub(super) const DECAYED: f64 = 10.0;

/// The largest relative change of a mode, or of the response within the range of the modes.
const KEPT: f64 = 0.05;

/// The largest relative change of the result of a jump.
const JUMP_KEPT: f64 = 0.01;

/// The frequencies of comparison, as multiples of the fastest mode: next to it, because an undamped resonance has no
/// value.
const COMPARED: [f64; 3] = [0.1, 0.37, 1.37];

/// Returns the poles of a linear model; none if it has none, or too many states to compute them quickly. Its stability is then unknown.
pub(super) fn modes(system: &StateSystem) -> Option<Vec<Complex<f64>>> {
    let numeric = system.matrices.numeric.as_ref()?;
    let is_known = system.equations.linear && system.states.len() <= MOST_STATES;
    is_known.then(|| poles(&numeric.a))?
}

/// Returns the number of growing modes; round-off moves a pole at 0 by this fraction of the largest pole. A lag in a control loop can make
/// the loop unstable, even if the lag is fast.
pub(super) fn unstable(modes: &[Complex<f64>]) -> usize {
    let largest = modes.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    modes.iter().filter(|pole| pole.re > 1e-12 * largest).count()
}

/// Returns the rate in rad/s beyond which a mode is invisible in the samples of the experiment, because it decays from one sample to the
/// next. 0 if the model has no run settings.
pub(super) fn unresolved(system: &StateSystem) -> f64 {
    let experiment = &system.experiment;
    let Some(stop) = experiment.stop else { return 0.0 };
    let length = stop - experiment.start.unwrap_or(0.0);
    let rate = DECAYED * (experiment.rows() - 1) as f64 / length;
    if rate.is_finite() { rate.max(0.0) } else { 0.0 }
}

/// Returns a rate, in 1/s, beyond the modes of the model and the sample rate of its experiment.
pub(super) fn beyond(system: &StateSystem, modes: &[Complex<f64>]) -> f64 {
    (FASTER * fastest(modes)).max(unresolved(system))
}

/// Returns the rate of the fastest mode in rad/s.
fn fastest(modes: &[Complex<f64>]) -> f64 {
    let largest = modes.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { USUAL_RATE }
}

/// Returns true if a change keeps the modes and the response within their range, and every added mode decays at least at this
/// rate, in 1/s.
pub(super) fn is_kept(before: &StateSystem, after: &StateSystem, rate: f64) -> bool {
    let (Some(old), Some(mut new)) = (modes(before), modes(after)) else {
        return false;
    };
    let fastest = fastest(&old);
    let distance = |pole: &Complex<f64>, other: &Complex<f64>| (pole - other).norm();
    for pole in &old {
        let nearest = (0..new.len()).min_by(|a, b| distance(pole, &new[*a]).total_cmp(&distance(pole, &new[*b])));
        let Some(nearest) = nearest else { return false };
        // A pole at 0 is exact up to round-off, and a double pole up to the square root of round-off.
        if distance(pole, &new.swap_remove(nearest)) > KEPT * pole.norm() + 1e-6 * fastest {
            return false;
        }
    }
    let are_fast = new.iter().all(|pole| -pole.re >= rate * (1.0 - 1e-9));
    are_fast && responds_alike(before, after, fastest)
}

/// Returns true if each output responds to each input as before, within the range of the modes.
fn responds_alike(before: &StateSystem, after: &StateSystem, fastest: f64) -> bool {
    let (Some(old), Some(new)) = (curves(before, fastest), curves(after, fastest)) else {
        return false;
    };
    old.curves.iter().zip(&new.curves).all(|(old, new)| {
        let size = largest(&old.values);
        let differences = old.values.iter().zip(&new.values);
        // A response that was 0 or infinite cannot be compared.
        size == 0.0 || !size.is_finite() || differences.map(|(a, b)| (a - b).norm()).all(|far| far <= KEPT * size)
    })
}

fn curves(system: &StateSystem, fastest: f64) -> Option<Response> {
    let omega = COMPARED.iter().map(|factor| factor * fastest).collect();
    response(system, &ResponseRequest::all(system, omega)).0
}

fn largest(values: &[Complex<f64>]) -> f64 {
    values.iter().map(|value| value.norm()).fold(0.0, f64::max)
}

/// Returns the outputs and states that jumped with a source and lag in the changed text.
pub(super) fn lagging(before: &StateSystem, after: &StateSystem) -> Vec<String> {
    let (Some(old), Some(new)) = (&before.matrices.numeric, &after.matrices.numeric) else {
        return Vec::new();
    };
    let fastest = modes(before).map_or(0.0, |modes| fastest(&modes));
    let sizes = curves(before, fastest);
    let outputs = before.outputs.iter().enumerate().filter(|(at, output)| {
        let other = after.outputs.iter().position(|other| other.name == output.name);
        let Some(other) = other else { return false };
        // Round-off is small compared with the effect of an input within the range of the modes.
        let size = |input: usize| {
            let curves = sizes.iter().flat_map(|response| &response.curves);
            let own = curves.filter(|curve| (curve.input, curve.output) == (input, *at));
            own.map(|curve| largest(&curve.values))
                .find(|size| size.is_finite())
                .unwrap_or(0.0)
        };
        differs(&old.d, *at, &new.d, other, &size)
            || differs(&old.f, *at, &new.f, other, &|input| size(input) / fastest)
            || is_moved(offset(old, *at), offset(new, other), 0.0)
    });
    let states = before.states.iter().enumerate().filter(|(at, state)| {
        let other = after.states.iter().position(|other| other.name == state.name);
        other.is_some_and(|other| differs(&old.e, *at, &new.e, other, &|_| 0.0))
    });
    let names = outputs.map(|entry| &entry.1.name);
    names
        .chain(states.map(|entry| &entry.1.name))
        .map(|name| name.to_string())
        .collect()
}

/// Returns true if two rows of matrices differ, relative to the scale of each column.
fn differs(
    old: &SparseMatrix<f64>,
    at: usize,
    new: &SparseMatrix<f64>,
    other: usize,
    size: &dyn Fn(usize) -> f64,
) -> bool {
    let entry = |of: &SparseMatrix<f64>, row: usize, column: usize| of.get(row, column).copied().unwrap_or(0.0);
    let columns = 0..old.columns.min(new.columns);
    columns
        .into_iter()
        .any(|column| is_moved(entry(old, at, column), entry(new, other, column), size(column)))
}

fn is_moved(old: f64, new: f64, size: f64) -> bool {
    (old - new).abs() > JUMP_KEPT * old.abs().max(new.abs()).max(size)
}

fn offset(form: &LinearForm<f64>, at: usize) -> f64 {
    form.y_offset.as_ref().map_or(0.0, |offsets| offsets[at])
}
