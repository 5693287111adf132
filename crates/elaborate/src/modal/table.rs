//! Modes from a table: a measurement or a finite-element run, one row a mode.
//!
//! `modes = table("modes.csv")` takes as many modes as the table has rows. A column is named after a parameter of the
//! block, `frequency [Hz]`, whose value for each mode it gives, or after a function of the position at one, `shape(0.4)`,
//! which the block defines as `shape(x) = table(x)`. Texts are read, and faults of their contents told, when a program is
//! loaded; what a block needs of them is known when it is expanded.

use super::rules::Rules;
use super::table_text::{Column, ModeTable, TableUse, table_use};
use crate::state::{Elaborator, Place};
use crate::values::{Scalar, Value};
use lgm_algebra::expr::to_f64;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_syntax::ast::{self, Argument, Instance, Name};
use num_traits::ToPrimitive;

/// What a function of the position that is tabulated needs beside its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableScope<'a> {
    table: &'a ModeTable,
    row: usize,
    /// The function that is evaluated.
    pub function: &'a str,
}

impl<'a> Elaborator<'a> {
    /// The table of an instance: none where its modes are counted, `Some(None)` where the table is at fault.
    pub(super) fn table_of(&self, instance: &'a Instance) -> Option<Option<&'a ModeTable>> {
        let used = table_use(instance)?;
        let program = self.program;
        Some(used.path.and_then(|(_, span)| program.table(span)))
    }

    /// The table of an instance at the row of a mode, which stands in the scope that is opened.
    pub(super) fn table_scope(&self, instance: &'a Instance, scope: &[(&'a str, Value)]) -> Option<TableScope<'a>> {
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

    /// The number of modes that `table("modes.csv")`, or the first `n` of `table("modes.csv", n)`, has.
    pub(super) fn table_count(
        &mut self,
        used: &TableUse<'a>,
        table: Option<&'a ModeTable>,
        place: Place,
    ) -> Option<u32> {
        let (Some(_), 1 | 2) = (used.path, used.arguments.len()) else {
            let diagnostic = Diagnostic::error(
                Code::LGM0448,
                "a table of modes is a file, and how many of its modes are taken",
            )
            .label(used.call.span, "no file in quotes, or too many arguments")
            .help("write `modes = table(\"modes.csv\")`, or `table(\"modes.csv\", 6)` for the first six");
            self.report(diagnostic);
            return None;
        };
        let table = table?;
        let rows = table.rows();
        let Some(wanted) = used.arguments.get(1) else {
            return u32::try_from(rows).ok();
        };
        let count = self.integer(&wanted.value, place)?;
        match usize::try_from(count) {
            Ok(count) if (1..=rows).contains(&count) => u32::try_from(count).ok(),
            _ => {
                let diagnostic = Diagnostic::error(Code::LGM0448, format!("`{}` has {rows} modes", table.title))
                    .label(wanted.value.span, format!("{count} of them are wanted"))
                    .label(table.row_span(rows - 1), "the last one")
                    .help(format!("write a number from 1 to {rows}"));
                self.report(diagnostic);
                None
            }
        }
    }

    /// Whether a block and its table fit: each column means something in the block, and is given once.
    pub(super) fn check_columns(
        &mut self,
        instance: &'a Instance,
        modal: &'a ast::Modal,
        rules: &Rules<'a>,
        table: Option<&'a ModeTable>,
    ) -> Option<()> {
        let Some(table) = table else {
            let Some(name) = rules.tabulated.first() else {
                return Some(());
            };
            let diagnostic = Diagnostic::error(
                Code::LGM0448,
                format!("`{}` needs a table of its modes", instance.declared.name.text),
            )
            .label(instance.kind.span, format!("its `{name}` is a table"))
            .help("write `modes = table(\"modes.csv\")`");
            self.report(diagnostic);
            return None;
        };
        let mut good = true;
        let dimensions = rules.dimensions();
        for column in &table.columns {
            let mut refuse = |label: &str, help: String| {
                let diagnostic = Diagnostic::error(
                    Code::LGM0448,
                    format!("`{}` cannot take the column `{}`", modal.name.text, column.title()),
                )
                .label(column.span, label.to_string())
                .label(instance.kind.span, "of this block")
                .help(help);
                self.report(diagnostic);
                good = false;
            };
            let name = &*column.name;
            if !column.at.is_empty() {
                if !rules.tabulated.contains(&name) {
                    refuse(
                        "no function that the block reads from a table",
                        format!("delete the column, or define `{name}(x) = table(x);` in the block"),
                    );
                } else if column.at.len() != dimensions {
                    refuse(
                        "the position has other coordinates",
                        format!("positions of this block have {dimensions}"),
                    );
                }
                continue;
            }
            let Some(formal) = modal.formals.iter().find(|formal| &*formal.name.text == name) else {
                let names = modal.formals.iter().map(|formal| &*formal.name.text);
                refuse(
                    "no parameter of the block",
                    did_you_mean(name, names).unwrap_or_else(|| "delete the column, or rename it".to_string()),
                );
                continue;
            };
            let at = modal
                .formals
                .iter()
                .position(|other| std::ptr::eq(other, formal))
                .unwrap_or(0);
            if formal.structural {
                refuse(
                    "one number for the whole block, not for each mode",
                    format!("delete the column, and give `{name}` in the model"),
                );
            } else if crate::quantities::argument_for(instance, formal, at).is_some() {
                refuse(
                    "given in the model already",
                    format!("delete the column, or leave `{name}` out in the model"),
                );
            }
        }
        good.then_some(())
    }

    /// The values of parameters for one mode, counted from 0.
    pub(super) fn table_row(
        &mut self,
        modal: &'a ast::Modal,
        table: &'a ModeTable,
        row: usize,
    ) -> Option<Vec<(&'a str, Value)>> {
        let mut values = Vec::new();
        for formal in &modal.formals {
            let Some(column) = table.parameter(&formal.name.text) else {
                continue;
            };
            let value = self.table_value(table, row, column);
            let value = self.as_formal(&Value::Scalar(value), formal, table.columns[column].span, None);
            if value.is_error() {
                return None;
            }
            values.push((&*formal.name.text, value));
        }
        Some(values)
    }

    fn table_value(&mut self, table: &ModeTable, row: usize, column: usize) -> Scalar {
        let number = table.number(self.sources, row, column);
        let dimension = table.columns[column].unit.as_ref().map(|unit| unit.dimension);
        Scalar {
            expr: self.arena.exprs.number(number),
            dim: self.dims.optional(dimension),
        }
    }

    /// The column that a tabulated function has at a position, which is written at a place.
    pub(super) fn table_column(
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
                false => format!(
                    "nothing is known between the points of a table; near it there is {}",
                    near.join(", ")
                ),
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
                    format!("this position is given in {given}, those of the table in {wanted}"),
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

    /// `table(x)` in the body of a block: the value of the function that it defines for the mode.
    pub fn tabulated(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Value {
        if self.law.is_none() {
            let diagnostic = Diagnostic::error(Code::LGM0145, "there is no function `table` here")
                .label(name.span, "a table of modes is no value")
                .help("write `modes = table(\"modes.csv\")` in a modal block");
            self.report(diagnostic);
            return Value::Error;
        }
        let scope = self.law.as_ref().and_then(|law| law.table);
        let Some(scope) = scope.filter(|scope| !scope.function.is_empty()) else {
            // Static checks allow it in functions of the position alone, and a block has a table before these are asked.
            return Value::Error;
        };
        let mut coordinates = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let Some(scalar) = self.eval_scalar(&argument.value, place) else {
                return Value::Error;
            };
            coordinates.push(scalar);
        }
        let user = self.law_use.as_ref().map_or(name.span.to(span), |entry| entry.1);
        match self.table_column(user, &coordinates, scope.table, scope.function) {
            Some(column) => Value::Scalar(self.table_value(scope.table, scope.row, column)),
            None => Value::Error,
        }
    }
}
