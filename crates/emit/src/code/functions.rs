//! Programs as functions of one file.

use super::dialect::{Array, Dialect, Operation, Tables};
use super::program::{Part, parts};
use lgm_kernels::operation::Space;
use lgm_kernels::program::{Instruction, Program};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// A function's name, the arrays that it takes, and how many numbers it writes.
pub(crate) struct Signature<'a> {
    pub(crate) name: &'a str,
    pub(crate) arrays: &'a [Array],
    pub(crate) outputs: usize,
}

impl Signature<'_> {
    /// The arguments, each as `one` declares it.
    pub(crate) fn declared(&self, one: impl Fn(Array) -> String) -> String {
        let list: Vec<String> = self.arrays.iter().map(|array| one(*array)).collect();
        list.join(", ")
    }

    /// The arguments in a language that declares no types.
    pub(crate) fn names(&self) -> String {
        self.declared(|array| array.name().to_string())
    }
}

/// What a language says about functions and tables besides its expressions.
pub(crate) trait Language: Dialect {
    /// The names of a program's tables of numbers and indices.
    fn tables(&self, program: &str) -> Tables {
        Tables {
            numbers: self.constant(format!("{program}_numbers")),
            indices: self.constant(format!("{program}_indices")),
        }
    }
    /// A name as constants have it.
    fn constant(&self, name: String) -> String {
        name.to_ascii_uppercase()
    }
    /// A table of numbers, or of indices.
    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String;
    /// The head of a function, up to its opening brace.
    fn open(&self, signature: &Signature<'_>) -> String;
    /// A statement that calls a function with what stands for each array.
    fn call(&self, name: &str, arguments: &[(Array, String)]) -> String {
        format!("{name}({}){}", listed(arguments), self.end())
    }
    /// What ends a function.
    fn close(&self) -> &'static str {
        "}\n\n"
    }
    /// The argument of a call between parts of one program.
    fn passed(&self, array: Array) -> String {
        array.name().to_string()
    }
}

/// The arguments of a call.
pub(crate) fn listed(arguments: &[(Array, String)]) -> String {
    let list: Vec<&str> = arguments.iter().map(|argument| argument.1.as_str()).collect();
    list.join(", ")
}

/// Entries of a list, in lines of bounded length.
pub(crate) fn wrapped(entries: &[String]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            text.push(',');
            if column + entry.len() > 110 {
                text.push_str("\n    ");
                column = 4;
            } else {
                text.push(' ');
            }
        }
        text.push_str(entry);
        column += entry.len() + 2;
    }
    text
}

/// Integers, one after the other.
pub(crate) fn integers(entries: &[usize]) -> String {
    let entries: Vec<String> = entries.iter().map(usize::to_string).collect();
    wrapped(&entries)
}

/// The table of numbers: no argument, but a constant of the file.
const NUMBERS: Array = Array::Read(Space::Numbers);

/// The functions of one file.
pub(crate) struct Functions<'a> {
    language: &'a dyn Language,
    text: String,
    /// The arrays that each function takes.
    takes: FxHashMap<String, Vec<Array>>,
    /// What any of them has a function or a choice for.
    operations: Vec<Operation>,
}

impl<'a> Functions<'a> {
    pub(crate) fn new(language: &'a dyn Language) -> Functions<'a> {
        Functions {
            language,
            text: String::new(),
            takes: FxHashMap::default(),
            operations: Vec::new(),
        }
    }

    /// Adds a program as a function of a name, in parts where it is long.
    pub(crate) fn add(&mut self, name: &str, program: &Program, remark: &dyn Fn(u32) -> Option<String>) {
        let language = self.language;
        let tables = language.tables(name);
        let parts = parts(program, language, &tables, remark);
        let mut all: Vec<Array> = parts.iter().flat_map(|part| part.arrays.clone()).collect();
        all.sort_unstable();
        all.dedup();
        if all.contains(&NUMBERS) {
            let list: Vec<String> = program.numbers.iter().map(|value| language.literal(*value)).collect();
            self.text.push_str(&language.table(&tables.numbers, &list, false));
        }
        if parts.iter().any(|part| part.reads_indices) {
            let list = program.indices.iter().map(|index| language.fixed_index(*index));
            let list: Vec<String> = list.collect();
            self.text.push_str(&language.table(&tables.indices, &list, true));
        }
        all.retain(|array| *array != NUMBERS);
        for operation in parts.iter().flat_map(|part| &part.operations) {
            if !self.operations.contains(operation) {
                self.operations.push(*operation);
            }
        }
        match parts.as_slice() {
            [] => {}
            [part] => self.function(name, part, program.outputs),
            _ => {
                let own = |array: Array| language.passed(array);
                let mut calls = String::new();
                for (at, part) in parts.iter().enumerate() {
                    let part_name = format!("{name}_{}", at + 1);
                    self.function(&part_name, part, program.outputs);
                    let _ = writeln!(calls, "    {}", self.call(&part_name, &own));
                }
                let head = language.open(&Signature {
                    name,
                    arrays: &all,
                    outputs: program.outputs,
                });
                let _ = write!(self.text, "{head}\n{calls}{}", language.close());
            }
        }
        self.takes.insert(name.to_string(), all);
    }

    fn function(&mut self, name: &str, part: &Part, outputs: usize) {
        let arrays = part.arrays.iter().copied();
        let arrays: Vec<Array> = arrays.filter(|array| *array != NUMBERS).collect();
        let head = self.language.open(&Signature {
            name,
            arrays: &arrays,
            outputs,
        });
        let _ = writeln!(self.text, "{head}");
        for line in &part.lines {
            let _ = writeln!(self.text, "    {}", line.text);
        }
        self.text.push_str(self.language.close());
        self.takes.insert(name.to_string(), arrays);
    }

    /// A statement that calls a function; `of` says what stands for each array where it is called. Nothing where the program
    /// computes nothing.
    pub(crate) fn call(&self, name: &str, of: &dyn Fn(Array) -> String) -> String {
        let takes = self.takes(name);
        if takes.is_empty() {
            return String::new();
        }
        let arguments: Vec<(Array, String)> = takes.iter().map(|array| (*array, of(*array))).collect();
        self.language.call(name, &arguments)
    }

    /// The arrays that a function takes.
    pub(crate) fn takes(&self, name: &str) -> &[Array] {
        &self.takes[name]
    }

    /// Whether any function takes one of these arrays.
    pub(crate) fn any_takes(&self, arrays: &[Array]) -> bool {
        self.takes.values().flatten().any(|array| arrays.contains(array))
    }

    /// Of definitions of operations, those that the functions call.
    pub(crate) fn helpers<'d>(&self, definitions: &'d [(Operation, &'d str)]) -> impl Iterator<Item = &'d str> {
        let called = definitions
            .iter()
            .filter(|(operation, _)| self.operations.contains(operation));
        called.map(|(_, definition)| *definition)
    }

    /// All functions.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// How many operations a program takes.
pub(crate) fn operations(program: &Program) -> u64 {
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
