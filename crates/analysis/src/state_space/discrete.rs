//! Discrete equations for the values at multiples of a period.

use super::matrices::{StateSpace, rate_matrix};
use crate::values::{dense, numeric_form};
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::DMatrix;

/// The course of the inputs between samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Inputs keep their values.
    Zero,
    /// Inputs are interpolated linearly.
    First,
    /// Tustin's rule: `s = 2/T (z - 1)/(z + 1)`.
    Tustin,
}

/// `x[k+1] = A x[k] + B u[k] + x_offset`, `y[k] = C x[k] + D u[k] + y_offset`.
#[derive(Clone, Debug)]
pub struct Discrete {
    /// The matrices.
    pub space: StateSpace,
    /// Names of states that Tustin's rule adds, one for each input whose rate is in an output.
    pub added: Vec<String>,
    /// The offsets of the states; none if all are zero.
    pub x_offset: Option<Vec<f64>>,
    /// The offsets of the outputs; none if all are zero.
    pub y_offset: Option<Vec<f64>>,
    /// The states of the system in terms of the discrete states.
    pub states: StatesBehind,
}

/// The states of the system in terms of the discrete states: `factor x[k] + offset u[k] + constant`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatesBehind {
    /// None if it is the identity.
    pub factor: Option<DMatrix<f64>>,
    /// None if it is zero.
    pub offset: Option<DMatrix<f64>>,
    /// None if it is zero.
    pub constant: Option<Vec<f64>>,
}

/// Derives the discrete equations for a period in seconds.
///
/// If rates of inputs act on the states (E), the states are sampled just before a step of the inputs, and the outputs just after it.
/// Outputs that depend on rates of inputs (F) are impulses at input steps: only Tustin's rule can represent them.
pub fn discretize(system: &StateSystem, period: f64, hold: Hold) -> Result<Discrete, Box<Diagnostic>> {
    let form = numeric_form(system, "discrete form")?;
    let inputs = system.declared_inputs().count();
    let rates = rate_matrix(form, inputs);
    if rates.is_some() && hold != Hold::Tustin {
        let message = match hold {
            Hold::Zero => "outputs contain rates of inputs, which are impulses if inputs step from value to value",
            _ => "outputs contain rates of inputs, which are discontinuous between two straight lines",
        };
        let fault = Diagnostic::error(Code::LGM0717, message);
        let named = system
            .outputs
            .iter()
            .zip(&form.f.rows)
            .filter(|pair| !pair.1.is_empty());
        let names: Vec<String> = named.map(|(output, _)| format!("`{}`", output.name)).collect();
        return Err(Box::new(
            fault
                .note(format!("these are {}", names.join(", ")))
                .help("use `--hold tustin`, remove these outputs, or filter the input"),
        ));
    }
    let mut space = StateSpace::of(form, inputs);
    let (n, p) = (space.a.nrows(), space.c.nrows());
    // Constant terms are treated as another input with the value 1.
    let column = |offset: &Option<Vec<f64>>, rows: usize| match offset {
        Some(values) => DMatrix::from_column_slice(rows, 1, values),
        None => DMatrix::zeros(rows, 1),
    };
    space.b = joined(&space.b, &column(&form.x_offset, n));
    space.d = joined(&space.d, &column(&form.y_offset, p));
    let states = states_behind(&space, &dense(&form.e).columns(0, inputs).into_owned(), period, hold);
    let mut found = match hold {
        Hold::Zero => zero_order(&space, period),
        Hold::First => first_order(&space, period),
        Hold::Tustin => tustin(&space, period).ok_or_else(|| {
            let fault = Diagnostic::error(Code::LGM0717, "a pole lies at 2/T, where Tustin's method is undefined");
            Box::new(fault.help("choose another period"))
        })?,
    };
    let offset = |matrix: &DMatrix<f64>| {
        let values: Vec<f64> = matrix.column(inputs).iter().copied().collect();
        values.iter().any(|value| *value != 0.0).then_some(values)
    };
    let (x_offset, y_offset) = (offset(&found.b), offset(&found.d));
    found.b = found.b.columns(0, inputs).into_owned();
    found.d = found.d.columns(0, inputs).into_owned();
    let mut added = Vec::new();
    if let Some(rates) = rates {
        add_rates(&mut found, &rates, period, |input| {
            added.push(format!("tustin({})", system.inputs[input].name))
        });
    }
    let x_offset = x_offset.map(|mut values| {
        values.resize(found.a.nrows(), 0.0);
        values
    });
    let all = [&found.a, &found.b, &found.c, &found.d];
    if !all.iter().all(|matrix| matrix.iter().all(|value| value.is_finite())) {
        let fault = Diagnostic::error(Code::LGM0717, "the discrete equations exceed the range of doubles");
        return Err(Box::new(fault.help(
            "choose a shorter period: an unstable pole grows too far within this one",
        )));
    }
    Ok(Discrete {
        space: found,
        added,
        x_offset,
        y_offset,
        states,
    })
}

/// Returns the terms that the states of a hold omit: `E u`, and the part of the inputs that each hold adds. The last input is 1.
fn states_behind(space: &StateSpace, e: &DMatrix<f64>, period: f64, hold: Hold) -> StatesBehind {
    let (n, m) = (space.a.nrows(), e.ncols());
    let (factor, part) = match hold {
        Hold::Zero => (None, DMatrix::zeros(n, m + 1)),
        Hold::First => (None, exponential_blocks(space, period, 2).swap_remove(2)),
        Hold::Tustin => {
            let inverse = (DMatrix::identity(n, n) - &space.a * (0.5 * period)).try_inverse();
            let part = inverse.as_ref().map(|inverse| inverse * &space.b * (0.5 * period));
            (
                inverse.filter(|_| n > 0),
                part.unwrap_or_else(|| DMatrix::zeros(n, m + 1)),
            )
        }
    };
    let offset = part.columns(0, m) + e;
    let constant: Vec<f64> = part.column(m).iter().copied().collect();
    let is_zero = |values: &[f64]| values.iter().all(|value| *value == 0.0);
    StatesBehind {
        factor,
        constant: (!is_zero(&constant)).then_some(constant),
        offset: (!is_zero(offset.as_slice())).then_some(offset),
    }
}

/// Joins two matrices side by side.
fn joined(left: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    let mut both = left.clone().resize_horizontally(left.ncols() + right.ncols(), 0.0);
    both.columns_mut(left.ncols(), right.ncols()).copy_from(right);
    both
}

/// Returns the blocks in the first rows of `exp([A, B, 0, ..; 0, 0, I, ..; ..] T)`, for inputs that are polynomials of time.
fn exponential_blocks(space: &StateSpace, period: f64, blocks: usize) -> Vec<DMatrix<f64>> {
    let (n, m) = (space.a.nrows(), space.b.ncols());
    let size = n + blocks * m;
    let mut whole = DMatrix::zeros(size, size);
    whole.view_mut((0, 0), (n, n)).copy_from(&(&space.a * period));
    whole.view_mut((0, n), (n, m)).copy_from(&(&space.b * period));
    for block in 1..blocks {
        whole
            .view_mut((n + (block - 1) * m, n + block * m), (m, m))
            .fill_with_identity();
    }
    let whole = exponential(whole);
    let mut found = vec![whole.view((0, 0), (n, n)).into_owned()];
    for block in 0..blocks {
        found.push(whole.view((0, n + block * m), (n, m)).into_owned());
    }
    found
}

/// Computes the exponential of a matrix after balancing by powers of two, because units spread entries over many decades.
pub(super) fn exponential(mut matrix: DMatrix<f64>) -> DMatrix<f64> {
    if matrix.is_empty() {
        return matrix;
    }
    let scales = crate::eigen::poles::balance(&mut matrix);
    let mut found = matrix.exp();
    for (at, scale) in scales.iter().enumerate() {
        found.row_mut(at).scale_mut(*scale);
        found.column_mut(at).scale_mut(1.0 / scale);
    }
    found
}

fn zero_order(space: &StateSpace, period: f64) -> StateSpace {
    let mut blocks = exponential_blocks(space, period, 1).into_iter();
    StateSpace {
        a: blocks.next().unwrap_or_default(),
        b: blocks.next().unwrap_or_default(),
        c: space.c.clone(),
        d: space.d.clone(),
    }
}

/// Converts to a first-order hold. The state is `x[k] - G2 u[k]`, so that the next value of the input is not needed.
fn first_order(space: &StateSpace, period: f64) -> StateSpace {
    let blocks = exponential_blocks(space, period, 2);
    let (a, first, second) = (&blocks[0], &blocks[1], &blocks[2]);
    StateSpace {
        b: first - second + a * second,
        d: &space.d + &space.c * second,
        a: a.clone(),
        c: space.c.clone(),
    }
}

fn tustin(space: &StateSpace, period: f64) -> Option<StateSpace> {
    let n = space.a.nrows();
    if n == 0 {
        return Some(space.clone());
    }
    let half = 0.5 * period;
    let factors = (DMatrix::identity(n, n) - &space.a * half).lu();
    let a = factors.solve(&(DMatrix::identity(n, n) + &space.a * half))?;
    let b = factors.solve(&(&space.b * period))?;
    let inverse = factors.try_inverse()?;
    let c = &space.c * inverse;
    Some(StateSpace {
        d: &space.d + &space.c * &b * 0.5,
        a,
        b,
        c,
    })
}

/// Replaces `F u'` by `2/T F (u - 2 w)` with `w[k+1] = u[k] - w[k]`, a state for each input whose rate occurs.
fn add_rates(space: &mut StateSpace, rates: &DMatrix<f64>, period: f64, mut added: impl FnMut(usize)) {
    for (input, column) in rates.column_iter().enumerate() {
        if column.iter().all(|value| *value == 0.0) {
            continue;
        }
        added(input);
        let at = space.a.nrows();
        space.a = space.a.clone().resize(at + 1, at + 1, 0.0);
        space.a[(at, at)] = -1.0;
        space.b = space.b.clone().resize_vertically(at + 1, 0.0);
        space.b[(at, input)] = 1.0;
        space.c = space.c.clone().resize_horizontally(at + 1, 0.0);
        space.c.column_mut(at).copy_from(&(column * (-4.0 / period)));
        let mut direct = space.d.column_mut(input);
        direct += column * (2.0 / period);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_states_of_a_system_at_rest_are_found_again() {
        // x' = -2 x + 6 u with z = x - 0.5 u, and so z' = -2 z + 5 u: at rest x = 3 u, for u = 4 and a constant of 1.
        let space = StateSpace {
            a: DMatrix::from_element(1, 1, -2.0),
            b: DMatrix::from_row_slice(1, 2, &[5.0, 1.0]),
            c: DMatrix::from_element(1, 1, 1.0),
            d: DMatrix::from_row_slice(1, 2, &[0.5, 0.0]),
        };
        let e = DMatrix::from_element(1, 1, 0.5);
        for hold in [Hold::Zero, Hold::First, Hold::Tustin] {
            let found = match hold {
                Hold::Zero => zero_order(&space, 0.3),
                Hold::First => first_order(&space, 0.3),
                Hold::Tustin => tustin(&space, 0.3).unwrap_or_else(|| space.clone()),
            };
            let inputs = DMatrix::from_column_slice(2, 1, &[4.0, 1.0]);
            let rest = (&found.b * inputs)[0] / (1.0 - found.a[(0, 0)]);
            let behind = states_behind(&space, &e, 0.3, hold);
            let factor = behind.factor.map_or(1.0, |factor| factor[0]);
            let offset = behind.offset.map_or(0.0, |offset| offset[0]);
            let constant = behind.constant.map_or(0.0, |constant| constant[0]);
            let state = factor * rest + offset * 4.0 + constant;
            assert!((state - 12.5).abs() < 1e-12, "{hold:?}: {state}");
        }
    }
}
