//! Functions of time outside `input`s, if the equations need their rates: they become inputs that are never set.
//!
//! A source on dependent storage imposes the rate of its value, and when the value steps, the states jump; an output
//! may contain its `der(..)`. Inputs have values, rates and steps wherever equations are written, run or emitted, and
//! are 0 before the run. A function of time in a `signal`, or used directly, is therefore equivalent to an `input` of
//! that signal, and becomes one.
//!
//! A function of time that is a modulus, or a coefficient of a law, drives nothing. Before the run it has its value at
//! the start. It is therefore not replaced. If it may step later, an input represents its difference from the value at
//! the start.

use crate::bond::BondGraph;
use crate::index_reduction::input_owner::{Owner, owner, owner_of_law};
use crate::index_reduction::read::Dependence;
use crate::options::Options;
use crate::pipeline::dependence::dependence;
use crate::pipeline::driver::formulate_with_known_starts;
use crate::pipeline::switched::with_switched;
use lgm_algebra::expr::{ExprId, Function, Node, Relation, SymbolId, SymbolKind};
use lgm_model::system::StateSystem;
use lgm_model::{Dissipator, Input, Law, Model, Signal};
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A system, and the model that it was derived from if that is a different one.
type Made = Option<(StateSystem, Option<Model>)>;

/// Formulates the state equations of a model. The rates of functions of time, or of constants that are switched on, may
/// be needed. In this case also returns the model with these as inputs, from which the equations are derived.
pub fn formulate_with_time(model: &Model, graph: &BondGraph, options: &Options) -> (Made, Vec<Diagnostic>) {
    let own = with_inputs(model, graph, options);
    let timed = own.as_ref().unwrap_or(model);
    let (system, known, found) = formulate_with_known_starts(timed, graph, options);
    let Some(system) = system else {
        return (None, found);
    };
    match with_switched(timed, graph, options, (&known, system.equations.linear)) {
        Ok(Some((system, own, found))) => (Some((system, Some(own))), found),
        Ok(None) => (Some((system, own)), found),
        Err(warning) => (Some((system, own)), [found, vec![warning]].concat()),
    }
}

/// Returns the model with inputs for the functions of time whose rates the equations need; `None` if no such functions
/// exist. They are found from the structure, before any equation is written.
fn with_inputs(model: &Model, graph: &BondGraph, options: &Options) -> Option<Model> {
    let (mut all, given) = (TimeInputs::of(model), model.inputs.len());
    let every: FxHashSet<usize> = (given..all.model.inputs.len()).collect();
    // Smooth functions have higher derivatives, unlike inputs.
    let stepping = every.iter().copied().filter(|at| all.may_step(*at)).collect();
    let mut kept = FxHashSet::default();
    let mut is_linear = true;
    for tried in [every, stepping] {
        kept = tried;
        if kept.is_empty() {
            return None;
        }
        let tried = all.keeping(&kept, &FxHashMap::default());
        if let Some(found) = dependence(&tried, graph, options) {
            kept = all.needed(&kept, &found, &tried.inputs);
            is_linear = found.is_linear;
            break;
        }
    }
    if kept.is_empty() {
        return None;
    }
    let (own, written) = match is_linear {
        true => (kept, FxHashMap::default()),
        false => all.steps_apart(&kept),
    };
    Some(all.keeping(&own, &written))
}

/// The dependencies of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Parameters.
    Constant,
    /// Time and parameters.
    Timed,
    /// Anything else.
    Other,
}

/// The role of an expression in its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Position {
    /// It is used or integrated like an input.
    Drive,
    /// A term of a law or of a source: terms that depend only on time drive the model, and factors are coefficients.
    Term,
    /// A modulus, or a coefficient of a law.
    Coefficient,
}

impl Position {
    /// Returns the position of a part of an expression that depends on more than time.
    fn inside(self, node: &Node, part: ExprId, kinds: &FxHashMap<ExprId, Kind>) -> Position {
        let is_constant = |other: &ExprId| *other == part || kinds[other] == Kind::Constant;
        match (self, node) {
            (Position::Term, Node::Sum(_) | Node::If(..)) => Position::Term,
            (Position::Term, Node::Product(list)) if list.iter().all(is_constant) => Position::Term,
            (Position::Term, _) => Position::Coefficient,
            _ => self,
        }
    }
}

/// A model whose functions of time are inputs, after the declared ones.
pub(crate) struct TimeInputs {
    pub(crate) model: Model,
    /// The number of original inputs of the model: declared ones, and those set by events.
    given: usize,
    kinds: FxHashMap<ExprId, Kind>,
    /// The replacement of each expression that depends on more than time.
    replaced: FxHashMap<(ExprId, Position), ExprId>,
    /// The symbols of functions of time.
    known: FxHashMap<ExprId, ExprId>,
    /// Signals by their expressions; the first of equal ones.
    signals: FxHashMap<ExprId, Signal>,
}

impl TimeInputs {
    fn of(model: &Model) -> TimeInputs {
        let mut found = TimeInputs {
            model: model.clone(),
            given: model.inputs.len(),
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
        for at in 0..model.graph.elements.len() {
            let mut law = found.model.graph.elements[at].law.clone();
            let position = match law {
                Law::Source { .. } | Law::Nonlinear(_) => Position::Term,
                Law::Coupler { .. } | Law::Dissipator(_) | Law::Storage { .. } => Position::Coefficient,
            };
            let mut number = 0;
            for_law(&mut law, &mut |id| {
                let owner = owner_of_law(model, at, number);
                *id = found.without_time(*id, position, &owner);
                number += 1;
            });
            found.model.graph.elements[at].law = law;
        }
        for (at, integral) in model.integrals.iter().enumerate() {
            let owner = owner(model.path_name(integral.path), model.paths[integral.path.index()].span);
            found.model.integrals[at].rate = found.without_time(integral.rate, Position::Drive, &owner);
        }
        for (at, output) in model.outputs.iter().enumerate() {
            let owner = owner(output.name.to_string(), output.span);
            found.model.outputs[at].value = found.without_time(output.value, Position::Drive, &owner);
        }
        for (at, start) in model.start_conditions.iter().enumerate() {
            let owner = owner(start.name.to_string(), start.span);
            found.model.start_conditions[at].value = found.without_time(start.value, Position::Drive, &owner);
        }
        found
    }

    /// Returns the kept functions that must be inputs: the equations use their rates, or their values together with
    /// rates of inputs. A value next to a rate varies while the inputs step, as every nonzero value does at the start.
    fn needed(&self, kept: &FxHashSet<usize>, found: &Dependence, inputs: &[Input]) -> FxHashSet<usize> {
        let rates = found.states.iter().map(|state| &state.1.rates);
        let rates = rates
            .chain(found.outputs.iter().map(|output| &output.1.rates))
            .flatten();
        let mut read: FxHashSet<SymbolId> = rates.map(|at| inputs[*at].symbol).collect();
        if !found.is_linear {
            let moved = found.states.iter().filter(|state| !state.1.rates.is_empty());
            read.extend(moved.flat_map(|state| &state.1.values).map(|at| inputs[*at].symbol));
        }
        let is_read = |at: &usize| read.contains(&self.model.inputs[*at].symbol);
        kept.iter().copied().filter(is_read).collect()
    }

    /// Returns the model with the kept new inputs; the others are replaced by their given expressions, or expanded again.
    fn keeping(&self, kept: &FxHashSet<usize>, given: &FxHashMap<SymbolId, ExprId>) -> Model {
        let mut model = self.model.clone();
        let mut written: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        let inputs = std::mem::take(&mut model.inputs);
        for (at, input) in inputs.into_iter().enumerate() {
            match input.signal {
                Some(signal) if at >= self.given && !kept.contains(&at) => {
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

    /// Returns true if the function of an input may step.
    fn may_step(&self, at: usize) -> bool {
        self.model.inputs[at].signal.is_some_and(|signal| self.steps(signal))
    }

    fn steps(&self, value: ExprId) -> bool {
        let exprs = &self.model.exprs;
        exprs.reachable(&[value]).into_iter().any(|id| match exprs.node(id) {
            Node::Relation(..) | Node::If(..) => true,
            Node::Call(function, _) => matches!(
                function,
                Function::Step | Function::Pulse | Function::Ramp | Function::Floor | Function::Sign
            ),
            _ => false,
        })
    }

    /// Returns an expression with inputs instead of its largest parts that are functions of time.
    fn without_time(&mut self, root: ExprId, position: Position, owner: &Owner) -> ExprId {
        let new = |id: ExprId| !self.kinds.contains_key(&id);
        for id in self.model.exprs.reachable_beyond(&[root], |id| !new(id)) {
            let kind = self.kind_of(self.model.exprs.node(id));
            self.kinds.insert(id, kind);
        }
        let mut open = vec![(root, position, false)];
        while let Some((id, position, is_ready)) = open.pop() {
            if self.kinds[&id] != Kind::Other || self.replaced.contains_key(&(id, position)) {
                continue;
            }
            let node = self.model.exprs.node(id).clone();
            if is_ready {
                let now = self.rebuilt(id, &node, position, owner);
                self.replaced.insert((id, position), now);
            } else {
                open.push((id, position, true));
                let parts = node
                    .children()
                    .map(|part| (part, position.inside(&node, part, &self.kinds), false));
                open.extend(parts);
            }
        }
        self.now(root, position, owner, true)
    }

    /// Returns the replacement of an expression.
    fn now(&mut self, id: ExprId, position: Position, owner: &Owner, is_whole: bool) -> ExprId {
        match self.kinds[&id] {
            Kind::Constant => id,
            Kind::Timed => self.function_of_time(id, position, owner, is_whole),
            Kind::Other => self.replaced[&(id, position)],
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

    /// Rebuilds a node that depends on more than time, with inputs for its parts that depend only on time.
    fn rebuilt(&mut self, id: ExprId, node: &Node, position: Position, owner: &Owner) -> ExprId {
        // Conditions have no rates.
        if matches!(node, Node::Relation(..) | Node::Not(_)) {
            return id;
        }
        let mut now: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let (mut together, mut others) = (Vec::new(), Vec::new());
        for part in node.children() {
            let inside = position.inside(node, part, &self.kinds);
            match (node, self.kinds[&part]) {
                (Node::Sum(_), Kind::Timed | Kind::Constant) | (Node::Product(_), Kind::Timed) => together.push(part),
                (Node::If(condition, ..), _) if *condition == part => {
                    now.insert(part, part);
                }
                _ => {
                    let replaced = self.now(part, inside, owner, false);
                    now.insert(part, replaced);
                    others.push(replaced);
                }
            }
        }
        let Some(timed) = together.iter().copied().find(|part| self.kinds[part] == Kind::Timed) else {
            now.extend(together.into_iter().map(|part| (part, part)));
            return self.model.exprs.rebuild(node, &now);
        };
        let inside = position.inside(node, timed, &self.kinds);
        if matches!(node, Node::Sum(_)) {
            let together = self.model.exprs.sum(together);
            others.push(self.function_of_time(together, inside, owner, false));
            self.model.exprs.sum(others)
        } else {
            let together = self.model.exprs.product(together);
            others.insert(0, self.function_of_time(together, inside, owner, false));
            self.model.exprs.product(others)
        }
    }

    /// Returns the replacement of a function of time: an input. A modulus or a coefficient that may step becomes its
    /// value at the start plus an input for the difference.
    fn function_of_time(&mut self, value: ExprId, position: Position, owner: &Owner, is_whole: bool) -> ExprId {
        if position != Position::Coefficient {
            return self.input_for(value, owner, is_whole);
        }
        if !self.steps(value) {
            return value;
        }
        let start = self.at_start(value);
        let difference = self.model.exprs.sub(value, start);
        let input = self.input_for(difference, owner, is_whole);
        self.model.exprs.add(start, input)
    }

    /// Returns the value of a function of time just after the start.
    fn at_start(&mut self, value: ExprId) -> ExprId {
        let time = self.model.time;
        let exprs = &mut self.model.exprs;
        let is_time = |node: &Node| matches!(node, Node::Symbol(symbol) if *symbol == time);
        let start = exprs.zero();
        let mut now: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in exprs.reachable(&[value]) {
            let node = exprs.node(id).clone();
            let known = match node {
                Node::Symbol(_) if is_time(&node) => start,
                Node::Relation(relation, a, b) => {
                    let (left, right) = (is_time(exprs.node(a)), is_time(exprs.node(b)));
                    let later = match relation {
                        Relation::Greater if left && !right => Relation::GreaterEqual,
                        Relation::LessEqual if left && !right => Relation::Less,
                        Relation::Less if right && !left => Relation::LessEqual,
                        Relation::GreaterEqual if right && !left => Relation::Greater,
                        _ => relation,
                    };
                    exprs.relation(later, now[&a], now[&b])
                }
                _ => exprs.rebuild(&node, &now),
            };
            now.insert(id, known);
        }
        now[&value]
    }

    /// Returns the input for a function of time.
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
            scale: lgm_model::Scale::SI,
            span,
            is_internal: true,
        });
        let expr = self.model.exprs.symbol(symbol);
        self.known.insert(value, expr);
        expr
    }

    /// Returns a name that no other input has.
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

/// Visits all expressions of a model that may depend on time, except signals of inputs and position equations.
fn for_expressions(model: &mut Model, visit: &mut dyn FnMut(&mut ExprId)) {
    for element in &mut model.graph.elements {
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
