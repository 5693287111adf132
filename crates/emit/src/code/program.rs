//! Kernel programs as statements of a language with arrays: the part that all languages share.
//!
//! Loops of lanes stay loops; straight-line code is split into functions of bounded length, so that the compile time
//! grows linearly with the model. A result that is used only once is inlined into the expression that uses it.

use super::dialect::{Array, Binding, Dialect, Lane, Operation, Tables, Text};
use lgm_kernels::operation::{Binary, Space, Unary};
use lgm_kernels::program::{Index, Instruction, Loop, Program, Register, Target};

/// The number of statements after which a new function begins.
const STATEMENTS: usize = 120;

/// A line of a function.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// The output index that the line writes, if the line is straight-line code that writes an output.
    pub(crate) result: Option<u32>,
}

impl Line {
    fn plain(text: String) -> Line {
        Line { text, result: None }
    }
}

/// Statements that form one function.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionBody {
    /// Lines of the function's body.
    pub(crate) lines: Vec<Line>,
    /// The arrays in use, in order and without duplicates.
    pub(crate) arrays: Vec<Array>,
    /// True if the function reads the table of indices.
    pub(crate) reads_indices: bool,
    /// The operations that become a function or a choice, without duplicates.
    pub(crate) operations: Vec<Operation>,
    statements: usize,
}

impl FunctionBody {
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

/// Prints a program as parts that run in order. `remark` describes an output.
pub(crate) fn parts(
    program: &Program,
    dialect: &dyn Dialect,
    tables: &Tables,
    remark: &dyn Fn(u32) -> Option<String>,
) -> Vec<FunctionBody> {
    let mut done = Vec::new();
    let mut part = FunctionBody::default();
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

/// Counts the uses of each register in a body.
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
    /// The expression for each register; the flag is true for a condition and false for a number.
    texts: Vec<Option<(Text, bool)>>,
    part: &'a mut FunctionBody,
    /// Lines of the loop body.
    lines: Vec<Line>,
    prefix: usize,
}

impl Printer<'_> {
    fn run(&mut self) {
        let entry = self.entry;
        let uses = uses(entry);
        let uniform = entry.uniform();
        let is_loop = entry.count > 1;
        // Names must be distinct within a function, across all its loops.
        let base = self.part.lines.len();
        let mut ahead = Vec::new();
        for (at, instruction) in entry.body.iter().enumerate() {
            if uses[at] == 0 {
                continue;
            }
            let (text, is_condition) = self.text(instruction);
            let is_simple = matches!(instruction, Instruction::Number(_) | Instruction::Load(..));
            // Values that are equal in all lanes are computed before the loop, unless they are as short as a name.
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

    /// Returns true if a lane-dependent instruction or a store reads a register.
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

    /// Prints a register as a number.
    fn number(&self, register: Register) -> Text {
        let (text, is_condition) = self.texts[register.0 as usize]
            .as_ref()
            .expect("invariant: instructions refer to earlier ones");
        match is_condition {
            true => self.dialect.as_number(text),
            false => text.clone(),
        }
    }

    /// Prints a register as a condition.
    fn condition(&self, register: Register) -> Text {
        let (text, is_condition) = self.texts[register.0 as usize]
            .as_ref()
            .expect("invariant: instructions refer to earlier ones");
        match is_condition {
            true => text.clone(),
            false => self.dialect.holds(text),
        }
    }

    /// Returns the expression of an instruction, and whether it is a condition.
    fn text(&mut self, instruction: &Instruction) -> (Text, bool) {
        let (dialect, lane) = (self.dialect, self.lane());
        let infix = |least: Binding, operation: Binary, a: &Text, b: &Text| {
            let operator = dialect.operator(operation, lane);
            // The right operand of an operator of equal precedence keeps its parentheses: the order determines the rounding.
            let above = match least {
                Binding::Sum => Binding::Product,
                _ => Binding::Sign,
            };
            // Adding a negated value is a subtraction, up to the sign of zero.
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
                if let Some(text) = (space == Space::Parameters)
                    .then(|| dialect.parameter(index, lane))
                    .flatten()
                {
                    return (text, false);
                }
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
