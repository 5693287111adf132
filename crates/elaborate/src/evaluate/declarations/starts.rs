//! The initial conditions of a model: initial values of storage, states and signals, and the position equations of
//! closed chains.

use crate::context::Place;
use crate::context::values::{Agreement, DimId, Value};
use crate::evaluate::{Claim, Evaluator, Side};
use lgm_algebra::expr::ExprId;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Attribute;

impl<'a> Evaluator<'a> {
    /// Returns the values of `start = ..` (or `guess`, or `nominal`) of a storage or a state, one per entry, in the given dimensions. The
    /// last dimension applies to all further entries.
    pub(crate) fn start_of(
        &mut self,
        attribute: &'a Attribute,
        width: usize,
        dimensions: &[DimId],
        place: Place,
    ) -> Option<Vec<Option<ExprId>>> {
        let value = self.eval(&attribute.value, place);
        let word = match &*attribute.name.text {
            "nominal" => "nominal value",
            _ => "start",
        };
        let entries = value.entries().to_vec();
        if value.is_error() {
            return None;
        }
        let exprs: Vec<ExprId> = entries.iter().map(|entry| entry.expr).collect();
        if exprs.iter().any(|expr| self.varies(*expr)) {
            let diagnostic = Diagnostic::error(
                Code::LGM0409,
                format!(
                    "a {} may depend on parameters only",
                    if word == "start" { "start value" } else { word }
                ),
            )
            .label(attribute.value.span, "this changes with time")
            .help("write a number or an expression of parameters");
            self.report(diagnostic);
            return None;
        }
        for (at, entry) in entries.iter().enumerate() {
            let wanted = dimensions.get(at).or(dimensions.last()).copied();
            let wanted = wanted.unwrap_or(DimId::UNKNOWN);
            if wanted.agreement(entry.dim) != Agreement::Yes {
                let claim = Claim::of(Side::of(&attribute.value, entry.dim), wanted);
                let (given, wanted) = (self.dims.text(entry.dim), self.dims.text(wanted));
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    match word {
                        "start" => format!("the initial value is given in {given}, but the variable is in {wanted}"),
                        _ => format!("the {word} is given in {given}, but the state is in {wanted}"),
                    },
                )
                .label(attribute.value.span, format!("this is in {given}"))
                .help(format!("give the {word} in {wanted}"));
                let diagnostic = self.explain_dimension(diagnostic, Some(&attribute.value));
                if !self.disagree(diagnostic, &[claim]) {
                    return None;
                }
            }
        }
        match (entries.len(), &value) {
            (count, _) if count == width => Some(exprs.into_iter().map(Some).collect()),
            (_, Value::Scalar(scalar)) => Some(vec![Some(scalar.expr); width]),
            _ => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0202,
                    match word {
                        "start" => format!(
                            "{} is the initial value of a state of width {width}",
                            value.shape_text()
                        ),
                        _ => format!("{} is the {word} of a state of width {width}", value.shape_text()),
                    },
                )
                .label(attribute.value.span, format!("this is {}", value.shape_text()))
                .help(format!("write a scalar for all entries, or a vector of {width} values"));
                self.report(diagnostic);
                None
            }
        }
    }
}
