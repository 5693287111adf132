//! Dashed lines that link branches between two nodes to the other branches of their coupler.

use super::graph::Graph;
use crate::drawing::{Coupling, Drawing, Edge, Point, Rect};

/// The distance between a joint and the middle of the gap between two columns.
const ASIDE: f64 = 3.0;

/// The room of a node, including the ring around a vector node.
const NODE: f64 = 20.0;

/// Links every coupler that has a branch between two nodes. `cuts` are gaps between columns, and `lanes` is the depth of each coupler.
pub(super) fn add(graph: &Graph, cuts: &[f64], lanes: &[f64], drawing: &mut Drawing) {
    for (at, coupler) in graph.couplers.iter().enumerate() {
        let between = coupler.branches.iter().map(|branch| &graph.branches[*branch]);
        let between: Vec<&str> = between
            .filter(|branch| branch.is_between())
            .map(|branch| &*branch.name)
            .collect();
        if between.is_empty() {
            continue;
        }
        let lane = lanes[at];
        let mut joints: Vec<Point> = Vec::new();
        for name in between {
            let Some(edge) = drawing.edges.iter().find(|edge| edge.name == name) else {
                continue;
            };
            joints.extend(joint(drawing, edge, cuts, lane));
        }
        let own = drawing
            .couplings
            .iter()
            .find(|coupling| coupling.element == coupler.element);
        let known: Vec<f64> = own.map_or(Vec::new(), |coupling| coupling.path.iter().map(|at| at.x).collect());
        let xs = known.iter().copied().chain(joints.iter().map(|joint| joint.x));
        let (low, high) = xs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let new = |path: Vec<Point>, joints: Vec<Point>| Coupling {
            element: coupler.element.clone(),
            path,
            joints,
        };
        for joint in &joints {
            drawing
                .couplings
                .push(new(vec![*joint, Point::new(joint.x, lane)], vec![*joint]));
        }
        // The part of the lane that has not been drawn yet.
        let (from, to) = match (known.first(), known.last()) {
            (Some(from), Some(to)) => (*from, *to),
            _ => (low, low),
        };
        for (start, end) in [(low, from), (to, high)] {
            if end - start > 1e-6 {
                drawing
                    .couplings
                    .push(new(vec![Point::new(start, lane), Point::new(end, lane)], Vec::new()));
            }
        }
    }
}

/// Returns the point at which a line down to a lane leaves a branch: clear of texts, with few crossings.
fn joint(drawing: &Drawing, edge: &Edge, cuts: &[f64], lane: f64) -> Option<Point> {
    let level = edge.path.windows(2).filter(|pair| (pair[0].y - pair[1].y).abs() < 1e-6);
    let (a, b) = level
        .map(|pair| (pair[0], pair[1]))
        .max_by(|one, two| one.0.distance(one.1).total_cmp(&two.0.distance(two.1)))?;
    let (left, right) = (a.x.min(b.x), a.x.max(b.x));
    let steps = ((right - left) / 4.0) as usize;
    let gaps = cuts.iter().map(|cut| cut - ASIDE);
    let any = (1..steps).map(|step| left + 4.0 * step as f64);
    let inside = gaps.chain(any).filter(|x| left + 6.0 < *x && *x < right - 6.0);
    let cost = |x: &f64| {
        let (top, bottom) = (Point::new(*x, a.y), Point::new(*x, lane));
        let texts = drawing
            .labels
            .iter()
            .map(|label| label.at)
            .filter(|at| at.is_crossed(top, bottom))
            .count();
        let marks = drawing.edges.iter().filter_map(|edge| edge.arrow);
        let marks = marks
            .filter(|(base, tip)| Rect::around(base.towards(*tip, 0.5), 22.0, 22.0).is_crossed(top, bottom))
            .count();
        let nodes = drawing
            .nodes
            .iter()
            .filter(|node| Rect::around(node.at, NODE, NODE).is_crossed(top, bottom))
            .count();
        let others = drawing.edges.iter().flat_map(|edge| edge.path.windows(2));
        let crossed = others.filter(|pair| {
            let (low, high) = (pair[0].x.min(pair[1].x), pair[0].x.max(pair[1].x));
            let near = (pair[0].y + pair[1].y) / 2.0;
            low - 2.0 < *x && *x < high + 2.0 && near > a.y + 1e-6 && near < lane
        });
        1000 * texts + 300 * (marks + nodes) + crossed.count()
    };
    let best = inside.min_by_key(cost);
    Some(Point::new(best.unwrap_or((left + right) / 2.0), a.y))
}
