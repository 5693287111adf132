//! Branches of the linear graph: ends, domains and widths of each port.

use crate::context::words::{junction_words, shape_words};
use crate::context::{GraphPart, NodeView, Place};
use crate::expand::Expansion;
use lgm_model::{Connection, DomainId, ElementId, NodeId, Port};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::words::article;
use lgm_syntax::ast::{self, Expr, Instance, Name};

/// One end of a branch.
#[derive(Clone, Copy)]
pub(crate) struct End {
    view: NodeView,
    width: u32,
    vector: bool,
    domain: Option<DomainId>,
    span: Span,
}

impl End {
    /// Returns true for a vector node.
    pub fn is_vector(&self) -> bool {
        self.vector
    }
}

impl<'a> Expansion<'_, 'a> {
    /// Reports a bond element that is written as a branch.
    pub fn expect_no_branches(&mut self, instance: &'a Instance) -> bool {
        if let Some((from, to)) = instance.branches.first() {
            let name = &instance.declared.name.text;
            let diagnostic =
                Diagnostic::error(Code::LGM0304, format!("`{name}` is a bond graph element, not a branch"))
                    .label(from.span.to(to.span), "a branch is written here")
                    .label(instance.kind.span, "this is a bond graph element")
                    .help(format!(
                        "declare `{name} : {}(..);` without branches, and draw its bond: `J -> {name};`",
                        instance.kind.text
                    ));
            self.report(diagnostic);
            return false;
        }
        self.expect_no_bindings(instance)
    }

    pub fn expect_no_bindings(&mut self, instance: &'a Instance) -> bool {
        let Some(bindings) = &instance.bindings else {
            return true;
        };
        let span = bindings
            .first()
            .map_or(instance.declared.span, |binding| binding.name.span);
        let diagnostic = Diagnostic::error(Code::LGM0316, "an element has branches, not named ports")
            .label(span, "ports are bound here")
            .label(instance.kind.span, "this is an element")
            .help(format!(
                "write `{} : {}(..) a -> b;`",
                instance.declared.name.text, instance.kind.text
            ));
        self.report(diagnostic);
        false
    }

    /// Makes the ports of a graph element from its branches.
    pub fn connect_branches(
        &mut self,
        id: ElementId,
        instance: &'a Instance,
        element: &'a ast::Element,
        place: Place,
    ) -> bool {
        if !self.expect_no_bindings(instance) {
            return false;
        }
        let wanted = element.ports.len().max(1);
        if instance.branches.len() != wanted {
            self.wrong_branches(instance, element, wanted);
            return false;
        }
        let own = match &element.domain {
            Some(name) => match self.domain(name) {
                Some(domain) => Some((domain, name)),
                None => return false,
            },
            None => None,
        };
        let mut good = true;
        for (at, (from, to)) in instance.branches.iter().enumerate() {
            let port = element.ports.get(at);
            let mut expected = own;
            if let Some(name) = port.and_then(|port| port.domain.as_ref()) {
                expected = match self.domain(name) {
                    Some(domain) => Some((domain, name)),
                    None => return false,
                };
            }
            let (tail, head) = (self.branch_end(from, place), self.branch_end(to, place));
            let (Some(tail), Some(head)) = (tail, head) else {
                good = false;
                continue;
            };
            good &= self.branch(id, instance, port.map(|port| &port.declared.name), expected, tail, head);
        }
        good
    }

    fn wrong_branches(&mut self, instance: &'a Instance, element: &'a ast::Element, wanted: usize) {
        let given = instance.branches.len();
        let name = &instance.declared.name.text;
        let span = match (instance.branches.first(), instance.branches.last()) {
            (Some((from, _)), Some((_, to))) => from.span.to(to.span),
            _ => instance.declared.span,
        };
        let ports: Vec<&str> = element.ports.iter().map(|port| &*port.declared.name.text).collect();
        let example = match &ports[..] {
            [] => "a -> b".to_string(),
            ports => ports
                .iter()
                .map(|port| format!("{port}1 -> {port}2"))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let plural = |count: usize| match count {
            0 => "no branch".to_string(),
            1 => "one branch".to_string(),
            count => format!("{count} branches"),
        };
        let diagnostic = Diagnostic::error(
            Code::LGM0305,
            format!(
                "`{name}` has {}, but `{}` needs {}",
                plural(given),
                element.name.text,
                plural(wanted)
            ),
        )
        .label(span, format!("{} here", plural(given)))
        .label(
            element.name.span,
            match ports.len() {
                0 => "an element with a single port".to_string(),
                _ => format!("its ports are `{}`", ports.join("`, `")),
            },
        )
        .help(format!(
            "write `{name} : {}(..) {example};` with its nodes",
            instance.kind.text
        ));
        self.report(diagnostic);
    }

    pub fn branch_end(&mut self, expr: &'a Expr, place: Place) -> Option<End> {
        let view = match self.graph_part(expr, place) {
            GraphPart::Nodes(view) => view,
            GraphPart::Failed | GraphPart::Absent | GraphPart::Indexed(_) => return None,
            GraphPart::Element(_) | GraphPart::Component(_) | GraphPart::Modal(..) => {
                let diagnostic = Diagnostic::error(Code::LGM0306, "a branch ends at nodes")
                    .label(expr.span, "this is an instance")
                    .help("declare a node and connect both to it: `node x : electrical;`");
                self.report(diagnostic);
                return None;
            }
        };
        if view.is_ground() {
            return Some(End {
                view,
                width: 0,
                vector: false,
                domain: None,
                span: expr.span,
            });
        }
        let shape = &self.scopes.shapes[view.shape as usize];
        if !shape.sizes.is_empty() {
            let words = shape_words(shape);
            let diagnostic = Diagnostic::error(Code::LGM0115, "one node is required here")
                .label(expr.span, format!("this is {words}"))
                .help("write its index after it, such as `[1]`");
            self.report(diagnostic);
            return None;
        }
        let (width, vector) = (shape.width, shape.vector);
        let node = &self.graph.model.graph.nodes[view.base as usize];
        if node.is_graph_node && node.domain.is_none() {
            // `names` has reported it, and without a domain the law of the element is meaningless.
            return None;
        }
        if !node.is_graph_node {
            let kind = junction_words(node.kind);
            let diagnostic = Diagnostic::error(Code::LGM0306, "a branch ends at nodes")
                .label(expr.span, format!("this is {kind}"))
                .help("declare it with `node`, or draw a bond to the element instead");
            self.report(diagnostic);
            return None;
        }
        Some(End {
            view,
            width,
            vector,
            domain: node.domain,
            span: expr.span,
        })
    }

    fn domain_name(&self, domain: DomainId) -> String {
        self.graph.model.graph.domains[domain.index()].name.to_string()
    }

    /// Checks one branch and makes its scalar ports.
    pub fn branch(
        &mut self,
        id: ElementId,
        instance: &'a Instance,
        port: Option<&'a Name>,
        expected: Option<(DomainId, &'a Name)>,
        tail: End,
        head: End,
    ) -> bool {
        let span = tail.span.to(head.span);
        if tail.view == head.view {
            let what = if tail.view.is_ground() {
                "the reference"
            } else {
                "the same node"
            };
            let diagnostic = Diagnostic::error(
                Code::LGM0307,
                format!("both ends of `{}` are {what}", instance.declared.name.text),
            )
            .label(span, "this branch starts and ends at the same node")
            .help("connect one of its ends to another node");
            self.report(diagnostic);
            return false;
        }
        if let (Some(a), Some(b)) = (tail.domain, head.domain)
            && a != b
        {
            let (a, b) = (self.domain_name(a), self.domain_name(b));
            let diagnostic = Diagnostic::error(
                Code::LGM0303,
                format!("a branch connects {} and {} node", article(&a), article(&b)),
            )
            .label(tail.span, format!("this is {a}"))
            .label(head.span, format!("this is {b}"))
            .help("domains are coupled by `Transformer`, `Gyrator` or an element with two ports");
            self.report(diagnostic);
            return false;
        }
        let found = tail.domain.or(head.domain);
        if let (Some(found), Some((wanted, declared))) = (found, expected)
            && found != wanted
        {
            let (found, wanted) = (self.domain_name(found), self.domain_name(wanted));
            let node = if tail.domain.is_some() { tail.span } else { head.span };
            let diagnostic = Diagnostic::error(
                Code::LGM0303,
                format!("{} element connects {} nodes", article(&wanted), found),
            )
            .label(node, format!("this node is {found}"))
            .label(instance.kind.span, format!("`{}` is {wanted}", instance.kind.text))
            .label(declared.span, "declared here")
            .help(format!(
                "use an element of the domain {found}, or change the node's domain"
            ));
            self.report(diagnostic);
            return false;
        }
        let both = !tail.view.is_ground() && !head.view.is_ground();
        if both && (tail.width != head.width || tail.vector != head.vector) {
            let words = |end: &End| match end.vector {
                true => format!("a vector node of width {}", end.width),
                false => "a scalar node".to_string(),
            };
            let (a, b) = (words(&tail), words(&head));
            let diagnostic = Diagnostic::error(Code::LGM0202, format!("a branch connects {a} and {b}"))
                .label(tail.span, format!("this is {a}"))
                .label(head.span, format!("this is {b}"))
                .help("both ends of a branch have the same width; one entry of a vector node is `q[1]`");
            self.report(diagnostic);
            return false;
        }
        let width = tail.width.max(head.width).max(1);
        let vector = tail.vector || head.vector;
        let name = port.map(|port| port.text.clone());
        for entry in 0..width {
            let node = |end: &End| (!end.view.is_ground()).then(|| NodeId(end.view.base + entry));
            let (from, to) = (node(&tail), node(&head));
            self.graph.branching.join(from, to);
            self.graph.model.graph.ports.push(Port {
                element: id,
                name: name.clone(),
                entry: vector.then_some(entry + 1),
                domain: found,
                connection: Connection::Branch { from, to, span },
            });
        }
        true
    }
}
