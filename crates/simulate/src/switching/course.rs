//! A run with events in progress: the data that it keeps from event to event, and its reports.

use crate::failure::{Failure, FailureKind};
use crate::plan::{Plan, Progress, Sink, Summary};
use crate::run::balance::Balance;
use crate::run::output_errors::OutputErrors;
use crate::switching::columns::Columns;
use crate::switching::delays::histories;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::instant::transition::Instant;
use crate::switching::library::Combinations;
use crate::switching::setup::{Event, Switched};
use crate::switching::undetermined::Seen;
use lgm_model::Element;
use lgm_model::switching::{EventBlock, Trigger};
use lgm_runtime::events::blocks::NO_TIME;
use lgm_runtime::events::cause::{Happening, MOST_AT_ONCE};
use lgm_runtime::events::enter::COUNTS;
use lgm_runtime::events::tables;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Returns the times at which a block runs.
pub(super) fn trigger(block: &EventBlock) -> tables::Trigger {
    match block.trigger {
        Trigger::Becomes(_) => tables::Trigger::When,
        Trigger::Initially => tables::Trigger::Initially,
        Trigger::Every { period, first } => tables::Trigger::Every { period, first },
    }
}

/// A run in progress.
pub(super) struct Course<'r> {
    pub(super) setup: &'r Switched<'r>,
    pub(super) library: Combinations<'r>,
    pub(super) plan: &'r Plan,
    pub(super) sink: &'r mut dyn Sink,
    pub(super) progress: &'r dyn Progress,
    pub(super) report: &'r mut dyn FnMut(Event),
    /// The events of this instant.
    pub(super) happened: Vec<Event>,
    pub(super) time: f64,
    /// The latest instant at which the input steps have been applied.
    pub(super) stepped: f64,
    pub(super) row: usize,
    /// True for each `when` block whose condition holds.
    pub(super) holding: Vec<bool>,
    /// The number of the next instant of each `every` block.
    pub(super) next: Vec<u64>,
    /// Times of the last events, and the last event.
    recent: Vec<f64>,
    latest: Option<Happening>,
    /// The elements already checked for loops.
    pub(super) seen: Seen,
    pub(super) summary: Summary,
    pub(super) output_errors: OutputErrors,
    pub(super) balance: Balance,
    /// The energy supplied by impulses of sources at this instant.
    pub(super) supplied: f64,
}

impl<'r> Course<'r> {
    /// Creates a run before its start; `report` receives each event.
    pub(super) fn new(
        setup: &'r Switched<'r>,
        plan: &'r Plan,
        sink: &'r mut dyn Sink,
        (progress, report): (&'r dyn Progress, &'r mut dyn FnMut(Event)),
    ) -> Course<'r> {
        let (parameters, blocks) = (setup.parameters.clone(), setup.events.blocks());
        let first_number = |block: &EventBlock| trigger(block).first_number(plan.start) as u64;
        Course {
            library: Combinations::new(
                setup.events,
                setup.options,
                parameters,
                setup.tables,
                (plan.start, plan.stop),
                histories(setup),
            ),
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
            latest: None,
            seen: Seen::default(),
            summary: Summary::default(),
            output_errors: OutputErrors::new(plan.points, setup.first.0.outputs.len()),
            balance: Balance::default(),
            supplied: 0.0,
            setup,
        }
    }

    /// Returns the current instant, with the piece of the run in which inputs are evaluated.
    pub(super) fn instant(&mut self, piece: (f64, f64)) -> Instant<'_, 'r> {
        Instant {
            library: &mut self.library,
            plan: self.plan,
            time: self.time,
            piece,
            happened: Vec::new(),
            supplied: 0.0,
        }
    }

    /// Finds the modes after this instant, and the states in them.
    pub(super) fn settle(&mut self, from: Before) -> Result<Standing, Failure> {
        let mut instant = self.instant((self.time, f64::INFINITY));
        let standing = instant.settle(from);
        let (supplied, happened) = (instant.supplied, instant.happened);
        self.supplied += supplied;
        for happening in happened {
            self.tell(&happening);
        }
        standing
    }

    pub(super) fn tell(&mut self, happening: &Happening) {
        self.latest = Some(*happening);
        let switching = &self.setup.events.model().switching;
        let event = match *happening {
            Happening::Mode { element, from, to } => {
                let switched = &switching.elements[element];
                let modes = &switched.modes;
                let element_kind = &*self.setup.events.model().graph.elements[switched.element.index()].kind;
                let kind = match element_kind == Element::JUNCTION {
                    true => "junction",
                    false => "mode",
                };
                Event {
                    from: modes[from].name.to_string(),
                    to: modes[to].name.to_string(),
                    ..Event::at(self.time, kind, self.library.name(element))
                }
            }
            Happening::Block(at) => {
                let block = &switching.blocks[at];
                let kind = match block.trigger {
                    Trigger::Every { .. } => "every",
                    _ => "when",
                };
                let model = self.setup.events.model();
                let element = model.block_name(block, (self.setup.line)(block.span));
                Event::at(self.time, kind, element)
            }
        };
        self.happened.push(event);
    }

    /// Returns the energy lost at this instant, before and after which storage has these energies.
    pub(super) fn lost(&self, (before, after): (f64, f64)) -> f64 {
        match before - after + self.supplied {
            lost if lost.abs() <= COUNTS * before.max(after) => 0.0,
            lost => lost,
        }
    }

    /// Reports the events of this instant, with the energy lost in them.
    pub(super) fn report_events(&mut self, lost: Option<f64>) {
        if let Some(lost) = lost {
            self.balance.supplied += self.supplied;
            self.balance.lost += lost;
        }
        if let Some(last) = self.happened.last_mut() {
            last.lost = lost;
        }
        for event in self.happened.drain(..) {
            (self.report)(event);
        }
    }

    /// Writes a row at the current point of the run: before its events if `before` contains the beginning of the part that ends here.
    pub(super) fn event_row(&mut self, standing: &Standing, before: Option<f64>) -> Result<(), Failure> {
        if !self.plan.events && !self.sink.wants_events() {
            return Ok(());
        }
        let prepared = standing.prepared.clone();
        let signals = prepared.held(self.time, &standing.discretes);
        let motion = prepared.motion(&self.setup.parameters, &signals, self.plan)?;
        if let Some(began) = before.filter(|_| !prepared.histories.is_empty()) {
            motion.set_piece(began, self.time);
        }
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
        let shown = self.plan.shown(self.row, self.time);
        let written = columns.row(shown, &outputs, &standing.states);
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
            "{what} at {} s: more than {MOST_AT_ONCE} of them in almost no time",
            self.time
        );
        let mut diagnostic = Diagnostic::error(Code::LGM1014, message);
        let model = self.setup.events.model();
        let latest = self.latest.map(|latest| match latest {
            Happening::Block(at) => (model.switching.blocks[at].span, "this block runs again and again"),
            Happening::Mode { element, .. } => {
                let element = model.switching.elements[element].element;
                (
                    model.element_span(element),
                    "this element changes its mode again and again",
                )
            }
        });
        if let Some((span, words)) = latest {
            diagnostic = diagnostic.label(span, words);
        }
        let diagnostic = diagnostic.help(
            "add a mode for the final state, such as `touch` in `Wall`, or hysteresis, as `Relay` and `Hysteresis` do",
        );
        Failure::new(self.time, FailureKind::Events(Box::new(diagnostic)))
    }
}
