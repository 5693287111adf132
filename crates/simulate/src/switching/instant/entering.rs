//! The run in a combination of modes behind an instant: what the modes give steps from what was before, and moves the states.

use crate::failure::Failure;
use crate::inputs::signals::{Corner, Side, Signals};
use crate::motion::Motion;
use crate::reinitialisation::jump::{move_states, step_vector};
use crate::switching::held::{Held, HeldInput};
use crate::switching::instant::standing::{Before, PortValue, Standing};
use crate::switching::instant::transition::Instant;
use crate::switching::prepared::Prepared;
use lgm_model::Variable;
use lgm_runtime::events::enter::{AHEAD, FAINT, FINEST, IMPULSE};
use nalgebra::{DMatrix, DVector};
use std::rc::Rc;

impl Instant<'_, '_> {
    /// The signals of a combination behind this instant.
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
        }
    }

    /// The run in a combination behind this instant: states by their names, discrete variables, and variables of ports before it.
    /// Variables that the modes give step from there, and move the states.
    pub fn enter(&mut self, from: &Before, prepared: Rc<Prepared>, sets: &[PortValue]) -> Result<Standing, Failure> {
        let mut states = Vec::with_capacity(prepared.system.states.len());
        for state in &prepared.system.states {
            states.push(from.state_of(state).ok_or_else(|| self.unknown_state(state))?);
        }
        let zeros = vec![0.0; prepared.offsets.len()];
        let level = {
            let signals = self.signals(&prepared, (&from.discretes, &zeros), (&from.discretes, &zeros));
            let motion = self.motion(&prepared, &signals)?;
            prepared.call(&motion, &prepared.watched, (self.time, &states), None)
        };
        let (mut before, mut after) = (zeros.clone(), zeros);
        if from.ports.is_empty() {
            before = self.offsets_at_start(from, &prepared, &states)?;
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
        let (margins, least) = prepared.margins_at(&motion, self.time, &states);
        let signs = self.signs(
            &prepared,
            &motion,
            (&margins, &least),
            (
                &states,
                &prepared.margin_impulses(&impulses, FAINT * self.plan.rtol.max(FINEST)),
            ),
        );
        Ok(Standing {
            states,
            discretes: from.discretes.clone(),
            offsets: after,
            watched,
            signs,
            margins,
            least,
            supplied,
            wanted: from.wanted.clone(),
            prepared: prepared.clone(),
        })
    }

    /// At the start of a run, the offsets with which dependent storage has its starts, as far as elements with modes join it to other
    /// storage; without a start given it is at rest.
    fn offsets_at_start(&self, from: &Before, prepared: &Prepared, states: &[f64]) -> Result<Vec<f64>, Failure> {
        let count = prepared.offsets.len();
        let given: Vec<(usize, f64)> = (prepared.dependent())
            .filter_map(|(name, output)| Some((output, from.state(name)?)))
            .collect();
        let mut offsets = vec![0.0; count];
        if given.is_empty() || count == 0 {
            return Ok(offsets);
        }
        let mut matrix = DMatrix::zeros(given.len(), count);
        // Just before the start, where all inputs are 0.
        let watched = |offsets: &[f64]| -> Result<Vec<f64>, Failure> {
            let signals = self.signals(prepared, (&from.discretes, offsets), (&from.discretes, offsets));
            let motion = self.motion(prepared, &signals)?;
            if from.inputs_step {
                motion.set_piece(f64::NEG_INFINITY, self.time);
            }
            Ok(prepared.call(&motion, &prepared.watched, (self.time, states), None))
        };
        let level = watched(&offsets)?;
        for at in 0..count {
            offsets[at] = 1.0;
            let moved = watched(&offsets)?;
            for (row, (output, _)) in given.iter().enumerate() {
                matrix[(row, at)] = prepared.of_output(*output, &moved) - prepared.of_output(*output, &level);
            }
            offsets[at] = 0.0;
        }
        let wanted = given
            .iter()
            .map(|(output, start)| start - prepared.of_output(*output, &level));
        let wanted = DVector::from_vec(wanted.collect());
        let solved = matrix.svd(true, true).solve(&wanted, 1e-12);
        Ok(solved.map_or(vec![0.0; count], |found| found.iter().copied().collect()))
    }

    pub(crate) fn motion<'p>(&'p self, prepared: &'p Prepared, signals: &'p Held<'p>) -> Result<Motion<'p>, Failure> {
        let motion = prepared.motion(&self.library.parameters, signals, self.plan)?;
        motion.set_piece(self.piece.0, self.piece.1);
        Ok(motion)
    }

    /// The steps of all inputs at this instant: of those that are held, and of the others where they are to be counted.
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

    /// The energy that sources supply by impulses, at what they give behind the instant: a source steps first, and then storage follows.
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

    /// The impulses of the watched outputs; 0 where there is none.
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

    /// The signs of the margins: an impulse decides first, then the value, and of a value of 0 where it is going.
    fn signs(
        &self,
        prepared: &Prepared,
        motion: &Motion<'_>,
        (margins, least): (&[f64], &[f64]),
        (states, impulses): (&[f64], &[f64]),
    ) -> Vec<f64> {
        let undecided = |at: usize| impulses[at] == 0.0 && margins[at].abs() <= least[at];
        let mut going = vec![0.0; margins.len()];
        let mut rates = vec![0.0; states.len()];
        if (0..margins.len()).any(undecided) && motion.rates(self.time, states, &mut rates) {
            let whole = self.plan.stop - self.plan.start;
            let ahead = (AHEAD * whole).max(1e3 * f64::EPSILON * self.time.abs());
            let first = states.iter().zip(&rates).map(|(state, rate)| state + ahead * rate);
            let mut moved: Vec<f64> = first.collect();
            // Twice as far, with the rates there: what is at rest and accelerates moves too.
            if motion.rates(self.time + ahead, &moved, &mut rates) {
                moved
                    .iter_mut()
                    .zip(&rates)
                    .for_each(|(state, rate)| *state += ahead * rate);
            }
            let ahead = 2.0 * ahead;
            let there = prepared.call(motion, &prepared.margins, (self.time + ahead, &moved), None);
            for at in 0..margins.len() {
                let change = there[at] - margins[at];
                going[at] = if change.abs() > least[at] { change } else { 0.0 };
            }
        }
        (0..margins.len())
            .map(|at| match (impulses[at] != 0.0, undecided(at)) {
                (true, _) => impulses[at],
                (false, true) => going[at],
                (false, false) => margins[at],
            })
            .collect()
    }
}
