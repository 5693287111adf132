//! Tables of two arguments: `table t = [[0, y1, y2], [x1, t11, t12], [x2, t21, t22]];`, used as `t(x, y)`.
//!
//! A value is that of a table in x, whose values are those of tables in y. Between linear tables it is bilinear.

use crate::context::Place;
use crate::context::values::{DimId, Scalar, Value};
use crate::evaluate::tables::{MOST_ROWS, Method, Outside, Rows};
use crate::evaluate::{Evaluator, Side};
use crate::program::csv_use;
use lgm_algebra::expr::ExprId;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Expr, Table};
use num_rational::BigRational;

/// The positions and the values of a table of two arguments.
struct Grid {
    x: Vec<Scalar>,
    y: Vec<Scalar>,
    /// The values, row by row.
    values: Vec<Scalar>,
}

impl<'a> Evaluator<'a> {
    /// Evaluates `t(x, y)`.
    pub(super) fn grid_call(&mut self, table: &'a Table, arguments: (&'a Expr, &'a Expr), place: Place) -> Value {
        let x = self.eval_scalar(arguments.0, place);
        let y = self.eval_scalar(arguments.1, place);
        let choices = self.table_choices(table);
        let (Some(x), Some(y), Some((method, outside))) = (x, y, choices) else {
            return Value::Error;
        };
        if method == Method::Smooth {
            let message = format!("the table `{}` of two arguments cannot be smooth", table.name.text);
            let diagnostic = Diagnostic::error(Code::LGM0211, message)
                .label(table.name.span, "declared with `method = smooth`")
                .help("write `method = linear` or `method = steps`");
            self.report(diagnostic);
            return Value::Error;
        }
        let grid = match csv_use(&table.value) {
            Some(_) => self.grid_of_file(table),
            None => self.grid_of_list(table, place),
        };
        let Some(grid) = grid else {
            return Value::Error;
        };
        let (Some(rows), Some(columns)) = (
            self.positions((&table.name.text, table.value.span), &grid.x, "column"),
            self.positions((&table.name.text, table.value.span), &grid.y, "row"),
        ) else {
            return Value::Error;
        };
        for (argument, given, wanted) in [(arguments.0, x, rows.1), (arguments.1, y, columns.1)] {
            let wanted = Side {
                dim: wanted,
                span: table.name.span,
                expr: None,
            };
            if !self.same_dimension(wanted, Side::of(argument, given.dim), "compared") {
                return Value::Error;
            }
        }
        let dims = grid.values.iter().map(|entry| entry.dim);
        let dim = dims.fold(DimId::PLAIN, DimId::joined).or_unknown();
        let values: Vec<ExprId> = grid.values.iter().map(|entry| entry.expr).collect();
        let value = self.value_of_grid((&rows.0, &columns.0), &values, (x.expr, y.expr), (method, outside));
        Value::scalar(value, dim)
    }

    fn value_of_grid(
        &mut self,
        (rows, columns): (&[BigRational], &[BigRational]),
        values: &[ExprId],
        (x, y): (ExprId, ExprId),
        (method, outside): (Method, Outside),
    ) -> ExprId {
        let along = |at: &[BigRational], values: &[ExprId]| Rows {
            at: at.to_vec(),
            values: values.to_vec(),
            dims: (DimId::UNKNOWN, DimId::UNKNOWN),
            slopes: Vec::new(),
        };
        let (in_x, in_y) = (self.inside(rows, x, outside), self.inside(columns, y, outside));
        let lines = values.chunks(columns.len());
        let lines: Vec<ExprId> = lines
            .map(|line| self.between(&along(columns, line), in_y, method, (0, columns.len() - 1)))
            .collect();
        let value = self.between(&along(rows, &lines), in_x, method, (0, rows.len() - 1));
        if outside != Outside::Error {
            return value;
        }
        let value = self.guarded(columns, y, value);
        self.guarded(rows, x, value)
    }

    fn grid_of_list(&mut self, table: &'a Table, place: Place) -> Option<Grid> {
        let fault = |this: &mut Self, label: String| {
            let message = format!(
                "the table `{}` needs positions in its first row and column",
                table.name.text
            );
            let diagnostic = Diagnostic::error(Code::LGM0211, message)
                .label(table.value.span, label)
                .help("write `[[0, y1, y2], [x1, t11, t12], [x2, t21, t22]]` for `t(x, y)`");
            this.report(diagnostic);
            None
        };
        let value = self.eval(&table.value, place);
        let array = match &value {
            Value::Error => return None,
            Value::Array(array) if array.matrix && array.rows > 2 && array.columns > 2 => array,
            other => {
                let label = format!("this is {}", other.shape_text());
                return fault(self, label);
            }
        };
        if array.entries.len() > MOST_ROWS {
            return fault(self, format!("more than {MOST_ROWS} values"));
        }
        if !self.arena.exprs.is_zero(array.entries[0].expr) {
            return fault(self, "its first entry, in the corner, must be 0".to_string());
        }
        let lines: Vec<&[Scalar]> = array.entries.chunks(array.columns).collect();
        Some(Grid {
            x: lines[1..].iter().map(|line| line[0]).collect(),
            y: lines[0][1..].to_vec(),
            values: lines[1..].iter().flat_map(|line| line[1..].to_vec()).collect(),
        })
    }

    /// Returns a whole file, whose first line contains the positions of the second argument.
    fn grid_of_file(&mut self, table: &'a Table) -> Option<Grid> {
        let used = csv_use(&table.value)?;
        // A file that cannot be read is already reported.
        let (_, place) = used.path?;
        let program = self.program;
        let data = program.table(place)?;
        let is_axis = data.columns.len() > 2 && data.columns[1..].iter().all(|column| column.is_position());
        if !is_axis || used.column.is_some() || data.rows() * data.columns.len() > MOST_ROWS {
            let message = format!("`{}` is not a table of two arguments", data.title);
            let diagnostic = Diagnostic::error(Code::LGM0211, message)
                .label(place, "a whole file of at most 10000 values is needed")
                .help(
                    "after the name of its first column, the first line contains the positions of the second \
                    argument: `speed [rpm], 0, 0.5 [V], 1 [V]`",
                );
            self.report(diagnostic);
            return None;
        }
        let mut y = Vec::new();
        for column in &data.columns[1..] {
            let at = &column.at[0];
            y.push(Scalar {
                expr: self.arena.exprs.number(at.value.clone()),
                dim: at.dimension.map_or(DimId::UNKNOWN, |dimension| self.dims.id(dimension)),
            });
        }
        let (mut x, mut values) = (Vec::new(), Vec::new());
        let unit = data.columns[0].unit.as_ref();
        let dim = unit.map_or(DimId::UNKNOWN, |unit| self.dims.id(unit.dimension));
        for row in 0..data.rows() {
            for column in 0..data.columns.len() {
                let number = data.number(self.sources, row, column);
                let expr = self.arena.exprs.number(number);
                match column {
                    0 => x.push(Scalar { expr, dim }),
                    _ => values.push(Scalar {
                        expr,
                        dim: DimId::UNKNOWN,
                    }),
                }
            }
        }
        Some(Grid { x, y, values })
    }
}
