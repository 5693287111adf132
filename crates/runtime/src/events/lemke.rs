//! Modes of elements that are complementary, found at once: of two variables of a port one is given in each of two modes, and the other
//! one has the right sign. Diodes, walls and valves are of this kind.
//!
//! The combination in force says how the free variables answer to offsets of the given ones over a short step (J. J. Moreau's time
//! stepping). That is a linear complementarity problem; the elements whose offsets are not 0 in its solution change their mode.

use super::super::array::Array;
use super::super::loops::zeros;
use super::super::real::Real;
use super::complementarity::{Answers, Memory};
use super::moment::{short, Moment};
use super::switching::Switching;
use super::tables::Pair;

/// The problem is that of a step of this share of the run, in which states go on as they begin to.
pub const SHORT: f64 = 1e-7;
/// Directions in which offsets move dependent storage by no more than this are left alone.
const NEGLIGIBLE: f64 = 1e-12;
/// Rounds in which pairs of columns are turned until they are perpendicular.
const TURNS: usize = 60;

impl Pair {
    /// An element in a combination, if it is complementary there.
    fn of<S: Switching>(combination: usize, element: usize) -> Option<Pair> {
        let (own, mode) = (&S::TABLES.elements[element], S::TABLES.mode(combination, element));
        let [change] = mode.changes else { return None };
        let (given, other) = match (mode.given, own.modes[change.to].given) {
            ([Some(given)], [Some(other)]) => (*given, *other),
            _ => return None,
        };
        let (margin, is_above) = change.margin?;
        (given != other && change.is_free && change.sets.is_empty()).then_some(Pair {
            element,
            port: own.first_port,
            to: change.to,
            free: S::TABLES.places.ports + 2 * own.first_port + other,
            other: S::TABLES.places.laws + own.first_mode + change.to,
            margin,
            is_above,
        })
    }

    /// The free variable less what the other mode gives it.
    fn free<S: Switching>(&self, watched: &S::Watched) -> S::Real {
        watched[self.free] - watched[self.other]
    }
}

impl<S: Switching> Moment<'_, S> {
    /// The watched values and the margins a short time behind this instant, where the offset of a port is 1 from now on. Impulses count
    /// as values that last as long.
    fn answer(&mut self, discretes: &S::Discretes, port: Option<usize>) -> Option<(S::Watched, S::Margins)> {
        let length = short(SHORT, self.motion, self.t);
        let (mut x, mut offsets, mut rates) = (*self.x, zeros::<S::Ports>(), zeros::<S::Inputs>());
        self.motion.hold(discretes, &offsets);
        if let Some(port) = port {
            let before = self.motion.inputs(self.t);
            offsets[port] = S::Real::c(1.0);
            self.motion.hold(discretes, &offsets);
            self.motion.move_states(self.t, &before, &mut x, false).ok()?;
            rates[S::TABLES.first_offset + port] = S::Real::c(1.0) / length;
        }
        if let Some(slope) = self.motion.rates(self.t, &x) {
            x = S::States::of(|at| x[at] + length * slope[at]);
        }
        let there = (self.t + length, &x);
        let watched = self.motion.watched(there, Some(&rates)).ok()?;
        Some((watched, self.motion.margins(there, Some(&rates)).ok()?))
    }

    /// The modes in which all complementary elements agree; false where they are less than two, or where none were found.
    pub(crate) fn complementary_modes(&mut self, modes: &mut S::Modes) -> bool {
        let (combination, discretes) = (self.motion.combination(), self.events.from.discretes);
        let (mut pairs, mut count) = (S::Pairs::filled(Pair::NONE), 0);
        for pair in (0..S::Modes::LENGTH).filter_map(|element| Pair::of::<S>(combination, element)) {
            pairs[count] = pair;
            count += 1;
        }
        let pairs = &pairs.as_ref()[..count];
        if count < 2 {
            return false;
        }
        let Some((base, base_margins)) = self.answer(&discretes, None) else {
            return false;
        };
        let (mut matrix, mut moved) = (zeros::<S::Matrix>(), zeros::<S::Matrix>());
        let (mut free, mut signs, mut z) = (zeros::<S::Ports>(), zeros::<S::Ports>(), zeros::<S::Ports>());
        for (row, pair) in pairs.iter().enumerate() {
            free[row] = pair.free::<S>(&base);
        }
        let mut all = Answers {
            matrix: &mut matrix.as_mut()[..count * count],
            margins: &mut moved.as_mut()[..count * count],
            free: &mut free.as_mut()[..count],
            signs: &mut signs.as_mut()[..count],
        };
        for (column, of) in pairs.iter().enumerate() {
            let Some((answers, margins)) = self.answer(&discretes, Some(of.port)) else {
                return false;
            };
            for (row, pair) in pairs.iter().enumerate() {
                let moved = margins[pair.margin] - base_margins[pair.margin];
                all.take((row, column), pair.free::<S>(&answers), moved);
            }
        }
        let (mut table, mut basis) = (zeros::<S::Table>(), S::Basis::filled(0));
        let mut memory = Memory {
            table: table.as_mut(),
            basis: basis.as_mut(),
            z: z.as_mut(),
        };
        if !all.solve(|row| pairs[row].is_above, &mut memory) {
            return false;
        }
        for (pair, value) in pairs.iter().zip(z.entries()) {
            if *value > S::Real::c(0.0) {
                modes[pair.element] = pair.to;
            }
        }
        true
    }
}

/// Turns two columns of a matrix, and of the product of all turns, until they are perpendicular; false where they are already.
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

/// Of the offsets that bring the joined storage as near as they can, the least, by one-sided turns of the columns (M. R. Hestenes).
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
