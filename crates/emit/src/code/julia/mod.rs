//! A Julia module with the model, and a driver for OrdinaryDiffEq.

mod dialect;

use super::Package;
use super::functions::Functions;
use super::names::legal;
use super::program::Array;
use super::scripts::{Script, plan_values};
use super::subject::{JUMP_PARTS, Named, Parameter, Subject, names, parameter_remark, readme_values_from};
use super::template::{Values, fill};
use crate::rows::csv_field;
use dialect::{Julia, RULES, comment, helpers, literal, string};
use std::fmt::Write;

/// The files with their templates.
const TEMPLATES: [(&str, &str); 3] = [
    ("@name@.jl", include_str!("model.jl")),
    ("run_@name@.jl", include_str!("run.jl")),
    ("README.md", include_str!("README.md")),
];

/// How Julia calls the programs.
const SCRIPT: Script = Script {
    prefix: "program_",
    argument: |array, out| {
        match array {
            Array::Output => out,
            Array::Numbers => unreachable!("invariant: tables of numbers are constants"),
            _ => array.name(),
        }
        .to_string()
    },
    starts: "starts",
    nothing: "",
    quote: comment,
    derived: |position, call| {
        format!(
            "    if isnan(p[{position}])\n        one = zeros(1)\n        {call}\n        p[{position}] = one[1]\n    end\n"
        )
    },
    first: 1,
    goes_on: "",
};

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let mut values = Values::default();
    plain_values(subject, &mut values);
    let users = subject.parameters.iter().map(|parameter| parameter.name.as_str());
    let members = names(users, RULES, &[]);
    parameter_values(subject, &members, &mut values);
    let mut functions = Functions::new(&Julia);
    SCRIPT.programs(subject, &mut functions, &mut values);
    let programs = functions.finish();
    values.set("helpers", helpers(&programs)).set("programs", programs);
    readme_values_from(SCRIPT.first, subject, &members, &mut values);
    let jump = match subject.jumps() {
        true => fill(include_str!("jump.jl"), &values),
        false => String::new(),
    };
    values.set("jump", jump);
    let mut package = Package::default();
    for (path, template) in TEMPLATES {
        let path = fill(path, &values);
        // What computes nothing leaves an empty line behind.
        let text = fill(template, &values);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        package.add(path.trim_end(), lines.join("\n").trim_end().to_string() + "\n");
    }
    package
}

/// A vector of strings.
fn strings<'n>(list: impl Iterator<Item = &'n str>) -> String {
    let lines: String = list.map(|text| format!("    {},\n", string(text))).collect();
    format!("String[\n{lines}]")
}

fn plain_values(subject: &Subject<'_>, values: &mut Values) {
    let system = subject.system;
    plan_values(subject, (literal, "NaN"), values);
    let units = |list: &[Named]| strings(list.iter().map(|entry| entry.unit.as_deref().unwrap_or("")));
    let listed = |list: &[Named]| strings(list.iter().map(|entry| entry.name.as_str()));
    let (rows, columns) = subject.jacobian_pattern();
    let [rows, columns] = SCRIPT.entries(&rows, &columns);
    let table = subject.columns.table();
    let fields: Vec<String> = table.iter().map(|column| csv_field(&column.name)).collect();
    let given: Vec<String> = system
        .states
        .iter()
        .map(|state| state.start_given.to_string())
        .collect();
    let guesses: Vec<String> = subject
        .guesses()
        .iter()
        .map(|list| {
            let list: Vec<String> = list.iter().map(|value| literal(*value)).collect();
            format!("Float64[{}]", list.join(", "))
        })
        .collect();
    let kinds: Vec<String> = subject.kinds().iter().map(|kind| (kind + 1).to_string()).collect();
    let has_stop = !values.get("has_stop").is_empty();
    // In documentation, a dollar would be an interpolation.
    let told = |text: &str| string(text).trim_matches('"').to_string();
    let entry_names = strings(subject.entries().map(|entry| entry.name.as_str()));
    values
        .set("title", told(&format!("{}: state equations.", system.model)))
        .set("origin", told(&subject.origin.sentence()))
        .set("origin_comment", comment(&subject.origin.sentence()))
        .set("origin_markdown", subject.origin.sentence())
        .set("description", told(&subject.description))
        .set("model", comment(&system.model))
        .set("name", legal(&system.model, RULES))
        .set("states_list", listed(&subject.states))
        .set("inputs_list", listed(&subject.inputs))
        .set("outputs_list", listed(&subject.outputs))
        .set("state_units", units(&subject.states))
        .set("input_units", units(&subject.inputs))
        .set("output_units", units(&subject.outputs))
        .set("parameters_list", entry_names)
        .set("jacobian_rows", rows)
        .set("jacobian_columns", columns)
        .set("linear_word", system.linear.to_string())
        .set("moves_word", subject.moves.to_string())
        .flag("jumps", subject.jumps())
        .set("jump_parts", JUMP_PARTS.to_string())
        .set("state_kinds", format!("[{}]", kinds.join(", ")))
        .set("jump_guesses", format!("[{}]", guesses.join(", ")))
        .set("start_given", format!("Bool[{}]", given.join(", ")))
        .set("guesses", format!("[{}]", guesses.join(", ")))
        .set("columns_list", strings(fields.iter().map(String::as_str)))
        .set(
            "column_states",
            SCRIPT.places(subject.columns.states.iter().map(|entry| entry.0)),
        )
        .set("simulate_arguments", if has_stop { "" } else { "; stop = 10.0" })
        .set("run_arguments", if has_stop { "" } else { " --stop 10" });
}

/// A number, a vector, or a matrix row by row, with its type.
fn shaped(parameter: &Parameter) -> (&'static str, String) {
    let numbers: Vec<String> = parameter
        .entries
        .iter()
        .map(|entry| match entry.derived {
            Some(_) => "NaN".to_string(),
            None => literal(entry.value),
        })
        .collect();
    match parameter.shape.as_slice() {
        [] => ("Float64", numbers[0].clone()),
        [_, columns] => {
            let rows: Vec<String> = numbers.chunks((*columns).max(1)).map(|row| row.join(" ")).collect();
            ("Matrix{Float64}", format!("[{}]", rows.join("; ")))
        }
        _ => ("Vector{Float64}", format!("[{}]", numbers.join(", "))),
    }
}

fn parameter_values(subject: &Subject<'_>, members: &[String], values: &mut Values) {
    let (mut fields, mut lines, mut cases) = (String::new(), String::new(), String::new());
    for (parameter, member) in subject.parameters.iter().zip(members) {
        let remark = string(&format!("`{}`: {}", parameter.name, parameter_remark(parameter)));
        let (kind, value) = shaped(parameter);
        let _ = writeln!(fields, "    {remark}\n    {member}::{kind} = {value}");
        let (first, last) = (parameter.first + 1, parameter.first + parameter.entries.len());
        let _ = match parameter.shape.len() {
            0 => writeln!(lines, "    p[{first}] = given.{member}"),
            1 => writeln!(lines, "    p[{first}:{last}] .= given.{member}"),
            // Row by row.
            _ => writeln!(lines, "    p[{first}:{last}] .= vec(permutedims(given.{member}))"),
        };
        for (at, entry) in parameter.entries.iter().enumerate() {
            let place = match parameter.shape.as_slice() {
                [] => format!("given.{member}"),
                [_, columns] => format!("given.{member}[{}, {}]", at / columns + 1, at % columns + 1),
                _ => format!("given.{member}[{}]", at + 1),
            };
            let _ = writeln!(cases, "    name == {} && return {place} = value", string(&entry.name));
        }
    }
    values
        .set("parameter_fields", fields)
        .set("parameter_lines", lines)
        .set("parameter_cases", cases);
}
