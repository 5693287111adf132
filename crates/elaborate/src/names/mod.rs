//! Checks of each definition by itself: its declarations, their positions and names.

mod checker;
mod modal_blocks;

pub(crate) mod bodies;
mod functions;
pub(crate) mod recursion;

use crate::names::bodies::{Scope, check_body, check_law};
use crate::names::checker::Checker;
use crate::program::Program;
use lgm_source::SourceMap;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::{corrections, did_you_mean, suggestion};
use lgm_syntax::ast::{self, Declared, Formal, Item, JunctionDecl, Name, Statement, StatementKind};
use rustc_hash::FxHashMap;

/// Checks every definition of the user's texts.
pub(crate) fn check(program: &Program, sources: &SourceMap, largest: u64) -> Vec<Diagnostic> {
    let mut checker = Checker::new(program, sources);
    for file in program.files.iter().filter(|file| !file.library) {
        for item in &file.ast.items {
            match item {
                Item::Domain(domain) => checker.domain(domain),
                Item::Element(element) => checker.element(element),
                Item::Component(component) => checker.component(component),
                Item::Model(model) => checker.model(model),
                Item::Modal(modal) => checker.modal(modal),
                Item::Function(function) => {
                    checker.formals(&function.formals);
                    functions::check_user_function(&mut checker, function);
                }
                Item::Const(constant) => {
                    checker.reserved(&constant.assigned.name);
                    functions::check_constant(&mut checker, constant);
                }
                Item::Import(_) => {}
            }
        }
    }
    recursion::check(program, largest, &mut checker.diagnostics);
    checker.into_diagnostics()
}

/// The two kinds of names in a body, with their information.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Space {
    Value,
    Junction,
    Instance,
    Output,
    Table,
}

#[derive(Clone, Copy)]
struct Seen {
    span: Span,
    indexed: bool,
    space: Space,
}

impl<'a> Checker<'a> {
    fn domain(&mut self, domain: &'a ast::Domain) {
        for span in &domain.unknown {
            let diagnostic = Diagnostic::error(Code::LGM0150, "this is not an entry of a domain")
                .label(*span, "unknown here")
                .help(
                    "a domain contains `across v [V];`, `through i [A];`, `effort = across;` and optionally \
                    `pseudo;`",
                );
            self.report(diagnostic);
        }
        let missing = [
            (domain.across.is_none(), "across variable", "across v [V];"),
            (domain.through.is_none(), "through variable", "through i [A];"),
            (domain.effort.is_none(), "choice of the effort", "effort = across;"),
        ];
        for (is_missing, what, example) in missing {
            if is_missing && !self.program.is_damaged {
                let diagnostic = Diagnostic::error(
                    Code::LGM0150,
                    format!("the domain `{}` has no {what}", domain.name.text),
                )
                .label(domain.name.span, "declared here")
                .help(format!("write `{example}`"));
                self.report(diagnostic);
            }
        }
    }

    fn reserved(&mut self, name: &'a Name) {
        if matches!(&*name.text, "gnd" | "time" | "pi") {
            let what = match &*name.text {
                "gnd" => "the reference node",
                "time" => "the time",
                _ => "the number pi",
            };
            let diagnostic = Diagnostic::error(Code::LGM0147, format!("`{}` cannot be declared again", name.text))
                .label(name.span, format!("this name always means {what}"))
                .help("choose another name");
            self.report(diagnostic);
        }
    }

    fn formals(&mut self, formals: &'a [Formal]) {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for formal in formals {
            self.reserved(&formal.name);
            if let Some(first) = seen.insert(&formal.name.text, formal.name.span) {
                self.twice(&formal.name, first);
            }
        }
    }

    fn twice(&mut self, name: &Name, first: Span) {
        let diagnostic = Diagnostic::error(Code::LGM0107, format!("`{}` is declared twice", name.text))
            .label(name.span, "declared again here")
            .label(first, "first declared here")
            .help("rename one of the two");
        self.report(diagnostic);
    }

    /// Reports an undeclared domain.
    fn known_domain(&mut self, name: &'a Name, bond_too: bool) {
        if !self.is_looking()
            || (bond_too && &*name.text == "bond")
            || self.program.domain(&name.text, name.span.source).is_some()
        {
            return;
        }
        let tables = [&self.program.user_domains, &self.program.library_domains];
        let names: Vec<&str> = tables
            .iter()
            .flat_map(|table| table.keys().map(|name| &**name))
            .collect();
        if self.program.is_damaged && suggestion(&name.text, names.iter().copied()).is_none() {
            // It may be in the unreadable part of the text.
            return;
        }
        let mut diagnostic = Diagnostic::error(Code::LGM0148, format!("there is no domain `{}`", name.text))
            .label(name.span, "not declared");
        diagnostic.fixes = corrections(name.span, &name.text, names.iter().copied());
        diagnostic.help = did_you_mean(&name.text, names);
        self.report(diagnostic);
    }

    fn element(&mut self, element: &'a ast::Element) {
        self.formals(&element.formals);
        if let Some(domain) = &element.domain {
            self.known_domain(domain, true);
        }
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for port in &element.ports {
            if let Some(domain) = &port.domain {
                self.known_domain(domain, true);
            }
            if let Some(first) = seen.insert(&port.declared.name.text, port.declared.name.span) {
                self.twice(&port.declared.name, first);
            }
        }
        self.modes(element);
        if element.equations.is_empty() && element.modes.is_empty() && !self.program.is_damaged {
            let diagnostic =
                Diagnostic::error(Code::LGM0151, format!("the element `{}` has no law", element.name.text))
                    .label(element.name.span, "declared here")
                    .help("write an equation between its variables: `across = R*through;`");
            self.report(diagnostic);
        }
        check_law(self, element);
    }

    /// Checks the modes: each is declared once, each has a law, and changes lead to existing modes.
    fn modes(&mut self, element: &'a ast::Element) {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for mode in &element.modes {
            if let Some(first) = seen.insert(&mode.name.text, mode.name.span) {
                self.twice(&mode.name, first);
            }
            if mode.law.equations.is_empty() && !self.program.is_damaged {
                let diagnostic = Diagnostic::error(Code::LGM0151, format!("the mode `{}` has no law", mode.name.text))
                    .label(mode.name.span, "declared here")
                    .help("write an equation for each port: `through = 0;`");
                self.report(diagnostic);
            }
        }
        for change in element.modes.iter().flat_map(|mode| &mode.changes) {
            if seen.contains_key(&*change.to.text) {
                continue;
            }
            let names = || element.modes.iter().map(|mode| &*mode.name.text);
            let message = format!("`{}` has no mode `{}`", element.name.text, change.to.text);
            let mut diagnostic = Diagnostic::error(Code::LGM0160, message).label(change.to.span, "not declared");
            diagnostic.fixes = corrections(change.to.span, &change.to.text, names());
            diagnostic.help = did_you_mean(&change.to.text, names())
                .or_else(|| Some(format!("its modes are `{}`", names().collect::<Vec<_>>().join("`, `"))));
            self.report(diagnostic);
        }
        if let (Some(mode), Some(equation)) = (element.modes.first(), element.equations.first()) {
            let diagnostic = Diagnostic::error(
                Code::LGM0161,
                format!("`{}` has a law in addition to its modes", element.name.text),
            )
            .label(equation.span, "this equation belongs to no mode")
            .label(mode.name.span, "a mode is a separate law")
            .help("write the equation in each mode in which it holds");
            self.report(diagnostic);
        }
    }

    fn modal(&mut self, modal: &'a ast::Modal) {
        self.formals(&modal.formals);
        if let Some(domain) = &modal.domain {
            self.known_domain(domain, false);
        }
        modal_blocks::check(self, modal);
    }

    fn component(&mut self, component: &'a ast::Component) {
        self.formals(&component.formals);
        self.body(&component.body, &component.formals, &component.name, false);
    }

    fn model(&mut self, model: &'a ast::Model) {
        self.body(&model.body, &[], &model.name, true);
    }

    fn body(&mut self, statements: &'a [Statement], formals: &'a [Formal], name: &'a Name, is_model: bool) {
        let mut seen: FxHashMap<(&'a str, Space), Seen> = FxHashMap::default();
        for formal in formals {
            seen.insert(
                (&formal.name.text, Space::Value),
                Seen {
                    span: formal.name.span,
                    indexed: false,
                    space: Space::Value,
                },
            );
        }
        self.declarations(statements, &mut seen, is_model, false);
        let scope = Scope::new(statements, formals, name, !is_model);
        check_body(self, statements, &scope);
    }

    /// Collects the declarations of statements; the branches of an `if` may declare the same names.
    fn declarations(
        &mut self,
        statements: &'a [Statement],
        seen: &mut FxHashMap<(&'a str, Space), Seen>,
        is_model: bool,
        in_loop: bool,
    ) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Node(declared) => self.junction(declared, seen, in_loop, true),
                StatementKind::Zero(declared) | StatementKind::One(declared) => {
                    self.junction(declared, seen, in_loop, false);
                }
                StatementKind::Port(list) => {
                    if is_model {
                        let diagnostic = Diagnostic::error(Code::LGM0152, "a model has no ports")
                            .label(statement.span, "only components have ports")
                            .help("declare a `node`, or make this a `component`");
                        self.report(diagnostic);
                    }
                    for port in list {
                        if let Some(domain) = &port.domain {
                            self.known_domain(domain, false);
                        }
                        self.plain_in_loop(&port.declared.name, in_loop);
                        self.declare(&port.declared.name, false, Space::Junction, seen);
                    }
                }
                StatementKind::Param(assigned) | StatementKind::Const(assigned) => {
                    self.plain_in_loop(&assigned.name, in_loop);
                    self.declare(&assigned.name, false, Space::Value, seen);
                }
                StatementKind::Input(assigned) => {
                    self.plain_in_loop(&assigned.name, in_loop);
                    self.declare(&assigned.name, false, Space::Value, seen);
                }
                StatementKind::Signal(indexed) | StatementKind::State(indexed) | StatementKind::Discrete(indexed) => {
                    self.indexed(&indexed.declared, Space::Value, seen, in_loop);
                }
                StatementKind::Output(indexed) => {
                    self.indexed(&indexed.declared, Space::Output, seen, in_loop);
                }
                StatementKind::Instance(instance) => {
                    self.definition(&instance.kind);
                    self.indexed(&instance.declared, Space::Instance, seen, in_loop);
                }
                StatementKind::For(block) => {
                    self.reserved(&block.index);
                    self.declarations(&block.body, seen, is_model, true);
                }
                StatementKind::If(block) => {
                    let mut all = seen.clone();
                    for body in block.branches.iter().map(|branch| &branch.1).chain([&block.otherwise]) {
                        let mut inner = seen.clone();
                        self.declarations(body, &mut inner, is_model, in_loop);
                        all.extend(inner);
                    }
                    *seen = all;
                }
                StatementKind::Table(table) => {
                    self.plain_in_loop(&table.name, in_loop);
                    self.declare(&table.name, false, Space::Table, seen);
                }
                StatementKind::Experiment(_) if !is_model => self.not_in_component(statement.span, "an experiment"),
                StatementKind::Experiment(_)
                | StatementKind::Chain(_)
                | StatementKind::When(_)
                | StatementKind::Every(_)
                | StatementKind::Faulty(_) => {}
            }
        }
    }

    fn not_in_component(&mut self, span: Span, what: &str) {
        let diagnostic = Diagnostic::error(Code::LGM0152, format!("a component cannot contain {what}"))
            .label(span, "this belongs to the model")
            .help("components contain parameters, ports, nodes, instances, states, signals, inputs and outputs");
        self.report(diagnostic);
    }

    fn junction(
        &mut self,
        declared: &'a JunctionDecl,
        seen: &mut FxHashMap<(&'a str, Space), Seen>,
        in_loop: bool,
        is_node: bool,
    ) {
        match &declared.domain {
            Some(domain) => self.known_domain(domain, false),
            None if is_node => {
                if let Some(first) = declared.names.first() {
                    let diagnostic =
                        Diagnostic::error(Code::LGM0314, format!("the node `{}` has no domain", first.name.text))
                            .label(first.span, "its domain is missing")
                            .help(format!(
                                "write `node {} : electrical;`, or another domain",
                                first.name.text
                            ));
                    self.report(diagnostic);
                }
            }
            None => {}
        }
        for flag in &declared.flags {
            if &*flag.text != "floating" {
                let mut diagnostic = Diagnostic::error(Code::LGM0153, format!("`{}` is not allowed here", flag.text))
                    .label(flag.span, "unknown");
                diagnostic.help = Some("only `floating` can follow the domain".to_string());
                self.report(diagnostic);
            }
        }
        for declared in &declared.names {
            self.plain_in_loop(&declared.name, in_loop);
            self.declare(&declared.name, false, Space::Junction, seen);
        }
    }

    fn plain_in_loop(&mut self, name: &'a Name, in_loop: bool) {
        if in_loop {
            let diagnostic = Diagnostic::error(
                Code::LGM0146,
                format!("`{}` would be declared in every iteration of the loop", name.text),
            )
            .label(name.span, "declared inside `for`")
            .help("declare it outside of the loop; an array of nodes is `node v[N] : electrical;`");
            self.report(diagnostic);
        }
    }

    fn indexed(
        &mut self,
        declared: &'a Declared,
        space: Space,
        seen: &mut FxHashMap<(&'a str, Space), Seen>,
        in_loop: bool,
    ) {
        let is_indexed = !declared.brackets.is_empty();
        if in_loop && !is_indexed {
            let diagnostic = Diagnostic::error(
                Code::LGM0146,
                format!(
                    "`{}` would be declared in every iteration of the loop",
                    declared.name.text
                ),
            )
            .label(declared.span, "it has no index")
            .help(format!("give it the index of the loop: `{}[i]`", declared.name.text));
            self.report(diagnostic);
        }
        self.declare(&declared.name, is_indexed, space, seen);
    }

    fn declare(&mut self, name: &'a Name, indexed: bool, space: Space, seen: &mut FxHashMap<(&'a str, Space), Seen>) {
        self.reserved(name);
        let now = Seen {
            span: name.span,
            indexed,
            space,
        };
        // A value may share its name with an instance (`R : R(R)`), but not with a node; an output may share its name with anything.
        let rivals: &[Space] = match space {
            Space::Value => &[Space::Value, Space::Junction],
            Space::Junction => &[Space::Value, Space::Junction, Space::Instance],
            Space::Instance => &[Space::Junction, Space::Instance],
            Space::Output => &[Space::Output],
            Space::Table => &[Space::Table],
        };
        let other = rivals
            .iter()
            .find_map(|rival| seen.get(&(&*name.text, *rival)).copied());
        if let Some(first) = other
            && !(first.indexed && indexed && first.space == space)
        {
            self.twice(name, first.span);
            return;
        }
        seen.entry((&name.text, space)).or_insert(now);
    }

    fn definition(&mut self, kind: &'a Name) {
        if self.program.definition(&kind.text, kind.span.source).is_some() || !self.is_looking() {
            return;
        }
        let tables = [&self.program.user, &self.program.library];
        let names: Vec<&str> = tables
            .iter()
            .flat_map(|table| table.keys().map(|name| &**name))
            .collect();
        let source = format!("{}Source", kind.text);
        let near = match (self.is_suggesting(), names.iter().find(|name| **name == source)) {
            (true, Some(source)) => vec![*source],
            (true, None) => lgm_source::nearest::nearest(&kind.text, names),
            (false, _) => Vec::new(),
        };
        let module = self.program.module_with(&kind.text);
        // It may be in the unreadable part of the text.
        if module.is_none() && near.is_empty() && self.program.is_damaged {
            return;
        }
        let mut diagnostic = Diagnostic::error(
            Code::LGM0149,
            format!("there is no element or component `{}`", kind.text),
        )
        .label(kind.span, "not defined")
        .help(match near.is_empty() {
            _ if textbook_kind(&kind.text).is_some() => {
                let plain = textbook_kind(&kind.text).unwrap_or_default();
                format!("write `{plain}`: the kind is the same for a number, a signal or a function of states")
            }
            _ if module.is_some() => {
                let module = module.unwrap_or_default();
                format!("write `import {module};` above the model; it is in this module of the standard library")
            }
            false => format!("did you mean `{}`?", near.join("` or `")),
            true => format!(
                "define it: `element {}(..) : electrical {{ across = ..; }}`, or import the file that does",
                kind.text
            ),
        });
        diagnostic.fixes = match (module, textbook_kind(&kind.text)) {
            (Some(module), _) => {
                let fix = self.program.import_of(module, self.sources, kind.span.source);
                return self.report(match fix {
                    Some(fix) => diagnostic.with(fix),
                    None => diagnostic,
                });
            }
            (_, Some(plain)) => corrections(kind.span, plain, [plain]),
            (_, None) => corrections(kind.span, &kind.text, near),
        };
        self.report(diagnostic);
    }
}

/// Returns the kind for a textbook name: modulated elements have the same kinds as others.
fn textbook_kind(name: &str) -> Option<&'static str> {
    const KINDS: [&str; 7] = ["Se", "Sf", "TF", "GY", "R", "I", "C"];
    let plain = name.strip_prefix(['M', 'm']).unwrap_or(name);
    KINDS.into_iter().find(|kind| kind.eq_ignore_ascii_case(plain))
}
