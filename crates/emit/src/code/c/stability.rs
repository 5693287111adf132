//! Whether steps of fixed length are short enough for the poles of a model.

use crate::code::subject::Subject;
use lgm_analysis::poles;
use lgm_kernels::Arguments;
use lgm_model::system::SparseMatrix;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use num_complex::Complex;

/// The poles of more states than this are not computed.
const MOST: usize = 400;

/// The region in which the method of Runge and Kutta of order 4 is stable lies within this distance of zero.
const REACH: f64 = 4.0;

/// Points at which the way out of it is looked for.
const POINTS: u32 = 400;

/// A pole is no growth where its real part is above zero by less than this share of its size.
const ROUNDING: f64 = 1e-9;

/// The warning that something grows in steps of this length that does not grow in the model; none where nothing does, or the poles are
/// not known: those of large models, and of models with algebraic loops.
pub(super) fn warning(subject: &Subject<'_>, step: f64) -> Option<Diagnostic> {
    let found = poles_at_start(subject)?.into_iter();
    let steady = found.filter(|pole| pole.norm() > 0.0 && pole.re <= ROUNDING * pole.norm());
    let bounds = steady.map(|pole| (longest_step(pole), pole));
    let (longest, pole) = bounds.min_by(|a, b| a.0.total_cmp(&b.0))?;
    if step <= longest {
        return None;
    }
    let message = format!(
        "fixed steps of {} s are too long for the pole at {} 1/s: what decays in the model grows in them",
        six_digits(step),
        in_words(pole)
    );
    let mut warning = Diagnostic::warning(Code::LGM0935, message);
    if !subject.system.equations.linear {
        warning = warning.note("the pole is that of small motions about the start");
    }
    Some(warning.help(format!(
        "let steps be at most {} s long, or leave out of the model what is so fast",
        six_digits(longest)
    )))
}

/// The eigenvalues of the rates by the states, where the states are at their starts and the inputs at zero.
fn poles_at_start(subject: &Subject<'_>) -> Option<Vec<Complex<f64>>> {
    let system = subject.system;
    let size = system.states.len();
    if size == 0 || size > MOST || subject.unknowns() > 0 || system.equations.mass_matrix.is_some() {
        return None;
    }
    let kernels = &subject.kernels;
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

/// How much a step makes of what belongs to a pole: the polynomial of the method at the pole times the step.
fn growth(z: Complex<f64>) -> f64 {
    (z * (z * (z * (z / 24.0 + 1.0 / 6.0) + 0.5) + 1.0) + 1.0).norm()
}

/// The longest step in which what belongs to a pole does not grow.
fn longest_step(pole: Complex<f64>) -> f64 {
    let size = pole.norm();
    let grows = |reach: f64| growth(pole / size * reach) > 1.0 + ROUNDING;
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

/// `-1000`, `-2 + 30i`
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
        // 2.785 on the real axis, 2 sqrt 2 on the imaginary one.
        assert!((longest_step(Complex::new(-1000.0, 0.0)) - 2.785_293_6e-3).abs() < 1e-9);
        assert!((longest_step(Complex::new(0.0, 10.0)) - 0.08_f64.sqrt()).abs() < 1e-3);
    }
}
