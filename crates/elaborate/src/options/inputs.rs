//! Signals of inputs on the command line: `--input "u=2*step(0)"`, `--input "u[2]=sin(time)"`.

use crate::names::bodies::check_value;
use crate::options::written::{Written, is_name};
use crate::program::Program;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Expr, StatementKind};
use lgm_syntax::visit::statements;

/// The text before the `=` of an `--input` option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputTarget {
    /// The input's name.
    pub name: String,
    /// The entry of a vector input, from 1.
    pub entry: Option<usize>,
    /// The location of name and entry.
    pub span: Span,
    /// The byte after the `=`.
    pub value_at: usize,
}

impl InputTarget {
    /// Returns the target as text: `u` or `u[2]`.
    pub fn text(&self) -> String {
        match self.entry {
            Some(entry) => format!("{}[{entry}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// One `--input name=expression`, parsed.
#[derive(Debug)]
pub(crate) struct InputSetting {
    pub target: InputTarget,
    pub value: Expr,
}

fn malformed(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0920, "this option is not of the form `input=signal`")
        .label(span, message.to_string())
        .help(
            "write an expression of time or a column of a table: `--input \"u=2*step(0)\"`, `--input u=data.csv:volts`",
        )
}

/// Reads the text before the `=`: `u` or `u[2]`.
pub fn input_target(map: &SourceMap, source: SourceId) -> Result<InputTarget, Diagnostic> {
    let option = Written::read(map, source, malformed)?;
    let (written, span) = (option.target, option.target_span);
    let (name, entry) = match written.split_once('[') {
        None => (written, None),
        Some((name, rest)) => {
            let digits = rest.trim_end().strip_suffix(']').map(str::trim);
            match digits.and_then(|digits| digits.parse::<usize>().ok()) {
                Some(entry) if entry > 0 => (name.trim_end(), Some(entry)),
                _ => return Err(malformed(span, "an index is a number from 1: `u[2]`")),
            }
        }
    };
    if !is_name(name) {
        let place = if name.is_empty() { option.whole() } else { span };
        return Err(malformed(place, "expected the name of an input before `=`"));
    }
    Ok(InputTarget {
        name: name.to_string(),
        entry,
        span,
        value_at: option.value_at,
    })
}

/// Returns the error for an unknown input of a model.
pub fn no_such_input<'n>(model: &str, target: &InputTarget, names: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(Code::LGM0921, format!("`{model}` has no input `{}`", target.text()))
        .label(target.span, "this option has no effect");
    diagnostic.help = did_you_mean(&target.text(), names);
    diagnostic
}

/// Reads the options that set the signal of an input.
pub(crate) fn read(
    program: &Program,
    model: &ast::Model,
    map: &SourceMap,
    options: &[(String, SourceId)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<InputSetting> {
    let mut names: Vec<&str> = Vec::new();
    statements(&model.body, &mut |statement| {
        if let StatementKind::Input(assigned) = &statement.kind {
            names.push(&assigned.name.text);
        }
    });
    let mut settings: Vec<InputSetting> = Vec::new();
    for (_, source) in options {
        let target = match input_target(map, *source) {
            Ok(target) => target,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        if !names.contains(&&*target.name) {
            diagnostics.push(no_such_input(&model.name.text, &target, names.iter().copied()));
            continue;
        }
        let value = match Written::read(map, *source, malformed).and_then(|option| option.value(malformed)) {
            Ok(value) => value,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        diagnostics.extend(check_value(program, map, model, &value));
        // The last of several options for one input has priority.
        settings.retain(|known| known.target.name != target.name || known.target.entry != target.entry);
        if target.entry.is_none() {
            settings.retain(|known| known.target.name != target.name);
        }
        settings.push(InputSetting { target, value });
    }
    settings
}
