//! Simulation code: a folder of files in another language that does what `simulate` does.
//!
//! Every target prints the programs of [`lgm_kernels`] and fills in the templates of its folder; loops stay loops. The same
//! system gives the same bytes.

mod c;
mod dialect;
mod document;
mod events;
mod fmu;
mod functions;
mod julia;
mod keys;
mod mass;
mod matlab;
mod modelica;
mod names;
mod package;
mod planned;
mod program;
mod python;
mod rust;
mod scripts;
mod subject;
mod template;
mod trials;

pub use events::Changes;
pub use fmu::archive;
pub use subject::Origin;
pub use trials::{TrialRuns, UNKNOWN_SPAN};

use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
pub use package::{CodeFile, CodeOptions, Package, SharedLibrary};
use subject::Subject;

/// More unknowns of algebraic loops than this are not factorised densely in memory that is laid out beforehand: eight megabytes.
const MOST_UNKNOWNS: usize = 1000;

/// The same of a Rust crate, whose model lives where the caller puts it, most often on a stack: half a megabyte.
const MOST_UNKNOWNS_ON_A_STACK: usize = 256;

/// A language, and what is built from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// C99.
    C,
    /// A Rust crate without the standard library.
    Rust,
    /// A functional mock-up unit of FMI 3.0.
    Fmu3,
    /// A functional mock-up unit of FMI 2.0.
    Fmu2,
    /// A Python module over NumPy and SciPy.
    Python,
    /// Functions for MATLAB and Octave.
    Matlab,
    /// A Julia module with a driver for OrdinaryDiffEq.
    Julia,
    /// A flat model in Modelica.
    Modelica,
    /// The equations as LaTeX.
    Latex,
    /// The equations as JSON.
    Json,
}

impl Target {
    /// All targets with the words of the command line.
    pub const ALL: &'static [(Target, &'static str)] = &[
        (Target::C, "c"),
        (Target::Rust, "rust"),
        (Target::Fmu3, "fmu3"),
        (Target::Fmu2, "fmu2"),
        (Target::Python, "python"),
        (Target::Matlab, "matlab"),
        (Target::Julia, "julia"),
        (Target::Modelica, "modelica"),
        (Target::Latex, "latex"),
        (Target::Json, "json"),
    ];
}

/// The warning that a program does not see where a solution of a loop ends.
fn unfollowed(subject: &Subject<'_>) -> Diagnostic {
    let message = format!(
        "code for this target does not detect where a solution of the algebraic loop of {} ends",
        subject.loops_in_words()
    );
    Diagnostic::warning(Code::LGM0937, message)
        .note("where the loop has several solutions, a run may leave one of them too early, and its numbers are wrong from there on")
        .help("compare it with `lgm simulate`; C, Rust and FMUs follow a solution to its end, and Python stops there")
}

/// The code of a system for a target; a diagnostic if the target cannot express it. A model with events has `changes`; `trials` gives
/// the sizes that only runs show.
pub fn package(
    system: &StateSystem,
    origin: &Origin,
    target: Target,
    options: &CodeOptions,
    changes: Option<&Changes<'_>>,
    trials: &dyn TrialRuns,
) -> Result<Package, Diagnostic> {
    let is_program = !matches!(target, Target::Latex | Target::Json);
    if let Some(changes) = changes.filter(|_| is_program) {
        return changing_package(system, origin, target, options, changes, trials);
    }
    let resolved;
    let system = match system.equations.mass_matrix {
        Some(_) if !matches!(target, Target::Latex | Target::Json) => {
            resolved = mass::with_rates_as_unknowns(system);
            &resolved
        }
        _ => system,
    };
    mind_loops(system, target)?;
    let widened = match target {
        // What is read shows ranges as they are.
        Target::Latex | Target::Json => None,
        _ => trials.widened(system),
    };
    let subject = Subject::new(widened.as_ref().unwrap_or(system), origin, trials);
    let mut package = match target {
        Target::C => c::package(&subject, options, None),
        Target::Rust => rust::package(&subject, None),
        Target::Fmu3 => fmu::package(&subject, fmu::Version::Three, None),
        Target::Fmu2 => fmu::package(&subject, fmu::Version::Two, None),
        Target::Python => python::package(&subject, None),
        Target::Matlab => matlab::package(&subject),
        Target::Julia => julia::package(&subject),
        Target::Modelica => modelica::package(&subject),
        Target::Latex => document::latex_package(&subject),
        Target::Json => document::json_package(&subject),
    };
    if matches!(target, Target::Matlab | Target::Julia) && subject.has_branches() {
        package.warnings.push(unfollowed(&subject));
    }
    package.sort();
    Ok(package)
}

/// Refuses loops that are too large for a target.
fn mind_loops(system: &StateSystem, target: Target) -> Result<(), Diagnostic> {
    let unknowns: usize = system.equations.loops.iter().map(|entry| entry.unknowns.len()).sum();
    let most = match target {
        // Nothing is solved there, or the tool that reads it decides how.
        Target::Modelica | Target::Latex | Target::Json => usize::MAX,
        Target::Rust => MOST_UNKNOWNS_ON_A_STACK,
        _ => MOST_UNKNOWNS,
    };
    if unknowns <= most {
        return Ok(());
    }
    let message = format!(
        "`{}` has algebraic loops of {unknowns} unknowns, which emitted code for this target cannot solve (at most {most})",
        system.model
    );
    Err(Diagnostic::error(Code::LGM1031, message)
        .help("give the loops storage of their own, or run the model with `lgm simulate`"))
}

/// The code of a model with events.
fn changing_package(
    system: &StateSystem,
    origin: &Origin,
    target: Target,
    options: &CodeOptions,
    changes: &Changes<'_>,
    trials: &dyn TrialRuns,
) -> Result<Package, Diagnostic> {
    let refuse = |reason: &str, help: &str| Err(events::refused(&system.model, reason, help));
    if !matches!(
        target,
        Target::C | Target::Rust | Target::Python | Target::Fmu2 | Target::Fmu3
    ) {
        let help = "write `--target c`, `rust`, `python`, `fmu2` or `fmu3`, or run it with `lgm simulate`";
        return refuse("this target has no events", help);
    }
    if options.float {
        let help = "leave out `--float`: what decides modes needs the digits of doubles";
        return refuse("single precision does not tell what is 0", help);
    }
    if options.fixed_step.is_some() {
        let help = "leave out `--fixed-step`: instants of events are located within steps of controlled length";
        return refuse("steps of fixed length have no bound on their operations then", help);
    }
    let gathered = events::gather(changes, system, trials)?;
    mind_loops(&gathered.system, target)?;
    let mut further = gathered.further();
    if matches!(target, Target::Fmu2 | Target::Fmu3) {
        // Every state is a variable of an FMU.
        further.columns = None;
    }
    let subject = Subject::with(&gathered.system, origin, &further, trials);
    if target == Target::Python {
        python::mind_events(&subject, &gathered)?;
    }
    let kernels = events::ChangeKernels::new(&gathered);
    let changing = Some((&gathered, &kernels));
    let mut package = match target {
        Target::Fmu2 => fmu::package(&subject, fmu::Version::Two, changing),
        Target::Fmu3 => fmu::package(&subject, fmu::Version::Three, changing),
        Target::Rust => rust::package(&subject, changing),
        Target::Python => python::package(&subject, changing),
        _ => c::package(&subject, options, changing),
    };
    package.sort();
    Ok(package)
}
