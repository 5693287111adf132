//! A Julia module with the model, and a driver for OrdinaryDiffEq.

mod dialect;

use super::Package;
use super::dialect::Array;
use super::functions::Functions;
use super::names::legal;
use super::planned::entry_literals;
use super::scripts::{Programs, Script, ScriptPlan, add_trimmed, column_names, guess_lists, script_plan};
use super::subject::{Named, Parameter, ReadmeTables, Subject, names, parameter_remark, readme_tables_from};
use super::template::{Template, template, values};
use dialect::{Julia, RULES, comment, helpers, literal, string};
use lgm_kernels::operation::Space;
use std::fmt::Write;

const MODULE: Template<Module> = template!("@name@.jl", "model.jl");

const RUN: Template<Common> = template!("run_@name@.jl", "run.jl");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    /// Values shared by all templates.
    struct Common {
        ..plan: ScriptPlan;
        origin_comment: String,
        origin_markdown: String,
        model: String,
        name: String,
    }
}

values! {
    struct Module {
        ..common: Common;
        ..calls: Programs;
        title: String,
        origin: String,
        description: String,
        states_list: String,
        inputs_list: String,
        outputs_list: String,
        state_units: String,
        input_units: String,
        output_units: String,
        parameters_list: String,
        parameter_fields: String,
        parameter_lines: String,
        parameter_cases: String,
        jacobian_rows: String,
        jacobian_columns: String,
        start_given: String,
        guesses: String,
        columns_list: String,
        column_states: String,
        helpers: String,
        programs: String,
    }
}

values! {
    struct Readme {
        ..common: Common;
        ..tables: ReadmeTables;
        run_arguments: &'static str,
    }
}

/// Calls of the programs in Julia.
const SCRIPT: Script = Script {
    prefix: "program_",
    argument: |array, out| {
        match array {
            Array::Output => out,
            Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are constants"),
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
    let common = Common {
        plan: script_plan(subject, literal, "NaN"),
        origin_comment: comment(&subject.origin.sentence()),
        origin_markdown: subject.origin.sentence(),
        model: comment(&subject.system.model),
        name: legal(&subject.system.model, RULES),
    };
    let users = subject.parameters.iter().map(|parameter| parameter.name.as_str());
    let members = names(users, RULES, &[]);
    let module = module(subject, &members, common.clone());
    let has_stop = common.plan.planned.has_stop;
    let readme = Readme {
        common,
        tables: readme_tables_from(SCRIPT.first, subject, &members),
        run_arguments: if has_stop { "" } else { " --stop 10" },
    };
    let mut package = Package::default();
    add_trimmed(&mut package, &MODULE, &module);
    add_trimmed(&mut package, &RUN, &readme.common);
    add_trimmed(&mut package, &README, &readme);
    package
}

/// A vector of strings.
fn strings<'n>(list: impl Iterator<Item = &'n str>) -> String {
    let lines: String = list.map(|text| format!("    {},\n", string(text))).collect();
    format!("String[\n{lines}]")
}

fn module(subject: &Subject<'_>, members: &[String], common: Common) -> Module {
    let system = subject.system;
    let units = |list: &[Named]| strings(list.iter().map(|entry| entry.unit.as_deref().unwrap_or("")));
    let listed = |list: &[Named]| strings(list.iter().map(|entry| entry.name.as_str()));
    let (rows, columns) = subject.jacobian_pattern();
    let [jacobian_rows, jacobian_columns] = SCRIPT.entries(&rows, &columns);
    let given: Vec<String> = system
        .states
        .iter()
        .map(|state| state.start_given.to_string())
        .collect();
    let guesses = guess_lists(subject, literal, |list| format!("Float64[{}]", list.join(", ")));
    // In documentation, a dollar would be an interpolation.
    let documented = |text: &str| string(text).trim_matches('"').to_string();
    let [parameter_fields, parameter_lines, parameter_cases] = parameter_texts(subject, members);
    let mut functions = Functions::new(&Julia);
    let calls = SCRIPT.programs(subject, &mut functions);
    Module {
        title: documented(&format!("{}: state equations.", system.model)),
        origin: documented(&subject.origin.sentence()),
        description: documented(&subject.description),
        states_list: listed(&subject.states),
        inputs_list: listed(&subject.inputs),
        outputs_list: listed(&subject.outputs),
        state_units: units(&subject.states),
        input_units: units(&subject.inputs),
        output_units: units(&subject.outputs),
        parameters_list: strings(subject.entries().map(|entry| entry.name.as_str())),
        parameter_fields,
        parameter_lines,
        parameter_cases,
        jacobian_rows,
        jacobian_columns,
        start_given: format!("Bool[{}]", given.join(", ")),
        guesses,
        columns_list: strings(column_names(subject).iter().map(String::as_str)),
        column_states: SCRIPT.places(subject.columns.states.iter().map(|entry| entry.0)),
        helpers: helpers(&functions),
        programs: functions.finish(),
        common,
        calls,
    }
}

/// A number, a vector, or a matrix row by row, with its type.
fn shaped(parameter: &Parameter) -> (&'static str, String) {
    let numbers = entry_literals(parameter, literal, "NaN");
    match parameter.shape.as_slice() {
        [] => ("Float64", numbers[0].clone()),
        [_, columns] => {
            let rows: Vec<String> = numbers.chunks((*columns).max(1)).map(|row| row.join(" ")).collect();
            ("Matrix{Float64}", format!("[{}]", rows.join("; ")))
        }
        _ => ("Vector{Float64}", format!("[{}]", numbers.join(", "))),
    }
}

/// The fields of the struct of parameters, the lines that copy them, and those that set one by its name.
fn parameter_texts(subject: &Subject<'_>, members: &[String]) -> [String; 3] {
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
    [fields, lines, cases]
}
