//! The `lgm-equations/1` schema with a single entry for rows that repeat over indices.

use crate::DocumentOptions;
use crate::json::Equations;
use crate::json_format::write_in_lines;
use crate::repeating::{Entries, Format, Growth, Letters, Manner, Piece, Row, gathered, stretched};
use lgm_model::system::StateSystem;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json, to_value};
use std::io::{self, Write};

/// The lists whose rows may repeat; each row begins with its name.
const LISTS: [&str; 9] = [
    "parameters",
    "constants",
    "states",
    "inputs",
    "outputs",
    "equations",
    "output_equations",
    "assignments",
    "dependent",
];

/// The lists whose lengths determine the sizes of matrices.
const COUNTED: [&str; 3] = ["states", "inputs", "outputs"];

/// Writes the equations as [`json`](crate::json()) does, but combines rows that repeat over indices into one row with the key `for`.
pub fn json_patterns(system: &StateSystem, options: &DocumentOptions, out: &mut dyn Write) -> io::Result<()> {
    write_in_lines(out, &Written(pieces(system, options)?))
}

/// Writes the JSON that [`json_patterns`] would write for `count` sections. `systems` are the systems with `first` sections, one section
/// more, and so on; `states` are those of the long system.
pub fn stretched_json(
    systems: &[&StateSystem],
    counts: (u64, u64),
    states: usize,
    options: &DocumentOptions,
) -> Option<Vec<u8>> {
    let matrices = options.matrices.of_sections(states, options.flat)?;
    let short = DocumentOptions { matrices, ..*options };
    let all = systems.iter().map(|system| pieces(system, &short).ok());
    let growth = Growth::new(counts, options.most_entries)?;
    let long = stretched(all.collect::<Option<_>>()?, growth)?;
    let mut out = Vec::new();
    write_in_lines(&mut out, &Written(long)).ok()?;
    Some(out)
}

/// The members of the top-level object as a format.
struct Schema;

impl Format for Schema {
    type Fixed = (String, Value);
    type Style = ();
    type Of = Value;
    type Value = Value;
}

fn pieces(system: &StateSystem, options: &DocumentOptions) -> serde_json::Result<Vec<Piece<Schema>>> {
    let most = match options.matrices.sparse {
        true => usize::MAX,
        false => options.most_entries,
    };
    let equations = Equations {
        system,
        options: options.matrices,
        most: Some(most),
    };
    let mut members = Members {
        key: String::new(),
        flat: options.flat,
        pieces: Vec::new(),
    };
    equations.members(&mut members)?;
    members.end()
}

/// The members of an object, gathered in order; at most one list is held row by row.
struct Members {
    key: String,
    flat: bool,
    pieces: Vec<Piece<Schema>>,
}

impl SerializeMap for Members {
    type Ok = Vec<Piece<Schema>>;
    type Error = serde_json::Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Self::Error> {
        self.key = serde_json::from_value(to_value(key)?)?;
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Self::Error> {
        let key = std::mem::take(&mut self.key);
        let piece = match to_value(value)? {
            Value::Array(list) if LISTS.contains(&&*key) => {
                let rows = rows(list, &key, self.flat);
                Piece::Rows(key, (), rows)
            }
            Value::Object(mut members) if members.contains_key("shape") => {
                let mut member = |name: &str| members.remove(name).unwrap_or_default();
                let [rows, columns] = serde_json::from_value(member("shape"))?;
                Piece::Entries(entries(key, (rows, columns), &mut member)?)
            }
            Value::Object(mut members) if key == "implicit" => {
                for (key, value) in &mut members {
                    if let (Value::Array(list), true) = (&mut *value, LISTS.contains(&&**key)) {
                        let rows = rows(std::mem::take(list), key, self.flat).into_iter();
                        *value = rows.map(entry).collect();
                    }
                }
                Piece::Fixed((key, Value::Object(members)))
            }
            value => Piece::Fixed((key, value)),
        };
        self.pieces.push(piece);
        Ok(())
    }

    fn end(self) -> Result<Self::Ok, Self::Error> {
        Ok(self.pieces)
    }
}

/// Returns the entries of a matrix, from its serialised form.
fn entries(
    name: String,
    (rows, columns): (usize, usize),
    member: &mut dyn FnMut(&str) -> Value,
) -> serde_json::Result<Entries<Value>> {
    let count: Option<usize> = serde_json::from_value(member("count"))?;
    let list = match count {
        Some(_) => None,
        None => {
            let at: Vec<usize> = serde_json::from_value(member("rows"))?;
            let columns: Vec<usize> = serde_json::from_value(member("cols"))?;
            let values: Vec<Value> = serde_json::from_value(member("values"))?;
            let places = at.into_iter().zip(columns);
            let entry = |((row, column), value)| (row + 1, column + 1, value);
            Some(places.zip(values).map(entry).collect::<Vec<_>>())
        }
    };
    Ok(Entries {
        name,
        rows,
        columns,
        count: count.unwrap_or_else(|| list.as_ref().map_or(0, Vec::len)),
        list,
    })
}

/// Combines repeating rows into one.
fn rows(list: Vec<Value>, key: &str, flat: bool) -> Vec<Row<Value>> {
    let rows = list.into_iter().map(|row| {
        let mut cells = Vec::new();
        let mut rest = row.clone();
        each_text(&mut rest, &mut |text| cells.push(std::mem::take(text)));
        // All values other than texts must be equal. Numbers in lists are not indices.
        cells.push(rest.to_string().replace('[', "(").replace(']', ")"));
        (cells, row)
    });
    let manner = Manner::new(Letters::Free, flat);
    match COUNTED.contains(&key) {
        true => gathered(rows.collect(), manner.evenly()),
        false => gathered(rows.collect(), manner),
    }
}

/// Returns a row with its texts, and the values of its indices.
fn entry(row: Row<Value>) -> Value {
    let mut value = row.of;
    let mut cells = row.cells.into_iter();
    each_text(&mut value, &mut |text| {
        *text = cells.next().expect("invariant: a row has a cell for each text");
    });
    let Value::Object(members) = &mut value else {
        return value;
    };
    if let Some(place) = row.place {
        members.insert("at".to_string(), json!(place));
    }
    if !row.ranges.is_empty() {
        let ranges = row.ranges.iter().map(|range| {
            let mut shown = json!({"index": range.letter, "from": range.first, "to": range.last});
            if let Some(step) = range.step {
                shown["step"] = json!(step);
            }
            shown
        });
        members.insert("for".to_string(), ranges.collect());
    }
    value
}

/// Applies a function to each text of a value, in order.
fn each_text(value: &mut Value, work: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => work(text),
        Value::Array(list) => list.iter_mut().for_each(|value| each_text(value, work)),
        Value::Object(members) => members.values_mut().for_each(|value| each_text(value, work)),
        _ => {}
    }
}

/// The top-level object.
struct Written(Vec<Piece<Schema>>);

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for piece in &self.0 {
            match piece {
                Piece::Fixed((key, value)) => map.serialize_entry(key, value)?,
                Piece::Rows(key, (), rows) => {
                    let rows: Vec<Value> = rows.iter().cloned().map(entry).collect();
                    map.serialize_entry(key, &rows)?;
                }
                Piece::Entries(entries) => map.serialize_entry(&entries.name, &matrix(entries))?,
            }
        }
        map.end()
    }
}

/// Returns the entries of a matrix, counted from 0, or their number.
fn matrix(entries: &Entries<Value>) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("shape".to_string(), json!([entries.rows, entries.columns]));
    let Some(list) = &entries.list else {
        members.insert("count".to_string(), json!(entries.count));
        return members;
    };
    let rows: Value = list.iter().map(|entry| entry.0 - 1).collect();
    let columns: Value = list.iter().map(|entry| entry.1 - 1).collect();
    let values: Value = list.iter().map(|entry| entry.2.clone()).collect();
    for (key, value) in [("rows", rows), ("cols", columns), ("values", values)] {
        members.insert(key.to_string(), value);
    }
    members
}
