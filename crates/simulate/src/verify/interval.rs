//! Integration from one row to the next by the second integrator.

use super::energy::Energy;
use super::integrate::{Care, Crossed, Made, Visit};
use super::rates::{Integrator, NotIntegrated};
use super::report::{ALLOWED, not_vanishing};
use super::{Row, Verifier, row_unknowns};
use lgm_equations::Seen;

/// The maximum number of right-side evaluations, times the number of states, for the comparison of states.
const WORK: u64 = 400_000_000;

/// The maximum number of port variables evaluated for the energy balance.
const PORTS: u64 = 2_000_000;

/// The tolerance of the second integrator, as a fraction of that of the run.
const FINER: f64 = 1e-2;

/// The smallest tolerance of the second integrator.
const FINEST: f64 = 1e-12;

/// If a sample differs from the second integrator by more than this many tolerances, the interval is integrated
/// again.
const SUSPECT: f64 = 5.0;

/// The factor for its tolerance in the repetition, and for its longest step, so that the steps end elsewhere.
const AGAIN: f64 = 0.1;
const ELSEWHERE: f64 = 0.43;

/// The largest difference between the two integrations, in units of their tolerances; beyond it the sample is not verified.
const CERTAIN: f64 = 10.0;

/// The maximum number of repetitions.
const ROUNDS: usize = 2;

/// The accuracy of the unknowns of loops relative to their magnitude, and their smallest magnitude relative to the largest.
const SOLVED: f64 = 1e-13;
const NOISE: f64 = 1e-4;

/// The result of the second integrator for an interval.
struct IntegratedInterval {
    /// The states at its end.
    reached: Vec<f64>,
    /// The amplification of the run's error from the first sample to the second, if it matters.
    carried: Vec<f64>,
    energy: Option<Energy>,
}

impl Verifier<'_> {
    /// Examines one interval: the states and the balance of energy.
    pub(super) fn check_interval(&mut self, last: &Row, was: &Seen, row: &Row, seen: &Seen) {
        self.report.intervals += 1;
        if row.states.is_empty() {
            return;
        }
        let Ok(found) = self.second_way(last, was, row, seen) else {
            self.report.uncrossed += 1;
            return;
        };
        self.report.crossed += 1;
        for at in 0..row.states.len() {
            let apart = (row.states[at] - found.reached[at]).abs();
            self.worst.take(at, row.time, apart, found.carried[at]);
        }
        if let (Some(sum), Some(stored), Some(had)) = (found.energy, self.graph.stored(seen), self.graph.stored(was)) {
            self.report.add_energy(&sum.powers, sum.uncertainty, stored - had);
        }
    }

    /// Integrates from one row to the next with the second integrator.
    fn second_way(
        &mut self,
        last: &Row,
        was: &Seen,
        row: &Row,
        seen: &Seen,
    ) -> Result<IntegratedInterval, NotIntegrated> {
        let share = ((row.time - self.plan.start) / (self.plan.stop - self.plan.start)).clamp(0.0, 1.0);
        let granted = ((0.1 + 0.9 * share) * WORK as f64) as u64;
        let budget = granted
            .checked_sub(self.work)
            .filter(|budget| *budget > 0)
            .ok_or(NotIntegrated::TooLong)?;
        self.motion.set_piece(last.time, row.time);
        self.set_small(was, seen);
        let finest = (FINER * self.plan.rtol).max(FINEST);
        let atol = self.plan.atol.unwrap_or(0.0);
        let sizes = not_vanishing(&self.sizes).into_iter();
        let sizes = sizes.map(|size| size.max(f64::MIN_POSITIVE / FINEST));
        let tolerance: Vec<f64> = sizes.map(|size| finest * size + FINER * atol).collect();
        let care = Care {
            tolerance: &tolerance,
            relative: finest,
            longest: self.longest,
        };
        let is_balanced = self.report.has_power && (self.ports as f64) < (0.1 + 0.9 * share) * PORTS as f64;
        let mut energy = is_balanced.then(Energy::default);
        let mut looks = 0;
        let mut integrator = Integrator::new(&self.motion, &self.looks, budget);
        let mut way = Way {
            integrator: &mut integrator,
            ends: (last.time, row.time),
            unknowns: row_unknowns(&was.unknowns, self.motion.unknowns),
        };
        let (graph, signals, sizes) = (&mut self.graph, self.signals, &mut self.sizes);
        let mut unknowns = was.unknowns.clone();
        let crossed = way.cross(&last.states, care, &mut |step: &Made| {
            looks += step.points.len() as u64;
            // A state may be larger between two rows than at either.
            for (_, states) in &step.points {
                let pairs = sizes.iter_mut().zip(states);
                pairs.for_each(|(size, state)| *size = size.max(state.abs()));
            }
            if let Some(sum) = &mut energy
                && sum.add(graph, signals, &mut unknowns, step).is_none()
            {
                energy = None;
            }
        });
        let sizes = not_vanishing(&self.sizes).into_iter();
        let allowed: Vec<f64> = sizes.map(|size| self.plan.rtol * size + atol).collect();
        let found = crossed.and_then(|crossed| way.compare(crossed, (&last.states, &row.states), care, &allowed));
        self.work += budget - integrator.left;
        self.ports += looks * (10 + self.graph.ports()) * u64::from(is_balanced);
        found.map(|(reached, carried)| IntegratedInterval {
            reached,
            carried,
            energy,
        })
    }

    /// Sets the accuracy of the loops that the magnitudes of their unknowns require, such as the leakage of a diode.
    fn set_small(&self, was: &Seen, seen: &Seen) {
        let count = self.motion.unknowns;
        let ends = [&was.unknowns, &seen.unknowns].map(|known| row_unknowns(known, count));
        let sizes: Vec<f64> = (0..count).map(|at| ends[0][at].abs().max(ends[1][at].abs())).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let small = sizes.iter().map(|size| SOLVED * size.max(NOISE * largest).min(1.0));
        self.motion
            .set_small(small.map(|small| if small > 0.0 { small } else { SOLVED }).collect());
    }
}

/// The interval between two rows.
struct Way<'w, 'm> {
    integrator: &'w mut Integrator<'m>,
    ends: (f64, f64),
    /// The unknowns of the loops at its beginning.
    unknowns: Vec<f64>,
}

impl Way<'_, '_> {
    fn cross(&mut self, from: &[f64], care: Care<'_>, visit: &mut Visit<'_>) -> Result<Crossed, NotIntegrated> {
        self.integrator.begin(&self.unknowns);
        self.integrator.cross(self.ends, from, care, visit)
    }

    /// Returns the end of the interval, and the amplification of the run's initial error by the model itself. The
    /// latter is not needed for a correct sample.
    fn compare(
        &mut self,
        first: Crossed,
        (from, row): (&[f64], &[f64]),
        care: Care<'_>,
        allowed: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), NotIntegrated> {
        let near: Vec<f64> = allowed.iter().map(|allowed| SUSPECT * allowed).collect();
        if are_within(row, &first.states, &near) {
            return Ok((first.states, vec![0.0; row.len()]));
        }
        let beside = from.iter().zip(allowed).enumerate();
        let beside: Vec<f64> = beside
            .map(|(at, (state, allowed))| state + scattered(at, self.ends.0) * allowed)
            .collect();
        let moved = self.cross(&beside, care, &mut |_| {})?.states;
        let pairs = moved.iter().zip(&first.states);
        let carried: Vec<f64> = pairs.map(|(moved, reached)| (moved - reached).abs()).collect();
        let suspect = near.iter().zip(&carried);
        let suspect: Vec<f64> = suspect.map(|(near, carried)| near + ALLOWED * carried).collect();
        let certain = allowed.iter().zip(care.tolerance);
        let certain: Vec<f64> = certain
            .map(|(allowed, tolerance)| CERTAIN * tolerance.max(FINER * allowed))
            .collect();
        let reached = self.ascertain(first, (from, row), care, (&suspect, &certain))?;
        Ok((reached, carried))
    }

    /// Verifies a sample with an unexpected difference: it is an error of the run only if the second integrator
    /// confirms it with other steps.
    fn ascertain(
        &mut self,
        first: Crossed,
        (from, row): (&[f64], &[f64]),
        care: Care<'_>,
        (suspect, certain): (&[f64], &[f64]),
    ) -> Result<Vec<f64>, NotIntegrated> {
        let (mut reached, mut longest) = (first.states, first.longest);
        let (mut tolerance, mut relative) = (care.tolerance.to_vec(), care.relative);
        for _ in 0..ROUNDS {
            if are_within(row, &reached, suspect) {
                return Ok(reached);
            }
            tolerance.iter_mut().for_each(|tolerance| *tolerance *= AGAIN);
            relative *= AGAIN;
            longest *= ELSEWHERE;
            let finer = Care {
                tolerance: &tolerance,
                relative,
                longest,
            };
            let again = self.cross(from, finer, &mut |_| {})?.states;
            let is_certain = are_within(&again, &reached, certain);
            reached = again;
            if is_certain {
                return Ok(reached);
            }
        }
        match are_within(row, &reached, suspect) {
            true => Ok(reached),
            false => Err(NotIntegrated::NoValue),
        }
    }
}

/// Returns true if two lists of states differ by no more than the tolerance of each.
fn are_within(a: &[f64], b: &[f64], allowed: &[f64]) -> bool {
    let mut pairs = a.iter().zip(b).zip(allowed);
    pairs.all(|((a, b), allowed)| (a - b).abs() <= *allowed)
}

/// Returns a pseudo-random number between 1/2 and 1, or between their negatives.
fn scattered(at: usize, time: f64) -> f64 {
    // The last digits of a time are sufficiently random.
    let of_time = (time.to_bits() % 1_000_003) as f64;
    let x = (at as f64 + 1.0) * 0.754_877_666 + of_time * 0.569_840_29;
    let share = 2.0 * x.fract() - 1.0;
    share.signum() * (0.5 + 0.5 * share.abs())
}
