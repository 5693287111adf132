//! `--input`: which options are expressions and which are tables, and the tables read.

use crate::cli::files::disk::read_named;
use lgm_elaborate::{InputTarget, input_target, no_such_input};
use lgm_equations::StateSystem;
use lgm_simulate::{Plan, Table, TableReference, read_table, table_reference};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};

/// The options for inputs, sorted.
#[derive(Debug, Default)]
pub(super) struct InputOptions {
    expressions: Vec<(String, SourceId)>,
    tables: Vec<(InputTarget, TableReference, SourceId)>,
}

impl InputOptions {
    /// Sorts the options; each becomes a text of its own, so that a diagnostic can point into it.
    pub fn read(options: &[String], map: &mut SourceMap) -> InputOptions {
        let mut read = InputOptions::default();
        for text in options {
            let source = map.add(format!("--input {text}"), text.as_str(), None);
            let table = input_target(map, source)
                .ok()
                .and_then(|target| Some((table_reference(&text[target.value_at..])?, target)));
            match table {
                Some((reference, target)) => read.tables.push((target, reference, source)),
                // What is malformed is reported with the expressions.
                None => read.expressions.push((text.clone(), source)),
            }
        }
        read
    }

    /// The options that are expressions of time.
    pub fn expressions(&self) -> Vec<(String, SourceId)> {
        self.expressions.clone()
    }

    /// The table of each input that has one; inputs that have no signal at all are reported.
    pub fn tables(
        &self,
        system: &StateSystem,
        map: &mut SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Option<Table>> {
        let mut tables: Vec<Option<Table>> = vec![None; system.inputs.len()];
        for (target, reference, source) in &self.tables {
            let name = target.text();
            let Some(at) = system.declared_inputs().position(|input| *input.name == *name) else {
                let names = system.declared_inputs().map(|input| &*input.name);
                diagnostics.push(no_such_input(&system.model, target, names));
                continue;
            };
            match one(target, reference, *source, map) {
                Ok(table) => tables[at] = Some(table.scaled(system.inputs[at].scale)),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        for (input, table) in system.inputs.iter().zip(&tables) {
            if input.signal.is_none() && table.is_none() && !failed {
                let diagnostic = Diagnostic::error(Code::LGM0912, format!("the input `{}` has no signal", input.name))
                    .label(input.span, "declared without a default")
                    .help(format!(
                        "give it one: `--input \"{0}=step(0)\"` or `--input {0}=data.csv:column`, or in the model",
                        input.name
                    ));
                diagnostics.push(diagnostic);
            }
        }
        tables
    }
}

/// Reads one table.
fn one(
    target: &InputTarget,
    reference: &TableReference,
    source: SourceId,
    map: &mut SourceMap,
) -> Result<Table, Diagnostic> {
    let length = map.get(source).text.len();
    let place =
        |range: &std::ops::Range<usize>| Span::new(source, target.value_at + range.start, target.value_at + range.end);
    let value = Span::new(source, target.value_at, length);
    if let Some(range) = &reference.unknown {
        return Err(
            Diagnostic::error(Code::LGM0920, "a table is read `linear` or `held`, and in no other way")
                .label(place(range), "neither of the two")
                .help("write `,held` for a signal that steps from row to row, nothing for straight lines"),
        );
    }
    let text = read_named(reference.path.as_ref()).map_err(|reason| {
        Diagnostic::error(Code::LGM0922, format!("cannot read `{}`: {reason}", reference.path))
            .label(value, "asked for here")
            .help("paths are relative to the folder in which you call lgm")
    })?;
    let table = map.add(reference.path.clone(), text, Some(reference.path.clone().into()));
    let Some((column, range)) = &reference.column else {
        return Err(Diagnostic::error(Code::LGM0920, "no column of the table is named")
            .label(value, "there is no column")
            .help(format!("write `{}={}:COLUMN`", target.text(), reference.path)));
    };
    read_table(map, table, column, reference.held, place(range))
}

/// A remark where a run goes beyond a table.
pub(super) fn say_where_tables_end(
    system: &StateSystem,
    tables: &[Option<Table>],
    plan: &Plan,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (input, table) in system.inputs.iter().zip(tables) {
        let Some(table) = table else { continue };
        let (from, to) = table.range();
        let name = &input.name;
        if from > plan.start {
            diagnostics.push(Diagnostic::information(
                Code::LGM0913,
                format!(
                    "the table of `{name}` begins at {from} s, and its first value holds from {} s on",
                    plan.start
                ),
            ));
        }
        if to < plan.stop {
            diagnostics.push(Diagnostic::information(
                Code::LGM0913,
                format!(
                    "the table of `{name}` ends at {to} s, and its last value holds until {} s",
                    plan.stop
                ),
            ));
        }
    }
}
