//! Table columns and their fields.

use lgm_model::SiUnit;
use serde::Serialize;

/// One column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The SI unit.
    pub unit: Option<SiUnit>,
    /// The kind of the column: `time`, `output`, `state`, `parameter`, `run`, `status` or `reason`.
    pub kind: &'static str,
}

/// One field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Field<'t> {
    /// A number with the fewest digits (at most 17) that reproduce the same double.
    Number(f64),
    /// A text.
    Text(&'t str),
    /// An empty field.
    Empty,
}
