//! Expressions and functions in Julia: arrays are counted from 1, loops stay loops.

use crate::code::dialect::{Array, Binding, Dialect, Lane, Operation, Text, function_name, function_name_of_two};
use crate::code::functions::{Language, Signature, integers, wrapped};
use crate::code::named::Naming;
use crate::code::names::{Rules, one_line};
use crate::code::script::{self, Head, Places, ScriptLanguage, Style, double, wrapped_words};
use crate::code::subject::Parameter;
use lgm_kernels::operation::{Binary, Unary};
use lgm_kernels::program::Index;

/// Words that are not names, and names already defined in the module.
pub(super) const RULES: Rules = Rules {
    reserved: "abstract as baremodule begin break catch const continue do else elseif end export false finally for function \
        global if import in isa let local macro module mutable new outer primitive public quote return struct true try \
        type using var where while Base Core Main Inf NaN Float64 Int Vector Matrix Parameters Model Fault \
        LinearAlgebra SparseArrays OrdinaryDiffEq DifferentialEquations ccall nothing missing",
    ignores_case: false,
    snake: false,
};

/// Names that the files themselves use in functions.
const TAKEN: &str = "t x u du w p m r y dx out s entries abs asinh atan cosh eltype exp expm1 floor ifelse isnan max min new pi sign \
    sinh sparse tanh values zeros";

/// Julia.
#[derive(Clone, Copy)]
pub(super) struct Julia<'n> {
    /// The names of a model; none over vectors.
    pub(super) names: Option<&'n Places>,
}

/// Prints a double as it stands alone.
pub(super) fn literal(value: f64) -> String {
    double(value, "NaN", "Inf")
}

/// Makes a text harmless in a string or a remark.
pub(super) fn quote(text: &str) -> String {
    let text = one_line(text)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('$', "\\$");
    text.replace("#=", "# =").replace("=#", "= #")
}

impl Dialect for Julia<'_> {
    fn literal(&self, value: f64) -> String {
        literal(value)
    }

    script::notation!("pi", "^", 1);

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
        format!("  # {remark}")
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
pub(super) fn helpers(operations: &[Operation]) -> String {
    let helpers = HELPERS.iter().filter(|helper| operations.contains(&helper.0));
    helpers.map(|helper| format!("{}\n\n", helper.1)).collect()
}

impl Language for Julia<'_> {
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

impl ScriptLanguage for Julia<'_> {
    fn naming(&self) -> Naming {
        Naming {
            rules: RULES,
            taken: TAKEN,
            longest: usize::MAX,
            entry: |parameter: &Parameter, member, at| match parameter.shape.as_slice() {
                [] => format!("p.{member}"),
                [_, columns] => format!("p.{member}[{}, {}]", at / columns + 1, at % columns + 1),
                _ => format!("p.{member}[{}]", at + 1),
            },
        }
    }

    fn style(&self) -> Style {
        Style {
            brackets: ["(", ")"],
            mark: "",
            ends_lines: true,
        }
    }

    fn begin(&self, head: &Head<'_>) -> String {
        let function = format!("function {}({})\n", head.name, head.arguments);
        let [first, rest @ ..] = &head.words[..] else {
            return function;
        };
        if rest.is_empty() {
            return format!("\"{first}\"\n{function}");
        }
        let lines: Vec<String> = rest.iter().map(|line| wrapped_words("    ", &quote(line))).collect();
        format!("\"\"\"\n{first}\n\n{}\n\"\"\"\n{function}", lines.join("\n"))
    }

    fn finish(&self, result: &str) -> String {
        format!("    return {result}\nend\n\n")
    }

    fn finish_with(&self, _result: &str, values: &[String], remark: &str) -> String {
        let remark = script::remark("#", remark);
        format!("    return [{}]{remark}\nend\n\n", script::floats(values))
    }

    /// Results of a point have the numbers of the states, so that they can be differentiated automatically.
    fn zeros(&self, name: &str, rows: usize, columns: Option<usize>) -> String {
        let columns = columns.map_or(String::new(), |columns| format!(", {columns}"));
        let kind = if matches!(name, "dx" | "y" | "r" | "m") {
            "eltype(x), "
        } else {
            ""
        };
        format!("{name} = zeros({kind}{rows}{columns})")
    }

    fn sparse(&self, name: &str, places: [Vec<usize>; 2], size: [usize; 2]) -> String {
        let [rows, columns] = places.map(|list| {
            let list: Vec<usize> = list.iter().map(|at| at + 1).collect();
            format!("[{}]", integers(&list))
        });
        format!("{name} = sparse({rows}, {columns}, entries, {}, {})", size[0], size[1])
    }

    fn quote(&self, text: &str) -> String {
        one_line(text).replace("#=", "# =").replace("=#", "= #")
    }

    fn unpack(&self, names: &str, array: &str) -> Option<String> {
        Some(format!("{names} = {array}"))
    }

    fn flat(&self) -> &'static str {
        "entries_of(p)"
    }
}
