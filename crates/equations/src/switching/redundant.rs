//! Modes made redundant by others: of two closed switches in parallel, one is enough.
//!
//! The laws of modes give variables of ports. If the junction structure makes one of them follow from the others, as
//! `sum n_j x_j = 0`, a law is redundant: it holds automatically. All outside variables are then determined, but not
//! the distribution of the conjugate variables y_j: because the structure conserves power, they may change along n (see
//! [`relations`]). The distribution of least norm is used, `sum n_j y_j = 0`; for dry frictions with the capacities
//! c_j, the one in which all reach their capacities at once, `sum sign(n_j) y_j / c_j = 0`.

use super::bounds::Bound;
use super::events::measured;
use crate::bond;
use crate::causality::conflict::columns_not_given;
use crate::causality::elimination::{Elimination, add_scaled};
use crate::causality::structure::{column_port, structure};
use lgm_algebra::expr::{ExprId, Function, Node, SymbolId};
use lgm_algebra::{Field, FromExpression, RationalFunctions, Row, Sampled};
use lgm_model::{ElementId, Law, Measure, Model, PortId, Variable};
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// Makes redundant laws of modes give the other variable of their port, with the distribution of least norm. Returns
/// each of the elements, followed by the elements with which it shares a load.
pub(super) fn share(model: &mut Model, measures: &mut FxHashMap<Measure, SymbolId>) -> Vec<Vec<ElementId>> {
    let elements = model.switching.elements.iter().map(|switched| switched.element);
    let ports: Vec<PortId> = elements.filter_map(|element| only_port(model, element)).collect();
    if ports.len() < 2 || relations(model, &ports, &mut Sampled::new(1)).is_none_or(|found| found.is_empty()) {
        return Vec::new();
    }
    let mut field = RationalFunctions::default();
    let relations = relations(model, &ports, &mut field).unwrap_or_default();
    let mut redundant = Vec::new();
    for (port, relation) in relations {
        let terms: Vec<(PortId, ExprId)> = (relation.iter())
            .map(|(column, factor)| (column_port(*column).0, field.to_expression(&mut model.exprs, factor)))
            .collect();
        if !field.exhausted() && is_consistent(model, &mut field, &terms) {
            give_share(model, measures, port, &terms);
            let element = |port: PortId| model.graph.ports[port.index()].element;
            let others = terms.iter().map(|term| term.0).filter(|other| *other != port);
            redundant.push([port].into_iter().chain(others).map(element).collect());
        }
    }
    redundant
}

/// Lets dry friction that slides at rest, because others hold it, give the force up to which it sticks.
pub(super) fn hold(model: &mut Model, measures: &mut FxHashMap<Measure, SymbolId>) {
    for at in 0..model.switching.elements.len() {
        let Some((port, held, law)) = held_law(model, measures, at) else {
            continue;
        };
        let element = model.graph.ports[port.index()].element.index();
        let slides = std::mem::replace(&mut model.graph.elements[element].law, held);
        let elements = model.switching.elements.iter().map(|switched| switched.element);
        let ports: Vec<PortId> = elements.filter_map(|element| only_port(model, element)).collect();
        let found = relations(model, &ports, &mut Sampled::new(1)).unwrap_or_default();
        let mut columns = found.iter().flat_map(|relation| &relation.1);
        let rests = columns.any(|entry| column_port(entry.0).0 == port);
        model.graph.elements[element].law = if rests { law } else { slides };
    }
}

/// Returns the port of an element that slides, the law of the mode in which it sticks, and a law with the force at which
/// it leaves that mode; `None` if this is the force while it slides.
fn held_law(model: &mut Model, measures: &mut FxHashMap<Measure, SymbolId>, at: usize) -> Option<(PortId, Law, Law)> {
    let switched = &model.switching.elements[at];
    let port = only_port(model, switched.element)?;
    let (variable, slides) = given(model, port)?;
    let mut changes = switched.modes[switched.first].changes.iter();
    let (held, condition) = changes.find_map(|change| {
        let mode = &switched.modes[change.to];
        let gives_other = matches!(mode.law, Law::Source { given, .. } if given != variable);
        let mut back = mode.changes.iter();
        let back = back.find(|back| gives_other && back.to == switched.first && back.sets.is_empty())?;
        Some((mode.law.clone(), back.condition))
    })?;
    let symbol = measured(model, measures, port, variable);
    let Node::Symbol(symbol) = *model.exprs.node(symbol) else {
        return None;
    };
    let value = Bound::of(&mut model.exprs, condition, symbol)?.value;
    let law = Law::Source {
        given: variable,
        values: vec![value],
    };
    (value != slides).then_some((port, held, law))
}

/// Returns the port of a one-port element, if its law in force gives a variable.
fn only_port(model: &Model, element: ElementId) -> Option<PortId> {
    let element = &model.graph.elements[element.index()];
    let is_source = matches!(element.law, Law::Source { .. });
    (is_source && element.ports.len() == 1).then_some(PortId(element.ports.start))
}

/// Returns the variable that the law of a port gives, and its value.
fn given(model: &Model, port: PortId) -> Option<(Variable, ExprId)> {
    match &model.graph.elements[model.graph.ports[port.index()].element.index()].law {
        Law::Source { given, values } if values.len() == 1 => Some((*given, values[0])),
        _ => None,
    }
}

/// Returns relations between only the given variables of these ports, each with a port that no other relation contains;
/// `None` if a modulus cannot be evaluated in the field.
fn relations<F: FromExpression>(
    model: &Model,
    ports: &[PortId],
    field: &mut F,
) -> Option<Vec<(PortId, Row<F::Element>)>> {
    let graph = bond::lower(model);
    let structure = structure(model, &graph);
    let rows = structure.rows_in(field, |field, id| field.from_expression(&model.exprs, id));
    let mut elimination = Elimination::new(rows.ok()?, structure.columns);
    elimination.pivot_all(field, structure.inner.iter().copied());
    elimination.pivot_all(field, columns_not_given(model));
    let used: Vec<u32> = elimination.pivots.iter().map(|pivot| pivot.0).collect();
    let left = (0..elimination.rows.len() as u32).filter(|row| !used.contains(row));
    let left = left.map(|row| elimination.rows[row as usize].clone()).collect();
    Some(reduced(field, left, &|column| ports.contains(&column_port(column).0)))
}

/// Performs Gauss-Jordan elimination of rows. Unwanted columns are eliminated first, with the rows that contain them;
/// each of the remaining relations has a separate last column, with the factor 1.
fn reduced<F: Field>(
    field: &mut F,
    mut left: Vec<Row<F::Element>>,
    is_wanted: &dyn Fn(u32) -> bool,
) -> Vec<(PortId, Row<F::Element>)> {
    let mut done: Vec<(u32, Row<F::Element>)> = Vec::new();
    let eliminate =
        |field: &mut F, rows: &mut dyn Iterator<Item = &mut Row<F::Element>>, pivot: &Row<F::Element>, column: u32| {
            for row in rows {
                if let Some(at) = row.iter().position(|entry| entry.0 == column) {
                    let factor = field.neg(&row[at].1.clone());
                    *row = add_scaled(field, row, pivot, &factor, Some(column), |_| {});
                }
            }
        };
    loop {
        left.retain(|row| !row.is_empty());
        let unwanted = left.iter().position(|row| row.iter().any(|entry| !is_wanted(entry.0)));
        let Some(mut pivot) = unwanted.map(|at| left.swap_remove(at)).or_else(|| left.pop()) else {
            break;
        };
        let at = match unwanted {
            Some(_) => pivot
                .iter()
                .position(|entry| !is_wanted(entry.0))
                .expect("invariant: the row was found by it"),
            None => pivot.len() - 1,
        };
        let (column, own) = pivot[at].clone();
        for entry in &mut pivot {
            entry.1 = field.div(&entry.1, &own);
        }
        eliminate(field, &mut left.iter_mut(), &pivot, column);
        if unwanted.is_none() {
            eliminate(field, &mut done.iter_mut().map(|entry| &mut entry.1), &pivot, column);
            done.push((column, pivot));
        }
    }
    done.sort_by_key(|entry| entry.0);
    done.into_iter()
        .map(|(column, row)| (column_port(column).0, row))
        .collect()
}

/// Returns true if the values of the laws agree with the relation between them.
fn is_consistent(model: &mut Model, field: &mut RationalFunctions, terms: &[(PortId, ExprId)]) -> bool {
    let mut sum = Vec::with_capacity(terms.len());
    for (port, factor) in terms {
        let Some((_, value)) = given(model, *port) else {
            return false;
        };
        sum.push(model.exprs.mul(*factor, value));
    }
    let sum = model.exprs.sum(sum);
    let found = field.from_expression(&model.exprs, sum);
    found.is_ok_and(|sum| field.is_zero(&sum)) && !field.exhausted()
}

/// Assigns a port its part of the variable that its relation leaves open.
fn give_share(
    model: &mut Model,
    measures: &mut FxHashMap<Measure, SymbolId>,
    port: PortId,
    terms: &[(PortId, ExprId)],
) {
    let capacities: Option<Vec<ExprId>> = terms.iter().map(|(port, _)| capacity(model, measures, *port)).collect();
    let capacities = capacities.map(|capacities| positive(model, capacities));
    let own = terms.iter().position(|term| term.0 == port);
    let own = own.expect("invariant: the relation holds its own port");
    let mut shares = Vec::new();
    for (at, (other, factor)) in terms.iter().enumerate().filter(|(_, term)| term.0 != port) {
        let Some((variable, _)) = given(model, *other) else {
            return;
        };
        let value = measured(model, measures, *other, variable.conjugate());
        let exprs = &mut model.exprs;
        let (factor, value) = match &capacities {
            Some(capacities) => {
                let width = exprs.div(capacities[own], capacities[at]);
                (exprs.call(Function::Sign, [*factor]), exprs.mul(width, value))
            }
            None => (*factor, value),
        };
        shares.push(exprs.mul(factor, value));
    }
    let sum = model.exprs.sum(shares);
    let value = model.exprs.neg(sum);
    let Some((variable, _)) = given(model, port) else {
        return;
    };
    let element = model.graph.ports[port.index()].element;
    model.graph.elements[element.index()].law = Law::Source {
        given: variable.conjugate(),
        values: vec![value],
    };
}

/// One over the fraction of the sum of all capacities that each capacity counts for at least, where capacities vary. The sum in turn counts
/// for at least this fraction of 1 N or 1 N.m.
const LEAST_CAPACITY: i64 = 1_000_000_000_000;

/// Keeps capacities that vary in a run from being 0, such as that of a released brake.
///
/// A released brake then carries a tiny part of the load, which exceeds its capacity: it slides, and the others carry the load.
fn positive(model: &mut Model, capacities: Vec<ExprId>) -> Vec<ExprId> {
    let parameters: Vec<SymbolId> = (model.parameters.iter())
        .flat_map(|parameter| parameter.entries.iter().map(|entry| entry.symbol))
        .collect();
    let symbols = model.exprs.symbols_of(&capacities);
    if symbols.iter().all(|symbol| parameters.contains(symbol)) {
        return capacities;
    }
    let exprs = &mut model.exprs;
    let sum = exprs.sum(capacities.clone());
    let fraction = exprs.number(BigRational::new(1.into(), LEAST_CAPACITY.into()));
    let sum = exprs.add(sum, fraction);
    let least = exprs.mul(fraction, sum);
    capacities
        .into_iter()
        .map(|capacity| exprs.add(capacity, least))
        .collect()
}

/// Returns half of the range width that the mode in force leaves to the other variable of its port; `None` if a side has no bound.
fn capacity(model: &mut Model, measures: &mut FxHashMap<Measure, SymbolId>, port: PortId) -> Option<ExprId> {
    let element = model.graph.ports[port.index()].element;
    let switched = model
        .switching
        .elements
        .iter()
        .find(|switched| switched.element == element)?;
    let conditions: Vec<ExprId> = switched.modes[switched.first]
        .changes
        .iter()
        .map(|change| change.condition)
        .collect();
    let variable = given(model, port)?.0.conjugate();
    let symbol = measured(model, measures, port, variable);
    let Node::Symbol(symbol) = *model.exprs.node(symbol) else {
        return None;
    };
    let bounds: Vec<Bound> = (conditions.into_iter())
        .filter_map(|condition| Bound::of(&mut model.exprs, condition, symbol))
        .collect();
    let side = |is_above: bool| {
        bounds
            .iter()
            .find(|bound| bound.is_above == is_above)
            .map(|bound| bound.value)
    };
    let (above, below) = (side(true)?, side(false)?);
    let width = model.exprs.sub(above, below);
    let two = model.exprs.integer(2);
    Some(model.exprs.div(width, two))
}
