//! Functions of a model in languages that have solvers of their own, so that emitted files carry none.
//!
//! [`Writer`] prints each [`Function`] in a [`ScriptLanguage`]: in the user's names ([`super::named`]), or over arrays for a model with
//! too many states. A target adds its language, the declaration of its parameters, and a template that runs the functions.

mod facts;
mod functions;
mod layout;
mod places;

pub(crate) use facts::{Facts, Notation, facts};
pub(crate) use functions::{Head, ScriptLanguage, Writer};
pub(crate) use layout::{Style, wrapped_statement, wrapped_words};
pub(crate) use places::Places;

use super::dialect::{Binding, Dialect, Text};
use super::functions::wrapped;
use super::named::{Body, Book, Formulas};
use super::names::one_line;
use super::subject::{Named, Parameter, Subject, bracketed};
use crate::shortest;

/// Prints a double as it stands alone, in a language with names for NaN and infinity.
pub(crate) fn double(value: f64, not_a_number: &str, infinity: &str) -> String {
    match value {
        value if value.is_finite() => format!("{value:?}"),
        value if value.is_nan() => not_a_number.to_string(),
        value if value > 0.0 => infinity.to_string(),
        _ => format!("-{infinity}"),
    }
}

/// Implements the notation of a [`Dialect`] with `names`: the name of pi, the operator of powers, and the index of the first entry.
macro_rules! notation {
    ($pi:literal, $power:literal, $first:literal) => {
        fn number(&self, value: f64) -> Text {
            script::number(self, value, $pi)
        }

        fn short(&self, value: f64) -> Text {
            script::short(self, value)
        }

        fn whole_power(&self, base: &Text, exponent: u32) -> Option<Text> {
            let text = format!("{}{}{exponent}", base.within(Binding::Atom), $power);
            self.names.map(|_| Text::new(Binding::Sign, text))
        }

        fn parameter(&self, index: Index, lane: Lane) -> Option<Text> {
            self.names.and_then(|names| names.parameter(index, lane))
        }

        fn element(&self, array: Array, name: &str, index: &str) -> Text {
            let known = self.names.and_then(|names| names.element(array, index, $first));
            known.unwrap_or_else(|| match name {
                "t" => Text::atom(name),
                _ => Text::atom(self.indexed(name, index)),
            })
        }
    };
}
pub(crate) use notation;

/// Prints a number within an expression, where `pi` is the name of that number.
pub(crate) fn number(language: &dyn Dialect, value: f64, pi: &str) -> Text {
    match value {
        std::f64::consts::PI => Text::atom(pi),
        _ => signed(value, language.literal(value)),
    }
}

/// Prints a number within a formula for readers.
pub(crate) fn short(language: &dyn Dialect, value: f64) -> Text {
    match value.is_finite() {
        true => signed(value, shortest(value)),
        false => language.number(value),
    }
}

fn signed(value: f64, text: String) -> Text {
    Text::new(if value < 0.0 { Binding::Sign } else { Binding::Atom }, text)
}

/// Returns the names of the time, the outputs and all states. A state without a column of its own has the name of its output.
pub(crate) fn column_names(subject: &Subject<'_>) -> Vec<String> {
    let columns = &subject.columns;
    let name = |at: usize| match columns.states.iter().find(|column| column.0 == at) {
        Some((_, column)) => column.name.to_string(),
        None => subject.states[at].name.clone(),
    };
    let outputs = columns.outputs.iter().map(|output| output.name.to_string());
    std::iter::once("time".to_string())
        .chain(outputs)
        .chain((0..subject.states.len()).map(name))
        .collect()
}

/// Prints the states that have columns of their own, counted from `first`.
pub(crate) fn column_places(subject: &Subject<'_>, first: usize) -> String {
    let columns = subject.columns.states.iter();
    let columns: Vec<String> = columns.map(|column| (column.0 + first).to_string()).collect();
    format!("[{}]", wrapped(&columns).replace('\n', " "))
}

/// Prints a remark at the end of a line after the mark of the language; nothing if it is empty.
pub(crate) fn remark(mark: &str, words: &str) -> String {
    match words {
        "" => String::new(),
        words => format!("  {mark} {words}"),
    }
}

/// Describes a parameter in a remark: its name if the member has another one, its unit, and a formula that it follows from.
pub(crate) fn parameter_words(mark: &str, parameter: &Parameter, member: &str, quote: fn(&str) -> String) -> String {
    let follows = parameter.entries.iter().find_map(|entry| entry.derived.as_ref());
    let name = if member == parameter.name { "" } else { &parameter.name };
    let follows = follows.map_or(String::new(), |formula| format!("{} = {formula}", parameter.name));
    let words = [name, &bracketed(&parameter.unit), &follows].map(|part| quote(&one_line(part)));
    let words = words.join(" ");
    remark(mark, &words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Prints the derived entries of parameters in the order in which they follow: the position of each, the values in between, and its
/// value.
pub(crate) fn derived(subject: &Subject<'_>, book: &Book, language: &dyn Dialect) -> Vec<(usize, Body)> {
    let formulas = Formulas::of(subject.system);
    let order = subject.kernels.derived().iter();
    let derived = order.filter_map(|(position, _)| Some((*position, formulas.derived(*position)?)));
    derived
        .map(|(position, root)| (position, formulas.body(&[root], book, language)))
        .collect()
}

/// Prints the statements that compute derived parameters, each after `head` of its place and before `tail`. Statements are indented
/// and end as given.
pub(crate) fn derived_lines(
    (subject, book): (&Subject<'_>, &Book),
    language: &dyn ScriptLanguage,
    (head, tail): (&dyn Fn(&str) -> String, &str),
    (indent, end): (usize, &str),
) -> String {
    let mut lines = String::new();
    for (position, body) in derived(subject, book, language) {
        let place = &book.entries[position];
        lines.push_str(&head(place));
        let last = (place.clone(), body.values[0].clone());
        for (name, value) in body.statements.iter().chain([&last]) {
            lines.push_str(&wrapped_statement(indent, name, value, (end, ""), language.style()));
        }
        lines.push_str(tail);
    }
    lines
}

/// Prints values one after the other, whole numbers with a decimal point.
pub(crate) fn floats(values: &[String]) -> String {
    let is_whole = |text: &str| text.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
    let float = |value: &String| format!("{value}{}", if is_whole(value) { ".0" } else { "" });
    values.iter().map(float).collect::<Vec<_>>().join(", ")
}

/// Prints a list of names in double quotes.
pub(crate) fn name_list(list: &[Named], quote: fn(&str) -> String) -> String {
    let list: Vec<String> = list.iter().map(|entry| format!("\"{}\"", quote(&entry.name))).collect();
    format!("[{}]", wrapped(&list))
}
