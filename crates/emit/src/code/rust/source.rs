//! The source of the model's crate in the user's names: functions that read like the printed equations.

use super::dialect::{RULES, Rust};
use crate::code::named::{Book, Entry, Formulas, Naming, matrices};
use crate::code::names::one_line;
use crate::code::script::{Style, wrapped_statement};
use crate::code::subject::{Named, Parameter, Subject, bracketed};
use lgm_algebra::expr::{ExprId, SymbolId};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// For models with more states than this, the Jacobian is a list of entries instead of a matrix.
const MOST_IN_MATRIX: usize = 32;

/// Operators begin the next line of a long statement.
const STYLE: Style = Style {
    brackets: ["", ""],
    mark: "",
    ends_lines: false,
};

/// Names of arguments and constants, and names that a pattern would match. Quantities with these names are renamed.
const TAKEN: &str = "t x u du w p k dx y out jacobian STATES INPUTS OUTPUTS UNKNOWNS None Some Ok";

/// A result: its location, its value, and its description.
pub(super) type Result = (String, ExprId, String);

/// A method of the model: its description, its name, the name and the type of its results, and its first line.
#[derive(Clone, Copy)]
pub(super) struct Method<'m> {
    pub(super) what: &'m str,
    pub(super) name: &'m str,
    pub(super) out: &'m str,
    pub(super) kind: &'m str,
    pub(super) first: &'m str,
}

/// Returns the names of a model's quantities.
pub(super) fn book(subject: &Subject<'_>) -> Book {
    let entry = |parameter: &Parameter, member: &str, at: usize| match parameter.shape.is_empty() {
        true => format!("p.{member}"),
        false => format!("p.{member}[{at}]"),
    };
    let naming = Naming {
        rules: RULES,
        taken: TAKEN,
        longest: usize::MAX,
        entry,
    };
    Book::new(subject, &naming)
}

/// Prints the methods of a model.
pub(super) struct Source<'a> {
    subject: &'a Subject<'a>,
    book: Book,
    formulas: Formulas<'a>,
    dialect: Rust,
    /// True if the model reads time derivatives of inputs.
    reads_rates: bool,
    methods: String,
}

impl<'a> Source<'a> {
    /// Returns a printer; none if the model has too many quantities to be named.
    pub(super) fn new(subject: &'a Subject<'a>, dialect: Rust, reads_rates: bool) -> Option<Source<'a>> {
        Some(Source {
            subject,
            book: book(subject),
            formulas: Formulas::new(subject)?,
            dialect,
            reads_rates,
            methods: String::new(),
        })
    }

    /// True if the Jacobian is a matrix.
    pub(super) fn is_dense(&self) -> bool {
        self.subject.states.len() <= MOST_IN_MATRIX
    }

    /// Returns the nonzero partial derivatives of residuals and rates, as [`matrices`].
    pub(super) fn matrices(&mut self) -> [(usize, Vec<Entry>); 4] {
        matrices(&mut self.formulas)
    }

    /// Returns the nonzero entries of the Jacobian of a model without loops.
    pub(super) fn jacobian(&mut self) -> Vec<Entry> {
        let (rates, states) = (self.formulas.rates(), self.formulas.states());
        self.formulas.partials(&rates, &states)
    }

    /// Returns the arguments that follow the model in a call at a point: `at.t, at.x, at.u`.
    pub(super) fn arguments(&self) -> String {
        let mut list = "at.t, at.x, at.u".to_string();
        for (is_read, name) in [(self.reads_rates, ", at.du"), (self.subject.unknowns() > 0, ", w")] {
            if is_read {
                list.push_str(name);
            }
        }
        list
    }

    /// Returns the results with the user's names: `dx[0]` with the remark `der(inductance.i)`.
    pub(super) fn results(out: &str, values: &[ExprId], remark: impl Fn(usize) -> String) -> Vec<Result> {
        let values = values.iter().enumerate();
        values
            .map(|(at, value)| (format!("{out}[{at}]"), *value, remark(at)))
            .collect()
    }

    /// Prints a method that is evaluated at a point, with the equations in the modelling language.
    pub(super) fn at_point(&mut self, method: Method<'_>, equations: &[Option<String>], results: &[Result]) {
        let (lines, reads) = self.lines(results, 8);
        let system = self.subject.system;
        let states: Vec<SymbolId> = self.formulas.states();
        let inputs: Vec<SymbolId> = system.inputs.iter().map(|input| input.symbol).collect();
        let unknowns: Vec<SymbolId> = self.formulas.unknowns();
        let reads_any = |symbols: &[SymbolId]| symbols.iter().any(|symbol| reads.contains(symbol));
        let arguments = [
            (true, reads.contains(&system.time), "t: T"),
            (true, reads_any(&states), "x: &[T; STATES]"),
            (true, reads_any(&inputs), "u: &[T; INPUTS]"),
            (self.reads_rates, reads_any(&system.input_rates), "du: &[T; INPUTS]"),
            (!unknowns.is_empty(), reads_any(&unknowns), "w: &[T; UNKNOWNS]"),
        ];
        let mut list = "&self".to_string();
        for (_, is_read, argument) in arguments.iter().filter(|argument| argument.0) {
            let _ = write!(list, ", {}{argument}", if *is_read { "" } else { "_" });
        }
        let Method {
            what,
            name,
            out,
            kind,
            first,
        } = method;
        let _ = write!(
            self.methods,
            "\n    /// {what}\n    pub fn {name}({list}, {out}: &mut {kind}) {{\n"
        );
        for equation in equations.iter().flatten() {
            let _ = writeln!(self.methods, "        // {}", one_line(equation));
        }
        self.methods.push_str(first);
        self.methods.push_str(&lines.concat());
        self.methods.push_str("    }\n");
    }

    /// Prints the constants that name what the results read, the lines that compute the results, and the symbols that they read.
    fn lines(&self, results: &[Result], indent: usize) -> ([String; 2], FxHashSet<SymbolId>) {
        let roots: Vec<ExprId> = results.iter().map(|result| result.1).collect();
        let body = self.formulas.body(&roots, &self.book, &self.dialect);
        let (subject, system) = (self.subject, self.subject.system);
        let mut head = String::new();
        let mut parameters = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        if parameters.any(|entry| body.reads.contains(&entry.symbol)) {
            head.push_str("        let p = &self.p;\n");
        }
        let book = &self.book;
        let states = self.formulas.states();
        let inputs: Vec<SymbolId> = system.inputs.iter().map(|input| input.symbol).collect();
        let unknowns = self.formulas.unknowns();
        for (symbols, names, users, array) in [
            (&states, &book.states, &subject.states[..], "x"),
            (&inputs, &book.inputs, &subject.inputs[..], "u"),
            (&system.input_rates, &book.input_rates, &[][..], "du"),
            (&unknowns, &book.unknowns, &[][..], "w"),
        ] {
            let symbols = symbols.iter().enumerate();
            for (at, _) in symbols.filter(|(_, symbol)| body.reads.contains(symbol)) {
                let unit = users
                    .get(at)
                    .map_or(String::new(), |user: &Named| bracketed(&user.unit));
                let remark = if unit.is_empty() { unit } else { format!(" // {unit}") };
                let _ = writeln!(head, "        let {} = {array}[{at}];{remark}", names[at]);
            }
        }
        let mut lines = String::new();
        for (name, value) in &body.statements {
            lines.push_str(&wrapped_statement(
                indent,
                &format!("let {name}"),
                value,
                (";", ""),
                STYLE,
            ));
        }
        for ((place, _, remark), value) in results.iter().zip(&body.values) {
            let remark = if remark.is_empty() {
                String::new()
            } else {
                format!(" // {remark}")
            };
            lines.push_str(&wrapped_statement(indent, place, value, (";", &remark), STYLE));
        }
        if !head.is_empty() {
            head.push('\n');
        }
        ([head, lines], body.reads)
    }

    /// Prints the method that creates a model: the lines that compute derived parameters.
    pub(super) fn derived(&self) -> String {
        let mut lines = String::new();
        let subject = self.subject;
        for (position, _) in subject.kernels.derived().iter() {
            if let Some(value) = self.formulas.derived(*position) {
                let place = &self.book.entries[*position];
                let ([_, own], _) = self.lines(&[(place.clone(), value, String::new())], 12);
                let _ = write!(lines, "        if {place}.is_nan() {{\n{own}        }}\n");
            }
        }
        lines
    }

    /// Prints the method that writes the initial states.
    pub(super) fn initial_states(&mut self) {
        let states = self.subject.states.iter();
        let names: Vec<String> = states.map(|state| one_line(&state.name)).collect();
        let results = Source::results("x", &self.formulas.starts(), |at| names[at].clone());
        let (lines, reads) = self.lines(&results, 8);
        let time = match reads.contains(&self.subject.system.time) {
            true => "        let t = T::c(0.0);\n",
            false => "",
        };
        let _ = write!(
            self.methods,
            "\n    /// Initial states.\n    pub fn initial_states(&self, x: &mut [T; STATES]) {{\n{time}{}    }}\n",
            lines.concat()
        );
    }

    /// Returns the short equations of states and outputs in the modelling language.
    pub(super) fn equations(&self) -> [Vec<Option<String>>; 2] {
        [self.formulas.equations(), self.formulas.output_equations()]
    }

    /// Returns the values of rates and outputs.
    pub(super) fn values(&self) -> [Vec<ExprId>; 2] {
        [self.formulas.rates(), self.formulas.outputs()]
    }

    /// Returns the residuals of the loops.
    pub(super) fn residuals(&self) -> Vec<ExprId> {
        self.formulas.residuals()
    }

    /// Returns the entries of all parameters in the model: `model.p.R_a`.
    pub(super) fn entries(&self) -> Vec<String> {
        self.book.entries.iter().map(|entry| format!("model.{entry}")).collect()
    }

    /// Returns the methods.
    pub(super) fn finish(self) -> String {
        self.methods
    }
}
