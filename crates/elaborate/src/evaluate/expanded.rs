//! Functions that are written in terms of others: `mod`, `log10`, `round`, and periodic signals.
//!
//! Their values are expressions of the other functions, so later stages need nothing for them.

use crate::context::Place;
use crate::context::values::{Scalar, Value};
use crate::evaluate::Evaluator;
use crate::function_table::{EXPANDED, Expansion};
use lgm_algebra::expr::{ExprId, Function, Relation, to_f64};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_syntax::ast::{Argument, Expr, Name};
use num_rational::BigRational;
use num_traits::Signed;

/// A function of the table of expanded functions.
#[derive(Clone, Copy)]
pub(super) struct Expanded {
    kind: Expansion,
    least: usize,
    most: usize,
}

impl Expanded {
    /// Returns the function with this name; `pulse` is one only with a period.
    pub fn named(name: &str, count: usize) -> Option<Expanded> {
        let entry = EXPANDED.iter().find(|entry| entry.name == name)?;
        let is_plain_pulse = entry.kind == Expansion::Pulse && count < 3;
        (!is_plain_pulse).then_some(Expanded {
            kind: entry.kind,
            least: entry.least,
            most: entry.most,
        })
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn expanded_call(
        &mut self,
        function: Expanded,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Value {
        if !(function.least..=function.most).contains(&arguments.len()) {
            let wanted = match (function.least, function.most) {
                (1, 1) => "one argument".to_string(),
                (least, most) if least == most => format!("{most} arguments"),
                (least, most) => format!("{least} or {most} arguments"),
            };
            return self.wrong_count(name, &wanted, arguments.len(), span);
        }
        let mut given: Vec<(Scalar, &'a Expr)> = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let Some(scalar) = self.eval_scalar(&argument.value, place) else {
                return Value::Error;
            };
            given.push((scalar, &argument.value));
        }
        // The dimensions are those of a similar function.
        let (like, checked) = match function.kind {
            Expansion::Mod => (Function::Min, &given[..]),
            Expansion::Log10 => (Function::Log, &given[..]),
            Expansion::Round => (Function::Floor, &given[..]),
            Expansion::Square => (Function::Pulse, &given[..1]),
            Expansion::Sawtooth | Expansion::Trapezoid | Expansion::Pulse => (Function::Pulse, &given[..]),
        };
        let Some(dim) = self.function_dimension(like, name, checked) else {
            return Value::Error;
        };
        if let (Expansion::Square, Some(duty)) = (function.kind, given.get(1))
            && self.function_dimension(Function::Exp, name, &[*duty]).is_none()
        {
            return Value::Error;
        }
        if function.kind == Expansion::Trapezoid && !self.has_slopes(&given) {
            return Value::Error;
        }
        let list: Vec<ExprId> = given.iter().map(|entry| entry.0.expr).collect();
        let expr = match function.kind {
            Expansion::Mod => self.modulo(list[0], list[1]),
            Expansion::Log10 => {
                let exprs = &mut self.arena.exprs;
                let ten = exprs.integer(10);
                let (top, bottom) = (exprs.call(Function::Log, list), exprs.call(Function::Log, [ten]));
                exprs.div(top, bottom)
            }
            Expansion::Round => {
                let exprs = &mut self.arena.exprs;
                let half = exprs.number(BigRational::new(1.into(), 2.into()));
                let shifted = exprs.add(list[0], half);
                exprs.call(Function::Floor, [shifted])
            }
            _ => match self.time_here() {
                Some(time) => self.periodic(function.kind, &list, time),
                None => return Value::Error,
            },
        };
        Value::scalar(expr, dim)
    }

    /// Returns true if the rise and the fall of a trapezoid are longer than 0 s; errors are reported.
    fn has_slopes(&mut self, given: &[(Scalar, &'a Expr)]) -> bool {
        for (at, word) in [(0, "rise"), (2, "fall")] {
            let Some((scalar, expr)) = given.get(at) else { continue };
            let values = &self.parameter_values;
            let found = self
                .arena
                .exprs
                .evaluate_exact(&[scalar.expr], &|symbol| values.get(&symbol).cloned());
            let Some(time) = found.ok().and_then(|mut list| list.pop()) else {
                continue;
            };
            if !time.is_positive() {
                let diagnostic = Diagnostic::error(Code::LGM0414, format!("the {word} time must be longer than 0 s"))
                    .label(expr.span, format!("this is {} s", six_digits(to_f64(&time))))
                    .help("give a short time, or use `square`, or `pulse` with a period, for steps");
                self.report(diagnostic);
                return false;
            }
        }
        true
    }

    /// Returns `a - b*floor(a/b)`, which has the sign of b.
    fn modulo(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let exprs = &mut self.arena.exprs;
        let ratio = exprs.div(a, b);
        let count = exprs.call(Function::Floor, [ratio]);
        let whole = exprs.mul(b, count);
        exprs.sub(a, whole)
    }

    /// Returns a periodic signal of time.
    fn periodic(&mut self, kind: Expansion, list: &[ExprId], time: ExprId) -> ExprId {
        match kind {
            // -1 at the start of a period, rising to 1.
            Expansion::Sawtooth => {
                let along = self.modulo(time, list[0]);
                let exprs = &mut self.arena.exprs;
                let (one, two) = (exprs.one(), exprs.integer(2));
                let share = exprs.div(along, list[0]);
                let twice = exprs.mul(two, share);
                exprs.sub(twice, one)
            }
            // 1 for the first part of a period, then -1.
            Expansion::Square => {
                let along = self.modulo(time, list[0]);
                let exprs = &mut self.arena.exprs;
                let half = exprs.number(BigRational::new(1.into(), 2.into()));
                let duty = list.get(1).copied().unwrap_or(half);
                let end = exprs.mul(duty, list[0]);
                let is_high = exprs.relation(Relation::Less, along, end);
                let (one, minus) = (exprs.one(), exprs.integer(-1));
                exprs.if_else(is_high, one, minus)
            }
            // 0 before the first pulse, then 1 for the width at the start of each period.
            Expansion::Pulse => {
                let since = self.arena.exprs.sub(time, list[0]);
                let along = self.modulo(since, list[2]);
                let exprs = &mut self.arena.exprs;
                let is_high = exprs.relation(Relation::Less, along, list[1]);
                let is_started = exprs.relation(Relation::GreaterEqual, time, list[0]);
                let is_on = exprs.relation(Relation::And, is_started, is_high);
                let (zero, one) = (exprs.zero(), exprs.one());
                exprs.if_else(is_on, one, zero)
            }
            // Rise, width, fall, period: a ramp up, 1, a ramp down, 0.
            _ => {
                let (rise, width, fall, period) = (list[0], list[1], list[2], list[3]);
                let along = self.modulo(time, period);
                let exprs = &mut self.arena.exprs;
                let (zero, one) = (exprs.zero(), exprs.one());
                let end = exprs.sum([rise, width, fall]);
                let (up, left) = (exprs.div(along, rise), exprs.sub(end, along));
                let down = exprs.div(left, fall);
                let high = exprs.call(Function::Min, [up, one, down]);
                exprs.call(Function::Max, [zero, high])
            }
        }
    }
}
