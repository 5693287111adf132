//! Expressions and functions in Rust.

use super::super::dialect::{Array, Binding, Dialect, Lane, Text, function_name, function_name_of_two};
use super::super::functions::{Language, Signature, wrapped};
use super::super::names::{Rules, one_line};
use lgm_kernels::operation::Space;
use lgm_kernels::operation::{Binary, Unary};

/// The naming rules of Rust: reserved words cannot be used as names.
pub(super) const RULES: Rules = Rules {
    reserved: "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen \
        if impl in let loop macro match mod move mut override priv pub ref return self Self static struct super trait \
        true try type typeof union unsafe unsized use virtual where while yield",
    ignores_case: false,
    snake: false,
};

/// Rust over a generic number type, with the names of the array sizes for states and unknowns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rust {
    pub(super) states: &'static str,
    pub(super) unknowns: &'static str,
}

/// Escapes a user's text for documentation, so that the text starts no example and no link.
pub(super) fn documentation(text: &str) -> String {
    one_line(text).replace('`', "'").replace('[', "\\[").replace('<', "\\<")
}

/// Prints a double as a standalone literal.
pub(super) fn literal(value: f64) -> String {
    if value.is_finite() {
        return format!("{value:?}");
    }
    let name = match value {
        value if value.is_nan() => "NAN",
        value if value > 0.0 => "INFINITY",
        _ => "NEG_INFINITY",
    };
    format!("f64::{name}")
}

impl Dialect for Rust {
    fn literal(&self, value: f64) -> String {
        literal(value)
    }

    fn number(&self, value: f64) -> Text {
        Text::atom(format!("T::c({})", literal(value)))
    }

    fn element(&self, array: Array, name: &str, index: &str) -> Text {
        let entry = || self.indexed(name, index);
        Text::atom(match array {
            Array::Read(Space::Time) => name.to_string(),
            Array::Read(Space::Numbers) => format!("T::c({})", entry()),
            _ => entry(),
        })
    }

    fn unary(&self, operation: Unary, a: &Text) -> Text {
        let name = match operation {
            Unary::Log => "ln",
            Unary::ExpMinusOne => "exp_m1",
            _ => function_name(operation),
        };
        Text::atom(format!("{}.{name}()", a.within(Binding::Atom)))
    }

    fn binary(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        let name = function_name_of_two(operation);
        Text::atom(format!("{}.{name}({})", a.within(Binding::Atom), b.text))
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        // Nested selections are printed as an `else if` chain.
        let other = match b.binding {
            Binding::Loose => b.text.clone(),
            _ => format!("{{ {} }}", b.text),
        };
        let text = format!("if {} {{ {} }} else {other}", condition.text, a.text);
        Text::new(Binding::Loose, text)
    }

    fn remark(&self, remark: &str) -> String {
        format!(" // {remark}")
    }

    fn declare(&self, name: &str, value: &str) -> String {
        format!("let {}", self.assign(name, value, None))
    }

    fn head(&self, count: u32) -> Option<String> {
        Some(format!("for k in 0..{count}usize {{"))
    }

    fn table_index(&self, table: &str, first: u32, lane: Lane) -> String {
        format!("{} as usize", self.table_entry(table, first, lane))
    }
}

impl Language for Rust {
    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String {
        let kind = if is_index { "u32" } else { "f64" };
        format!(
            "static {name}: [{kind}; {}] = [{}];\n\n",
            entries.len(),
            wrapped(entries)
        )
    }

    fn open(&self, signature: &Signature<'_>) -> String {
        let outputs = signature.outputs;
        let one = |array: Array| match array {
            Array::Read(Space::Time) => "t: T".to_string(),
            Array::Read(Space::Parameters) => "p: &[T; PARAMETERS]".to_string(),
            Array::Read(Space::States) => format!("x: &[T; {}]", self.states),
            Array::Read(Space::Inputs) => "u: &[T; INPUTS]".to_string(),
            Array::Read(Space::Rates) => "du: &[T; INPUTS]".to_string(),
            Array::Read(Space::Unknowns) => format!("w: &[T; {}]", self.unknowns),
            Array::Read(Space::Temporaries) => "s: &mut [T; SCRATCH]".to_string(),
            Array::Output => format!("out: &mut [T; {outputs}]"),
            Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are statics"),
        };
        format!("pub fn {}<T: Real>({}) {{", signature.name, signature.declared(one))
    }
}
