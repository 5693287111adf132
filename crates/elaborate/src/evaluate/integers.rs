//! Compile-time integers: sizes, indices, ends of ranges, conditions.

use crate::context::values::{Scalar, Value};
use crate::context::{Indices, Place, pair};
use crate::evaluate::Evaluator;
use lgm_algebra::expr::SymbolKind;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Comparison, Expr, ExprKind};
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

impl<'a> Evaluator<'a> {
    /// Returns several integers.
    pub(crate) fn integers(&mut self, list: &'a [Expr], place: Place) -> Option<Vec<i64>> {
        if list.len() > 2 {
            let span = list[0].span.to(list[list.len() - 1].span);
            let diagnostic = Diagnostic::error(Code::LGM0123, format!("{} indices are written here", list.len()))
                .label(span, "at most two are possible")
                .help("write one or two: `a[i]` or `a[i, j]`");
            self.report(diagnostic);
            return None;
        }
        list.iter().map(|expr| self.integer(expr, place)).collect()
    }

    /// Returns the indices of a value, as a key.
    pub(crate) fn index_pair(&mut self, list: &'a [Expr], place: Place) -> Option<Indices> {
        self.integers(list, place).map(|list| pair(&list))
    }

    /// Returns an integer.
    pub(crate) fn integer(&mut self, expr: &'a Expr, place: Place) -> Option<i64> {
        if let Some(value) = self.quick_integer(expr, place) {
            return Some(value);
        }
        let value = self.structural(expr, place, "a size or an index")?;
        match value.is_integer().then(|| value.to_integer().to_i64()).flatten() {
            Some(value) => Some(value),
            None => {
                let shown = lgm_algebra::expr::to_f64(&value);
                let diagnostic = Diagnostic::error(Code::LGM0401, "a whole number is required here")
                    .label(expr.span, format!("this is {shown}"))
                    .help("write a whole number; `floor(x)` rounds down");
                self.report(diagnostic);
                None
            }
        }
    }

    /// Returns an integer expression of loop indices and literals, in machine arithmetic: most indices are of this kind.
    fn quick_integer(&mut self, expr: &'a Expr, place: Place) -> Option<i64> {
        match &expr.kind {
            ExprKind::Number(text, None) => text.parse().ok(),
            ExprKind::Name(name) if self.law.is_none() => self.scopes.loop_index(&name.text, place),
            ExprKind::Sum(terms) => {
                let mut sum = 0i64;
                for (subtracted, term) in terms {
                    let value = self.quick_integer(term, place)?;
                    sum = if *subtracted {
                        sum.checked_sub(value)?
                    } else {
                        sum.checked_add(value)?
                    };
                }
                Some(sum)
            }
            ExprKind::Product(factors) => {
                let mut product = 1i64;
                for (divided, factor) in factors {
                    if *divided {
                        return None;
                    }
                    product = product.checked_mul(self.quick_integer(factor, place)?)?;
                }
                Some(product)
            }
            _ => None,
        }
    }

    /// Returns true if a comparison of such numbers holds; loops evaluate it in every iteration.
    fn quick_truth(&mut self, expr: &'a Expr, place: Place) -> Option<bool> {
        match &expr.kind {
            ExprKind::Compare(comparison, a, b) => {
                let (a, b) = (self.quick_integer(a, place)?, self.quick_integer(b, place)?);
                Some(match comparison {
                    Comparison::Less => a < b,
                    Comparison::LessEqual => a <= b,
                    Comparison::Greater => a > b,
                    Comparison::GreaterEqual => a >= b,
                    Comparison::Equal => a == b,
                    Comparison::NotEqual => a != b,
                })
            }
            ExprKind::Not(inner) => Some(!self.quick_truth(inner, place)?),
            // Every part is evaluated, so that errors in one part are found independently of the others.
            ExprKind::And(list) => list
                .iter()
                .try_fold(true, |all, part| Some(self.quick_truth(part, place)? && all)),
            ExprKind::Or(list) => list
                .iter()
                .try_fold(false, |any, part| Some(self.quick_truth(part, place)? || any)),
            _ => None,
        }
    }

    /// Returns a compile-time number.
    pub(super) fn structural(&mut self, expr: &'a Expr, place: Place, what: &str) -> Option<BigRational> {
        let value = self.eval(expr, place);
        let scalar = match value {
            Value::Error => return None,
            Value::Scalar(scalar) => scalar,
            Value::Array(_) => {
                let diagnostic = Diagnostic::error(Code::LGM0401, format!("{what} must be a single number"))
                    .label(expr.span, format!("this is {}", value.shape_text()))
                    .help("write one entry of it, with an index such as `[1]`");
                self.report(diagnostic);
                return None;
            }
        };
        self.fixed_number(&scalar, expr.span, what)
    }

    /// Returns the number of a scalar, which must be a compile-time constant.
    pub(super) fn fixed_number(&mut self, scalar: &Scalar, span: Span, what: &str) -> Option<BigRational> {
        if let Some(number) = self.arena.exprs.as_number(scalar.expr) {
            return Some(number.clone());
        }
        match self.arena.exprs.evaluate_exact(&[scalar.expr], &|_| None) {
            Ok(list) => list.into_iter().next(),
            Err(_) => {
                let symbols = self.arena.exprs.symbols_of(&[scalar.expr]);
                self.not_structural(span, what, symbols.first().copied());
                None
            }
        }
    }

    fn not_structural(&mut self, span: Span, what: &str, symbol: Option<lgm_algebra::expr::SymbolId>) {
        let mut diagnostic = Diagnostic::error(Code::LGM0402, format!("{what} must be known at compile time"));
        diagnostic = match symbol {
            Some(symbol) => {
                let info = self.arena.exprs.symbol_info(symbol);
                let kind = match info.kind {
                    SymbolKind::Parameter => "a `param`",
                    SymbolKind::Input => "an `input`",
                    SymbolKind::State => "a `state`",
                    SymbolKind::Time => "the time",
                    _ => "a variable of the graph",
                };
                let name = info.name.clone();
                let diagnostic = diagnostic.label(span, format!("this depends on `{name}`, which is {kind}"));
                let diagnostic = self.label_symbol(diagnostic, symbol);
                match info.kind {
                    SymbolKind::Parameter => {
                        diagnostic.help(format!("declare it as a structural parameter: `const {name} = ..;`"))
                    }
                    _ => diagnostic.help("use only numbers, `const` values and loop indices"),
                }
            }
            None => diagnostic
                .label(span, "this has no finite value")
                .help("use only numbers within range, `const` values and loop indices"),
        };
        self.report(diagnostic);
    }

    /// Returns the condition of an `if` block.
    pub(crate) fn condition(&mut self, expr: &'a Expr, place: Place) -> Option<bool> {
        if let Some(truth) = self.quick_truth(expr, place) {
            return Some(truth);
        }
        let value = self.structural(expr, place, "the condition of an `if` block")?;
        Some(!value.is_zero())
    }
}
