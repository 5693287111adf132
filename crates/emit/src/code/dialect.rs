//! The description of a target language for printing programs: literals, operators, calls, indices and loops.

use lgm_kernels::operation::{Binary, Space, Unary};
use lgm_kernels::program::Index;

/// The expression length at which languages with separate statements split expressions.
const LONGEST: usize = 90;

/// The precedence of an expression; operands with lower precedence get parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    /// `a < b`, `c ? a : b`: parenthesised inside any other expression.
    Loose,
    /// `a + b`
    Sum,
    /// `a * b`
    Product,
    /// `-a`
    Sign,
    /// A name, an index or a call.
    Atom,
}

/// An expression of the target language.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) binding: Binding,
}

impl Text {
    pub(crate) fn new(binding: Binding, text: impl Into<String>) -> Text {
        Text {
            text: text.into(),
            binding,
        }
    }

    pub(crate) fn atom(text: impl Into<String>) -> Text {
        Text::new(Binding::Atom, text)
    }

    /// Prints the expression as an operand of an operator with this precedence.
    pub(crate) fn within(&self, least: Binding) -> String {
        if self.binding >= least {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }
}

/// The lanes that an index belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Straight-line code.
    Only,
    /// The variable of a loop over a number of lanes.
    Of(u32),
}

/// Returns the usual name of a function of one number.
pub(crate) fn function_name(operation: Unary) -> &'static str {
    match operation.function() {
        Some(function) => function.name(),
        None if operation == Unary::ExpMinusOne => "expm1",
        None => unreachable!("invariant: operators are no functions"),
    }
}

/// Returns the usual name of a function of two numbers.
pub(crate) fn function_name_of_two(operation: Binary) -> &'static str {
    match operation {
        Binary::Minimum => "minimum",
        Binary::Maximum => "maximum",
        Binary::Power => "power",
        Binary::Atan2 => "atan2",
        _ => unreachable!("invariant: operators are no functions"),
    }
}

/// Returns the usual symbol of a relation, or of `and` and `or`.
pub(crate) fn relation(operation: Binary) -> &'static str {
    match operation {
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::And => "&&",
        Binary::Or => "||",
        _ => unreachable!("invariant: conditions are relations or logic"),
    }
}

/// Returns the usual symbol of `+`, `-`, `*` or `/`.
pub(crate) fn operator(operation: Binary) -> &'static str {
    match operation {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        _ => unreachable!("invariant: other operations are functions or conditions"),
    }
}

/// Prints a condition with its operator between the operands.
pub(crate) fn infix(sign: &str, a: &Text, b: &Text) -> Text {
    let (a, b) = (a.within(Binding::Sum), b.within(Binding::Sum));
    Text::new(Binding::Loose, format!("{a} {sign} {b}"))
}

/// The description of a language with arrays and loops.
pub(crate) trait Dialect {
    /// Prints a double exactly, as a standalone literal.
    fn literal(&self, value: f64) -> String;
    /// True if repeated divisions by a product of parameters become multiplications by a named reciprocal.
    fn shares_reciprocals(&self) -> bool {
        false
    }
    /// Prints a number within an expression.
    fn number(&self, value: f64) -> Text {
        let text = self.literal(value);
        let binding = if text.starts_with('-') {
            self.sign()
        } else {
            Binding::Atom
        };
        Text::new(binding, text)
    }
    /// Prints a number within a formula for readers, in shorter notation if the language has one.
    fn short(&self, value: f64) -> Text {
        self.number(value)
    }
    /// Prints a power with a whole exponent above 1; none if the language has no operator for it.
    fn whole_power(&self, _base: &Text, _exponent: u32) -> Option<Text> {
        None
    }
    /// Prints a parameter entry that has its own name; none if the entry is an array element.
    fn parameter(&self, _index: Index, _lane: Lane) -> Option<Text> {
        None
    }
    /// Prints an element of an argument, working memory, a table or the output, under the array's name.
    fn element(&self, array: Array, name: &str, index: &str) -> Text {
        Text::atom(match array {
            Array::Read(Space::Time) => name.to_string(),
            _ => self.indexed(name, index),
        })
    }
    /// Returns the name of a function of one number.
    fn name_of_one(&self, operation: Unary) -> String {
        function_name(operation).to_string()
    }
    /// Returns the name of a function of two numbers.
    fn name_of_two(&self, operation: Binary) -> String {
        function_name_of_two(operation).to_string()
    }
    /// Prints a call to a function of one number that has no operator.
    fn unary(&self, operation: Unary, a: &Text) -> Text {
        Text::atom(format!("{}({})", self.name_of_one(operation), a.text))
    }
    /// Prints a call to a function of two numbers that has no operator.
    fn binary(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        Text::atom(format!("{}({}, {})", self.name_of_two(operation), a.text, b.text))
    }
    /// Prints the condition that a number is nonzero.
    fn holds(&self, a: &Text) -> Text {
        self.condition(Binary::NotEqual, a, &self.number(0.0))
    }
    /// Prints a condition as a number.
    fn as_number(&self, condition: &Text) -> Text {
        self.select(condition, &self.number(1.0), &self.number(0.0))
    }
    /// Prints the selection of one of two numbers.
    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text;
    /// Returns the operator of a relation, or of `and` and `or`.
    fn relation(&self, operation: Binary) -> &'static str {
        relation(operation)
    }
    /// Prints relations such as `a < b`, `and` and `or`, on conditions or numbers as `operation` requires.
    fn condition(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        infix(self.relation(operation), a, b)
    }
    /// Prints the negation of a condition.
    fn negation(&self, a: &Text) -> Text {
        Text::new(Binding::Loose, format!("!({})", a.text))
    }
    /// Returns the end of a statement.
    fn end(&self) -> &'static str {
        ";"
    }
    /// Prints a remark after a statement, up to the end of the line.
    fn remark(&self, remark: &str) -> String;
    /// Prints a declaration: `const double r1 = ..;`.
    fn declare(&self, name: &str, value: &str) -> String {
        self.assign(name, value, None)
    }
    /// Prints an assignment, with a remark after it: `out[0] = ..;`.
    fn assign(&self, place: &str, value: &str, remark: Option<&str>) -> String {
        let remark = remark.map_or_else(String::new, |remark| self.remark(remark));
        format!("{place} = {value}{}{remark}", self.end())
    }
    /// Returns the operator `+`, `-`, `*` or `/` between numbers, or between all lanes together.
    fn operator(&self, operation: Binary, _lane: Lane) -> &'static str {
        operator(operation)
    }
    /// Prints a statement that writes working memory or the output, at a location from [`Dialect::element`].
    fn store(&self, _array: Array, place: &str, value: &str, remark: Option<&str>) -> String {
        self.assign(place, value, remark)
    }
    /// Returns the maximum length of an expression; longer expressions become separate statements.
    fn longest(&self) -> usize {
        LONGEST
    }
    /// Returns the precedence of `-a`.
    fn sign(&self) -> Binding {
        Binding::Sign
    }
    /// Returns the name of a named intermediate result within its program.
    fn local(&self, name: String) -> String {
        name
    }
    /// Prints an index that is the same in all lanes.
    fn fixed_index(&self, first: u32) -> String {
        first.to_string()
    }
    /// Returns the brackets of an index.
    fn brackets(&self) -> [char; 2] {
        ['[', ']']
    }
    /// Prints an entry of an array.
    fn indexed(&self, array: &str, index: &str) -> String {
        let [open, close] = self.brackets();
        format!("{array}{open}{index}{close}")
    }
    /// Prints the head of a loop over lanes `k`; none if one statement computes all lanes.
    fn head(&self, _count: u32) -> Option<String> {
        None
    }
    /// Returns the end of a loop.
    fn tail(&self) -> &'static str {
        "}"
    }
    /// Prints a computed index of lane `k`.
    fn lane_index(&self, first: u32, stride: i32, _count: u32) -> String {
        let way = match stride.unsigned_abs() {
            1 => "k".to_string(),
            stride => format!("{stride} * k"),
        };
        match (first, stride < 0) {
            (first, true) => format!("{first} - {way}"),
            (0, false) => way,
            (first, false) => format!("{way} + {first}"),
        }
    }
    /// Prints the entries of the index table from this start, one per lane.
    fn table_entry(&self, table: &str, first: u32, lane: Lane) -> String {
        let index = match lane {
            Lane::Only => self.fixed_index(first),
            Lane::Of(count) => self.lane_index(first, 1, count),
        };
        self.indexed(table, &index)
    }
    /// Prints an index that is read from the index table.
    fn table_index(&self, table: &str, first: u32, lane: Lane) -> String {
        self.table_entry(table, first, lane)
    }
}

/// Functions that a language may lack, so that emitted code defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A function of one number.
    One(Unary),
    /// A function of two numbers.
    Two(Binary),
    /// The selection of one of two numbers.
    Choice,
}

/// The names of the tables of a program.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) numbers: String,
    pub(crate) indices: String,
}

/// The arrays of a program's function, in the order of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Array {
    /// The inputs of programs.
    Read(Space),
    /// The target of the values.
    Output,
}

impl Array {
    /// Returns the name of the array inside a function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Array::Read(Space::Time) => "t",
            Array::Read(Space::Parameters) => "p",
            Array::Read(Space::States) => "x",
            Array::Read(Space::Inputs) => "u",
            Array::Read(Space::Rates) => "du",
            Array::Read(Space::Unknowns) => "w",
            Array::Read(Space::Numbers) => "numbers",
            Array::Read(Space::Temporaries) => "s",
            Array::Output => "out",
        }
    }
}
