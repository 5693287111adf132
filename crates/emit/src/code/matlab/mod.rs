//! Functions for MATLAB and Octave: the model as a struct of function handles, its parameters, runs.

mod dialect;

use super::Package;
use super::dialect::Array;
use super::functions::Functions;
use super::names::{Scope, legal, one_line};
use super::planned::entry_literals;
use super::scripts::{Programs, Script, ScriptPlan, add_trimmed, column_names, guess_lists, script_plan};
use super::subject::{Named, Parameter, ReadmeTables, Subject, parameter_remark, readme_tables_from};
use super::template::{Template, template, values};
use dialect::{Matlab, RULES, helpers, literal, string};
use lgm_kernels::operation::Space;
use lgm_model::SiUnit;
use std::fmt::Write;

/// The language distinguishes names by their first 63 letters; endings and numbers take some of them.
const LONGEST: usize = 48;

const MODEL: Template<Model> = template!("@name@.m", "model.m");

const PARAMETERS: Template<Defaults> = template!("@name@_parameters.m", "parameters.m");

/// Runs.
const RUNS: [Template<Common>; 2] = [
    template!("@name@_simulate.m", "simulate.m"),
    template!("@name@_run.m", "run.m"),
];

/// The effect of input steps on states if it depends on the point.
const JUMP: Template<Common> = template!("@name@_jump.m", "jump.m");

/// Linear models for the Control System Toolbox.
const SS: Template<Common> = template!("@name@_ss.m", "ss.m");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    /// Values shared by all templates.
    struct Common {
        ..plan: ScriptPlan;
        origin: String,
        origin_markdown: String,
        description: String,
        model: String,
        shout: String,
        name: String,
    }
}

values! {
    struct Model {
        ..common: Common;
        ..calls: Programs;
        title: String,
        name_string: String,
        states_list: String,
        inputs_list: String,
        outputs_list: String,
        parameters_list: String,
        parameter_lines: String,
        start_given: String,
        guesses: String,
        columns_list: String,
        column_states: String,
        helpers: String,
        programs: String,
    }
}

values! {
    struct Defaults {
        ..common: Common;
        parameter_defaults: String,
    }
}

values! {
    struct Readme {
        ..common: Common;
        ..tables: ReadmeTables;
        simulate_arguments: &'static str,
    }
}

/// Calls of the programs in MATLAB, in the functions of the model's file.
const SCRIPT: Script = Script {
    prefix: "program_",
    argument: |array, out| {
        match array {
            Array::Output => out,
            Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are functions"),
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
    let common = common(subject);
    let members = members(subject);
    let [parameter_defaults, parameter_lines] = parameter_texts(subject, &members);
    let model = model(subject, parameter_lines, common.clone());
    let defaults = Defaults {
        common: common.clone(),
        parameter_defaults,
    };
    let has_stop = common.plan.planned.has_stop;
    let readme = Readme {
        tables: readme_tables_from(SCRIPT.first, subject, &members),
        simulate_arguments: if has_stop { "" } else { ", 'stop', 10" },
        common,
    };
    let mut package = Package::default();
    add_trimmed(&mut package, &MODEL, &model);
    add_trimmed(&mut package, &PARAMETERS, &defaults);
    for template in &RUNS {
        add_trimmed(&mut package, template, &readme.common);
    }
    if subject.jumps() {
        add_trimmed(&mut package, &JUMP, &readme.common);
    }
    if subject.system.equations.linear {
        add_trimmed(&mut package, &SS, &readme.common);
    }
    add_trimmed(&mut package, &README, &readme);
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

fn common(subject: &Subject<'_>) -> Common {
    let system = subject.system;
    let name = shortened(&system.model);
    Common {
        plan: script_plan(subject, literal, "NaN"),
        origin: one_line(&subject.origin.sentence()),
        origin_markdown: subject.origin.sentence(),
        description: one_line(&subject.description),
        model: one_line(&system.model),
        shout: name.to_ascii_uppercase(),
        name,
    }
}

fn model(subject: &Subject<'_>, parameter_lines: String, common: Common) -> Model {
    let system = subject.system;
    let listed = |list: &[Named]| pairs(list.iter().map(|entry| (entry.name.as_str(), &entry.unit)));
    let entries = subject.parameters.iter().flat_map(|parameter| {
        parameter
            .entries
            .iter()
            .map(|entry| (entry.name.as_str(), &parameter.unit))
    });
    let entries: Vec<(&str, &Option<SiUnit>)> = entries.collect();
    let given = system.states.iter().map(|state| usize::from(state.start_given));
    let mut functions = Functions::new(&Matlab);
    let calls = SCRIPT.programs(subject, &mut functions);
    Model {
        title: format!("{}: state equations.", one_line(&system.model)),
        name_string: string(&system.model),
        states_list: listed(&subject.states),
        inputs_list: listed(&subject.inputs),
        outputs_list: listed(&subject.outputs),
        parameters_list: pairs(entries.into_iter()),
        parameter_lines,
        start_given: format!("{}'", SCRIPT.integers(given)),
        guesses: guess_lists(subject, literal, |list| format!("[{}]", list.join("; "))),
        columns_list: strings(column_names(subject).iter().map(String::as_str)),
        column_states: SCRIPT.places(subject.columns.states.iter().map(|entry| entry.0)),
        helpers: helpers(&functions),
        programs: functions.finish(),
        common,
        calls,
    }
}

/// A column, or a matrix row by row.
fn shaped(parameter: &Parameter) -> String {
    let numbers = entry_literals(parameter, literal, "NaN");
    match parameter.shape.as_slice() {
        [] => numbers[0].clone(),
        [_, columns] if !numbers.is_empty() => {
            let rows: Vec<String> = numbers.chunks((*columns).max(1)).map(|row| row.join(", ")).collect();
            format!("[{}]", rows.join("; "))
        }
        _ => format!("[{}]", numbers.join("; ")),
    }
}

/// The lines that give the parameters their defaults, and those that copy them.
fn parameter_texts(subject: &Subject<'_>, members: &[String]) -> [String; 2] {
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
    [defaults, lines]
}
