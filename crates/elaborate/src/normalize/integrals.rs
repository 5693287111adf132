//! Integrals that are energy variables of storage: `int(through(c))` of a capacitor is its charge, `int(across(s))` of a spring its
//! displacement.
//!
//! Each is the energy variable of the storage. It includes the initial value of the storage, and its law determines it from the co-energy
//! variable. Therefore no state is added for it in any equations, and no initial value is subtracted. Other integrals start from 0 at the
//! beginning of the run; if such an integral measures a stored variable with another initial value, a remark reports it.

use super::displacements::hold_along_paths;
use super::energy_variables::{Holding, integrated_by, is_across, start_of_energy};
use lgm_algebra::expr::{ExprId, Function, Node};
use lgm_model::{Dissipator, ElementId, Law, Model, PortId};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// Replaces integrals by equal energy variables of storage. Returns remarks on other integrals in outputs that measure storage whose
/// displacement, charge or momentum has a nonzero initial value.
pub(crate) fn hold_integrals(model: &mut Model) -> Vec<Diagnostic> {
    let mut roots: Vec<ExprId> = model.outputs.iter().map(|output| output.value).collect();
    roots.extend(model.switching.expressions());
    roots.extend(laws(model).into_iter().map(|law| law.0));
    let integrands: Vec<ExprId> = (model.exprs.reachable(&roots).into_iter())
        .filter_map(|id| integrand_of(model, id))
        .collect();
    if integrands.is_empty() {
        return Vec::new();
    }
    let mut holding = Holding::of(model);
    let mut held: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    // The energy variables of linear laws: a source does not use energy variables that may not become states.
    let mut linear: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut starts: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for integrand in integrands {
        let Some((port, negative)) = holding.port_of(model, integrand) else {
            continue;
        };
        let signed = |model: &mut Model, id: ExprId| if negative { model.exprs.neg(id) } else { id };
        if let Some(energy) = holding.energy(model, port) {
            let energy = signed(model, energy);
            held.insert(integrand, energy);
            let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
            if matches!(element.law, Law::Storage { .. }) {
                linear.insert(integrand, energy);
            }
        }
        if let Some(start) = start_of_energy(model, port) {
            starts.insert(integrand, signed(model, start));
        }
    }
    replace(model, &held, &linear, &starts);
    let remarks = remarks(model, &holding);
    hold_along_paths(model, &mut holding);
    remarks
}

/// Returns the expressions of all laws, in all modes, each with the location of its element.
pub(super) fn laws(model: &Model) -> Vec<(ExprId, Span)> {
    let mut roots = Vec::new();
    let elements = &model.graph.elements;
    let in_modes = model.switching.elements.iter().flat_map(|switched| {
        let span = elements[switched.element.index()].law_span;
        switched.modes.iter().map(move |mode| (span, &mode.law))
    });
    let own = elements.iter().map(|element| (element.law_span, &element.law));
    for (span, law) in own.chain(in_modes) {
        let mut add = |list: &[ExprId]| roots.extend(list.iter().map(|id| (*id, span)));
        match law {
            Law::Source { values, .. } => add(values),
            Law::Coupler { matrix, .. } => add(&matrix.entries),
            Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => add(&matrix.entries),
            Law::Dissipator(Dissipator::Implicit(a, b)) => {
                add(&a.entries);
                add(&b.entries);
            }
            Law::Nonlinear(law) => add(&law.residuals),
            Law::Storage { .. } => {}
        }
    }
    roots
}

/// Replaces the remaining integrals in conditions and assignments by states, which continue through all modes.
pub(crate) fn integrate_for_events(model: &mut Model) {
    let roots: Vec<ExprId> = model.switching.expressions().collect();
    let mut states: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in model.exprs.reachable(&roots) {
        let node = model.exprs.node(id).clone();
        let now = match &node {
            Node::Call(Function::Int, list) => {
                let rate = states[&list[0]];
                let declared = model.integrals.iter().position(|integral| integral.holds(rate));
                let at = declared.unwrap_or_else(|| model.add_integral(rate, "int(..) of an event"));
                let (symbol, start) = (model.integrals[at].symbol, model.integrals[at].start);
                let (state, zero) = (model.exprs.symbol(symbol), model.exprs.zero());
                model.exprs.sub(state, start.unwrap_or(zero))
            }
            _ => model.exprs.rebuild(&node, &states),
        };
        states.insert(id, now);
    }
    for id in model.switching.expressions_mut() {
        *id = states[id];
    }
}

/// Returns the integrand of an integral.
fn integrand_of(model: &Model, id: ExprId) -> Option<ExprId> {
    match model.exprs.node(id) {
        Node::Call(Function::Int, list) => Some(list[0]),
        _ => None,
    }
}

/// Replaces integrals in outputs and in the values of sources. A time-varying quantity in a law, such as a displacement
/// in a modulus, stays an integral and includes the initial value of the storage.
fn replace(
    model: &mut Model,
    held: &FxHashMap<ExprId, ExprId>,
    linear: &FxHashMap<ExprId, ExprId>,
    starts: &FxHashMap<ExprId, ExprId>,
) {
    let mut whole: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut sources: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut shifted: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut exprs = std::mem::take(&mut model.exprs);
    let mut by = |roots: &[ExprId], done: &mut FxHashMap<ExprId, ExprId>, held: &FxHashMap<ExprId, ExprId>| {
        for id in exprs.reachable(roots) {
            if done.contains_key(&id) {
                continue;
            }
            let node = exprs.node(id).clone();
            let now = match &node {
                Node::Call(Function::Int, list) => match (held.get(&list[0]), starts.get(&list[0])) {
                    (Some(energy), _) => *energy,
                    (_, Some(start)) => exprs.add(id, *start),
                    _ => id,
                },
                _ => exprs.rebuild(&node, done),
            };
            done.insert(id, now);
        }
        roots.iter().map(|root| done[root]).collect::<Vec<ExprId>>()
    };
    for output in &mut model.outputs {
        output.value = by(&[output.value], &mut whole, held)[0];
    }
    for value in model.switching.expressions_mut() {
        *value = by(&[*value], &mut whole, held)[0];
    }
    let none = FxHashMap::default();
    for law in model.laws_mut() {
        match law {
            Law::Source { values, .. } => *values = by(values, &mut sources, linear),
            Law::Coupler { matrix, .. }
            | Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
                matrix.entries = by(&matrix.entries, &mut shifted, &none);
            }
            Law::Dissipator(Dissipator::Implicit(a, b)) => {
                a.entries = by(&a.entries, &mut shifted, &none);
                b.entries = by(&b.entries, &mut shifted, &none);
            }
            Law::Nonlinear(law) => law.residuals = by(&law.residuals, &mut shifted, &none),
            Law::Storage { .. } => {}
        }
    }
    model.exprs = exprs;
}

/// Reports the integrals of outputs that start from 0 next to storage with another initial value.
fn remarks(model: &mut Model, holding: &Holding) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for output in model.outputs.clone() {
        let integrals = model.exprs.reachable(&[output.value]).into_iter();
        let integrands: Vec<ExprId> = integrals.filter_map(|id| integrand_of(model, id)).collect();
        let mut reported: FxHashSet<ElementId> = FxHashSet::default();
        let beside: Vec<PortId> = (integrands.into_iter())
            .flat_map(|integrand| holding.beside(model, integrand))
            .collect();
        for port in beside {
            let id = model.graph.ports[port.index()].element;
            if start_of_energy(model, port).is_none() || !reported.insert(id) {
                continue;
            }
            let element = model.element_name(id);
            let message = format!(
                "`{}` starts from 0, but `{element}` has another initial value",
                output.name
            );
            let start = model.graph.elements[id.index()]
                .start_span
                .unwrap_or(model.element_span(id));
            let measure = match integrated_by(model, port).is_some_and(|variable| is_across(model, port, variable)) {
                true => "across",
                false => "through",
            };
            let help = format!(
                "write `int({measure}({element}))` for the variable stored in `{element}`, or declare `state q = \
                 int(..), start = ..;`"
            );
            found.push(
                Diagnostic::information(Code::LGM0438, message)
                    .label(output.span, "the integral in this starts at 0")
                    .label(start, format!("`{element}` starts here"))
                    .help(help),
            );
        }
    }
    found
}
