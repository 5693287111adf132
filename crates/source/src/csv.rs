//! Comma-separated values: records of fields, each with its location in the text.

use std::ops::Range;

/// One field.
pub struct Field {
    /// The text without quotes.
    pub text: String,
    /// Its bytes in the text of the file, quotes included.
    pub place: Range<usize>,
}

/// Reads a CSV text record by record; a quoted field may contain any character.
pub struct Records<'t> {
    text: &'t str,
    at: usize,
    separator: u8,
}

impl<'t> Records<'t> {
    /// Returns the records of a text. Fields are separated by commas, or by semicolons or tabs if the first line has no comma.
    pub fn new(text: &'t str) -> Records<'t> {
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        // Quoted text is not split.
        let line = text[at..].lines().next().unwrap_or("");
        let first: String = line.split('"').step_by(2).collect();
        let separator = match (first.contains(','), first.contains('\t'), first.contains(';')) {
            (true, _, _) => b',',
            (_, true, _) => b'\t',
            (_, _, true) => b';',
            _ => b',',
        };
        Records { text, at, separator }
    }
}

impl Iterator for Records<'_> {
    type Item = Vec<Field>;

    fn next(&mut self) -> Option<Vec<Field>> {
        let bytes = self.text.as_bytes();
        // Empty lines are not records.
        while bytes.get(self.at).is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.at += 1;
        }
        if self.at >= bytes.len() {
            return None;
        }
        let mut fields = Vec::new();
        loop {
            let start = self.at;
            let mut text = None;
            // Spaces before a quote are not part of the field.
            let blanks = bytes[start..].iter().take_while(|byte| **byte == b' ').count();
            if bytes.get(start + blanks) == Some(&b'"') {
                let mut inside = String::new();
                let mut from = start + blanks + 1;
                loop {
                    let Some(length) = self.text[from..].find('"') else {
                        inside.push_str(&self.text[from..]);
                        self.at = bytes.len();
                        break;
                    };
                    inside.push_str(&self.text[from..from + length]);
                    from += length + 1;
                    // Two quotes represent one.
                    if bytes.get(from) != Some(&b'"') {
                        self.at = from;
                        break;
                    }
                    inside.push('"');
                    from += 1;
                }
                text = Some(inside);
            }
            while bytes
                .get(self.at)
                .is_some_and(|byte| *byte != self.separator && !matches!(byte, b'\n' | b'\r'))
            {
                self.at += 1;
            }
            let written = self.text[start..self.at].trim();
            let lead = self.text[start..self.at].len() - self.text[start..self.at].trim_start().len();
            let begin = start + lead;
            fields.push(Field {
                text: text.unwrap_or_else(|| written.to_string()),
                place: begin..begin + written.len(),
            });
            match bytes.get(self.at) {
                Some(byte) if *byte == self.separator => self.at += 1,
                _ => return Some(fields),
            }
        }
    }
}
