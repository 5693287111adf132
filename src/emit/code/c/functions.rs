//! Programs as static functions of one file of C.

use super::super::program::{Array, Part, parts};
use super::dialect::C;
use crate::kernels::program::{Instruction, Program};
use rustc_hash::FxHashMap;
use std::fmt::Write;

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

/// The functions of one file.
pub(super) struct Functions<'a> {
    pub(super) c: &'a C,
    text: String,
    /// The arrays that each function takes.
    takes: FxHashMap<String, Vec<Array>>,
}

impl<'a> Functions<'a> {
    pub(super) fn new(c: &'a C) -> Functions<'a> {
        Functions {
            c,
            text: String::new(),
            takes: FxHashMap::default(),
        }
    }

    /// Adds a program as a function of a name, in parts where it is long.
    pub(super) fn add(&mut self, name: &str, program: &Program, remark: &dyn Fn(u32) -> Option<String>) {
        let parts = parts(program, self.c, remark);
        let uses = |array| parts.iter().any(|part| part.arrays.contains(&array));
        if uses(Array::Numbers) {
            let numbers = program.numbers.iter().map(|value| self.c.literal(*value));
            let numbers = super::list(numbers, String::new());
            let _ = writeln!(
                self.text,
                "static const real {name}_numbers[{}] = {{{numbers}}};\n",
                program.numbers.len()
            );
        }
        if parts
            .iter()
            .flat_map(|part| &part.lines)
            .any(|line| line.contains("indices["))
        {
            let indices = super::list(program.indices.iter().map(u32::to_string), String::new());
            let _ = writeln!(
                self.text,
                "static const int {name}_indices[{}] = {{{indices}}};\n",
                program.indices.len()
            );
        }
        let mut all: Vec<Array> = parts.iter().flat_map(|part| part.arrays.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|array| *array != Array::Numbers);
        match parts.as_slice() {
            [] => {}
            [part] => self.function(name, name, part),
            _ => {
                let own = |array: Array| argument(array).to_string();
                let mut calls = String::new();
                for (at, part) in parts.iter().enumerate() {
                    let part_name = format!("{name}_{}", at + 1);
                    self.function(&part_name, name, part);
                    let _ = writeln!(calls, "    {}", self.call(&part_name, &own));
                }
                let _ = write!(self.text, "static void {name}({}) {{\n{calls}}}\n\n", signature(&all));
            }
        }
        self.takes.insert(name.to_string(), all);
    }

    fn function(&mut self, name: &str, program: &str, part: &Part) {
        let arrays: Vec<Array> = part
            .arrays
            .iter()
            .copied()
            .filter(|array| *array != Array::Numbers)
            .collect();
        let _ = writeln!(self.text, "static void {name}({}) {{", signature(&arrays));
        for line in &part.lines {
            // Tables belong to the whole program.
            let line = line
                .replace("indices[", &format!("{program}_indices["))
                .replace("numbers[", &format!("{program}_numbers["));
            let _ = writeln!(self.text, "    {line}");
        }
        self.text.push_str("}\n\n");
        self.takes.insert(name.to_string(), arrays);
    }

    /// A statement that calls a function; `of` says what stands for each array where it is called. Nothing where the program
    /// computes nothing.
    pub(super) fn call(&self, name: &str, of: &dyn Fn(Array) -> String) -> String {
        let takes = &self.takes[name];
        if takes.is_empty() {
            return String::new();
        }
        let arguments: Vec<String> = takes.iter().map(|array| of(*array)).collect();
        format!("{name}({});", arguments.join(", "))
    }

    /// The helpers that the functions call, and the functions.
    pub(super) fn finish(self) -> (String, String) {
        let mut helpers = String::new();
        for (call, text) in HELPERS {
            if self.text.contains(call) {
                let text = text
                    .replace("@zero@", &self.c.literal(0.0))
                    .replace("@one@", &self.c.literal(1.0))
                    .replace("@most@", &self.c.literal(1024.0));
                let text = ["fabs", "trunc", "pow"].iter().fold(text, |text, function| {
                    text.replace(&format!("@{function}@"), &self.c.function(function))
                });
                helpers.push_str(&text);
                helpers.push('\n');
            }
        }
        (helpers, self.text)
    }
}

fn argument(array: Array) -> &'static str {
    match array {
        Array::Time => "t",
        Array::Parameters => "p",
        Array::States => "x",
        Array::Inputs => "u",
        Array::Rates => "du",
        Array::Unknowns => "w",
        Array::Numbers => "numbers",
        Array::Temporaries => "s",
        Array::Output => "out",
    }
}

fn signature(arrays: &[Array]) -> String {
    let one = |array: &Array| match array {
        Array::Time => "real t".to_string(),
        Array::Temporaries | Array::Output => format!("real *RESTRICT {}", argument(*array)),
        _ => format!("const real *RESTRICT {}", argument(*array)),
    };
    let list: Vec<String> = arrays.iter().map(one).collect();
    if list.is_empty() {
        "void".to_string()
    } else {
        list.join(", ")
    }
}

/// How many operations a program takes.
pub(super) fn operations(program: &Program) -> u64 {
    let of = |body: &[Instruction]| {
        let counted = body
            .iter()
            .filter(|instruction| !matches!(instruction, Instruction::Number(_) | Instruction::Load(..)));
        counted.count() as u64
    };
    program
        .loops
        .iter()
        .map(|entry| u64::from(entry.count) * of(&entry.body))
        .sum()
}
