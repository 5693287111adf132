//! Values at which the command line looks at the equations: `--at "theta=pi"`, `--at "u=2 [N]"`.

use super::load::Program;
use super::scopes::check_value;
use super::state::{Elaborator, EnvId, FrameId, Place};
use super::values::Value;
use lgm_algebra::units::{self, Dimension, UnitPower};
use lgm_model::Given;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Expr};
use lgm_syntax::parse_expression;

/// One `--at name=value`, parsed.
#[derive(Debug)]
pub(super) struct PointSetting {
    pub name: String,
    pub name_span: Span,
    pub value: Expr,
}

fn malformed(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0923, "this option is not of the form `name=value`")
        .label(span, message.to_string())
        .help("write states, inputs or `time` as `lgm equations` names them: `--at \"theta=pi/6, joint.w=0, u=2 [N]\"`")
}

/// Reads the options, each of one name; what the names stand for is known when there are equations.
pub(super) fn read(
    program: &Program,
    model: &ast::Model,
    map: &SourceMap,
    options: &[(String, SourceId)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<PointSetting> {
    let mut settings: Vec<PointSetting> = Vec::new();
    for (_, source) in options {
        let text = &map.get(*source).text;
        let whole = Span::new(*source, 0, text.len());
        let Some(at) = text.find('=') else {
            diagnostics.push(malformed(whole, "there is no `=`"));
            continue;
        };
        let name = text[..at].trim();
        if name.is_empty() {
            diagnostics.push(malformed(
                whole,
                "the name of a state or an input is needed in front of `=`",
            ));
            continue;
        }
        let start = text.find(name).unwrap_or(0);
        // The name is blanked out, so that the places in the value are those in the whole option.
        let value_text = format!("{}{}", " ".repeat(at + 1), &text[at + 1..]);
        let (value, faults) = parse_expression(*source, &value_text);
        if let Some(fault) = faults.into_iter().find(Diagnostic::is_error) {
            let label = fault.labels.first();
            let place = label.map_or(whole, |label| label.span);
            let words = label
                .map(|label| label.message.clone())
                .filter(|words| !words.is_empty());
            diagnostics.push(malformed(place, &words.unwrap_or(fault.message)));
            continue;
        }
        diagnostics.extend(check_value(program, model, &value));
        // The last of several options for one name counts, as on every command line.
        settings.retain(|known| known.name != name);
        settings.push(PointSetting {
            name: name.to_string(),
            name_span: Span::new(*source, start, start + name.len()),
            value,
        });
    }
    settings
}

/// The dimension of a unit as it is shown: `rad/s`.
pub fn dimension_of_text(unit: &str) -> Option<Dimension> {
    let (expr, faults) = parse_expression(SourceId(0), &format!("1 [{unit}]"));
    let ast::ExprKind::Number(_, Some(written)) = expr.kind else {
        // A pure number has no unit that could be written.
        return (unit == "1").then_some(Dimension::NONE);
    };
    let factors = written.factors.iter().map(|factor| UnitPower {
        name: &factor.name.text,
        exponent: factor.exponent,
        span: factor.name.span,
    });
    let unit = units::unit_of(factors).ok()?;
    faults.is_empty().then_some(unit.dimension)
}

impl<'a> Elaborator<'a> {
    /// Evaluates the options: each value is a number over the parameters.
    pub(super) fn finish_point(&mut self, settings: &'a [PointSetting]) {
        let place = Place {
            frame: FrameId(0),
            env: EnvId(0),
        };
        self.here = place;
        for setting in settings {
            let value = self.eval(&setting.value, place);
            let scalar = match value {
                Value::Scalar(scalar) => scalar,
                Value::Error => continue,
                Value::Array(_) => {
                    let message = format!(
                        "this is {}; give each entry on its own, as in `x[1]=0`",
                        value.shape_text()
                    );
                    self.report(malformed(setting.value.span, &message));
                    continue;
                }
            };
            if self.varies(scalar.expr) {
                self.report(malformed(
                    setting.value.span,
                    "this changes; a number or parameters are needed",
                ));
                continue;
            }
            let dimension = self.dims.get(scalar.dim);
            self.model.point.push(Given {
                name: setting.name.as_str().into(),
                value: scalar.expr,
                dimension,
                name_span: setting.name_span,
                span: setting.value.span,
            });
        }
    }
}
