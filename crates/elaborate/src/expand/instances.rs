//! Instances: an element of the model, a component with all of its contents, a modal block.

use crate::context::{GraphPart, Indices, Place, Progress, Record, pair};
use crate::evaluate::declarations::ranges::Arguments;
use crate::expand::{Expansion, Postponed};
use crate::program::ItemRef;
use crate::syntax_queries::bound_names;
use lgm_model::{Element, ElementId, Law, StateChoice};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Declared, Instance, Item};

/// The maximum nesting depth of components.
const DEEPEST: u32 = 256;

impl<'a> Expansion<'_, 'a> {
    pub(super) fn instance(&mut self, instance: &'a Instance, place: Place) {
        if self.must_wait(instance, place) {
            self.scopes.keep_envs();
            let before = self.graph.model.graph.elements.len();
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
    pub(super) fn make(&mut self, instance: &'a Instance, place: Place) {
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
                // Other items are not in the table of definitions.
                Item::Import(_) | Item::Domain(_) | Item::Model(_) | Item::Function(_) | Item::Const(_) => {
                    GraphPart::Failed
                }
            },
        };
        self.set_part(&instance.declared.name, indices, part, place);
    }

    pub(super) fn instance_path(
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

    fn instance_indices(&mut self, declared: &'a Declared, place: Place) -> Result<Option<Indices>, ()> {
        // One or two loop indices in brackets are by far the most common case, and need no list.
        if let [group] = &declared.brackets[..]
            && let [only] = &group[..]
        {
            return self.integer(only, place).map(|index| Some(pair(&[index]))).ok_or(());
        }
        self.declared_indices(declared, place)
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
        let id = ElementId(self.graph.model.graph.elements.len() as u32);
        let first = self.graph.model.graph.ports.len() as u32;
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
        model.graph.elements.push(Element {
            path,
            kind: element.name.text.clone(),
            ports: first..model.graph.ports.len() as u32,
            // A placeholder until the law is classified; it is never read.
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
            None => bound_names(component),
            Some(_) => Vec::new(),
        };
        let good = self.check_arguments(instance, &component.formals, &component.name, &ports, &|_| false);
        let path = self.instance_path(instance, indices, place);
        let body = self.scopes.body(at, component);
        if good
            && self.holds_itself(body, place)
            // Endless recursion is rejected at the maximum depth.
            && let Some(count) = self.count_parts(instance, at, component, place)
            && !self.room_for(count, instance.declared.span)
        {
            return;
        }
        let frame = self.scopes.frame(body, Some(path), place, Some(instance), depth);
        if good && !self.is_within_ranges(instance, &component.name, Arguments::Frame(frame)) {
            return self.set_part(&instance.declared.name, indices, GraphPart::Failed, place);
        }
        self.set_part(&instance.declared.name, indices, GraphPart::Component(frame), place);
        self.check_bindings(instance, component);
        if good {
            self.expand(frame);
        }
    }

    fn too_deep(&mut self, instance: &'a Instance, place: Place) {
        // The chain of definitions, from the recursive one.
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
            .help("a component that contains itself needs an `if` on a `const` that ends the recursion");
        self.report(diagnostic);
        self.reports.stop();
    }
}
