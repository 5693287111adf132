//! The point at which the command line evaluates the equations.

use crate::context::Place;
use crate::context::values::Value;
use crate::evaluate::Evaluator;
use crate::options::point::{PointSetting, malformed};
use lgm_algebra::units::Unit;
use lgm_model::GivenValue;
use lgm_source::Span;
use lgm_syntax::ast::StatementKind;
use lgm_syntax::visit::statements;
use std::rc::Rc;

/// Evaluates the options: each value is a scalar expression of the parameters.
pub(crate) fn evaluate<'a>(evaluator: &mut Evaluator<'a>, settings: &'a [PointSetting]) {
    let place = Place::MODEL;
    evaluator.reports.here = place;
    for setting in settings {
        let mut value = evaluator.eval(&setting.value, place);
        if let Some((unit, span)) = declared_unit(evaluator, &setting.name) {
            value = evaluator.in_unit(&value, &unit, span, setting.value.span, Some(&setting.value));
        }
        let scalar = match value {
            Value::Scalar(scalar) => scalar,
            Value::Error => continue,
            Value::Array(_) => {
                let message = format!(
                    "this is {}; give each entry separately, such as `x[1]=0`",
                    value.shape_text()
                );
                evaluator.report(malformed(setting.value.span, &message));
                continue;
            }
        };
        if evaluator.varies(scalar.expr) {
            evaluator.report(malformed(
                setting.value.span,
                "this changes during a run; use numbers or parameters",
            ));
            continue;
        }
        let dimension = evaluator.dims.get(scalar.dim);
        evaluator.graph.model.point.push(GivenValue {
            name: setting.name.as_str().into(),
            value: scalar.expr,
            dimension,
            name_span: setting.name_span,
            span: setting.value.span,
        });
    }
}

/// Returns the unit after the name of an input: a number without a unit is in this unit, as in `--set` and `--input`.
fn declared_unit(evaluator: &mut Evaluator<'_>, name: &str) -> Option<(Rc<Unit>, Span)> {
    let declared = name.split('[').next().unwrap_or(name).trim_end();
    let mut found = None;
    statements(&evaluator.chosen.body, &mut |statement| match &statement.kind {
        StatementKind::Input(assigned) if *assigned.name.text == *declared => found = assigned.unit.as_ref(),
        _ => {}
    });
    let written = found?;
    Some((evaluator.unit(written)?, written.span))
}
