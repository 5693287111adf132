//! One Python module whose functions are those of CasADi, for optimisation and automatic differentiation.

use super::Package;
use super::functions::wrapped;
use super::named::Book;
use super::python::dialect::{Python, literal, quote};
use super::python::{NOTATION, library};
use super::script::{Facts, Places, ScriptLanguage, Writer, derived_lines, facts, name_list, parameter_words};
use super::subject::{ReadmeTables, Subject, readme_tables};
use super::template::{Template, template, values};
use std::fmt::Write;

const MODULE: Template<Module> = template!("@library@.py", "model.py.txt");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    struct Module {
        ..facts: Facts;
        library: String,
        numpy: bool,
        states_list: String,
        inputs_list: String,
        outputs_list: String,
        parameter_lines: String,
        member_lines: String,
        guess: String,
        flat: bool,
        functions: String,
        arguments: &'static str,
        inputs_words: &'static str,
        given: &'static str,
        given_names: &'static str,
        right_side: String,
    }
}

values! {
    struct Readme {
        ..tables: ReadmeTables;
        library: String,
        model: String,
        origin: String,
        states: usize,
        loops: bool,
        arguments: &'static str,
        arguments_at_0: &'static str,
        inputs_at_0: &'static str,
    }
}

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let plain = Python {
        module: "ca",
        names: None,
    };
    let book = Book::new(subject, &plain.naming());
    let places = Places::new(&book);
    let language = Python {
        names: Some(&places),
        ..plain
    };
    let facts = facts(subject, NOTATION);
    let functions = Writer::new(subject, &language, &plain, (&book, &places)).write_smooth();
    let member_lines = member_lines(subject, &book, &language);
    let guess: Vec<String> = subject.guesses()[0].iter().map(|guess| literal(*guess)).collect();
    let (arguments, given, given_names) = match facts.rates {
        true => (
            "t, x, u, du and p",
            "t, x, u, du, values",
            r#""t", "x", "u", "du", "p""#,
        ),
        false => ("t, x, u and p", "t, x, u, values", r#""t", "x", "u", "p""#),
    };
    let module = Module {
        library: library(&subject.system.model),
        numpy: [&functions, &member_lines].iter().any(|text| text.contains("np.")),
        states_list: name_list(&subject.states, quote),
        inputs_list: name_list(&subject.inputs, quote),
        outputs_list: name_list(&subject.outputs, quote),
        parameter_lines: parameter_lines(subject).trim_end().to_string(),
        member_lines: member_lines.trim_end().to_string(),
        guess: format!("[{}]", wrapped(&guess)),
        flat: functions.contains("p._entries()"),
        functions: functions.trim_end().to_string(),
        arguments,
        inputs_words: if facts.inputs > 0 { "; `inputs` of t and p" } else { "" },
        given,
        given_names,
        right_side: match facts.states {
            0 => "ca.SX(0, 1)".to_string(),
            _ => format!("right_side({})", facts.point),
        },
        facts,
    };
    let readme = Readme {
        tables: readme_tables(subject, &book.members),
        library: module.library.clone(),
        model: subject.system.model.to_string(),
        origin: subject.origin.sentence(),
        states: subject.states.len(),
        loops: module.facts.loops,
        arguments,
        arguments_at_0: if module.facts.rates {
            "0, x, u, 0*u, p"
        } else {
            "0, x, u, p"
        },
        inputs_at_0: if module.facts.inputs > 0 {
            "model.inputs(0, p)"
        } else {
            "[]"
        },
    };
    let mut package = Package::default();
    package.add(MODULE.path(&module), MODULE.text(&module));
    package.add_trimmed(README.path(&readme), &README.text(&readme));
    package
}

/// The defaults of all entries of parameters that do not follow from others.
fn parameter_lines(subject: &Subject<'_>) -> String {
    let mut lines = String::new();
    for parameter in &subject.parameters {
        for entry in parameter.entries.iter().filter(|entry| entry.derived.is_none()) {
            let remark = parameter_words("#", parameter, &parameter.name, quote);
            let _ = writeln!(
                lines,
                "    \"{}\": {},{remark}",
                quote(&entry.name),
                literal(entry.value)
            );
        }
    }
    lines
}

/// The statements that give the parameters their values, and those that compute derived ones.
fn member_lines(subject: &Subject<'_>, book: &Book, language: &Python<'_>) -> String {
    let (mut lines, mut next) = (String::new(), 0);
    for (parameter, member) in subject.parameters.iter().zip(&book.members) {
        let count = parameter.entries.len();
        let is_free = parameter.entries.iter().all(|entry| entry.derived.is_none());
        let _ = match (parameter.shape.as_slice(), is_free) {
            ([], true) => writeln!(lines, "        p.{member} = values[{next}]"),
            ([], false) => writeln!(lines, "        p.{member} = np.nan"),
            ([_, columns], true) => writeln!(
                lines,
                "        p.{member} = ca.reshape(values[{next}:{}], {columns}, {}).T",
                next + count,
                count / (*columns).max(1)
            ),
            (_, true) => writeln!(lines, "        p.{member} = values[{next}:{}]", next + count),
            ([rows, columns], false) => writeln!(lines, "        p.{member} = ca.SX({rows}, {columns})"),
            (_, false) => writeln!(lines, "        p.{member} = ca.SX({count}, 1)"),
        };
        for (at, entry) in parameter
            .entries
            .iter()
            .enumerate()
            .filter(|entry| entry.1.derived.is_none())
        {
            if !is_free {
                let place = &book.entries[parameter.first + at];
                let _ = writeln!(lines, "        {place} = values[{next}]  # {}", quote(&entry.name));
            }
            next += 1;
        }
    }
    if subject.parameters.is_empty() {
        lines.push_str("        pass\n");
    }
    lines += &derived_lines((subject, book), language, (&|_| String::new(), ""), (8, ""));
    lines
}
