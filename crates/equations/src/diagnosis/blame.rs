//! The faulty numbers: values as shown to the user, and their parameters.

use crate::parameter_values::parameter_values;
use lgm_algebra::expr::{self, ExprId, SymbolId};
use lgm_model::blame::label_parameters;
use lgm_model::blame::shown;
use lgm_model::{ElementId, Law, Matrix, Model};
use lgm_source::diagnostic::Diagnostic;
use num_rational::BigRational;
use num_traits::Zero;
use rustc_hash::FxHashMap;

/// The maximum number of labels in one diagnostic.
const LABELS: usize = 6;

/// A model with the values of its parameters.
pub(crate) struct Blame<'a> {
    pub(crate) model: &'a Model,
    pub(crate) values: FxHashMap<SymbolId, BigRational>,
}

impl<'a> Blame<'a> {
    pub(crate) fn new(model: &'a Model) -> Blame<'a> {
        Blame {
            model,
            values: parameter_values(model),
        }
    }

    /// Returns the exact value of an expression over parameters.
    pub(crate) fn exact(&self, id: ExprId) -> Result<BigRational, expr::Evaluated> {
        let list = self
            .model
            .exprs
            .evaluate_exact(&[id], &|symbol| self.values.get(&symbol).cloned())?;
        Ok(list.into_iter().next().unwrap_or_else(BigRational::zero))
    }

    /// Formats a value: "2", or "`m/2`, which is 1".
    pub(crate) fn value(&self, id: ExprId) -> String {
        let exprs = &self.model.exprs;
        match (exprs.as_number(id), self.exact(id)) {
            (Some(number), _) => shown(number),
            (None, Ok(value)) => format!("`{}`, which is {}", expr::print::brief(exprs, id), shown(&value)),
            (None, Err(_)) => format!("`{}`", expr::print::brief(exprs, id)),
        }
    }

    /// Returns the single value of an element, if it has one.
    pub(crate) fn single_value(&self, id: ElementId) -> Option<ExprId> {
        use lgm_model::Dissipator::{Conductance, Implicit, Resistance};
        let matrix: &Matrix = match &self.model.graph.elements[id.index()].law {
            Law::Storage { value, .. } => value,
            Law::Dissipator(Resistance(value) | Conductance(value)) => value,
            Law::Coupler { matrix, .. } => matrix,
            Law::Dissipator(Implicit(..)) | Law::Source { .. } | Law::Nonlinear(_) => return None,
        };
        let first = *matrix.entries.first()?;
        // A scalar on a vector element is this number times the identity.
        let is_scalar = (0..matrix.rows).all(|row| {
            (0..matrix.columns).all(|column| {
                let entry = matrix.get(row, column);
                if row == column {
                    entry == first
                } else {
                    self.model.exprs.is_zero(entry)
                }
            })
        });
        (is_scalar && matrix.rows == matrix.columns).then_some(first)
    }

    /// Labels the values of some elements, and those of the parameters that they are computed from.
    pub(crate) fn label_values(&self, mut diagnostic: Diagnostic, elements: &[ElementId]) -> Diagnostic {
        let mut roots = Vec::new();
        for id in elements.iter().take(LABELS) {
            let element = &self.model.graph.elements[id.index()];
            let words = match self.single_value(*id) {
                Some(value) => {
                    roots.push(value);
                    let name = self.model.element_name(*id);
                    format!("the value of `{name}` is {}", self.value(value))
                }
                None => format!("the law of `{}`", self.model.element_name(*id)),
            };
            diagnostic = diagnostic.label(element.law_span, words);
        }
        if elements.len() > LABELS {
            diagnostic = diagnostic.note(format!("{} more elements are involved", elements.len() - LABELS));
        }
        self.label_parameters(diagnostic, &roots)
    }

    /// Labels the values of the parameters that expressions depend on.
    pub(crate) fn label_parameters(&self, diagnostic: Diagnostic, roots: &[ExprId]) -> Diagnostic {
        label_parameters(&self.model.parameters, &self.model.exprs, diagnostic, roots)
    }
}
