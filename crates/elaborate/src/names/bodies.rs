//! Names in expressions: each must be declared in a scope around its use.

mod units;

use crate::function_table::{MEASURES, PORT_VARIABLES, is_function};
use crate::names::checker::Checker;
use crate::names::functions::check_function;
use crate::program::Program;
use crate::program::mode_table::{csv_use, table_use};
use crate::syntax_queries::{bound_names, input_names, value_parts};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Fix};
use lgm_source::nearest::{corrections, did_you_mean, suggestion};
use lgm_syntax::ast::{self, Argument, Attribute, Expr, ExprKind, Formal, Instance, Name, Statement, StatementKind};
use lgm_syntax::visit::{action_expressions, statements};
use rustc_hash::FxHashSet;

/// Words for the reference node in other languages.
const GROUNDS: [&str; 5] = ["gnd", "ground", "earth", "vss", "reference"];

/// The names of a body.
pub(crate) struct Scope<'a> {
    owner: &'a Name,
    is_component: bool,
    values: FxHashSet<&'a str>,
    parts: FxHashSet<&'a str>,
    outputs: FxHashSet<&'a str>,
    tables: FxHashSet<&'a str>,
}

impl<'a> Scope<'a> {
    pub fn new(statements: &'a [Statement], formals: &'a [Formal], owner: &'a Name, is_component: bool) -> Scope<'a> {
        let mut scope = Scope {
            owner,
            is_component,
            values: formals.iter().map(|formal| &*formal.name.text).collect(),
            parts: FxHashSet::default(),
            outputs: FxHashSet::default(),
            tables: FxHashSet::default(),
        };
        scope.collect(statements);
        scope
    }

    fn collect(&mut self, body: &'a [Statement]) {
        statements(body, &mut |statement| match &statement.kind {
            StatementKind::Node(list) | StatementKind::Zero(list) | StatementKind::One(list) => {
                self.parts
                    .extend(list.names.iter().map(|declared| &*declared.name.text));
            }
            StatementKind::Port(list) => self.parts.extend(list.iter().map(|port| &*port.declared.name.text)),
            StatementKind::Instance(instance) => {
                self.parts.insert(&instance.declared.name.text);
            }
            StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) => {
                self.values.insert(&assigned.name.text);
            }
            StatementKind::Signal(indexed) | StatementKind::State(indexed) | StatementKind::Discrete(indexed) => {
                self.values.insert(&indexed.declared.name.text);
            }
            StatementKind::Faulty(faulty) => self.parts.extend(faulty.declared.iter().map(|name| &*name.text)),
            StatementKind::Output(indexed) => {
                self.outputs.insert(&indexed.declared.name.text);
            }
            StatementKind::Table(table) => {
                self.tables.insert(&table.name.text);
            }
            StatementKind::Chain(_)
            | StatementKind::Experiment(_)
            | StatementKind::When(_)
            | StatementKind::Every(_)
            | StatementKind::For(_)
            | StatementKind::If(_) => {}
        });
    }
}

/// Checks the names in a body.
pub(crate) fn check_body<'a>(checker: &mut Checker<'a>, statements: &'a [Statement], scope: &Scope<'a>) {
    let mut walk = Walk {
        checker,
        scope,
        indices: Vec::new(),
        in_chain: false,
        in_block: false,
    };
    walk.statements(statements);
}

/// Checks the names in an expression outside the model that replaces a value of the model.
pub(crate) fn check_value<'a>(
    program: &'a Program,
    sources: &'a SourceMap,
    model: &'a ast::Model,
    expr: &'a Expr,
) -> Vec<Diagnostic> {
    let mut checker = Checker::new(program, sources);
    let scope = Scope::new(&model.body, &[], &model.name, false);
    let mut walk = Walk {
        checker: &mut checker,
        scope: &scope,
        indices: Vec::new(),
        in_chain: false,
        in_block: false,
    };
    walk.value(expr);
    checker.into_diagnostics()
}

struct Walk<'c, 'a> {
    checker: &'c mut Checker<'a>,
    scope: &'c Scope<'a>,
    /// Loop indices around the location.
    indices: Vec<&'a str>,
    /// True if the location is a chain of bonds.
    in_chain: bool,
    /// True inside the assignments of a block.
    in_block: bool,
}

impl<'a> Walk<'_, 'a> {
    fn statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Node(list) | StatementKind::Zero(list) | StatementKind::One(list) => {
                    for declared in &list.names {
                        self.brackets(declared);
                    }
                    self.attributes(&list.attributes);
                }
                StatementKind::Port(list) => {
                    for port in list {
                        self.brackets(&port.declared);
                    }
                }
                StatementKind::Input(assigned)
                    if assigned.value.as_ref().is_some_and(|value| csv_use(value).is_some()) =>
                {
                    let value = assigned.value.iter();
                    value.for_each(|value| check_csv(self.checker, value));
                }
                StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) => {
                    if let Some(value) = &assigned.value {
                        self.value(value);
                    }
                }
                StatementKind::Signal(indexed)
                | StatementKind::State(indexed)
                | StatementKind::Output(indexed)
                | StatementKind::Discrete(indexed) => {
                    if !self.has_unit_as_index(&indexed.declared) {
                        self.brackets(&indexed.declared);
                    }
                    self.value(&indexed.value);
                    self.attributes(&indexed.attributes);
                }
                StatementKind::Instance(instance) => self.instance(instance),
                StatementKind::Chain(list) => {
                    self.in_chain = true;
                    list.iter().for_each(|expr| self.graph_part(expr));
                    self.in_chain = false;
                }
                StatementKind::For(block) => {
                    self.value(&block.from);
                    self.value(&block.to);
                    self.indices.push(&block.index.text);
                    self.statements(&block.body);
                    self.indices.pop();
                }
                StatementKind::If(block) => {
                    for (condition, body) in &block.branches {
                        self.value(condition);
                        self.statements(body);
                    }
                    self.statements(&block.otherwise);
                }
                StatementKind::Experiment(attributes) => {
                    // Outputs and methods have separate namespaces, which are searched when the run is set up.
                    let values = attributes.iter();
                    let values = values.filter(|entry| !matches!(&*entry.name.text, "plot" | "method"));
                    values.for_each(|entry| self.value(&entry.value));
                }
                StatementKind::When(when) => {
                    if !when.is_initial() {
                        self.value(&when.condition);
                    }
                    self.actions(&when.body);
                }
                StatementKind::Every(every) => {
                    self.value(&every.period);
                    every.first.iter().for_each(|first| self.value(&first.1));
                    self.actions(&every.body);
                }
                StatementKind::Table(table) => match csv_use(&table.value) {
                    Some(_) => check_csv(self.checker, &table.value),
                    None => self.value(&table.value),
                },
                // Its error is already reported, and the meanings of its names are uncertain.
                StatementKind::Faulty(_) => {}
            }
        }
    }

    fn actions(&mut self, actions: &'a [ast::Action]) {
        self.in_block = true;
        action_expressions(actions, &mut |expr| self.value(expr));
        self.in_block = false;
    }

    fn brackets(&mut self, declared: &'a ast::Declared) {
        declared.brackets.iter().flatten().for_each(|expr| self.value(expr));
    }

    /// Returns true if a name has a meaning here.
    fn knows(&self, text: &str) -> bool {
        self.is_value(text) || text == "gnd" || self.scope.parts.contains(text)
    }

    fn is_value(&self, text: &str) -> bool {
        matches!(text, "time" | "pi") || self.indices.contains(&text) || self.scope.values.contains(text)
    }

    fn attributes(&mut self, attributes: &'a [Attribute]) {
        attributes.iter().for_each(|attribute| self.value(&attribute.value));
    }

    fn instance(&mut self, instance: &'a Instance) {
        self.brackets(&instance.declared);
        for argument in &instance.arguments {
            // In `S (p = x)` the arguments are bindings of ports to names of the graph.
            let binds =
                instance.bindings.is_none() && argument.name.as_ref().is_some_and(|name| self.is_port(instance, name));
            if binds && self.is_input(instance, argument.name.as_ref()) {
                self.value(&argument.value);
            } else if binds {
                self.graph_part(&argument.value);
            } else if argument.name.as_ref().is_some_and(|name| &*name.text == "modes")
                && let Some(used) = table_use(instance)
            {
                used.arguments.iter().skip(1).for_each(|more| self.value(&more.value));
            } else if !is_switch(argument) {
                self.value(&argument.value);
            }
        }
        for binding in instance.bindings.iter().flatten() {
            match self.is_input(instance, Some(&binding.name)) {
                true => self.value(&binding.value),
                false => self.graph_part(&binding.value),
            }
        }
        for (from, to) in &instance.branches {
            self.graph_part(from);
            self.graph_part(to);
        }
        // `mode = conducting` names a mode of the element.
        let attributes = instance.attributes.iter();
        let values = attributes.filter(|attribute| &*attribute.name.text != "mode");
        values.for_each(|attribute| self.value(&attribute.value));
    }

    fn is_port(&self, instance: &Instance, name: &Name) -> bool {
        self.component(instance).is_some_and(|component| {
            bound_names(component).contains(&&*name.text)
                && !component.formals.iter().any(|formal| formal.name.text == name.text)
        })
    }

    /// Returns true if an instance binds an input of its component by this name.
    fn is_input(&self, instance: &Instance, name: Option<&Name>) -> bool {
        let component = self.component(instance);
        component
            .zip(name)
            .is_some_and(|(component, name)| input_names(component).contains(&&*name.text))
    }

    fn component(&self, instance: &Instance) -> Option<&'a ast::Component> {
        let program = self.checker.program;
        let definition = program.definition(&instance.kind.text, instance.kind.span.source)?;
        match program.item(definition) {
            ast::Item::Component(component) => Some(component),
            _ => None,
        }
    }

    /// Checks names where a node or an instance is expected.
    fn graph_part(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                let text = &*name.text;
                // A value instead of a node is reported by the evaluation.
                let is_known = text == "gnd" || self.scope.parts.contains(text) || self.scope.values.contains(text);
                if !is_known && self.checker.is_looking() && !self.checker.is_missed_again(self.scope.owner, name) {
                    let diagnostic = self.missing_part(name);
                    self.checker.miss(self.scope.owner, name, diagnostic);
                }
            }
            ExprKind::Index(base, indices) => {
                self.graph_part(base);
                indices.iter().for_each(|index| self.value(index));
            }
            ExprKind::Member(owner, _) => self.graph_part(owner),
            ExprKind::Bond(tail, head) => {
                self.graph_part(tail);
                self.graph_part(head);
            }
            ExprKind::List(nodes, _) => nodes.iter().for_each(|node| self.graph_part(node)),
            // Expressions other than names are reported by the evaluation.
            _ => {}
        }
    }

    /// Returns the error for a name that is neither a node nor an instance; none if it may be in the unreadable part of the text.
    fn missing_part(&self, name: &'a Name) -> Option<Diagnostic> {
        let text = &*name.text;
        let parts = || self.scope.parts.iter().copied();
        let owner = &self.scope.owner.text;
        let is_ground = GROUNDS.iter().any(|word| text.eq_ignore_ascii_case(word));
        let mut diagnostic = Diagnostic::error(Code::LGM0111, format!("`{owner}` has no node or instance `{text}`"))
            .label(name.span, "not declared");
        if is_ground {
            let title = "write `gnd`".to_string();
            let edits = vec![(name.span, "gnd".to_string())];
            diagnostic.fixes = vec![Fix { title, edits }].into();
            return Some(diagnostic.help("write `gnd` for the reference node, which needs no declaration"));
        }
        if self.checker.program.definition(text, name.span.source).is_some() {
            return Some(diagnostic.help(format!(
                "`{text}` is a kind of element: declare one, `name : {text}(..);`, and write its name here"
            )));
        }
        let is_damaged = self.checker.program.is_damaged;
        let is_suggesting = self.checker.is_suggesting();
        let is_asked = is_suggesting && (is_damaged || self.in_chain);
        let is_near = is_asked && suggestion(text, parts()).is_some();
        if is_damaged && !is_near {
            return None;
        }
        if self.in_chain && !is_near {
            return Some(diagnostic.help(format!(
                "declare the junction: `one {text};` for a common flow, `zero {text};` for a common effort"
            )));
        }
        if is_suggesting {
            diagnostic.fixes = corrections(name.span, text, parts());
        }
        let near = is_suggesting.then(|| did_you_mean(text, parts())).flatten();
        let declare = || format!("declare it: `node {text} : electrical;`, or an instance of this name");
        Some(diagnostic.help(near.unwrap_or_else(declare)))
    }

    /// Checks names where a value is expected.
    fn value(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name),
            ExprKind::Call(name, arguments) => self.call(name, arguments),
            ExprKind::Member(owner, _) => self.graph_part(owner),
            ExprKind::Index(base, indices) => {
                self.value(base);
                match self.misspelt_unit(indices) {
                    Some(fault) => self.checker.report(fault),
                    None => indices.iter().for_each(|index| self.value(index)),
                }
            }
            ExprKind::Over(over) => {
                self.value(&over.from);
                self.value(&over.to);
                self.indices.push(&over.index.text);
                self.value(&over.body);
                self.indices.pop();
            }
            _ => value_parts(expr, &mut |child| self.value(child)),
        }
    }

    fn name(&mut self, name: &'a Name) {
        let text = &*name.text;
        let is_constant = || self.checker.program.constant(text, name.span.source).is_some();
        if self.knows(text) || !self.checker.is_looking() || is_constant() {
            return;
        }
        let names = self
            .scope
            .values
            .iter()
            .copied()
            .chain(self.indices.iter().copied())
            .chain(["time", "pi"]);
        let owner = &self.scope.owner.text;
        let mut diagnostic = Diagnostic::error(Code::LGM0110, format!("`{owner}` declares no `{text}`"))
            .label(name.span, "not declared");
        if self.checker.is_suggesting() {
            diagnostic.fixes = corrections(name.span, text, names.clone());
        }
        diagnostic.help = Some(names)
            .filter(|_| self.checker.is_suggesting())
            .and_then(|names| did_you_mean(text, names))
            .or_else(|| {
                Some(match is_function(text) {
                    true => format!("`{text}` is a function: write its argument in parentheses"),
                    false => format!("declare it: `param {text} = ..;`"),
                })
            });
        if self.in_block && diagnostic.fixes.is_empty() && !is_function(text) {
            diagnostic.help = Some(format!("declare it: `discrete {text} = 0;`"));
        }
        if text == "t" {
            diagnostic.fixes = corrections(name.span, "time", ["time"]);
            diagnostic.help = Some("the time is `time`".to_string());
        }
        if self.scope.outputs.contains(text) {
            let help = format!(
                "an output is shown and not read: declare `signal {text} = ..;`, and `output {text} = {text};`"
            );
            (diagnostic.help, diagnostic.fixes) = (Some(help), Box::default());
        }
        if self.scope.is_component {
            diagnostic = diagnostic.note("a component sees only its own names; pass values in as parameters");
        }
        self.checker.report(diagnostic);
    }

    fn call(&mut self, name: &'a Name, arguments: &'a [Argument]) {
        check_function(self.checker, name, self.scope.tables.iter().copied());
        let measured = MEASURES.contains(&&*name.text);
        for (at, argument) in arguments.iter().enumerate() {
            if measured && at == 0 {
                self.graph_part(&argument.value);
            } else {
                self.value(&argument.value);
            }
        }
    }
}

/// Returns true for `residual = true` of a modal block: only there is `true` a keyword.
fn is_switch(argument: &Argument) -> bool {
    argument.name.as_ref().is_some_and(|name| &*name.text == "residual")
        && matches!(&argument.value.kind, ExprKind::Name(name) if matches!(&*name.text, "true" | "false"))
}

/// Checks the form of `csv("file.csv", "column")`.
fn check_csv<'a>(checker: &mut Checker<'a>, value: &'a Expr) {
    if csv_use(value).is_some_and(|used| used.is_malformed) {
        let diagnostic = Diagnostic::error(
            Code::LGM0211,
            "`csv` requires a path and, if needed, the name of a column",
        )
        .label(value.span, "not of this form")
        .help("write `csv(\"file.csv\")` or `csv(\"file.csv\", \"column\")`");
        checker.report(diagnostic);
    }
}

/// Checks the names in the law of an element.
pub(crate) fn check_law<'a>(checker: &mut Checker<'a>, element: &'a ast::Element) {
    let mut indices = Vec::new();
    let modes = element.modes.iter().flat_map(|mode| &mode.law.equations);
    for equation in element.equations.iter().chain(modes) {
        law_expr(checker, element, &equation.left, &mut indices);
        law_expr(checker, element, &equation.right, &mut indices);
    }
    for change in element.modes.iter().flat_map(|mode| &mode.changes) {
        law_expr(checker, element, &change.condition, &mut indices);
        for set in &change.sets {
            law_expr(checker, element, &set.target, &mut indices);
            law_expr(checker, element, &set.value, &mut indices);
        }
    }
    for table in &element.tables {
        match csv_use(&table.value) {
            Some(_) => check_csv(checker, &table.value),
            None => law_expr(checker, element, &table.value, &mut indices),
        }
    }
    for formal in &element.formals {
        if let Some(default) = &formal.default {
            law_expr(checker, element, default, &mut indices);
        }
    }
}

fn law_expr<'a>(checker: &mut Checker<'a>, element: &'a ast::Element, expr: &'a Expr, indices: &mut Vec<&'a str>) {
    match &expr.kind {
        ExprKind::Name(name) => {
            let text = &*name.text;
            let one_port = element.ports.is_empty();
            let known = matches!(text, "time" | "pi")
                || indices.contains(&text)
                || element.formals.iter().any(|formal| &*formal.name.text == text)
                || (one_port && PORT_VARIABLES.contains(&text))
                || checker.program.constant(text, name.span.source).is_some();
            if known {
                return;
            }
            let formals = element.formals.iter().map(|formal| &*formal.name.text);
            let ports = element.ports.iter().map(|port| &*port.declared.name.text);
            let variables = if one_port { PORT_VARIABLES } else { &[] };
            let mut diagnostic = Diagnostic::error(
                Code::LGM0110,
                format!("the element `{}` declares no `{text}`", element.name.text),
            )
            .label(name.span, "not declared");
            diagnostic.help = match element.ports.first() {
                Some(port) if PORT_VARIABLES.contains(&text) => {
                    Some(format!("name the port: `{}.{text}`", port.declared.name.text))
                }
                _ => did_you_mean(text, formals.chain(ports).chain(variables.iter().copied())),
            };
            checker.report(diagnostic);
        }
        ExprKind::Member(owner, variable) => {
            let port = match &owner.kind {
                ExprKind::Name(name) => element.ports.iter().find(|port| port.declared.name.text == name.text),
                _ => None,
            };
            if port.is_none() {
                let names = element.ports.iter().map(|port| &*port.declared.name.text);
                let mut diagnostic =
                    Diagnostic::error(Code::LGM0135, format!("`{}` has no such port", element.name.text))
                        .label(owner.span, "not a port of this element");
                diagnostic.help = match &owner.kind {
                    ExprKind::Name(name) => did_you_mean(&name.text, names),
                    _ => None,
                };
                checker.report(diagnostic);
            } else if !PORT_VARIABLES.contains(&&*variable.text) {
                let mut diagnostic =
                    Diagnostic::error(Code::LGM0110, format!("a port has no variable `{}`", variable.text))
                        .label(variable.span, "unknown");
                diagnostic.help = did_you_mean(&variable.text, PORT_VARIABLES.iter().copied());
                checker.report(diagnostic);
            }
        }
        ExprKind::Call(name, arguments) => {
            check_function(checker, name, element.tables.iter().map(|table| &*table.name.text));
            // Measures are not allowed in a law, which is reported when the law is read.
            if !MEASURES.contains(&&*name.text) {
                for argument in arguments {
                    law_expr(checker, element, &argument.value, indices);
                }
            }
        }
        ExprKind::Over(over) => {
            law_expr(checker, element, &over.from, indices);
            law_expr(checker, element, &over.to, indices);
            indices.push(&over.index.text);
            law_expr(checker, element, &over.body, indices);
            indices.pop();
        }
        _ => value_parts(expr, &mut |child| law_expr(checker, element, child, indices)),
    }
}
