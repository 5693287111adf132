//! The functions of the module of equations, and the methods of the model's trait that call them.

use super::dialect::Rust;
use crate::code::dialect::Array;
use crate::code::functions::Functions;
use crate::code::names::one_line;
use crate::code::subject::{Named, Subject, labels};
use lgm_kernels::Kernel;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use std::fmt::Write;

/// Working memory.
const MEMORY: Array = Array::Read(Space::Temporaries);

/// The parts of a point of evaluation, under the names of the arrays.
const POINT: [(Space, &str); 4] = [
    (Space::Time, "t"),
    (Space::States, "x"),
    (Space::Inputs, "u"),
    (Space::Rates, "du"),
];

/// The arguments of a method of the model's trait.
#[derive(Clone, Copy)]
enum Given {
    /// A point, and the unknowns of the loops.
    Point,
    /// The time.
    Time,
    /// Nothing: it depends on parameters alone.
    Nothing,
}

/// The functions of the module of equations.
pub(super) struct Equations<'p> {
    functions: Functions<'static>,
    programs: Vec<&'p Program>,
    methods: String,
    reads_points: bool,
}

impl<'p> Equations<'p> {
    pub(super) fn new() -> Equations<'p> {
        Equations {
            functions: Functions::new(&Rust),
            programs: Vec::new(),
            methods: String::new(),
            reads_points: false,
        }
    }

    /// Adds a function, and the method that calls it with an array of results; no method if the function computes nothing.
    fn add(
        &mut self,
        (name, given, out): (&str, Given, &str),
        kernel: &'p Kernel,
        remark: &dyn Fn(u32) -> Option<String>,
    ) {
        self.functions.add(name, kernel.program(), remark);
        self.programs.push(kernel.program());
        let call = self.call(name, "self", "out");
        if call.is_empty() {
            return;
        }
        let takes = |space: Space| self.functions.takes(name).contains(&Array::Read(space));
        let unread = |space: Space| if takes(space) { "" } else { "_" };
        let read: Vec<&str> = POINT.iter().filter(|part| takes(part.0)).map(|part| part.1).collect();
        let (arguments, opened) = match given {
            Given::Point => {
                let unread_point = if read.is_empty() { "_" } else { "" };
                let rest = if read.len() < POINT.len() { ", .." } else { "" };
                self.reads_points = true;
                (
                    format!(
                        "{unread_point}at: At<'_, Self>, {}w: &[T; UNKNOWNS], ",
                        unread(Space::Unknowns)
                    ),
                    match read.is_empty() {
                        true => String::new(),
                        false => format!("        let At {{ {}{rest} }} = at;\n", read.join(", ")),
                    },
                )
            }
            Given::Time => (format!("{}t: T, ", unread(Space::Time)), String::new()),
            Given::Nothing => (String::new(), String::new()),
        };
        let _ = write!(
            self.methods,
            "\n    fn {name}(&mut self, {arguments}out: &mut {out}) {{\n{opened}        {call}\n    }}\n"
        );
    }

    fn call(&self, name: &str, own: &str, out: &str) -> String {
        let arguments = |array| match array {
            Array::Read(Space::Time) => "t".to_string(),
            Array::Read(Space::Parameters) => format!("&{own}.p"),
            Array::Read(Space::States) => "x".to_string(),
            Array::Read(Space::Inputs) => "u".to_string(),
            Array::Read(Space::Rates) => "du".to_string(),
            Array::Read(Space::Unknowns) => "w".to_string(),
            Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are statics"),
            Array::Read(Space::Temporaries) => format!("&mut {own}.s"),
            Array::Output => out.to_string(),
        };
        let call = self.functions.call(name, &arguments);
        match call.is_empty() {
            true => call,
            false => format!("crate::equations::{call}"),
        }
    }

    /// The functions of right sides, outputs, starts, signals and loops.
    pub(super) fn add_kernels(&mut self, subject: &'p Subject<'_>) {
        let (kernels, jacobians) = (&subject.kernels, subject.jacobians());
        let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, one_line);
        let none = |_: u32| None;
        let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
        let at = Given::Point;
        self.add(("derivatives", at, "[T; STATES]"), &kernels.derivatives, &states);
        self.add(("outputs", at, "[T; OUTPUTS]"), &kernels.outputs, &outputs);
        self.add(("starts", Given::Nothing, "[T; STATES]"), &kernels.starts, &none);
        if let Some(kernel) = &subject.constraints {
            self.add(("constraints", Given::Nothing, "Self::Constraints"), kernel, &none);
        }
        self.add(("inputs", Given::Time, "[T; 2 * INPUTS]"), &kernels.inputs, &none);
        let direct = &jacobians.rates_by_states.values;
        if subject.unknowns() == 0 {
            self.add(("jacobian", at, "[T; JACOBIAN_ENTRIES]"), direct, &none);
            return;
        }
        self.add(("residuals", at, "[T; UNKNOWNS]"), &kernels.residuals, &none);
        for (name, out, sparse) in [
            ("loop_matrix", "Self::LoopMatrix", &jacobians.residuals_by_unknowns),
            ("direct", "Self::Direct", &jacobians.rates_by_states),
            ("by_unknowns", "Self::ByUnknowns", &jacobians.rates_by_unknowns),
            ("by_states", "Self::ByStates", &jacobians.residuals_by_states),
        ] {
            self.add((name, at, out), &sparse.values, &none);
        }
    }

    /// The functions of corners, conditions and oscillations.
    pub(super) fn add_corners(&mut self, subject: &'p Subject<'_>) {
        let corners = &subject.corners;
        let none = |_: u32| None;
        self.add(
            ("instants", Given::Nothing, "Self::Instants"),
            corners.instants(),
            &none,
        );
        self.add(("switches", Given::Time, "Self::Switches"), corners.switches(), &none);
        // Unless something asks how fast anything oscillates.
        if subject.needs_fastest() {
            self.add(("phases", Given::Time, "Self::Phases"), corners.phases(), &none);
        }
        self.add(
            ("crossings", Given::Point, "Self::Crossings"),
            corners.crossings(),
            &none,
        );
    }

    /// The lines for parameters that follow from others.
    pub(super) fn add_derived(&mut self, subject: &'p Subject<'_>) -> String {
        let mut lines = String::new();
        for (order, (position, kernel)) in subject.kernels.derived().iter().enumerate() {
            let name = format!("derived_{}", order + 1);
            let remark = subject.entries().nth(*position).map(|entry| one_line(&entry.name));
            self.functions.add(&name, kernel.program(), &|_| remark.clone());
            self.programs.push(kernel.program());
            let call = self.call(&name, "model", "&mut value");
            let _ = write!(
                lines,
                "        if model.p[{position}].is_nan() {{\n            let mut value = [zero; 1];\n            {call}\n            \
                 model.p[{position}] = value[0];\n        }}\n"
            );
        }
        lines
    }

    /// The sizes of arrays that the functions name in their arguments.
    pub(super) fn sizes(&self) -> Vec<&'static str> {
        let read = Array::Read;
        let sizes: [(&str, &[Array]); 5] = [
            ("INPUTS", &[read(Space::Inputs), read(Space::Rates)]),
            ("PARAMETERS", &[read(Space::Parameters)]),
            ("SCRATCH", &[MEMORY]),
            ("STATES", &[read(Space::States)]),
            ("UNKNOWNS", &[read(Space::Unknowns)]),
        ];
        let named = sizes.iter().filter(|size| self.functions.any_takes(size.1));
        named.map(|size| size.0).collect()
    }

    /// The words that the trait of the model is written with.
    pub(super) fn imports(&self) -> &'static str {
        match self.reads_points {
            true => "At, Features, LoopTables, Pattern, Patterns, StateTables, System",
            false => "Features, LoopTables, Pattern, Patterns, StateTables, System",
        }
    }

    /// The most working memory that any function takes, and the methods that call them.
    pub(super) fn finish(self) -> (usize, String, String) {
        (Subject::scratch(&self.programs), self.functions.finish(), self.methods)
    }
}
