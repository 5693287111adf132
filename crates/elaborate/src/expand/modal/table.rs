//! The contents of a modal block's table: the number of its modes, and the values of each mode.

use crate::context::Place;
use crate::context::values::Value;
use crate::expand::Expansion;
use crate::modal_rules::Rules;
use crate::program::mode_table::{ModeTable, TableUse};
use crate::syntax_queries::argument_for;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_syntax::ast::{self, Instance};

impl<'a> Expansion<'_, 'a> {
    /// Returns the number of modes: all of `table("modes.csv")`, or the first `n` of `table("modes.csv", n)`.
    pub(crate) fn table_count(
        &mut self,
        used: &TableUse<'a>,
        table: Option<&'a ModeTable>,
        place: Place,
    ) -> Option<u32> {
        let (Some(_), 1 | 2) = (used.path, used.arguments.len()) else {
            let diagnostic = Diagnostic::error(Code::LGM0448, "a table of modes needs a file and the number of modes")
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
                    .label(wanted.value.span, format!("{count} of them are requested"))
                    .label(table.row_span(rows - 1), "this is the last mode")
                    .help(format!("write a number from 1 to {rows}"));
                self.report(diagnostic);
                None
            }
        }
    }

    /// Checks that a block and its table match: each column has a meaning in the block, and is given once.
    pub(crate) fn check_columns(
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
                format!("`{}` requires a table of its modes", instance.declared.name.text),
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
                    format!("`{}` does not use the column `{}`", modal.name.text, column.title()),
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
                        "not a function that the block reads from a table",
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
                    "not a parameter of the block",
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
            } else if argument_for(instance, formal, at).is_some() {
                refuse(
                    "already given in the model",
                    format!("delete the column, or remove `{name}` from the model"),
                );
            }
        }
        good.then_some(())
    }

    /// Returns the values of parameters for one mode, counted from 0.
    pub(crate) fn table_row(
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
}
