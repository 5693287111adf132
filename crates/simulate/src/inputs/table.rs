//! Measured signals: a column of a CSV table, held or linearly interpolated between rows.
//!
//! The first line names the columns; if it contains only numbers, columns are numbered from 1. The time in seconds is
//! the column `time`, otherwise `t`, otherwise the first one. Fields are separated by commas, or by semicolons or tabs
//! if the first line has no comma. Outside its range a table holds its end values.

use crate::inputs::signals::Side;
use lgm_source::codes::Code;
use lgm_source::csv::{Field, Records};
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_source::{SourceId, SourceMap, Span};
use std::ops::Range;

/// A column over time, with at least one row; times ascend.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    times: Vec<f64>,
    values: Vec<f64>,
    held: bool,
}

impl Table {
    /// Creates a table from equal numbers of times and values; `held` values last until the next row.
    pub fn new(times: Vec<f64>, values: Vec<f64>, held: bool) -> Table {
        debug_assert!(!times.is_empty() && times.len() == values.len());
        Table { times, values, held }
    }

    /// Returns the first and the last time.
    pub fn range(&self) -> (f64, f64) {
        (self.times[0], self.times[self.times.len() - 1])
    }

    /// Returns the table with all values converted.
    pub fn converted(mut self, convert: impl Fn(f64) -> f64) -> Table {
        for value in &mut self.values {
            *value = convert(*value);
        }
        self
    }

    /// Returns the value and the rate at a time, on one side of it.
    pub fn at(&self, time: f64, side: Side) -> (f64, f64) {
        // The number of rows before the time; a row exactly at this time belongs to the later side.
        let after = match side {
            Side::Before => self.times.partition_point(|known| *known < time),
            Side::After => self.times.partition_point(|known| *known <= time),
        };
        let Some(row) = after.checked_sub(1) else {
            return (self.values[0], 0.0);
        };
        let value = self.values[row];
        if self.held || row + 1 == self.times.len() {
            return (value, 0.0);
        }
        let (from, to) = (self.times[row], self.times[row + 1]);
        let slope = (self.values[row + 1] - value) / (to - from);
        // Exact at the next row, so that a run from the left reaches its value.
        if time == to {
            return (self.values[row + 1], slope);
        }
        (value + slope * (time - from), slope)
    }

    /// Returns the times between two times, both included, at which the value or its slope changes.
    pub fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let first = self.times.partition_point(|known| *known < from);
        let last = self.times.partition_point(|known| *known <= to);
        let times = self.times[first..last].iter().copied();
        times
            .filter(|time| self.at(*time, Side::Before) != self.at(*time, Side::After))
            .collect()
    }
}

/// The text of `--input u=FILE:COLUMN` after the `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReference {
    /// The file.
    pub path: String,
    /// The column and its location in the text; none if only a file is named.
    pub column: Option<(String, Range<usize>)>,
    /// True if a value is held until the next row.
    pub held: bool,
    /// The location of a word after the comma that is neither `held` nor `linear`.
    pub unknown: Option<Range<usize>>,
}

/// Parses a reference to a table, `FILE.csv:COLUMN`, `FILE.csv:COLUMN,held`; returns `None` for other text.
pub fn table_reference(text: &str) -> Option<TableReference> {
    const ENDINGS: [&str; 3] = [".csv", ".tsv", ".txt"];
    let folded = text.to_ascii_lowercase();
    let end = ENDINGS
        .iter()
        .filter_map(|ending| {
            let at = folded.rfind(ending)? + ending.len();
            let rest = folded[at..].trim_end();
            (rest.is_empty() || rest.starts_with([':', ','])).then_some(at)
        })
        .max()?;
    let path = text[..end].trim().trim_matches('"').to_string();
    let mut reference = TableReference {
        path,
        column: None,
        held: false,
        unknown: None,
    };
    let mut stop = text.trim_end().len();
    if let Some(comma) = text[end..stop].rfind(',').map(|at| end + at) {
        match text[comma + 1..stop].trim() {
            "held" => (reference.held, stop) = (true, comma),
            "linear" => stop = comma,
            // A comma may belong to the name of a column, but a bare word after it does not.
            _ if text[end..comma].trim().is_empty() => reference.unknown = Some(comma + 1..stop),
            word if word.chars().all(|letter| letter.is_ascii_alphabetic()) => {
                reference.unknown = Some(comma + 1..stop);
                stop = comma;
            }
            _ => {}
        }
    }
    if let Some(rest) = text[end..stop].strip_prefix(':') {
        let column = rest.trim();
        if !column.is_empty() {
            let start = end + 1 + (rest.len() - rest.trim_start().len());
            reference.column = Some((column.to_string(), start..start + column.len()));
        }
    }
    Some(reference)
}

/// Reports an error in the contents of a table, at a location in it.
fn fault(source: SourceId, place: Range<usize>, message: String, label: &str, option: Span) -> Diagnostic {
    Diagnostic::error(Code::LGM0911, message)
        .label(Span::new(source, place.start, place.end), label.to_string())
        .label(option, "requested here")
}

/// Reads one column of a table; `option` is the location of the request, `column` its name or its number from 1.
pub fn read_table(
    map: &SourceMap,
    source: SourceId,
    column: &str,
    held: bool,
    option: Span,
) -> Result<Table, Diagnostic> {
    let text = &map.get(source).text;
    let name = &map.get(source).name;
    let mut records = Records::new(text);
    let Some(first) = records.next() else {
        return Err(Diagnostic::error(Code::LGM0911, format!("`{name}` is empty")).label(option, "requested here"));
    };
    let is_number = |field: &Field| field.text.parse::<f64>().is_ok();
    let has_names = !first.iter().all(is_number);
    let place_of = |wanted: &str| {
        let named = first.iter().position(|field| has_names && field.text == wanted);
        let numbered = || {
            let number: usize = wanted.parse().ok()?;
            (1..=first.len()).contains(&number).then(|| number - 1)
        };
        named.or_else(numbered)
    };
    let Some(value_at) = place_of(column) else {
        let mut diagnostic = Diagnostic::error(Code::LGM0922, format!("`{name}` has no column `{column}`"))
            .label(option, "no item has this name");
        diagnostic.help = if has_names {
            let names = first.iter().map(|field| &*field.text);
            did_you_mean(column, names).or_else(|| Some(format!("it has {} columns", first.len())))
        } else {
            Some(format!(
                "its first line names no columns; write a number from 1 to {}",
                first.len()
            ))
        };
        return Err(diagnostic);
    };
    let named = |wanted: &str| {
        let mut fields = first.iter();
        fields.position(|field| has_names && field.text.eq_ignore_ascii_case(wanted))
    };
    let named_time = named("time").or_else(|| named("t"));
    let time_at = named_time.unwrap_or(0);
    if named_time.is_none() && value_at == time_at {
        let message = format!("`{name}` has no time column next to `{column}`");
        return Err(Diagnostic::error(Code::LGM0911, message)
            .label(option, "requested here")
            .help("times are read from the column `time`, else `t`, else the first column"));
    }
    for at in [time_at, value_at].into_iter().filter(|_| has_names) {
        units_are_known(source, &first[at], at == time_at, option)?;
    }
    let (mut times, mut values) = (Vec::new(), Vec::new());
    let mut last_time: Option<Range<usize>> = None;
    let rows = (!has_names).then_some(first).into_iter().chain(records);
    for row in rows {
        let (time, time_place) = number(source, &row, time_at, "time", option)?;
        let (value, _) = number(source, &row, value_at, column, option)?;
        if let (Some(before), Some(place)) = (times.last(), &last_time)
            && time <= *before
        {
            let words = if time == *before { "is repeated" } else { "goes back" };
            return Err(fault(
                source,
                time_place,
                format!("the time of `{name}` {words}"),
                &format!("not after {before}"),
                option,
            )
            .label(Span::new(source, place.start, place.end), "the previous row")
            .help("times must increase; for a signal that steps, append `,held` to the column"));
        }
        times.push(time);
        values.push(value);
        last_time = Some(time_place);
    }
    if times.is_empty() {
        return Err(Diagnostic::error(Code::LGM0911, format!("`{name}` has no rows")).label(option, "requested here"));
    }
    Ok(Table::new(times, values, held))
}

/// Rejects a unit in the name of a column: times are in seconds, and values in the unit of their variable.
fn units_are_known(source: SourceId, name: &Field, is_time: bool, option: Span) -> Result<(), Diagnostic> {
    let Some((_, unit)) = name.text.split_once('[') else {
        return Ok(());
    };
    if is_time && unit.trim_end().trim_end_matches(']').trim() == "s" {
        return Ok(());
    }
    let (what, help) = match is_time {
        true => (
            "times are in seconds",
            "write the times in seconds, and `time` above them",
        ),
        false => (
            "values are in the unit of the input",
            "write the values in the unit given after the input name, under a header without a unit",
        ),
    };
    let message = format!("the unit in `{}` is not valid: {what}", name.text);
    Err(Diagnostic::error(Code::LGM0911, message)
        .label(option, "requested here")
        .label(Span::new(source, name.place.start, name.place.end), "this column")
        .help(help))
}

/// Reads a table whose columns are parameters: their names with locations, and the rows.
#[allow(clippy::type_complexity)]
pub fn read_samples(map: &SourceMap, source: SourceId) -> Result<(Vec<(String, Span)>, Vec<Vec<f64>>), Diagnostic> {
    let text = &map.get(source).text;
    let name = &map.get(source).name;
    let mut records = Records::new(text);
    let place = |field: &Field| Span::new(source, field.place.start, field.place.end);
    let whole = Span::new(source, 0, text.lines().next().unwrap_or("").len());
    let Some(first) = records.next() else {
        return Err(Diagnostic::error(Code::LGM0911, format!("`{name}` is empty"))
            .help("its first line names parameters, and each further line is one run"));
    };
    if let Some(number) = first.iter().find(|field| field.text.parse::<f64>().is_ok()) {
        return Err(
            Diagnostic::error(Code::LGM0911, format!("the first line of `{name}` names no parameters"))
                .label(place(number), "a number, but a name is required")
                .help("its first line names parameters, and each further line is one run"),
        );
    }
    let mut rows = Vec::new();
    for row in records {
        let numbers = first.iter().enumerate();
        let numbers = numbers.map(|(at, field)| Ok(number(source, &row, at, &field.text, whole)?.0));
        rows.push(numbers.collect::<Result<Vec<f64>, Diagnostic>>()?);
    }
    if rows.is_empty() {
        return Err(Diagnostic::error(Code::LGM0911, format!("`{name}` has no rows"))
            .label(whole, "no rows follow this line")
            .help("each line after the first is one run"));
    }
    let columns = first.iter().map(|field| (field.text.clone(), place(field)));
    Ok((columns.collect(), rows))
}

/// Parses the number in a field, with its location.
fn number(
    source: SourceId,
    row: &[Field],
    at: usize,
    column: &str,
    option: Span,
) -> Result<(f64, Range<usize>), Diagnostic> {
    let Some(field) = row.get(at) else {
        let place = row.first().map_or(0, |field| field.place.start)..row.last().map_or(0, |field| field.place.end);
        let message = format!("a row has no `{column}`");
        let label = format!("{} fields, but column {} is requested", row.len(), at + 1);
        return Err(fault(source, place, message, &label, option).help("fill the gap or delete the row"));
    };
    let place = field.place.clone();
    match field.text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number, place)),
        Ok(_) => Err(fault(
            source,
            place,
            format!("a value of `{column}` is not a finite number"),
            "this has no value",
            option,
        )
        .help("delete the row, or put a number there")),
        Err(_) if field.text.trim().is_empty() => {
            // An empty field has no width to point at, so its row is shown.
            let whole = row.first().map_or(0, |field| field.place.start)..row.last().map_or(0, |field| field.place.end);
            Err(fault(
                source,
                whole,
                format!("there is a gap in `{column}`"),
                &format!("field {} is empty", at + 1),
                option,
            )
            .help("delete the row, or put a number there"))
        }
        Err(_) => Err(fault(
            source,
            place,
            format!("a value of `{column}` is not a number"),
            "a number is required here",
            option,
        )
        .help("numbers use a decimal point, as in 1.5e-3")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, column: &str, held: bool) -> Result<Table, Diagnostic> {
        let mut map = SourceMap::default();
        let source = map.add("t.csv", text, None);
        read_table(&map, source, column, held, Span::new(source, 0, 0))
    }

    #[test]
    fn lines_are_drawn_and_values_held() {
        let text = "\u{feff}t, \"a, b\" ,c\r\n0,1,5\r\n1,3,5\n\n2,3,7\n";
        let table = read(text, "a, b", false).unwrap();
        assert_eq!(table.at(0.5, Side::After), (2.0, 2.0));
        assert_eq!(table.at(1.0, Side::Before), (3.0, 2.0));
        assert_eq!(table.at(1.0, Side::After), (3.0, 0.0));
        assert_eq!(table.at(-1.0, Side::After), (1.0, 0.0));
        assert_eq!(table.at(9.0, Side::After), (3.0, 0.0));
        assert_eq!(table.corners(0.0, 5.0), [0.0, 1.0]);
        let table = read(text, "c", true).unwrap();
        assert_eq!(table.at(2.0, Side::Before), (5.0, 0.0));
        assert_eq!(table.at(2.0, Side::After), (7.0, 0.0));
        assert_eq!(table.corners(0.0, 5.0), [2.0]);
        assert_eq!(read("0;1\n1;2\n", "2", false).unwrap().range(), (0.0, 1.0));
    }

    #[test]
    fn faults_are_reported() {
        let code = |text, column| read(text, column, false).unwrap_err().code;
        assert_eq!(code("t,a\n0,1\n", "b"), Code::LGM0922);
        assert_eq!(code("0,1\n", "a"), Code::LGM0922);
        // Values are not times.
        assert_eq!(code("a\n0\n1\n", "a"), Code::LGM0911);
        assert_eq!(read("t\n0\n1\n", "t", false).unwrap().range(), (0.0, 1.0));
        for text in [
            "",
            "t,a\n",
            "t,a\n0,\n",
            "t,a\n0\n",
            "t,a\n0,x\n",
            "t,a\n0,nan\n",
            "t,a\n0,inf\n",
            "t,a\n0,1\n0,2\n",
            "t,a\n1,1\n0,2\n",
        ] {
            let found = read(text, "a", false).unwrap_err();
            assert_eq!(found.code, Code::LGM0911, "{text:?}: {found:?}");
        }
    }

    #[test]
    fn references_are_distinguished_from_expressions() {
        let read = |text| table_reference(text).map(|found| (found.path, found.column.map(|at| at.0), found.held));
        let some = |path: &str, column: &str, held| Some((path.to_string(), Some(column.to_string()), held));
        assert_eq!(read("file.csv:F"), some("file.csv", "F", false));
        assert_eq!(read(" a/b.CSV: mass.v ,held "), some("a/b.CSV", "mass.v", true));
        assert_eq!(read("C:\\x.csv:2,linear"), some("C:\\x.csv", "2", false));
        assert_eq!(read("x.csv:K[1, 2]"), some("x.csv", "K[1, 2]", false));
        assert_eq!(read("x.csv"), Some(("x.csv".to_string(), None, false)));
        assert_eq!(read("2*step(0)"), None);
        assert_eq!(read("sum(i in 1:3, sin(i*time))"), None);
        assert!(table_reference("x.csv:F,hold").unwrap().unknown.is_some());
    }
}
