//! Arguments and port bindings of instances.

use crate::context::words::shape_words;
use crate::context::{AtPlace, GraphPart, NodeShape, NodeView, Place};
use crate::expand::Expansion;
use crate::syntax_queries::{argument_for, bindings, bound_names, drawn_to_port};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Fix};
use lgm_source::nearest::corrections;
use lgm_source::words::article;
use lgm_syntax::ast::{self, Expr, ExprKind, Formal, Instance, Name, PortDecl};

/// The maximum number of suggested parameters for a misnamed argument.
const MOST_OFFERED: usize = 3;

impl<'a> Expansion<'_, 'a> {
    /// Returns true if the arguments of an instance match the formal parameters; errors are reported once per statement.
    pub fn check_arguments(
        &mut self,
        instance: &'a Instance,
        formals: &'a [Formal],
        definition: &'a Name,
        ports: &[&str],
        has_value: &dyn Fn(&str) -> bool,
    ) -> bool {
        let names = || formals.iter().map(|formal| &*formal.name.text);
        let signature = || format!("{}({})", definition.text, names().collect::<Vec<_>>().join(", "));
        let mut good = true;
        for (at, argument) in instance.arguments.iter().enumerate() {
            let position = match &argument.name {
                None => at,
                Some(name) => match formals.iter().position(|formal| formal.name.text == name.text) {
                    Some(position) => position,
                    // The ports of a component without parameters may be given directly: `S (p = x)`.
                    None if instance.bindings.is_none() && ports.contains(&&*name.text) => continue,
                    None => {
                        let all = names().chain(ports.iter().copied());
                        self.no_such_parameter(instance, formals, definition, at, all);
                        good = false;
                        continue;
                    }
                },
            };
            if position >= formals.len() {
                if let Some(diagnostic) = self.decimal_comma(instance, at) {
                    self.report(diagnostic);
                    good = false;
                    break;
                }
                let diagnostic =
                    Diagnostic::error(Code::LGM0132, format!("too many arguments for `{}`", definition.text))
                        .label(argument.value.span, "this argument is not expected")
                        .label(definition.span, "declared here")
                        .help(format!("its parameters are `{}`", signature()));
                self.report(diagnostic);
                good = false;
                break;
            }
            let earlier = instance.arguments[..at]
                .iter()
                .enumerate()
                .find(|(before, other)| match &other.name {
                    None => *before == position,
                    Some(name) => name.text == formals[position].name.text,
                });
            if let Some((_, other)) = earlier {
                let name = &formals[position].name.text;
                let diagnostic = Diagnostic::error(Code::LGM0133, format!("the parameter `{name}` is given twice"))
                    .label(argument.value.span, "given again here")
                    .label(other.value.span, "first given here")
                    .help("remove one of the two");
                self.report(diagnostic);
                good = false;
            }
        }
        for (at, formal) in formals.iter().enumerate() {
            if formal.default.is_none()
                && good
                && argument_for(instance, formal, at).is_none()
                && !has_value(&formal.name.text)
            {
                let diagnostic = Diagnostic::error(
                    Code::LGM0134,
                    format!(
                        "`{}` requires a value for `{}`",
                        instance.declared.name.text, formal.name.text
                    ),
                )
                .label(instance.kind.span, format!("`{}` is missing", formal.name.text))
                .label(formal.name.span, "declared here, without a default")
                .help(format!(
                    "write a value for it: `{}({} = ..)`",
                    definition.text, formal.name.text
                ));
                self.report(diagnostic);
                good = false;
            }
        }
        good
    }

    /// Returns the error of a number with a decimal comma, `1,5 [uF]`, which reads as two arguments.
    fn decimal_comma(&self, instance: &Instance, at: usize) -> Option<Diagnostic> {
        let (before, after) = (&instance.arguments[at.checked_sub(1)?], &instance.arguments[at]);
        let (ExprKind::Number(whole, None), ExprKind::Number(..)) = (&before.value.kind, &after.value.kind) else {
            return None;
        };
        let is_adjacent = after.name.is_none() && after.value.span.start == before.value.span.end + 1;
        let digits = self.sources.slice(after.value.span);
        let number = format!("{whole}.{digits}");
        let span = before.value.span.to(after.value.span);
        (is_adjacent && digits.starts_with(|letter: char| letter.is_ascii_digit())).then(|| {
            Diagnostic::error(Code::LGM0132, "numbers have a decimal point")
                .label(span, "this comma separates two values")
                .help(format!("write `{number}`"))
                .fix(format!("write `{number}`"), span, number)
        })
    }

    /// Reports a named argument without a matching parameter.
    fn no_such_parameter<'n>(
        &mut self,
        instance: &Instance,
        formals: &'n [Formal],
        definition: &Name,
        at: usize,
        all: impl Iterator<Item = &'n str> + Clone,
    ) {
        let argument = &instance.arguments[at];
        let Some(name) = &argument.name else { return };
        let mut diagnostic = Diagnostic::error(
            Code::LGM0131,
            format!("`{}` has no parameter `{}`", definition.text, name.text),
        )
        .label(name.span, "no such parameter")
        .label(definition.span, "declared here");
        if is_word_of_starts(&name.text) {
            let of = &instance.declared.name.text;
            let value = self.sources.slice(argument.value.span);
            diagnostic.fixes = behind(instance, at, name, value).into_iter().collect();
            diagnostic.help = Some(format!(
                "`start` follows the element: `{of} : {}(..), start = ..;`",
                definition.text
            ));
        } else {
            diagnostic.fixes = misnamed(instance, formals, at, name, all.clone());
            diagnostic.help = lgm_source::nearest::did_you_mean(&name.text, all)
                .or_else(|| Some(format!("write `{}()`: it has no values", definition.text)));
        }
        self.report(diagnostic);
    }

    /// Checks that the bindings of a component name its ports; the ports themselves are bound at their declarations.
    pub fn check_bindings(&mut self, instance: &'a Instance, component: &'a ast::Component) {
        if let Some((from, to)) = instance.branches.first() {
            let diagnostic = Diagnostic::error(
                Code::LGM0316,
                format!("the component `{}` is not a branch", component.name.text),
            )
            .label(from.span.to(to.span), "a branch is written here")
            .label(component.name.span, "this is a component")
            .help(format!(
                "bind its ports: `{} : {}(..) ({});`",
                instance.declared.name.text,
                component.name.text,
                bound_names(component)
                    .into_iter()
                    .map(|name| format!("{name} = .."))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
            self.report(diagnostic);
        }
        for binding in instance.bindings.iter().flatten() {
            let names = bound_names(component);
            if !names.contains(&&*binding.name.text) {
                let mut diagnostic = Diagnostic::error(
                    Code::LGM0135,
                    format!("`{}` has no port or input `{}`", component.name.text, binding.name.text),
                )
                .label(binding.name.span, "no such port or input")
                .label(component.name.span, "declared here");
                diagnostic.help = lgm_source::nearest::did_you_mean(&binding.name.text, names);
                self.report(diagnostic);
            }
        }
        if let Some(attribute) = instance.attributes.first() {
            let diagnostic = Diagnostic::error(Code::LGM0136, format!("a component has no `{}`", attribute.name.text))
                .label(attribute.name.span, "only allowed on a storage element")
                .help("give the component a parameter for it, and use that parameter inside");
            self.report(diagnostic);
        }
    }

    /// Declares a port of a component as the node that the instance binds it to.
    pub fn component_port(&mut self, port: &'a PortDecl, place: Place) {
        let name = &port.declared.name;
        let about = self.scopes.frames[place.frame.0 as usize];
        let Some(shape) = self.node_shape(&port.declared, place) else {
            return self.set_part(name, None, GraphPart::Failed, place);
        };
        let domain = match &port.domain {
            Some(written) => match self.domain(written) {
                Some(domain) => Some(domain),
                None => return self.set_part(name, None, GraphPart::Failed, place),
            },
            None => None,
        };
        let Some(instance) = about.instance else {
            // `names` has reported a port in a model.
            return self.set_part(name, None, GraphPart::Failed, place);
        };
        // Bindings are evaluated where the instance is created.
        let part = self.at(about.outer, |this| {
            this.bound_port(port, instance, &shape, domain, about.outer)
        });
        let part = match about.path.filter(|path| self.is_opened(*path)) {
            Some(path) => self.open(port, path, part),
            None => part,
        };
        self.set_part(name, None, part, place);
    }

    fn bound_port(
        &mut self,
        port: &'a PortDecl,
        instance: &'a Instance,
        shape: &NodeShape,
        domain: Option<lgm_model::DomainId>,
        outer: Place,
    ) -> GraphPart {
        let name = &port.declared.name;
        let mut matching = bindings(instance).filter(|binding| binding.0.text == name.text);
        let (first, second) = (matching.next(), matching.next());
        match first {
            Some(binding) => {
                if let Some(again) = second {
                    let diagnostic =
                        Diagnostic::error(Code::LGM0133, format!("the port `{}` is bound twice", name.text))
                            .label(again.0.span, "bound again here")
                            .label(binding.0.span, "first bound here")
                            .help("remove one of the two");
                    self.report(diagnostic);
                }
                self.bound(binding.1, port, shape, domain, outer)
            }
            // Written as a branch, which is reported: it gives the nodes, but not the ports.
            None if !instance.branches.is_empty() => GraphPart::Failed,
            None => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0302,
                    format!(
                        "the port `{}` of `{}` is not connected",
                        name.text, instance.declared.name.text
                    ),
                )
                .label(instance.declared.span, format!("nothing is bound to `{}`", name.text))
                .label(name.span, "the port is declared here");
                let body = &self.scopes.bodies[self.scopes.frames[outer.frame.0 as usize].body as usize];
                let drawn = drawn_to_port(body.statements, &instance.declared.name.text, &name.text);
                let diagnostic = match drawn {
                    Some(span) => diagnostic
                        .label(span, "no bond can end at the port of a component")
                        .help(format!(
                            "bind it to a junction in parentheses after the parameters, `({} = J)`, and draw the \
                             bonds to `J`",
                            name.text
                        )),
                    None => diagnostic.help(format!(
                        "write `({} = ..)` after the parameters, with a node or `gnd`",
                        name.text
                    )),
                };
                self.report(diagnostic);
                GraphPart::Failed
            }
        }
    }

    fn bound(
        &mut self,
        bound: &'a Expr,
        port: &'a PortDecl,
        shape: &NodeShape,
        domain: Option<lgm_model::DomainId>,
        outer: Place,
    ) -> GraphPart {
        if let ExprKind::List(nodes, None) = &bound.kind {
            return self.bound_list(bound, nodes, port, shape, domain, outer);
        }
        if let ExprKind::Name(name) = &bound.kind
            && let Some(slot) = self.scopes.part_slot(&name.text, outer.frame)
            && let GraphPart::Indexed(map) = &self.scopes.parts[slot]
            && map.values().all(|entry| matches!(entry, GraphPart::Nodes(_)))
        {
            // A port of the outer component that is itself bound to a list is passed on completely.
            let given: Vec<NodeView> = (1..=map.len() as i64)
                .filter_map(|at| match map.get(&(at, 0)) {
                    Some(GraphPart::Nodes(view)) => Some(*view),
                    _ => None,
                })
                .collect();
            let entries = self.entry_shape(bound, given.len(), port, shape);
            let Some(each) = entries else {
                return GraphPart::Failed;
            };
            let views = given
                .into_iter()
                .map(|view| self.fits(view, bound, port, &each, domain));
            return listed(views.collect());
        }
        let view = match self.graph_part(bound, outer) {
            GraphPart::Nodes(view) => view,
            GraphPart::Failed | GraphPart::Absent => return GraphPart::Failed,
            _ => {
                let diagnostic = Diagnostic::error(Code::LGM0118, "a port must be bound to a node")
                    .label(bound.span, "this is not a node")
                    .label(port.declared.span, "the port is declared here")
                    .help("bind it to a node of this model, to a node inside an instance (`cell.m`), or to `gnd`");
                self.report(diagnostic);
                return GraphPart::Failed;
            }
        };
        self.fits(view, bound, port, shape, domain)
    }

    /// Binds an array port to a list of nodes: `point = [a, b]`.
    fn bound_list(
        &mut self,
        bound: &'a Expr,
        nodes: &'a [Expr],
        port: &'a PortDecl,
        shape: &NodeShape,
        domain: Option<lgm_model::DomainId>,
        outer: Place,
    ) -> GraphPart {
        let Some(each) = self.entry_shape(bound, nodes.len(), port, shape) else {
            return GraphPart::Failed;
        };
        let bound = nodes.iter().map(|node| self.bound(node, port, &each, domain, outer));
        listed(bound.collect())
    }

    /// Returns the shape of each entry of an array port of this size; an error is reported.
    fn entry_shape(
        &mut self,
        bound: &'a Expr,
        count: usize,
        port: &'a PortDecl,
        shape: &NodeShape,
    ) -> Option<NodeShape> {
        if let [size] = shape.sizes[..]
            && size == count as i64
        {
            return Some(NodeShape {
                sizes: Vec::new(),
                ..shape.clone()
            });
        }
        let given = match count {
            1 => "a list of one node".to_string(),
            _ => format!("a list of {count} nodes"),
        };
        let wanted = shape_words(shape);
        let diagnostic = Diagnostic::error(Code::LGM0202, format!("{given} is bound to {wanted}"))
            .label(bound.span, format!("this is {given}"))
            .label(port.declared.span, format!("the port is {wanted}"))
            .help(match shape.sizes[..] {
                [size] => format!("name one node for each entry of the port: {size}"),
                _ => "a list of nodes can only be bound to an array port, such as `port p[2] : electrical`".to_string(),
            });
        self.report(diagnostic);
        None
    }

    /// Returns the node as the port, if their shapes and domains match; errors are reported.
    fn fits(
        &mut self,
        view: NodeView,
        bound: &'a Expr,
        port: &'a PortDecl,
        shape: &NodeShape,
        domain: Option<lgm_model::DomainId>,
    ) -> GraphPart {
        if view.is_ground() {
            return GraphPart::Nodes(view);
        }
        let given = &self.scopes.shapes[view.shape as usize];
        if given.width != shape.width || given.sizes != shape.sizes {
            let (given, wanted) = (shape_words(given), shape_words(shape));
            let diagnostic = Diagnostic::error(Code::LGM0202, format!("{given} is bound to {wanted}"))
                .label(bound.span, format!("this is {given}"))
                .label(port.declared.span, format!("the port is {wanted}"))
                .help("bind a node with the shape of the port; one entry of an array or a vector node is `v[1]`");
            self.report(diagnostic);
            return GraphPart::Failed;
        }
        let node = self.graph.model.graph.nodes.get(view.base as usize);
        if let (Some(wanted), Some(found)) = (domain, node.and_then(|node| node.domain))
            && wanted != found
        {
            let name = |id: lgm_model::DomainId| self.graph.model.graph.domains[id.index()].name.clone();
            let (found, wanted) = (name(found), name(wanted));
            let diagnostic = Diagnostic::error(
                Code::LGM0303,
                format!("{} node is bound to {} port", article(&found), article(&wanted)),
            )
            .label(bound.span, format!("this is {found}"))
            .label(port.declared.span, format!("the port is {wanted}"))
            .help(format!(
                "bind a node declared `: {wanted}`, or insert a `Transformer` or `Gyrator` between the two \
                domains"
            ));
            self.report(diagnostic);
            return GraphPart::Failed;
        }
        GraphPart::Nodes(NodeView {
            base: view.base,
            shape: view.shape,
        })
    }
}

/// Returns the entries of a port that is bound to a list, by their indices.
fn listed(entries: Vec<GraphPart>) -> GraphPart {
    if entries.iter().any(|entry| matches!(entry, GraphPart::Failed)) {
        return GraphPart::Failed;
    }
    let entries = entries.into_iter().enumerate();
    GraphPart::Indexed(Box::new(
        entries.map(|(at, entry)| ((at as i64 + 1, 0), entry)).collect(),
    ))
}

/// Returns true for a common name of initial values in other tools: `p0`, `ic`, `initial`.
fn is_word_of_starts(name: &str) -> bool {
    let word = name.to_ascii_lowercase();
    matches!(
        word.as_str(),
        "ic" | "init" | "initial" | "start" | "p0" | "q0" | "v0" | "x0" | "i0" | "u0" | "w0"
    )
}

/// Returns changes of an argument with an unknown name: to a similar name, to the name of a missing argument, or the removal of the
/// argument.
fn misnamed<'n>(
    instance: &Instance,
    formals: &'n [Formal],
    at: usize,
    name: &Name,
    all: impl Iterator<Item = &'n str>,
) -> Box<[Fix]> {
    let mut fixes = corrections(name.span, &name.text, all).into_vec();
    if fixes.is_empty() {
        let open = formals
            .iter()
            .enumerate()
            .filter(|(place, formal)| argument_for(instance, formal, *place).is_none());
        fixes.extend(open.take(MOST_OFFERED).map(|(_, formal)| Fix {
            title: format!("write `{}`", formal.name.text),
            edits: vec![(name.span, formal.name.text.to_string())],
        }));
    }
    fixes.push(Fix {
        title: format!("remove `{}`", name.text),
        edits: vec![(without(instance, at), String::new())],
    });
    fixes.into()
}

/// Returns the change that moves an initial value from the arguments to the end of the statement.
fn behind(instance: &Instance, at: usize, name: &Name, value: &str) -> Option<Fix> {
    if !matches!(&*name.text, "start" | "init" | "initial" | "ic") {
        return None;
    }
    let last = instance.branches.last()?.1.span;
    let end = instance
        .attributes
        .last()
        .map_or(last, |attribute| attribute.value.span)
        .end;
    let place = Span {
        start: end,
        end,
        ..last
    };
    Some(Fix {
        title: "write the initial value after the element".to_string(),
        edits: vec![
            (without(instance, at), String::new()),
            (place, format!(", start = {value}")),
        ],
    })
}

/// Returns the range of an argument, with its comma.
fn without(instance: &Instance, at: usize) -> Span {
    let argument = &instance.arguments[at];
    let own = argument.name.as_ref().map_or(argument.value.span, |name| name.span);
    let start_of = |argument: &ast::Argument| {
        let name = argument.name.as_ref();
        name.map_or(argument.value.span.start, |name| name.span.start)
    };
    let (start, end) = match (at.checked_sub(1), instance.arguments.get(at + 1)) {
        (_, Some(next)) => (own.start, start_of(next)),
        (Some(before), None) => (instance.arguments[before].value.span.end, argument.value.span.end),
        (None, None) => (own.start, argument.value.span.end),
    };
    Span { start, end, ..own }
}
