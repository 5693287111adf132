//! The functions of a model, one after the other.

use super::facts::point;
use super::layout::{Style, WIDTH, wrapped_statement};
use super::places::Places;
use crate::code::dialect::{Array, Operation, Tables};
use crate::code::functions::{Functions, Language};
use crate::code::named::{Book, Formulas, Naming};
use crate::code::program::{FunctionBody, parts};
use crate::code::subject::{Named, Subject, bracketed};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_kernels::operation::Space;
use lgm_kernels::{Kernel, SparseKernel};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// A language whose files hold the functions of a model.
pub(crate) trait ScriptLanguage: Language {
    /// Returns the rules by which quantities are named.
    fn naming(&self) -> Naming;
    /// Returns the way in which long statements go on.
    fn style(&self) -> Style;
    /// Prints the beginning of a function with its documentation.
    fn begin(&self, head: &Head<'_>) -> String;
    /// Prints the end of a function with this result.
    fn finish(&self, result: &str) -> String;
    /// Prints a statement that makes a vector or a matrix of zeros.
    fn zeros(&self, name: &str, rows: usize, columns: Option<usize>) -> String;
    /// Prints a statement that makes a sparse matrix from `entries` at rows and columns that are counted from 0.
    fn sparse(&self, name: &str, places: [Vec<usize>; 2], size: [usize; 2]) -> String;
    /// Prints the entry of a matrix.
    fn entry(&self, matrix: &str, row: usize, column: usize) -> String {
        let [row, column] = [row, column].map(|at| self.fixed_index(at as u32));
        self.indexed(matrix, &format!("{row}, {column}"))
    }
    /// Makes a text harmless in a remark.
    fn quote(&self, text: &str) -> String;
    /// Prints the end of a function whose result is a vector of short values, with a remark.
    fn finish_with(&self, result: &str, values: &[String], remark: &str) -> String;
    /// Prints a statement that gives names to all entries of a vector; none if the language has no such statement.
    fn unpack(&self, _names: &str, _array: &str) -> Option<String> {
        None
    }
    /// Prints all entries of the parameters as one vector.
    fn flat(&self) -> &'static str;
}

/// Values up to this length stand side by side in one line.
const SHORT: usize = 30;

/// The beginning of a function.
pub(crate) struct Head<'f> {
    pub(crate) name: &'f str,
    pub(crate) arguments: &'f str,
    pub(crate) result: &'f str,
    /// A sentence about the function, and the equations that it computes.
    pub(crate) words: Vec<String>,
}

/// The results of a function.
enum Content<'f> {
    /// Formulas, each with its place and a remark. An input without a signal has no formula.
    Formulas(Vec<(String, Option<ExprId>, String)>),
    Program(&'f Kernel),
}

/// A function with a vector or a matrix as its result.
struct Function<'f> {
    head: Head<'f>,
    rows: usize,
    columns: Option<usize>,
    content: Content<'f>,
    /// The statement that makes a sparse matrix of the computed entries.
    sparse: Option<String>,
}

/// Writes the functions of a model.
pub(crate) struct Writer<'a> {
    subject: &'a Subject<'a>,
    /// The language with the names of this model.
    language: &'a dyn ScriptLanguage,
    book: &'a Book,
    places: &'a Places,
    formulas: Formulas<'a>,
    is_named: bool,
    programs: Functions<'a>,
    /// The arguments of functions of a point.
    point: String,
    text: String,
    /// The functions that the text calls.
    operations: Vec<Operation>,
}

impl<'a> Writer<'a> {
    /// Creates the writer of a model; `plain` is the language over arrays.
    pub(crate) fn new(
        subject: &'a Subject<'a>,
        language: &'a dyn ScriptLanguage,
        plain: &'a dyn Language,
        (book, places): (&'a Book, &'a Places),
    ) -> Writer<'a> {
        Writer {
            subject,
            language,
            book,
            places,
            formulas: Formulas::of(subject.system),
            is_named: Formulas::new(subject).is_some(),
            programs: Functions::new(plain),
            point: point(subject),
            text: String::new(),
            operations: Vec::new(),
        }
    }

    /// Writes all functions that the model needs, and returns them.
    pub(crate) fn write(mut self, has_jacobian: bool) -> (String, Vec<Operation>) {
        self.signals();
        if !self.subject.states.is_empty() {
            self.starts();
        }
        self.right_sides();
        if has_jacobian {
            let words = "The derivatives of `right_side` with respect to the states.";
            let roots = self.formulas.rates();
            let columns = self.formulas.states();
            let kernel = &self.subject.jacobians().rates_by_states;
            self.matrix(("jacobian", words), (&roots, &columns), kernel);
        }
        if self.subject.unknowns() > 0 {
            self.loops();
        }
        self.discontinuities();
        let mut operations = self.operations;
        operations.extend(self.programs.operations());
        (self.programs.finish() + &self.text, operations)
    }

    /// Writes the functions of a language that differentiates them itself.
    pub(crate) fn write_smooth(mut self) -> String {
        self.signals();
        if !self.subject.states.is_empty() {
            self.initial_state();
        }
        self.right_sides();
        if self.subject.unknowns() > 0 {
            self.residuals();
        }
        self.programs.finish() + &self.text
    }

    /// The default signals of the inputs, and their time derivatives.
    fn signals(&mut self) {
        if self.subject.inputs.is_empty() {
            return;
        }
        let words = "The default signals of the inputs.";
        let signals = self.formulas.signals();
        self.signals_as(("inputs", "u", words), signals);
        if self.subject.reads_rates {
            let rates = self.formulas.signal_rates();
            let words = "The time derivatives of the default signals between their steps.";
            self.signals_as(("input_rates", "du", words), rates);
        }
    }

    fn signals_as(&mut self, (name, result, words): (&str, &str, &str), values: Vec<Option<ExprId>>) {
        let inputs = &self.subject.inputs;
        let results = values.into_iter().zip(inputs).enumerate();
        let results = results.map(|(at, (value, input))| (self.place(result, at), value, self.named_remark(input)));
        let results = results.collect();
        self.add(Function {
            head: Head {
                name,
                arguments: "t, p",
                result,
                words: vec![words.to_string()],
            },
            rows: inputs.len(),
            columns: None,
            content: Content::Formulas(results),
            sparse: None,
        });
    }

    fn starts(&mut self) {
        self.initial_state();
        if !self.subject.system.starts.constraints.is_empty() {
            self.dependent_starts();
        }
    }

    fn initial_state(&mut self) {
        let subject = self.subject;
        let roots = self.formulas.starts();
        let remarks = subject.states.iter().map(|state| self.named_remark(state)).collect();
        let head = (
            "initial_state",
            "p",
            "x",
            vec!["The states at the beginning of a run.".to_string()],
        );
        self.vector(head, roots, remarks, &subject.kernels.starts);
    }

    /// Initial values of dependent storage, given and derived.
    fn dependent_starts(&mut self) {
        let constraints = &self.subject.system.starts.constraints;
        let roots = constraints.iter().flat_map(|pair| [pair.given, pair.follows]);
        let results = roots
            .enumerate()
            .map(|(at, root)| (self.place("x", at), Some(root), String::new()));
        let content = Content::Formulas(results.collect());
        let words = vec!["Initial values of dependent storage in pairs: as given, and as they follow.".to_string()];
        self.add(Function {
            head: Head {
                name: "dependent_starts",
                arguments: "p",
                result: "x",
                words,
            },
            rows: 2 * constraints.len(),
            columns: None,
            content,
            sparse: None,
        });
    }

    fn right_sides(&mut self) {
        let subject = self.subject;
        let point = self.point.clone();
        let with_equations = |sentence: &str, equations: Vec<Option<String>>| {
            let equations = equations.into_iter().flatten();
            std::iter::once(sentence.to_string())
                .chain(equations)
                .collect::<Vec<_>>()
        };
        let mut words = vec!["The time derivatives of the states.".to_string()];
        if self.is_named {
            words = with_equations(&words[0], self.formulas.equations());
        }
        let remarks = subject.states.iter();
        let remarks = remarks
            .map(|state| format!("der({})", self.language.quote(&state.name)))
            .collect();
        let roots = self.formulas.rates();
        if !subject.states.is_empty() {
            self.vector(
                ("right_side", &point, "dx", words),
                roots,
                remarks,
                &subject.kernels.derivatives,
            );
        }
        let remarks = subject.outputs.iter().map(|output| self.named_remark(output)).collect();
        let roots = self.formulas.outputs();
        let words = vec!["The outputs.".to_string()];
        self.vector(
            ("outputs", &point, "y", words),
            roots,
            remarks,
            &subject.kernels.outputs,
        );
    }

    fn loops(&mut self) {
        self.residuals();
        let subject = self.subject;
        let words = "The derivatives of `residuals` with respect to the unknowns.";
        let (roots, columns) = (self.formulas.residuals(), self.formulas.unknowns());
        let kernel = &subject.jacobians().residuals_by_unknowns;
        self.matrix(("loop_matrix", words), (&roots, &columns), kernel);
    }

    fn residuals(&mut self) {
        let subject = self.subject;
        let point = self.point.clone();
        let roots = self.formulas.residuals();
        let remarks = vec![String::new(); roots.len()];
        let words = vec!["Zero if the unknowns `w` solve the algebraic loops.".to_string()];
        self.vector(
            ("residuals", &point, "r", words),
            roots,
            remarks,
            &subject.kernels.residuals,
        );
    }

    /// The instants and conditions at which a solver begins anew.
    fn discontinuities(&mut self) {
        let corners = &self.subject.corners;
        let point = self.point.clone();
        for (name, arguments, words, kernel) in [
            (
                "instants",
                "p",
                "The times at which an input or a law steps or bends.",
                corners.instants(),
            ),
            (
                "switches",
                "t, p",
                "Values that are constant between such times.",
                corners.switches(),
            ),
            (
                "conditions",
                &point,
                "Values that change their sign where a law steps or bends.",
                corners.crossings(),
            ),
            (
                "phases",
                "t, p",
                "The angles of what oscillates with time, in rad.",
                corners.phases(),
            ),
        ] {
            let is_needed = name != "phases" || self.subject.bounds_steps();
            if kernel.outputs() > 0 && is_needed {
                self.add(Function {
                    head: Head {
                        name,
                        arguments,
                        result: "out",
                        words: vec![words.to_string()],
                    },
                    rows: kernel.outputs(),
                    columns: None,
                    content: Content::Program(kernel),
                    sparse: None,
                });
            }
        }
    }

    fn vector(
        &mut self,
        (name, arguments, result, words): (&str, &str, &str, Vec<String>),
        roots: Vec<ExprId>,
        remarks: Vec<String>,
        kernel: &Kernel,
    ) {
        let rows = roots.len();
        let results = roots.into_iter().zip(remarks).enumerate();
        let results = results
            .map(|(at, (root, remark))| (self.place(result, at), Some(root), remark))
            .collect();
        self.add(Function {
            head: Head {
                name,
                arguments,
                result,
                words,
            },
            rows,
            columns: None,
            content: match self.is_named {
                true => Content::Formulas(results),
                false => Content::Program(kernel),
            },
            sparse: None,
        });
    }

    fn matrix(&mut self, (name, words): (&str, &str), (roots, by): (&[ExprId], &[SymbolId]), kernel: &SparseKernel) {
        let point = self.point.clone();
        let head = |result| Head {
            name,
            arguments: &point,
            result,
            words: vec![words.to_string()],
        };
        let function = match self.is_named {
            true => {
                let entries = self.formulas.partials(roots, by).into_iter();
                let place = |(row, column, value)| (self.language.entry("m", row, column), Some(value), String::new());
                Function {
                    head: head("m"),
                    rows: roots.len(),
                    columns: Some(by.len()),
                    content: Content::Formulas(entries.map(place).collect()),
                    sparse: None,
                }
            }
            false => {
                let rows = kernel.row_starts.windows(2).enumerate();
                let rows = rows
                    .flat_map(|(row, range)| std::iter::repeat_n(row, range[1] - range[0]))
                    .collect();
                let size = [kernel.rows, kernel.columns];
                Function {
                    head: head("entries"),
                    rows: kernel.stored(),
                    columns: None,
                    content: Content::Program(&kernel.values),
                    sparse: Some(self.language.sparse("m", [rows, kernel.columns_of.clone()], size)),
                }
            }
        };
        self.add(function);
    }

    fn place(&self, result: &str, at: usize) -> String {
        self.language.indexed(result, &self.language.fixed_index(at as u32))
    }

    /// `mass.v [m/s]`
    fn named_remark(&self, named: &Named) -> String {
        let text = format!("{} {}", named.name, bracketed(&named.unit));
        self.language.quote(text.trim())
    }

    /// Prints a function.
    fn add(&mut self, function: Function<'_>) {
        let head = &function.head;
        let result = if function.sparse.is_some() { "m" } else { head.result };
        let body = match &function.content {
            Content::Formulas(results) => self.formula_lines(results),
            Content::Program(kernel) => self.program_lines(head, kernel),
        };
        let named = Head {
            result,
            words: head.words.clone(),
            ..*head
        };
        self.text.push_str(&self.language.begin(&named));
        self.text.push_str(&self.heads(head.arguments, &body));
        self.text.push_str(&body.ahead);
        let is_short = function.columns.is_none() && function.sparse.is_none() && !body.values.is_empty();
        if is_short && body.values.iter().all(|value| value.len() <= SHORT) {
            let end = self
                .language
                .finish_with(result, &body.values, &body.remarks.join(", "));
            if end.lines().all(|line| line.len() <= WIDTH) {
                self.text.push_str(&end);
                return;
            }
        }
        let zeros = self.language.zeros(head.result, function.rows, function.columns);
        let _ = writeln!(self.text, "    {zeros}");
        self.text.push_str(&body.lines);
        if let Some(sparse) = &function.sparse {
            let _ = writeln!(self.text, "    {sparse}");
        }
        self.text.push_str(&self.language.finish(result));
    }

    fn formula_lines(&mut self, results: &[(String, Option<ExprId>, String)]) -> Lines {
        let language = self.language;
        let roots: Vec<ExprId> = results.iter().filter_map(|result| result.1).collect();
        let body = self.formulas.body(&roots, self.book, language);
        self.operations.extend(&body.operations);
        let (end, style) = (language.end(), language.style());
        let mut lines = Lines::default();
        for (name, value) in &body.statements {
            lines
                .ahead
                .push_str(&wrapped_statement(4, name, value, (end, ""), style));
        }
        let mut values = body.values.into_iter();
        for (place, root, remark) in results {
            let value = root.and_then(|_| values.next());
            let value = value.unwrap_or_else(|| language.literal(f64::NAN));
            let behind = if remark.is_empty() {
                String::new()
            } else {
                language.remark(remark)
            };
            lines
                .lines
                .push_str(&wrapped_statement(4, place, &value, (end, &behind), style));
            lines.values.push(value);
            lines.remarks.extend((!remark.is_empty()).then(|| remark.clone()));
        }
        lines
    }

    /// Prints a program in the function itself where its reads have names; otherwise, as functions over arrays that it calls.
    fn program_lines(&mut self, head: &Head<'_>, kernel: &Kernel) -> Lines {
        let program = kernel.program();
        let none = |_: u32| None;
        let mut lines = Lines::default();
        if self.is_named {
            let tables = Tables {
                numbers: String::new(),
                indices: String::new(),
            };
            let list = parts(program, self.language, &tables, &none);
            let is_plain = |part: &FunctionBody| {
                let asides = [Space::Numbers, Space::Temporaries].map(Array::Read);
                !part.reads_indices && !part.arrays.iter().any(|array| asides.contains(array))
            };
            let has_lanes = program.loops.iter().any(|entry| entry.count > 1);
            if !self.places.take_missed() && !has_lanes && list.len() < 2 && list.iter().all(is_plain) {
                for line in list.iter().flat_map(|part| &part.lines) {
                    let text = format!("    {}\n", line.text);
                    match (line.result, line.text.trim_end_matches(';').split_once(" = ")) {
                        (Some(_), Some((_, value))) => {
                            lines.lines.push_str(&text);
                            lines.values.push(value.to_string());
                        }
                        _ => lines.ahead.push_str(&text),
                    }
                }
                self.operations.extend(list.iter().flat_map(|part| &part.operations));
                return lines;
            }
        }
        let name = format!("program_{}", head.name);
        self.programs.add(&name, program, &none);
        let argument = |array| match array {
            Array::Output => head.result.to_string(),
            Array::Read(Space::Parameters) => self.language.flat().to_string(),
            other => other.name().to_string(),
        };
        if self.programs.takes(&name).contains(&Array::Read(Space::Temporaries)) {
            let _ = writeln!(
                lines.lines,
                "    {}",
                self.language.zeros("s", program.temporaries, None)
            );
        }
        let call = self.programs.call(&name, &argument);
        if !call.is_empty() {
            let _ = writeln!(lines.lines, "    {call}");
        }
        lines
    }

    /// Gives names to the entries of arrays that some lines read.
    fn heads(&self, arguments: &str, lines: &Lines) -> String {
        let code = lines.values.iter().chain([&lines.ahead]);
        let words: FxHashSet<&str> = code.flat_map(|text| words(text)).collect();
        let subject = self.subject;
        let mut heads = String::new();
        let lists: [(&str, &[String], &[Named]); 4] = [
            ("x", &self.book.states, &subject.states),
            ("u", &self.book.inputs, &subject.inputs),
            ("du", &self.book.input_rates, &[]),
            ("w", &self.book.unknowns, &[]),
        ];
        for (array, names, named) in lists {
            if !arguments.split(", ").any(|argument| argument == array) {
                continue;
            }
            let unit = |at: usize| {
                self.language
                    .quote(&named.get(at).map_or(String::new(), |named| bracketed(&named.unit)))
            };
            let read: Vec<usize> = (0..names.len())
                .filter(|at| words.contains(names[*at].as_str()))
                .collect();
            let unpacked = self.language.unpack(&names.join(", "), array);
            if let Some(line) =
                unpacked.filter(|line| read.len() == names.len() && names.len() > 1 && line.len() < WIDTH / 2)
            {
                let units: Vec<String> = (0..names.len()).map(unit).filter(|unit| !unit.is_empty()).collect();
                let remark = if units.is_empty() {
                    String::new()
                } else {
                    self.language.remark(&units.join(", "))
                };
                let _ = writeln!(heads, "    {line}{remark}");
                continue;
            }
            for at in read {
                let remark = Some(unit(at)).filter(|unit| !unit.is_empty());
                let line = self
                    .language
                    .assign(&names[at], &self.place(array, at), remark.as_deref());
                let _ = writeln!(heads, "    {line}");
            }
        }
        heads
    }
}

/// The lines of a function.
#[derive(Default)]
struct Lines {
    /// Statements before the results.
    ahead: String,
    /// Statements that store the results.
    lines: String,
    /// The values of the results; none if statements compute them in loops.
    values: Vec<String>,
    remarks: Vec<String>,
}

/// The identifiers of some lines, without members of structs.
fn words(lines: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    lines.split(move |letter| !is_part(letter))
}
