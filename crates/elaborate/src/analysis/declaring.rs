//! The declarations of each item.

use super::definitions::{Analysis, Definition, DefinitionId, DefinitionKind, Use};
use crate::program::Program;
use lgm_source::Span;
use lgm_syntax::ast::{Assigned, Formal, Item, JunctionDecl, Name, PortDecl, Statement, StatementKind, Table};
use lgm_syntax::visit::statements;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Records the declarations of an item.
pub(super) struct Declaring<'a> {
    pub found: &'a mut Analysis,
    pub program: &'a Program,
    pub item: DefinitionId,
}

impl Declaring<'_> {
    pub fn item(&mut self, item: &Item) {
        match item {
            Item::Import(_) | Item::Domain(_) | Item::Const(_) => {}
            Item::Function(function) => self.formals(&function.formals),
            Item::Element(element) => {
                self.formals(&element.formals);
                self.ports(&element.ports, element.span);
                element.tables.iter().for_each(|table| self.table(table, None));
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

    /// Declares a name with its documentation, its unit, and its definition or domain. A name that is declared several times, such as in
    /// the parts of an `if`, is one definition.
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

    /// Returns the names of the namespace of this kind.
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

    fn kind(&self, name: &Name) -> Option<DefinitionId> {
        let place = self.program.definition(&name.text, name.span.source)?;
        self.found.items.get(&(place.file, place.item)).copied()
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
            StatementKind::Discrete(indexed) => {
                self.enter(
                    &indexed.declared.name,
                    DefinitionKind::Discrete,
                    span,
                    (doc, None, None),
                );
            }
            StatementKind::State(indexed) => {
                self.enter(&indexed.declared.name, DefinitionKind::State, span, (doc, None, None));
            }
            StatementKind::Instance(instance) => {
                let of = self.kind(&instance.kind);
                self.enter(&instance.declared.name, DefinitionKind::Instance, span, (doc, None, of));
            }
            StatementKind::Faulty(faulty) => {
                let of = faulty.kind.as_ref().and_then(|kind| self.kind(kind));
                if let Some(name) = &faulty.declared {
                    self.enter(name, DefinitionKind::Instance, span, (doc, None, of));
                }
            }
            StatementKind::Table(table) => self.table(table, Some(statement)),
            StatementKind::Chain(_)
            | StatementKind::For(_)
            | StatementKind::If(_)
            | StatementKind::When(_)
            | StatementKind::Every(_)
            | StatementKind::Experiment(_) => {}
        }
    }

    fn table(&mut self, table: &Table, statement: Option<&Statement>) {
        let span = statement.map_or(table.name.span, |statement| statement.span);
        let doc = statement.and_then(|statement| statement.doc.as_ref());
        self.enter(&table.name, DefinitionKind::Table, span, (doc, None, None));
    }

    fn junctions(&mut self, list: &JunctionDecl, kind: DefinitionKind, statement: &Statement) {
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

    fn assigned(&mut self, assigned: &Assigned, kind: DefinitionKind, statement: &Statement) {
        let unit = assigned.unit.as_ref().map(|unit| unit.span);
        self.enter(
            &assigned.name,
            kind,
            statement.span,
            (statement.doc.as_ref(), unit, None),
        );
    }
}
