//! A Rust crate without the standard library, generic over its numbers.

mod dialect;

use super::functions::{Functions, wrapped};
use super::program::Array;
use super::subject::{
    JUMP_PARTS, Named, Subject, bracketed, bracketed_guesses, labels, names, parameter_remark, readme_values,
};
use super::template::{Values, fill};
use super::{
    Package,
    names::{legal, one_line},
};
use dialect::{RULES, Rust, literal};
use lgm_kernels::LARGEST_TURN;
use lgm_kernels::program::Program;
use std::f64::consts::TAU;
use std::fmt::Write;

/// The files that are filled in, with their templates.
const TEMPLATES: [(&str, &str); 11] = [
    ("Cargo.toml", include_str!("Cargo.toml.txt")),
    ("README.md", include_str!("README.md")),
    ("src/lib.rs", include_str!("lib.rs.txt")),
    ("src/real.rs", include_str!("real.rs.txt")),
    ("src/equations.rs", include_str!("equations.rs.txt")),
    ("src/model.rs", include_str!("model.rs.txt")),
    ("src/signals.rs", include_str!("signals.rs.txt")),
    ("src/rk4.rs", include_str!("rk4.rs.txt")),
    ("src/dopri5.rs", include_str!("dopri5.rs.txt")),
    ("src/names.rs", include_str!("names.rs.txt")),
    ("examples/simulate.rs", include_str!("simulate.rs.txt")),
];

/// What follows the branch of solutions of algebraic loops.
const BRANCH: [(&str, &str); 1] = [("src/branch.rs", include_str!("branch.rs.txt"))];

/// What ends steps at bends of laws.
const BENDS: [(&str, &str); 1] = [("src/bends.rs", include_str!("bends.rs.txt"))];

/// What steps of inputs do to states where that depends on the point.
const JUMP: [(&str, &str); 1] = [("src/jump.rs", include_str!("jump.rs.txt"))];

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let mut values = Values::default();
    plain_values(subject, &mut values);
    name_values(subject, &mut values);
    program_values(subject, &mut values);
    readme_values(subject, &members(subject), &mut values);
    let mut package = Package::default();
    let branch = if subject.has_branches() { &BRANCH[..] } else { &[] };
    let jump = if subject.jumps() { &JUMP[..] } else { &[] };
    let bends = if subject.bending.is_empty() { &[] } else { &BENDS[..] };
    for (path, template) in TEMPLATES.iter().chain(branch).chain(bends).chain(jump) {
        package.add(*path, fill(template, &values));
    }
    package
}

/// A text of the user's in documentation: it starts no example and no link.
fn documentation(text: &str) -> String {
    one_line(text).replace('`', "'").replace('[', "\\[").replace('<', "\\<")
}

fn integers(entries: &[usize]) -> String {
    let entries: Vec<String> = entries.iter().map(usize::to_string).collect();
    wrapped(&entries)
}

/// The name of the crate.
fn crate_name(model: &str) -> String {
    let name = legal(model, super::names::Rules { snake: true, ..RULES });
    match name.as_str() {
        // Crates that every crate knows already.
        "std" | "core" | "alloc" | "test" | "libm" | "proc_macro" => format!("{name}_model"),
        _ => name,
    }
}

fn plain_values(subject: &Subject<'_>, values: &mut Values) {
    let system = subject.system;
    let (start, stop, points) = subject.plan();
    let (rtol, atol) = subject.tolerances();
    let library = crate_name(&system.model);
    let (rows, columns) = subject.jacobian_pattern();
    let settled = subject.settled_unknowns();
    let settled: Vec<String> = settled.map(|is_settled| is_settled.to_string()).collect();
    let given: Vec<String> = system
        .states
        .iter()
        .map(|state| state.start_given.to_string())
        .collect();
    values
        .set("title", format!("`{}`: state equations.", one_line(&system.model)))
        .set("origin", one_line(&subject.origin.sentence()))
        .set("description", documentation(&subject.description))
        .set("origin_markdown", subject.origin.sentence())
        .set("model", one_line(&system.model))
        .set("package", library.replace('_', "-"))
        .set("library", library)
        .set("states", subject.states.len().to_string())
        .set("inputs", subject.inputs.len().to_string())
        .set("outputs", subject.outputs.len().to_string())
        .set("parameters", subject.entries().count().to_string())
        .set("unknowns", subject.unknowns().to_string())
        .set("entries", columns.len().to_string())
        .set("jacobian_rows", integers(&rows))
        .set("jacobian_columns", integers(&columns))
        .flag("loops", subject.unknowns() > 0)
        .flag("branches", subject.has_branches())
        .set("settled_unknowns", wrapped(&settled))
        .set("moves_word", subject.moves.to_string())
        .flag("jumps", subject.jumps())
        .flag("measures", subject.jumps() || subject.unknowns() > 0)
        .set("jump_parts", JUMP_PARTS.to_string())
        .set("state_kinds", integers(&subject.kinds()))
        .set("start_given", wrapped(&given))
        .set("plan_start", literal(start))
        .set("plan_stop", literal(stop.unwrap_or(start)))
        .set("plan_points", points.to_string())
        .set("plan_rtol", literal(rtol))
        .set("plan_atol", literal(atol.unwrap_or(0.0)))
        .set(
            "state_scales",
            subject
                .scales()
                .iter()
                .map(|scale| literal(*scale))
                .collect::<Vec<_>>()
                .join(", "),
        )
        .set(
            "run_arguments",
            if stop.is_some() {
                "> run.csv"
            } else {
                "--stop 10 > run.csv"
            },
        );
}

/// Constants that name places in an array.
fn indices(users: &[Named]) -> String {
    let legal = names(users.iter().map(|entry| entry.name.as_str()), RULES, &[]);
    let mut text = String::new();
    for (at, (entry, legal)) in users.iter().zip(&legal).enumerate() {
        let remark = format!(
            "`{}` {}",
            one_line(&entry.name),
            bracketed(&entry.unit).replace(['[', ']'], "")
        );
        let _ = writeln!(text, "        /// {}", remark.trim());
        let _ = writeln!(text, "        pub const {legal}: usize = {at};");
    }
    text
}

fn members(subject: &Subject<'_>) -> Vec<String> {
    names(
        subject.parameters.iter().map(|parameter| parameter.name.as_str()),
        RULES,
        &[],
    )
}

fn name_values(subject: &Subject<'_>, values: &mut Values) {
    values
        .set("state_indices", indices(&subject.states))
        .set("input_indices", indices(&subject.inputs))
        .set("output_indices", indices(&subject.outputs));
    let (mut struct_members, mut defaults) = (String::new(), String::new());
    let (mut lines, mut cases) = (String::new(), String::new());
    for (parameter, member) in subject.parameters.iter().zip(members(subject)) {
        let (open, close) = if parameter.shape.is_empty() {
            ("", "")
        } else {
            ("[", "]")
        };
        let size = match open {
            "" => String::new(),
            _ => format!("; {}]", parameter.entries.len()),
        };
        let _ = writeln!(
            struct_members,
            "    /// `{}`: {}",
            one_line(&parameter.name),
            one_line(&parameter_remark(parameter)).replace(['[', ']'], "")
        );
        let _ = writeln!(struct_members, "    pub {member}: {open}T{size},");
        let numbers = parameter.entries.iter().map(|entry| match entry.derived {
            Some(_) => "T::c(f64::NAN)".to_string(),
            None => format!("T::c({})", literal(entry.value)),
        });
        let numbers: Vec<String> = numbers.collect();
        let _ = writeln!(defaults, "            {member}: {open}{}{close},", wrapped(&numbers));
        for at in 0..parameter.entries.len() {
            let place = if open.is_empty() {
                member.clone()
            } else {
                format!("{member}[{at}]")
            };
            let _ = writeln!(lines, "        model.p[{}] = parameters.{place};", parameter.first + at);
            let _ = writeln!(
                cases,
                "        {} => Some(&mut parameters.{place}),",
                parameter.first + at
            );
        }
    }
    if subject.parameters.is_empty() {
        struct_members.push_str("    /// There is none.\n    pub none: core::marker::PhantomData<T>,\n");
        defaults.push_str("            none: core::marker::PhantomData,\n");
    }
    let text = |name: &str| format!("    {name:?}");
    let names = |list: &[Named]| -> String {
        let names: Vec<String> = list.iter().map(|each| text(&each.name)).collect();
        names.join(",\n")
    };
    let table = subject.columns.table();
    let columns: Vec<String> = table
        .iter()
        .map(|column| text(&crate::rows::csv_field(&column.name)))
        .collect();
    let entries: Vec<String> = subject.entries().map(|entry| text(&entry.name)).collect();
    let states: Vec<usize> = subject.columns.states.iter().map(|entry| entry.0).collect();
    values
        .set("parameter_members", struct_members)
        .set("default_lines", defaults)
        .set("parameter_lines", lines)
        .set("parameter_cases", cases)
        .set("column_count", columns.len().to_string())
        .set("column_names", columns.join(",\n"))
        .set("state_columns", states.len().to_string())
        .set("column_states", integers(&states))
        .set("parameter_names", entries.join(",\n"))
        .set("state_names", names(&subject.states))
        .set("output_names", names(&subject.outputs))
        .set("loops_text", format!("{:?}", subject.loops_in_words()));
}

/// The arguments of a call in the methods of the model; `own` is how the model itself is called.
fn arguments(own: &str, out: &str) -> impl Fn(Array) -> String + use<> {
    let (own, out) = (own.to_string(), out.to_string());
    move |array| match array {
        Array::Time => "t".to_string(),
        Array::Parameters => format!("&{own}.p"),
        Array::States => "x".to_string(),
        Array::Inputs => "u".to_string(),
        Array::Rates => "du".to_string(),
        Array::Unknowns => format!("&{own}.w"),
        Array::Numbers => unreachable!("invariant: tables of numbers are statics"),
        Array::Temporaries => format!("&mut {own}.s"),
        Array::Output => out.clone(),
    }
}

/// A call of a function of the module of equations; empty where it computes nothing.
fn call(functions: &Functions<'_>, name: &str, own: &str, out: &str) -> String {
    let call = functions.call(name, &arguments(own, out));
    match call.is_empty() {
        true => call,
        false => format!("crate::equations::{call}"),
    }
}

fn count_or_nothing(number: usize) -> String {
    if number > 0 { number.to_string() } else { String::new() }
}

/// The functions that every model has, and the calls of them.
fn kernel_values<'p>(
    subject: &'p Subject<'_>,
    functions: &mut Functions<'_>,
    values: &mut Values,
    scratch: &mut Vec<&'p Program>,
) {
    let kernels = &subject.kernels;
    let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, one_line);
    let none = |_: u32| None;
    let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
    for (key, name, program, out, own, remark) in [
        (
            "derivatives_call",
            "derivatives",
            kernels.derivatives.program(),
            "dx",
            "self",
            &states as &dyn Fn(u32) -> Option<String>,
        ),
        (
            "outputs_call",
            "outputs",
            kernels.outputs.program(),
            "y",
            "self",
            &outputs,
        ),
        (
            "starts_call",
            "starts",
            kernels.starts.program(),
            "&mut x",
            "model",
            &none,
        ),
        (
            "inputs_call",
            "inputs",
            kernels.inputs.program(),
            "&mut both",
            "self",
            &none,
        ),
        (
            "direct_call",
            "jacobian",
            subject.jacobians().rates_by_states.values.program(),
            "&mut direct",
            "self",
            &none,
        ),
        (
            "residuals_call",
            "residuals",
            kernels.residuals.program(),
            "&mut step",
            "self",
            &none,
        ),
        (
            "loop_matrix_call",
            "loop_matrix",
            subject.jacobians().residuals_by_unknowns.values.program(),
            "&mut entries",
            "self",
            &none,
        ),
        (
            "by_loop_call",
            "by_unknowns",
            subject.jacobians().rates_by_unknowns.values.program(),
            "&mut by_loop",
            "self",
            &none,
        ),
        (
            "by_state_call",
            "residuals_by_states",
            subject.jacobians().residuals_by_states.values.program(),
            "&mut by_state",
            "self",
            &none,
        ),
    ] {
        functions.add(name, program, remark);
        values.set(key, call(functions, name, own, out));
        scratch.push(program);
    }
}

/// What says where something happens: corners, conditions and oscillations.
fn corner_values<'p>(
    subject: &'p Subject<'_>,
    functions: &mut Functions<'_>,
    values: &mut Values,
    scratch: &mut Vec<&'p Program>,
) {
    let corners = &subject.corners;
    values
        .set("conditions", subject.jumping.len().to_string())
        .set("crossings", corners.crossings().outputs().to_string())
        .set("jumping", integers(&subject.jumping))
        .set("conditions_call", "")
        .flag("bends", !subject.bending.is_empty())
        .set("bend_count", subject.bending.len().to_string())
        .set("bending", integers(&subject.bending))
        .set("bends_call", "")
        .set("instants", count_or_nothing(corners.instants().outputs()))
        .set("switches", count_or_nothing(corners.switches().outputs()))
        .set(
            "phases",
            match subject.needs_fastest() {
                false => String::new(),
                true => count_or_nothing(corners.phases().outputs()),
            },
        )
        .flag("bounds_steps", subject.bounds_steps())
        .set(
            "largest_turn",
            format!("{} * core::f64::consts::TAU", literal(LARGEST_TURN / TAU)),
        );
    for (key, name, program, out) in [
        (
            "instants_call",
            "instants",
            corners.instants().program(),
            "&mut instants",
        ),
        ("switches_call", "switches", corners.switches().program(), "&mut values"),
        ("phases_call", "phases", corners.phases().program(), "&mut next"),
    ] {
        if name == "phases" && !subject.needs_fastest() {
            // Nobody asks how fast anything oscillates.
            values.set(key, "");
            continue;
        }
        functions.add(name, program, &|_: u32| None);
        values.set(key, call(functions, name, "self", out));
        scratch.push(program);
    }
    if corners.crossings().outputs() > 0 {
        functions.add("crossings", corners.crossings().program(), &|_: u32| None);
        let call = call(functions, "crossings", "self", "&mut crossings");
        values.set("bends_call", &call);
        if !subject.jumping.is_empty() {
            values.set("conditions_call", call);
        }
        scratch.push(corners.crossings().program());
    }
}

/// The lines for parameters that follow from others, behind those for the others.
fn derived_values<'p>(
    subject: &'p Subject<'_>,
    functions: &mut Functions<'_>,
    values: &mut Values,
    scratch: &mut Vec<&'p Program>,
) {
    let mut lines = values.get("parameter_lines").to_string();
    for (order, (position, kernel)) in subject.kernels.derived().iter().enumerate() {
        let name = format!("derived_{}", order + 1);
        let remark = subject.entries().nth(*position).map(|entry| one_line(&entry.name));
        functions.add(&name, kernel.program(), &|_| remark.clone());
        scratch.push(kernel.program());
        let call = call(functions, &name, "model", "&mut value");
        let _ = write!(
            lines,
            "        if model.p[{position}].is_nan() {{\n            let mut value = [zero; 1];\n            {call}\n            \
             model.p[{position}] = value[0];\n        }}\n"
        );
    }
    values.set("parameter_lines", &lines);
}

/// What nothing is written to is not mutable.
fn mutability(values: &mut Values) {
    let lines = values.get("parameter_lines").to_string();
    for (key, call) in [
        (
            "model_mut",
            format!("{lines}{}", values.get("starts_call").replace("&mut x", "")),
        ),
        ("x_mut", values.get("starts_call").to_string()),
        ("both_mut", values.get("inputs_call").to_string()),
        ("direct_mut", values.get("direct_call").to_string()),
        ("by_loop_mut", values.get("by_loop_call").to_string()),
        ("by_state_mut", values.get("by_state_call").to_string()),
        ("loop_matrix_mut", values.get("loop_matrix_call").to_string()),
    ] {
        let is_written = match key {
            "model_mut" => !lines.is_empty() || call.contains("&mut"),
            _ => !call.is_empty(),
        };
        values.set(key, if is_written { "mut " } else { "" });
    }
}

/// Whether any call takes working memory, and whether there are corners.
fn scratch_values(subject: &Subject<'_>, values: &mut Values) {
    let calls = [
        "derivatives_call",
        "outputs_call",
        "starts_call",
        "inputs_call",
        "jacobian_call",
        "direct_call",
        "by_loop_call",
        "by_state_call",
        "residuals_call",
        "loop_matrix_call",
        "instants_call",
        "switches_call",
        "phases_call",
        "bends_call",
        "parameter_lines",
    ];
    let reads_scratch = |key: &&str| values.get(key).contains(".s,") || values.get(key).contains(".s)");
    let uses_scratch =
        calls.iter().any(reads_scratch) || (subject.constraints.is_some() && reads_scratch(&"constraints_call"));
    let corners = !values.get("instants").is_empty() || !values.get("switches").is_empty();
    values.flag("uses_scratch", uses_scratch).flag("corners", corners);
}

fn program_values(subject: &Subject<'_>, values: &mut Values) {
    let mut functions = Functions::new(&Rust);
    let mut scratch: Vec<&Program> = Vec::new();
    let none = |_: u32| None;
    kernel_values(subject, &mut functions, values, &mut scratch);
    values.set("jacobian_call", call(&functions, "jacobian", "self", "entries"));
    corner_values(subject, &mut functions, values, &mut scratch);
    values.set("constraints", count_or_nothing(subject.system.start_constraints.len()));
    if let Some(kernel) = &subject.constraints {
        functions.add("starts_of_dependents", kernel.program(), &none);
        values.set(
            "constraints_call",
            call(&functions, "starts_of_dependents", "model", "&mut pairs"),
        );
        scratch.push(kernel.program());
    }
    derived_values(subject, &mut functions, values, &mut scratch);
    mutability(values);
    scratch_values(subject, values);
    values.set("guesses", bracketed_guesses(subject, literal));
    for (name, kernel) in subject.matrices() {
        values
            .set(format!("{name}_rows"), integers(&kernel.row_starts))
            .set(format!("{name}_columns"), integers(&kernel.columns_of))
            .set(format!("{name}_count"), kernel.stored().to_string());
    }
    values.set("scratch", Subject::scratch(&scratch).to_string());
    let programs = functions.finish();
    let sizes = ["INPUTS", "PARAMETERS", "SCRATCH", "STATES", "UNKNOWNS"];
    let imported = sizes.iter().filter(|size| programs.contains(&format!("; {size}]")));
    let imported: Vec<&str> = imported.copied().collect();
    values.set("model_imports", imported.join(", "));
    values.set("programs", programs);
}
