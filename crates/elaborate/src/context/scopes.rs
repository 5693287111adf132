//! Names and their meanings: the names of a body, found once, with a slot for each name in every expansion.

use crate::context::values::Value;
use crate::program::ItemRef;
use lgm_model::{ElementId, PathId};
use lgm_syntax::ast::{self, Formal, Name, Statement, StatementKind};
use lgm_syntax::visit::statements;
use rustc_hash::{FxHashMap, FxHashSet};

/// A body that is being expanded: a model or one instance of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrameId(pub u32);

/// The values of the loop indices at a place; the first entry means "no loop".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EnvId(pub u32);

/// The scope of an evaluated expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub frame: FrameId,
    pub env: EnvId,
}

impl Place {
    /// The place outside loops and components: the model itself, and the errors of definitions by themselves.
    pub const MODEL: Place = Place {
        frame: FrameId(0),
        env: EnvId(0),
    };

    /// Returns the place of a body outside of its loops.
    pub fn of(frame: FrameId) -> Place {
        Place { frame, env: EnvId(0) }
    }
}

/// One loop index with its value, and the loops around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env<'a> {
    pub parent: EnvId,
    pub name: &'a str,
    pub value: i64,
}

/// At most two indices; a single index has 0 as the second entry, which is not a valid index.
pub(crate) type Indices = (i64, i64);

pub(crate) fn pair(list: &[i64]) -> Indices {
    match list {
        [i, j, ..] => (*i, *j),
        [i] => (*i, 0),
        [] => (0, 0),
    }
}

pub(crate) fn index_text(at: Indices) -> String {
    match at {
        (i, 0) => i.to_string(),
        (i, j) => format!("{i}, {j}"),
    }
}

/// A declared model value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    Formal(u32),
    Param(&'a ast::Assigned),
    Const(&'a ast::Assigned),
    Input(&'a ast::Assigned),
    Signal(&'a ast::Indexed),
    /// An output of a component.
    Output(&'a ast::Indexed),
    State(&'a ast::Indexed),
    Discrete(&'a ast::Indexed),
}

/// Information about a value of the model.
#[derive(Clone, Debug, Default)]
pub(crate) enum ValueSlot<'a> {
    /// Not declared in the branches taken so far.
    #[default]
    Absent,
    /// Declared, not evaluated yet.
    Deferred(Origin<'a>, EnvId),
    /// Under evaluation: a use now is a circular dependence.
    Busy,
    /// Evaluated.
    Done(Value),
    /// Declared with indices.
    Indexed(Box<FxHashMap<(i64, i64), ValueSlot<'a>>>),
}

/// A node, an array of nodes, or an entry of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeView {
    /// The first scalar junction; [`NodeView::GROUND`] for the reference.
    pub base: u32,
    /// The shape in [`Scopes::shapes`].
    pub shape: u32,
}

impl NodeView {
    /// A placeholder for the reference of every domain.
    pub const GROUND: u32 = u32::MAX;

    pub fn ground() -> NodeView {
        NodeView {
            base: NodeView::GROUND,
            shape: 0,
        }
    }

    pub fn is_ground(self) -> bool {
        self.base == NodeView::GROUND
    }
}

/// The sizes of an array of nodes, and the width of each node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeShape {
    pub sizes: Vec<i64>,
    pub width: u32,
    pub vector: bool,
}

/// The meaning of a name of the graph.
#[derive(Clone, Debug, Default)]
pub(crate) enum GraphPart {
    /// Not declared in the taken branches.
    #[default]
    Absent,
    /// Its declaration failed and was reported.
    Failed,
    Nodes(NodeView),
    Element(ElementId),
    Component(FrameId),
    /// A modal block: its first element, and its index in [`Graph::blocks`].
    Modal(ElementId, u32),
    Indexed(Box<FxHashMap<(i64, i64), GraphPart>>),
}

/// The names of a model or a component, found once, each with its slot.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub name: &'a Name,
    pub formals: &'a [Formal],
    pub statements: &'a [Statement],
    pub values: FxHashMap<&'a str, u32>,
    pub parts: FxHashMap<&'a str, u32>,
    pub tables: FxHashMap<&'a str, &'a ast::Table>,
    /// The outputs of a component that are values.
    outputs: FxHashSet<&'a str>,
}

impl<'a> Body<'a> {
    fn value(&mut self, name: &'a Name) {
        let next = self.values.len() as u32;
        self.values.entry(&name.text).or_insert(next);
    }

    fn part(&mut self, name: &'a Name) {
        let next = self.parts.len() as u32;
        self.parts.entry(&name.text).or_insert(next);
    }

    /// Returns a sentence about the outputs of a component; none if it has none.
    pub(crate) fn outputs_text(&self) -> Option<String> {
        let mut names: Vec<String> = self.output_names().map(|name| format!("`{name}`")).collect();
        let last = names.pop()?;
        Some(match names.is_empty() {
            true => format!("its output is {last}"),
            false => format!("its outputs are {} and {last}", names.join(", ")),
        })
    }

    /// Returns the names of the outputs of a component in order.
    pub(crate) fn output_names(&self) -> impl Iterator<Item = &'a str> {
        self.statements.iter().filter_map(|statement| match &statement.kind {
            StatementKind::Output(indexed) => Some(&*indexed.declared.name.text),
            _ => None,
        })
    }

    /// Adds the outputs of a component to its values. An output with the name of another value is that value.
    fn add_outputs(&mut self) {
        let mut outputs: Vec<&'a ast::Indexed> = Vec::new();
        statements(self.statements, &mut |statement| {
            if let StatementKind::Output(indexed) = &statement.kind {
                outputs.push(indexed);
            }
        });
        for indexed in outputs {
            let name = &*indexed.declared.name.text;
            if !self.values.contains_key(name) || self.outputs.contains(name) {
                self.value(&indexed.declared.name);
                self.outputs.insert(name);
            }
        }
    }

    fn collect(&mut self, body: &'a [Statement]) {
        statements(body, &mut |statement| match &statement.kind {
            StatementKind::Node(list) | StatementKind::Zero(list) | StatementKind::One(list) => {
                list.names.iter().for_each(|declared| self.part(&declared.name));
            }
            StatementKind::Port(list) => list.iter().for_each(|port| self.part(&port.declared.name)),
            StatementKind::Instance(instance) => self.part(&instance.declared.name),
            StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) => {
                self.value(&assigned.name);
            }
            StatementKind::Signal(indexed) | StatementKind::State(indexed) | StatementKind::Discrete(indexed) => {
                self.value(&indexed.declared.name);
            }
            StatementKind::Table(table) => {
                self.tables.insert(&table.name.text, table);
            }
            StatementKind::Output(_)
            | StatementKind::Chain(_)
            | StatementKind::Experiment(_)
            | StatementKind::Faulty(_)
            | StatementKind::When(_)
            | StatementKind::Every(_)
            | StatementKind::For(_)
            | StatementKind::If(_) => {}
        });
    }
}

/// One expansion of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub body: u32,
    pub path: Option<PathId>,
    /// The frame of the instance, and the loop indices there.
    pub outer: Place,
    pub instance: Option<&'a ast::Instance>,
    /// The first slots of this frame.
    pub values: u32,
    pub parts: u32,
    /// The number of enclosing components.
    pub depth: u32,
}

/// All names of the current model.
pub(crate) struct Scopes<'a> {
    pub bodies: Vec<Body<'a>>,
    body_of: FxHashMap<ItemRef, u32>,
    pub frames: Vec<Frame<'a>>,
    pub values: Vec<ValueSlot<'a>>,
    pub parts: Vec<GraphPart>,
    pub envs: Vec<Env<'a>>,
    /// The number of referenced entries of `envs`.
    pub kept_envs: usize,
    pub shapes: indexmap::IndexSet<NodeShape>,
}

impl<'a> Scopes<'a> {
    pub fn new() -> Scopes<'a> {
        let mut shapes = indexmap::IndexSet::default();
        shapes.insert(NodeShape {
            sizes: Vec::new(),
            width: 1,
            vector: false,
        });
        Scopes {
            bodies: Vec::new(),
            body_of: FxHashMap::default(),
            frames: Vec::new(),
            values: Vec::new(),
            parts: Vec::new(),
            envs: vec![Env {
                parent: EnvId(0),
                name: "",
                value: 0,
            }],
            kept_envs: 0,
            shapes,
        }
    }

    /// Returns the body of a definition with its names, found once.
    pub(crate) fn body(&mut self, at: ItemRef, component: &'a ast::Component) -> u32 {
        if let Some(index) = self.body_of.get(&at) {
            return *index;
        }
        let index = self.add_body(&component.name, &component.formals, &component.body);
        self.bodies[index as usize].add_outputs();
        self.body_of.insert(at, index);
        index
    }

    /// Returns the frame of the chosen model.
    pub(crate) fn model_frame(&mut self, chosen: &'a ast::Model) -> FrameId {
        let body = self.add_body(&chosen.name, &[], &chosen.body);
        self.frame(body, None, Place::MODEL, None, 0)
    }

    fn add_body(&mut self, name: &'a Name, formals: &'a [Formal], statements: &'a [Statement]) -> u32 {
        let mut body = Body {
            name,
            formals,
            statements,
            values: FxHashMap::default(),
            parts: FxHashMap::default(),
            tables: FxHashMap::default(),
            outputs: FxHashSet::default(),
        };
        for formal in formals {
            let next = body.values.len() as u32;
            body.values.entry(&formal.name.text).or_insert(next);
        }
        body.collect(statements);
        self.bodies.push(body);
        self.bodies.len() as u32 - 1
    }

    /// Returns a new frame with empty slots.
    pub(crate) fn frame(
        &mut self,
        body: u32,
        path: Option<PathId>,
        outer: Place,
        instance: Option<&'a ast::Instance>,
        depth: u32,
    ) -> FrameId {
        self.keep_envs();
        let names = &self.bodies[body as usize];
        let id = FrameId(self.frames.len() as u32);
        let values = self.values.len();
        self.frames.push(Frame {
            body,
            path,
            outer,
            instance,
            values: values as u32,
            parts: self.parts.len() as u32,
            depth,
        });
        let (value_count, part_count) = (names.values.len(), names.parts.len());
        self.values.resize(values + value_count, ValueSlot::Absent);
        self.parts.resize(self.parts.len() + part_count, GraphPart::Absent);
        for (at, formal) in names.formals.iter().enumerate() {
            let slot = names.values[&*formal.name.text] as usize;
            self.values[values + slot] = ValueSlot::Deferred(Origin::Formal(at as u32), EnvId(0));
        }
        id
    }

    /// Keeps the current values of loop indices, because a stored value refers to them.
    pub(crate) fn keep_envs(&mut self) {
        self.kept_envs = self.envs.len();
    }

    /// Returns the place of one iteration of a loop.
    pub(crate) fn round(&mut self, place: Place, name: &'a str, value: i64) -> Place {
        let env = EnvId(self.envs.len() as u32);
        self.envs.push(Env {
            parent: place.env,
            name,
            value,
        });
        Place {
            frame: place.frame,
            env,
        }
    }

    /// Returns the value of a loop index, if a loop around the place has an index of this name.
    pub(crate) fn loop_index(&self, name: &str, place: Place) -> Option<i64> {
        let mut at = place.env;
        while at.0 != 0 {
            let env = &self.envs[at.0 as usize];
            if env.name == name {
                return Some(env.value);
            }
            at = env.parent;
        }
        None
    }

    /// Returns true if an output of a component is a value of its own.
    pub(crate) fn is_value_of(&self, output: &ast::Indexed, frame: FrameId) -> bool {
        let body = &self.bodies[self.frames[frame.0 as usize].body as usize];
        body.outputs.contains(&*output.declared.name.text)
    }

    /// Returns the slot of a value in a frame.
    pub(crate) fn value_slot(&self, name: &str, frame: FrameId) -> Option<usize> {
        let frame = &self.frames[frame.0 as usize];
        let slot = self.bodies[frame.body as usize].values.get(name)?;
        Some((frame.values + slot) as usize)
    }

    /// Returns the slot of a node or an instance in a frame.
    pub(crate) fn part_slot(&self, name: &str, frame: FrameId) -> Option<usize> {
        let frame = &self.frames[frame.0 as usize];
        let slot = self.bodies[frame.body as usize].parts.get(name)?;
        Some((frame.parts + slot) as usize)
    }
}
