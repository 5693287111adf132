//! Numbers as the bytes of arrays: `numpy.frombuffer` reads them without a copy, and what it makes is read-only.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Words of 8 bytes in sequence, written once.
fn words<'py>(py: Python<'py>, count: usize, words: impl Iterator<Item = [u8; 8]>) -> Bound<'py, PyBytes> {
    let made = PyBytes::new_with(py, 8 * count, |bytes| {
        let (places, _) = bytes.as_chunks_mut::<8>();
        for (place, word) in places.iter_mut().zip(words) {
            *place = word;
        }
        Ok(())
    });
    made.expect("invariant: only memory can be missing")
}

/// Doubles as bytes.
pub fn doubles<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    words(py, values.len(), values.iter().map(|value| value.to_ne_bytes()))
}

/// Integers of 64 bits as bytes.
pub fn integers<'py>(py: Python<'py>, values: &[i64]) -> Bound<'py, PyBytes> {
    words(py, values.len(), values.iter().map(|value| value.to_ne_bytes()))
}

/// The doubles of an array's bytes.
pub fn read(bytes: &[u8]) -> Vec<f64> {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().map(|chunk| f64::from_ne_bytes(*chunk)).collect()
}
