//! Positions in which the path of a closed chain is not unique, and through which its motion continues: a parallelogram
//! whose rods are collinear.
//!
//! There the matrix of the chain's equations is singular, and near it solutions lose digits in proportion: rates are
//! quotients of vanishing terms. The motion itself is smooth, because inertia carries it through. A step into the zone
//! with too few digits is therefore repeated up to its edge. From there a polynomial through the rates on both sides
//! continues the motion across the zone, if the equations beyond agree with the extrapolation in positions and in
//! rates. At a dead centre they do not, because rates grow without bounds; the run then continues as if no crossing had
//! been tried.

use crate::failure::{Failure, FailureKind};
use crate::loops::singular::{ChainWatch, Position};
use crate::plan::Stop;
use crate::run::course::Run;
use crate::run::piece::Piece;
use crate::solvers::solver::{Solver, SolverFault};
use nalgebra::DMatrix;

/// The additional round-off units left at the edge; rates lose digits with about the third power of the reduction of the matrix.
const DIGITS: f64 = 100.0;

/// The smallest and the largest zone, as fractions of the matrix's magnitude.
const WIDTHS: std::ops::RangeInclusive<f64> = 2e-3..=0.03;

/// Positions within this many widths of the zone are at its edge.
const AT_EDGE: f64 = 1.5;

/// Steps shorter than this fraction of the run do not reach another position of a chain.
const SHORT: f64 = 1e-7;

/// The distance of the continued motion past the singular position, as a multiple of the distance from the edge to it.
const BEYOND: f64 = 2.0;

/// The number of points with known motion on either side, spaced by the distance from the edge to the position; also
/// the number of steps between two points.
const PLACES: usize = 4;
const STEPS: usize = 8;

/// The inverse fraction of a step before the edge at which the singular position is extrapolated.
const LOOK: f64 = 64.0;

/// The maximum number of corrections of the states beyond, and the fraction of the tolerance at which they end.
const ROUNDS: usize = 8;
const SETTLED: f64 = 0.05;

/// The largest difference between rates beyond and extrapolated ones, relative to the largest rate; likewise for
/// unknowns, relative to their change.
const AGREES: f64 = 0.05;

/// Nodes on one side and weights of Gauss's rule with four points, which integrates polynomials of degree 7.
const GAUSS: [(f64, f64); 2] = [
    (0.339_981_043_584_856_3, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
];

/// The time at which a matrix becomes singular.
struct Zone {
    /// The zones with too few digits, and with none.
    edge: f64,
    middle: f64,
}

/// The known motion at a point.
struct Place {
    time: f64,
    states: Vec<f64>,
    rates: Vec<f64>,
    unknowns: Vec<f64>,
    outputs: Vec<f64>,
}

impl Run<'_> {
    /// Checks a step with chains: returns `None` if they are regular along it; otherwise it is repeated, or continued
    /// over a singular position; fails at a dead centre.
    pub(crate) fn mind_chains(&mut self, solver: &mut dyn Solver) -> Result<Option<Piece>, Failure> {
        if self.chains.is_none() {
            return Ok(None);
        }
        let (from, to) = (solver.previous(), solver.time());
        let mut first = solver.states().to_vec();
        let found = solver.interpolate(from, &mut first);
        found.map_err(|error| self.failure(error, None))?;
        let before = self.before(from, &first);
        let has_left = self.motion.has_left_chain(&mut self.chains, to, solver.states());
        let after = self.motion.position(to, solver.states());
        let Some(watch) = &mut self.chains else { return Ok(None) };
        let zone = match from >= watch.not_over_until {
            true => zone(
                &self.motion.loop_matrix(&before),
                &self.motion.loop_matrix(&after),
                (from, to),
                self.plan.rtol,
            ),
            false => None,
        };
        let Some((zone, is_at_edge)) = zone else {
            // A long step may have reached another position of the chain, whose matrix is unrelated to the previous
            // one.
            let is_long = to - from > SHORT * (self.plan.stop - self.plan.start);
            if has_left && is_long && from >= watch.not_over_until {
                watch.last.copy_from_slice(&before.unknowns);
                return self.again_from(&before, 0.25 * (to - from), solver);
            }
            if has_left {
                return Err(self.failure(SolverFault::TooSmall, Some(&*solver)));
            }
            self.keep_chains(&after.unknowns);
            if let Some(watch) = &mut self.chains {
                watch.behind = Some(after);
            }
            return Ok(None);
        };
        watch.last.copy_from_slice(&before.unknowns);
        if !is_at_edge {
            let to_edge = zone.edge - from;
            let length = if to_edge > 0.0 {
                to_edge.min(0.9 * (to - from))
            } else {
                0.5 * (to - from)
            };
            return self.again_from(&before, length, solver);
        }
        if self.lead_over(&before, to - from)? {
            return Ok(Some(Piece::Event));
        }
        // No smooth continuation exists; the solver determines the result.
        if let Some(watch) = &mut self.chains {
            watch.not_over_until = zone.middle + (zone.middle - from).abs() + (to - from);
            watch.behind = None;
        }
        self.again_from(&before, to - from, solver)
    }

    /// Repeats the last step from its start with a different length.
    fn again_from(
        &mut self,
        before: &Position,
        length: f64,
        solver: &mut dyn Solver,
    ) -> Result<Option<Piece>, Failure> {
        self.keep_chains(&before.unknowns);
        self.motion.guess_unknowns(&before.unknowns);
        let made = solver.restart(before.time, &before.states, length, self.end_of_piece());
        made.map_err(|error| self.failure(error, None))?;
        Ok(Some(Piece::Again))
    }

    /// Starts every attempt at the next step with these unknowns: a rejected attempt may have passed a singular
    /// position to another position of the chain. If other loops exist besides the chain, their branch ensures this.
    fn keep_chains(&self, unknowns: &[f64]) {
        if self.branch.is_none() {
            self.motion.keep_unknowns(unknowns);
        }
    }

    /// Returns the position at the start of a step.
    fn before(&mut self, time: f64, states: &[f64]) -> Position {
        let watch: Option<&ChainWatch> = self.chains.as_ref();
        match watch.and_then(|watch| watch.behind.as_ref()) {
            Some(behind) if behind.time == time => behind.clone(),
            _ => {
                if let Some(watch) = watch {
                    self.motion.guess_unknowns(&watch.last);
                }
                self.motion.solve_loops(time, states);
                self.motion.position(time, states)
            }
        }
    }

    /// Continues the motion from the edge of a zone over its middle, and writes the rows in between; returns false if
    /// the equations do not agree. `length` is the length of the last step.
    fn lead_over(&mut self, edge: &Position, length: f64) -> Result<bool, Failure> {
        let tolerances = self.motion.set_joint(None);
        self.motion.release_unknowns();
        let led = self
            .middle_behind(edge, length / LOOK)
            .map(|middle| self.over(edge, middle));
        self.motion.set_joint(tolerances);
        match led.unwrap_or(Ok(None))? {
            Some(unknowns) => {
                self.keep_chains(&unknowns);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Returns the time at which the chain at the edge of a zone becomes singular, extrapolated from its path: a step
    /// over it may have reached another position.
    fn middle_behind(&self, edge: &Position, back: f64) -> Option<f64> {
        self.motion.guess_unknowns(&edge.unknowns);
        let (time, mut states) = (edge.time - back, edge.states.clone());
        self.move_by(edge.time, -back, &mut states)?;
        self.motion.solve_loops(time, &states).then_some(())?;
        let before = self.motion.position(time, &states);
        let [before, here] = [&before, edge].map(|position| self.motion.loop_matrix(position));
        let zones = zones(&before, &here, (time, edge.time), self.plan.rtol)?;
        let middles = zones.into_iter().map(|(zone, _)| zone.middle);
        middles.filter(|middle| *middle > edge.time).min_by(f64::total_cmp)
    }

    /// Continues the motion over the singular position; returns the unknowns beyond it.
    fn over(&mut self, edge: &Position, middle: f64) -> Result<Option<Vec<f64>>, Failure> {
        let half = middle - edge.time;
        let reach = half * (PLACES - 1) as f64;
        let after = edge.time + BEYOND * half;
        let (begin, end) = self.motion.piece();
        let is_short = half <= 64.0 * f64::EPSILON * edge.time.abs();
        if is_short || after + reach >= end.min(self.plan.stop) || edge.time - reach < begin {
            return Ok(None);
        }
        let Some((places, states)) = self.both_sides(edge, half) else {
            return Ok(None);
        };
        self.rows_over(&places, after)?;
        let unknowns = places[PLACES].unknowns.clone();
        self.motion.guess_unknowns(&unknowns);
        self.time = after;
        self.states = states;
        self.safe = self.motion.position(after, &self.states);
        self.summary.restarts += 1;
        let beyond = self.motion.watch_chains(&self.safe);
        if let (Some(watch), Some(beyond)) = (&mut self.chains, beyond) {
            watch.go_on(beyond);
        }
        Ok(Some(unknowns))
    }

    /// Returns points before and beyond a singular position that agree with each other, and the states at the first one beyond.
    ///
    /// The extrapolation is a first guess; then the rates of both sides, and the polynomial through them, lead from one
    /// side to the other.
    fn both_sides(&self, edge: &Position, half: f64) -> Option<(Vec<Place>, Vec<f64>)> {
        let before = self.places_from(edge.time, &edge.states, &edge.unknowns, -half)?;
        let after = edge.time + BEYOND * half;
        let mut states = polynomial(&before, after);
        let rates = through(&before, after, |place| &place.rates);
        let guess = through(&before, after, |place| &place.unknowns);
        let mut places = before;
        for round in 0..ROUNDS {
            places.truncate(PLACES);
            places.extend(self.places_from(after, &states, &guess, half)?);
            let beyond = &places[PLACES];
            if round == 0 && !self.agree(&places, &rates, &guess) {
                return None;
            }
            let next = self.led(&places, beyond.time);
            let is_settled = (0..states.len())
                .all(|at| (next[at] - states[at]).abs() <= SETTLED * self.scales.allowed(at, states[at]));
            if is_settled {
                return Some((places, states));
            }
            states = next;
        }
        None
    }

    /// Returns true if the motion beyond is the same as before.
    fn agree(&self, places: &[Place], rates: &[f64], guess: &[f64]) -> bool {
        let (edge, beyond) = (&places[0], &places[PLACES]);
        let rates_agree = (0..rates.len()).all(|at| {
            let largest = places.iter().map(|place| place.rates[at].abs()).fold(0.0, f64::max);
            let allowed = self.scales.allowed(at, beyond.states[at]) / (beyond.time - edge.time);
            (beyond.rates[at] - rates[at]).abs() <= AGREES * largest + allowed
        });
        let pairs = || edge.unknowns.iter().zip(guess);
        let way = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let mut others = beyond.unknowns.iter().zip(guess);
        rates_agree && others.all(|(a, b)| (a - b).abs() <= AGREES * way)
    }

    /// Integrates the states from the first point, by Gauss's rule over the rates of the points.
    fn led(&self, places: &[Place], to: f64) -> Vec<f64> {
        let from = places[0].time;
        let mut states = places[0].states.clone();
        for (node, weight) in GAUSS {
            for (side, weight) in [(-node, weight), (node, weight)] {
                let time = 0.5 * (from + to) + 0.5 * (to - from) * side;
                let rates = through(places, time, |place| &place.rates);
                let pairs = states.iter_mut().zip(&rates);
                pairs.for_each(|(state, rate)| *state += 0.5 * (to - from) * weight * rate);
            }
        }
        states
    }

    /// Returns the known values at a time, if the loops have a solution there.
    fn place(&self, time: f64, states: &[f64]) -> Option<Place> {
        let motion = self.motion;
        let mut rates = vec![0.0; states.len()];
        let mut outputs = vec![0.0; self.outputs.len()];
        let is_there = motion.rates(time, states, &mut rates) && motion.outputs(time, states, &mut outputs);
        is_there.then(|| Place {
            time,
            states: states.to_vec(),
            rates,
            unknowns: motion.solution(),
            outputs,
        })
    }

    /// Returns points from a time on, forwards or backwards.
    fn places_from(&self, time: f64, states: &[f64], unknowns: &[f64], apart: f64) -> Option<Vec<Place>> {
        self.motion.guess_unknowns(unknowns);
        let mut places = vec![self.place(time, states)?];
        let mut states = states.to_vec();
        let step = apart / STEPS as f64;
        for place in 1..PLACES {
            let begin = time + apart * (place - 1) as f64;
            for at in 0..STEPS {
                self.move_by(begin + step * at as f64, step, &mut states)?;
            }
            places.push(self.place(time + apart * place as f64, &states)?);
        }
        Some(places)
    }

    /// Performs one step of the classical Runge-Kutta method.
    fn move_by(&self, time: f64, step: f64, states: &mut [f64]) -> Option<()> {
        let mut slopes = vec![vec![0.0; states.len()]; 4];
        for (stage, share) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
            let mut point = states.to_vec();
            if stage > 0 {
                let pairs = point.iter_mut().zip(&slopes[stage - 1]);
                pairs.for_each(|(value, slope)| *value += share * step * slope);
            }
            let is_there = self.motion.rates(time + share * step, &point, &mut slopes[stage]);
            is_there.then_some(())?;
        }
        for (at, state) in states.iter_mut().enumerate() {
            *state += step / 6.0 * (slopes[0][at] + 2.0 * (slopes[1][at] + slopes[2][at]) + slopes[3][at]);
        }
        Some(())
    }

    /// Writes the rows before a time; outputs come from the points on both sides, because the equations are inaccurate in between.
    fn rows_over(&mut self, places: &[Place], until: f64) -> Result<(), Failure> {
        while self.row < self.plan.points && self.plan.time(self.row) < until {
            let time = self.plan.time(self.row);
            let states = polynomial(places, time);
            let outputs = through(places, time, |place| &place.outputs);
            self.sink.unknowns(&through(places, time, |place| &place.unknowns));
            let stopped = |stop: Stop| Failure::new(time, FailureKind::Stopped(stop));
            self.sink.row(time, &outputs, &states).map_err(stopped)?;
            self.row += 1;
        }
        Ok(())
    }
}

/// Returns the time at which a matrix that changes along a step first becomes singular, if the step comes so close that
/// too few digits are left. Also returns true if the step already begins at the edge of this zone.
fn zone(before: &DMatrix<f64>, after: &DMatrix<f64>, (from, to): (f64, f64), rtol: f64) -> Option<(Zone, bool)> {
    let zones = zones(before, after, (from, to), rtol)?.into_iter();
    let reached = zones.filter(|(zone, _)| zone.edge < to);
    reached.min_by(|a, b| a.0.edge.total_cmp(&b.0.edge))
}

/// Returns the first singularity of a matrix that keeps changing along a step.
///
/// In the principal directions of the first matrix, the changes are approximately linear in time, and change their signs.
fn zones(before: &DMatrix<f64>, after: &DMatrix<f64>, (from, to): (f64, f64), rtol: f64) -> Option<Vec<(Zone, bool)>> {
    if !before.iter().chain(after.iter()).all(|value| value.is_finite()) {
        return None;
    }
    let share = (DIGITS * f64::EPSILON / rtol)
        .cbrt()
        .clamp(*WIDTHS.start(), *WIDTHS.end());
    let parts = before.clone().svd(true, true);
    let (u, v) = (parts.u.as_ref()?, parts.v_t.as_ref()?);
    let there = u.tr_mul(after) * v.transpose();
    let largest = parts.singular_values.max();
    let found = (0..before.nrows()).filter_map(|at| {
        let (first, last) = (parts.singular_values[at], there[(at, at)]);
        let slope = (first - last) / (to - from);
        let zone = Zone {
            edge: from + (first - share * largest) / slope,
            middle: from + first / slope,
        };
        (slope > 0.0).then_some((zone, first <= AT_EDGE * share * largest))
    });
    Some(found.collect())
}

/// Returns the states at a time, by the polynomial through the states and the rates of the points.
fn polynomial(places: &[Place], time: f64) -> Vec<f64> {
    let nodes: Vec<f64> = places.iter().flat_map(|place| [place.time, place.time]).collect();
    let of_state = |at: usize| {
        // Newton's divided differences, with each point counted twice.
        let mut differences: Vec<f64> = places.iter().flat_map(|place| [place.states[at]; 2]).collect();
        for order in 1..nodes.len() {
            for k in (order..nodes.len()).rev() {
                let apart = nodes[k] - nodes[k - order];
                differences[k] = match apart == 0.0 {
                    true => places[k / 2].rates[at],
                    false => (differences[k] - differences[k - 1]) / apart,
                };
            }
        }
        let pairs = differences.iter().zip(&nodes).rev();
        pairs.fold(0.0, |value, (difference, node)| value * (time - node) + difference)
    };
    (0..places[0].states.len()).map(of_state).collect()
}

/// Returns values at a time, by the polynomial through the values of the points.
fn through(places: &[Place], time: f64, values: impl Fn(&Place) -> &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; values(&places[0]).len()];
    for place in places {
        let others = places.iter().filter(|other| other.time != place.time);
        let weight: f64 = others
            .map(|other| (time - other.time) / (place.time - other.time))
            .product();
        let pairs = sum.iter_mut().zip(values(place));
        pairs.for_each(|(sum, value)| *sum += weight * value);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_of_degree_seven_is_extrapolated_exactly() {
        let value = |t: f64| 1.0 - t + 0.5 * t.powi(3) - 0.25 * t.powi(7);
        let slope = |t: f64| -1.0 + 1.5 * t.powi(2) - 1.75 * t.powi(6);
        let place = |time: f64| Place {
            time,
            states: vec![value(time)],
            rates: vec![slope(time)],
            unknowns: vec![time * time],
            outputs: Vec::new(),
        };
        let places: Vec<Place> = [1.0, 0.75, 0.5, 0.25].into_iter().map(place).collect();
        let values = polynomial(&places, 1.25);
        assert!((values[0] - value(1.25)).abs() < 1e-12, "{values:?}");
        let squares = through(&places, 1.25, |place| &place.unknowns);
        assert!((squares[0] - 1.25_f64.powi(2)).abs() < 1e-14);
    }

    #[test]
    fn two_values_that_vanish_together_are_seen() {
        let at = |x: f64| DMatrix::from_row_slice(2, 2, &[x, 1e-3, 0.0, x]);
        // The determinant is positive on both sides.
        let (found, is_at_edge) = zone(&at(1.0), &at(-0.5), (0.0, 1.5), 1e-6).unwrap();
        assert!((found.middle - 1.0).abs() < 1e-2 && found.edge < found.middle && !is_at_edge);
        assert!(zone(&at(1.0), &at(0.9), (0.0, 0.1), 1e-6).is_none());
        assert!(zone(&at(0.5), &at(1.0), (0.0, 0.1), 1e-6).is_none());
    }
}
