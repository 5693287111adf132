//! Equations over arrays, for models with too many quantities to be read individually.

use super::blocks;
use super::facts::{Bodies, Model};
use crate::code::c::loops::Pattern;
use crate::code::c::text::comment;
use crate::code::dialect::Array;
use crate::code::events::{Place, SampledBlock, chosen};
use crate::code::functions::Functions;
use crate::code::subject::{Named, Subject, labels};
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use std::fmt::Write;

/// Returns the argument for an array; loop unknowns are in `unknowns`.
fn argument(array: Array, unknowns: &str, out: &str, keeps_inputs: bool) -> String {
    match array {
        Array::Read(Space::Time) => "t",
        Array::Read(Space::Parameters) => "model->p",
        Array::Read(Space::States) => "x",
        Array::Read(Space::Inputs) if keeps_inputs => "model->u",
        Array::Read(Space::Inputs) => "u",
        Array::Read(Space::Rates) => "du",
        Array::Read(Space::Unknowns) => unknowns,
        Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are constants"),
        Array::Read(Space::Temporaries) => "model->s",
        Array::Output => out,
    }
    .to_string()
}

/// Writes the functions of one model.
struct Writer<'w, 'p> {
    functions: Functions<'w>,
    programs: Vec<&'p Program>,
    hooks: String,
    /// True if functions read inputs and discrete variables from the model.
    keeps_inputs: bool,
}

impl<'p> Writer<'_, 'p> {
    fn call(&mut self, name: &str, program: &'p Program, out: &str, remark: &dyn Fn(u32) -> Option<String>) -> String {
        self.functions.add(name, program, remark);
        self.programs.push(program);
        let keeps_inputs = self.keeps_inputs;
        self.functions
            .call(name, &|array| argument(array, "model->w", out, keeps_inputs))
    }

    /// Adds a function that [`Writer::statement`] calls.
    fn add(&mut self, name: &str, program: &'p Program) {
        self.functions.add(name, program, &|_| None);
        self.programs.push(program);
    }

    /// Returns a call with these arguments.
    fn statement(&self, name: &str, of: &dyn Fn(Array) -> String) -> String {
        self.functions.call(name, of)
    }

    /// Adds a function that the sources of loops call.
    fn part(&mut self, name: &str, program: &'p Program) {
        let own = format!("{name}_of");
        self.functions.add(&own, program, &|_| None);
        self.programs.push(program);
        let keeps_inputs = self.keeps_inputs;
        let call = (self.functions).call(&own, &|array| argument(array, "w", "out", keeps_inputs));
        let _ = write!(
            self.hooks,
            "static void {name}(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]),\n    const real \
             w[], real out[]) {{\n    (void)model; (void)t; (void)x; (void)u; (void)w; (void)out;LGM_DU( (void)du;)\n    \
             {call}\n}}\n\n"
        );
    }

    /// Adds a call to the function of the active combination.
    fn modal(
        &mut self,
        name: &str,
        programs: &[(usize, &'p Program)],
        out: &str,
        remark: &dyn Fn(u32) -> Option<String>,
    ) -> String {
        if let [(_, program)] = programs {
            return format!("    {}\n", self.call(name, program, out, remark));
        }
        let mut cases = String::new();
        for (combination, program) in programs {
            let call = self.call(&format!("{name}_{combination}"), program, out, remark);
            let _ = write!(cases, "    case {combination}:\n        {call}\n        break;\n");
        }
        format!("    switch (model->combination) {{\n{cases}    default:\n        break;\n    }}\n")
    }
}

pub(super) fn bodies(model: &Model<'_>) -> Bodies {
    let subject = model.subject;
    let (kernels, jacobians) = (&subject.kernels, subject.jacobians());
    let mut writer = Writer {
        functions: Functions::new(&model.c),
        programs: Vec::new(),
        hooks: String::new(),
        keeps_inputs: model.keeps_inputs(),
    };
    let mut bodies = Bodies::default();
    let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, comment);
    let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
    let [rates, values] = match model.changing {
        Some((_, changing)) => [chosen(&changing.derivatives), chosen(&changing.outputs)],
        None => [&kernels.derivatives, &kernels.outputs].map(|kernel| vec![(0, kernel.program())]),
    };
    bodies.rates = writer.modal("rates", &rates, "dx", &states);
    bodies.outputs = writer.modal("values", &values, "y", &outputs);
    let starts = labels("", &subject.states);
    let call = writer.call("starts", kernels.starts.program(), "x", &starts);
    bodies.starts = format!("    {call}\n");
    if let Some(sampled) = &subject.sampled {
        let call = writer.call(
            "discrete_starts",
            sampled.kernels.starts.program(),
            "model->u + LGM_INPUTS",
            &|_| None,
        );
        let _ = writeln!(bodies.starts, "    {call}");
        bodies.blocks = block_functions(model, &mut writer);
    }
    if let Some(kernel) = &subject.constraints {
        let call = writer.call("constraints", kernel.program(), "pairs", &|_| None);
        bodies.constraints = Some(format!("        {call}\n"));
    }
    bodies.derived = derived(model, &mut writer);
    if model.has_loops() {
        let by_unknowns = &jacobians.residuals_by_unknowns.values;
        writer.part("residuals", kernels.residuals.program());
        writer.part("loop_matrix", by_unknowns.program());
    }
    if model.has_jacobian() {
        let (rows, columns) = subject.jacobian_pattern();
        bodies.pattern = Some(Pattern { rows, columns });
        let by_states = jacobians.rates_by_states.values.program();
        if model.has_loops() {
            writer.part("rates_by_states", by_states);
            writer.part("rates_by_unknowns", jacobians.rates_by_unknowns.values.program());
            writer.part("residuals_by_states", jacobians.residuals_by_states.values.program());
        } else {
            bodies.jacobian = format!("    {}\n", writer.call("jacobian_of", by_states, "entries", &|_| None));
        }
    }
    bodies.scratch = scratch(subject, &writer.programs, model);
    bodies.operations = writer.functions.operations().to_vec();
    bodies.statics = writer.functions.finish() + &writer.hooks;
    bodies
}

/// Returns the amount of working memory, which the functions of a run share.
fn scratch(subject: &Subject<'_>, own: &[&Program], model: &Model<'_>) -> usize {
    let mut programs = own.to_vec();
    programs.push(subject.signals().program());
    let corners = &subject.corners;
    let of_corners = [
        corners.instants(),
        corners.switches(),
        corners.phases(),
        corners.crossings(),
    ];
    programs.extend(of_corners.map(lgm_kernels::Kernel::program));
    programs.extend(model.changing.iter().flat_map(|changing| changing.1.programs()));
    programs.extend(&model.further);
    Subject::scratch(&programs)
}

/// Prints the lines that copy parameters and compute derived parameters that are not given.
fn derived<'p>(model: &Model<'p>, writer: &mut Writer<'_, 'p>) -> String {
    let subject = model.subject;
    let mut lines = "    real *const p = model->p;\n".to_string();
    for (parameter, member) in subject.parameters.iter().zip(&model.names.members) {
        for at in 0..parameter.entries.len() {
            let place = crate::code::c::dialect::entry_place(parameter, member, at);
            let _ = writeln!(lines, "    p[{}] = parameters->{place};", parameter.first + at);
        }
    }
    for (order, (position, kernel)) in subject.kernels.derived().iter().enumerate() {
        let remark = subject.entries().nth(*position).map(|entry| comment(&entry.name));
        let name = format!("derived_{}", order + 1);
        let call = writer.call(&name, kernel.program(), &format!("&p[{position}]"), &|_| remark.clone());
        let _ = write!(lines, "    if (isnan(p[{position}])) {{\n        {call}\n    }}\n");
    }
    if subject.parameters.is_empty() {
        lines = String::new();
    }
    lines
}

/// The statement that stores the inputs next to the discrete variables.
const INPUTS: &str = "    for (int at = 0; at < LGM_INPUTS; at++) {\n        model->u[at] = u[at];\n    }\n";

/// Prints the functions that run blocks over arrays.
fn block_functions<'p>(model: &Model<'p>, writer: &mut Writer<'_, 'p>) -> String {
    let Some(sampled) = &model.subject.sampled else {
        return String::new();
    };
    let argument = |array: Array, out: &str| match array {
        Array::Read(Space::Time) => "t".to_string(),
        Array::Read(Space::Parameters) => "model->p".to_string(),
        Array::Read(Space::Inputs) => "model->u".to_string(),
        Array::Read(Space::Temporaries) => "model->s".to_string(),
        Array::Read(Space::Unknowns) => "entry".to_string(),
        Array::Read(Space::States) => "before".to_string(),
        Array::Read(Space::Rates) => "du".to_string(),
        Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are constants"),
        Array::Output => out.to_string(),
    };
    let read = sampled.kernels.read.program();
    let of_read = |array: Array| match array {
        Array::Read(Space::States) => "model->x".to_string(),
        Array::Read(Space::Unknowns) => "model->w".to_string(),
        array => argument(array, "before"),
    };
    writer.add("values_before", read);
    for (at, kernel) in sampled.kernels.assigned.iter().enumerate() {
        writer.add(&format!("assigned_{}", at + 1), kernel.program());
    }
    let mut out = String::new();
    for (name, blocks) in blocks::functions(sampled) {
        let sets_entries = |block: &&SampledBlock| {
            let mut assignments = block.assignments.iter();
            assignments.any(|assigned| matches!(assigned.target, Place::Temporary(_)))
        };
        let mut lines = "    real value[1];\n".to_string();
        if !sampled.read.is_empty() {
            let _ = writeln!(lines, "    real before[{}];", sampled.read.len());
        }
        if blocks.iter().any(sets_entries) {
            let _ = writeln!(lines, "    real entry[{}];", sampled.temporaries.len());
        }
        lines.push_str(INPUTS);
        if !sampled.read.is_empty() {
            let _ = writeln!(lines, "    {}", writer.statement("values_before", &of_read));
        }
        for block in blocks {
            let mut own = String::new();
            for assigned in &block.assignments {
                let name = format!("assigned_{}", assigned.number + 1);
                let _ = writeln!(
                    own,
                    "    {}",
                    writer.statement(&name, &|array| argument(array, "value"))
                );
                match assigned.target {
                    Place::Discrete(at) => {
                        let name = comment(&model.subject.discretes[at].name);
                        let _ = writeln!(own, "    {} = value[0]; /* {name} */", model.discrete(at));
                    }
                    Place::Temporary(at) => {
                        let _ = writeln!(own, "    entry[{at}] = value[0];");
                    }
                    Place::State(at) => own.push_str(&model.state_assignment(at, "value[0]")),
                }
            }
            lines.push_str(&model.block(sampled, block, &own));
        }
        out.push_str(&model.block_function(&name, read.needs(Space::Unknowns) > 0, &lines));
    }
    let count = sampled.conditions.len();
    if count > 0 {
        let program = sampled.kernels.conditions.program();
        writer.add("conditions", program);
        let at_point = |array: Array| match array {
            Array::Output => "value".to_string(),
            array => of_read(array),
        };
        let lines = format!(
            "    real value[{count}];\n{INPUTS}    {}\n    for (int at = 0; at < {count}; at++) {{\n        holds[at] = (value[at] > \
             (real)0.5);\n    }}\n",
            writer.statement("conditions", &at_point)
        );
        out.push_str(&model.condition_functions(count, program.needs(Space::Unknowns) > 0, &lines));
    }
    out
}
