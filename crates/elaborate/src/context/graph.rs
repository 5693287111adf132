//! The flat model during construction, with information about its parts until it is complete.

use crate::context::Place;
use crate::context::constants::Constants;
use crate::context::modal::ModalBlock;
use crate::context::values::Text;
use crate::program::ItemRef;
use lgm_algebra::DisjointSets;
use lgm_algebra::expr::SymbolId;
use lgm_model::{DomainId, ElementId, Heading, Measure, Model, NodeId, Path, PathId};
use lgm_syntax::ast::{self, Name};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Information about an element in addition to its entry in the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub instance: &'a ast::Instance,
    pub definition: ItemRef,
    pub place: Place,
    pub progress: Progress,
}

/// The progress of the law of an element.
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

/// The indices of the scalar bonds of an arrow.
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

/// The nodes that branches join, recorded during construction.
#[derive(Debug, Default)]
pub(crate) struct Branching {
    /// Entry 0 is the reference, entry i + 1 is node i.
    sets: DisjointSets,
    /// Nodes at which a branch or bond ends.
    pub touched: Vec<bool>,
}

impl Branching {
    fn grow(&mut self, count: usize) {
        self.sets.grow(count + 1);
        if self.touched.len() < count {
            self.touched.resize(count, false);
        }
    }

    /// Records that two nodes are joined; `None` is the reference.
    pub fn join(&mut self, a: Option<NodeId>, b: Option<NodeId>) {
        let place = |node: Option<NodeId>| node.map_or(0, |node| node.index() + 1);
        let count = place(a).max(place(b));
        self.grow(count);
        for node in [a, b].into_iter().flatten() {
            self.touched[node.index()] = true;
        }
        self.sets.join(place(a), place(b));
    }

    /// Returns a number for the part of the graph that contains a node; 0 is the part of the reference.
    pub fn part(&mut self, node: NodeId) -> u32 {
        self.grow(node.index() + 1);
        self.sets.root(node.index() + 1) as u32
    }

    /// Returns true if a branch or bond ends at the node.
    pub fn is_touched(&mut self, node: NodeId) -> bool {
        self.grow(node.index() + 1);
        self.touched[node.index()]
    }
}

/// The flat model under construction.
pub(crate) struct Graph<'a> {
    pub model: Model,
    /// The origin of each element of the model.
    pub records: Vec<Record<'a>>,
    pub domain_ids: FxHashMap<ItemRef, DomainId>,
    /// The symbols of measured variables.
    pub measures: FxHashMap<Measure, SymbolId>,
    pub bond_ends: BondEnds,
    pub branching: Branching,
    /// The expanded modal blocks.
    pub blocks: Vec<Rc<ModalBlock<'a>>>,
    /// Their constants.
    pub constants: Constants,
}

impl<'a> Graph<'a> {
    /// Returns a graph without parts.
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

    /// Adds a name to the model.
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

    /// Returns the scalar ports of each declared port.
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

/// Returns a model with only its name.
fn empty_model(chosen: &ast::Model, time: SymbolId) -> Model {
    let heading = Heading {
        name: chosen.name.text.clone(),
        doc: chosen.doc.clone(),
        span: chosen.name.span,
        counts: Default::default(),
    };
    Model::new(heading, Default::default(), time)
}
