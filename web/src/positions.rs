//! Byte offsets of Rust and offsets in units of UTF-16, which are those of JavaScript.

use lgm_source::{Source, Span};
use serde_json::{Value, json};

/// Both kinds of offsets of one text.
pub(crate) struct Positions {
    /// For each byte and the end, the number of units before it; `None` if all characters are ASCII.
    units: Option<Vec<u32>>,
    length: u32,
}

impl Positions {
    pub(crate) fn of(source: &Source) -> Positions {
        let text = &*source.text;
        let units = (!text.is_ascii()).then(|| {
            let mut units = Vec::with_capacity(text.len() + 1);
            let mut count = 0;
            for letter in text.chars() {
                units.extend(std::iter::repeat_n(count, letter.len_utf8()));
                count += letter.len_utf16() as u32;
            }
            units.push(count);
            units
        });
        Positions {
            units,
            length: text.len() as u32,
        }
    }

    /// Returns the units before a byte.
    pub(crate) fn units(&self, byte: u32) -> u32 {
        let byte = byte.min(self.length);
        self.units.as_ref().map_or(byte, |units| units[byte as usize])
    }

    /// Returns the first byte with at least this number of units before it.
    pub(crate) fn byte(&self, units: u64) -> u32 {
        match &self.units {
            None => units.min(u64::from(self.length)) as u32,
            Some(list) => list
                .partition_point(|count| u64::from(*count) < units)
                .min(list.len() - 1) as u32,
        }
    }

    /// Returns a span as `{"from": .., "to": ..}`.
    pub(crate) fn range(&self, span: Span) -> Value {
        json!({ "from": self.units(span.start), "to": self.units(span.end) })
    }
}
