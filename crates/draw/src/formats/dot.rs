//! A drawing as DOT, for other layout programs: the connections, with the attributes of DOT.

use crate::drawing::{Drawing, Edge, Kind, Shape, Source, Stroke};
use std::fmt::Write;

/// Returns a quoted text.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes a drawing in the Graphviz language. Each domain has one reference node.
pub fn dot(drawing: &Drawing) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&drawing.model));
    let is_linear = drawing.kind == Kind::LinearGraph;
    text.push_str(if is_linear {
        "  rankdir=TB;\n"
    } else {
        "  rankdir=LR;\n"
    });
    text.push_str("  node [fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\"];\n");
    for node in &drawing.nodes {
        let shape = match node.shape {
            Shape::Dot if node.width > 1 => "shape=doublecircle",
            Shape::Dot => "shape=circle",
            Shape::Junction(_) => "shape=plaintext",
            Shape::Element(Some(false)) => "shape=box, style=dashed",
            Shape::Element(_) => "shape=plaintext",
        };
        let (id, label) = (quoted(&node.id), quoted(&node.label));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {id} [label={label}, {shape}];");
    }
    if is_linear {
        let mut domains: Vec<Option<&str>> = drawing.edges.iter().map(|edge| edge.domain.as_deref()).collect();
        domains.sort_unstable();
        domains.dedup();
        for domain in domains {
            let id = quoted(&ground(domain));
            let _ = writeln!(text, "  {id} [label=\"gnd\", shape=underline];");
        }
    }
    for edge in &drawing.edges {
        let end = |name: &str| match name {
            "gnd" if is_linear => quoted(&ground(edge.domain.as_deref())),
            _ => quoted(name),
        };
        let (from, to) = (end(&edge.from), end(&edge.to));
        let marks = if is_linear { branch(edge) } else { bond(edge) };
        let _ = writeln!(text, "  {from} -> {to} [{marks}];");
    }
    text.push_str("}\n");
    text
}

fn ground(domain: Option<&str>) -> String {
    match domain {
        Some(domain) => format!("gnd:{domain}"),
        None => "gnd".to_string(),
    }
}

fn branch(edge: &Edge) -> String {
    let mut marks = format!("label={}", quoted(&edge.name));
    if edge.tree == Some(true) {
        marks.push_str(", penwidth=2.5");
    }
    match edge.source {
        Some(Source::Across) => marks.push_str(", arrowtail=odot, dir=both"),
        Some(Source::Through) => marks.push_str(", arrowtail=odiamond, dir=both"),
        None => {}
    }
    if edge.width > 1 {
        let color = "black:white:black";
        let _ = write!(marks, ", color={}", quoted(color));
    }
    marks
}

fn bond(edge: &Edge) -> String {
    let (head, tail) = match edge.stroke {
        Some(Stroke::Head) => ("teelvee", "none"),
        Some(Stroke::Tail) => ("lvee", "tee"),
        Some(Stroke::Both | Stroke::Contested) => ("teelvee", "tee"),
        Some(Stroke::Open) | None => ("lvee", "none"),
    };
    let mut marks = format!("dir=both, arrowhead={head}, arrowtail={tail}");
    if edge.width > 1 {
        let _ = write!(marks, ", color={}", quoted("black:white:black"));
    }
    marks
}
