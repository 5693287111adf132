//! The energies of an interval: what sources give, what dissipators take, what storage takes.

use super::integrate::Made;
use super::radau::WEIGHTS;
use crate::inputs::signals::{Side, Signals};
use lgm_equations::{FlatGraph, Instant, Powers};

/// The energies of an interval, in joules.
#[derive(Default)]
pub(super) struct Energy {
    pub powers: Powers,
    /// How far two quadratures differ.
    pub uncertainty: f64,
    /// Whether an unknown of a loop leaps within a step: what storage gives and takes at that instant is in no quadrature.
    pub has_leap: bool,
}

/// An unknown leaps if this share of its change over a step lies between two neighbouring points of the step: the steps are so short
/// that what is continuous changes by similar amounts between them.
const LEAP: f64 = 0.9;

/// Changes below this share of an unknown are none.
const CHANGE: f64 = 1e-3;

/// Whether one of several unknowns leaps over the points of a step.
fn has_leap(points: &[Vec<f64>]) -> bool {
    let count = points.first().map_or(0, Vec::len);
    (0..count).any(|at| {
        let values = || points.iter().map(|unknowns| unknowns[at]);
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        let changes = points.windows(2).map(|pair| (pair[1][at] - pair[0][at]).abs());
        let largest = changes.fold(0.0, f64::max);
        high - low > CHANGE * high.abs().max(low.abs()) && largest >= LEAP * (high - low)
    })
}

impl Energy {
    /// Adds those of one step by the quadrature that its states come from; Simpson's says how far it may be off.
    pub fn add(
        &mut self,
        graph: &mut FlatGraph<'_>,
        signals: &dyn Signals,
        unknowns: &mut Vec<f64>,
        step: &Made,
    ) -> Option<()> {
        let last = step.points.len() - 1;
        let mut at_points = Vec::with_capacity(step.points.len());
        let mut powers = |(at, (time, states)): (usize, &(f64, Vec<f64>))| -> Option<Powers> {
            let side = if at == last { Side::Before } else { Side::After };
            let mut instant = Instant {
                time: if at == last { time.next_down() } else { *time },
                states: states.clone(),
                inputs: vec![0.0; signals.count()],
                rates: vec![0.0; signals.count()],
            };
            signals.values(*time, side, &mut instant.inputs, &mut instant.rates);
            let powers = graph.powers(&instant, unknowns);
            at_points.push(unknowns.clone());
            powers
        };
        let found: Vec<Powers> = step.points.iter().enumerate().map(&mut powers).collect::<Option<_>>()?;
        self.has_leap |= has_leap(&at_points);
        let radau = |of: &dyn Fn(&Powers) -> f64| -> f64 {
            let halves = found[1..].iter().zip(WEIGHTS[2].iter().cycle());
            0.5 * step.length * halves.map(|(powers, weight)| weight * of(powers)).sum::<f64>()
        };
        let simpson =
            |of: &dyn Fn(&Powers) -> f64| step.length / 6.0 * (of(&found[0]) + 4.0 * of(&found[3]) + of(&found[last]));
        let parts: [&dyn Fn(&Powers) -> f64; 4] = [&|p| p.supplied, &|p| p.lost, &|p| p.taken, &|p| p.size];
        let [supplied, lost, taken, size] = parts.map(radau);
        self.uncertainty += parts[..3]
            .iter()
            .map(|of| (radau(*of) - simpson(*of)).abs())
            .sum::<f64>();
        self.powers.supplied += supplied;
        self.powers.lost += lost;
        self.powers.taken += taken;
        self.powers.size += size;
        Some(())
    }
}
