//! Units.

use super::{Context, UnitJoint, UnitList};
use crate::ast::*;
use crate::symbols;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

impl Context<'_> {
    /// Builds `[N.s/m]`.
    pub fn unit(&self, start: usize, list: UnitList, end: usize) -> UnitExpr {
        UnitExpr {
            factors: self.unit_group(list, (1, 1)),
            span: self.span(start, end),
        }
    }

    /// Builds `(kg.K)^exponent`: factors with their final exponents.
    pub fn unit_group(&self, list: UnitList, exponent: (i32, i32)) -> Vec<UnitFactor> {
        let mut factors = Vec::new();
        let mut divided = false;
        for (joint, part) in list {
            let mut sign = 1;
            match joint {
                UnitJoint::First => {}
                UnitJoint::Over => {
                    divided = true;
                    sign = -1;
                }
                UnitJoint::Times(span) if divided => self.report(
                    Diagnostic::error(Code::LGM0023, "a `.` after a `/` in a unit needs parentheses")
                        .label(span, "does this belong in the numerator or the denominator?")
                        .help("write `[J/(kg.K)]`, or put the factors of the numerator first: `[J.K/kg]`"),
                ),
                UnitJoint::Times(_) => {}
                UnitJoint::Star(span) => self.report(
                    Diagnostic::error(Code::LGM0024, "multiply units with `.`")
                        .label(span, "not with `*`")
                        .help("write a dot, such as `[N.m]`"),
                ),
            }
            for factor in part {
                let (numerator, denominator) = factor.exponent;
                let numerator = i64::from(numerator) * i64::from(exponent.0) * sign;
                let denominator = i64::from(denominator) * i64::from(exponent.1);
                factors.push(UnitFactor {
                    exponent: self.lowest_terms(factor.name.span, numerator, denominator),
                    name: factor.name,
                });
            }
        }
        factors
    }

    fn lowest_terms(&self, place: Span, numerator: i64, denominator: i64) -> (i32, i32) {
        let divisor = num_integer::gcd(numerator, denominator).max(1);
        let limit = 1000;
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        if numerator.abs() > limit || denominator > limit {
            self.report(
                Diagnostic::error(Code::LGM0025, "the exponent of this unit is out of range")
                    .label(place, "exponent out of range")
                    .help("use an exponent between -1000 and 1000"),
            );
            return (1, 1);
        }
        (numerator as i32, denominator as i32)
    }

    /// Returns the number in a unit: only `1`, as in `[1/s]`.
    pub fn unit_one(&self, start: usize, text: &str) -> Name {
        let name = self.name(start, text);
        if text != "1" {
            let bare = self.text[..start].trim_end().ends_with('[')
                && self.text[start + text.len()..].trim_start().starts_with(']');
            let diagnostic = Diagnostic::error(Code::LGM0026, format!("`{text}` is not a unit"))
                .label(name.span, "expected a unit such as `kg`");
            self.report(match bare {
                true => diagnostic.help(
                    "brackets after a literal or a declared name contain a unit, such as \
                    `[m/s]`; to index a literal, name it first",
                ),
                false => diagnostic.help(
                    "write an exponent with `^`, such as `[m^2]` or `[m^(1/2)]`; the only \
                    number in a unit is `1`, such as `[1/s]`",
                ),
            });
            return Name {
                text: self.text("1"),
                ..name
            };
        }
        name
    }

    /// Returns an exponent of a unit.
    pub fn integer(&self, start: usize, text: &str) -> i32 {
        match text.parse::<i32>() {
            Ok(value) if value <= 1000 => value,
            _ => {
                self.report(
                    Diagnostic::error(
                        Code::LGM0025,
                        "the exponent of a unit must be a whole number or a fraction of whole numbers",
                    )
                    .label(
                        self.span(start, start + text.len()),
                        "expected a whole number up to 1000",
                    )
                    .help("write `m^2` or `m^(1/2)`"),
                );
                1
            }
        }
    }

    /// Builds the exponent `numerator/denominator` of a unit.
    pub fn rational(&self, numerator: i32, denominator: i32) -> (i32, i32) {
        match denominator.signum() {
            1 => (numerator, denominator),
            -1 => (-numerator, -denominator),
            _ => (numerator, 1),
        }
    }

    /// Builds `base [%]`.
    pub fn percent(&self, start: usize, base: Expr, (open, at): (usize, usize), end: usize) -> Expr {
        let factor = UnitFactor {
            name: self.name(at, "%"),
            exponent: (1, 1),
        };
        let unit = UnitExpr {
            factors: vec![factor],
            span: self.span(open, end),
        };
        self.expr(start, ExprKind::InUnit(Box::new(base), unit), end)
    }

    /// Returns the unit that an index reads as, if it contains only known symbols, and at least one that is not declared in this text.
    pub fn read_as_unit(&self, index: &Expr, (open, end): (usize, usize)) -> Option<UnitExpr> {
        let mut factors = Vec::new();
        let is_unit = self.unit_factors(index, 1, &mut factors);
        let names = || {
            factors
                .iter()
                .map(|factor| &*factor.name.text)
                .filter(|name| *name != "1")
        };
        let are_known = names().all(symbols::is_unit) && names().any(|name| !self.declared.contains(name));
        (is_unit && are_known).then(|| UnitExpr {
            factors,
            span: self.span(open, end),
        })
    }

    /// Collects the factors of a unit that was read as an expression; `sign` is -1 after a `/`. Returns false for anything else.
    fn unit_factors(&self, expr: &Expr, sign: i32, factors: &mut Vec<UnitFactor>) -> bool {
        let mut add = |name: &Name, exponent: i32| {
            factors.push(UnitFactor {
                name: name.clone(),
                exponent: (sign * exponent, 1),
            });
            true
        };
        match &expr.kind {
            ExprKind::Name(name) => add(name, 1),
            ExprKind::Number(text, None) if &**text == "1" => add(&self.name(expr.span.start as usize, text), 1),
            ExprKind::Member(base, name) => {
                // `J/kg.K` is ambiguous.
                let is_apart = sign == 1 || self.text[..base.span.start as usize].trim_end().ends_with('(');
                is_apart && self.unit_factors(base, sign, factors) && {
                    let name = name.clone();
                    factors.push(UnitFactor {
                        name,
                        exponent: (sign, 1),
                    });
                    true
                }
            }
            ExprKind::Power(parts) => {
                let [base, exponent] = &parts[..] else { return false };
                let Some(exponent) = whole(exponent) else { return false };
                // The exponent of `N.s^2` belongs to the last factor.
                let is_last = matches!(base.kind, ExprKind::Name(_) | ExprKind::Member(..))
                    && !self.text[base.span.end as usize..].trim_start().starts_with(')');
                let count = factors.len();
                let is_unit = is_last && self.unit_factors(base, sign, factors);
                if let Some(last) = factors[count..].last_mut() {
                    last.exponent.0 *= exponent;
                }
                is_unit
            }
            ExprKind::Product(list) => {
                let is_divided =
                    list.iter().filter(|part| part.0).count() == 1 && list.last().is_some_and(|part| part.0);
                is_divided
                    && list
                        .iter()
                        .all(|(divided, part)| self.unit_factors(part, if *divided { -sign } else { sign }, factors))
            }
            _ => false,
        }
    }

    /// Builds the statement of an output. A unit at the end of its expression belongs to the whole: `across(n) - T0 [degC]`.
    pub fn shown(&self, mut output: Indexed) -> Indexed {
        if let Some(unit) = take_unit(&mut output.value) {
            let span = output.value.span;
            let value = std::mem::replace(
                &mut output.value,
                Expr {
                    kind: ExprKind::Missing,
                    span,
                },
            );
            output.value.kind = ExprKind::InUnit(Box::new(value), unit);
        }
        output
    }
}

/// Returns a whole number that was read as an expression, as it occurs in the exponent of a unit.
fn whole(expr: &Expr) -> Option<i32> {
    match &expr.kind {
        ExprKind::Number(text, None) => text.parse().ok().filter(|value: &i32| *value <= 64),
        ExprKind::Negate(inner) => whole(inner).map(|value| -value),
        _ => None,
    }
}

/// Removes the unit at the end of an expression.
fn take_unit(expr: &mut Expr) -> Option<UnitExpr> {
    match &mut expr.kind {
        ExprKind::InUnit(..) => {
            let ExprKind::InUnit(inner, unit) = std::mem::replace(&mut expr.kind, ExprKind::Missing) else {
                return None;
            };
            *expr = *inner;
            Some(unit)
        }
        ExprKind::Sum(list) | ExprKind::Product(list) => take_unit(&mut list.last_mut()?.1),
        ExprKind::Negate(inner) => take_unit(inner),
        _ => None,
    }
}
