//! Examines conditions within a step: the first instant at which one of them becomes true is located on the solution
//! between its ends.

use super::super::real::Real;

/// The number of samples of the conditions within a step.
pub const LOOKS: usize = 4;
/// Half a period, in radians: the four samples of a part of a step are at most an eighth of a period apart.
const HALF_PERIOD: f64 = core::f64::consts::PI;
/// The maximum number of parts of a step; their evaluation takes about a second.
const MOST_PARTS: f64 = 1e6;
/// The maximum number of parabolas for finding the extremum of a margin.
const MOST_PARABOLAS: usize = 8;

/// Margins at a time.
#[derive(Clone, Copy, Debug)]
pub struct Look<T, M> {
    /// The time.
    pub t: T,
    /// The margins of conditions; a margin within its round-off is 0.
    pub margins: M,
}

/// The conditions watched within a step.
pub trait Watched {
    /// The number type.
    type Real: Real;
    /// One number for each margin.
    type Margins: AsRef<[Self::Real]> + Clone;
    /// The reason why no solution exists at a time.
    type Fault;

    /// Computes the margins at a time.
    fn look(&mut self, t: Self::Real, margins: &mut Self::Margins) -> Result<(), Self::Fault>;
    /// Returns the number of margins that conditions read. Turns follow, at whose zeros a margin may have a peak or a bend.
    fn conditions(&self) -> usize;
    /// Returns the number of phases, the last entries: arguments of periodic functions within margins, in radians.
    fn phases(&self) -> usize;
    /// Returns true if a condition acts.
    fn acts(&self, margins: &Self::Margins) -> bool;
    /// Records which conditions hold. A margin that is 0 keeps its side, unless it rests there since the sample before.
    fn take_over(&mut self, margins: &Self::Margins, before: Option<&Self::Margins>);
}

/// Returns the value of a margin within its round-off: -0, or 0 if the margin is exactly 0.
pub fn about_zero<T: Real>(margin: T) -> T {
    let zero = T::c(0.0);
    if margin == zero {
        zero
    } else {
        -zero
    }
}

/// Returns true if a margin is exactly 0 at two samples. A margin that passes 0 is not.
pub fn is_at_rest<T: Real>(before: T, after: T) -> bool {
    let is_zero = |margin: T| margin == T::c(0.0) && !margin.is_negative();
    is_zero(before) && is_zero(after)
}

/// A margin at a time.
type Point<T> = (T, T);

/// The margins of a kind of conditions at a time.
type LookOf<W> = Look<<W as Watched>::Real, <W as Watched>::Margins>;

/// Returns the first slope and the curvature of the parabola through three points, and the time of its extremum.
fn parabola<T: Real>([left, middle, right]: [Point<T>; 3]) -> (T, T, T) {
    let half = T::c(0.5);
    let rising = (middle.1 - left.1) / (middle.0 - left.0);
    let falling = (right.1 - middle.1) / (right.0 - middle.0);
    let curvature = (falling - rising) / (right.0 - left.0);
    let vertex = half * (left.0 + middle.0) - half * rising / curvature;
    (rising, curvature, vertex)
}

/// Returns the first instant at which a condition acts, between `before`, at which none acts, and `after`, at which one does.
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

/// Returns an instant at which a condition acts near the extremum of a margin, by successive parabolas.
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
        // The point nearest to 0 stays in the middle.
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

/// Returns an instant at which a condition acts between three samples at which none does, near an extremum of a margin.
fn find_turn<W: Watched>(
    watched: &mut W,
    looks: &[Look<W::Real, W::Margins>],
    with: &mut W::Margins,
) -> Result<Option<W::Real>, W::Fault> {
    let zero = W::Real::c(0.0);
    let mut first: Option<W::Real> = None;
    let [a, b, c] = looks else { return Ok(None) };
    for at in 0..watched.conditions() {
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

/// Returns the time of a sample of a step.
fn time_of<T: Real>(at: usize, (from, to): (T, T)) -> T {
    match at {
        LOOKS => to,
        _ => from + (to - from) * (T::c(at as f64) / T::c(LOOKS as f64)),
    }
}

/// Returns the number of parts of a step such that no phase advances by more than half a period in one of them.
fn count_parts<W: Watched>(
    watched: &mut W,
    looks: &mut [Look<W::Real, W::Margins>; LOOKS + 1],
    step: (W::Real, W::Real),
) -> Result<W::Real, W::Fault> {
    let (zero, one) = (W::Real::c(0.0), W::Real::c(1.0));
    let mut advance = zero;
    for at in 1..=LOOKS {
        watched.look(time_of(at, step), &mut looks[at].margins)?;
        let (before, after) = (looks[at - 1].margins.as_ref(), looks[at].margins.as_ref());
        let entries = before.iter().zip(after).rev().take(watched.phases());
        advance = advance + entries.fold(zero, |most, (before, after)| most.maximum((*after - *before).abs()));
    }
    let parts = (advance / W::Real::c(HALF_PERIOD)).floor() + one;
    // A phase without a value has no period either: then the margin has no value.
    Ok(if parts.is_nan() {
        one
    } else {
        parts.minimum(W::Real::c(MOST_PARTS))
    })
}

/// Returns the first instant within a step at which a condition acts. The first sample is that at the end of the last step, if
/// known; `with` is memory for another sample.
pub fn first_within<W: Watched>(
    watched: &mut W,
    looks: &mut [Look<W::Real, W::Margins>; LOOKS + 1],
    (from, to): (W::Real, W::Real),
    with: &mut W::Margins,
) -> Result<Option<W::Real>, W::Fault> {
    if looks[0].t != from {
        looks[0].t = from;
        watched.look(from, &mut looks[0].margins)?;
        // The last step ended before a discontinuity, and this one begins after it.
        if watched.acts(&looks[0].margins) {
            return Ok(Some(from));
        }
    }
    let one = W::Real::c(1.0);
    let parts = match watched.phases() {
        0 => one,
        _ => count_parts(watched, looks, (from, to))?,
    };
    let (mut part, mut before) = (one, from);
    while part < parts {
        let end = from + (to - from) * (part / parts);
        if let Some(found) = first_in_part(watched, looks, (before, end), with)? {
            return Ok(Some(found));
        }
        (part, before) = (part + one, end);
    }
    first_in_part(watched, looks, (before, to), with)
}

/// Returns true if both signs of a number are known, and differ.
fn is_passed<T: Real>(before: T, after: T) -> bool {
    let zero = T::c(0.0);
    (before < zero && after > zero) || (before > zero && after < zero)
}

/// Returns the first instant between two samples at which a condition acts although it may act at neither of them: a window that the motion
/// passes, or a peak. The zeros of margins and turns divide the time between the samples, and the conditions are evaluated on both sides of
/// each zero. No condition acts until `idle`.
fn find_passed<W: Watched>(
    watched: &mut W,
    (mut left, right): (LookOf<W>, &LookOf<W>),
    idle: &mut W::Real,
    with: &mut W::Margins,
) -> Result<Option<W::Real>, W::Fault> {
    let entries = left.margins.as_ref().len() - watched.phases();
    loop {
        let mut first: Option<(W::Real, W::Real)> = None;
        for at in 0..entries {
            let side = left.margins.as_ref()[at];
            if !is_passed(side, right.margins.as_ref()[at]) {
                continue;
            }
            let (mut before, mut after) = (left.t, first.map_or(right.t, |first| first.1));
            watched.look(after, with)?;
            if first.is_some() && !is_passed(side, with.as_ref()[at]) {
                continue;
            }
            loop {
                let middle = before + W::Real::c(0.5) * (after - before);
                if middle <= before || middle >= after {
                    break;
                }
                watched.look(middle, with)?;
                match is_passed(side, with.as_ref()[at]) {
                    true => after = middle,
                    false => before = middle,
                }
            }
            first = Some((before, after));
        }
        let Some((before, after)) = first else { return Ok(None) };
        for t in [before, after] {
            watched.look(t, with)?;
            if watched.acts(with) {
                return locate(watched, (*idle, t), with).map(Some);
            }
            watched.take_over(with, None);
            *idle = t;
        }
        if after >= right.t {
            return Ok(None);
        }
        (left.t, left.margins) = (after, with.clone());
    }
}

/// Returns true if the first instant at which a condition acts must be looked for at the zeros between two samples. It need not if nothing
/// changes its sign, or if a single margin does, and a condition acts after it.
fn is_divided<W: Watched>(watched: &W, before: &W::Margins, after: &W::Margins) -> bool {
    let (left, right) = (before.as_ref(), after.as_ref());
    let mut passed = (0..left.len() - watched.phases()).filter(|at| is_passed(left[*at], right[*at]));
    match (passed.next(), passed.next()) {
        (None, _) => false,
        (Some(at), None) => at >= watched.conditions() || !watched.acts(after),
        _ => true,
    }
}

/// Returns the first instant within a part of a step at which a condition acts. The first sample is known.
fn first_in_part<W: Watched>(
    watched: &mut W,
    looks: &mut [Look<W::Real, W::Margins>; LOOKS + 1],
    part: (W::Real, W::Real),
    with: &mut W::Margins,
) -> Result<Option<W::Real>, W::Fault> {
    watched.take_over(&looks[0].margins, None);
    for at in 1..=LOOKS {
        let t = time_of(at, part);
        looks[at].t = t;
        watched.look(t, &mut looks[at].margins)?;
        let mut idle = looks[at - 1].t;
        if is_divided(watched, &looks[at - 1].margins, &looks[at].margins) {
            let found = find_passed(watched, (looks[at - 1].clone(), &looks[at]), &mut idle, with)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        if watched.acts(&looks[at].margins) {
            return locate(watched, (idle, t), with).map(Some);
        }
        if at > 1 {
            // A margin with an extremum within three samples may have crossed zero and returned. A condition that held at the
            // first sample and not at the second has not become true at the second.
            watched.take_over(&looks[at - 2].margins, None);
            if let Some(turn) = find_turn(watched, &looks[at - 2..=at], with)? {
                return locate(watched, (looks[at - 2].t, turn), with).map(Some);
            }
        }
        // A condition that has become false may become true again within the step.
        watched.take_over(&looks[at].margins, Some(&looks[at - 1].margins));
    }
    looks.swap(0, LOOKS);
    Ok(None)
}
