//! Results printed in the source documents, compared with the output of `lgm equations`: equal in value, and counted in
//! operations.
//!
//! `tests/printed_forms.txt` contains the printed results; the program contains none of them. `UPDATE_FORMS=1` rewrites
//! the page docs/forms.md.

use crate::support::arithmetic::{Bindings, evaluate};
use lgm::Request;
use lgm::equations::StateSystem;
use lgm::expr::{ExprId, text};
use lgm::source::{NoFiles, SourceMap};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// A result of a document.
struct Printed<'t> {
    example: &'t str,
    place: &'t str,
    ours: &'t str,
    form: &'t str,
}

fn table(text: &str) -> Vec<Printed<'_>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = |line| {
        let parts: Vec<&str> = str::split(line, " | ").collect();
        let [example, place, ours, form] = parts[..] else {
            panic!("four parts: {line}")
        };
        Printed {
            example,
            place,
            ours,
            form,
        }
    };
    lines.map(read).collect()
}

fn system_of(example: &str) -> StateSystem {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/seeds/{example}.lgm"));
    system_of_text(std::fs::read_to_string(&path).unwrap())
}

fn system_of_text(source: String) -> StateSystem {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    let (system, _) = lgm::compile(&NoFiles, &mut map, root, &Request::default());
    system.expect("the model has equations")
}

/// Our result as text.
fn ours(system: &StateSystem, what: &str) -> String {
    let shown = |id: ExprId| text(&system.exprs, id);
    let state = |name: &str| {
        let place = system.states.iter().position(|state| *state.name == *name);
        place.unwrap_or_else(|| panic!("no state {name}"))
    };
    let (kind, rest) = what.split_once(' ').unwrap_or((what, ""));
    match kind {
        "equation" => shown(system.equations.derivatives[state(rest)]),
        "mass" => {
            let (row, column) = rest.split_once(' ').unwrap();
            let form = system.equations.mass_form.as_ref().expect("a form with masses");
            let terms = &form.equations[state(row)].terms;
            let column = state(column) as u32;
            shown(terms.iter().find(|term| term.0 == column).expect("a term").1)
        }
        "force" => {
            let form = system.equations.mass_form.as_ref().expect("a form with masses");
            shown(form.equations[state(rest)].right)
        }
        "output" => {
            let place = system.outputs.iter().position(|output| *output.name == *rest).unwrap();
            shown(system.equations.output_values[place])
        }
        "storage" => {
            let found = system.dependent.iter().find(|found| *found.element == *rest);
            found.expect("dependent storage").equivalent.clone()
        }
        "constant" => {
            let found = system.parameters.iter().find(|found| *found.name == *rest);
            let found = found.unwrap_or_else(|| panic!("no constant {rest}"));
            assert!(found.is_constant, "{rest}");
            shown(found.entries[0].derived.expect("a formula"))
        }
        _ => entry(system, what),
    }
}

/// An entry of a matrix, `A[1,2]`.
fn entry(system: &StateSystem, what: &str) -> String {
    let form = system.matrices.symbolic.as_ref().expect("matrices");
    let (name, rest) = what.split_once('[').unwrap();
    let (row, column) = rest.trim_end_matches(']').split_once(',').unwrap();
    let (row, column): (usize, u32) = (row.parse().unwrap(), column.parse().unwrap());
    let matrix = match name {
        "A" => &form.a,
        "B" => &form.b,
        "C" => &form.c,
        "D" => &form.d,
        _ => panic!("{what}"),
    };
    let found = matrix.rows[row - 1].iter().find(|entry| entry.0 == column - 1);
    text(&system.exprs, found.unwrap_or_else(|| panic!("{what} is zero")).1)
}

/// The operators and functions of a text, except in indices.
fn operations(text: &str) -> usize {
    let mut depth = 0;
    let signs = text.chars().filter(|letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && "+-*/^".contains(*letter)
    });
    let calls = ["sin(", "cos(", "exp(", "max(", "if "];
    signs.count() + calls.iter().map(|call| text.matches(call).count()).sum::<usize>()
}

/// Values for all names; derived ones are computed here too.
fn values(system: &StateSystem, point: u32) -> Bindings {
    let exprs = &system.exprs;
    let mut random = f64::from(point) * 0.377;
    let symbols = (0..exprs.symbol_count() as u32).map(lgm::expr::SymbolId);
    let mut known: HashMap<_, f64> = HashMap::new();
    for symbol in symbols {
        random = (random * 7.313 + 0.219).fract();
        known.insert(symbol, 0.4 + random);
    }
    for entry in system.parameters.iter().flat_map(|parameter| &parameter.entries) {
        if let Some(id) = entry.derived {
            let value = exprs.evaluate_unchecked(&[id], &|symbol| known.get(&symbol).copied())[0];
            known.insert(entry.symbol, value);
        }
    }
    let named = known
        .iter()
        .map(|(symbol, value)| (exprs.symbol_info(*symbol).name.to_string(), *value));
    named.collect()
}

#[test]
fn results_are_as_short_as_in_the_documents() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = std::fs::read_to_string(folder.join("tests/printed_forms.txt")).unwrap();
    let rows = table(&listed);
    let mut systems: HashMap<&str, StateSystem> = HashMap::new();
    let (mut lines, mut longer) = (String::new(), 0);
    for row in &rows {
        let system = systems.entry(row.example).or_insert_with(|| system_of(row.example));
        let found = ours(system, row.ours);
        for point in 1..=3 {
            let values = values(system, point);
            let (a, b) = (evaluate(&found, &values), evaluate(row.form, &values));
            let near = (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            assert!(
                near,
                "{} {}: {found} is not {}: {a}, {b}",
                row.example, row.ours, row.form
            );
        }
        let (theirs, own) = (operations(row.form), operations(&found));
        longer += usize::from(own > theirs);
        let sign = if own > theirs { " **longer**" } else { "" };
        let _ = writeln!(
            lines,
            "| `{}` {} | `{}` | `{found}` | {theirs} | {own}{sign} |",
            row.example, row.place, row.form
        );
    }
    let page = format!(
        "# Equations compared with the source documents\n\n\
         The source documents print {} results that `lgm equations` also prints. Each row shows the printed form (with errata corrected, and\n\
         in the names of the example), the form of lgm, and the operation counts of both. Signs, powers and functions are counted.\n\n\
         lgm needs no more operations than the printed form in {2} of {1} results.\n\n\
         | result | printed | lgm | operations printed | lgm |\n| --- | --- | --- | --- | --- |\n{lines}",
        rows.len(),
        rows.len(),
        rows.len() - longer,
    );
    let path = folder.join("docs/forms.md");
    if std::env::var_os("UPDATE_FORMS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/forms.md is not what is printed: run with UPDATE_FORMS=1, and read the change"
    );
}

/// The right sides of the equations of a model.
fn rates(model: &str) -> Vec<String> {
    let system = system_of_text(model.to_string());
    let rates = system.equations.derivatives.iter();
    rates.map(|id| text(&system.exprs, *id)).collect()
}

#[test]
fn flows_through_resistances_are_differences_over_them() {
    let model = "model Heat {
          param C1 = 0.1 [J/K]; param C2 = 5 [J/K]; param R12 = 2 [K/W]; param R2 = 10 [K/W]; param R1 = 30 [K/W];
          input P [W] = 5; input Ta [K] = 25;
          node die, case, air : thermal;
          p : HeatSource(P) gnd -> die; ambient : TemperatureSource(Ta) air -> gnd;
          d : ThermalCapacitor(C1) die -> gnd; c : ThermalCapacitor(C2) case -> gnd;
          inner : ThermalResistor(R12) die -> case; outer : ThermalResistor(R2) case -> air; leak : ThermalResistor(R1) die -> air;
        }";
    let flows = [
        "(P + (c.T - d.T)/R12 + (Ta - d.T)/R1)/C1",
        "((Ta - c.T)/R2 - (c.T - d.T)/R12)/C2",
    ];
    assert_eq!(rates(model), flows);
}

#[test]
fn losses_to_the_ground_have_their_own_denominator() {
    let model = "model Hub {
          param R1 = 1 [ohm]; param R2 = 2 [ohm]; param R3 = 3 [ohm]; param C = 1 [F];
          input i [A] = 1;
          node a, c : electrical;
          s : CurrentSource(i) gnd -> a; r1 : Resistor(R1) a -> gnd; r2 : Resistor(R2) a -> c;
          r3 : Resistor(R3) c -> gnd; c1 : Capacitor(C) c -> gnd;
        }";
    assert_eq!(rates(model), ["((R1*i - c1.v)/(R1 + R2) - c1.v/R3)/C"]);
}

#[test]
fn flows_through_networks_are_differences_over_their_resistances() {
    // A star of resistances: the closed forms by hand, from the conductances of the equivalent triangle.
    let model = "model Star {
          param C1=1 [F]; param C2=2 [F]; param C3=2 [F]; param R1=1 [ohm]; param R2=2 [ohm]; param R3=3 [ohm]; param R4=4 [ohm];
          input u [V] = 1;
          node s, a, m, b, c : electrical;
          src : VoltageSource(u) s -> gnd; r4 : Resistor(R4) s -> a;
          c1 : Capacitor(C1) a -> gnd; c2 : Capacitor(C2) b -> gnd; c3 : Capacitor(C3) c -> gnd;
          r1 : Resistor(R1) a -> m; r2 : Resistor(R2) b -> m; r3 : Resistor(R3) c -> m;
        }";
    let flows = [
        "((u - c1.v)/R4 + (R3*(c2.v - c1.v) + R2*(c3.v - c1.v))/(R1*(R2 + R3) + R2*R3))/C1",
        "(R3*(c1.v - c2.v) - R1*(c2.v - c3.v))/(C2*(R1*(R2 + R3) + R2*R3))",
        "(R1*(c2.v - c3.v) + R2*(c1.v - c3.v))/(C3*(R1*(R2 + R3) + R2*R3))",
    ];
    assert_eq!(rates(model), flows);
}
