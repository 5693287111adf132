//! The drivers: one run of reduction and assembly for each required number system.

use crate::assembly::assemble::Obstacle;
use crate::assembly::outputs::{Plan, integrands, without_nonlinear_outputs};
use crate::assembly::problem::{Problem, is_small};
use crate::assembly::refusal::Failure;
use crate::assembly::run::{EXPRESSIONS, Run, is_controlled, run, run_sharing, run_sharing_many};
use crate::bond::{self, BondGraph};
use crate::causality::Request;
use crate::diagnosis::singular;
use crate::diagnosis::values;
use crate::formulation::blocks::block_form;
use crate::formulation::dependent_starts;
use crate::formulation::dependents;
use crate::formulation::frame;
use crate::formulation::matrices::{self, Present};
use crate::formulation::shared_arena::SharedArena;
use crate::index_reduction::Refusal;
use crate::initialisation::conditions::Conditions;
use crate::initialisation::start_values::find_starts;
use crate::options::Options;
use crate::parameter_values::{parameter_values, sampled};
use crate::state_selection::decision::decide;
use crate::state_selection::links::{Impulses, Links};
use crate::state_selection::retain::{retained, sampled_rows, unmet};
use lgm_algebra::expr::{Evaluated, Exprs, to_f64};
use lgm_algebra::{DoubleValues, ExactValues, Field, RationalFunction, RationalFunctions, Sampled};
use lgm_model::Model;
use lgm_model::blocks::BlockForm;
use lgm_model::system::{DependentStorage, StateSystem};
use lgm_readable::Shortening;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use num_rational::BigRational;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The known facts about the initial values of storage.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownStarts {
    /// The states whose initial values were found symbolically.
    pub(crate) states: FxHashSet<Arc<str>>,
    /// True if a constant source acts on storage that depends on it.
    pub(crate) is_driven: bool,
}

/// Formulates the state equations of a model (exact and cancelled if small, shared if large).
pub fn formulate(model: &Model, graph: &BondGraph, options: &Options) -> (Option<StateSystem>, Vec<Diagnostic>) {
    let (system, _, diagnostics) = formulate_with_known_starts(model, graph, options);
    (system, diagnostics)
}

/// Does the same, and also returns the known facts about the initial values of storage.
pub(crate) fn formulate_with_known_starts(
    model: &Model,
    graph: &BondGraph,
    options: &Options,
) -> (Option<StateSystem>, KnownStarts, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut linear_model = None;
    if options.linear_outputs {
        linear_model = without_nonlinear_outputs(model, &mut diagnostics);
    }
    let model = linear_model.as_ref().unwrap_or(model);
    let (system, solved, mut found, is_driven) = started(model, graph, options);
    diagnostics.append(&mut found);
    let names = system
        .iter()
        .flat_map(|system| solved.iter().map(|at| system.states[*at].name.clone()));
    let known = KnownStarts {
        states: names.collect(),
        is_driven,
    };
    (system.filter(|_| !has_errors(&diagnostics)), known, diagnostics)
}

/// Formulates the equations of a model with its derived initial values. Also returns the states with such values, and
/// true if a constant source acts on storage that depends on it.
fn started(
    model: &Model,
    graph: &BondGraph,
    options: &Options,
) -> (Option<StateSystem>, Vec<usize>, Vec<Diagnostic>, bool) {
    let conditions = Conditions::of(model);
    let with = conditions.as_ref().map_or(model, |found| &found.0);
    let mut links = Links::default();
    let (mut system, mut diagnostics) = formulate_model(with, graph, options, &mut links);
    let mut solved = Vec::new();
    if let Some(system) = &mut system {
        if let Some((_, conditions)) = conditions {
            conditions.take(model, system);
        }
        let second = |model: &Model| {
            let options = Options {
                blocks: false,
                numeric: false,
                ..options.clone()
            };
            let (system, found) = formulate_model(model, &bond::lower(model), &options, &mut Links::default());
            system.filter(|_| !has_errors(&found))
        };
        let impulses = Impulses {
            model,
            links: &links,
            formulate: &second,
            size_limit: options.size_limit,
        };
        solved = find_starts(system, &impulses, &mut diagnostics);
    }
    let is_driven = links.ties.iter().any(|tie| tie.is_driven);
    (system, solved, diagnostics, is_driven)
}

/// Formulates the equations of a model; initial values are constraints that are still to be examined. `links` receives
/// the storage of each state.
fn formulate_model(
    model: &Model,
    graph: &BondGraph,
    options: &Options,
    links: &mut Links,
) -> (Option<StateSystem>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let retain = retained(model, options, &mut diagnostics);
    if crate::assembly::linearity::applies(model) {
        let system = crate::nonlinear::formulate(model, options, &retain, links, &mut diagnostics);
        return (system.filter(|_| !has_errors(&diagnostics)), diagnostics);
    }
    let request = Request::retaining(retain);
    diagnostics.extend(values::check(model));
    if has_errors(&diagnostics) {
        return (None, diagnostics);
    }
    if options.go_on().is_err() {
        return (None, diagnostics);
    }
    let (causality, general, found) = decide(model, graph, &request);
    values::merge(&mut diagnostics, found);
    if !has_errors(&diagnostics) {
        let rows = || sampled_rows(model, &causality, general);
        diagnostics.extend(unmet(model, &causality, &request.retain, rows));
    }
    if has_errors(&diagnostics) {
        return (None, diagnostics);
    }
    let problem = Problem {
        model,
        graph,
        causality: &causality,
        states: options.state_request(),
    };
    match formulate_with(problem, general, options, links, &mut diagnostics) {
        Ok(system) => {
            if !options.numeric {
                // Symbolic equations hold in general, but perhaps not for the given values.
                let found = singular::diagnose(model, graph, &causality);
                values::merge(&mut diagnostics, found);
            }
            let system = (!has_errors(&diagnostics)).then_some(system);
            (system, diagnostics)
        }
        Err(Failure::Cancelled) => (None, diagnostics),
        Err(failure) => {
            let found = match failure.is_singular() {
                true => singular::diagnose(model, graph, &causality),
                false => Vec::new(),
            };
            match found.is_empty() {
                true => diagnostics.push(failure.diagnostic(model)),
                false => values::merge(&mut diagnostics, found),
            }
            (None, diagnostics)
        }
    }
}

fn formulate_with(
    problem: Problem<'_>,
    general: bool,
    options: &Options,
    links: &mut Links,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<StateSystem, Failure> {
    let Problem { model, causality, .. } = problem;
    let mut exprs = model.exprs.clone();
    let mut plan = Plan::default();
    let mut added = Vec::new();
    options.go_on()?;
    if integrands(model) > 0 && general {
        let mut field = Sampled::new(2);
        added = run(problem, &mut exprs, &mut field, &mut plan, &[])?.added;
    }
    // Initial values of dependent storage are compared as numbers.
    let has_dependent_starts = causality.dependent.iter().any(|port| {
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        element.start.iter().any(Option::is_some)
    });
    // Loops closed by controlled sources may have no solution for the given values, although they have one in general.
    let numbers_decide = has_dependent_starts || is_controlled(model) || !model.integrals.is_empty();
    let numeric = if options.numeric || !options.symbolic || !general || numbers_decide {
        let numeric = numeric_run(problem, &mut exprs, &mut plan)?;
        options.go_on()?;
        added.clone_from(&numeric.0.added);
        Some(numeric)
    } else {
        None
    };
    let mut system = frame::frame(model, exprs, causality, problem.states, &added, diagnostics);
    if options.symbolic && general {
        symbolic_run(problem, options, &mut plan, &mut system, links, diagnostics)?;
    }
    if let Some((run, dependent)) = numeric {
        if system.dependent.is_empty() {
            system.dependent = dependent;
        }
        if !matrices::numeric(model, &mut system, &run, &parameter_values(model)) && options.shows_matrices {
            diagnostics.push(
                Diagnostic::warning(
                    Code::LGM0504,
                    "a source depends on time directly; the numeric matrices omit its term",
                )
                .label(model.heading.span, "in this model")
                .note("the equations contain the term")
                .help("declare it as an input, `input u = ..`, to see it in B"),
            );
        }
        if links.carriers.is_empty() {
            let mut number = |exprs: &mut Exprs, value: &f64| {
                let exact = BigRational::from_float(*value).expect("invariant: rows of numbers are finite");
                exprs.number(exact)
            };
            system.starts.constraints =
                dependent_starts::constraints(model, causality, &mut system, &run, links, &mut number);
        }
    }
    let is_left_out = options.numeric && system.matrices.numeric.is_none()
        || options.symbolic && general && system.matrices.symbolic.is_none();
    if system.equations.linear && is_left_out {
        diagnostics.push(without_matrices(model));
    }
    if options.blocks && general {
        system.matrices.blocks = in_blocks(problem, options, &mut system)?;
    }
    Ok(system)
}

/// Returns the block form of the equations; `None` if their rows are too long.
fn in_blocks(problem: Problem<'_>, options: &Options, system: &mut StateSystem) -> Result<Option<BlockForm>, Failure> {
    options.go_on()?;
    let values = parameter_values(problem.model).into_iter();
    let mut rational =
        RationalFunctions::new(options.size_limit, RationalFunctions::DEFAULT_TERMS).until(&options.cancellation);
    let cancelled = match options.symbolic {
        true => block_form(problem, system, &mut rational).ok(),
        false => None,
    };
    let form = if let Some(form) = cancelled.filter(|_| !rational.exhausted()) {
        Ok(form)
    } else if options.symbolic {
        let mut field = SharedArena::new(3, sampled(problem.model, 3));
        block_form(problem, system, &mut field)
    } else {
        let mut field = DoubleValues::new(values.map(|(symbol, value)| (symbol, to_f64(&value))).collect());
        block_form(problem, system, &mut field)
    };
    match form {
        Err(Failure::Reduction(Refusal::TooManyEntries)) => Ok(None),
        form => form.map(Some),
    }
}

/// Reports that the matrices of a linear system are too dense to be written out.
fn without_matrices(model: &Model) -> Diagnostic {
    Diagnostic::information(
        Code::LGM0506,
        "most states act on most others: A..F are omitted, and shared subexpressions are assigned before the \
         equations",
    )
    .label(model.heading.span, "in this model")
    .help("a storage element at the hub, such as a small capacitor or mass, makes the matrices sparse")
}

/// Computes in exact rationals, rounded once, if the system is small, otherwise in doubles; also returns the report on dependent storage.
fn numeric_run(
    problem: Problem<'_>,
    exprs: &mut Exprs,
    plan: &mut Plan,
) -> Result<(Run<f64>, Vec<DependentStorage>), Failure> {
    let Problem { model, causality, .. } = problem;
    let values = parameter_values(model);
    if is_small(model, causality) {
        let mut field = ExactValues::new(values.clone());
        let attempt = run(problem, exprs, &mut field, plan, &[]).map(|exact| {
            let mut present =
                |exprs: &mut Exprs, field: &mut ExactValues, value: &BigRational| field.present(exprs, value);
            let couplings = &exact.couplings;
            let dependent = dependents::report(model, exprs, &mut field, causality, couplings, &mut present);
            (exact.map(to_f64), dependent)
        });
        // Numbers with very many digits are left to doubles; results of the field after it gave up are meaningless.
        if !field.exhausted() {
            return attempt.and_then(finite);
        }
    }
    let values = values
        .into_iter()
        .map(|(symbol, value)| (symbol, to_f64(&value)))
        .collect();
    let mut field = DoubleValues::new(values);
    let run = run_sharing_many(problem, exprs, &mut field, plan)?;
    let mut present = |exprs: &mut Exprs, field: &mut DoubleValues, value: &f64| field.present(exprs, value);
    let dependent = dependents::report(model, exprs, &mut field, causality, &run.couplings, &mut present);
    finite((run, dependent))
}

/// Rejects numbers beyond the range of doubles, which result from parameters of hundreds of digits.
fn finite(found: (Run<f64>, Vec<DependentStorage>)) -> Result<(Run<f64>, Vec<DependentStorage>), Failure> {
    let rows = found
        .0
        .rates
        .iter()
        .chain(found.0.outputs.iter().filter_map(|output| output.row.as_ref()));
    match rows.flatten().all(|entry| entry.1.is_finite()) {
        true => Ok(found),
        false => Err(Failure::Assembly(Obstacle::Value(Evaluated::NotFinite(None)))),
    }
}

/// Computes fully cancelled entries, or shared uncancelled ones with a note if the cancelled ones are too large or too many.
fn symbolic_run(
    problem: Problem<'_>,
    options: &Options,
    plan: &mut Plan,
    system: &mut StateSystem,
    links: &mut Links,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let Problem { model, causality, .. } = problem;
    let mut exprs = std::mem::take(&mut system.exprs);
    let is_crowded = EXPRESSIONS.is_exceeded(problem, &mut exprs, plan);
    system.exprs = exprs;
    options.go_on()?;
    if !is_crowded && cancelled_run(problem, options, plan, system, links, diagnostics)? {
        return Ok(());
    }
    options.go_on()?;
    let mut field = SharedArena::new(3, sampled(model, 3));
    let mut exprs = std::mem::take(&mut system.exprs);
    let attempt = match is_crowded {
        true => run_sharing(problem, &mut exprs, &mut field, plan),
        false => run(problem, &mut exprs, &mut field, plan, &[]),
    };
    system.exprs = exprs;
    let run = attempt?;
    matrices::symbolic(model, system, &run, &mut field, &mut Shortening::unread());
    system.starts.constraints =
        dependent_starts::constraints(model, causality, system, &run, links, &mut |exprs, value| {
            field.present(exprs, value)
        });
    if !field.is_cancelled() || matrices::is_too_long(system) {
        share(model, system, "cancelled", diagnostics);
    }
    Ok(())
}

/// Computes fully cancelled entries; returns false if these are too large.
fn cancelled_run(
    problem: Problem<'_>,
    options: &Options,
    plan: &mut Plan,
    system: &mut StateSystem,
    links: &mut Links,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<bool, Failure> {
    let Problem { model, causality, .. } = problem;
    let mut field =
        RationalFunctions::new(options.size_limit, RationalFunctions::DEFAULT_TERMS).until(&options.cancellation);
    let mut exprs = std::mem::take(&mut system.exprs);
    let attempt = run(problem, &mut exprs, &mut field, plan, &[]);
    system.exprs = exprs;
    let mut shortening = match &attempt {
        Ok(run) if options.readable => Shortening::new(true, run.rates.len() + run.outputs.len()),
        _ => Shortening::unread(),
    };
    match attempt {
        Ok(run) if matrices::symbolic(model, system, &run, &mut field, &mut shortening) => {
            let mut exprs = std::mem::take(&mut system.exprs);
            let mut present = |exprs: &mut Exprs, field: &mut RationalFunctions, value: &RationalFunction| {
                let id = field.present(exprs, value);
                shortening.of_lowest_terms(exprs, id)
            };
            let couplings = &run.couplings;
            system.dependent = dependents::report(model, &mut exprs, &mut field, causality, couplings, &mut present);
            system.exprs = exprs;
            system.starts.constraints =
                dependent_starts::constraints(model, causality, system, &run, links, &mut |exprs, value| {
                    field.present(exprs, value)
                });
            if matrices::is_too_long(system) {
                share(model, system, "written out", diagnostics);
            }
            Ok(true)
        }
        Ok(_) => Ok(false),
        // After it gives up, a field returns wrong results, and may report regular matrices as singular.
        Err(failure) if failure.is_too_large() || field.exhausted() => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Names the shared expressions of the equations, and reports that the equations are too large for some form.
fn share(model: &Model, system: &mut StateSystem, what: &str, diagnostics: &mut Vec<Diagnostic>) {
    matrices::share(system);
    let message =
        format!("the exact symbolic entries are too large to be {what}; the equations use shared subexpressions");
    diagnostics.push(
        Diagnostic::information(Code::LGM0503, message)
            .label(model.heading.span, "this model")
            .help("use `--numeric` for numbers, or fix some parameters with `const`"),
    );
}
