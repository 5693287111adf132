//! A Rust crate without the standard library, generic over its number type.

mod changes;
mod dialect;
mod equations;
mod named;
mod source;

use super::c::Pattern;
use super::events::Changing;
use super::functions::{integers, wrapped};
use super::planned::{Planned, entry_literals, literals, planned};
use super::subject::{Named, ReadmeTables, Subject, bracketed, names, parameter_remark, readme_tables};
use super::template::{Template, template, values};
use super::{
    Package,
    names::{legal, one_line},
};
use changes::{Changes, changes};
use dialect::{RULES, documentation, literal};
use equations::{Equations, OF_MODEL};
use source::Source;
use std::fmt::Write;

// Emitted code samples oscillations in time as closely as this program does.
const _: () = assert!(lgm_runtime::signals::LARGEST_TURN == lgm_kernels::LARGEST_TURN);

/// The files that need only the shared values.
const PLAIN: [Template<Common>; 4] = [
    template!("Cargo.toml", "Cargo.toml.txt"),
    template!("run/Cargo.toml", "run.toml.txt"),
    template!("run/src/lib.rs", "run.rs.txt"),
    template!("run/examples/simulate.rs", "simulate.rs.txt"),
];

/// The runtime files, which are the same for all models.
const RUNTIME: [Template<Common>; 2] = [
    template!("lgm-runtime/Cargo.toml", "runtime.toml.txt"),
    template!("lgm-runtime/src/lib.rs", "runtime.rs.txt"),
];

/// The files of the equations.
const MODEL: [Template<Model>; 3] = [
    template!("src/lib.rs", "lib.rs.txt"),
    template!("run/src/equations.rs", "equations.rs.txt"),
    template!("run/src/model.rs", "model.rs.txt"),
];

const CHANGES: Template<Changes> = template!("run/src/changes.rs", "changes.rs.txt");

const NAMES: Template<Listed> = template!("run/src/names.rs", "names.rs.txt");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    /// Values shared by all templates.
    struct Common {
        ..planned: Planned;
        title: String,
        origin: String,
        description: String,
        model: String,
        package: String,
        library: String,
        run: String,
        run_package: String,
        runtime_modules: String,
        changing: bool,
        several: bool,
        events_usage: &'static str,
    }
}

values! {
    struct Model {
        ..common: Common;
        ..matrices: Matrices;
        ..tables: Tables;
        named: bool,
        indices: String,
        if_derived: &'static str,
        and_derived: &'static str,
        derives: bool,
        derived_lines: String,
        entry_list: String,
        functions: String,
        parameter_members: String,
        default_lines: String,
        parameter_lines: String,
        model_mut: &'static str,
        uses_scratch: bool,
        scratch: usize,
        model_imports: String,
        changes_imports: String,
        first_combination: String,
        system_imports: String,
        programs: String,
        methods: String,
    }
}

values! {
    /// Tables of states, unknowns and conditions.
    struct Tables {
        constraints: usize,
        instants: usize,
        switches: usize,
        phases: usize,
        crossings: usize,
        conditions: usize,
        bend_count: usize,
        jumping: String,
        bending: String,
        bounds_steps: bool,
        guesses: String,
        settled_unknowns: String,
        stored_unknowns: String,
        state_kinds: String,
        state_scales: String,
        start_given: String,
    }
}

values! {
    /// The positions of the entries of sparse matrices.
    struct Matrices {
        entries: usize,
        jacobian_rows: String,
        jacobian_columns: String,
        loop_rows: String,
        loop_columns: String,
        loop_count: usize,
        direct_rows: String,
        direct_columns: String,
        direct_count: usize,
        by_loop_rows: String,
        by_loop_columns: String,
        by_loop_count: usize,
        by_state_rows: String,
        by_state_columns: String,
        by_state_count: usize,
    }
}

values! {
    struct Listed {
        column_count: usize,
        column_names: String,
        column_states: String,
        state_columns: usize,
        parameter_names: String,
        parameter_cases: String,
        state_names: String,
        output_names: String,
        loops_text: String,
    }
}

values! {
    struct Readme {
        ..common: Common;
        ..tables: ReadmeTables;
        named: bool,
        origin_markdown: String,
        run_arguments: &'static str,
    }
}

/// Returns all files of the package.
pub(super) fn package<'p>(subject: &'p Subject<'p>, changing: Changing<'p>) -> Package {
    let common = common(subject, changing);
    let members = members(subject);
    let texts = ParameterTexts::new(subject, &members);
    let listed = listed(subject, texts.cases.clone());
    let (model, changes) = model(subject, texts, common.clone(), changing);
    let mut package = Package::default();
    for template in &PLAIN {
        package.add(template.path(&common), template.text(&common));
    }
    for template in &RUNTIME {
        package.add(template.path(&common), template.text(&common));
    }
    for (module, text) in lgm_runtime::SOURCES {
        package.add(format!("lgm-runtime/src/{module}.rs"), text);
    }
    if let Some(changes) = &changes {
        package.add(CHANGES.path(changes), CHANGES.text(changes));
        for (module, text) in lgm_runtime::EVENTS {
            package.add(format!("lgm-runtime/src/events/{module}.rs"), text);
        }
    }
    for template in &MODEL {
        package.add(template.path(&model), template.text(&model));
    }
    package.add(NAMES.path(&listed), NAMES.text(&listed));
    let readme = Readme {
        common,
        tables: readme_tables(subject, &members),
        named: model.named,
        origin_markdown: subject.origin.sentence(),
        run_arguments: match subject.plan().1 {
            Some(_) => "> run.csv",
            None => "--stop 10 > run.csv",
        },
    };
    package.add(README.path(&readme), README.text(&readme));
    package
}

/// Returns the name of the crate.
fn crate_name(model: &str) -> String {
    let name = legal(model, super::names::Rules { snake: true, ..RULES });
    match name.as_str() {
        // These crates are in the namespace of every crate.
        "std" | "core" | "alloc" | "test" | "libm" | "proc_macro" => format!("{name}_model"),
        _ => name,
    }
}

fn common(subject: &Subject<'_>, changing: Changing<'_>) -> Common {
    let system = subject.system;
    let library = crate_name(&system.model);
    let run = format!("{}_run", library.trim_end_matches('_'));
    Common {
        planned: planned(subject, literal, &literal(0.0)),
        title: format!("`{}`: state equations.", one_line(&system.model)),
        origin: one_line(&subject.origin.sentence()),
        description: documentation(&subject.description),
        model: one_line(&system.model),
        package: library.replace('_', "-"),
        run_package: run.replace('_', "-"),
        run,
        library,
        runtime_modules: runtime_modules(changing.is_some()),
        changing: changing.is_some(),
        events_usage: if changing.is_some() { " [--events FILE]" } else { "" },
        several: changing.is_some_and(|(gathered, _)| gathered.rows.len() > 1),
    }
}

/// Prints the declarations of the runtime modules.
fn runtime_modules(has_events: bool) -> String {
    let mut modules: Vec<&str> = lgm_runtime::SOURCES.iter().map(|source| source.0).collect();
    modules.extend(has_events.then_some("events"));
    modules.sort_unstable();
    modules.iter().map(|module| format!("pub mod {module};\n")).collect()
}

fn tables(subject: &Subject<'_>) -> Tables {
    let flags = |flags: &mut dyn Iterator<Item = bool>| {
        let flags: Vec<String> = flags.map(|flag| flag.to_string()).collect();
        wrapped(&flags)
    };
    let corners = &subject.corners;
    let guesses = subject
        .guesses()
        .map(|list| format!("&[{}]", wrapped(&literals(&list, literal))));
    Tables {
        constraints: 2 * subject.system.starts.constraints.len(),
        instants: corners.instants().outputs(),
        switches: corners.switches().outputs(),
        phases: if subject.needs_fastest() {
            corners.phases().outputs()
        } else {
            0
        },
        crossings: corners.crossings().outputs(),
        conditions: subject.jumping.len(),
        bend_count: subject.bending.len(),
        jumping: integers(&subject.jumping),
        bending: integers(&subject.bending),
        bounds_steps: subject.bounds_steps(),
        guesses: guesses.join(", "),
        settled_unknowns: flags(&mut subject.settled_unknowns()),
        stored_unknowns: flags(&mut subject.stored_unknowns()),
        state_kinds: integers(&subject.system.kinds()),
        state_scales: wrapped(&literals(subject.scales(), literal)),
        start_given: flags(&mut subject.system.states.iter().map(|state| state.start_given)),
    }
}

/// Prints constants that name the indices of arrays.
fn indices(subject: &Subject<'_>) -> String {
    let mut text = String::new();
    for (letter, users) in [("x", &subject.states), ("u", &subject.inputs), ("y", &subject.outputs)] {
        let legal = names(users.iter().map(|entry| entry.name.as_str()), RULES, &[]);
        for (at, (entry, legal)) in users.iter().zip(&legal).enumerate() {
            let remark = format!("{} {}", one_line(&entry.name), bracketed(&entry.unit));
            let _ = writeln!(
                text,
                "    pub const {letter}_{legal}: usize = {at}; // {}",
                remark.trim()
            );
        }
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

/// The text for all parameters.
#[derive(Default)]
struct ParameterTexts {
    /// The members of the struct.
    members: String,
    /// Their defaults.
    defaults: String,
    /// The lines that copy the parameters.
    lines: String,
    /// The match arms that find a parameter by its index.
    cases: String,
}

impl ParameterTexts {
    fn new(subject: &Subject<'_>, members: &[String]) -> ParameterTexts {
        let mut texts = ParameterTexts::default();
        for (parameter, member) in subject.parameters.iter().zip(members) {
            let (open, close) = if parameter.shape.is_empty() {
                ("", "")
            } else {
                ("[", "]")
            };
            let size = match open {
                "" => String::new(),
                _ => format!("; {}]", parameter.entries.len()),
            };
            let remark = one_line(&parameter_remark(parameter));
            let remark = if remark.is_empty() {
                remark
            } else {
                format!(" // {remark}")
            };
            let _ = writeln!(texts.members, "    pub {member}: {open}T{size},{remark}");
            let numbers = entry_literals(parameter, |value| format!("T::c({})", literal(value)), "T::c(f64::NAN)");
            let _ = writeln!(
                texts.defaults,
                "            {member}: {open}{}{close},",
                wrapped(&numbers)
            );
            for at in 0..parameter.entries.len() {
                let place = if open.is_empty() {
                    member.clone()
                } else {
                    format!("{member}[{at}]")
                };
                let position = parameter.first + at;
                let _ = writeln!(texts.lines, "        model.p[{position}] = parameters.{place};");
                let _ = writeln!(texts.cases, "        {position} => Some(&mut parameters.{place}),");
            }
        }
        if subject.parameters.is_empty() {
            let none = "    /// There is none.\n    pub none: core::marker::PhantomData<T>,\n";
            texts.members.push_str(none);
            texts
                .defaults
                .push_str("            none: core::marker::PhantomData,\n");
        }
        texts
    }
}

fn listed(subject: &Subject<'_>, parameter_cases: String) -> Listed {
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
    Listed {
        column_count: columns.len(),
        column_names: columns.join(",\n"),
        column_states: integers(&states),
        state_columns: states.len(),
        parameter_names: entries.join(",\n"),
        parameter_cases,
        state_names: names(&subject.states),
        output_names: names(&subject.outputs),
        loops_text: format!("{:?}", subject.loops_in_words()),
    }
}

fn matrices(subject: &Subject<'_>, source: Option<&mut Source<'_>>, is_several: bool) -> Matrices {
    let has_loops = subject.unknowns() > 0;
    let (rows, columns) = match (is_several, has_loops) {
        (true, _) => (Vec::new(), Vec::new()),
        _ => subject.jacobian_pattern(),
    };
    let mut jacobian = Pattern { rows, columns };
    let patterns = match source {
        Some(source) => {
            if !is_several && !has_loops && !source.is_dense() {
                jacobian = Pattern::of_entries(
                    subject.states.len(),
                    source.jacobian().iter().map(|entry| (entry.0, entry.1)),
                );
            }
            match has_loops {
                true => source
                    .matrices()
                    .map(|(rows, entries)| Pattern::of_entries(rows, entries.iter().map(|entry| (entry.0, entry.1)))),
                false => [(); 4].map(|()| Pattern::of_entries(0, std::iter::empty())),
            }
        }
        None => subject.matrices().map(Pattern::of),
    };
    let [loop_rows, direct_rows, by_loop_rows, by_state_rows] =
        patterns.each_ref().map(|pattern| integers(&pattern.rows));
    let [loop_columns, direct_columns, by_loop_columns, by_state_columns] =
        patterns.each_ref().map(|pattern| integers(&pattern.columns));
    // Without loops the derivatives with respect to the states are the Jacobian itself.
    let counts = patterns.map(|pattern| if has_loops { pattern.columns.len() } else { 0 });
    let [loop_count, direct_count, by_loop_count, by_state_count] = counts;
    Matrices {
        entries: jacobian.columns.len(),
        jacobian_rows: integers(&jacobian.rows),
        jacobian_columns: integers(&jacobian.columns),
        loop_rows,
        loop_columns,
        loop_count,
        direct_rows,
        direct_columns,
        direct_count,
        by_loop_rows,
        by_loop_columns,
        by_loop_count,
        by_state_rows,
        by_state_columns,
        by_state_count,
    }
}

fn model<'p>(
    subject: &'p Subject<'p>,
    texts: ParameterTexts,
    common: Common,
    changing: Changing<'p>,
) -> (Model, Option<Changes>) {
    let mut source = Source::new(subject, OF_MODEL, named::reads_rates(subject, changing));
    let mut equations = Equations::new(&common.library, changing.is_some());
    match &mut source {
        Some(source) => named::add_named(&mut equations, source, subject, changing),
        None => equations.add_arrays(subject, changing),
    }
    equations.add_signals(subject);
    equations.add_corners(subject);
    let is_derived = !subject.kernels.derived().is_empty();
    let named = source
        .as_ref()
        .map(|source| (source.derived(), wrapped(&source.entries())));
    let parameter_lines = match &named {
        Some(_) => String::new(),
        None => texts.lines + &equations.add_derived(subject),
    };
    let matrices = matrices(subject, source.as_mut(), common.several);
    let (methods, reads_points) = equations.take_methods();
    let changes = changing.map(|(gathered, kernels)| {
        equations.add_changes(kernels);
        changes(gathered, &mut equations)
    });
    let (sizes, uses_scratch) = (equations.sizes(), equations.uses_memory());
    let changes_imports = equations.sizes_of_blocks().join(", ");
    let (scratch, programs, own) = equations.finish();
    let point = if reads_points { "At, " } else { "" };
    let is_named = named.is_some();
    let (derived_lines, entry_list) = named.unwrap_or_default();
    let model = Model {
        named: is_named,
        indices: indices(subject),
        if_derived: if is_derived {
            " A derived parameter that is NaN follows from the others; any other value applies."
        } else {
            ""
        },
        and_derived: if is_derived { ", and computes derived ones" } else { "" },
        derives: !derived_lines.is_empty(),
        derived_lines,
        entry_list,
        functions: source.map_or(own, Source::finish),
        parameter_members: texts.members,
        default_lines: texts.defaults,
        // A variable that is never written is not mutable.
        model_mut: if parameter_lines.is_empty() { "" } else { "mut " },
        parameter_lines,
        uses_scratch,
        scratch,
        model_imports: sizes.join(", "),
        changes_imports,
        first_combination: changing.map_or(String::new(), |(gathered, _)| gathered.first.to_string()),
        system_imports: format!("{point}Features, LoopTables, Pattern, Patterns, StateTables, System"),
        programs,
        methods,
        matrices,
        tables: tables(subject),
        common,
    };
    (model, changes)
}
