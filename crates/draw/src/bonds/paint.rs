//! Creates the drawing of a bond graph from its layout.

use super::blocks::Blocks;
use super::cells::VALUE;
use super::graph::{Graph, Vertex};
use super::laid::{Laid, Placed};
use super::{numbers, tracks};
use crate::content::Content;
use crate::drawing::{Anchor, Drawing, Edge, Frame, Kind, Label, LabelKind, Node, Point, Rect, Shape, Signal, Stroke};
use crate::wrap::wrap;

/// The margin around the drawing.
const MARGIN: f64 = 18.0;

pub(super) fn paint(content: &Content<'_>, graph: &Graph, blocks: &Blocks, laid: &Laid) -> Drawing {
    let mut drawing = Drawing {
        model: content.model.heading.name.clone(),
        kind: Kind::BondGraph,
        size: (0.0, 0.0),
        nodes: Vec::new(),
        edges: Vec::new(),
        rails: Vec::new(),
        couplings: Vec::new(),
        signals: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
    };
    for place in &laid.placed {
        vertex(&graph.vertices[place.vertex], place, &mut drawing);
    }
    for (bond, path) in &laid.lines {
        drawing.edges.push(edge(graph, *bond, path.clone()));
    }
    for frame in &laid.frames {
        let name = &blocks.all[frame.block].name;
        drawing.frames.push(Frame {
            name: name.clone(),
            at: frame.at,
        });
        drawing.labels.push(Label {
            text: blocks.all[frame.block].text.clone(),
            at: frame.title,
            anchor: Anchor::Start,
            kind: LabelKind::Component,
            domain: None,
            name: name.clone(),
            title: format!("component {name}"),
        });
    }
    signals(graph, laid, &mut drawing);
    drawing.edges.sort_by_key(|edge| edge.bonds.first().copied());
    let left = drawing.left();
    drawing.fit(MARGIN);
    let cuts: Vec<f64> = laid.gaps.cuts.iter().map(|cut| cut + MARGIN - left).collect();
    let numbers = match content.manner.all_junctions {
        true => numbers::of_report(&drawing),
        false => numbers::in_order(&drawing),
    };
    wrap(&mut drawing, &cuts);
    numbers::write(&mut drawing, numbers);
    drawing.fit(MARGIN);
    drawing
}

/// Draws a junction or an element with its text, and its value below.
fn vertex(vertex: &Vertex, place: &Placed, drawing: &mut Drawing) {
    drawing.nodes.push(Node {
        id: vertex.id.clone(),
        label: vertex.text.clone(),
        at: place.at,
        domain: vertex.domain.clone(),
        shape: vertex.shape,
        width: vertex.width,
    });
    let below = vertex.value.as_ref().map_or(0.0, |_| VALUE);
    let mut label = Label {
        text: vertex.text.clone(),
        at: Rect::around(place.at.moved(0.0, -below / 2.0), place.w, place.h - below),
        anchor: Anchor::Middle,
        kind: match vertex.shape {
            Shape::Junction(_) => LabelKind::Junction,
            Shape::Element(integral) => LabelKind::Element(integral),
            Shape::Dot => LabelKind::Node,
        },
        domain: vertex.domain.clone(),
        name: vertex.id.clone(),
        title: vertex.title.clone(),
    };
    drawing.labels.push(label.clone());
    if let Some(value) = &vertex.value {
        label.text = value.clone();
        label.at = Rect::around(place.at.moved(0.0, (place.h - below) / 2.0), place.w, below);
        label.kind = LabelKind::Value;
        drawing.labels.push(label);
    }
}

/// Creates the edge of a bond.
fn edge(graph: &Graph, bond: usize, path: Vec<Point>) -> Edge {
    let info = &graph.bonds[bond];
    Edge {
        element: info.element.clone(),
        name: info.name.clone(),
        kind: info.kind.clone(),
        from: graph.vertices[info.tail].id.clone(),
        to: graph.vertices[info.head].id.clone(),
        domain: info.domain.clone(),
        tree: None,
        width: info.width,
        path,
        radius: 6.0,
        source: None,
        arrow: None,
        circle: None,
        bonds: info.bonds.clone(),
        turned: info.turned.clone(),
        stroke: Some(if info.contested { Stroke::Contested } else { info.stroke }),
        conflict: info.conflict,
    }
}

/// Draws signals as lines from the measured vertices, or as texts if the source is not drawn.
fn signals(graph: &Graph, laid: &Laid, drawing: &mut Drawing) {
    for (from, to, path) in tracks::signals(graph, laid) {
        drawing.signals.push(Signal {
            element: graph.vertices[to].id.clone(),
            from: Some(graph.vertices[from].id.clone()),
            path,
        });
    }
    for note in &laid.notes {
        let owner = &graph.vertices[note.vertex].id;
        drawing.signals.push(Signal {
            element: owner.clone(),
            from: None,
            path: vec![note.arrow.0, note.arrow.1],
        });
        drawing.labels.push(Label {
            text: note.text.clone(),
            at: note.at,
            anchor: Anchor::Middle,
            kind: LabelKind::Signal,
            domain: None,
            name: owner.clone(),
            title: format!("depends on {}", note.text),
        });
    }
}
