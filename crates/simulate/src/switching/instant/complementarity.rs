//! The modes after an instant, found for all elements at once.
//!
//! The combination in force determines the response of the free variables of ports to offsets of the given ones over a
//! short step (J. J. Moreau's time stepping). With the bounds of all modes this is one linear complementarity problem,
//! see [`take_bounded`].

use crate::failure::Failure;
use crate::inputs::signals::{Corner, Side, Signals};
use crate::reinitialisation::jump::move_states;
use crate::switching::instant::entering::two_steps;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::instant::transition::Instant;
use lgm_model::Variable;
use lgm_runtime::events::complementarity::{Bounded, Memory, Outcome, Problem, Quantity, take_bounded};
use lgm_runtime::events::lemke::SHORT;

/// Watched outputs and margins.
type Answer = (Vec<f64>, Vec<f64>);

/// Collects the bounds of an element in the mode in force, with the port whose variable the mode sets. Returns `None`
/// if a change occurs that no bound describes.
fn bounds_of(standing: &Standing, offset: usize, out: &mut Vec<Bounded>) -> Option<()> {
    let prepared = &standing.prepared;
    let combination = &prepared.combination;
    let (element, _) = combination.offsets[offset].port;
    let ([ports], given) = (&combination.ports[element][..], combination.offsets[offset].given) else {
        return Some(());
    };
    let first = out.len();
    let changes = prepared.changes[element].iter().filter(|change| change.sets.is_empty());
    for change in changes.filter(|change| standing.holds_beyond(change)) {
        let Some(bound) = change.bound else {
            let (gives, wanted) = combination.laws[element][change.to]?;
            let free = if given == Variable::Effort { ports.1 } else { ports.0 };
            if gives == given {
                return None;
            }
            out.truncate(first);
            out.extend(Bounded::decided(element, change.to, offset, (free, wanted)));
            return Some(());
        };
        out.push(Bounded {
            element,
            to: change.to,
            port: offset,
            quantity: Quantity::Margin(bound.margin),
            is_upper: bound.is_positive,
            is_above: bound.is_above,
            is_decided: false,
        });
    }
    Some(())
}

impl Instant<'_, '_> {
    /// Finds the modes in which no bound is exceeded, according to the combination in force.
    pub(super) fn complementary_modes(
        &mut self,
        from: &Before,
        standing: &Standing,
        modes: &mut [usize],
    ) -> Result<Outcome, Failure> {
        let prepared = &standing.prepared;
        let mut bounds = Vec::new();
        for offset in 0..prepared.offsets.len() {
            if bounds_of(standing, offset, &mut bounds).is_none() {
                return Ok(Outcome::Unposed);
            }
        }
        let count = bounds.len();
        if count < 2 {
            return Ok(Outcome::Unposed);
        }
        let short = self.short();
        let mut fault = None;
        let answer = |offset: Option<usize>| match self.answer(from, standing, short, offset) {
            Ok(found) => Some(found),
            Err(found) => {
                fault = Some(found);
                None
            }
        };
        let value = |(watched, margins): &Answer, quantity: Quantity| match quantity {
            Quantity::Margin(at) => margins[at],
            Quantity::Difference(free, wanted) => {
                prepared.of_output(free, watched) - prepared.of_output(wanted, watched)
            }
        };
        let (mut matrix, mut distances) = (vec![0.0; count * count], vec![0.0; count]);
        let problem = Problem {
            matrix: &mut matrix,
            distances: &mut distances,
            memory: Memory {
                table: &mut vec![0.0; count * (2 * count + 2)],
                basis: &mut vec![0; count],
                z: &mut vec![0.0; count],
            },
        };
        let outcome = take_bounded(&bounds, answer, value, problem, modes);
        let has_impulses = standing.margin_impulses.iter().any(|impulse| *impulse != 0.0);
        let is_whole = !has_impulses && !prepared.combination.is_redundant().any(|is_redundant| is_redundant);
        fault.map_or(Ok(outcome.of_whole(is_whole)), Err)
    }

    /// Returns the length of the step of the problem, which is also the duration of an impulse.
    pub(super) fn short(&self) -> f64 {
        (SHORT * (self.plan.stop - self.plan.start)).max(1e3 * f64::EPSILON * self.time.abs())
    }

    /// Returns the watched outputs and the margins a short time after this instant, with one offset equal to 1 from then
    /// on. Impulses count as values of that duration.
    fn answer(
        &mut self,
        from: &Before,
        standing: &Standing,
        short: f64,
        offset: Option<usize>,
    ) -> Result<Answer, Failure> {
        let prepared = &standing.prepared;
        let zeros = vec![0.0; prepared.offsets.len()];
        let mut after = zeros.clone();
        let mut steps = Vec::new();
        if let Some(offset) = offset {
            after[offset] = 1.0;
            steps.push((prepared.offsets[offset], 1.0));
        }
        let signals = self.signals(prepared, (&from.discretes, &zeros), (&from.discretes, &after));
        let motion = self.motion(prepared, &signals)?;
        let mut states = standing.states.clone();
        let corner = Corner {
            time: self.time,
            steps: steps.clone(),
        };
        let read = (&prepared.traits.rates_read, self.plan.rtol);
        move_states(&motion, &signals, read, &corner, &mut states, false)?;
        let states = two_steps(&motion, (self.time, &states), 0.5 * short).unwrap_or(states);
        // A capacitor that a conducting diode ties to a source follows the rate of the source.
        let (mut values, mut rates) = (vec![0.0; signals.count()], vec![0.0; signals.count()]);
        signals.values(self.time + short, Side::After, &mut values, &mut rates);
        for (input, step) in steps {
            rates[input] += step / short;
        }
        let at = (self.time + short, &states[..]);
        let watched = prepared.call(&motion, &prepared.watched, at, Some(&rates));
        let margins = prepared.call(&motion, &prepared.margins, at, Some(&rates));
        let impulses = standing.margin_impulses.iter().map(|impulse| impulse / short);
        Ok((
            watched,
            margins
                .iter()
                .zip(impulses)
                .map(|(margin, impulse)| margin + impulse)
                .collect(),
        ))
    }
}
