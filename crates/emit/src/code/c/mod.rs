//! C99: the model, steppers, a program that runs it.

mod dialect;
mod loops;
mod operations;
mod stability;
mod text;

use super::functions::Functions;
use super::program::Dialect;
use super::subject::{JUMP_PARTS, Named, Parameter, Subject, labels, names, parameter_remark, readme_values};
use super::template::{Values, fill};
use super::{CodeOptions, Package};
use crate::code::c::text::{comment, indented, indices, integers, list, move_call};
use crate::shortest;
use dialect::{C, RULES, string};
use lgm_kernels::program::Program;
use lgm_kernels::{KernelOptions, LARGEST_TURN, Sensitivities};
use lgm_simulate::ROUNDINGS;
use loops::{loop_values, sparse_values};
use operations::operations;
use std::fmt::Write;

/// The files of the model and of its runs.
const LIBRARY: [(&str, &str); 10] = [
    ("@name@.h", include_str!("model.h")),
    ("@name@.c", include_str!("model.c")),
    ("@name@_signals.h", include_str!("signals.h")),
    ("@name@_signals.c", include_str!("signals.c")),
    ("@name@_names.h", include_str!("names.h")),
    ("@name@_names.c", include_str!("names.c")),
    ("@name@_dopri5.h", include_str!("dopri5.h")),
    ("@name@_dopri5.c", include_str!("dopri5.c")),
    ("@name@_run.h", include_str!("run.h")),
    ("@name@_run.c", include_str!("run.c")),
];

/// What follows the branch of solutions of algebraic loops.
const BRANCH: [(&str, &str); 2] = [
    ("@name@_branch.h", include_str!("branch.h")),
    ("@name@_branch.c", include_str!("branch.c")),
];

/// What ends steps at bends of laws.
const BENDS: [(&str, &str); 2] = [
    ("@name@_bends.h", include_str!("bends.h")),
    ("@name@_bends.c", include_str!("bends.c")),
];

/// What steps of inputs do to states where that depends on the point.
const JUMP: [(&str, &str); 2] = [
    ("@name@_jump.h", include_str!("jump.h")),
    ("@name@_jump.c", include_str!("jump.c")),
];

/// The stepper of fixed length; that of controlled length has its type of functions from there.
const FIXED: [(&str, &str); 2] = [
    ("@name@_rk4.h", include_str!("rk4.h")),
    ("@name@_rk4.c", include_str!("rk4.c")),
];

/// Programs, and how they are built.
const PROGRAMS: [(&str, &str); 3] = [
    ("@name@_cvode.c", include_str!("cvode.c")),
    ("main.c", include_str!("main.c")),
    ("Makefile", include_str!("Makefile")),
];

/// The files of the model and of its runs with their names: what a program that runs it is made of.
pub(super) struct Library {
    pub(super) files: Vec<(String, String)>,
    /// The partial derivatives in these files.
    pub(super) sensitivities: Sensitivities,
    /// What templates of such a program know.
    pub(super) values: Values,
}

/// The library in double precision with derivatives along any direction.
pub(super) fn library(subject: &Subject<'_>) -> Library {
    let c = C { float: false };
    let mut values = common(subject, &c);
    values.flag("directional", true);
    let sensitivities = Sensitivities::new(subject.system, &KernelOptions { native: false });
    Library {
        files: library_files(subject, &c, &values, Some(&sensitivities)),
        sensitivities,
        values,
    }
}

fn library_files(
    subject: &Subject<'_>,
    c: &C,
    common: &Values,
    sensitivities: Option<&Sensitivities>,
) -> Vec<(String, String)> {
    let model = model_values(subject, c, common, sensitivities);
    let signals = signal_values(subject, c, common);
    let listed = name_values(subject, common);
    let branch = if subject.has_branches() { &BRANCH[..] } else { &[] };
    let jump = if subject.jumps() { &JUMP[..] } else { &[] };
    let bends = if subject.bending.is_empty() { &[] } else { &BENDS[..] };
    let list = LIBRARY
        .iter()
        .chain(branch)
        .chain(bends)
        .chain(jump)
        .chain(&FIXED)
        .map(|(path, template)| {
            let values = match *path {
                "@name@.h" | "@name@.c" => &model,
                "@name@_signals.h" | "@name@_signals.c" => &signals,
                "@name@_names.h" | "@name@_names.c" => &listed,
                _ => common,
            };
            (file_name(path, common), fill(template, values))
        });
    list.collect()
}

/// The name of a file, from a template of its name.
pub(super) fn file_name(template: &str, values: &Values) -> String {
    fill(template, values).trim_end().to_string()
}

/// All files.
pub(super) fn package(subject: &Subject<'_>, options: &CodeOptions) -> Package {
    let c = C { float: options.float };
    let mut package = Package::default();
    let mut common = common(subject, &c);
    common.set("loop_iterations", options.iterations().to_string());
    for (path, text) in library_files(subject, &c, &common, None) {
        package.add(path, text);
    }
    let mut programs = common.clone();
    programs.flag("fixed", options.fixed_step.is_some());
    for (path, template) in PROGRAMS {
        package.add(file_name(path, &common), fill(template, &programs));
    }
    let mut readme = common.clone();
    readme_values(subject, &members(subject), &mut readme);
    readme.flag("fixed", options.fixed_step.is_some());
    readme.set("operations", "");
    readme.set("fixed_step", "");
    if let Some(step) = options.fixed_step {
        let sentence = operations(subject, step, options.iterations());
        package.warnings.extend(stability::warning(subject, step));
        readme.set("operations", &sentence);
        readme.set("fixed_step", shortest(step));
        let mut fixed = common.clone();
        fixed.set("fixed_step", c.literal(step));
        fixed.set("operations", &sentence);
        let path = file_name("@name@_fixed.c", &common);
        package.add(path, fill(include_str!("fixed.c"), &fixed));
        package.remarks.push(sentence);
    }
    package.add("README.md", fill(include_str!("README.md"), &readme));
    package
}

/// What all files know.
fn common(subject: &Subject<'_>, c: &C) -> Values {
    let system = subject.system;
    let name = super::names::legal(&system.model, RULES);
    let mut values = Values::default();
    let (start, stop, points) = subject.plan();
    let (rtol, atol) = subject.tolerances();
    let (rtol, atol) = match c.float {
        // Single precision has seven digits.
        true => (rtol.max(1e-5), atol.map(|atol| atol.max(1e-6))),
        false => (rtol, atol),
    };
    let suffix = if c.float { "F" } else { "" };
    values
        .set("title", format!("{}: state equations.", system.model))
        .set("origin", comment(&subject.origin.sentence()))
        .set("description", comment(&subject.description))
        .set("model", comment(&system.model))
        .set("GUARD", name.to_ascii_uppercase())
        .set("NAME", &name)
        .set("program", name.to_ascii_lowercase())
        .set("suffix", suffix)
        .set("real", if c.float { "float" } else { "double" })
        .set("states", subject.states.len().to_string())
        .set("inputs", subject.inputs.len().to_string())
        .set("outputs", subject.outputs.len().to_string())
        .set("parameters", subject.entries().count().to_string())
        .set("unknowns", subject.unknowns().to_string())
        .flag("loops", subject.unknowns() > 0)
        .flag("moves", subject.moves)
        .flag("jumps", subject.jumps())
        .set("jump_parts", JUMP_PARTS.to_string())
        .flag("directional", false)
        .flag("linear", system.linear)
        .flag("conditional", !subject.jumping.is_empty())
        .flag("bends", !subject.bending.is_empty())
        .flag("branches", subject.has_branches())
        .flag("events", subject.has_branches() || !subject.jumping.is_empty())
        .set("plan_start", c.literal(start))
        .set("plan_stop", c.literal(stop.unwrap_or(start)))
        .set("plan_points", points.to_string())
        .set("plan_rtol", c.literal(rtol))
        .set("plan_atol", c.literal(atol.unwrap_or(0.0)))
        .set("rounding", c.literal(64.0 * c.epsilon()))
        .set("nearest", c.literal(c.nearest()))
        .set("event_length", c.literal(1e-9))
        .set("run_arguments", if stop.is_some() { "" } else { "--stop 10 " });
    let further = [
        ("branch", subject.has_branches()),
        ("bends", !subject.bending.is_empty()),
        ("jump", subject.jumps()),
    ];
    let parts = ["rk4", "dopri5", "run"].into_iter();
    let parts: Vec<&str> = parts
        .chain(further.iter().filter(|part| part.1).map(|part| part.0))
        .collect();
    for (key, ending) in [("run_sources", "c"), ("run_headers", "h")] {
        let files: Vec<String> = parts.iter().map(|part| format!("{name}_{part}.{ending}")).collect();
        values.set(key, files.join(" "));
    }
    let given = system
        .states
        .iter()
        .map(|state| i32::from(state.start_given).to_string());
    values.set("start_given", list(given, "0".to_string()));
    let kinds = subject.kinds().into_iter().map(|kind| kind.to_string());
    values.set("state_kinds", list(kinds, "0".to_string()));
    let settled = subject
        .settled_unknowns()
        .map(|is_settled| u8::from(is_settled).to_string());
    values.set("settled_unknowns", list(settled, "0".to_string()));
    // Single precision has fewer powers of ten.
    let least = if c.float { 1e-18 } else { 0.0 };
    let scales = subject.scales().iter();
    let scales = scales.map(|scale| c.literal(if *scale < 0.0 { *scale } else { scale.max(least) }));
    values.set("state_scales", list(scales, c.literal(1.0)));
    constants(c, &mut values);
    let small = match subject.jumps() {
        true => "model->small".to_string(),
        false => values.get("loop_absolute").to_string(),
    };
    values.set("loop_small", small);
    values.set("origin_markdown", subject.origin.sentence());
    values.set("name", name);
    values
}

/// Numbers and functions of the kind of numbers.
fn constants(c: &C, values: &mut Values) {
    for (key, value) in [
        ("zero", 0.0),
        ("one", 1.0),
        ("two", 2.0),
        ("six", 6.0),
        ("half", 0.5),
        ("quarter", 0.25),
        ("largest_turn", LARGEST_TURN),
        ("most_refined", 64.0),
        ("epsilon", c.epsilon()),
        (
            "least",
            if c.float {
                f64::from(f32::MIN_POSITIVE)
            } else {
                f64::MIN_POSITIVE
            },
        ),
        ("jump_in_proportion", if c.float { 1e-4 } else { 1e-6 }),
        ("jump_coarsest", if c.float { 1e-5 } else { 1e-11 }),
        ("jump_finest", if c.float { 2e-6 } else { 1e-13 }),
        ("jump_same", if c.float { 100.0 } else { 1e4 }),
        ("agreement", if c.float { 1e-4 } else { 1e-9 }),
        ("singular", if c.float { 1e-6 } else { 1e-14 }),
        ("loop_relative", if c.float { 1e-6 } else { 1e-13 }),
        ("loop_absolute", if c.float { 1e-10 } else { 1e-13 }),
        ("loop_nearly", if c.float { 8.0 } else { 1e4 }),
        (
            "loop_rounding",
            ROUNDINGS * if c.float { f64::from(f32::EPSILON) } else { f64::EPSILON },
        ),
    ] {
        values.set(key, c.literal(value));
    }
    for (key, function) in [
        ("fabs", "fabs"),
        ("pow", "pow"),
        ("ceil", "ceil"),
        ("floor", "floor"),
        ("nextafter", "nextafter"),
    ] {
        values.set(key, c.function(function));
    }
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
fn declare_parameters(subject: &Subject<'_>, c: &C, members: &[String], values: &mut Values) {
    let name = values.get("name").to_string();
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
    values.set("parameter_members", struct_members);
    values.set("default_lines", defaults);
}

/// The partial derivatives by everything, with the memory that the largest of them takes.
fn partial_values<'p>(
    partials: &'p Sensitivities,
    functions: &mut Functions<'_>,
    values: &mut Values,
    scratch: &mut Vec<&'p Program>,
) {
    let mut room = 1;
    for (key, kernel) in [
        ("rates_partials", &partials.rates),
        ("outputs_partials", &partials.outputs),
        ("residuals_partials", &partials.residuals),
    ] {
        sparse_values(key, kernel, values);
        functions.add(key, kernel.values.program(), &|_: u32| None);
        values.set(
            format!("{key}_call"),
            functions.call(key, &move_call("model->partials")),
        );
        scratch.push(kernel.values.program());
        room = room.max(kernel.stored());
    }
    values.set("partials_room", room.to_string());
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

fn model_values(subject: &Subject<'_>, c: &C, common: &Values, sensitivities: Option<&Sensitivities>) -> Values {
    let mut values = common.clone();
    let kernels = &subject.kernels;
    let name = common.get("name");
    values
        .set("state_indices", indices(name, "x", &subject.states))
        .set("input_indices", indices(name, "u", &subject.inputs))
        .set("output_indices", indices(name, "y", &subject.outputs));
    let members = members(subject);
    declare_parameters(subject, c, &members, &mut values);

    let mut functions = Functions::new(c);
    let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, comment);
    let none = |_: u32| None;
    let model = |out: &str| move_call(out);
    functions.add(
        "derivatives",
        kernels.derivatives.program(),
        &labels("der ", &subject.states),
    );
    functions.add("results", kernels.outputs.program(), &labels("", &subject.outputs));
    functions.add("starts", kernels.starts.program(), &labels("", &subject.states));
    let (rows, columns) = subject.jacobian_pattern();
    values
        .set("entries", columns.len().to_string())
        .set("jacobian_rows", integers(&rows))
        .set("jacobian_columns", integers(&columns))
        .set("derivatives_call", functions.call("derivatives", &model("dx")))
        .set("outputs_call", functions.call("results", &model("y")))
        .set("starts_call", indented(&functions.call("starts", &model("x"))));
    let mut scratch = vec![
        kernels.derivatives.program(),
        kernels.outputs.program(),
        kernels.starts.program(),
        kernels.inputs.program(),
        subject.corners.instants().program(),
        subject.corners.switches().program(),
        subject.corners.phases().program(),
        subject.corners.crossings().program(),
    ];
    if subject.unknowns() > 0 {
        loop_values(subject, c, &mut functions, &mut values);
        scratch.extend([
            kernels.residuals.program(),
            subject.jacobians().residuals_by_unknowns.values.program(),
            subject.jacobians().rates_by_unknowns.values.program(),
            subject.jacobians().residuals_by_states.values.program(),
        ]);
    } else {
        functions.add("partials", subject.jacobians().rates_by_states.values.program(), &none);
        values.set("jacobian_call", functions.call("partials", &model("entries")));
    }
    scratch.push(subject.jacobians().rates_by_states.values.program());
    if let Some(partials) = sensitivities {
        partial_values(partials, &mut functions, &mut values, &mut scratch);
    }
    let constraints = subject.system.start_constraints.len();
    values.set(
        "constraints",
        if constraints > 0 {
            constraints.to_string()
        } else {
            String::new()
        },
    );
    if let Some(kernel) = &subject.constraints {
        functions.add("starts_of_dependents", kernel.program(), &none);
        values.set(
            "constraints_call",
            functions.call("starts_of_dependents", &model("pairs")),
        );
        scratch.push(kernel.program());
    }
    let lines = parameter_lines(subject, &members, &mut functions, &mut scratch);
    values.set("parameter_lines", lines);
    values.set("scratch", Subject::scratch(&scratch).max(1).to_string());
    let text = functions.finish();
    values.set("helpers", c.helpers(&text));
    values.set("programs", text);
    values
}

fn signal_values(subject: &Subject<'_>, c: &C, common: &Values) -> Values {
    let mut values = common.clone();
    let corners = &subject.corners;
    let none = |_: u32| None;
    let mut functions = Functions::new(c);
    functions.add("signals", subject.kernels.inputs.program(), &none);
    values.set("inputs_call", functions.call("signals", &move_call("both")));
    for (key, call, kernel, out) in [
        ("instants", "instants_call", corners.instants(), "instants"),
        ("switches", "switches_call", corners.switches(), "values"),
        ("phases", "phases_call", corners.phases(), "next"),
    ] {
        let count = match key {
            "phases" if !subject.needs_fastest() => 0,
            _ => kernel.outputs(),
        };
        values.set(key, if count > 0 { count.to_string() } else { String::new() });
        values.set(call, "");
        if count > 0 {
            let function = format!("{key}_at");
            functions.add(&function, kernel.program(), &none);
            values.set(call, functions.call(&function, &move_call(out)));
        }
    }
    values
        .flag("bounds_steps", subject.bounds_steps())
        .set("conditions", subject.jumping.len().to_string())
        .set("crossings", corners.crossings().outputs().max(1).to_string())
        .set("jumping", integers(&subject.jumping))
        .set("bend_count", subject.bending.len().to_string())
        .set("bending", integers(&subject.bending))
        .set("conditions_call", "")
        .set("bends_call", "");
    if corners.crossings().outputs() > 0 {
        functions.add("crossings_at", corners.crossings().program(), &none);
        let call = functions.call("crossings_at", &move_call("crossings"));
        values.set("bends_call", &call);
        if !subject.jumping.is_empty() {
            values.set("conditions_call", call);
        }
    }
    let text = functions.finish();
    values.set("helpers", c.helpers(&text));
    values.set("programs", text);
    values
}

fn name_values(subject: &Subject<'_>, common: &Values) -> Values {
    let mut values = common.clone();
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
    let entries = names(&mut subject.entries().map(|entry| entry.name.as_str()));
    values
        .set("state_columns", states.len().to_string())
        .set("column_names", lines(&mut fields.iter().map(String::as_str)))
        .set("column_states", integers(&states))
        .set("parameter_names", entries)
        .set(
            "state_names",
            names(&mut subject.states.iter().map(|state| state.name.as_str())),
        )
        .set(
            "output_names",
            names(&mut subject.outputs.iter().map(|output| output.name.as_str())),
        )
        .set("loop_names", names(&mut subject.loop_elements()))
        .set("parameter_cases", cases);
    values
}
