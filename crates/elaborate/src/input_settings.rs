//! Signals that the command line gives to inputs: `--input "u=2*step(0)"`, `--input "u[2]=sin(time)"`.

use super::load::Program;
use super::quantities::entry_names;
use super::scopes::check_value;
use super::state::{Elaborator, Place};
use super::values::{DimId, Scalar, Value};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Assigned, Expr, StatementKind};
use lgm_syntax::parse_expression;

/// What stands in front of the `=` of an `--input` option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputTarget {
    /// The input's name.
    pub name: String,
    /// The entry of a vector input, from 1.
    pub entry: Option<usize>,
    /// The place of both.
    pub span: Span,
    /// The byte behind the `=`.
    pub value_at: usize,
}

impl InputTarget {
    /// `u` or `u[2]`
    pub fn text(&self) -> String {
        match self.entry {
            Some(entry) => format!("{}[{entry}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// One `--input name=expression`, parsed.
#[derive(Debug)]
pub(super) struct InputSetting {
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

/// Reads what stands in front of the `=`: `u` or `u[2]`.
pub fn input_target(map: &SourceMap, source: SourceId) -> Result<InputTarget, Diagnostic> {
    let text = &map.get(source).text;
    let whole = Span::new(source, 0, text.len());
    let Some(at) = text.find('=') else {
        return Err(malformed(whole, "there is no `=`"));
    };
    let written = text[..at].trim();
    let start = text.find(written).unwrap_or(0);
    let span = Span::new(source, start, start + written.len());
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
    let is_name = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if name.is_empty() || !is_name || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        let place = if name.is_empty() { whole } else { span };
        return Err(malformed(place, "the name of an input is needed in front of `=`"));
    }
    Ok(InputTarget {
        name: name.to_string(),
        entry,
        span,
        value_at: at + 1,
    })
}

/// A fault that names an input which the model does not have.
pub fn no_such_input<'n>(model: &str, target: &InputTarget, names: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(Code::LGM0921, format!("`{model}` has no input `{}`", target.text()))
        .label(target.span, "this option gives no input a signal");
    diagnostic.help = did_you_mean(&target.text(), names);
    diagnostic
}

/// Reads the options that give inputs a signal by an expression.
pub(super) fn read(
    program: &Program,
    model: &ast::Model,
    map: &SourceMap,
    options: &[(String, SourceId)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<InputSetting> {
    let mut names = Vec::new();
    inputs(&model.body, &mut names);
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
        // The name is blanked out, so that the places in the value are those in the whole option.
        let text = &map.get(*source).text;
        let value_text = format!("{}{}", " ".repeat(target.value_at), &text[target.value_at..]);
        let (value, faults) = parse_expression(*source, &value_text);
        let whole = Span::new(*source, 0, text.len());
        if let Some(fault) = faults.into_iter().find(Diagnostic::is_error) {
            let label = fault.labels.first();
            let place = label.map_or(whole, |label| label.span);
            let words = label
                .map(|label| label.message.clone())
                .filter(|words| !words.is_empty());
            diagnostics.push(malformed(place, &words.unwrap_or(fault.message)));
            continue;
        }
        diagnostics.extend(check_value(program, model, &value));
        // The last of several options for one input counts, as on every command line.
        settings.retain(|known| known.target.name != target.name || known.target.entry != target.entry);
        if target.entry.is_none() {
            settings.retain(|known| known.target.name != target.name);
        }
        settings.push(InputSetting { target, value });
    }
    settings
}

fn inputs<'a>(statements: &'a [ast::Statement], names: &mut Vec<&'a str>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Input(assigned) => names.push(&assigned.name.text),
            StatementKind::For(block) => inputs(&block.body, names),
            StatementKind::If(block) => {
                for (_, branch) in &block.branches {
                    inputs(branch, names);
                }
                inputs(&block.otherwise, names);
            }
            _ => {}
        }
    }
}

/// The signals of one input: its entries, which of them a signal was given for, and where each was written.
pub(super) struct InputSignals {
    pub value: Value,
    pub given: Vec<bool>,
    pub spans: Vec<Span>,
}

impl<'a> Elaborator<'a> {
    /// The signals of an input: those of the options, and the default where there is none.
    pub(super) fn input_signals(&mut self, assigned: &'a Assigned, place: Place, default: Value) -> InputSignals {
        let has_default = assigned.value.is_some();
        let span = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
        let mut signals = InputSignals {
            given: vec![has_default; default.entries().len()],
            spans: vec![span; default.entries().len()],
            value: default,
        };
        let options: Vec<&'a InputSetting> = self
            .inputs
            .iter()
            .copied()
            .filter(|setting| *setting.target.name == *assigned.name.text)
            .collect();
        for setting in options {
            if signals.value.is_error() {
                break;
            }
            signals = self.with_setting(assigned, place, setting, signals);
        }
        signals
    }

    fn with_setting(
        &mut self,
        assigned: &'a Assigned,
        place: Place,
        setting: &'a InputSetting,
        mut signals: InputSignals,
    ) -> InputSignals {
        let failed = |mut signals: InputSignals| {
            signals.value = Value::Error;
            signals
        };
        let span = setting.value.span;
        let mut value = self.eval(&setting.value, place);
        if let Some(written) = &assigned.unit
            && let Some(unit) = self.unit(written)
        {
            value = self.in_unit(&value, &unit, written.span, span, Some(&setting.value));
        }
        if value.is_error() {
            return failed(signals);
        }
        let wanted = signals.value.common_dim();
        if let Some(entry) = value.entries().iter().find(|entry| self.clashes(entry.dim, wanted)) {
            let (given, wanted) = (self.dims.text(entry.dim), self.dims.text(wanted));
            let name = setting.target.text();
            let declared = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
            let diagnostic = Diagnostic::error(
                Code::LGM0201,
                format!("`{name}` is given in {given}, but is declared in {wanted}"),
            )
            .label(span, format!("this is in {given}"))
            .label(declared, format!("declared in {wanted}"))
            .help("leave the unit out for SI, or write a unit of the same dimension");
            self.report(diagnostic);
            return failed(signals);
        }
        let typed = |entry: Scalar| Scalar {
            expr: entry.expr,
            dim: if entry.dim.is_known() { entry.dim } else { wanted },
        };
        let (places, shape) = match setting.target.entry {
            None => ((0..signals.given.len()).collect(), signals.value.shape_text()),
            Some(entry) if entry <= signals.given.len() && matches!(signals.value, Value::Array(_)) => {
                (vec![entry - 1], "a scalar".to_string())
            }
            Some(_) => {
                let names = entry_names(&assigned.name.text, &signals.value);
                let diagnostic = no_such_input(
                    &self.chosen.name.text,
                    &setting.target,
                    names.iter().map(String::as_str),
                );
                self.report(diagnostic);
                return failed(signals);
            }
        };
        if value.entries().len() != places.len() || value.shape().1 != 1 {
            let diagnostic = Diagnostic::error(
                Code::LGM0202,
                format!("the signal of `{}` has a wrong width", setting.target.text()),
            )
            .label(span, format!("this is {}", value.shape_text()))
            .label(assigned.name.span, format!("{shape} is needed"));
            self.report(diagnostic);
            return failed(signals);
        }
        let mut entries = signals.value.entries().to_vec();
        for (at, entry) in places.into_iter().zip(value.entries()) {
            entries[at] = typed(*entry);
            signals.given[at] = true;
            signals.spans[at] = span;
        }
        signals.value = self.like(&signals.value, entries);
        signals
    }

    fn clashes(&self, given: DimId, wanted: DimId) -> bool {
        given.is_known() && wanted.is_known() && given != wanted
    }
}
