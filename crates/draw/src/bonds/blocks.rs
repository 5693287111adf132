//! Components and their contents, nested in each other.

use super::graph::Graph;
use crate::content::Content;
use crate::metrics::{SIZE, width};
use lgm_model::PathId;
use rustc_hash::FxHashMap;

/// A component, or the whole drawing.
#[derive(Debug)]
pub(super) struct ComponentFrame {
    /// The name within the enclosing component.
    pub(super) text: String,
    /// The name in the model.
    pub(super) name: String,
    /// The enclosing component; none for the whole drawing.
    pub(super) around: Option<usize>,
    /// The vertices that it contains directly.
    pub(super) vertices: Vec<usize>,
    /// The components that it contains directly.
    pub(super) within: Vec<usize>,
}

/// All components; the first is the whole drawing.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) all: Vec<ComponentFrame>,
    /// The innermost component of each vertex.
    of_vertex: Vec<usize>,
    /// The width of the longest title.
    pub(super) widest: f64,
}

/// An item of a component: a vertex, or another component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item {
    Vertex(usize),
    Block(usize),
}

impl Blocks {
    pub(super) fn of(content: &Content<'_>, graph: &Graph) -> Blocks {
        let whole = ComponentFrame {
            text: String::new(),
            name: String::new(),
            around: None,
            vertices: Vec::new(),
            within: Vec::new(),
        };
        let mut blocks = Blocks {
            all: vec![whole],
            of_vertex: Vec::new(),
            widest: 0.0,
        };
        let mut known: FxHashMap<PathId, usize> = FxHashMap::default();
        for (vertex, info) in graph.vertices.iter().enumerate() {
            let mut at = 0;
            for path in &info.home {
                at = *known.entry(*path).or_insert_with(|| {
                    blocks.all.push(ComponentFrame {
                        text: content.own_name(*path),
                        name: content.model.path_name(*path),
                        around: Some(at),
                        vertices: Vec::new(),
                        within: Vec::new(),
                    });
                    let new = blocks.all.len() - 1;
                    blocks.all[at].within.push(new);
                    new
                });
            }
            blocks.all[at].vertices.push(vertex);
            blocks.of_vertex.push(at);
        }
        blocks.merge_single();
        let widths = (0..blocks.all.len()).map(|block| blocks.title_width(block));
        blocks.widest = widths.fold(0.0, f64::max);
        blocks
    }

    /// Merges a component that contains only another component with it into one frame.
    fn merge_single(&mut self) {
        for at in 1..self.all.len() {
            while let ([only], true) = (&self.all[at].within[..], self.all[at].vertices.is_empty()) {
                let only = *only;
                self.all[at].vertices = std::mem::take(&mut self.all[only].vertices);
                self.all[at].within = std::mem::take(&mut self.all[only].within);
                for inner in self.all[at].within.clone() {
                    self.all[inner].around = Some(at);
                }
                self.of_vertex
                    .iter_mut()
                    .filter(|block| **block == only)
                    .for_each(|block| *block = at);
            }
        }
    }

    /// Returns the width of the name of a component at its frame.
    pub(super) fn title_width(&self, block: usize) -> f64 {
        width(&self.all[block].text, SIZE)
    }

    /// Returns the item of a component that contains a vertex; `None` if the vertex is outside.
    pub(super) fn item(&self, block: usize, vertex: usize) -> Option<Item> {
        let mut at = self.of_vertex[vertex];
        if at == block {
            return Some(Item::Vertex(vertex));
        }
        loop {
            let around = self.all[at].around?;
            if around == block {
                return Some(Item::Block(at));
            }
            at = around;
        }
    }

    /// Returns all vertices and components within a component, starting with itself, in declaration order.
    pub(super) fn everything(&self, block: usize) -> (Vec<usize>, Vec<usize>) {
        let (mut vertices, mut blocks) = (Vec::new(), vec![block]);
        let mut at = 0;
        while let Some(own) = blocks.get(at).copied() {
            vertices.extend(&self.all[own].vertices);
            blocks.extend(&self.all[own].within);
            at += 1;
        }
        (vertices, blocks)
    }
}
