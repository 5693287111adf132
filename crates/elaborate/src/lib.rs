//! Syntax tree to flat model: names, imports, components, arrays, units, laws.
//!
//! The phases, in the order in which [`elaborate`] goes through them; each takes what the one before it gives:
//!
//! - `program`: the root text and what it imports, parsed ([`load`]);
//! - `names`: what is wrong with a definition by itself;
//! - `options`: the model that is chosen, and the values that the command line gives;
//! - `expand`: bodies walked in place, to nodes, elements and components;
//! - `bonds`: chains of bonds, and the ports that they make;
//! - `laws`: each element's equations, classified once for every definition and shape;
//! - `outputs`: signals, states, outputs and experiments;
//! - `connect`: the graph as a whole;
//! - `normalize`: the form that all later stages read.
//!
//! `unused` uses what a text only defines, so that the same is found there.
//!
//! They work on one `context` (the program, the names, the expressions, the graph, the reports), through an evaluator that finds
//! values when they are asked for (`evaluate`). [`analysis`] is apart: it resolves names for an editor, without values.
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
mod laws;
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
pub use options::Settings;
pub use options::inputs::{InputTarget, input_target, no_such_input};
pub use outputs::experiment::{ENTRIES as EXPERIMENT_ENTRIES, METHODS as EXPERIMENT_METHODS};
pub use program::{Program, load, load_again};
pub use sections::Sections;
pub use unused::{check_unused, node_for};

use context::Context;
use evaluate::Evaluator;
use lgm_model::Model;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors, in_source_order};
use options::point::PointSetting;

/// The names of the models of the root text in order.
pub fn model_names(program: &Program) -> Vec<String> {
    program.models().map(|model| model.name.text.to_string()).collect()
}

/// What elaboration makes of a model.
#[derive(Debug, Default)]
pub struct Elaborated {
    /// The flat model; none where an error was found, or where there is no model.
    pub model: Option<Model>,
    /// Where there are errors: what is known all the same, which are the values, units, nodes and instances of what has none. What
    /// has an error is missing. It is there to be shown, and nothing else is to be made of it.
    pub known: Option<Model>,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Elaborated {
    /// Nothing is known.
    fn nothing(mut diagnostics: Vec<Diagnostic>) -> Elaborated {
        in_source_order(&mut diagnostics);
        Elaborated {
            diagnostics,
            ..Elaborated::default()
        }
    }
}

/// The same as [`elaborated`], for those who need a model without errors.
pub fn elaborate(program: &Program, map: &SourceMap, settings: &Settings) -> (Option<Model>, Vec<Diagnostic>) {
    let found = elaborated(program, map, settings);
    (found.model, found.diagnostics)
}

/// Elaborates one model of the program.
///
/// Misuse of the settings has codes of its own: `LGM0901` for an unknown model, `LGM0902` for an unknown name
/// in `--set`, `LGM0903` for a malformed `--set`, `LGM0920` and `LGM0921` for the like in `--input`,
/// and `LGM0923` for a malformed `--at`.
pub fn elaborated(program: &Program, map: &SourceMap, settings: &Settings) -> Elaborated {
    let largest = settings.largest.min(Settings::LARGEST);
    let mut diagnostics = names::check(program, map, largest);
    let (chosen, assignments) = options::read(program, map, settings, &mut diagnostics);
    // A component that holds itself, or a model too large, is not even begun; and with a unit for an index, whatever needs the
    // name would be reported as well.
    let hopeless = diagnostics
        .iter()
        .any(|diagnostic| matches!(diagnostic.code, Code::LGM0129 | Code::LGM0130 | Code::LGM0155));
    let Some(chosen) = chosen.filter(|_| !hopeless && !settings.cancellation.is_cancelled()) else {
        return Elaborated::nothing(diagnostics);
    };
    let inputs = options::inputs::read(program, chosen, map, &settings.inputs, &mut diagnostics);
    let point = options::point::read(program, chosen, map, &settings.point, &mut diagnostics);
    let cx = Context::new(program, map, chosen, diagnostics, settings.cancellation.clone());
    let mut evaluator = Evaluator::new(cx, &assignments, &inputs, laws::read);
    evaluate(&mut evaluator, &point, largest, settings.opened.as_deref());
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
    model.heading.counts = normalize::counts(&model);
    let mut found = normalize::split_singular_stiffness(&mut model);
    found.extend(normalize::hold_integrals(&mut model));
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

/// From the chosen model to the flat graph with its laws and outputs, phase by phase.
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
