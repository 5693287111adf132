//! The point at which the command line looks at the equations.

use crate::context::Place;
use crate::context::values::{DimId, Scalar, Value, decimal};
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
        let scalar = in_declared_unit(evaluator, &setting.name, scalar);
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

/// A number without a unit is in the unit that stands after the name of an input, as in `--set` and `--input`.
fn in_declared_unit(evaluator: &mut Evaluator<'_>, name: &str, scalar: Scalar) -> Scalar {
    let mut inputs = evaluator.graph.model.inputs.iter();
    let scale = inputs
        .find(|input| *input.name == *name)
        .map_or(1.0, |input| input.scale);
    let is_plain = !scalar.dim.says_something() || scalar.dim == DimId::NONE;
    let scale = decimal(&format!("{scale:?}")).filter(|_| is_plain && scale != 1.0);
    let Some(scale) = scale else {
        return scalar;
    };
    let factor = evaluator.arena.exprs.number(scale);
    Scalar {
        expr: evaluator.arena.exprs.mul(factor, scalar.expr),
        dim: DimId::UNKNOWN,
    }
}
