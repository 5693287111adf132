//! The state system without its equations: the names, units and initial values of states, inputs and outputs.

use crate::assembly::states::StateRequest;
use crate::causality::Causality;
use crate::parameter_values::parameter_values;
use lgm_algebra::expr::{ExprId, Exprs, SymbolKind, to_f64};
use lgm_algebra::units::Dimension;
use lgm_model::SiUnit;
use lgm_model::switching::SystemEvents;
use lgm_model::system::{Equations, Matrices, Quantity, Starts, State, StateSystem, StateVariable};
use lgm_model::{Element, Integral, Law, Model, PortId, StateChoice, StorageForm, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Returns the system without its equations: parameters, states, inputs, outputs.
pub(crate) fn frame(
    model: &Model,
    mut exprs: Exprs,
    causality: &Causality,
    request: StateRequest,
    added: &[usize],
    diagnostics: &mut Vec<Diagnostic>,
) -> StateSystem {
    let mut states = Vec::with_capacity(causality.independent.len() + model.integrals.len() + added.len());
    for port in &causality.independent {
        let state = storage_state(model, &mut exprs, *port, request, diagnostics);
        states.push(state);
    }
    states.extend(
        model
            .integrals
            .iter()
            .map(|integral| integral_state(model, &mut exprs, integral)),
    );
    add_states_of_outputs(model, &mut exprs, added, &mut states);
    let values = parameter_values(model);
    for state in states.iter_mut().filter(|state| !exprs.is_zero(state.start)) {
        state.start_value = exprs
            .evaluate_exact(&[state.start], &|symbol| values.get(&symbol).cloned())
            .map_or(f64::NAN, |list| to_f64(&list[0]));
    }
    let input_rates = model
        .inputs
        .iter()
        .map(|input| exprs.new_symbol(format!("der({})", input.name), SymbolKind::InputRate))
        .collect();
    exprs.name_outputs(model.outputs.iter().map(|output| output.name.clone()));
    StateSystem {
        model: model.heading.name.clone(),
        doc: model.heading.doc.clone(),
        exprs,
        time: model.time,
        parameters: model.parameters.clone(),
        states,
        inputs: model.inputs.clone(),
        input_rates,
        outputs: model
            .outputs
            .iter()
            .map(|output| Quantity {
                name: output.name.clone(),
                unit: output.unit.clone(),
                span: output.span,
            })
            .collect(),
        equations: Equations {
            linear: true,
            ..Equations::default()
        },
        matrices: Matrices::default(),
        dependent: Vec::new(),
        linearized_at: None,
        starts: Starts::default(),
        events: SystemEvents::of(model),
        experiment: model.experiment.clone().unwrap_or_default(),
    }
}

/// Returns the state of a declared integral.
fn integral_state(model: &Model, exprs: &mut Exprs, integral: &Integral) -> State {
    let zero = exprs.zero();
    let name: Arc<str> = model.path_name(integral.path).into();
    let owner = integral.owner.map(|id| model.element_name(id).into());
    State {
        element: owner.unwrap_or_else(|| name.clone()),
        name,
        variable: StateVariable::Integral,
        written: Some(integral.written.clone()),
        total_of: Vec::new(),
        unit: integral.unit.clone(),
        symbol: integral.symbol,
        start: integral.start.unwrap_or(zero),
        start_value: 0.0,
        start_given: integral.start.is_some() && !integral.is_guess,
        start_span: integral.start_span,
        nominal: integral.nominal,
        span: model.paths[integral.path.index()].span,
    }
}

/// Adds the states for the integrals in outputs.
fn add_states_of_outputs(model: &Model, exprs: &mut Exprs, added: &[usize], states: &mut Vec<State>) {
    let mut names: FxHashSet<Arc<str>> = FxHashSet::default();
    for state in states.iter() {
        let is_new = names.insert(state.name.clone());
        assert!(is_new, "invariant: only one state is named `{}`", state.name);
    }
    for output in added {
        let output = &model.outputs[*output];
        // Outputs are named independently, so a state may have the same name.
        let mut name = output.name.clone();
        while !names.insert(name.clone()) {
            name = format!("{name}.int").into();
        }
        states.push(State {
            name: name.clone(),
            element: name.clone(),
            variable: StateVariable::Integral,
            written: Some(output.written.clone()),
            total_of: Vec::new(),
            // The output may be shown in another unit.
            unit: output.unit.as_ref().map(SiUnit::in_si),
            symbol: exprs.new_symbol(name, SymbolKind::State),
            start: exprs.zero(),
            start_value: 0.0,
            start_given: false,
            start_span: None,
            nominal: None,
            span: output.span,
        });
    }
}

/// Returns the state of one independent storage port.
fn storage_state(
    model: &Model,
    exprs: &mut Exprs,
    port: PortId,
    request: StateRequest,
    diagnostics: &mut Vec<Diagnostic>,
) -> State {
    let info = &model.graph.ports[port.index()];
    let element = &model.graph.elements[info.element.index()];
    let Law::Storage { co_energy, .. } = &element.law else {
        unreachable!("invariant: only storage is independent")
    };
    let at = (port.0 - element.ports.start) as usize;
    let choice = request.choice_of(element);
    let (variable, symbol, unit) = variable_of(model, port, *co_energy, choice);
    let name = state_name(model, port, &symbol);
    let start = start_of(model, exprs, port, choice, diagnostics);
    let nominal = nominal_of(model, exprs, port, choice);
    State {
        element: model.path_name(element.path).into(),
        variable,
        written: None,
        total_of: Vec::new(),
        unit,
        symbol: exprs.new_symbol(name.clone(), SymbolKind::State),
        name: name.into(),
        start,
        start_value: 0.0,
        // An initial value converted to other states depends on all initial values of the field.
        start_given: if choice == element.state_choice {
            element.start.get(at).is_some_and(Option::is_some)
        } else {
            element.start.iter().any(Option::is_some)
        },
        start_span: element.start_span,
        nominal,
        span: model.paths[element.path.index()].span,
    }
}

/// Returns the state of a storage port under a choice: its variable, name and unit.
fn variable_of(
    model: &Model,
    port: PortId,
    co_energy: Variable,
    choice: StateChoice,
) -> (StateVariable, String, Option<SiUnit>) {
    let domain = model.graph.ports[port.index()]
        .domain
        .map(|id| &model.graph.domains[id.index()]);
    match (domain, choice) {
        (Some(domain), choice) => {
            let is_across = domain.effort_is_across == (co_energy == Variable::Effort);
            match (is_across, choice) {
                (true, StateChoice::CoEnergy) => (
                    StateVariable::Across,
                    domain.across.to_string(),
                    domain.across_unit.clone(),
                ),
                (false, StateChoice::CoEnergy) => (
                    StateVariable::Through,
                    domain.through.to_string(),
                    domain.through_unit.clone(),
                ),
                (true, StateChoice::Energy) => (
                    StateVariable::IntegralOfThrough,
                    format!("int_{}", domain.through),
                    domain.dimension(false).and_then(integral_unit),
                ),
                (false, StateChoice::Energy) => (
                    StateVariable::IntegralOfAcross,
                    format!("int_{}", domain.across),
                    domain.dimension(true).and_then(integral_unit),
                ),
            }
        }
        (None, StateChoice::Energy) => match co_energy {
            Variable::Flow => (StateVariable::P, "p".to_string(), None),
            Variable::Effort => (StateVariable::Q, "q".to_string(), None),
        },
        (None, StateChoice::CoEnergy) => match co_energy {
            Variable::Flow => (StateVariable::Flow, "f".to_string(), None),
            Variable::Effort => (StateVariable::Effort, "e".to_string(), None),
        },
    }
}

/// Returns the name of the state that a storage port has if it is independent, and the choice of its variable.
pub(crate) fn storage_state_name(model: &Model, port: PortId, request: StateRequest) -> Option<(String, StateChoice)> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let Law::Storage { co_energy, .. } = &element.law else {
        return None;
    };
    let choice = request.choice_of(element);
    let (_, symbol, _) = variable_of(model, port, *co_energy, choice);
    Some((state_name(model, port, &symbol), choice))
}

/// Returns the name of a state of a storage port: `mass.v`, `link.a.v`, `bob.v[2]`.
fn state_name(model: &Model, port: PortId, symbol: &str) -> String {
    let info = &model.graph.ports[port.index()];
    let element = &model.graph.elements[info.element.index()];
    let path = model.path_name(element.path);
    let mut name = format!("{path}.{symbol}");
    if let (Some(mode), Some(block)) = (element.mode, model.paths[element.path.index()].parent) {
        // The modes of a block are entries of its state, with any kind of storage.
        name = format!("{}.{symbol}[{mode}]", model.path_name(block));
    }
    if let Some(port_name) = &info.name {
        name = format!("{path}.{port_name}.{symbol}");
    }
    if let Some(entry) = info.entry {
        name.push_str(&format!("[{entry}]"));
    }
    name
}

/// Returns the state that is the total stored by a storage port and by the storage that follows from it. Its initial value is 0.
pub(crate) fn total_state(model: &Model, exprs: &mut Exprs, port: PortId) -> State {
    let request = StateRequest::Energy;
    let mut state = storage_state(model, exprs, port, request, &mut Vec::new());
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let Law::Storage { co_energy, .. } = &element.law else {
        unreachable!("invariant: only storage is independent")
    };
    let (_, symbol, _) = variable_of(model, port, *co_energy, StateChoice::Energy);
    let name = state_name(model, port, &format!("total_{symbol}"));
    exprs.rename(state.symbol, name.clone());
    state.name = name.into();
    (state.start, state.start_given, state.start_span) = (exprs.zero(), false, None);
    state
}

/// Returns the magnitude of the chosen state, from that of the natural state of the storage.
fn nominal_of(model: &Model, exprs: &mut Exprs, port: PortId, choice: StateChoice) -> Option<ExprId> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let given: Option<Vec<ExprId>> = element.nominal.iter().copied().collect();
    let at = (port.0 - element.ports.start) as usize;
    converted(exprs, element, at, choice, &given.filter(|given| !given.is_empty())?)
}

/// Converts a given entry of the natural states of storage to the chosen states; returns `None` if a matrix would have to be inverted.
fn converted(exprs: &mut Exprs, element: &Element, at: usize, choice: StateChoice, given: &[ExprId]) -> Option<ExprId> {
    if choice == element.state_choice {
        return Some(given[at]);
    }
    let Law::Storage { value, form, .. } = &element.law else {
        unreachable!("invariant: only storage has states")
    };
    let multiplies = (choice == StateChoice::Energy) == (*form == StorageForm::Direct);
    if multiplies {
        let terms: Vec<ExprId> = (0..given.len())
            .map(|column| exprs.mul(value.get(at, column), given[column]))
            .collect();
        return Some(exprs.sum(terms));
    }
    (given.len() == 1).then(|| exprs.div(given[0], value.get(0, 0)))
}

/// Returns the initial value of the chosen state, from that of the natural state of the storage.
fn start_of(
    model: &Model,
    exprs: &mut Exprs,
    port: PortId,
    choice: StateChoice,
    diagnostics: &mut Vec<Diagnostic>,
) -> ExprId {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let zero = exprs.zero();
    if element.start.iter().all(Option::is_none) {
        return zero;
    }
    let at = (port.0 - element.ports.start) as usize;
    let starts: Vec<ExprId> = element.start.iter().map(|start| start.unwrap_or(zero)).collect();
    if let Some(start) = converted(exprs, element, at, choice, &starts) {
        return start;
    }
    diagnostics.push(
        Diagnostic::error(
            Code::LGM0606,
            "converting the initial value of a storage field to other states is not supported",
        )
        .label(
            element.start_span.unwrap_or(element.law_span),
            "given for the state of this field",
        )
        .help("remove `--states`, or remove this `start`"),
    );
    zero
}

/// Returns the SI unit of the time integral of a variable.
fn integral_unit(dimension: Dimension) -> Option<SiUnit> {
    dimension.times(&Dimension::TIME).map(SiUnit::of)
}
