//! How Python with NumPy writes expressions and functions: one statement computes all lanes of a loop.

use super::super::functions::{Language, Signature, listed, wrapped};
use super::super::names::Rules;
use super::super::program::{Array, Binding, Dialect, Lane, Text, function_name, function_name_of_two};
use super::super::scripts::double;
use crate::kernels::operation::{Binary, Unary};

/// Words that are no names.
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
    fn number(&self, value: f64) -> Text {
        let binding = if value.is_sign_negative() {
            Binding::Sign
        } else {
            Binding::Atom
        };
        Text::new(binding, literal(value))
    }

    fn element(&self, array: Array, index: &str) -> Text {
        match array {
            Array::Time => Text::atom("t"),
            _ => Text::atom(format!("{}[{index}]", array.name())),
        }
    }

    fn unary(&self, operation: Unary, a: &Text) -> Text {
        Text::atom(format!("_{}({})", function_name(operation), a.text))
    }

    fn binary(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        Text::atom(format!("_{}({}, {})", function_name_of_two(operation), a.text, b.text))
    }

    fn holds(&self, a: &Text) -> Text {
        Text::atom(format!("_differs({}, 0.0)", a.text))
    }

    fn as_number(&self, condition: &Text) -> Text {
        Text::atom(format!("_where({}, 1.0, 0.0)", condition.text))
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        Text::atom(format!("_where({}, {}, {})", condition.text, a.text, b.text))
    }

    fn condition(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        let infix = |operator: &str| {
            let text = format!("{} {operator} {}", a.within(Binding::Sum), b.within(Binding::Sum));
            Text::new(Binding::Loose, text)
        };
        let function = |name: &str| Text::atom(format!("_{name}({}, {})", a.text, b.text));
        match operation {
            Binary::Less => infix("<"),
            Binary::LessEqual => infix("<="),
            Binary::Equal => function("equal"),
            Binary::NotEqual => function("differs"),
            Binary::And => function("and"),
            Binary::Or => function("or"),
            _ => unreachable!("invariant: conditions are relations or logic"),
        }
    }

    fn negation(&self, a: &Text) -> Text {
        Text::atom(format!("_not({})", a.text))
    }

    fn declare(&self, name: &str, value: &str) -> String {
        format!("{name} = {value}")
    }

    fn assign(&self, place: &str, value: &str, remark: Option<&str>) -> String {
        match remark {
            Some(remark) => format!("{place} = {value}  # {remark}"),
            None => format!("{place} = {value}"),
        }
    }

    fn head(&self, _count: u32) -> Option<String> {
        None
    }

    fn lane_index(&self, first: u32, stride: i32, count: u32) -> String {
        let end = i64::from(first) + i64::from(stride) * i64::from(count);
        match (stride, end) {
            (1, _) => format!("{first}:{end}"),
            (stride, end) if end < 0 => format!("{first}::{stride}"),
            (stride, _) => format!("{first}:{end}:{stride}"),
        }
    }

    fn table_index(&self, table: u32, lane: Lane) -> String {
        match lane {
            Lane::Only => format!("indices[{table}]"),
            Lane::Of(count) => format!("indices[{table}:{}]", table + count),
        }
    }
}

impl Language for Python {
    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String {
        let kind = if is_index { ", dtype=int" } else { "" };
        format!("{name} = np.array([{}]{kind})\n\n\n", wrapped(entries))
    }

    fn open(&self, signature: &Signature<'_>) -> String {
        let list: Vec<&str> = signature.arrays.iter().map(|array| array.name()).collect();
        format!("def {}({}):", signature.name, list.join(", "))
    }

    fn close(&self) -> &'static str {
        "\n\n"
    }

    fn call(&self, name: &str, arguments: &[(Array, String)]) -> String {
        format!("{name}({})", listed(arguments))
    }

    fn entry(&self, value: f64) -> String {
        literal(value)
    }
}
