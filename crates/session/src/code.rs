//! Emitted programs.

use crate::run::plan::length_by_modes;
use crate::trial_runs::{Simulated, plan};
use lgm_compilation::Whole;
use lgm_emit::code::{self, Changes, CodeOptions, Origin, Package, Target};
use lgm_equations::switching::Events;
use lgm_equations::{Options, StateSystem};
use lgm_kernels::{KernelOptions, Kernels};
use lgm_model::switching::Delay;
use lgm_simulate::Switched;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceMap, stack};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Returns the files of a program.
///
/// # Errors
///
/// If the target cannot express the model.
pub fn package(
    map: &SourceMap,
    (system, switched): (&StateSystem, Option<&(Events, Options)>),
    target: Target,
    options: &CodeOptions,
) -> Result<Package, Diagnostic> {
    let delay = switched.and_then(|(events, _)| events.model().switching.delays.first());
    if let Some(delay) = delay.filter(|_| !matches!(target, Target::Latex | Target::Json)) {
        return Err(without_history(delay));
    }
    let origin = Origin {
        file: file_name(map),
        version: env!("CARGO_PKG_VERSION"),
        hash: hash(map),
    };
    let changes = switched.map(|(events, options)| Changes {
        events,
        options,
        lines: lines_of_blocks(events, map),
    });
    stack::deep(|| code::package(system, &origin, target, options, changes.as_ref(), &Simulated))
}

/// Returns the error for a delay in a program, which keeps no history.
fn without_history(delay: &Delay) -> Diagnostic {
    let message = format!("emitted programs keep no history for `{}`", delay.name);
    Diagnostic::error(Code::LGM0725, message)
        .label(delay.span, "this delay has no finite number of states")
        .help("approximate delays with `--pade 4`, or write `d : PadeDelay(4, T) (u = x);` of `import signals;`")
}

/// Returns the equations with a stop time, so that programs run as long as `lgm simulate`, and adds the warnings of a run.
pub fn with_length(
    whole: Whole,
    target: Target,
    diagnostics: &mut Vec<Diagnostic>,
) -> (StateSystem, Option<(Events, Options)>) {
    let Whole {
        model,
        mut system,
        switched,
        ..
    } = whole;
    let runs = !matches!(target, Target::Latex | Target::Json);
    if runs && system.experiment.stop.is_none() {
        let start = system.experiment.start.unwrap_or(0.0);
        let length = length_by_modes(&model, &system, start, diagnostics);
        // Without modes that define a time scale, the emitted program requires a stop time at run time.
        system.experiment.stop = length.ok().map(|length| start + length);
    }
    system.matrices.numeric = None;
    if let Some((events, options)) = switched.as_ref().filter(|_| runs) {
        diagnostics.extend(warnings_at_start(events, options, &system));
    }
    (system, switched)
}

/// Returns the warnings of a run about its start, such as lost initial values.
fn warnings_at_start(events: &Events, options: &Options, system: &StateSystem) -> Vec<Diagnostic> {
    let kernels = Kernels::new(system, &KernelOptions::default());
    let setup = Switched {
        events,
        options,
        first: (system, &kernels),
        parameters: kernels.parameters(&[]),
        tables: &[],
        line: &|_| 0,
    };
    stack::deep(|| lgm_simulate::warnings_at_start(&setup, &plan(system)))
}

/// Returns the source line of each block.
fn lines_of_blocks(events: &Events, map: &SourceMap) -> Vec<usize> {
    let lines = events.blocks().iter().map(|block| block.span);
    lines.map(|span| map.line_column(span.source, span.start).0).collect()
}

/// Returns the name of the model's file without its folder, so that the generated code is independent of the location.
fn file_name(map: &SourceMap) -> String {
    let root = map.iter().find(|(_, source)| source.path.is_some());
    let name = root.and_then(|(_, source)| source.path.as_deref().and_then(Path::file_name));
    name.map_or_else(
        || "standard input".to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Returns a hash of all texts that define the model: its own text, its imports, and the options.
fn hash(map: &SourceMap) -> String {
    let mut hash = Sha256::new();
    for (_, source) in map.iter() {
        hash.update((source.text.len() as u64).to_le_bytes());
        hash.update(source.text.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
