//! The dialogue of McCalla's program (1991, section 4.2), which asks for each causal path which element to reduce.

use super::found::reduced;
use crate::Compilation;
use crate::cli::report;
use crate::cli::request::{ModelArguments, StateArguments};
use lgm_equations::Options;
use lgm_explain::reduce::{Class, Dependent};
use lgm_source::diagnostic::has_errors;
use std::io::{self, BufRead, Write};

/// Asks which of the two elements of each causal path to reduce. The answer becomes a request for states: the other element keeps its
/// state. An empty line or the end of the input selects the element that is already dependent.
pub(super) fn choose(
    model: &ModelArguments,
    states: &StateArguments,
    (answers, questions): (&mut dyn BufRead, &mut dyn Write),
) -> io::Result<StateArguments> {
    let mut states = states.clone();
    let mut asked: Vec<[String; 2]> = Vec::new();
    loop {
        let Ok(compilation) = model.asked(&states, Options::default()) else {
            return Ok(states);
        };
        let Some(dependent) = next(&compilation, &asked) else {
            return Ok(states);
        };
        let other = &dependent.on[0];
        asked.push([dependent.element.clone(), other.clone()]);
        if answer(&dependent, other, (answers, questions))? == Goes::Dependent {
            continue;
        }
        let wanted = states.retaining(&dependent.element);
        let diagnostics = match model.asked(&wanted, Options::default()) {
            Ok(compilation) => {
                let diagnostics = compilation.diagnostics_of_model();
                report::print(compilation.map(), &diagnostics);
                diagnostics
            }
            Err(_) => return Ok(states),
        };
        match has_errors(&diagnostics) {
            true => writeln!(questions, "{} is removed, as before", dependent.element)?,
            false => states = wanted,
        }
    }
}

/// The element to reduce.
#[derive(PartialEq)]
enum Goes {
    Dependent,
    Other,
}

/// Returns the next element that another element can replace, and that has not been asked about.
fn next(compilation: &Compilation, asked: &[[String; 2]]) -> Option<Dependent> {
    let all = reduced(compilation, false)?.report.dependent;
    all.into_iter().find(|dependent| {
        let was_asked = |pair: &[String; 2]| pair.contains(&dependent.element) && pair.contains(&dependent.on[0]);
        dependent.class == Class::OneToOne && dependent.on.len() == 1 && !asked.iter().any(was_asked)
    })
}

/// Asks about one causal path until the answer is the name of one of its end elements.
fn answer(
    dependent: &Dependent,
    other: &str,
    (answers, questions): (&mut dyn BufRead, &mut dyn Write),
) -> io::Result<Goes> {
    let element = &dependent.element;
    if let Some(path) = dependent.paths.first() {
        writeln!(
            questions,
            "The path contains the following elements: {}",
            path.through.join(" ")
        )?;
    }
    writeln!(questions, "Reduced, {other} has the parameter {}", dependent.equivalent)?;
    loop {
        write!(
            questions,
            "Which element would you like to reduce, {element} or {other}? ({element}) "
        )?;
        questions.flush()?;
        let mut line = String::new();
        if answers.read_line(&mut line)? == 0 {
            writeln!(questions)?;
            return Ok(Goes::Dependent);
        }
        match line.trim() {
            "" => return Ok(Goes::Dependent),
            name if name == element => return Ok(Goes::Dependent),
            name if name == other => return Ok(Goes::Other),
            name => writeln!(questions, "`{name}` is neither of the two")?,
        }
    }
}
