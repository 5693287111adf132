//! A nonlinear model prepared for reduction: velocities of modulating displacements, and causality.
//!
//! A modulus that depends on a displacement `q = int(v)` makes v the natural velocity for the equations, as in
//! Lagrange's method. Any other choice divides by the modulus, and fails where the modulus vanishes. v therefore gets a
//! state of its own: an A-type storage element of value 0 is added where v is measured, and precedes all other storage.
//! It does not change the energy; the storage that now depends on it adds the configuration-dependent mass to its
//! equation. If a storage element already carries v, that element comes first instead; if sources or resistances
//! determine v, nothing is added.

use crate::assembly::linearity::varies;
use crate::bond::{self, BondGraph};
use crate::causality::structure::port_column;
use crate::causality::{self, Causality, Request};
use crate::formulation::dependent_starts::{natural_factor, port_name};
use crate::parameter_values::sampled;
use crate::state_selection::quasi_velocities::{Carriers, Ends, Place, velocities, with_velocities};
use crate::state_selection::retain::{sampled_rows, unmet};
use lgm_algebra::FromExpression;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_model::system::{StartConstraint, StateSystem};
use lgm_model::{Dissipator, Integral, Law, Model, PortId, Variable};
use lgm_source::diagnostic::{Diagnostic, has_errors};
use rustc_hash::{FxHashMap, FxHashSet};

/// A model with its graph and causality.
pub(crate) struct Prepared {
    pub(crate) model: Model,
    pub(crate) graph: BondGraph,
    pub(crate) causality: Causality,
    /// Integrals of the model that are not states: energy variables that follow from the co-energy of their storage.
    pub(crate) released: Vec<Integral>,
    /// Symbols in moduli that are rates, each with the expression whose rate it is.
    pub(crate) rates: Vec<(SymbolId, ExprId)>,
}

pub(crate) fn prepare(model: &Model, request: &Request, diagnostics: &mut Vec<Diagnostic>) -> Prepared {
    let (model, rates) = &without_calls(model);
    let mut ranks: FxHashMap<PortId, i8> = FxHashMap::default();
    let mut places: Vec<Place> = Vec::new();
    let found = velocities(model);
    if !found.is_empty() {
        let carriers = Carriers::of(model);
        let mut known: FxHashSet<Ends> = FxHashSet::default();
        for place in found {
            match carriers.at(&place) {
                Some(port) => {
                    ranks.insert(port, -1);
                }
                None if known.insert(place.ends) => places.push(place),
                None => {}
            }
        }
    }
    if !places.is_empty() {
        // A velocity that other storage does not determine has no inertia and no separate equation.
        let (trial, ports) = with_velocities(model, &places);
        let mut last = ranks.clone();
        last.extend(ports.iter().map(|port| (*port, 1)));
        let (found, faults) = assign(trial, request, last);
        if !has_errors(&faults) {
            let dependent: FxHashSet<PortId> = found.causality.dependent.iter().copied().collect();
            let mut keep = ports.iter().map(|port| dependent.contains(port));
            places.retain(|_| keep.next().unwrap_or(false));
        }
    }
    let (model, ports) = with_velocities(model, &places);
    ranks.extend(ports.iter().map(|port| (*port, -1)));
    let (mut prepared, faults) = assign(model, request, ranks);
    prepared.rates.clone_from(rates);
    let is_sound = !has_errors(&faults);
    diagnostics.extend(faults);
    if is_sound && !request.retain.is_empty() {
        let Prepared { model, causality, .. } = &prepared;
        diagnostics.extend(unmet(model, causality, &request.retain, || {
            sampled_rows(model, causality, false)
        }));
    }
    prepared
}

/// Returns the model with a state for each `int(..)` in a source, a coupler, a dissipator, a nonlinear law or a
/// declared integral that no state holds yet. In couplers, dissipators and nonlinear laws, these states and symbols for
/// `der(..)` replace the calls. Also returns the symbols with the expressions whose rates they are.
fn without_calls(model: &Model) -> (Model, Vec<(SymbolId, ExprId)>) {
    let mut model = model.clone();
    let mut roots: Vec<ExprId> = model.integrals.iter().map(|integral| integral.rate).collect();
    let mut entries: Vec<ExprId> = Vec::new();
    for element in &model.graph.elements {
        match &element.law {
            Law::Source { values, .. } => roots.extend(values),
            Law::Coupler { matrix, .. } => entries.extend(&matrix.entries),
            Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
                entries.extend(&matrix.entries);
            }
            Law::Dissipator(Dissipator::Implicit(a, b)) => entries.extend(a.entries.iter().chain(&b.entries)),
            Law::Nonlinear(law) => entries.extend(&law.residuals),
            Law::Storage { .. } => {}
        }
    }
    roots.extend(&entries);
    let mut holders: FxHashMap<ExprId, usize> = FxHashMap::default();
    for (at, integral) in model.integrals.iter().enumerate() {
        if integral.holds(integral.rate) {
            holders.entry(integral.rate).or_insert(at);
        }
    }
    for id in model.exprs.reachable(&roots) {
        let Node::Call(Function::Int, list) = model.exprs.node(id) else {
            continue;
        };
        let rate = list[0];
        if holders.contains_key(&rate) {
            continue;
        }
        holders.insert(rate, model.add_integral(rate, "int(..) in a law"));
    }
    let mut rates: Vec<(SymbolId, ExprId)> = Vec::new();
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let Model {
        exprs,
        integrals,
        graph,
        ..
    } = &mut model;
    for id in exprs.reachable(&entries) {
        let node = exprs.node(id).clone();
        let now = match &node {
            Node::Call(Function::Int, list) => {
                let held = holders.get(&list[0]).map(|at| &integrals[*at]);
                let held = held.expect("invariant: every integral has a state by now");
                let (state, zero) = (exprs.symbol(held.symbol), exprs.zero());
                exprs.sub(state, held.start.unwrap_or(zero))
            }
            Node::Call(Function::Der, list) => {
                let symbol = exprs.new_symbol(format!("rate {}", rates.len() + 1), SymbolKind::Assignment);
                rates.push((symbol, replaced[&list[0]]));
                exprs.symbol(symbol)
            }
            _ => exprs.rebuild(&node, &replaced),
        };
        replaced.insert(id, now);
    }
    for element in &mut graph.elements {
        let lists: Vec<&mut Vec<ExprId>> = match &mut element.law {
            Law::Coupler { matrix, .. }
            | Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
                vec![&mut matrix.entries]
            }
            Law::Dissipator(Dissipator::Implicit(a, b)) => vec![&mut a.entries, &mut b.entries],
            Law::Nonlinear(law) => vec![&mut law.residuals],
            Law::Source { .. } | Law::Storage { .. } => Vec::new(),
        };
        for entry in lists.into_iter().flatten() {
            *entry = replaced[entry];
        }
    }
    (model, rates)
}

/// Decides causality with the parameters at their values and general values for everything else.
fn assign(model: Model, request: &Request, ranks: FxHashMap<PortId, i8>) -> (Prepared, Vec<Diagnostic>) {
    let mut sampled = sampled(&model, 1);
    let graph = bond::lower(&model);
    let request = Request {
        retain: request.retain.clone(),
        strokes: request.strokes.clone(),
        ranks,
        ..Request::default()
    };
    let (mut causality, diagnostics) = causality::assign(&model, &graph, &request, |id| {
        sampled.from_expression(&model.exprs, id).unwrap_or(0)
    });
    causality.modulated = model.graph.elements.iter().any(|element| match &element.law {
        Law::Coupler { matrix, .. } => matrix.entries.iter().any(|entry| varies(&model.exprs, *entry)),
        _ => false,
    });
    let mut prepared = Prepared {
        model,
        graph,
        causality,
        released: Vec::new(),
        rates: Vec::new(),
    };
    if !has_errors(&diagnostics) {
        release_dependent_integrals(&mut prepared);
    }
    (prepared, diagnostics)
}

/// Releases integrals of storage that does not give its own co-energy: the energy variable is not a state but follows
/// from that co-energy.
fn release_dependent_integrals(prepared: &mut Prepared) {
    let Prepared {
        model,
        causality,
        released,
        ..
    } = prepared;
    let follows: FxHashSet<SymbolId> = model
        .integrals
        .iter()
        .filter(|integral| is_dependent(model, causality, integral))
        .map(|integral| integral.symbol)
        .collect();
    let (kept, gone) = std::mem::take(&mut model.integrals)
        .into_iter()
        .partition(|integral| !follows.contains(&integral.symbol));
    model.integrals = kept;
    *released = gone;
}

/// Returns true if the rest of the graph determines the integral of a nonlinear storage element.
fn is_dependent(model: &Model, causality: &Causality, integral: &Integral) -> bool {
    let Some(owner) = integral.owner else { return false };
    let Law::Nonlinear(law) = &model.graph.elements[owner.index()].law else {
        return false;
    };
    model.ports_of(owner).enumerate().any(|(at, port)| {
        law.storage[at].is_some_and(|(co_energy, symbol)| {
            symbol == integral.symbol && causality.solved[port.index()] == Some(co_energy)
        })
    })
}

/// Returns the columns of dependent storage with a given initial value.
pub(crate) fn started_columns(prepared: &Prepared) -> Vec<(PortId, u32)> {
    let Prepared { model, causality, .. } = prepared;
    let started = |port: &&PortId| {
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        let at = (port.0 - element.ports.start) as usize;
        element.start.get(at).copied().flatten().is_some()
    };
    let column = |port: &PortId| {
        let variable = causality.solved[port.index()].expect("invariant: causality assigns every storage");
        (*port, port_column(*port, variable))
    };
    let linear = causality.dependent.iter().filter(started).map(column);
    let released = prepared.released.iter().filter(|integral| integral.start.is_some());
    linear
        .chain(released.filter_map(|integral| column_of(prepared, integral)))
        .collect()
}

/// Returns the port of a nonlinear storage element whose energy variable is not a state, and the column of its co-energy.
fn column_of(prepared: &Prepared, integral: &Integral) -> Option<(PortId, u32)> {
    let (port, co_energy) = follower(&prepared.model, integral)?;
    Some((port, port_column(port, co_energy)))
}

/// Returns the port whose energy variable is this integral, and its co-energy variable.
fn follower(model: &Model, integral: &Integral) -> Option<(PortId, Variable)> {
    let owner = integral.owner?;
    let Law::Nonlinear(law) = &model.graph.elements[owner.index()].law else {
        return None;
    };
    model.ports_of(owner).enumerate().find_map(|(at, port)| {
        let (co_energy, energy) = law.storage[at]?;
        (energy == integral.symbol).then_some((port, co_energy))
    })
}

/// Returns the given and the resulting value at the start, for a nonlinear storage element whose co-energy has a value:
/// the co-energies if the law has a closed form, otherwise the law itself.
fn started_law(model: &Model, exprs: &mut Exprs, port: PortId, start: ExprId, value: ExprId) -> (ExprId, ExprId) {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let Law::Nonlinear(law) = &element.law else {
        unreachable!("invariant: only nonlinear laws own energy variables")
    };
    let at = (port.0 - element.ports.start) as usize;
    let (co_energy, energy) = law.storage[at].expect("invariant: the port stores energy");
    let (effort, flow) = law.variables[at];
    let variable = if co_energy == Variable::Effort { effort } else { flow };
    let mut residuals = law.residuals.iter().copied();
    let residual = residuals.find(|residual| exprs.symbols_of(&[*residual]).contains(&energy));
    let residual = residual.expect("invariant: the law of a storage holds its energy variable");
    let residual = exprs.substitute(&[residual], |symbol| (symbol == energy).then_some(start))[0];
    match exprs.isolate(residual, variable) {
        Some(given) => (given, value),
        None => {
            let zero = exprs.zero();
            let residual = exprs.substitute(&[residual], |symbol| (symbol == variable).then_some(value))[0];
            (zero, residual)
        }
    }
}

/// Returns the initial values of dependent storage and their values from the states: those of the columns of [`started_columns`].
pub(crate) fn start_constraints(
    prepared: &Prepared,
    system: &mut StateSystem,
    started: &[(PortId, u32)],
    values: &[ExprId],
) -> Vec<StartConstraint> {
    let model = &prepared.model;
    let nonlinear = |system: &mut StateSystem, port: PortId, value: ExprId| {
        let mut released = prepared.released.iter();
        let integral = released.find(|integral| follower(model, integral).is_some_and(|found| found.0 == port))?;
        let (given, follows) = started_law(model, &mut system.exprs, port, integral.start?, value);
        Some(StartConstraint {
            name: port_name(model, port),
            is_storage: true,
            given,
            follows,
            span: integral
                .start_span
                .unwrap_or(model.element_span(model.graph.ports[port.index()].element)),
        })
    };
    let one = |((port, _), value): (&(PortId, u32), &ExprId)| {
        if let Some(constraint) = nonlinear(system, *port, *value) {
            return constraint;
        }
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        let at = (port.0 - element.ports.start) as usize;
        let given = element.start[at].expect("invariant: these columns have starts");
        let follows = match natural_factor(model, *port, &mut system.exprs) {
            Some(factor) => system.exprs.mul(factor, *value),
            None => *value,
        };
        StartConstraint {
            name: port_name(model, *port),
            is_storage: true,
            given,
            follows,
            span: element.start_span.unwrap_or(element.law_span),
        }
    };
    started.iter().zip(values).map(one).collect()
}
