//! Looks at conditions within a step: the first instant at which one of them becomes true is located on the solution between its ends.

use super::super::real::Real;

/// Between the ends of a step the conditions are looked at this number of times.
pub const LOOKS: usize = 4;
/// By so many parabolas the turn of a margin is looked for.
const MOST_PARABOLAS: usize = 8;

/// Margins at a time.
#[derive(Clone, Copy, Debug)]
pub struct Look<T, M> {
    /// The time.
    pub t: T,
    /// The margins of conditions; one within its rounding is 0.
    pub margins: M,
}

/// Conditions that are watched within a step.
pub trait Watched {
    /// The numbers.
    type Real: Real;
    /// One number for each margin.
    type Margins: AsRef<[Self::Real]> + Clone;
    /// The reason for which there is no solution at a time.
    type Fault;

    /// Writes the margins at a time.
    fn look(&mut self, t: Self::Real, margins: &mut Self::Margins) -> Result<(), Self::Fault>;
    /// Returns true if a condition acts.
    fn acts(&self, margins: &Self::Margins) -> bool;
    /// Takes over which conditions hold.
    fn take_over(&mut self, margins: &Self::Margins);
}

/// A margin at a time.
type Point<T> = (T, T);

/// The slopes between three points, and the place where their parabola turns.
fn parabola<T: Real>([left, middle, right]: [Point<T>; 3]) -> (T, T, T) {
    let half = T::c(0.5);
    let rising = (middle.1 - left.1) / (middle.0 - left.0);
    let falling = (right.1 - middle.1) / (right.0 - middle.0);
    let curvature = (falling - rising) / (right.0 - left.0);
    let vertex = half * (left.0 + middle.0) - half * rising / curvature;
    (rising, curvature, vertex)
}

/// The first instant after `before`, where no condition acts, until `after`, where one does.
fn locate<W: Watched>(
    watched: &mut W,
    (mut before, mut after): (W::Real, W::Real),
    with: &mut W::Margins,
) -> Result<W::Real, W::Fault> {
    loop {
        let middle = before + W::Real::c(0.5) * (after - before);
        if middle <= before || middle >= after {
            return Ok(after);
        }
        watched.look(middle, with)?;
        if watched.acts(with) {
            after = middle;
        } else {
            before = middle;
        }
    }
}

/// An instant at which a condition acts near the turn of a margin, which parabolas come nearer to one after the other.
fn refined<W: Watched>(
    watched: &mut W,
    (margin, mut vertex): (usize, W::Real),
    [mut left, mut middle, mut right]: [Point<W::Real>; 3],
    with: &mut W::Margins,
) -> Result<Option<W::Real>, W::Fault> {
    for _ in 0..MOST_PARABOLAS {
        watched.look(vertex, with)?;
        if watched.acts(with) {
            return Ok(Some(vertex));
        }
        let found = (vertex, with.as_ref()[margin]);
        // The point that is nearest to 0 stays in the middle.
        match (found.1.abs() < middle.1.abs(), found.0 < middle.0) {
            (true, true) => (right, middle) = (middle, found),
            (true, false) => (left, middle) = (middle, found),
            (false, true) => left = found,
            (false, false) => right = found,
        }
        (_, _, vertex) = parabola([left, middle, right]);
        if !(vertex > left.0 && vertex < right.0 && vertex != middle.0) {
            return Ok(None);
        }
    }
    Ok(None)
}

/// An instant at which a condition acts between three looks at which none does: where a margin turns towards zero.
fn find_turn<W: Watched>(
    watched: &mut W,
    looks: &[Look<W::Real, W::Margins>],
    with: &mut W::Margins,
) -> Result<Option<W::Real>, W::Fault> {
    let zero = W::Real::c(0.0);
    let mut first: Option<W::Real> = None;
    let [a, b, c] = looks else { return Ok(None) };
    for at in 0..a.margins.as_ref().len() {
        let three = [a, b, c].map(|look| (look.t, look.margins.as_ref()[at]));
        let [left, middle, right] = three;
        let (rising, curvature, vertex) = parabola(three);
        let height = middle.1 + (vertex - middle.0) * (rising + curvature * (vertex - left.0));
        let size = height.abs();
        let ends = left.1.abs().maximum(right.1.abs());
        let is_one_side = left.1 * middle.1 > zero && middle.1 * right.1 > zero;
        let is_nearer = three.iter().all(|point| size < point.1.abs());
        let is_inside = vertex > left.0 && vertex < right.0;
        if is_one_side && is_inside && (height * middle.1 < zero || is_nearer) && size < W::Real::c(0.5) * ends {
            if let Some(found) = refined(watched, (at, vertex), three, with)? {
                first = Some(first.map_or(found, |first| first.minimum(found)));
            }
        }
    }
    Ok(first)
}

/// The first instant within a step at which a condition acts. The first look is that at the end of the last step, if it is known;
/// `with` is room for another one.
pub fn first_within<W: Watched>(
    watched: &mut W,
    looks: &mut [Look<W::Real, W::Margins>; LOOKS + 1],
    (from, to): (W::Real, W::Real),
    with: &mut W::Margins,
) -> Result<Option<W::Real>, W::Fault> {
    if looks[0].t != from {
        looks[0].t = from;
        watched.look(from, &mut looks[0].margins)?;
    }
    watched.take_over(&looks[0].margins);
    for at in 1..=LOOKS {
        let share = W::Real::c(at as f64) / W::Real::c(LOOKS as f64);
        let t = if at == LOOKS { to } else { from + (to - from) * share };
        looks[at].t = t;
        watched.look(t, &mut looks[at].margins)?;
        if watched.acts(&looks[at].margins) {
            return locate(watched, (looks[at - 1].t, t), with).map(Some);
        }
        if at > 1 {
            // A margin that turns between three looks may have crossed zero and come back. What held at the first of them and no more at
            // the next has not become true there.
            watched.take_over(&looks[at - 2].margins);
            if let Some(turn) = find_turn(watched, &looks[at - 2..=at], with)? {
                return locate(watched, (looks[at - 2].t, turn), with).map(Some);
            }
        }
        // A condition that has become false may become true again within the step.
        watched.take_over(&looks[at].margins);
    }
    looks.swap(0, LOOKS);
    Ok(None)
}
