//! Tables of one argument: `table t = [[0, 1], [2, 3]];`, used as `t(x)`.
//!
//! A value of a table is an ordinary expression of its argument: a choice between the polynomials of its intervals, found by bisection.
//! Later stages therefore differentiate, locate and print it like any other expression. Within its range a linear table is continuous with
//! kinks, and a smooth one is continuously differentiable.

use crate::context::Place;
use crate::context::values::{DimId, Scalar, Value};
use crate::evaluate::{Evaluator, Side};
use crate::program::mode_table::CsvUse;
use crate::program::{csv_call, csv_use};
use lgm_algebra::expr::{End, ExprId, Function, Relation, to_f64};
use lgm_algebra::units::Dimension;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_syntax::ast::{Argument, ExprKind, Name, Table};
use num_rational::BigRational;
use num_traits::{Signed, Zero};

/// The maximum number of rows: each becomes a part of every expression that uses the table.
pub(super) const MOST_ROWS: usize = 10_000;

/// The interpolation between two rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Linear,
    /// The monotone cubic interpolation of Fritsch and Carlson, with the slopes of SciPy's `PchipInterpolator`.
    Smooth,
    Steps,
}

/// The values outside the range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    Error,
    Hold,
    Extend,
    Periodic,
}

const METHODS: [(&str, Method); 3] = [
    ("linear", Method::Linear),
    ("smooth", Method::Smooth),
    ("steps", Method::Steps),
];

const OUTSIDE: [(&str, Outside); 4] = [
    ("error", Outside::Error),
    ("hold", Outside::Hold),
    ("extend", Outside::Extend),
    ("periodic", Outside::Periodic),
];

/// The rows of a table.
pub(super) struct Rows {
    /// Increasing positions.
    pub at: Vec<BigRational>,
    pub values: Vec<ExprId>,
    /// The dimensions of positions and values.
    pub dims: (DimId, DimId),
    /// The slopes at the rows, of a smooth table.
    pub slopes: Vec<BigRational>,
}

impl<'a> Evaluator<'a> {
    /// Returns the table with this name in the scope of a place.
    pub(super) fn table_named(&self, name: &str, place: Place) -> Option<&'a Table> {
        if let Some(law) = &self.law {
            return law.tables.iter().find(|table| &*table.name.text == name);
        }
        let frame = &self.scopes.frames[place.frame.0 as usize];
        self.scopes.bodies[frame.body as usize].tables.get(name).copied()
    }

    /// Evaluates `t(x)`.
    pub(super) fn table_call(
        &mut self,
        table: &'a Table,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Value {
        let argument = match arguments {
            [argument] => argument,
            [x, y] => return self.grid_call(table, (&x.value, &y.value), place),
            _ => return self.wrong_count(name, "one or two arguments", arguments.len(), span),
        };
        let Some(x) = self.eval_scalar(&argument.value, place) else {
            return Value::Error;
        };
        let Some((method, outside)) = self.table_choices(table) else {
            return Value::Error;
        };
        let Some(mut rows) = self.table_rows(table, place) else {
            return Value::Error;
        };
        let wanted = Side {
            dim: rows.dims.0,
            span: table.name.span,
            expr: None,
        };
        if !self.same_dimension(wanted, Side::of(&argument.value, x.dim), "compared") {
            return Value::Error;
        }
        if method == Method::Smooth && !self.smooth_slopes(table, &mut rows) {
            return Value::Error;
        }
        let dim = rows.dims.1.or_unknown();
        Value::scalar(self.value_of_table(&rows, x.expr, method, outside), dim)
    }

    /// Returns the interpolation of a table, and its values outside of the range.
    pub(super) fn table_choices(&mut self, table: &'a Table) -> Option<(Method, Outside)> {
        let method = self.table_choice(table, "method", &METHODS, Method::Linear);
        let outside = self.table_choice(table, "outside", &OUTSIDE, Outside::Error);
        method.zip(outside)
    }

    /// Returns the chosen word of an attribute of a table.
    fn table_choice<T: Copy>(
        &mut self,
        table: &'a Table,
        attribute: &str,
        words: &[(&str, T)],
        default: T,
    ) -> Option<T> {
        let mut chosen = default;
        for given in &table.attributes {
            let word = match &given.value.kind {
                ExprKind::Name(name) => &*name.text,
                _ => "",
            };
            let name = &*given.name.text;
            if !matches!(name, "method" | "outside") {
                let diagnostic = Diagnostic::error(Code::LGM0136, format!("a table has no `{name}`"))
                    .label(given.name.span, "only `method` and `outside` are allowed here")
                    .help("write `method = smooth` or `outside = hold`");
                self.report(diagnostic);
                return None;
            }
            if name != attribute {
                continue;
            }
            match words.iter().find(|entry| entry.0 == word) {
                Some(entry) => chosen = entry.1,
                None => {
                    let all: Vec<&str> = words.iter().map(|entry| entry.0).collect();
                    let diagnostic = Diagnostic::error(Code::LGM0136, format!("a table has no such `{attribute}`"))
                        .label(given.value.span, "unknown")
                        .help(format!("write one of `{}`", all.join("`, `")));
                    self.report(diagnostic);
                    return None;
                }
            }
        }
        Some(chosen)
    }

    /// Returns the rows, from the declaration or from a file.
    fn table_rows(&mut self, table: &'a Table, place: Place) -> Option<Rows> {
        let (at, entries) = match csv_use(&table.value) {
            Some(used) => self.rows_of_file(&used, &table.name.text, false)?,
            None => self.rows_of_list(table, place)?,
        };
        let (positions, dim) = self.positions((&table.name.text, table.value.span), &at, "column")?;
        let values = entries.iter().map(|entry| entry.dim);
        Some(Rows {
            at: positions,
            values: entries.iter().map(|entry| entry.expr).collect(),
            dims: (dim, values.fold(DimId::PLAIN, DimId::joined)),
            slopes: Vec::new(),
        })
    }

    /// Returns the positions of a table, which are its first column or row, with their dimension.
    pub(super) fn positions(
        &mut self,
        (name, span): (&str, Span),
        at: &[Scalar],
        line: &str,
    ) -> Option<(Vec<BigRational>, DimId)> {
        let fault = |this: &mut Self, message: String, label: &str, help: &str| {
            let diagnostic = Diagnostic::error(Code::LGM0211, message);
            this.report(diagnostic.label(span, label.to_string()).help(help));
        };
        if at.len() < 2 || at.len() > MOST_ROWS {
            let lines = if line == "row" { "columns" } else { "rows" };
            let message = format!("the table `{name}` has {} {lines}", at.len());
            fault(
                self,
                message,
                &format!("these {lines}"),
                &format!("write 2 to 10000 {lines}"),
            );
            return None;
        }
        let mut positions = Vec::with_capacity(at.len());
        for x in at {
            match self.arena.exprs.evaluate_exact(&[x.expr], &|_| None) {
                Ok(mut number) => positions.extend(number.pop()),
                Err(_) => {
                    let message = format!("the first {line} of the table `{name}` must contain numbers");
                    let help = format!("write numbers in the first {line}; the other values may contain parameters");
                    fault(self, message, "one of these depends on a parameter", &help);
                    return None;
                }
            }
        }
        if !positions.windows(2).all(|pair| pair[0] < pair[1]) {
            let message = format!("the first {line} of the table `{name}` does not increase");
            let help = match line {
                "row" => "sort the columns, and remove duplicates",
                _ => "sort the rows, and remove duplicates",
            };
            fault(self, message, "in these rows", help);
            return None;
        }
        let dims = at.iter().map(|entry| entry.dim);
        Some((positions, dims.fold(DimId::PLAIN, DimId::joined)))
    }

    fn rows_of_list(&mut self, table: &'a Table, place: Place) -> Option<(Vec<Scalar>, Vec<Scalar>)> {
        match self.eval(&table.value, place) {
            Value::Error => None,
            Value::Array(array) if array.columns == 2 && array.matrix => {
                let pairs = array.entries.chunks(2);
                Some(pairs.map(|pair| (pair[0], pair[1])).unzip())
            }
            value => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0211,
                    format!("the table `{}` needs rows of two numbers", table.name.text),
                )
                .label(table.value.span, format!("this is {}", value.shape_text()))
                .help("write `[[x1, y1], [x2, y2]]`, or `csv(\"file.csv\", \"column\")`");
                self.report(diagnostic);
                None
            }
        }
    }

    /// Returns the first column of a file, and the named or second one.
    fn rows_of_file(&mut self, used: &CsvUse<'a>, call: &str, is_of_time: bool) -> Option<(Vec<Scalar>, Vec<Scalar>)> {
        // A file that cannot be read is already reported.
        let (_, place) = used.path?;
        let program = self.program;
        let data = program.table(place)?;
        let columns: Vec<&str> = data.columns.iter().map(|column| &*column.name).collect();
        // Times are in the column with this name.
        let is_time = |name: &&str| name.eq_ignore_ascii_case("time") || name.eq_ignore_ascii_case("t");
        let first = match is_of_time {
            true => columns.iter().position(is_time).unwrap_or(0),
            false => 0,
        };
        let column = match used.column {
            Some((name, span)) => match columns.iter().position(|column| *column == &**name) {
                Some(column) => column,
                None => {
                    let message = format!("the table `{}` has no column `{name}`", data.title);
                    let diagnostic = Diagnostic::error(Code::LGM0211, message).label(span, "no such column");
                    let help = did_you_mean(name, columns.iter().copied());
                    self.report(help.into_iter().fold(diagnostic, Diagnostic::help));
                    return None;
                }
            },
            None if columns.len() == 2 && !columns[1 - first].is_empty() => 1 - first,
            None => {
                let message = format!("the table `{}` has {} columns", data.title, columns.len());
                let diagnostic = Diagnostic::error(Code::LGM0211, message)
                    .label(place, "one of its columns is needed")
                    .help(match columns.last().filter(|name| !name.is_empty()) {
                        Some(name) => format!("name it: `csv(\"..\", \"{name}\")`"),
                        None => format!("pass two arguments: `{call}(x, y)`"),
                    });
                self.report(diagnostic);
                return None;
            }
        };
        let read = |this: &mut Self, column: usize| {
            let dim = match &data.columns[column].unit {
                Some(unit) => this.dims.id(unit.dimension),
                None => DimId::UNKNOWN,
            };
            let rows = 0..data.rows();
            rows.map(|row| {
                let number = data.number(this.sources, row, column);
                Scalar {
                    expr: this.arena.exprs.number(number),
                    dim,
                }
            })
            .collect::<Vec<_>>()
        };
        Some((read(self, first), read(self, column)))
    }

    /// Evaluates `input u = csv("file.csv", "column");`: a table of time, which holds its end values.
    pub(super) fn signal_of_file(&mut self, arguments: &'a [Argument], span: Span) -> Value {
        let used = csv_call(arguments);
        let Some((at, entries)) = self.rows_of_file(&used, "signal", true) else {
            return Value::Error;
        };
        if at.len() > MOST_ROWS {
            let message = format!("the signal has {} samples", at.len());
            let diagnostic = Diagnostic::error(Code::LGM0211, message)
                .label(span, format!("at most {MOST_ROWS} are allowed here"))
                .help("pass a longer file on the command line: `--input u=file.csv:column`");
            self.report(diagnostic);
            return Value::Error;
        }
        let Some((positions, dim)) = self.positions(("signal", span), &at, "column") else {
            return Value::Error;
        };
        let time = Side {
            dim: self.dims.id(Dimension::TIME),
            span,
            expr: None,
        };
        if !self.same_dimension(time, Side { dim, ..time }, "compared") {
            return Value::Error;
        }
        let dims = entries.iter().map(|entry| entry.dim);
        let rows = Rows {
            at: positions,
            values: entries.iter().map(|entry| entry.expr).collect(),
            dims: (dim, dims.fold(DimId::PLAIN, DimId::joined)),
            slopes: Vec::new(),
        };
        let time = self.time();
        let value = self.value_of_table(&rows, time, Method::Linear, Outside::Hold);
        Value::scalar(value, rows.dims.1.or_unknown())
    }

    /// Computes the slopes of a smooth table; false if its values are not numbers, which is reported.
    fn smooth_slopes(&mut self, table: &'a Table, rows: &mut Rows) -> bool {
        let Ok(values) = self.arena.exprs.evaluate_exact(&rows.values, &|_| None) else {
            let message = format!("the smooth table `{}` must contain numbers", table.name.text);
            let diagnostic = Diagnostic::error(Code::LGM0211, message)
                .label(table.value.span, "a value depends on a parameter")
                .help("write numbers, or remove `method = smooth`");
            self.report(diagnostic);
            return false;
        };
        rows.slopes = monotone_slopes(&rows.at, &values);
        true
    }

    /// Returns the value at an argument.
    fn value_of_table(&mut self, rows: &Rows, x: ExprId, method: Method, outside: Outside) -> ExprId {
        let last = rows.at.len() - 1;
        let inside = self.inside(&rows.at, x, outside);
        let value = self.between(rows, inside, method, (0, last));
        match outside {
            Outside::Error => self.guarded(&rows.at, x, value),
            // The polynomials of a smooth table would grow; its end slopes continue instead.
            Outside::Extend if method == Method::Smooth => {
                let line = |this: &mut Self, at: usize| {
                    let exprs = &mut this.arena.exprs;
                    let from = exprs.number(rows.at[at].clone());
                    let slope = exprs.number(rows.slopes[at].clone());
                    let along = exprs.sub(x, from);
                    let rise = exprs.mul(slope, along);
                    exprs.add(rows.values[at], rise)
                };
                let (before, after) = (line(self, 0), line(self, last));
                let (from, to) = self.ends(&rows.at);
                let exprs = &mut self.arena.exprs;
                let is_before = exprs.relation(Relation::Less, x, from);
                let is_after = exprs.relation(Relation::Greater, x, to);
                let rest = exprs.if_else(is_after, after, value);
                exprs.if_else(is_before, before, rest)
            }
            _ => value,
        }
    }

    /// Returns the first and the last position.
    fn ends(&mut self, at: &[BigRational]) -> (ExprId, ExprId) {
        let exprs = &mut self.arena.exprs;
        let last = at.len() - 1;
        (exprs.number(at[0].clone()), exprs.number(at[last].clone()))
    }

    /// Returns a value that exists only within the range of the positions.
    pub(super) fn guarded(&mut self, at: &[BigRational], x: ExprId, value: ExprId) -> ExprId {
        let (from, to) = self.ends(at);
        let exprs = &mut self.arena.exprs;
        let (above, below) = (exprs.sub(x, from), exprs.sub(to, x));
        let value = exprs.guarded(below, End::Within, value);
        exprs.guarded(above, End::Within, value)
    }

    /// Returns the argument that is looked up.
    pub(super) fn inside(&mut self, at: &[BigRational], x: ExprId, outside: Outside) -> ExprId {
        let (from, to) = self.ends(at);
        let exprs = &mut self.arena.exprs;
        match outside {
            Outside::Hold => {
                let below = exprs.call(Function::Min, [x, to]);
                exprs.call(Function::Max, [below, from])
            }
            Outside::Periodic => {
                let period = exprs.sub(to, from);
                let along = exprs.sub(x, from);
                let count = exprs.div(along, period);
                let count = exprs.call(Function::Floor, [count]);
                let shift = exprs.mul(period, count);
                exprs.sub(x, shift)
            }
            Outside::Error | Outside::Extend => x,
        }
    }

    /// Returns the value between two rows, which are chosen by bisection.
    pub(super) fn between(&mut self, rows: &Rows, x: ExprId, method: Method, (low, high): (usize, usize)) -> ExprId {
        if high - low == 1 {
            return self.piece(rows, x, method, low);
        }
        let middle = low.midpoint(high);
        let before = self.between(rows, x, method, (low, middle));
        let after = self.between(rows, x, method, (middle, high));
        let exprs = &mut self.arena.exprs;
        let border = exprs.number(rows.at[middle].clone());
        let is_before = exprs.relation(Relation::Less, x, border);
        exprs.if_else(is_before, before, after)
    }

    /// Returns the polynomial of the interval that starts at a row.
    fn piece(&mut self, rows: &Rows, x: ExprId, method: Method, at: usize) -> ExprId {
        let exprs = &mut self.arena.exprs;
        let (y, next) = (rows.values[at], rows.values[at + 1]);
        if method == Method::Steps {
            // The last row holds from its position on.
            let end = exprs.number(rows.at[at + 1].clone());
            let is_last = at + 2 == rows.at.len();
            let is_before = exprs.relation(Relation::Less, x, end);
            return if is_last { exprs.if_else(is_before, y, next) } else { y };
        }
        let from = exprs.number(rows.at[at].clone());
        let width = &rows.at[at + 1] - &rows.at[at];
        let along = exprs.sub(x, from);
        if method == Method::Linear {
            let rise = exprs.sub(next, y);
            let width = exprs.number(width);
            let slope = exprs.div(rise, width);
            let product = exprs.mul(slope, along);
            return exprs.add(y, product);
        }
        let numbers = exprs.evaluate_exact(&[y, next], &|_| None).unwrap_or_default();
        let [start, end] = &numbers[..] else { return y };
        let secant = (end - start) / &width;
        let (first, second) = (&rows.slopes[at], &rows.slopes[at + 1]);
        let (two, three) = (BigRational::from_integer(2.into()), BigRational::from_integer(3.into()));
        let quadratic = (&three * &secant - &two * first - second) / &width;
        let cubic = (first + second - &two * &secant) / (&width * &width);
        // Horner's scheme.
        let mut value = exprs.number(rounded(&cubic));
        for coefficient in [quadratic, first.clone(), start.clone()] {
            let coefficient = exprs.number(rounded(&coefficient));
            let product = exprs.mul(value, along);
            value = exprs.add(coefficient, product);
        }
        value
    }
}

/// Returns a number as a double, whose digits are bounded.
fn rounded(value: &BigRational) -> BigRational {
    BigRational::from_float(to_f64(value)).unwrap_or_else(|| value.clone())
}

/// Returns the slopes of the monotone cubic interpolation: weighted harmonic means of the secants, zero at extrema (Fritsch and Butland,
/// SIAM J. Sci. Stat. Comput. 5, 1984), and three-point formulas at the ends.
fn monotone_slopes(at: &[BigRational], values: &[BigRational]) -> Vec<BigRational> {
    let widths: Vec<BigRational> = at.windows(2).map(|pair| &pair[1] - &pair[0]).collect();
    let rises = values.windows(2).map(|pair| &pair[1] - &pair[0]);
    let secants: Vec<BigRational> = rises.zip(&widths).map(|(rise, width)| rise / width).collect();
    if let [only] = &secants[..] {
        return vec![only.clone(), only.clone()];
    }
    let two = BigRational::from_integer(2.into());
    let three = BigRational::from_integer(3.into());
    let end = |near: usize, far: usize| {
        let (h, g) = (&widths[near], &widths[far]);
        let (m, n) = (&secants[near], &secants[far]);
        let slope = ((&two * h + g) * m - h * n) / (h + g);
        match () {
            _ if slope.signum() != m.signum() => BigRational::zero(),
            _ if m.signum() != n.signum() && slope.abs() > &three * m.abs() => &three * m,
            _ => slope,
        }
    };
    let count = secants.len();
    let mut slopes = vec![end(0, 1)];
    for k in 1..count {
        let (m, n) = (&secants[k - 1], &secants[k]);
        slopes.push(match (m * n).is_positive() {
            false => BigRational::zero(),
            true => {
                let (before, after) = (&two * &widths[k] + &widths[k - 1], &widths[k] + &two * &widths[k - 1]);
                (&before + &after) / (before / m + after / n)
            }
        });
    }
    slopes.push(end(count - 1, count - 2));
    slopes.iter().map(rounded).collect()
}
