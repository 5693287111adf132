//! Queries that need only the syntax tree: the arguments of an instance, the declarations of a body, and their
//! locations.

use lgm_source::Span;
use lgm_syntax::ast::{self, Expr, ExprKind, Formal, Instance, Name, Statement, StatementKind};
use lgm_syntax::visit::{child_expressions, find_in_statements, statements};

/// Returns the argument that an instance gives for a formal parameter.
pub(crate) fn argument_for<'a>(instance: &'a ast::Instance, formal: &Formal, at: usize) -> Option<&'a Expr> {
    let named = instance.arguments.iter().find(|argument| match &argument.name {
        Some(name) => name.text == formal.name.text,
        None => false,
    });
    let argument = named.or_else(|| instance.arguments.get(at).filter(|argument| argument.name.is_none()));
    argument.map(|argument| &argument.value)
}

/// Returns the argument of an instance with this name.
pub(crate) fn argument<'a>(instance: &'a Instance, name: &str) -> Option<&'a Expr> {
    let named = instance.arguments.iter();
    named
        .filter(|argument| argument.name.as_ref().is_some_and(|given| &*given.text == name))
        .map(|argument| &argument.value)
        .next()
}

/// Returns the names of a component's ports, including those in conditions.
pub(crate) fn port_names(component: &ast::Component) -> Vec<&str> {
    let mut names = Vec::new();
    statements(&component.body, &mut |statement| {
        if let StatementKind::Port(list) = &statement.kind {
            names.extend(list.iter().map(|port| &*port.declared.name.text));
        }
    });
    names
}

/// Returns the names of a component's inputs, including those in conditions.
pub(crate) fn input_names(component: &ast::Component) -> Vec<&str> {
    let mut names = Vec::new();
    statements(&component.body, &mut |statement| {
        if let StatementKind::Input(assigned) = &statement.kind {
            names.push(&*assigned.name.text);
        }
    });
    names
}

/// Returns the names that an instance of a component binds: its ports and inputs.
pub(crate) fn bound_names(component: &ast::Component) -> Vec<&str> {
    let mut names = port_names(component);
    names.extend(input_names(component));
    names
}

/// Returns the bindings of a component's ports and inputs: in separate parentheses, or among the parameters.
pub(crate) fn bindings(instance: &Instance) -> impl Iterator<Item = (&Name, &Expr)> {
    let alone: &[ast::Argument] = match instance.bindings {
        None => &instance.arguments,
        Some(_) => &[],
    };
    let alone = alone
        .iter()
        .filter_map(|argument| Some((argument.name.as_ref()?, &argument.value)));
    let own = instance
        .bindings
        .iter()
        .flatten()
        .map(|binding| (&binding.name, &binding.value));
    own.chain(alone)
}

/// Returns the locations at which the statements of a body declare a name, in all branches.
pub(crate) fn declared_at(statements: &[Statement], name: &str) -> Option<Span> {
    let is = |declared: &Name| (*declared.text == *name).then_some(declared.span);
    find_in_statements(statements, &mut |statement| match &statement.kind {
        StatementKind::Node(list) | StatementKind::Zero(list) | StatementKind::One(list) => {
            list.names.iter().find_map(|declared| is(&declared.name))
        }
        StatementKind::Port(list) => list.iter().find_map(|port| is(&port.declared.name)),
        StatementKind::Instance(instance) => is(&instance.declared.name),
        StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) => {
            is(&assigned.name)
        }
        StatementKind::Signal(indexed) | StatementKind::State(indexed) | StatementKind::Discrete(indexed) => {
            is(&indexed.declared.name)
        }
        StatementKind::Faulty(faulty) => faulty.declared.as_ref().and_then(is),
        _ => None,
    })
}

/// Returns the bonds of a body that end at a port of one of its instances, `m.el`.
pub(crate) fn drawn_to_port(statements: &[Statement], instance: &str, port: &str) -> Option<Span> {
    find_in_statements(statements, &mut |statement| match &statement.kind {
        StatementKind::Chain(list) => list.iter().find_map(|end| match &end.kind {
            ExprKind::Member(owner, name) => {
                let is_owner = matches!(&owner.kind, ExprKind::Name(found) if &*found.text == instance);
                (is_owner && &*name.text == port).then_some(end.span)
            }
            _ => None,
        }),
        _ => None,
    })
}

/// Visits the direct parts of an expression that are values; the ends of a bond are names of the graph and are skipped.
pub(crate) fn value_parts<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    if !matches!(expr.kind, ExprKind::Bond(..)) {
        child_expressions(expr, visit);
    }
}
