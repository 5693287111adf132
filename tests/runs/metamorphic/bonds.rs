//! A model as the text of a bond graph.
//!
//! If the effort is the across variable, a node is a 0-junction and a branch a 1-junction between two of them;
//! otherwise the reverse. The ground is omitted: its common variable is zero.

use super::model::{Domain, Kind, Model, Node, Quantity};
use super::write::{Text, curve, curved, element, number, resistance, source_value};

/// Writes nodes and elements.
pub fn graph(model: &Model, text: &mut Text) {
    for (at, domain) in model.nodes.iter().enumerate() {
        // Modal blocks have no bonds; their nodes stay nodes, at which bonds may end.
        let has_block = model.elements.iter().any(|element| {
            matches!(element.kind, Kind::Bar { .. })
                && (element.ports[0].0 == Some(at) || element.ports[0].1 == Some(at))
        });
        let keyword = match (has_block, domain.effort_is_across()) {
            (true, _) => "node",
            (false, true) => "zero",
            (false, false) => "one",
        };
        text.statements
            .push(format!("{keyword} n{} : {};", at + 1, domain.name()));
    }
    for at in 0..model.elements.len() {
        match model.elements[at].kind {
            Kind::Bar { .. } => element(model, at, text),
            Kind::Transformer(_) | Kind::Gyrator(_) => coupler(model, at, text),
            _ => branch(model, at, text),
        }
    }
}

/// The junction of a port of an element.
fn junction(model: &Model, at: usize, port: usize) -> String {
    let suffix = match model.elements[at].ports.len() {
        1 => "",
        _ => ["a", "b"][port],
    };
    format!("j_{}{suffix}", model.elements[at].name)
}

/// The junction between two nodes, with power drawn from the first to the second.
fn between(domain: Domain, name: &str, (from, to): (Node, Node), text: &mut Text) {
    let keyword = if domain.effort_is_across() { "one" } else { "zero" };
    text.statements.push(format!("{keyword} {name};"));
    if let Some(from) = from {
        text.statements.push(format!("n{} -> {name};", from + 1));
    }
    if let Some(to) = to {
        text.statements.push(format!("{name} -> n{};", to + 1));
    }
}

/// An element of one port.
fn branch(model: &Model, at: usize, text: &mut Text) {
    let element = &model.elements[at];
    let domain = model.domain(at, 0);
    let name = junction(model, at, 0);
    between(domain, &name, element.ports[0], text);
    let is_source = matches!(element.kind, Kind::AcrossSource(_) | Kind::ThroughSource(_));
    let kind = kind(model, at, text);
    let mut line = format!("{} : {kind}", element.name);
    if let Some(start) = element.start {
        // The states of bonds are energy variables.
        let start = match element.kind {
            Kind::AType(value) | Kind::TType(value) => start * value,
            _ => start,
        };
        line += &format!(", start = {}", number(start));
    }
    text.statements.push(line + ";");
    text.statements.push(match is_source {
        true => format!("{} -> {name};", element.name),
        false => format!("{name} -> {};", element.name),
    });
}

/// The keywords for across and through, for A- and T-type storage and for the two sources.
fn words(domain: Domain) -> ([&'static str; 2], [&'static str; 2], [&'static str; 2]) {
    match domain.effort_is_across() {
        true => (["effort", "flow"], ["C", "I"], ["Se", "Sf"]),
        false => (["flow", "effort"], ["I", "C"], ["Sf", "Se"]),
    }
}

fn kind(model: &Model, at: usize, text: &mut Text) -> String {
    let domain = model.domain(at, 0);
    let ([across, through], [a_type, t_type], sources) = words(domain);
    match &model.elements[at].kind {
        Kind::AType(value) => format!("{a_type}({})", text.value(*value)),
        Kind::TType(value) => format!("{t_type}({})", text.value(*value)),
        Kind::DType(value) => {
            let value = if domain.effort_is_across() { *value } else { 1.0 / value };
            let value = text.value(value);
            format!("R({})", resistance(text, value))
        }
        Kind::CubicT { linear, cubic } => {
            let law = format!("{through} = a*int({across}) + c*int({across})^3;");
            text.define(format!("element CubicT_{across}(a, c) : bond {{ {law} }}"));
            format!("CubicT_{across}({}, {})", text.value(*linear), text.value(*cubic))
        }
        Kind::CubicA { linear, cubic } => {
            let law = format!("{across} = a*int({through}) + c*int({through})^3;");
            text.define(format!("element CubicA_{across}(a, c) : bond {{ {law} }}"));
            format!("CubicA_{across}({}, {})", text.value(*linear), text.value(*cubic))
        }
        Kind::Curved {
            curve: which,
            linear,
            part,
            size,
        } => {
            let law = format!("{through} = {};", curve(*which, across));
            curved(
                text,
                &format!("{which:?}D_{across}"),
                " : bond",
                &law,
                [*linear, *part, *size],
            )
        }
        // A source's bond points away from it, that of a branch points into it.
        Kind::AcrossSource(value) => format!("{}(-({}))", sources[0], source_value(model, value, text.writing)),
        Kind::ThroughSource(value) => format!("{}({})", sources[1], source_value(model, value, text.writing)),
        _ => unreachable!("other elements are no branches"),
    }
}

/// A transformer or a gyrator: between domains of different kinds, one becomes the other.
fn coupler(model: &Model, at: usize, text: &mut Text) {
    let element = &model.elements[at];
    let name = &element.name;
    let (one, other) = (junction(model, at, 0), junction(model, at, 1));
    between(model.domain(at, 0), &one, element.ports[0], text);
    let (from, to) = element.ports[1];
    between(model.domain(at, 1), &other, (to, from), text);
    let efforts = [model.domain(at, 0), model.domain(at, 1)].map(Domain::effort_is_across);
    let kind = match (&element.kind, efforts) {
        (Kind::Transformer(ratio), [true, true]) => format!("TF({})", text.value(1.0 / ratio)),
        (Kind::Transformer(ratio), [false, false]) => format!("TF({})", text.value(*ratio)),
        (Kind::Transformer(ratio), [true, false]) => format!("GY({})", text.value(1.0 / ratio)),
        (Kind::Transformer(ratio), [false, true]) => format!("GY({})", text.value(*ratio)),
        (Kind::Gyrator(ratio), [true, true]) => format!("GY({})", text.value(*ratio)),
        (Kind::Gyrator(ratio), [false, false]) => format!("GY({})", text.value(1.0 / ratio)),
        (Kind::Gyrator(ratio), [true, false]) => format!("TF({})", text.value(*ratio)),
        (Kind::Gyrator(ratio), [false, true]) => format!("TF({})", text.value(1.0 / ratio)),
        _ => unreachable!("other elements are no couplers"),
    };
    text.statements.push(format!("{name} : {kind};"));
    text.statements.push(format!("{one} -> {name} -> {other};"));
}

/// A measure of a branch in terms of its junction and its nodes.
pub fn measure(model: &Model, of: &Quantity) -> String {
    let (Quantity::Across(at, port) | Quantity::Through(at, port)) = of else {
        return integral(model, of);
    };
    let domain = model.domain(*at, *port);
    let ([across, through], ..) = words(domain);
    if matches!(of, Quantity::Across(..)) {
        let (from, to) = model.elements[*at].ports[*port];
        let measured = |node: usize| format!("{across}(n{})", node + 1);
        return match (from, to) {
            (Some(from), Some(to)) => format!("({} - {})", measured(from), measured(to)),
            (Some(from), None) => measured(from),
            (None, Some(to)) => format!("(-{})", measured(to)),
            (None, None) => "0".to_string(),
        };
    }
    let measured = format!("{through}({})", junction(model, *at, *port));
    match port {
        0 => measured,
        _ => format!("(-{measured})"),
    }
}

fn integral(model: &Model, of: &Quantity) -> String {
    let Quantity::IntAcross(at) = of else {
        unreachable!("others are written alike in both notations")
    };
    let ([across, _], ..) = words(model.domain(*at, 0));
    format!("int({across}({}))", model.elements[*at].name)
}
