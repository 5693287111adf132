//! Features of functions of time that samples at two instants do not show, such as a narrow pulse in a long rest.
//!
//! A solver chooses its steps from its samples, and a pulse shorter than a step may fall between all of them. Interval arithmetic bounds
//! the rate of a function between two instants. If the bound allows a pulse, the interval is bisected until the pulse is found or excluded.
//! The result does not depend on luck with samples.

use super::interval::{Bounds, Interval};
use super::timed::{Maker, Timed};
use crate::programs::layout::Layout;
use lgm_algebra::expr::{ExprId, Exprs};
use std::collections::VecDeque;

/// A rate bound that exceeds all sampled rates by this factor may hide a feature.
const HIDDEN: f64 = 8.0;

/// A change within an interval below this fraction of the function's magnitude is ignored.
const QUIET: f64 = 1e-6;

/// The number of initial intervals between two corners.
const PARTS: usize = 16;

/// The number of initial intervals with many corners: just enough for each feature to have an interval at rest next to it.
const FEW: usize = 4;

/// The shortest interval, as a fraction of the whole time.
const SHORTEST: f64 = 1e-12;

/// The maximum number of operations on intervals.
const WORK: usize = 500_000;

/// Functions of time as operations on intervals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks {
    timed: Timed,
    /// The functions themselves: the largest expressions that depend only on time and parameters.
    roots: Vec<u32>,
}

/// An interval to be examined.
struct ExaminedInterval {
    from: f64,
    to: f64,
    is_within: bool,
}

impl Looks {
    /// Finds the functions of time in some expressions.
    pub fn new(exprs: &Exprs, roots: &[ExprId], layout: &Layout) -> Looks {
        let mut maker = Maker::new(exprs, layout, roots);
        for root in roots {
            maker.mark(*root);
        }
        let (mut timed, roots) = maker.functions();
        if roots.is_empty() {
            timed = Timed::default();
        }
        Looks { timed, roots }
    }

    /// Returns true if there is no function of time.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Returns the instants, in order, that a solver must sample between the first and the last corner. Corners are sampled anyway.
    pub fn times(&self, parameters: &[f64], corners: &[f64]) -> Vec<f64> {
        let mut found = Vec::new();
        if self.roots.is_empty() || corners.len() < 2 {
            return found;
        }
        let whole = corners[corners.len() - 1] - corners[0];
        let mut scan = Scan {
            looks: self,
            parameters,
            bounds: Vec::new(),
            sizes: vec![0.0; self.roots.len()],
            reached: Vec::new(),
        };
        let mut first: Vec<First> = Vec::new();
        let parts = if corners.len() > 2 * PARTS { FEW } else { PARTS };
        let mut waiting: VecDeque<ExaminedInterval> = VecDeque::new();
        for piece in corners.windows(2) {
            // The last double before a corner still belongs to the old branch.
            let (from, to) = (piece[0], piece[1].next_down());
            let end = |k: usize| {
                if k == parts {
                    to
                } else {
                    from + (to - from) * (k as f64 / parts as f64)
                }
            };
            waiting.extend((0..parts).map(|k| ExaminedInterval {
                from: end(k),
                to: end(k + 1),
                is_within: false,
            }));
        }
        let mut left = (WORK / self.timed.len()).max(waiting.len());
        while let Some(part) = waiting.pop_front() {
            if left == 0 {
                break;
            }
            left -= 1;
            let middle = part.from + 0.5 * (part.to - part.from);
            let seen = scan.look(&part, middle);
            if !part.is_within {
                first.push(First {
                    instants: [part.from, middle, part.to],
                    moves: matches!(seen, Seen::Moving),
                    rates: std::mem::take(&mut scan.reached),
                });
            }
            match seen {
                Seen::Hidden if part.to - part.from > SHORTEST * whole => {
                    waiting.extend(
                        [(part.from, middle), (middle, part.to)].map(|(from, to)| ExaminedInterval {
                            from,
                            to,
                            is_within: true,
                        }),
                    );
                }
                Seen::Moving if part.is_within => found.extend([part.from, middle, part.to]),
                _ => {}
            }
        }
        for at in (0..first.len()).filter(|at| First::is_sudden(&first, *at)) {
            found.extend(first[at].instants);
        }
        found.sort_by(f64::total_cmp);
        found.dedup();
        found
    }
}

/// The result for an initial interval.
struct First {
    instants: [f64; 3],
    moves: bool,
    /// The largest rate of each function in the interval.
    rates: Vec<f64>,
}

impl First {
    /// Returns true if a function moves in an interval and nearly rests in an adjacent one: a solver coming from there could step over the
    /// motion.
    fn is_sudden(all: &[First], at: usize) -> bool {
        let own = &all[at];
        let [from, _, to] = own.instants;
        let before = at
            .checked_sub(1)
            .map(|at| &all[at])
            .filter(|other| other.instants[2] == from);
        let after = all.get(at + 1).filter(|other| other.instants[0] == to);
        let rests = |other: &First| {
            let mut pairs = own.rates.iter().zip(&other.rates);
            pairs.any(|(own, other)| *own > HIDDEN * other)
        };
        own.moves && [before, after].into_iter().flatten().any(rests)
    }
}

/// The result for an interval.
enum Seen {
    /// No function changes.
    Quiet,
    /// The samples at the ends and in the middle show the change.
    Moving,
    /// There may be a change that the samples do not show.
    Hidden,
}

/// Examines intervals for given parameters.
struct Scan<'a> {
    looks: &'a Looks,
    parameters: &'a [f64],
    bounds: Vec<Bounds>,
    /// The largest sampled magnitude of each function.
    sizes: Vec<f64>,
    /// The largest rate of each function within the last interval; 0 if the function is quiet.
    reached: Vec<f64>,
}

impl Scan<'_> {
    fn look(&mut self, part: &ExaminedInterval, middle: f64) -> Seen {
        let length = part.to - part.from;
        let count = self.looks.roots.len();
        let mut rates = vec![0.0_f64; count];
        let mut values = vec![None::<Interval>; count];
        for time in [part.from, middle, part.to] {
            self.evaluate(time, time);
            for (at, root) in self.looks.roots.iter().enumerate() {
                let Bounds { value, rate } = self.bounds[*root as usize];
                if value.size().is_finite() {
                    self.sizes[at] = self.sizes[at].max(value.size());
                    values[at] = Some(values[at].map_or(value, |known| known.hull(value)));
                }
                if rate.size().is_finite() {
                    rates[at] = rates[at].max(rate.size());
                }
            }
        }
        self.evaluate(part.from, part.to);
        let mut seen = Seen::Quiet;
        self.reached = vec![0.0; count];
        for (at, root) in self.looks.roots.iter().enumerate() {
            let Bounds { rate, .. } = self.bounds[*root as usize];
            let least = QUIET * self.sizes[at];
            if rate.size() * length <= least {
                continue;
            }
            self.reached[at] = rate.size();
            if rate.size() > HIDDEN * rates[at] {
                return Seen::Hidden;
            }
            let moved = values[at].map_or(f64::INFINITY, |known| known.high - known.low);
            if moved > least {
                seen = Seen::Moving;
            }
        }
        seen
    }

    /// Computes the bounds of all operations between two instants.
    fn evaluate(&mut self, from: f64, to: f64) {
        // Between corners no value jumps.
        let looks = self.looks;
        looks
            .timed
            .evaluate(self.parameters, (from, to), Interval::ZERO, &mut self.bounds);
    }
}
