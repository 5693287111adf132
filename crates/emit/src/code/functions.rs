//! Programs as functions in one file.

use super::dialect::{Array, Dialect, Operation, Tables};
use super::program::{FunctionBody, parts};
use lgm_kernels::operation::Space;
use lgm_kernels::program::{Instruction, Program};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// A function's name, its array arguments, and the number of values that it writes.
pub(crate) struct Signature<'a> {
    pub(crate) name: &'a str,
    pub(crate) arrays: &'a [Array],
    pub(crate) outputs: usize,
}

impl Signature<'_> {
    /// Prints the arguments, each declared by `one`.
    pub(crate) fn declared(&self, one: impl Fn(Array) -> String) -> String {
        let list: Vec<String> = self.arrays.iter().map(|array| one(*array)).collect();
        list.join(", ")
    }

    /// Prints the arguments in a language without type declarations.
    pub(crate) fn names(&self) -> String {
        self.declared(|array| array.name().to_string())
    }
}

/// The functions and tables of a language, apart from its expressions.
pub(crate) trait Language: Dialect {
    /// Returns the names of a program's tables of numbers and indices.
    fn tables(&self, program: &str) -> Tables {
        Tables {
            numbers: self.constant(format!("{program}_numbers")),
            indices: self.constant(format!("{program}_indices")),
        }
    }
    /// Converts a name to the style of constants.
    fn constant(&self, name: String) -> String {
        name.to_ascii_uppercase()
    }
    /// Prints a table of numbers or indices.
    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String;
    /// Prints the head of a function, up to its opening brace.
    fn open(&self, signature: &Signature<'_>) -> String;
    /// Prints a statement that calls a function with an argument for each array.
    fn call(&self, name: &str, arguments: &[(Array, String)]) -> String {
        format!("{name}({}){}", listed(arguments), self.end())
    }
    /// Returns the end of a function.
    fn close(&self) -> &'static str {
        "}\n\n"
    }
    /// Returns the argument for a call between parts of one program.
    fn passed(&self, array: Array) -> String {
        array.name().to_string()
    }
}

/// Prints the arguments of a call.
pub(crate) fn listed(arguments: &[(Array, String)]) -> String {
    let list: Vec<&str> = arguments.iter().map(|argument| argument.1.as_str()).collect();
    list.join(", ")
}

/// Prints the entries of a list in lines of bounded length.
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

/// Prints a list of integers.
pub(crate) fn integers(entries: &[usize]) -> String {
    let entries: Vec<String> = entries.iter().map(usize::to_string).collect();
    wrapped(&entries)
}

/// The table of numbers: a constant of the file, not an argument.
const NUMBERS: Array = Array::Read(Space::Numbers);

/// The functions of one file.
pub(crate) struct Functions<'a> {
    language: &'a dyn Language,
    text: String,
    /// The arrays that each function takes.
    takes: FxHashMap<String, Vec<Array>>,
    /// All operations that need a function or a choice.
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

    /// Adds a program as a named function, split into parts if it is long.
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

    fn function(&mut self, name: &str, part: &FunctionBody, outputs: usize) {
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

    /// Returns a statement that calls a function, or an empty text if the program computes nothing. `of` returns the argument for each
    /// array.
    pub(crate) fn call(&self, name: &str, of: &dyn Fn(Array) -> String) -> String {
        let takes = self.takes(name);
        if takes.is_empty() {
            return String::new();
        }
        let arguments: Vec<(Array, String)> = takes.iter().map(|array| (*array, of(*array))).collect();
        self.language.call(name, &arguments)
    }

    /// Returns the arrays that a function takes.
    pub(crate) fn takes(&self, name: &str) -> &[Array] {
        self.takes.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns true if any function takes one of these arrays.
    pub(crate) fn any_takes(&self, arrays: &[Array]) -> bool {
        self.takes.values().flatten().any(|array| arrays.contains(array))
    }

    /// Returns all operations that need a function or a choice.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns all functions as text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Returns the number of operations in a program.
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
