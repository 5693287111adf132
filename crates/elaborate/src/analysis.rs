//! What each name in the texts stands for, whatever faults they have: what an editor goes by.
//!
//! Names are resolved in the syntax trees alone, without values: a statement that could not be read is missing, and all others
//! keep their meaning. A name of the standard library, of an import, or of the text itself stands for one [`Definition`].

use super::load::{ItemRef, Program};
use lgm_source::{SourceId, Span};
use lgm_syntax::ast::{
    Argument, Attribute, Equation, Expr, ExprKind, Formal, Item, Name, PortDecl, Statement, StatementKind,
};
use lgm_syntax::visit::{child_expressions, child_statements, statement_expressions, statements};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A definition, by its place in [`Analysis::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

/// What is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `model M { .. }`
    Model,
    /// `component C(..) { .. }`
    Component,
    /// `element E(..) : d { .. }`
    Element,
    /// `modal B(..) : d { .. }`
    Modal,
    /// `domain d { .. }`
    Domain,
    /// A parameter of an element, a component or a modal block.
    Formal,
    /// A structural parameter of one of these: `const N`.
    StructuralFormal,
    /// `param m = 2 [kg];`
    Parameter,
    /// `const N = 4;`
    Constant,
    /// `input F [N] = 1;`
    Input,
    /// `output v = ..;`
    Output,
    /// `signal e = ..;`
    Signal,
    /// `state z = int(..);`
    State,
    /// `node x : translational;`
    Node,
    /// `zero J;` or `one A;`
    Junction,
    /// `port p, n : electrical;`
    Port,
    /// `spring : Spring(k) x -> gnd;`
    Instance,
    /// The index of a `for`, a `sum` or a `mode`, or the unknown of a `root`.
    Index,
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: Arc<str>,
    /// What is defined.
    pub kind: DefinitionKind,
    /// Its name, where it is declared.
    pub name_span: Span,
    /// The whole definition: an item, a statement, a formal's name.
    pub span: Span,
    /// Its `///` lines.
    pub doc: Option<Arc<str>>,
    /// Where the unit is written that it is declared with.
    pub unit: Option<Span>,
    /// Of an instance, what it is one of; of a node or a port, its domain.
    pub of: Option<DefinitionId>,
    /// The item that it is declared in.
    pub within: Option<DefinitionId>,
}

/// A place where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The name.
    pub span: Span,
    /// What it stands for.
    pub definition: DefinitionId,
    /// Whether it is declared here.
    pub declares: bool,
}

/// What each name in the texts stands for.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// All definitions: those of the standard library that are loaded, of imports, and of the root text.
    pub definitions: Vec<Definition>,
    /// All uses and declarations, in the order of their places.
    pub uses: Vec<Use>,
    /// What is declared in each item, by name, but for outputs.
    members: Vec<FxHashMap<Arc<str>, DefinitionId>>,
    /// Outputs of each item: their names are a space of their own (language 9).
    outputs: Vec<FxHashMap<Arc<str>, DefinitionId>>,
    /// Domains, elements, components, modal blocks and models, by their places in the program.
    items: FxHashMap<(u32, u32), DefinitionId>,
}

impl Analysis {
    /// Resolves the names of a program.
    pub fn of(program: &Program) -> Analysis {
        let mut found = Analysis::default();
        for (file, item, at) in items(program) {
            if let Some(definition) = of_item(item) {
                let id = found.declare(definition);
                found.items.insert((file, at), id);
            }
        }
        for (file, item, at) in items(program) {
            if let Some(id) = found.items.get(&(file, at)).copied() {
                Declaring {
                    found: &mut found,
                    program,
                    item: id,
                }
                .item(item);
            }
        }
        for (file, item, at) in items(program) {
            if let Some(id) = found.items.get(&(file, at)).copied() {
                let mut resolving = Resolving {
                    found: &mut found,
                    program,
                    item: id,
                    indices: Vec::new(),
                    in_experiment: false,
                };
                resolving.item(item);
            }
        }
        found.uses.sort_by_key(|entry| (entry.span, !entry.declares));
        found.uses.dedup_by_key(|entry| entry.span);
        found
    }

    /// A definition.
    pub fn get(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0 as usize]
    }

    /// The name at a byte of a text, or the one that ends there.
    pub fn at(&self, source: SourceId, offset: u32) -> Option<Use> {
        let holds =
            |entry: &&Use| entry.span.source == source && entry.span.start <= offset && offset <= entry.span.end;
        let end = self
            .uses
            .partition_point(|entry| (entry.span.source, entry.span.start) <= (source, offset));
        self.uses[..end].iter().rev().take(2).find(holds).copied()
    }

    /// Every place that a definition is named at, its declarations among them.
    pub fn uses_of(&self, id: DefinitionId) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |entry| entry.definition == id)
    }

    /// What is declared in an item; of an instance, in what it is one of.
    pub fn members(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let item = match self.get(id).kind {
            DefinitionKind::Instance => self.get(id).of,
            _ => Some(id),
        };
        let mut list: Vec<DefinitionId> = item
            .map(|item| {
                let values = self.members[item.0 as usize].values();
                values.chain(self.outputs[item.0 as usize].values()).copied().collect()
            })
            .unwrap_or_default();
        list.sort_unstable();
        list
    }

    /// The member of an item, or of an instance, that has a name.
    pub fn member(&self, id: DefinitionId, name: &str) -> Option<DefinitionId> {
        let item = match self.get(id).kind {
            DefinitionKind::Instance => self.get(id).of?,
            _ => id,
        };
        self.members[item.0 as usize].get(name).copied()
    }

    /// The item whose text holds a byte; behind the last statement of an item that is not closed yet, that item.
    pub fn item_at(&self, source: SourceId, offset: u32) -> Option<DefinitionId> {
        let before = self.items.values().copied().filter(|id| {
            let span = self.get(*id).span;
            span.source == source && span.start <= offset
        });
        before.max_by_key(|id| self.get(*id).span.start)
    }

    fn declare(&mut self, definition: Definition) -> DefinitionId {
        let id = DefinitionId(self.definitions.len() as u32);
        self.uses.push(Use {
            span: definition.name_span,
            definition: id,
            declares: true,
        });
        self.definitions.push(definition);
        self.members.push(FxHashMap::default());
        self.outputs.push(FxHashMap::default());
        id
    }

    fn named(&mut self, name: &Name, definition: DefinitionId) {
        self.uses.push(Use {
            span: name.span,
            definition,
            declares: false,
        });
    }
}

/// All items of a program, with the places of their files and their own.
fn items(program: &Program) -> impl Iterator<Item = (u32, &Item, u32)> {
    let files = program.files.iter().enumerate();
    files.flat_map(|(file, content)| {
        let list = content.ast.items.iter().enumerate();
        list.map(move |(at, item)| (file as u32, item, at as u32))
    })
}

fn of_item(item: &Item) -> Option<Definition> {
    let (kind, name, span, doc) = match item {
        Item::Import(_) => return None,
        Item::Domain(domain) => (DefinitionKind::Domain, &domain.name, domain.span, &domain.doc),
        Item::Element(element) => (DefinitionKind::Element, &element.name, element.span, &element.doc),
        Item::Component(component) => (
            DefinitionKind::Component,
            &component.name,
            component.span,
            &component.doc,
        ),
        Item::Modal(modal) => (DefinitionKind::Modal, &modal.name, modal.span, &modal.doc),
        Item::Model(model) => (DefinitionKind::Model, &model.name, model.span, &model.doc),
    };
    Some(Definition {
        name: name.text.clone(),
        kind,
        name_span: name.span,
        span,
        doc: doc.clone(),
        unit: None,
        of: None,
        within: None,
    })
}

/// Enters what an item declares.
struct Declaring<'a> {
    found: &'a mut Analysis,
    program: &'a Program,
    item: DefinitionId,
}

impl Declaring<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Import(_) | Item::Domain(_) => {}
            Item::Element(element) => {
                self.formals(&element.formals);
                self.ports(&element.ports, element.span);
            }
            Item::Component(component) => {
                self.formals(&component.formals);
                statements(&component.body, &mut |statement| self.statement(statement));
            }
            Item::Modal(modal) => {
                self.formals(&modal.formals);
                if let Some(mode) = &modal.mode {
                    self.enter(mode, DefinitionKind::Index, mode.span, (None, None, None));
                }
            }
            Item::Model(model) => statements(&model.body, &mut |statement| self.statement(statement)),
        }
    }

    /// Declares a name with its documentation, its unit, and what it is of. A name that is declared in several places, as in the
    /// parts of an `if`, is one definition.
    fn enter(
        &mut self,
        name: &Name,
        kind: DefinitionKind,
        span: Span,
        (doc, unit, of): (Option<&Arc<str>>, Option<Span>, Option<DefinitionId>),
    ) {
        let known = self.names_of(kind).get(&name.text).copied();
        if let Some(known) = known {
            self.found.uses.push(Use {
                span: name.span,
                definition: known,
                declares: true,
            });
            return;
        }
        let definition = Definition {
            name: name.text.clone(),
            kind,
            name_span: name.span,
            span,
            doc: doc.cloned(),
            unit,
            of,
            within: Some(self.item),
        };
        let id = self.found.declare(definition);
        self.names_of(kind).insert(name.text.clone(), id);
    }

    /// The names among which one of this kind is looked for.
    fn names_of(&mut self, kind: DefinitionKind) -> &mut FxHashMap<Arc<str>, DefinitionId> {
        let item = self.item.0 as usize;
        match kind {
            DefinitionKind::Output => &mut self.found.outputs[item],
            _ => &mut self.found.members[item],
        }
    }

    fn formals(&mut self, formals: &[Formal]) {
        for formal in formals {
            let unit = formal.unit.as_ref().map(|unit| unit.span);
            let end = formal
                .default
                .as_ref()
                .map(|value| value.span)
                .or(unit)
                .unwrap_or(formal.name.span);
            let span = Span {
                end: end.end,
                ..formal.name.span
            };
            let kind = match formal.structural {
                true => DefinitionKind::StructuralFormal,
                false => DefinitionKind::Formal,
            };
            self.enter(&formal.name, kind, span, (None, unit, None));
        }
    }

    fn ports(&mut self, ports: &[PortDecl], span: Span) {
        for port in ports {
            let domain = port.domain.as_ref().and_then(|name| self.domain(name));
            let whole = Span {
                end: port.declared.span.end,
                ..port.declared.name.span
            };
            debug_assert!(whole.source == span.source);
            self.enter(&port.declared.name, DefinitionKind::Port, whole, (None, None, domain));
        }
    }

    fn domain(&self, name: &Name) -> Option<DefinitionId> {
        let place = self.program.domain(&name.text, name.span.source)?;
        self.found.items.get(&(place.file, place.item)).copied()
    }

    fn statement(&mut self, statement: &Statement) {
        let (span, doc) = (statement.span, statement.doc.as_ref());
        match &statement.kind {
            StatementKind::Node(junctions) => self.junctions(junctions, DefinitionKind::Node, statement),
            StatementKind::Zero(junctions) | StatementKind::One(junctions) => {
                self.junctions(junctions, DefinitionKind::Junction, statement);
            }
            StatementKind::Port(ports) => self.ports(ports, span),
            StatementKind::Param(assigned) => self.assigned(assigned, DefinitionKind::Parameter, statement),
            StatementKind::Const(assigned) => self.assigned(assigned, DefinitionKind::Constant, statement),
            StatementKind::Input(assigned) => self.assigned(assigned, DefinitionKind::Input, statement),
            StatementKind::Signal(indexed) => {
                self.enter(&indexed.declared.name, DefinitionKind::Signal, span, (doc, None, None));
            }
            StatementKind::Output(indexed) => {
                self.enter(&indexed.declared.name, DefinitionKind::Output, span, (doc, None, None));
            }
            StatementKind::State(indexed) => {
                self.enter(&indexed.declared.name, DefinitionKind::State, span, (doc, None, None));
            }
            StatementKind::Instance(instance) => {
                let place = self.program.definition(&instance.kind.text, instance.kind.span.source);
                let of = place.and_then(|place| self.found.items.get(&(place.file, place.item)).copied());
                self.enter(&instance.declared.name, DefinitionKind::Instance, span, (doc, None, of));
            }
            StatementKind::Chain(_) | StatementKind::For(_) | StatementKind::If(_) | StatementKind::Experiment(_) => {}
        }
    }

    fn junctions(&mut self, list: &lgm_syntax::ast::JunctionDecl, kind: DefinitionKind, statement: &Statement) {
        let domain = list.domain.as_ref().and_then(|name| self.domain(name));
        for declared in &list.names {
            self.enter(
                &declared.name,
                kind,
                statement.span,
                (statement.doc.as_ref(), None, domain),
            );
        }
    }

    fn assigned(&mut self, assigned: &lgm_syntax::ast::Assigned, kind: DefinitionKind, statement: &Statement) {
        let unit = assigned.unit.as_ref().map(|unit| unit.span);
        self.enter(
            &assigned.name,
            kind,
            statement.span,
            (statement.doc.as_ref(), unit, None),
        );
    }
}

/// Says what the names in an item stand for.
struct Resolving<'a> {
    found: &'a mut Analysis,
    program: &'a Program,
    item: DefinitionId,
    /// Indices of the loops and sums around a place, the innermost last.
    indices: Vec<(Arc<str>, DefinitionId)>,
    /// Whether the place is a setting of a run, which names outputs.
    in_experiment: bool,
}

impl Resolving<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Import(_) | Item::Domain(_) => {}
            Item::Element(element) => {
                self.defaults(&element.formals);
                element.domain.iter().for_each(|name| self.domain(name));
                element
                    .ports
                    .iter()
                    .filter_map(|port| port.domain.as_ref())
                    .for_each(|name| self.domain(name));
                self.equations(&element.equations);
            }
            Item::Component(component) => {
                self.defaults(&component.formals);
                self.body(&component.body);
            }
            Item::Modal(modal) => {
                self.defaults(&modal.formals);
                modal.domain.iter().for_each(|name| self.domain(name));
                self.equations(&modal.equations);
            }
            Item::Model(model) => self.body(&model.body),
        }
    }

    fn defaults(&mut self, formals: &[Formal]) {
        for value in formals.iter().filter_map(|formal| formal.default.as_ref()) {
            self.expression(value);
        }
    }

    fn equations(&mut self, equations: &[Equation]) {
        for equation in equations {
            let before = self.indices.len();
            // `shape(x) = ..` declares x for its right side.
            if let ExprKind::Call(_, arguments) = &equation.left.kind {
                for argument in arguments {
                    if let ExprKind::Name(name) = &argument.value.kind
                        && self.lookup(&name.text).is_none()
                        && !matches!(&*name.text, "across" | "through" | "effort" | "flow" | "time")
                    {
                        self.index(name);
                    }
                }
            }
            self.expression(&equation.left);
            self.expression(&equation.right);
            self.indices.truncate(before);
        }
    }

    fn body(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Node(list) | StatementKind::Zero(list) | StatementKind::One(list) => {
                list.domain.iter().for_each(|name| self.domain(name));
            }
            StatementKind::Port(ports) => {
                ports
                    .iter()
                    .filter_map(|port| port.domain.as_ref())
                    .for_each(|name| self.domain(name));
            }
            StatementKind::Instance(instance) => {
                self.kind(
                    &instance.kind,
                    &instance.arguments,
                    instance.bindings.as_deref().unwrap_or(&[]),
                );
            }
            _ => {}
        }
        self.in_experiment = matches!(statement.kind, StatementKind::Experiment(_));
        statement_expressions(statement, &mut |expr| self.expression(expr));
        self.in_experiment = false;
        let before = self.indices.len();
        if let StatementKind::For(each) = &statement.kind {
            self.index(&each.index);
        }
        child_statements(statement, &mut |body| self.body(body));
        self.indices.truncate(before);
    }

    /// The names that an instance takes from what it is one of: the kind, named arguments, and ports.
    fn kind(&mut self, kind: &Name, arguments: &[Argument], bindings: &[Attribute]) {
        let Some(of) = self.definition(kind) else { return };
        self.found.named(kind, of);
        let names = arguments.iter().filter_map(|argument| argument.name.as_ref());
        for name in names.chain(bindings.iter().map(|binding| &binding.name)) {
            if let Some(member) = self.found.member(of, &name.text) {
                self.found.named(name, member);
            }
        }
    }

    fn definition(&self, name: &Name) -> Option<DefinitionId> {
        let place: ItemRef = self.program.definition(&name.text, name.span.source)?;
        self.found.items.get(&(place.file, place.item)).copied()
    }

    fn domain(&mut self, name: &Name) {
        let place = self.program.domain(&name.text, name.span.source);
        if let Some(id) = place.and_then(|place| self.found.items.get(&(place.file, place.item)).copied()) {
            self.found.named(name, id);
        }
    }

    /// Declares an index for what follows.
    fn index(&mut self, name: &Name) {
        let definition = Definition {
            name: name.text.clone(),
            kind: DefinitionKind::Index,
            name_span: name.span,
            span: name.span,
            doc: None,
            unit: None,
            of: None,
            within: Some(self.item),
        };
        let id = self.found.declare(definition);
        self.indices.push((name.text.clone(), id));
    }

    fn lookup(&self, name: &str) -> Option<DefinitionId> {
        let output = self.found.outputs[self.item.0 as usize].get(name).copied();
        if let (true, Some(output)) = (self.in_experiment, output) {
            return Some(output);
        }
        let index = self.indices.iter().rev().find(|entry| &*entry.0 == name);
        index
            .map(|entry| entry.1)
            .or_else(|| self.found.member(self.item, name))
    }

    /// Resolves the names in an expression.
    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Member(..) => {
                self.path(expr);
            }
            ExprKind::Over(over) => {
                self.expression(&over.from);
                self.expression(&over.to);
                self.index(&over.index);
                self.expression(&over.body);
                self.indices.pop();
            }
            _ => child_expressions(expr, &mut |child| self.expression(child)),
        }
    }

    /// What a path such as `cell[2].c` names.
    fn path(&mut self, expr: &Expr) -> Option<DefinitionId> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let id = self.lookup(&name.text)?;
                self.found.named(name, id);
                Some(id)
            }
            ExprKind::Member(base, name) => {
                let base = self.path(base)?;
                let id = match self.found.get(base).kind {
                    DefinitionKind::Instance => self.found.member(base, &name.text),
                    _ => None,
                }?;
                self.found.named(name, id);
                Some(id)
            }
            ExprKind::Index(base, indices) => {
                indices.iter().for_each(|index| self.expression(index));
                self.path(base)
            }
            _ => {
                self.expression(expr);
                None
            }
        }
    }
}
