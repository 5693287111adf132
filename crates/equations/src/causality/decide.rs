//! The exact criterion: a greedy choice of one column per port, decided by rank over a prime field.
//!
//! The structure conserves power, so its solutions are a Lagrangian subspace: if the preferred column of a port depends
//! on those taken before, the other column does not. Taking ports in order of priority therefore keeps the largest
//! number of independent states. On a tree this is sequential causality assignment, step for step.

use super::Causality;
use super::conflict;
use super::elimination::Elimination;
use super::structure::{self, port_column};
use crate::bond::BondGraph;
use crate::parameter_values::parameter_values;
use lgm_algebra::PrimeField;
use lgm_algebra::expr::{ExprId, Exprs, to_f64};
use lgm_model::{Closed, Dissipator, DomainId, Element, Law, Model, PortId, Variable};
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::cmp::{Ordering, Reverse};

/// A resistance whose conductance exceeds that of a law at rest by this factor is a short circuit.
const SHORT: f64 = 1e6;

/// The user's requests for causality.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Elements whose storage should keep its state, in decreasing priority.
    pub retain: Vec<lgm_model::ElementId>,
    /// The variables that elements set by hand, in order: only sources precede them.
    pub strokes: Vec<(PortId, Variable)>,
    /// Storage ports that are taken before all others (negative) or after them (positive).
    pub ranks: FxHashMap<PortId, i8>,
    /// Storage ports that take derivative causality although the structure would leave them their states: the laws of
    /// ideal elements tie them to others.
    pub tied: Vec<PortId>,
}

impl Request {
    /// Requests that these elements keep their states, in decreasing priority.
    pub fn retaining(elements: impl Into<Vec<lgm_model::ElementId>>) -> Request {
        Request {
            retain: elements.into(),
            ..Request::default()
        }
    }
}

/// Assigns causality. `modulus` returns a coupler's entry in the prime field.
///
/// Errors: sources that contradict each other (LGM0301).
pub fn assign(
    model: &Model,
    graph: &BondGraph,
    request: &Request,
    mut modulus: impl FnMut(ExprId) -> u64,
) -> (Causality, Vec<Diagnostic>) {
    let mut field = PrimeField;
    let structure = structure::structure(model, graph);
    let rows = structure
        .rows_in(&mut field, |_, id| Ok::<u64, std::convert::Infallible>(modulus(id)))
        .unwrap_or_else(|never| match never {});
    let mut elimination = Elimination::new(rows, structure.columns);
    let free = elimination.pivot_all(&mut field, structure.inner.iter().copied());

    let mut causality = Causality {
        structure,
        solved: vec![None; model.graph.ports.len()],
        pivots: Vec::new(),
        free,
        independent: Vec::new(),
        dependent: Vec::new(),
        tied: Vec::new(),
        dissipators: Vec::new(),
        sources: Vec::new(),
        nonlinear: Vec::new(),
        modulated: false,
    };
    let position = |element| {
        let mut wanted = request.retain.iter();
        wanted
            .position(|wanted| *wanted == element)
            .unwrap_or(request.retain.len())
    };
    let mut conflicts = Vec::new();
    let mut storage: Vec<(i8, usize, Determines, u8, PortId)> = Vec::new();
    for (index, port) in model.graph.ports.iter().enumerate() {
        let id = PortId(index as u32);
        let element = &model.graph.elements[port.element.index()];
        match &element.law {
            Law::Source { given, .. } => {
                causality.sources.push(id);
                let wanted = port_column(id, given.conjugate());
                if elimination.pivot(&mut field, wanted).is_some() {
                    causality.solved[index] = Some(given.conjugate());
                } else {
                    conflicts.push(id);
                    if elimination.pivot(&mut field, port_column(id, *given)).is_some() {
                        causality.solved[index] = Some(*given);
                    }
                }
            }
            Law::Storage { co_energy, .. } => {
                let retained = position(port.element);
                let rank = match request.tied.contains(&id) {
                    true => i8::MAX,
                    false => request.ranks.get(&id).copied().unwrap_or(0),
                };
                let class = storage_class(model, id, *co_energy);
                storage.push((rank, retained, Determines::Linear, class, id));
            }
            Law::Dissipator(_) => causality.dissipators.push(id),
            Law::Nonlinear(law) => {
                causality.nonlinear.push(id);
                if let Some((co_energy, _)) = law.storage[(id.0 - element.ports.start) as usize] {
                    let retained = position(port.element);
                    let class = storage_class(model, id, co_energy);
                    let determines = Determines::of(model, id, co_energy);
                    storage.push((0, retained, determines, class, id));
                }
            }
            Law::Coupler { .. } => {}
        }
    }
    for (id, set) in &request.strokes {
        let solved = set.conjugate();
        if elimination.pivot(&mut field, port_column(*id, solved)).is_some() {
            causality.solved[id.index()] = Some(solved);
        }
    }
    storage.sort();
    let storage = storage.into_iter().map(|entry| entry.4);
    assign_storage(model, request, storage, &mut elimination, &mut causality);
    if !causality.nonlinear.is_empty() {
        assign_shorts(model, &mut elimination, &mut causality);
        assign_nonlinear(model, &mut elimination, &mut causality);
    }
    assign_dissipators(&mut elimination, &mut causality);
    let mut diagnostics = Vec::new();
    if conflicts.is_empty() {
        assert_complete(&causality);
    } else {
        let rows = causality
            .structure
            .rows_in(&mut field, |_, id| Ok::<u64, std::convert::Infallible>(modulus(id)))
            .unwrap_or_else(|never| match never {});
        diagnostics = conflict::explain(model, graph, &causality.structure, &rows, &conflicts);
    }
    causality.pivots = std::mem::take(&mut elimination.pivots);
    (causality, diagnostics)
}

/// Assigns each storage port, in this order, the causality in which it has a state, or derivative causality if that is impossible. Strokes
/// by hand stay.
fn assign_storage(
    model: &Model,
    request: &Request,
    storage: impl Iterator<Item = PortId>,
    elimination: &mut Elimination<u64>,
    causality: &mut Causality,
) {
    for id in storage {
        let element = element_of(model, id);
        let by_hand = causality.solved[id.index()];
        if let Law::Nonlinear(law) = &element.law {
            if let (None, Some((co_energy, _))) = (by_hand, law.storage[(id.0 - element.ports.start) as usize]) {
                causality.solved[id.index()] = take_either(elimination, &mut PrimeField, id, co_energy.conjugate());
            }
            continue;
        }
        let Law::Storage { co_energy, .. } = &element.law else {
            unreachable!("invariant: only storage was collected")
        };
        if let Some(solved) = by_hand {
            match solved == *co_energy {
                true => causality.dependent.push(id),
                false => causality.independent.push(id),
            }
            continue;
        }
        if request.tied.contains(&id)
            && elimination
                .pivot(&mut PrimeField, port_column(id, *co_energy))
                .is_some()
        {
            causality.solved[id.index()] = Some(*co_energy);
            causality.dependent.push(id);
            causality.tied.push(id);
            continue;
        }
        let integral = elimination.pivot(&mut PrimeField, port_column(id, co_energy.conjugate()));
        if integral.is_some() {
            causality.solved[id.index()] = Some(co_energy.conjugate());
            causality.independent.push(id);
        } else {
            let row = elimination.pivot(&mut PrimeField, port_column(id, *co_energy));
            if row.is_some() {
                causality.solved[id.index()] = Some(*co_energy);
            }
            causality.dependent.push(id);
        }
    }
    causality.independent.sort_unstable();
    causality.dependent.sort_unstable();
}

/// Assigns solved variables to the ports of nonlinear laws that no storage has decided.
fn assign_nonlinear(model: &Model, elimination: &mut Elimination<u64>, causality: &mut Causality) {
    // Laws that are explicit in one direction come before those explicit in both, and these before other resistances.
    let mut open: Vec<(bool, Closed, Reverse<PortId>)> = Vec::new();
    for &id in &causality.nonlinear {
        if causality.solved[id.index()].is_none() {
            let (effort, flow) = explicit(model, id);
            let is_balanced = effort != flow && relates(model, id);
            open.push((is_balanced, effort.min(flow), Reverse(id)));
        }
    }
    open.sort();
    for (is_balanced, _, Reverse(id)) in open {
        let (effort, flow) = explicit(model, id);
        let wanted = match effort.cmp(&flow) {
            // The structure and the law give the same variable, and the argument of the law is the unknown: the
            // currents of diodes and resistors at a node are summed, and no voltage is a small difference of large
            // ones.
            Ordering::Greater if is_balanced => Variable::Effort,
            Ordering::Less if is_balanced => Variable::Flow,
            // The law is a controlled source.
            Ordering::Greater => Variable::Flow,
            Ordering::Less => Variable::Effort,
            Ordering::Equal => {
                let mut cost = |variable| {
                    elimination
                        .cost(&PrimeField, port_column(id, variable))
                        .unwrap_or(usize::MAX)
                };
                if cost(Variable::Effort) < cost(Variable::Flow) {
                    Variable::Effort
                } else {
                    Variable::Flow
                }
            }
        };
        causality.solved[id.index()] = take_either(elimination, &mut PrimeField, id, wanted);
    }
}

/// Assigns the variable that the law needs to resistances that short-circuit a law at rest. Otherwise, at 1e-6 ohm, the
/// leakage of a diode would be lost in currents that are differences of voltages.
fn assign_shorts(model: &Model, elimination: &mut Elimination<u64>, causality: &mut Causality) {
    let mut exprs = model.exprs.clone();
    let values = parameter_values(model);
    let number = |exprs: &Exprs, id: ExprId| {
        let value = |symbol| Some(values.get(&symbol).map_or(0.0, to_f64));
        exprs.evaluate_unchecked(&[id], &value)[0]
    };
    // The smallest slope at rest in each domain, for each variable that a law gives.
    let mut least: FxHashMap<(Option<DomainId>, Variable), f64> = FxHashMap::default();
    for &id in &causality.nonlinear {
        let element = element_of(model, id);
        let Law::Nonlinear(law) = &element.law else {
            continue;
        };
        let (effort, flow) = law.variables[(id.0 - element.ports.start) as usize];
        let (gives, given, argument) = match explicit(model, id) {
            (effort_is, flow_is) if effort_is > flow_is => (Variable::Effort, effort, flow),
            _ => (Variable::Flow, flow, effort),
        };
        for residual in &law.residuals {
            let slopes = [argument, given].map(|symbol| exprs.differentiate(*residual, symbol));
            let [Some(by_argument), Some(by_given)] = slopes else {
                continue;
            };
            let slope = (number(&exprs, by_argument) / number(&exprs, by_given)).abs();
            if slope > 0.0 && slope.is_finite() {
                let entry = least
                    .entry((model.graph.ports[id.index()].domain, gives))
                    .or_insert(slope);
                *entry = entry.min(slope);
            }
        }
    }
    for &id in &causality.dissipators {
        if causality.solved[id.index()].is_some() {
            continue;
        }
        let resistance = match &element_of(model, id).law {
            Law::Dissipator(Dissipator::Resistance(matrix)) if matrix.rows == 1 => number(&exprs, matrix.entries[0]),
            Law::Dissipator(Dissipator::Conductance(matrix)) if matrix.rows == 1 => {
                1.0 / number(&exprs, matrix.entries[0])
            }
            _ => continue,
        };
        let domain = model.graph.ports[id.index()].domain;
        let beside = |gives, conductance: f64| {
            least
                .get(&(domain, gives))
                .is_some_and(|slope| conductance > SHORT * slope)
        };
        let wanted = match (
            beside(Variable::Flow, 1.0 / resistance),
            beside(Variable::Effort, resistance),
        ) {
            (true, false) => Variable::Flow,
            (false, true) => Variable::Effort,
            _ => continue,
        };
        if elimination.pivot(&mut PrimeField, port_column(id, wanted)).is_some() {
            causality.solved[id.index()] = Some(wanted);
        }
    }
}

/// Assigns resistances the variable that is cheaper to solve for.
fn assign_dissipators(elimination: &mut Elimination<u64>, causality: &mut Causality) {
    for &id in &causality.dissipators {
        if causality.solved[id.index()].is_some() {
            continue;
        }
        let cost = |elimination: &mut Elimination<u64>, variable| {
            elimination
                .cost(&PrimeField, port_column(id, variable))
                .unwrap_or(usize::MAX)
        };
        let effort = cost(elimination, Variable::Effort);
        let flow = cost(elimination, Variable::Flow);
        let chosen = if effort < flow {
            Variable::Effort
        } else {
            Variable::Flow
        };
        for variable in [chosen, chosen.conjugate()] {
            if elimination.pivot(&mut PrimeField, port_column(id, variable)).is_some() {
                causality.solved[id.index()] = Some(variable);
                break;
            }
        }
    }
}

fn assert_complete(causality: &Causality) {
    assert!(
        causality
            .sources
            .iter()
            .chain(&causality.independent)
            .chain(&causality.dependent)
            .chain(&causality.dissipators)
            .chain(&causality.nonlinear)
            .all(|port| causality.solved[port.index()].is_some()),
        "invariant: power conservation makes one column of every port independent"
    );
}

/// Returns the expressions for the effort and the flow from the law of a port.
fn explicit(model: &Model, port: PortId) -> (Closed, Closed) {
    let element = element_of(model, port);
    match &element.law {
        Law::Nonlinear(law) => law.explicit[(port.0 - element.ports.start) as usize],
        _ => (Closed::Not, Closed::Not),
    }
}

/// Returns true if the law of a port relates its effort to its flow; the gate current of a transistor is zero for any voltage.
fn relates(model: &Model, port: PortId) -> bool {
    let element = element_of(model, port);
    let Law::Nonlinear(law) = &element.law else {
        return false;
    };
    let (effort, flow) = law.variables[(port.0 - element.ports.start) as usize];
    let mut residuals = law.residuals.iter();
    residuals.any(|residual| model.exprs.depends_on(*residual, effort) && model.exprs.depends_on(*residual, flow))
}

/// Solves for the preferred variable of a port if possible, otherwise for the other one.
fn take_either(
    elimination: &mut Elimination<u64>,
    field: &mut PrimeField,
    port: PortId,
    wanted: Variable,
) -> Option<Variable> {
    [wanted, wanted.conjugate()]
        .into_iter()
        .find(|variable| elimination.pivot(field, port_column(port, *variable)).is_some())
}

fn element_of(model: &Model, port: PortId) -> &Element {
    &model.graph.elements[model.graph.ports[port.index()].element.index()]
}

/// The variable that the law of a storage element gives without solving an equation. Linear storage comes first:
/// nonlinear storage that shares its voltage, current or velocity then has a conserved quantity with it. Nonlinear
/// storage is ordered by the quality of its state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Determines {
    /// The law is linear.
    Linear,
    /// The co-energy variable follows from the stored one.
    CoEnergy,
    /// Both follow from each other.
    Either,
    /// The stored variable follows from the co-energy variable.
    Energy,
}

impl Determines {
    fn of(model: &Model, port: PortId, co_energy: Variable) -> Determines {
        let (effort, flow) = explicit(model, port);
        let closed = match co_energy {
            Variable::Effort => effort,
            Variable::Flow => flow,
        };
        match closed {
            Closed::Not => Determines::Energy,
            Closed::Inverse => Determines::Either,
            Closed::Direct => Determines::CoEnergy,
        }
    }
}

/// Returns the rank of storage: A-type before T-type. Bond elements have no across variable; among them inertances come
/// first, so that masses keep their momenta if a choice remains.
fn storage_class(model: &Model, port: PortId, co_energy: Variable) -> u8 {
    match model.graph.ports[port.index()].domain {
        Some(domain) => {
            let across = if model.graph.domains[domain.index()].effort_is_across {
                Variable::Effort
            } else {
                Variable::Flow
            };
            u8::from(co_energy != across)
        }
        None => u8::from(co_energy == Variable::Effort),
    }
}
