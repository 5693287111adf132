//! What a change promises of the response, held against the equations of the text with it.

use lgm_analysis::{MOST_STATES, Response, ResponseRequest, poles, response};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use num_complex::Complex;

/// What is put in is this many times as fast as the fastest mode of the model.
const FASTER: f64 = 100.0;

/// The rate, in rad/s, that is taken for the fastest one of a model that has none.
const USUAL_RATE: f64 = 100.0;

/// From one row of the experiment to the next, what is put in decays by so many of its time constants.
pub(super) const DECAYED: f64 = 10.0;

/// How far a mode, or the response in reach of the modes, may be from what it was.
const KEPT: f64 = 0.05;

/// How far what follows a jump at once may be from what it was, as a part of it.
const SAME: f64 = 0.01;

/// Where the responses are compared, as multiples of the fastest mode: beside it, since a resonance without damping has none.
const COMPARED: [f64; 3] = [0.1, 0.37, 1.37];

/// The poles of a linear model; none where it has no such, or so many states that finding them takes long. Nothing is known of its
/// stability then.
pub(super) fn modes(system: &StateSystem) -> Option<Vec<Complex<f64>>> {
    let numeric = system.matrices.numeric.as_ref()?;
    let is_known = system.equations.linear && system.states.len() <= MOST_STATES;
    is_known.then(|| poles(&numeric.a))?
}

/// How many modes grow; rounding makes a pole at 0 as large as this beside the largest. A lag that is put into a control loop can make
/// it unstable, however fast it is.
pub(super) fn unstable(modes: &[Complex<f64>]) -> usize {
    let largest = modes.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    modes.iter().filter(|pole| pole.re > 1e-12 * largest).count()
}

/// The rate in rad/s beyond which the rows of the experiment show nothing of a mode: it has decayed from one row to the next. 0 where the
/// model does not say how it is run.
pub(super) fn unresolved(system: &StateSystem) -> f64 {
    let experiment = &system.experiment;
    let Some(stop) = experiment.stop else { return 0.0 };
    let length = stop - experiment.start.unwrap_or(0.0);
    let rate = DECAYED * (experiment.rows() - 1) as f64 / length;
    if rate.is_finite() { rate.max(0.0) } else { 0.0 }
}

/// The rate, in 1/s, that is beyond the modes of the model and the rows of its experiment.
pub(super) fn beyond(system: &StateSystem, modes: &[Complex<f64>]) -> f64 {
    (FASTER * fastest(modes)).max(unresolved(system))
}

/// The rate of the fastest mode in rad/s.
fn fastest(modes: &[Complex<f64>]) -> f64 {
    let largest = modes.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { USUAL_RATE }
}

/// Whether a change keeps the modes and the response in their reach, and whatever mode it adds decays at a rate, in 1/s, or faster.
pub(super) fn is_kept(before: &StateSystem, after: &StateSystem, rate: f64) -> bool {
    let (Some(old), Some(mut new)) = (modes(before), modes(after)) else {
        return false;
    };
    let fastest = fastest(&old);
    let distance = |pole: &Complex<f64>, other: &Complex<f64>| (pole - other).norm();
    for pole in &old {
        let nearest = (0..new.len()).min_by(|a, b| distance(pole, &new[*a]).total_cmp(&distance(pole, &new[*b])));
        let Some(nearest) = nearest else { return false };
        // A pole at 0 is there up to rounding, and a double one to its root.
        if distance(pole, &new.swap_remove(nearest)) > KEPT * pole.norm() + 1e-6 * fastest {
            return false;
        }
    }
    let are_fast = new.iter().all(|pole| -pole.re >= rate * (1.0 - 1e-9));
    are_fast && responds_alike(before, after, fastest)
}

/// Whether each output answers each input as before, in reach of the modes.
fn responds_alike(before: &StateSystem, after: &StateSystem, fastest: f64) -> bool {
    let (Some(old), Some(new)) = (curves(before, fastest), curves(after, fastest)) else {
        return false;
    };
    old.curves.iter().zip(&new.curves).all(|(old, new)| {
        let size = largest(&old.values);
        let differences = old.values.iter().zip(&new.values);
        // Nothing is known of one that was 0, or endless.
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

/// What followed a jump of a source at once, and needs a moment for it in the text with the change: the names of outputs and states.
pub(super) fn lagging(before: &StateSystem, after: &StateSystem) -> Vec<String> {
    let (Some(old), Some(new)) = (&before.matrices.numeric, &after.matrices.numeric) else {
        return Vec::new();
    };
    let fastest = modes(before).map_or(0.0, |modes| fastest(&modes));
    let sizes = curves(before, fastest);
    let outputs = before.outputs.iter().enumerate().filter(|(at, output)| {
        let other = after.outputs.iter().position(|other| other.name == output.name);
        let Some(other) = other else { return false };
        // What is no more than rounding is small beside what an input does in reach of the modes.
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

/// Whether two rows of matrices differ, beside what counts in each column.
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
    (old - new).abs() > SAME * old.abs().max(new.abs()).max(size)
}

fn offset(form: &LinearForm<f64>, at: usize) -> f64 {
    form.y_offset.as_ref().map_or(0.0, |offsets| offsets[at])
}
