//! Outputs as rows: measured variables, `der(..)`, and `int(..)` with the states that are added for it (language 9).

use crate::assembly::assemble::{Assembled, is_variable};
use crate::assembly::holders::{Held, Holders};
use crate::causality::Causality;
use crate::causality::elimination::{Row, RowSum};
use lgm_algebra::expr::{Affine, Evaluated, ExprId, Exprs, Function, Node};
use lgm_algebra::{Field, FromExpression};
use lgm_model::Model;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// One output over the columns of the assembled equations.
#[derive(Clone, Debug)]
pub(crate) struct OutputRow<E> {
    /// Its row; none if the output is not affine.
    pub(crate) row: Option<Row<E>>,
    /// The terms without variables, in parameters and time.
    pub(crate) rest: ExprId,
    /// Integrals that a storage element holds count from 0, but its state from its initial value: `- factor * start(state)`.
    pub(crate) starts: Vec<(E, usize)>,
}

/// Outputs, and the rates of the states added for them.
#[derive(Clone, Debug)]
pub(crate) struct Outputs<E> {
    /// One row per output.
    pub(crate) rows: Vec<OutputRow<E>>,
    /// Rates of added states, each with the index of the output that it is named after.
    pub(crate) added: Vec<(Row<E>, usize)>,
}

/// The error of an output.
#[derive(Clone, Debug)]
pub(crate) enum OutputFault {
    /// The index of an output that would need the second derivative of an input.
    SecondRate(usize),
    /// The index of an output with a coefficient that cannot be computed.
    Value(usize, Evaluated),
}

fn is_call(exprs: &Exprs, id: ExprId) -> Option<(Function, ExprId)> {
    match exprs.node(id) {
        Node::Call(function @ (Function::Int | Function::Der), list) => Some((*function, list[0])),
        _ => None,
    }
}

fn is_atom(exprs: &Exprs, id: ExprId) -> bool {
    is_call(exprs, id).is_some() || is_variable(exprs, id)
}

/// Returns an output's value as an affine form of variables, `int(..)` and `der(..)`; `None` if it is not affine, or if
/// a coefficient changes with time.
fn affine_form(exprs: &mut Exprs, value: ExprId) -> Option<Affine> {
    let form = exprs.affine(value, &is_atom)?;
    let is_steady = !form.terms.iter().any(|term| exprs.changes_with_time(term.1));
    is_steady.then_some(form)
}

/// Returns true if an output's value is affine in the variables of the equations, with constant coefficients.
pub(crate) fn is_affine(exprs: &mut Exprs, value: ExprId) -> bool {
    affine_form(exprs, value).is_some()
}

/// Returns true if the arguments of `int(..)` and `der(..)` in all outputs are linear in variables, and these calls
/// occur in linear outputs.
pub(crate) fn integrands_are_linear(model: &Model) -> bool {
    let mut arena = None;
    model.outputs.iter().all(|output| {
        if !integrand_inside(&model.exprs, output.value) {
            return true;
        }
        let exprs: &mut Exprs = arena.get_or_insert_with(|| model.exprs.clone());
        affine_form(exprs, output.value)
            .is_some_and(|form| form.terms.iter().all(|(atom, _)| is_linear_atom(exprs, *atom)))
    })
}

/// Returns true if an atom is a variable, or `int(..)` or `der(..)` of an expression linear in variables and their rates.
fn is_linear_atom(exprs: &mut Exprs, atom: ExprId) -> bool {
    let Some((_, inner)) = is_call(exprs, atom) else {
        return true;
    };
    let is_rate = |exprs: &Exprs, atom: ExprId| matches!(is_call(exprs, atom), Some((Function::Der, _)));
    affine_form(exprs, inner).is_some_and(|form| {
        exprs.is_zero(form.rest)
            && form
                .terms
                .iter()
                .all(|(atom, _)| is_variable(exprs, *atom) || is_rate(exprs, *atom) && is_linear_atom(exprs, *atom))
    })
}

/// Returns the maximum number of states added for outputs: the number of distinct integrands.
pub(crate) fn integrands(model: &Model) -> usize {
    let roots: Vec<ExprId> = model.outputs.iter().map(|output| output.value).collect();
    model
        .exprs
        .reachable(&roots)
        .into_iter()
        .filter(|id| matches!(is_call(&model.exprs, *id), Some((Function::Int, _))))
        .count()
}

/// For each integrand, the states that hold its integral; none if a state is added. Decided once, over the prime
/// field, so that symbolic and numeric equations have the same states.
pub(crate) type Plan = FxHashMap<ExprId, Option<Held>>;

/// Writes the outputs over the assembled columns. Without a plan, integrals are searched for and entered in the plan.
pub(crate) fn outputs<F: Field + FromExpression>(
    model: &Model,
    exprs: &mut Exprs,
    field: &mut F,
    assembled: &Assembled<F::Element>,
    causality: &Causality,
    plan: &mut Plan,
) -> Result<Outputs<F::Element>, OutputFault> {
    let mut added: Vec<(Row<F::Element>, usize)> = Vec::new();
    // The added state of each integrand, by index in the list of added states.
    let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
    let mut holders = None;
    let mut rows = Vec::with_capacity(model.outputs.len());
    for (index, output) in model.outputs.iter().enumerate() {
        let Some(form) = affine_form(exprs, output.value) else {
            rows.push(OutputRow {
                row: None,
                rest: output.value,
                starts: Vec::new(),
            });
            continue;
        };
        let mut row = RowSum::default();
        let mut starts = Vec::new();
        for (atom, coefficient) in form.terms {
            let coefficient = field
                .from_expression(exprs, coefficient)
                .map_err(|fault| OutputFault::Value(index, fault))?;
            let part = match is_call(exprs, atom) {
                None => assembled.variable_row(exprs, field, atom),
                Some((Function::Der, inner)) => rate_row(exprs, field, assembled, inner, index)?,
                Some((_, inner)) => {
                    let known = places.get(&inner).copied();
                    let integrand = inner_row(exprs, field, assembled, inner, index)?;
                    let held = plan.entry(inner).or_insert_with(|| {
                        let holders = holders.get_or_insert_with(|| Holders::new(model, causality, assembled));
                        holders.of(field, assembled, &integrand)
                    });
                    match (known, held) {
                        (Some(position), _) => vec![(assembled.columns.added(position), field.one())],
                        (None, Some(held)) => {
                            let parts = held.parts(field, assembled, &integrand);
                            let parts = parts.map_err(|fault| OutputFault::Value(index, fault))?;
                            for (state, factor) in &parts {
                                starts.push((field.mul(&coefficient, factor), *state as usize));
                            }
                            parts
                        }
                        (None, None) => {
                            places.insert(inner, added.len());
                            added.push((integrand, index));
                            vec![(assembled.columns.added(added.len() - 1), field.one())]
                        }
                    }
                }
            };
            row.add(field, &part, &coefficient);
        }
        rows.push(OutputRow {
            row: Some(row.total(field)),
            rest: form.rest,
            starts,
        });
    }
    Ok(Outputs { rows, added })
}

fn integrand_inside(exprs: &Exprs, root: ExprId) -> bool {
    exprs
        .reachable(&[root])
        .into_iter()
        .any(|id| is_call(exprs, id).is_some())
}

/// Returns the row of the argument of `int(..)` or `der(..)`.
fn inner_row<F: Field + FromExpression>(
    exprs: &mut Exprs,
    field: &mut F,
    assembled: &Assembled<F::Element>,
    inner: ExprId,
    index: usize,
) -> Result<Row<F::Element>, OutputFault> {
    let Affine { terms, .. } = affine_form(exprs, inner)
        .expect("invariant: models with nonlinear integrands are formulated in the room `nonlinear`");
    let mut sum = RowSum::default();
    for (atom, coefficient) in terms {
        let coefficient = field
            .from_expression(exprs, coefficient)
            .map_err(|fault| OutputFault::Value(index, fault))?;
        let part = match is_call(exprs, atom) {
            Some((_, inner)) => rate_row(exprs, field, assembled, inner, index)?,
            None => assembled.variable_row(exprs, field, atom),
        };
        sum.add(field, &part, &coefficient);
    }
    Ok(sum.total(field))
}

/// Returns the row of `der(inner)`, which may be a rate of a rate as long as it contains no second derivative of an input.
fn rate_row<F: Field + FromExpression>(
    exprs: &mut Exprs,
    field: &mut F,
    assembled: &Assembled<F::Element>,
    inner: ExprId,
    index: usize,
) -> Result<Row<F::Element>, OutputFault> {
    let row = inner_row(exprs, field, assembled, inner, index)?;
    assembled
        .rate_of(field, &row)
        .map_err(|_| OutputFault::SecondRate(index))
}

/// Returns the model with only its linear outputs and without plots of the others; `None` if all outputs are linear.
pub(crate) fn without_nonlinear_outputs(model: &Model, diagnostics: &mut Vec<Diagnostic>) -> Option<Model> {
    let mut linear = model.clone();
    linear.outputs.clear();
    for output in &model.outputs {
        if is_affine(&mut linear.exprs, output.value) {
            linear.outputs.push(output.clone());
        } else {
            if let Some(experiment) = &mut linear.experiment {
                let is_entry = |name: &str| {
                    output
                        .name
                        .strip_prefix(name)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
                };
                experiment.plot.retain(|(name, _)| !is_entry(name));
            }
            diagnostics.push(
                Diagnostic::warning(
                    Code::LGM0505,
                    format!("output `{}` is nonlinear and is omitted", output.name),
                )
                .label(output.span, "a product of variables, or a function of one")
                .help("use outputs that are linear in efforts, flows, across and through variables"),
            );
        }
    }
    (linear.outputs.len() < model.outputs.len()).then_some(linear)
}
