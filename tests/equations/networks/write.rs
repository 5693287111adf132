//! A network as `.lgm` text.

use super::network::{
    Change, Connection, Element, JunctionKind, Ladder, Law, Linear, Matrix, Network, Place, Slot, Term, Value,
};
use std::fmt::Write;

/// The network as one model of the language.
pub fn write(network: &Network) -> String {
    let mut text = String::new();
    for ladder in &network.ladders {
        component(ladder, &mut text);
    }
    text.push_str("model Random {\n");
    declarations(network, &mut text);
    for ladder in &network.ladders {
        instances(ladder, &mut text);
    }
    for element in network.elements.iter().filter(|element| !element.hidden) {
        element_lines(network, element, &mut text);
    }
    ending(network, &mut text);
    text
}

/// The network with part of its branches in a component: the elements for which `inside` holds. Nodes used only by them
/// become nodes of the component, the others its ports.
pub fn write_with_component(network: &Network, inside: &dyn Fn(usize) -> bool) -> String {
    let touches = |junction: usize, wanted: bool| {
        network.elements.iter().enumerate().any(|(index, element)| {
            inside(index) == wanted
                && element.ports.iter().any(|port| match port {
                    Connection::Branch { from, to } => {
                        [from, to].into_iter().flatten().any(|slot| slot.junction == junction)
                    }
                    Connection::Bond(slot) => slot.junction == junction,
                })
        })
    };
    let mut shown = network.clone();
    let mut text = String::from("component Part() {\n");
    let mut joins = Vec::new();
    let mut renamed = network.clone();
    for (index, junction) in network.junctions.iter().enumerate() {
        if !touches(index, true) {
            continue;
        }
        let domain = junction.domain.expect("a node has a domain").name();
        let size = junction
            .width
            .map_or(String::new(), |width| format!("[{width}] vector"));
        let word = if touches(index, false) {
            joins.push(format!("{0} = {0}", junction.name));
            "port"
        } else {
            shown.junctions[index].hidden = true;
            renamed.junctions[index].name = format!("part.{}", junction.name);
            "node"
        };
        let _ = writeln!(text, "  {word} {}{size} : {domain};", junction.name);
    }
    for (index, element) in network.elements.iter().enumerate().filter(|(index, _)| inside(*index)) {
        let mut plain = element.clone();
        plain.named = false;
        element_lines(network, &plain, &mut text);
        shown.elements[index].hidden = true;
        renamed.elements[index].name = format!("part.{}", element.name);
    }
    text.push_str("}\nmodel Random {\n");
    declarations(&shown, &mut text);
    let _ = writeln!(text, "  part : Part() ({});", joins.join(", "));
    for element in shown.elements.iter().filter(|element| !element.hidden) {
        let mut named = element.clone();
        for (at, signal) in element.signals.iter().enumerate() {
            named.signals[at] = signal.clone();
        }
        element_lines(&renamed, &named, &mut text);
    }
    ending(&renamed, &mut text);
    text
}

fn declarations(network: &Network, text: &mut String) {
    for element in network
        .elements
        .iter()
        .filter(|element| element.named && !element.hidden)
    {
        let _ = writeln!(text, "  param p_{} = {};", element.name, matrix(&element.matrix));
    }
    for input in 1..=network.inputs {
        let _ = writeln!(text, "  input u{input} = {input};");
    }
    for junction in network.junctions.iter().filter(|junction| !junction.hidden) {
        let word = match junction.kind {
            JunctionKind::Node => "node",
            JunctionKind::Zero => "zero",
            JunctionKind::One => "one",
        };
        let size = junction
            .width
            .map_or(String::new(), |width| format!("[{width}] vector"));
        let domain = junction
            .domain
            .map_or(String::new(), |domain| format!(" : {}", domain.name()));
        let _ = writeln!(text, "  {word} {}{size}{domain};", junction.name);
    }
}

fn ending(network: &Network, text: &mut String) {
    for bond in &network.bonds {
        let _ = writeln!(text, "  {} -> {};", slot(network, bond.tail), slot(network, bond.head));
    }
    for (index, rate) in network.integrals.iter().enumerate() {
        let _ = writeln!(text, "  state z{} = int({});", index + 1, linear(network, rate));
    }
    for (index, output) in network.outputs.iter().enumerate() {
        let value = linear(network, &output.value);
        let value = match output.change {
            Change::Value => value,
            Change::Derivative => format!("der({value})"),
            Change::Integral => format!("int({value})"),
        };
        let _ = writeln!(text, "  output y{} = {value};", index + 1);
    }
    text.push_str("}\n");
}

fn element_lines(network: &Network, element: &Element, text: &mut String) {
    let value = if element.law.is_source() {
        let width = network.elements.iter().position(|other| other.name == element.name);
        let vector = width.is_some_and(|index| match element.ports[0] {
            Connection::Branch { from, to } => from
                .or(to)
                .is_some_and(|slot| slot.entry.is_none() && network.junctions[slot.junction].width.is_some()),
            Connection::Bond(_) => network.port_width(index, 0) > 1,
        });
        let list: Vec<String> = element.signals.iter().map(|signal| linear(network, signal)).collect();
        if vector {
            format!("[{}]", list.join(", "))
        } else {
            list.join(", ")
        }
    } else if element.named {
        format!("p_{}", element.name)
    } else {
        matrix(&element.matrix)
    };
    let _ = write!(text, "  {} : {}({value})", element.name, element.kind);
    if element.law.is_bond() {
        text.push_str(";\n");
        let ends: Vec<String> = element
            .ports
            .iter()
            .map(|port| match port {
                Connection::Bond(end) => slot(network, *end),
                Connection::Branch { .. } => unreachable!("bond elements have bonds"),
            })
            .collect();
        let name = &element.name;
        let _ = match (element.law, ends.as_slice()) {
            (Law::Se | Law::Sf, [end]) => writeln!(text, "  {name} -> {end};"),
            (_, [end]) => writeln!(text, "  {end} -> {name};"),
            (_, [tail, head]) => writeln!(text, "  {tail} -> {name} -> {head};"),
            _ => unreachable!("elements have one or two ports"),
        };
        return;
    }
    let ends: Vec<String> = element
        .ports
        .iter()
        .map(|port| match port {
            Connection::Branch { from, to } => format!("{} -> {}", terminal(network, *from), terminal(network, *to)),
            Connection::Bond(_) => unreachable!("branch elements have branches"),
        })
        .collect();
    let _ = writeln!(text, " {};", ends.join(", "));
}

fn slot(network: &Network, slot: Slot) -> String {
    let name = &network.junctions[slot.junction].name;
    slot.entry
        .map_or(name.clone(), |entry| format!("{name}[{}]", entry + 1))
}

fn terminal(network: &Network, end: Option<Slot>) -> String {
    end.map_or("gnd".to_string(), |end| slot(network, end))
}

fn matrix(matrix: &Matrix) -> String {
    if matrix.is_scalar() {
        return matrix.entries[0].to_string();
    }
    let rows: Vec<String> = matrix
        .entries
        .chunks(matrix.columns)
        .map(|row| format!("[{}]", row.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")))
        .collect();
    format!("[{}]", rows.join(", "))
}

fn term(network: &Network, term: Term) -> String {
    let (element, port, entry, words) = match term {
        Term::Input(input) => return format!("u{}", input + 1),
        Term::Integral(integral) => return format!("z{}", integral + 1),
        Term::Common(junction, entry) => {
            let junction = &network.junctions[junction];
            let word = match junction.kind {
                JunctionKind::Node => "across",
                JunctionKind::Zero => "effort",
                JunctionKind::One => "flow",
            };
            return match junction.width {
                Some(_) => format!("{word}({})[{}]", junction.name, entry + 1),
                None => format!("{word}({})", junction.name),
            };
        }
        Term::First(element, port, entry) => (element, port, entry, ("across", "effort")),
        Term::Second(element, port, entry) => (element, port, entry, ("through", "flow")),
    };
    let place = &network.elements[element];
    let word = if place.law.is_bond() { words.1 } else { words.0 };
    let name = if place.law.is_coupler() {
        format!("{}.{}", place.name, place.law.port_name(port))
    } else {
        place.name.clone()
    };
    let vector = match place.ports[port] {
        Connection::Bond(slot) => slot.entry.is_none() && network.junctions[slot.junction].width.is_some(),
        Connection::Branch { from, to } => from
            .or(to)
            .is_some_and(|slot| slot.entry.is_none() && network.junctions[slot.junction].width.is_some()),
    };
    if vector {
        format!("{word}({name})[{}]", entry + 1)
    } else {
        format!("{word}({name})")
    }
}

fn linear(network: &Network, combination: &Linear) -> String {
    let mut text = String::new();
    for (index, (factor, what)) in combination.iter().enumerate() {
        let negative = factor.mantissa < 0;
        text.push_str(match (index, negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        });
        let size = if negative { factor.negative() } else { *factor };
        if size.mantissa != 1 || size.exponent != 0 {
            let _ = write!(text, "{size}*");
        }
        text.push_str(&term(network, *what));
    }
    text
}

/// The component of a ladder's cells.
fn component(ladder: &Ladder, text: &mut String) {
    let _ = writeln!(text, "component {}({}) {{", kind_of(ladder), formals(ladder).join(", "));
    let _ = writeln!(text, "  port p, n : {};", ladder.domain.name());
    if ladder.inner {
        let _ = writeln!(text, "  node m : {};", ladder.domain.name());
    }
    let place = |place: Place| match place {
        Place::Left => "p",
        Place::Right => "n",
        Place::Inner => "m",
        Place::Reference => "gnd",
    };
    for (name, _, kind, _, from, to) in &ladder.body {
        let _ = writeln!(
            text,
            "  {name} : {kind}(value_{name}) {} -> {};",
            place(*from),
            place(*to)
        );
    }
    text.push_str("}\n");
}

fn formals(ladder: &Ladder) -> Vec<String> {
    ladder.body.iter().map(|(name, ..)| format!("value_{name}")).collect()
}

/// The name of the component of a ladder's cells.
fn kind_of(ladder: &Ladder) -> String {
    format!("Kind_{}", ladder.cells)
}

/// The nodes and the loop of a ladder.
fn instances(ladder: &Ladder, text: &mut String) {
    let arguments: Vec<String> = ladder
        .body
        .iter()
        .map(|(name, _, _, value, ..)| format!("value_{name} = {value}"))
        .collect();
    let (nodes, cells) = (&ladder.nodes, &ladder.cells);
    let _ = writeln!(text, "  const n_{cells} = {};", ladder.count);
    let _ = writeln!(text, "  node {nodes}[n_{cells} + 1] : {};", ladder.domain.name());
    let _ = writeln!(text, "  for i in 1:n_{cells} {{");
    let _ = writeln!(
        text,
        "    {cells}[i] : {}({}) (p = {nodes}[i], n = {nodes}[i + 1]);",
        kind_of(ladder),
        arguments.join(", ")
    );
    text.push_str("  }\n");
}
