//! Values that options give to parameters: of the model, `--set m=2`, and of its instances, `--set motor.R_a=2`.
//!
//! A parameter of an instance is the value of its argument, and has no symbol of its own. If an option sets or varies it, it becomes a
//! parameter of the model with the path as its name.

use crate::context::FrameId;
use crate::context::values::{Scalar, Value};
use crate::evaluate::Evaluator;
use crate::evaluate::declarations::declared::Declared;
use crate::evaluate::option_values::MOST_COMPARED;
use crate::options::{Assignment, bare_number, declared};
use lgm_model::PathId;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::{did_you_mean, nearest};
use lgm_syntax::ast::{Expr, Formal, StatementKind};
use lgm_syntax::visit::statements;

/// The parameter of an instance, with the location of its value.
#[derive(Clone, Copy)]
pub(in crate::evaluate) struct OfInstance<'a> {
    pub formal: &'a Formal,
    pub path: Option<PathId>,
    /// The argument or the default.
    pub given: &'a Expr,
    /// The location of the argument; for a default, that of the instance.
    pub span: Span,
}

impl<'a> Evaluator<'a> {
    /// Returns the option that sets a parameter or a constant of the model or of a component.
    pub(super) fn setting(&mut self, name: &str, frame: FrameId) -> Option<&'a Assignment> {
        if frame == FrameId(0) {
            return self.settings.values.get(name).copied();
        }
        if !self.settings.last_parts.contains(name) {
            return None;
        }
        let name = self.qualified(name, frame);
        let found = self.settings.values.get(&*name).copied();
        self.settings.found.insert(name);
        found
    }

    /// Records the formal parameters of an instance, for suggestions of names.
    pub(super) fn list_formals(&mut self, path: PathId, formals: &'a [Formal]) {
        let options = self.settings.options;
        let is_needed = !self.settings.last_parts.is_empty() || !options.unknown.is_empty();
        if is_needed && self.settings.formals.len() < MOST_COMPARED {
            self.settings.formals.push((path, formals));
        }
    }

    /// Returns the value of an instance's parameter: the given one, or a parameter of the model if an option names it.
    pub(super) fn set_by_option(&mut self, value: Value, of: OfInstance<'a>) -> Value {
        let formal = of.formal;
        let name = &formal.name.text;
        if !self.settings.last_parts.contains(&**name) || value.is_error() {
            return value;
        }
        let Some(path) = of.path else { return value };
        let name = format!("{}.{name}", self.graph.model.path_name(path));
        let setting = self.settings.values.get(&*name).copied();
        let varies = self.settings.options.varied.contains(&name);
        if setting.is_none() && !varies {
            return value;
        }
        self.settings.found.insert(name.clone());
        let (value, value_span) = match setting {
            None => (value, of.span),
            Some(setting) => {
                let span = setting.value.span;
                let place = self.reports.here;
                let given = self.eval(&setting.value, place);
                if formal
                    .unit
                    .as_ref()
                    .is_none_or(|unit| self.unit(unit).is_some_and(|unit| unit.is_si()))
                {
                    self.note_bare_number(setting, &given, Some(of.given));
                }
                let given = self.as_formal(&given, formal, span, None);
                (self.like_declared(&given, &value, (&name, span), of.span), span)
            }
        };
        if formal.structural || value.is_error() {
            return value;
        }
        let is_fixed = value.entries().to_vec().iter().all(|entry| !self.varies(entry.expr));
        if !is_fixed {
            let diagnostic = Diagnostic::error(
                Code::LGM0925,
                format!("`{name}` changes during a run, so it cannot vary like a parameter"),
            )
            .label(of.span, "this is not a constant")
            .help(format!(
                "vary a parameter of its signal, or set it to a number with `--set {name}=..`"
            ));
            self.report(diagnostic);
            return Value::Error;
        }
        let declared = Declared {
            name,
            span: of.span,
            value_span,
            unit: formal.unit.as_ref(),
            value: Some(of.given),
        };
        self.parameter(&value, declared)
    }

    /// Warns of a number without a unit for a parameter whose value in the text has a unit with a prefix: `--set L=330` is 330 H.
    pub(super) fn note_bare_number(&mut self, setting: &'a Assignment, value: &Value, declared: Option<&Expr>) {
        let is_bare = value.entries().iter().all(|entry| !entry.dim.says_something());
        if !is_bare || value.is_error() || !self.settings.options.are_written {
            return;
        }
        if let Some(unit) = self.literal_unit(declared) {
            let text = self.sources.slice(setting.value.span).to_string();
            self.report(bare_number((&setting.name, &text), &unit, setting.value.span));
        }
    }

    /// Returns a value from an option with the dimension of the declared value; the option may omit the unit, or use another unit of the
    /// same dimension.
    pub(super) fn like_declared(
        &mut self,
        value: &Value,
        declared: &Value,
        (name, span): (&str, Span),
        declared_span: Span,
    ) -> Value {
        let wanted = declared.common_dim();
        if !value.is_error() && !declared.is_error() && value.shape() != declared.shape() {
            let (now, before) = (value.shape_text(), declared.shape_text());
            self.reports
                .reshaped
                .push((format!("this is {now} instead of {before}"), span));
        }
        for entry in value.entries() {
            if wanted.is_known() && entry.dim.is_known() && entry.dim != wanted {
                let (given, wanted) = (self.dims.text(entry.dim), self.dims.text(wanted));
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    format!("`{name}` is set in {given}, but is declared in {wanted}"),
                )
                .label(span, format!("this is in {given}"))
                .label(declared_span, format!("declared in {wanted}"))
                .help(format!(
                    "write `--set {name}=..` without a unit for SI, or with a unit of the same dimension"
                ));
                self.report(diagnostic);
                return Value::Error;
            }
        }
        value.map(|entry| Scalar {
            expr: entry.expr,
            dim: if entry.dim.is_known() { entry.dim } else { wanted },
        })
    }

    /// Reports the options that name no parameter, after the elaboration.
    pub(crate) fn report_unknown_parameters(&mut self) {
        let options = self.settings.options;
        let is_known = |name: &str| {
            let parameters = self.graph.model.parameters.iter();
            self.settings.found.contains(name) || parameters.clone().any(|known| *known.name == *name)
        };
        let set = options.values.iter().filter(|entry| entry.name.contains('.'));
        let set = set.filter(|entry| !self.settings.found.contains(&entry.name));
        let set = set.map(|entry| (&*entry.name, Some(entry.name_span)));
        let varied = options.varied.iter().filter(|name| !is_known(name));
        let missing: Vec<(&str, Option<Span>)> = set.chain(varied.map(|name| (&**name, None))).collect();
        // Instances may be missing because of an error.
        let missing = missing
            .into_iter()
            .filter(|_| self.reports.errors == 0 && !self.reports.is_stopped());
        let unknown = options.unknown.iter().map(|(name, span)| (&**name, Some(*span)));
        let missing: Vec<(&str, Option<Span>)> = unknown.chain(missing).collect();
        if missing.is_empty() {
            return;
        }
        let own = declared(self.chosen);
        let of_instances = self.names_of_instances();
        for (name, span) in missing {
            let diagnostic = match span {
                Some(span) => Diagnostic::error(
                    Code::LGM0902,
                    format!("`{}` has no `param` or `const` named `{name}`", self.chosen.name.text),
                )
                .label(span, "this option has no effect"),
                None => Diagnostic::error(
                    Code::LGM0925,
                    format!("`{}` has no parameter `{name}` that could vary", self.chosen.name.text),
                ),
            };
            let help = similar(name, &own, &of_instances);
            self.report(help.into_iter().fold(diagnostic, Diagnostic::help));
        }
    }

    /// Returns the names of the parameters of instances.
    fn names_of_instances(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (path, formals) in &self.settings.formals {
            let path = self.graph.model.path_name(*path);
            names.extend(formals.iter().map(|formal| format!("{path}.{}", formal.name.text)));
        }
        for frame in self.scopes.frames.iter().take(MOST_COMPARED) {
            let Some(path) = frame.path else { continue };
            let path = self.graph.model.path_name(path);
            let body = &self.scopes.bodies[frame.body as usize];
            names.extend(body.formals.iter().map(|formal| format!("{path}.{}", formal.name.text)));
            statements(body.statements, &mut |statement| {
                if let StatementKind::Param(assigned) | StatementKind::Const(assigned) = &statement.kind {
                    names.push(format!("{path}.{}", assigned.name.text));
                }
            });
        }
        names
    }
}

/// Returns a suggestion for a wrong name: a similar name, the same name in an instance, or the names of the model.
fn similar(name: &str, own: &[&str], of_instances: &[String]) -> Option<String> {
    let all = || own.iter().copied().chain(of_instances.iter().map(String::as_str));
    if !nearest(name, all()).is_empty() {
        return did_you_mean(name, all());
    }
    let last = name.rsplit_once('.').map_or(name, |parts| parts.1);
    let same: Vec<&str> = of_instances
        .iter()
        .filter(|known| known.rsplit_once('.').is_some_and(|parts| parts.1 == last))
        .map(String::as_str)
        .take(3)
        .collect();
    if !same.is_empty() {
        return Some(format!("did you mean `{}`?", same.join("` or `")));
    }
    let owner = name.rsplit_once('.').map_or("", |parts| parts.0);
    let of_owner: Vec<&str> = of_instances
        .iter()
        .filter(|known| known.rsplit_once('.').is_some_and(|parts| parts.0 == owner))
        .map(String::as_str)
        .collect();
    match of_owner.is_empty() {
        false => did_you_mean(name, of_owner),
        true => did_you_mean(name, own.iter().copied()),
    }
}
