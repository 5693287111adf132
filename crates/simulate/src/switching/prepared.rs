//! The equations of a combination of modes, prepared for a run.

use crate::failure::Failure;
use crate::inputs::expressions::Inputs;
use crate::inputs::given::Signal;
use crate::inputs::history::History;
use crate::inputs::signals::{Side, Signals};
use crate::motion::scales::Scales;
use crate::motion::{Motion, symbols_behind};
use crate::plan::Plan;
use crate::run::balance::Powers;
use crate::simulator::{Simulator, Traits};
use crate::switching::held::{Held, HeldInput};
use crate::zero_crossings::instants::Instants;
use lgm_algebra::expr::{ExprId, Relation};
use lgm_equations::switching::{Combination, Condition, InModes, Inside, WatchedChange};
use lgm_kernels::{Corners, Kernel, KernelOptions, Kernels, Layout, Signs, expression, longest_step};
use lgm_model::system::StateSystem;
use lgm_runtime::events::enter::{COUNTS, MOVED};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A combination of modes, ready to run.
pub(crate) struct Prepared {
    pub modes: Vec<usize>,
    pub combination: Arc<Combination>,
    pub system: StateSystem,
    pub kernels: Kernels,
    pub inputs: Inputs,
    pub traits: Arc<Traits>,
    /// The values of all watched outputs, starting with [`Combination::shown`], as expressions and as a kernel.
    watched_values: Vec<ExprId>,
    pub watched: Kernel,
    /// The margins of conditions, and their output indices.
    pub margins: Kernel,
    margin_outputs: Vec<usize>,
    /// The margins that depend only on time, parameters and discrete variables, and such terms in the other margins.
    pub instants: Instants,
    pub margin_corners: Corners,
    /// The longest allowed step; no step passes any of these instants.
    pub longest: f64,
    pub looks: Vec<f64>,
    /// The changes and the blocks of the combination, with margins by index in `margins`.
    pub changes: Vec<Vec<WatchedChange>>,
    pub blocks: Vec<Option<Condition>>,
    /// For each input, true if its step causes an impulse or a jump of states.
    pub moving: Vec<bool>,
    /// The inputs of the offsets, and of discrete variables.
    pub offsets: Vec<usize>,
    pub discretes: Vec<usize>,
    /// The values before delays, and their histories.
    pub delayed: Kernel,
    pub histories: Vec<Arc<History>>,
    states: FxHashMap<Arc<str>, usize>,
    storage: FxHashMap<Arc<str>, usize>,
    /// The scales of the states, after a part of a run has found them.
    pub scales: RefCell<Option<Scales>>,
    /// The number of phases, which the kernel of margins computes last, after margins and turns (see [`Inside`]).
    pub phases: usize,
    /// The largest magnitude of the terms of each margin, in any combination.
    sizes: Sizes,
    /// The largest impulse of each margin, in any combination.
    impulses: Sizes,
    sides: Vec<(ExprId, ExprId)>,
    /// Powers and energy, if the energy balance is requested.
    pub powers: Option<Powers>,
}

/// The largest magnitudes of the terms of margins, by the two sides of each margin.
pub(crate) type Sizes = Rc<RefCell<FxHashMap<(ExprId, ExprId), f64>>>;

/// Indices of the margins of conditions, assigned in order of discovery.
#[derive(Default)]
struct Margins {
    outputs: Vec<usize>,
    /// The side on which each margin counts if it is 0, according to its relations; 0 if these differ.
    zeros: Vec<f64>,
}

impl Margins {
    fn place(&mut self, condition: &Condition) -> Condition {
        condition.margins(&mut |output, relation| {
            let zero = match relation {
                Relation::GreaterEqual | Relation::Less => 1.0,
                Relation::Greater | Relation::LessEqual => -1.0,
                _ => 0.0,
            };
            match self.outputs.iter().position(|known| *known == output) {
                Some(at) if self.zeros[at] == zero => {}
                Some(at) => self.zeros[at] = 0.0,
                None => {
                    self.outputs.push(output);
                    self.zeros.push(zero);
                }
            }
        });
        let place = |output: usize| {
            let found = self.outputs.iter().position(|known| *known == output);
            found.expect("invariant: every margin of the condition has just been entered")
        };
        condition.in_places(&place)
    }
}

/// Returns for each input true if equations or watched values depend on its rate.
fn moving(system: &StateSystem, watched: &[ExprId]) -> Vec<bool> {
    let equations = &system.equations;
    let residuals = equations.loops.iter().flat_map(|each| &each.residuals);
    let roots: Vec<ExprId> = residuals
        .chain(&equations.derivatives)
        .chain(watched)
        .copied()
        .collect();
    let behind = symbols_behind(system, &roots);
    let rates = system.input_rates.iter();
    rates.map(|rate| behind.contains(rate)).collect()
}

/// Selects the margins that depend only on time, parameters and values held between events; the held values follow the
/// parameters in the list of arguments. Inputs are replaced by their functions of time.
fn of_time(system: &StateSystem, margins: &[(usize, ExprId, f64)], held: &[usize], tables: &[Option<Signal>]) -> Signs {
    let inputs = system.inputs.iter().enumerate();
    let given = inputs.filter(|(at, _)| tables[*at].is_none() && !held.contains(at));
    let given = given.filter_map(|(_, input)| Some((input.symbol, input.signal?)));
    let layout = Layout::new(system).with_values(given);
    let layout = layout.with_parameters(held.iter().map(|at| system.inputs[*at].symbol));
    Signs::new(&system.exprs, margins, &layout)
}

/// Returns the kernel of margins, followed by their parts.
fn with_parts(system: &StateSystem, margins: &[ExprId], inside: &Inside, layout: &Layout) -> Kernel {
    let all = [margins, &inside.turns, &inside.phases].concat();
    expression(&system.exprs, &all, layout, &KernelOptions::default())
}

/// Gives delayed signals their histories, and returns the values before the delays.
fn delayed(
    combination: &Combination,
    watched: &[ExprId],
    (system, histories): (&StateSystem, &[Arc<History>]),
    signals: &mut [Option<Signal>],
) -> Vec<ExprId> {
    for (delay, history) in combination.model.switching.delays.iter().zip(histories) {
        let input = system.inputs.iter().position(|input| input.symbol == delay.symbol);
        let input = input.expect("invariant: the inputs of a model are inputs of its equations");
        signals[input] = Some(Signal::Delayed(history.clone()));
    }
    let outputs = combination.delayed.iter();
    outputs.map(|output| watched[output - combination.shown]).collect()
}

/// Returns energies and powers to integrate, if the energy balance is requested.
fn powers(combination: &Combination, watched: &[ExprId], system: &StateSystem, layout: &Layout) -> Option<Powers> {
    let powers = combination.power.as_ref().zip(combination.energy.as_ref());
    powers.map(|((sources, dissipators), storage)| {
        let pairs = sources.iter().chain(dissipators).chain(storage);
        let outputs = pairs.flat_map(|pair| [pair.0, pair.1]);
        let roots: Vec<_> = outputs.map(|output| watched[output - combination.shown]).collect();
        Powers {
            kernel: expression(&system.exprs, &roots, layout, &KernelOptions::default()),
            counts: (sources.len(), dissipators.len()),
        }
    })
}

impl Prepared {
    /// Compiles the equations of a combination. Tables replace declared inputs; `discretes` are the inputs of discrete
    /// variables in the model.
    pub fn new(
        modes: Vec<usize>,
        made: &InModes,
        discretes: &[usize],
        (sizes, impulses): (Sizes, Sizes),
        histories: Vec<Arc<History>>,
        (parameters, tables, (start, stop)): (&[f64], &[Option<Signal>], (f64, f64)),
    ) -> Prepared {
        let (combination, mut system, watched) = (made.combination.clone(), made.system.clone(), made.watched.clone());
        let options = KernelOptions::default();
        let kernels = Kernels::new(&system, &options);
        let layout = Layout::new(&system);
        let mut margins = Margins::default();
        let mut changes = combination.changes.clone();
        for change in changes.iter_mut().flatten() {
            change.condition = margins.place(&change.condition);
            if let Some(bound) = &mut change.bound {
                let place = margins.outputs.iter().position(|output| *output == bound.margin);
                bound.margin = place.expect("invariant: a bound is a margin of its condition");
            }
        }
        let blocks = combination
            .blocks
            .iter()
            .map(|block| block.as_ref().map(|found| margins.place(found)));
        let blocks: Vec<Option<Condition>> = blocks.collect();
        let roots: Vec<_> = margins
            .outputs
            .iter()
            .map(|output| watched[output - combination.shown])
            .collect();
        let sides = margins.outputs.iter().map(|output| combination.sides[output]).collect();
        let place = |symbol| system.inputs.iter().position(|input| input.symbol == symbol);
        let offsets = combination
            .offsets
            .iter()
            .map(|offset| place(offset.symbol).expect("invariant: the inputs of a model are inputs of its equations"));
        let offsets: Vec<usize> = offsets.collect();
        let mut own = tables.to_vec();
        own.resize(system.inputs.len(), None);
        let delayed = delayed(&combination, &watched, (&system, &histories), &mut own);
        let free = (0..roots.len()).filter(|at| combination.free.contains(&margins.outputs[*at]));
        let timed: Vec<(usize, ExprId, f64)> = free.map(|at| (at, roots[at], margins.zeros[at])).collect();
        let instants = of_time(&system, &timed, &[discretes, &offsets].concat(), &own);
        let untimed = |at: &usize| !instants.places().contains(at);
        let others: Vec<ExprId> = (0..roots.len()).filter(untimed).map(|at| roots[at]).collect();
        let margin_corners = Corners::new(&system.exprs, &others, &layout);
        let inside = Inside::of(&mut system.exprs, &others);
        let inputs = Inputs::within(&system, &kernels, parameters, own, (start, stop));
        let traits = Arc::new(Traits::new(&system));
        let simulator = Simulator::with(&system, &kernels, traits.clone());
        let longest = simulator.longest_step(parameters, &inputs, (start, stop));
        let fastest = margin_corners.fastest(parameters, start, stop);
        let fastest = fastest.max(inputs.frequency(start, stop));
        let longest = longest.min(longest_step(fastest));
        let looks = simulator.all_looks(parameters, &inputs, (start, stop));
        Prepared {
            powers: powers(&combination, &watched, &system, &layout),
            moving: moving(&system, &watched),
            offsets,
            discretes: discretes.to_vec(),
            delayed: expression(&system.exprs, &delayed, &layout, &options),
            histories,
            longest,
            looks,
            instants: Instants::new(instants, parameters, (start, stop)),
            traits,
            watched: expression(&system.exprs, &watched, &layout, &options),
            watched_values: watched,
            margins: with_parts(&system, &roots, &inside, &layout),
            phases: inside.phases.len(),
            margin_outputs: margins.outputs,
            margin_corners,
            states: (system.states.iter().enumerate())
                .map(|(at, state)| (state.name.clone(), at))
                .collect(),
            storage: combination.storage.iter().cloned().collect(),
            scales: RefCell::default(),
            sizes,
            impulses,
            sides,
            modes,
            changes,
            blocks,
            combination,
            system,
            kernels,
            inputs,
        }
    }

    pub fn simulator(&self) -> Simulator<'_> {
        Simulator::with(&self.system, &self.kernels, self.traits.clone())
    }

    /// Returns the value of a state by its name, even if it is dependent in these modes.
    pub fn named(&self, name: &str, states: &[f64], watched: &[f64]) -> Option<f64> {
        match self.states.get(name) {
            Some(at) => states.get(*at).copied(),
            None => self.storage.get(name).map(|output| self.of_output(*output, watched)),
        }
    }

    /// Returns the storage that is dependent in these modes: the names of the would-be states, and the outputs with their values.
    pub fn dependent(&self) -> impl Iterator<Item = (&Arc<str>, usize)> {
        let all = self.storage.iter().map(|(name, output)| (name, *output));
        all.filter(|(name, _)| !self.states.contains_key(*name))
    }

    /// Returns the index of a state by its name.
    pub fn state(&self, name: &str) -> Option<usize> {
        self.states.get(name).copied()
    }

    /// Returns the value of a watched output.
    pub fn of_output(&self, output: usize, watched: &[f64]) -> f64 {
        watched[output - self.combination.shown]
    }

    /// Returns the energy of storage; `None` if a storage element has a nonlinear law or no power.
    pub fn energy(&self, watched: &[f64]) -> Option<f64> {
        let value = |output: usize| self.of_output(output, watched);
        let pairs = self.combination.energy.as_ref()?.iter();
        Some(pairs.map(|(z, p)| 0.5 * value(*z) * value(*p)).sum())
    }

    /// Returns true if a watched output depends on states, directly or through unknowns of loops.
    pub fn follows_states(&self, output: usize) -> bool {
        let system = &self.system;
        let behind = symbols_behind(system, &[self.watched_values[output - self.combination.shown]]);
        let unknowns = system.equations.loops.iter().flat_map(|each| &each.unknowns);
        let mut moving = system.states.iter().map(|state| &state.symbol).chain(unknowns);
        moving.any(|symbol| behind.contains(symbol))
    }

    /// Calls a kernel of this combination at a point.
    pub fn call(
        &self,
        motion: &Motion<'_>,
        kernel: &Kernel,
        (time, states): (f64, &[f64]),
        rates: Option<&[f64]>,
    ) -> Vec<f64> {
        let mut values = vec![0.0; kernel.outputs()];
        let mut unknowns = vec![0.0; motion.unknowns];
        motion.solve_loops(time, states);
        motion.copy_unknowns(&mut unknowns);
        motion.call(kernel, time, states, &unknowns, rates, &mut values);
        values
    }

    /// Returns the signals from an event to the next one.
    pub fn held(&self, time: f64, discretes: &[f64]) -> Held<'_> {
        let fixed = |(input, value): (&usize, f64)| HeldInput {
            input: *input,
            before: value,
            after: value,
        };
        let discretes = self.discretes.iter().zip(discretes.iter().copied());
        let offsets = self.offsets.iter().zip(std::iter::repeat(0.0));
        Held {
            inputs: &self.inputs,
            at: time,
            held: discretes.chain(offsets).map(fixed).collect(),
            histories: &self.histories,
        }
    }

    /// Returns the equations at an instant, with these signals.
    pub fn motion<'m>(
        &'m self,
        parameters: &'m [f64],
        signals: &'m dyn Signals,
        plan: &Plan,
    ) -> Result<Motion<'m>, Failure> {
        Motion::new(&self.system, &self.kernels, parameters, signals, plan)
    }

    /// Returns discrete variables and offsets between events, where offsets are 0.
    pub fn held_between(&self, discretes: &[f64]) -> Vec<f64> {
        let mut held = discretes.to_vec();
        held.resize(discretes.len() + self.offsets.len(), 0.0);
        held
    }

    /// Returns discrete variables and offsets in the signals of a motion.
    fn held_in(&self, motion: &Motion<'_>, time: f64) -> Vec<f64> {
        let signals = motion.signals();
        let (mut values, mut rates) = (vec![0.0; signals.count()], vec![0.0; signals.count()]);
        signals.values(time, Side::After, &mut values, &mut rates);
        let held = self.discretes.iter().chain(&self.offsets);
        held.map(|input| values[*input]).collect()
    }

    /// Returns the margins at a point, and the magnitudes below which they count as 0.
    ///
    /// For a margin that depends only on time, the sign is exact, without round-off.
    pub fn margins_at(&self, motion: &Motion<'_>, time: f64, states: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut values = self.call(motion, &self.margins, (time, states), None);
        // Their parts follow.
        values.truncate(self.sides.len());
        let mut sizes = self.sizes.borrow_mut();
        let mut see = |at: usize, size: f64| {
            if size.is_finite() {
                let known = sizes.entry(self.sides[at]).or_insert(0.0);
                *known = known.max(size);
            }
        };
        for (at, value) in values.iter().enumerate() {
            see(at, value.abs());
        }
        let mut moved = states.to_vec();
        for state in 0..states.len() {
            moved[state] = states[state] * (1.0 + MOVED);
            if moved[state] != states[state] {
                let others = self.call(motion, &self.margins, (time, &moved), None);
                for (at, (other, value)) in others.iter().zip(&values).enumerate() {
                    see(at, (other - value).abs() / MOVED);
                }
            }
            moved[state] = states[state];
        }
        let mut least: Vec<f64> = self
            .sides
            .iter()
            .map(|sides| COUNTS * sizes.get(sides).copied().unwrap_or(0.0))
            .collect();
        if !self.instants.places().is_empty() {
            let piece = self.instants.piece(time, &self.held_in(motion, time));
            for (at, sign) in self.instants.places().iter().zip(piece.signs) {
                (values[*at], least[*at]) = (sign, 0.0);
            }
        }
        (values, least)
    }

    /// Returns the impulses of the margins, computed from those of all watched outputs. An impulse below the fraction `share`
    /// of the margin's largest one so far counts as none. A ball that bounces no higher than the tolerance is therefore at rest.
    pub fn margin_impulses(&self, impulses: &[f64], share: f64) -> Vec<f64> {
        let mut largest = self.impulses.borrow_mut();
        let of = |(output, sides): (&usize, &(ExprId, ExprId))| {
            let impulse = self.of_output(*output, impulses);
            let known = largest.entry(*sides).or_insert(0.0);
            *known = known.max(impulse.abs());
            if impulse.abs() > share * *known { impulse } else { 0.0 }
        };
        self.margin_outputs.iter().zip(&self.sides).map(of).collect()
    }
}
