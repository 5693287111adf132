//! Complementary modes of elements, found simultaneously. In each of two modes, one of the two variables of a port is set and the other
//! one has the correct sign. Diodes, walls and valves have such modes.
//!
//! The combination in force determines how the free variables respond to offsets of the set variables over a short step (J. J. Moreau's
//! time stepping). The result is a linear complementarity problem; elements with nonzero offsets in its solution change their mode.

use super::super::array::Array;
use super::super::loops::zeros;
use super::super::real::Real;
use super::complementarity::{take_bounded, Bounded, Memory, Outcome, Problem, Quantity};
use super::moment::{short, Moment};
use super::switching::Switching;

/// The length of the step of the problem, as a fraction of the run; the states continue with their initial slope.
pub const SHORT: f64 = 1e-10;
/// Directions in which offsets move dependent storage by no more than this are ignored.
const NEGLIGIBLE: f64 = 1e-12;
/// The maximum number of rounds in which pairs of columns are rotated until they are perpendicular.
const TURNS: usize = 60;

impl<S: Switching> Moment<'_, S> {
    /// Computes the watched values and the margins a short time after this instant, with the offset of a port equal to 1 from now on.
    /// Impulses count as values with this duration.
    fn answer(&mut self, discretes: &S::Discretes, port: Option<usize>) -> Option<(S::Watched, S::Margins)> {
        let length = short(SHORT, self.motion, self.t);
        let (mut x, mut offsets) = (*self.x, zeros::<S::Ports>());
        self.motion.hold(discretes, &offsets);
        if let Some(port) = port {
            let before = self.motion.inputs(self.t);
            offsets[port] = S::Real::c(1.0);
            self.motion.hold(discretes, &offsets);
            self.motion.move_states(self.t, &before, &mut x, false).ok()?;
        }
        // A capacitor that a conducting diode ties to a source follows the rate of the source.
        let mut rates = self.motion.point(self.t + length, x).du;
        if let Some(port) = port {
            rates[S::TABLES.first_offset + port] = S::Real::c(1.0) / length;
        }
        if let Some(moved) = self.motion.two_steps(self.t, &x, S::Real::c(0.5) * length) {
            x = moved;
        }
        let there = (self.t + length, &x);
        let watched = self.motion.watched(there, Some(&rates)).ok()?;
        let margins = self.motion.margins(there, Some(&rates)).ok()?;
        let entered = &self.events.margins.entered;
        Some((watched, S::Margins::of(|at| margins[at] + entered[at] / length)))
    }

    /// Adds the bounds of an element in the mode in force; returns false if a change is taken that no bound can express.
    fn bounds_of(&self, element: usize, bounds: &mut S::Bounds, count: &mut usize) -> bool {
        let combination = self.motion.combination();
        let (own, mode) = (&S::TABLES.elements[element], S::TABLES.mode(combination, element));
        let [Some(given)] = *mode.given else { return true };
        if S::TABLES.combinations[combination].redundant[element] {
            return true;
        }
        let first = *count;
        let changes = mode.changes.iter().filter(|change| change.sets.is_empty());
        for change in changes.filter(|change| self.holds_beyond(change)) {
            let Some(bound) = change.bound else {
                let [Some(gives)] = *own.modes[change.to].given else {
                    return false;
                };
                let free = S::TABLES.places.ports + 2 * own.first_port + (1 - given);
                let wanted = S::TABLES.places.laws + own.first_mode + change.to;
                *count = first;
                for bound in Bounded::decided(element, change.to, own.first_port, (free, wanted)) {
                    bounds[*count] = bound;
                    *count += 1;
                }
                return gives != given;
            };
            bounds[*count] = Bounded {
                element,
                to: change.to,
                port: own.first_port,
                quantity: Quantity::Margin(bound.margin),
                is_upper: bound.is_positive,
                is_above: bound.is_above,
                is_decided: false,
            };
            *count += 1;
        }
        true
    }

    /// Finds the modes in which no bound is exceeded.
    pub(crate) fn complementary_modes(&mut self, modes: &mut S::Modes) -> Outcome {
        let discretes = self.events.from.discretes;
        let (mut bounds, mut count) = (S::Bounds::filled(Bounded::NONE), 0);
        for element in 0..S::Modes::LENGTH {
            if !self.bounds_of(element, &mut bounds, &mut count) {
                return Outcome::Unposed;
            }
        }
        if count < 2 {
            return Outcome::Unposed;
        }
        let (mut matrix, mut distances) = (zeros::<S::Matrix>(), zeros::<S::Distances>());
        let (mut table, mut basis, mut z) = (zeros::<S::Table>(), S::Basis::filled(0), zeros::<S::Distances>());
        let problem = Problem {
            matrix: &mut matrix.as_mut()[..count * count],
            distances: &mut distances.as_mut()[..count],
            memory: Memory {
                table: table.as_mut(),
                basis: basis.as_mut(),
                z: z.as_mut(),
            },
        };
        let answer = |port: Option<usize>| self.answer(&discretes, port);
        let value = |(watched, margins): &(S::Watched, S::Margins), quantity: Quantity| match quantity {
            Quantity::Margin(at) => margins[at],
            Quantity::Difference(free, wanted) => watched[free] - watched[wanted],
        };
        let outcome = take_bounded(&bounds.as_ref()[..count], answer, value, problem, modes.as_mut());
        let has_impulses = self
            .events
            .margins
            .entered
            .entries()
            .any(|impulse| *impulse != S::Real::c(0.0));
        outcome.of_whole(!has_impulses && !self.in_force().redundant.contains(&true))
    }
}

/// Rotates two columns of a matrix, and of the product of all rotations, to make them perpendicular; returns false if they already are.
fn turn<T: Real, P: Array<Item = T>>(a: &mut [P], turns: &mut [P], p: usize, q: usize) -> bool {
    let (zero, one) = (T::c(0.0), T::c(1.0));
    let (mut pp, mut qq, mut pq) = (zero, zero, zero);
    for row in &*a {
        pp = pp + row[p] * row[p];
        qq = qq + row[q] * row[q];
        pq = pq + row[p] * row[q];
    }
    let are_apart = pq.abs() > T::c(T::EPSILON) * (pp * qq).sqrt();
    if !are_apart {
        return false;
    }
    let zeta = (qq - pp) / (T::c(2.0) * pq);
    let sign = if zeta < zero { -one } else { one };
    let tangent = sign / (zeta.abs() + (one + zeta * zeta).sqrt());
    let cosine = one / (one + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for row in a.iter_mut().chain(turns) {
        let (at_p, at_q) = (row[p], row[q]);
        row[p] = cosine * at_p - sine * at_q;
        row[q] = sine * at_p + cosine * at_q;
    }
    true
}

/// Returns the smallest of the offsets that bring the connected storage closest to its values, by one-sided rotations of the columns
/// (M. R. Hestenes).
pub(crate) fn least_offsets<T: Real, P: Array<Item = T>>(a: &mut [P], turns: &mut [P], wanted: &[T]) -> P {
    for (at, row) in turns.iter_mut().enumerate() {
        row[at] = T::c(1.0);
    }
    for _ in 0..TURNS {
        let mut is_turned = false;
        for p in 0..P::LENGTH {
            for q in p + 1..P::LENGTH {
                is_turned |= turn(a, turns, p, q);
            }
        }
        if !is_turned {
            break;
        }
    }
    let mut offsets = zeros::<P>();
    for column in 0..P::LENGTH {
        let (mut size, mut share) = (T::c(0.0), T::c(0.0));
        for (row, wanted) in a.iter().zip(wanted) {
            size = size + row[column] * row[column];
            share = share + row[column] * *wanted;
        }
        if size > T::c(NEGLIGIBLE * NEGLIGIBLE) {
            for (port, turn) in turns.iter().enumerate() {
                offsets[port] = offsets[port] + turn[column] * share / size;
            }
        }
    }
    offsets
}
