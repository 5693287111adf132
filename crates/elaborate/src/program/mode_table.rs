//! The text of a table of modes: named columns, a row of numbers for each mode, and its errors by itself.

use crate::function_table::{CSV, TABLE};
use crate::literals::{Text, decimal};
use crate::syntax_queries::argument;
use crate::units::unit_meaning;
use lgm_algebra::expr::to_f64;
use lgm_algebra::units::{Dimension, Unit};
use lgm_source::codes::Code;
use lgm_source::csv::{Field, Records};
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{Argument, Expr, ExprKind, Instance, UnitExpr};
use lgm_syntax::parse_expression;
use num_rational::BigRational;
use rustc_hash::FxHashSet;

/// The maximum number of reported errors per table; any other file would cause thousands.
const MOST_FAULTS: usize = 10;

/// Positions within this relative distance are equal, because they may have been computed.
const SAME_POSITION: f64 = 1e-12;

/// A table of modes: a name for each column, and a number in every field.
#[derive(Clone, Debug)]
pub(crate) struct ModeTable {
    source: SourceId,
    /// The name shown in diagnostics.
    pub title: String,
    pub columns: Vec<Column>,
    /// The whole heading.
    pub heading: Span,
    /// The location of each number, row by row. The numbers are read exactly at their uses.
    places: Vec<(u32, u32)>,
}

/// The heading of a column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub name: Text,
    pub span: Span,
    pub unit: Option<Unit>,
    /// The position for a function of the position, or of the column itself if it has no name; empty for a value of the mode.
    pub at: Vec<Coordinate>,
}

#[derive(Clone, Debug)]
pub(crate) struct Coordinate {
    /// The value in SI units.
    pub value: BigRational,
    pub dimension: Option<Dimension>,
}

/// The contents of `modes = table(..)`: the whole call, the path, and the number of modes.
pub(crate) struct TableUse<'a> {
    pub call: &'a Expr,
    pub path: Option<(&'a Text, Span)>,
    pub arguments: &'a [Argument],
}

/// Returns the mode table of an instance; `None` if it has no `modes = table(..)`.
pub(crate) fn table_use(instance: &Instance) -> Option<TableUse<'_>> {
    let call = argument(instance, "modes")?;
    let ExprKind::Call(name, arguments) = &call.kind else {
        return None;
    };
    if &*name.text != TABLE {
        return None;
    }
    let path = match arguments.first().map(|argument| (&argument.name, &argument.value)) {
        Some((None, value)) => match &value.kind {
            ExprKind::Text(path) => Some((path, value.span)),
            _ => None,
        },
        _ => None,
    };
    Some(TableUse { call, path, arguments })
}

/// The contents of `csv("file.csv", "column")`, each with its location.
pub(crate) struct CsvUse<'a> {
    pub path: Option<(&'a Text, Span)>,
    pub column: Option<(&'a Text, Span)>,
    /// True if there are other arguments.
    pub is_malformed: bool,
}

/// Returns the file of a table or of the signal of an input; `None` for other values.
pub(crate) fn csv_use(value: &Expr) -> Option<CsvUse<'_>> {
    match &value.kind {
        ExprKind::Call(name, arguments) if &*name.text == CSV => Some(csv_call(arguments)),
        _ => None,
    }
}

/// Returns the file in the arguments of `csv(..)`.
pub(crate) fn csv_call(arguments: &[Argument]) -> CsvUse<'_> {
    let text = |at: usize| match arguments.get(at).map(|argument| &argument.value) {
        Some(Expr {
            kind: ExprKind::Text(text),
            span,
        }) => Some((text, *span)),
        _ => None,
    };
    let (path, column) = (text(0), text(1));
    let given = usize::from(path.is_some()) + usize::from(column.is_some());
    CsvUse {
        path,
        column,
        is_malformed: path.is_none() || given != arguments.len(),
    }
}

fn fault(span: Span, message: String, label: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0447, message).label(span, label.to_string())
}

impl ModeTable {
    /// Reads a loaded text; `used` is the location of the use. The table is complete if there are no errors.
    pub fn read(map: &SourceMap, source: SourceId, used: Span) -> Result<ModeTable, Vec<Diagnostic>> {
        let text = &map.get(source).text;
        let title = map.get(source).name.clone();
        let mut records = Records::new(text);
        let Some(first) = records.next() else {
            let diagnostic = fault(used, format!("the table `{title}` is empty"), "requested here");
            return Err(vec![diagnostic.help(HEADING_HELP)]);
        };
        let mut faults = Vec::new();
        let heading = span_of_row(source, &first);
        let mut columns: Vec<Column> = Vec::with_capacity(first.len());
        let mut known: FxHashSet<String> = FxHashSet::default();
        for field in &first {
            // The first column of a table of two arguments has a name, the others have positions.
            let position = match columns.is_empty() {
                true => None,
                false => position_of(source, field),
            };
            match position.unwrap_or_else(|| column_of(source, text, field, heading)) {
                Ok(column) => {
                    if !known.insert(column.title()) {
                        let message = format!("the table `{title}` has two columns `{}`", column.title());
                        faults.push(
                            fault(column.span, message, "named again here").help("rename or delete one of the two"),
                        );
                    }
                    columns.push(column);
                }
                Err(diagnostic) => faults.push(diagnostic),
            }
            if faults.len() >= MOST_FAULTS {
                return Err(faults);
            }
        }
        let mut places = Vec::new();
        for row in records {
            let whole = span_of_row(source, &row);
            if row.len() != first.len() {
                let message = format!("a row of `{title}` has {} of {} fields", row.len(), first.len());
                faults.push(
                    fault(whole, message, "this row")
                        .label(heading, format!("{} columns are named here", first.len()))
                        .help("give every mode a number in every column"),
                );
            } else {
                for (field, name) in row.iter().zip(&first) {
                    match number_fault(source, field, &name.text, whole) {
                        None => places.push((field.place.start as u32, field.place.end as u32)),
                        Some(diagnostic) => faults.push(diagnostic),
                    }
                }
            }
            if faults.len() >= MOST_FAULTS {
                break;
            }
        }
        if places.is_empty() && faults.is_empty() {
            faults.push(
                fault(
                    heading,
                    format!("the table `{title}` has no modes"),
                    "no rows follow this line",
                )
                .help("write a row for each mode"),
            );
        }
        match faults.is_empty() {
            true => Ok(ModeTable {
                source,
                title,
                columns,
                heading,
                places,
            }),
            false => Err(faults),
        }
    }

    /// Returns the number of modes.
    pub fn rows(&self) -> usize {
        self.places.len() / self.columns.len()
    }

    fn span(&self, row: usize, column: usize) -> Span {
        let (start, end) = self.places[row * self.columns.len() + column];
        Span::new(self.source, start as usize, end as usize)
    }

    /// Returns the location of a row.
    pub fn row_span(&self, row: usize) -> Span {
        self.span(row, 0).to(self.span(row, self.columns.len() - 1))
    }

    /// Returns a number in SI units.
    pub fn number(&self, map: &SourceMap, row: usize, column: usize) -> BigRational {
        let words = map.slice(self.span(row, column));
        let number = exact(words).expect("invariant: every field was read when the table was loaded");
        match &self.columns[column].unit {
            Some(unit) => unit.to_si(&number),
            None => number,
        }
    }

    /// Returns the column of a parameter.
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.at.is_empty() && &*column.name == name)
    }

    /// Returns true if a column contains a parameter.
    pub fn gives(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// Returns the column of a function at a position.
    pub fn function(&self, name: &str, at: &[f64]) -> Option<usize> {
        self.columns.iter().position(|column| {
            &*column.name == name
                && column.at.len() == at.len()
                && column.at.iter().zip(at).all(|(known, wanted)| {
                    let known = to_f64(&known.value);
                    (known - wanted).abs() <= SAME_POSITION * known.abs().max(wanted.abs())
                })
        })
    }
}

impl Column {
    /// Returns true if the heading is only a position.
    pub fn is_position(&self) -> bool {
        self.name.is_empty() && self.at.len() == 1
    }

    /// Returns the heading of the column as written, with coordinates in SI units.
    pub fn title(&self) -> String {
        if self.at.is_empty() {
            return self.name.to_string();
        }
        let at: Vec<String> = self.at.iter().map(|entry| to_f64(&entry.value).to_string()).collect();
        format!("{}({})", self.name, at.join(", "))
    }
}

const HEADING_HELP: &str = "use parameters of the block and positions as column names in the first line: `frequency \
    [Hz], zeta, shape(0.4)`";

fn span_of_row(source: SourceId, row: &[Field]) -> Span {
    let start = row.first().map_or(0, |field| field.place.start);
    let end = row.last().map_or(start, |field| field.place.end);
    Span::new(source, start, end)
}

/// Returns the exact value of a decimal number in a table.
fn exact(words: &str) -> Option<BigRational> {
    let words = words.trim().trim_matches('"').trim();
    match words.strip_prefix('-') {
        Some(rest) => decimal(rest).map(|number| -number),
        None => decimal(words.strip_prefix('+').unwrap_or(words)),
    }
}

/// Returns the error of a field that should contain a number.
fn number_fault(source: SourceId, field: &Field, column: &str, row: Span) -> Option<Diagnostic> {
    let span = Span::new(source, field.place.start, field.place.end);
    let words = field.text.trim();
    match words.parse::<f64>() {
        Ok(number) if number.is_finite() && exact(words).is_some() => None,
        Ok(_) => Some(
            fault(
                span,
                format!("a value of `{column}` is not a finite number"),
                "this has no value",
            )
            .help("put a number there, or delete the row"),
        ),
        // An empty field has no width to point at, so its row is shown.
        Err(_) if words.is_empty() => Some(
            fault(row, format!("there is a gap in the column `{column}`"), "in this row")
                .help("put a number there, or delete the row"),
        ),
        Err(_) => Some(
            fault(
                span,
                format!("a value of `{column}` is not a number"),
                "a number is required here",
            )
            .help("use a decimal point in numbers, such as 1.5e-3; write units after the column name"),
        ),
    }
}

/// Reads a heading that is a number, with or without a unit; `None` for other headings.
fn position_of(source: SourceId, field: &Field) -> Option<Result<Column, Diagnostic>> {
    let span = Span::new(source, field.place.start, field.place.end);
    let found = coordinate(source, &field.text, field.place.start)?;
    Some(found.map(|at| Column {
        name: "".into(),
        span,
        unit: None,
        at: vec![at],
    }))
}

/// Reads the heading of a column.
fn column_of(source: SourceId, text: &str, field: &Field, heading: Span) -> Result<Column, Diagnostic> {
    let quoted = text[field.place.clone()].starts_with('"');
    let start = field.place.start + usize::from(quoted);
    let span = Span::new(source, field.place.start, field.place.end);
    let refused = || match field.text.trim().is_empty() {
        true => fault(heading, "a column has no name".to_string(), "in this line").help(HEADING_HELP),
        false => fault(span, "this names no column".to_string(), "a name is required here").help(HEADING_HELP),
    };
    let words = field.text.as_str();
    let (words, unit) = match words.trim_end().strip_suffix(']').and_then(|rest| rest.rfind('[')) {
        Some(open) => {
            let unit = &words[open..words.trim_end().len()];
            (
                &words[..open],
                Some(unit_of(source, unit, start + open).ok_or_else(refused)?),
            )
        }
        None => (words, None),
    };
    let words = words.trim();
    let (name, at) = match words.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        Some((name, list)) => {
            let from = start + field.text.find('(').map_or(0, |open| open + 1);
            let mut at = Vec::new();
            let mut offset = from;
            for part in list.split(',') {
                at.push(coordinate(source, part, offset).ok_or_else(refused)??);
                offset += part.len() + 1;
            }
            (name.trim_end(), at)
        }
        None => (words, Vec::new()),
    };
    let mut letters = name.chars();
    let is_name = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_name {
        return Err(refused());
    }
    let unit = unit.map(|unit| unit_meaning(&unit)).transpose()?;
    Ok(Column {
        name: name.into(),
        span,
        unit,
        at,
    })
}

/// Returns a unit in brackets; `offset` is its location in the text.
fn unit_of(source: SourceId, words: &str, offset: usize) -> Option<UnitExpr> {
    // A unit binds to a literal, so the number 1 is written before it.
    let (expr, faults) = parse_expression(source, &format!("1{words}"));
    match expr.kind {
        ExprKind::Number(_, Some(unit)) if faults.is_empty() => Some(moved(unit, offset as u32, 1)),
        _ => None,
    }
}

/// Returns the unit with its locations shifted.
fn moved(mut unit: UnitExpr, forward: u32, back: u32) -> UnitExpr {
    let shift = |span: &mut Span| {
        span.start = (span.start + forward).saturating_sub(back);
        span.end = (span.end + forward).saturating_sub(back);
    };
    shift(&mut unit.span);
    unit.factors.iter_mut().for_each(|factor| shift(&mut factor.name.span));
    unit
}

/// Returns a coordinate in a heading, `0.4` or `400 [mm]`: none if it is not a number, `Err` if its unit is invalid.
fn coordinate(source: SourceId, words: &str, offset: usize) -> Option<Result<Coordinate, Diagnostic>> {
    let (expr, faults) = parse_expression(source, words);
    if !faults.is_empty() {
        return None;
    }
    let (number, negative) = match expr.kind {
        ExprKind::Negate(inner) => (inner.kind, true),
        kind => (kind, false),
    };
    let ExprKind::Number(text, unit) = number else {
        return None;
    };
    let value = decimal(&text)?;
    let value = if negative { -value } else { value };
    let Some(unit) = unit else {
        return Some(Ok(Coordinate { value, dimension: None }));
    };
    Some(unit_meaning(&moved(unit, offset as u32, 0)).map(|unit| Coordinate {
        value: unit.to_si(&value),
        dimension: Some(unit.dimension),
    }))
}
