//! Signals given for inputs: expressions, and tables with their contents.

use lgm_elaborate::{InputTarget, input_target, no_such_input};
use lgm_equations::StateSystem;
use lgm_simulate::{Plan, Signal, Table, TableReference, read_table, table_reference};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};

/// The signal given for an input.
#[derive(Clone, Debug)]
pub enum InputValue {
    /// As on the command line: an expression of time and parameters, or `FILE.csv:COLUMN`.
    Text(String),
    /// Numbers in SI units.
    Signal(Signal),
}

/// The options for inputs, sorted.
#[derive(Debug, Default)]
pub struct InputOptions {
    expressions: Vec<(String, SourceId)>,
    tables: Vec<(InputTarget, TableReference, SourceId)>,
    signals: Vec<(InputTarget, Signal)>,
    faults: Vec<Diagnostic>,
}

impl InputOptions {
    /// Sorts options such as `u=2*step(0)`. Each option becomes a separate source text, so that a diagnostic can point into it.
    pub fn read(options: &[String], map: &mut SourceMap) -> InputOptions {
        let mut read = InputOptions::default();
        for text in options {
            read.add_text(text, map);
        }
        read
    }

    /// Sorts pairs of a name and its signal.
    pub fn of(given: &[(String, InputValue)], map: &mut SourceMap) -> InputOptions {
        let mut read = InputOptions::default();
        for (name, given) in given {
            match given {
                InputValue::Text(text) => read.add_text(&format!("{name}={text}"), map),
                InputValue::Signal(signal) => {
                    let source = map.add(format!("input {name}"), format!("{name}=signal"), None);
                    match input_target(map, source) {
                        Ok(target) => read.signals.push((target, signal.clone())),
                        Err(fault) => read.faults.push(fault),
                    }
                }
            }
        }
        read
    }

    fn add_text(&mut self, text: &str, map: &mut SourceMap) {
        let source = map.add(format!("--input {text}"), text, None);
        let table = input_target(map, source)
            .ok()
            .and_then(|target| Some((table_reference(&text[target.value_at..])?, target)));
        match table {
            Some((reference, target)) => self.tables.push((target, reference, source)),
            // Malformed parts are reported with the expressions.
            None => self.expressions.push((text.to_string(), source)),
        }
    }

    /// Returns the options that are expressions of time.
    pub fn expressions(&self) -> Vec<(String, SourceId)> {
        self.expressions.clone()
    }

    /// Returns the signal that replaces the expression of each input. Inputs without any signal are reported.
    pub fn signals(
        &self,
        system: &StateSystem,
        map: &mut SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Option<Signal>> {
        diagnostics.extend(self.faults.iter().cloned());
        let mut signals: Vec<Option<Signal>> = vec![None; system.inputs.len()];
        let place = |target: &InputTarget| {
            let name = target.text();
            let place = system.declared_inputs().position(|input| *input.name == *name);
            let names = || system.declared_inputs().map(|input| &*input.name);
            place.ok_or_else(|| no_such_input(&system.model, target, names()))
        };
        for (target, reference, source) in &self.tables {
            let made = place(target).and_then(|at| Ok((at, one(target, reference, *source, map)?)));
            match made {
                Ok((at, table)) => {
                    let scale = system.inputs[at].scale;
                    signals[at] = Some(table.converted(|value| scale.to_si(value)).into());
                }
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        for (target, signal) in &self.signals {
            match place(target) {
                Ok(at) => signals[at] = Some(signal.clone()),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        for (input, signal) in system.inputs.iter().zip(&signals) {
            if input.signal.is_none() && signal.is_none() && !input.is_internal && !failed {
                let diagnostic = Diagnostic::error(Code::LGM0912, format!("the input `{}` has no signal", input.name))
                    .label(input.span, "declared without a default")
                    .help(format!(
                        "set one: `--input \"{0}=step(0)\"` or `--input {0}=data.csv:column`, or in the model",
                        input.name
                    ));
                diagnostics.push(diagnostic);
            }
        }
        signals
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
            Diagnostic::error(Code::LGM0920, "a table can be read only as `linear` or `held`")
                .label(place(range), "expected `linear` or `held`")
                .help(
                    "append `,held` for a signal that steps from sample to sample; the default is linear \
                    interpolation",
                ),
        );
    }
    let text = lgm_files::read_named(reference.path.as_ref()).and_then(lgm_files::as_text);
    let text = text.map_err(|reason| {
        Diagnostic::error(Code::LGM0922, format!("cannot read `{}`: {reason}", reference.path))
            .label(value, "requested here")
            .help("paths are relative to the current folder")
    })?;
    let table = map.add(reference.path.clone(), text, Some(reference.path.clone().into()));
    let Some((column, range)) = &reference.column else {
        return Err(Diagnostic::error(Code::LGM0920, "no column is named")
            .label(value, "the column name is missing")
            .help(format!("write `{}={}:COLUMN`", target.text(), reference.path)));
    };
    read_table(map, table, column, reference.held, place(range))
}

/// Adds a remark if a run extends beyond the end of a table.
pub fn say_where_tables_end(
    system: &StateSystem,
    signals: &[Option<Signal>],
    plan: &Plan,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (input, signal) in system.inputs.iter().zip(signals) {
        let Some(Signal::Table(table)) = signal else { continue };
        let (from, to) = table.range();
        let name = &input.name;
        if from > plan.start {
            diagnostics.push(Diagnostic::information(
                Code::LGM0913,
                format!(
                    "the table of `{name}` starts at {from} s; its first value is used from {} s on",
                    plan.start
                ),
            ));
        }
        if to < plan.stop {
            diagnostics.push(Diagnostic::information(
                Code::LGM0913,
                format!(
                    "the table of `{name}` ends at {to} s; its last value is used until {} s",
                    plan.stop
                ),
            ));
        }
    }
}
