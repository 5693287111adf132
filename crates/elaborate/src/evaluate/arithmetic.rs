//! Sums, products and powers of values, with their dimensions and widths checked.

use crate::context::Place;
use crate::context::values::{Agreement, DimId, Scalar, Value};
use crate::evaluate::{Claim, Evaluator, Side};
use lgm_algebra::expr::{ExprId, Function};
use lgm_algebra::units::Unit;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Expr, ExprKind, Indexed};
use num_traits::ToPrimitive;
use std::rc::Rc;

/// The maximum number of entries of a product of matrices.
const LARGEST_RESULT: usize = 250_000;
/// The maximum number of products of two entries in a product of matrices.
const LARGEST_PRODUCT: usize = 1_000_000;

impl<'a> Evaluator<'a> {
    /// Returns true if two quantities have the same dimension; an unknown dimension matches every other one.
    pub(crate) fn same_dimension(&mut self, a: Side<'a>, b: Side<'a>, how: &str) -> bool {
        if a.dim.agreement(b.dim) == Agreement::Yes {
            return true;
        }
        let (left, right) = (self.dims.text(a.dim), self.dims.text(b.dim));
        let diagnostic = Diagnostic::error(
            Code::LGM0201,
            format!("quantities of different dimension are {how}: {right} and {left}"),
        )
        .label(b.span, format!("this is in {right}"))
        .label(a.span, format!("this is in {left}"));
        let diagnostic = self.explain_dimension(diagnostic, a.expr);
        let diagnostic = self.explain_dimension(diagnostic, b.expr);
        let help = format!(
            "give both the same dimension: correct a unit or add the missing factor, so that both are in {left} or \
             both in {right}"
        );
        // If there are two numbers, the later one: in `Kp*e + Ki*ie` this is the gain of the integral.
        self.disagree(diagnostic.help(help), &[Claim::of(b, a.dim), Claim::of(a, b.dim)])
    }

    /// Reports two widths that do not match.
    pub(crate) fn width_mismatch(&mut self, a: &Value, a_span: Span, b: &Value, b_span: Span) {
        let diagnostic = Diagnostic::error(
            Code::LGM0202,
            format!("{} and {} are incompatible", a.shape_text(), b.shape_text()),
        )
        .label(a_span, format!("this is {}", a.shape_text()))
        .label(b_span, format!("this is {}", b.shape_text()))
        .help("give both the same shape, or take one entry, such as `x[1]`");
        self.report(diagnostic);
    }

    pub(super) fn negate(&mut self, value: &Value) -> Value {
        let exprs = &mut self.arena.exprs;
        value.map(|entry| Scalar {
            expr: exprs.neg(entry.expr),
            dim: entry.dim,
        })
    }

    pub(super) fn sum(&mut self, terms: &'a [(bool, Expr)], place: Place) -> Value {
        let mut list = Vec::with_capacity(terms.len());
        for (subtracted, term) in terms {
            list.push((*subtracted, self.eval(term, place), term));
        }
        if list.iter().any(|term| term.1.is_error()) {
            return Value::Error;
        }
        self.add_up(&list)
    }

    /// Returns the sum of error-free terms.
    pub(super) fn add_up(&mut self, terms: &[(bool, Value, &'a Expr)]) -> Value {
        let shape = terms[0].1.shape();
        for term in &terms[1..] {
            if term.1.shape() != shape {
                self.width_mismatch(&term.1, term.2.span, &terms[0].1, terms[0].2.span);
                return Value::Error;
            }
        }
        let count = shape.0 * shape.1;
        let mut entries = Vec::with_capacity(count);
        let mut parts = Vec::with_capacity(terms.len());
        for at in 0..count {
            let mut dim = DimId::PLAIN;
            let mut known = terms[0].2;
            parts.clear();
            for (subtracted, value, term) in terms {
                let entry = value.entries()[at];
                if !self.same_dimension(Side::of(known, dim), Side::of(term, entry.dim), "added") {
                    return Value::Error;
                }
                let joined = dim.joined(entry.dim);
                if joined != dim {
                    dim = joined;
                    known = term;
                }
                parts.push(if *subtracted {
                    self.arena.exprs.neg(entry.expr)
                } else {
                    entry.expr
                });
            }
            entries.push(Scalar {
                expr: self.arena.exprs.sum(parts.iter().copied()),
                dim,
            });
        }
        self.like(&terms[0].1, entries)
    }

    /// Returns entries in the shape of another value.
    pub(super) fn like(&self, value: &Value, entries: Vec<Scalar>) -> Value {
        match value {
            Value::Array(array) => Value::array(array.rows, array.columns, array.matrix, entries),
            _ => Value::Scalar(entries[0]),
        }
    }

    pub(super) fn product(&mut self, factors: &'a [(bool, Expr)], place: Place) -> Value {
        let mut list = Vec::with_capacity(factors.len());
        for (divided, factor) in factors {
            if let (true, ExprKind::InUnit(_, unit)) = (*divided, &factor.kind) {
                self.unit_of_divisor(unit.span, factors);
                return Value::Error;
            }
            list.push((*divided, self.eval(factor, place), factor.span));
        }
        if list.iter().any(|factor| factor.1.is_error()) {
            return Value::Error;
        }
        if list.iter().all(|factor| matches!(factor.1, Value::Scalar(_))) {
            return self.scalar_product(&list);
        }
        let (_, mut result, mut span) = list[0].clone();
        if list[0].0 {
            return Value::Error;
        }
        for (divided, value, factor_span) in &list[1..] {
            result = if *divided {
                self.divide(&result, value, *factor_span)
            } else {
                self.multiply(&result, span, value, *factor_span)
            };
            if result.is_error() {
                return Value::Error;
            }
            span = span.to(*factor_span);
        }
        result
    }

    /// Reports a unit after a divisor, which probably belongs to the quotient.
    fn unit_of_divisor(&mut self, unit: Span, factors: &[(bool, Expr)]) {
        let whole = factors[0].1.span.to(factors[factors.len() - 1].1.span);
        let text = self.sources.slice(whole);
        let words = self.sources.slice(unit);
        let quotient = text.strip_suffix(words).unwrap_or(text).trim_end();
        let diagnostic = Diagnostic::error(Code::LGM0020, "a unit after a divisor is ambiguous")
            .label(unit, "the unit of the divisor, or of the quotient?")
            .help(format!("write `({quotient}) {words}` for the unit of the quotient"));
        self.report(diagnostic);
    }

    fn scalar_product(&mut self, list: &[(bool, Value, Span)]) -> Value {
        let mut dim = DimId::NONE;
        let mut parts = Vec::with_capacity(list.len());
        for (divided, value, span) in list {
            let Value::Scalar(scalar) = value else {
                return Value::Error;
            };
            if *divided {
                if self.divides_by_zero(scalar, *span) {
                    return Value::Error;
                }
                dim = self.dims.over(dim, scalar.dim);
                let minus_one = self.arena.exprs.integer(-1);
                parts.push(self.arena.exprs.power(scalar.expr, minus_one));
            } else {
                dim = self.dims.times(dim, scalar.dim);
                parts.push(scalar.expr);
            }
        }
        Value::scalar(self.arena.exprs.product(parts), dim)
    }

    fn divides_by_zero(&mut self, scalar: &Scalar, span: Span) -> bool {
        if !self.arena.exprs.is_zero(scalar.expr) {
            return false;
        }
        let diagnostic = Diagnostic::error(Code::LGM0404, "division by zero")
            .label(span, "this is 0")
            .help("give it another value, or remove the element that divides by it");
        self.report(diagnostic);
        true
    }

    fn divide(&mut self, a: &Value, b: &Value, b_span: Span) -> Value {
        let Value::Scalar(divisor) = b else {
            let diagnostic = Diagnostic::error(Code::LGM0208, "only a scalar can divide")
                .label(b_span, format!("this is {}", b.shape_text()))
                .help("solve the law for the other variable, with the matrix as a factor");
            self.report(diagnostic);
            return Value::Error;
        };
        if self.divides_by_zero(divisor, b_span) {
            return Value::Error;
        }
        let divisor = *divisor;
        let entries = a.entries().to_vec();
        let entries = entries
            .into_iter()
            .map(|entry| Scalar {
                expr: self.arena.exprs.div(entry.expr, divisor.expr),
                dim: self.dims.over(entry.dim, divisor.dim),
            })
            .collect();
        self.like(a, entries)
    }

    /// Returns the product of scalars, vectors and matrices.
    fn multiply(&mut self, a: &Value, a_span: Span, b: &Value, b_span: Span) -> Value {
        let (scale, other) = match (a, b) {
            (Value::Error, _) | (_, Value::Error) => return Value::Error,
            (Value::Scalar(scale), other) | (other, Value::Scalar(scale)) => (Some(*scale), other),
            _ => (None, a),
        };
        if let Some(scale) = scale {
            let entries = other.entries().to_vec();
            // The factors keep their written order.
            let left = matches!(a, Value::Scalar(_));
            let entries = entries
                .into_iter()
                .map(|entry| Scalar {
                    expr: if left {
                        self.arena.exprs.mul(scale.expr, entry.expr)
                    } else {
                        self.arena.exprs.mul(entry.expr, scale.expr)
                    },
                    dim: self.dims.times(scale.dim, entry.dim),
                })
                .collect();
            return self.like(other, entries);
        }
        let ((rows, inner), (inner_b, columns)) = (a.shape(), b.shape());
        if inner != inner_b {
            let mut diagnostic = Diagnostic::error(
                Code::LGM0202,
                format!("{} cannot multiply {}", a.shape_text(), b.shape_text()),
            )
            .label(a_span, format!("this is {}", a.shape_text()))
            .label(b_span, format!("this is {}", b.shape_text()));
            diagnostic.help = Some(match a.shape() == b.shape() && columns == 1 {
                true => "for the scalar product write `transpose(a)*b`".to_string(),
                false => format!(
                    "the left factor has {inner} column{}, the right one {inner_b} row{}: make these equal",
                    if inner == 1 { "" } else { "s" },
                    if inner_b == 1 { "" } else { "s" }
                ),
            });
            self.report(diagnostic);
            return Value::Error;
        }
        // Entries that are 0 without a unit match any dimension, and most entries of a large matrix are of this kind.
        let says_something =
            |this: &Self, entry: &Scalar| entry.dim.is_known() || !this.arena.exprs.is_zero(entry.expr);
        let rows_of_b: Vec<Vec<usize>> = (0..inner)
            .map(|k| {
                let row = &b.entries()[k * columns..(k + 1) * columns];
                (0..columns).filter(|at| says_something(self, &row[*at])).collect()
            })
            .collect();
        if rows.saturating_mul(columns) > LARGEST_RESULT {
            self.product_too_large(a, a_span, b, b_span);
            return Value::Error;
        }
        let mut entries = Vec::with_capacity(rows * columns);
        let mut terms = 0;
        for row in 0..rows {
            let mut row_terms: Vec<Vec<usize>> = vec![Vec::new(); columns];
            for (k, columns_of_row) in rows_of_b.iter().enumerate() {
                if says_something(self, &a.entries()[row * inner + k]) {
                    columns_of_row.iter().for_each(|column| row_terms[*column].push(k));
                    terms += columns_of_row.len();
                }
            }
            if terms > LARGEST_PRODUCT {
                self.product_too_large(a, a_span, b, b_span);
                return Value::Error;
            }
            for (column, list) in row_terms.iter().enumerate() {
                let mut dim = DimId::PLAIN;
                let mut parts = Vec::with_capacity(list.len());
                for k in list.iter().copied() {
                    let (x, y) = (a.entries()[row * inner + k], b.entries()[k * columns + column]);
                    let term = self.dims.times(x.dim, y.dim);
                    let side = |dim, span| Side { dim, span, expr: None };
                    if !self.same_dimension(side(dim, a_span), side(term, b_span), "added in this product") {
                        return Value::Error;
                    }
                    dim = dim.joined(term);
                    parts.push(self.arena.exprs.mul(x.expr, y.expr));
                }
                entries.push(Scalar {
                    expr: self.arena.exprs.sum(parts),
                    dim,
                });
            }
        }
        match entries[..] {
            [only] => Value::Scalar(only),
            _ => Value::array(rows, columns, columns > 1, entries),
        }
    }

    fn product_too_large(&mut self, a: &Value, a_span: Span, b: &Value, b_span: Span) {
        let diagnostic = Diagnostic::error(Code::LGM0125, "this product of matrices has too many terms")
            .label(a_span, format!("this is {}", a.shape_text()))
            .label(b_span, format!("this is {}", b.shape_text()))
            .help("at most a million terms can be written out; describe the system by its elements instead");
        self.report(diagnostic);
    }

    pub(super) fn power(&mut self, parts: &'a [Expr], place: Place) -> Value {
        let mut scalars = Vec::with_capacity(parts.len());
        for part in parts {
            scalars.push((self.eval_scalar(part, place), part.span));
        }
        let Some((Some(mut exponent), mut exponent_span)) = scalars.pop() else {
            return Value::Error;
        };
        // Right associative: from the last pair to the first.
        while let Some((base, base_span)) = scalars.pop() {
            let Some(base) = base else {
                return Value::Error;
            };
            let Some(result) = self.power_of(base, base_span, exponent, exponent_span) else {
                return Value::Error;
            };
            exponent = result;
            exponent_span = base_span.to(exponent_span);
        }
        Value::Scalar(exponent)
    }

    fn power_of(&mut self, base: Scalar, base_span: Span, exponent: Scalar, exponent_span: Span) -> Option<Scalar> {
        if exponent.dim.agreement(DimId::NONE) != Agreement::Yes {
            let shown = self.dims.text(exponent.dim);
            let diagnostic = Diagnostic::error(Code::LGM0203, "an exponent must be a pure number")
                .label(exponent_span, format!("this is in {shown}"))
                .help(format!("divide it by a quantity in {shown}"));
            if !self.disagree(diagnostic, &[Claim::pure(exponent.dim, None)]) {
                return None;
            }
        }
        let number = self.arena.exprs.as_number(exponent.expr).cloned();
        let dim = match &number {
            _ if !base.dim.says_something() || base.dim == DimId::NONE => base.dim,
            Some(number) => match (number.numer().to_i64(), number.denom().to_i64()) {
                (Some(numerator), Some(denominator)) if denominator <= 64 => {
                    self.dims.times_power(DimId::NONE, base.dim, numerator, denominator)
                }
                _ => DimId::UNKNOWN,
            },
            None => {
                let shown = self.dims.text(base.dim);
                let diagnostic =
                    Diagnostic::error(Code::LGM0203, "the exponent of a quantity with a unit must be a number")
                        .label(exponent_span, "the dimension of the power would be undetermined")
                        .label(base_span, format!("this is in {shown}"))
                        .help(format!(
                            "write the exponent as a number, or divide the base by a quantity in {shown}"
                        ));
                if !self.disagree(diagnostic, &[Claim::pure(base.dim, None)]) {
                    return None;
                }
                DimId::UNKNOWN
            }
        };
        if number.as_ref().is_some_and(num_traits::Signed::is_negative) && self.divides_by_zero(&base, base_span) {
            return None;
        }
        Some(Scalar {
            expr: self.arena.exprs.power(base.expr, exponent.expr),
            dim,
        })
    }

    /// Returns a value with a unit written after it. Unknown entries and pure numbers get that unit; entries with a dimension must agree
    /// with it. An inconsistent entry whose dimension depends on a plain number is used
    /// unchanged if its unit is SI; otherwise its meaning would be ambiguous.
    pub(crate) fn in_unit(
        &mut self,
        value: &Value,
        unit: &Unit,
        unit_span: Span,
        value_span: Span,
        expr: Option<&'a Expr>,
    ) -> Value {
        let dim = self.dims.id(unit.dimension);
        let plain = unit.is_si();
        let mut entries = Vec::with_capacity(value.entries().len());
        for entry in value.entries().to_vec() {
            let disagrees = entry.dim.says_something() && entry.dim != DimId::NONE && entry.dim.firm() != dim;
            if disagrees {
                let declared = Side {
                    dim,
                    span: unit_span,
                    expr: None,
                };
                let given = Side {
                    dim: if plain { entry.dim } else { entry.dim.firm() },
                    span: value_span,
                    expr,
                };
                if !self.same_dimension(declared, given, "put together") {
                    return Value::Error;
                }
            }
            let takes_unit = !entry.dim.says_something() || (entry.dim == DimId::NONE && dim != DimId::NONE);
            let expr = if plain || !takes_unit {
                entry.expr
            } else if let Some(number) = self.arena.exprs.as_number(entry.expr).cloned() {
                self.arena.exprs.number(unit.to_si(&number))
            } else {
                self.si_of(entry.expr, unit)
            };
            entries.push(Scalar { expr, dim });
        }
        match value {
            Value::Error => Value::Error,
            _ => self.like(value, entries),
        }
    }

    /// Returns the SI value of an output. The unit after its expression only determines how it is shown, and must have its dimension.
    pub(crate) fn output_value(&mut self, output: &'a Indexed, place: Place) -> Value {
        self.shown_output(output, place).0
    }

    /// Returns the SI value of an output, and the unit in which it is shown.
    pub(crate) fn shown_output(&mut self, output: &'a Indexed, place: Place) -> (Value, Option<(Rc<Unit>, Span)>) {
        let (value, inner, written) = match &output.value.kind {
            ExprKind::InUnit(inner, written) => (self.eval(inner, place), &**inner, written.clone()),
            // `across(M) [m]` in a model that declares `m`.
            ExprKind::Index(inner, indices) => {
                let written = self.index_as_unit(inner, indices, place, output.value.span);
                match (written, self.is_indexed_name(inner, place)) {
                    (Some(written), false) => match self.eval(inner, place) {
                        value @ Value::Scalar(_) => (value, &**inner, written),
                        _ => return (self.eval(&output.value, place), None),
                    },
                    _ => return (self.eval(&output.value, place), None),
                }
            }
            _ => return (self.eval(&output.value, place), None),
        };
        let unit = self.unit(&written);
        let value = match &unit {
            Some(unit) => self.in_shown_unit(&value, inner, (unit, written.span)),
            None => Value::Error,
        };
        (value, unit.map(|unit| (unit, written.span)))
    }

    /// Returns the value of an output in SI, checked against the unit in which it is shown.
    fn in_shown_unit(&mut self, value: &Value, inner: &'a Expr, (unit, span): (&Unit, Span)) -> Value {
        let dim = self.dims.id(unit.dimension);
        let wanted = Side { dim, span, expr: None };
        for entry in value.entries() {
            if !self.same_dimension(wanted, Side::of(inner, entry.dim), "put together") {
                return Value::Error;
            }
        }
        value.map(|entry| Scalar { expr: entry.expr, dim })
    }

    /// Returns the SI value of an expression in a unit.
    fn si_of(&mut self, expr: ExprId, unit: &Unit) -> ExprId {
        let exprs = &mut self.arena.exprs;
        if unit.is_logarithmic {
            let (ten, twenty) = (exprs.integer(10), exprs.integer(20));
            let exponent = exprs.div(expr, twenty);
            return exprs.power(ten, exponent);
        }
        let (step, offset) = (exprs.number(unit.step()), exprs.number(unit.offset.clone()));
        let product = exprs.mul(step, expr);
        exprs.add(product, offset)
    }

    /// Returns the value in a unit of an expression in SI.
    pub(crate) fn shown_in(&mut self, expr: ExprId, unit: &Unit) -> ExprId {
        let exprs = &mut self.arena.exprs;
        if unit.is_logarithmic {
            let (ten, twenty) = (exprs.integer(10), exprs.integer(20));
            let size = exprs.call(Function::Abs, [expr]);
            let (top, bottom) = (exprs.call(Function::Log, [size]), exprs.call(Function::Log, [ten]));
            let product = exprs.mul(twenty, top);
            return exprs.div(product, bottom);
        }
        let offset = exprs.number(unit.offset.clone());
        let above = exprs.sub(expr, offset);
        let factor = exprs.number(unit.factor.clone());
        let (pi, power) = (exprs.pi(), exprs.integer(i64::from(unit.pi_power)));
        let power = exprs.power(pi, power);
        let step = exprs.mul(factor, power);
        exprs.div(above, step)
    }
}
