//! Expansion: bodies walked in place, with loops and conditions decided, to nodes, elements and components.

mod arguments;
mod branches;
mod count;
mod junctions;
mod modal;
mod postponed;

use crate::context::{
    AtPlace, EnvId, FrameId, GraphPart, Indices, Origin, Place, Progress, Record, ValueSlot, index_text, layer, pair,
};
use crate::evaluate::Evaluator;
use crate::modal_rules::Rules;
use crate::names::recursion::{counted, too_large};
use crate::program::ItemRef;
use crate::syntax_queries::port_names;
use lgm_model::{Element, ElementId, Law, StateChoice};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Declared, Instance, Item, Name, Statement, StatementKind};
use num_rational::BigRational;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How deep components may nest.
const DEEPEST: u32 = 256;

/// What a walk over a body does with its statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// Declares values, nodes and ports.
    Declare,
    /// Makes elements and components, and puts chains and measures aside.
    Build,
}

/// A round of a loop in which nothing is made counts as this part of a part.
const ROUNDS: u64 = 10;

/// Whether statements declare values, nodes or ports.
fn declares(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Instance(_)
        | StatementKind::Chain(_)
        | StatementKind::Output(_)
        | StatementKind::Experiment(_) => false,
        StatementKind::For(block) => declares(&block.body),
        StatementKind::If(block) => {
            block.branches.iter().any(|branch| declares(&branch.1)) || declares(&block.otherwise)
        }
        _ => true,
    })
}

/// An instance that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Postponed<'a> {
    pub instance: &'a Instance,
    pub place: Place,
    /// How many elements there were when it was met: it belongs in front of the next one.
    pub before: usize,
}

/// Numbers of parts by definition and structural values; `None` where they do not end.
pub(crate) type Counts = FxHashMap<(ItemRef, Vec<BigRational>), Option<u128>>;

/// What each definition says, found when it is first used; `None` where it is at fault.
pub(crate) type KnownRules<'a> = FxHashMap<ItemRef, Option<Rc<Rules<'a>>>>;

/// A statement that is looked at once the whole graph is there.
#[derive(Debug)]
pub(crate) struct Deferred<'a, T> {
    pub statement: &'a T,
    pub place: Place,
}

impl<T> Clone for Deferred<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Deferred<'_, T> {}

/// What expansion leaves to the phases after it, in the order of the statements.
#[derive(Default)]
pub(crate) struct Expanded<'a> {
    pub chains: Vec<Deferred<'a, Vec<ast::Expr>>>,
    pub signals: Vec<Deferred<'a, ast::Indexed>>,
    pub states: Vec<Deferred<'a, ast::Indexed>>,
    pub outputs: Vec<Deferred<'a, ast::Indexed>>,
    pub experiments: Vec<&'a [ast::Attribute]>,
}

/// The expansion of the chosen model.
pub(crate) struct Expansion<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
    rest: Expanded<'a>,
    /// Instances of the body that is built now which wait for others.
    postponed: Vec<Postponed<'a>>,
    counts: Counts,
    modal_rules: KnownRules<'a>,
    /// How many nodes and instances there are so far.
    made: u64,
    /// The largest number of nodes and instances.
    largest: u64,
    /// Rounds of loops so far in which nothing was made.
    empty_rounds: u64,
}

layer!(Expansion<'e, 'a>, evaluator: Evaluator<'a>);

/// Expands the chosen model to its nodes and elements, at most so many.
pub(crate) fn expand<'a>(evaluator: &mut Evaluator<'a>, largest: u64) -> Expanded<'a> {
    let chosen = evaluator.chosen;
    let frame = evaluator.scopes.model_frame(chosen);
    let mut expansion = Expansion {
        evaluator,
        rest: Expanded::default(),
        postponed: Vec::new(),
        counts: Counts::default(),
        modal_rules: KnownRules::default(),
        made: 0,
        largest,
        empty_rounds: 0,
    };
    expansion.expand(frame);
    expansion.rest
}

impl<'a> Expansion<'_, 'a> {
    /// Expands a frame and all components inside.
    pub fn expand(&mut self, frame: FrameId) {
        let body = self.scopes.frames[frame.0 as usize].body;
        let statements = self.scopes.bodies[body as usize].statements;
        let place = Place { frame, env: EnvId(0) };
        self.at(place, |this| this.expand_statements(statements, place));
    }

    fn expand_statements(&mut self, statements: &'a [Statement], place: Place) {
        // Values outside of loops and conditions come first: sizes and conditions may use those declared below.
        for statement in statements {
            self.declare_value(statement, place);
        }
        if place.frame.0 == 0 {
            self.force_parameters(statements, place);
        }
        self.walk(statements, place, Walk::Declare, true);
        if !self.reports.stopped {
            let first = self.graph.model.elements.len();
            let outer = std::mem::take(&mut self.postponed);
            self.walk(statements, place, Walk::Build, true);
            let waiting = std::mem::replace(&mut self.postponed, outer);
            if !waiting.is_empty() {
                self.make_postponed(place.frame, first, waiting);
            }
        }
    }

    fn force_parameters(&mut self, statements: &'a [Statement], place: Place) {
        for statement in statements {
            if let StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) =
                &statement.kind
                && let Some(slot) = self.scopes.value_slot(&assigned.name.text, place.frame)
            {
                self.slot_value(slot, None, &assigned.name.text, assigned.name.span, place.frame);
            }
        }
    }

    fn walk(&mut self, statements: &'a [Statement], place: Place, walk: Walk, outermost: bool) {
        for statement in statements {
            if self.reports.stopped {
                return;
            }
            match &statement.kind {
                StatementKind::For(block) => self.walk_loop(block, place, walk),
                StatementKind::If(block) => self.walk_condition(block, place, walk),
                _ if walk == Walk::Declare => {
                    if !outermost {
                        self.declare_value(statement, place);
                    }
                    self.declare_junctions(statement, place);
                }
                _ => self.build(statement, place),
            }
        }
    }

    fn walk_loop(&mut self, block: &'a ast::For, place: Place, walk: Walk) {
        let (Some(from), Some(to)) = (self.integer(&block.from, place), self.integer(&block.to, place)) else {
            return;
        };
        if to < from || block.body.is_empty() || (walk == Walk::Declare && !declares(&block.body)) {
            return;
        }
        let span = block.from.span.to(block.to.span);
        let count = (i128::from(to) - i128::from(from) + 1) as u128;
        let before = self.made;
        if !self.room_for(count, span) {
            return;
        }
        for value in from..=to {
            let before_round = self.made;
            let inner = self.scopes.round(place, &block.index.text, value);
            self.at(inner, |this| this.walk(&block.body, inner, walk, false));
            // What makes nothing and is referred to by nothing leaves nothing behind.
            if self.scopes.kept_envs <= inner.env.0 as usize {
                self.scopes.envs.truncate(inner.env.0 as usize);
            }
            if self.reports.stopped || (self.made == before_round && self.is_one_too_many(span)) {
                return;
            }
            if value == from {
                // The first round shows how much the others will need: refuse before memory is spent.
                let each = u128::from(self.made - before);
                if !self.room_for(each.saturating_mul(count - 1), span) {
                    return;
                }
            }
        }
    }

    /// Counts a round that makes nothing: it takes its time too.
    fn is_one_too_many(&mut self, span: Span) -> bool {
        self.empty_rounds += 1;
        let most = self.largest / ROUNDS;
        if self.empty_rounds <= most {
            return false;
        }
        let message = format!(
            "the model's loops have more than {} rounds in which nothing is made",
            counted(most)
        );
        let diagnostic = Diagnostic::error(Code::LGM0129, message)
            .label(span, "the rounds of this loop are among them")
            .help("let the loop run over the indices at which something is made, instead of asking with `if`");
        self.report(diagnostic);
        self.reports.stopped = true;
        true
    }

    /// Whether so many items more are allowed.
    pub fn room_for(&mut self, more: u128, span: Span) -> bool {
        if u128::from(self.made).saturating_add(more) <= u128::from(self.largest) {
            return true;
        }
        let diagnostic = Diagnostic::error(Code::LGM0129, too_large(self.largest))
            .label(
                span,
                format!(
                    "about {} parts are asked for here",
                    u128::from(self.made).saturating_add(more)
                ),
            )
            .help("lower the number of repetitions");
        self.report(diagnostic);
        self.reports.stopped = true;
        false
    }

    fn walk_condition(&mut self, block: &'a ast::If, place: Place, walk: Walk) {
        for (condition, body) in &block.branches {
            match self.condition(condition, place) {
                Some(true) => return self.walk(body, place, walk, false),
                Some(false) => {}
                None => return,
            }
        }
        self.walk(&block.otherwise, place, walk, false);
    }

    pub fn declare_value(&mut self, statement: &'a Statement, place: Place) {
        self.scopes.keep_envs();
        let (name, declared, origin) = match &statement.kind {
            StatementKind::Param(assigned) => (&assigned.name, None, Origin::Param(assigned)),
            StatementKind::Const(assigned) => (&assigned.name, None, Origin::Const(assigned)),
            StatementKind::Input(assigned) => (&assigned.name, None, Origin::Input(assigned)),
            StatementKind::Signal(indexed) => {
                self.rest.signals.push(Deferred {
                    statement: indexed,
                    place,
                });
                (&indexed.declared.name, Some(&indexed.declared), Origin::Signal(indexed))
            }
            StatementKind::State(indexed) => {
                self.rest.states.push(Deferred {
                    statement: indexed,
                    place,
                });
                (&indexed.declared.name, Some(&indexed.declared), Origin::State(indexed))
            }
            _ => return,
        };
        let indices = match declared.map(|declared| self.declared_indices(declared, place)) {
            None => None,
            Some(Ok(indices)) => indices,
            Some(Err(())) => return,
        };
        let Some(slot) = self.scopes.value_slot(&name.text, place.frame) else {
            return;
        };
        let deferred = ValueSlot::Deferred(origin, place.env);
        let taken = match (&mut self.scopes.values[slot], indices) {
            (entry @ ValueSlot::Absent, None) => {
                *entry = deferred;
                false
            }
            (entry @ ValueSlot::Absent, Some(at)) => {
                *entry = ValueSlot::Indexed(Box::new([(at, deferred)].into_iter().collect()));
                false
            }
            (ValueSlot::Indexed(map), Some(at)) => map.insert(at, deferred).is_some(),
            _ => true,
        };
        if taken {
            self.declared_twice(name, indices);
        }
    }

    fn declared_twice(&mut self, name: &Name, indices: Option<Indices>) {
        if self.reports.reported.contains_key(&(Code::LGM0146, name.span)) {
            return;
        }
        let shown = match indices {
            Some(at) => format!("{}[{}]", name.text, index_text(at)),
            None => name.text.to_string(),
        };
        let diagnostic = Diagnostic::error(Code::LGM0107, format!("`{shown}` is declared twice"))
            .label(name.span, "declared again here")
            .help("give every one a name or an index of its own");
        self.report(diagnostic);
    }

    /// Gives a name of the graph its meaning.
    pub fn set_part(&mut self, name: &Name, indices: Option<Indices>, part: GraphPart, place: Place) {
        let Some(slot) = self.scopes.part_slot(&name.text, place.frame) else {
            return;
        };
        let taken = match (&mut self.scopes.parts[slot], indices) {
            (entry @ GraphPart::Absent, None) => {
                *entry = part;
                false
            }
            (entry @ GraphPart::Absent, Some(at)) => {
                *entry = GraphPart::Indexed(Box::new([(at, part)].into_iter().collect()));
                false
            }
            (GraphPart::Indexed(map), Some(at)) => map.insert(at, part).is_some(),
            _ => true,
        };
        if taken {
            self.declared_twice(name, indices);
        }
    }

    fn build(&mut self, statement: &'a Statement, place: Place) {
        match &statement.kind {
            StatementKind::Instance(instance) => self.instance(instance, place),
            StatementKind::Chain(list) => {
                self.scopes.keep_envs();
                self.rest.chains.push(Deferred { statement: list, place });
            }
            StatementKind::Output(indexed) => {
                self.scopes.keep_envs();
                self.rest.outputs.push(Deferred {
                    statement: indexed,
                    place,
                });
            }
            StatementKind::Experiment(attributes) => self.rest.experiments.push(attributes),
            StatementKind::Param(assigned) if place.frame.0 != 0 || place.env.0 != 0 => {
                // A parameter that nothing uses still belongs to the model.
                if let Some(slot) = self.scopes.value_slot(&assigned.name.text, place.frame) {
                    self.slot_value(slot, None, &assigned.name.text, assigned.name.span, place.frame);
                }
            }
            _ => {}
        }
    }

    fn instance(&mut self, instance: &'a Instance, place: Place) {
        if self.must_wait(instance, place) {
            self.scopes.keep_envs();
            let before = self.graph.model.elements.len();
            self.postponed.push(Postponed {
                instance,
                place,
                before,
            });
            return;
        }
        self.make(instance, place);
    }

    /// Makes an instance.
    pub fn make(&mut self, instance: &'a Instance, place: Place) {
        let Ok(indices) = self.instance_indices(&instance.declared, place) else {
            return;
        };
        if !self.room_for(1, instance.declared.span) {
            return;
        }
        self.made += 1;
        let kind = &instance.kind;
        let part = match self.program.definition(&kind.text, kind.span.source) {
            // `names` has reported an unknown definition.
            None => GraphPart::Failed,
            Some(at) => match self.program.item(at) {
                Item::Element(element) => self.element(instance, at, element, indices, place),
                Item::Component(component) => {
                    return self.component(instance, at, component, indices, place);
                }
                Item::Modal(modal) => self.modal(instance, at, modal, indices, place),
                // A domain is no definition, and the table of definitions holds nothing else.
                Item::Import(_) | Item::Domain(_) | Item::Model(_) => GraphPart::Failed,
            },
        };
        self.set_part(&instance.declared.name, indices, part, place);
    }

    fn instance_indices(&mut self, declared: &'a Declared, place: Place) -> Result<Option<Indices>, ()> {
        // One or two loop indices in brackets are by far the most common, and need no list.
        if let [group] = &declared.brackets[..]
            && let [only] = &group[..]
        {
            return self.integer(only, place).map(|index| Some(pair(&[index]))).ok_or(());
        }
        self.declared_indices(declared, place)
    }

    pub fn instance_path(
        &mut self,
        instance: &'a Instance,
        indices: Option<Indices>,
        place: Place,
    ) -> lgm_model::PathId {
        let parent = self.scopes.frames[place.frame.0 as usize].path;
        match indices {
            None => self.graph.path(parent, &instance.declared.name, &[]),
            Some((i, 0)) => self.graph.path(parent, &instance.declared.name, &[i]),
            Some((i, j)) => self.graph.path(parent, &instance.declared.name, &[i, j]),
        }
    }

    fn element(
        &mut self,
        instance: &'a Instance,
        at: ItemRef,
        element: &'a ast::Element,
        indices: Option<Indices>,
        place: Place,
    ) -> GraphPart {
        let good = self.check_arguments(instance, &element.formals, &element.name, &[], &|_| false);
        let is_bond = element.domain.as_ref().is_some_and(|domain| &*domain.text == "bond");
        let path = self.instance_path(instance, indices, place);
        let id = ElementId(self.graph.model.elements.len() as u32);
        let first = self.graph.model.ports.len() as u32;
        let connected = if is_bond {
            self.expect_no_branches(instance)
        } else {
            self.connect_branches(id, instance, element, place)
        };
        let law_span = match (instance.arguments.first(), instance.arguments.last()) {
            (Some(first), Some(last)) => first.value.span.to(last.value.span),
            _ => instance.kind.span,
        };
        let model = &mut self.graph.model;
        model.elements.push(Element {
            path,
            kind: element.name.text.clone(),
            ports: first..model.ports.len() as u32,
            // Replaced when the law is classified; nothing reads it before.
            law: Law::Source {
                given: lgm_model::Variable::Effort,
                values: Vec::new(),
            },
            law_span,
            start: Vec::new(),
            start_span: None,
            nominal: Vec::new(),
            state_choice: if is_bond {
                StateChoice::Energy
            } else {
                StateChoice::CoEnergy
            },
            mode: None,
        });
        self.scopes.keep_envs();
        self.graph.records.push(Record {
            instance,
            definition: at,
            place,
            progress: if good && connected {
                Progress::Waiting
            } else {
                Progress::Failed
            },
        });
        GraphPart::Element(id)
    }

    fn component(
        &mut self,
        instance: &'a Instance,
        at: ItemRef,
        component: &'a ast::Component,
        indices: Option<Indices>,
        place: Place,
    ) {
        let depth = self.scopes.frames[place.frame.0 as usize].depth + 1;
        if depth > DEEPEST {
            self.too_deep(instance, place);
            return;
        }
        let ports = match instance.bindings {
            None => port_names(component),
            Some(_) => Vec::new(),
        };
        let good = self.check_arguments(instance, &component.formals, &component.name, &ports, &|_| false);
        let path = self.instance_path(instance, indices, place);
        let body = self.scopes.body(at, component);
        if good
            && self.holds_itself(body, place)
            // What does not end is refused where it is too deep.
            && let Some(count) = self.count_parts(instance, at, component, place)
            && !self.room_for(count, instance.declared.span)
        {
            return;
        }
        let frame = self.scopes.frame(body, Some(path), place, Some(instance), depth);
        self.set_part(&instance.declared.name, indices, GraphPart::Component(frame), place);
        self.check_bindings(instance, component);
        if good {
            self.expand(frame);
        }
    }

    fn too_deep(&mut self, instance: &'a Instance, place: Place) {
        // The chain of definitions, from the one that is entered again.
        let mut chain = vec![instance.kind.text.to_string()];
        let mut frame = place.frame;
        while frame.0 != 0 {
            let about = self.scopes.frames[frame.0 as usize];
            let name = self.scopes.bodies[about.body as usize].name.text.to_string();
            let closes = name == chain[0];
            chain.push(name);
            if closes {
                break;
            }
            frame = about.outer.frame;
        }
        chain.reverse();
        let diagnostic = Diagnostic::error(Code::LGM0130, "components are nested more than 256 levels deep")
            .label(instance.kind.span, "this instance is one level too deep")
            .note(format!("the chain is {}", chain.join(" holds ")))
            .help("a component that holds itself needs an `if` on a `const` that ends it");
        self.report(diagnostic);
        self.reports.stopped = true;
    }
}
