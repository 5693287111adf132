//! Numbers as the bytes of arrays: `numpy.frombuffer` reads them without a copy, and what it makes is read-only.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Doubles as bytes.
pub fn doubles<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// Integers of 64 bits as bytes.
pub fn integers<'py>(py: Python<'py>, values: &[i64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// The doubles of an array's bytes.
pub fn read(bytes: &[u8]) -> Vec<f64> {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().map(|chunk| f64::from_ne_bytes(*chunk)).collect()
}
