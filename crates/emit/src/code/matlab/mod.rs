//! Functions for MATLAB and Octave: the model as a struct of function handles, its parameters, runs.

mod dialect;

use super::Package;
use super::functions::Functions;
use super::names::{Scope, legal, one_line};
use super::program::Array;
use super::scripts::{Script, plan_values};
use super::subject::{JUMP_PARTS, Named, Parameter, Subject, parameter_remark, readme_values_from};
use super::template::{Values, fill};
use crate::rows::csv_field;
use dialect::{Matlab, RULES, helpers, literal, string};
use lgm_model::SiUnit;
use std::fmt::Write;

/// The language tells names apart by their first 63 letters; endings and numbers take some of them.
const LONGEST: usize = 48;

/// The files that every model has, with their templates.
const TEMPLATES: [(&str, &str); 4] = [
    ("@name@.m", include_str!("model.m")),
    ("@name@_parameters.m", include_str!("parameters.m")),
    ("@name@_simulate.m", include_str!("simulate.m")),
    ("@name@_run.m", include_str!("run.m")),
];

/// What steps of inputs do to states where that depends on the point.
const JUMP: (&str, &str) = ("@name@_jump.m", include_str!("jump.m"));

/// How MATLAB calls the programs, in the functions of the model's file.
const SCRIPT: Script = Script {
    prefix: "program_",
    argument: |array, out| {
        match array {
            Array::Output => out,
            Array::Numbers => unreachable!("invariant: tables of numbers are functions"),
            _ => array.name(),
        }
        .to_string()
    },
    starts: "starts",
    nothing: "",
    quote: one_line,
    derived: |position, call| {
        format!(
            "    if isnan(p({position}))\n        one = 0;\n        {call}\n        p({position}) = one;\n    end\n"
        )
    },
    first: 1,
    goes_on: " ...",
};

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let mut values = Values::default();
    plain_values(subject, &mut values);
    let members = members(subject);
    parameter_values(subject, &members, &mut values);
    let mut functions = Functions::new(&Matlab);
    SCRIPT.programs(subject, &mut functions, &mut values);
    let programs = functions.finish();
    values.set("helpers", helpers(&programs)).set("programs", programs);
    readme_values_from(SCRIPT.first, subject, &members, &mut values);
    let mut package = Package::default();
    let mut add = |path: &str, template: &str| {
        let path = fill(path, &values);
        // What computes nothing leaves an empty line behind.
        let lines: Vec<String> = fill(template, &values)
            .lines()
            .map(|line| line.trim_end().to_string())
            .collect();
        package.add(path.trim_end(), lines.join("\n").trim_end().to_string() + "\n");
    };
    for (path, template) in TEMPLATES {
        add(path, template);
    }
    if subject.jumps() {
        add(JUMP.0, JUMP.1);
    }
    if subject.system.linear {
        add("@name@_ss.m", include_str!("ss.m"));
    }
    add("README.md", include_str!("README.md"));
    package
}

/// The first letters of a name, where it is too long for this language.
fn shortened(name: &str) -> String {
    legal(name, RULES).chars().take(LONGEST).collect()
}

/// The fields of the struct of parameters.
fn members(subject: &Subject<'_>) -> Vec<String> {
    let mut scope = Scope::new(RULES);
    let users = subject.parameters.iter();
    users.map(|parameter| scope.name(&shortened(&parameter.name))).collect()
}

/// A column of strings, one a line.
fn strings<'n>(list: impl Iterator<Item = &'n str>) -> String {
    let lines: String = list.map(|name| format!("        {}\n", string(name))).collect();
    format!("{{\n{lines}    }}")
}

/// Names and units.
fn pairs<'n>(list: impl ExactSizeIterator<Item = (&'n str, &'n Option<SiUnit>)>) -> String {
    if list.len() == 0 {
        return "cell(0, 2)".to_string();
    }
    let line = |(name, unit): (&str, &Option<SiUnit>)| {
        let unit = unit.as_deref().unwrap_or("");
        format!("        {}, {}\n", string(name), string(unit))
    };
    format!("{{\n{}    }}", list.map(line).collect::<String>())
}

fn plain_values(subject: &Subject<'_>, values: &mut Values) {
    let system = subject.system;
    plan_values(subject, (literal, "NaN"), values);
    let name = shortened(&system.model);
    let listed = |list: &[Named]| pairs(list.iter().map(|entry| (entry.name.as_str(), &entry.unit)));
    let entries = subject.parameters.iter().flat_map(|parameter| {
        parameter
            .entries
            .iter()
            .map(|entry| (entry.name.as_str(), &parameter.unit))
    });
    let entries: Vec<(&str, &Option<SiUnit>)> = entries.collect();
    let table = subject.columns.table();
    let fields: Vec<String> = table.iter().map(|column| csv_field(&column.name)).collect();
    let given = system.states.iter().map(|state| usize::from(state.start_given));
    let guesses: Vec<String> = subject
        .guesses()
        .iter()
        .map(|list| {
            let list: Vec<String> = list.iter().map(|value| literal(*value)).collect();
            format!("[{}]", list.join("; "))
        })
        .collect();
    let has_stop = !values.get("has_stop").is_empty();
    let stop = values.get("plan_stop_or_nan").to_string();
    values
        .set("title", format!("{}: state equations.", one_line(&system.model)))
        .set("origin", one_line(&subject.origin.sentence()))
        .set("origin_markdown", subject.origin.sentence())
        .set("description", one_line(&subject.description))
        .set("model", one_line(&system.model))
        .set("name_string", string(&system.model))
        .set("shout", name.to_ascii_uppercase())
        .set("name", name)
        .set("states_list", listed(&subject.states))
        .set("inputs_list", listed(&subject.inputs))
        .set("outputs_list", listed(&subject.outputs))
        .set("parameters_list", pairs(entries.into_iter()))
        .set("linear_word", system.linear.to_string())
        .set("moves_word", subject.moves.to_string())
        .flag("jumps", subject.jumps())
        .set("jump_parts", JUMP_PARTS.to_string())
        .set("start_given", format!("{}'", SCRIPT.integers(given)))
        .set("guesses", format!("[{}]", guesses.join(", ")))
        .set("columns_list", strings(fields.iter().map(String::as_str)))
        .set(
            "column_states",
            SCRIPT.places(subject.columns.states.iter().map(|entry| entry.0)),
        )
        .set("plan_stop", stop)
        .set("simulate_arguments", if has_stop { "" } else { ", 'stop', 10" });
}

/// A column, or a matrix row by row.
fn shaped(parameter: &Parameter) -> String {
    let numbers: Vec<String> = parameter
        .entries
        .iter()
        .map(|entry| match entry.derived {
            Some(_) => "NaN".to_string(),
            None => literal(entry.value),
        })
        .collect();
    match parameter.shape.as_slice() {
        [] => numbers[0].clone(),
        [_, columns] if !numbers.is_empty() => {
            let rows: Vec<String> = numbers.chunks((*columns).max(1)).map(|row| row.join(", ")).collect();
            format!("[{}]", rows.join("; "))
        }
        _ => format!("[{}]", numbers.join("; ")),
    }
}

fn parameter_values(subject: &Subject<'_>, members: &[String], values: &mut Values) {
    let (mut defaults, mut lines) = (String::new(), String::new());
    for (parameter, member) in subject.parameters.iter().zip(members) {
        let remark = one_line(&format!("{}: {}", parameter.name, parameter_remark(parameter)));
        let _ = writeln!(
            defaults,
            "    % {remark}\n    parameters.{member} = {};",
            shaped(parameter)
        );
        let (first, last) = (parameter.first + 1, parameter.first + parameter.entries.len());
        let _ = match parameter.shape.is_empty() {
            true => writeln!(lines, "    p({first}) = given.{member};"),
            // Matrices are row by row.
            false => writeln!(lines, "    p({first}:{last}) = reshape(given.{member}.', [], 1);"),
        };
    }
    values.set("parameter_defaults", defaults).set("parameter_lines", lines);
}
