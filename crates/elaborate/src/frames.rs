//! Bodies and frames: the names of a model or a component, found once, and a slot for each of them in every expansion.

use super::load::ItemRef;
use super::state::{Elaborator, EnvId, FrameId, Origin, Place, Thing, ValueSlot};
use lgm_model::PathId;
use lgm_syntax::ast::{self, Formal, Name, Statement, StatementKind};
use rustc_hash::FxHashMap;

/// The names of a model or a component, found once, each with its slot.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub name: &'a Name,
    pub formals: &'a [Formal],
    pub statements: &'a [Statement],
    pub values: FxHashMap<&'a str, u32>,
    pub things: FxHashMap<&'a str, u32>,
}

/// One expansion of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub body: u32,
    pub path: Option<PathId>,
    /// The frame that holds the instance, and the loop indices there.
    pub outer: Place,
    pub instance: Option<&'a ast::Instance>,
    /// First slots of this frame.
    pub values: u32,
    pub things: u32,
    /// How many components are around it.
    pub depth: u32,
}

impl<'a> Body<'a> {
    fn value(&mut self, name: &'a Name) {
        let next = self.values.len() as u32;
        self.values.entry(&name.text).or_insert(next);
    }

    fn thing(&mut self, name: &'a Name) {
        let next = self.things.len() as u32;
        self.things.entry(&name.text).or_insert(next);
    }

    fn collect(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Node(declared) | StatementKind::Zero(declared) | StatementKind::One(declared) => {
                    for declared in &declared.names {
                        self.thing(&declared.name);
                    }
                }
                StatementKind::Port(list) => {
                    for port in list {
                        self.thing(&port.declared.name);
                    }
                }
                StatementKind::Instance(instance) => self.thing(&instance.declared.name),
                StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) => {
                    self.value(&assigned.name);
                }
                StatementKind::Signal(indexed) | StatementKind::State(indexed) => self.value(&indexed.declared.name),
                StatementKind::For(block) => self.collect(&block.body),
                StatementKind::If(block) => {
                    for (_, branch) in &block.branches {
                        self.collect(branch);
                    }
                    self.collect(&block.otherwise);
                }
                StatementKind::Output(_) | StatementKind::Chain(_) | StatementKind::Experiment(_) => {}
            }
        }
    }
}

impl<'a> Elaborator<'a> {
    /// The body of a definition with its names, found once.
    pub fn body(&mut self, at: ItemRef, component: &'a ast::Component) -> u32 {
        if let Some(index) = self.body_of.get(&at) {
            return *index;
        }
        let index = self.add_body(&component.name, &component.formals, &component.body);
        self.body_of.insert(at, index);
        index
    }

    /// The frame of the chosen model.
    pub(super) fn model_frame(&mut self) -> FrameId {
        let body = self.add_body(&self.chosen.name, &[], &self.chosen.body);
        let outer = Place {
            frame: FrameId(0),
            env: EnvId(0),
        };
        self.frame(body, None, outer, None, 0)
    }

    fn add_body(&mut self, name: &'a Name, formals: &'a [Formal], statements: &'a [Statement]) -> u32 {
        let mut body = Body {
            name,
            formals,
            statements,
            values: FxHashMap::default(),
            things: FxHashMap::default(),
        };
        for formal in formals {
            let next = body.values.len() as u32;
            body.values.entry(&formal.name.text).or_insert(next);
        }
        body.collect(statements);
        self.bodies.push(body);
        self.bodies.len() as u32 - 1
    }

    /// A new frame with empty slots.
    pub fn frame(
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
            things: self.things.len() as u32,
            depth,
        });
        let (value_count, thing_count) = (names.values.len(), names.things.len());
        self.values.resize(values + value_count, ValueSlot::Absent);
        self.things.resize(self.things.len() + thing_count, Thing::Absent);
        for (at, formal) in names.formals.iter().enumerate() {
            let slot = names.values[&*formal.name.text] as usize;
            self.values[values + slot] = ValueSlot::Deferred(Origin::Formal(at as u32), EnvId(0));
        }
        id
    }
}
