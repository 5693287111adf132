//! C99: the model, steppers, a program that runs it.

mod changes;
mod common;
mod dialect;
mod hooks;
mod loops;
mod operations;
mod stability;
mod text;

use super::dialect::Dialect;
use super::events::{ChangeKernels, Changing};
use super::subject::{Named, Parameter, ReadmeTables, Subject, labels, names, parameter_remark, readme_tables};
use super::template::{Template, template, values};
use super::{CodeOptions, Package};
use crate::code::c::text::{comment, indices, integers, list};
use crate::shortest;
use changes::{ChangeCounts, ChangeFunctions, ChangeTables, change_counts, change_functions, change_tables};
pub(super) use common::Common;
use common::common;
use dialect::{C, RULES, string};
use hooks::{Given, Hooks};
use lgm_kernels::{Kernel, KernelOptions, Sensitivities};
use loops::{LoopSolver, Pattern, loop_solver};
use operations::operations;
use std::fmt::Write;

/// The model: its interface, and its functions for the sources of `lgm_runtime`.
const MODEL: [Template<Model>; 2] = [
    template!("@name@.h", "model.h"),
    template!("lgm_equations.h", "equations.h"),
];

/// Its signals, corners and conditions.
const CORNERS: Template<Signals> = template!("lgm_corners.h", "corners.h");

/// Its names and tables.
const TABLES: Template<Listed> = template!("@name@_tables.c", "tables.c");

/// Its interface to the sources of `lgm_runtime`.
const BRIDGE: Template<Bridge> = template!("lgm_model.h", "bridge.h");

/// Its changes at events.
const CHANGES: Template<ChangeFunctions> = template!("lgm_changes.h", "changes.h");

/// How they are built.
const MAKEFILE: Template<Build> = template!("Makefile", "Makefile");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    struct Build {
        ..common: Common;
        fixed: bool,
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
    struct Bridge {
        ..common: Common;
        ?fixed: FixedSteps;
        ?change_counts: ChangeCounts;
        float: String,
        has_branches: String,
        has_totals: String,
        has_moves: String,
        is_linear: String,
        has_jumps: String,
        has_bounds: String,
        is_directional: String,
        instants: usize,
        switches: usize,
        phases: usize,
        crossings: usize,
        constraint_count: usize,
        loop_entries: usize,
    }
}

values! {
    struct Model {
        ..common: Common;
        ?loop_solver: LoopSolver;
        ?directional: Partials;
        state_indices: String,
        input_indices: String,
        output_indices: String,
        parameter_members: String,
        default_lines: String,
        parameter_lines: String,
        entries: usize,
        conditions: usize,
        bend_count: usize,
        state_columns: usize,
        scratch: usize,
        helpers: String,
        programs: String,
        hooks: String,
    }
}

values! {
    /// The partial derivatives by everything.
    struct Partials {
        partials_room: usize,
        rates_partials_rows: String,
        rates_partials_columns: String,
        rates_partials_room: usize,
        outputs_partials_rows: String,
        outputs_partials_columns: String,
        outputs_partials_room: usize,
        residuals_partials_rows: String,
        residuals_partials_columns: String,
        residuals_partials_room: usize,
    }
}

values! {
    struct Signals {
        ..common: Common;
        helpers: String,
        programs: String,
        hooks: String,
    }
}

values! {
    struct Listed {
        ..common: Common;
        ?change_tables: ChangeTables;
        column_names: String,
        column_states: String,
        parameter_names: String,
        state_names: String,
        output_names: String,
        loop_names: String,
        parameter_cases: String,
        start_given: String,
        state_kinds: String,
        state_scales: String,
        settled_unknowns: String,
        stored_unknowns: String,
        guesses: String,
        jumping: String,
        bending: String,
        jacobian_rows: String,
        jacobian_columns: String,
    }
}

/// The files of the model and of its runs with their names: what a program that runs it is made of.
pub(super) struct Library {
    pub(super) files: Vec<(String, String)>,
    /// The partial derivatives in these files; of a model with events, those of each combination of modes, which no file holds.
    pub(super) sensitivities: Vec<Sensitivities>,
    /// What templates of such a program know.
    pub(super) common: Common,
}

/// The library in double precision; with derivatives along any direction, unless the model has events.
pub(super) fn library(subject: &Subject<'_>, changing: Changing<'_>) -> Library {
    let c = C { float: false };
    let common = common(subject, &c);
    let interpreted = KernelOptions { native: false };
    let sensitivities = match changing {
        None => vec![Sensitivities::new(subject.system, &interpreted)],
        Some((gathered, _)) => gathered
            .systems()
            .map(|system| Sensitivities::new(&system, &interpreted))
            .collect(),
    };
    let iterations = CodeOptions::default().iterations();
    let directional = sensitivities.first().filter(|_| changing.is_none());
    let mut files = library_files(subject, &c, &common, (directional, changing), iterations);
    files.push(BRIDGE.file(&bridge(subject, &c, &common, directional.is_some(), (None, changing))));
    Library {
        files,
        sensitivities,
        common,
    }
}

fn library_files(
    subject: &Subject<'_>,
    c: &C,
    common: &Common,
    (sensitivities, changing): (Option<&Sensitivities>, Changing<'_>),
    iterations: u64,
) -> Vec<(String, String)> {
    let model = model_values(subject, c, common, (sensitivities, changing), iterations);
    let mut files: Vec<(String, String)> = MODEL.iter().map(|template| template.file(&model)).collect();
    files.push(CORNERS.file(&signal_values(subject, c, common)));
    files.push(TABLES.file(&table_values(subject, c, common, changing)));
    if let Some((gathered, kernels)) = changing {
        files.push(CHANGES.file(&change_functions(gathered, kernels, c, common)));
    }
    let of_events = lgm_runtime::C_EVENTS.iter().filter(|_| changing.is_some());
    let sources = lgm_runtime::C_SOURCES.iter().chain(of_events);
    files.extend(sources.map(|(name, text)| (name.to_string(), text.to_string())));
    files
}

/// The interface of the model to the sources of `lgm_runtime`.
fn bridge(
    subject: &Subject<'_>,
    c: &C,
    common: &Common,
    is_directional: bool,
    (fixed, changing): (Option<FixedSteps>, Changing<'_>),
) -> Bridge {
    let flag = |flag: bool| u8::from(flag).to_string();
    let corners = &subject.corners;
    Bridge {
        fixed,
        change_counts: changing.map(|changing| change_counts(changing.0)),
        float: flag(c.float),
        has_branches: flag(subject.has_branches()),
        has_totals: flag(subject.has_totals()),
        has_moves: flag(subject.moves),
        is_linear: flag(subject.system.equations.linear),
        has_jumps: flag(subject.jumps()),
        has_bounds: flag(subject.bounds_steps()),
        is_directional: flag(is_directional),
        instants: corners.instants().outputs(),
        switches: corners.switches().outputs(),
        phases: if subject.needs_fastest() {
            corners.phases().outputs()
        } else {
            0
        },
        crossings: corners.crossings().outputs(),
        constraint_count: subject.system.starts.constraints.len(),
        loop_entries: subject.jacobians().residuals_by_unknowns.stored(),
        common: common.clone(),
    }
}

/// All files.
pub(super) fn package(subject: &Subject<'_>, options: &CodeOptions, changing: Changing<'_>) -> Package {
    let c = C { float: options.float };
    let mut package = Package::default();
    let common = common(subject, &c);
    for file in library_files(subject, &c, &common, (None, changing), options.iterations()) {
        package.add(file.0, file.1);
    }
    let fixed_program = options.fixed_step.map(|_| lgm_runtime::C_FIXED);
    for (name, text) in lgm_runtime::C_PROGRAMS.into_iter().chain(fixed_program) {
        // CVODE has the right sides alone.
        if changing.is_none() || name == "main.c" {
            package.add(name, text);
        }
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
        package.remarks.push(steps.operations.clone());
    }
    let literal = options.fixed_step.map(|step| c.literal(step));
    let fixed = steps
        .clone()
        .zip(literal)
        .map(|(steps, fixed_step)| FixedSteps { fixed_step, ..steps });
    let bridge = bridge(subject, &c, &common, false, (fixed, changing));
    package.add(BRIDGE.path(&bridge), BRIDGE.text(&bridge));
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
fn partial_values<'p>(partials: &'p Sensitivities, hooks: &mut Hooks<'p>) -> Partials {
    let kernels = [&partials.rates, &partials.outputs, &partials.residuals];
    let room = kernels.iter().map(|kernel| kernel.stored()).max();
    let names = ["rates_partials", "outputs_partials", "residuals_partials"];
    for (name, kernel) in names.into_iter().zip(kernels) {
        // Without loops nothing asks for the last of them.
        if kernel.rows > 0 || name != "residuals_partials" {
            hooks.add(name, Given::Point, kernel.values.program());
        }
    }
    let [rates, outputs, residuals] = kernels.map(Pattern::of);
    Partials {
        partials_room: room.unwrap_or(0).max(1),
        rates_partials_rows: rates.rows,
        rates_partials_columns: rates.columns,
        rates_partials_room: rates.room,
        outputs_partials_rows: outputs.rows,
        outputs_partials_columns: outputs.columns,
        outputs_partials_room: outputs.room,
        residuals_partials_rows: residuals.rows,
        residuals_partials_columns: residuals.columns,
        residuals_partials_room: residuals.room,
    }
}

/// The lines that copy parameters, and compute those that follow from others and are not given.
fn parameter_lines<'p>(subject: &'p Subject<'_>, members: &[String], hooks: &mut Hooks<'p>) -> String {
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
        let out = format!("&p[{position}]");
        let call = hooks.plain(&function, kernel.program(), &out, &|_| remark.clone());
        let _ = writeln!(lines, "    if (isnan(p[{position}])) {{\n        {call}\n    }}");
    }
    if subject.parameters.is_empty() {
        lines.push_str("    (void)parameters;\n    (void)p;\n");
    }
    lines
}

/// Adds the functions of right sides, outputs, starts, loops and their derivatives.
fn add_kernels<'p>(subject: &'p Subject<'_>, hooks: &mut Hooks<'p>, changing: Option<&'p ChangeKernels>) {
    let (kernels, jacobians) = (&subject.kernels, subject.jacobians());
    let labels = |prefix: &'static str, list: &[Named]| labels(prefix, list, comment);
    let (states, outputs) = (labels("der ", &subject.states), labels("", &subject.outputs));
    if let Some(changing) = changing {
        changing.add(hooks, &states, &outputs);
    } else {
        hooks.add_with(("derivatives", Given::Point), kernels.derivatives.program(), &states);
        hooks.add_with(("outputs", Given::Point), kernels.outputs.program(), &outputs);
    }
    let starts = labels("", &subject.states);
    hooks.add_with(("starts", Given::Time), kernels.starts.program(), &starts);
    if let Some(kernel) = &subject.constraints {
        hooks.add("constraints", Given::Time, kernel.program());
    }
    if subject.held.as_ref().is_some_and(|held| held.combinations > 1) {
        return;
    }
    if subject.unknowns() == 0 {
        hooks.add("jacobian", Given::Point, jacobians.rates_by_states.values.program());
        return;
    }
    for (name, kernel) in [
        ("residuals", &kernels.residuals),
        ("loop_matrix", &jacobians.residuals_by_unknowns.values),
        ("direct", &jacobians.rates_by_states.values),
        ("by_unknowns", &jacobians.rates_by_unknowns.values),
        ("by_states", &jacobians.residuals_by_states.values),
    ] {
        hooks.add(name, Given::Point, kernel.program());
    }
}

fn model_values(
    subject: &Subject<'_>,
    c: &C,
    common: &Common,
    (sensitivities, changing): (Option<&Sensitivities>, Changing<'_>),
    iterations: u64,
) -> Model {
    let members = members(subject);
    let mut hooks = Hooks::new(c);
    add_kernels(subject, &mut hooks, changing.map(|changing| changing.1));
    let directional = sensitivities.map(|partials| partial_values(partials, &mut hooks));
    let parameter_lines = parameter_lines(subject, &members, &mut hooks);
    let mut programs = hooks.programs().to_vec();
    let corners = &subject.corners;
    programs.push(subject.kernels.inputs.program());
    let corners = [
        corners.instants(),
        corners.switches(),
        corners.phases(),
        corners.crossings(),
    ];
    programs.extend(corners.map(Kernel::program));
    programs.extend(changing.iter().flat_map(|changing| changing.1.programs()));
    let scratch = Subject::scratch(&programs).max(1);
    let [parameter_members, default_lines] = declare_parameters(subject, c, &common.name, &members);
    let (helpers, programs, hooks) = hooks.finish(c);
    Model {
        loop_solver: (subject.unknowns() > 0).then(|| loop_solver(subject, iterations)),
        directional,
        state_indices: indices(&common.name, "x", &subject.states),
        input_indices: indices(&common.name, "u", &subject.inputs),
        output_indices: indices(&common.name, "y", &subject.outputs),
        parameter_members,
        default_lines,
        parameter_lines,
        entries: subject.jacobian_pattern().1.len(),
        conditions: subject.jumping.len(),
        bend_count: subject.bending.len(),
        state_columns: subject.columns.states.len(),
        scratch,
        helpers,
        programs,
        hooks,
        common: common.clone(),
    }
}

fn signal_values(subject: &Subject<'_>, c: &C, common: &Common) -> Signals {
    let mut hooks = Hooks::new(c);
    let corners = &subject.corners;
    let has_phases = subject.needs_fastest() && corners.phases().outputs() > 0;
    let has_crossings = !(subject.jumping.is_empty() && subject.bending.is_empty());
    for (name, given, kernel, is_there) in [
        ("inputs", Given::Time, &subject.kernels.inputs, true),
        (
            "instants",
            Given::Time,
            corners.instants(),
            corners.instants().outputs() > 0,
        ),
        (
            "switches",
            Given::Time,
            corners.switches(),
            corners.switches().outputs() > 0,
        ),
        ("phases", Given::Time, corners.phases(), has_phases),
        ("crossings", Given::Point, corners.crossings(), has_crossings),
    ] {
        if is_there {
            hooks.add(name, given, kernel.program());
        }
    }
    let (helpers, programs, hooks) = hooks.finish(c);
    Signals {
        helpers,
        programs,
        hooks,
        common: common.clone(),
    }
}

fn table_values(subject: &Subject<'_>, c: &C, common: &Common, changing: Changing<'_>) -> Listed {
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
    let (rows, columns_of) = subject.jacobian_pattern();
    let flags = |flags: &mut dyn Iterator<Item = bool>| list(flags.map(|flag| u8::from(flag).to_string()), "0".into());
    // Single precision has fewer powers of ten.
    let least = if c.float { 1e-18 } else { 0.0 };
    let scales = subject.scales().iter();
    let scales = scales.map(|scale| c.literal(if *scale < 0.0 { *scale } else { scale.max(least) }));
    let guesses = subject.guesses();
    Listed {
        change_tables: changing.map(|changing| change_tables(changing.0, c)),
        start_given: flags(&mut subject.system.states.iter().map(|state| state.start_given)),
        state_kinds: integers(&subject.kinds()),
        state_scales: list(scales, c.literal(1.0)),
        settled_unknowns: flags(&mut subject.settled_unknowns()),
        stored_unknowns: flags(&mut subject.stored_unknowns()),
        guesses: list(guesses.iter().flatten().map(|value| c.literal(*value)), String::new()),
        jumping: integers(&subject.jumping),
        bending: integers(&subject.bending),
        jacobian_rows: integers(&rows),
        jacobian_columns: integers(&columns_of),
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
