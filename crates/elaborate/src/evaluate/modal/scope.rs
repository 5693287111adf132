//! Evaluation in the body of a modal block: its parameters, its modes, its functions of the position.

use crate::context::Place;
use crate::context::modal::{ModalBlock, Position};
use crate::context::values::{Agreement, Scalar, Value};
use crate::evaluate::law_scope::{LawScope, TableScope};
use crate::evaluate::{Claim, Evaluator};
use crate::modal_rules::Shape;
use crate::program::mode_table::{ModeTable, table_use};
use lgm_algebra::expr::to_f64;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Instance};
use num_traits::{Signed, ToPrimitive};

impl<'a> Evaluator<'a> {
    /// Evaluates in the scope of a modal block.
    pub(crate) fn with_scope<T>(
        &mut self,
        instance: &'a Instance,
        formals: Vec<(&'a str, Value)>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let table = self.table_scope(instance, &formals);
        let outer = self.law.replace(LawScope {
            formals,
            ports: Vec::new(),
            time: None,
            tables: &[],
            table,
        });
        let user = self
            .reports
            .law_use
            .replace((instance.declared.name.text.to_string(), instance.kind.span));
        let result = work(self);
        self.law = outer;
        self.reports.law_use = user;
        result
    }

    /// Returns the table of an instance at the row of the mode in the given scope.
    fn table_scope(&self, instance: &'a Instance, scope: &[(&'a str, Value)]) -> Option<TableScope<'a>> {
        let table = self.table_of(instance)??;
        let definition = self
            .program
            .definition(&instance.kind.text, instance.kind.span.source)?;
        let ast::Item::Modal(modal) = self.program.item(definition) else {
            return None;
        };
        let index = &*modal.mode.as_ref()?.text;
        let (_, value) = scope.iter().rev().find(|entry| entry.0 == index)?;
        let number = self.arena.exprs.as_number(value.entries().first()?.expr)?;
        let row = number.to_integer().to_usize()?.checked_sub(1)?;
        Some(TableScope {
            table,
            row,
            function: "",
        })
    }

    /// Returns the table of an instance: none if its modes are counted, `Some(None)` if the table has errors.
    pub(crate) fn table_of(&self, instance: &'a Instance) -> Option<Option<&'a ModeTable>> {
        let used = table_use(instance)?;
        let program = self.program;
        Some(used.path.and_then(|(_, span)| program.table(span)))
    }

    /// Returns the values of one mode's shape at positions, as constants; over a span, its mean.
    pub(crate) fn shapes_at(
        &mut self,
        block: &ModalBlock<'a>,
        (mode, scope): (u32, &[(&'a str, Value)]),
        positions: &[Position],
    ) -> Option<Vec<Scalar>> {
        let owner = block.owner.clone();
        let values = self.shape_formulas(block, scope, positions)?;
        let pairs = positions.iter().zip(values);
        Some(
            pairs
                .map(|(position, value)| self.constant_at(&owner, "shape", mode, position, value))
                .collect(),
        )
    }

    fn shape_formulas(
        &mut self,
        block: &ModalBlock<'a>,
        scope: &[(&'a str, Value)],
        positions: &[Position],
    ) -> Option<Vec<Scalar>> {
        let shape = block.rules.shape("shape")?;
        let integral = block.rules.shape("integral");
        let mut known = block.formals.clone();
        known.extend(scope.iter().cloned());
        self.with_scope(block.instance, known, |this| {
            let mut list = Vec::with_capacity(positions.len());
            for position in positions {
                list.push(match position {
                    Position::Point(at) => this.shape_at(shape, at)?,
                    Position::Span(from, to) => {
                        let integral = integral?;
                        let upper = this.shape_at(integral, &[*to])?;
                        let lower = this.shape_at(integral, &[*from])?;
                        let difference = this.arena.exprs.sub(upper.expr, lower.expr);
                        let width = this.arena.exprs.sub(to.expr, from.expr);
                        Scalar {
                            expr: this.arena.exprs.div(difference, width),
                            dim: this.dims.over(upper.dim, to.dim),
                        }
                    }
                });
            }
            Some(list)
        })
    }

    /// Returns the value of a function of the position at a position, in the current scope.
    pub(in crate::evaluate) fn shape_at(&mut self, shape: &Shape<'a>, at: &[Scalar]) -> Option<Scalar> {
        let law = self.law.as_mut()?;
        let mark = law.formals.len();
        let coordinates = shape.arguments.iter().zip(at);
        law.formals
            .extend(coordinates.map(|(name, at)| (*name, Value::Scalar(*at).named())));
        if let Some(table) = &mut law.table {
            table.function = &shape.name.text;
        }
        let value = self.eval_scalar(shape.value, Place::MODEL);
        self.law.as_mut()?.formals.truncate(mark);
        value
    }

    /// Checks that a position is in the block.
    pub(crate) fn check_position(&mut self, span: Span, coordinates: &[Scalar], sides: &[Scalar]) -> Option<()> {
        for (at, coordinate) in coordinates.iter().enumerate() {
            // Both ends of a span are measured along the only side.
            let Some(side) = sides.get(at.min(sides.len().saturating_sub(1))) else {
                continue;
            };
            if coordinate.dim.agreement(side.dim) != Agreement::Yes {
                let claim = Claim {
                    dim: coordinate.dim,
                    wanted: side.dim,
                    expr: None,
                };
                let (given, wanted) = (self.dims.text(coordinate.dim), self.dims.text(side.dim));
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    format!("this position is given in {given}, the length in {wanted}"),
                )
                .label(span, format!("this is in {given}"))
                .help(format!("give positions in {wanted}"));
                if !self.disagree(diagnostic, &[claim]) {
                    return None;
                }
            }
            let values = self.exact(&[coordinate.expr, side.expr], span)?;
            let (x, length) = (to_f64(&values[0]), to_f64(&values[1]));
            // A computed position, such as three thirds of pi, may miss the end by round-off.
            if values[0].is_negative() || (values[0] > values[1] && x > length * (1.0 + 1e-12)) {
                let diagnostic = Diagnostic::error(Code::LGM0444, "this position is outside the modal block")
                    .label(span, format!("this is {x}"))
                    .help(format!(
                        "positions are measured from one end: write a value from 0 to {length}"
                    ));
                self.report(diagnostic);
                return None;
            }
        }
        Some(())
    }
}
