//! Experiments: the run settings of the model, checked like other values.

use crate::context::values::{DimId, Scalar};
use crate::context::{EnvId, FrameId, Place};
use crate::evaluate::Side;
use crate::outputs::Results;
use lgm_algebra::expr::to_f64;
use lgm_algebra::units::Dimension;
use lgm_model::{Experiment, ExperimentEntry as Entry};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Attribute, Expr, ExprKind, Name};
use rustc_hash::FxHashMap;

/// The settings of an `experiment`.
pub const ENTRIES: &[&str] = &[
    "start", "stop", "points", "plot", "method", "rtol", "atol", "step", "events",
];

/// The methods of a run, by their names on the command line.
pub const METHODS: &[&str] = &["auto", "tsit45", "bdf", "sdirk", "tr-bdf2"];

/// The largest number of samples of a run.
const MOST_POINTS: f64 = 1e8;

impl<'a> Results<'_, 'a> {
    /// Evaluates the experiments; the model keeps the last one.
    pub fn evaluate_experiments(&mut self) {
        self.reports.here = Place {
            frame: FrameId(0),
            env: EnvId(0),
        };
        for at in 0..self.expanded.experiments.len() {
            let attributes = self.expanded.experiments[at];
            self.graph.model.experiment = Some(self.experiment(attributes));
        }
    }

    fn experiment(&mut self, attributes: &'a [Attribute]) -> Experiment {
        let mut experiment = Experiment::default();
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for attribute in attributes {
            let (name, value) = (&attribute.name, &attribute.value);
            if let Some(first) = seen.get(&*name.text).copied() {
                let diagnostic = Diagnostic::error(Code::LGM0133, format!("`{}` is given twice", name.text))
                    .label(name.span, "given again here")
                    .label(first, "first given here")
                    .help("remove one of the two");
                self.report(diagnostic);
                continue;
            }
            seen.insert(&name.text, name.span);
            match &*name.text {
                "start" => experiment.start = self.entry(Entry::Start, name, value, &mut experiment),
                "stop" => experiment.stop = self.entry(Entry::Stop, name, value, &mut experiment),
                "step" => experiment.step = self.entry(Entry::Step, name, value, &mut experiment),
                "rtol" => experiment.rtol = self.entry(Entry::Rtol, name, value, &mut experiment),
                "atol" => experiment.atol = self.entry(Entry::Atol, name, value, &mut experiment),
                "points" => {
                    let points = self.entry(Entry::Points, name, value, &mut experiment);
                    experiment.points = points.map(|number| number as u64);
                }
                "events" => {
                    let events = self.entry(Entry::Events, name, value, &mut experiment);
                    experiment.events = events.map(|number| number != 0.0);
                }
                "method" => experiment.method = self.method(value),
                "plot" => self.plot(value, &mut experiment.plot),
                _ => self.unknown_entry(name),
            }
        }
        let start = experiment.start.unwrap_or(0.0);
        if let (Some(stop), Some(span)) = (experiment.stop, seen.get("stop"))
            && stop < start
        {
            let mut diagnostic = Diagnostic::error(Code::LGM0154, "the run would stop before it starts")
                .label(*span, format!("this is {stop} s"));
            diagnostic = match seen.get("start") {
                Some(span) => diagnostic.label(*span, format!("this is {start} s")),
                None => diagnostic.note("a run starts at 0 unless `start` is given"),
            };
            self.report(diagnostic.help("write a `stop` that is later than the start"));
        }
        experiment
    }

    fn unknown_entry(&mut self, name: &Name) {
        let mut diagnostic = Diagnostic::error(Code::LGM0144, format!("an experiment has no `{}`", name.text))
            .label(name.span, "unknown");
        diagnostic.help = lgm_source::nearest::did_you_mean(&name.text, ENTRIES.iter().copied());
        diagnostic.fixes = lgm_source::nearest::corrections(name.span, &name.text, ENTRIES.iter().copied());
        self.report(diagnostic);
    }

    /// Reports an invalid value, with the expected one.
    fn bad_entry(&mut self, message: String, span: Span, words: String, help: String) {
        let diagnostic = Diagnostic::error(Code::LGM0154, message).label(span, words).help(help);
        self.report(diagnostic);
    }

    /// Returns a numerical entry in SI, which is constant during the run. If it depends on parameters, its expression is kept for runs with
    /// other values.
    fn entry(&mut self, entry: Entry, name: &'a Name, value: &'a Expr, experiment: &mut Experiment) -> Option<f64> {
        let Scalar { expr, dim } = self.eval_scalar(value, Place::MODEL)?;
        if self.varies(expr) {
            self.bad_entry(
                format!("`{}` must be fixed before the run", name.text),
                value.span,
                "this changes with time".to_string(),
                "write a number or an expression of parameters".to_string(),
            );
            return None;
        }
        let wanted = match entry {
            Entry::Start | Entry::Stop | Entry::Step => self.dims.id(Dimension::TIME),
            Entry::Points | Entry::Rtol | Entry::Atol | Entry::Events => DimId::NONE,
        };
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
        let is_fit = match entry {
            Entry::Start | Entry::Stop | Entry::Events => true,
            Entry::Points => self.is_count(number, value.span),
            Entry::Step | Entry::Rtol | Entry::Atol => self.is_positive(entry, number, name, value.span),
        };
        if !is_fit {
            return None;
        }
        if !self.arena.exprs.symbols_of(&[expr]).is_empty() {
            experiment.dependent.push((entry, expr));
        }
        Some(number)
    }

    fn is_positive(&mut self, entry: Entry, number: f64, name: &Name, span: Span) -> bool {
        if number > 0.0 {
            return true;
        }
        self.bad_entry(
            format!("`{}` must be positive", name.text),
            span,
            format!("this is {number}"),
            match entry {
                Entry::Step => format!("write a time above 0, such as `{} = 1 [ms];`", name.text),
                _ => format!("write a number above 0, such as `{} = 1e-6;`", name.text),
            },
        );
        false
    }

    fn is_count(&mut self, number: f64, span: Span) -> bool {
        if number.fract() == 0.0 && (2.0..=MOST_POINTS).contains(&number) {
            return true;
        }
        self.bad_entry(
            "`points` is a whole number from 2 to 100 million".to_string(),
            span,
            format!("this is {number}"),
            "count both ends: `points = 501;` has 500 equal steps".to_string(),
        );
        false
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
            let help = lgm_source::nearest::did_you_mean(&words, METHODS.iter().copied()).unwrap_or_default();
            self.bad_entry(
                format!("there is no method `{words}`"),
                value.span,
                "unknown".to_string(),
                help,
            );
        }
        found
    }

    /// Collects the names of the outputs, states and inputs to plot.
    fn plot(&mut self, expr: &'a Expr, names: &mut Vec<(String, Span)>) {
        match &expr.kind {
            ExprKind::List(items, _) => {
                for item in items {
                    self.plot(item, names);
                }
            }
            ExprKind::Name(name) => {
                let vector = format!("{}[", name.text);
                let is_output =
                    |entry: &lgm_model::Output| *entry.name == *name.text || entry.name.starts_with(&vector);
                let found = self.graph.model.outputs.iter().filter(|entry| is_output(entry));
                let before = names.len();
                names.extend(found.map(|entry| (entry.name.to_string(), name.span)));
                if names.len() > before || self.is_failed_output(name) {
                    return;
                }
                match self.is_state_or_input(name) {
                    true => names.push((name.text.to_string(), name.span)),
                    false => self.no_such_output(name, &name.text, name.span),
                }
            }
            ExprKind::Index(base, indices) => {
                if !matches!(base.kind, ExprKind::Name(_) | ExprKind::Member(..)) {
                    return self.not_plottable(expr);
                }
                let Some(list) = self.integers(indices, Place::MODEL) else {
                    return;
                };
                let list: Vec<String> = list.iter().map(i64::to_string).collect();
                let ExprKind::Name(name) = &base.kind else {
                    // An entry of a vector state.
                    let entry = format!("{}[{}]", self.sources.slice(base.span), list.join(", "));
                    return names.push((entry, expr.span));
                };
                let entry = format!("{}[{}]", name.text, list.join(", "));
                let is_output = self.graph.model.outputs.iter().any(|output| *output.name == *entry);
                match is_output || self.is_state_or_input(name) || self.is_failed_output(name) {
                    true => names.push((entry, expr.span)),
                    false => self.no_such_output(name, &entry, expr.span),
                }
            }
            // The states of instances are named by their paths; they are known after the equations are formed.
            ExprKind::Member(..) => names.push((self.sources.slice(expr.span).to_string(), expr.span)),
            ExprKind::Missing => {}
            _ => self.not_plottable(expr),
        }
    }

    /// Returns true if a state or an input has this name.
    fn is_state_or_input(&self, name: &Name) -> bool {
        let vector = format!("{}[", name.text);
        let is_input = |known: &str| *known == *name.text || known.starts_with(&vector);
        // A declaration with an error is reported elsewhere.
        let is_failed = self.reports.errors > 0 && self.scopes.value_slot(&name.text, FrameId(0)).is_some();
        is_failed
            || self.graph.model.inputs.iter().any(|input| is_input(&input.name))
            || self
                .expanded
                .states
                .iter()
                .any(|later| later.statement.declared.name.text == name.text)
    }

    /// Returns true if an output of this name is declared, but its value has an error.
    fn is_failed_output(&self, name: &Name) -> bool {
        let declared = self
            .expanded
            .outputs
            .iter()
            .any(|later| later.statement.declared.name.text == name.text);
        // An output whose evaluation could not start is missing without a separate error.
        let is_missing = || {
            let vector = format!("{}[", name.text);
            let is_entry = |known: &str| *known == *name.text || known.starts_with(&vector);
            !self.graph.model.outputs.iter().any(|output| is_entry(&output.name))
        };
        declared && (self.reports.errors > 0 || is_missing())
    }

    /// Reports an unknown output; `entry` is the requested item: the name itself, or one of its entries.
    fn no_such_output(&mut self, name: &Name, entry: &str, span: Span) {
        let is_value = self.scopes.value_slot(&name.text, FrameId(0)).is_some();
        let mut diagnostic = Diagnostic::error(Code::LGM0111, format!("there is no output `{entry}` to plot"));
        if is_value {
            // A signal or a parameter has a value, but requires an output to be recorded.
            diagnostic = diagnostic
                .label(span, "only outputs, states and inputs can be plotted")
                .help(format!(
                    "declare an output of this name: `output {0} = {0};`",
                    name.text
                ));
        } else {
            let outputs = self.graph.model.outputs.iter().map(|output| &*output.name);
            let inputs = self.graph.model.inputs.iter().map(|input| &*input.name);
            let states = self.expanded.states.iter();
            let states = states.map(|later| &*later.statement.declared.name.text);
            let names = outputs.chain(inputs).chain(states);
            let help = lgm_source::nearest::did_you_mean(entry, names.clone());
            diagnostic.fixes = lgm_source::nearest::corrections(span, entry, names);
            diagnostic = diagnostic
                .label(span, "not declared")
                .help(help.unwrap_or_else(|| format!("declare it: `output {entry} = ..;`")));
        }
        self.report(diagnostic);
    }

    fn not_plottable(&mut self, expr: &Expr) {
        self.bad_entry(
            "`plot` requires names of outputs".to_string(),
            expr.span,
            "this is an expression".to_string(),
            "declare an output for it, and write its name here".to_string(),
        );
    }
}
