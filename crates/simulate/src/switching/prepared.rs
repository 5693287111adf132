//! The equations of a combination of modes, made ready for a run.

use crate::failure::Failure;
use crate::inputs::expressions::Inputs;
use crate::inputs::signals::Signals;
use crate::inputs::table::Table;
use crate::motion::{Motion, symbols_behind};
use crate::plan::Plan;
use crate::run::scales::Scales;
use crate::simulator::{Simulator, Traits};
use crate::switching::balance::Powers;
use crate::switching::held::{Held, HeldInput};
use lgm_algebra::expr::ExprId;
use lgm_equations::switching::{Combination, Condition, InModes, WatchedChange};
use lgm_kernels::{Corners, Kernel, KernelOptions, Kernels, Layout, expression};
use lgm_model::system::StateSystem;
use lgm_runtime::events::enter::{COUNTS, MOVED};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A combination of modes, ready to run.
pub(crate) struct Prepared {
    pub modes: Vec<usize>,
    pub combination: Combination,
    pub system: StateSystem,
    pub kernels: Kernels,
    pub inputs: Inputs,
    pub traits: Arc<Traits>,
    /// The values of all outputs that are watched, from [`Combination::shown`] on.
    pub watched: Kernel,
    /// The margins of conditions, and their places among the outputs.
    pub margins: Kernel,
    margin_outputs: Vec<usize>,
    /// The terms of the margins that depend on time alone.
    pub margin_corners: Corners,
    /// The changes and the blocks of the combination, with margins by their places in `margins`.
    pub changes: Vec<Vec<WatchedChange>>,
    pub blocks: Vec<Option<Condition>>,
    /// For each input, true if an impulse or a jump of states follows from its step.
    pub moving: Vec<bool>,
    /// The inputs of the offsets, and of discrete variables.
    pub offsets: Vec<usize>,
    pub discretes: Vec<usize>,
    states: FxHashMap<Arc<str>, usize>,
    storage: FxHashMap<Arc<str>, usize>,
    /// The scales of the states, once a part of a run has found them.
    pub scales: RefCell<Option<Scales>>,
    /// The most that the terms of each margin have been worth, in whatever combination.
    sizes: Sizes,
    /// The largest impulse of each margin, likewise.
    impulses: Sizes,
    sides: Vec<(ExprId, ExprId)>,
    /// Powers and energy, if the balance of energy is asked for.
    pub powers: Option<Powers>,
}

/// The most that the terms of margins have been worth, by the two sides of each margin.
pub(crate) type Sizes = Rc<RefCell<FxHashMap<(ExprId, ExprId), f64>>>;

/// Places of the margins of conditions, found one by one.
#[derive(Default)]
struct Margins {
    outputs: Vec<usize>,
}

impl Margins {
    fn place(&mut self, condition: &Condition) -> Condition {
        condition.margins(&mut |output| {
            if !self.outputs.contains(&output) {
                self.outputs.push(output);
            }
        });
        let place = |output: usize| {
            let found = self.outputs.iter().position(|known| *known == output);
            found.expect("invariant: every margin of the condition has just been entered")
        };
        condition.in_places(&place)
    }
}

/// For each input, true if equations or watched values depend on its rate.
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

impl Prepared {
    /// Compiles the equations of a combination. Tables stand in the place of declared inputs; `discretes` are the inputs of discrete
    /// variables in the model.
    pub fn new(
        modes: Vec<usize>,
        made: InModes,
        discretes: &[usize],
        (sizes, impulses): (Sizes, Sizes),
        (parameters, tables, start): (&[f64], &[Option<Table>], f64),
    ) -> Prepared {
        let InModes {
            combination,
            system,
            watched,
        } = made;
        let options = KernelOptions::default();
        let kernels = Kernels::new(&system, &options);
        let layout = Layout::new(&system);
        let mut margins = Margins::default();
        let mut changes = combination.changes.clone();
        for change in changes.iter_mut().flatten() {
            change.condition = margins.place(&change.condition);
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
        let offsets = offsets.collect();
        let mut own = tables.to_vec();
        own.resize(system.inputs.len(), None);
        let inputs = Inputs::new(&system, &kernels, parameters, own, start);
        let powers = combination.power.as_ref().zip(combination.energy.as_ref());
        let powers = powers.map(|((sources, dissipators), storage)| {
            let pairs = sources.iter().chain(dissipators).chain(storage);
            let outputs = pairs.flat_map(|pair| [pair.0, pair.1]);
            let roots: Vec<_> = outputs.map(|output| watched[output - combination.shown]).collect();
            Powers {
                kernel: expression(&system.exprs, &roots, &layout, &options),
                counts: (sources.len(), dissipators.len()),
            }
        });
        Prepared {
            powers,
            moving: moving(&system, &watched),
            offsets,
            discretes: discretes.to_vec(),
            traits: Arc::new(Traits::new(&system)),
            watched: expression(&system.exprs, &watched, &layout, &options),
            margins: expression(&system.exprs, &roots, &layout, &options),
            margin_outputs: margins.outputs,
            margin_corners: Corners::new(&system.exprs, &roots, &layout),
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

    /// The value of a state by its name, also where it is dependent in these modes.
    pub fn named(&self, name: &str, states: &[f64], watched: &[f64]) -> Option<f64> {
        match self.states.get(name) {
            Some(at) => states.get(*at).copied(),
            None => self.storage.get(name).map(|output| self.of_output(*output, watched)),
        }
    }

    /// Storage that is dependent in these modes, by the names that its states would have, with the outputs of their values.
    pub fn dependent(&self) -> impl Iterator<Item = (&Arc<str>, usize)> {
        let all = self.storage.iter().map(|(name, output)| (name, *output));
        all.filter(|(name, _)| !self.states.contains_key(*name))
    }

    /// The place of a state by its name.
    pub fn state(&self, name: &str) -> Option<usize> {
        self.states.get(name).copied()
    }

    /// The value of a watched output.
    pub fn of_output(&self, output: usize, watched: &[f64]) -> f64 {
        watched[output - self.combination.shown]
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

    /// The signals from an event to the next one.
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
        }
    }

    /// The equations at an instant, with these signals.
    pub fn motion<'m>(
        &'m self,
        parameters: &'m [f64],
        signals: &'m dyn Signals,
        plan: &Plan,
    ) -> Result<Motion<'m>, Failure> {
        Motion::new(&self.system, &self.kernels, parameters, signals, plan)
    }

    /// The margins at a point, and how near to 0 each of them counts as 0.
    pub fn margins_at(&self, motion: &Motion<'_>, time: f64, states: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let values = self.call(motion, &self.margins, (time, states), None);
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
        let least = self
            .sides
            .iter()
            .map(|sides| COUNTS * sizes.get(sides).copied().unwrap_or(0.0))
            .collect();
        (values, least)
    }

    /// The impulses of the margins, from those of all watched outputs. One below this share of the largest that the margin has had is
    /// none: a ball that hops no higher than the tolerance lies still.
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
