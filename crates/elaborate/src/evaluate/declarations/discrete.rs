//! The values of declarations of discrete variables.

use crate::context::values::{DimId, Scalar, Value, entry_names};
use crate::context::{Indices, Place, index_text};
use crate::evaluate::Evaluator;
use lgm_algebra::expr::{ExprId, SymbolKind};
use lgm_model::switching::Discrete;
use lgm_model::{Input, SiUnit};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Indexed;
use std::sync::Arc;

impl<'a> Evaluator<'a> {
    /// Returns the symbols of a discrete variable: internal inputs that start from the declared values.
    pub(crate) fn discrete_value(&mut self, indexed: &'a Indexed, place: Place, indices: Option<Indices>) -> Value {
        let value = self.eval(&indexed.value, place);
        if value.is_error() {
            return Value::Error;
        }
        let roots: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        if roots.iter().any(|root| self.varies(*root)) {
            let diagnostic = Diagnostic::error(
                Code::LGM0409,
                "the initial value of a discrete variable must be constant",
            )
            .label(indexed.value.span, "this changes with time")
            .help(
                "write a number or an expression of parameters; use `when initially { .. }` to set it from \
                    measured variables",
            );
            self.report(diagnostic);
            return Value::Error;
        }
        let mut name = self.qualified(&indexed.declared.name.text, place.frame);
        if let Some(at) = indices {
            name.push_str(&format!("[{}]", index_text(at)));
        }
        let names = entry_names(&name, &value);
        let span = indexed.declared.name.span;
        let mut entries = Vec::with_capacity(roots.len());
        for (entry, name) in value.entries().to_vec().into_iter().zip(names) {
            let name: Arc<str> = name.into();
            let symbol = self.arena.exprs.new_symbol(name.clone(), SymbolKind::Input);
            let unit = self.dims.get(entry.dim).map(SiUnit::of);
            let model = &mut self.graph.model;
            model.switching.discretes.push(Discrete {
                name: name.clone(),
                input: model.inputs.len(),
                span,
            });
            model.inputs.push(Input {
                name,
                symbol,
                signal: Some(entry.expr),
                unit,
                scale: lgm_model::Scale::SI,
                span,
                is_internal: true,
            });
            entries.push(Scalar {
                expr: self.arena.exprs.symbol(symbol),
                dim: if entry.dim == DimId::PLAIN {
                    DimId::UNKNOWN
                } else {
                    entry.dim
                },
            });
        }
        self.like(&value, entries)
    }
}
