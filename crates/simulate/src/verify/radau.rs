//! One step of the second integrator: the method of Radau with three stages, of order 5.
//!
//! All three stages are solved together, so that a law is evaluated at the end of the step rather than only at an
//! extrapolation from its start: a mass that comes to rest in the last part of a step sticks there.

use super::rates::{Integrator, Jacobian, NotIntegrated};
use crate::linear_factors::{Factor, Pattern};

/// The positions of the stages, as fractions of the step; the last one is its end.
pub(super) const NODES: [f64; 3] = [0.155_051_025_721_682_2, 0.644_948_974_278_317_8, 1.0];

/// The weights of the stages in each stage; the last row is for the complete step.
pub(super) const WEIGHTS: [[f64; 3]; 3] = [
    [
        0.196_815_477_223_660_4,
        -0.065_535_425_850_198_4,
        0.023_770_974_348_220_15,
    ],
    [
        0.394_424_314_739_087_3,
        0.292_073_411_665_228_4,
        -0.041_548_752_125_997_93,
    ],
    [
        0.376_403_062_700_467_3,
        0.512_485_826_188_421_6,
        0.111_111_111_111_111_1,
    ],
];

/// The maximum number of iterations on the stages.
const ITERATIONS: usize = 12;

/// The largest residual of the stages, as a fraction of the tolerance.
const SOLVED: f64 = 0.02;

/// An iteration whose correction exceeds this fraction of the previous one fails.
const STALLED: f64 = 0.9;

/// The stages of a step: the change of the states at each, and the rates there.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    pub moved: [Vec<f64>; 3],
    pub rates: [Vec<f64>; 3],
}

impl Stages {
    /// Evaluates the polynomial through the stages at a fraction of the step, relative to its beginning.
    fn at(&self, share: f64) -> Vec<f64> {
        let nodes = [0.0, NODES[0], NODES[1], NODES[2]];
        let weights: [f64; 4] = lagrange(&nodes, share);
        let size = self.moved[0].len();
        let value = |at: usize| (0..3).map(|stage| weights[stage + 1] * self.moved[stage][at]).sum();
        (0..size).map(value).collect()
    }

    /// Returns a guess for the stages of a part of this step, relative to the start of that part.
    pub fn part(&self, from: f64, length: f64) -> [Vec<f64>; 3] {
        let begin = self.at(from);
        NODES.map(|node| {
            let there = self.at(from + node * length);
            there.iter().zip(&begin).map(|(there, begin)| there - begin).collect()
        })
    }
}

/// Returns the weights of values at nodes for the value of their polynomial at a point.
pub(super) fn lagrange<const N: usize>(nodes: &[f64; N], place: f64) -> [f64; N] {
    std::array::from_fn(|at| {
        let others = (0..N).filter(|other| *other != at);
        others
            .map(|other| (place - nodes[other]) / (nodes[at] - nodes[other]))
            .product()
    })
}

/// Factorises the matrix `I - length * (weights ⊗ J)` of the stages of a step of some length. With the single weight 1
/// it is the matrix of a damped change of the states.
pub(super) fn factor<const STAGES: usize>(
    jacobian: &Jacobian,
    size: usize,
    length: f64,
    weights: &[[f64; STAGES]; STAGES],
) -> Result<Factor, NotIntegrated> {
    let (mut row_starts, mut columns_of, mut values) = (vec![0], Vec::new(), Vec::new());
    for (stage, weights) in weights.iter().enumerate() {
        for row in 0..size {
            let mut has_diagonal = false;
            for (other, weight) in weights.iter().enumerate() {
                for at in jacobian.row_starts[row]..jacobian.row_starts[row + 1] {
                    let column = jacobian.columns_of[at];
                    let is_diagonal = stage == other && column == row;
                    has_diagonal |= is_diagonal;
                    columns_of.push(other * size + column);
                    values.push(f64::from(is_diagonal) - length * weight * jacobian.values[at]);
                }
            }
            if !has_diagonal {
                columns_of.push(stage * size + row);
                values.push(1.0);
            }
            row_starts.push(columns_of.len());
        }
    }
    let pattern = Pattern {
        size: STAGES * size,
        row_starts: &row_starts,
        columns_of: &columns_of,
    };
    Factor::new(&pattern, &values).map_err(|_| NotIntegrated::NoValue)
}

/// Returns the magnitude of a change of the states, as a fraction of the tolerance.
pub(super) fn measure(change: &[f64], tolerance: &[f64]) -> f64 {
    let shares = change
        .iter()
        .zip(tolerance)
        .map(|(change, tolerance)| (change / tolerance).abs());
    // NaN exceeds every tolerance.
    shares.fold(
        0.0,
        |most, share| if share.is_nan() { f64::INFINITY } else { most.max(share) },
    )
}

impl Integrator<'_> {
    /// Solves for the stages of a step from some states, beginning with a guess; returns `None` if no solution is found.
    pub(super) fn stages(
        &mut self,
        (from, length): (f64, f64),
        states: &[f64],
        factor: &Factor,
        guess: [Vec<f64>; 3],
        tolerance: &[f64],
    ) -> Result<Option<Stages>, NotIntegrated> {
        let size = states.len();
        let mut moved = guess;
        let mut before: Option<f64> = None;
        for iteration in 0..ITERATIONS {
            let mut rates: [Vec<f64>; 3] = Default::default();
            for stage in 0..3 {
                let there: Vec<f64> = states.iter().zip(&moved[stage]).map(|(a, b)| a + b).collect();
                rates[stage] = match self.rates(from + NODES[stage] * length, &there) {
                    Ok(found) => found,
                    Err(NotIntegrated::NoValue) => return Ok(None),
                    Err(given) => return Err(given),
                };
            }
            let mut change: Vec<f64> = Vec::with_capacity(3 * size);
            for (weights, moved) in WEIGHTS.iter().zip(&moved) {
                change.extend((0..size).map(|at| {
                    let sum: f64 = weights
                        .iter()
                        .zip(&rates)
                        .map(|(weight, rates)| weight * rates[at])
                        .sum();
                    length * sum - moved[at]
                }));
            }
            factor.solve(&mut change);
            let mut error: f64 = 0.0;
            for (moved, change) in moved.iter_mut().zip(change.chunks(size)) {
                error = error.max(measure(change, tolerance));
                moved
                    .iter_mut()
                    .zip(change)
                    .for_each(|(moved, change)| *moved += change);
            }
            let share = before.map_or(STALLED, |before| error / before);
            if !error.is_finite() {
                return Ok(None);
            }
            let is_solved = error == 0.0 || share < STALLED && error * share <= SOLVED * (1.0 - share);
            // Round-off may leave no more digits.
            if is_solved || iteration > 2 && share >= STALLED && error <= 0.5 {
                return Ok(Some(Stages { moved, rates }));
            }
            if iteration > 1 && share >= STALLED {
                return Ok(None);
            }
            before = Some(error);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights integrate polynomials up to the degrees required by the order.
    #[test]
    fn the_weights_are_those_of_the_method() {
        for (stage, weights) in WEIGHTS.iter().enumerate() {
            for power in 0..3 {
                let sum: f64 = weights
                    .iter()
                    .zip(NODES)
                    .map(|(weight, node)| weight * node.powi(power))
                    .sum();
                let exact = NODES[stage].powi(power + 1) / f64::from(power + 1);
                assert!((sum - exact).abs() < 1e-15, "{stage} {power}: {sum} {exact}");
            }
        }
        for power in 3..5 {
            let sum: f64 = WEIGHTS[2]
                .iter()
                .zip(NODES)
                .map(|(weight, node)| weight * node.powi(power))
                .sum();
            assert!((sum - 1.0 / f64::from(power + 1)).abs() < 1e-15);
        }
    }
}
