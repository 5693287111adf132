//! Writes an LG2ss graph as a model, with the symbols that LG2ss gives to its elements.

use crate::elements::{Branch, Element, ElementType, GROUND, Output, OutputType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The maximum number of nodes declared on one line.
const NODES_A_LINE: usize = 10;

/// Returns the model's text; the graph is already checked.
pub(super) fn model(name: &str, elements: &[Element], outputs: &[Output]) -> String {
    let mut text = String::new();
    let branches: usize = elements.iter().map(|element| sides(element).len()).sum();
    let nodes = nodes(elements);
    text.push_str("// Imported from LG2ss matrices. Of every branch, v is the across and f the through variable.\n");
    text.push_str("domain generalized { across v; through f; effort = across; }\n\n");
    let (branch_noun, node_noun) = (
        plural(branches, "branch", "branches"),
        plural(nodes.len() + 1, "node", "nodes"),
    );
    line(
        &mut text,
        format_args!("/// A linear graph of {branch_noun} and {node_noun}."),
    );
    line(&mut text, format_args!("model {name} {{"));
    let parameters: Vec<(String, String)> = elements.iter().filter_map(parameter).collect();
    if !parameters.is_empty() {
        text.push_str("  // The matrices give the structure alone: every value is 1 until it is set.\n");
        for (symbol, law) in &parameters {
            line(&mut text, format_args!("  param {symbol} = 1;  // {law}"));
        }
        text.push('\n');
    }
    let inputs: Vec<String> = elements.iter().filter_map(input).collect();
    for input in &inputs {
        line(&mut text, format_args!("  input {input} = 1;"));
    }
    if !inputs.is_empty() {
        text.push('\n');
    }
    for some in nodes.chunks(NODES_A_LINE) {
        let names: Vec<String> = some.iter().map(|node| node_name(*node)).collect();
        line(&mut text, format_args!("  node {} : generalized;", names.join(", ")));
    }
    text.push('\n');
    // If storage elements are dependent, LG2ss keeps the states of those with higher numbers, and lgm of those declared first.
    let (storage, others): (Vec<&Element>, Vec<&Element>) = elements.iter().partition(|element| is_storage(element));
    for element in others.into_iter().chain(storage.into_iter().rev()) {
        line(&mut text, format_args!("  {}", instance(element)));
    }
    if !outputs.is_empty() {
        text.push('\n');
        write_outputs(&mut text, elements, outputs);
    }
    text.push_str("}\n");
    text
}

fn is_storage(element: &Element) -> bool {
    matches!(element, Element::One(branch) if matches!(branch.kind, ElementType::AType | ElementType::TType))
}

fn line(text: &mut String, content: std::fmt::Arguments) {
    writeln!(text, "{content}").expect("invariant: writing to memory does not fail");
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn sides(element: &Element) -> Vec<Branch> {
    match element {
        Element::One(branch) => vec![*branch],
        Element::Two(a, b) => vec![*a, *b],
    }
}

/// Returns all nodes except the ground, in ascending order.
fn nodes(elements: &[Element]) -> Vec<u32> {
    let ends = elements
        .iter()
        .flat_map(sides)
        .flat_map(|branch| [branch.tail, branch.head]);
    ends.filter(|node| *node != GROUND)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn node_name(node: u32) -> String {
    if node == GROUND {
        "gnd".to_owned()
    } else {
        format!("node{node}")
    }
}

/// Returns the symbol and the law of an element with a parameter.
fn parameter(element: &Element) -> Option<(String, String)> {
    let (a, b) = match element {
        Element::One(branch) => (branch.number, branch.number),
        Element::Two(a, b) => (a.number, b.number),
    };
    let kind = sides(element)[0].kind;
    let symbol = symbol(kind, a)?;
    let law = match kind {
        ElementType::AType => format!("f{a} = {symbol}*der(v{a})"),
        ElementType::TType => format!("v{a} = {symbol}*der(f{a})"),
        ElementType::DType => format!("v{a} = {symbol}*f{a}"),
        ElementType::Transformer => format!("v{b} = {symbol}*v{a}, f{b} = -f{a}/{symbol}"),
        ElementType::Gyrator => format!("v{b} = {symbol}*f{a}, f{b} = -v{a}/{symbol}"),
        ElementType::AcrossSource | ElementType::ThroughSource => return None,
    };
    Some((symbol, law))
}

fn symbol(kind: ElementType, branch: u32) -> Option<String> {
    let letters = match kind {
        ElementType::AType => "C",
        ElementType::TType => "L",
        ElementType::DType => "R",
        ElementType::Transformer => "TF",
        ElementType::Gyrator => "GY",
        ElementType::AcrossSource | ElementType::ThroughSource => return None,
    };
    Some(format!("{letters}{branch}"))
}

/// Returns the variable that a source prescribes, which is an input in LG2ss.
fn input(element: &Element) -> Option<String> {
    let Element::One(branch) = element else { return None };
    match branch.kind {
        ElementType::AcrossSource => Some(format!("v{}", branch.number)),
        ElementType::ThroughSource => Some(format!("f{}", branch.number)),
        _ => None,
    }
}

fn instance(element: &Element) -> String {
    let ends = |branch: &Branch| format!("{} -> {}", node_name(branch.tail), node_name(branch.head));
    match element {
        Element::One(branch) => {
            let number = branch.number;
            let law = match branch.kind {
                ElementType::AType => format!("AType(C{number})"),
                ElementType::TType => format!("TType(L{number})"),
                ElementType::DType => format!("DType(R{number})"),
                ElementType::AcrossSource => format!("AcrossSource(v{number})"),
                ElementType::ThroughSource => format!("ThroughSource(f{number})"),
                ElementType::Transformer | ElementType::Gyrator => {
                    unreachable!("invariant: a two-port has two branches")
                }
            };
            format!("branch{number} : {law} {};", ends(branch))
        }
        Element::Two(a, b) => {
            let law = match a.kind {
                ElementType::Transformer => format!("Transformer(TF{})", a.number),
                ElementType::Gyrator => format!("Gyrator(GY{})", a.number),
                _ => unreachable!("invariant: only transformers and gyrators are paired"),
            };
            format!("branch{}_{} : {law} {}, {};", a.number, b.number, ends(a), ends(b))
        }
    }
}

fn write_outputs(text: &mut String, elements: &[Element], outputs: &[Output]) {
    let mut places: FxHashMap<u32, String> = FxHashMap::default();
    for element in elements {
        match element {
            Element::One(branch) => {
                places.insert(branch.number, format!("branch{}", branch.number));
            }
            Element::Two(a, b) => {
                places.insert(a.number, format!("branch{}_{}.a", a.number, b.number));
                places.insert(b.number, format!("branch{}_{}.b", a.number, b.number));
            }
        }
    }
    let mut taken: FxHashSet<String> = FxHashSet::default();
    for output in outputs {
        let place = places
            .get(&output.branch)
            .expect("invariant: the output's branch was checked");
        let (letter, value) = match output.kind {
            OutputType::Across => ("v", format!("across({place})")),
            OutputType::Through => ("f", format!("through({place})")),
            OutputType::IntegratedAcross => ("x", format!("int(across({place}))")),
            OutputType::IntegratedThrough => ("p", format!("int(through({place}))")),
        };
        let mut name = format!("{letter}{}", output.branch);
        if !taken.insert(name.clone()) {
            // The same variable requested twice needs two names.
            name = format!("{name}_output{}", output.number);
        }
        line(text, format_args!("  output {name} = {value};"));
    }
}
