//! Least squares: finds the parameters for which a model fits data best, and how well the data determine them.

use nalgebra::{DMatrix, DVector};

/// Estimated parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The values of the parameters.
    pub values: Vec<f64>,
    /// Standard errors from the linearised model: one standard deviation of each value if the errors of the data are independent and
    /// identically distributed.
    pub standard_errors: Vec<f64>,
    /// Student's t for a two-sided confidence of 95 %.
    pub quantile: f64,
    /// The remaining sum of squares.
    pub squares: f64,
}

/// The reason why no estimate exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEstimate {
    /// The number of values does not exceed the number of parameters.
    TooFewValues,
    /// The model cannot be evaluated at the initial parameters.
    NoModel,
    /// The parameter with this index, or a combination of it with others, has no influence.
    NoInfluence(usize),
    /// The search did not converge.
    NoConvergence,
}

/// The maximum number of steps of the search.
const STEPS: usize = 200;

/// The search ends if no parameter changes by more than this fraction of its standard error or magnitude.
const SETTLED: f64 = 1e-6;

/// The steps of central differences, relative to a parameter.
const DIFFERENCE: f64 = 1e-4;

/// A model and its data.
pub trait Residuals {
    /// Returns the model values minus the measured values; `None` if the model cannot be evaluated.
    fn residuals(&mut self, parameters: &[f64]) -> Option<Vec<f64>>;

    /// Returns the derivatives of the residuals, one list per parameter. If `None`, central differences are used.
    fn slopes(&mut self, _parameters: &[f64]) -> Option<Vec<Vec<f64>>> {
        None
    }
}

/// Returns the parameters that minimise the sum of squares, from a first guess (Levenberg-Marquardt method).
pub fn least_squares(model: &mut dyn Residuals, first: &[f64]) -> Result<Estimate, NoEstimate> {
    let mut values = first.to_vec();
    let mut errors = DVector::from_vec(model.residuals(&values).ok_or(NoEstimate::NoModel)?);
    let freedom = errors.len().checked_sub(values.len()).filter(|freedom| *freedom > 0);
    let freedom = freedom.ok_or(NoEstimate::TooFewValues)?;
    let mut damping = 1e-3;
    let mut is_settled = false;
    for _ in 0..STEPS {
        let slopes = jacobian(model, &values, errors.len()).ok_or(NoEstimate::NoModel)?;
        let normal = slopes.transpose() * &slopes;
        if let Some(at) = (0..values.len()).find(|at| normal[(*at, *at)] == 0.0) {
            return Err(NoEstimate::NoInfluence(at));
        }
        if is_settled {
            return finished(values, &errors, &normal, freedom);
        }
        let gradient = slopes.transpose() * &errors;
        let mut improved = false;
        for _ in 0..40 {
            let mut damped = normal.clone();
            for at in 0..values.len() {
                damped[(at, at)] *= 1.0 + damping;
            }
            let Some(step) = damped.lu().solve(&gradient) else {
                damping *= 10.0;
                continue;
            };
            let tried: Vec<f64> = values
                .iter()
                .zip(step.iter())
                .map(|(value, step)| value - step)
                .collect();
            let found = model.residuals(&tried).map(DVector::from_vec);
            let deviation = (errors.norm_squared() / freedom as f64).sqrt();
            let is_small = (0..values.len()).all(|at| {
                let scale = deviation / normal[(at, at)].sqrt();
                step[at].abs() <= SETTLED * scale.max(1e-6 * values[at].abs())
            });
            if let Some(found) = found.filter(|found| found.norm_squared() <= errors.norm_squared()) {
                (values, errors) = (tried, found);
                damping = (damping * 0.1).max(1e-12);
                (improved, is_settled) = (true, is_small);
                break;
            }
            // Round-off of the runs may be all that keeps a tiny step from being an improvement.
            if is_small {
                (improved, is_settled) = (true, true);
                break;
            }
            damping *= 10.0;
        }
        if !improved {
            break;
        }
    }
    Err(NoEstimate::NoConvergence)
}

fn jacobian(model: &mut dyn Residuals, values: &[f64], rows: usize) -> Option<DMatrix<f64>> {
    let mut slopes = DMatrix::zeros(rows, values.len());
    if let Some(columns) = model.slopes(values) {
        for (at, column) in columns.into_iter().enumerate() {
            slopes.set_column(at, &DVector::from_vec(column));
        }
        return Some(slopes);
    }
    for at in 0..values.len() {
        let step = DIFFERENCE * if values[at] == 0.0 { 1.0 } else { values[at].abs() };
        let mut side = |sign: f64| {
            let mut moved = values.to_vec();
            moved[at] += sign * step;
            model.residuals(&moved)
        };
        let (above, below) = (side(1.0)?, side(-1.0)?);
        for (row, (above, below)) in above.iter().zip(&below).enumerate() {
            slopes[(row, at)] = (above - below) / (2.0 * step);
        }
    }
    Some(slopes)
}

fn finished(
    values: Vec<f64>,
    errors: &DVector<f64>,
    normal: &DMatrix<f64>,
    freedom: usize,
) -> Result<Estimate, NoEstimate> {
    // Scaled, so that the units of the parameters do not matter.
    let scales: Vec<f64> = (0..values.len()).map(|at| normal[(at, at)].sqrt()).collect();
    let scaled = DMatrix::from_fn(values.len(), values.len(), |row, column| {
        normal[(row, column)] / (scales[row] * scales[column])
    });
    let least = scaled.clone().symmetric_eigen();
    let weakest = (0..values.len()).min_by(|a, b| least.eigenvalues[*a].total_cmp(&least.eigenvalues[*b]));
    if let Some(weakest) = weakest.filter(|weakest| least.eigenvalues[*weakest] < 1e-12) {
        let vector = least.eigenvectors.column(weakest);
        return Err(NoEstimate::NoInfluence(vector.iamax()));
    }
    let inverse = scaled.try_inverse().ok_or(NoEstimate::NoInfluence(0))?;
    let squares = errors.norm_squared();
    let variance = squares / freedom as f64;
    let standard_errors = (0..values.len()).map(|at| (variance * inverse[(at, at)]).sqrt() / scales[at]);
    Ok(Estimate {
        standard_errors: standard_errors.collect(),
        values,
        quantile: student(freedom as f64),
        squares,
    })
}

/// Returns the two-sided 95 % quantile of Student's distribution with `freedom` degrees of freedom.
fn student(freedom: f64) -> f64 {
    // P(abs(T) > t) is the incomplete beta function of freedom/(freedom + t^2).
    let beyond = |t: f64| incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    let (mut low, mut high) = (1.0, 20.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match beyond(middle) > 0.05 {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

/// Computes ln(Gamma(x)) for positive x by Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

/// Computes the regularised incomplete beta function by its continued fraction (Lentz).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    const TINY: f64 = 1e-300;
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / (1.0 + term * d).max(TINY);
            c = (1.0 + term / c).max(TINY);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0_f64).abs() < 1e-15 {
            break;
        }
    }
    front * fraction / a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_has_the_values_of_tables() {
        for (freedom, expected) in [
            (1.0, 12.706_204_736),
            (2.0, 4.302_652_73),
            (10.0, 2.228_138_852),
            (100.0, 1.983_971_519),
        ] {
            let found = student(freedom);
            assert!((found - expected).abs() < 1e-7, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_line_through_points_has_its_textbook_errors() {
        // y = a + b x at 0..3 with y = 1, 3, 4, 8: b = 2.2, a = 0.7, sums of squares 1.8 over 2, variances s^2 (1/4 + 9/20) and s^2/5.
        const Y: [f64; 4] = [1.0, 3.0, 4.0, 8.0];
        struct Line(bool);
        impl Residuals for Line {
            fn residuals(&mut self, at: &[f64]) -> Option<Vec<f64>> {
                Some((0..4).map(|k| at[0] + at[1] * k as f64 - Y[k]).collect())
            }

            fn slopes(&mut self, _: &[f64]) -> Option<Vec<Vec<f64>>> {
                self.0.then(|| vec![vec![1.0; 4], vec![0.0, 1.0, 2.0, 3.0]])
            }
        }
        for has_slopes in [false, true] {
            let found = least_squares(&mut Line(has_slopes), &[0.0, 1.0]);
            let Ok(found) = found else { panic!("{found:?}") };
            let expected = [0.7, 2.2, (0.9_f64 * 0.7).sqrt(), (0.9_f64 / 5.0).sqrt()];
            let all = found.values.iter().chain(&found.standard_errors);
            for (found, expected) in all.zip(expected) {
                assert!((found - expected).abs() < 1e-7, "{found} is not {expected}");
            }
        }
    }
}
