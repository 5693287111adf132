//! Trajectories as tables: CSV, JSON and Parquet, written row by row during the run.

#[cfg(feature = "parquet")]
use super::parquet_rows::ParquetWriter;
use super::{shortest, write_compact};
pub use crate::columns::{Column, Field};
use lgm_algebra::expr::Node;
use lgm_model::SiUnit;
use lgm_model::system::{Quantity, StateSystem};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::io::{self, Write};

/// The columns of a trajectory after `time`: the outputs, then the states.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The columns of all outputs.
    pub outputs: Vec<Quantity>,
    /// The columns of the states with the state of each. A state and an equal output of the same name share one column. If an
    /// output of the same name is a different quantity, the column is named `NAME (state)`.
    pub states: Vec<(usize, Quantity)>,
}

impl Columns {
    /// Returns the columns of a system.
    pub fn of(system: &StateSystem) -> Columns {
        let places: FxHashMap<&str, usize> = system
            .outputs
            .iter()
            .enumerate()
            .map(|(at, output)| (&*output.name, at))
            .collect();
        let states = system.states.iter().enumerate().filter_map(|(at, state)| {
            let name = match places.get(&*state.name) {
                Some(&output) => match system.exprs.node(system.equations.output_values[output]) {
                    Node::Symbol(symbol) if *symbol == state.symbol => return None,
                    _ => format!("{} (state)", state.name).into(),
                },
                None => state.name.clone(),
            };
            let unit = state.unit.clone();
            let span = state.span;
            Some((at, Quantity { name, unit, span }))
        });
        Columns {
            outputs: system.outputs.clone(),
            states: states.collect(),
        }
    }

    /// Returns the columns of a table: the time, the outputs, the states.
    pub fn table(&self) -> Vec<Column> {
        let column = |quantity: &Quantity, kind| Column {
            name: quantity.name.to_string(),
            unit: quantity.unit.clone(),
            kind,
        };
        let mut list = vec![Column {
            name: "time".to_string(),
            unit: Some(SiUnit::second()),
            kind: "time",
        }];
        list.extend(self.outputs.iter().map(|output| column(output, "output")));
        list.extend(self.states.iter().map(|entry| column(&entry.1, "state")));
        list
    }
}

/// The format of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values: one header line with the column names, and one line per row.
    #[default]
    Csv,
    /// `{"schema": "lgm-simulation/1", "model": .., "columns": [{"name", "unit", "kind"}], "rows": [[..], ..], "status":
    /// ..}`; unknown units and non-finite numbers are null. The status is `complete`, `interrupted` or
    /// `failed`.
    Json,
    /// Parquet, in groups of rows; the file metadata contain the model, the columns with their units, and the status.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Writes a table row by row. CSV and JSON keep no rows in memory, and Parquet keeps the rows of one group.
#[derive(Debug)]
pub struct TableWriter {
    form: Form,
    rows: u64,
}

#[derive(Debug)]
enum Form {
    Csv,
    Json,
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter>),
}

/// Writes the list of columns as JSON, one column per line.
fn write_columns(out: &mut dyn Write, columns: &[Column]) -> io::Result<()> {
    #[derive(Serialize)]
    struct Described<'a> {
        name: &'a str,
        unit: Option<&'a str>,
        kind: &'static str,
    }
    out.write_all(b"[")?;
    for (at, column) in columns.iter().enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        let described = Described {
            name: &column.name,
            unit: column.unit.as_deref(),
            kind: column.kind,
        };
        write_compact(out, &described)?;
    }
    out.write_all(b"]")
}

impl TableWriter {
    /// Writes the header before the rows.
    pub fn begin(format: TableFormat, model: &str, columns: &[Column], out: &mut dyn Write) -> io::Result<TableWriter> {
        let form = match format {
            TableFormat::Csv => {
                let names: Vec<String> = columns.iter().map(|column| csv_field(&column.name)).collect();
                writeln!(out, "{}", names.join(","))?;
                Form::Csv
            }
            TableFormat::Json => {
                write!(out, "{{\"schema\":\"lgm-simulation/1\",\"model\":")?;
                write_compact(out, model)?;
                write!(out, ",\n\"columns\":")?;
                write_columns(out, columns)?;
                write!(out, ",\n\"rows\":[")?;
                Form::Json
            }
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => {
                let mut described = Vec::new();
                write_columns(&mut described, columns)?;
                let described = String::from_utf8_lossy(&described).into_owned();
                Form::Parquet(Box::new(ParquetWriter::begin(model, columns, described, out)?))
            }
        };
        Ok(TableWriter { form, rows: 0 })
    }

    /// Writes one row.
    pub fn row<'t>(&mut self, fields: impl Iterator<Item = Field<'t>>, out: &mut dyn Write) -> io::Result<()> {
        self.rows += 1;
        let fields = fields.map(without_sign_of_zero);
        let is_csv = match &mut self.form {
            Form::Csv => true,
            Form::Json => false,
            #[cfg(feature = "parquet")]
            Form::Parquet(writer) => return writer.row(fields, out),
        };
        match (is_csv, self.rows) {
            (true, _) => {}
            (false, 1) => out.write_all(b"\n[")?,
            (false, _) => out.write_all(b",\n[")?,
        }
        for (at, field) in fields.enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            match (field, is_csv) {
                (Field::Number(number), true) => out.write_all(csv_number(number).as_bytes())?,
                (Field::Text(text), true) => out.write_all(csv_field(text).as_bytes())?,
                (Field::Empty, true) => {}
                (field, false) => write_compact(out, &field)?,
            }
        }
        out.write_all(if is_csv { b"\n" } else { b"]" })
    }

    /// Writes the footer after the rows.
    pub fn end(self, status: &str, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            Form::Csv => Ok(()),
            Form::Json => writeln!(out, "],\n\"status\":\"{status}\"}}"),
            #[cfg(feature = "parquet")]
            Form::Parquet(writer) => writer.end(status, out),
        }
    }
}

/// Prints text as a CSV field, quoted if necessary.
pub(crate) fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// Removes the sign of zero.
fn without_sign_of_zero(field: Field<'_>) -> Field<'_> {
    match field {
        Field::Number(number) => Field::Number(number + 0.0),
        other => other,
    }
}

fn csv_number(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_string(),
        value if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_string(),
        value => shortest(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_as_they_were() {
        for value in [0.1, 1.0 / 3.0, 1e-300, -2.5, 123_456_789.123_456_78, 5e-324] {
            assert_eq!(csv_number(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(csv_number(f64::NAN), "NaN");
        assert_eq!(csv_number(2.0), "2");
    }

    #[test]
    fn fields_with_commas_are_quoted() {
        assert_eq!(csv_field("K[1, 2]"), "\"K[1, 2]\"");
        assert_eq!(csv_field("a\"b"), "\"a\"\"b\"");
        assert_eq!(csv_field("mass.v"), "mass.v");
    }
}
