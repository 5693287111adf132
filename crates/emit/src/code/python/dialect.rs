//! Expressions and functions in Python with NumPy: of numbers in a named model, of arrays in a large one, where one statement computes
//! all lanes of a loop.

use crate::code::dialect::{Array, Binding, Dialect, Lane, Text, function_name, function_name_of_two, infix, relation};
use crate::code::functions::{Language, Signature, wrapped};
use crate::code::named::Naming;
use crate::code::names::{Rules, one_line};
use crate::code::script::{self, Head, Places, ScriptLanguage, Style, double, wrapped_words};
use crate::code::subject::Parameter;
use lgm_kernels::operation::{Binary, Unary};
use lgm_kernels::program::Index;

/// Words that are not names.
pub(in crate::code) const RULES: Rules = Rules {
    reserved: "False None True and as assert async await break class continue def del elif else except finally for from \
        global if import in is lambda nonlocal not or pass raise return try while with yield np field float",
    ignores_case: false,
    snake: false,
};

/// Names that the files themselves use in functions.
const TAKEN: &str = "t x u du w p m r y dx out np ca abs float sys";

/// Python.
#[derive(Clone, Copy)]
pub(in crate::code) struct Python<'n> {
    /// The module of functions: `np`, or `ca` for CasADi.
    pub(in crate::code) module: &'static str,
    /// The names of a model; none over arrays.
    pub(in crate::code) names: Option<&'n Places>,
}

/// Prints a double as it stands alone.
pub(in crate::code) fn literal(value: f64) -> String {
    double(value, "np.nan", "np.inf")
}

/// Makes a text harmless in a string or a remark.
pub(in crate::code) fn quote(text: &str) -> String {
    one_line(text).replace(['\\', '"', '{', '}'], " ")
}

impl Python<'_> {
    fn is_casadi(&self) -> bool {
        self.module == "ca"
    }

    fn call(&self, name: &str, arguments: &[&Text]) -> Text {
        let list: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        Text::atom(format!("{}.{name}({})", self.module, list.join(", ")))
    }
}

impl Dialect for Python<'_> {
    fn literal(&self, value: f64) -> String {
        literal(value)
    }

    script::notation!("np.pi", "**", 0);

    fn name_of_one(&self, operation: Unary) -> String {
        let name = match (operation, self.is_casadi()) {
            (Unary::Absolute, true) => "fabs",
            (Unary::Asin, false) => "arcsin",
            (Unary::Acos, false) => "arccos",
            (Unary::Atan, false) => "arctan",
            (Unary::Asinh, false) => "arcsinh",
            _ => function_name(operation),
        };
        format!("{}.{name}", self.module)
    }

    fn name_of_two(&self, operation: Binary) -> String {
        let name = match (operation, self.is_casadi()) {
            (Binary::Atan2, false) => "arctan2",
            (Binary::Minimum, true) => "fmin",
            (Binary::Maximum, true) => "fmax",
            _ => function_name_of_two(operation),
        };
        format!("{}.{name}", self.module)
    }

    fn as_number(&self, condition: &Text) -> Text {
        match (self.is_casadi(), self.names) {
            (false, Some(_)) => Text::atom(format!("float({})", condition.text)),
            _ => self.select(condition, &Text::atom("1"), &Text::atom("0")),
        }
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        match (self.is_casadi(), self.names) {
            (true, _) => self.call("if_else", &[condition, a, b]),
            (false, None) => self.call("where", &[condition, a, b]),
            (false, Some(_)) => Text::atom(format!("({} if {} else {})", a.text, condition.text, b.text)),
        }
    }

    fn condition(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        let is_logic = matches!(operation, Binary::And | Binary::Or);
        let word = if operation == Binary::And { "and" } else { "or" };
        match (is_logic, self.is_casadi(), self.names) {
            (false, ..) => infix(relation(operation), a, b),
            (true, true, _) => self.call(&format!("logic_{word}"), &[a, b]),
            (true, false, None) => self.call(&format!("logical_{word}"), &[a, b]),
            (true, false, Some(_)) => infix(word, a, b),
        }
    }

    fn negation(&self, a: &Text) -> Text {
        match (self.is_casadi(), self.names) {
            (true, _) => self.call("logic_not", &[a]),
            (false, None) => self.call("logical_not", &[a]),
            (false, Some(_)) => Text::new(Binding::Loose, format!("not ({})", a.text)),
        }
    }

    fn end(&self) -> &'static str {
        ""
    }

    fn remark(&self, remark: &str) -> String {
        format!("  # {remark}")
    }

    fn lane_index(&self, first: u32, stride: i32, count: u32) -> String {
        let last = i64::from(first) + i64::from(stride) * (i64::from(count) - 1);
        let end = last + i64::from(stride.signum());
        match (stride, end) {
            (1, _) => format!("{first}:{end}"),
            (stride, end) if end < 0 => format!("{first}::{stride}"),
            (stride, _) => format!("{first}:{end}:{stride}"),
        }
    }
}

impl Language for Python<'_> {
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

/// Prints a list of numbers.
fn integers(list: Vec<usize>) -> String {
    let list: Vec<String> = list.iter().map(usize::to_string).collect();
    format!("[{}]", wrapped(&list))
}

impl ScriptLanguage for Python<'_> {
    fn naming(&self) -> Naming {
        Naming {
            rules: RULES,
            taken: TAKEN,
            longest: usize::MAX,
            entry: |parameter: &Parameter, member, at| match parameter.shape.as_slice() {
                [] => format!("p.{member}"),
                [_, columns] => format!("p.{member}[{}, {}]", at / columns, at % columns),
                _ => format!("p.{member}[{at}]"),
            },
        }
    }

    fn style(&self) -> Style {
        Style {
            brackets: ["(", ")"],
            mark: "",
            ends_lines: false,
        }
    }

    fn begin(&self, head: &Head<'_>) -> String {
        let mut text = format!("def {}({}):\n    \"\"\"{}", head.name, head.arguments, head.words[0]);
        if let [_, first, rest @ ..] = &head.words[..] {
            let lines = std::iter::once(first).chain(rest);
            let lines: Vec<String> = lines.map(|line| wrapped_words("    ", &quote(line))).collect();
            text.push_str(&format!("\n\n{}\n    ", lines.join("\n")));
        }
        text + "\"\"\"\n"
    }

    fn finish(&self, result: &str) -> String {
        format!("    return {result}\n\n\n")
    }

    fn zeros(&self, name: &str, rows: usize, columns: Option<usize>) -> String {
        match (self.is_casadi(), columns) {
            (true, columns) => format!("{name} = ca.SX({rows}, {})", columns.unwrap_or(1)),
            (false, Some(columns)) => format!("{name} = np.zeros(({rows}, {columns}))"),
            (false, None) => format!("{name} = np.zeros({rows})"),
        }
    }

    fn sparse(&self, name: &str, places: [Vec<usize>; 2], size: [usize; 2]) -> String {
        let [rows, columns] = places.map(integers);
        format!(
            "{name} = csc_array((entries, ({rows}, {columns})), shape={:?})",
            (size[0], size[1])
        )
    }

    fn quote(&self, text: &str) -> String {
        quote(text)
    }

    fn finish_with(&self, _result: &str, values: &[String], remark: &str) -> String {
        let remark = script::remark("#", remark);
        let vector = if self.is_casadi() { "ca.vertcat(" } else { "np.array([" };
        let close = if self.is_casadi() { ")" } else { "])" };
        format!("    return {vector}{}{close}{remark}\n\n\n", script::floats(values))
    }

    fn unpack(&self, names: &str, array: &str) -> Option<String> {
        Some(match self.is_casadi() {
            true => format!("{names} = ca.vertsplit({array})"),
            false => format!("{names} = {array}"),
        })
    }

    fn flat(&self) -> &'static str {
        "p._entries()"
    }
}
