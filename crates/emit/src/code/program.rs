//! Programs of kernels as statements of a language with arrays: what the languages share.
//!
//! Loops of lanes stay loops; what is straight-line is cut into functions of bounded length, so that the time of a compiler
//! grows linearly with the model. A result that is used once stands inside the expression that uses it.

use lgm_kernels::operation::{Binary, Space, Unary};
use lgm_kernels::program::{Index, Instruction, Loop, Program, Register, Target};

/// Statements after which a function ends and another one begins.
const STATEMENTS: usize = 120;

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
        Unary::Exp => "exp",
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

/// A line of a function.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// The place in the output that it writes, where it is straight-line code that does.
    pub(crate) result: Option<u32>,
}

impl Line {
    fn plain(text: String) -> Line {
        Line { text, result: None }
    }
}

/// Statements that become one function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// Lines, as they stand in the function's body.
    pub(crate) lines: Vec<Line>,
    /// The arrays that are used, in order and each once.
    pub(crate) arrays: Vec<Array>,
    /// Whether the table of indices is read.
    pub(crate) reads_indices: bool,
    /// What is written as a function or as a choice, each once.
    pub(crate) operations: Vec<Operation>,
    statements: usize,
}

impl Part {
    fn uses(&mut self, array: Array) {
        if let Err(at) = self.arrays.binary_search(&array) {
            self.arrays.insert(at, array);
        }
    }

    fn takes(&mut self, operation: Operation) {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }
}

/// Prints a program as parts, to be run in order. `remark` says what an output is.
pub(crate) fn parts(
    program: &Program,
    dialect: &dyn Dialect,
    tables: &Tables,
    remark: &dyn Fn(u32) -> Option<String>,
) -> Vec<Part> {
    let mut done = Vec::new();
    let mut part = Part::default();
    for entry in &program.loops {
        let statements = entry.body.len() / 8 + entry.stores.len();
        if !part.lines.is_empty() && part.statements + statements > STATEMENTS {
            done.push(std::mem::take(&mut part));
        }
        let mut printer = Printer {
            entry,
            dialect,
            tables,
            remark,
            texts: vec![None; entry.body.len()],
            part: &mut part,
            lines: Vec::new(),
            prefix: done.len(),
        };
        printer.run();
        part.statements += statements;
    }
    if !part.lines.is_empty() {
        done.push(part);
    }
    done
}

/// How often and by whom each register of a body is used.
fn uses(entry: &Loop) -> Vec<u32> {
    let mut uses = vec![0; entry.body.len()];
    for instruction in &entry.body {
        for operand in instruction.operands() {
            uses[operand.0 as usize] += 1;
        }
    }
    for store in &entry.stores {
        uses[store.value.0 as usize] += 1;
    }
    uses
}

/// Prints one loop.
struct Printer<'a> {
    entry: &'a Loop,
    dialect: &'a dyn Dialect,
    tables: &'a Tables,
    remark: &'a dyn Fn(u32) -> Option<String>,
    /// What stands for each register: a condition or a number.
    texts: Vec<Option<(Text, bool)>>,
    part: &'a mut Part,
    /// Lines of the loop's body.
    lines: Vec<Line>,
    prefix: usize,
}

impl Printer<'_> {
    fn run(&mut self) {
        let entry = self.entry;
        let uses = uses(entry);
        let uniform = entry.uniform();
        let is_loop = entry.count > 1;
        // Names must be told apart within a function, whatever loops it holds.
        let base = self.part.lines.len();
        let mut ahead = Vec::new();
        for (at, instruction) in entry.body.iter().enumerate() {
            if uses[at] == 0 {
                continue;
            }
            let (text, is_condition) = self.text(instruction);
            let is_simple = matches!(instruction, Instruction::Number(_) | Instruction::Load(..));
            // What is the same in all lanes is computed in front of the loop, unless it is as good as a name.
            let goes_ahead = is_loop && uniform[at] && !is_simple && self.is_needed_in_lanes(at, &uniform);
            let is_named = goes_ahead || (!is_simple && (uses[at] > 1 || text.text.len() > self.dialect.longest()));
            if !is_named {
                self.texts[at] = Some((text, is_condition));
                continue;
            }
            let name = format!("r{}_{base}_{at}", self.prefix);
            let name = if self.prefix == 0 {
                format!("r{base}_{at}")
            } else {
                name
            };
            let name = self.dialect.local(name);
            let text = if is_condition {
                self.dialect.as_number(&text)
            } else {
                text
            };
            let line = Line::plain(self.dialect.declare(&name, &text.text));
            if goes_ahead || (is_loop && uniform[at]) {
                ahead.push(line);
            } else {
                self.lines.push(line);
            }
            self.texts[at] = Some((Text::atom(name), false));
        }
        for store in &entry.stores {
            let array = match store.target {
                Target::Output => Array::Output,
                Target::Temporary => Array::Read(Space::Temporaries),
            };
            self.part.uses(array);
            let index = self.index(store.index);
            let place = self.dialect.element(array, array.name(), &index).text;
            let result = match (store.target, store.index, is_loop) {
                (Target::Output, Index::Affine { first, .. }, false) => Some(first),
                _ => None,
            };
            let remark = result.and_then(self.remark);
            let value = self.number(store.value).text;
            let text = self.dialect.store(array, &place, &value, remark.as_deref());
            self.lines.push(Line { text, result });
        }
        if !is_loop {
            self.part.lines.append(&mut self.lines);
            return;
        }
        self.part.lines.append(&mut ahead);
        let Some(head) = self.dialect.head(entry.count) else {
            self.part.lines.append(&mut self.lines);
            return;
        };
        let inner = self.lines.iter().map(|line| format!("    {}", line.text));
        let whole = std::iter::once(head)
            .chain(inner)
            .chain([self.dialect.tail().to_string()]);
        self.part.lines.extend(whole.map(Line::plain));
    }

    /// Whether some lane, or a store, reads a register.
    fn is_needed_in_lanes(&self, register: usize, uniform: &[bool]) -> bool {
        let reads = |instruction: &Instruction| instruction.operands().any(|operand| operand.0 as usize == register);
        let bodies = self.entry.body.iter().enumerate();
        bodies
            .skip(register + 1)
            .any(|(at, entry)| !uniform[at] && reads(entry))
            || self.entry.stores.iter().any(|store| store.value.0 as usize == register)
    }

    fn lane(&self) -> Lane {
        match self.entry.count {
            1 => Lane::Only,
            count => Lane::Of(count),
        }
    }

    fn index(&mut self, index: Index) -> String {
        match (index, self.lane()) {
            (Index::Table { first }, lane) => {
                self.part.reads_indices = true;
                self.dialect.table_index(&self.tables.indices, first, lane)
            }
            (Index::Affine { first, stride }, Lane::Of(count)) if stride != 0 => {
                self.dialect.lane_index(first, stride, count)
            }
            (Index::Affine { first, .. }, _) => self.dialect.fixed_index(first),
        }
    }

    /// A register as a number.
    fn number(&self, register: Register) -> Text {
        let (text, is_condition) = self.texts[register.0 as usize]
            .as_ref()
            .expect("invariant: instructions refer to earlier ones");
        match is_condition {
            true => self.dialect.as_number(text),
            false => text.clone(),
        }
    }

    /// A register as a condition.
    fn condition(&self, register: Register) -> Text {
        let (text, is_condition) = self.texts[register.0 as usize]
            .as_ref()
            .expect("invariant: instructions refer to earlier ones");
        match is_condition {
            true => text.clone(),
            false => self.dialect.holds(text),
        }
    }

    /// What stands for an instruction, and whether that is a condition.
    fn text(&mut self, instruction: &Instruction) -> (Text, bool) {
        let (dialect, lane) = (self.dialect, self.lane());
        let infix = |least: Binding, operation: Binary, a: &Text, b: &Text| {
            let operator = dialect.operator(operation, lane);
            // The right side of an operator of the same rank stays in parentheses: order decides the rounding.
            let above = match least {
                Binding::Sum => Binding::Product,
                _ => Binding::Sign,
            };
            // To add what is negated is to subtract, to the sign of a zero.
            let text = match b.text.strip_prefix('-') {
                Some(rest) if operation == Binary::Add && b.binding == Binding::Sign => {
                    format!("{} - {rest}", a.within(least))
                }
                _ => format!("{} {operator} {}", a.within(least), b.within(above)),
            };
            (Text::new(least, text), false)
        };
        match *instruction {
            Instruction::Number(value) => (dialect.number(value), false),
            Instruction::Load(space, index) => {
                let array = Array::Read(space);
                self.part.uses(array);
                let name = match space {
                    Space::Numbers => &self.tables.numbers,
                    _ => array.name(),
                };
                (dialect.element(array, name, &self.index(index)), false)
            }
            Instruction::Unary(Unary::Negate, a) => {
                let a = self.number(a);
                let text = format!("-{}", a.within(Binding::Atom));
                (Text::new(dialect.sign(), text), false)
            }
            Instruction::Unary(Unary::Not, a) => (dialect.negation(&self.condition(a)), true),
            Instruction::Unary(operation, a) => {
                self.part.takes(Operation::One(operation));
                (dialect.unary(operation, &self.number(a)), false)
            }
            Instruction::Binary(operation, a, b) => match operation {
                Binary::Add => infix(Binding::Sum, operation, &self.number(a), &self.number(b)),
                Binary::Subtract => infix(Binding::Sum, operation, &self.number(a), &self.number(b)),
                Binary::Multiply => infix(Binding::Product, operation, &self.number(a), &self.number(b)),
                Binary::Divide => infix(Binding::Product, operation, &self.number(a), &self.number(b)),
                Binary::Less | Binary::LessEqual | Binary::Equal | Binary::NotEqual => {
                    (dialect.condition(operation, &self.number(a), &self.number(b)), true)
                }
                Binary::And | Binary::Or => (
                    dialect.condition(operation, &self.condition(a), &self.condition(b)),
                    true,
                ),
                Binary::Minimum | Binary::Maximum | Binary::Atan2 | Binary::Power => {
                    self.part.takes(Operation::Two(operation));
                    (dialect.binary(operation, &self.number(a), &self.number(b)), false)
                }
            },
            Instruction::Select(condition, a, b) => {
                self.part.takes(Operation::Choice);
                let [a, b] = [a, b].map(|register| self.number(register));
                (dialect.select(&self.condition(condition), &a, &b), false)
            }
        }
    }
}
