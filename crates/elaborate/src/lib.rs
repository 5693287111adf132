//! Syntax tree to flat model: names, imports, components, arrays, units, laws.
//!
//! The work is done in this order, and each step needs those before it:
//! [`load`] reads the texts; `names` checks what can be said of a definition by itself; `expand` makes the
//! frames, nodes, elements and components of the model (bodies are walked in place, never copied); `bonds`
//! joins the chains; `laws` classifies each element's equations, once for every definition and shape;
//! `outputs` evaluates what is measured; `connect` checks the graph; `stiffness` and `integrals` bring the laws into
//! the form that all later stages read.
//!
//! AFTER THIS POINT there are no components, arrays, vectors, loops, units or names to look up: see [`Model`].

pub mod analysis;
mod arguments;
mod arithmetic;
mod blame;
mod bonds;
mod branches;
mod classify;
mod connect;
mod count;
mod counts;
mod couplers;
mod energy;
mod evaluate;
mod expand;
mod experiment;
mod frames;
mod functions;
mod infer;
mod input_settings;
mod integers;
mod integrals;
mod junctions;
mod law_faults;
mod law_scope;
mod laws;
mod linear;
mod load;
mod lookup;
mod measures;
mod modal;
mod names;
mod nonlinear;
mod origins;
mod outputs;
mod plain_numbers;
mod point_settings;
mod postponed;
mod quantities;
mod recursion;
mod references;
mod reports;
mod scopes;
mod settings;
mod starts;
mod state;
mod stdlib;
mod stiffness;
mod symmetry;
mod values;

pub use experiment::ENTRIES as EXPERIMENT_ENTRIES;
pub use functions::function_names;
pub use input_settings::{InputTarget, input_target, no_such_input};
pub use load::{Program, load};
pub use point_settings::dimension_of_text;
pub use settings::Settings;

use lgm_model::Model;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors, in_source_order};

/// The names of the models of the root text in order.
pub fn model_names(program: &Program) -> Vec<String> {
    program.models().map(|model| model.name.text.to_string()).collect()
}

/// Elaborates one model of the program; `None` where an error was found, or where there is no model.
///
/// Misuse of the settings has codes of its own: `LGM0901` for an unknown model, `LGM0902` for an unknown name
/// in `--set`, `LGM0903` for a malformed `--set`, `LGM0920` and `LGM0921` for the like in `--input`,
/// and `LGM0923` for a malformed `--at`.
pub fn elaborate(program: &Program, map: &SourceMap, settings: &Settings) -> (Option<Model>, Vec<Diagnostic>) {
    let largest = settings.largest.min(Settings::LARGEST);
    let mut diagnostics = names::check(program, largest);
    let (chosen, assignments) = settings::read(program, map, settings, &mut diagnostics);
    // A component that holds itself, or a model too large, is not even begun; and with a unit for an index, whatever needs the
    // name would be told as a fault too.
    let hopeless = diagnostics
        .iter()
        .any(|diagnostic| matches!(diagnostic.code, Code::LGM0129 | Code::LGM0130 | Code::LGM0155));
    let Some(chosen) = chosen.filter(|_| !hopeless) else {
        in_source_order(&mut diagnostics);
        return (None, diagnostics);
    };
    let inputs = input_settings::read(program, chosen, map, &settings.inputs, &mut diagnostics);
    let point = point_settings::read(program, chosen, map, &settings.point, &mut diagnostics);
    let mut work = state::Elaborator::new(program, map, chosen, diagnostics);
    work.largest = largest;
    work.settings = assignments.iter().map(|entry| (&*entry.name, entry)).collect();
    work.inputs = inputs.iter().collect();
    work.run();
    if !work.stopped {
        work.finish_point(&point);
    }
    work.blame_options();
    work.count_instances();
    let state::Elaborator {
        mut diagnostics,
        model,
        arena,
        ..
    } = work;
    let failed = has_errors(&diagnostics);
    in_source_order(&mut diagnostics);
    if failed {
        return (None, diagnostics);
    }
    let mut model = model;
    model.exprs = arena.exprs;
    model.counts = counts::counts(&model);
    let mut found = stiffness::split_singular_stiffness(&mut model);
    found.extend(integrals::hold_integrals(&mut model));
    model.show_instances(&mut found);
    let failed = has_errors(&found);
    diagnostics.extend(found);
    in_source_order(&mut diagnostics);
    (Some(model).filter(|_| !failed), diagnostics)
}
