//! The elements at each junction, their sides and their extents.

use super::graph::{Graph, Vertex};
use super::skeleton::{Side, Skeleton};
use crate::drawing::{Point, Rect, Shape};
use crate::metrics::{LARGE, SIZE, SMALL as VALUE_SIZE, bold_width, width};

/// The height of the box of a junction or an element.
const HIGH: f64 = 20.0;

/// The height of the line of a value.
pub(super) const VALUE: f64 = 14.0;

/// The minimum distance from a junction to the elements above and below it.
const REACH: f64 = 66.0;

/// The minimum slope of bonds to elements far to the side, to clear the contents of the row.
const STEEP: f64 = 0.6;

/// The length of a bond to an element on the left or on the right.
const ALONG: f64 = 46.0;

/// The distance between adjacent elements.
const APART: f64 = 14.0;

/// The room for a line between elements above or below.
const CORRIDOR: f64 = 30.0;

/// The distance to a signal.
const SIGNAL: f64 = 42.0;

/// An element with one bond, or the signal of the junction's own element.
#[derive(Clone, Debug)]
pub(super) struct Hang {
    /// The bond and the vertex at its far end; none for a signal.
    pub(super) bond: Option<(usize, usize)>,
    pub(super) side: Side,
    /// The middle of the element's text, relative to the vertex with the element.
    pub(super) at: Point,
    pub(super) w: f64,
    pub(super) h: f64,
    /// The element's own signal: its text, the middle of that text, and its width.
    pub(super) signal: Option<(String, Point, f64)>,
}

/// A vertex of the grid with everything attached to it.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) vertex: usize,
    pub(super) spot: (i32, i32),
    pub(super) at: Point,
    pub(super) w: f64,
    pub(super) h: f64,
    pub(super) hangs: Vec<Hang>,
    /// The extents of all parts: to the left, to the right, up and down.
    pub(super) reach: [f64; 4],
}

/// Returns the height of the text of a vertex.
fn text_height(vertex: &Vertex) -> f64 {
    match (&vertex.value, vertex.size) {
        (_, Some(size)) => size.above + size.below,
        (Some(_), None) => HIGH + VALUE,
        (None, None) => HIGH,
    }
}

/// Returns the width of the text of a vertex.
fn text_width(vertex: &Vertex) -> f64 {
    if let Some(size) = vertex.size {
        return size.w;
    }
    let of_value = vertex
        .value
        .as_ref()
        .map_or(0.0, |value| width(value, VALUE_SIZE) + 6.0);
    let own = match vertex.shape {
        Shape::Junction(_) => {
            let (digit, name) = vertex.text.split_once(' ').unwrap_or((&vertex.text, ""));
            let gap = if name.is_empty() { 0.0 } else { 4.0 };
            width(digit, LARGE) + width(name, SIZE) + gap + 4.0
        }
        _ => {
            let (letters, name) = vertex.text.split_once(':').unwrap_or((&vertex.text, ""));
            bold_width(letters, LARGE) + width(name, SIZE) + 12.0
        }
    };
    own.max(of_value)
}

/// Returns the text of signals.
pub(super) fn signal_text(vertex: &Vertex) -> Option<String> {
    (!vertex.signals.is_empty()).then(|| vertex.signals.join(", "))
}

/// Creates the cells of a grid, without positions.
pub(super) fn cells(graph: &Graph, skeleton: &Skeleton, leaving: &[usize]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let spots: std::collections::BTreeSet<(i32, i32)> = skeleton.spots.iter().flatten().copied().collect();
    for (vertex, spot) in skeleton.spots.iter().enumerate() {
        let Some(spot) = *spot else {
            continue;
        };
        let info = &graph.vertices[vertex];
        let mut used = used_sides(graph, skeleton, vertex, leaving[vertex]);
        // Existing lines are obstacles, with or without bonds.
        for (side, step) in [(Side::Left, -1), (Side::Right, 1)] {
            if spots.contains(&(spot.0 + step, spot.1)) {
                used.push(side);
            }
        }
        let mut cell = Cell {
            vertex,
            spot,
            at: Point::new(0.0, 0.0),
            w: text_width(info),
            h: text_height(info),
            hangs: hangs(graph, skeleton, vertex, &used),
            reach: [0.0; 4],
        };
        arrange(&mut cell, &used);
        if let Some(size) = info.size {
            cell.reach = [size.w / 2.0, size.w / 2.0, size.above, size.below];
        }
        cells.push(cell);
    }
    cells
}

/// Returns the sides at which bonds of the grid leave a vertex.
fn used_sides(graph: &Graph, skeleton: &Skeleton, vertex: usize, leaving: usize) -> Vec<Side> {
    let mut used = Vec::new();
    let mut open = 0;
    for bond in &skeleton.bonds {
        let info = &graph.bonds[*bond];
        if info.tail != vertex && info.head != vertex {
            continue;
        }
        match skeleton.sides[*bond] {
            Some((tail, head)) => used.push(if info.tail == vertex { tail } else { head }),
            None => open += 1,
        }
    }
    // A bond that leaves a component continues in its row.
    let mut out = leaving;
    for side in [Side::Left, Side::Right] {
        if out > 0 && !used.contains(&side) {
            used.push(side);
            out -= 1;
        }
    }
    open += out;
    // A bond that may leave anywhere needs a side.
    for side in [Side::Down, Side::Up, Side::Right, Side::Left] {
        if open > 0 && !used.contains(&side) {
            used.push(side);
            open -= 1;
        }
    }
    used
}

/// Returns the elements at a vertex with their sides: along the row if there is room, sources on the left; otherwise storage above and
/// dissipators below.
fn hangs(graph: &Graph, skeleton: &Skeleton, vertex: usize, used: &[Side]) -> Vec<Hang> {
    let far = |bond: usize| &graph.vertices[graph.bonds[bond].other(vertex)];
    let mut own = skeleton.hanging[vertex].clone();
    let mut sided: Vec<(usize, Side)> = Vec::new();
    let is_free = |side: Side| !used.contains(&side);
    let has_row = !is_free(Side::Left) || !is_free(Side::Right) || own.len() > 1;
    if is_free(Side::Left)
        && has_row
        && let Some(place) = own.iter().position(|bond| far(*bond).is_source())
    {
        sided.push((own.remove(place), Side::Left));
    }
    if is_free(Side::Right)
        && has_row
        && (own.len() > 1 || !is_free(Side::Up) || !is_free(Side::Down))
        && let Some(place) = own.iter().rposition(|bond| !far(*bond).is_source())
    {
        sided.push((own.remove(place), Side::Right));
    }
    if is_free(Side::Left) && own.len() > 1 && !sided.iter().any(|each| each.1 == Side::Left) && (!is_free(Side::Right))
    {
        sided.push((own.remove(0), Side::Left));
    }
    let mut up: Vec<usize> = own.iter().copied().filter(|bond| !is_below(far(*bond))).collect();
    let mut down: Vec<usize> = own.iter().copied().filter(|bond| is_below(far(*bond))).collect();
    balance(&mut up, &mut down, is_free(Side::Up), is_free(Side::Down));
    sided.extend(up.into_iter().map(|bond| (bond, Side::Up)));
    sided.extend(down.into_iter().map(|bond| (bond, Side::Down)));
    let mut hangs: Vec<Hang> = Vec::new();
    for (bond, side) in sided {
        let info = far(bond);
        hangs.push(Hang {
            bond: Some((bond, graph.bonds[bond].other(vertex))),
            side,
            at: Point::new(0.0, 0.0),
            w: text_width(info),
            h: text_height(info),
            signal: signal_text(info).map(|text| (text.clone(), Point::new(0.0, 0.0), width(&text, SIZE))),
        });
    }
    if let Some(text) = signal_text(&graph.vertices[vertex]) {
        let w = width(&text, SIZE);
        let side = if is_free(Side::Up) { Side::Up } else { Side::Down };
        hangs.push(Hang {
            bond: None,
            side,
            at: Point::new(0.0, 0.0),
            w,
            h: HIGH,
            signal: Some((text, Point::new(0.0, 0.0), w)),
        });
    }
    hangs
}

/// Returns true if an element is preferably drawn below its junction, as dissipators are.
fn is_below(vertex: &Vertex) -> bool {
    vertex.text.starts_with('R') || vertex.text.starts_with("MR")
}

/// Balances the numbers above and below; if one side is occupied, allows up to two on the other.
fn balance(up: &mut Vec<usize>, down: &mut Vec<usize>, up_is_free: bool, down_is_free: bool) {
    if up_is_free && !down_is_free && up.len() + down.len() <= 2 {
        up.append(down);
    } else if !up_is_free && down_is_free && up.len() + down.len() <= 2 {
        let mut all = std::mem::take(up);
        all.append(down);
        *down = all;
    }
    if up_is_free == down_is_free {
        while up.len() > down.len() + 1 {
            down.extend(up.pop());
        }
        while down.len() > up.len() + 1 {
            up.extend(down.pop());
        }
    }
}

/// Positions everything attached to a vertex, and computes its extent.
fn arrange(cell: &mut Cell, used: &[Side]) {
    let half = cell.w / 2.0;
    let tall = cell.h / 2.0;
    let mut reach = [half, half, tall, tall];
    for side in [Side::Up, Side::Down] {
        let own: Vec<usize> = (0..cell.hangs.len())
            .filter(|at| cell.hangs[*at].side == side)
            .collect();
        if own.is_empty() {
            continue;
        }
        let xs = fan(
            &own.iter().map(|at| wide(&cell.hangs[*at])).collect::<Vec<f64>>(),
            used.contains(&side),
        );
        let widest = xs.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let tallest = own.iter().map(|at| cell.hangs[*at].h).fold(HIGH, f64::max);
        let away = REACH.max(widest * STEEP) + (tallest - HIGH) / 2.0 + (tall - HIGH / 2.0);
        let sign = if side == Side::Up { -1.0 } else { 1.0 };
        let mut far = 0.0f64;
        for (at, x) in own.iter().zip(xs) {
            let hang = &mut cell.hangs[*at];
            hang.at = Point::new(x, sign * away);
            reach[0] = reach[0].max(-x + wide(hang) / 2.0);
            reach[1] = reach[1].max(x + wide(hang) / 2.0);
            far = far.max(away + hang.h / 2.0);
            let is_own = hang.bond.is_none();
            if let Some((_, place, _)) = &mut hang.signal {
                let further = if is_own {
                    away
                } else {
                    away + SIGNAL + (hang.h - HIGH) / 2.0
                };
                *place = Point::new(x, sign * further);
                far = far.max(further + HIGH / 2.0);
            }
        }
        let place = if side == Side::Up { 2 } else { 3 };
        reach[place] = reach[place].max(far);
    }
    let above = cell.hangs.iter().filter(|hang| hang.side == Side::Up).count();
    for (side, sign) in [(Side::Left, -1.0), (Side::Right, 1.0)] {
        let Some(hang) = cell.hangs.iter_mut().find(|hang| hang.side == side) else {
            continue;
        };
        let x = half + ALONG + hang.w / 2.0;
        hang.at = Point::new(sign * x, 0.0);
        let lift = SIGNAL + (hang.h - HIGH) / 2.0;
        for place in [2, 3] {
            reach[place] = reach[place].max(hang.h / 2.0);
        }
        let Some((_, place, w)) = &mut hang.signal else {
            continue;
        };
        // Above the element, unless bonds fan out there.
        if above > 1 {
            *place = Point::new(sign * (x + hang.w / 2.0 + SIGNAL * 0.8 + *w / 2.0), 0.0);
        } else {
            let shift = (*w - hang.w).max(0.0) / 2.0;
            hang.at.x += sign * shift;
            *place = Point::new(hang.at.x, -lift);
            reach[2] = reach[2].max(lift + HIGH / 2.0);
        }
    }
    clear_row(cell);
    cell.reach = reach;
    for hang in &cell.hangs {
        let own = [
            Some((hang.at.x, hang.w)),
            hang.signal.as_ref().map(|(_, at, w)| (at.x, *w)),
        ];
        for (x, w) in own.into_iter().flatten() {
            cell.reach[0] = cell.reach[0].max(w / 2.0 - x);
            cell.reach[1] = cell.reach[1].max(w / 2.0 + x);
        }
    }
}

/// Keeps the signal of an element at the side from crossing the fan above.
fn clear_row(cell: &mut Cell) {
    let boxes: Vec<Rect> = (cell.hangs.iter())
        .filter(|hang| matches!(hang.side, Side::Up | Side::Down))
        .map(|hang| Rect::around(hang.at, wide(hang) + 8.0, hang.h + 12.0))
        .collect();
    for hang in cell
        .hangs
        .iter_mut()
        .filter(|hang| matches!(hang.side, Side::Left | Side::Right))
    {
        let Some((_, place, w)) = &mut hang.signal else {
            continue;
        };
        let sign = place.x.signum();
        for _ in 0..40 {
            let own = Rect::around(*place, *w, HIGH);
            if !boxes.iter().any(|each| each.overlaps(&own)) {
                break;
            }
            place.x += sign * 12.0;
            hang.at.x += sign * 12.0;
        }
    }
}

/// Returns the width of an element with its signal.
fn wide(hang: &Hang) -> f64 {
    hang.signal.as_ref().map_or(hang.w, |(_, _, w)| w.max(hang.w))
}

/// Returns the middles of adjacent texts with these widths, centred at zero, optionally with room for a line at zero.
fn fan(widths: &[f64], corridor: bool) -> Vec<f64> {
    let count = widths.len();
    let mut at = 0.0;
    let mut xs = Vec::with_capacity(count);
    let left = count.div_ceil(2);
    for (number, w) in widths.iter().enumerate() {
        if corridor && number == left {
            at += CORRIDOR - APART;
        }
        xs.push(at + w / 2.0);
        at += w + APART;
    }
    let middle = if corridor {
        // To the right of the left ones.
        let before: f64 = widths[..left].iter().map(|w| w + APART).sum();
        before - APART + CORRIDOR / 2.0
    } else if count % 2 == 1 {
        xs[count / 2]
    } else {
        (xs[count / 2 - 1] + widths[count / 2 - 1] / 2.0) + APART / 2.0
    };
    xs.iter().map(|x| x - middle).collect()
}
