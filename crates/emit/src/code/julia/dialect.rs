//! Expressions and functions in Julia: arrays are counted from 1, loops stay loops.

use super::super::dialect::{Dialect, Operation, Text, function_name, function_name_of_two};
use super::super::functions::{Functions, Language, Signature, wrapped};
use super::super::names::{Rules, one_line, quoted};
use super::super::scripts::double;
use lgm_kernels::operation::{Binary, Unary};

/// Words that are not names, and names already defined in the module.
pub(super) const RULES: Rules = Rules {
    reserved: &[
        "abstract",
        "as",
        "baremodule",
        "begin",
        "break",
        "catch",
        "const",
        "continue",
        "do",
        "else",
        "elseif",
        "end",
        "export",
        "false",
        "finally",
        "for",
        "function",
        "global",
        "if",
        "import",
        "in",
        "isa",
        "let",
        "local",
        "macro",
        "module",
        "mutable",
        "new",
        "outer",
        "primitive",
        "public",
        "quote",
        "return",
        "struct",
        "true",
        "try",
        "type",
        "using",
        "var",
        "where",
        "while",
        "Base",
        "Core",
        "Main",
        "Inf",
        "NaN",
        "Float64",
        "Int",
        "Vector",
        "Matrix",
        "Parameters",
        "Model",
        "Fault",
        "LinearAlgebra",
        "SparseArrays",
        "OrdinaryDiffEq",
        "DifferentialEquations",
        "ccall",
        "nothing",
        "missing",
    ],
    ignores_case: false,
    snake: false,
};

/// Julia over vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Julia;

/// A double as it stands alone.
pub(super) fn literal(value: f64) -> String {
    double(value, "NaN", "Inf")
}

/// A string.
pub(super) fn string(text: &str) -> String {
    quoted(&comment(text), &['\\', '"', '$'])
}

/// A text that ends with its line and starts no comment of several lines.
pub(super) fn comment(text: &str) -> String {
    one_line(text).replace("#=", "# =").replace("=#", "= #")
}

impl Dialect for Julia {
    fn literal(&self, value: f64) -> String {
        literal(value)
    }

    fn name_of_one(&self, operation: Unary) -> String {
        // Outside their domains, these end the program in this language.
        let ending = match operation {
            Unary::SquareRoot | Unary::Log | Unary::Asin | Unary::Acos | Unary::Sin | Unary::Cos | Unary::Tan => "_of",
            _ => "",
        };
        format!("{}{ending}", function_name(operation))
    }

    fn name_of_two(&self, operation: Binary) -> String {
        let name = match operation {
            Binary::Minimum => "min",
            Binary::Maximum => "max",
            Binary::Atan2 => "atan",
            Binary::Power => "power_of",
            _ => function_name_of_two(operation),
        };
        name.to_string()
    }

    fn fixed_index(&self, first: u32) -> String {
        (u64::from(first) + 1).to_string()
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        Text::atom(format!("ifelse({}, {}, {})", condition.text, a.text, b.text))
    }

    fn end(&self) -> &'static str {
        ""
    }

    fn remark(&self, remark: &str) -> String {
        format!(" # {remark}")
    }

    fn head(&self, count: u32) -> Option<String> {
        Some(format!("@inbounds for k in 1:{count}"))
    }

    fn tail(&self) -> &'static str {
        "end"
    }

    fn lane_index(&self, first: u32, stride: i32, _count: u32) -> String {
        let way = match stride.unsigned_abs() {
            1 => "k".to_string(),
            stride => format!("{stride} * k"),
        };
        let rest = i64::from(first) + 1 - i64::from(stride);
        match (stride < 0, rest) {
            (true, rest) => format!("{rest} - {way}"),
            (false, 0) => way,
            (false, rest) if rest < 0 => format!("{way} - {}", -rest),
            (false, rest) => format!("{way} + {rest}"),
        }
    }
}

/// Operations for which the language's own functions abort the program outside their domains.
const HELPERS: [(Operation, &str); 8] = [
    (
        Operation::One(Unary::SquareRoot),
        "sqrt_of(a) = a < 0 ? oftype(a, NaN) : sqrt(a)",
    ),
    (
        Operation::One(Unary::Log),
        "log_of(a) = a < 0 ? oftype(a, NaN) : log(a)",
    ),
    (
        Operation::One(Unary::Asin),
        "asin_of(a) = abs(a) > 1 ? oftype(a, NaN) : asin(a)",
    ),
    (
        Operation::One(Unary::Acos),
        "acos_of(a) = abs(a) > 1 ? oftype(a, NaN) : acos(a)",
    ),
    (
        Operation::One(Unary::Sin),
        "sin_of(a) = isinf(a) ? oftype(a, NaN) : sin(a)",
    ),
    (
        Operation::One(Unary::Cos),
        "cos_of(a) = isinf(a) ? oftype(a, NaN) : cos(a)",
    ),
    (
        Operation::One(Unary::Tan),
        "tan_of(a) = isinf(a) ? oftype(a, NaN) : tan(a)",
    ),
    (
        Operation::Two(Binary::Power),
        "# By multiplications where b is an integer below 1024 in size; not a number where it would be complex.
function power_of(a, b)
    if abs(b) < 1024 && b == trunc(b)
        return a^Int(trunc(b))
    end
    return a < 0 ? oftype(a, NaN) : a^b
end",
    ),
];

/// The helpers that functions call.
pub(super) fn helpers(functions: &Functions<'_>) -> String {
    let helpers = functions.helpers(&HELPERS);
    helpers.map(|helper| format!("{helper}\n\n")).collect()
}

impl Language for Julia {
    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String {
        let kind = if is_index { "Int" } else { "Float64" };
        format!("const {name} = {kind}[{}]\n\n", wrapped(entries))
    }

    fn open(&self, signature: &Signature<'_>) -> String {
        format!("function {}({})", signature.name, signature.names())
    }

    fn close(&self) -> &'static str {
        "    return nothing\nend\n\n"
    }
}
