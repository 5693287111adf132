//! The equations do not depend on the order of declarations: lines of a model shuffled give equations of the same values and as short.
//! Rows, terms, factors and the signs of two factors may be in another order.
//!
//! Which of several storage elements keeps its state is the user's choice, by the order of lines or by `--retain`. Here the states are
//! retained, and models whose states change all the same are left out.

use crate::networks::generate::generate;
use crate::networks::random::Random;
use crate::networks::write::write;
use lgm::Request;
use lgm::equations::StateSystem;
use lgm::expr::{ExprId, SymbolId, operations};
use lgm::source::{NoFiles, SourceMap};
use std::collections::{BTreeMap, HashMap};
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

/// A value for a name.
fn value_of(name: &str) -> f64 {
    let hash = name
        .bytes()
        .fold(17u64, |sum, byte| sum.wrapping_mul(131).wrapping_add(u64::from(byte)));
    0.5 + (hash % 1009) as f64 / 1009.0
}

/// All equations by what they are of: values and operations.
fn equations(system: &StateSystem) -> BTreeMap<String, (f64, u64)> {
    let exprs = &system.exprs;
    let mut values: HashMap<SymbolId, f64> = HashMap::new();
    for symbol in (0..exprs.symbol_count() as u32).map(SymbolId) {
        values.insert(symbol, value_of(&exprs.symbol_info(symbol).name));
    }
    for entry in system.parameters.iter().flat_map(|parameter| &parameter.entries) {
        if let Some(id) = entry.derived {
            let value = exprs.evaluate_unchecked(&[id], &|symbol| values.get(&symbol).copied())[0];
            values.insert(entry.symbol, value);
        }
    }
    let mut all = BTreeMap::new();
    let mut add = |name: String, id: ExprId| {
        let value = exprs.evaluate_unchecked(&[id], &|symbol| values.get(&symbol).copied())[0];
        all.insert(name, (value, operations(exprs, id)));
    };
    for (state, value) in system.states.iter().zip(&system.derivatives) {
        add(format!("der({})", state.name), *value);
    }
    for (output, value) in system.outputs.iter().zip(&system.output_values) {
        add(format!("output {}", output.name), *value);
    }
    if let Some(form) = &system.symbolic {
        let states: Vec<&str> = system.states.iter().map(|state| &*state.name).collect();
        let inputs: Vec<&str> = system.inputs.iter().map(|input| &*input.name).collect();
        for (name, matrix, columns) in [
            ("A", &form.a, &states),
            ("B", &form.b, &inputs),
            ("E", &form.e, &inputs),
        ] {
            for (row, entries) in states.iter().zip(&matrix.rows) {
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

/// What differs between a text and its shuffled forms; whether anything was compared. Expressions may be longer by a share.
fn differences(name: &str, text: &str, seed: u64, share: u64, found: &mut Vec<String>) -> bool {
    let Some(first) = system_of(text, &[]) else {
        return false;
    };
    // Names of parts in the order of use, and sequences of assignments, are numbered as they come.
    if !first.assignments.is_empty() || !first.loops.is_empty() {
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
        if states(&system) != states(&kept) || !system.assignments.is_empty() {
            continue;
        }
        compared = true;
        let own = equations(&system);
        for (key, (value, length)) in &wanted {
            let Some((now, shuffled)) = own.get(key) else {
                found.push(format!("{name}: {key} is missing"));
                continue;
            };
            let is_near = (now - value).abs() <= 1e-8 * (1.0 + value.abs()) || now.is_nan() && value.is_nan();
            if !is_near || shuffled.abs_diff(*length) * 100 > share * length {
                found.push(format!(
                    "{name}: {key} is {now}, not {value}, of {shuffled} operations, not {length}"
                ));
            }
        }
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
            compared += usize::from(differences(&name, &text, 7, 0, &mut found));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(compared > 40, "only {compared} examples were compared");
}

#[test]
fn random_networks_have_the_same_equations_in_any_order() {
    let (mut found, mut compared) = (Vec::new(), 0);
    for seed in 0..120 {
        let text = write(&generate(seed));
        compared += usize::from(differences(&format!("seed {seed}"), &text, seed, 25, &mut found));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(compared > 40, "only {compared} networks were compared");
}
