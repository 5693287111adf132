//! How C writes expressions and functions.

use super::super::functions::{Language, Signature, wrapped};
use super::super::names::Rules;
use super::super::program::{Array, Binding, Dialect, Lane, Text, function_name, function_name_of_two};
use crate::kernels::operation::{Binary, Unary};

/// Names that C, C++ or the templates take.
pub(super) const RULES: Rules = Rules {
    reserved: &[
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "char16_t",
        "char32_t",
        "char8_t",
        "class",
        "co_await",
        "co_return",
        "co_yield",
        "compl",
        "complex",
        "concept",
        "const",
        "const_cast",
        "consteval",
        "constexpr",
        "constinit",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "errno",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "I",
        "if",
        "imaginary",
        "inline",
        "int",
        "linux",
        "long",
        "main",
        "mutable",
        "namespace",
        "NAN",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "NULL",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "requires",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "typeof",
        "union",
        "unix",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "xor_eq",
        "HUGE_VAL",
        "INFINITY",
    ],
    ignores_case: false,
    snake: false,
};

/// C99 with one kind of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct C {
    pub(super) float: bool,
}

/// A string of C: what is beyond ASCII as bytes, each in three octal digits.
pub(super) fn string(text: &str) -> String {
    let mut literal = "\"".to_string();
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                literal.push('\\');
                literal.push(char::from(byte));
            }
            // No three characters become another one.
            b'?' => literal.push_str("\\?"),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\{byte:03o}")),
        }
    }
    literal + "\""
}

impl C {
    /// The distance from 1 to the next number.
    pub(super) fn epsilon(self) -> f64 {
        if self.float {
            f64::from(f32::EPSILON)
        } else {
            f64::EPSILON
        }
    }

    /// A number as it stands alone.
    pub(super) fn literal(self, value: f64) -> String {
        let (text, is_finite, is_negative) = match self.float {
            true => {
                let value = value as f32;
                (format!("{value:?}F"), value.is_finite(), value < 0.0)
            }
            false => (format!("{value:?}"), value.is_finite(), value < 0.0),
        };
        match (value.is_nan(), is_finite) {
            (true, _) => "NAN".to_string(),
            (_, true) => text,
            (_, false) => if is_negative { "-INFINITY" } else { "INFINITY" }.to_string(),
        }
    }

    /// A function of the mathematical library.
    pub(super) fn function(self, name: &str) -> String {
        if self.float {
            format!("{name}f")
        } else {
            name.to_string()
        }
    }
}

impl Dialect for C {
    fn number(&self, value: f64) -> Text {
        let binding = if value.is_sign_negative() {
            Binding::Sign
        } else {
            Binding::Atom
        };
        Text::new(binding, self.literal(value))
    }

    fn element(&self, array: Array, index: &str) -> Text {
        match array {
            Array::Time => Text::atom("t"),
            _ => Text::atom(format!("{}[{index}]", array.name())),
        }
    }

    fn unary(&self, operation: Unary, a: &Text) -> Text {
        let name = match operation {
            Unary::Absolute => self.function("fabs"),
            Unary::Sign => "sign_of".to_string(),
            _ => self.function(function_name(operation)),
        };
        Text::atom(format!("{name}({})", a.text))
    }

    fn binary(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        let name = match operation {
            Binary::Atan2 => self.function("atan2"),
            _ => function_name_of_two(operation).to_string(),
        };
        Text::atom(format!("{name}({}, {})", a.text, b.text))
    }

    fn holds(&self, a: &Text) -> Text {
        let zero = self.literal(0.0);
        Text::new(Binding::Loose, format!("{} != {zero}", a.within(Binding::Sum)))
    }

    fn as_number(&self, condition: &Text) -> Text {
        let (one, zero) = (self.literal(1.0), self.literal(0.0));
        Text::new(Binding::Loose, format!("({}) ? {one} : {zero}", condition.text))
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        let text = format!(
            "({}) ? {} : {}",
            condition.text,
            a.within(Binding::Sum),
            b.within(Binding::Sum)
        );
        Text::new(Binding::Loose, text)
    }

    fn declare(&self, name: &str, value: &str) -> String {
        format!("const real {name} = {value};")
    }

    fn assign(&self, place: &str, value: &str, remark: Option<&str>) -> String {
        match remark {
            Some(remark) => format!("{place} = {value}; /* {remark} */"),
            None => format!("{place} = {value};"),
        }
    }

    fn head(&self, count: u32) -> Option<String> {
        Some(format!("for (int k = 0; k < {count}; k++) {{"))
    }

    fn table_index(&self, table: u32, lane: Lane) -> String {
        match (table, lane) {
            (table, Lane::Only) => format!("indices[{table}]"),
            (0, Lane::Of(_)) => "indices[k]".to_string(),
            (table, Lane::Of(_)) => format!("indices[k + {table}]"),
        }
    }
}

/// What `Unary::Sign`, `Binary::Minimum`, `Binary::Maximum` and `Binary::Power` mean, where C has no function of the meaning.
const HELPERS: [(&str, &str); 4] = [
    (
        "sign_of(",
        "/* -1, 0 or 1; not a number of what is none. */
static real sign_of(real a) {
    return (a > @zero@) ? @one@ : ((a < @zero@) ? -@one@ : @fabs@(a));
}
",
    ),
    (
        "minimum(",
        "/* The smaller; not a number where either is none; -0 is below 0. */
static real minimum(real a, real b) {
    if (a < b) {
        return a;
    }
    if (b < a) {
        return b;
    }
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return signbit(a) ? a : b;
}
",
    ),
    (
        "maximum(",
        "/* The greater; not a number where either is none; 0 is above -0. */
static real maximum(real a, real b) {
    if (a > b) {
        return a;
    }
    if (b > a) {
        return b;
    }
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return signbit(a) ? b : a;
}
",
    ),
    (
        "power(",
        "/* a^b, by multiplications where b is an integer below 1024 in size. */
static real power(real a, real b) {
    if (@fabs@(b) < @most@ && b == @trunc@(b)) {
        int left = (int)@fabs@(b);
        real square = a;
        real result = @one@;
        for (;;) {
            if (left % 2 != 0) {
                result *= square;
            }
            left /= 2;
            if (left == 0) {
                break;
            }
            square *= square;
        }
        return (b < @zero@) ? @one@ / result : result;
    }
    return @pow@(a, b);
}
",
    ),
];

impl C {
    /// The helpers that a text calls.
    pub(super) fn helpers(self, text: &str) -> String {
        let mut helpers = String::new();
        for (_, helper) in HELPERS.iter().filter(|(call, _)| text.contains(call)) {
            let helper = helper
                .replace("@zero@", &self.literal(0.0))
                .replace("@one@", &self.literal(1.0))
                .replace("@most@", &self.literal(1024.0));
            let functions = ["fabs", "trunc", "pow"];
            helpers.push_str(&functions.iter().fold(helper, |helper, function| {
                helper.replace(&format!("@{function}@"), &self.function(function))
            }));
            helpers.push('\n');
        }
        helpers
    }
}

impl Language for C {
    fn table_names(&self, program: &str) -> [String; 2] {
        [format!("{program}_numbers"), format!("{program}_indices")]
    }

    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String {
        let kind = if is_index { "int" } else { "real" };
        format!(
            "static const {kind} {name}[{}] = {{{}}};\n\n",
            entries.len(),
            wrapped(entries)
        )
    }

    fn open(&self, signature: &Signature<'_>) -> String {
        let one = |array: &Array| match array {
            Array::Time => "real t".to_string(),
            Array::Temporaries | Array::Output => format!("real *RESTRICT {}", array.name()),
            _ => format!("const real *RESTRICT {}", array.name()),
        };
        let list: Vec<String> = signature.arrays.iter().map(one).collect();
        let list = if list.is_empty() {
            "void".to_string()
        } else {
            list.join(", ")
        };
        format!("static void {}({list}) {{", signature.name)
    }

    fn entry(&self, value: f64) -> String {
        self.literal(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_strings_safe() {
        let (double, single) = (C { float: false }, C { float: true });
        assert_eq!(double.literal(0.1), "0.1");
        assert_eq!(double.literal(1e300), "1e300");
        assert_eq!(single.literal(0.1), "0.1F");
        assert_eq!(single.literal(1e300), "INFINITY");
        assert_eq!(single.literal(-1e300), "-INFINITY");
        assert_eq!(double.literal(f64::NAN), "NAN");
        assert_eq!(string("a\"b\\?é"), "\"a\\\"b\\\\\\?\\303\\251\"");
    }
}
