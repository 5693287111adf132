//! The layout of a component, or of the whole drawing, around the components within it. Components with equal structure share one layout,
//! which is computed once.

use super::blocks::{Blocks, Item};
use super::cells::cells;
use super::graph::{Bond, Graph, Size, Vertex};
use super::laid::{Frame, Laid, Placed};
use super::places::place;
use super::skeleton::skeleton;
use super::tracks;
use crate::drawing::Rect;
use crate::metrics::LINE;
use rustc_hash::FxHashMap;

/// The distance between the frame of a component and its contents.
const INSET: f64 = 12.0;

/// A layout that components with equal structure share.
struct Known {
    vertices: Vec<usize>,
    blocks: Vec<usize>,
    bonds: Vec<usize>,
    laid: Laid,
}

/// Known layouts, by everything that they depend on.
#[derive(Default)]
pub(super) struct Layouts {
    known: FxHashMap<String, Known>,
}

impl Layouts {
    /// Returns the layout of a component with its frame, centred at zero.
    fn component(&mut self, graph: &Graph, blocks: &Blocks, block: usize) -> Laid {
        let (vertices, within) = blocks.everything(block);
        let place: FxHashMap<usize, usize> = vertices.iter().enumerate().map(|(at, vertex)| (*vertex, at)).collect();
        let is_own = |bond: &&usize| {
            let bond = &graph.bonds[**bond];
            place.contains_key(&bond.tail) && place.contains_key(&bond.head)
        };
        let all: Vec<usize> = (0..graph.bonds.len()).collect();
        let bonds: Vec<usize> = all.iter().filter(is_own).copied().collect();
        let key = alike(graph, blocks, &vertices, &within, &bonds, &place);
        if let Some(known) = self.known.get(&key) {
            return known.used_for(graph, blocks, [&vertices, &within, &bonds]);
        }
        let mut laid = self.level(graph, blocks, block);
        frame(&mut laid, graph, blocks, block);
        let known = Known {
            vertices,
            blocks: within,
            bonds,
            laid: laid.clone(),
        };
        self.known.insert(key, known);
        laid
    }

    /// Returns the layout of the contents of a component, or of the whole drawing.
    pub(super) fn level(&mut self, graph: &Graph, blocks: &Blocks, block: usize) -> Laid {
        let own = &blocks.all[block];
        let vertices = own.vertices.iter().map(|vertex| Item::Vertex(*vertex));
        let items: Vec<Item> = vertices
            .chain(own.within.iter().map(|inner| Item::Block(*inner)))
            .collect();
        let inner: Vec<Option<Laid>> = (items.iter())
            .map(|item| match item {
                Item::Block(inner) => Some(self.component(graph, blocks, *inner)),
                Item::Vertex(_) => None,
            })
            .collect();
        let of_item: FxHashMap<Item, usize> = items.iter().enumerate().map(|(at, item)| (*item, at)).collect();
        let mut local = Graph::default();
        for (item, laid) in items.iter().zip(&inner) {
            local.vertices.push(match (item, laid) {
                (Item::Vertex(vertex), _) => graph.vertices[*vertex].clone(),
                (Item::Block(inner), laid) => {
                    let size = laid.as_ref().map_or(Size::default(), |laid| {
                        let bounds = laid.bounds();
                        Size {
                            w: bounds.w,
                            above: -bounds.y,
                            below: bounds.y + bounds.h,
                        }
                    });
                    stand_in(&blocks.all[*inner].name, size)
                }
            });
        }
        let mut leaving = vec![0; items.len()];
        let mut global = Vec::new();
        for (at, bond) in graph.bonds.iter().enumerate() {
            let ends =
                [bond.tail, bond.head].map(|end| blocks.item(block, end).and_then(|item| of_item.get(&item).copied()));
            match ends {
                [Some(tail), Some(head)] if tail != head => {
                    local.bonds.push(Bond {
                        tail,
                        head,
                        ..bond.clone()
                    });
                    global.push(at);
                }
                [Some(end), None] | [None, Some(end)] => leaving[end] += 1,
                _ => {}
            }
        }
        let grid = skeleton(&local, &leaving);
        let mut stand = cells(&local, &grid, &leaving);
        let gaps = place(&local, &grid, &mut stand);
        let mut laid = Laid {
            gaps,
            ..Laid::default()
        };
        for cell in &stand {
            match (items[cell.vertex], &inner[cell.vertex]) {
                (Item::Vertex(vertex), _) => {
                    laid.placed.push(Placed {
                        vertex,
                        at: cell.at,
                        w: cell.w,
                        h: cell.h,
                    });
                    tracks::hangings(&local, &items, &global, cell, &mut laid);
                }
                (Item::Block(_), Some(inside)) => {
                    let mut inside = inside.clone();
                    inside.shift(cell.at.x, cell.at.y);
                    laid.add(inside);
                }
                (Item::Block(_), None) => {}
            }
        }
        tracks::between(graph, &local, &grid, &global, &mut laid);
        laid
    }
}

/// Creates a vertex that represents a component in its surroundings.
fn stand_in(name: &str, size: Size) -> Vertex {
    Vertex {
        size: Some(size),
        ..Vertex::new(name.to_string(), name.to_string())
    }
}

/// Returns everything that the layout of a component depends on.
fn alike(
    graph: &Graph,
    blocks: &Blocks,
    vertices: &[usize],
    within: &[usize],
    bonds: &[usize],
    place: &FxHashMap<usize, usize>,
) -> String {
    let mut key = String::new();
    for (at, block) in within.iter().enumerate() {
        let block = &blocks.all[*block];
        let text = if at == 0 { "" } else { &block.text };
        key += &format!("{text} {} {}\n", block.vertices.len(), block.within.len());
    }
    for vertex in vertices {
        let info = &graph.vertices[*vertex];
        let out = graph.bonds.iter().filter(|bond| {
            (bond.tail == *vertex && !place.contains_key(&bond.head))
                || (bond.head == *vertex && !place.contains_key(&bond.tail))
        });
        key += &format!(
            "{} {:?} {} {:?} {:?} {:?} {}\n",
            info.text,
            info.shape,
            info.width,
            info.value,
            info.signals,
            info.role,
            out.count()
        );
    }
    for bond in bonds {
        let info = &graph.bonds[*bond];
        let (a, b) = (place[&info.tail], place[&info.head]);
        key += &format!("{} {} {}\n", a.min(b), a.max(b), info.width);
    }
    key
}

impl Known {
    /// Adapts the layout to the vertices, components and bonds of another instance.
    fn used_for(&self, graph: &Graph, blocks: &Blocks, [vertices, within, bonds]: [&[usize]; 3]) -> Laid {
        let map = |from: &[usize], to: &[usize]| -> FxHashMap<usize, usize> {
            from.iter().copied().zip(to.iter().copied()).collect()
        };
        let (vertex, block, bond) = (
            map(&self.vertices, vertices),
            map(&self.blocks, within),
            map(&self.bonds, bonds),
        );
        let mut laid = self.laid.clone();
        laid.placed
            .iter_mut()
            .for_each(|each| each.vertex = vertex[&each.vertex]);
        laid.notes
            .iter_mut()
            .for_each(|each| each.vertex = vertex[&each.vertex]);
        for frame in &mut laid.frames {
            frame.block = block[&frame.block];
            frame.title.w = blocks.title_width(frame.block);
        }
        for (own, path) in &mut laid.lines {
            let before = &graph.bonds[*own];
            *own = bond[own];
            // The half arrow may point the other way.
            if vertex[&before.tail] != graph.bonds[*own].tail {
                path.reverse();
            }
        }
        laid
    }
}

/// Draws a frame with a name around the contents of a component. The origin is in the middle, in the row where power enters.
fn frame(laid: &mut Laid, graph: &Graph, blocks: &Blocks, block: usize) {
    let bounds = laid.bounds().grown(INSET);
    let wide = bounds.w.max(blocks.widest + 16.0);
    let at = Rect {
        x: bounds.x - (wide - bounds.w) / 2.0,
        y: bounds.y - LINE,
        w: wide,
        h: bounds.h + LINE,
    };
    let title = Rect {
        x: at.x + 6.0,
        y: at.y + 4.0,
        w: blocks.title_width(block),
        h: LINE,
    };
    laid.frames.push(Frame { block, at, title });
    let leads_out = |place: &&Placed| {
        let mut bonds = graph.bonds.iter();
        bonds.any(|bond| {
            (bond.tail == place.vertex || bond.head == place.vertex)
                && blocks.item(block, bond.other(place.vertex)).is_none()
        })
    };
    let first = laid
        .placed
        .iter()
        .filter(leads_out)
        .min_by(|a, b| a.at.x.total_cmp(&b.at.x));
    let row = first.map_or(at.middle().y, |place| place.at.y);
    laid.shift(-at.middle().x, -row);
}
