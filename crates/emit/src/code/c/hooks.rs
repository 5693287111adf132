//! The functions through which the sources of `lgm_runtime` evaluate the equations: one signature for all that depends on a point, and
//! one for all that depends on time and parameters.

use super::dialect::C;
use crate::code::dialect::Array;
use crate::code::functions::Functions;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use std::fmt::Write;

/// The arguments of a function of the equations.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// Time, states, inputs, their rates and unknowns of loops.
    Point,
    /// Time alone.
    Time,
    /// Time, what blocks read in the place of states, inputs, and temporaries in the place of unknowns; behind a number.
    Numbered,
}

impl Given {
    /// The arguments, and the statement that uses them all.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Given::Point => (
                "real t, const real x[], const real u[], const real du[], const real w[], real out[]",
                "(void)model; (void)t; (void)x; (void)u; (void)du; (void)w; (void)out;",
            ),
            Given::Time => ("real t, real out[]", "(void)model; (void)t; (void)out;"),
            Given::Numbered => (
                "int number, real t, const real x[], const real u[], const real w[], real out[]",
                "(void)model; (void)t; (void)x; (void)u; (void)w; (void)out;",
            ),
        }
    }
}

/// The functions of one file, and those that call them.
pub(super) struct Hooks<'p> {
    functions: Functions<'p>,
    programs: Vec<&'p Program>,
    text: String,
}

/// The word for each array in a call.
fn argument(array: Array, out: &str) -> String {
    match array {
        Array::Read(Space::Time) => "t",
        Array::Read(Space::Parameters) => "model->p",
        Array::Read(Space::States) => "x",
        Array::Read(Space::Inputs) => "u",
        Array::Read(Space::Rates) => "du",
        Array::Read(Space::Unknowns) => "w",
        Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are constants"),
        Array::Read(Space::Temporaries) => "model->s",
        Array::Output => out,
    }
    .to_string()
}

impl<'p> Hooks<'p> {
    pub(super) fn new(c: &'p C) -> Hooks<'p> {
        Hooks {
            functions: Functions::new(c),
            programs: Vec::new(),
            text: String::new(),
        }
    }

    /// Adds a function of the equations under a name of its own, and returns the statement that calls it.
    pub(super) fn plain(
        &mut self,
        name: &str,
        program: &'p Program,
        out: &str,
        remark: &dyn Fn(u32) -> Option<String>,
    ) -> String {
        self.functions.add(name, program, remark);
        self.programs.push(program);
        self.functions.call(name, &|array| argument(array, out))
    }

    /// Adds a function of the equations, and the one by which it is called.
    pub(super) fn add_with(
        &mut self,
        (name, given): (&str, Given),
        program: &'p Program,
        remark: &dyn Fn(u32) -> Option<String>,
    ) {
        let call = self.plain(&format!("{name}_of"), program, "out", remark);
        let (arguments, unused) = given.words();
        let _ = write!(
            self.text,
            "static void system_{name}(lgm_model *model, {arguments}) {{\n    {unused}\n    {call}\n}}\n\n"
        );
    }

    /// The same of functions of which the combination of modes in force chooses one. One alone needs no choice.
    pub(super) fn add_modal(
        &mut self,
        name: &str,
        programs: &[(usize, &'p Program)],
        remark: &dyn Fn(u32) -> Option<String>,
    ) {
        if let [(_, program)] = programs {
            self.add_with((name, Given::Point), program, remark);
            return;
        }
        let mut cases = String::new();
        for (combination, program) in programs {
            let call = self.plain(&format!("{name}_of_{combination}"), program, "out", remark);
            let _ = write!(cases, "    case {combination}:\n        {call}\n        break;\n");
        }
        self.choose(name, (Given::Point, "model->combination"), &cases);
    }

    /// Adds functions of which a number that stands behind the model chooses one.
    pub(super) fn add_numbered(&mut self, (name, number): (&str, &str), programs: &[&'p Program]) {
        let mut cases = String::new();
        for (at, program) in programs.iter().enumerate() {
            let call = self.plain(&format!("{name}_{at}_of"), program, "out", &|_| None);
            let _ = write!(cases, "    case {at}:\n        {call}\n        break;\n");
        }
        self.choose(name, (Given::Numbered, number), &cases);
    }

    fn choose(&mut self, name: &str, (given, number): (Given, &str), cases: &str) {
        let (arguments, unused) = given.words();
        let _ = write!(
            self.text,
            "static void system_{name}(lgm_model *model, {arguments}) {{\n    {unused}\n    switch ({number}) {{\n{cases}    \
             default:\n        break;\n    }}\n}}\n\n"
        );
    }

    /// The same without remarks on results.
    pub(super) fn add(&mut self, name: &str, given: Given, program: &'p Program) {
        self.add_with((name, given), program, &|_| None);
    }

    /// The working memory that the functions need at most.
    pub(super) fn programs(&self) -> &[&'p Program] {
        &self.programs
    }

    /// Definitions that the functions need, the functions, and those that call them.
    pub(super) fn finish(self, c: &C) -> (String, String, String) {
        let helpers = c.helpers(&self.functions);
        (helpers, self.functions.finish(), self.text)
    }
}
