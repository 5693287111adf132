//! One Python module over NumPy and SciPy.

mod dialect;

use super::Package;
use super::functions::{Functions, wrapped};
use super::names::legal;
use super::program::Array;
use super::subject::{Named, Subject, bracketed_guesses, labels, readme_values};
use super::template::{Values, fill};
use crate::kernels::program::Program;
use crate::kernels::{Kernel, SparseKernel};
use dialect::{Python, RULES, literal};
use std::fmt::Write;

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let mut values = Values::default();
    plain_values(subject, &mut values);
    program_values(subject, &mut values);
    let names: Vec<String> = subject
        .parameters
        .iter()
        .map(|parameter| parameter.name.clone())
        .collect();
    readme_values(subject, &names, &mut values);
    let mut package = Package::default();
    let module = format!("{}.py", values.get("library"));
    package.add(module, fill(include_str!("model.py.txt"), &values));
    package.add("README.md", fill(include_str!("README.md"), &values));
    package
}

/// A string of Python.
fn string(text: &str) -> String {
    let mut literal = "\"".to_string();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            letter if letter.is_control() => literal.push(' '),
            letter => literal.push(letter),
        }
    }
    literal + "\""
}

fn strings<'n>(list: impl Iterator<Item = &'n str>) -> String {
    let list: Vec<String> = list.map(string).collect();
    format!("[{}]", wrapped(&list))
}

fn integers(entries: impl Iterator<Item = usize>) -> String {
    let entries: Vec<String> = entries.map(|entry| entry.to_string()).collect();
    format!("[{}]", wrapped(&entries))
}

fn boolean(holds: bool) -> &'static str {
    if holds { "True" } else { "False" }
}

/// Rows and columns of the entries of a sparse matrix.
fn places(row_starts: &[usize], columns: &[usize]) -> [String; 2] {
    let rows = row_starts.windows(2).enumerate();
    let rows = rows.flat_map(|(row, range)| std::iter::repeat_n(row, range[1] - range[0]));
    [integers(rows), integers(columns.iter().copied())]
}

fn plain_values(subject: &Subject<'_>, values: &mut Values) {
    let system = subject.system;
    let (start, stop, points) = subject.plan();
    let (rtol, atol) = subject.tolerances();
    let listed = |list: &[Named]| strings(list.iter().map(|entry| entry.name.as_str()));
    let mut parameters = "[\n".to_string();
    let mut derived = "{\n".to_string();
    for parameter in &subject.parameters {
        let unit = parameter.unit.as_deref().unwrap_or("");
        for entry in &parameter.entries {
            let default = match entry.derived {
                Some(_) => "math.nan".to_string(),
                None => literal(entry.value),
            };
            let _ = writeln!(
                parameters,
                "    ({}, {}, {default}),",
                string(&entry.name),
                string(unit)
            );
            if let Some(from) = &entry.derived {
                let _ = writeln!(derived, "    {}: {},", string(&entry.name), string(from));
            }
        }
    }
    let [rows, columns] = {
        let (rows, columns) = subject.jacobian_pattern();
        places(&rows, &columns)
    };
    let given: Vec<String> = system
        .states
        .iter()
        .map(|state| boolean(state.start_given).to_string())
        .collect();
    let table = subject.columns.table();
    let fields: Vec<String> = table
        .iter()
        .map(|column| crate::emit::rows::csv_field(&column.name))
        .collect();
    values
        .set("title", format!("{}: state equations.", system.model))
        .set("origin", subject.origin.sentence().replace(['\\', '"'], " "))
        .set("description", subject.description.replace(['\\', '"'], " "))
        .set("origin_markdown", subject.origin.sentence())
        .set("model", &*system.model)
        .set("library", legal(&system.model, RULES))
        .set("states_list", listed(&subject.states))
        .set("inputs_list", listed(&subject.inputs))
        .set("outputs_list", listed(&subject.outputs))
        .set("parameters_list", parameters + "]")
        .set("derived_dict", derived + "}")
        .set("linear_word", boolean(system.linear))
        .flag("linear", system.linear)
        .flag("loops", subject.unknowns() > 0)
        .set("guesses", bracketed_guesses(subject, literal))
        .set("unknowns", subject.unknowns().to_string())
        .set("jacobian_rows", rows)
        .set("jacobian_columns", columns)
        .set("jumping", integers(subject.jumping.iter().copied()))
        .set("moves_word", boolean(subject.moves))
        .set("start_given", format!("[{}]", wrapped(&given)))
        .set("columns_list", strings(fields.iter().map(String::as_str)))
        .set(
            "column_states",
            integers(subject.columns.states.iter().map(|entry| entry.0)),
        )
        .set("plan_start", literal(start))
        .set("plan_stop", literal(stop.unwrap_or(start)))
        .set("has_stop", boolean(stop.is_some()))
        .set("plan_points", points.to_string())
        .set("plan_rtol", literal(rtol))
        .set("plan_atol", literal(atol))
        .set("simulate_arguments", if stop.is_some() { "" } else { "stop=10.0" })
        .set(
            "run_arguments",
            if stop.is_some() {
                "> run.csv"
            } else {
                "--stop 10 > run.csv"
            },
        );
}

/// What stands for each array in a method; `out` is where the results go.
fn arguments(out: &'static str) -> impl Fn(Array) -> String {
    move |array| {
        match array {
            Array::Time => "t",
            Array::Parameters => "self._p",
            Array::States => "x",
            Array::Inputs => "u",
            Array::Rates => "du",
            Array::Unknowns => "self._w",
            Array::Numbers => unreachable!("invariant: tables of numbers are the module's"),
            Array::Temporaries => "self._s",
            Array::Output => out,
        }
        .to_string()
    }
}

fn program_values(subject: &Subject<'_>, values: &mut Values) {
    let kernels = &subject.kernels;
    let corners = &subject.corners;
    let mut functions = Functions::new(&Python);
    let mut scratch: Vec<&Program> = Vec::new();
    let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, string);
    let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
    let none = |_: u32| None;
    // What computes nothing is no statement.
    let or_pass = |call: String| if call.is_empty() { "pass".to_string() } else { call };
    #[allow(clippy::type_complexity)] // Key, name, kernel, where results go, and what each of them is.
    let list: [(
        &'static str,
        &str,
        &Kernel,
        &'static str,
        &dyn Fn(u32) -> Option<String>,
    ); 13] = [
        ("derivatives_call", "_derivatives", &kernels.derivatives, "dx", &states),
        ("outputs_call", "_outputs", &kernels.outputs, "y", &outputs),
        ("starts_call", "_starts", &kernels.starts, "self.starts", &none),
        ("inputs_call", "_inputs", &kernels.inputs, "both", &none),
        (
            "direct_call",
            "_jacobian",
            &subject.jacobians().rates_by_states.values,
            "entries",
            &none,
        ),
        ("residuals_call", "_residuals", &kernels.residuals, "step", &none),
        (
            "loop_matrix_call",
            "_loop_matrix",
            &subject.jacobians().residuals_by_unknowns.values,
            "entries",
            &none,
        ),
        (
            "by_loop_call",
            "_by_unknowns",
            &subject.jacobians().rates_by_unknowns.values,
            "entries",
            &none,
        ),
        (
            "by_state_call",
            "_residuals_by_states",
            &subject.jacobians().residuals_by_states.values,
            "entries",
            &none,
        ),
        ("instants_call", "_instants", corners.instants(), "instants", &none),
        ("switches_call", "_switches", corners.switches(), "values", &none),
        ("phases_call", "_phases", corners.phases(), "phases", &none),
        ("conditions_call", "_crossings", corners.crossings(), "values", &none),
    ];
    for (key, name, kernel, out, remark) in list {
        functions.add(name, kernel.program(), remark);
        scratch.push(kernel.program());
        values.set(key, or_pass(functions.call(name, &arguments(out))));
    }
    // The same functions over symbols.
    let symbols = |array| match array {
        Array::Parameters => "p".to_string(),
        Array::Unknowns => "w".to_string(),
        Array::Temporaries => "s".to_string(),
        _ => arguments("out")(array),
    };
    for (key, name) in [
        ("symbolic_derivatives", "_derivatives"),
        ("symbolic_outputs", "_outputs"),
        ("symbolic_residuals", "_residuals"),
    ] {
        let call = functions.call(name, &symbols);
        values.set(key, if call.is_empty() { "None".to_string() } else { call });
    }
    values.set(
        "constraints",
        match subject.system.start_constraints.len() {
            0 => String::new(),
            count => count.to_string(),
        },
    );
    if let Some(kernel) = &subject.constraints {
        functions.add("_starts_of_dependents", kernel.program(), &none);
        scratch.push(kernel.program());
        values.set(
            "constraints_call",
            functions.call("_starts_of_dependents", &arguments("pairs")),
        );
    }
    let mut lines = String::new();
    for (order, (position, kernel)) in kernels.derived().iter().enumerate() {
        let name = format!("_derived_{}", order + 1);
        functions.add(&name, kernel.program(), &none);
        scratch.push(kernel.program());
        let call = functions.call(&name, &arguments("one"));
        let _ = write!(
            lines,
            "            if math.isnan(p[{position}]):\n                one = np.zeros(1)\n                {call}\n                \
             p[{position}] = one[0]\n"
        );
    }
    values
        .set("derived_lines", lines)
        .set("crossings", corners.crossings().outputs().to_string())
        .set("instants_count", corners.instants().outputs().to_string())
        .set("switch_count", corners.switches().outputs().to_string())
        .set("phase_count", corners.phases().outputs().to_string());
    let matrices: [(&'static str, &'static str, &SparseKernel); 4] = [
        ("direct_places", "direct_count", &subject.jacobians().rates_by_states),
        (
            "by_loop_places",
            "by_loop_count",
            &subject.jacobians().rates_by_unknowns,
        ),
        (
            "by_state_places",
            "by_state_count",
            &subject.jacobians().residuals_by_states,
        ),
        ("loop_places", "loop_count", &subject.jacobians().residuals_by_unknowns),
    ];
    for (key, count, matrix) in matrices {
        values.set(key, places(&matrix.row_starts, &matrix.columns_of).join(", "));
        values.set(count, matrix.stored().to_string());
    }
    values.set("scratch", Subject::scratch(&scratch).to_string());
    values.set("programs", functions.finish().trim_end().to_string() + "\n");
}
