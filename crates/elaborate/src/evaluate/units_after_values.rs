//! Brackets after a value that read both as a unit and as an index: `across(M) [m]` in a model that declares `m`.

use crate::context::{GraphPart, Place, ValueSlot};
use crate::evaluate::Evaluator;
use crate::units::unit_of_index;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Expr, ExprKind, UnitExpr};

impl<'a> Evaluator<'a> {
    /// Returns the unit that the brackets after a value also read as: `[m]` in a model that declares `m`. Loop indices are no units.
    pub(super) fn index_as_unit(
        &mut self,
        base: &Expr,
        indices: &'a [Expr],
        place: Place,
        span: Span,
    ) -> Option<UnitExpr> {
        let [only] = indices else { return None };
        if self.law.is_some() {
            return None;
        }
        let between = self.sources.slice(Span {
            start: base.span.end,
            ..span
        });
        let brackets = Span {
            start: base.span.end + between.find('[')? as u32,
            ..span
        };
        let written = unit_of_index(only, brackets)?;
        let is_index = |name: &str| self.scopes.loop_index(name, place).is_some();
        let has_index = written.factors.iter().any(|factor| is_index(&factor.name.text));
        (!has_index).then_some(written)
    }

    /// Returns true if a name in brackets is a number at compile time.
    pub(super) fn is_known_index(&mut self, index: &'a Expr, place: Place) -> bool {
        let ExprKind::Name(name) = &index.kind else {
            return false;
        };
        if self.scopes.value_slot(&name.text, place.frame).is_none() {
            return self.scopes.part_slot(&name.text, place.frame).is_none();
        }
        let value = self.eval(index, place);
        let [scalar] = value.entries() else {
            return value.is_error();
        };
        self.arena.exprs.symbols_of(&[scalar.expr]).is_empty()
    }

    /// Reports a unit after a vector that reads as an index, because the model declares its symbols.
    pub(super) fn not_a_unit(&mut self, written: &UnitExpr) {
        let words = self.sources.slice(written.span).to_string();
        let frame = self.reports.here.frame;
        let declared = written.factors.iter().map(|factor| &*factor.name.text);
        let name = declared
            .clone()
            .find(|name| self.scopes.value_slot(name, frame).is_some() || self.scopes.part_slot(name, frame).is_some());
        let name = name.unwrap_or_default().to_string();
        let diagnostic = Diagnostic::error(
            Code::LGM0402,
            format!("`{words}` is an index here, because the model declares `{name}`"),
        )
        .label(written.span, "not a number at compile time")
        .help(format!("to use the unit, rename `{name}`"));
        let diagnostic = self.label_declared(diagnostic, &name, frame, "declared here");
        self.report(diagnostic);
    }

    /// Returns true if a name or a member is declared with indices.
    pub(super) fn is_indexed_name(&mut self, base: &'a Expr, place: Place) -> bool {
        let (name, frame) = match &base.kind {
            ExprKind::Name(name) => (name, place.frame),
            ExprKind::Member(owner, name) => match self.known_graph_part(owner, place) {
                Some(GraphPart::Component(frame)) => (name, frame),
                _ => return true,
            },
            _ => return false,
        };
        match self.scopes.value_slot(&name.text, frame) {
            Some(slot) => matches!(self.scopes.values[slot], ValueSlot::Indexed(_)),
            None => true,
        }
    }
}
