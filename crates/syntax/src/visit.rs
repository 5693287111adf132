//! Traversal of the tree: the parts of a statement or an expression, one level at a time. To go deeper, call again.

use crate::ast::{Action, Attribute, Declared, Expr, ExprKind, Instance, Item, Statement, StatementKind, When};
use lgm_source::Span;

impl Item {
    /// Returns the whole item, without its `///` lines.
    pub fn span(&self) -> Span {
        match self {
            Item::Import(import) => import.span,
            Item::Domain(domain) => domain.span,
            Item::Element(element) => element.span,
            Item::Component(component) => component.span,
            Item::Modal(modal) => modal.span,
            Item::Model(model) => model.span,
            Item::Function(function) => function.span,
            Item::Const(constant) => constant.span,
        }
    }
}

impl When {
    /// Returns true for `when initially { .. }`.
    pub fn is_initial(&self) -> bool {
        matches!(&self.condition.kind, ExprKind::Name(name) if &*name.text == "initially")
    }
}

/// Calls `visit` for each statement of a body, and for those in its loops and conditions, in text order.
pub fn statements<'a>(body: &'a [Statement], visit: &mut dyn FnMut(&'a Statement)) {
    for statement in body {
        visit(statement);
        child_statements(statement, &mut |body| statements(body, visit));
    }
}

/// Returns the first match in the statements of a body, including those in its loops and conditions, in source order.
pub fn find_in_statements<'a, T>(body: &'a [Statement], find: &mut dyn FnMut(&'a Statement) -> Option<T>) -> Option<T> {
    body.iter().find_map(|statement| {
        let mut found = find(statement);
        child_statements(statement, &mut |body| {
            if found.is_none() {
                found = find_in_statements(body, find);
            }
        });
        found
    })
}

/// Calls `visit` for each body inside of a statement.
pub fn child_statements<'a>(statement: &'a Statement, visit: &mut dyn FnMut(&'a [Statement])) {
    match &statement.kind {
        StatementKind::For(each) => visit(&each.body),
        StatementKind::If(choice) => {
            choice.branches.iter().for_each(|branch| visit(&branch.1));
            visit(&choice.otherwise);
        }
        _ => {}
    }
}

/// Calls `visit` for each expression of a statement, except those in nested bodies.
pub fn statement_expressions<'a>(statement: &'a Statement, visit: &mut dyn FnMut(&'a Expr)) {
    let of_attributes = |list: &'a [Attribute], visit: &mut dyn FnMut(&'a Expr)| {
        list.iter().for_each(|attribute| visit(&attribute.value));
    };
    match &statement.kind {
        StatementKind::Node(junctions) | StatementKind::Zero(junctions) | StatementKind::One(junctions) => {
            junctions.names.iter().for_each(|declared| sizes(declared, visit));
            of_attributes(&junctions.attributes, visit);
        }
        StatementKind::Port(ports) => ports.iter().for_each(|port| sizes(&port.declared, visit)),
        StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) => {
            assigned.value.iter().for_each(visit);
        }
        StatementKind::Signal(indexed)
        | StatementKind::Output(indexed)
        | StatementKind::State(indexed)
        | StatementKind::Discrete(indexed) => {
            sizes(&indexed.declared, visit);
            visit(&indexed.value);
            of_attributes(&indexed.attributes, visit);
        }
        StatementKind::Instance(instance) => instance_expressions(instance, visit),
        StatementKind::Chain(ends) => ends.iter().for_each(visit),
        StatementKind::For(each) => [&each.from, &each.to].into_iter().for_each(visit),
        StatementKind::If(choice) => choice.branches.iter().for_each(|branch| visit(&branch.0)),
        StatementKind::Experiment(settings) => of_attributes(settings, visit),
        StatementKind::When(when) => {
            if !when.is_initial() {
                visit(&when.condition);
            }
            action_expressions(&when.body, visit);
        }
        StatementKind::Every(every) => {
            visit(&every.period);
            every.first.iter().for_each(|first| visit(&first.1));
            action_expressions(&every.body, visit);
        }
        StatementKind::Table(table) => {
            visit(&table.value);
            of_attributes(&table.attributes, visit);
        }
        StatementKind::Faulty(faulty) => faulty.uses.iter().for_each(visit),
    }
}

/// Calls `visit` for each expression of actions, including targets of assignments, in text order.
pub fn action_expressions<'a>(actions: &'a [Action], visit: &mut dyn FnMut(&'a Expr)) {
    for action in actions {
        match action {
            Action::Assign(assignment) => {
                visit(&assignment.target);
                visit(&assignment.value);
            }
            Action::If(choice) => {
                for (condition, body) in &choice.branches {
                    visit(condition);
                    action_expressions(body, visit);
                }
                action_expressions(&choice.otherwise, visit);
            }
        }
    }
}

/// Calls `visit` for each size or index in the brackets of a declared name.
fn sizes<'a>(declared: &'a Declared, visit: &mut dyn FnMut(&'a Expr)) {
    declared.brackets.iter().flatten().for_each(visit);
}

fn instance_expressions<'a>(instance: &'a Instance, visit: &mut dyn FnMut(&'a Expr)) {
    sizes(&instance.declared, visit);
    instance.arguments.iter().for_each(|argument| visit(&argument.value));
    for binding in instance.bindings.iter().flatten() {
        visit(&binding.value);
    }
    for (from, to) in &instance.branches {
        visit(from);
        visit(to);
    }
    instance.attributes.iter().for_each(|attribute| visit(&attribute.value));
}

/// Calls `visit` for each direct subexpression of an expression.
pub fn child_expressions<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Number(..) | ExprKind::Text(_) | ExprKind::Name(_) | ExprKind::Missing => {}
        ExprKind::Member(base, _) | ExprKind::Negate(base) | ExprKind::Not(base) | ExprKind::InUnit(base, _) => {
            visit(base)
        }
        ExprKind::Index(base, indices) => {
            visit(base);
            indices.iter().for_each(visit);
        }
        ExprKind::Call(_, arguments) => arguments.iter().for_each(|argument| visit(&argument.value)),
        ExprKind::Over(over) => [&over.from, &over.to, &over.body].into_iter().for_each(visit),
        ExprKind::List(list, _) | ExprKind::Power(list) | ExprKind::And(list) | ExprKind::Or(list) => {
            list.iter().for_each(visit);
        }
        ExprKind::Sum(terms) | ExprKind::Product(terms) => terms.iter().for_each(|term| visit(&term.1)),
        ExprKind::Compare(_, left, right) | ExprKind::Bond(left, right) => {
            visit(left);
            visit(right);
        }
        ExprKind::If(branches, otherwise) => {
            for (condition, value) in branches {
                visit(condition);
                visit(value);
            }
            visit(otherwise);
        }
    }
}
