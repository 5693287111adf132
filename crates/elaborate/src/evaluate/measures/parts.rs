//! Measurements of elements, nodes and the ports of modal blocks.

use crate::context::NodeView;
use crate::context::modal::ModalPort;
use crate::context::values::{DimId, Scalar, Value};
use crate::context::words::{junction_words, shape_words};
use crate::evaluate::Evaluator;
use crate::evaluate::measures::{Wanted, variable_word};
use lgm_model::{ElementId, JunctionKind, Measure, NodeId, PortId, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Name;

impl<'a> Evaluator<'a> {
    pub(in crate::evaluate) fn of_element(
        &mut self,
        wanted: Wanted,
        id: ElementId,
        port: Option<&'a Name>,
        span: Span,
    ) -> Value {
        let groups = self.graph.port_groups(id);
        if groups.is_empty() {
            // Its connection failed and was reported.
            return Value::Error;
        }
        let range = match (port, &groups[..]) {
            (None, [only]) => only.1.clone(),
            (None, _) => {
                let names: Vec<String> = groups
                    .iter()
                    .filter_map(|group| group.0.as_ref().map(|name| name.to_string()))
                    .collect();
                let name = self.graph.model.element_name(id);
                let diagnostic =
                    Diagnostic::error(Code::LGM0140, format!("`{name}` has several ports; name one of them"))
                        .label(span, "ambiguous port")
                        .help(format!("write `{name}.{}`", names.join(&format!("` or `{name}."))));
                self.report(diagnostic);
                return Value::Error;
            }
            (Some(port), _) => match groups.iter().find(|group| group.0.as_deref() == Some(&*port.text)) {
                Some(group) => group.1.clone(),
                None => {
                    let names: Vec<String> = groups
                        .iter()
                        .filter_map(|group| group.0.as_ref().map(|name| name.to_string()))
                        .collect();
                    let name = self.graph.model.element_name(id);
                    let mut diagnostic =
                        Diagnostic::error(Code::LGM0135, format!("`{name}` has no port `{}`", port.text))
                            .label(port.span, "no such port");
                    diagnostic.help = match names.is_empty() {
                        true => Some(format!("it has a single port: write only `{name}`")),
                        false => lgm_source::nearest::did_you_mean(&port.text, names.iter().map(|name| &**name)),
                    };
                    self.report(diagnostic);
                    return Value::Error;
                }
            },
        };
        let domain = self.graph.model.graph.ports[range.start as usize].domain;
        let Some(variable) = self.variable(wanted, domain) else {
            return self.no_across(span);
        };
        let dim = self.variable_dim(variable, domain);
        let entries = range.map(|at| Scalar {
            expr: self.port_measure(PortId(at), variable),
            dim,
        });
        let entries: Vec<Scalar> = entries.collect();
        Value::column(entries)
    }

    /// Returns the requested variable of a port of a modal block.
    pub(in crate::evaluate) fn of_port(&mut self, wanted: Wanted, port: ModalPort) -> Value {
        let domain = self.graph.model.graph.ports[port.coupler.index()].domain;
        let (Some(variable), Some(about)) = (self.variable(wanted, domain), domain) else {
            return Value::Error;
        };
        let is_across =
            self.graph.model.graph.domains[about.index()].effort_is_across == (variable == Variable::Effort);
        let dim = self.variable_dim(variable, domain);
        let expr = self.of_modal_port(port, variable, is_across);
        Value::scalar(expr, dim)
    }

    pub(in crate::evaluate) fn of_node(
        &mut self,
        wanted: Wanted,
        view: NodeView,
        argument: Span,
        whole: Span,
    ) -> Value {
        if view.is_ground() {
            if wanted == Wanted::Across {
                return Value::scalar(self.arena.exprs.zero(), DimId::UNKNOWN);
            }
            let diagnostic = Diagnostic::error(
                Code::LGM0141,
                "only `across(gnd)`, which is 0, can be measured at the reference",
            )
            .label(whole, "not defined")
            .help("measure an element that is connected to it, by its name: `through(..)`");
            self.report(diagnostic);
            return Value::Error;
        }
        let shape = &self.scopes.shapes[view.shape as usize];
        if !shape.sizes.is_empty() {
            let words = shape_words(shape);
            let diagnostic = Diagnostic::error(Code::LGM0115, "one node is required here")
                .label(argument, format!("this is {words}"))
                .help("write its index after it, such as `[1]`");
            self.report(diagnostic);
            return Value::Error;
        }
        let width = shape.width;
        let node = &self.graph.model.graph.nodes[view.base as usize];
        let (kind, domain) = (node.kind, node.domain);
        let Some(variable) = self.variable(wanted, domain) else {
            return self.no_across(argument);
        };
        let common = match kind {
            JunctionKind::Zero => Variable::Effort,
            JunctionKind::One => Variable::Flow,
        };
        if variable != common {
            let name = self
                .graph
                .model
                .path_name(self.graph.model.graph.nodes[view.base as usize].path);
            let diagnostic = if wanted == Wanted::Through {
                Diagnostic::error(
                    Code::LGM0141,
                    format!("a node such as `{name}` has no through variable"),
                )
                .label(whole, "a node has no through variable of its own")
                .help("measure an element that is connected to it, by its name: `through(..)`")
            } else {
                let (word, other) = (variable_word(variable), variable_word(common));
                let kind = junction_words(kind);
                Diagnostic::error(
                    Code::LGM0141,
                    format!("`{name}` is {kind}: each of its bonds has a separate {word}"),
                )
                .label(whole, "ambiguous bond")
                .help(format!(
                    "name the bond, `{word}({name} -> R1)`, or measure `{other}({name})`"
                ))
            };
            self.report(diagnostic);
            return Value::Error;
        }
        let dim = self.variable_dim(variable, domain);
        let mut entries = Vec::with_capacity(width as usize);
        for k in 0..width {
            let id = NodeId(view.base + k);
            let expr = self.measure(Measure::Common(id), |model| {
                let node = &model.graph.nodes[id.index()];
                let entry = node.entry.map_or(String::new(), |entry| format!("[{entry}]"));
                let word = if node.is_graph_node {
                    "across"
                } else {
                    variable_word(variable)
                };
                format!("{word}({}){entry}", model.path_name(node.path))
            });
            entries.push(Scalar { expr, dim });
        }
        Value::column(entries)
    }
}
