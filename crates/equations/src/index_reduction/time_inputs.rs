//! Functions of time outside of `input`s, where somebody needs their rates: they become inputs that nobody sets.
//!
//! A source on dependent storage gives it the rate of its value, and where the value steps, the states move; an output may ask for
//! `der(..)` of it. Inputs have values, rates and steps wherever equations are written, run or emitted, and are 0 before the run. So
//! a function of time in a `signal`, or in the place where it acts, is the same as an `input` of that signal, and is made one.

use crate::bond::BondGraph;
use crate::formulation::driver::{KnownStarts, formulate_with_known_starts};
use crate::index_reduction::input_owner::{Owner, owner, owner_of_law};
use crate::initialisation::start_values::Definitions;
use crate::initialisation::switched::with_switched;
use crate::options::Options;
use lgm_algebra::expr::{ExprId, Function, Node, SymbolId, SymbolKind};
use lgm_model::system::StateSystem;
use lgm_model::{Dissipator, Input, Law, Model, Signal};
use lgm_source::diagnostic::{Diagnostic, has_errors};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A system, and the model that it was made from where that is another one.
type Made = Option<(StateSystem, Option<Model>)>;

/// Formulates the state equations of a model. If functions of time, or constants that are switched on, are needed with their rates, a
/// model with these as inputs is returned too: it is what the equations were made from.
pub fn formulate_with_time(model: &Model, graph: &BondGraph, options: &Options) -> (Made, Vec<Diagnostic>) {
    let (made, known, found) = with_functions(model, graph, options);
    let switched = made.as_ref().map(|(system, own)| {
        let model = own.as_ref().unwrap_or(model);
        with_switched(model, graph, options, (&known, system.linear))
    });
    match switched {
        Some(Ok(Some((system, own, found)))) => (Some((system, Some(own))), found),
        Some(Err(warning)) => (made, [found, vec![warning]].concat()),
        Some(Ok(None)) | None => (made, found),
    }
}

/// The same with functions of time alone.
fn with_functions(model: &Model, graph: &BondGraph, options: &Options) -> (Made, KnownStarts, Vec<Diagnostic>) {
    let (mut all, given) = (TimeInputs::of(model), model.inputs.len());
    let as_it_is = || {
        let (system, known, found) = formulate_with_known_starts(model, graph, options);
        (system.map(|system| (system, None)), known, found)
    };
    if all.model.inputs.len() == given {
        return as_it_is();
    }
    let mut kept: FxHashSet<usize> = (given..all.model.inputs.len()).collect();
    loop {
        let tried = all.keeping(&kept, &FxHashMap::default());
        let (system, known, found) = formulate_with_known_starts(&tried, graph, options);
        let needed: FxHashSet<usize> = match &system {
            Some(system) if !has_errors(&found) => {
                let read = rates_read(system);
                let own = tried.inputs.iter().enumerate().skip(given);
                let read = own.filter(|(at, _)| read.contains(&system.input_rates[*at]));
                let read: FxHashSet<SymbolId> = read.map(|(_, input)| input.symbol).collect();
                let is_read = |at: &usize| read.contains(&all.model.inputs[*at].symbol);
                let mut needed: FxHashSet<usize> = kept.iter().copied().filter(is_read).collect();
                let beside = all.beside_rates(system, &kept, &needed);
                needed.extend(beside);
                needed
            }
            // Of smooth functions there are further derivatives, which inputs do not have.
            _ => kept.iter().copied().filter(|at| all.jumps(*at)).collect(),
        };
        if needed == kept {
            let is_linear = system.as_ref().is_none_or(|system| system.linear);
            let (own, written) = if is_linear {
                Default::default()
            } else {
                all.steps_apart(&kept)
            };
            if written.is_empty() {
                return (system.map(|system| (system, Some(tried))), known, found);
            }
            let tried = all.keeping(&own, &written);
            let (system, known, found) = formulate_with_known_starts(&tried, graph, options);
            return (system.map(|system| (system, Some(tried))), known, found);
        }
        kept = needed;
        if kept.is_empty() {
            return as_it_is();
        }
    }
}

/// Symbols in the equations, assignments and loops of a system.
fn rates_read(system: &StateSystem) -> FxHashSet<SymbolId> {
    let mut roots: Vec<ExprId> = system
        .derivatives
        .iter()
        .chain(&system.output_values)
        .copied()
        .collect();
    roots.extend(system.assignments.iter().map(|assignment| assignment.value));
    roots.extend(system.loops.iter().flat_map(|each| &each.residuals));
    system.exprs.symbols_of(&roots).into_iter().collect()
}

/// What an expression depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Parameters.
    Constant,
    /// Time and parameters.
    Timed,
    /// Anything else.
    Other,
}

/// A model whose functions of time are inputs, behind those that were declared.
pub(crate) struct TimeInputs {
    pub(crate) model: Model,
    kinds: FxHashMap<ExprId, Kind>,
    /// What became of each expression.
    replaced: FxHashMap<ExprId, ExprId>,
    /// The symbols of functions of time.
    known: FxHashMap<ExprId, ExprId>,
    /// Signals by their expressions; of several the first.
    signals: FxHashMap<ExprId, Signal>,
}

impl TimeInputs {
    fn of(model: &Model) -> TimeInputs {
        let mut found = TimeInputs {
            model: model.clone(),
            kinds: FxHashMap::default(),
            replaced: FxHashMap::default(),
            known: FxHashMap::default(),
            signals: FxHashMap::default(),
        };
        let mut roots = Vec::new();
        for_expressions(&mut found.model, &mut |id| roots.push(*id));
        if !model.exprs.symbols_of(&roots).contains(&model.time) {
            return found;
        }
        found.signals = model
            .signals
            .iter()
            .map(|signal| (signal.value, signal.clone()))
            .rev()
            .collect();
        for at in 0..model.elements.len() {
            let mut law = found.model.elements[at].law.clone();
            let mut number = 0;
            for_law(&mut law, &mut |id| {
                let owner = owner_of_law(model, at, number);
                *id = found.without_time(*id, &owner);
                number += 1;
            });
            found.model.elements[at].law = law;
        }
        for (at, integral) in model.integrals.iter().enumerate() {
            let owner = owner(model.path_name(integral.path), model.paths[integral.path.index()].span);
            found.model.integrals[at].rate = found.without_time(integral.rate, &owner);
        }
        for (at, output) in model.outputs.iter().enumerate() {
            let owner = owner(output.name.to_string(), output.span);
            found.model.outputs[at].value = found.without_time(output.value, &owner);
        }
        for (at, start) in model.start_conditions.iter().enumerate() {
            let owner = owner(start.name.to_string(), start.span);
            found.model.start_conditions[at].value = found.without_time(start.value, &owner);
        }
        found
    }

    /// Functions whose values stand beside rates of inputs. Where they step, as all that is not zero does at the start, they are on their
    /// way while the inputs are; so they are needed as inputs although nobody needs their own rates.
    fn beside_rates(&self, system: &StateSystem, kept: &FxHashSet<usize>, needed: &FxHashSet<usize>) -> Vec<usize> {
        if system.linear {
            return Vec::new();
        }
        let definitions = Definitions::of(system);
        let mut seen: FxHashSet<SymbolId> = FxHashSet::default();
        for derivative in &system.derivatives {
            let behind = definitions.behind(system, *derivative);
            if system.input_rates.iter().any(|rate| behind.contains(rate)) {
                seen.extend(behind);
            }
        }
        let is_beside = |at: &usize| {
            let is_needed = needed.contains(at);
            !is_needed && seen.contains(&self.model.inputs[*at].symbol)
        };
        let mut found: Vec<usize> = kept.iter().copied().filter(is_beside).collect();
        found.sort_unstable();
        found
    }

    /// The model with these of the new inputs; the others are what is given for them, or written out again.
    fn keeping(&self, kept: &FxHashSet<usize>, given: &FxHashMap<SymbolId, ExprId>) -> Model {
        let mut model = self.model.clone();
        let mut written: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        let inputs = std::mem::take(&mut model.inputs);
        for (at, input) in inputs.into_iter().enumerate() {
            match input.signal {
                Some(signal) if input.is_internal && !kept.contains(&at) => {
                    written.insert(input.symbol, given.get(&input.symbol).copied().unwrap_or(signal));
                }
                _ => model.inputs.push(input),
            }
        }
        if !written.is_empty() {
            let mut exprs = std::mem::take(&mut model.exprs);
            for_expressions(&mut model, &mut |id| {
                *id = exprs.substitute(&[*id], |symbol| written.get(&symbol).copied())[0];
            });
            model.exprs = exprs;
        }
        model
    }

    /// Whether the function of an input may step.
    fn jumps(&self, at: usize) -> bool {
        let exprs = &self.model.exprs;
        let signal = self.model.inputs[at].signal.into_iter().collect::<Vec<ExprId>>();
        exprs.reachable(&signal).into_iter().any(|id| match exprs.node(id) {
            Node::Relation(..) | Node::If(..) => true,
            Node::Call(function, _) => matches!(
                function,
                Function::Step | Function::Pulse | Function::Ramp | Function::Floor | Function::Sign
            ),
            _ => false,
        })
    }

    /// An expression with inputs in the place of its largest parts that are functions of time.
    fn without_time(&mut self, root: ExprId, owner: &Owner) -> ExprId {
        let new = |id: ExprId| !self.kinds.contains_key(&id);
        let order = self.model.exprs.reachable_beyond(&[root], |id| !new(id));
        for id in order {
            let node = self.model.exprs.node(id).clone();
            let kind = self.kind_of(&node);
            self.kinds.insert(id, kind);
            let now = match kind {
                Kind::Other => self.rebuilt(id, &node, owner),
                _ => id,
            };
            self.replaced.insert(id, now);
        }
        match self.kinds[&root] {
            Kind::Timed => self.input_for(root, owner, true),
            _ => self.replaced[&root],
        }
    }

    fn kind_of(&self, node: &Node) -> Kind {
        match node {
            Node::Symbol(symbol) => match self.model.exprs.symbol_info(*symbol).kind {
                SymbolKind::Parameter => Kind::Constant,
                SymbolKind::Time => Kind::Timed,
                _ => Kind::Other,
            },
            Node::Call(Function::Int | Function::Der, _) => Kind::Other,
            _ => node
                .children()
                .fold(Kind::Constant, |kind, child| match (kind, self.kinds[&child]) {
                    (Kind::Other, _) | (_, Kind::Other) => Kind::Other,
                    (Kind::Timed, _) | (_, Kind::Timed) => Kind::Timed,
                    _ => Kind::Constant,
                }),
        }
    }

    /// A node that depends on more than time, over inputs where its parts depend on time alone.
    fn rebuilt(&mut self, id: ExprId, node: &Node, owner: &Owner) -> ExprId {
        let mut now: FxHashMap<ExprId, ExprId> = node.children().map(|child| (child, self.replaced[&child])).collect();
        let is_timed = |kinds: &FxHashMap<ExprId, Kind>, child: &ExprId| kinds[child] == Kind::Timed;
        match node {
            // Conditions have no rates.
            Node::Relation(..) | Node::Not(_) => return id,
            Node::Sum(list) | Node::Product(list) => {
                let is_sum = matches!(node, Node::Sum(_));
                let takes_part = |kinds: &FxHashMap<ExprId, Kind>, child: &ExprId| match is_sum {
                    true => kinds[child] != Kind::Other,
                    false => is_timed(kinds, child),
                };
                if !list.iter().any(|child| is_timed(&self.kinds, child)) {
                    return self.model.exprs.rebuild(node, &now);
                }
                let (own, others): (Vec<ExprId>, Vec<ExprId>) =
                    list.iter().partition(|child| takes_part(&self.kinds, child));
                let together = match is_sum {
                    true => self.model.exprs.sum(own),
                    false => self.model.exprs.product(own),
                };
                let input = self.input_for(together, owner, false);
                let mut parts: Vec<ExprId> = others.iter().map(|child| now[child]).collect();
                return match is_sum {
                    true => {
                        parts.push(input);
                        self.model.exprs.sum(parts)
                    }
                    false => {
                        parts.insert(0, input);
                        self.model.exprs.product(parts)
                    }
                };
            }
            Node::If(condition, ..) => {
                now.insert(*condition, *condition);
                for child in node.children().filter(|child| child != condition) {
                    if is_timed(&self.kinds, &child) {
                        now.insert(child, self.input_for(child, owner, false));
                    }
                }
            }
            _ => {
                for child in node.children() {
                    if is_timed(&self.kinds, &child) {
                        now.insert(child, self.input_for(child, owner, false));
                    }
                }
            }
        }
        self.model.exprs.rebuild(node, &now)
    }

    /// The input that a function of time is.
    pub(crate) fn input_for(&mut self, value: ExprId, owner: &Owner, is_whole: bool) -> ExprId {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let signal = self.signals.get(&value).cloned();
        let Signal { name, unit, span, .. } = signal.unwrap_or_else(|| Signal {
            name: match (&owner.whole, is_whole) {
                (Some(name), true) => name.clone(),
                _ => format!("{}(time)", owner.name).into(),
            },
            value,
            unit: owner.unit.clone().filter(|_| is_whole),
            span: owner.span,
        });
        let name = self.unused(name);
        let symbol = self.model.exprs.new_symbol(name.clone(), SymbolKind::Input);
        self.model.inputs.push(Input {
            name,
            symbol,
            signal: Some(value),
            unit,
            scale: 1.0,
            span,
            is_internal: true,
        });
        let expr = self.model.exprs.symbol(symbol);
        self.known.insert(value, expr);
        expr
    }

    /// A name that no other input has.
    fn unused(&self, name: Arc<str>) -> Arc<str> {
        let is_taken = |name: &str| self.model.inputs.iter().any(|input| *input.name == *name);
        if !is_taken(&name) {
            return name;
        }
        let numbered = (2..).map(|number| format!("{name}[{number}]"));
        let free = numbered.into_iter().find(|name| !is_taken(name));
        free.expect("invariant: there are more numbers than inputs").into()
    }
}

/// Visits the expressions of a law that may depend on time.
fn for_law(law: &mut Law, visit: &mut dyn FnMut(&mut ExprId)) {
    match law {
        Law::Storage { .. } => {}
        Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix))
        | Law::Coupler { matrix, .. } => {
            matrix.entries.iter_mut().for_each(visit);
        }
        Law::Dissipator(Dissipator::Implicit(a, b)) => a.entries.iter_mut().chain(&mut b.entries).for_each(visit),
        Law::Source { values, .. } => values.iter_mut().for_each(visit),
        Law::Nonlinear(law) => law.residuals.iter_mut().for_each(visit),
    }
}

/// Visits all expressions of a model that may depend on time, but for signals of inputs and equations of position.
fn for_expressions(model: &mut Model, visit: &mut dyn FnMut(&mut ExprId)) {
    for element in &mut model.elements {
        for_law(&mut element.law, visit);
    }
    model
        .integrals
        .iter_mut()
        .for_each(|integral| visit(&mut integral.rate));
    model.outputs.iter_mut().for_each(|output| visit(&mut output.value));
    model
        .start_conditions
        .iter_mut()
        .for_each(|start| visit(&mut start.value));
}
