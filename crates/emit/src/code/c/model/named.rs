//! Equations in the user's names.

use super::facts::{Bodies, Model};
use super::parts;
use crate::code::c::dialect::entry_place;
use crate::code::c::loops::Pattern;
use crate::code::c::text::{comment, remark_of, wrapped_code};
use crate::code::named::{Entry, Formulas, matrices};
use crate::code::subject::{Named, bracketed};
use lgm_algebra::expr::{ExprId, SymbolId};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// A result: its location, its value, and its description.
type Result = (String, ExprId, Option<String>);

/// Prints the functions of one model.
pub(super) struct Printer<'p, 'a> {
    pub(super) model: &'p Model<'a>,
    pub(super) formulas: &'p Formulas<'p>,
    pub(super) bodies: Bodies,
}

pub(super) fn bodies(model: &Model<'_>, formulas: &mut Formulas<'_>) -> Bodies {
    let subject = model.subject;
    let jacobian = match model.has_jacobian() {
        true => {
            let (rates, states) = (formulas.rates(), formulas.states());
            formulas.partials(&rates, &states)
        }
        false => Vec::new(),
    };
    let of_loops = model.has_loops().then(|| matrices(formulas));
    let mut printer = Printer {
        model,
        formulas,
        bodies: Bodies::default(),
    };
    printer.derived();
    printer.starts();
    if let Some(matrices) = of_loops {
        printer.loops(matrices);
    }
    printer.right_sides();
    printer.blocks();
    if model.has_jacobian() {
        let (rows, columns) = subject.jacobian_pattern();
        let pattern = match model.has_loops() {
            true => Pattern { rows, columns },
            false => Pattern::of_entries(subject.states.len(), jacobian.iter().map(|entry| (entry.0, entry.1))),
        };
        if !model.has_loops() {
            printer.jacobian(&jacobian);
        }
        printer.bodies.pattern = Some(pattern);
    }
    printer.bodies
}

impl Printer<'_, '_> {
    /// Prints the lines that compute results from the arguments of a function; loop unknowns are in `unknowns`.
    fn lines(&mut self, results: &[Result], unknowns: &str, has_parameters: bool) -> String {
        let names = self.model.names;
        let roots: Vec<ExprId> = results.iter().map(|result| result.1).collect();
        let body = self.formulas.body(&roots, &names.book, &self.model.c);
        self.bodies.takes(&body.operations);
        let mut out = String::new();
        if !has_parameters && self.reads_parameters(&body.reads) {
            out.push_str("    const lgm_parameters *const p = &model->p;\n");
        }
        self.constants(&mut out, &body.reads, "x", unknowns);
        self.discrete_constants(&mut out, &body.reads);
        if !out.is_empty() && !has_parameters {
            out.push('\n');
        }
        for (name, value) in &body.statements {
            out.push_str(&wrapped_code(&format!("const real {name} = {value};"), ""));
        }
        for ((place, _, what), value) in results.iter().zip(&body.values) {
            let remark = what.as_ref().map_or(String::new(), |what| format!(" /* {what} */"));
            out.push_str(&wrapped_code(&format!("{place} = {value};"), &remark));
        }
        out
    }

    /// Prints constants for the discrete variables that are read.
    pub(super) fn discrete_constants(&self, out: &mut String, reads: &FxHashSet<SymbolId>) {
        let (subject, book) = (self.model.subject, &self.model.names.book);
        let discretes = subject.system.inputs.iter().skip(subject.inputs.len());
        let discretes = discretes.map(|input| input.symbol);
        constants(out, reads, discretes, (&book.discretes, &subject.discretes), "model->d");
    }

    pub(super) fn reads_parameters(&self, reads: &FxHashSet<SymbolId>) -> bool {
        let parameters = self.model.subject.system.parameters.iter();
        let mut entries = parameters.flat_map(|parameter| &parameter.entries);
        entries.any(|entry| reads.contains(&entry.symbol))
    }

    /// Prints constants for states, inputs, their rates and loop unknowns, each as far as it is read.
    pub(super) fn constants(&self, out: &mut String, reads: &FxHashSet<SymbolId>, states: &str, unknowns: &str) {
        let (subject, book) = (self.model.subject, &self.model.names.book);
        let system = subject.system;
        let symbols = system.states.iter().map(|state| state.symbol);
        constants(out, reads, symbols, (&book.states, &subject.states), states);
        let symbols = system.inputs.iter().map(|input| input.symbol);
        let symbols = symbols.take(subject.inputs.len());
        constants(out, reads, symbols, (&book.inputs, &subject.inputs), "u");
        let symbols = system.input_rates.iter().copied().take(subject.inputs.len());
        constants(out, reads, symbols, (&book.input_rates, &[]), "du");
        let symbols = system.equations.loops.iter();
        let symbols = symbols.flat_map(|each| each.unknowns.iter().copied());
        constants(out, reads, symbols, (&book.unknowns, &[]), unknowns);
    }

    /// Prints a function that is only called in this file.
    fn part(&mut self, name: &str, results: &[Result]) -> String {
        let lines = self.lines(results, "w", false);
        format!(
            "static void {name}(const lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]),\n    const \
             real w[], real out[]) {{\n    (void)model; (void)t; (void)x; (void)u; (void)w; (void)out;LGM_DU( \
             (void)du;)\n{lines}}}\n\n"
        )
    }

    fn derived(&mut self) {
        let members = &self.model.names.members;
        let mut lines = "    model->p = *parameters;\n".to_string();
        let list = self.model.subject.parameters.iter().zip(members);
        let mut computed = String::new();
        for (parameter, member) in list {
            for at in 0..parameter.entries.len() {
                if let Some(value) = self.formulas.derived(parameter.first + at) {
                    let place = format!("p->{}", entry_place(parameter, member, at));
                    let line = self.lines(&[(place.clone(), value, None)], "w", true);
                    let line: String = line.lines().map(|line| format!("    {line}\n")).collect();
                    let _ = write!(computed, "    if (isnan({place})) {{\n{line}    }}\n");
                }
            }
        }
        if !computed.is_empty() {
            lines.push_str("    lgm_parameters *const p = &model->p;\n");
            lines = format!("    lgm_parameters *const p = &model->p;\n    *p = *parameters;\n{computed}");
        }
        self.bodies.derived = lines;
    }

    fn starts(&mut self) {
        let states = self.model.subject.states.iter();
        let results: Vec<Result> = states
            .zip(self.formulas.starts())
            .enumerate()
            .map(|(at, (state, start))| (format!("x[{at}]"), start, Some(comment(&state.name))))
            .chain(self.discrete_starts())
            .collect();
        let has_p = self.bodies.derived.contains("*const p");
        let time = "    const real t = 0.0;\n    (void)t;\n";
        let mut lines = self.lines(&results, "w", has_p);
        if reads_time(&lines) {
            lines = format!("{time}{lines}");
        }
        self.bodies.starts = lines;
        let constraints = &self.model.subject.system.starts.constraints;
        if constraints.is_empty() {
            return;
        }
        let pairs = constraints.iter().enumerate().flat_map(|(at, each)| {
            let place = |second: usize| format!("pairs[{}]", 2 * at + second);
            [(place(0), each.given, None), (place(1), each.follows, None)]
        });
        let pairs: Vec<Result> = pairs.collect();
        let has_p = has_p || self.bodies.starts.contains("*const p");
        let lines = self.lines(&pairs, "w", has_p);
        self.bodies.constraints = Some(lines.lines().map(|line| format!("    {line}\n")).collect());
    }

    fn loops(&mut self, matrices: [(usize, Vec<Entry>); 4]) {
        let numbered = |list: Vec<ExprId>| -> Vec<Result> {
            let list = list.into_iter().enumerate();
            list.map(|(at, value)| (format!("out[{at}]"), value, None)).collect()
        };
        let text = self.part("residuals", &numbered(self.formulas.residuals()));
        self.bodies.statics.push_str(&text);
        let names = [
            "loop_matrix",
            "rates_by_states",
            "rates_by_unknowns",
            "residuals_by_states",
        ];
        let has_jacobian = self.model.has_jacobian();
        for (name, (_, entries)) in names.iter().zip(matrices) {
            if *name == "loop_matrix" || has_jacobian {
                let text = self.part(name, &numbered(entries.into_iter().map(|entry| entry.2).collect()));
                self.bodies.statics.push_str(&text);
            }
        }
    }

    /// Prints right-hand sides and outputs, for each combination of modes if there are several.
    fn right_sides(&mut self) {
        let rows: Vec<(usize, &crate::code::events::Row)> = match self.model.changing {
            Some((gathered, _)) => gathered.rows.iter().enumerate().collect(),
            None => Vec::new(),
        };
        if rows.len() < 2 {
            let (rates, outputs) = match rows.first().map(|row| &row.1.equations) {
                Some(Ok(row)) => (row.derivatives.clone(), row.outputs.clone()),
                _ => (self.formulas.rates(), self.formulas.outputs()),
            };
            self.bodies.rates = self.rates(&rates, "model->w");
            self.bodies.outputs = self.outputs(&outputs, "model->w");
            self.bodies.equations =
                [self.formulas.equations(), self.formulas.output_equations()].map(|list| equation_lines(&list));
            return;
        }
        let mut choices = [String::new(), String::new()];
        for (at, row) in rows {
            let Ok(equations) = &row.equations else { continue };
            let gathered = self
                .model
                .changing
                .expect("invariant: only combinations of modes have rows")
                .0;
            let modes = comment(&gathered.modes_in_words(row));
            let lines = gathered.equations_of(equations);
            let lines = lines.iter().map(|line| format!("  {}", comment(line)));
            let heads = [
                std::iter::once(modes.clone())
                    .chain(lines)
                    .collect::<Vec<_>>()
                    .join("\n * "),
                modes,
            ];
            let [rates, outputs] = [
                self.rates(&equations.derivatives, "model->w"),
                self.outputs(&equations.outputs, "model->w"),
            ];
            for (which, (name, result, lines)) in [("rates", "dx", rates), ("outputs", "y", outputs)]
                .into_iter()
                .enumerate()
            {
                let _ = write!(
                    self.bodies.parts,
                    "/* {} */\nstatic void {name}_{at}(const lgm_model *model, real t, const real x[], const real u[] LGM_DU(, \
                     const real du[]), real {result}[]) {{\n    (void)model; (void)t; (void)x; (void)u; (void){result};LGM_DU( \
                     (void)du;)\n{lines}}}\n\n",
                    heads[which]
                );
                let _ = write!(
                    choices[which],
                    "    case {at}:\n        {name}_{at}(model, t, x, u LGM_DU(, du), {result});\n        break;\n"
                );
            }
        }
        let [rates, outputs] = choices
            .map(|cases| format!("    switch (model->combination) {{\n{cases}    default:\n        break;\n    }}\n"));
        self.bodies.rates = rates;
        self.bodies.outputs = outputs;
    }

    fn rates(&mut self, rates: &[ExprId], unknowns: &str) -> String {
        let states = self.model.subject.states.iter().zip(rates).enumerate();
        let results: Vec<Result> = states
            .map(|(at, (state, rate))| {
                let what = format!("der({})", comment(&state.name));
                (format!("dx[{at}]"), *rate, Some(what))
            })
            .collect();
        self.lines(&results, unknowns, false)
    }

    fn outputs(&mut self, outputs: &[ExprId], unknowns: &str) -> String {
        let list = self.model.subject.outputs.iter().zip(outputs).enumerate();
        let results: Vec<Result> = list
            .map(|(at, (output, value))| {
                let what = remark_of(&output.name, &output.unit);
                (format!("y[{at}]"), *value, Some(what))
            })
            .collect();
        self.lines(&results, unknowns, false)
    }

    fn jacobian(&mut self, entries: &[Entry]) {
        let is_dense = self.model.is_dense();
        let results = entries.iter().enumerate().map(|(at, (row, column, value))| {
            let place = match is_dense {
                true => format!("jacobian[{row}][{column}]"),
                false => format!("entries[{at}]"),
            };
            (place, *value, None)
        });
        let results: Vec<Result> = results.collect();
        let lines = self.lines(&results, "w", false);
        let states = self.model.subject.states.len();
        self.bodies.jacobian = match is_dense && entries.len() < states * states {
            true => format!("{}{lines}", parts::ZERO_JACOBIAN),
            false => lines,
        };
    }
}

/// Returns true if a line of code reads `t`.
fn reads_time(lines: &str) -> bool {
    crate::code::c::engine::names_in(lines).any(|name| name == "t")
}

/// Prints constants for the quantities that are read, each initialised from its array element.
fn constants(
    out: &mut String,
    reads: &FxHashSet<SymbolId>,
    symbols: impl Iterator<Item = SymbolId>,
    (names, users): (&[String], &[Named]),
    array: &str,
) {
    for (at, symbol) in symbols.enumerate() {
        if reads.contains(&symbol) {
            let unit = users
                .get(at)
                .map(|user| bracketed(&user.unit))
                .filter(|unit| !unit.is_empty());
            let remark = unit.map_or(String::new(), |unit| format!(" /* {} */", comment(&unit)));
            let _ = writeln!(out, "    const real {} = {array}[{at}];{remark}", names[at]);
        }
    }
}

/// Prints equations in the modelling language.
fn equation_lines(equations: &[Option<String>]) -> String {
    let lines = equations.iter().flatten().map(|line| comment(line));
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("/* {} */\n", lines.join("\n * "))
}
