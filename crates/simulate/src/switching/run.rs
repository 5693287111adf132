//! A run from event to event.

use crate::failure::{Failure, FailureKind};
use crate::inputs::signals::Corner;
use crate::plan::{Plan, Progress, Sink, Summary, plain};
use crate::reinitialisation::jump::impulse;
use crate::simulator::Part;
use crate::switching::balance::Balance;
use crate::switching::columns::Columns;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::instant::transition::{Happening, Instant};
use crate::switching::library::Library;
use crate::switching::setup::{Event, Finished, Switched};
use crate::switching::starts::{discrete_starts, equilibrium, no_equilibrium, parameter_values, starts};
use crate::switching::undetermined::{Seen, undetermined};
use crate::switching::watch::WatchedCondition;
use lgm_algebra::expr::SymbolId;
use lgm_model::switching::{Block, Target, Trigger};
use lgm_model::{Element, PortId};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// So many events in a row within [`SHORT`] of the run accumulate.
const MOST_AT_ONCE: usize = 1000;

/// In so many combinations of modes an equilibrium is looked for.
const MOST_RESTS: usize = 20;

/// A share of the run within which nothing real happens that often.
const SHORT: f64 = 1e-5;

/// A run on its way.
struct Course<'r> {
    setup: &'r Switched<'r>,
    library: Library<'r>,
    plan: &'r Plan,
    sink: &'r mut dyn Sink,
    progress: &'r dyn Progress,
    report: &'r mut dyn FnMut(Event),
    /// The events of this instant.
    happened: Vec<Event>,
    time: f64,
    /// The last instant whose steps of inputs are done.
    stepped: f64,
    row: usize,
    /// True for each `when` block whose condition holds.
    holding: Vec<bool>,
    /// The next instant of each `every` block, by its number.
    next: Vec<u64>,
    /// Times of the last events.
    recent: Vec<f64>,
    /// Elements that were looked at for loops.
    seen: Seen,
    summary: Summary,
    balance: Balance,
    /// The energy that sources have supplied by impulses at this instant.
    supplied: f64,
}

/// Runs a model with events; `report` receives each event.
pub fn run_switched(
    setup: &Switched<'_>,
    plan: &Plan,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    report: &mut dyn FnMut(Event),
) -> Result<Finished, Failure> {
    let tables = setup.tables;
    let library = Library::new(
        setup.events,
        setup.options,
        setup.parameters.clone(),
        tables,
        plan.start,
    );
    let blocks = setup.events.blocks();
    let mut course = Course {
        library,
        plan,
        sink,
        progress,
        report,
        happened: Vec::new(),
        time: plan.start,
        stepped: plan.start,
        row: 0,
        holding: vec![false; blocks.len()],
        next: blocks.iter().map(|block| first_number(block, plan.start)).collect(),
        recent: Vec::new(),
        seen: Seen::default(),
        summary: Summary::default(),
        balance: Balance::default(),
        supplied: 0.0,
        setup,
    };
    let standing = course.begin()?;
    course.go_on(standing)?;
    let met = course.library.met();
    let is_known = setup.events.watches_powers() && course.balance.rest().is_finite();
    Ok(Finished {
        balance: is_known.then_some(course.balance),
        summary: course.summary,
        met,
    })
}

/// The number of the first instant of a block that is not before a time.
fn first_number(block: &Block, start: f64) -> u64 {
    match block.trigger {
        Trigger::Every { period, first } => ((start - first) / period - 1e-9).ceil().max(0.0) as u64,
        _ => 0,
    }
}

/// The instant of a block by its number: counted, and never added up.
fn instant_of(block: &Block, number: u64) -> f64 {
    match block.trigger {
        Trigger::Every { period, first } => {
            let time = first + number as f64 * period;
            plain(time, time.abs().max(first.abs()))
        }
        _ => f64::INFINITY,
    }
}

impl Course<'_> {
    /// The start: the modes that agree with the starts, the blocks that run initially, and those of the first instant.
    fn begin(&mut self) -> Result<Standing, Failure> {
        let switching = &self.setup.events.model().switching;
        let modes = switching.first_modes();
        let starts = starts(self.setup, self.plan)?;
        let discretes = discrete_starts(self.setup);
        let mut standing = match self.plan.from_equilibrium {
            true => self.at_rest(modes, &starts, &discretes)?,
            false => self.settle(Before::at_start(modes, starts.clone(), discretes))?,
        };
        for (at, block) in self.setup.events.blocks().iter().enumerate() {
            if let Some(condition) = &standing.prepared.blocks[at] {
                self.holding[at] = standing.holds_now(condition);
            }
            if block.trigger == Trigger::Initially {
                standing = self.run_blocks(standing, &[at])?;
            }
        }
        let standing = self.happen(standing)?;
        let stays = standing.has_states(&starts);
        let lost = stays.then(|| standing.energy()).flatten();
        self.report_events(lost, lost);
        Ok(standing)
    }

    /// An equilibrium in modes that agree with it: where others follow, the equilibrium in these is looked at next.
    fn at_rest(
        &mut self,
        mut modes: Vec<usize>,
        starts: &FxHashMap<Arc<str>, f64>,
        discretes: &[f64],
    ) -> Result<Standing, Failure> {
        for _ in 0..MOST_RESTS {
            let Ok(prepared) = self.library.prepared(&modes) else {
                break;
            };
            let found = equilibrium(
                self.setup,
                self.plan,
                &prepared,
                (starts, discretes),
                &mut self.summary.notes,
            )?;
            let mut from = Before::at_start(modes.clone(), found, discretes.to_vec());
            // It is one for the inputs as they are.
            from.inputs_step = false;
            let standing = self.settle(from)?;
            if standing.prepared.modes == modes {
                return Ok(standing);
            }
            modes.clone_from(&standing.prepared.modes);
        }
        Err(no_equilibrium(self.plan.start, &self.library.words(&modes)))
    }

    fn settle(&mut self, from: Before) -> Result<Standing, Failure> {
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

    fn tell(&mut self, happening: &Happening) {
        let switching = &self.setup.events.model().switching;
        let event = match happening {
            Happening::Mode(element, from, to) => {
                let switched = &switching.elements[*element];
                let modes = &switched.modes;
                let element_kind = &*self.setup.events.model().elements[switched.element.index()].kind;
                Event {
                    time: self.time,
                    kind: if element_kind == Element::JUNCTION {
                        "junction"
                    } else {
                        "mode"
                    },
                    element: self.library.name(*element),
                    from: modes[*from].name.to_string(),
                    to: modes[*to].name.to_string(),
                    lost: Some(0.0),
                }
            }
            Happening::Block(at) => {
                let block = &switching.blocks[*at];
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
    fn report_events(&mut self, before: Option<f64>, after: Option<f64>) {
        let lost = before.zip(after).map(|(before, after)| before - after);
        if let Some(last) = self.happened.last_mut() {
            last.lost = lost;
        }
        for event in self.happened.drain(..) {
            (self.report)(event);
        }
    }

    /// A row where the run stands.
    fn event_row(&mut self, standing: &Standing) -> Result<(), Failure> {
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

    /// The steps of inputs where the run stands: the modes behind them are found together with the states that they move.
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

    /// Carries out all that happens where the run stands: steps of inputs, sampled blocks, `when` blocks whose condition has become true, and changes of modes, until
    /// nothing follows.
    fn happen(&mut self, standing: Standing) -> Result<Standing, Failure> {
        let mut standing = self.step_inputs(standing)?;
        let due: Vec<usize> = (0..self.next.len())
            .filter(|at| instant_of(&self.setup.events.blocks()[*at], self.next[*at]) <= self.time)
            .collect();
        for at in &due {
            self.next[*at] += 1;
        }
        if !due.is_empty() {
            standing = self.run_blocks(standing, &due)?;
        }
        for _ in 0..MOST_AT_ONCE {
            let became: Vec<usize> = (0..self.holding.len())
                .filter(|at| {
                    let condition = standing.prepared.blocks[*at].as_ref();
                    let holds = condition.is_some_and(|condition| standing.holds_now(condition));
                    !std::mem::replace(&mut self.holding[*at], holds) && holds
                })
                .collect();
            if became.is_empty() {
                let from = Before::of(&standing, standing.prepared.modes.clone());
                let modes = standing.prepared.modes.clone();
                standing = self.settle(from)?;
                if standing.prepared.modes == modes && !self.has_become(&standing) {
                    return Ok(standing);
                }
                continue;
            }
            standing = self.run_blocks(standing, &became)?;
            for at in became {
                let condition = standing.prepared.blocks[at].as_ref();
                self.holding[at] = condition.is_some_and(|condition| standing.holds_now(condition));
            }
        }
        Err(self.accumulation("blocks follow each other at one instant without end"))
    }

    /// Returns true if the condition of a block has become true.
    fn has_become(&self, standing: &Standing) -> bool {
        let blocks = standing.prepared.blocks.iter().zip(&self.holding);
        let mut found = blocks.filter_map(|(condition, held)| Some((condition.as_ref()?, held)));
        found.any(|(condition, held)| !held && standing.holds_now(condition))
    }

    /// Runs blocks in the order of the text, and then finds the modes.
    fn run_blocks(&mut self, standing: Standing, blocks: &[usize]) -> Result<Standing, Failure> {
        let mut from = Before::of(&standing, standing.prepared.modes.clone());
        let events = self.setup.events;
        let mut values = parameter_values(self.setup);
        let model = events.model();
        for (symbol, value) in events.held().zip(standing.read()) {
            values.insert(symbol, value);
        }
        values.insert(model.time, self.time);
        self.insert_inputs(&standing, &mut values);
        for at in blocks {
            for assignment in &events.blocks()[*at].assignments {
                let found = events
                    .exprs()
                    .evaluate_unchecked(&[assignment.value], &|symbol| values.get(&symbol).copied());
                let value = found[0];
                if !value.is_finite() {
                    let message = format!("an assignment at {} s has no finite value: {value}", self.time);
                    let diagnostic = Diagnostic::error(Code::LGM1014, message)
                        .label(assignment.span, "this has no value there")
                        .help("look for a division by zero or a root of a negative number, and write what holds there");
                    return Err(Failure::new(self.time, FailureKind::Events(Box::new(diagnostic))));
                }
                match assignment.target {
                    Target::Discrete(discrete) => {
                        from.discretes[discrete] = value;
                        values.insert(model.inputs[model.switching.discretes[discrete].input].symbol, value);
                    }
                    Target::Choice(symbol) => {
                        values.insert(symbol, value);
                    }
                    Target::State(symbol) => {
                        let integral = model.integrals.iter().find(|integral| integral.symbol == symbol);
                        let integral = integral.expect("invariant: a target is an integral of the model");
                        let name: Arc<str> = model.path_name(integral.path).into();
                        self.reset(&standing, &mut from, name, value, assignment.span)?;
                    }
                    Target::Storage(port) => {
                        let name = self.storage_name(port);
                        self.reset(&standing, &mut from, name, value, assignment.span)?;
                    }
                }
            }
            self.tell(&Happening::Block(*at));
        }
        self.settle(from)
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
        span: lgm_source::Span,
    ) -> Result<(), Failure> {
        if standing.prepared.state(&name).is_none() {
            let message = format!("`{name}` is no state at {} s, so that it cannot be set", self.time);
            let diagnostic = Diagnostic::error(Code::LGM1015, message)
                .label(span, "set here")
                .note(format!(
                    "in force there: {}",
                    self.library.words(&standing.prepared.modes)
                ))
                .help("in these modes it follows from other storage or from a source: set what it follows from");
            return Err(Failure::new(self.time, FailureKind::Events(Box::new(diagnostic))));
        }
        from.replaced.insert(name, value);
        Ok(())
    }

    fn insert_inputs(&self, standing: &Standing, values: &mut FxHashMap<SymbolId, f64>) {
        use crate::inputs::signals::{Side, Signals};
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

    /// From event to event, until the stop.
    fn go_on(&mut self, mut standing: Standing) -> Result<(), Failure> {
        let first = standing.energy();
        loop {
            let until = self.next_instant().min(self.plan.stop);
            let began = self.time;
            let end = self.part(&standing, until)?;
            (self.time, self.row) = (end.0, end.1);
            let arrived = self.arrived(&standing, began, &end.2)?;
            if self.time > began {
                self.see_loops((&standing, &arrived));
            }
            if self.row >= self.plan.points && self.time >= self.plan.stop {
                self.balance.stored = arrived.energy().unwrap_or(f64::NAN) - first.unwrap_or(f64::NAN);
                return Ok(());
            }
            self.mind_accumulation()?;
            standing = arrived;
            self.event_row(&standing)?;
            self.supplied = 0.0;
            let before = standing.energy();
            standing = self.happen(standing)?;
            let after = standing.energy();
            self.balance.supplied += self.supplied;
            self.balance.impulses += self.supplied;
            let lost = before.zip(after).map_or(f64::NAN, |(before, after)| before - after);
            self.balance.lost += lost + self.supplied;
            self.report_events(before, after);
            self.event_row(&standing)?;
        }
    }

    fn next_instant(&self) -> f64 {
        let blocks = self.setup.events.blocks().iter().zip(&self.next);
        let instants = blocks.map(|(block, number)| instant_of(block, *number));
        instants.fold(f64::INFINITY, f64::min)
    }

    /// The run where a part of it has ended with these states, before anything happens there.
    fn arrived(&mut self, standing: &Standing, began: f64, states: &[f64]) -> Result<Standing, Failure> {
        let mut from = Before::of(standing, standing.prepared.modes.clone());
        for (state, value) in standing.prepared.system.states.iter().zip(states) {
            from.replaced.insert(state.name.clone(), *value);
        }
        let mut instant = Instant {
            library: &mut self.library,
            plan: self.plan,
            time: self.time,
            piece: (began, self.time),
            happened: Vec::new(),
            supplied: 0.0,
        };
        instant.enter(&from, standing.prepared.clone(), &[])
    }

    /// Warns once of ideal elements in a loop.
    fn see_loops(&mut self, ends: (&Standing, &Standing)) {
        let is_known = self.summary.notes.iter().any(|note| note.code == Code::LGM1026);
        if !is_known && let Some(warning) = undetermined(&mut self.library, ends, &mut self.seen) {
            self.summary.notes.push(warning);
        }
    }

    /// One part of the run; the time, the next row and the states at its end.
    fn part(&mut self, standing: &Standing, until: f64) -> Result<(f64, usize, Vec<f64>), Failure> {
        let prepared: Rc<_> = standing.prepared.clone();
        let signals = prepared.held(self.time, &standing.discretes);
        let changes = prepared.changes.iter().flatten().map(|change| WatchedCondition {
            condition: change.condition.clone(),
            is_edge: false,
            held: false,
        });
        let blocks = prepared
            .blocks
            .iter()
            .zip(&self.holding)
            .filter_map(|(condition, held)| {
                Some(WatchedCondition {
                    condition: condition.clone()?,
                    is_edge: true,
                    held: *held,
                })
            });
        let part = Part {
            time: self.time,
            states: standing.states.clone(),
            until,
            is_event: self.next_instant() <= until,
            row: self.row,
            corners: &prepared.margin_corners,
            moving: &prepared.moving,
            margins: (&prepared.margins, standing.least.clone()),
            conditions: changes.chain(blocks).collect(),
            scales: prepared.scales.take(),
            powers: prepared.powers.as_ref(),
        };
        let motion = prepared.motion(&self.setup.parameters, &signals, self.plan)?;
        let mut columns = Columns::new(&mut *self.sink, self.setup.first.0, &prepared, &motion);
        let simulator = prepared.simulator();
        let parameters = &self.setup.parameters[..];
        let end = simulator.run_part((parameters, &signals), self.plan, part, &mut columns, self.progress)?;
        prepared.scales.replace(Some(end.scales));
        let watched = prepared.blocks.iter().zip(&mut self.holding);
        let watched = watched.filter_map(|(condition, holding)| condition.as_ref().map(|_| holding));
        for (holding, held) in watched.zip(end.held) {
            *holding = held;
        }
        self.add(&end.summary);
        self.balance.add(&end.energies);
        Ok((end.time, end.row, end.states))
    }

    fn add(&mut self, part: &Summary) {
        let all = &mut self.summary;
        all.method = part.method;
        all.stiff_from = part.stiff_from;
        all.steps += part.steps;
        all.rejected += part.rejected;
        all.evaluations += part.evaluations;
        all.jacobians += part.jacobians;
        all.factorisations += part.factorisations;
        all.restarts += part.restarts + 1;
        for note in &part.notes {
            if !all.notes.iter().any(|known| known.code == note.code) {
                all.notes.push(note.clone());
            }
        }
    }

    /// Ends a run whose events accumulate.
    fn mind_accumulation(&mut self) -> Result<(), Failure> {
        self.recent.push(self.time);
        if self.recent.len() > MOST_AT_ONCE {
            let first = self.recent.remove(0);
            if self.time - first < SHORT * (self.plan.stop - self.plan.start) {
                return Err(self.accumulation("events accumulate"));
            }
        }
        Ok(())
    }

    fn accumulation(&self, what: &str) -> Failure {
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
