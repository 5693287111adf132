//! How C writes expressions and functions.

use super::super::dialect::{Array, Binding, Dialect, Operation, Text, function_name, function_name_of_two};
use super::super::functions::{Functions, Language, Signature, wrapped};
use super::super::names::Rules;
use super::super::scripts::double;
use lgm_kernels::operation::Space;
use lgm_kernels::operation::{Binary, Unary};

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
    fn literal(&self, value: f64) -> String {
        let single = value as f32;
        match self.float {
            true if single.is_finite() => format!("{single:?}F"),
            true => double(f64::from(single), "NAN", "INFINITY"),
            false => double(value, "NAN", "INFINITY"),
        }
    }

    fn name_of_one(&self, operation: Unary) -> String {
        match operation {
            Unary::Absolute => self.function("fabs"),
            Unary::Sign => "sign_of".to_string(),
            _ => self.function(function_name(operation)),
        }
    }

    fn name_of_two(&self, operation: Binary) -> String {
        match operation {
            Binary::Atan2 => self.function("atan2"),
            _ => function_name_of_two(operation).to_string(),
        }
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

    fn remark(&self, remark: &str) -> String {
        format!(" /* {remark} */")
    }

    fn declare(&self, name: &str, value: &str) -> String {
        format!("const real {}", self.assign(name, value, None))
    }

    fn head(&self, count: u32) -> Option<String> {
        Some(format!("for (int k = 0; k < {count}; k++) {{"))
    }
}

/// What `Unary::Sign`, `Binary::Minimum`, `Binary::Maximum` and `Binary::Power` mean, where C has no function of the meaning.
const HELPERS: [(Operation, &str); 4] = [
    (
        Operation::One(Unary::Sign),
        "/* -1, 0 or 1; not a number of what is none. */
static real sign_of(real a) {
    return (a > @zero@) ? @one@ : ((a < @zero@) ? -@one@ : @fabs@(a));
}
",
    ),
    (
        Operation::Two(Binary::Minimum),
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
        Operation::Two(Binary::Maximum),
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
        Operation::Two(Binary::Power),
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
    /// The helpers that functions call, each guarded: several headers may have one, and all files may be compiled as one.
    pub(super) fn helpers(self, functions: &Functions<'_>) -> String {
        let mut helpers = String::new();
        for helper in functions.helpers(&HELPERS) {
            let name = helper
                .split_once("static real ")
                .and_then(|(_, rest)| rest.split_once('('));
            let name = name
                .expect("invariant: a helper is a function of numbers")
                .0
                .to_uppercase();
            helpers.push_str(&format!("#ifndef LGM_HAS_{name}\n#define LGM_HAS_{name}\n"));
            let helper = helper
                .replace("@zero@", &self.literal(0.0))
                .replace("@one@", &self.literal(1.0))
                .replace("@most@", &self.literal(1024.0));
            let functions = ["fabs", "trunc", "pow"];
            helpers.push_str(&functions.iter().fold(helper, |helper, function| {
                helper.replace(&format!("@{function}@"), &self.function(function))
            }));
            helpers.push_str("#endif\n\n");
        }
        helpers
    }
}

impl Language for C {
    fn constant(&self, name: String) -> String {
        name
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
        let one = |array: Array| match array {
            Array::Read(Space::Time) => "real t".to_string(),
            Array::Read(Space::Temporaries) | Array::Output => format!("real *RESTRICT {}", array.name()),
            _ => format!("const real *RESTRICT {}", array.name()),
        };
        let list = if signature.arrays.is_empty() {
            "void".to_string()
        } else {
            signature.declared(one)
        };
        format!("static void {}({list}) {{", signature.name)
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
