//! Formulation of one combination of modes, with the outputs that a run watches.

use super::bounds::Bound;
use super::combination::{Combination, InModes, Offset, PowerOutputs, WatchedBound, WatchedChange};
use super::conditions::Condition;
use super::events::{Events, Formulated, measured};
use super::redundant;
use crate::bond;
use crate::formulation::frame::storage_state_name;
use crate::options::Options;
use crate::pipeline::time_inputs::formulate_with_time;
use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind};
use lgm_model::switching::{SwitchedElement, Trigger};
use lgm_model::{
    ElementId, Input, Law, Matrix, Measure, Model, NodeId, Output, PortId, StateChoice, StorageForm, Variable,
};
use lgm_source::diagnostic::{Diagnostic, has_errors};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, PoisonError};

/// Adds outputs to a model.
struct Watching {
    model: Model,
    measures: FxHashMap<Measure, SymbolId>,
    /// The two sides of each margin, by its output.
    sides: FxHashMap<usize, (ExprId, ExprId)>,
    /// Margins that depend on no port and no state.
    free: FxHashSet<usize>,
}

impl Watching {
    fn output(&mut self, value: ExprId) -> usize {
        let name = format!("watched {}", self.model.outputs.len());
        self.model.outputs.push(Output {
            written: name.as_str().into(),
            name: name.into(),
            value,
            unit: None,
            span: self.model.heading.span,
        });
        self.model.outputs.len() - 1
    }

    fn condition(&mut self, condition: ExprId) -> Condition {
        // The expressions are moved out while the outputs grow.
        let mut exprs = std::mem::take(&mut self.model.exprs);
        let found = Condition::of(&mut exprs, condition, &mut |margin, sides| {
            let output = self.output(margin);
            self.sides.insert(output, sides);
            output
        });
        self.model.exprs = exprs;
        found.margins(&mut |output, _| {
            let (a, b) = self.sides[&output];
            let symbols = self.model.exprs.symbols_of(&[a, b]);
            if symbols.iter().all(|symbol| self.is_free(*symbol)) {
                self.free.insert(output);
            }
        });
        found
    }

    /// Returns the variable of an element's only port that its law leaves free.
    fn free_variable(&mut self, element: ElementId) -> Option<SymbolId> {
        let element = &self.model.graph.elements[element.index()];
        let (port, Law::Source { given, .. }) = (PortId(element.ports.start), &element.law) else {
            return None;
        };
        let variable = given.conjugate();
        let value =
            (element.ports.len() == 1).then(|| measured(&mut self.model, &mut self.measures, port, variable))?;
        match self.model.exprs.node(value) {
            Node::Symbol(symbol) => Some(*symbol),
            _ => None,
        }
    }

    /// Returns the bound that an already watched condition sets on a variable.
    fn bound(&mut self, condition: ExprId, variable: SymbolId) -> Option<WatchedBound> {
        let bound = Bound::of(&mut self.model.exprs, condition, variable)?;
        let watched = self.sides.iter().filter(|(_, sides)| **sides == bound.sides);
        Some(WatchedBound {
            margin: watched.map(|(output, _)| *output).max()?,
            is_positive: bound.is_positive,
            is_above: bound.is_above,
            far: None,
        })
    }

    /// Returns the mode that gives the same variable as a mode from which another follows, beyond a bound of that other
    /// mode in the same direction. Only port variables may decide on it: the other end of a backlash is elsewhere.
    fn far(&mut self, switched: &SwitchedElement, (own, to): (usize, usize), is_above: bool) -> Option<usize> {
        let gives = |mode: usize| match &switched.modes[mode].law {
            Law::Source { given, values } if values.len() == 1 => Some(*given),
            _ => None,
        };
        let given = gives(own)?;
        let port = PortId(self.model.graph.elements[switched.element.index()].ports.start);
        let value = measured(&mut self.model, &mut self.measures, port, given);
        let Node::Symbol(variable) = *self.model.exprs.node(value) else {
            return None;
        };
        let changes = switched.modes[to]
            .changes
            .iter()
            .filter(|change| change.sets.is_empty() && change.is_free);
        let ahead =
            changes.filter(|change| change.to != own && gives(change.to) == Some(given) && gives(to) != Some(given));
        let exprs = &mut self.model.exprs;
        ahead
            .filter(|change| {
                Bound::of(exprs, change.condition, variable).is_some_and(|bound| bound.is_above == is_above)
            })
            .map(|change| change.to)
            .next()
    }

    /// Returns true if a symbol is the time, an input or a parameter, and therefore identical in all combinations.
    fn is_free(&self, symbol: SymbolId) -> bool {
        let model = &self.model;
        let mut entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
        symbol == model.time
            || model.inputs.iter().any(|input| input.symbol == symbol)
            || entries.any(|entry| entry.symbol == symbol)
    }

    fn variable(&mut self, port: PortId, variable: Variable) -> usize {
        let value = measured(&mut self.model, &mut self.measures, port, variable);
        self.output(value)
    }

    /// Returns the value of the state that a storage port has if it is independent; `None` if it has no short form.
    fn storage_value(&mut self, port: PortId, choice: StateChoice) -> Option<ExprId> {
        let element = self.model.graph.elements[self.model.graph.ports[port.index()].element.index()].clone();
        let Law::Storage { co_energy, value, form } = &element.law else {
            return None;
        };
        let co_energy = *co_energy;
        match (choice, form) {
            (StateChoice::CoEnergy, _) => Some(measured(&mut self.model, &mut self.measures, port, co_energy)),
            (StateChoice::Energy, StorageForm::Direct) => {
                let row = (port.0 - element.ports.start) as usize;
                Some(self.row(value, row, (element.ports.start, co_energy)))
            }
            (StateChoice::Energy, StorageForm::Inverse) if value.rows == 1 => {
                let variable = measured(&mut self.model, &mut self.measures, port, co_energy);
                Some(self.model.exprs.div(variable, value.get(0, 0)))
            }
            (StateChoice::Energy, StorageForm::Inverse) => None,
        }
    }

    fn row(&mut self, value: &Matrix, row: usize, (first, variable): (u32, Variable)) -> ExprId {
        let mut terms = Vec::with_capacity(value.columns);
        for column in 0..value.columns {
            let entry = value.get(row, column);
            if !self.model.exprs.is_zero(entry) {
                let port = PortId(first + column as u32);
                let measure = measured(&mut self.model, &mut self.measures, port, variable);
                terms.push(self.model.exprs.mul(entry, measure));
            }
        }
        self.model.exprs.sum(terms)
    }

    /// Returns the across variable of a node, with the name of the corresponding state.
    fn velocity(&mut self, id: NodeId) -> Option<(String, ExprId)> {
        let node = &self.model.graph.nodes[id.index()];
        let domain = &self.model.graph.domains[node.domain.filter(|_| node.is_graph_node)?.index()];
        let entry = node.entry.map_or(String::new(), |entry| format!("[{entry}]"));
        let name = format!("{}.{}{entry}", self.model.path_name(node.path), domain.across);
        let measure = Measure::Common(id);
        let model = &mut self.model;
        let symbol = *self.measures.entry(measure).or_insert_with(|| {
            let symbol = model.exprs.new_symbol(name.clone(), SymbolKind::Measure);
            model.measures.push((symbol, measure));
            symbol
        });
        Some((name, self.model.exprs.symbol(symbol)))
    }

    /// Adds the across variables of nodes: velocities of displacements are states named after their nodes.
    fn velocities(&mut self, storage: &mut Vec<(Arc<str>, usize)>) {
        if self.model.integrals.is_empty() {
            return;
        }
        for node in 0..self.model.graph.nodes.len() as u32 {
            if let Some((name, value)) = self.velocity(NodeId(node)) {
                storage.push((name.into(), self.output(value)));
            }
        }
    }

    /// Returns the co-energy and the energy variables of all storage ports, as outputs; `None` if energy is not half of their product.
    fn energy(&mut self) -> Option<Vec<(usize, usize)>> {
        let mut pairs = Vec::new();
        for port in (0..self.model.graph.ports.len() as u32).map(PortId) {
            let about = &self.model.graph.ports[port.index()];
            let is_pseudo = about
                .domain
                .is_some_and(|domain| self.model.graph.domains[domain.index()].pseudo);
            let co_energy = match &self.model.graph.elements[about.element.index()].law {
                Law::Storage { co_energy, .. } => *co_energy,
                Law::Nonlinear(law) if law.storage.iter().any(Option::is_some) => return None,
                _ => continue,
            };
            if is_pseudo {
                return None;
            }
            let energy = self.storage_value(port, StateChoice::Energy)?;
            let co_energy = self.variable(port, co_energy);
            pairs.push((co_energy, self.output(energy)));
        }
        Some(pairs)
    }

    /// Returns effort and flow of the ports of sources, and of dissipators and elements with modes, as outputs.
    fn power(&mut self, switched: &[ElementId]) -> (PowerOutputs, PowerOutputs) {
        let (mut sources, mut dissipators) = (Vec::new(), Vec::new());
        for port in (0..self.model.graph.ports.len() as u32).map(PortId) {
            let element = self.model.graph.ports[port.index()].element;
            let is_source = match &self.model.graph.elements[element.index()].law {
                Law::Source { .. } => !switched.contains(&element),
                Law::Dissipator(_) | Law::Nonlinear(_) => false,
                Law::Storage { .. } | Law::Coupler { .. } => continue,
            };
            let effort = self.variable(port, Variable::Effort);
            let pair = (effort, self.variable(port, Variable::Flow));
            match is_source {
                true => sources.push(pair),
                false => dissipators.push(pair),
            }
        }
        (sources, dissipators)
    }

    /// Adds offsets to the variables that the law of an element gives.
    fn add_offsets(&mut self, at: usize, element: usize, out: &mut Vec<Offset>) {
        let Law::Source { given, values } = self.model.graph.elements[element].law.clone() else {
            return;
        };
        let name = self.model.path_name(self.model.graph.elements[element].path);
        let mut offset = Vec::with_capacity(values.len());
        for (port, value) in values.into_iter().enumerate() {
            let name: Arc<str> = format!("offset of {name}").into();
            let symbol = self.model.exprs.new_symbol(name.clone(), SymbolKind::Input);
            let zero = self.model.exprs.zero();
            self.model.inputs.push(Input {
                name,
                symbol,
                signal: Some(zero),
                unit: None,
                scale: lgm_model::Scale::SI,
                span: self.model.heading.span,
                is_internal: true,
            });
            let output = self.output(value);
            let input = self.model.exprs.symbol(symbol);
            offset.push(self.model.exprs.add(value, input));
            out.push(Offset {
                port: (at, port),
                given,
                symbol,
                value: output,
            });
        }
        self.model.graph.elements[element].law = Law::Source { given, values: offset };
    }
}

impl Events {
    /// Returns the equations of a combination of modes. They are formulated on the first call.
    pub fn formulate(&self, modes: &[usize], options: &Options) -> Formulated {
        let key = (options.clone(), modes.to_vec());
        let entry = {
            let mut table = self.formulated.lock().unwrap_or_else(PoisonError::into_inner);
            table.entry(key).or_default().clone()
        };
        let make = || self.for_runs(modes, options).map(Arc::new).map_err(Arc::new);
        entry.get_or_init(make).clone()
    }

    /// Formulates the equations of a combination, with the watched outputs as outputs of the system; the error is the
    /// list of diagnostics that prevent this.
    pub fn formulate_watched(&self, modes: &[usize], options: &Options) -> Result<InModes, Vec<Diagnostic>> {
        let combination = self.combination(modes, options);
        let graph = bond::lower(&combination.model);
        let (made, diagnostics) = formulate_with_time(&combination.model, &graph, options);
        match made.filter(|_| !has_errors(&diagnostics)) {
            Some((system, own)) => Ok(InModes {
                watched: system.equations.output_values[combination.shown..].to_vec(),
                combination: combination.into(),
                own,
                system,
            }),
            None => Err(diagnostics),
        }
    }

    /// Formulates the equations of a combination for a run, with the declared outputs only.
    fn for_runs(&self, modes: &[usize], options: &Options) -> Result<InModes, Vec<Diagnostic>> {
        let mut made = self.formulate_watched(modes, options)?;
        made.system.keep_outputs(made.combination.shown);
        // The system describes the time between two events, so it has none itself.
        made.system.events.happen = false;
        Ok(made)
    }

    /// Returns the model in a combination of modes, one for each element with modes.
    pub fn combination(&self, modes: &[usize], options: &Options) -> Combination {
        let mut model = self.model.in_modes(modes).without_starts();
        let shown = model.outputs.len();
        let mut measures = model.measures.iter().map(|entry| (entry.1, entry.0)).collect();
        redundant::hold(&mut model, &mut measures);
        let redundant = redundant::share(&mut model, &mut measures);
        let sides = FxHashMap::default();
        let free = FxHashSet::default();
        let mut watching = Watching {
            model,
            measures,
            sides,
            free,
        };
        let switching = self.model.switching.clone();
        let (mut changes, mut ports, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        let mut laws = Vec::new();
        for (at, (switched, mode)) in switching.elements.iter().zip(modes).enumerate() {
            let first = self.model.graph.elements[switched.element.index()].ports.start;
            let free = watching.free_variable(switched.element);
            let found = switched.modes[*mode].changes.iter().map(|change| WatchedChange {
                condition: watching.condition(change.condition),
                bound: free.and_then(|free| {
                    let mut bound = watching.bound(change.condition, free)?;
                    bound.far = watching.far(switched, (*mode, change.to), bound.is_above);
                    Some(bound)
                }),
                to: change.to,
                sets: (change.sets.iter())
                    .map(|set| ((set.port.0 - first) as usize, set.variable, watching.output(set.value)))
                    .collect(),
            });
            changes.push(found.collect());
            let both = |port: PortId, watching: &mut Watching| {
                let effort = watching.variable(port, Variable::Effort);
                (effort, watching.variable(port, Variable::Flow))
            };
            let all: Vec<PortId> = self.model.ports_of(switched.element).collect();
            ports.push(all.into_iter().map(|port| both(port, &mut watching)).collect());
            let given = |law: &Law, watching: &mut Watching| match law {
                Law::Source { given, values } if values.len() == 1 => Some((*given, watching.output(values[0]))),
                _ => None,
            };
            laws.push(
                switched
                    .modes
                    .iter()
                    .map(|mode| given(&mode.law, &mut watching))
                    .collect(),
            );
            watching.add_offsets(at, switched.element.index(), &mut offsets);
        }
        let blocks = switching.blocks.iter().map(|block| match block.trigger {
            Trigger::Becomes(condition) => Some(watching.condition(condition)),
            Trigger::Initially | Trigger::Every { .. } => None,
        });
        let blocks = blocks.collect();
        let read: Vec<ExprId> = self.read().collect();
        let read = read.into_iter().map(|value| watching.output(value)).collect();
        let delayed = switching
            .delays
            .iter()
            .map(|delay| watching.output(delay.value))
            .collect();
        let mut storage = Vec::new();
        for port in 0..self.model.graph.ports.len() as u32 {
            let port = PortId(port);
            if let Some((name, choice)) = storage_state_name(&watching.model, port, options.states)
                && let Some(value) = watching.storage_value(port, choice)
            {
                storage.push((name.into(), watching.output(value)));
            }
        }
        watching.velocities(&mut storage);
        let energy = watching.energy();
        let switched: Vec<ElementId> = switching.elements.iter().map(|switched| switched.element).collect();
        let power = (self.watches_powers() && energy.is_some()).then(|| watching.power(&switched));
        Combination {
            sides: watching.sides,
            free: watching.free,
            energy,
            power,
            model: watching.model,
            shown,
            changes,
            blocks,
            storage,
            ports,
            laws,
            offsets,
            redundant,
            read,
            delayed,
        }
    }
}
