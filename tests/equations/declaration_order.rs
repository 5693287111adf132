//! The equations do not depend on the order of declarations: shuffling the lines of a model gives equations in the same
//! form. Only the order of rows, terms and factors may differ.
//!
//! The user chooses which of several storage elements keeps its state, by the order of lines or by `--retain`. The
//! states are retained here, and models whose states still change are skipped.

use crate::equations::networks::generate::generate;
use crate::equations::networks::random::Random;
use crate::equations::networks::write::write;
use lgm::Request;
use lgm::equations::StateSystem;
use lgm::expr::{ExprId, Exprs, Function, Node, text};
use lgm::source::{NoFiles, SourceMap};
use std::collections::BTreeMap;
use std::path::Path;

/// The text with the statements of its models in another order.
fn shuffled(text: &str, random: &mut Random) -> String {
    let mut map = SourceMap::default();
    let source = map.add("model.lgm", text, None);
    let (ast, _) = lgm::syntax::parse(source, text);
    let mut whole = text.to_string();
    for item in ast.items.iter().rev() {
        let lgm::syntax::ast::Item::Model(model) = item else {
            continue;
        };
        let spans: Vec<(usize, usize)> = model
            .body
            .iter()
            .map(|statement| (statement.span.start as usize, statement.span.end as usize))
            .collect();
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
            continue;
        };
        let mut statements: Vec<&str> = spans.iter().map(|(start, end)| &text[*start..*end]).collect();
        for at in (1..statements.len()).rev() {
            statements.swap(at, random.below(at + 1));
        }
        whole.replace_range(first.0..last.1, &statements.join("\n"));
    }
    whole
}

fn system_of(text: &str, retain: &[String]) -> Option<StateSystem> {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut request = Request::default();
    request.equations.retain = retain.to_vec();
    lgm::compile(&NoFiles, &mut map, root, &request).0
}

/// An expression as text, with terms and factors sorted.
fn sorted(exprs: &Exprs, id: ExprId) -> String {
    let joined = |sign: &str, list: &[ExprId]| {
        let mut parts: Vec<String> = list.iter().map(|part| sorted(exprs, *part)).collect();
        parts.sort_unstable();
        format!("({})", parts.join(sign))
    };
    match exprs.node(id) {
        Node::Sum(list) => joined(" + ", list),
        Node::Product(list) => joined("*", list),
        Node::Power(base, exponent) => format!("{}^{}", sorted(exprs, *base), sorted(exprs, *exponent)),
        Node::Call(function @ (Function::Min | Function::Max), list) => {
            format!("{}{}", function.name(), joined(", ", list))
        }
        Node::Call(function, list) => {
            let list: Vec<String> = list.iter().map(|argument| sorted(exprs, *argument)).collect();
            format!("{}({})", function.name(), list.join(", "))
        }
        Node::Relation(relation, a, b) => format!("({relation:?} {} {})", sorted(exprs, *a), sorted(exprs, *b)),
        Node::Not(a) => format!("not {}", sorted(exprs, *a)),
        Node::If(condition, a, b) => {
            let [condition, a, b] = [condition, a, b].map(|part| sorted(exprs, *part));
            format!("(if {condition} then {a} else {b})")
        }
        Node::Number(_) | Node::Pi | Node::Symbol(_) => text(exprs, id),
    }
}

/// The forms of all equations by their subjects.
fn equations(system: &StateSystem) -> BTreeMap<String, String> {
    let exprs = &system.exprs;
    let mut all = BTreeMap::new();
    let mut add = |name: String, id: ExprId| all.insert(name, sorted(exprs, id));
    for (state, value) in system.states.iter().zip(&system.equations.derivatives) {
        add(format!("der({})", state.name), *value);
    }
    for (output, value) in system.outputs.iter().zip(&system.equations.output_values) {
        add(format!("output {}", output.name), *value);
    }
    for entry in system.parameters.iter().flat_map(|parameter| &parameter.entries) {
        if let Some(formula) = entry.derived {
            add(format!("parameter {}", exprs.symbol_info(entry.symbol).name), formula);
        }
    }
    if let Some(form) = &system.equations.mass_form {
        for (state, equation) in system.states.iter().zip(&form.equations) {
            for (column, factor) in &equation.terms {
                let column = &system.states[*column as usize].name;
                add(format!("mass({}, {column})", state.name), *factor);
            }
            add(format!("force {}", state.name), equation.right);
        }
    }
    if let Some(form) = &system.matrices.symbolic {
        let states: Vec<&str> = system.states.iter().map(|state| &*state.name).collect();
        let inputs: Vec<&str> = system.inputs.iter().map(|input| &*input.name).collect();
        let outputs: Vec<&str> = system.outputs.iter().map(|output| &*output.name).collect();
        for (name, matrix, rows, columns) in [
            ("A", &form.a, &states, &states),
            ("B", &form.b, &states, &inputs),
            ("C", &form.c, &outputs, &states),
            ("D", &form.d, &outputs, &inputs),
            ("E", &form.e, &states, &inputs),
            ("F", &form.f, &outputs, &inputs),
        ] {
            for (row, entries) in rows.iter().zip(&matrix.rows) {
                for (column, value) in entries {
                    add(format!("{name}({row}, {})", columns[*column as usize]), *value);
                }
            }
        }
    }
    all
}

/// The names of the states, sorted.
fn states(system: &StateSystem) -> Vec<&str> {
    let mut names: Vec<&str> = system.states.iter().map(|state| &*state.name).collect();
    names.sort_unstable();
    names
}

/// Records the differences between a text and its shuffled forms. Returns false if nothing was compared.
fn differences(name: &str, text: &str, seed: u64, found: &mut Vec<String>) -> bool {
    let Some(first) = system_of(text, &[]) else {
        return false;
    };
    // Names of shared parts, and sequences of assignments, are numbered in order of use.
    if !first.equations.assignments.is_empty() || !first.equations.loops.is_empty() {
        return false;
    }
    let retain: Vec<String> = match first.dependent.is_empty() {
        true => Vec::new(),
        false => first.states.iter().map(|state| state.element.to_string()).collect(),
    };
    let Some(kept) = system_of(text, &retain) else {
        return false;
    };
    let wanted = equations(&kept);
    let mut random = Random::new(seed);
    let mut compared = false;
    for _ in 0..2 {
        let other = shuffled(text, &mut random);
        let Some(system) = system_of(&other, &retain) else {
            found.push(format!("{name}: no equations of\n{other}"));
            continue;
        };
        if states(&system) != states(&kept) || !system.equations.assignments.is_empty() {
            continue;
        }
        compared = true;
        let own = equations(&system);
        for (key, form) in &wanted {
            match own.get(key) {
                Some(now) if now == form => {}
                now => found.push(format!("{name}: {key} is {now:?}, not {form}")),
            }
        }
        let more = own.keys().filter(|key| !wanted.contains_key(*key));
        found.extend(more.map(|key| format!("{name}: {key} is there in another order only")));
    }
    compared
}

#[test]
fn examples_have_the_same_equations_in_any_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (mut found, mut compared) = (Vec::new(), 0);
    for folder in [folder.clone(), folder.join("seeds")] {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for path in files
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "lgm"))
        {
            let text = std::fs::read_to_string(path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy();
            compared += usize::from(differences(&name, &text, 7, &mut found));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(compared > 40, "only {compared} examples were compared");
}

#[test]
fn random_networks_have_the_same_equations_in_any_order() {
    let (mut found, mut compared) = (Vec::new(), 0);
    for seed in 0..60 {
        let text = write(&generate(seed));
        compared += usize::from(differences(&format!("seed {seed}"), &text, seed, &mut found));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(compared > 25, "only {compared} networks were compared");
}
