//! The flat model while it is made, and what is known of its parts until it is whole.

use crate::context::Place;
use crate::context::constants::Constants;
use crate::context::modal::Block;
use crate::context::values::Text;
use crate::program::ItemRef;
use lgm_algebra::DisjointSets;
use lgm_algebra::expr::SymbolId;
use lgm_model::{DomainId, ElementId, Heading, Measure, Model, NodeId, Path, PathId};
use lgm_syntax::ast::{self, Name};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What is known of an element beside its entry in the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub instance: &'a ast::Instance,
    pub definition: ItemRef,
    pub place: Place,
    pub progress: Progress,
}

/// How far the law of an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Waiting,
    Busy,
    Done,
    Failed,
}

/// An end as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EndKey {
    Node(u32),
    Element(ElementId),
}

/// Where the scalar bonds of an arrow lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrowBonds {
    pub first: u32,
    pub width: u32,
}

/// The arrows by their ends, for measures.
#[derive(Debug, Default)]
pub(crate) struct BondEnds {
    pub arrows: FxHashMap<(EndKey, EndKey), Vec<ArrowBonds>>,
}

/// The nodes that branches join, found while the branches are made.
#[derive(Debug, Default)]
pub(crate) struct Branching {
    /// Place 0 is the reference, place i + 1 is node i.
    sets: DisjointSets,
    /// Nodes that any branch or bond ends at.
    pub touched: Vec<bool>,
}

impl Branching {
    fn grow(&mut self, count: usize) {
        self.sets.grow(count + 1);
        if self.touched.len() < count {
            self.touched.resize(count, false);
        }
    }

    /// Notes that two nodes are joined; `None` is the reference.
    pub fn join(&mut self, a: Option<NodeId>, b: Option<NodeId>) {
        let place = |node: Option<NodeId>| node.map_or(0, |node| node.index() + 1);
        let count = place(a).max(place(b));
        self.grow(count);
        for node in [a, b].into_iter().flatten() {
            self.touched[node.index()] = true;
        }
        self.sets.join(place(a), place(b));
    }

    /// A name for the part of the graph that a node lies in; 0 is the part of the reference.
    pub fn part(&mut self, node: NodeId) -> u32 {
        self.grow(node.index() + 1);
        self.sets.root(node.index() + 1) as u32
    }

    /// Whether anything ends at the node.
    pub fn is_touched(&mut self, node: NodeId) -> bool {
        self.grow(node.index() + 1);
        self.touched[node.index()]
    }
}

/// The flat model under construction.
pub(crate) struct Graph<'a> {
    pub model: Model,
    /// Of each element of the model, where it comes from.
    pub records: Vec<Record<'a>>,
    pub domain_ids: FxHashMap<ItemRef, DomainId>,
    /// The symbols of measured variables.
    pub measures: FxHashMap<Measure, SymbolId>,
    pub bond_ends: BondEnds,
    pub branching: Branching,
    /// The modal blocks that were expanded.
    pub blocks: Vec<Rc<Block<'a>>>,
    /// Their constants.
    pub constants: Constants,
}

impl<'a> Graph<'a> {
    /// A graph without parts.
    pub fn new(chosen: &ast::Model, time: SymbolId) -> Graph<'a> {
        Graph {
            model: empty_model(chosen, time),
            records: Vec::new(),
            domain_ids: FxHashMap::default(),
            measures: FxHashMap::default(),
            bond_ends: BondEnds::default(),
            branching: Branching::default(),
            blocks: Vec::new(),
            constants: Constants::default(),
        }
    }

    /// A new name in the model.
    pub(crate) fn path(&mut self, parent: Option<PathId>, name: &Name, indices: &[i64]) -> PathId {
        let id = PathId(self.model.paths.len() as u32);
        self.model.paths.push(Path {
            parent,
            name: name.text.clone(),
            indices: indices.into(),
            span: name.span,
        });
        id
    }

    /// The scalar ports of each declared port.
    pub(crate) fn port_groups(&self, id: ElementId) -> Vec<(Option<Text>, std::ops::Range<u32>)> {
        let range = self.model.graph.elements[id.index()].ports.clone();
        let mut groups: Vec<(Option<Text>, std::ops::Range<u32>)> = Vec::with_capacity(2);
        for at in range {
            let name = &self.model.graph.ports[at as usize].name;
            match groups.last_mut() {
                Some((last, range)) if last == name => range.end = at + 1,
                _ => groups.push((name.clone(), at..at + 1)),
            }
        }
        groups
    }
}

/// A model of which only the name is known.
fn empty_model(chosen: &ast::Model, time: SymbolId) -> Model {
    let heading = Heading {
        name: chosen.name.text.clone(),
        doc: chosen.doc.clone(),
        span: chosen.name.span,
        counts: Default::default(),
    };
    Model::new(heading, Default::default(), time)
}
