//! Unused definitions of the root text: a file of parts, or an unfinished part.
//!
//! Units, widths and arguments are checked where a definition is used. To find errors inside unused components, each is instantiated once,
//! between its own nodes, with the value 1 for each parameter in its unit. Errors caused by these values or this use are not reported.

use super::context::Context;
use super::evaluate::Evaluator;
use super::options::ParameterOptions;
use super::{Program, evaluate, laws};
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap};
use lgm_syntax::ast::{self, Component, Element, Formal, Item, Name, PortDecl, Statement, StatementKind};
use lgm_syntax::visit;
use rustc_hash::FxHashSet;
use std::fmt::Write as _;

/// The errors of a definition that are independent of its use. Width errors are excluded: a parameter may be intended as a vector.
const CODES: [Code; 22] = [
    Code::LGM0113,
    Code::LGM0118,
    Code::LGM0119,
    Code::LGM0122,
    Code::LGM0124,
    Code::LGM0126,
    Code::LGM0127,
    Code::LGM0128,
    Code::LGM0131,
    Code::LGM0132,
    Code::LGM0133,
    Code::LGM0134,
    Code::LGM0135,
    Code::LGM0136,
    Code::LGM0138,
    Code::LGM0139,
    Code::LGM0140,
    Code::LGM0201,
    Code::LGM0203,
    Code::LGM0209,
    Code::LGM0303,
    Code::LGM0306,
];

/// A definition with more nodes and instances than this is checked only in a model that uses it.
const LARGEST: u64 = 10_000;

/// Returns the errors inside unused definitions of the root text. Definitions with a parameter without a unit, or with a parameter that is
/// a size, are omitted: their arguments are unknown.
pub fn check_unused(program: &Program, map: &SourceMap, cancellation: &Cancellation) -> Vec<Diagnostic> {
    let Some(root) = program.files.get(program.root) else {
        return Vec::new();
    };
    let mut map = map.clone();
    let mut found = Vec::new();
    for (at, item) in unused(&root.ast.items).enumerate() {
        let written = match item {
            Item::Component(component) => use_of_component(&map, component, at),
            Item::Element(element) => use_of_element(&map, element, at),
            _ => None,
        };
        let Some(written) = written else { continue };
        let text = format!("model Unused {{\n{written}}}\n");
        let source = map.add("unused", text.as_str(), None);
        let (tree, faults) = lgm_syntax::parse(source, &text);
        if let ([Item::Model(model)], true) = (&tree.items[..], faults.is_empty()) {
            found.extend(found_in(program, &map, model, root.source, cancellation));
        }
    }
    found
}

/// Returns the diagnostics of elaborating a model within a text.
fn found_in(
    program: &Program,
    map: &SourceMap,
    model: &ast::Model,
    within: SourceId,
    cancellation: &Cancellation,
) -> Vec<Diagnostic> {
    let cx = Context::new(program, map, model, Vec::new(), cancellation.clone());
    let options = ParameterOptions::default();
    let mut evaluator = Evaluator::new(cx, &options, &[], laws::read);
    evaluate(&mut evaluator, &[], LARGEST, None);
    let mut found = evaluator.into_context().reports.diagnostics;
    found.retain(|each| {
        CODES.contains(&each.code) && each.labels.first().is_some_and(|label| label.span.source == within)
    });
    for each in &mut found {
        each.labels.retain(|label| label.span.source != model.span.source);
        each.notes.retain(|note| !note.contains(PROBE));
        let labels = each.labels.iter_mut().map(|label| &mut label.message);
        for words in labels.chain(&mut each.help).chain([&mut each.message]) {
            *words = without_probe(words);
        }
    }
    found
}

/// Returns a message in which the names of instances start within the definition.
fn without_probe(message: &str) -> String {
    let mut parts = message.split(PROBE);
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        // The number of the instance, its letter, and a dot before its member.
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let rest = rest.strip_prefix('e').unwrap_or(rest);
        text.push_str(rest.strip_prefix('.').unwrap_or(rest));
    }
    text
}

/// Returns the definitions whose name occurs nowhere else in the text.
fn unused(items: &[Item]) -> impl Iterator<Item = &Item> {
    let mut used: FxHashSet<&str> = FxHashSet::default();
    for item in items {
        let body: &[Statement] = match item {
            Item::Model(model) => &model.body,
            Item::Component(component) => &component.body,
            _ => &[],
        };
        visit::statements(body, &mut |statement| {
            if let StatementKind::Instance(instance) = &statement.kind {
                used.insert(&instance.kind.text);
            }
        });
    }
    items.iter().filter(move |item| match item {
        Item::Component(component) => !used.contains(&*component.name.text),
        Item::Element(element) => !used.contains(&*element.name.text),
        _ => false,
    })
}

/// The prefix of the instances created here; user names never contain two underscores like these.
const PROBE: &str = "lgm__use";

/// Returns the arguments, if each can be known: 1 in the unit of a parameter.
fn arguments(map: &SourceMap, formals: &[Formal]) -> Option<String> {
    let mut written = Vec::new();
    for formal in formals.iter().filter(|formal| formal.default.is_none()) {
        let unit = formal.unit.as_ref().filter(|_| !formal.structural)?;
        written.push(format!("{} = 1 {}", formal.name.text, map.slice(unit.span)));
    }
    Some(written.join(", "))
}

/// Returns an instance of a component whose ports are bound to separate nodes.
fn use_of_component(map: &SourceMap, component: &Component, at: usize) -> Option<String> {
    let arguments = arguments(map, &component.formals)?;
    let ports = component.body.iter().flat_map(|statement| match &statement.kind {
        StatementKind::Port(ports) => &ports[..],
        _ => &[],
    });
    let (mut text, mut bindings) = (String::new(), Vec::new());
    for (number, port) in ports.enumerate() {
        let node = format!("{PROBE}{at}n{number}");
        text += &format!("{};\n", node_for(map, &node, port, None));
        bindings.push(format!("{} = {node}", port.declared.name.text));
    }
    let (name, bindings) = (&component.name.text, bindings.join(", "));
    let _ = writeln!(text, "  {PROBE}{at}e : {name}({arguments}) ({bindings});");
    Some(text)
}

/// Returns an instance of an element in which each port is a branch from a separate node to ground. Bond elements, and elements without a
/// domain, which adopt the domain of their nodes, are omitted.
fn use_of_element(map: &SourceMap, element: &Element, at: usize) -> Option<String> {
    let arguments = arguments(map, &element.formals)?;
    let domain = element.domain.as_ref();
    if domain.is_some_and(|domain| &*domain.text == "bond") {
        return None;
    }
    let (mut text, mut branches) = (String::new(), Vec::new());
    for (number, port) in element.ports.iter().enumerate() {
        let node = format!("{PROBE}{at}n{number}");
        port.domain.as_ref().or(domain)?;
        text += &format!("{};\n", node_for(map, &node, port, domain));
        branches.push(format!("{node} -> gnd"));
    }
    if element.ports.is_empty() {
        let _ = writeln!(text, "  node {PROBE}{at} : {};", domain?.text);
        branches.push(format!("{PROBE}{at} -> gnd"));
    }
    let (name, branches) = (&element.name.text, branches.join(", "));
    let _ = writeln!(text, "  {PROBE}{at}e : {name}({arguments}) {branches};");
    Some(text)
}

/// Returns the declaration of a node that a port can be bound to, without its end: `  node n[2] vector : electrical`.
pub fn node_for(map: &SourceMap, node: &str, port: &PortDecl, domain: Option<&Name>) -> String {
    let mut text = format!("  node {node}");
    for group in &port.declared.brackets {
        let sizes: Vec<&str> = group.iter().map(|size| map.slice(size.span)).collect();
        let _ = write!(text, "[{}]", sizes.join(", "));
    }
    if port.declared.vector.is_some() {
        text.push_str(" vector");
    }
    if let Some(domain) = port.domain.as_ref().or(domain) {
        let _ = write!(text, " : {}", domain.text);
    }
    text
}
