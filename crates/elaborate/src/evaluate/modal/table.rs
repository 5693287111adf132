//! Modes from a table: a measurement or a finite-element run, one row per mode.
//!
//! `modes = table("modes.csv")` uses all modes of the table. A column contains a parameter of the block, `frequency [Hz]`, for each mode,
//! or a function at a position, `shape(0.4)`, which the block defines as `shape(x) = table(x)`. Texts are read, and errors in their
//! contents reported, when a program is loaded; the required columns are known when a block is expanded.

use crate::context::Place;
use crate::context::values::{Scalar, Value};
use crate::evaluate::Evaluator;
use crate::program::mode_table::{Column, ModeTable};
use lgm_algebra::expr::to_f64;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Argument, Name};

impl<'a> Evaluator<'a> {
    pub(crate) fn table_value(&mut self, table: &ModeTable, row: usize, column: usize) -> Scalar {
        let number = table.number(self.sources, row, column);
        let dimension = table.columns[column].unit.as_ref().map(|unit| unit.dimension);
        Scalar {
            expr: self.arena.exprs.number(number),
            dim: self.dims.optional(dimension),
        }
    }

    /// Returns the column of a tabulated function at a position; errors are reported at the given location.
    pub(crate) fn table_column(
        &mut self,
        span: Span,
        coordinates: &[Scalar],
        table: &'a ModeTable,
        function: &str,
    ) -> Option<usize> {
        let mut at = Vec::with_capacity(coordinates.len());
        for coordinate in coordinates {
            let number = self.fixed_number(coordinate, span, "a position in a table")?;
            at.push(to_f64(&number));
        }
        let Some(column) = table.function(function, &at) else {
            let wanted: Vec<String> = at.iter().map(f64::to_string).collect();
            let distance = |column: &Column| -> f64 {
                let pairs = column.at.iter().zip(&at);
                pairs
                    .map(|(known, wanted)| (to_f64(&known.value) - wanted).powi(2))
                    .sum()
            };
            let mut near: Vec<&Column> = table
                .columns
                .iter()
                .filter(|column| &*column.name == function && !column.at.is_empty())
                .collect();
            near.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
            let near: Vec<String> = near
                .iter()
                .take(3)
                .map(|column| format!("`{}`", column.title()))
                .collect();
            let diagnostic = Diagnostic::error(
                Code::LGM0448,
                format!("`{}` has no column `{function}({})`", table.title, wanted.join(", ")),
            )
            .label(span, "at this position")
            .label(table.heading, "these are its columns")
            .help(match near.is_empty() {
                true => format!("add a column for each position, as `{function}({})`", wanted.join(", ")),
                false => format!("a table is not interpolated; nearest positions: {}", near.join(", ")),
            });
            self.report(diagnostic);
            return None;
        };
        for (coordinate, known) in coordinates.iter().zip(&table.columns[column].at) {
            let known = self.dims.optional(known.dimension);
            if known.is_known() && coordinate.dim.is_known() && known != coordinate.dim {
                let (given, wanted) = (self.dims.text(coordinate.dim), self.dims.text(known));
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    format!("this position is given in {given}, but the positions of the table are in {wanted}"),
                )
                .label(span, format!("this is in {given}"))
                .label(table.columns[column].span, format!("this is in {wanted}"))
                .help(format!("give positions in {wanted}"));
                self.report(diagnostic);
                return None;
            }
        }
        Some(column)
    }

    /// Evaluates `table(x)` in the body of a block: the tabulated value of the current function for the mode.
    pub(in crate::evaluate) fn tabulated(
        &mut self,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Value {
        if self.law.is_none() {
            let diagnostic = Diagnostic::error(Code::LGM0145, "there is no function `table` here")
                .label(name.span, "a table of modes is not a value")
                .help("write `modes = table(\"modes.csv\")` in a modal block");
            self.report(diagnostic);
            return Value::Error;
        }
        let scope = self.law.as_ref().and_then(|law| law.table);
        let Some(scope) = scope.filter(|scope| !scope.function.is_empty()) else {
            // Static checks allow it only in functions of the position, and a block has its table before these are evaluated.
            return Value::Error;
        };
        let mut coordinates = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let Some(scalar) = self.eval_scalar(&argument.value, place) else {
                return Value::Error;
            };
            coordinates.push(scalar);
        }
        let user = self
            .reports
            .law_use
            .as_ref()
            .map_or(name.span.to(span), |entry| entry.1);
        match self.table_column(user, &coordinates, scope.table, scope.function) {
            Some(column) => Value::Scalar(self.table_value(scope.table, scope.row, column)),
            None => Value::Error,
        }
    }
}
