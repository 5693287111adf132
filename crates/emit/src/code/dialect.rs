//! What a target language says of itself, so that programs can be printed in it: literals, operators, calls, indices and loops.

use lgm_kernels::operation::{Binary, Space, Unary};

/// Where languages with statements of their own cut expressions.
const LONGEST: usize = 90;

/// How tightly an expression binds; operands that bind less tightly are put into parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    /// `a < b`, `c ? a : b`: always in parentheses inside anything else.
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

/// An expression of the target's language.
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

    /// As an operand of what binds so tightly.
    pub(crate) fn within(&self, least: Binding) -> String {
        if self.binding >= least {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }
}

/// A loop's variable: which lane an index belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Straight-line code.
    Only,
    /// The variable of a loop over so many lanes.
    Of(u32),
}

/// What most languages call a function of one number.
pub(crate) fn function_name(operation: Unary) -> &'static str {
    match operation {
        Unary::Absolute => "abs",
        Unary::Sign => "sign",
        Unary::Floor => "floor",
        Unary::SquareRoot => "sqrt",
        Unary::Sin => "sin",
        Unary::Cos => "cos",
        Unary::Tan => "tan",
        Unary::Asin => "asin",
        Unary::Acos => "acos",
        Unary::Atan => "atan",
        Unary::Sinh => "sinh",
        Unary::Cosh => "cosh",
        Unary::Tanh => "tanh",
        Unary::Asinh => "asinh",
        Unary::Exp => "exp",
        Unary::ExpMinusOne => "expm1",
        Unary::Log => "log",
        Unary::Negate | Unary::Not => unreachable!("invariant: operators are no functions"),
    }
}

/// What they call a function of two numbers.
pub(crate) fn function_name_of_two(operation: Binary) -> &'static str {
    match operation {
        Binary::Minimum => "minimum",
        Binary::Maximum => "maximum",
        Binary::Power => "power",
        Binary::Atan2 => "atan2",
        _ => unreachable!("invariant: operators are no functions"),
    }
}

/// What most languages write for a relation, or for `and` and `or`.
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

/// What they write for `+`, `-`, `*` or `/`.
pub(crate) fn operator(operation: Binary) -> &'static str {
    match operation {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        _ => unreachable!("invariant: other operations are functions or conditions"),
    }
}

/// A condition with its sign between what it is about.
pub(crate) fn infix(sign: &str, a: &Text, b: &Text) -> Text {
    let (a, b) = (a.within(Binding::Sum), b.within(Binding::Sum));
    Text::new(Binding::Loose, format!("{a} {sign} {b}"))
}

/// What a language with arrays and loops must say about itself.
pub(crate) trait Dialect {
    /// A double as it stands alone, exactly.
    fn literal(&self, value: f64) -> String;
    /// A number within an expression.
    fn number(&self, value: f64) -> Text {
        let text = self.literal(value);
        let binding = if text.starts_with('-') {
            self.sign()
        } else {
            Binding::Atom
        };
        Text::new(binding, text)
    }
    /// Element of an argument, working memory, a table or the output, under the name that the array has.
    fn element(&self, array: Array, name: &str, index: &str) -> Text {
        Text::atom(match array {
            Array::Read(Space::Time) => name.to_string(),
            _ => self.indexed(name, index),
        })
    }
    /// What a function of one number is called.
    fn name_of_one(&self, operation: Unary) -> String {
        function_name(operation).to_string()
    }
    /// The same of two numbers.
    fn name_of_two(&self, operation: Binary) -> String {
        function_name_of_two(operation).to_string()
    }
    /// A call of a function of one number that no operator stands for.
    fn unary(&self, operation: Unary, a: &Text) -> Text {
        Text::atom(format!("{}({})", self.name_of_one(operation), a.text))
    }
    /// The same of two numbers.
    fn binary(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        Text::atom(format!("{}({}, {})", self.name_of_two(operation), a.text, b.text))
    }
    /// Whether a number is not 0, as a condition.
    fn holds(&self, a: &Text) -> Text {
        self.condition(Binary::NotEqual, a, &self.number(0.0))
    }
    /// A condition as a number.
    fn as_number(&self, condition: &Text) -> Text {
        self.select(condition, &self.number(1.0), &self.number(0.0))
    }
    /// One of two numbers.
    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text;
    /// The sign of a relation, or of `and` and `or`.
    fn relation(&self, operation: Binary) -> &'static str {
        relation(operation)
    }
    /// `a < b` and its kin, `and`, `or`, on conditions or numbers as `operation` takes them.
    fn condition(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        infix(self.relation(operation), a, b)
    }
    /// `not`
    fn negation(&self, a: &Text) -> Text {
        Text::new(Binding::Loose, format!("!({})", a.text))
    }
    /// What ends a statement.
    fn end(&self) -> &'static str {
        ";"
    }
    /// A remark behind a statement, up to the end of the line.
    fn remark(&self, remark: &str) -> String;
    /// `const double r1 = ..;`
    fn declare(&self, name: &str, value: &str) -> String {
        self.assign(name, value, None)
    }
    /// `out[0] = ..;` with a remark behind it.
    fn assign(&self, place: &str, value: &str, remark: Option<&str>) -> String {
        let remark = remark.map_or_else(String::new, |remark| self.remark(remark));
        format!("{place} = {value}{}{remark}", self.end())
    }
    /// `+`, `-`, `*` or `/` between numbers, or between all lanes at once.
    fn operator(&self, operation: Binary, _lane: Lane) -> &'static str {
        operator(operation)
    }
    /// A statement that writes working memory or the output, at a place that [`Dialect::element`] gives.
    fn store(&self, _array: Array, place: &str, value: &str, remark: Option<&str>) -> String {
        self.assign(place, value, remark)
    }
    /// An expression longer than this becomes a statement of its own.
    fn longest(&self) -> usize {
        LONGEST
    }
    /// How tightly `-a` binds.
    fn sign(&self) -> Binding {
        Binding::Sign
    }
    /// The name of a result that has been given one within its program.
    fn local(&self, name: String) -> String {
        name
    }
    /// An index that is the same in all lanes.
    fn fixed_index(&self, first: u32) -> String {
        first.to_string()
    }
    /// What stands around an index.
    fn brackets(&self) -> [char; 2] {
        ['[', ']']
    }
    /// An entry of an array.
    fn indexed(&self, array: &str, index: &str) -> String {
        let [open, close] = self.brackets();
        format!("{array}{open}{index}{close}")
    }
    /// The head of a loop over lanes `k`; none where one statement computes all lanes.
    fn head(&self, _count: u32) -> Option<String> {
        None
    }
    /// What ends a loop.
    fn tail(&self) -> &'static str {
        "}"
    }
    /// An index that is computed, of the lane `k` of so many.
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
    /// The entries of the table of indices that begin at a place, one a lane.
    fn table_entry(&self, table: &str, first: u32, lane: Lane) -> String {
        let index = match lane {
            Lane::Only => self.fixed_index(first),
            Lane::Of(count) => self.lane_index(first, 1, count),
        };
        self.indexed(table, &index)
    }
    /// An index that is looked up in the table of indices.
    fn table_index(&self, table: &str, first: u32, lane: Lane) -> String {
        self.table_entry(table, first, lane)
    }
}

/// What a language may have no function for, so that emitted code brings one along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A function of one number.
    One(Unary),
    /// A function of two.
    Two(Binary),
    /// One of two numbers.
    Choice,
}

/// What the tables of a program are called.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) numbers: String,
    pub(crate) indices: String,
}

/// The arrays of a program's function, in the order of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Array {
    /// What programs read.
    Read(Space),
    /// Where the values go.
    Output,
}

impl Array {
    /// What it is called inside a function.
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
