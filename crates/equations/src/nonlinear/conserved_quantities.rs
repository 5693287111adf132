//! Conserved quantities as states: the flux linkage, charge, quantity or displacement of a storage element together
//! with the nonlinear storage that follows from it.
//!
//! The current of a winding in series with a saturating core follows the voltage slowly while the core is unsaturated,
//! and quickly otherwise. With the current as the state, its rate is a narrow spike in time, which steps may miss,
//! together with the flux of the core. The total flux linkage, `L*i + flux(i)`, has no such rate: its rate is the
//! remaining voltage. It therefore becomes the state, and the current becomes the unknown of a loop: Legendre's change
//! from velocities to quantities. The sharpness of a law depends on parameters and on the amplitude of a run, and is
//! not considered. All nonlinear storage without a state is treated in the same way.
//!
//! In the laws of independent storage that reduction leaves,
//! `sum of M_kl x_l' + sum of c_j w_j + sum of d_s u_s' + rest = 0`, the `w_j` are rates `z_j'` of the content of
//! dependent nonlinear storage. With constant factors `P_k = sum of M_kl x_l + sum of c_j z_j + sum of d_s u_s` is the
//! state, and `P_k' = -rest`.

use crate::assembly::linearity::varies;
use crate::causality::elimination::Row;
use crate::formulation::dependent_starts::port_name;
use crate::formulation::frame::total_state;
use crate::formulation::matrices::{Present, is_negative};
use crate::index_reduction::Reduced;
use crate::nonlinear::prepare::Prepared;
use crate::parameter_values::parameter_numbers;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind};
use lgm_model::system::{StartConstraint, StateSystem};
use lgm_model::{Closed, ElementId, Law, Model, NonlinearLaw, PortId, StorageForm, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A state that is the total of several storage elements.
pub(crate) struct Conserved<E> {
    /// Its index in the list of states.
    pub(crate) state: usize,
    /// The variable that would otherwise be this state, now defined by the total.
    pub(crate) variable: SymbolId,
    /// Factors of the co-energies of independent storage, by index.
    pub(crate) masses: Vec<(usize, ExprId)>,
    /// Factors of the content of dependent nonlinear storage, by the symbols of the energy variables in the model.
    pub(crate) held: Vec<(SymbolId, ExprId)>,
    /// Factors of the values of sources, by index.
    pub(crate) sources: Vec<(usize, ExprId)>,
    /// The rate of the total, times the divisor.
    pub(crate) rate: Row<E>,
    /// The value of storage whose law gives the rate of its co-energy variable, so that the total is in the unit of the
    /// stored variable; otherwise none.
    pub(crate) divisor: Option<ExprId>,
    /// The initial value of the variable, if the total follows from it. Its value in terms of the states is still unknown.
    start: Option<StartConstraint>,
}

/// A dependent port of nonlinear storage.
struct Held<'a> {
    law: &'a NonlinearLaw,
    co_energy: SymbolId,
    energy: SymbolId,
    element: ElementId,
    is_started: bool,
    /// True if the law determines the co-energy variable, so that nothing is stored at rest for any other choice of the
    /// law.
    gives_co_energy: bool,
}

impl<E> Conserved<E> {
    /// Returns the equation of the total at the start; `follows` is the variable over the symbols of the system.
    pub(crate) fn start_constraint(&self, follows: ExprId) -> Option<StartConstraint> {
        self.start.clone().map(|start| StartConstraint { follows, ..start })
    }
}

/// Returns the states that become conserved quantities: those whose laws contain the rate of the content of nonlinear
/// storage, and all that have such rates or masses in common with them. If one of these has a changing factor, none of
/// them does.
pub(crate) fn find<F: Present>(
    prepared: &Prepared,
    field: &mut F,
    exprs: &mut Exprs,
    reduced: &Reduced<F::Element>,
) -> Vec<Conserved<F::Element>> {
    let known = reduced.known;
    let held = held_by_sources(prepared, reduced);
    if held.is_empty() {
        return Vec::new();
    }
    let is_held = |column: u32| held.contains_key(&place_of(column, known.source(0)));
    let is_shared = |column: &u32| *column >= known.rate(0) || is_held(*column);
    let shared = |state: usize| reduced.rates[state].iter().map(|entry| entry.0).filter(is_shared);
    let mut rows: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for state in 0..reduced.rates.len() {
        for column in shared(state) {
            rows.entry(column).or_default().push(state);
        }
    }
    let mut found: Vec<Conserved<F::Element>> = Vec::new();
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    for first in 0..reduced.rates.len() {
        if !shared(first).any(is_held) || !seen.insert(first) {
            continue;
        }
        let mut group = vec![first];
        let mut next = 0;
        while let Some(state) = group.get(next) {
            next += 1;
            let others = shared(*state).flat_map(|column| rows.remove(&column).unwrap_or_default());
            let others: Vec<usize> = others.filter(|other| seen.insert(*other)).collect();
            group.extend(others);
        }
        let of_group = group
            .iter()
            .map(|state| quantity_of(&prepared.model, field, exprs, reduced, &held, *state));
        found.extend(of_group.collect::<Option<Vec<_>>>().unwrap_or_default());
    }
    found.sort_unstable_by_key(|quantity| quantity.state);
    found
}

/// Returns true if the law of a nonlinear storage element gives only its co-energy in a closed form. The co-energy
/// variable may then decrease with the stored one.
pub(crate) fn gives_co_energy(model: &Model, port: PortId) -> bool {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let Law::Nonlinear(law) = &element.law else {
        return false;
    };
    let at = (port.0 - element.ports.start) as usize;
    law.storage[at].is_some_and(|(co_energy, _)| {
        let (effort, flow) = law.explicit[at];
        matches!(
            if co_energy == Variable::Effort { effort } else { flow },
            Closed::Direct
        )
    })
}

/// Returns a warning about nonlinear storage that has its rate in common with other storage, without a state that holds the total.
pub(crate) fn warning(model: &Model, port: PortId) -> Diagnostic {
    let element = model.graph.ports[port.index()].element;
    let name = model.element_name(element);
    let message = format!(
        "`{name}` and other storage determine each other, and no state represents their total: if its law is steep \
         or decreasing, numbers may be wrong"
    );
    Diagnostic::warning(Code::LGM0449, message)
        .label(model.element_span(element), "this law is nonlinear")
        .help(format!(
            "compare runs with another `--retain`, `--method sdirk` and a smaller tolerance; or add a small series \
             resistance or parallel damper to `{name}`"
        ))
}

/// Returns the index of a column relative to `first`; for columns before that, an invalid index.
fn place_of(column: u32, first: u32) -> usize {
    column.checked_sub(first).map_or(usize::MAX, |place| place as usize)
}

/// Returns the dependent ports of nonlinear storage, by source index; `None` if their given variable is not the rate of
/// their stored variable.
fn held_by_sources<'a, E>(prepared: &'a Prepared, reduced: &Reduced<E>) -> FxHashMap<usize, Option<Held<'a>>> {
    let model = &prepared.model;
    let held = |port: PortId| {
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        let Law::Nonlinear(law) = &element.law else { return None };
        let at = (port.0 - element.ports.start) as usize;
        let (co_energy, energy) = law.storage[at]?;
        let integral = prepared.released.iter().find(|integral| integral.symbol == energy)?;
        let ((effort, flow), (effort_closed, flow_closed)) = (law.variables[at], law.explicit[at]);
        let (co_energy, given, closed) = match co_energy {
            Variable::Effort => (effort, flow, effort_closed),
            Variable::Flow => (flow, effort, flow_closed),
        };
        let is_rate = matches!(model.exprs.node(integral.rate), Node::Symbol(symbol) if *symbol == given);
        Some(is_rate.then_some(Held {
            law,
            co_energy,
            energy,
            element: model.graph.ports[port.index()].element,
            is_started: integral.start.is_some(),
            gives_co_energy: matches!(closed, Closed::Direct),
        }))
    };
    let places = reduced.sources.iter().enumerate();
    places.filter_map(|(place, port)| Some((place, held(*port)?))).collect()
}

/// Returns one state as a total, if all of its factors are constant.
fn quantity_of<F: Present>(
    model: &Model,
    field: &mut F,
    exprs: &mut Exprs,
    reduced: &Reduced<F::Element>,
    held: &FxHashMap<usize, Option<Held<'_>>>,
    state: usize,
) -> Option<Conserved<F::Element>> {
    let known = reduced.known;
    let element = &model.graph.elements[model.graph.ports[reduced.independent[state].index()].element.index()];
    let Law::Storage { value, form, .. } = &element.law else {
        unreachable!("invariant: only storage is independent")
    };
    let divisor = match form {
        StorageForm::Direct => None,
        StorageForm::Inverse if element.ports.len() == 1 => Some(value.get(0, 0)),
        StorageForm::Inverse => return None,
    };
    if element.is_velocity() {
        return None;
    }
    let mut found = Conserved {
        state,
        variable: exprs.new_symbol("total", SymbolKind::Assignment),
        masses: Vec::new(),
        held: Vec::new(),
        sources: Vec::new(),
        rate: Row::new(),
        divisor,
        start: None,
    };
    // The storage itself is thus a positive part of the total.
    let own = reduced.rates[state].iter().find(|entry| entry.0 == known.rate(state));
    let own = field.present(exprs, &own?.1);
    let is_turned = is_negative(exprs, own);
    for (column, value) in &reduced.rates[state] {
        let (value, negative) = match is_turned {
            true => (field.neg(value), value.clone()),
            false => (value.clone(), field.neg(value)),
        };
        let mut factor = |field: &mut F| {
            let factor = field.present(exprs, &value);
            let factor = divisor.map_or(factor, |divisor| exprs.div(factor, divisor));
            (!varies(exprs, factor)).then_some(factor)
        };
        let source = place_of(*column, known.source(0));
        if *column >= known.rate(0) {
            found.masses.push(((*column - known.rate(0)) as usize, factor(field)?));
        } else if *column >= known.drift(0) {
            return None;
        } else if *column >= known.source_rate(0) {
            found
                .sources
                .push(((*column - known.source_rate(0)) as usize, factor(field)?));
        } else if let Some(held) = held.get(&source) {
            found.held.push((held.as_ref()?.energy, factor(field)?));
        } else {
            found.rate.push((*column, negative));
        }
    }
    Some(found)
}

/// Makes the totals states of the system. If the user gave an initial value for the variable of such a storage, the
/// total follows from it; otherwise it is the total at rest.
pub(crate) fn take_places<E>(
    prepared: &Prepared,
    system: &mut StateSystem,
    reduced: &Reduced<E>,
    quantities: &mut [Conserved<E>],
) {
    let model = &prepared.model;
    let held = held_by_sources(prepared, reduced);
    let held: FxHashMap<SymbolId, Held<'_>> = held.into_values().flatten().map(|held| (held.energy, held)).collect();
    let is_given = |quantity: &Conserved<E>| {
        let mut starts = quantity.held.iter().map(|(energy, _)| held[energy].is_started);
        system.states[quantity.state].start_given || starts.any(|is_started| is_started)
    };
    let given: Vec<bool> = quantities.iter().map(is_given).collect();
    let is_any_given = given.contains(&true);
    for (quantity, is_given) in quantities.iter_mut().zip(given) {
        let port = reduced.independent[quantity.state];
        let total = total_state(model, &mut system.exprs, port);
        let natural = at_rest(&mut system.exprs, quantity, &held);
        let old = std::mem::replace(&mut system.states[quantity.state], total);
        system.exprs.rename(quantity.variable, old.name.to_string());
        let names = quantity
            .held
            .iter()
            .map(|(energy, _)| model.element_name(held[energy].element));
        let mut names: Vec<Arc<str>> = std::iter::once(old.element.clone())
            .chain(names.map(|name| name.to_string().into()))
            .collect();
        let state = &mut system.states[quantity.state];
        state.written = Some(format!("total of {}", names.join(" and ")).into());
        names.sort_unstable();
        state.total_of = names;
        if old.start_given || natural.is_none() {
            quantity.start = Some(StartConstraint {
                name: port_name(model, port),
                is_storage: true,
                given: old.start,
                follows: old.start,
                span: old.start_span.unwrap_or(old.span),
            });
        }
        // All initial values except the given ones stay unchanged.
        state.start_given = is_any_given && !is_given && natural.is_some();
        if let Some(natural) = natural {
            (state.start, state.start_value) = (natural, value(model, &system.exprs, natural));
        }
    }
}

/// Evaluates an initial value at the parameter values; returns NaN if it has no value.
fn value(model: &Model, exprs: &Exprs, start: ExprId) -> f64 {
    let parameters = parameter_numbers(model);
    let found = exprs.evaluate_f64(&[start], &|symbol| parameters.get(&symbol).copied());
    found.map_or(f64::NAN, |list| list[0])
}

/// Sets the initial values of totals that follow from given ones, in terms of the parameters, so that emitted code
/// derives them too. `totals` are the contents of the totals, over the variables that they determine. Others remain
/// to be searched for: if a source takes part, or a variable without a given initial value.
pub(crate) fn close_starts<E>(
    model: &Model,
    system: &mut StateSystem,
    quantities: &mut [Conserved<E>],
    totals: &[ExprId],
) {
    let known = quantities
        .iter()
        .filter_map(|quantity| Some((quantity.variable, quantity.start.as_ref()?.given)));
    let known: FxHashMap<SymbolId, ExprId> = known.collect();
    for (quantity, total) in quantities.iter_mut().zip(totals) {
        let Some(start) = &quantity.start else { continue };
        let found = system.exprs.substitute(&[*total], |symbol| known.get(&symbol).copied())[0];
        if varies(&system.exprs, found) {
            continue;
        }
        let state = &mut system.states[quantity.state];
        (state.start, state.start_value) = (found, value(model, &system.exprs, found));
        (state.start_given, state.start_span) = (true, Some(start.span));
        quantity.start = None;
    }
}

/// Returns the total of all storage at rest without sources; `None` if a law does not define it.
fn at_rest<E>(exprs: &mut Exprs, quantity: &Conserved<E>, held: &FxHashMap<SymbolId, Held<'_>>) -> Option<ExprId> {
    let zero = exprs.zero();
    let mut terms = Vec::new();
    for (energy, factor) in &quantity.held {
        let held = &held[energy];
        if held.gives_co_energy {
            continue;
        }
        let mut residuals = held.law.residuals.iter();
        let residual = residuals.find(|residual| exprs.depends_on(**residual, *energy))?;
        let residual = exprs.substitute(&[*residual], |symbol| (symbol == held.co_energy).then_some(zero))[0];
        let value = exprs
            .isolate(residual, *energy)
            .filter(|value| !varies(exprs, *value))?;
        terms.push(exprs.mul(*factor, value));
    }
    Some(exprs.sum(terms))
}
