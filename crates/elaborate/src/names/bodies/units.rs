//! Units in brackets, where an index belongs or an index could stand.

use super::Walk;
use crate::units::misspelt_unit;
use lgm_algebra::units::{UnitPower, unit_of};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Expr, ExprKind, Name};

impl<'a> Walk<'_, 'a> {
    /// Returns true if the brackets after a name contain a unit instead of an index, and reports this.
    pub(super) fn has_unit_as_index(&mut self, declared: &'a ast::Declared) -> bool {
        let [bracket] = &declared.brackets[..] else {
            return false;
        };
        let [inside] = &bracket[..] else { return false };
        let mut names = Vec::new();
        if !unit_names(inside, &mut names) || names.is_empty() || !self.checker.is_looking() {
            return false;
        }
        let is_unit = |name: &&Name| {
            let factor = UnitPower {
                name: &name.text,
                exponent: (1, 1),
                span: name.span,
            };
            unit_of([factor]).is_ok()
        };
        // In `m/s` one symbol may also be a name of the model; if all are, the brackets contain an index.
        if !names.iter().all(is_unit) || names.iter().all(|name| self.is_value(&name.text)) {
            return false;
        }
        let name = &declared.name.text;
        self.checker.report(
            Diagnostic::error(Code::LGM0155, format!("`{name}` has a unit, which is not allowed here"))
                .label(inside.span, "an index belongs here")
                .help(format!(
                    "write only `{name}`: its unit follows from its value; an output is shown in the unit after its value, \
                     `output {name} = x [mm];`"
                )),
        );
        true
    }

    /// Returns the error of an index that reads as a misspelt unit, and of which no name is declared.
    pub(super) fn misspelt_unit(&self, indices: &'a [Expr]) -> Option<Diagnostic> {
        let [index] = indices else { return None };
        let mut names = Vec::new();
        let is_undeclared = unit_names(index, &mut names) && !names.iter().any(|name| self.knows(&name.text));
        (is_undeclared && self.checker.is_looking())
            .then(|| misspelt_unit(index))
            .flatten()
    }
}

/// Collects the names of a possible unit, `N.m/s^2`; returns false for any other expression.
fn unit_names<'a>(expr: &'a Expr, names: &mut Vec<&'a Name>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => {
            names.push(name);
            true
        }
        ExprKind::Member(of, name) => {
            names.push(name);
            unit_names(of, names)
        }
        ExprKind::Product(list) => list.iter().all(|(_, factor)| unit_names(factor, names)),
        ExprKind::Power(list) => list.first().is_some_and(|base| unit_names(base, names)),
        ExprKind::Number(_, None) => true,
        _ => false,
    }
}
