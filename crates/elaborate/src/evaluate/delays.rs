//! Delayed signals, `delay(x, T)`.
//!
//! Each becomes an internal input without a signal. A run reads its value from the history of the expression.

use crate::context::values::{DimId, Scalar, Value, entry_names};
use crate::context::{Place, ValueSlot};
use crate::evaluate::{Evaluator, Side, ValueKey};
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind, to_f64};
use lgm_algebra::units::Dimension;
use lgm_model::SiUnit;
use lgm_model::switching::Delay;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Argument, Expr, Name};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl<'a> Evaluator<'a> {
    /// Evaluates `delay(x, T)`, entry by entry.
    pub(super) fn delay(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Value {
        let [signal, time] = arguments else {
            return self.wrong_count(name, "a signal and a time", arguments.len(), span);
        };
        if self.law.is_some() {
            let diagnostic = Diagnostic::error(Code::LGM0167, "`delay` is not allowed in a law")
                .label(span, "a law relates variables at one instant")
                .help("delay a signal of the model, `signal late = delay(across(c), T);`, and pass it to a source");
            self.report(diagnostic);
            return Value::Error;
        }
        self.delaying.push(self.open.len());
        let value = self.eval(&signal.value, place);
        self.delaying.pop();
        let time = self.delay_time(&time.value, place);
        let (false, Some(time)) = (value.is_error(), time) else {
            return Value::Error;
        };
        let written = self.qualified(&self.written(span), place.frame);
        let names = entry_names(&written, &value);
        let entries = value.entries().to_vec().into_iter().zip(names);
        let entries = entries
            .map(|(entry, name)| self.delayed(entry, time, name, span))
            .collect();
        self.like(&value, entries)
    }

    /// Returns a symbol for a value that is under evaluation itself if it is used only behind a delay, which breaks the cycle; `None` in
    /// other cycles. `from` is the number of values under evaluation before it.
    pub(super) fn use_behind_delay(&mut self, from: usize, (key, name, span): (ValueKey, &str, Span)) -> Option<Value> {
        if self.delaying.iter().all(|depth| *depth <= from) {
            return None;
        }
        let known = self.cycles.iter().find(|cycle| cycle.0 == key).map(|cycle| cycle.1);
        let symbol = known.unwrap_or_else(|| {
            let symbol = self.arena.exprs.new_symbol(name, SymbolKind::Input);
            self.cycles.push((key, symbol, span));
            symbol
        });
        Some(Value::scalar(self.arena.exprs.symbol(symbol), DimId::UNKNOWN))
    }

    /// Returns the values of the symbols that stood for values in cycles through delays.
    pub(crate) fn values_in_cycles(&mut self) -> FxHashMap<SymbolId, ExprId> {
        let mut found = FxHashMap::default();
        for ((slot, indices), symbol, span) in std::mem::take(&mut self.cycles) {
            let entry = match (&self.scopes.values[slot], indices) {
                (ValueSlot::Indexed(map), Some(at)) => map.get(&at),
                (plain, _) => Some(plain),
            };
            match entry {
                Some(ValueSlot::Done(Value::Scalar(scalar))) => _ = found.insert(symbol, scalar.expr),
                Some(ValueSlot::Done(Value::Array(_))) => {
                    let diagnostic = Diagnostic::error(Code::LGM0117, "a vector depends on its own delayed value")
                        .label(span, "this use closes the cycle")
                        .help("write each entry as a signal of its own");
                    self.report(diagnostic);
                }
                // Reported.
                _ => {}
            }
        }
        found
    }

    /// Returns the delay in seconds, as an expression and as a number.
    fn delay_time(&mut self, expr: &'a Expr, place: Place) -> Option<(ExprId, f64)> {
        let value = self.eval_scalar(expr, place)?;
        let seconds = self.dims.id(Dimension::TIME);
        if !self.same_dimension(Side::of(expr, value.dim), Side::of(expr, seconds), "compared") {
            return None;
        }
        if self.varies(value.expr) {
            let diagnostic = Diagnostic::error(Code::LGM0167, "a delay must be constant")
                .label(expr.span, "this changes with time")
                .help("write a number or an expression of parameters: `delay(x, 0.1 [s])`");
            self.report(diagnostic);
            return None;
        }
        let number = to_f64(self.exact(&[value.expr], expr.span)?.first()?);
        if number > 0.0 && number.is_finite() {
            return Some((value.expr, number));
        }
        let diagnostic = Diagnostic::error(Code::LGM0167, "a delay must be longer than 0 s")
            .label(expr.span, format!("this is {number} s"))
            .help("write a time above 0, or use the signal without `delay`");
        self.report(diagnostic);
        None
    }

    /// Returns the symbol of a delayed scalar; equal ones share it.
    fn delayed(&mut self, entry: Scalar, time: (ExprId, f64), name: String, span: Span) -> Scalar {
        let dim = match entry.dim {
            DimId::PLAIN => DimId::UNKNOWN,
            dim => dim,
        };
        let delays = &self.graph.model.switching.delays;
        let known = delays
            .iter()
            .find(|delay| (delay.value, delay.time.0) == (entry.expr, time.0))
            .map(|delay| delay.symbol);
        if let Some(known) = known {
            let expr = self.arena.exprs.symbol(known);
            return Scalar { expr, dim };
        }
        let is_free = |name: &str| delays.iter().all(|delay| *delay.name != *name);
        let others = (2..).map(|number| format!("{name} ({number})"));
        let name = std::iter::once(name.clone()).chain(others).find(|name| is_free(name));
        let name: Arc<str> = name.expect("invariant: numbers do not end").into();
        let symbol = self.arena.exprs.new_symbol(name.clone(), SymbolKind::Input);
        let unit = self.dims.get(entry.dim).map(SiUnit::of);
        self.graph.model.switching.delays.push(Delay {
            name,
            symbol,
            unit,
            // The inputs of delays follow all others, so they are added later.
            input: usize::MAX,
            value: entry.expr,
            time,
            output: None,
            span,
        });
        Scalar {
            expr: self.arena.exprs.symbol(symbol),
            dim,
        }
    }
}
