//! Array functions through which `lgm_runtime` sources evaluate equations. One signature covers functions of a point, and another one
//! covers functions of time and parameters.

use super::dialect::C;
use crate::code::dialect::Array;
use crate::code::functions::Functions;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use std::fmt::Write;

/// The arguments of a function of the equations.
#[derive(Clone, Copy)]
pub(super) enum HookArguments {
    /// Time, states, inputs, time derivatives of inputs, and loop unknowns.
    Point,
    /// Only the time.
    Time,
    /// A number, followed by the time, the values that blocks read (instead of states), inputs, and temporaries (instead of unknowns).
    Numbered,
}

impl HookArguments {
    /// Returns the argument list, and the statement that marks all arguments as used.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            HookArguments::Point => (
                "real t, const real x[], const real u[], const real du[], const real w[], real out[]",
                "(void)model; (void)t; (void)x; (void)u; (void)du; (void)w; (void)out;",
            ),
            HookArguments::Time => ("real t, real out[]", "(void)model; (void)t; (void)out;"),
            HookArguments::Numbered => (
                "int number, real t, const real x[], const real u[], const real w[], real out[]",
                "(void)model; (void)t; (void)x; (void)u; (void)w; (void)out;",
            ),
        }
    }
}

/// The functions of one file, and their callers.
pub(super) struct Hooks<'p> {
    c: &'p C<'p>,
    functions: Functions<'p>,
    text: String,
}

/// Returns the expression for an array in a call.
fn argument(c: &C<'_>, array: Array, out: &str) -> String {
    let has_members = c.members.is_some();
    match array {
        Array::Read(Space::Time) => "t",
        Array::Read(Space::Parameters) if has_members => "&model->p",
        Array::Read(Space::Parameters) => "model->p",
        Array::Read(Space::States) => "x",
        Array::Read(Space::Inputs) => "u",
        Array::Read(Space::Rates) => "du",
        Array::Read(Space::Unknowns) => "w",
        Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are constants"),
        Array::Read(Space::Temporaries) if has_members => "s",
        Array::Read(Space::Temporaries) => "model->s",
        Array::Output => out,
    }
    .to_string()
}

impl<'p> Hooks<'p> {
    pub(super) fn new(c: &'p C<'p>) -> Hooks<'p> {
        Hooks {
            c,
            functions: Functions::new(c),
            text: String::new(),
        }
    }

    /// Adds a separate function of the equations, and returns the statement that calls the function.
    pub(super) fn plain(
        &mut self,
        name: &str,
        program: &'p Program,
        out: &str,
        remark: &dyn Fn(u32) -> Option<String>,
    ) -> String {
        self.functions.add(name, program, remark);
        self.functions.call(name, &|array| argument(self.c, array, out))
    }

    /// Adds a function of the equations and its caller.
    pub(super) fn add_with(
        &mut self,
        (name, given): (&str, HookArguments),
        program: &'p Program,
        remark: &dyn Fn(u32) -> Option<String>,
    ) {
        let call = self.plain(&format!("{name}_of"), program, "out", remark);
        let room = self.room(program.temporaries);
        self.open(name, given, &format!("{room}    {call}\n"));
    }

    /// Declares the working memory of a call; empty if the model owns the memory.
    fn room(&self, temporaries: usize) -> String {
        match self.c.members.is_some() && temporaries > 0 {
            true => format!("    real s[{temporaries}];\n"),
            false => String::new(),
        }
    }

    fn open(&mut self, name: &str, given: HookArguments, body: &str) {
        let (arguments, unused) = given.words();
        let _ = write!(
            self.text,
            "static void system_{name}(lgm_model *model, {arguments}) {{\n    {unused}\n{body}}}\n\n"
        );
    }

    /// Adds functions selected by the active combination of modes. A single function needs no selection.
    pub(super) fn add_modal(
        &mut self,
        name: &str,
        programs: &[(usize, &'p Program)],
        remark: &dyn Fn(u32) -> Option<String>,
    ) {
        if let [(_, program)] = programs {
            self.add_with((name, HookArguments::Point), program, remark);
            return;
        }
        let mut cases = String::new();
        for (combination, program) in programs {
            let call = self.plain(&format!("{name}_of_{combination}"), program, "out", remark);
            let _ = write!(cases, "    case {combination}:\n        {call}\n        break;\n");
        }
        let most = programs.iter().map(|program| program.1.temporaries).max();
        self.choose(
            name,
            (HookArguments::Point, "model->combination"),
            &cases,
            most.unwrap_or(0),
        );
    }

    /// Adds functions selected by a number of the model.
    pub(super) fn add_numbered(&mut self, (name, number): (&str, &str), programs: &[&'p Program]) {
        let mut cases = String::new();
        for (at, program) in programs.iter().enumerate() {
            let call = self.plain(&format!("{name}_{at}_of"), program, "out", &|_| None);
            let _ = write!(cases, "    case {at}:\n        {call}\n        break;\n");
        }
        let most = programs.iter().map(|program| program.temporaries).max();
        self.choose(name, (HookArguments::Numbered, number), &cases, most.unwrap_or(0));
    }

    fn choose(&mut self, name: &str, (given, number): (HookArguments, &str), cases: &str, temporaries: usize) {
        let room = self.room(temporaries);
        let body = format!("{room}    switch ({number}) {{\n{cases}    default:\n        break;\n    }}\n");
        self.open(name, given, &body);
    }

    /// Adds a function of the equations and its caller, without remarks on results.
    pub(super) fn add(&mut self, name: &str, given: HookArguments, program: &'p Program) {
        self.add_with((name, given), program, &|_| None);
    }

    /// Returns the required definitions, the functions, and the callers.
    pub(super) fn finish(self, is_guarded: bool) -> [String; 3] {
        let helpers = self.c.helpers(self.functions.operations(), is_guarded);
        [helpers, self.functions.finish(), self.text]
    }
}
