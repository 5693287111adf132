//! A component's inputs from the surrounding model: values of sources become inputs, values of moduli are fixed.

use crate::one_port::Places;
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind, to_f64};
use lgm_equations::{lowest_terms, shortest_decimal};
use lgm_model::{Dissipator, Input, Law, Measure, Model, NodeId, Parameter, ParameterEntry, PathId};
use num_rational::BigRational;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Removes the parts of the surrounding model: its measurements, integrals, outputs and signals. Those that the component uses become
/// inputs if they are the value of a source or of an integrand. A variable that a modulus depends on becomes a parameter: a displacement
/// with its initial value, any other variable without a meaningful value. The displacements of a component without storage become
/// parameters as well, because its equations hold at each instant. Returns the parameters by name, each with true if it has a value.
pub(super) fn cut(
    model: &Model,
    rest: &mut Model,
    places: &Places,
    (is_inside, is_own_node): (&dyn Fn(PathId) -> bool, &dyn Fn(NodeId) -> bool),
) -> Vec<(String, bool)> {
    rest.outputs.clear();
    rest.signals.clear();
    rest.start_conditions.clear();
    rest.experiment = None;
    let mut gone: FxHashSet<SymbolId> = FxHashSet::default();
    rest.measures.clear();
    for (symbol, measure) in &model.measures {
        let moved = match *measure {
            Measure::Common(node) if !is_own_node(node) => None,
            other => places.measure(other),
        };
        match moved {
            Some(moved) => rest.measures.push((*symbol, moved)),
            None => _ = gone.insert(*symbol),
        }
    }
    let is_static = |element: &lgm_model::Element| !matches!(element.law, Law::Storage { .. } | Law::Nonlinear(_));
    let is_static = rest.graph.elements.iter().all(is_static);
    let is_own = |integral: &lgm_model::Integral| match integral.owner {
        _ if is_static => false,
        Some(owner) => places.elements[owner.index()].is_some(),
        None => is_inside(integral.path),
    };
    gone.extend(
        model
            .integrals
            .iter()
            .filter(|each| !is_own(each))
            .map(|each| each.symbol),
    );
    rest.integrals.retain(is_own);
    for integral in &mut rest.integrals {
        integral.owner = integral.owner.and_then(|owner| places.elements[owner.index()]);
    }
    let mut outside = Outside {
        model,
        gone,
        inputs: FxHashMap::default(),
        fixed: FxHashMap::default(),
        names: Vec::new(),
    };
    outside.replace(rest);
    outside.names
}

/// The variables of the surrounding model, and their replacements.
struct Outside<'m> {
    model: &'m Model,
    gone: FxHashSet<SymbolId>,
    inputs: FxHashMap<SymbolId, ExprId>,
    fixed: FxHashMap<SymbolId, ExprId>,
    names: Vec<(String, bool)>,
}

impl Outside<'_> {
    fn replace(&mut self, rest: &mut Model) {
        for at in 0..rest.integrals.len() {
            let rate = rest.integrals[at].rate;
            rest.integrals[at].rate = self.with_inputs(rest, rate);
        }
        for at in 0..rest.graph.elements.len() {
            let mut law = rest.graph.elements[at].law.clone();
            let is_source = matches!(law, Law::Source { .. });
            for value in expressions(&mut law) {
                let own = match is_source {
                    true => self.with_inputs(rest, *value),
                    false => self.with_fixed(rest, *value),
                };
                // Short values keep polynomials short.
                *value = lowest_terms(&mut rest.exprs, own);
            }
            rest.graph.elements[at].law = law;
        }
    }

    fn gone_in(&self, rest: &Model, value: ExprId) -> Vec<SymbolId> {
        let symbols = rest.exprs.symbols_of(&[value]).into_iter();
        symbols.filter(|symbol| self.gone.contains(symbol)).collect()
    }

    /// Replaces each variable of the surrounding model by an input.
    fn with_inputs(&mut self, rest: &mut Model, value: ExprId) -> ExprId {
        for symbol in self.gone_in(rest, value) {
            if self.inputs.contains_key(&symbol) {
                continue;
            }
            let name: Arc<str> = self.name_of(symbol).into();
            let own = rest.exprs.new_symbol(name.clone(), SymbolKind::Input);
            let at = rest.inputs.iter().take_while(|input| !input.is_internal).count();
            rest.inputs.insert(
                at,
                Input {
                    name,
                    symbol: own,
                    signal: None,
                    unit: None,
                    scale: lgm_model::Scale::SI,
                    span: rest.heading.span,
                    is_internal: false,
                },
            );
            let own = rest.exprs.symbol(own);
            self.inputs.insert(symbol, own);
        }
        rest.exprs
            .substitute(&[value], |symbol| self.inputs.get(&symbol).copied())[0]
    }

    /// Replaces each variable of the surrounding model by a parameter.
    fn with_fixed(&mut self, rest: &mut Model, value: ExprId) -> ExprId {
        for symbol in self.gone_in(rest, value) {
            if self.fixed.contains_key(&symbol) {
                continue;
            }
            let integral = self.model.integrals.iter().find(|each| each.symbol == symbol);
            let name: Arc<str> = self.name_of(symbol).into();
            let given = rest.point.iter().position(|given| given.name == name);
            let is_valued = given.is_some() || integral.is_some();
            let start = match given {
                Some(at) => rest.point.remove(at).value,
                None => match integral {
                    Some(integral) => integral.start.unwrap_or(rest.exprs.zero()),
                    // A value at which no sum of a few of them vanishes.
                    None => rest
                        .exprs
                        .number(shortest_decimal(1.3 + 0.61 * self.names.len() as f64)),
                },
            };
            let own = rest.exprs.new_symbol(name.clone(), SymbolKind::Parameter);
            let value = known_value(rest, start);
            rest.parameters.push(Parameter {
                name: name.clone(),
                shape: Vec::new(),
                entries: vec![ParameterEntry {
                    symbol: own,
                    derived: None,
                    exact: None,
                    value,
                }],
                unit: integral.and_then(|integral| integral.unit.clone()),
                scale: lgm_model::Scale::SI,
                literal_unit: None,
                span: rest.heading.span,
                value_span: rest.heading.span,
                is_constant: false,
            });
            let own = rest.exprs.symbol(own);
            self.fixed.insert(symbol, own);
            self.names.push((name.to_string(), is_valued));
        }
        rest.exprs
            .substitute(&[value], |symbol| self.fixed.get(&symbol).copied())[0]
    }

    /// Returns the name of a variable in the model.
    fn name_of(&self, symbol: SymbolId) -> String {
        match self.model.integrals.iter().find(|each| each.symbol == symbol) {
            Some(integral) => self.model.path_name(integral.path),
            None => self.model.exprs.symbol_info(symbol).name.to_string(),
        }
    }
}

/// Returns the value of an expression in terms of the parameters.
fn known_value(model: &Model, value: ExprId) -> BigRational {
    let entries = || model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let exact: FxHashMap<SymbolId, &BigRational> = entries().map(|entry| (entry.symbol, &entry.value)).collect();
    let found = model
        .exprs
        .evaluate_exact(&[value], &|symbol| exact.get(&symbol).copied().cloned());
    if let Some(value) = found.ok().and_then(|mut list| list.pop()) {
        return value;
    }
    let rounded = model
        .exprs
        .evaluate_unchecked(&[value], &|symbol| exact.get(&symbol).map(|value| to_f64(value)))[0];
    shortest_decimal(rounded)
}

/// Returns the expressions of a law.
fn expressions(law: &mut Law) -> Vec<&mut ExprId> {
    match law {
        Law::Storage { value, .. } => value.entries.iter_mut().collect(),
        Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
            matrix.entries.iter_mut().collect()
        }
        Law::Dissipator(Dissipator::Implicit(first, second)) => {
            first.entries.iter_mut().chain(&mut second.entries).collect()
        }
        Law::Source { values, .. } => values.iter_mut().collect(),
        Law::Coupler { matrix, .. } => matrix.entries.iter_mut().collect(),
        Law::Nonlinear(law) => law.residuals.iter_mut().collect(),
    }
}
