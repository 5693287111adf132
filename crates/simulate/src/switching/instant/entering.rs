//! Entering a combination of modes after an instant: the variables set by the modes step from their previous
//! values, and move the states.

use crate::failure::Failure;
use crate::inputs::signals::{Corner, Side, Signals};
use crate::motion::Motion;
use crate::reinitialisation::jump::{move_states, step_vector};
use crate::switching::held::{Held, HeldInput};
use crate::switching::instant::faults::cannot_be_set;
use crate::switching::instant::standing::{Before, PortValue, Standing};
use crate::switching::instant::transition::Instant;
use crate::switching::prepared::Prepared;
use lgm_model::Variable;
use lgm_runtime::events::enter::{AHEAD, COUNTS, FAINT, FINEST, IMPULSE, RESOLVED};
use nalgebra::{DMatrix, DVector};
use std::rc::Rc;
use std::sync::Arc;

impl Instant<'_, '_> {
    /// Returns the signals of a combination after this instant.
    pub(crate) fn signals<'p>(
        &self,
        prepared: &'p Prepared,
        before: (&[f64], &[f64]),
        after: (&[f64], &[f64]),
    ) -> Held<'p> {
        let discretes = prepared.discretes.iter().zip(before.0.iter().zip(after.0));
        let offsets = prepared.offsets.iter().zip(before.1.iter().zip(after.1));
        let held = discretes.chain(offsets).map(|(input, (before, after))| HeldInput {
            input: *input,
            before: *before,
            after: *after,
        });
        Held {
            inputs: &prepared.inputs,
            at: self.time,
            held: held.collect(),
            histories: &prepared.histories,
        }
    }

    /// Enters a combination after this instant, with the states by name, the discrete variables and the port variables before
    /// it. Variables set by the modes step from these values, and move the states.
    pub fn enter(&mut self, from: &Before, prepared: Rc<Prepared>, sets: &[PortValue]) -> Result<Standing, Failure> {
        let mut states = self.known_states(from, &prepared)?;
        let zeros = vec![0.0; prepared.offsets.len()];
        let level = {
            let signals = self.signals(&prepared, (&from.discretes, &zeros), (&from.discretes, &zeros));
            let motion = self.motion(&prepared, &signals)?;
            prepared.call(&motion, &prepared.watched, (self.time, &states), None)
        };
        let (mut before, mut after) = (zeros.clone(), zeros);
        if from.ports.is_empty() || !from.set_at.is_empty() {
            before = self.offsets_of_values(from, &prepared, &states)?;
        }
        for (at, offset) in prepared.combination.offsets.iter().enumerate() {
            let (element, port) = offset.port;
            let given = prepared.of_output(offset.value, &level);
            if let Some(ports) = from
                .ports
                .get(element)
                .filter(|_| from.modes[element] != prepared.modes[element])
            {
                let (effort, flow) = ports[port];
                let value = if offset.given == Variable::Effort { effort } else { flow };
                before[at] = value - given;
            } else if let Some((.., held)) = from.held.iter().find(|held| (held.0, held.1) == (element, port)) {
                before[at] = *held;
            }
            let set = sets
                .iter()
                .find(|set| (set.0, set.1, set.2) == (element, port, offset.given));
            after[at] = set.map_or(0.0, |set| set.3 - given);
        }
        let signals = self.signals(&prepared, (&from.old_discretes, &before), (&from.discretes, &after));
        let motion = self.motion(&prepared, &signals)?;
        let mut steps = self.steps(&signals, from.inputs_step);
        steps.retain(|step| step.1 != 0.0);
        let corner = Corner { time: self.time, steps };
        let read = (&prepared.traits.rates_read, self.plan.rtol);
        move_states(&motion, &signals, read, &corner, &mut states, false)?;
        let impulses = self.impulses(&prepared, &motion, &corner, &states);
        let supplied = self.supplied(&prepared, &motion, &corner, &states);
        let watched = prepared.call(&motion, &prepared.watched, (self.time, &states), None);
        let (margins, mut least) = prepared.margins_at(&motion, self.time, &states);
        let mut margin_impulses = prepared.margin_impulses(&impulses, FAINT * self.plan.rtol.max(FINEST));
        // The round-off of an instant also leaves steps: an impulse must exceed what the value gives in its duration.
        for (impulse, margin) in margin_impulses.iter_mut().zip(&margins) {
            if impulse.abs() <= self.short() * margin.abs() {
                *impulse = 0.0;
            }
        }
        let signs = self.signs(&prepared, &motion, (&margins, &mut least), (&states, &margin_impulses));
        let mut rates = vec![0.0; states.len()];
        Ok(Standing {
            has_rates: states.is_empty() || motion.rates(self.time, &states, &mut rates),
            states,
            discretes: from.discretes.clone(),
            offsets: after,
            watched,
            signs,
            margins,
            margin_impulses,
            least,
            supplied,
            prepared: prepared.clone(),
        })
    }

    /// Returns the states before this instant.
    fn known_states(&self, from: &Before, prepared: &Prepared) -> Result<Vec<f64>, Failure> {
        let states = prepared.system.states.iter();
        let known = states.map(|state| from.state_of(state).ok_or_else(|| self.unknown_state(state)));
        known.collect()
    }

    /// Returns the energy that storage has with its initial values, before elements with modes move it; `None` if it cannot
    /// have them.
    pub(crate) fn energy_given(&self, from: &Before, prepared: &Prepared) -> Result<Option<f64>, Failure> {
        let states = self.known_states(from, prepared)?;
        let offsets = self.offsets_of_values(from, prepared, &states)?;
        let watched = self.watched_with(from, prepared, (&states, &offsets))?;
        let given = prepared
            .dependent()
            .filter_map(|(name, output)| Some((prepared.of_output(output, &watched), from.state(name)?)));
        let (errors, values): (Vec<f64>, Vec<f64>) =
            given.map(|(value, start)| ((value - start).abs(), start.abs())).unzip();
        let largest = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
        let is_reached = largest(&errors) <= COUNTS.sqrt() * largest(&values);
        Ok(prepared.energy(&watched).filter(|_| is_reached))
    }

    /// Returns the watched outputs with these states and offsets. Just before the start, all inputs are 0.
    fn watched_with(
        &self,
        from: &Before,
        prepared: &Prepared,
        (states, offsets): (&[f64], &[f64]),
    ) -> Result<Vec<f64>, Failure> {
        let signals = self.signals(prepared, (&from.discretes, offsets), (&from.discretes, offsets));
        let motion = self.motion(prepared, &signals)?;
        if from.inputs_step {
            motion.set_piece(f64::NEG_INFINITY, self.time);
        }
        Ok(prepared.call(&motion, &prepared.watched, (self.time, states), None))
    }

    /// Returns the offsets with which dependent storage reaches its own values, if elements with modes connect it to other
    /// storage. These are its initial values or, if a block has set storage, its previous or set values.
    fn offsets_of_values(&self, from: &Before, prepared: &Prepared, states: &[f64]) -> Result<Vec<f64>, Failure> {
        let count = prepared.offsets.len();
        let given = prepared
            .dependent()
            .filter_map(|(name, output)| Some((name, output, from.state(name)?)));
        let given: Vec<(&Arc<str>, usize, f64)> = given.collect();
        let mut offsets = vec![0.0; count];
        if given.is_empty() {
            return Ok(offsets);
        }
        let mut matrix = DMatrix::zeros(given.len(), count);
        let watched = |offsets: &[f64]| self.watched_with(from, prepared, (states, offsets));
        let level = watched(&offsets)?;
        for at in 0..count {
            offsets[at] = 1.0;
            let moved = watched(&offsets)?;
            for (row, (_, output, _)) in given.iter().enumerate() {
                matrix[(row, at)] = prepared.of_output(*output, &moved) - prepared.of_output(*output, &level);
            }
            offsets[at] = 0.0;
        }
        let wanted = given
            .iter()
            .map(|(_, output, value)| value - prepared.of_output(*output, &level));
        let wanted = DVector::from_vec(wanted.collect());
        let found = match count {
            0 => DVector::zeros(0),
            _ => matrix
                .clone()
                .svd(true, true)
                .solve(&wanted, 1e-12)
                .unwrap_or_else(|_| DVector::zeros(count)),
        };
        let left = &matrix * &found - &wanted;
        // Values set by a block must be reached exactly; other storage may adjust.
        let is_tied = |name: &Arc<str>| {
            let row = given.iter().position(|known| known.0 == name);
            row.is_some_and(|row| left[row].abs() > COUNTS.sqrt() * wanted[row].abs())
        };
        match from.set_at.iter().find(|set| is_tied(&set.0)) {
            Some((name, span)) => Err(self.failure(cannot_be_set(self.time, name, *span))),
            None => Ok(found.iter().copied().collect()),
        }
    }

    pub(crate) fn motion<'p>(&'p self, prepared: &'p Prepared, signals: &'p Held<'p>) -> Result<Motion<'p>, Failure> {
        let motion = prepared.motion(&self.library.parameters, signals, self.plan)?;
        motion.set_piece(self.piece.0, self.piece.1);
        Ok(motion)
    }

    /// Returns the steps of all held inputs at this instant, and those of the other inputs if requested.
    fn steps(&self, signals: &Held<'_>, others: bool) -> Vec<(usize, f64)> {
        let mut steps: Vec<(usize, f64)> = (signals.held.iter())
            .map(|held| (held.input, held.after - held.before))
            .collect();
        if others {
            let count = signals.count();
            let (mut before, mut after, mut rates) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
            signals.values(self.time, Side::Before, &mut before, &mut rates);
            signals.values(self.time, Side::After, &mut after, &mut rates);
            let is_held = |at: &usize| signals.held.iter().any(|held| held.input == *at);
            let free = (0..count).filter(|at| !is_held(at));
            steps.extend(free.map(|at| (at, after[at] - before[at])));
        }
        steps
    }

    /// Returns the energy that sources supply by impulses, computed with their values after the instant: a source steps first,
    /// and then storage follows.
    fn supplied(&self, prepared: &Prepared, motion: &Motion<'_>, corner: &Corner, states: &[f64]) -> f64 {
        let Some(powers) = prepared.powers.as_ref().filter(|_| !corner.steps.is_empty()) else {
            return 0.0;
        };
        let still = vec![0.0; prepared.system.inputs.len()];
        let steps = step_vector(motion, corner);
        let at = (self.time, states);
        let with = prepared.call(motion, &powers.kernel, at, Some(&steps));
        let after = prepared.call(motion, &powers.kernel, at, Some(&still));
        let absorbed = |pair: usize| {
            let (effort, flow) = (2 * pair, 2 * pair + 1);
            let part = |impulse: usize, other: usize| (with[impulse] - after[impulse]) * after[other];
            part(effort, flow) + part(flow, effort)
        };
        -(0..powers.counts.0).map(absorbed).sum::<f64>()
    }

    /// Returns the impulses of the watched outputs; 0 for outputs without one.
    fn impulses(&self, prepared: &Prepared, motion: &Motion<'_>, corner: &Corner, states: &[f64]) -> Vec<f64> {
        let count = prepared.watched.outputs();
        if corner.steps.is_empty() {
            return vec![0.0; count];
        }
        let still = vec![0.0; prepared.system.inputs.len()];
        let steps = step_vector(motion, corner);
        let at = (self.time, states);
        let with = prepared.call(motion, &prepared.watched, at, Some(&steps));
        let without = prepared.call(motion, &prepared.watched, at, Some(&still));
        let impulse = |(with, without): (&f64, &f64)| match with - without {
            change if change.abs() > IMPULSE * with.abs().max(without.abs()) => change,
            _ => 0.0,
        };
        with.iter().zip(&without).map(impulse).collect()
    }

    /// Returns the signs of the margins: an impulse decides first, then the value, and for a value of 0 its direction.
    /// The magnitude below which a margin counts as 0 is increased if it crosses 0 near this point.
    fn signs(
        &self,
        prepared: &Prepared,
        motion: &Motion<'_>,
        (margins, least): (&[f64], &mut [f64]),
        (states, impulses): (&[f64], &[f64]),
    ) -> Vec<f64> {
        // A `when` block requires an actual change of sign of its margin.
        let mut is_bound = vec![false; margins.len()];
        for bound in prepared.changes.iter().flatten().filter_map(|change| change.bound) {
            is_bound[bound.margin] = true;
        }
        let whole = self.plan.stop - self.plan.start;
        let finest = 1e3 * f64::EPSILON * self.time.abs();
        // The change of each margin per resolved time, for the first step long enough that the change is not round-off.
        let mut going: Vec<Option<f64>> = vec![None; margins.len()];
        let mut known = vec![0.0; margins.len()];
        for share in AHEAD {
            let ahead = (share * whole).max(finest);
            let crossed = |at: usize| margins[at].abs() <= least[at].max(f64::abs(known[at]));
            if (0..margins.len()).all(|at| going[at].is_some() || share != AHEAD[0] && !crossed(at)) {
                break;
            }
            let Some(moved) = two_steps(motion, (self.time, states), ahead) else {
                break;
            };
            let there = prepared.call(motion, &prepared.margins, (self.time + 2.0 * ahead, &moved), None);
            for at in 0..margins.len() {
                let change = there[at] - margins[at];
                if going[at].is_none() {
                    known[at] = change * (RESOLVED * whole).max(finest) / ahead;
                    going[at] = (change.abs() > least[at]).then_some(change);
                }
            }
        }
        let mut sign = |at: usize| {
            let margin = margins[at];
            if is_bound[at] && margin.abs() <= known[at].abs() {
                least[at] = least[at].max(2.0 * margin.abs());
            }
            match margin.abs() <= least[at] {
                _ if impulses[at] != 0.0 => impulses[at],
                true => going[at].unwrap_or(0.0),
                false => margin,
            }
        };
        (0..margins.len()).map(&mut sign).collect()
    }
}

/// Returns the states two steps of length `ahead` later, or `None` if the right-hand side has no value.
pub(super) fn two_steps(motion: &Motion<'_>, (time, states): (f64, &[f64]), ahead: f64) -> Option<Vec<f64>> {
    let (mut moved, mut rates) = (states.to_vec(), vec![0.0; states.len()]);
    for at in [time, time + ahead] {
        if !motion.rates(at, &moved, &mut rates) {
            return None;
        }
        moved
            .iter_mut()
            .zip(&rates)
            .for_each(|(state, rate)| *state += ahead * rate);
    }
    Some(moved)
}
