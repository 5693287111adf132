//! The functions of the module of equations, and the statements that call them.

use super::dialect::Rust;
use crate::code::corners::{CornerCalls, corner_calls};
use crate::code::dialect::Array;
use crate::code::functions::Functions;
use crate::code::names::one_line;
use crate::code::subject::{Named, Subject, labels};
use crate::code::template::values;
use lgm_kernels::Kernel;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use std::fmt::Write;

values! {
    /// Calls of the functions that every model has.
    pub(super) struct Calls {
        derivatives_call: String,
        outputs_call: String,
        starts_call: String,
        inputs_call: String,
        direct_call: String,
        jacobian_call: String,
        residuals_call: String,
        loop_matrix_call: String,
        by_loop_call: String,
        by_state_call: String,
    }
}

/// The arguments of a call in the methods of the model; `own` is how the model itself is called.
fn arguments(own: &str, out: &str) -> impl Fn(Array) -> String + use<> {
    let (own, out) = (own.to_string(), out.to_string());
    move |array| match array {
        Array::Read(Space::Time) => "t".to_string(),
        Array::Read(Space::Parameters) => format!("&{own}.p"),
        Array::Read(Space::States) => "x".to_string(),
        Array::Read(Space::Inputs) => "u".to_string(),
        Array::Read(Space::Rates) => "du".to_string(),
        Array::Read(Space::Unknowns) => format!("&{own}.w"),
        Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are statics"),
        Array::Read(Space::Temporaries) => format!("&mut {own}.s"),
        Array::Output => out.clone(),
    }
}

/// Working memory.
const MEMORY: Array = Array::Read(Space::Temporaries);

/// The functions of the module of equations.
pub(super) struct Equations<'p> {
    functions: Functions<'static>,
    programs: Vec<&'p Program>,
}

impl<'p> Equations<'p> {
    pub(super) fn new() -> Equations<'p> {
        Equations {
            functions: Functions::new(&Rust),
            programs: Vec::new(),
        }
    }

    /// Adds a function, and gives the statement that calls it; nothing where it computes nothing.
    pub(super) fn add(
        &mut self,
        name: &str,
        kernel: &'p Kernel,
        (own, out): (&str, &str),
        remark: &dyn Fn(u32) -> Option<String>,
    ) -> String {
        self.functions.add(name, kernel.program(), remark);
        self.programs.push(kernel.program());
        self.call(name, own, out)
    }

    fn call(&self, name: &str, own: &str, out: &str) -> String {
        let call = self.functions.call(name, &arguments(own, out));
        match call.is_empty() {
            true => call,
            false => format!("crate::equations::{call}"),
        }
    }

    /// The functions that every model has, and the calls of them.
    pub(super) fn add_kernels(&mut self, subject: &'p Subject<'_>) -> Calls {
        let (kernels, jacobians) = (&subject.kernels, subject.jacobians());
        let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, one_line);
        let none = |_: u32| None;
        let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
        let derivatives_call = self.add("derivatives", &kernels.derivatives, ("self", "dx"), &states);
        let outputs_call = self.add("outputs", &kernels.outputs, ("self", "y"), &outputs);
        let starts_call = self.add("starts", &kernels.starts, ("model", "&mut x"), &none);
        let mut add = |name: &str, kernel: &'p Kernel, out: &str| self.add(name, kernel, ("self", out), &none);
        let by_unknowns = &jacobians.rates_by_unknowns.values;
        let by_states = &jacobians.residuals_by_states.values;
        Calls {
            derivatives_call,
            outputs_call,
            starts_call,
            inputs_call: add("inputs", &kernels.inputs, "&mut both"),
            direct_call: add("jacobian", &jacobians.rates_by_states.values, "&mut direct"),
            residuals_call: add("residuals", &kernels.residuals, "&mut step"),
            loop_matrix_call: add("loop_matrix", &jacobians.residuals_by_unknowns.values, "&mut entries"),
            by_loop_call: add("by_unknowns", by_unknowns, "&mut by_loop"),
            by_state_call: add("residuals_by_states", by_states, "&mut by_state"),
            jacobian_call: self.call("jacobian", "self", "entries"),
        }
    }

    /// What says where something happens.
    pub(super) fn add_corners(&mut self, subject: &'p Subject<'_>) -> CornerCalls {
        corner_calls(subject, |name, kernel, out| {
            self.add(name, kernel, ("self", &format!("&mut {out}")), &|_| None)
        })
    }

    /// The lines for parameters that follow from others.
    pub(super) fn add_derived(&mut self, subject: &'p Subject<'_>) -> String {
        let mut lines = String::new();
        for (order, (position, kernel)) in subject.kernels.derived().iter().enumerate() {
            let name = format!("derived_{}", order + 1);
            let remark = subject.entries().nth(*position).map(|entry| one_line(&entry.name));
            let call = self.add(&name, kernel, ("model", "&mut value"), &|_| remark.clone());
            let _ = write!(
                lines,
                "        if model.p[{position}].is_nan() {{\n            let mut value = [zero; 1];\n            {call}\n            \
                 model.p[{position}] = value[0];\n        }}\n"
            );
        }
        lines
    }

    /// Whether a function takes working memory.
    pub(super) fn takes_memory(&self, name: &str) -> bool {
        self.functions.takes(name).contains(&MEMORY)
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

    /// How much working memory the functions take at most, and all of them.
    pub(super) fn finish(self) -> (usize, String) {
        (Subject::scratch(&self.programs), self.functions.finish())
    }
}
