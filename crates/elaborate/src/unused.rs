//! Definitions of the root text that no model of it uses: a file of parts, or a part that is being written.
//!
//! Units, widths and arguments are looked at where a definition is used. So that what is wrong inside of one is seen before it is used,
//! each is used once, between nodes of its own, with 1 for each parameter in its unit. What follows from these values, or from how
//! it is used, is not reported.

use super::context::Context;
use super::evaluate::Evaluator;
use super::{Program, evaluate, laws};
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap};
use lgm_syntax::ast::{self, Component, Element, Formal, Item, Name, PortDecl, Statement, StatementKind};
use lgm_syntax::visit;
use rustc_hash::FxHashSet;
use std::fmt::Write as _;

/// What is wrong with a definition wherever it is used. Widths are not among it: a parameter may be meant to be a vector.
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

/// A definition of more nodes and instances than this is left for the model that uses it.
const LARGEST: u64 = 10_000;

/// What is wrong inside of the definitions of the root text that nothing in it uses. A definition whose parameters have no unit, or
/// that has sizes for parameters, is left out: what it is used with is not known.
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
        let source = map.add("what nothing uses", text.as_str(), None);
        let (tree, faults) = lgm_syntax::parse(source, &text);
        if let ([Item::Model(model)], true) = (&tree.items[..], faults.is_empty()) {
            found.extend(found_in(program, &map, model, root.source, cancellation));
        }
    }
    found
}

/// What elaborating a model finds inside of a text.
fn found_in(
    program: &Program,
    map: &SourceMap,
    model: &ast::Model,
    within: SourceId,
    cancellation: &Cancellation,
) -> Vec<Diagnostic> {
    let cx = Context::new(program, map, model, Vec::new(), cancellation.clone());
    let mut evaluator = Evaluator::new(cx, &[], &[], laws::read);
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

/// A sentence in which instances are named as if they began in the definition.
fn without_probe(message: &str) -> String {
    let mut parts = message.split(PROBE);
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        // The number of the instance, its letter, and a dot before what it holds.
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let rest = rest.strip_prefix('e').unwrap_or(rest);
        text.push_str(rest.strip_prefix('.').unwrap_or(rest));
    }
    text
}

/// The definitions whose name stands nowhere else in the text.
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

/// How the instances begin that are made here; no name of a user holds two underscores like these.
const PROBE: &str = "lgm__use";

/// The arguments, if each can be known: 1 in the unit of a parameter.
fn arguments(map: &SourceMap, formals: &[Formal]) -> Option<String> {
    let mut written = Vec::new();
    for formal in formals.iter().filter(|formal| formal.default.is_none()) {
        let unit = formal.unit.as_ref().filter(|_| !formal.structural)?;
        written.push(format!("{} = 1 {}", formal.name.text, map.slice(unit.span)));
    }
    Some(written.join(", "))
}

/// A component whose ports are bound to nodes of their own.
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

/// An element each of whose ports is a branch from a node of its own to ground. Bond elements stand on bonds, and elements of no domain
/// take it from their nodes: they are left out.
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

/// The declaration of a node that a port can be bound to, without its end: `  node n[2] vector : electrical`.
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
