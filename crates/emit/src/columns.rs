//! Columns of tables, and the fields in them.

use lgm_model::SiUnit;
use serde::Serialize;

/// One column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The SI unit.
    pub unit: Option<SiUnit>,
    /// What it is: `time`, `output`, `state`, `parameter`, `run`, `status` or `reason`.
    pub kind: &'static str,
}

/// One field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Field<'t> {
    /// A number, in as many digits, at most 17, as it takes to read the same double back.
    Number(f64),
    /// Words.
    Text(&'t str),
    /// Nothing.
    Empty,
}
