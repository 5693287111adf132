//! The energies of an interval: supplied by sources, absorbed by dissipators, and absorbed by storage.

use super::integrate::Made;
use super::radau::WEIGHTS;
use crate::inputs::signals::{Side, Signals};
use lgm_equations::{FlatGraph, Instant, Powers};

/// The energies of an interval, in joules.
#[derive(Default)]
pub(super) struct Energy {
    pub powers: Powers,
    /// The difference of two quadratures.
    pub uncertainty: f64,
}

impl Energy {
    /// Adds the energies of one step by the quadrature of its states; Simpson's rule estimates its error.
    pub fn add(
        &mut self,
        graph: &mut FlatGraph<'_>,
        signals: &dyn Signals,
        unknowns: &mut Vec<f64>,
        step: &Made,
    ) -> Option<()> {
        let last = step.points.len() - 1;
        let mut powers = |(at, (time, states)): (usize, &(f64, Vec<f64>))| -> Option<Powers> {
            let side = if at == last { Side::Before } else { Side::After };
            let mut instant = Instant {
                time: if at == last { time.next_down() } else { *time },
                states: states.clone(),
                inputs: vec![0.0; signals.count()],
                rates: vec![0.0; signals.count()],
            };
            signals.values(*time, side, &mut instant.inputs, &mut instant.rates);
            graph.powers(&instant, unknowns)
        };
        let found: Vec<Powers> = step.points.iter().enumerate().map(&mut powers).collect::<Option<_>>()?;
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
