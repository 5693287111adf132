//! The junction structure between the fields of a model: storage, dissipators and sources (Karnopp, Margolis and Rosenberg; Wang and Ren,
//! figure 1).
//!
//! Each port of a field becomes a source of the variable that the field gives. The equations that remain are those of couplers and
//! junctions: `(x', d_in, v) = S (z, d_out, u)`.

use lgm_algebra::expr::SymbolKind;
use lgm_equations::bond::lower;
use lgm_equations::{Options, port_causality, port_variable_name};
use lgm_model::{Input, Law, Measure, Model, Output, PortId, Variable};

/// The model of a junction structure: its inputs are the variables that the fields give, its outputs those that they receive.
#[derive(Clone, Debug)]
pub struct JunctionStructure {
    /// The model; the matrix D of its equations is S.
    pub model: Model,
    /// The number of ports of storage, of dissipators and of sources, in this order in inputs and outputs.
    pub counts: [usize; 3],
}

/// Replaces the fields of a linear model by sources. `None` if storage depends on other storage, so that it does not give its co-energy
/// variable, or if a law is not that of a linear field.
pub fn junction_structure(model: &Model) -> Option<JunctionStructure> {
    let mut rest = model.clone();
    rest.outputs.clear();
    rest.signals.clear();
    rest.start_conditions.clear();
    rest.experiment = None;
    rest.inputs.clear();
    let solved = port_causality(model, &lower(model), &Options::default())?;
    let mut kinds: [Vec<(PortId, Variable)>; 3] = Default::default();
    for element in &model.graph.elements {
        let kind = match &element.law {
            Law::Storage { .. } => 0,
            Law::Dissipator(_) => 1,
            Law::Source { .. } => 2,
            Law::Coupler { .. } => continue,
            Law::Nonlinear(_) => return None,
        };
        let ports = element.ports.clone().map(PortId);
        let given = ports.map(|port| Some((port, solved[port.index()]?.conjugate())));
        let given = given.collect::<Option<Vec<_>>>()?;
        let is_field = match &element.law {
            // Dependent storage gives the other variable.
            Law::Storage { co_energy, .. } => given.iter().all(|port| port.1 == *co_energy),
            Law::Source { values, .. } => {
                let symbols = model.exprs.symbols_of(values);
                model.measures.iter().all(|measure| !symbols.contains(&measure.0))
            }
            _ => given.iter().all(|port| port.1 == given[0].1),
        };
        if !is_field {
            return None;
        }
        kinds[kind].extend(given);
    }
    for (port, given) in kinds.iter().flatten() {
        give(&mut rest, *port, *given);
    }
    let counts = kinds.each_ref().map(Vec::len);
    for (port, given) in kinds.into_iter().flatten() {
        name(&mut rest, model, port, given);
    }
    Some(JunctionStructure { model: rest, counts })
}

/// Replaces the law of a port's element by a source that gives a variable at all its ports.
fn give(rest: &mut Model, port: PortId, given: Variable) {
    let zero = rest.exprs.zero();
    let id = rest.graph.ports[port.index()].element;
    let element = &mut rest.graph.elements[id.index()];
    let values = vec![zero; element.ports.len()];
    element.law = Law::Source { given, values };
    element.start.clear();
    element.nominal.clear();
}

/// Makes the given variable of a port an input, and the other an output.
fn name(rest: &mut Model, model: &Model, port: PortId, given: Variable) {
    let id = rest.graph.ports[port.index()].element;
    let input = port_variable_name(model, port, given);
    let symbol = rest.exprs.new_symbol(input.as_str(), SymbolKind::Input);
    let value = rest.exprs.symbol(symbol);
    let span = rest.heading.span;
    rest.inputs.push(Input {
        name: input.as_str().into(),
        symbol,
        signal: None,
        unit: None,
        scale: 1.0,
        span,
        is_internal: false,
    });
    let element = &mut rest.graph.elements[id.index()];
    let place = (port.0 - element.ports.start) as usize;
    if let Law::Source { values, .. } = &mut element.law {
        values[place] = value;
    }
    let measure = match given.conjugate() {
        Variable::Effort => Measure::PortEffort(port),
        Variable::Flow => Measure::PortFlow(port),
    };
    let output = port_variable_name(model, port, given.conjugate());
    let symbol = rest.exprs.new_symbol(output.as_str(), SymbolKind::Measure);
    let value = rest.exprs.symbol(symbol);
    rest.measures.push((symbol, measure));
    rest.outputs.push(Output {
        name: output.as_str().into(),
        value,
        written: output.as_str().into(),
        unit: None,
        span,
    });
}
