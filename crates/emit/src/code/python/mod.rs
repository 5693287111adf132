//! One Python module over NumPy and SciPy.

mod dialect;
mod events;
mod script;

use super::Package;
use super::dialect::Array;
use super::events::Changing;
use super::functions::{Functions, wrapped};
use super::names::legal;
use super::scripts::{Programs, ScriptPlan, column_names, script_plan};
use super::subject::{Named, ReadmeTables, Subject, bracketed_guesses, labels, readme_tables};
use super::template::{Template, template, values};
use dialect::{Python, RULES, literal};
pub(super) use events::mind_events;
use events::{Calls, modal, scratch};
use lgm_kernels::operation::Space;
use script::{SCRIPT, boolean, string, strings};
use std::fmt::Write;

const MODULE: Template<Module> = template!("@library@.py", "model.py.txt");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    /// Values shared by all templates.
    struct Common {
        ..plan: ScriptPlan;
        description: String,
        library: String,
        origin_markdown: String,
        model: String,
        several: bool,
    }
}

values! {
    struct Module {
        ..common: Common;
        ..calls: Programs;
        ?changing: Calls;
        events_usage: &'static str,
        has_kinds: bool,
        title: String,
        origin: String,
        loops_words: String,
        states_list: String,
        inputs_list: String,
        outputs_list: String,
        parameters_list: String,
        derived_dict: String,
        linear_word: &'static str,
        settled_unknowns: String,
        guesses: String,
        jacobian_rows: String,
        jacobian_columns: String,
        has_stop_word: &'static str,
        moves_word: &'static str,
        bending: String,
        state_kinds: String,
        start_given: String,
        columns_list: String,
        column_states: String,
        symbolic_derivatives: String,
        symbolic_outputs: String,
        symbolic_residuals: String,
        programs: String,
    }
}

values! {
    struct Readme {
        ..common: Common;
        ..tables: ReadmeTables;
        is_changing: bool,
        simulate_arguments: &'static str,
        run_arguments: &'static str,
    }
}

/// All files.
pub(super) fn package(subject: &Subject<'_>, changing: Changing<'_>) -> Package {
    let system = subject.system;
    let common = Common {
        plan: script_plan(subject, literal, "None"),
        description: subject.description.replace(['\\', '"'], " "),
        library: legal(&system.model, RULES),
        origin_markdown: subject.origin.sentence(),
        model: system.model.to_string(),
        several: changing.is_some_and(|(gathered, _)| gathered.rows.len() > 1),
    };
    let names: Vec<String> = subject
        .parameters
        .iter()
        .map(|parameter| parameter.name.clone())
        .collect();
    let module = module(subject, common.clone(), changing);
    let has_stop = common.plan.planned.has_stop;
    let readme = Readme {
        tables: readme_tables(subject, &names),
        is_changing: changing.is_some(),
        simulate_arguments: if has_stop { "" } else { "stop=10.0" },
        run_arguments: match has_stop {
            true => "> run.csv",
            false => "--stop 10 > run.csv",
        },
        common,
    };
    let mut package = Package::default();
    package.add(MODULE.path(&module), MODULE.text(&module));
    package.add(README.path(&readme), README.text(&readme));
    package
}

/// The list of parameters with units and defaults, and what derived ones follow from.
fn parameters(subject: &Subject<'_>) -> [String; 2] {
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
    [parameters + "]", derived + "}"]
}

fn module(subject: &Subject<'_>, common: Common, changing: Changing<'_>) -> Module {
    let system = subject.system;
    let listed = |list: &[Named]| strings(list.iter().map(|entry| entry.name.as_str()));
    let bracketed = |list: Vec<String>| format!("[{}]", wrapped(&list));
    let [parameters_list, derived_dict] = parameters(subject);
    let (rows, columns) = subject.jacobian_pattern();
    let [jacobian_rows, jacobian_columns] = SCRIPT.entries(&rows, &columns);
    let given = system.states.iter().map(|state| boolean(state.start_given).to_string());
    let settled = subject.settled_unknowns();
    let mut functions = Functions::new(&Python);
    let mut calls = SCRIPT.programs(subject, &mut functions);
    let changing = changing.map(|(gathered, kernels)| {
        if common.several {
            let of = |prefix: &'static str, list: &[Named]| labels(prefix, list, string);
            let (states, outputs) = (of("der ", &subject.states), of("", &subject.outputs));
            let derivatives = ("derivatives", "dx");
            calls.derivatives_call = modal(&mut functions, derivatives, &kernels.derivatives, &states);
            calls.outputs_call = modal(&mut functions, ("outputs", "y"), &kernels.outputs, &outputs);
        }
        calls.scratch = calls.scratch.max(scratch(kernels));
        events::calls(subject, &mut functions, (gathered, kernels))
    });
    // The same functions over symbols.
    let symbols = |array| match array {
        Array::Read(Space::Parameters) => "p".to_string(),
        Array::Read(Space::Unknowns) => "w".to_string(),
        Array::Read(Space::Temporaries) => "s".to_string(),
        _ => (SCRIPT.argument)(array, "out"),
    };
    let symbolic = |name: &str| match functions.call(name, &symbols) {
        none if none.is_empty() => "None".to_string(),
        call => call,
    };
    Module {
        title: format!("{}: state equations.", system.model),
        origin: subject.origin.sentence().replace(['\\', '"'], " "),
        loops_words: subject.loops_in_words().replace(['\\', '"', '{', '}'], " "),
        states_list: listed(&subject.states),
        inputs_list: listed(&subject.inputs),
        outputs_list: listed(&subject.outputs),
        parameters_list,
        derived_dict,
        linear_word: boolean(system.equations.linear),
        settled_unknowns: bracketed(settled.map(|is_settled| boolean(is_settled).to_string()).collect()),
        guesses: bracketed_guesses(subject, literal),
        jacobian_rows,
        jacobian_columns,
        has_stop_word: boolean(common.plan.planned.has_stop),
        moves_word: boolean(subject.moves),
        bending: bracketed(subject.bending.iter().map(usize::to_string).collect()),
        state_kinds: bracketed(subject.kinds().iter().map(usize::to_string).collect()),
        start_given: bracketed(given.collect()),
        columns_list: strings(column_names(subject).iter().map(String::as_str)),
        column_states: SCRIPT.places(subject.columns.states.iter().map(|entry| entry.0)),
        events_usage: if changing.is_some() { " [--events FILE]" } else { "" },
        has_kinds: subject.jumps() || changing.is_some(),
        changing,
        symbolic_derivatives: symbolic("_derivatives"),
        symbolic_outputs: symbolic("_outputs"),
        symbolic_residuals: symbolic("_residuals"),
        programs: functions.finish().trim_end().to_string() + "\n",
        common,
        calls,
    }
}
