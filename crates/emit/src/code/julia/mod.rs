//! One Julia module over OrdinaryDiffEq and NonlinearSolve.

mod dialect;

use super::Package;
use super::functions::wrapped;
use super::named::Book;
use super::names::{legal, quoted};
use super::planned::entry_literals;
use super::script::{
    Facts, Notation, Places, ScriptLanguage, Writer, column_places, derived, derived_lines, facts, name_list,
    parameter_words,
};
use super::subject::{Parameter, ReadmeTables, Subject, readme_tables_from};
use super::template::{Template, template, values};
use dialect::{Julia, RULES, helpers, literal, quote};
use std::fmt::Write;

const MODULE: Template<Module> = template!("@name@.jl", "model.jl");

const README: Template<Readme> = template!("README.md", "README.md");

/// Names in the module that the module itself cannot have.
const NAMES: &str = "\
    abs abspath all any collect conditions dependent_starts diff entries_of error fill filter foreach ifelse \
    initial_state input_rates inputs instants isapprox isequal isnan jacobian join length longest_step loop_matrix map \
    maximum moved nextfloat outputs parse phases prevfloat println push range reduce residuals reshape right_side \
    simulate solve sort split stack switches switch_times unique unknowns vec zeros zip \
    STATES OUTPUTS SCALES START_GIVEN GUESSES ODEFunction ODEProblem FBDF Vern7 NonlinearProblem NonlinearSolve \
    NonlinearFunction NewtonRaphson TrustRegion LevenbergMarquardt AutoFiniteDiff ADTypes SciMLBase Symbol String";

values! {
    struct Module {
        ..facts: Facts;
        name: String,
        example_stop: String,
        stop_word: &'static str,
        states_list: String,
        outputs_list: String,
        parameter_fields: String,
        derived_lines: String,
        derived_words: &'static str,
        flat: bool,
        matrices: bool,
        finite: bool,
        functions: String,
        unknowns: usize,
        changes: usize,
        corner_times: &'static str,
        clamped: String,
        here: String,
        more_options: String,
        method: &'static str,
        csv_header: String,
        column_states: String,
    }
}

values! {
    struct Readme {
        ..tables: ReadmeTables;
        name: String,
        model: String,
        origin: String,
        packages: String,
        package_list: String,
        stop_argument: &'static str,
        stop_word: &'static str,
    }
}

const NOTATION: Notation = Notation {
    literal,
    list: |entries| format!("[{}]", wrapped(entries)),
    boolean: |holds| if holds { "true" } else { "false" },
    first: 1,
    no_number: "1e-3*reltol*SCALES",
    quote,
};

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let plain = Julia { names: None };
    let book = Book::new(subject, &plain.naming());
    let places = Places::new(&book);
    let language = Julia { names: Some(&places) };
    let facts = facts(subject, NOTATION);
    let (functions, mut operations) = Writer::new(subject, &language, &plain, (&book, &places)).write(facts.jacobian);
    operations.extend(
        derived(subject, &book, &language)
            .into_iter()
            .flat_map(|(_, body)| body.operations),
    );
    let functions = format!("{}{functions}", helpers(&operations));
    let module = module(subject, (&book, &language), facts, functions);
    let packages = [
        ("OrdinaryDiffEq", module.facts.states > 0),
        ("NonlinearSolve", module.facts.nonlinear),
        ("ADTypes", module.finite),
    ];
    let packages: Vec<&str> = packages.iter().filter(|entry| entry.1).map(|entry| entry.0).collect();
    let listed: Vec<String> = packages.iter().map(|name| format!("\"{name}\"")).collect();
    let readme = Readme {
        tables: readme_tables_from(1, subject, &book.members),
        name: module.name.clone(),
        model: subject.system.model.to_string(),
        origin: subject.origin.sentence(),
        packages: packages.join(", "),
        package_list: listed.join(", "),
        stop_argument: if module.facts.has_stop { "" } else { "stop = 10" },
        stop_word: module.stop_word,
    };
    let mut package = Package::default();
    package.add_trimmed(MODULE.path(&module), &MODULE.text(&module));
    package.add_trimmed(README.path(&readme), &README.text(&readme));
    package
}

fn module(subject: &Subject<'_>, (book, language): (&Book, &Julia<'_>), facts: Facts, functions: String) -> Module {
    let mut name = legal(&subject.system.model, RULES);
    if NAMES.split_whitespace().any(|word| word == name) {
        name.push_str("_model");
    }
    let calls = facts
        .point
        .replace(", u", ", inputs(t, p)")
        .replace(", du", ", input_rates(t, p)");
    let derived_lines = derived_lines(
        (subject, book),
        language,
        (&|place| format!("        if isnan({place})\n"), "        end\n"),
        (12, ""),
    )
    .trim_end()
    .to_string();
    let finite = facts.stiff && !facts.jacobian;
    Module {
        name,
        example_stop: if facts.has_stop {
            facts.stop.clone()
        } else {
            "10".to_string()
        },
        stop_word: if facts.has_stop { "" } else { "stop=10 " },
        states_list: name_list(&subject.states, quote),
        outputs_list: name_list(&subject.outputs, quote),
        parameter_fields: fields(subject, book).trim_end().to_string(),
        derived_words: match derived_lines.is_empty() {
            true => "",
            false => "; an entry that is not a number follows from the others",
        },
        derived_lines,
        flat: functions.contains("entries_of("),
        matrices: facts.loops || functions.contains(" sparse("),
        finite,
        unknowns: subject.unknowns(),
        changes: subject.corners.crossings().outputs(),
        corner_times: match (facts.instants, facts.switches) {
            (true, true) => "[instants(p); switch_times(p, start, stop)]",
            (false, true) => "switch_times(p, start, stop)",
            _ => "instants(p)",
        },
        clamped: match facts.loops {
            true => "point(min(t, latest), x)...".to_string(),
            false => calls.replace("t,", "min(t, latest),"),
        },
        here: if facts.loops {
            "point(t, x)...".to_string()
        } else {
            calls
        },
        more_options: [
            (facts.conditions, ", callback"),
            // No step across a jump is short enough for a tight tolerance.
            (facts.jumping, ", force_dtmin = true"),
            (facts.bounds_steps, ", dtmax = longest_step(p, start, stop)"),
        ]
        .into_iter()
        .filter_map(|(is_needed, text)| is_needed.then_some(text))
        .collect(),
        method: match (facts.stiff, finite) {
            (false, _) => "Vern7()",
            (true, false) => "FBDF()",
            (true, true) => "FBDF(autodiff = AutoFiniteDiff())",
        },
        csv_header: quoted(&facts.header, &['\\', '"', '$']),
        column_states: match subject.columns.states.is_empty() {
            true => "Int[]".to_string(),
            false => column_places(subject, 1),
        },
        functions: functions.trim_end().to_string(),
        facts,
    }
}

/// The fields of the struct of parameters.
fn fields(subject: &Subject<'_>, book: &Book) -> String {
    let mut fields = String::new();
    for (parameter, member) in subject.parameters.iter().zip(&book.members) {
        let remark = parameter_words("#", parameter, member, |text| {
            text.replace("#=", "# =").replace("=#", "= #")
        });
        let (kind, value) = default(parameter);
        let _ = writeln!(fields, "    {member}::{kind} = {value}{remark}");
    }
    fields
}

/// The type and the default of a parameter: a number, a vector, or a matrix row by row.
fn default(parameter: &Parameter) -> (&'static str, String) {
    let numbers = entry_literals(parameter, literal, "NaN");
    match parameter.shape.as_slice() {
        [] => ("Float64", numbers[0].clone()),
        [_, columns] => {
            let rows: Vec<String> = numbers.chunks((*columns).max(1)).map(|row| row.join(" ")).collect();
            ("Matrix{Float64}", format!("[{}]", rows.join("; ")))
        }
        _ => ("Vector{Float64}", format!("[{}]", wrapped(&numbers))),
    }
}
