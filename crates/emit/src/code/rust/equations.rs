//! The functions of a package: those of the model's crate, those of its run, and the methods of the run's trait that call both.

use super::dialect::Rust;
use crate::code::dialect::Array;
use crate::code::events::{ChangeKernels, Changing, Modal};
use crate::code::functions::Functions;
use crate::code::names::one_line;
use crate::code::subject::{Named, Subject, labels};
use lgm_kernels::Kernel;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use std::fmt::Write;

/// Working memory.
const MEMORY: Array = Array::Read(Space::Temporaries);

/// The parts of an evaluation point, by array name.
const POINT: [(Space, &str); 4] = [
    (Space::Time, "t"),
    (Space::States, "x"),
    (Space::Inputs, "u"),
    (Space::Rates, "du"),
];

/// The arguments of a method of the model's trait.
#[derive(Clone, Copy)]
enum MethodArguments {
    /// A point and the loop unknowns.
    Point,
    /// Only the time.
    Time,
    /// Nothing: the result depends only on parameters.
    Nothing,
}

/// Functions of the model's equations.
pub(super) const OF_MODEL: Rust = Rust {
    states: "STATES",
    unknowns: "UNKNOWNS",
};

/// Assignments of blocks. They read the values held for blocks instead of states, and their temporaries instead of unknowns.
const OF_BLOCKS: Rust = Rust {
    states: "READ",
    unknowns: "TEMPORARIES",
};

/// The functions of a package.
pub(super) struct Equations<'p> {
    /// The name of the model's crate, and its functions over arrays.
    library: String,
    own: Functions<'static>,
    /// Functions of the run.
    functions: Functions<'static>,
    assignments: Functions<'static>,
    programs: Vec<&'p Program>,
    pub(super) methods: String,
    reads_points: bool,
    /// True if values held between events are written in terms of input signals.
    holds: bool,
}

/// Returns the expression for an array in a call.
fn argument(array: Array, own: &str, out: &str) -> String {
    match array {
        Array::Read(Space::Time) => "t".to_string(),
        Array::Read(Space::Parameters) => format!("&{own}.p"),
        Array::Read(Space::States) => "x".to_string(),
        Array::Read(Space::Inputs) => "u".to_string(),
        Array::Read(Space::Rates) => "du".to_string(),
        Array::Read(Space::Unknowns) => "w".to_string(),
        Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are statics"),
        Array::Read(Space::Temporaries) => format!("&mut {own}.s"),
        Array::Output => out.to_string(),
    }
}

impl<'p> Equations<'p> {
    pub(super) fn new(library: &str, holds: bool) -> Equations<'p> {
        Equations {
            library: library.to_string(),
            own: Functions::new(&OF_MODEL),
            functions: Functions::new(&OF_MODEL),
            assignments: Functions::new(&OF_BLOCKS),
            programs: Vec::new(),
            methods: String::new(),
            reads_points: false,
            holds,
        }
    }

    /// Adds a function of the run, and the method that calls the function with an array of results; adds no method if the function is
    /// empty.
    fn add(&mut self, head: (&str, MethodArguments, &str), kernel: &'p Kernel, remark: &dyn Fn(u32) -> Option<String>) {
        let call = self.function(head.0, kernel, remark);
        if !call.is_empty() {
            self.method(head, &[head.0.to_string()], &call);
        }
    }

    /// Adds functions of the run selected by the active combination of modes, and the method that calls these functions.
    fn add_modal(&mut self, head: (&str, MethodArguments, &str), modal: &'p Modal) {
        if let [(_, kernel)] = modal.as_slice() {
            return self.add(head, kernel, &|_| None);
        }
        let (mut cases, mut names) = (String::new(), Vec::new());
        for (combination, kernel) in modal {
            let name = format!("{}_{combination}", head.0);
            let call = self.function(&name, kernel, &|_| None);
            push_case(&mut cases, *combination, &call);
            if !call.is_empty() {
                names.push(name);
            }
        }
        if !names.is_empty() {
            self.method(head, &names, &chosen(&cases));
        }
    }

    /// Adds a function of the run; returns the statement that calls the function.
    fn function(&mut self, name: &str, kernel: &'p Kernel, remark: &dyn Fn(u32) -> Option<String>) -> String {
        self.functions.add(name, kernel.program(), remark);
        self.programs.push(kernel.program());
        self.call(name, "self", "out")
    }

    /// Adds a function of the model over arrays; returns the statement that calls the function.
    fn function_of_model(
        &mut self,
        name: &str,
        kernel: &'p Kernel,
        own: &str,
        out: &str,
        remark: &dyn Fn(u32) -> Option<String>,
    ) -> String {
        self.own.add(name, kernel.program(), remark);
        self.programs.push(kernel.program());
        let call = self.own.call(name, &|array| argument(array, own, out));
        match call.is_empty() {
            true => call,
            false => format!("{}::{call}", self.library),
        }
    }

    /// Adds a function of the model, and the method that calls the function.
    fn add_of_model(
        &mut self,
        head: (&str, MethodArguments, &str),
        kernel: &'p Kernel,
        remark: &dyn Fn(u32) -> Option<String>,
    ) {
        let call = self.function_of_model(head.0, kernel, "self", "out", remark);
        if !call.is_empty() {
            self.method(head, &[head.0.to_string()], &call);
        }
    }

    /// Adds a method of the trait that evaluates the model at a point.
    pub(super) fn point_method(&mut self, name: &str, out: &str, body: &str) {
        self.reads_points = true;
        let unread = |is_read: bool| if is_read { "" } else { "_" };
        let _ = write!(
            self.methods,
            "\n    fn {name}(&mut self, {}at: At<'_, Self>, {}w: &[T; UNKNOWNS], out: &mut {out}) {{\n        {body}\n    }}\n",
            unread(body.contains("(at.")),
            unread(body.contains(", w,"))
        );
    }

    /// Adds a method of the model's trait whose body calls these functions.
    fn method(&mut self, (name, given, out): (&str, MethodArguments, &str), functions: &[String], body: &str) {
        let takes = |space: Space| {
            let lists = functions
                .iter()
                .map(|name| [self.functions.takes(name), self.own.takes(name)]);
            lists.flatten().any(|list| list.contains(&Array::Read(space)))
        };
        let unread = |space: Space| if takes(space) { "" } else { "_" };
        let read: Vec<&str> = POINT.iter().filter(|part| takes(part.0)).map(|part| part.1).collect();
        let (arguments, opened) = match given {
            MethodArguments::Point => {
                let unread_point = if read.is_empty() { "_" } else { "" };
                let rest = if read.len() < POINT.len() { ", .." } else { "" };
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
            MethodArguments::Time => (format!("{}t: T, ", unread(Space::Time)), String::new()),
            MethodArguments::Nothing => (String::new(), String::new()),
        };
        self.reads_points |= matches!(given, MethodArguments::Point);
        let held = match self.holds && name == "inputs" {
            true => "        self.held.give(crate::changes::TABLES, out);\n",
            false => "",
        };
        let _ = write!(
            self.methods,
            "\n    fn {name}(&mut self, {arguments}out: &mut {out}) {{\n{opened}        {body}\n{held}    }}\n"
        );
    }

    fn call(&self, name: &str, own: &str, out: &str) -> String {
        let call = self.functions.call(name, &|array| argument(array, own, out));
        match call.is_empty() {
            true => call,
            false => format!("crate::equations::{call}"),
        }
    }

    /// Adds the functions of initial values and signals.
    pub(super) fn add_signals(&mut self, subject: &'p Subject<'p>) {
        if let Some(kernel) = &subject.constraints {
            self.add(
                ("constraints", MethodArguments::Nothing, "Self::Constraints"),
                kernel,
                &|_| None,
            );
        }
        self.add(
            ("inputs", MethodArguments::Time, "[T; 2 * INPUTS]"),
            &subject.kernels.inputs,
            &|_| None,
        );
    }

    /// Adds the functions of a model over arrays.
    pub(super) fn add_arrays(&mut self, subject: &'p Subject<'p>, changing: Changing<'p>) {
        let has_jacobian = changing.is_none_or(|(gathered, _)| gathered.rows.len() < 2);
        let (kernels, jacobians) = (&subject.kernels, subject.jacobians());
        let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, one_line);
        let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
        let (at, none) = (MethodArguments::Point, |_: u32| None);
        match changing {
            Some((_, kernels)) => {
                self.add_modal_of_model(("derivatives", at, "[T; STATES]"), &kernels.derivatives, &states);
                self.add_modal_of_model(("outputs", at, "[T; OUTPUTS]"), &kernels.outputs, &outputs);
            }
            None => {
                self.add_of_model(("derivatives", at, "[T; STATES]"), &kernels.derivatives, &states);
                self.add_of_model(("outputs", at, "[T; OUTPUTS]"), &kernels.outputs, &outputs);
            }
        }
        self.add_of_model(
            ("starts", MethodArguments::Nothing, "[T; STATES]"),
            &kernels.starts,
            &none,
        );
        let direct = &jacobians.rates_by_states.values;
        if subject.unknowns() == 0 {
            if has_jacobian {
                self.add_of_model(("jacobian", at, "[T; JACOBIAN_ENTRIES]"), direct, &none);
            }
            return;
        }
        self.add_of_model(("residuals", at, "[T; UNKNOWNS]"), &kernels.residuals, &none);
        for (name, out, sparse) in [
            ("loop_matrix", "Self::LoopMatrix", &jacobians.residuals_by_unknowns),
            ("direct", "Self::Direct", &jacobians.rates_by_states),
            ("by_unknowns", "Self::ByUnknowns", &jacobians.rates_by_unknowns),
            ("by_states", "Self::ByStates", &jacobians.residuals_by_states),
        ] {
            self.add_of_model((name, at, out), &sparse.values, &none);
        }
    }

    fn add_modal_of_model(
        &mut self,
        head: (&str, MethodArguments, &str),
        modal: &'p Modal,
        remark: &dyn Fn(u32) -> Option<String>,
    ) {
        let mut cases = String::new();
        let mut names = Vec::new();
        for (combination, kernel) in modal {
            let name = match modal.len() {
                1 => head.0.to_string(),
                _ => format!("{}_{combination}", head.0),
            };
            let call = self.function_of_model(&name, kernel, "self", "out", remark);
            match modal.len() {
                1 => cases = call.clone(),
                _ => push_case(&mut cases, *combination, &call),
            }
            if !call.is_empty() {
                names.push(name);
            }
        }
        if !names.is_empty() {
            let body = if modal.len() > 1 { chosen(&cases) } else { cases };
            self.method(head, &names, &body);
        }
    }

    /// Adds the functions of changes: watched values, margins, assignments.
    pub(super) fn add_changes(&mut self, kernels: &'p ChangeKernels) {
        let none = |_: u32| None;
        self.add_modal(("watched", MethodArguments::Point, "[T; WATCHED]"), &kernels.watched);
        self.add_modal(("margins", MethodArguments::Point, "[T; MARGINS]"), &kernels.margins);
        let word = |array| match array {
            Array::Read(Space::States) => "&x".to_string(),
            Array::Read(Space::Unknowns) => "given.temporaries".to_string(),
            Array::Read(Space::Time) => "given.t".to_string(),
            Array::Read(Space::Inputs) => "given.u".to_string(),
            other => argument(other, "self", "out"),
        };
        let mut cases = String::new();
        for (at, kernel) in kernels.assigned.iter().enumerate() {
            let name = format!("assigned_{at}");
            self.assignments.add(&name, kernel.program(), &none);
            self.programs.push(kernel.program());
            let call = self.assignments.call(&name, &word);
            let _ = writeln!(
                cases,
                "            {at} => crate::equations::{}",
                call.trim_end_matches(';')
            );
            cases.insert(cases.len() - 1, ',');
        }
        if cases.is_empty() {
            return;
        }
        let (x, given) = match cases.contains("&x") {
            true => (
                "        let x: [T; READ] = core::array::from_fn(|at| given.watched[PLACES.read + at]);\n",
                "given",
            ),
            false => ("", if cases.contains("given.") { "given" } else { "_given" }),
        };
        let _ = write!(
            self.methods,
            "\n    fn assigned(&mut self, assignment: usize, {given}: AssignmentReads<'_, Self>, out: &mut [T; 1]) {{\n{x}        match assignment \
             {{\n{cases}            _ => {{}}\n        }}\n    }}\n"
        );
    }

    /// Adds the functions of derivative discontinuities, conditions and oscillations.
    pub(super) fn add_corners(&mut self, subject: &'p Subject<'_>) {
        let corners = &subject.corners;
        let none = |_: u32| None;
        self.add(
            ("instants", MethodArguments::Nothing, "Self::Instants"),
            corners.instants(),
            &none,
        );
        self.add(
            ("switches", MethodArguments::Time, "Self::Switches"),
            corners.switches(),
            &none,
        );
        // Unless the speed of oscillations is needed.
        if subject.needs_fastest() {
            self.add(
                ("phases", MethodArguments::Time, "Self::Phases"),
                corners.phases(),
                &none,
            );
        }
        self.add(
            ("crossings", MethodArguments::Point, "Self::Crossings"),
            corners.crossings(),
            &none,
        );
    }

    /// Prints the lines for derived parameters of a model over arrays.
    pub(super) fn add_derived(&mut self, subject: &'p Subject<'_>) -> String {
        let mut lines = String::new();
        for (order, (position, kernel)) in subject.kernels.derived().iter().enumerate() {
            let name = format!("derived_{}", order + 1);
            let remark = subject.entries().nth(*position).map(|entry| one_line(&entry.name));
            let call = self.function_of_model(&name, kernel, "model", "&mut value", &|_| remark.clone());
            let _ = write!(
                lines,
                "        if model.p[{position}].is_nan() {{\n            let mut value = [zero; 1];\n            {call}\n            \
                 model.p[{position}] = value[0];\n        }}\n"
            );
        }
        lines
    }

    /// Returns the array sizes that the functions name in their arguments.
    pub(super) fn sizes(&self) -> Vec<&'static str> {
        let read = Array::Read;
        let sizes: [(&'static str, &[Array]); 5] = [
            ("INPUTS", &[read(Space::Inputs), read(Space::Rates)]),
            ("PARAMETERS", &[read(Space::Parameters)]),
            ("SCRATCH", &[MEMORY]),
            ("STATES", &[read(Space::States)]),
            ("UNKNOWNS", &[read(Space::Unknowns)]),
        ];
        let is_named = |(size, arrays): &(&str, &[Array])| {
            let is_of_blocks = !["STATES", "UNKNOWNS"].contains(size) && self.assignments.any_takes(arrays);
            self.functions.any_takes(arrays) || is_of_blocks
        };
        let named = sizes.into_iter().filter(is_named);
        named.map(|size| size.0).collect()
    }

    /// Returns true if a function uses working memory.
    pub(super) fn uses_memory(&self) -> bool {
        [&self.own, &self.functions, &self.assignments]
            .iter()
            .any(|functions| functions.any_takes(&[MEMORY]))
    }

    /// Returns the array sizes that only the assignments of blocks name.
    pub(super) fn sizes_of_blocks(&self) -> Vec<&'static str> {
        let sizes = [("TEMPORARIES", Space::Unknowns), ("READ", Space::States)];
        let named = sizes
            .into_iter()
            .filter(|size| self.assignments.any_takes(&[Array::Read(size.1)]));
        named.map(|size| size.0).collect()
    }

    /// Returns the methods added since the previous call, and whether any of them names a point.
    pub(super) fn take_methods(&mut self) -> (String, bool) {
        (
            std::mem::take(&mut self.methods),
            std::mem::take(&mut self.reads_points),
        )
    }

    /// Returns the maximum working memory of any function, the functions of the run, and those of the model.
    pub(super) fn finish(self) -> (usize, String, String) {
        let text = self.functions.finish() + &self.assignments.finish();
        let own = self.own.finish();
        (Subject::scratch(&self.programs), text, own)
    }
}

/// Adds the case of a combination of modes to a selection.
pub(super) fn push_case(cases: &mut String, combination: usize, call: &str) {
    if !call.is_empty() {
        let _ = writeln!(cases, "            {combination} => {},", call.trim_end_matches(';'));
    }
}

/// Prints the selection of the combination in force.
pub(super) fn chosen(cases: &str) -> String {
    format!("match self.held.combination {{\n{cases}            _ => {{}}\n        }}")
}
