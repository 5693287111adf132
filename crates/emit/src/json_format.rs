//! The layout of JSON for human readers: one line per item of long lists, and the shortest digits for numbers.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// Writes a value in lines. Members of the top-level object are on separate lines, and so are the items of lists of objects or lists;
/// such lines are not divided further.
pub fn write_in_lines(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let lines = InLines::default();
    value.serialize(&mut Serializer::with_formatter(&mut *out, lines))?;
    out.write_all(b"\n")
}

/// Writes a value without whitespace.
pub fn write_compact(out: &mut dyn Write, value: &(impl ?Sized + Serialize)) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Compact))?;
    Ok(())
}

/// The layout of [`write_compact`].
struct Compact;

impl Formatter for Compact {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        write_double(out, value)
    }
}

/// Writes the shortest digits that read back as the same double; the caller has replaced NaN and infinity by `null`.
fn write_double(out: &mut (impl ?Sized + Write), value: f64) -> io::Result<()> {
    write!(out, "{value:?}")
}

/// The layout of [`write_in_lines`].
#[derive(Default)]
struct InLines {
    /// The number of open objects and lists.
    depth: usize,
    /// The depth of the list whose items are on separate lines, inside such a list.
    divided: Option<usize>,
    /// True if the next value is the first one of a list. It shows whether the items are objects or lists.
    is_first: bool,
}

impl InLines {
    /// Begins a list or an object.
    fn begin(&mut self, out: &mut (impl ?Sized + Write), bracket: &[u8]) -> io::Result<()> {
        if std::mem::take(&mut self.is_first) && self.divided.is_none() {
            self.divided = Some(self.depth);
            out.write_all(b"\n    ")?;
        }
        self.depth += 1;
        out.write_all(bracket)
    }
}

impl Formatter for InLines {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        write_double(out, value)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.is_first = first;
        match first {
            true => Ok(()),
            false if self.divided == Some(self.depth) => out.write_all(b",\n    "),
            false => out.write_all(b", "),
        }
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.is_first = false;
        if self.divided == Some(self.depth) {
            self.divided = None;
            out.write_all(b"\n  ")?;
        }
        self.depth -= 1;
        out.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(match (self.depth, first) {
            (1, true) => b"\n  ",
            (1, false) => b",\n  ",
            (_, true) => b"",
            (_, false) => b", ",
        })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.is_first = false;
        out.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(if self.depth == 0 { b"\n}" } else { b"}" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        write_in_lines(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lists_of_objects_and_of_lists_have_lines() {
        let value = json!({
            "numbers": [1.0, 1e-5, 1e16, 0.1],
            "nothing": [],
            "rows": [[1, 2], [], [[3]]],
            "objects": [{"a": [[1], [2]]}, {}],
            "inner": {"b": [{"c": null}, 1], "d": [1, [2], {}]},
        });
        assert_eq!(
            written(&value),
            "{\n  \"numbers\": [1.0, 1e-5, 1e16, 0.1],\n  \"nothing\": [],\n  \"rows\": [\n    [1, 2],\n    [],\n    [[3]]\n  ],\n  \
             \"objects\": [\n    {\"a\": [[1], [2]]},\n    {}\n  ],\n  \"inner\": {\"b\": [\n    {\"c\": null},\n    1\n  ], \
             \"d\": [1, [2], {}]}\n}\n"
        );
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(written(&[f64::NAN, f64::INFINITY]), "[null, null]\n");
        let mut out = Vec::new();
        write_compact(&mut out, &(f64::NAN, 1e-5, "a\"\n")).unwrap();
        assert_eq!(out, br#"[null,1e-5,"a\"\n"]"#);
    }
}
