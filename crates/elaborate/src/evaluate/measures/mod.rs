//! Measures: variables of the graph that expressions refer to.

mod bonds;
mod parts;
mod power;

use crate::context::values::{DimId, Value};
use crate::context::{GraphPart, Place};
use crate::evaluate::Evaluator;
use crate::function_table::{MEASURES, MODAL_MEASURES};
use lgm_algebra::expr::ExprId;
use lgm_model::{Connection, ElementId, Measure, PortId, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Argument, Expr, ExprKind, Name, StatementKind};

/// The requested variable of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluate) enum Wanted {
    Across,
    Through,
    Is(Variable),
}

impl<'a> Evaluator<'a> {
    /// Returns the element and the port that `T.in` refers to; every other dotted name is a member of a component.
    pub(crate) fn element_port(&mut self, expr: &'a Expr, place: Place) -> Option<(ElementId, &'a Expr, &'a Name)> {
        let ExprKind::Member(owner, port) = &expr.kind else {
            return None;
        };
        match self.known_graph_part(owner, place) {
            Some(GraphPart::Element(id)) => Some((id, owner, port)),
            _ => None,
        }
    }

    /// Evaluates `across(..)` and similar measures.
    pub(in crate::evaluate) fn measure_call(
        &mut self,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Value {
        debug_assert!(MEASURES.contains(&&*name.text));
        if MODAL_MEASURES.contains(&&*name.text) {
            return self.modal_measure(name, arguments, place, span);
        }
        let Some(argument) = self.only_argument(name, arguments, span) else {
            return Value::Error;
        };
        let wanted = match &*name.text {
            "across" => Wanted::Across,
            "through" => Wanted::Through,
            "effort" => Wanted::Is(Variable::Effort),
            "flow" => Wanted::Is(Variable::Flow),
            "power" => return self.power_of_part(argument, place),
            _ => return self.energy_of(argument, place, span),
        };
        if let ExprKind::Bond(tail, head) = &argument.kind {
            return self.of_bond(wanted, tail, head, place);
        }
        if let Some((id, port)) = self.port_of_element(argument, place) {
            return self.of_element(wanted, id, Some(port), argument.span);
        }
        if let Some(port) = self.modal_port(argument, place) {
            return port.map_or(Value::Error, |port| self.of_port(wanted, port));
        }
        match self.graph_part(argument, place) {
            GraphPart::Nodes(view) => self.of_node(wanted, view, argument.span, span),
            GraphPart::Element(id) => self.of_element(wanted, id, None, argument.span),
            GraphPart::Modal(..) => {
                let diagnostic = Diagnostic::error(Code::LGM0140, "a port of a modal block must be named")
                    .label(argument.span, "ambiguous port")
                    .help(format!(
                        "write `{}({}.port[1])`",
                        name.text,
                        self.sources.slice(argument.span)
                    ));
                self.report(diagnostic);
                Value::Error
            }
            GraphPart::Component(frame) => {
                let owner = self.sources.slice(argument.span);
                let statements = self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize].statements;
                let inside = statements.iter().find_map(|statement| match &statement.kind {
                    StatementKind::Instance(instance) => Some(&*instance.declared.name.text),
                    _ => None,
                });
                let example = format!("`{}({owner}.{})`", name.text, inside.unwrap_or(".."));
                let diagnostic = Diagnostic::error(
                    Code::LGM0138,
                    format!("`{}` can only be measured on an element or a node", name.text),
                )
                .label(argument.span, "this is a component")
                .help(format!("name an element inside it: {example}"));
                self.report(diagnostic);
                Value::Error
            }
            GraphPart::Failed | GraphPart::Absent | GraphPart::Indexed(_) => Value::Error,
        }
    }

    /// Resolves `T.a`, an element with one of its ports.
    pub(in crate::evaluate) fn port_of_element(
        &mut self,
        expr: &'a Expr,
        place: Place,
    ) -> Option<(ElementId, &'a Name)> {
        let ExprKind::Member(owner, port) = &expr.kind else {
            return None;
        };
        // A component may have a member of this name; an element cannot.
        match &owner.kind {
            ExprKind::Name(name) => {
                let slot = self.scopes.part_slot(&name.text, place.frame)?;
                match self.scopes.parts[slot] {
                    GraphPart::Element(id) => Some((id, port)),
                    _ => None,
                }
            }
            _ => match self.graph_part(owner, place) {
                GraphPart::Element(id) => Some((id, port)),
                _ => None,
            },
        }
    }

    pub(in crate::evaluate) fn variable(
        &self,
        wanted: Wanted,
        domain: Option<lgm_model::DomainId>,
    ) -> Option<Variable> {
        let effort_is_across = domain.map(|domain| self.graph.model.graph.domains[domain.index()].effort_is_across);
        Some(match (wanted, effort_is_across) {
            (Wanted::Is(variable), _) => variable,
            (Wanted::Across, Some(true)) | (Wanted::Through, Some(false)) => Variable::Effort,
            (Wanted::Across, Some(false)) | (Wanted::Through, Some(true)) => Variable::Flow,
            (_, None) => return None,
        })
    }

    pub(in crate::evaluate) fn variable_dim(
        &mut self,
        variable: Variable,
        domain: Option<lgm_model::DomainId>,
    ) -> DimId {
        match domain {
            Some(domain) => {
                let effort_is_across = self.graph.model.graph.domains[domain.index()].effort_is_across;
                self.domain_dimension(domain, effort_is_across == (variable == Variable::Effort))
            }
            None => DimId::UNKNOWN,
        }
    }

    pub(in crate::evaluate) fn no_across(&mut self, span: Span) -> Value {
        let diagnostic = Diagnostic::error(Code::LGM0139, "a bond has no across or through variables")
            .label(span, "only available in bond graphs")
            .help("measure `effort(..)` or `flow(..)`");
        self.report(diagnostic);
        Value::Error
    }

    /// Returns a variable of a port: for a graph element along its branch, for a bond element along the drawn bond.
    pub(in crate::evaluate) fn port_measure(&mut self, port: PortId, variable: Variable) -> ExprId {
        let measure = match (&self.graph.model.graph.ports[port.index()].connection, variable) {
            (Connection::Bond(bond), Variable::Effort) => Measure::BondEffort(*bond),
            (Connection::Bond(bond), Variable::Flow) => Measure::BondFlow(*bond),
            (_, Variable::Effort) => Measure::PortEffort(port),
            (_, Variable::Flow) => Measure::PortFlow(port),
        };
        self.measure(measure, |model| {
            let about = &model.graph.ports[port.index()];
            let mut name = model.element_name(about.element);
            if let Some(port) = &about.name {
                name.push_str(&format!(".{port}"));
            }
            let entry = about.entry.map_or(String::new(), |entry| format!("[{entry}]"));
            let word = match about.domain {
                None => variable_word(variable),
                Some(domain) => {
                    let across = model.graph.domains[domain.index()].effort_is_across == (variable == Variable::Effort);
                    if across { "across" } else { "through" }
                }
            };
            format!("{word}({name}){entry}")
        })
    }
}

pub(in crate::evaluate) fn variable_word(variable: Variable) -> &'static str {
    match variable {
        Variable::Effort => "effort",
        Variable::Flow => "flow",
    }
}
