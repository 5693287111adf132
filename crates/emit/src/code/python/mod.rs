//! One Python module over NumPy and SciPy.

mod dialect;

use super::Package;
use super::functions::{Functions, wrapped};
use super::names::{legal, quoted};
use super::program::Array;
use super::scripts::{Script, plan_values};
use super::subject::{JUMP_PARTS, Named, Subject, bracketed_guesses, readme_values};
use super::template::{Values, fill};
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
    quoted(text, &['\\', '"'])
}

fn strings<'n>(list: impl Iterator<Item = &'n str>) -> String {
    let list: Vec<String> = list.map(string).collect();
    format!("[{}]", wrapped(&list))
}

fn boolean(holds: bool) -> &'static str {
    if holds { "True" } else { "False" }
}

fn plain_values(subject: &Subject<'_>, values: &mut Values) {
    let system = subject.system;
    let (_, stop, _) = subject.plan();
    plan_values(subject, (literal, "None"), values);
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
        SCRIPT.entries(&rows, &columns)
    };
    let given: Vec<String> = system
        .states
        .iter()
        .map(|state| boolean(state.start_given).to_string())
        .collect();
    let kinds: Vec<String> = subject.kinds().iter().map(usize::to_string).collect();
    let bending: Vec<String> = subject.bending.iter().map(usize::to_string).collect();
    let settled = subject.settled_unknowns();
    let settled: Vec<String> = settled.map(|is_settled| boolean(is_settled).to_string()).collect();
    let table = subject.columns.table();
    let fields: Vec<String> = table
        .iter()
        .map(|column| crate::rows::csv_field(&column.name))
        .collect();
    values
        .set("title", format!("{}: state equations.", system.model))
        .set("origin", subject.origin.sentence().replace(['\\', '"'], " "))
        .set("description", subject.description.replace(['\\', '"'], " "))
        .set("origin_markdown", subject.origin.sentence())
        .set("model", &*system.model)
        .set(
            "loops_words",
            subject.loops_in_words().replace(['\\', '"', '{', '}'], " "),
        )
        .set("library", legal(&system.model, RULES))
        .set("states_list", listed(&subject.states))
        .set("inputs_list", listed(&subject.inputs))
        .set("outputs_list", listed(&subject.outputs))
        .set("parameters_list", parameters + "]")
        .set("derived_dict", derived + "}")
        .set("linear_word", boolean(system.linear))
        .flag("branches", subject.has_branches())
        .set("settled_unknowns", format!("[{}]", wrapped(&settled)))
        .set("guesses", bracketed_guesses(subject, literal))
        .set("jacobian_rows", rows)
        .set("jacobian_columns", columns)
        .set("has_stop_word", boolean(stop.is_some()))
        .set("moves_word", boolean(subject.moves))
        .flag("bends", !subject.bending.is_empty())
        .set("bending", format!("[{}]", wrapped(&bending)))
        .flag("jumps", subject.jumps())
        .set("jump_parts", JUMP_PARTS.to_string())
        .set("state_kinds", format!("[{}]", wrapped(&kinds)))
        .set("start_given", format!("[{}]", wrapped(&given)))
        .set("columns_list", strings(fields.iter().map(String::as_str)))
        .set(
            "column_states",
            SCRIPT.places(subject.columns.states.iter().map(|entry| entry.0)),
        )
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

/// How Python calls the programs, in the methods of the class.
const SCRIPT: Script = Script {
    prefix: "_",
    argument: |array, out| {
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
    },
    starts: "self.starts",
    nothing: "pass",
    quote: string,
    derived: |position, call| {
        format!(
            "            if math.isnan(p[{position}]):\n                one = np.zeros(1)\n                {call}\n                \
             p[{position}] = one[0]\n"
        )
    },
    first: 0,
    goes_on: "",
};

fn program_values(subject: &Subject<'_>, values: &mut Values) {
    let mut functions = Functions::new(&Python);
    SCRIPT.programs(subject, &mut functions, values);
    // The same functions over symbols.
    let symbols = |array| match array {
        Array::Parameters => "p".to_string(),
        Array::Unknowns => "w".to_string(),
        Array::Temporaries => "s".to_string(),
        _ => (SCRIPT.argument)(array, "out"),
    };
    for (key, name) in [
        ("symbolic_derivatives", "_derivatives"),
        ("symbolic_outputs", "_outputs"),
        ("symbolic_residuals", "_residuals"),
    ] {
        let call = functions.call(name, &symbols);
        values.set(key, if call.is_empty() { "None".to_string() } else { call });
    }
    values.set("programs", functions.finish().trim_end().to_string() + "\n");
}
