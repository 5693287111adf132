//! Trajectories as Parquet: samples are gathered into groups, and a full group is written immediately.
//!
//! Columns contain doubles, except for the run number (64-bit integers) and text (UTF-8). Nothing is compressed, and
//! every number is exactly the computed double. The file metadata describes the table under the names of
//! the JSON form: `schema`, `model`, `columns` (the JSON text of a list of names, units and kinds) and `status`;
//! in addition, `unit:NAME` for every column with a unit.

use super::columns::{Column, Field};
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// The approximate number of fields kept in memory before writing.
const FIELDS: usize = 1 << 20;

/// The maximum number of rows in a group, even with few columns.
const MOST_ROWS: usize = 1 << 17;

/// The unwritten fields of one column.
#[derive(Debug)]
struct Gathered<T> {
    values: Vec<T>,
    /// For each row, 1 if a value exists and 0 otherwise; none if every row has a value.
    levels: Option<Vec<i16>>,
}

#[derive(Debug)]
enum Fields {
    Numbers(Gathered<f64>),
    Integers(Gathered<i64>),
    Words(Gathered<ByteArray>),
}

impl<T> Gathered<T> {
    fn new(may_be_empty: bool) -> Gathered<T> {
        Gathered {
            values: Vec::new(),
            levels: may_be_empty.then(Vec::new),
        }
    }

    fn push(&mut self, value: Option<T>) {
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(value.is_some()));
        }
        self.values.extend(value);
    }

    fn write<D: DataType<T = T>, W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let mut column = group
            .next_column()?
            .ok_or_else(|| ParquetError::General("there are more fields than columns".to_string()))?;
        column
            .typed::<D>()
            .write_batch(&self.values, self.levels.as_deref(), None)?;
        column.close()?;
        self.values.clear();
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        Ok(())
    }
}

/// Writes a Parquet file to a stream, group by group.
pub(super) struct ParquetWriter {
    /// Writes to memory, from which each finished group is copied to the stream.
    writer: SerializedFileWriter<Vec<u8>>,
    fields: Vec<Fields>,
    rows: usize,
    rows_of_group: usize,
}

impl std::fmt::Debug for ParquetWriter {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("ParquetWriter")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

fn as_io(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}

/// Returns the storage and the type of a column in the file.
fn field_of(column: &Column) -> Result<(Fields, TypePtr)> {
    let (fields, physical, repetition) = match column.kind {
        "run" => (
            Fields::Integers(Gathered::new(false)),
            Physical::INT64,
            Repetition::REQUIRED,
        ),
        "status" => (
            Fields::Words(Gathered::new(false)),
            Physical::BYTE_ARRAY,
            Repetition::REQUIRED,
        ),
        "reason" => (
            Fields::Words(Gathered::new(true)),
            Physical::BYTE_ARRAY,
            Repetition::OPTIONAL,
        ),
        // The row of a failed run has no values.
        "output" | "state" => (
            Fields::Numbers(Gathered::new(true)),
            Physical::DOUBLE,
            Repetition::OPTIONAL,
        ),
        _ => (
            Fields::Numbers(Gathered::new(false)),
            Physical::DOUBLE,
            Repetition::REQUIRED,
        ),
    };
    let mut declared = Type::primitive_type_builder(&column.name, physical).with_repetition(repetition);
    if physical == Physical::BYTE_ARRAY {
        declared = declared
            .with_logical_type(Some(LogicalType::String))
            .with_converted_type(ConvertedType::UTF8);
    }
    Ok((fields, Arc::new(declared.build()?)))
}

impl ParquetWriter {
    /// Writes the header before the rows; `described` is the JSON text of the columns.
    pub fn begin(model: &str, columns: &[Column], described: String, out: &mut dyn Write) -> io::Result<ParquetWriter> {
        let make = || -> Result<ParquetWriter> {
            let mut fields = Vec::with_capacity(columns.len());
            let mut types = Vec::with_capacity(columns.len());
            for column in columns {
                let (gathered, declared) = field_of(column)?;
                fields.push(gathered);
                types.push(declared);
            }
            let schema = Type::group_type_builder("rows").with_fields(types).build()?;
            let entry = |key: &str, value: &str| KeyValue::new(key.to_string(), value.to_string());
            let mut about = vec![
                entry("schema", "lgm-simulation/1"),
                entry("model", model),
                entry("columns", &described),
            ];
            about.extend(columns.iter().filter_map(|column| {
                let unit = column.unit.as_deref()?;
                Some(entry(&format!("unit:{}", column.name), unit))
            }));
            let properties = WriterProperties::builder()
                .set_created_by(format!("lgm {}", env!("CARGO_PKG_VERSION")))
                .set_compression(Compression::UNCOMPRESSED)
                // The values of a run rarely repeat.
                .set_dictionary_enabled(false)
                .set_encoding(Encoding::PLAIN)
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_key_value_metadata(Some(about))
                .build();
            Ok(ParquetWriter {
                writer: SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?,
                rows: 0,
                rows_of_group: (FIELDS / columns.len().max(1)).clamp(1, MOST_ROWS),
                fields,
            })
        };
        let mut writer = make().map_err(as_io)?;
        writer.hand_over(out)?;
        Ok(writer)
    }

    /// Adds a row, and writes the group if it is full.
    pub fn row<'t>(&mut self, row: impl Iterator<Item = Field<'t>>, out: &mut dyn Write) -> io::Result<()> {
        for (field, fields) in row.zip(&mut self.fields) {
            match (fields, field) {
                (Fields::Numbers(gathered), Field::Number(number)) => gathered.push(Some(number)),
                (Fields::Integers(gathered), Field::Number(number)) => gathered.push(Some(number as i64)),
                (Fields::Words(gathered), Field::Text(text)) => gathered.push(Some(ByteArray::from(text))),
                (Fields::Numbers(gathered), Field::Empty) if gathered.levels.is_some() => gathered.push(None),
                (Fields::Words(gathered), Field::Empty) if gathered.levels.is_some() => gathered.push(None),
                (_, field) => {
                    unreachable!("invariant: the kind of a column says what it holds, which is not {field:?}")
                }
            }
        }
        self.rows += 1;
        if self.rows == self.rows_of_group {
            self.group(out)?;
        }
        Ok(())
    }

    /// Writes the collected rows as a group.
    fn group(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut write = || -> Result<()> {
            let mut group = self.writer.next_row_group()?;
            for fields in &mut self.fields {
                match fields {
                    Fields::Numbers(gathered) => gathered.write::<DoubleType, _>(&mut group)?,
                    Fields::Integers(gathered) => gathered.write::<Int64Type, _>(&mut group)?,
                    Fields::Words(gathered) => gathered.write::<ByteArrayType, _>(&mut group)?,
                }
            }
            group.close()?;
            Ok(())
        };
        write().map_err(as_io)?;
        self.rows = 0;
        self.hand_over(out)
    }

    /// Moves the library's output to the stream. The library counts the bytes itself and never seeks.
    fn hand_over(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.writer.flush()?;
        let bytes = self.writer.inner_mut();
        out.write_all(bytes)?;
        bytes.clear();
        Ok(())
    }

    /// Writes the last rows and the footer.
    pub fn end(mut self, status: &str, out: &mut dyn Write) -> io::Result<()> {
        self.group(out)?;
        let status = KeyValue::new("status".to_string(), status.to_string());
        self.writer.append_key_value_metadata(status);
        let bytes = self.writer.into_inner().map_err(as_io)?;
        out.write_all(&bytes)
    }
}
