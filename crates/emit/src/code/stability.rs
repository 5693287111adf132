//! Checks how short the steps of an explicit method must be for the poles of a model.

use crate::code::subject::Subject;
use crate::code::trials::UNKNOWN_SPAN;
use lgm_analysis::poles;
use lgm_kernels::{Arguments, KernelOptions, Kernels};
use lgm_model::system::{SparseMatrix, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use num_complex::Complex;

/// For models with more states than this, the poles are not computed.
const MOST: usize = 400;

/// The stability region of the classical Runge-Kutta method of order 4 lies within this distance of zero (exactly
/// 2.83 at most).
const REACH: f64 = 4.0;

/// The number of sample points in the search for the edge of the stability region.
const POINTS: u32 = 400;

/// A positive real part below this fraction of the pole's magnitude is round-off, not growth.
const GROWTH_NOISE: f64 = 1e-9;

/// Returns a warning if a fixed step amplifies a mode that does not grow in the model; none if no mode is affected or
/// the poles are unknown, which is the case for large models and models with algebraic loops.
pub(super) fn warning(subject: &Subject<'_>, step: f64) -> Option<Diagnostic> {
    let found = poles_at_start(subject.system, &subject.kernels)?.into_iter();
    let steady = found.filter(|pole| pole.norm() > 0.0 && pole.re <= GROWTH_NOISE * pole.norm());
    let bounds = steady.map(|pole| (longest_step(pole), pole));
    let (longest, pole) = bounds.min_by(|a, b| a.0.total_cmp(&b.0))?;
    if step <= longest {
        return None;
    }
    let message = format!(
        "fixed steps of {} s are too long for the pole at {} 1/s: a decaying mode would grow",
        six_digits(step),
        in_words(pole)
    );
    let mut warning = Diagnostic::warning(Code::LGM0935, message);
    if !subject.system.equations.linear {
        warning = warning.note("the pole belongs to the linearisation at the initial values");
    }
    Some(warning.help(format!(
        "use steps of at most {} s, or remove the fast dynamics from the model",
        six_digits(longest)
    )))
}

/// An explicit method that needs more steps than this for its stability takes noticeable time.
const MANY_STEPS: f64 = 10_000.0;

/// True if decaying modes limit the steps of an explicit method so much that a run takes many steps. Models with unknown poles count
/// as stiff.
pub(super) fn is_stiff(subject: &Subject<'_>) -> bool {
    stiffness(subject).unwrap_or(!subject.states.is_empty())
}

/// Returns the same; `None` if the poles are unknown.
pub(in crate::code) fn stiffness(subject: &Subject<'_>) -> Option<bool> {
    let found = poles_at_start(subject.system, &subject.kernels)?;
    let (start, stop, _) = subject.plan();
    let span = stop.map_or(UNKNOWN_SPAN, |stop| stop - start);
    let decaying = found.into_iter().filter(|pole| pole.re < -GROWTH_NOISE * pole.norm());
    let shortest = decaying.map(longest_step).fold(f64::INFINITY, f64::min);
    Some(span / shortest > MANY_STEPS)
}

/// An explicit method that needs more steps than this for its stability takes minutes.
const TOO_MANY_STEPS: f64 = 1_000_000.0;

/// Returns a warning if the run of emitted code, which is explicit, needs too many steps for its stability in one of the given
/// combinations of modes.
pub(in crate::code) fn too_many_steps(
    subject: &Subject<'_>,
    combinations: impl Iterator<Item = StateSystem>,
) -> Option<Diagnostic> {
    let (start, stop, _) = subject.plan();
    let span = stop.map_or(UNKNOWN_SPAN, |stop| stop - start);
    let interpreted = KernelOptions { native: false };
    let poles = combinations.filter_map(|system| poles_at_start(&system, &Kernels::new(&system, &interpreted)));
    let decaying = poles.flatten().filter(|pole| pole.re < -GROWTH_NOISE * pole.norm());
    let steps = decaying.map(|pole| (span / longest_step(pole), pole));
    let (steps, pole) = steps.max_by(|a, b| a.0.total_cmp(&b.0))?;
    if steps <= TOO_MANY_STEPS {
        return None;
    }
    let message = format!(
        "a run of this code over {} s may need {} steps: its method is explicit, and in some modes there is a pole at {} 1/s",
        six_digits(span),
        six_digits(steps.ceil()),
        in_words(pole)
    );
    let help = "remove the fast dynamics from the model, such as a large resistor in series with coils, or use `lgm simulate`, \
                whose methods for stiff equations take long steps";
    Some(Diagnostic::warning(Code::LGM0935, message).help(help))
}

/// Returns the eigenvalues of the Jacobian of the rates, with the states at their initial values and all inputs zero.
fn poles_at_start(system: &StateSystem, kernels: &Kernels) -> Option<Vec<Complex<f64>>> {
    let size = system.states.len();
    let (loops, mass) = (&system.equations.loops, &system.equations.mass_matrix);
    if size == 0 || size > MOST || !loops.is_empty() || mass.is_some() {
        return None;
    }
    let parameters = kernels.parameters(&[]);
    let inputs = vec![0.0; system.inputs.len()];
    let start = Arguments {
        parameters: &parameters,
        inputs: &inputs,
        rates: &inputs,
        ..Arguments::default()
    };
    let states = kernels.starts.values(&start);
    let direct = &kernels.jacobians(system).rates_by_states;
    let values = direct.values.values(&Arguments {
        states: &states,
        ..start
    });
    let mut matrix = SparseMatrix::zeros(size, size);
    for (row, entries) in matrix.rows.iter_mut().enumerate() {
        let range = direct.row_starts[row]..direct.row_starts[row + 1];
        entries.extend(range.map(|at| (direct.columns_of[at] as u32, values[at])));
    }
    poles(&matrix)
}

/// Returns the amplification of a mode in one step: the method's stability polynomial at the pole times the step.
fn growth(z: Complex<f64>) -> f64 {
    (z * (z * (z * (z / 24.0 + 1.0 / 6.0) + 0.5) + 1.0) + 1.0).norm()
}

/// Returns the longest step that does not amplify the mode of a pole.
fn longest_step(pole: Complex<f64>) -> f64 {
    let size = pole.norm();
    let grows = |reach: f64| growth(pole / size * reach) > 1.0 + GROWTH_NOISE;
    let point = |at: u32| REACH * f64::from(at) / f64::from(POINTS);
    let Some(first) = (1..=POINTS).find(|at| grows(point(*at))) else {
        return REACH / size;
    };
    let (mut inside, mut outside) = (point(first - 1), point(first));
    for _ in 0..50 {
        let middle = 0.5 * (inside + outside);
        match grows(middle) {
            true => outside = middle,
            false => inside = middle,
        }
    }
    inside / size
}

/// Prints a pole: `-1000`, `-2 + 30i`.
fn in_words(pole: Complex<f64>) -> String {
    match pole.im == 0.0 {
        true => six_digits(pole.re),
        false => format!("{} + {}i", six_digits(pole.re), six_digits(pole.im.abs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_ends_where_the_books_say() {
        // The limit is 2.785 on the real axis and 2 sqrt 2 on the imaginary axis.
        assert!((longest_step(Complex::new(-1000.0, 0.0)) - 2.785_293_6e-3).abs() < 1e-9);
        assert!((longest_step(Complex::new(0.0, 10.0)) - 0.08_f64.sqrt()).abs() < 1e-3);
    }
}
