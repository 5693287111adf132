//! Simulation code: a folder of files in another language that performs the same computation as `simulate`.
//!
//! Every target prints the programs of [`lgm_kernels`] and fills in the templates of its folder; loops stay loops. Equal
//! systems produce identical bytes.

mod c;
mod casadi;
mod dialect;
mod document;
mod events;
mod fmu;
mod functions;
mod instants;
mod julia;
mod keys;
mod mass;
mod matlab;
mod modelica;
mod named;
mod names;
mod package;
mod planned;
mod program;
mod python;
mod rust;
mod script;
mod stability;
mod subject;
mod template;
mod trials;
mod unfollowed;

pub use events::Changes;
pub use fmu::archive;
pub use subject::Origin;
pub use trials::{TrialRuns, UNKNOWN_SPAN};

use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
pub use package::{CodeFile, CodeOptions, Package, SharedLibrary};
use subject::Subject;
use unfollowed::unfollowed;

/// The maximum number of loop unknowns for dense factorisation in preallocated memory; the matrix then takes eight megabytes.
const MOST_UNKNOWNS: usize = 1000;

/// The targets that follow events.
const WITH_ENGINES: &str =
    "write `--target c`, `rust`, `fmu2` or `fmu3`, or run it from Python with the package `lgm` (docs/python.md)";

/// The same limit for a Rust crate, whose model the caller usually stores on a stack: half a megabyte.
const MOST_UNKNOWNS_ON_A_STACK: usize = 256;

/// A language, and the files built from it.
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
    /// A Julia module over OrdinaryDiffEq.
    Julia,
    /// A Python module with functions of CasADi.
    Casadi,
    /// A flat model in Modelica.
    Modelica,
    /// The equations as LaTeX.
    Latex,
    /// The equations as JSON.
    Json,
}

impl Target {
    /// All targets with their names on the command line.
    pub const ALL: &'static [(Target, &'static str)] = &[
        (Target::C, "c"),
        (Target::Rust, "rust"),
        (Target::Fmu3, "fmu3"),
        (Target::Fmu2, "fmu2"),
        (Target::Python, "python"),
        (Target::Matlab, "matlab"),
        (Target::Julia, "julia"),
        (Target::Casadi, "casadi"),
        (Target::Modelica, "modelica"),
        (Target::Latex, "latex"),
        (Target::Json, "json"),
    ];

    /// True if the code has no engine and leaves a run to a solver of its language.
    fn is_script(self) -> bool {
        matches!(self, Target::Python | Target::Matlab | Target::Julia | Target::Casadi)
    }
}

/// Returns the code of a system for a target, or a diagnostic if the target cannot express the system.
/// `changes` belongs to a model with events; `trials` provides the magnitudes that are known only from runs.
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
        // These targets show arguments as ranges.
        Target::Latex | Target::Json => None,
        _ => trials.widened(system),
    };
    let subject = Subject::new(widened.as_ref().unwrap_or(system), origin, trials);
    mind_jumps(&subject, target)?;
    let mut package = match target {
        Target::C => {
            mind_fixed_steps(&subject, options)?;
            c::package(&subject, options, None)
        }
        Target::Rust => rust::package(&subject, None),
        Target::Fmu3 => fmu::package(&subject, fmu::Version::Three, None),
        Target::Fmu2 => fmu::package(&subject, fmu::Version::Two, None),
        Target::Python => python::package(&subject),
        Target::Matlab => matlab::package(&subject),
        Target::Julia => julia::package(&subject),
        Target::Casadi => casadi::package(&subject),
        Target::Modelica => modelica::package(&subject),
        Target::Latex => document::latex_package(&subject),
        Target::Json => document::json_package(&subject),
    };
    if target.is_script() && subject.has_branches() {
        package.warnings.push(unfollowed(&subject));
    }
    package.sort();
    Ok(package)
}

/// Rejects loops that are too large for a target.
fn mind_loops(system: &StateSystem, target: Target) -> Result<(), Diagnostic> {
    let unknowns: usize = system.equations.loops.iter().map(|entry| entry.unknowns.len()).sum();
    let most = match target {
        // These targets solve nothing, or leave the choice to the tool that reads their output.
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
        .help("add storage to the loops, or run the model with `lgm simulate`"))
}

/// Rejects targets without an engine for models in which an input moves states by amounts that depend on the states.
fn mind_jumps(subject: &Subject<'_>, target: Target) -> Result<(), Diagnostic> {
    if !target.is_script() || !subject.jumps() {
        return Ok(());
    }
    let reason = "steps of its inputs move states by amounts that depend on the states";
    Err(events::refused(&subject.system.model, reason, WITH_ENGINES))
}

/// Rejects fixed steps for models in which an input moves states by amounts that depend on the states.
fn mind_fixed_steps(subject: &Subject<'_>, options: &CodeOptions) -> Result<(), Diagnostic> {
    if options.fixed_step.is_none() || !subject.jumps() {
        return Ok(());
    }
    let message = format!(
        "steps of inputs move states of `{}` by amounts that depend on the states, which fixed steps cannot follow",
        subject.system.model
    );
    Err(Diagnostic::error(Code::LGM0944, message)
        .help("remove `--fixed-step`, or the source that determines nonlinear storage"))
}

/// Returns the code of a model with events.
fn changing_package(
    system: &StateSystem,
    origin: &Origin,
    target: Target,
    options: &CodeOptions,
    changes: &Changes<'_>,
    trials: &dyn TrialRuns,
) -> Result<Package, Diagnostic> {
    let refuse = |reason: &str, help: &str| Err(events::refused(&system.model, reason, help));
    if !matches!(target, Target::C | Target::Rust | Target::Fmu2 | Target::Fmu3) {
        return refuse("this target has no events", WITH_ENGINES);
    }
    if let (Target::C, Some(step)) = (target, options.fixed_step) {
        return sampled_package(system, origin, options, changes, (trials, step));
    }
    if options.float {
        let help = "remove `--float`: mode decisions require double precision";
        return refuse("single precision cannot reliably detect zeros", help);
    }
    if options.functions {
        let help = "remove `--functions`: the files in `run` contain the blocks and the changes of modes";
        return refuse("the functions alone contain only the equations between events", help);
    }
    let gathered = events::gather(changes, system, trials)?;
    mind_loops(&gathered.system, target)?;
    let mut further = gathered.further();
    if matches!(target, Target::Fmu2 | Target::Fmu3) {
        // Every state is a variable of an FMU.
        further.columns = None;
    }
    let subject = Subject::with(&gathered.system, origin, &further, trials);
    let kernels = events::ChangeKernels::new(&gathered);
    let changing = Some((&gathered, &kernels));
    let mut package = match target {
        Target::Fmu2 => fmu::package(&subject, fmu::Version::Two, changing),
        Target::Fmu3 => fmu::package(&subject, fmu::Version::Three, changing),
        Target::Rust => rust::package(&subject, changing),
        _ => c::package(&subject, options, changing),
    };
    package
        .warnings
        .extend(stability::too_many_steps(&subject, gathered.systems()));
    package.sort();
    Ok(package)
}

/// Returns the code of a model with blocks, for steps of fixed length.
fn sampled_package(
    system: &StateSystem,
    origin: &Origin,
    options: &CodeOptions,
    changes: &Changes<'_>,
    (trials, step): (&dyn TrialRuns, f64),
) -> Result<Package, Diagnostic> {
    let (system, sampled) = events::sampled(changes, system, trials, step)?;
    mind_loops(&system, Target::C)?;
    let further = subject::Further {
        sampled: Some(sampled),
        ..subject::Further::default()
    };
    let subject = Subject::with(&system, origin, &further, trials);
    mind_fixed_steps(&subject, options)?;
    let mut package = c::package(&subject, options, None);
    package.sort();
    Ok(package)
}
