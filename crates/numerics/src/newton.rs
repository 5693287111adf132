//! Newton's iteration on small dense systems, including systems that do not determine all unknowns.

use nalgebra::{DMatrix, DVector};

/// Singular values below this fraction of the largest are zero, after equilibration of rows and columns.
const RANK: f64 = 1e-11;

/// The maximum number of steps.
const ITERATIONS: usize = 200;

/// The maximum number of halvings of a step.
const HALVINGS: usize = 30;

/// Convergence is slow if the sum of squares shrinks by less than this factor.
const SLOW: f64 = 0.02;

/// The fraction of the largest term that replaces the magnitude of a nearly vanishing one.
const TERM_FLOOR: f64 = 1e-6;

/// A singular value is zero if it is below this fraction of its values at points on both sides. The relative distance of these points is
/// the same number.
const MULTIPLE: f64 = 1e-3;

/// The longest step of a displacement, relative to its value or 1: a longer step could end full turns away from the guess.
pub const LEAP: f64 = 1.0;

/// Values and their Jacobian at a point; none if a value is not finite. The Jacobian of a square root is infinite if the root is zero.
pub type Linearised = Option<ValuesAndSlopes>;

/// The values of some equations at a point, and their Jacobian there.
pub type ValuesAndSlopes = (Vec<f64>, DMatrix<f64>);

/// The relative offset of the search (absolute at zero) if the equations have infinite slopes.
const ASIDE: f64 = 1e-3;

/// Fractions of that offset, in the order in which they are tried.
const NEARER: [f64; 3] = [1.0, 1e-3, 1e-6];

/// Values below this count as zero.
const REST: f64 = 1e-100;

/// A zero.
#[derive(Clone, Debug)]
pub struct Zero {
    /// The unknowns.
    pub at: Vec<f64>,
    /// The unknowns that the equations do not determine there.
    pub free: Vec<usize>,
}

/// The end of the iteration without a zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Stuck {
    /// The last unknowns.
    pub at: Vec<f64>,
    /// The equation with the largest relative residual, and its value; none if the equations have no values.
    pub worst: Option<(usize, f64)>,
}

/// Searches for a zero from a guess; there must be at least as many equations as unknowns. If the system does not determine all unknowns,
/// the nearest zero is used.
///
/// Steps are shortened until the residuals, each relative to its row of the Jacobian, decrease.
pub fn find_zero(guess: Vec<f64>, evaluate: impl FnMut(&[f64]) -> Linearised) -> Result<Zero, Stuck> {
    find_zero_within(guess, f64::INFINITY, evaluate)
}

/// Searches with steps that change no unknown by more than `leap` times its magnitude, or times 1 if that is larger ([`LEAP`]).
pub fn find_zero_within(
    guess: Vec<f64>,
    leap: f64,
    mut evaluate: impl FnMut(&[f64]) -> Linearised,
) -> Result<Zero, Stuck> {
    search(guess, leap, &mut evaluate).or_else(|stuck| {
        // Near a zero with an infinite slope, a search comes arbitrarily close but never arrives.
        let rest: Vec<f64> = stuck
            .at
            .iter()
            .map(|at| if at.abs() < REST { 0.0 } else { *at })
            .collect();
        let is_zero =
            rest != stuck.at && evaluate(&rest).is_some_and(|found| found.0.iter().all(|value| *value == 0.0));
        match is_zero {
            true => Ok(Zero {
                at: rest,
                free: Vec::new(),
            }),
            false => Err(stuck),
        }
    })
}

fn search(guess: Vec<f64>, leap: f64, evaluate: &mut impl FnMut(&[f64]) -> Linearised) -> Result<Zero, Stuck> {
    let nowhere = Stuck {
        at: guess.clone(),
        worst: None,
    };
    let (mut at, (mut value, mut jacobian)) = beside_guess(guess, evaluate).ok_or(nowhere)?;
    let mut last = f64::INFINITY;
    for _ in 0..ITERATIONS {
        // A zero with an infinite slope.
        if !is_finite(&jacobian) {
            return Ok(Zero { at, free: Vec::new() });
        }
        let measures: Vec<f64> = jacobian.column_iter().map(|column| column.amax()).collect();
        let sizes = at.iter().zip(&measures).map(|(at, size)| (at * size).abs());
        let largest = sizes.fold(0.0, f64::max);
        let terms = terms(&jacobian, &at, &measures, largest);
        let size_of_row: Vec<f64> = jacobian.row_iter().map(|row| row.amax()).collect();
        let size = |value: &[f64]| -> f64 {
            let each = value.iter().zip(&size_of_row);
            each.map(|(value, size)| if *size > 0.0 { (value / size).powi(2) } else { 0.0 })
                .sum()
        };
        let (step, free) = least_step(jacobian, &value);
        let moved = step
            .iter()
            .zip(&at)
            .zip(&measures)
            .map(|((step, at), size)| {
                // An unknown that is negligible compared with the largest one need not converge further.
                let beside = if *size > 0.0 { TERM_FLOOR * largest / size } else { 0.0 };
                step.abs() / (at.abs() + step.abs() + beside).max(1e-300)
            })
            .fold(0.0, f64::max);
        // The residual of a singular system must be round-off.
        let left = |row: usize| value[row].abs() / (terms[row] + 1e-300);
        let worst = (0..value.len()).max_by(|a, b| left(*a).total_cmp(&left(*b)));
        let worst = worst.filter(|row| value[*row] != 0.0 && (left(*row) > 1e-9 || left(*row).is_nan()));
        let is_slow = moved <= 1e-8 && moved >= 0.5 * last;
        last = moved;
        let settled = moved <= 1e-13 || step.iter().all(|step| *step == 0.0);
        let before = size(&value);
        let longest = step
            .iter()
            .zip(&at)
            .map(|(step, at)| leap * at.abs().max(1.0) / step.abs())
            .fold(1.0, f64::min);
        let mut behind = |length: f64| {
            let steps = at.iter().zip(step.iter());
            let trial: Vec<f64> = steps.map(|(at, step)| at - length * step).collect();
            let (value, jacobian) = evaluate(&trial).filter(is_usable)?;
            Some((trial, value, jacobian))
        };
        let next = (0..HALVINGS).find_map(|halving| {
            let is_better = |value: &[f64]| size(value) < before || before == 0.0;
            behind(longest * 0.5f64.powi(halving as i32)).filter(|found| is_better(&found.1))
        });
        // Near a root with an infinite slope, steps alternate between the sides; shortened steps make progress.
        let leads_on = next.as_ref().is_some_and(|found| size(&found.1) < 0.5 * before);
        let is_there = settled || is_slow && !leads_on;
        // The last steps are round-off, and need not make progress.
        let next = next.or_else(|| if moved <= 1e-8 { behind(longest) } else { None });
        // Each step covers half the distance to a multiple zero, such as the rest of a turbulent law.
        let next = next.map(|found| match leap.is_infinite() && size(&found.1) > SLOW * before {
            true => behind(2.0)
                .filter(|further| size(&further.1) < SLOW * size(&found.1))
                .unwrap_or(found),
            false => found,
        });
        match next {
            Some(found) => (at, value, jacobian) = found,
            None => return Err(stuck(at, &value, worst)),
        }
        if is_there {
            return match worst {
                Some(_) => Err(stuck(at, &value, worst)),
                None => Ok(Zero { at, free }),
            };
        }
    }
    let worst = (0..value.len()).max_by(|a, b| value[*a].abs().total_cmp(&value[*b].abs()));
    Err(stuck(at, &value, worst))
}

/// Returns true if a search can continue from values and their Jacobian: at a zero, finite slopes are not needed.
fn is_usable(found: &(Vec<f64>, DMatrix<f64>)) -> bool {
    is_finite(&found.1) || found.0.iter().all(|value| *value == 0.0)
}

/// Returns the start of a search, with values and Jacobian: the guess, or a point next to it if its slopes are infinite. Points nearer to
/// the guess are tried if those farther away have no values, because 0.004 may be volts or cubic metres.
pub(crate) fn beside_guess(
    guess: Vec<f64>,
    evaluate: &mut dyn FnMut(&[f64]) -> Linearised,
) -> Option<(Vec<f64>, ValuesAndSlopes)> {
    let found = evaluate(&guess)?;
    if is_usable(&found) {
        return Some((guess, found));
    }
    let mut aside = guess.clone();
    leave_rest(&mut aside, &vec![0.0; guess.len()]);
    // An unknown with finite slopes is not moved, because the search might not bring it back.
    let has_slopes = |column: usize| found.1.column(column).iter().all(|entry| entry.is_finite());
    let steep = |column: usize| if has_slopes(column) { 0.0 } else { 1.0 };
    let steep: Vec<f64> = (0..guess.len()).map(steep).collect();
    let every = vec![1.0; guess.len()];
    [&steep, &every].into_iter().find_map(|moved| {
        NEARER.iter().find_map(|share| {
            let beside = |at: usize| guess[at] + share * moved[at] * (aside[at] - guess[at]);
            let at: Vec<f64> = (0..guess.len()).map(beside).collect();
            evaluate(&at).filter(is_usable).map(|found| (at, found))
        })
    })
}

/// Returns the magnitudes with which the values of each equation are compared: its terms, plus a small fraction of the largest ones.
fn terms(jacobian: &DMatrix<f64>, at: &[f64], measures: &[f64], largest: f64) -> Vec<f64> {
    let of_row = |row: nalgebra::RowDVector<f64>| {
        let own: f64 = row.iter().zip(at).map(|(entry, value)| (entry * value).abs()).sum();
        let shares = row.iter().zip(measures).filter(|pair| *pair.1 > 0.0);
        let share = shares.map(|(entry, size)| (entry / size).abs()).fold(0.0, f64::max);
        own + TERM_FLOOR * share * largest
    };
    jacobian.row_iter().map(|row| of_row(row.into_owned())).collect()
}

/// Returns an unknown that the equations do not determine at a solution, for example because two solutions coincide.
///
/// At such a solution the least singular value of the Jacobian is zero, or much smaller than at nearby points on both sides: Newton's
/// iteration approaches a multiple solution only to within round-off.
pub fn undetermined(at: &[f64], jacobian: impl Fn(&[f64]) -> DMatrix<f64>) -> Option<usize> {
    let least = |at: &[f64]| {
        let jacobian = jacobian(at);
        if !is_finite(&jacobian) {
            return (0.0, None);
        }
        let decomposition = jacobian.svd(false, true);
        let place = decomposition.singular_values.imin();
        let direction = decomposition.v_t.map(|v| v.row(place).transpose());
        (decomposition.singular_values[place], direction)
    };
    if at.is_empty() {
        return None;
    }
    let (here, direction) = least(at);
    let direction = direction?;
    let size = at.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let reach = MULTIPLE * size.max(MULTIPLE);
    let there = [1.0, -1.0].map(|sign: f64| {
        let beside: Vec<f64> = at
            .iter()
            .zip(direction.iter())
            .map(|(at, part)| at + sign * reach * part)
            .collect();
        least(&beside).0
    });
    let is_multiple = here == 0.0 || there.iter().all(|other| here < MULTIPLE * other);
    is_multiple.then(|| direction.iamax())
}

/// Leaves a point with infinite slopes. Negligible unknowns are set to zero; if there are none, all unknowns are moved slightly aside.
pub fn leave_rest(unknowns: &mut [f64], small: &[f64]) {
    let is_tiny = |unknown: f64, small: f64| unknown != 0.0 && unknown.abs() <= small;
    let pairs = unknowns.iter().zip(small);
    if pairs.filter(|pair| is_tiny(*pair.0, *pair.1)).count() > 0 {
        for (unknown, small) in unknowns.iter_mut().zip(small) {
            *unknown = if is_tiny(*unknown, *small) { 0.0 } else { *unknown };
        }
        return;
    }
    for (number, unknown) in unknowns.iter_mut().enumerate() {
        let size = if *unknown == 0.0 { 1.0 } else { unknown.abs() };
        *unknown += beside_rest(number) * size;
    }
}

/// Returns an offset from rest for the unknown with this number, in units of its magnitude; neighbours get different offsets.
pub fn beside_rest(number: usize) -> f64 {
    ASIDE * (1 + number % 7) as f64
}

fn is_finite(jacobian: &DMatrix<f64>) -> bool {
    jacobian.iter().all(|entry| entry.is_finite())
}

fn stuck(at: Vec<f64>, value: &[f64], worst: Option<usize>) -> Stuck {
    Stuck {
        at,
        worst: worst.map(|row| (row, value[row])),
    }
}

/// Returns the shortest least-squares solution of `jacobian * step = value`, and the unknowns that it does not determine.
fn least_step(mut jacobian: DMatrix<f64>, value: &[f64]) -> (DVector<f64>, Vec<usize>) {
    let (rows, size) = jacobian.shape();
    let mut right = DVector::from_column_slice(value);
    let mut measure = vec![1.0; size];
    for (column, measure) in measure.iter_mut().enumerate() {
        let most = jacobian.column(column).amax();
        if most > 0.0 {
            *measure = 1.0 / most;
            jacobian.column_mut(column).scale_mut(*measure);
        }
    }
    for row in 0..rows {
        let most = jacobian.row(row).amax();
        if most > 0.0 {
            jacobian.row_mut(row).scale_mut(1.0 / most);
            right[row] /= most;
        }
    }
    if size == 0 {
        return (DVector::zeros(0), Vec::new());
    }
    let decomposition = jacobian.svd(true, true);
    let (Some(u), Some(v)) = (&decomposition.u, &decomposition.v_t) else {
        unreachable!("invariant: both factors were asked for")
    };
    let largest = decomposition.singular_values.amax();
    let mut step = DVector::zeros(size);
    let mut free = vec![false; size];
    for (at, singular) in decomposition.singular_values.iter().enumerate() {
        if *singular > RANK * largest {
            let share = u.column(at).dot(&right) / singular;
            step += v.row(at).transpose() * share;
        } else {
            for (unknown, free) in free.iter_mut().enumerate() {
                *free |= v[(at, unknown)].abs() > 1e-8;
            }
        }
    }
    for (unknown, measure) in measure.iter().enumerate() {
        step[unknown] *= measure;
    }
    let free = (0..size).filter(|unknown| free[*unknown]).collect();
    (step, free)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two orifices in series between a pump and two tanks: flows are roots of pressure differences.
    fn rest(flow: f64) -> impl Fn(&[f64]) -> Linearised {
        let root = |x: f64| (x.signum() * x.abs().sqrt(), 0.5 / x.abs().sqrt());
        move |p: &[f64]| {
            let (first, last) = (root(p[0] - p[1]), root(p[1]));
            let values = vec![flow - first.0, first.0 - last.0];
            let jacobian = DMatrix::from_row_slice(2, 2, &[-first.1, first.1, first.1, -first.1 - last.1]);
            Some((values, jacobian))
        }
    }

    #[test]
    fn zeros_are_found_from_and_at_places_of_infinite_slopes() {
        for (flow, guess) in [
            (3.0, [0.0, 0.0]),
            (-2e3, [0.0, 0.0]),
            (0.0, [0.0, 0.0]),
            (0.0, [5.0, 1.0]),
        ] {
            let found = find_zero(guess.to_vec(), rest(flow)).unwrap_or_else(|stuck| panic!("{flow}: {stuck:?}"));
            for (found, wanted) in found.at.iter().zip([2.0 * flow * flow.abs(), flow * flow.abs()]) {
                assert!(
                    (found - wanted).abs() <= 1e-12 * wanted.abs() + 1e-100,
                    "{flow}: {found} for {wanted}"
                );
            }
        }
    }
}
