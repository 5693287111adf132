//! Units.

use super::{Context, UnitJoint, UnitList};
use crate::ast::*;
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
}
