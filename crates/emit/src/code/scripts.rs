//! What targets share that hold all functions in one file, with arrays that know their sizes.

use super::functions::{Functions, wrapped};
use super::program::Array;
use super::subject::{Named, Subject, labels};
use super::template::Values;
use lgm_kernels::program::Program;
use lgm_kernels::{Kernel, LARGEST_TURN, SparseKernel};

/// How such a language calls the programs.
pub(crate) struct Script {
    /// What every function's name begins with.
    pub(crate) prefix: &'static str,
    /// What stands for an array in a call whose results go to an array of this name.
    pub(crate) argument: fn(Array, &str) -> String,
    /// The array of the starts.
    pub(crate) starts: &'static str,
    /// The statement of what computes nothing.
    pub(crate) nothing: &'static str,
    /// Makes a text of the user's harmless in a remark.
    pub(crate) quote: fn(&str) -> String,
    /// The lines that compute a derived parameter of a position by a call into the array `one`.
    pub(crate) derived: fn(usize, &str) -> String,
    /// Where arrays begin: 0 or 1.
    pub(crate) first: usize,
    /// What a line ends with that goes on within brackets.
    pub(crate) goes_on: &'static str,
}

impl Script {
    /// The call of a function of [`Script::programs`]; nothing where it computes nothing.
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

    /// Where the entries of sparse matrices stand, and how many there are.
    fn places_of_entries(&self, subject: &Subject<'_>, values: &mut Values) {
        let jacobians = subject.jacobians();
        let matrices: [(&str, &str, &SparseKernel); 4] = [
            ("direct_places", "direct_count", &jacobians.rates_by_states),
            ("by_loop_places", "by_loop_count", &jacobians.rates_by_unknowns),
            ("by_state_places", "by_state_count", &jacobians.residuals_by_states),
            ("loop_places", "loop_count", &jacobians.residuals_by_unknowns),
        ];
        for (key, count, matrix) in matrices {
            let entries = self.entries(&matrix.row_starts, &matrix.columns_of);
            if key == "direct_places" {
                values
                    .set("direct_rows", &entries[0])
                    .set("direct_columns", &entries[1]);
            }
            values.set(key, entries.join(", "));
            values.set(count, matrix.stored().to_string());
        }
    }

    /// All programs of a system as functions, with the values of the keys that call them; and the most working memory of any.
    pub(crate) fn programs(&self, subject: &Subject<'_>, functions: &mut Functions<'_>, values: &mut Values) {
        let kernels = &subject.kernels;
        let corners = &subject.corners;
        let jacobians = subject.jacobians();
        let mut scratch: Vec<&Program> = Vec::new();
        let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, self.quote);
        let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
        let none = |_: u32| None;
        let or_nothing = |call: String| match call.is_empty() {
            true => self.nothing.to_string(),
            false => call,
        };
        #[allow(clippy::type_complexity)] // Key, name, kernel, where results go, and what each of them is.
        let list: [(&str, &str, &Kernel, &str, &dyn Fn(u32) -> Option<String>); 13] = [
            ("derivatives_call", "derivatives", &kernels.derivatives, "dx", &states),
            ("outputs_call", "outputs", &kernels.outputs, "y", &outputs),
            ("starts_call", "starts", &kernels.starts, self.starts, &none),
            ("inputs_call", "inputs", &kernels.inputs, "both", &none),
            (
                "direct_call",
                "partials",
                &jacobians.rates_by_states.values,
                "entries",
                &none,
            ),
            ("residuals_call", "residuals", &kernels.residuals, "step", &none),
            (
                "loop_matrix_call",
                "loop_matrix",
                &jacobians.residuals_by_unknowns.values,
                "entries",
                &none,
            ),
            (
                "by_loop_call",
                "by_unknowns",
                &jacobians.rates_by_unknowns.values,
                "entries",
                &none,
            ),
            (
                "by_state_call",
                "residuals_by_states",
                &jacobians.residuals_by_states.values,
                "entries",
                &none,
            ),
            ("instants_call", "instants", corners.instants(), "instants", &none),
            ("switches_call", "switches", corners.switches(), "values", &none),
            ("phases_call", "phases", corners.phases(), "phases", &none),
            ("conditions_call", "crossings", corners.crossings(), "values", &none),
        ];
        for (key, name, kernel, out, remark) in list {
            functions.add(&format!("{}{name}", self.prefix), kernel.program(), remark);
            scratch.push(kernel.program());
            values.set(key, or_nothing(self.call(functions, name, out)));
        }
        values.set(
            "constraints",
            match subject.system.start_constraints.len() {
                0 => String::new(),
                count => count.to_string(),
            },
        );
        if let Some(kernel) = &subject.constraints {
            let name = "starts_of_dependents";
            functions.add(&format!("{}{name}", self.prefix), kernel.program(), &none);
            scratch.push(kernel.program());
            values.set("constraints_call", self.call(functions, name, "pairs"));
        }
        let mut lines = String::new();
        for (order, (position, kernel)) in kernels.derived().iter().enumerate() {
            let name = format!("derived_{}", order + 1);
            functions.add(&format!("{}{name}", self.prefix), kernel.program(), &none);
            scratch.push(kernel.program());
            let call = self.call(functions, &name, "one");
            lines.push_str(&(self.derived)(position + self.first, &call));
        }
        values
            .set("derived_lines", lines)
            .flag("switches", corners.switches().outputs() > 0)
            .set("crossings", corners.crossings().outputs().to_string())
            .set("instants_count", corners.instants().outputs().to_string())
            .set("switch_count", corners.switches().outputs().to_string())
            .set("phase_count", corners.phases().outputs().to_string())
            .flag("bounds_steps", subject.bounds_steps())
            .flag("phases", subject.needs_fastest())
            .set("jumping", self.places(subject.jumping.iter().copied()));
        self.places_of_entries(subject, values);
        values.set("scratch", Subject::scratch(&scratch).to_string());
    }
}

/// The numbers that say how a run is planned, in the way that a language writes a double.
///
/// An absolute tolerance that the model does not have is no number.
pub(crate) fn plan_values(subject: &Subject<'_>, (literal, no_number): (fn(f64) -> String, &str), values: &mut Values) {
    let (start, stop, points) = subject.plan();
    let (rtol, atol) = subject.tolerances();
    values
        .set("plan_start", literal(start))
        .set("plan_stop", literal(stop.unwrap_or(start)))
        .set("plan_stop_or_nan", literal(stop.unwrap_or(f64::NAN)))
        .flag("has_stop", stop.is_some())
        .set("plan_points", points.to_string())
        .set("plan_rtol", literal(rtol))
        .set("plan_atol", atol.map_or(no_number.to_string(), literal))
        .set(
            "state_scales",
            subject
                .scales()
                .iter()
                .map(|scale| literal(*scale))
                .collect::<Vec<_>>()
                .join(", "),
        )
        .set("largest_turn", literal(LARGEST_TURN))
        .flag("linear", subject.system.linear)
        .flag("loops", subject.unknowns() > 0)
        .set("unknowns", subject.unknowns().to_string())
        .set("states", subject.states.len().to_string())
        .set("inputs", subject.inputs.len().to_string())
        .set("outputs", subject.outputs.len().to_string())
        .set("parameters", subject.entries().count().to_string());
}

/// A double as it stands alone, in a language with words for what is no number and for infinity.
pub(crate) fn double(value: f64, not_a_number: &str, infinity: &str) -> String {
    match value {
        value if value.is_finite() => format!("{value:?}"),
        value if value.is_nan() => not_a_number.to_string(),
        value if value > 0.0 => infinity.to_string(),
        _ => format!("-{infinity}"),
    }
}
