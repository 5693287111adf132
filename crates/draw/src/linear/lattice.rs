//! The drawing of a linear graph whose nodes form a grid. Each node has its own reference below it.

use super::columns::{BESIDE, CIRCLE, circle, label_width};
use super::graph::Graph;
use super::grid::Spots;
use super::paint::{MARGIN, edge, empty, label, mark, node};
use crate::content::Content;
use crate::drawing::{Anchor, Drawing, Label, LabelKind, Point, Rail, Rect};
use crate::metrics::{LINE, SIZE, width};
use std::collections::BTreeMap;

/// The maximum width of such a drawing.
const WIDEST: f64 = 1900.0;

/// The depth of a reference below its node.
const DEEP: f64 = 74.0;

/// The distance between parallel branches.
const PARALLEL: f64 = 30.0;

/// The distance between two columns, and between two rows.
struct Pitch {
    x: f64,
    y: f64,
    /// The distance from a node to its first branch to the reference.
    hang: f64,
    /// The distance between branches to the reference.
    slot: f64,
}

/// Creates the drawing; `None` if it would be too wide.
pub(super) fn paint(content: &Content<'_>, graph: &Graph, spots: &Spots) -> Option<Drawing> {
    let (mut between, mut hanging) = (
        BTreeMap::<(usize, usize), Vec<usize>>::new(),
        vec![Vec::new(); graph.nodes.len()],
    );
    for (at, branch) in graph.branches.iter().enumerate() {
        match branch.ends {
            (Some(a), Some(b)) => between.entry((a.min(b), a.max(b))).or_default().push(at),
            (Some(node), None) | (None, Some(node)) => hanging[node].push(at),
            (None, None) => {}
        }
    }
    let pitch = pitch(graph, spots, &between, &hanging);
    let place = |node: usize| Point::new(spots[node].0 as f64 * pitch.x, spots[node].1 as f64 * pitch.y);
    let mut drawing = empty(content);
    for (at, info) in graph.nodes.iter().enumerate() {
        let w = width(&info.name, SIZE);
        let name = Rect {
            x: -w - 6.0,
            y: -9.0 - LINE,
            w,
            h: LINE,
        };
        node(info, place(at), name, &mut drawing);
    }
    for ((a, b), branches) in &between {
        for (number, branch) in branches.iter().enumerate() {
            step(graph, [(*a, place(*a)), (*b, place(*b))], *branch, number, &mut drawing);
        }
    }
    for (at, branches) in hanging.iter().enumerate() {
        for (number, branch) in branches.iter().enumerate() {
            let x = place(at).x + pitch.hang + pitch.slot * number as f64;
            down(graph, place(at), x, *branch, &mut drawing);
        }
        reference(graph, at, place(at), branches.len(), &pitch, &mut drawing);
    }
    let rank: BTreeMap<String, usize> = (graph.branches.iter().enumerate())
        .map(|(at, branch)| (branch.name.clone(), at))
        .collect();
    drawing.edges.sort_by_key(|edge| rank.get(&edge.name).copied());
    drawing.fit(MARGIN);
    (drawing.size.0 <= WIDEST).then_some(drawing)
}

fn pitch(
    graph: &Graph,
    spots: &Spots,
    between: &BTreeMap<(usize, usize), Vec<usize>>,
    hanging: &[Vec<usize>],
) -> Pitch {
    let widest = |branches: &mut dyn Iterator<Item = &usize>| {
        let room = |branch: &usize| label_width(graph, *branch) + circle(graph.branches[*branch].source);
        branches.map(room).fold(0.0, f64::max)
    };
    let level = between.iter().filter(|((a, b), _)| spots[*a].1 == spots[*b].1);
    let upright = between.iter().filter(|((a, b), _)| spots[*a].1 != spots[*b].1);
    let (level, upright): (Vec<_>, Vec<_>) = (level.map(|each| each.1).collect(), upright.map(|each| each.1).collect());
    let names = graph
        .nodes
        .iter()
        .map(|node| width(&node.name, SIZE))
        .fold(0.0, f64::max);
    let along = widest(&mut level.iter().flat_map(|own| own.iter()));
    let beside = widest(&mut upright.iter().flat_map(|own| own.iter()));
    let most = |own: &mut dyn Iterator<Item = usize>| own.max().unwrap_or(0);
    let lines = most(&mut upright.iter().map(|own| own.len())).max(1) as f64;
    let rows = most(&mut level.iter().map(|own| own.len())).max(1) as f64;
    let hangs = most(&mut hanging.iter().map(Vec::len));
    let hang_width = widest(&mut hanging.iter().flatten()) + BESIDE;
    // Names of vertical branches are next to them, to the left of the branches to the reference.
    let right = (lines - 1.0) * (PARALLEL + beside) + BESIDE + beside;
    let (hang, slot) = (right + 20.0 + CIRCLE, hang_width + 20.0);
    let lower = if hangs > 0 { hang + slot * hangs as f64 } else { right };
    let deep = if hangs > 0 { DEEP + 18.0 } else { 40.0 };
    Pitch {
        x: (along + 52.0).max(lower + names + 14.0).max(90.0),
        y: deep + 40.0 + (rows - 1.0) * PARALLEL,
        hang,
        slot,
    }
}

/// Draws a branch to the next column or the next row; further ones are parallel to the first.
fn step(graph: &Graph, [a, b]: [(usize, Point); 2], at: usize, number: usize, drawing: &mut Drawing) {
    let branch = &graph.branches[at];
    let forward = branch.ends.0 == Some(a.0);
    // From left to right, or downwards.
    let is_turned = a.1.x > b.1.x + 1.0 || a.1.y > b.1.y + 1.0;
    let (from, to) = if is_turned { (b.1, a.1) } else { (a.1, b.1) };
    let runs_on = forward != is_turned;
    let w = label_width(graph, at);
    let is_level = (from.y - to.y).abs() < 1.0;
    let aside = number as f64;
    let (way, shift) = match is_level {
        true => ((1.0, 0.0), (0.0, -PARALLEL * aside)),
        false => ((0.0, 1.0), ((PARALLEL + w) * aside, 0.0)),
    };
    let mut path = vec![from, to];
    if number > 0 {
        let (dx, dy) = (way.0 * 16.0, way.1 * 16.0);
        path = vec![
            from,
            from.moved(dx + shift.0, dy + shift.1),
            to.moved(-dx + shift.0, -dy + shift.1),
            to,
        ];
    }
    if !runs_on {
        path.reverse();
    }
    let mut edge = edge(graph, branch, path);
    // The circle of a downward branch is above the items attached next to it.
    let part = if is_level { 0.5 } else { 0.45 };
    let middle = from.towards(to, part).moved(shift.0, shift.1);
    let sign = if runs_on { 1.0 } else { -1.0 };
    mark(&mut edge, middle, (way.0 * sign, way.1 * sign));
    drawing.edges.push(edge);
    let room = circle(branch.source);
    let (box_of, anchor) = match is_level {
        true => (
            Rect {
                x: middle.x - w / 2.0,
                y: middle.y - 6.0 - room - LINE,
                w,
                h: LINE,
            },
            Anchor::Middle,
        ),
        false => (
            Rect {
                x: middle.x + BESIDE + room,
                y: middle.y - LINE / 2.0,
                w,
                h: LINE,
            },
            Anchor::Start,
        ),
    };
    drawing.labels.push(label(branch, box_of, anchor));
}

/// Draws a branch to the reference below a node.
fn down(graph: &Graph, top: Point, x: f64, at: usize, drawing: &mut Drawing) {
    let branch = &graph.branches[at];
    let mut path = vec![top, Point::new(x, top.y + 16.0), Point::new(x, top.y + DEEP)];
    let is_down = branch.ends.1.is_none();
    if !is_down {
        path.reverse();
    }
    let mut edge = edge(graph, branch, path);
    let middle = Point::new(x, top.y + 44.0);
    mark(&mut edge, middle, (0.0, if is_down { 1.0 } else { -1.0 }));
    drawing.edges.push(edge);
    let name = Rect {
        x: x + BESIDE + circle(branch.source),
        y: middle.y - LINE / 2.0,
        w: label_width(graph, at),
        h: LINE,
    };
    drawing.labels.push(label(branch, name, Anchor::Start));
}

/// Draws the reference of one node. Only the first one has the name of the domain.
fn reference(graph: &Graph, at: usize, top: Point, hangs: usize, pitch: &Pitch, drawing: &mut Drawing) {
    if hangs == 0 {
        return;
    }
    let domain = graph.nodes[at].domain.clone();
    let from = Point::new(top.x + pitch.hang - 12.0, top.y + DEEP);
    let to = from.moved(24.0 + pitch.slot * (hangs as f64 - 1.0), 0.0);
    let is_first = drawing.rails.is_empty();
    drawing.rails.push(Rail {
        domain: domain.clone(),
        from,
        to,
    });
    if let (Some(text), true) = (domain.as_deref(), is_first) {
        drawing.labels.push(Label {
            text: text.to_string(),
            at: Rect {
                x: to.x + 6.0,
                y: to.y - 2.0,
                w: width(text, SIZE),
                h: LINE,
            },
            anchor: Anchor::Start,
            kind: LabelKind::Domain,
            domain: domain.clone(),
            name: "gnd".to_string(),
            title: format!("reference, {text}"),
        });
    }
}
