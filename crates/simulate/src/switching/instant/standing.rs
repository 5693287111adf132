//! The state of a run before and after an event.

use crate::switching::prepared::Prepared;
use lgm_equations::switching::{Condition, WatchedChange};
use lgm_model::Variable;
use lgm_model::system::{State, StateSystem};
use lgm_source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The current point of a run: a combination with its states, and all watched values there.
pub(crate) struct Standing {
    pub prepared: Rc<Prepared>,
    pub states: Vec<f64>,
    /// The values of discrete variables.
    pub discretes: Vec<f64>,
    /// The values of offsets: 0, except at the instant of a change that sets a variable.
    pub offsets: Vec<f64>,
    pub watched: Vec<f64>,
    /// The signs of the margins of conditions: impulses take precedence over finite values, and zeros count by their direction.
    pub signs: Vec<f64>,
    /// The values of the margins of conditions.
    pub margins: Vec<f64>,
    /// True if all states have a rate here: a combination in which one has none is invalid.
    pub has_rates: bool,
    /// The impulses of the margins at the change to this combination.
    pub margin_impulses: Vec<f64>,
    /// The magnitude below which each margin counts as 0.
    pub least: Vec<f64>,
    /// The energy that sources supply by impulses at the change to this combination; 0 unless the energy balance is requested.
    pub supplied: f64,
}

/// A variable of a port that a change sets: the element, its port, the variable and the value.
pub(crate) type PortValue = (usize, usize, Variable, f64);

/// A contact that closes: a change of an element that sets variables of ports.
pub(crate) struct Closing {
    pub element: usize,
    /// The next mode.
    pub to: usize,
    pub sets: Vec<PortValue>,
}

impl Closing {
    /// Returns the change of an element, with the values that it sets at the current point of a run.
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

    /// Returns true if a change acts once its bound is exceeded; a change without a bound acts here.
    pub fn holds_beyond(&self, change: &WatchedChange) -> bool {
        let reached = |at: usize| match change.bound {
            Some(bound) if bound.margin == at && bound.is_positive => 1.0,
            Some(bound) if bound.margin == at => -1.0,
            _ => self.signs[at],
        };
        change.condition.holds(&reached)
    }

    /// Returns true if a change of an element acts here.
    pub fn acts(&self, element: usize) -> bool {
        let mut changes = self.prepared.changes[element].iter();
        changes.any(|change| self.holds(&change.condition))
    }

    /// For each margin that is 0 here, returns the sign of its direction; for the others, returns 0.
    pub fn going(&self) -> Vec<f64> {
        let margins = self.margins.iter().zip(&self.least).zip(&self.signs);
        margins
            .map(|((margin, least), sign)| if margin.abs() <= *least { *sign } else { 0.0 })
            .collect()
    }

    /// Returns a margin; a value within its round-off is 0.
    fn margin(&self, at: usize) -> f64 {
        match self.margins[at].abs() <= self.least[at] {
            true => 0.0,
            false => self.margins[at],
        }
    }

    /// Returns true if the condition of a block holds here, or has held and is not left yet.
    pub fn keeps(&self, condition: &Condition, held: bool) -> bool {
        condition.is_kept(held, &|at| self.margin(at), &|_| false)
    }

    /// Returns true if the condition of a block holds at the start of a run: a condition of time that is false there becomes
    /// true even if it is true just after it.
    pub fn holds_at_start(&self, condition: &Condition, start: f64) -> bool {
        let instants = &self.prepared.instants;
        let signs = instants.exactly_at(start, &self.prepared.held_between(&self.discretes));
        let exact = |at: usize| instants.places().iter().position(|place| *place == at);
        condition.holds(&|at| exact(at).map_or_else(|| self.margin(at), |found| signs[found]))
    }

    /// Returns true if the condition of a block holds just after the block has run, at any distance: a ball that bounces ever more softly
    /// has left the floor each time.
    pub fn holds_after_run(&self, condition: &Condition) -> bool {
        condition.holds(&|at| self.margins[at]) || condition.holds(&|at| self.margin(at))
    }

    /// Returns the energy of storage.
    pub fn energy(&self) -> Option<f64> {
        self.prepared.energy(&self.watched)
    }

    /// Returns the values that blocks use.
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
    /// The modes from which the search starts, and those at the beginning of the instant.
    pub modes: Vec<usize>,
    pub began: Vec<usize>,
    /// Values of states that replace those of the run.
    pub replaced: FxHashMap<Arc<str>, f64>,
    /// The state set by each assignment of a block, with its location in the text.
    pub set_at: Vec<(Arc<str>, Span)>,
    /// The combination of the other values, with its states and watched outputs; none at the start of a run.
    pub known: Option<(Rc<Prepared>, Vec<f64>, Vec<f64>)>,
    /// The discrete variables before the instant, and after the assignments.
    pub old_discretes: Vec<f64>,
    pub discretes: Vec<f64>,
    /// Effort and flow of the ports of elements with modes; empty at the start of a run.
    pub ports: Vec<Vec<(f64, f64)>>,
    /// Nonzero offsets: the element, its port and the offset.
    pub held: Vec<(usize, usize, f64)>,
    /// True if all inputs step at this instant, as at the start.
    pub inputs_step: bool,
    /// The components of the totals in the known states, by name.
    totals: FxHashMap<Arc<str>, Vec<Arc<str>>>,
}

/// Returns the states of a system that are totals, with their components.
fn totals(system: &StateSystem) -> FxHashMap<Arc<str>, Vec<Arc<str>>> {
    let totals = system.states.iter().filter(|state| state.is_total());
    totals
        .map(|state| (state.name.clone(), state.total_of.clone()))
        .collect()
}

impl Before {
    /// Returns the state before an instant from the current point of a run.
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
            replaced: FxHashMap::default(),
            set_at: Vec::new(),
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

    /// Returns the state at the start of a run from values given by name, for the states of the system in the first modes.
    pub fn at_start(
        first: &StateSystem,
        modes: Vec<usize>,
        starts: FxHashMap<Arc<str>, f64>,
        discretes: Vec<f64>,
    ) -> Before {
        Before {
            began: modes.clone(),
            modes,
            replaced: starts,
            set_at: Vec::new(),
            known: None,
            old_discretes: discretes.clone(),
            discretes,
            ports: Vec::new(),
            held: Vec::new(),
            inputs_step: true,
            totals: totals(first),
        }
    }

    /// Returns the value of a state just before the instant. A total of other storage than before has no value under this name.
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
