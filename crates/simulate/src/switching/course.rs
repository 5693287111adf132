//! A run with events on its way: what it keeps from event to event, and what it says of them.

use crate::failure::{Failure, FailureKind};
use crate::plan::{Plan, Progress, Sink, Summary};
use crate::switching::balance::Balance;
use crate::switching::columns::Columns;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::instant::transition::Instant;
use crate::switching::library::Library;
use crate::switching::setup::{Event, Switched};
use crate::switching::undetermined::Seen;
use lgm_model::Element;
use lgm_model::switching::{Block, Trigger};
use lgm_runtime::events::blocks::NO_TIME;
use lgm_runtime::events::cause::{Happening, MOST_AT_ONCE};
use lgm_runtime::events::tables;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// The times at which a block runs.
pub(super) fn trigger(block: &Block) -> tables::Trigger {
    match block.trigger {
        Trigger::Becomes(_) => tables::Trigger::When,
        Trigger::Initially => tables::Trigger::Initially,
        Trigger::Every { period, first } => tables::Trigger::Every { period, first },
    }
}

/// A run on its way.
pub(super) struct Course<'r> {
    pub(super) setup: &'r Switched<'r>,
    pub(super) library: Library<'r>,
    pub(super) plan: &'r Plan,
    pub(super) sink: &'r mut dyn Sink,
    pub(super) progress: &'r dyn Progress,
    pub(super) report: &'r mut dyn FnMut(Event),
    /// The events of this instant.
    pub(super) happened: Vec<Event>,
    pub(super) time: f64,
    /// The last instant whose steps of inputs are done.
    pub(super) stepped: f64,
    pub(super) row: usize,
    /// True for each `when` block whose condition holds.
    pub(super) holding: Vec<bool>,
    /// The next instant of each `every` block, by its number.
    pub(super) next: Vec<u64>,
    /// Times of the last events.
    recent: Vec<f64>,
    /// Elements that were looked at for loops.
    pub(super) seen: Seen,
    pub(super) summary: Summary,
    pub(super) balance: Balance,
    /// The energy that sources have supplied by impulses at this instant.
    pub(super) supplied: f64,
}

impl<'r> Course<'r> {
    /// A run before its start; `report` receives each event.
    pub(super) fn new(
        setup: &'r Switched<'r>,
        plan: &'r Plan,
        sink: &'r mut dyn Sink,
        (progress, report): (&'r dyn Progress, &'r mut dyn FnMut(Event)),
    ) -> Course<'r> {
        let (parameters, blocks) = (setup.parameters.clone(), setup.events.blocks());
        let first_number = |block: &Block| trigger(block).first_number(plan.start) as u64;
        Course {
            library: Library::new(setup.events, setup.options, parameters, setup.tables, plan.start),
            plan,
            sink,
            progress,
            report,
            happened: Vec::new(),
            time: plan.start,
            stepped: plan.start,
            row: 0,
            holding: vec![false; blocks.len()],
            next: blocks.iter().map(first_number).collect(),
            recent: Vec::new(),
            seen: Seen::default(),
            summary: Summary::default(),
            balance: Balance::default(),
            supplied: 0.0,
            setup,
        }
    }

    /// Finds the modes behind this instant, and the states there.
    pub(super) fn settle(&mut self, from: Before) -> Result<Standing, Failure> {
        let mut instant = Instant {
            library: &mut self.library,
            plan: self.plan,
            time: self.time,
            piece: (self.time, f64::INFINITY),
            happened: Vec::new(),
            supplied: 0.0,
        };
        let standing = instant.settle(from);
        self.supplied += instant.supplied;
        let happened = instant.happened;
        for happening in happened {
            self.tell(&happening);
        }
        standing
    }

    pub(super) fn tell(&mut self, happening: &Happening) {
        let switching = &self.setup.events.model().switching;
        let event = match *happening {
            Happening::Mode { element, from, to } => {
                let switched = &switching.elements[element];
                let modes = &switched.modes;
                let element_kind = &*self.setup.events.model().graph.elements[switched.element.index()].kind;
                Event {
                    time: self.time,
                    kind: if element_kind == Element::JUNCTION {
                        "junction"
                    } else {
                        "mode"
                    },
                    element: self.library.name(element),
                    from: modes[from].name.to_string(),
                    to: modes[to].name.to_string(),
                    lost: Some(0.0),
                }
            }
            Happening::Block(at) => {
                let block = &switching.blocks[at];
                let kind = match block.trigger {
                    Trigger::Every { .. } => "every",
                    _ => "when",
                };
                Event {
                    time: self.time,
                    kind,
                    element: format!("{kind}:{}", (self.setup.line)(block.span)),
                    from: String::new(),
                    to: String::new(),
                    lost: Some(0.0),
                }
            }
        };
        self.happened.push(event);
    }

    /// Reports the events of this instant, with the energy that storage has lost in them.
    pub(super) fn report_events(&mut self, before: Option<f64>, after: Option<f64>) {
        let lost = before.zip(after).map(|(before, after)| before - after);
        if let Some(last) = self.happened.last_mut() {
            last.lost = lost;
        }
        for event in self.happened.drain(..) {
            (self.report)(event);
        }
    }

    /// A row where the run stands.
    pub(super) fn event_row(&mut self, standing: &Standing) -> Result<(), Failure> {
        if !self.plan.events && !self.sink.wants_events() {
            return Ok(());
        }
        let prepared = standing.prepared.clone();
        let signals = prepared.held(self.time, &standing.discretes);
        let motion = prepared.motion(&self.setup.parameters, &signals, self.plan)?;
        let mut outputs = vec![0.0; prepared.system.outputs.len()];
        if !motion.outputs(self.time, &standing.states, &mut outputs)
            && let Some(fault) = motion.fault()
        {
            return Err(motion.failure(&fault, self.summary.steps));
        }
        let mut columns = Columns::new(&mut *self.sink, self.setup.first.0, &prepared, &motion);
        if !self.plan.events {
            columns.beside(self.time, &outputs, &standing.states);
            return Ok(());
        }
        let written = columns.row(self.time, &outputs, &standing.states);
        written.map_err(|stop| Failure::new(self.time, FailureKind::Stopped(stop)))
    }

    pub(super) fn next_instant(&self) -> f64 {
        let blocks = self.setup.events.blocks().iter().zip(&self.next);
        let instants = blocks.map(|(block, number)| trigger(block).instant(*number as f64));
        instants.fold(f64::INFINITY, f64::min)
    }

    /// Ends a run whose events accumulate.
    pub(super) fn mind_accumulation(&mut self) -> Result<(), Failure> {
        self.recent.push(self.time);
        if self.recent.len() > MOST_AT_ONCE {
            let first = self.recent.remove(0);
            if self.time - first < NO_TIME * (self.plan.stop - self.plan.start) {
                return Err(self.accumulation("events accumulate"));
            }
        }
        Ok(())
    }

    pub(super) fn accumulation(&self, what: &str) -> Failure {
        let message = format!(
            "{what} at {} s: more than {MOST_AT_ONCE} of them in next to no time",
            self.time
        );
        let diagnostic = Diagnostic::error(Code::LGM1014, message).help(
            "give the mode that would hold there a condition that keeps it, as `Wall` has `touch`, or a condition a hysteresis",
        );
        Failure::new(self.time, FailureKind::Events(Box::new(diagnostic)))
    }
}
