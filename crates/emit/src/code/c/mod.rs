//! C99: the model, steppers, a program that runs it.

mod common;
mod dialect;
mod loops;
mod operations;
mod stability;
mod text;

use super::corners::{CornerCalls, corner_calls};
use super::dialect::Dialect;
use super::functions::Functions;
use super::subject::{
    Constraints, Named, Parameter, ReadmeTables, Subject, labels, names, parameter_remark, readme_tables,
};
use super::template::{Template, template, values};
use super::{CodeOptions, Package};
use crate::code::c::text::{comment, indented, indices, integers, move_call};
use crate::shortest;
pub(super) use common::Common;
use common::common;
use dialect::{C, RULES, string};
use lgm_kernels::program::Program;
use lgm_kernels::{Kernel, KernelOptions, Sensitivities};
use loops::{LoopSolver, Pattern, loop_solver};
use operations::operations;
use std::fmt::Write;

/// The model.
const MODEL: [Template<Model>; 2] = [template!("@name@.h", "model.h"), template!("@name@.c", "model.c")];

/// Its signals.
const SIGNALS: [Template<Signals>; 2] = [
    template!("@name@_signals.h", "signals.h"),
    template!("@name@_signals.c", "signals.c"),
];

/// The names of what it has.
const NAMES: [Template<Listed>; 2] = [
    template!("@name@_names.h", "names.h"),
    template!("@name@_names.c", "names.c"),
];

/// Its runs.
const RUN: [Template<Common>; 4] = [
    template!("@name@_dopri5.h", "dopri5.h"),
    template!("@name@_dopri5.c", "dopri5.c"),
    template!("@name@_run.h", "run.h"),
    template!("@name@_run.c", "run.c"),
];

/// What follows the branch of solutions of algebraic loops.
const BRANCH: [Template<Common>; 2] = [
    template!("@name@_branch.h", "branch.h"),
    template!("@name@_branch.c", "branch.c"),
];

/// What ends steps at bends of laws.
const BENDS: [Template<Common>; 2] = [
    template!("@name@_bends.h", "bends.h"),
    template!("@name@_bends.c", "bends.c"),
];

/// What steps of inputs do to states where that depends on the point.
const JUMP: [Template<Common>; 2] = [
    template!("@name@_jump.h", "jump.h"),
    template!("@name@_jump.c", "jump.c"),
];

/// The stepper of fixed length; that of controlled length has its type of functions from there.
const RK4: [Template<Common>; 2] = [template!("@name@_rk4.h", "rk4.h"), template!("@name@_rk4.c", "rk4.c")];

/// Programs.
const PROGRAMS: [Template<Common>; 2] = [template!("@name@_cvode.c", "cvode.c"), template!("main.c", "main.c")];

/// How they are built.
const MAKEFILE: Template<Build> = template!("Makefile", "Makefile");

/// A run in steps of fixed length.
const FIXED: Template<Fixed> = template!("@name@_fixed.c", "fixed.c");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    struct Build {
        ..common: Common;
        fixed: bool,
    }
}

values! {
    struct Fixed {
        ..common: Common;
        ..steps: FixedSteps;
    }
}

values! {
    struct FixedSteps {
        fixed_step: String,
        operations: String,
    }
}

values! {
    struct Readme {
        ..common: Common;
        ..tables: ReadmeTables;
        ?fixed: FixedSteps;
    }
}

values! {
    struct Model {
        ..common: Common;
        ?loop_solver: LoopSolver;
        ?directional: Partials;
        ?constraints: Constraints;
        state_indices: String,
        input_indices: String,
        output_indices: String,
        parameter_members: String,
        default_lines: String,
        parameter_lines: String,
        entries: usize,
        jacobian_rows: String,
        jacobian_columns: String,
        jacobian_call: String,
        derivatives_call: String,
        outputs_call: String,
        starts_call: String,
        scratch: usize,
        helpers: String,
        programs: String,
    }
}

values! {
    /// The partial derivatives by everything.
    struct Partials {
        partials_room: usize,
        rates_partials_rows: String,
        rates_partials_columns: String,
        rates_partials_room: usize,
        rates_partials_call: String,
        outputs_partials_rows: String,
        outputs_partials_columns: String,
        outputs_partials_room: usize,
        outputs_partials_call: String,
        residuals_partials_rows: String,
        residuals_partials_columns: String,
        residuals_partials_room: usize,
        residuals_partials_call: String,
    }
}

values! {
    struct Signals {
        ..common: Common;
        ..corner_calls: CornerCalls;
        inputs_call: String,
        helpers: String,
        programs: String,
    }
}

values! {
    struct Listed {
        ..common: Common;
        state_columns: usize,
        column_names: String,
        column_states: String,
        parameter_names: String,
        state_names: String,
        output_names: String,
        loop_names: String,
        parameter_cases: String,
    }
}

/// The files of the model and of its runs with their names: what a program that runs it is made of.
pub(super) struct Library {
    pub(super) files: Vec<(String, String)>,
    /// The partial derivatives in these files.
    pub(super) sensitivities: Sensitivities,
    /// What templates of such a program know.
    pub(super) common: Common,
}

/// The library in double precision with derivatives along any direction.
pub(super) fn library(subject: &Subject<'_>) -> Library {
    let c = C { float: false };
    let common = common(subject, &c);
    let sensitivities = Sensitivities::new(subject.system, &KernelOptions { native: false });
    let iterations = CodeOptions::default().iterations();
    Library {
        files: library_files(subject, &c, &common, Some(&sensitivities), iterations),
        sensitivities,
        common,
    }
}

fn library_files(
    subject: &Subject<'_>,
    c: &C,
    common: &Common,
    sensitivities: Option<&Sensitivities>,
    iterations: u64,
) -> Vec<(String, String)> {
    let model = model_values(subject, c, common, sensitivities, iterations);
    let signals = signal_values(subject, c, common);
    let listed = name_values(subject, common);
    let mut files = Vec::new();
    files.extend(MODEL.iter().map(|template| template.file(&model)));
    files.extend(SIGNALS.iter().map(|template| template.file(&signals)));
    files.extend(NAMES.iter().map(|template| template.file(&listed)));
    let parts = [
        (&RUN[..], true),
        (&BRANCH, subject.has_branches()),
        (&BENDS, !subject.bending.is_empty()),
        (&JUMP, subject.jumps()),
        (&RK4, true),
    ];
    for (templates, _) in parts.iter().filter(|part| part.1) {
        files.extend(templates.iter().map(|template| template.file(common)));
    }
    files
}

/// All files.
pub(super) fn package(subject: &Subject<'_>, options: &CodeOptions) -> Package {
    let c = C { float: options.float };
    let mut package = Package::default();
    let common = common(subject, &c);
    for file in library_files(subject, &c, &common, None, options.iterations()) {
        package.add(file.0, file.1);
    }
    for file in PROGRAMS.iter().map(|template| template.file(&common)) {
        package.add(file.0, file.1);
    }
    let build = Build {
        common: common.clone(),
        fixed: options.fixed_step.is_some(),
    };
    package.add(MAKEFILE.path(&build), MAKEFILE.text(&build));
    let steps = options.fixed_step.map(|step| FixedSteps {
        fixed_step: shortest(step),
        operations: operations(subject, step, options.iterations()),
    });
    if let (Some(step), Some(steps)) = (options.fixed_step, &steps) {
        package.warnings.extend(stability::warning(subject, step));
        let fixed = Fixed {
            common: common.clone(),
            steps: FixedSteps {
                fixed_step: c.literal(step),
                ..steps.clone()
            },
        };
        package.add(FIXED.path(&fixed), FIXED.text(&fixed));
        package.remarks.push(steps.operations.clone());
    }
    let readme = Readme {
        common,
        tables: readme_tables(subject, &members(subject)),
        fixed: steps,
    };
    package.add(README.path(&readme), README.text(&readme));
    package
}

/// The members of the parameter struct with their names.
fn members(subject: &Subject<'_>) -> Vec<String> {
    let users = subject.parameters.iter().map(|parameter| parameter.name.as_str());
    names(users, RULES, &[])
}

/// How an entry of a parameter is reached in the struct.
fn entry_place(parameter: &Parameter, member: &str, at: usize) -> String {
    match parameter.shape.is_empty() {
        true => member.to_string(),
        false => format!("{member}[{at}]"),
    }
}

/// The members of the struct of parameters, and the lines that give them their values.
fn declare_parameters(subject: &Subject<'_>, c: &C, name: &str, members: &[String]) -> [String; 2] {
    let mut struct_members = String::new();
    let mut defaults = String::new();
    for (parameter, member) in subject.parameters.iter().zip(members) {
        let size = match parameter.shape.as_slice() {
            [] => String::new(),
            _ => format!("[{}]", parameter.entries.len()),
        };
        let _ = writeln!(
            struct_members,
            "    {name}_real {member}{size}; /* {} */",
            comment(&parameter_remark(parameter))
        );
        for (at, entry) in parameter.entries.iter().enumerate() {
            let value = match entry.derived {
                Some(_) => "NAN".to_string(),
                None => c.literal(entry.value),
            };
            let place = entry_place(parameter, member, at);
            let _ = writeln!(defaults, "    parameters->{place} = {value};");
        }
    }
    if members.is_empty() {
        let _ = writeln!(struct_members, "    {name}_real none; /* There is none. */");
        let _ = writeln!(defaults, "    parameters->none = {};", c.literal(0.0));
    }
    [struct_members, defaults]
}

/// The partial derivatives by everything, with the memory that the largest of them takes.
fn partial_values<'p>(
    partials: &'p Sensitivities,
    functions: &mut Functions<'_>,
    scratch: &mut Vec<&'p Program>,
) -> Partials {
    let kernels = [&partials.rates, &partials.outputs, &partials.residuals];
    let room = kernels.iter().map(|kernel| kernel.stored()).max();
    let names = ["rates_partials", "outputs_partials", "residuals_partials"];
    let mut call = |at: usize| {
        let program = kernels[at].values.program();
        functions.add(names[at], program, &|_: u32| None);
        scratch.push(program);
        functions.call(names[at], &move_call("model->partials"))
    };
    let [rates_partials_call, outputs_partials_call, residuals_partials_call] = [0, 1, 2].map(&mut call);
    let [rates, outputs, residuals] = kernels.map(Pattern::of);
    Partials {
        partials_room: room.unwrap_or(0).max(1),
        rates_partials_rows: rates.rows,
        rates_partials_columns: rates.columns,
        rates_partials_room: rates.room,
        rates_partials_call,
        outputs_partials_rows: outputs.rows,
        outputs_partials_columns: outputs.columns,
        outputs_partials_room: outputs.room,
        outputs_partials_call,
        residuals_partials_rows: residuals.rows,
        residuals_partials_columns: residuals.columns,
        residuals_partials_room: residuals.room,
        residuals_partials_call,
    }
}

/// The lines that copy parameters, and compute those that follow from others and are not given.
fn parameter_lines<'p>(
    subject: &'p Subject<'_>,
    members: &[String],
    functions: &mut Functions<'_>,
    scratch: &mut Vec<&'p Program>,
) -> String {
    let mut lines = String::new();
    for (parameter, member) in subject.parameters.iter().zip(members) {
        for at in 0..parameter.entries.len() {
            let place = entry_place(parameter, member, at);
            let _ = writeln!(lines, "    p[{}] = parameters->{place};", parameter.first + at);
        }
    }
    for (order, (position, kernel)) in subject.kernels.derived().iter().enumerate() {
        let function = format!("derived_{}", order + 1);
        let remark = subject.entries().nth(*position).map(|entry| comment(&entry.name));
        functions.add(&function, kernel.program(), &|_| remark.clone());
        scratch.push(kernel.program());
        let call = functions.call(&function, &move_call(&format!("&p[{position}]")));
        let _ = writeln!(lines, "    if (isnan(p[{position}])) {{\n        {call}\n    }}");
    }
    if subject.parameters.is_empty() {
        lines.push_str("    (void)parameters;\n    (void)p;\n");
    }
    lines
}

fn model_values(
    subject: &Subject<'_>,
    c: &C,
    common: &Common,
    sensitivities: Option<&Sensitivities>,
    iterations: u64,
) -> Model {
    let kernels = &subject.kernels;
    let name = &common.name;
    let members = members(subject);
    let mut functions = Functions::new(c);
    let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, comment);
    let none = |_: u32| None;
    functions.add(
        "derivatives",
        kernels.derivatives.program(),
        &labels("der ", &subject.states),
    );
    functions.add("results", kernels.outputs.program(), &labels("", &subject.outputs));
    functions.add("starts", kernels.starts.program(), &labels("", &subject.states));
    let partials = &subject.jacobians().rates_by_states;
    let mut scratch = vec![
        kernels.derivatives.program(),
        kernels.outputs.program(),
        kernels.starts.program(),
        kernels.inputs.program(),
        subject.corners.instants().program(),
        subject.corners.switches().program(),
        subject.corners.phases().program(),
        subject.corners.crossings().program(),
        partials.values.program(),
    ];
    let mut jacobian_call = String::new();
    let solver = (subject.unknowns() > 0).then(|| loop_solver(subject, c, iterations, &mut functions, &mut scratch));
    if solver.is_none() {
        functions.add("partials", partials.values.program(), &none);
        jacobian_call = functions.call("partials", &move_call("entries"));
    }
    let directional = sensitivities.map(|partials| partial_values(partials, &mut functions, &mut scratch));
    let constraints = subject.constraints.as_ref().map(|kernel| {
        functions.add("starts_of_dependents", kernel.program(), &none);
        scratch.push(kernel.program());
        Constraints {
            constraint_count: subject.system.start_constraints.len(),
            constraints_call: functions.call("starts_of_dependents", &move_call("pairs")),
        }
    });
    let parameter_lines = parameter_lines(subject, &members, &mut functions, &mut scratch);
    let (rows, columns) = subject.jacobian_pattern();
    let [parameter_members, default_lines] = declare_parameters(subject, c, name, &members);
    let call = |name: &str, out: &str| functions.call(name, &move_call(out));
    Model {
        loop_solver: solver,
        directional,
        constraints,
        state_indices: indices(name, "x", &subject.states),
        input_indices: indices(name, "u", &subject.inputs),
        output_indices: indices(name, "y", &subject.outputs),
        parameter_members,
        default_lines,
        parameter_lines,
        entries: columns.len(),
        jacobian_rows: integers(&rows),
        jacobian_columns: integers(&columns),
        jacobian_call,
        derivatives_call: call("derivatives", "dx"),
        outputs_call: call("results", "y"),
        starts_call: indented(&call("starts", "x")),
        scratch: Subject::scratch(&scratch).max(1),
        helpers: c.helpers(&functions),
        programs: functions.finish(),
        common: common.clone(),
    }
}

fn signal_values(subject: &Subject<'_>, c: &C, common: &Common) -> Signals {
    let mut functions = Functions::new(c);
    let mut call = |name: &str, kernel: &Kernel, out: &str| {
        functions.add(name, kernel.program(), &|_: u32| None);
        functions.call(name, &move_call(out))
    };
    Signals {
        inputs_call: call("signals", &subject.kernels.inputs, "both"),
        corner_calls: corner_calls(subject, |name, kernel, out| call(&format!("{name}_at"), kernel, out)),
        helpers: c.helpers(&functions),
        programs: functions.finish(),
        common: common.clone(),
    }
}

fn name_values(subject: &Subject<'_>, common: &Common) -> Listed {
    let columns = subject.columns.table();
    let lines = |list: &mut dyn Iterator<Item = &str>| -> String {
        let lines: Vec<String> = list.map(|name| format!("    {}", string(name))).collect();
        lines.join(",\n")
    };
    let fields: Vec<String> = columns
        .iter()
        .map(|column| crate::rows::csv_field(&column.name))
        .collect();
    let states: Vec<usize> = subject.columns.states.iter().map(|entry| entry.0).collect();
    let mut cases = String::new();
    for (parameter, member) in subject.parameters.iter().zip(members(subject)) {
        for at in 0..parameter.entries.len() {
            let place = entry_place(parameter, &member, at);
            let _ = writeln!(
                cases,
                "    case {}:\n        return &parameters->{place};",
                parameter.first + at
            );
        }
    }
    if cases.is_empty() {
        cases.push_str("    case -1:\n        return &parameters->none;\n");
    }
    // C has no empty arrays.
    let names = |list: &mut dyn Iterator<Item = &str>| match lines(list) {
        none if none.is_empty() => "    \"\"".to_string(),
        some => some,
    };
    Listed {
        state_columns: states.len(),
        column_names: lines(&mut fields.iter().map(String::as_str)),
        column_states: integers(&states),
        parameter_names: names(&mut subject.entries().map(|entry| entry.name.as_str())),
        state_names: names(&mut subject.states.iter().map(|state| state.name.as_str())),
        output_names: names(&mut subject.outputs.iter().map(|output| output.name.as_str())),
        loop_names: names(&mut subject.loop_elements()),
        parameter_cases: cases,
        common: common.clone(),
    }
}
