//! The combinations encountered in a run; the equations of each are derived once and stored.

use crate::inputs::given::Signal;
use crate::inputs::history::History;
use crate::switching::prepared::{Prepared, Sizes};
use lgm_equations::Options;
use lgm_equations::switching::Events;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The equations of a combination, or the diagnostics that replace them.
type Known = Result<Rc<Prepared>, Arc<Vec<Diagnostic>>>;

/// The combinations of a model's modes.
pub(crate) struct Combinations<'l> {
    pub events: &'l Events,
    options: &'l Options,
    pub parameters: Vec<f64>,
    tables: &'l [Option<Signal>],
    whole: (f64, f64),
    known: FxHashMap<Vec<usize>, Known>,
    sizes: Sizes,
    impulses: Sizes,
    /// The histories of delayed signals, shared by all combinations.
    pub histories: Vec<Arc<History>>,
}

impl<'l> Combinations<'l> {
    pub fn new(
        events: &'l Events,
        options: &'l Options,
        parameters: Vec<f64>,
        tables: &'l [Option<Signal>],
        whole: (f64, f64),
        histories: Vec<Arc<History>>,
    ) -> Combinations<'l> {
        Combinations {
            histories,
            events,
            options,
            parameters,
            tables,
            whole,
            known: FxHashMap::default(),
            sizes: Sizes::default(),
            impulses: Sizes::default(),
        }
    }

    /// Returns the equations of a combination.
    pub fn prepared(&mut self, modes: &[usize]) -> Known {
        if let Some(known) = self.known.get(modes) {
            return known.clone();
        }
        let discretes: Vec<usize> = (self.events.model().switching.discretes.iter())
            .map(|discrete| discrete.input)
            .collect();
        let found = self.events.formulate(modes, self.options).map(|made| {
            Rc::new(Prepared::new(
                modes.to_vec(),
                &made,
                &discretes,
                (self.sizes.clone(), self.impulses.clone()),
                self.histories.clone(),
                (&self.parameters[..], self.tables, self.whole),
            ))
        });
        self.known.insert(modes.to_vec(), found.clone());
        found
    }

    /// Returns the encountered combinations that have equations, in order.
    pub fn met(&self) -> Vec<Vec<usize>> {
        let mut met: Vec<Vec<usize>> = self
            .known
            .iter()
            .filter(|known| known.1.is_ok())
            .map(|known| known.0.clone())
            .collect();
        met.sort();
        met
    }

    /// Returns the diagnostics of an encountered combination without equations.
    pub fn fault_of(&self, modes: &[usize]) -> Option<Arc<Vec<Diagnostic>>> {
        self.known.get(modes)?.as_ref().err().cloned()
    }

    /// Returns the number of modes of an element.
    pub fn mode_count(&self, element: usize) -> usize {
        self.events.model().switching.elements[element].modes.len()
    }

    /// Returns true if an element may be tried in another mode without a condition, because it always leaves a wrong mode.
    pub fn is_free(&self, element: usize, from: usize, to: usize) -> bool {
        let changes = &self.events.model().switching.elements[element].modes[from].changes;
        changes.iter().any(|change| change.to == to && change.is_free)
    }

    /// Returns the name of an element with modes.
    pub fn name(&self, at: usize) -> String {
        let model = self.events.model();
        model.element_name(model.switching.elements[at].element)
    }

    /// Describes a combination: `d1 conducting, d2 blocking`.
    pub fn words(&self, modes: &[usize]) -> String {
        let elements = self.events.model().switching.elements.iter().zip(modes).enumerate();
        let words = elements.map(|(at, (element, mode))| format!("{} {}", self.name(at), element.modes[*mode].name));
        words.collect::<Vec<_>>().join(", ")
    }
}
