//! The common part of targets that put all functions in one file and have arrays that know their sizes.

use super::Package;
use super::dialect::Array;
use super::functions::{Functions, wrapped};
use super::planned::{Planned, literals, planned};
use super::subject::{Constraints, Named, Subject, labels};
use super::template::{Template, Values, values};
use crate::rows::csv_field;
use lgm_kernels::program::Program;
use lgm_kernels::{Kernel, LARGEST_TURN};

/// Calls of the programs in such a language.
pub(crate) struct Script {
    /// The prefix of every function's name.
    pub(crate) prefix: &'static str,
    /// The argument for an array in a call with results in an array of this name.
    pub(crate) argument: fn(Array, &str) -> String,
    /// The array of the starts.
    pub(crate) starts: &'static str,
    /// The statement of what computes nothing.
    pub(crate) nothing: &'static str,
    /// Makes a text of the user's harmless in a remark.
    pub(crate) quote: fn(&str) -> String,
    /// The lines that compute a derived parameter of a position by a call into the array `one`.
    pub(crate) derived: fn(usize, &str) -> String,
    /// The first index of arrays: 0 or 1.
    pub(crate) first: usize,
    /// The continuation mark of a line within brackets.
    pub(crate) goes_on: &'static str,
}

impl Script {
    /// The call of a function of [`Script::programs`]; nothing if it computes nothing.
    pub(crate) fn call(&self, functions: &Functions<'_>, name: &str, out: &str) -> String {
        let argument = |array| (self.argument)(array, out);
        functions.call(&format!("{}{name}", self.prefix), &argument)
    }

    /// Places in lists, in brackets.
    pub(crate) fn places(&self, entries: impl Iterator<Item = usize>) -> String {
        self.integers(entries.map(|entry| entry + self.first))
    }

    /// Integers in brackets.
    pub(crate) fn integers(&self, entries: impl Iterator<Item = usize>) -> String {
        let entries: Vec<String> = entries.map(|entry| entry.to_string()).collect();
        format!("[{}]", wrapped(&entries).replace('\n', &format!("{}\n", self.goes_on)))
    }

    /// Rows and columns of the entries of a sparse matrix, each in brackets.
    pub(crate) fn entries(&self, row_starts: &[usize], columns: &[usize]) -> [String; 2] {
        let rows = row_starts.windows(2).enumerate();
        let rows = rows.flat_map(|(row, range)| std::iter::repeat_n(row, range[1] - range[0]));
        [self.places(rows), self.places(columns.iter().copied())]
    }

    /// All programs of a system as functions, with the values of the keys that call them; and the most working memory of any.
    pub(crate) fn programs<'s>(&self, subject: &'s Subject<'_>, functions: &mut Functions<'_>) -> Programs {
        let (kernels, corners, jacobians) = (&subject.kernels, &subject.corners, subject.jacobians());
        let mut scratch: Vec<&Program> = Vec::new();
        let mut add = |name: &str, kernel: &'s Kernel, out: &str, remark: &dyn Fn(u32) -> Option<String>| {
            functions.add(&format!("{}{name}", self.prefix), kernel.program(), remark);
            scratch.push(kernel.program());
            self.call(functions, name, out)
        };
        let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, self.quote);
        let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
        let none = |_: u32| None;
        let or_nothing = |call: String| match call.is_empty() {
            true => self.nothing.to_string(),
            false => call,
        };
        let by_unknowns = &jacobians.residuals_by_unknowns.values;
        let by_states = &jacobians.residuals_by_states.values;
        Programs {
            derivatives_call: or_nothing(add("derivatives", &kernels.derivatives, "dx", &states)),
            outputs_call: or_nothing(add("outputs", &kernels.outputs, "y", &outputs)),
            starts_call: or_nothing(add("starts", &kernels.starts, self.starts, &none)),
            inputs_call: or_nothing(add("inputs", &kernels.inputs, "both", &none)),
            direct_call: or_nothing(add("partials", &jacobians.rates_by_states.values, "entries", &none)),
            residuals_call: or_nothing(add("residuals", &kernels.residuals, "step", &none)),
            loop_matrix_call: or_nothing(add("loop_matrix", by_unknowns, "entries", &none)),
            by_loop_call: or_nothing(add(
                "by_unknowns",
                &jacobians.rates_by_unknowns.values,
                "entries",
                &none,
            )),
            by_state_call: or_nothing(add("residuals_by_states", by_states, "entries", &none)),
            instants_call: or_nothing(add("instants", corners.instants(), "instants", &none)),
            switches_call: or_nothing(add("switches", corners.switches(), "values", &none)),
            phases_call: or_nothing(add("phases", corners.phases(), "phases", &none)),
            conditions_call: or_nothing(add("crossings", corners.crossings(), "values", &none)),
            constraints: subject.constraints.as_ref().map(|kernel| Constraints {
                constraint_count: subject.system.starts.constraints.len(),
                constraints_call: add("starts_of_dependents", kernel, "pairs", &none),
            }),
            derived_lines: kernels
                .derived()
                .iter()
                .enumerate()
                .map(|(order, (position, kernel))| {
                    let call = add(&format!("derived_{}", order + 1), kernel, "one", &none);
                    (self.derived)(position + self.first, &call)
                })
                .collect(),
            places: self.places_of_entries(subject),
            switches: corners.switches().outputs() > 0,
            crossings: corners.crossings().outputs(),
            instants_count: corners.instants().outputs(),
            switch_count: corners.switches().outputs(),
            phase_count: corners.phases().outputs(),
            bounds_steps: subject.bounds_steps(),
            phases: subject.needs_fastest(),
            jumping: self.places(subject.jumping.iter().copied()),
            scratch: Subject::scratch(&scratch),
        }
    }

    /// The positions of the entries of sparse matrices, and their number.
    fn places_of_entries(&self, subject: &Subject<'_>) -> Places {
        let matrices = subject.matrices();
        let [loops, direct, by_loop, by_state] =
            matrices.map(|matrix| self.entries(&matrix.row_starts, &matrix.columns_of));
        let [loop_count, direct_count, by_loop_count, by_state_count] = matrices.map(|matrix| matrix.stored());
        let direct_places = direct.join(", ");
        let [direct_rows, direct_columns] = direct;
        Places {
            loop_places: loops.join(", "),
            loop_count,
            direct_places,
            direct_rows,
            direct_columns,
            direct_count,
            by_loop_places: by_loop.join(", "),
            by_loop_count,
            by_state_places: by_state.join(", "),
            by_state_count,
        }
    }
}

values! {
    /// The statements that call the programs.
    pub(crate) struct Programs {
        ..places: Places;
        ?constraints: Constraints;
        derivatives_call: String,
        outputs_call: String,
        starts_call: String,
        inputs_call: String,
        direct_call: String,
        residuals_call: String,
        loop_matrix_call: String,
        by_loop_call: String,
        by_state_call: String,
        instants_call: String,
        switches_call: String,
        phases_call: String,
        conditions_call: String,
        derived_lines: String,
        switches: bool,
        crossings: usize,
        instants_count: usize,
        switch_count: usize,
        phase_count: usize,
        bounds_steps: bool,
        phases: bool,
        jumping: String,
        scratch: usize,
    }
}

values! {
    /// The entries of sparse matrices.
    pub(crate) struct Places {
        loop_places: String,
        loop_count: usize,
        direct_places: String,
        direct_rows: String,
        direct_columns: String,
        direct_count: usize,
        by_loop_places: String,
        by_loop_count: usize,
        by_state_places: String,
        by_state_count: usize,
    }
}

values! {
    /// The plan of a run, and the magnitudes of its states.
    pub(crate) struct ScriptPlan {
        ..planned: Planned;
        state_scales: String,
        largest_turn: String,
    }
}

/// The plan of a run, with doubles in this notation; missing values are `NaN`, `None` or similar.
pub(crate) fn script_plan(subject: &Subject<'_>, literal: fn(f64) -> String, no_number: &str) -> ScriptPlan {
    ScriptPlan {
        planned: planned(subject, literal, no_number),
        state_scales: literals(subject.scales(), literal).join(", "),
        largest_turn: literal(LARGEST_TURN),
    }
}

/// The names of the columns of a run, as CSV has them.
pub(crate) fn column_names(subject: &Subject<'_>) -> Vec<String> {
    let table = subject.columns.table();
    table.iter().map(|column| csv_field(&column.name)).collect()
}

/// Adds a file; what computes nothing leaves an empty line behind.
pub(crate) fn add_trimmed<V: Values>(package: &mut Package, template: &Template<V>, values: &V) {
    let (path, text) = template.file(values);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    package.add(path, lines.join("\n").trim_end().to_string() + "\n");
}

/// Lists of first guesses, each of numbers that `join` assembles.
pub(crate) fn guess_lists(
    subject: &Subject<'_>,
    literal: fn(f64) -> String,
    join: impl Fn(&[String]) -> String,
) -> String {
    let lists = subject.guesses().map(|list| join(&literals(&list, literal)));
    format!("[{}]", lists.join(", "))
}

/// A standalone double, in a language with names for NaN and infinity.
pub(crate) fn double(value: f64, not_a_number: &str, infinity: &str) -> String {
    match value {
        value if value.is_finite() => format!("{value:?}"),
        value if value.is_nan() => not_a_number.to_string(),
        value if value > 0.0 => infinity.to_string(),
        _ => format!("-{infinity}"),
    }
}
