//! The events at one instant, in the order given by the runtime: steps of inputs, sampled blocks, `when` blocks with
//! conditions that have become true, and changes of modes.

use crate::failure::{Failure, FailureKind};
use crate::inputs::signals::{Corner, Side, Signals};
use crate::reinitialisation::jump::impulse;
use crate::switching::course::{Course, trigger};
use crate::switching::instant::faults::cannot_be_set;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::starts::parameter_values;
use lgm_algebra::expr::SymbolId;
use lgm_model::PortId;
use lgm_model::switching::Target;
use lgm_runtime::events::cause::Happening;
use lgm_runtime::events::search::{Follow, follow};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::mem::replace;
use std::sync::Arc;

/// A run at an instant.
struct Here<'h, 'r> {
    course: &'h mut Course<'r>,
    standing: Standing,
    /// The blocks that run next.
    marked: Vec<usize>,
}

impl Here<'_, '_> {
    /// Returns true if the condition of a block holds, or has held and is not left yet.
    fn keeps(&self, block: usize, held: bool) -> bool {
        let condition = self.standing.prepared.blocks[block].as_ref();
        condition.is_some_and(|condition| self.standing.keeps(condition, held))
    }
}

impl Follow for Here<'_, '_> {
    type Fault = Failure;

    fn mark_due(&mut self) -> bool {
        let blocks = self.course.setup.events.blocks();
        for (at, number) in self.course.next.iter_mut().enumerate() {
            if trigger(&blocks[at]).instant(*number as f64) <= self.course.time {
                *number += 1;
                self.marked.push(at);
            }
        }
        !self.marked.is_empty()
    }

    fn mark_became(&mut self) -> bool {
        self.marked.clear();
        for at in 0..self.course.holding.len() {
            let holds = self.keeps(at, self.course.holding[at]);
            if !replace(&mut self.course.holding[at], holds) && holds {
                self.marked.push(at);
            }
        }
        !self.marked.is_empty()
    }

    fn has_become(&self) -> bool {
        let mut holding = self.course.holding.iter().enumerate();
        holding.any(|(at, holding)| !holding && self.keeps(at, false))
    }

    fn run_marked(&mut self) -> Result<(), Failure> {
        self.standing = self.course.run_blocks(&self.standing, &self.marked)?;
        Ok(())
    }

    fn hold_marked(&mut self) {
        for at in &self.marked {
            let condition = self.standing.prepared.blocks[*at].as_ref();
            self.course.holding[*at] = condition.is_some_and(|condition| self.standing.holds_after_run(condition));
        }
    }

    fn change_modes(&mut self) -> Result<bool, Failure> {
        let modes = self.standing.prepared.modes.clone();
        self.standing = self.course.settle(Before::of(&self.standing, modes.clone()))?;
        Ok(self.standing.prepared.modes != modes)
    }

    fn endless(&mut self) -> Failure {
        self.course
            .accumulation("blocks trigger each other endlessly at one instant")
    }
}

impl Course<'_> {
    /// Performs all events at the current point of the run, until no event follows.
    pub(super) fn happen(&mut self, standing: Standing) -> Result<Standing, Failure> {
        let standing = self.step_inputs(standing)?;
        let mut here = Here {
            course: self,
            standing,
            marked: Vec::new(),
        };
        follow(&mut here)?;
        Ok(here.standing)
    }

    /// Applies the steps of inputs at the current point of the run: the modes after them are found together with the resulting states.
    fn step_inputs(&mut self, standing: Standing) -> Result<Standing, Failure> {
        if self.time <= self.stepped {
            return Ok(standing);
        }
        self.stepped = self.time;
        let steps = standing.prepared.inputs.steps(self.time);
        if steps.is_empty() {
            return Ok(standing);
        }
        let mut from = Before::of(&standing, standing.prepared.modes.clone());
        from.inputs_step = true;
        let standing = self.settle(from)?;
        let prepared = standing.prepared.clone();
        let signals = prepared.held(self.time, &standing.discretes);
        let motion = prepared.motion(&self.setup.parameters, &signals, self.plan)?;
        motion.set_piece(self.time, f64::INFINITY);
        let corner = Corner { time: self.time, steps };
        if let Some(note) = impulse(&motion, &prepared.traits.rates_read, &corner, &standing.states)
            && !self.summary.notes.iter().any(|known| known.code == note.code)
        {
            self.summary.notes.push(note);
        }
        Ok(standing)
    }

    /// Runs blocks in source order, and then finds the modes.
    pub(super) fn run_blocks(&mut self, standing: &Standing, blocks: &[usize]) -> Result<Standing, Failure> {
        let mut from = Before::of(standing, standing.prepared.modes.clone());
        let events = self.setup.events;
        let mut values = parameter_values(self.setup);
        let model = events.model();
        for (symbol, value) in events.held().zip(standing.read()) {
            values.insert(symbol, value);
        }
        self.insert_inputs(standing, &mut values);
        for at in blocks {
            // A sampled block reads the time of its own instant.
            let instant = trigger(&events.blocks()[*at]).instant(self.next[*at] as f64 - 1.0);
            values.insert(model.time, self.time.min(instant));
            for assignment in &events.blocks()[*at].assignments {
                let found = events
                    .exprs()
                    .evaluate_unchecked(&[assignment.value], &|symbol| values.get(&symbol).copied());
                let value = found[0];
                if !value.is_finite() {
                    let message = format!("an assignment at {} s has no finite value: {value}", self.time);
                    let diagnostic = Diagnostic::error(Code::LGM1014, message)
                        .label(assignment.span, "this has no value there")
                        .help(
                            "check for a division by zero or a root of a negative number, and define the value there",
                        );
                    return Err(Failure::new(self.time, FailureKind::Events(Box::new(diagnostic))));
                }
                match assignment.target {
                    Target::Discrete(discrete) => {
                        from.discretes[discrete] = value;
                        values.insert(model.inputs[model.switching.discretes[discrete].input].symbol, value);
                    }
                    Target::Temporary(symbol) => {
                        values.insert(symbol, value);
                    }
                    Target::State(symbol) => {
                        let integral = model.integrals.iter().find(|integral| integral.symbol == symbol);
                        let integral = integral.expect("invariant: a target is an integral of the model");
                        let name: Arc<str> = model.path_name(integral.path).into();
                        self.reset(standing, &mut from, name, value, assignment.span)?;
                    }
                    Target::Storage(port) => {
                        let name = self.storage_name(port);
                        self.reset(standing, &mut from, name, value, assignment.span)?;
                    }
                }
            }
            self.tell(&Happening::Block(*at));
        }
        self.follow_sets(&mut from, standing);
        self.settle(from)
    }

    /// Gives ports the values that follow from the storage set by blocks: a switch that closes at the same instant connects the set values.
    fn follow_sets(&mut self, from: &mut Before, standing: &Standing) {
        if from.set_at.is_empty() {
            return;
        }
        let mut set = from.clone();
        set.discretes.clone_from(&set.old_discretes);
        let mut instant = self.instant((self.time, f64::INFINITY));
        // Modes that contradict the set values give way, and their ports keep the previous ones.
        if let Ok(set) = instant.enter(&set, standing.prepared.clone(), &[]) {
            from.ports = Before::of(&set, Vec::new()).ports;
        }
    }

    fn storage_name(&self, port: PortId) -> Arc<str> {
        self.setup.events.storage_name(port, self.setup.options)
    }

    fn reset(
        &self,
        standing: &Standing,
        from: &mut Before,
        name: Arc<str>,
        value: f64,
        span: Span,
    ) -> Result<(), Failure> {
        let prepared = &standing.prepared;
        let value_before = prepared.named(&name, &standing.states, &standing.watched);
        if value_before.is_none() {
            let diagnostic = cannot_be_set(self.time, &name, span).note(format!(
                "active there: {}",
                self.library.words(&standing.prepared.modes)
            ));
            return Err(Failure::new(self.time, FailureKind::Events(Box::new(diagnostic))));
        }
        from.replaced.insert(name.clone(), value);
        from.set_at.push((name, span));
        Ok(())
    }

    fn insert_inputs(&self, standing: &Standing, values: &mut FxHashMap<SymbolId, f64>) {
        let prepared = &standing.prepared;
        let count = prepared.inputs.count();
        let (mut inputs, mut rates) = (vec![0.0; count], vec![0.0; count]);
        prepared.inputs.values(self.time, Side::After, &mut inputs, &mut rates);
        for (input, discrete) in prepared.discretes.iter().zip(&standing.discretes) {
            inputs[*input] = *discrete;
        }
        let symbols = prepared.system.inputs.iter().map(|input| input.symbol);
        values.extend(symbols.zip(inputs));
    }
}
