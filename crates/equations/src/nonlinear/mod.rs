//! Nonlinear models: moduli that change, products and functions of variables, nonlinear laws.
//!
//! The junction structure is linear in efforts and flows for any laws, so reduction is unchanged: it works over a field
//! in which states and measured variables are symbols like parameters. Nonlinear parts are kept outside as
//! *definitions*, one for each symbol:
//!
//! - the value of a controlled source, and the variable that a nonlinear law gives, are sources for reduction, and
//!   expressions over measured variables here;
//! - a measured variable is a row over states, inputs and the values of sources. Its coefficients may contain other
//!   measured variables (a modulus that depends on them);
//! - the rate of a definition, if the rate of dependent storage requires it, is its total derivative; the drift of dependent
//!   storage under a changing modulus is `dS/dt z`, by the chain rule over the arguments of the modulus;
//! - a variable that storage has in common with nonlinear storage follows from the total of both, which is the state
//!   ([`conserved_quantities`]).
//!
//! [`loops`] orders the definitions: definitions without unknown dependencies are assignments, linear cycles are solved
//! symbolically, and the remaining cycles are torn at a few variables and become loops for Newton's method.
//! [`present`] writes the result in readable form.

pub(crate) mod closure;
pub(crate) mod conserved_quantities;
pub(crate) mod definitions;
pub(crate) mod dual;
pub(crate) mod energies;
pub(crate) mod evaluate;
pub(crate) mod inline;
pub(crate) mod loops;
pub(crate) mod masses;
pub(crate) mod names;
pub(crate) mod prepare;
pub(crate) mod present;

use super::options::Options;
use super::parameter_values::{parameter_values, sampled};
use crate::assembly::refusal::Failure;
use crate::assembly::states::StateRequest;
use crate::bond::BondGraph;
use crate::causality::{Causality, Request};
use crate::formulation::frame;
use crate::formulation::shared_arena::SharedArena;
use crate::index_reduction::read::{Dependence, Read};
use crate::state_selection::links::Links;
use definitions::Definitions;
use lgm_algebra::RationalFunctions;
use lgm_algebra::expr::{ExprId, to_f64};
use lgm_model::system::{StartConstraint, StateSystem};
use lgm_model::{ElementId, Model};
use lgm_readable::{LARGE, Shortening};
use lgm_source::diagnostic::{Diagnostic, has_errors};
use prepare::Prepared;

/// The equations of a model before they are written out.
pub(crate) struct Built {
    pub(crate) system: StateSystem,
    /// The requested columns of the junction structure, over the symbols of the system.
    pub(crate) columns: Vec<ExprId>,
    /// The storage that each state belongs to.
    pub(crate) links: Links,
}

/// The reason why no equations exist, with the prepared model: the failure may be in an added element.
pub(crate) struct Unbuilt {
    pub(crate) failure: Failure,
    pub(crate) model: Model,
}

/// Formulates the equations of a nonlinear model.
pub(crate) fn formulate(
    model: &Model,
    options: &Options,
    retain: &[ElementId],
    links: &mut Links,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<StateSystem> {
    match build(model, options, retain, None, diagnostics) {
        Ok(built) => {
            let (_, built) = built?;
            *links = built.links;
            Some(built.system)
        }
        Err(unbuilt) => {
            if !matches!(unbuilt.failure, Failure::Cancelled) {
                diagnostics.push(unbuilt.failure.diagnostic(&unbuilt.model));
            }
            None
        }
    }
}

/// Returns the model prepared for its equations, with its graph and causality. The original ports come first.
pub(crate) fn assigned(
    model: &Model,
    request: &Request,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Model, BondGraph, Causality) {
    let prepared = prepare::prepare(model, request, diagnostics);
    (prepared.model, prepared.graph, prepared.causality)
}

/// Returns the inputs on which the equations depend; `None` if the equations cannot be written.
pub(crate) fn dependence(model: &Model, options: &Options, retain: &[ElementId]) -> Option<Dependence> {
    let mut found = Vec::new();
    let prepared = prepare::prepare(model, &Request::retaining(retain), &mut found);
    if has_errors(&found) {
        return None;
    }
    let Defined {
        definitions, system, ..
    } = defined_by_sharing(&prepared, options, &[], &mut Vec::new()).ok()?;
    let inputs = system.inputs.iter().enumerate();
    let rates = system.input_rates.iter().enumerate();
    let places = (
        inputs.map(|(at, input)| (input.symbol, at)).collect(),
        rates.map(|(at, rate)| (*rate, at)).collect(),
    );
    let read = |root: &ExprId| Read::among(definitions.behind(&system.exprs, &[*root]), &places);
    let (states, others) = definitions.roots.split_at(definitions.states);
    let outputs = system.outputs.iter().map(|output| output.name.clone());
    Some(Dependence {
        states: system.states.iter().cloned().zip(states.iter().map(read)).collect(),
        outputs: outputs.zip(others.iter().map(read)).collect(),
        is_linear: false,
    })
}

/// Selects the columns of the junction structure that are requested for a prepared model.
pub(crate) type ColumnsOf<'f> = &'f dyn Fn(&Prepared) -> Vec<u32>;

/// Builds the equations. A check also requests columns of the junction structure and does not display the equations, so
/// none is shortened then.
pub(crate) fn build(
    model: &Model,
    options: &Options,
    retain: &[ElementId],
    checked: Option<ColumnsOf<'_>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<(Prepared, Built)>, Box<Unbuilt>> {
    let prepared = prepare::prepare(model, &Request::retaining(retain), diagnostics);
    if has_errors(diagnostics) {
        return Ok(None);
    }
    let columns = checked.map(|columns| columns(&prepared));
    match equations(&prepared, options, columns, diagnostics) {
        Ok(built) => Ok(Some((prepared, built))),
        Err(failure) => Err(Box::new(Unbuilt {
            failure,
            model: prepared.model,
        })),
    }
}

/// Returns the equations of a prepared model for display, or, with additional columns of the junction structure, only for evaluation.
fn equations(
    prepared: &Prepared,
    options: &Options,
    columns: Option<Vec<u32>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Built, Failure> {
    let is_read = columns.is_none() && options.readable;
    let mut columns = columns.unwrap_or_default();
    let started = prepare::started_columns(prepared);
    let asked = columns.len();
    columns.extend(started.iter().map(|entry| entry.1));
    let mut frame_notes = Vec::new();
    let Defined {
        definitions,
        mut system,
        mut links,
        cancelled,
    } = defined(prepared, options, &columns, &mut frame_notes)?;
    options.go_on()?;
    diagnostics.append(&mut frame_notes);
    let unshared = definitions.unshared.iter();
    diagnostics.extend(unshared.map(|port| conserved_quantities::warning(&prepared.model, *port)));
    let totals = definitions.starts.clone();
    let resolved = loops::resolve(&mut system.exprs, definitions, parameter_values(&prepared.model))?;
    options.go_on()?;
    let mut shortening = match is_read {
        true => Shortening::new(cancelled, resolved.states + resolved.outputs),
        false => Shortening::unread(),
    };
    let mut columns = crate::nonlinear::present::present(&prepared.model, &mut system, resolved, &mut shortening);
    closure::close(&prepared.model, &mut system, &mut columns, diagnostics);
    let mut starts = columns.split_off(asked);
    let of_totals = starts.split_off(started.len());
    system.starts.constraints = prepare::start_constraints(prepared, &mut system, &started, &starts);
    let of_totals = totals.into_iter().zip(of_totals);
    let of_totals = of_totals.filter_map(|(start, follows)| Some(StartConstraint { follows, ..start? }));
    system.starts.constraints.extend(of_totals);
    links.dependent = started.iter().map(|entry| entry.0).collect();
    Ok(Built { system, columns, links })
}

/// Definitions, with the system that holds their symbols.
struct Defined {
    definitions: Definitions,
    system: StateSystem,
    /// True if coefficients are in lowest terms.
    cancelled: bool,
    links: Links,
}

impl Defined {
    /// Returns the number of nodes of the largest definition as written, and of all of them with shared parts counted once.
    fn sizes(&self) -> (u64, usize) {
        self.definitions.sizes(&self.system.exprs)
    }
}

/// Returns the definitions: exact and cancelled if that is not too large, otherwise shared.
fn defined(
    prepared: &Prepared,
    options: &Options,
    columns: &[u32],
    notes: &mut Vec<Diagnostic>,
) -> Result<Defined, Failure> {
    options.go_on()?;
    let states = options.states;
    let mut system = frame(prepared, states, notes);
    let mut field =
        RationalFunctions::new(options.size_limit, RationalFunctions::DEFAULT_TERMS).until(&options.cancellation);
    let attempt = Definitions::build(prepared, states, &mut field, &mut system, columns);
    let exhausted = lgm_algebra::Field::exhausted(&field);
    let cancelled = match attempt {
        Ok((definitions, links)) if !exhausted => {
            let found = Defined {
                definitions,
                system,
                links,
                cancelled: true,
            };
            if found.sizes().0 <= LARGE {
                return Ok(found);
            }
            Some(found)
        }
        Err(failure) if !failure.is_too_large() && !exhausted => return Err(failure),
        _ => None,
    };
    let shared = defined_by_sharing(prepared, options, columns, notes);
    // Sines and cosines, with the relation between them, have no lowest terms: polynomials in them may be far longer
    // than the products from which they were expanded, and lose digits if their terms cancel.
    match (cancelled, shared) {
        (Some(cancelled), Ok(shared)) if shared.sizes().1 < cancelled.sizes().1 => Ok(shared),
        (Some(cancelled), _) => Ok(cancelled),
        (None, shared) => shared,
    }
}

/// Returns the definitions with shared expressions.
fn defined_by_sharing(
    prepared: &Prepared,
    options: &Options,
    columns: &[u32],
    notes: &mut Vec<Diagnostic>,
) -> Result<Defined, Failure> {
    options.go_on()?;
    let states = options.states;
    let mut system = frame(prepared, states, notes);
    let values = parameter_values(&prepared.model);
    let parameters = values.iter().map(|(symbol, value)| (*symbol, to_f64(value)));
    let mut field = SharedArena::new(3, sampled(&prepared.model, 3)).along_motions(parameters.collect());
    let shared = Definitions::build(prepared, states, &mut field, &mut system, columns);
    shared.map(|(definitions, links)| Defined {
        definitions,
        system,
        links,
        cancelled: false,
    })
}

/// Returns the system without its equations.
fn frame(prepared: &Prepared, states: StateRequest, notes: &mut Vec<Diagnostic>) -> StateSystem {
    notes.clear();
    let added = definitions::added_outputs(&prepared.model);
    frame::frame(
        &prepared.model,
        prepared.model.exprs.clone(),
        &prepared.causality,
        states,
        &added,
        notes,
    )
}
