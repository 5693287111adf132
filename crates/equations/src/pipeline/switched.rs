//! Constants in sources that move storage at the start without a closed form: they become inputs that are never set.
//!
//! Before the run sources are 0, so a constant source on dependent storage is a step at the start. If the motion is
//! found symbolically ([`crate::initialisation::impulses`]), it becomes an initial value. Otherwise the run computes it
//! as for inputs, from the rates in the equations: for nonlinear storage, or if the impulse passes through a
//! resistance.
//!
//! A source controlled by storage with a nonzero initial value is also a step at the start: before it the source is 0.
//! In nonlinear equations, an input that is 0 before the run and 1 in it scales the values of such sources.

use crate::bond::BondGraph;
use crate::formulation::dependent_starts::constant_part;
use crate::index_reduction::input_owner::{Owner, owner, owner_of_law};
use crate::options::Options;
use crate::parameter_values::parameter_values;
use crate::pipeline::dependence::dependence;
use crate::pipeline::driver::{KnownStarts, formulate};
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, SymbolKind, to_f64};
use lgm_model::system::StateSystem;
use lgm_model::{Input, Law, Model, Output};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sources by element and port.
type Begun = FxHashSet<(usize, usize)>;

/// Returns the equations with constants of sources as inputs, and the corresponding model, if these constants move a
/// state that has no other initial value.
///
/// The error is a warning: these equations cannot be written, so the moving states are unknown.
pub(crate) fn with_switched(
    model: &Model,
    graph: &BondGraph,
    options: &Options,
    (known, is_linear): (&KnownStarts, bool),
) -> Result<Option<(StateSystem, Model, Vec<Diagnostic>)>, Diagnostic> {
    // Ties by nonlinear laws, or through measurements of a source, appear only in the equations.
    if !known.is_driven && is_linear {
        return Ok(None);
    }
    let begun = match !is_linear && begins_in_motion(model) {
        true => begun_without_impulse(model, graph, options)?,
        false => Begun::default(),
    };
    let all = with_constants(model, &begun, &|_| true, false);
    if all.inputs.len() == model.inputs.len() {
        return Ok(None);
    }
    let Some(found) = dependence(&all, graph, options) else {
        return Err(unknown_starts(model));
    };
    let first = model.inputs.len();
    let mut read: FxHashSet<usize> = FxHashSet::default();
    let mut moves_unknown = false;
    for (state, behind) in &found.states {
        let own: Vec<usize> = behind.rates.iter().copied().filter(|at| *at >= first).collect();
        moves_unknown |= !own.is_empty() && !state.start_given && !known.states.contains(&state.name);
        read.extend(own);
    }
    if !moves_unknown {
        return Ok(None);
    }
    let kept = with_constants(model, &begun, &|number| read.contains(&(first + number)), true);
    match formulate(&kept, graph, options) {
        (Some(system), found) if !has_errors(&found) => Ok(Some((system, kept, found))),
        _ => Err(unknown_starts(model)),
    }
}

/// Returns the warning that the states moved by sources at the start could not be found.
fn unknown_starts(model: &Model) -> Diagnostic {
    Diagnostic::warning(Code::LGM0434, "cannot determine which states jump at t = 0")
        .label(
            model.heading.span,
            "the equations at the instant when these sources switch on cannot be written",
        )
        .note("dependent storage without an initial value starts at 0")
        .help(
            "give that storage a `start`; if an output that needs a second derivative is the reason, remove the output",
        )
}

/// Returns the model with inputs for the constant parts of sources and for the onset of controlled sources, or for the
/// selected ones by number. Controlled sources begin together.
fn with_constants(model: &Model, begun: &Begun, is_wanted: &dyn Fn(usize) -> bool, together: bool) -> Model {
    let mut made = model.clone();
    let declared = FxHashMap::default();
    let mut number = 0;
    let mut switch = None;
    for at in 0..model.graph.elements.len() {
        let Law::Source { values, .. } = &model.graph.elements[at].law else {
            continue;
        };
        for (port, value) in values.iter().enumerate() {
            let mut rest = *value;
            let mut parts = Vec::new();
            if let Some(constant) = constant_part(&mut made.exprs, *value, &declared) {
                number += 1;
                rest = made.exprs.sub(rest, constant);
                if is_wanted(number - 1) {
                    let owner = owner_of_law(model, at, port);
                    parts.push(switched_on(&mut made, constant, owner));
                } else {
                    parts.push(constant);
                }
            }
            let follows = at_rest(&mut made.exprs, rest).filter(|_| begun.contains(&(at, port)));
            if let Some(follows) = follows {
                number += 1;
                if is_wanted(number - 1) {
                    let known = switch.filter(|_| together);
                    let share = known.unwrap_or_else(|| {
                        let owner = owner("start(time)".to_string(), owner_of_law(model, at, port).span);
                        let one = made.exprs.one();
                        switched_on(&mut made, one, owner)
                    });
                    switch = Some(share);
                    parts.push(made.exprs.mul(share, follows));
                    rest = made.exprs.sub(rest, follows);
                }
            }
            parts.push(rest);
            let switched = made.exprs.sum(parts);
            if let Law::Source { values, .. } = &mut made.graph.elements[at].law {
                values[port] = switched;
            }
        }
    }
    made
}

/// Converts a constant to an input that is never set.
fn switched_on(made: &mut Model, constant: ExprId, owner: Owner) -> ExprId {
    let name = owner.whole.clone().unwrap_or_else(|| owner.name.clone());
    let symbol: SymbolId = made.exprs.new_symbol(name.clone(), SymbolKind::Input);
    made.inputs.push(Input {
        name,
        symbol,
        signal: Some(constant),
        unit: owner.unit,
        scale: lgm_model::Scale::SI,
        is_internal: true,
        span: owner.span,
    });
    made.exprs.symbol(symbol)
}

/// Returns the value of a source for zero inputs, if it depends on measured variables or a declared state; `None` if it is not a number.
fn at_rest(exprs: &mut Exprs, value: ExprId) -> Option<ExprId> {
    let of_input = |exprs: &Exprs, symbol| {
        let kind = exprs.symbol_info(symbol).kind;
        matches!(kind, SymbolKind::Input | SymbolKind::InputRate)
    };
    let zero = exprs.zero();
    let inputs: FxHashSet<SymbolId> = exprs.symbols_of(&[value]).into_iter().collect();
    let inputs: FxHashSet<SymbolId> = inputs.into_iter().filter(|symbol| of_input(exprs, *symbol)).collect();
    let follows = exprs.substitute(&[value], |symbol| inputs.contains(&symbol).then_some(zero))[0];
    let mut symbols = exprs.symbols_of(&[follows]).into_iter();
    let is_controlled =
        symbols.any(|symbol| matches!(exprs.symbol_info(symbol).kind, SymbolKind::Measure | SymbolKind::State));
    let somewhere = exprs.evaluate_unchecked(&[follows], &|_| Some(0.5))[0];
    (is_controlled && somewhere.is_finite()).then_some(follows)
}

/// Returns the controlled sources without an independent impulse while inputs step, by element and port. A transmitted
/// impulse has no part before the start that could be switched: all of it comes from stepping inputs.
fn begun_without_impulse(model: &Model, graph: &BondGraph, options: &Options) -> Result<Begun, Diagnostic> {
    let mut probe = with_constants(model, &Begun::default(), &|_| true, false);
    let mut names: Vec<(String, (usize, usize))> = Vec::new();
    for (at, element) in model.graph.elements.iter().enumerate() {
        let Law::Source { values, .. } = &element.law else {
            continue;
        };
        for (port, value) in values.iter().enumerate() {
            let Some(follows) = at_rest(&mut probe.exprs, *value) else {
                continue;
            };
            let name = format!("follows.{at}.{port}");
            probe.outputs.push(Output {
                name: name.as_str().into(),
                value: follows,
                written: name.as_str().into(),
                unit: None,
                span: element.law_span,
            });
            names.push((name, (at, port)));
        }
    }
    if names.is_empty() {
        return Ok(Begun::default());
    }
    let Some(found) = dependence(&probe, graph, options) else {
        return Err(unknown_starts(model));
    };
    let has_no_impulse = |name: &str| {
        let mut outputs = found.outputs.iter();
        outputs.any(|(output, read)| **output == *name && read.rates.is_empty())
    };
    let finite = names.into_iter().filter(|(name, _)| has_no_impulse(name));
    Ok(finite.map(|entry| entry.1).collect())
}

/// Returns true if some storage or declared state does not begin at rest, or if a controlled source is nonzero at rest.
fn begins_in_motion(model: &Model) -> bool {
    let storage = model
        .graph
        .elements
        .iter()
        .flat_map(|element| element.start.iter().flatten());
    let declared = model.integrals.iter().filter_map(|integral| integral.start.as_ref());
    let mut starts = storage.chain(declared);
    if starts.any(|start| !model.exprs.is_zero(*start)) {
        return true;
    }
    let parameters = parameter_values(model);
    let at_rest = |symbol: SymbolId| Some(parameters.get(&symbol).map_or(0.0, to_f64));
    let is_controlled = |symbol: &SymbolId| {
        let kind = model.exprs.symbol_info(*symbol).kind;
        matches!(kind, SymbolKind::Measure | SymbolKind::State)
    };
    let sources = model.graph.elements.iter().filter_map(|element| match &element.law {
        Law::Source { values, .. } => Some(values),
        _ => None,
    });
    sources.flatten().any(|value| {
        let is_controlled = model.exprs.symbols_of(&[*value]).iter().any(is_controlled);
        is_controlled && model.exprs.evaluate_unchecked(&[*value], &at_rest)[0] != 0.0
    })
}
