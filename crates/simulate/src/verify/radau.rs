//! One step of the second integrator: the method of Radau with three stages, of order 5.
//!
//! All three stages are solved for together, so that a law is looked at where the step ends, and not only where an extrapolation of its
//! beginning leads to: a mass that comes to rest in the last part of a step sticks there.

use super::rates::{Given, Integrator, Jacobian};
use crate::solvers::linear_factors::{Factor, Pattern};

/// Where the stages are, as shares of the step; the last one is its end.
pub(super) const NODES: [f64; 3] = [0.155_051_025_721_682_2, 0.644_948_974_278_317_8, 1.0];

/// What each stage takes of the rates at all stages; the last row says what the step takes.
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

/// The most iterations on the stages.
const ITERATIONS: usize = 12;

/// What is left of them when they are solved for, as a share of the tolerance.
const SOLVED: f64 = 0.02;

/// A correction that is not smaller than this share of the one before leads nowhere.
const STALLED: f64 = 0.9;

/// The stages of a step: how far the states have come at each, and the rates there.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    pub moved: [Vec<f64>; 3],
    pub rates: [Vec<f64>; 3],
}

impl Stages {
    /// What the polynomial through the stages gives at a share of the step, from its beginning on.
    fn at(&self, share: f64) -> Vec<f64> {
        let nodes = [0.0, NODES[0], NODES[1], NODES[2]];
        let weights: [f64; 4] = lagrange(&nodes, share);
        let size = self.moved[0].len();
        let value = |at: usize| (0..3).map(|stage| weights[stage + 1] * self.moved[stage][at]).sum();
        (0..size).map(value).collect()
    }

    /// A guess of the stages of a part of this step, from where that begins.
    pub fn part(&self, from: f64, length: f64) -> [Vec<f64>; 3] {
        let begin = self.at(from);
        NODES.map(|node| {
            let there = self.at(from + node * length);
            there.iter().zip(&begin).map(|(there, begin)| there - begin).collect()
        })
    }
}

/// The weights of values at nodes for the value of their polynomial somewhere.
pub(super) fn lagrange<const N: usize>(nodes: &[f64; N], place: f64) -> [f64; N] {
    std::array::from_fn(|at| {
        let others = (0..N).filter(|other| *other != at);
        others
            .map(|other| (place - nodes[other]) / (nodes[at] - nodes[other]))
            .product()
    })
}

/// The matrix `I - length * (weights ⊗ J)` of the stages of a step of some length, factorised. With the one weight 1 it is that of a
/// damped change of the states.
pub(super) fn factor<const STAGES: usize>(
    jacobian: &Jacobian,
    size: usize,
    length: f64,
    weights: &[[f64; STAGES]; STAGES],
) -> Result<Factor, Given> {
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
    Factor::new(&pattern, &values).map_err(|_| Given::Out)
}

/// How large a change of the states is, as a share of the tolerance.
pub(super) fn measure(change: &[f64], tolerance: &[f64]) -> f64 {
    let shares = change
        .iter()
        .zip(tolerance)
        .map(|(change, tolerance)| (change / tolerance).abs());
    // What is no number is larger than all that is allowed.
    shares.fold(
        0.0,
        |most, share| if share.is_nan() { f64::INFINITY } else { most.max(share) },
    )
}

impl Integrator<'_> {
    /// The stages of a step from some states, beginning with a guess; none where no solution is found.
    pub(super) fn stages(
        &mut self,
        (from, length): (f64, f64),
        states: &[f64],
        factor: &Factor,
        guess: [Vec<f64>; 3],
        tolerance: &[f64],
    ) -> Result<Option<Stages>, Given> {
        let size = states.len();
        let mut moved = guess;
        let mut before: Option<f64> = None;
        for iteration in 0..ITERATIONS {
            let mut rates: [Vec<f64>; 3] = Default::default();
            for stage in 0..3 {
                let there: Vec<f64> = states.iter().zip(&moved[stage]).map(|(a, b)| a + b).collect();
                rates[stage] = match self.rates(from + NODES[stage] * length, &there) {
                    Ok(found) => found,
                    Err(Given::Out) => return Ok(None),
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
            // Rounding may leave no more digits.
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

    /// The weights integrate polynomials up to the degrees that the order needs.
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
