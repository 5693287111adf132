//! Analyses as data, each with a JSON form.

pub mod approximate;
pub mod fit;
pub mod modes;
pub mod one_port;
pub mod response;
pub mod second_order;
pub mod sensitivities;
pub mod switching;
pub mod transfer;

use lgm_analysis::Matrix;
use serde_json::Value;

/// Returns a matrix as rows of numbers.
pub fn rows_json(matrix: &Matrix) -> Value {
    let row = |row: usize| matrix.row(row).iter().copied().collect::<Vec<f64>>();
    (0..matrix.nrows()).map(row).map(Value::from).collect()
}
