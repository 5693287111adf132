//! Expressions and functions in Python with NumPy: one statement computes all lanes of a loop.

use super::super::dialect::{Dialect, Text, function_name, function_name_of_two, infix};
use super::super::functions::{Language, Signature, wrapped};
use super::super::names::Rules;
use super::super::scripts::double;
use lgm_kernels::operation::{Binary, Unary};

/// Words that are not names.
pub(super) const RULES: Rules = Rules {
    reserved: &[
        "and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def", "del", "elif", "else",
        "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "match", "nonlocal", "not",
        "or", "pass", "raise", "return", "try", "type", "while", "with", "yield", "numpy", "scipy", "control", "sympy",
        "math", "sys", "test",
    ],
    ignores_case: false,
    snake: true,
};

/// Python over arrays of NumPy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Python;

/// A double as it stands alone.
pub(super) fn literal(value: f64) -> String {
    double(value, "math.nan", "math.inf")
}

impl Dialect for Python {
    fn literal(&self, value: f64) -> String {
        literal(value)
    }

    fn name_of_one(&self, operation: Unary) -> String {
        format!("_{}", function_name(operation))
    }

    fn name_of_two(&self, operation: Binary) -> String {
        format!("_{}", function_name_of_two(operation))
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        Text::atom(format!("_where({}, {}, {})", condition.text, a.text, b.text))
    }

    fn condition(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        let name = match operation {
            Binary::Equal => "equal",
            Binary::NotEqual => "differs",
            Binary::And => "and",
            Binary::Or => "or",
            _ => return infix(self.relation(operation), a, b),
        };
        Text::atom(format!("_{name}({}, {})", a.text, b.text))
    }

    fn negation(&self, a: &Text) -> Text {
        Text::atom(format!("_not({})", a.text))
    }

    fn end(&self) -> &'static str {
        ""
    }

    fn remark(&self, remark: &str) -> String {
        format!("  # {remark}")
    }

    fn lane_index(&self, first: u32, stride: i32, count: u32) -> String {
        let end = i64::from(first) + i64::from(stride) * i64::from(count);
        match (stride, end) {
            (1, _) => format!("{first}:{end}"),
            (stride, end) if end < 0 => format!("{first}::{stride}"),
            (stride, _) => format!("{first}:{end}:{stride}"),
        }
    }
}

impl Language for Python {
    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String {
        let kind = if is_index { ", dtype=int" } else { "" };
        format!("{name} = np.array([{}]{kind})\n\n\n", wrapped(entries))
    }

    fn open(&self, signature: &Signature<'_>) -> String {
        format!("def {}({}):", signature.name, signature.names())
    }

    fn close(&self) -> &'static str {
        "\n\n"
    }
}
