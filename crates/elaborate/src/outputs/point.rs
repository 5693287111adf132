//! The point at which the command line looks at the equations.

use crate::context::Place;
use crate::context::values::Value;
use crate::evaluate::Evaluator;
use crate::options::point::{PointSetting, malformed};
use lgm_model::Given;

/// Evaluates the options: each value is a number over the parameters.
pub(crate) fn evaluate<'a>(evaluator: &mut Evaluator<'a>, settings: &'a [PointSetting]) {
    let place = Place::MODEL;
    evaluator.reports.here = place;
    for setting in settings {
        let value = evaluator.eval(&setting.value, place);
        let scalar = match value {
            Value::Scalar(scalar) => scalar,
            Value::Error => continue,
            Value::Array(_) => {
                let message = format!(
                    "this is {}; give each entry on its own, as in `x[1]=0`",
                    value.shape_text()
                );
                evaluator.report(malformed(setting.value.span, &message));
                continue;
            }
        };
        if evaluator.varies(scalar.expr) {
            evaluator.report(malformed(
                setting.value.span,
                "this changes; a number or parameters are needed",
            ));
            continue;
        }
        let dimension = evaluator.dims.get(scalar.dim);
        evaluator.graph.model.point.push(Given {
            name: setting.name.as_str().into(),
            value: scalar.expr,
            dimension,
            name_span: setting.name_span,
            span: setting.value.span,
        });
    }
}
