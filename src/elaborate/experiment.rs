//! Experiments: how the model is to be run, checked as the values that they are.

use super::model::Experiment;
use super::origins::Side;
use super::state::{Elaborator, EnvId, FrameId, Place};
use super::values::{DimId, Scalar};
use crate::diagnostic::Diagnostic;
use crate::expr::to_f64;
use crate::source::Span;
use crate::syntax::ast::{Attribute, Expr, ExprKind, Name};
use crate::units::Dimension;
use rustc_hash::FxHashMap;

/// What an `experiment` may say.
const ENTRIES: &[&str] = &[
    "start", "stop", "points", "plot", "method", "rtol", "atol", "step", "events",
];

/// The methods of a run, as the command line names them.
const METHODS: &[&str] = &["auto", "tsit45", "bdf", "sdirk", "tr-bdf2"];

/// The most rows of a run.
const MOST_POINTS: f64 = 1e8;

impl<'a> Elaborator<'a> {
    /// Evaluates the experiments; the model keeps the last one.
    pub fn finish_experiments(&mut self) {
        self.here = Place {
            frame: FrameId(0),
            env: EnvId(0),
        };
        for at in 0..self.experiments.len() {
            let attributes = self.experiments[at];
            self.model.experiment = Some(self.experiment(attributes));
        }
    }

    fn experiment(&mut self, attributes: &'a [Attribute]) -> Experiment {
        let mut experiment = Experiment::default();
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for attribute in attributes {
            let (name, value) = (&attribute.name, &attribute.value);
            if let Some(first) = seen.get(&*name.text).copied() {
                let diagnostic = Diagnostic::error("LGM0133", format!("`{}` is given twice", name.text))
                    .label(name.span, "given again here")
                    .label(first, "first given here")
                    .help("leave one of the two out");
                self.report(diagnostic);
                continue;
            }
            seen.insert(&name.text, name.span);
            match &*name.text {
                "start" => experiment.start = self.experiment_time(name, value),
                "stop" => experiment.stop = self.experiment_time(name, value),
                "step" => experiment.step = self.positive(name, value, true),
                "rtol" => experiment.rtol = self.positive(name, value, false),
                "atol" => experiment.atol = self.positive(name, value, false),
                "points" => experiment.points = self.points(name, value),
                "events" => experiment.events = self.experiment_number(name, value, DimId::NONE).map(|x| x != 0.0),
                "method" => experiment.method = self.method(value),
                "plot" => self.plot(value, &mut experiment.plot),
                _ => self.unknown_entry(name),
            }
        }
        let start = experiment.start.unwrap_or(0.0);
        if let (Some(stop), Some(span)) = (experiment.stop, seen.get("stop"))
            && stop < start
        {
            let mut diagnostic = Diagnostic::error("LGM0154", "the run would stop before it starts")
                .label(*span, format!("this is {stop} s"));
            diagnostic = match seen.get("start") {
                Some(span) => diagnostic.label(*span, format!("this is {start} s")),
                None => diagnostic.note("a run starts at 0 unless `start` says otherwise"),
            };
            self.report(diagnostic.help("write a `stop` that is later than the start"));
        }
        experiment
    }

    fn unknown_entry(&mut self, name: &Name) {
        let mut diagnostic =
            Diagnostic::error("LGM0144", format!("an experiment has no `{}`", name.text)).label(name.span, "not known");
        diagnostic.help = super::nearest::did_you_mean(&name.text, ENTRIES.iter().copied());
        self.report(diagnostic);
    }

    /// A value that cannot be used, and what would do.
    fn bad_entry(&mut self, message: String, span: Span, words: String, help: String) {
        let diagnostic = Diagnostic::error("LGM0154", message).label(span, words).help(help);
        self.report(diagnostic);
    }

    /// A number that is fixed before the run, in SI.
    fn experiment_number(&mut self, name: &'a Name, value: &'a Expr, wanted: DimId) -> Option<f64> {
        let Scalar { expr, dim } = self.eval_scalar(value, self.here)?;
        if self.varies(expr) {
            self.bad_entry(
                format!("`{}` must be fixed before the run", name.text),
                value.span,
                "this changes with time".to_string(),
                "write a number or an expression of parameters".to_string(),
            );
            return None;
        }
        let declared = Side {
            dim: wanted,
            span: name.span,
            expr: None,
        };
        if !self.same_dimension(declared, Side::of(value, dim), "put together") {
            return None;
        }
        let numbers = self.exact(&[expr], value.span)?;
        let number = to_f64(&numbers[0]);
        if !number.is_finite() {
            self.bad_entry(
                format!("`{}` is out of range", name.text),
                value.span,
                "this is beyond the range of doubles".to_string(),
                "write a smaller number".to_string(),
            );
            return None;
        }
        Some(number)
    }

    fn experiment_time(&mut self, name: &'a Name, value: &'a Expr) -> Option<f64> {
        let time = self.dims.id(Dimension::TIME);
        self.experiment_number(name, value, time)
    }

    fn positive(&mut self, name: &'a Name, value: &'a Expr, is_time: bool) -> Option<f64> {
        let number = match is_time {
            true => self.experiment_time(name, value)?,
            false => self.experiment_number(name, value, DimId::NONE)?,
        };
        if number <= 0.0 {
            self.bad_entry(
                format!("`{}` must be positive", name.text),
                value.span,
                format!("this is {number}"),
                match is_time {
                    true => format!("write a time above 0, such as `{} = 1 [ms];`", name.text),
                    false => format!("write a number above 0, such as `{} = 1e-6;`", name.text),
                },
            );
            return None;
        }
        Some(number)
    }

    fn points(&mut self, name: &'a Name, value: &'a Expr) -> Option<u64> {
        let number = self.experiment_number(name, value, DimId::NONE)?;
        if number.fract() != 0.0 || !(2.0..=MOST_POINTS).contains(&number) {
            self.bad_entry(
                "`points` is a whole number from 2 to 100 million".to_string(),
                value.span,
                format!("this is {number}"),
                "count both ends: `points = 501;` has 500 equal steps".to_string(),
            );
            return None;
        }
        Some(number as u64)
    }

    fn method(&mut self, value: &'a Expr) -> Option<&'static str> {
        let words = match &value.kind {
            ExprKind::Name(name) => name.text.replace('_', "-"),
            ExprKind::Text(text) => text.to_string(),
            _ => self.sources.slice(value.span).replace(' ', ""),
        };
        let found = METHODS
            .iter()
            .find(|method| method.eq_ignore_ascii_case(&words))
            .copied();
        if found.is_none() {
            let help = super::nearest::did_you_mean(&words, METHODS.iter().copied()).unwrap_or_default();
            self.bad_entry(
                format!("there is no method `{words}`"),
                value.span,
                "not known".to_string(),
                help,
            );
        }
        found
    }

    /// The outputs, signals and states to draw, by their names.
    fn plot(&mut self, expr: &'a Expr, names: &mut Vec<String>) {
        match &expr.kind {
            ExprKind::List(items, _) => {
                for item in items {
                    self.plot(item, names);
                }
            }
            ExprKind::Name(name) => {
                let vector = format!("{}[", name.text);
                let is_output =
                    |entry: &super::model::Output| *entry.name == *name.text || entry.name.starts_with(&vector);
                let found = self.model.outputs.iter().filter(|entry| is_output(entry));
                let before = names.len();
                names.extend(found.map(|entry| entry.name.to_string()));
                if names.len() > before || self.is_failed_output(name) {
                    return;
                }
                match self.value_slot(&name.text, FrameId(0)) {
                    Some(_) => names.push(name.text.to_string()),
                    None => self.no_such_output(&name.text, name.span),
                }
            }
            ExprKind::Index(base, indices) => {
                let ExprKind::Name(name) = &base.kind else {
                    return self.not_plottable(expr);
                };
                let Some(list) = self.integers(indices, self.here) else {
                    return;
                };
                let list: Vec<String> = list.iter().map(i64::to_string).collect();
                let entry = format!("{}[{}]", name.text, list.join(", "));
                let is_output = self.model.outputs.iter().any(|output| *output.name == *entry);
                let is_value = self.value_slot(&name.text, FrameId(0)).is_some();
                match is_output || is_value || self.is_failed_output(name) {
                    true => names.push(entry),
                    false => self.no_such_output(&entry, expr.span),
                }
            }
            // The states and values of instances go by their paths.
            ExprKind::Member(..) => names.push(self.sources.slice(expr.span).to_string()),
            ExprKind::Missing => {}
            _ => self.not_plottable(expr),
        }
    }

    /// Whether an output of this name is declared, and its value was at fault.
    fn is_failed_output(&self, name: &Name) -> bool {
        let declared = self
            .outputs
            .iter()
            .any(|later| later.what.declared.name.text == name.text);
        declared && self.errors > 0
    }

    fn no_such_output(&mut self, name: &str, span: Span) {
        let names: Vec<String> = self
            .model
            .outputs
            .iter()
            .map(|output| output.name.to_string())
            .collect();
        let help = super::nearest::did_you_mean(name, names.iter().map(String::as_str));
        let mut diagnostic =
            Diagnostic::error("LGM0111", format!("there is no output `{name}` to plot")).label(span, "not declared");
        diagnostic.help = help.or_else(|| Some(format!("declare it: `output {name} = ..;`")));
        self.report(diagnostic);
    }

    fn not_plottable(&mut self, expr: &Expr) {
        self.bad_entry(
            "`plot` takes the names of outputs".to_string(),
            expr.span,
            "this is an expression".to_string(),
            "declare an output for it, and write its name here".to_string(),
        );
    }
}
