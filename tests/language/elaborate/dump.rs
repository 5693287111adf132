//! A flat model as text, for snapshots.

use lgm::expr::{ExprId, Exprs, Node};
use lgm::model::{BondEnd, Connection, Dissipator, Law, Matrix, Measure, Model, NodeId, PortId, SiUnit, StateChoice};
use std::fmt::Write;

/// An expression, with parentheses around every sum and product inside another.
pub fn expr(exprs: &Exprs, id: ExprId) -> String {
    let list = |items: &[ExprId], joint: &str| {
        items
            .iter()
            .map(|item| expr(exprs, *item))
            .collect::<Vec<_>>()
            .join(joint)
    };
    match exprs.node(id) {
        Node::Number(number) => number.to_string(),
        Node::Pi => "pi".to_string(),
        Node::Symbol(symbol) => exprs.symbol_info(*symbol).name.to_string(),
        Node::Sum(items) => format!("({})", list(items, " + ")),
        Node::Product(items) => format!("({})", list(items, "*")),
        Node::Power(a, b) => format!("{}^{}", expr(exprs, *a), expr(exprs, *b)),
        Node::Call(function, items) => format!("{}({})", function.name(), list(items, ", ")),
        Node::Relation(relation, a, b) => format!("({} {relation:?} {})", expr(exprs, *a), expr(exprs, *b)),
        Node::Not(a) => format!("not {}", expr(exprs, *a)),
        Node::If(c, a, b) => format!(
            "(if {} then {} else {})",
            expr(exprs, *c),
            expr(exprs, *a),
            expr(exprs, *b)
        ),
    }
}

fn matrix(exprs: &Exprs, matrix: &Matrix) -> String {
    if matrix.rows == 1 && matrix.columns == 1 {
        return expr(exprs, matrix.entries[0]);
    }
    let rows = (0..matrix.rows).map(|row| {
        let entries: Vec<String> = (0..matrix.columns)
            .map(|column| expr(exprs, matrix.get(row, column)))
            .collect();
        format!("[{}]", entries.join(", "))
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(", "))
}

/// A law on one line.
pub fn law(exprs: &Exprs, law: &Law) -> String {
    match law {
        Law::Storage { co_energy, value, form } => format!("storage {co_energy:?} {form:?} {}", matrix(exprs, value)),
        Law::Dissipator(Dissipator::Resistance(value)) => format!("resistance {}", matrix(exprs, value)),
        Law::Dissipator(Dissipator::Conductance(value)) => format!("conductance {}", matrix(exprs, value)),
        Law::Dissipator(Dissipator::Implicit(p, q)) => format!("implicit {} ; {}", matrix(exprs, p), matrix(exprs, q)),
        Law::Source { given, values } => {
            let values: Vec<String> = values.iter().map(|value| expr(exprs, *value)).collect();
            format!("source {given:?} {}", values.join(", "))
        }
        Law::Coupler {
            input,
            output,
            matrix: modulus,
        } => {
            format!("coupler {output:?} = {} {input:?}", matrix(exprs, modulus))
        }
        Law::Nonlinear(law) => {
            let residuals: Vec<String> = law.residuals.iter().map(|residual| expr(exprs, *residual)).collect();
            format!("nonlinear 0 = {}", residuals.join(", 0 = "))
        }
    }
}

fn node(model: &Model, id: NodeId) -> String {
    let node = &model.graph.nodes[id.index()];
    let entry = node.entry.map_or(String::new(), |entry| format!("[{entry}]"));
    format!("{}{entry}", model.path_name(node.path))
}

fn port(model: &Model, id: PortId) -> String {
    let port = &model.graph.ports[id.index()];
    let name = port.name.as_ref().map_or(String::new(), |name| format!(".{name}"));
    let entry = port.entry.map_or(String::new(), |entry| format!("[{entry}]"));
    format!("{}{name}{entry}", model.element_name(port.element))
}

fn end(model: &Model, end: BondEnd) -> String {
    match end {
        BondEnd::Node(id) => node(model, id),
        BondEnd::Port(id) => port(model, id),
    }
}

/// The whole model.
pub fn model(model: &Model) -> String {
    let mut out = String::new();
    let exprs = &model.exprs;
    let unit = |unit: &Option<SiUnit>| unit.as_ref().map_or(String::new(), |unit| format!(" [{unit}]"));
    let mut line = |text: String| writeln!(out, "{text}").unwrap();
    line(format!("model {}", model.heading.name));
    for parameter in &model.parameters {
        for entry in &parameter.entries {
            let name = &exprs.symbol_info(entry.symbol).name;
            let from = entry
                .derived
                .map_or(String::new(), |derived| format!(" from {}", expr(exprs, derived)));
            line(format!("param {name}{} = {}{from}", unit(&parameter.unit), entry.value));
        }
    }
    for input in &model.inputs {
        let signal = input.signal.map_or("none".to_string(), |signal| expr(exprs, signal));
        line(format!("input {}{} = {signal}", input.name, unit(&input.unit)));
    }
    for (at, entry) in model.graph.nodes.iter().enumerate() {
        let domain = entry.domain.map_or(String::new(), |id| {
            format!(" : {}", model.graph.domains[id.index()].name)
        });
        let word = if entry.is_graph_node { "node" } else { "junction" };
        line(format!(
            "{word} {} {:?}{domain}",
            node(model, NodeId(at as u32)),
            entry.kind
        ));
    }
    for element in &model.graph.elements {
        let choice = if element.state_choice == StateChoice::Energy {
            " (energy)"
        } else {
            ""
        };
        let start: Vec<String> = element
            .start
            .iter()
            .flatten()
            .map(|start| expr(exprs, *start))
            .collect();
        let start = if start.is_empty() {
            String::new()
        } else {
            format!(", start {}", start.join(", "))
        };
        line(format!(
            "{} : {}{choice} {}{start}",
            model.path_name(element.path),
            element.kind,
            law(exprs, &element.law)
        ));
        for at in element.ports.clone() {
            let text = match &model.graph.ports[at as usize].connection {
                Connection::Branch { from, to, .. } => {
                    let name = |id: &Option<NodeId>| id.map_or("gnd".to_string(), |id| node(model, id));
                    format!("{} -> {}", name(from), name(to))
                }
                Connection::Bond(bond) => format!("bond {}", bond.0),
            };
            line(format!("  {} {text}", port(model, PortId(at))));
        }
    }
    for (at, bond) in model.graph.bonds.iter().enumerate() {
        line(format!(
            "bond {at}: {} -> {}",
            end(model, bond.tail),
            end(model, bond.head)
        ));
    }
    for (symbol, measure) in &model.measures {
        let what = match measure {
            Measure::PortEffort(id) => format!("effort of {}", port(model, *id)),
            Measure::PortFlow(id) => format!("flow of {}", port(model, *id)),
            Measure::Common(id) => format!("common of {}", node(model, *id)),
            Measure::BondEffort(id) => format!("effort of bond {}", id.0),
            Measure::BondFlow(id) => format!("flow of bond {}", id.0),
        };
        line(format!("measure {} is the {what}", exprs.symbol_info(*symbol).name));
    }
    for integral in &model.integrals {
        let start = integral
            .start
            .map_or(String::new(), |start| format!(", start {}", expr(exprs, start)));
        line(format!(
            "state {}{} = int {}{start}",
            model.path_name(integral.path),
            unit(&integral.unit),
            expr(exprs, integral.rate)
        ));
    }
    for output in &model.outputs {
        line(format!(
            "output {}{} = {}",
            output.name,
            unit(&output.unit),
            expr(exprs, output.value)
        ));
    }
    out
}
