//! Where a run stands, behind an event and before it.

use crate::switching::prepared::Prepared;
use lgm_equations::switching::{Condition, WatchedChange};
use lgm_model::Variable;
use lgm_model::system::{State, StateSystem};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Where a run stands: a combination with its states, and all that is watched there.
pub(crate) struct Standing {
    pub prepared: Rc<Prepared>,
    pub states: Vec<f64>,
    /// The values of discrete variables.
    pub discretes: Vec<f64>,
    /// The values of offsets: 0, but at the instant of a change that sets a variable.
    pub offsets: Vec<f64>,
    pub watched: Vec<f64>,
    /// Margins of conditions with their signs: impulses before finite values, and what is 0 by where it is going.
    pub signs: Vec<f64>,
    /// Margins of conditions as they are.
    pub margins: Vec<f64>,
    /// The size below which each margin counts as 0.
    pub least: Vec<f64>,
    /// The energy that sources supply by impulses at the instant of the change to here; 0 unless the balance of energy is asked for.
    pub supplied: f64,
    /// The modes that are wanted of elements whose modes are assumed.
    pub wanted: Vec<Option<usize>>,
}

/// A variable of a port that a change sets: the element, its port, the variable and the value.
pub(crate) type PortValue = (usize, usize, Variable, f64);

/// A contact that closes: a change of an element that sets variables of ports.
pub(crate) struct Closing {
    pub element: usize,
    /// The mode that follows.
    pub to: usize,
    pub sets: Vec<PortValue>,
}

impl Closing {
    /// The change of an element, with the values that it sets where a run stands.
    pub fn of(element: usize, change: &WatchedChange, standing: &Standing) -> Closing {
        let value = |output: usize| standing.prepared.of_output(output, &standing.watched);
        let sets = change.sets.iter().map(|set| (element, set.0, set.1, value(set.2)));
        Closing {
            element,
            to: change.to,
            sets: sets.collect(),
        }
    }
}

impl Standing {
    /// Returns true if a condition holds here.
    pub fn holds(&self, condition: &Condition) -> bool {
        condition.holds(&|at| self.signs[at])
    }

    /// The signs of the margins that are 0 here, by where they are going; 0 for the others.
    pub fn going(&self) -> Vec<f64> {
        let margins = self.margins.iter().zip(&self.least).zip(&self.signs);
        margins
            .map(|((margin, least), sign)| if margin.abs() <= *least { *sign } else { 0.0 })
            .collect()
    }

    /// Returns true if a condition holds here and is not only about to: a margin within its rounding is 0.
    pub fn holds_now(&self, condition: &Condition) -> bool {
        let margin = |at: usize| match self.margins[at].abs() <= self.least[at] {
            true => 0.0,
            false => self.margins[at],
        };
        condition.holds(&margin)
    }

    /// Returns true if these are the values of its states, and no other storage has one.
    pub fn has_states(&self, values: &FxHashMap<Arc<str>, f64>) -> bool {
        let states = self.prepared.system.states.iter().zip(&self.states);
        let mut known = states.map(|(state, value)| values.get(&state.name).is_some_and(|start| start == value));
        values.len() == self.states.len() && known.all(|same| same)
    }

    /// The energy that storage holds.
    pub fn energy(&self) -> Option<f64> {
        let pairs = self.prepared.combination.energy.as_ref()?;
        let value = |output: usize| self.prepared.of_output(output, &self.watched);
        Some(pairs.iter().map(|(z, p)| 0.5 * value(*z) * value(*p)).sum())
    }

    /// The values that blocks read.
    pub fn read(&self) -> Vec<f64> {
        let outputs = self.prepared.combination.read.iter();
        outputs
            .map(|output| self.prepared.of_output(*output, &self.watched))
            .collect()
    }
}

/// The state of a run just before an instant.
#[derive(Clone)]
pub(crate) struct Before {
    /// The modes in which the search begins, and those at the beginning of the instant.
    pub modes: Vec<usize>,
    pub began: Vec<usize>,
    /// The modes that are wanted of elements whose modes are assumed.
    pub wanted: Vec<Option<usize>>,
    /// Values of states that replace what the run had.
    pub replaced: FxHashMap<Arc<str>, f64>,
    /// The combination that the other values are of, with its states and watched outputs; at the start of a run, there is none.
    pub known: Option<(Rc<Prepared>, Vec<f64>, Vec<f64>)>,
    /// The discrete variables before the instant, and as they were assigned.
    pub old_discretes: Vec<f64>,
    pub discretes: Vec<f64>,
    /// Effort and flow of the ports of elements with modes; empty at the start of a run.
    pub ports: Vec<Vec<(f64, f64)>>,
    /// Offsets that are not 0: the element, its port and the offset.
    pub held: Vec<(usize, usize, f64)>,
    /// If all inputs step at this instant, as at the start.
    pub inputs_step: bool,
    /// What the totals among the known states are totals of, by their names.
    totals: FxHashMap<Arc<str>, Vec<Arc<str>>>,
}

/// The states of a system that are totals, with what they are totals of.
fn totals(system: &StateSystem) -> FxHashMap<Arc<str>, Vec<Arc<str>>> {
    let totals = system.states.iter().filter(|state| state.is_total());
    totals
        .map(|state| (state.name.clone(), state.total_of.clone()))
        .collect()
}

impl Before {
    /// From where a run stands.
    pub fn of(standing: &Standing, began: Vec<usize>) -> Before {
        let prepared = &standing.prepared;
        let value = |output: usize| prepared.of_output(output, &standing.watched);
        let ports = prepared.combination.ports.iter().map(|ports| {
            let both = ports.iter().map(|(effort, flow)| (value(*effort), value(*flow)));
            both.collect()
        });
        let offsets = prepared.combination.offsets.iter().zip(&standing.offsets);
        Before {
            modes: prepared.modes.clone(),
            began,
            wanted: standing.wanted.clone(),
            replaced: FxHashMap::default(),
            ports: ports.collect(),
            held: offsets
                .filter(|(_, offset)| **offset != 0.0)
                .map(|(place, offset)| (place.port.0, place.port.1, *offset))
                .collect(),
            known: Some((prepared.clone(), standing.states.clone(), standing.watched.clone())),
            old_discretes: standing.discretes.clone(),
            discretes: standing.discretes.clone(),
            inputs_step: false,
            totals: totals(&prepared.system),
        }
    }

    /// At the start of a run: what is given by name, for the states of the system of the first modes.
    pub fn at_start(
        first: &StateSystem,
        modes: Vec<usize>,
        starts: FxHashMap<Arc<str>, f64>,
        discretes: Vec<f64>,
    ) -> Before {
        Before {
            began: modes.clone(),
            wanted: vec![None; modes.len()],
            modes,
            replaced: starts,
            known: None,
            old_discretes: discretes.clone(),
            discretes,
            ports: Vec::new(),
            held: Vec::new(),
            inputs_step: true,
            totals: totals(first),
        }
    }

    /// The value of a state just before the instant. A total of other storage than before has none that goes by its name.
    pub fn state_of(&self, state: &State) -> Option<f64> {
        let before = self.totals.get(&state.name);
        let is_other = before.is_some_and(|before| *before != state.total_of);
        self.state(&state.name).filter(|_| !is_other)
    }

    pub fn state(&self, name: &str) -> Option<f64> {
        let replaced = self.replaced.get(name).copied();
        let known = || {
            let (prepared, states, watched) = self.known.as_ref()?;
            prepared.named(name, states, watched)
        };
        replaced.or_else(known)
    }
}
