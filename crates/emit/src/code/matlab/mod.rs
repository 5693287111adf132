//! One function file for MATLAB and Octave: the model as a struct of function handles.

mod dialect;

use super::Package;
use super::functions::wrapped;
use super::named::Book;
use super::names::legal;
use super::planned::entry_literals;
use super::script::{
    Facts, Notation, Places, ScriptLanguage, Writer, column_names, derived, derived_lines, facts, parameter_words,
};
use super::subject::{Parameter, ReadmeTables, Subject, readme_tables_from};
use super::template::{Template, template, values};
use dialect::{Matlab, RULES, helpers, literal, quote};
use std::fmt::Write;

/// The language distinguishes names by their first 63 letters; endings and numbers take some of them.
const LONGEST: usize = 48;

const MODEL: Template<Model> = template!("@name@.m", "model.m");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    struct Model {
        ..facts: Facts;
        name: String,
        example_stop: String,
        parameter_fields: String,
        derived_lines: String,
        flat: bool,
        functions: String,
        unknowns: usize,
        outputs: usize,
        clamped_rates: String,
        clamped_margins: String,
        here_outputs: String,
        solver: &'static str,
        columns: String,
        corner_times: &'static str,
        more_options: String,
    }
}

values! {
    struct Readme {
        ..tables: ReadmeTables;
        name: String,
        model: String,
        origin: String,
        stop_argument: &'static str,
    }
}

const NOTATION: Notation = Notation {
    literal,
    list: |entries| match entries.first() {
        // The columns of a matrix are lists.
        Some(first) if first.starts_with('[') => {
            format!(
                "[{}]",
                entries
                    .iter()
                    .map(|entry| entry.replace(',', ";"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        _ => format!("[{}]", wrapped(entries).replace('\n', " ...\n")),
    },
    boolean: |holds| if holds { "true" } else { "false" },
    first: 1,
    no_number: "",
    quote,
};

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let plain = Matlab { names: None };
    let book = Book::new(subject, &plain.naming());
    let places = Places::new(&book);
    let language = Matlab { names: Some(&places) };
    let mut facts = facts(subject, NOTATION);
    if facts.atol.is_empty() {
        facts.atol = format!("{}*{}.'", literal(1e-3 * subject.tolerances().0), facts.scales);
    }
    let (functions, mut operations) = Writer::new(subject, &language, &plain, (&book, &places)).write(facts.jacobian);
    operations.extend(
        derived(subject, &book, &language)
            .into_iter()
            .flat_map(|(_, body)| body.operations),
    );
    let functions = format!("{functions}{}", helpers(&operations));
    let name: String = legal(&subject.system.model, RULES).chars().take(LONGEST).collect();
    // A function at a point: directly, or with the unknowns of its loops.
    let call = |function: &str, time: &str| {
        let further = if facts.nonlinear { ", memory, 10" } else { "" };
        match facts.loops {
            true => format!("at(@{function}, {time}, x, p{further})"),
            false => {
                let point = facts.point.replacen("t,", &format!("{time},"), 1);
                let inputs = format!(", inputs({time}, p)");
                let rates = format!(", input_rates({time}, p)");
                format!("{function}({})", point.replace(", du", &rates).replace(", u", &inputs))
            }
        }
    };
    let clamped = "min(t, last)";
    let model = Model {
        name: name.clone(),
        example_stop: if facts.has_stop {
            facts.stop.clone()
        } else {
            "10".to_string()
        },
        parameter_fields: fields(subject, &book).trim_end().to_string(),
        derived_lines: derived_lines(
            (subject, &book),
            &language,
            (&|place| format!("    if isnan({place})\n"), "    end\n"),
            (8, ";"),
        )
        .trim_end()
        .to_string(),
        flat: functions.contains("entries_of("),
        unknowns: subject.unknowns(),
        outputs: subject.outputs.len(),
        clamped_rates: call("right_side", clamped),
        clamped_margins: call("conditions", clamped),
        here_outputs: call("outputs", "times(k)").replace(", x,", ", x(k, :).',"),
        solver: if facts.stiff { "ode15s" } else { "ode45" },
        columns: column_names(subject)
            .iter()
            .map(|name| format!("'{}'", quote(name)))
            .collect::<Vec<_>>()
            .join(", "),
        corner_times: match (facts.instants, facts.switches) {
            (true, true) => "[run.start; instants(p); switch_times(p, run.start, run.stop)]",
            (true, false) => "[run.start; instants(p)]",
            (false, true) => "[run.start; switch_times(p, run.start, run.stop)]",
            (false, false) => "run.start",
        },
        more_options: [
            (
                facts.bounds_steps,
                ", ...\n            'MaxStep', longest_step(p, run.start, run.stop)".to_string(),
            ),
            (
                facts.jacobian,
                format!(
                    ", ...\n            'Jacobian', @(t, x) jacobian({})",
                    facts.point.replace(", u", ", inputs(t, p)")
                ),
            ),
        ]
        .into_iter()
        .filter_map(|(is_needed, text)| is_needed.then_some(text))
        .collect(),
        functions: functions.trim_end().to_string(),
        facts,
    };
    let readme = Readme {
        tables: readme_tables_from(1, subject, &book.members),
        name,
        model: subject.system.model.to_string(),
        origin: subject.origin.sentence(),
        stop_argument: if model.facts.has_stop { "" } else { ", 'stop', 10" },
    };
    let mut package = Package::default();
    package.add_trimmed(MODEL.path(&model), &MODEL.text(&model));
    package.add_trimmed(README.path(&readme), &README.text(&readme));
    package
}

/// The statements that give the parameters their defaults.
fn fields(subject: &Subject<'_>, book: &Book) -> String {
    let mut fields = String::new();
    for (parameter, member) in subject.parameters.iter().zip(&book.members) {
        let remark = parameter_words("%", parameter, member, quote);
        let _ = writeln!(fields, "    p.{member} = {};{remark}", default(parameter));
    }
    fields
}

/// A number, a column, or a matrix row by row.
fn default(parameter: &Parameter) -> String {
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
