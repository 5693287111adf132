//! The names of variables of the graph in equations.

use lgm_model::{DomainId, Measure, Model, PortId, Variable};

/// Returns the name of a port's variable in equations: `diode.i`, `w.w`, `p.v[2]`.
pub fn port_variable_name(model: &Model, port: PortId, variable: Variable) -> String {
    let about = &model.graph.ports[port.index()];
    let mut name = model.element_name(about.element);
    if let Some(port) = &about.name {
        name.push_str(&format!(".{port}"));
    }
    name.push('.');
    name.push_str(&variable_symbol(model, about.domain, variable));
    if let Some(entry) = about.entry {
        name.push_str(&format!("[{entry}]"));
    }
    name
}

fn variable_symbol(model: &Model, domain: Option<DomainId>, variable: Variable) -> String {
    match domain {
        Some(domain) => {
            let domain = &model.graph.domains[domain.index()];
            let across = domain.effort_is_across == (variable == Variable::Effort);
            if across { &domain.across } else { &domain.through }.to_string()
        }
        None if variable == Variable::Effort => "e".to_string(),
        None => "f".to_string(),
    }
}

/// Returns the name of a measured variable in equations.
pub(crate) fn measure_name(model: &Model, measure: Measure) -> Option<String> {
    Some(match measure {
        Measure::PortEffort(port) => port_variable_name(model, port, Variable::Effort),
        Measure::PortFlow(port) => port_variable_name(model, port, Variable::Flow),
        Measure::Common(node) => {
            let about = &model.graph.nodes[node.index()];
            let symbol = variable_symbol(model, about.domain, about.kind.common());
            let entry = about.entry.map_or(String::new(), |entry| format!("[{entry}]"));
            format!("{}.{symbol}{entry}", model.path_name(about.path))
        }
        Measure::BondEffort(_) | Measure::BondFlow(_) => return None,
    })
}
