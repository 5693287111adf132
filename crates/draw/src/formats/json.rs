//! A drawing as JSON. The format is stable, because other tools read it.

use crate::drawing::{Drawing, Edge, Kind, LabelKind, Node, Point, Rect, Shape, Source, Stroke};
use lgm_model::JunctionKind;
use serde_json::{Value, json};

/// Rounds a coordinate to a tenth of a pixel.
fn number(value: f64) -> Value {
    let rounded = (value * 10.0).round() / 10.0;
    match rounded.fract() == 0.0 {
        true => json!(rounded as i64),
        false => json!(rounded),
    }
}

fn place(at: Point) -> Value {
    json!([number(at.x), number(at.y)])
}

fn rect(at: Rect) -> Value {
    json!([number(at.x), number(at.y), number(at.w), number(at.h)])
}

/// Converts the drawing; a position is `[x, y]` in pixels, y pointing down.
pub fn json(drawing: &Drawing) -> Value {
    let kind = match drawing.kind {
        Kind::LinearGraph => "linear-graph",
        Kind::BondGraph => "bond-graph",
    };
    let labels = drawing.labels.iter().map(|label| {
        let kind = match label.kind {
            LabelKind::Node => "node",
            LabelKind::Branch => "branch",
            LabelKind::Element(_) => "element",
            LabelKind::Junction => "junction",
            LabelKind::Coupler => "coupler",
            LabelKind::Domain => "domain",
            LabelKind::Signal => "signal",
            LabelKind::Value => "value",
            LabelKind::Number => "number",
            LabelKind::Component => "component",
        };
        json!({ "text": label.text, "box": rect(label.at), "kind": kind })
    });
    let rails = drawing.rails.iter().map(
        |rail| json!({ "id": "gnd", "domain": rail.domain.as_deref(), "path": [place(rail.from), place(rail.to)] }),
    );
    let couplers = drawing.couplings.iter().map(|coupling| {
        let path: Vec<Value> = coupling.path.iter().copied().map(place).collect();
        json!({ "element": coupling.element, "path": path })
    });
    let signals = drawing.signals.iter().map(|signal| {
        let path: Vec<Value> = signal.path.iter().copied().map(place).collect();
        json!({ "element": signal.element, "from": signal.from, "path": path })
    });
    let frames = drawing
        .frames
        .iter()
        .map(|frame| json!({ "component": frame.name, "box": rect(frame.at) }));
    json!({
        "schema": "lgm-drawing/1",
        "model": &*drawing.model,
        "kind": kind,
        "size": [number(drawing.size.0), number(drawing.size.1)],
        "nodes": drawing.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": drawing.edges.iter().map(edge).collect::<Vec<_>>(),
        "labels": labels.collect::<Vec<_>>(),
        "rails": rails.collect::<Vec<_>>(),
        "couplers": couplers.collect::<Vec<_>>(),
        "signals": signals.collect::<Vec<_>>(),
        "frames": frames.collect::<Vec<_>>(),
    })
}

fn node(node: &Node) -> Value {
    let (shape, integral) = match node.shape {
        Shape::Dot => ("node", None),
        Shape::Junction(JunctionKind::Zero) => ("0", None),
        Shape::Junction(JunctionKind::One) => ("1", None),
        Shape::Element(integral) => ("element", integral),
    };
    let causality = integral.map(|integral| if integral { "integral" } else { "derivative" });
    json!({
        "id": node.id, "label": node.label, "at": place(node.at), "domain": node.domain.as_deref(), "shape": shape,
        "causality": causality, "width": node.width,
    })
}

fn edge(edge: &Edge) -> Value {
    let path: Vec<Value> = edge.path.iter().copied().map(place).collect();
    let effort_at = match edge.stroke {
        Some(Stroke::Tail) => Value::from(edge.from.as_str()),
        Some(Stroke::Head) => Value::from(edge.to.as_str()),
        Some(Stroke::Both | Stroke::Contested) => json!([edge.from, edge.to]),
        Some(Stroke::Open) | None => Value::Null,
    };
    let source = edge.source.map(|source| match source {
        Source::Across => "across",
        Source::Through => "through",
    });
    json!({
        "element": edge.element, "name": edge.name, "kind": edge.kind.as_deref(), "from": edge.from, "to": edge.to,
        "domain": edge.domain.as_deref(), "tree": edge.tree, "source": source, "width": edge.width, "path": path,
        "bonds": edge.bonds, "turned": edge.turned, "effort_at": effort_at, "conflict": edge.conflict,
    })
}
