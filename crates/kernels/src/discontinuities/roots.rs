//! Finds the instants at which piecewise constant functions of time change, by interval arithmetic. An interval is free of changes if its
//! bounds prove it, and is bisected otherwise. No change is missed, however close it is to another one.

use super::interval::{Bounds, Interval};
use super::timed::{Switch, Timed};

/// The round-off of a difference, as a fraction of its largest term.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The maximum number of intervals examined in one search; the remaining intervals are then judged by their ends.
const MOST_INTERVALS: usize = 2_000_000;

/// Unbounded intervals are bisected down to this fraction of the whole time span.
const UNBOUNDED: f64 = 1.0 / 65_536.0;

/// The possible changes in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    /// No change.
    Nothing,
    /// At most one change of each switch, or only round-off is left: the ends of the interval decide.
    Ends,
    /// The interval must be bisected.
    Open,
}

/// A search for given values of parameters.
pub(crate) struct Search<'a> {
    pub timed: &'a Timed,
    pub parameters: &'a [f64],
    over: Vec<Bounds>,
    middle: Vec<Bounds>,
}

impl<'a> Search<'a> {
    pub fn new(timed: &'a Timed, parameters: &'a [f64]) -> Search<'a> {
        Search {
            timed,
            parameters,
            over: Vec::new(),
            middle: Vec::new(),
        }
    }

    /// Returns the first changes of some values between two times, without the first time, in order. Each is the first double with the new
    /// value. At most `most` changes are returned.
    pub fn changes(
        &mut self,
        (from, to): (f64, f64),
        most: usize,
        values: &mut dyn FnMut(f64, &mut Vec<f64>),
    ) -> Vec<f64> {
        let mut found = Vec::new();
        if self.timed.switches.is_empty() || from >= to {
            return found;
        }
        let coarse = UNBOUNDED * (to - from);
        let mut waiting = vec![(from, to)];
        let mut left = MOST_INTERVALS;
        while let Some((low, high)) = waiting.pop() {
            if found.len() >= most {
                break;
            }
            let middle = low + 0.5 * (high - low);
            let is_divisible = left > 0 && middle > low && middle < high;
            left = left.saturating_sub(1);
            match self.holds((low, high), middle, high - low <= coarse) {
                Holds::Nothing => {}
                Holds::Open if is_divisible => waiting.extend([(middle, high), (low, middle)]),
                _ => locate((low, high), values, &mut found),
            }
        }
        found.truncate(most);
        found
    }

    fn holds(&mut self, (low, high): (f64, f64), middle: f64, is_short: bool) -> Holds {
        let timed = self.timed;
        timed.evaluate(self.parameters, (low, high), Interval::ALL, &mut self.over);
        timed.evaluate(self.parameters, (middle, middle), Interval::ALL, &mut self.middle);
        let half = 0.5 * (high - low);
        let within = Interval::new(-half, half);
        let mut all = Holds::Nothing;
        for switch in &timed.switches {
            let (over, at_middle) = (difference(&self.over, switch), difference(&self.middle, switch));
            // The mean value theorem, valid because no value jumps.
            let near = at_middle.value.add(over.rate.times(within));
            let value = Interval {
                low: over.value.low.max(near.low),
                high: over.value.high.min(near.high),
            };
            let rounding = ROUNDING * self.size(switch);
            let is_constant = over.rate == Interval::ZERO
                || match switch.is_whole {
                    true => (value.low - rounding).floor() == (value.high + rounding).floor(),
                    false => value.low > rounding || value.high < -rounding,
                };
            if is_constant {
                continue;
            }
            let width = value.high - value.low;
            let is_monotone = over.rate.low > 0.0 || over.rate.high < 0.0;
            let is_at_ends = match switch.is_whole {
                true => is_monotone && width < 1.0 || width <= rounding,
                false => is_monotone || value.size() <= rounding,
            };
            let is_unbounded = is_short && !over.value.size().is_finite();
            all = all.max(match is_at_ends || is_unbounded {
                true => Holds::Ends,
                false => Holds::Open,
            });
        }
        all
    }

    /// Returns the magnitude of the terms whose sum changes its sign.
    fn size(&self, switch: &Switch) -> f64 {
        let sides = [Some(switch.a), switch.b];
        let size_of = |at: &u32| self.over[*at as usize].value.size();
        let size_of_side = |at: u32| self.timed.terms(&at).iter().map(size_of).fold(0.0, f64::max);
        let largest = sides.into_iter().flatten().map(size_of_side).fold(0.0, f64::max);
        if largest.is_finite() { largest } else { 0.0 }
    }
}

/// Returns the bounds of the expression that changes its sign or its integer part.
fn difference(bounds: &[Bounds], switch: &Switch) -> Bounds {
    let a = bounds[switch.a as usize];
    match switch.b {
        Some(b) => a.add(bounds[b as usize].times(Bounds::constant(-1.0))),
        None => a,
    }
}

/// Adds the first double after each change of values that differ at the ends.
fn locate((mut low, high): (f64, f64), values: &mut dyn FnMut(f64, &mut Vec<f64>), found: &mut Vec<f64>) {
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    let (mut first, mut last, mut at_middle) = (Vec::new(), Vec::new(), Vec::new());
    values(low, &mut first);
    values(high, &mut last);
    while !same(&first, &last) {
        let (mut before, mut after) = (low, high);
        let mut behind = last.clone();
        loop {
            let middle = before + 0.5 * (after - before);
            if middle <= before || middle >= after {
                break;
            }
            values(middle, &mut at_middle);
            if same(&at_middle, &first) {
                before = middle;
            } else {
                after = middle;
                behind.clone_from(&at_middle);
            }
        }
        found.push(after);
        (low, first) = (after, behind);
    }
}
