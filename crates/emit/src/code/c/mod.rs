//! C99: the model in one header and one source, and a separate program that runs the model.

mod changes;
mod common;
mod dialect;
mod engine;
mod hooks;
mod loops;
mod model;
mod operations;
mod run;
mod text;

use super::events::Changing;
use super::subject::{ReadmeTables, Subject, readme_tables};
use super::template::{Template, template, values};
use super::unfollowed::unfollowed;
use super::{CodeOptions, Package};
use crate::code::stability;
use crate::shortest;
pub(super) use common::Common;
use common::common;
use dialect::{C, Members};
use engine::{Engine, File, names_in, reachable};
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use lgm_kernels::{KernelOptions, Sensitivities};
pub(super) use loops::Pattern;
use model::{Model, Names, Written};
use operations::operations;
use run::Run;
use text::wrapped_heads;

const MAKEFILE: Template<Build> = template!("Makefile", "Makefile");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    struct Build {
        ..common: Common;
        fixed: bool,
        sampled: bool,
        cvode: bool,
        programs: String,
        run_sources: String,
        run_headers: String,
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
        run_files: String,
        real: &'static str,
        has_run: bool,
        sampled: bool,
        cvode: bool,
        reads_du: bool,
    }
}

/// The model functions that other programs call.
const INTERFACE: [&str; 8] = [
    "defaults", "init", "rhs", "outputs", "jacobian", "begin", "step", "STEP",
];

/// All C files of one model.
struct Files {
    header: File,
    source: File,
    /// The sources of the run.
    run: Vec<File>,
    /// The sources of a program that calls the run.
    callers: Vec<File>,
    /// The names of the members of the struct of parameters.
    members: Vec<String>,
    /// True if fixed steps are exact.
    is_exact: bool,
    /// True if functions take time derivatives of inputs as an argument.
    reads_du: bool,
}

/// The code around the functions of a model.
enum Around<'p> {
    Nothing,
    /// Programs with a `main`.
    Run,
    /// A library for other callers.
    Callers(Callers<'p>),
}

/// The purpose of the files of a model.
struct Purpose<'p> {
    options: &'p CodeOptions,
    sensitivities: Option<&'p Sensitivities>,
    /// Further sources.
    further: &'p [(&'static str, &'static str)],
    around: Around<'p>,
    /// The path to the folder of the model header, relative to the sources of the run.
    above: &'static str,
}

fn files(subject: &Subject<'_>, common: &Common, purpose: &Purpose<'_>, changing: Changing<'_>) -> Files {
    let options = purpose.options;
    let of_partials = purpose.sensitivities.map(|partials| {
        [&partials.rates, &partials.outputs, &partials.residuals].map(|kernel| kernel.values.program())
    });
    let programs = || {
        run_programs(subject, changing)
            .into_iter()
            .chain(of_partials.into_iter().flatten())
    };
    let in_arrays = |members: &Members| repeats(subject) || programs().any(|program| !members.suffice(program));
    let names = Names::new(subject, in_arrays);
    let has_names = names.formulas.is_some();
    let c = C {
        float: options.float,
        members: Some(&names.table).filter(|_| has_names),
    };
    let written = Model {
        subject,
        c,
        names: &names,
        common,
        changing,
        iterations: options.iterations(),
        step: options.fixed_step,
        further: programs().collect(),
        has_run: !matches!(purpose.around, Around::Nothing),
    }
    .write();
    let run = Run {
        subject,
        c,
        names: &names,
        common,
        changing,
        sensitivities: purpose.sensitivities,
        header: format!("{}{}.h", purpose.above, common.name),
    };
    let numbers = run.numbers(Some(&written));
    let mut engine = Engine {
        name: &common.name,
        float: options.float,
        numbers: numbers.iter().copied().collect(),
    };
    let mut callers = Vec::new();
    let roots: Vec<String> = match purpose.around {
        Around::Nothing => Vec::new(),
        Around::Run => vec!["main".to_string()],
        Around::Callers(of) => {
            let texts = of(common, !has_names).into_iter();
            callers = texts.map(|(name, text)| (name, engine.source(&text))).collect();
            callers.iter().flat_map(|file| names_in(&file.1)).collect()
        }
    };
    let kept = match purpose.around {
        Around::Nothing => {
            engine.numbers.insert("LGM_BRANCHES", 0);
            Vec::new()
        }
        _ => {
            let all = run.files(&engine, &numbers, purpose.further);
            reachable(all, roots.iter().map(String::as_str))
        }
    };
    let is_exact = written.is_exact;
    let [header, source] = model_files(written, &engine, &kept, &roots);
    Files {
        header,
        source,
        run: kept,
        callers,
        members: names.members.clone(),
        is_exact,
        reads_du: engine.numbers.get("LGM_DU").is_some_and(|reads| *reads != 0),
    }
}

/// Returns the files of the model, with the functions that the run or a surrounding program calls.
fn model_files(written: Written, engine: &Engine<'_>, run: &[File], roots: &[String]) -> [File; 2] {
    let name = engine.name;
    let files = [(".h", written.header), (".c", written.source)];
    let files = files.map(|(ending, text)| (format!("{name}{ending}"), engine.source(&text)));
    let mut used: Vec<String> = INTERFACE.map(|function| format!("{name}_{function}")).to_vec();
    used.extend(["STATES", "INPUTS", "OUTPUTS", "DISCRETES"].map(|number| format!("{name}_{number}")));
    for letter in ["x", "u", "y", "d"] {
        let prefix = format!("{name}_{letter}_");
        used.extend(names_in(&files[0].1).filter(|found| found.starts_with(&prefix)));
    }
    used.extend(run.iter().flat_map(|file| names_in(&file.1).collect::<Vec<_>>()));
    used.extend(roots.iter().cloned());
    let mut found = reachable(files.to_vec(), used.iter().map(String::as_str)).into_iter();
    let mut next = || {
        let (name, text) = found.next().expect("invariant: a model has functions");
        (name, wrapped_heads(&text))
    };
    [next(), next()]
}

/// Equations with at least this number of repetitions become a loop over arrays.
const LEAST_REPEATED: u32 = 4;

/// Returns true if equations are printed as loops.
fn repeats(subject: &Subject<'_>) -> bool {
    let loops = &subject.kernels.derivatives.program().loops;
    loops.iter().any(|each| each.count >= LEAST_REPEATED)
}

/// Returns the programs that a run evaluates in addition to the equations.
fn run_programs<'p>(subject: &'p Subject<'_>, changing: Changing<'p>) -> Vec<&'p Program> {
    let corners = &subject.corners;
    let mut kernels = vec![subject.signals()];
    kernels.extend([
        corners.instants(),
        corners.switches(),
        corners.phases(),
        corners.crossings(),
    ]);
    let mut programs: Vec<&Program> = kernels.into_iter().map(|kernel| kernel.program()).collect();
    programs.extend(changing.iter().flat_map(|changing| changing.1.programs()));
    programs
}

/// The named files of the model and of its runs, from which a program that runs the model is built.
pub(super) struct CodeFiles {
    pub(super) files: Vec<(String, String)>,
    /// The partial derivatives in these files. For a model with events: those of each combination of modes, which no file contains.
    pub(super) sensitivities: Vec<Sensitivities>,
    /// The template values of such a program.
    pub(super) common: Common,
}

/// Returns the files of a program around a model. The arguments are the template values, and whether parameters are in an array.
type Callers<'c> = &'c dyn Fn(&Common, bool) -> Vec<File>;

/// Returns the library in double precision. Models without events include derivatives along any direction. The library contains the
/// files of `callers` and the functions that these files call.
pub(super) fn library(subject: &Subject<'_>, changing: Changing<'_>, callers: Callers<'_>) -> CodeFiles {
    let plain = C {
        float: false,
        members: None,
    };
    let common = common(subject, &plain);
    let interpreted = KernelOptions { native: false };
    let sensitivities = match changing {
        None => vec![Sensitivities::new(subject.system, &interpreted)],
        Some((gathered, _)) => gathered
            .systems()
            .map(|system| Sensitivities::new(&system, &interpreted))
            .collect(),
    };
    let purpose = Purpose {
        options: &CodeOptions::default(),
        sensitivities: sensitivities.first().filter(|_| changing.is_none()),
        further: &[],
        around: Around::Callers(callers),
        above: "",
    };
    let files = files(subject, &common, &purpose, changing);
    let mut all = vec![files.header, files.source];
    all.extend(files.run);
    all.extend(files.callers);
    CodeFiles {
        files: all,
        sensitivities,
        common,
    }
}

/// Returns all files of the package.
pub(super) fn package(subject: &Subject<'_>, options: &CodeOptions, changing: Changing<'_>) -> Package {
    let plain = C {
        float: options.float,
        members: None,
    };
    let mut package = Package::default();
    let common = common(subject, &plain);
    let is_sampled = subject.sampled.is_some();
    // CVODE needs only the right-hand sides.
    let has_cvode = changing.is_none() && !is_sampled && !options.functions && stability::is_stiff(subject);
    let programs = [
        (!is_sampled, "", lgm_runtime::C_MAIN),
        (has_cvode, "_cvode", lgm_runtime::C_CVODE),
        (options.fixed_step.is_some(), "_fixed", lgm_runtime::C_FIXED),
    ];
    let programs: Vec<_> = programs.into_iter().filter(|program| program.0).collect();
    let further: Vec<_> = programs.iter().map(|program| program.2).collect();
    let purpose = Purpose {
        options,
        sensitivities: None,
        further: &further,
        around: match options.functions {
            true => Around::Nothing,
            false => Around::Run,
        },
        above: "../",
    };
    let Files {
        header,
        source,
        run,
        members,
        is_exact,
        reads_du,
        ..
    } = files(subject, &common, &purpose, changing);
    let listed = |ending: &str, skipped: &[&str]| {
        let names = run.iter().map(|file| file.0.as_str());
        let names = names.filter(|name| name.ends_with(ending) && !skipped.contains(name));
        names.map(|name| format!("run/{name}")).collect::<Vec<_>>().join(" ")
    };
    let programs = programs
        .iter()
        .map(|program| format!("{}{}", common.program, program.1));
    let build = Build {
        fixed: options.fixed_step.is_some(),
        sampled: is_sampled,
        cvode: has_cvode,
        programs: programs.collect::<Vec<_>>().join(" "),
        run_sources: listed(".c", &["main.c", "lgm_cvode.c", "lgm_fixed.c"]),
        run_headers: listed(".h", &[]),
        common: common.clone(),
    };
    let steps = fixed_steps(subject, options, is_exact, &mut package);
    let readme = Readme {
        common,
        tables: readme_tables(subject, &members),
        fixed: steps,
        run_files: listed(".c", &[if is_sampled { "lgm_fixed.c" } else { "main.c" }]).replace(' ', "`, `"),
        real: if options.float { "float" } else { "double" },
        reads_du,
        sampled: is_sampled,
        cvode: has_cvode,
        has_run: !options.functions,
    };
    if !options.functions {
        package.add(MAKEFILE.path(&build), MAKEFILE.text(&build));
    }
    package.add(README.path(&readme), README.text(&readme));
    for (name, text) in [header, source] {
        package.add(name, text);
    }
    for (name, text) in run {
        package.add(format!("run/{name}"), text);
    }
    package
}

/// Describes steps of fixed length, with warnings and a remark on them.
fn fixed_steps(
    subject: &Subject<'_>,
    options: &CodeOptions,
    is_exact: bool,
    package: &mut Package,
) -> Option<FixedSteps> {
    let step = options.fixed_step?;
    let steps = FixedSteps {
        fixed_step: shortest(step),
        operations: operations(subject, step, options.iterations(), is_exact),
    };
    if !is_exact {
        package.warnings.extend(stability::warning(subject, step));
    }
    if subject.has_branches() {
        package.warnings.push(unfollowed(subject));
    }
    package.remarks.push(steps.operations.clone());
    if subject.kernels.outputs.program().needs(Space::Rates) > 0 {
        let held = "outputs that depend on the rate of an input omit that part: a step holds its inputs";
        package.remarks.push(held.to_string());
    }
    Some(steps)
}
