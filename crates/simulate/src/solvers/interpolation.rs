//! The check that the interpolation between the ends of a step agrees with the equations.
//!
//! The error test of a step examines its end, and may pass although the polynomial between its ends is inaccurate:
//!
//! - A part of the system that is much faster than the step follows the rest instantaneously. An implicit method finds
//!   its final value for any step length, and its error test, which is damped like the fast part, does not check the path:
//!   an input may have oscillated in between.
//! - The estimate of an explicit method may vanish by accident if a step crosses a sharp kink, such as that of a diode
//!   that begins to conduct. The two solutions that it compares differ by some sum of slopes, which has zeros, and a step
//!   is shortened until it meets one.
//!
//! Interpolated values are therefore checked independently: the slope of the polynomial is compared with the rate of
//! the equations there. Over the length of the step, the difference is an error of the states, except in parts that are
//! faster than the step. Those parts follow, and a difference d of slopes is an error of `(M - h J)^-1 h M d`. It is h
//! d in slow parts of J, and d divided by the fast rate in fast parts.

use crate::linear_factors::{Factor, Pattern};
use crate::motion::Motion;
use crate::motion::scales::Scales;
use crate::solvers::implicit::Implicit;
use crate::solvers::solver::{Solver, SolverFault};

/// The largest interpolation error in units of the tolerance. For steps at the accuracy limit this estimate
/// is about one tolerance; for others it differs by orders of magnitude.
pub(crate) const LIMIT: f64 = 5.0;

/// The same for a step that was accepted after rejections.
pub(crate) const LIMIT_AFTER_REJECTION: f64 = 25.0;

/// The fraction of the slope difference over a step that becomes an error of the states if the step resolves all parts.
const SWING: f64 = 0.25;

/// If the Jacobian changes, a factor is valid for this fraction of a step.
const HOLDS: f64 = 0.25;

/// Examines the interior of steps.
pub(crate) struct InterpolationError<'a> {
    motion: &'a Motion<'a>,
    slopes: Vec<f64>,
    rates: Vec<f64>,
    /// The filter, created on demand.
    filter: Option<Filter<'a>>,
}

impl<'a> InterpolationError<'a> {
    pub fn new(motion: &'a Motion<'a>) -> InterpolationError<'a> {
        InterpolationError {
            motion,
            slopes: vec![0.0; motion.states],
            rates: vec![0.0; motion.states],
            filter: None,
        }
    }

    /// Returns the interpolation error of states at a time within the last step, in units of the tolerance.
    pub fn error(
        &mut self,
        solver: &mut dyn Solver,
        (time, states): (f64, &[f64]),
        scales: &Scales,
        is_explicit: bool,
    ) -> Result<f64, SolverFault> {
        solver.slopes(time, &mut self.slopes)?;
        if !self.motion.rates(time, states, &mut self.rates) {
            return Ok(f64::INFINITY);
        }
        let length = solver.time() - solver.previous();
        for (rate, slope) in self.rates.iter_mut().zip(&self.slopes) {
            *rate = (*rate - slope) * length;
        }
        let plain = measure(&self.rates, states, scales);
        // An explicit method resolves the fastest part with its steps. The slope oscillates about the rate between
        // their ends, so the error is a fraction of its value without a change of sign.
        if is_explicit {
            return Ok(plain * SWING);
        }
        if plain <= LIMIT {
            return Ok(plain);
        }
        let filter = self.filter.get_or_insert_with(|| Filter::new(self.motion));
        if !filter.damp(time, states, length, &mut self.rates) {
            return Ok(plain);
        }
        Ok(measure(&self.rates, states, scales).min(plain))
    }
}

/// Returns the mean of errors in units of the tolerance, as in the error test of a step.
fn measure(errors: &[f64], states: &[f64], scales: &Scales) -> f64 {
    let shares = errors.iter().zip(states).enumerate();
    let squares = shares.map(|(at, (error, state))| (error / scales.allowed(at, *state)).powi(2));
    let mean = (squares.sum::<f64>() / errors.len() as f64).sqrt();
    // A NaN is never within tolerance.
    if mean.is_nan() { f64::INFINITY } else { mean }
}

/// The matrix `M - h J`, factorised.
struct Filter<'a> {
    form: Implicit<'a>,
    is_linear: bool,
    row_starts: Vec<usize>,
    columns_of: Vec<usize>,
    /// For each entry its position in J, whose entries are followed by those of M.
    places: Vec<usize>,
    values: Vec<f64>,
    entries: Vec<f64>,
    y: Vec<f64>,
    right: Vec<f64>,
    /// The step and the time of the factor; the factor is none if the matrix is singular.
    made: Option<(f64, f64, Option<Factor>)>,
}

impl<'a> Filter<'a> {
    fn new(motion: &'a Motion<'a>) -> Filter<'a> {
        let form = Implicit::new(motion);
        let of_columns = |starts: &[usize]| -> Vec<usize> {
            let lengths = starts.windows(2).enumerate();
            lengths
                .flat_map(|(column, ends)| std::iter::repeat_n(column, ends[1] - ends[0]))
                .collect()
        };
        let jacobian = form.rows_of.iter().copied().zip(of_columns(&form.column_starts));
        let mut entries: Vec<(usize, usize)> = jacobian.collect();
        match &form.mass {
            Some(mass) => entries.extend(mass.rows_of.iter().copied().zip(of_columns(&mass.column_starts))),
            None => entries.extend((0..form.size).map(|row| (row, row))),
        }
        let mut places: Vec<usize> = (0..entries.len()).collect();
        places.sort_by_key(|place| entries[*place]);
        let mut row_starts = vec![0; form.size + 1];
        for (row, _) in &entries {
            row_starts[row + 1] += 1;
        }
        for row in 0..form.size {
            row_starts[row + 1] += row_starts[row];
        }
        Filter {
            is_linear: motion.system.equations.linear,
            row_starts,
            columns_of: places.iter().map(|place| entries[*place].1).collect(),
            values: vec![0.0; entries.len()],
            entries: vec![0.0; form.rows_of.len()],
            y: vec![0.0; form.size],
            right: vec![0.0; form.size],
            places,
            made: None,
            form,
        }
    }

    /// Computes `errors = (M - h J)^-1 M errors`; returns false if the matrix is singular.
    fn damp(&mut self, time: f64, states: &[f64], step: f64, errors: &mut [f64]) -> bool {
        // Steps of about the same length share a factor: the next power of two.
        let reach = step.log2().round().exp2();
        let fits = self.made.as_ref().is_some_and(|(made_for, made_at, _)| {
            let is_near = self.is_linear || (time - made_at).abs() <= HOLDS * step;
            *made_for == reach && is_near
        });
        if !fits {
            self.factorise(time, states, reach);
        }
        let Some((_, _, Some(factor))) = &self.made else {
            return false;
        };
        self.y.fill(0.0);
        self.y[..errors.len()].copy_from_slice(errors);
        match &self.form.mass {
            Some(mass) => mass.multiply(&self.y, 0.0, &mut self.right),
            None => self.right.copy_from_slice(&self.y),
        }
        factor.solve(&mut self.right);
        errors.copy_from_slice(&self.right[..errors.len()]);
        true
    }

    fn factorise(&mut self, time: f64, states: &[f64], reach: f64) {
        self.form.begin(time, states, &mut self.y);
        self.form.jacobian(time, &self.y, &mut self.entries);
        let first_of_mass = self.entries.len();
        for (value, place) in self.values.iter_mut().zip(&self.places) {
            *value = match place.checked_sub(first_of_mass) {
                None => -reach * self.entries[*place],
                Some(at) => self.form.mass.as_ref().map_or(1.0, |mass| mass.values[at]),
            };
        }
        let pattern = Pattern {
            size: self.form.size,
            row_starts: &self.row_starts,
            columns_of: &self.columns_of,
        };
        let factor = Factor::new(&pattern, &self.values).ok();
        self.made = Some((reach, time, factor));
    }
}
