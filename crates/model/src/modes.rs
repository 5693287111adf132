//! A model in another combination of modes.

use crate::switching::{DelayedInput, ModeInForce, SystemEvents};
use crate::{Input, Law, Model, Output, Scale};

impl Model {
    /// Returns the laws of all elements, and those of all modes of elements that switch, mutably.
    pub fn laws_mut(&mut self) -> impl Iterator<Item = &mut Law> {
        let modes = self
            .switching
            .elements
            .iter_mut()
            .flat_map(|switched| &mut switched.modes);
        let elements = self.graph.elements.iter_mut().map(|element| &mut element.law);
        elements.chain(modes.map(|mode| &mut mode.law))
    }

    /// Returns the same model with zero initial values; a run in progress has its own states.
    pub fn without_starts(mut self) -> Model {
        for element in &mut self.graph.elements {
            element.start.clear();
        }
        for integral in &mut self.integrals {
            integral.start = None;
        }
        self.start_conditions.clear();
        self
    }

    /// Returns the model in a combination of modes, one for each element with modes.
    pub fn in_modes(&self, modes: &[usize]) -> Model {
        let mut model = self.clone();
        for (switched, mode) in self.switching.elements.iter().zip(modes) {
            let law = switched.modes[*mode].law.clone();
            model.graph.elements[switched.element.index()].law = law;
        }
        for (switched, mode) in model.switching.elements.iter_mut().zip(modes) {
            switched.first = *mode;
        }
        model
    }

    /// Makes the discrete variables inputs like those that are declared, for an analysis of the equations between events.
    ///
    /// They follow the declared inputs directly, so that these still precede the internal ones.
    pub fn open_discretes(&mut self) {
        for discrete in &self.switching.discretes {
            self.inputs[discrete.input].is_internal = false;
        }
        let is_in_front = self.inputs.is_sorted_by_key(|input| input.is_internal);
        assert!(
            is_in_front,
            "invariant: declared inputs and discrete variables are the first inputs"
        );
    }
}

impl Model {
    /// Adds the inputs of the delayed signals, after all others.
    pub fn add_delays(&mut self) {
        for delay in &mut self.switching.delays {
            delay.input = self.inputs.len();
            self.inputs.push(Input {
                name: delay.name.clone(),
                symbol: delay.symbol,
                signal: None,
                unit: delay.unit.clone(),
                scale: Scale::SI,
                span: delay.span,
                is_internal: true,
            });
        }
    }

    /// Adds outputs with the values before the delays, for an analysis that closes the delays itself.
    pub fn open_delays(&mut self) {
        for delay in &mut self.switching.delays {
            let name: std::sync::Arc<str> = format!("before {}", delay.name).into();
            delay.output = Some(name.clone());
            self.outputs.push(Output {
                written: name.clone(),
                name,
                value: delay.value,
                unit: delay.unit.clone(),
                span: delay.span,
            });
        }
    }
}

impl SystemEvents {
    /// Returns the events of a model in the current modes of its elements.
    pub fn of(model: &Model) -> SystemEvents {
        let modes = model.switching.elements.iter().map(|switched| ModeInForce {
            element: model.element_name(switched.element).into(),
            mode: switched.modes[switched.first].name.clone(),
            all: switched.modes.iter().map(|mode| mode.name.clone()).collect(),
        });
        SystemEvents {
            modes: modes.collect(),
            discretes: model
                .switching
                .discretes
                .iter()
                .map(|discrete| discrete.name.clone())
                .collect(),
            delays: (model.switching.delays.iter())
                .map(|delay| DelayedInput {
                    symbol: delay.symbol,
                    seconds: delay.time.1,
                    output: delay.output.clone(),
                })
                .collect(),
            happen: !model.switching.is_empty(),
        }
    }
}
