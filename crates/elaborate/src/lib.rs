//! Syntax tree to flat model: names, imports, components, arrays, units, laws.
//!
//! The phases, in the order of [`elaborate`]; each uses the result of the previous one:
//!
//! - `program`: the parsed root text and its imports ([`load`]);
//! - `names`: the errors of each definition by itself;
//! - `options`: the chosen model, and the values from the command line;
//! - `expand`: bodies expanded to nodes, elements and components;
//! - `bonds`: chains of bonds, and the ports that they create;
//! - `laws`: each element's equations, classified once for every definition and shape;
//! - `outputs`: signals, states, outputs and experiments;
//! - `connect`: the graph as a whole;
//! - `normalize`: the form that all later stages read.
//!
//! `unused` instantiates unused definitions, so that errors inside them are also found.
//!
//! They work on one `context` (the program, the names, the expressions, the graph, the reports), through an evaluator that computes values
//! on demand (`evaluate`). [`analysis`] is separate: it resolves names for an editor, without values.
//! ARCHITECTURE.md follows an element through the phases.
//!
//! AFTER THIS POINT there are no components, arrays, vectors, loops, units or names to look up: see [`Model`].

pub mod analysis;
mod bonds;
mod connect;
mod context;
mod evaluate;
mod expand;
mod function_table;
mod law_forms;
mod laws;
mod literals;
mod modal_rules;
mod names;
mod normalize;
mod options;
mod outputs;
mod program;
mod sections;
mod syntax_queries;
mod units;
mod unused;

pub use function_table::{MEASURES, MODAL_MEASURES, PORT_VARIABLES, function_names};
pub use modal_rules::{MODAL_ARGUMENTS, modal_words};
pub use options::inputs::{InputTarget, input_target, no_such_input};
pub use options::{Delays, Quantity, Settings, bare_number, quantity};
pub use outputs::experiment::{ENTRIES as EXPERIMENT_ENTRIES, METHODS as EXPERIMENT_METHODS};
pub use program::{LIBRARY, LibraryModule, Program, load, load_again};
pub use sections::Sections;
pub use unused::{check_unused, node_for};

use context::Context;
use evaluate::Evaluator;
use lgm_model::Model;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors, in_source_order};
use options::point::PointSetting;

/// Returns the names of the models of the root text in order.
pub fn model_names(program: &Program) -> Vec<String> {
    program.models().map(|model| model.name.text.to_string()).collect()
}

/// The result of elaborating a model.
#[derive(Debug, Default)]
pub struct Elaborated {
    /// The flat model; none if there is an error or no model.
    pub model: Option<Model>,
    /// If there are errors, the known parts of the model: values, units, nodes and instances without errors. Use it only for display.
    pub known: Option<Model>,
    /// The diagnostics, in text order.
    pub diagnostics: Vec<Diagnostic>,
}

impl Elaborated {
    /// Returns the result if nothing is known.
    fn nothing(mut diagnostics: Vec<Diagnostic>) -> Elaborated {
        in_source_order(&mut diagnostics);
        Elaborated {
            diagnostics,
            ..Elaborated::default()
        }
    }
}

/// Returns the model of [`elaborated`] if it has no errors, and the diagnostics.
pub fn elaborate(program: &Program, map: &SourceMap, settings: &Settings) -> (Option<Model>, Vec<Diagnostic>) {
    let found = elaborated(program, map, settings);
    (found.model, found.diagnostics)
}

/// Elaborates one model of the program.
///
/// Misuse of the settings has separate codes: `LGM0901` for an unknown model, `LGM0902` for an unknown name in `--set`, and `LGM0903` for a
/// malformed `--set`. `LGM0920` and `LGM0921` report the same errors in `--input`, and `LGM0923` a malformed `--at`.
pub fn elaborated(program: &Program, map: &SourceMap, settings: &Settings) -> Elaborated {
    let largest = settings.largest.min(Settings::LARGEST);
    let mut diagnostics = names::check(program, map, largest);
    let (chosen, parameters) = options::read(program, map, settings, &mut diagnostics);
    // A component that contains itself, and a model that is too large, are not expanded. After a unit instead of an index, every use of the
    // name would also be reported.
    let hopeless = diagnostics
        .iter()
        .any(|diagnostic| matches!(diagnostic.code, Code::LGM0129 | Code::LGM0130 | Code::LGM0155));
    let Some(chosen) = chosen.filter(|_| !hopeless && !settings.cancellation.is_cancelled()) else {
        return Elaborated::nothing(diagnostics);
    };
    let inputs = options::inputs::read(program, chosen, map, &settings.inputs, &mut diagnostics);
    let point = options::point::read(program, chosen, map, &settings.point, &mut diagnostics);
    let cx = Context::new(program, map, chosen, diagnostics, settings.cancellation.clone());
    let mut evaluator = Evaluator::new(cx, &parameters, &inputs, laws::read);
    evaluate(&mut evaluator, &point, largest, settings.opened.as_deref());
    evaluator.report_unknown_parameters();
    let cycles = evaluator.values_in_cycles();
    let Context {
        mut reports,
        mut arena,
        mut graph,
        ..
    } = evaluator.into_context();
    graph.constants.name(&mut arena.exprs, &mut graph.model);
    reports.blame_options();
    reports.count_instances();
    let (mut diagnostics, mut model) = (reports.diagnostics, graph.model);
    if settings.cancellation.is_cancelled() {
        return Elaborated::nothing(diagnostics);
    }
    model.exprs = arena.exprs;
    if has_errors(&diagnostics) {
        return Elaborated {
            known: Some(model),
            ..Elaborated::nothing(diagnostics)
        };
    }
    in_source_order(&mut diagnostics);
    let mut found = normalize::form_delays(&mut model, settings.delays, &cycles);
    if has_errors(&found) {
        return Elaborated {
            known: Some(model),
            ..Elaborated::nothing([diagnostics, found].concat())
        };
    }
    model.heading.counts = normalize::counts(&model);
    found.extend(normalize::split_singular_stiffness(&mut model));
    found.extend(normalize::hold_integrals(&mut model));
    normalize::watch_pulses(&mut model);
    normalize::sample_times(&mut model);
    normalize::integrate_for_events(&mut model);
    normalize::mark_free_changes(&mut model);
    normalize::control_junctions(&mut model);
    if settings.open_discretes {
        model.open_discretes();
    }
    options::modes::choose(&mut model, &settings.modes, &mut found);
    model.show_instances(&mut found);
    let failed = has_errors(&found);
    diagnostics.extend(found);
    let (model, known) = match failed {
        true => (None, Some(model)),
        false => (Some(model), None),
    };
    Elaborated {
        model,
        known,
        ..Elaborated::nothing(diagnostics)
    }
}

/// Runs the phases from the chosen model to the flat graph with its laws and outputs.
fn evaluate<'a>(evaluator: &mut Evaluator<'a>, point: &'a [PointSetting], largest: u64, opened: Option<&str>) {
    let expanded = expand::expand(evaluator, largest, opened);
    if evaluator.reports.is_stopped() {
        return;
    }
    bonds::join_chains(evaluator, &expanded.chains);
    laws::read_all(evaluator);
    if evaluator.reports.is_stopped() {
        return;
    }
    outputs::evaluate(evaluator, &expanded);
    connect::check(evaluator);
    if !evaluator.reports.is_stopped() {
        outputs::point::evaluate(evaluator, point);
    }
}
