//! Mismatches of dimension that rest on a number without a unit: warnings, with the unit that may be missing.
//!
//! In `m*9.81` the number counts as a pure number, so that the product is a mass; if a weight is intended, a unit is missing. The result is
//! still correct in SI units, so this is not an error.

use crate::context::values::{Agreement, DimId, Value, decimal};
use crate::context::{AtPlace, ValueSlot};
use crate::evaluate::{Claim, Evaluator};
use crate::syntax_queries::argument_for;
use lgm_model::instances::label_once;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Severity};
use lgm_syntax::ast::{Expr, ExprKind};
use num_rational::{BigRational, Rational64};
use num_traits::{One, Signed, ToPrimitive};

/// The depth to which expressions and names are searched for a number.
const DEEPEST: usize = 32;

/// A number without a unit in an expression: its location, and its power in the expression.
#[derive(Clone, Copy)]
pub(crate) struct PlainNumber {
    pub span: Span,
    pub power: Rational64,
    /// True if it divides by a number with a unit, such as `1/12 [kg.m^2]`, which is rarely intended.
    pub divides_a_unit: bool,
}

impl<'a> Evaluator<'a> {
    /// Reports quantities with different dimensions. If a number without a unit may be the cause, it is a warning that shows the unit that
    /// would fix it. Returns true if the work can continue.
    pub(crate) fn disagree(&mut self, diagnostic: Diagnostic, claims: &[Claim<'a>]) -> bool {
        let Some(resting) = claims.iter().find(|claim| claim.dim.rests_on_number()).copied() else {
            self.report(diagnostic);
            return false;
        };
        let number = resting.expr.and_then(|expr| self.plain_number(expr, DEEPEST));
        let missing = self.dims.over(resting.wanted.firm(), resting.dim.firm());
        self.warn_of_number(diagnostic, number, missing);
        true
    }

    /// Reports a mismatch that rests on a number; `missing` is the missing dimension of the surrounding expression.
    pub(crate) fn warn_of_number(&mut self, mut diagnostic: Diagnostic, number: Option<PlainNumber>, missing: DimId) {
        diagnostic.code = Code::LGM0209;
        diagnostic.severity = Severity::Warning;
        let otherwise = diagnostic.help.take().unwrap_or_default();
        let unit = number.and_then(|number| {
            let power = number.power.recip();
            let dim = self
                .dims
                .times_power(DimId::NONE, missing.firm(), *power.numer(), *power.denom());
            let unit = self.dims.get(dim).filter(|unit| !unit.is_none())?;
            Some(format!("{} [{}]", self.sources.slice(number.span), unit.text()))
        });
        let mend = match &unit {
            _ if number.is_some_and(|number| number.divides_a_unit) => {
                "a unit applies only to its number: for a fraction of a quantity write `1/12*1 [kg.m^2]`".to_string()
            }
            Some(unit) => format!("if the number has a unit, write it: `{unit}`"),
            None => "if a number here has a unit, write it after the number: `9.81 [m/s^2]`".to_string(),
        };
        if let (Some(number), Some(unit)) = (number, &unit)
            && !number.divides_a_unit
        {
            diagnostic = diagnostic.fix(format!("write `{unit}`"), number.span, unit.clone());
        }
        if let Some(number) = number {
            diagnostic = label_once(
                diagnostic,
                number.span,
                "this number has no unit and is therefore dimensionless".into(),
            );
        }
        let help = match otherwise.is_empty() {
            true => mend,
            // A matching coupler is the more likely fix.
            false if otherwise.starts_with('`') => format!("{otherwise}; {mend}"),
            false => format!("{mend}; otherwise {otherwise}"),
        };
        self.report(diagnostic.help(help));
    }

    /// Returns the number without a unit that the dimension of an expression most likely rests on.
    fn plain_number(&mut self, expr: &'a Expr, depth: usize) -> Option<PlainNumber> {
        let depth = depth.checked_sub(1)?;
        match &expr.kind {
            ExprKind::Number(_, None) => Some(PlainNumber {
                span: expr.span,
                power: Rational64::one(),
                divides_a_unit: false,
            }),
            ExprKind::Name(name) => self.plain_number_of_name(&name.text, depth),
            ExprKind::Product(factors) => {
                let mut found: Vec<(u8, PlainNumber)> = Vec::new();
                for (divided, factor) in factors {
                    let Some(mut number) = self.plain_number(factor, depth) else {
                        continue;
                    };
                    if *divided {
                        number.power = -number.power;
                    }
                    found.push((self.roundness(number.span), number));
                }
                let mut number = found.into_iter().min_by_key(|entry| entry.0)?.1;
                number.divides_a_unit |= matches!(
                    &factors[..],
                    [(false, over), (true, under)]
                        if matches!(over.kind, ExprKind::Number(_, None)) && matches!(under.kind, ExprKind::Number(_, Some(_)))
                );
                Some(number)
            }
            ExprKind::Power(parts) => {
                let [base, exponent] = &parts[..] else { return None };
                let ExprKind::Number(text, None) = &exponent.kind else {
                    return None;
                };
                let exponent = decimal(text)?;
                let exponent = Rational64::new(exponent.numer().to_i64()?, exponent.denom().to_i64()?);
                let number = self.plain_number(base, depth)?;
                let power = num_traits::CheckedMul::checked_mul(&number.power, &exponent)?;
                (power.abs() <= Rational64::from_integer(64) && power != Rational64::from_integer(0))
                    .then_some(PlainNumber { power, ..number })
            }
            ExprKind::Negate(inner) => self.plain_number(inner, depth),
            ExprKind::Index(base, _) => self.plain_number(base, depth),
            // A number by itself as a term adopts the unit of the others.
            ExprKind::Sum(terms) => {
                let products = terms.iter().map(|term| &term.1);
                let mut products = products.filter(|term| !matches!(term.kind, ExprKind::Number(..)));
                products.find_map(|term| self.plain_number(term, depth))
            }
            ExprKind::List(items, None) => {
                let mut items = items.iter().filter(|item| !matches!(item.kind, ExprKind::Number(..)));
                items.find_map(|item| self.plain_number(item, depth))
            }
            ExprKind::Over(over) => self.plain_number(&over.body, depth),
            ExprKind::If(branches, otherwise) => {
                let mut values = branches.iter().map(|branch| &branch.1).chain([&**otherwise]);
                values.find_map(|value| self.plain_number(value, depth))
            }
            ExprKind::Call(name, arguments) if matches!(&*name.text, "abs" | "min" | "max" | "transpose") => arguments
                .iter()
                .find_map(|argument| self.plain_number(&argument.value, depth)),
            _ => None,
        }
    }

    /// Returns the number that the value of a name rests on.
    fn plain_number_of_name(&mut self, name: &str, depth: usize) -> Option<PlainNumber> {
        if self.law.is_some() || self.scopes.loop_index(name, self.reports.here).is_some() {
            return None;
        }
        let slot = self.scopes.value_slot(name, self.reports.here.frame)?;
        let ValueSlot::Done(value) = &self.scopes.values[slot] else {
            return None;
        };
        if !value.common_dim().rests_on_number() {
            return None;
        }
        let (expr, place) = self.defining_expression(name)?;
        self.at(place, |this| this.plain_number(expr, depth))
    }

    /// Returns the likelihood that a number is a pure factor: 1 is rarely a quantity, and small whole numbers and halves are
    /// factors of formulas.
    fn roundness(&self, span: Span) -> u8 {
        let half = BigRational::new(1.into(), 2.into());
        match decimal(self.sources.slice(span)) {
            Some(number) if number.is_one() => 2,
            Some(number) if number == half || (number.is_integer() && number.numer().bits() <= 3) => 1,
            _ => 0,
        }
    }

    /// Returns the number without a unit that a law's dimension rests on: in the arguments of the instance, or in the law itself.
    pub(crate) fn plain_number_of_law(
        &mut self,
        id: lgm_model::ElementId,
        element: &'a lgm_syntax::ast::Element,
        equation: &'a lgm_syntax::ast::Equation,
        arguments: &[Value],
    ) -> Option<PlainNumber> {
        let record = self.graph.records[id.index()];
        for (at, formal) in element.formals.iter().enumerate() {
            let rests = arguments
                .get(at)
                .is_some_and(|value| value.common_dim().rests_on_number());
            if !rests {
                continue;
            }
            let Some(expr) = argument_for(record.instance, formal, at) else {
                continue;
            };
            let found = self.at(record.place, |this| this.plain_number(expr, DEEPEST));
            let power = [&equation.left, &equation.right]
                .into_iter()
                .find_map(|side| power_in(side, &formal.name.text));
            if let (Some(found), Some(power)) = (found, power) {
                return Some(PlainNumber {
                    power: found.power * power,
                    ..found
                });
            }
        }
        let sides = [&equation.left, &equation.right];
        sides.into_iter().find_map(|side| self.plain_number(side, DEEPEST))
    }
}

/// Returns the power of a name in an expression that is a multiple of this power; none if it is not, or if the name does not occur.
fn power_in(expr: &Expr, name: &str) -> Option<Rational64> {
    match &expr.kind {
        ExprKind::Name(found) if &*found.text == name => Some(Rational64::one()),
        ExprKind::Product(factors) => factors.iter().find_map(|(divided, factor)| {
            let power = power_in(factor, name)?;
            Some(if *divided { -power } else { power })
        }),
        ExprKind::Negate(inner) => power_in(inner, name),
        ExprKind::Call(function, arguments) if &*function.text == "transpose" => {
            arguments.first().and_then(|argument| power_in(&argument.value, name))
        }
        _ => None,
    }
}

/// Returns true if all of these dimensions match in pairs; numbers without a unit count as pure numbers.
pub(crate) fn all_agree(pairs: &[(DimId, DimId)]) -> bool {
    pairs.iter().all(|(a, b)| a.agreement(*b) == Agreement::Yes)
}
