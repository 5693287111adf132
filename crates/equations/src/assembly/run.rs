//! One run of reduction and assembly over one field, and the allowed number of entries of its rows.

use crate::assembly::assemble::{Assembled, Columns, assemble};
use crate::assembly::outputs::{OutputRow, Plan, integrands, outputs};
use crate::assembly::problem::Problem;
use crate::assembly::refusal::Failure;
use crate::assembly::states::change_states;
use crate::causality::elimination::Row;
use crate::causality::structure::measure_columns;
use crate::index_reduction::{Refusal, Solve, reduce};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolKind};
use lgm_algebra::{Field, FromExpression, Sampled, Sharing};
use lgm_model::{Law, Model};

/// One run over one field: rows of all state rates and outputs.
#[derive(Clone, Debug)]
pub(crate) struct Run<E> {
    pub(crate) columns: Columns,
    /// Rates of all states, with those of added states last.
    pub(crate) rates: Vec<Row<E>>,
    pub(crate) outputs: Vec<OutputRow<E>>,
    /// For each added state, the output that gives it its name.
    pub(crate) added: Vec<usize>,
    pub(crate) constants: Vec<ExprId>,
    pub(crate) constant_rates: Vec<ExprId>,
    pub(crate) measures: Vec<Row<E>>,
    /// `z_d` over the columns.
    pub(crate) dependent_co_energy: Vec<Row<E>>,
    /// `z_d = S_di z_i + S_du u` over the columns of reduction.
    pub(crate) couplings: Vec<Row<E>>,
    /// Rows that rates, measures, outputs and later shared rows refer to by the columns `SHARED + k`.
    pub(crate) shared: Vec<Row<E>>,
}

/// Reduces and assembles over one field; `extra` columns of the junction structure are measured in addition to the
/// model's measurements.
pub(crate) fn run<F: Field + FromExpression>(
    problem: Problem<'_>,
    exprs: &mut Exprs,
    field: &mut F,
    plan: &mut Plan,
    extra: &[u32],
) -> Result<Run<F::Element>, Failure> {
    run_with(problem, exprs, field, plan, extra, Sharing::nothing(), usize::MAX)
}

/// Does the same as [`run`], but shares long rows.
pub(crate) fn run_sharing<F: Field + FromExpression>(
    problem: Problem<'_>,
    exprs: &mut Exprs,
    field: &mut F,
    plan: &mut Plan,
) -> Result<Run<F::Element>, Failure> {
    run_with(problem, exprs, field, plan, &[], Sharing::beyond(LONG), usize::MAX)
}

/// Does the same as [`run`], with long rows shared or their number limited; `longest` is the maximum total number of
/// entries of the rates.
fn run_with<F: Field + FromExpression>(
    problem: Problem<'_>,
    exprs: &mut Exprs,
    field: &mut F,
    plan: &mut Plan,
    extra: &[u32],
    sharing: Sharing<F::Element>,
    longest: usize,
) -> Result<Run<F::Element>, Failure> {
    let Problem {
        model,
        graph,
        causality,
        states,
    } = problem;
    let signed = measure_columns(model, graph, &causality.structure);
    let mut wanted: Vec<u32> = signed.iter().map(|signed| signed.column).collect();
    wanted.extend(extra);
    let mut reduced = reduce(model, causality, field, &wanted, Solve::Rates, sharing, longest)?;
    for (row, signed) in reduced.wanted.iter_mut().zip(&signed) {
        if signed.negative {
            for entry in row.iter_mut() {
                entry.1 = field.neg(&entry.1);
            }
        }
    }
    let mut assembled: Assembled<F::Element> = assemble(model, exprs, field, &reduced, integrands(model))?;
    change_states(model, field, &reduced, &mut assembled, states).map_err(Failure::States)?;
    let found = outputs(model, exprs, field, &assembled, problem.causality, plan)?;
    if field.exhausted() {
        return Err(Failure::Reduction(Refusal::TooLarge));
    }
    let mut rates = assembled.rates;
    let mut added = Vec::new();
    for (row, output) in found.added {
        rates.push(row);
        added.push(output);
    }
    Ok(Run {
        columns: assembled.columns,
        rates,
        outputs: found.rows,
        added,
        constants: assembled.constants,
        constant_rates: assembled.constant_rates,
        measures: assembled.measures,
        dependent_co_energy: assembled.dependent_co_energy,
        couplings: reduced.dependent_co_energy,
        shared: assembled.shared,
    })
}

/// The maximum number of entries of written rows. Beyond this, rows of more than [`LONG`] entries become assignments.
pub(crate) struct Extent {
    /// The number of entries of all intermediate rows: a base, and an amount per port.
    entries: (usize, usize),
    /// The number of entries of the rates: a base, and an amount per state.
    rates: (usize, usize),
}

/// The extent for numbers: a full matrix of [`lgm_emit`]'s 500 states, and a constant number of entries per row.
const NUMBERS: Extent = Extent {
    entries: (4_000_000, 40),
    rates: (250_000, 64),
};
/// The extent for expressions: they take a hundred times longer than numbers to form and to print, and large ones are unreadable.
pub(crate) const EXPRESSIONS: Extent = Extent {
    entries: (100_000, 40),
    rates: (6_000, 24),
};
/// Rows with at most this many entries are never shared.
const LONG: usize = 8;

impl Extent {
    /// Does the same as [`run`], or fails if rows would have too many entries.
    pub(crate) fn run<F: Field + FromExpression>(
        &self,
        problem: Problem<'_>,
        exprs: &mut Exprs,
        field: &mut F,
        plan: &mut Plan,
    ) -> Result<Run<F::Element>, Failure> {
        let Problem { model, causality, .. } = problem;
        let sharing = Sharing::up_to(self.entries.0 + self.entries.1 * model.graph.ports.len());
        let rates = self.rates.0 + self.rates.1 * causality.independent.len();
        run_with(problem, exprs, field, plan, &[], sharing, rates)
    }

    /// Returns true if rows can be shared and would otherwise have too many entries. The prime field answers this quickly.
    pub(crate) fn is_exceeded(&self, problem: Problem<'_>, exprs: &mut Exprs, plan: &mut Plan) -> bool {
        let states = problem.causality.independent.len();
        if !may_share(problem.model) || states * states <= self.rates.0 + self.rates.1 * states {
            return false;
        }
        let found = self.run(problem, exprs, &mut Sampled::new(4), plan);
        matches!(found, Err(Failure::Reduction(Refusal::TooManyEntries)))
    }
}

/// Does the same as [`run`] over a field of numbers; rows are shared if they would have too many entries.
pub(crate) fn run_sharing_many<F: Field + FromExpression>(
    problem: Problem<'_>,
    exprs: &mut Exprs,
    field: &mut F,
    plan: &mut Plan,
) -> Result<Run<F::Element>, Failure> {
    if !may_share(problem.model) {
        return run(problem, exprs, field, plan, &[]);
    }
    match NUMBERS.run(problem, exprs, field, plan) {
        Err(Failure::Reduction(Refusal::TooManyEntries)) => run_sharing(problem, exprs, field, plan),
        other => other,
    }
}

/// Returns true if a source depends on measured variables or states.
pub(crate) fn is_controlled(model: &Model) -> bool {
    let sources = model.graph.elements.iter().filter_map(|element| match &element.law {
        Law::Source { values, .. } => Some(values),
        _ => None,
    });
    let values: Vec<ExprId> = sources.flatten().copied().collect();
    let symbols = model.exprs.symbols_of(&values);
    let mut kinds = symbols.iter().map(|symbol| model.exprs.symbol_info(*symbol).kind);
    kinds.any(|kind| matches!(kind, SymbolKind::Measure | SymbolKind::State))
}

/// Returns true if long rows may be shared: no later differentiation or comparison needs their entries, unlike values
/// of controlled sources and the arguments of `int(..)` and `der(..)` of an output.
fn may_share(model: &Model) -> bool {
    let roots: Vec<ExprId> = model.outputs.iter().map(|output| output.value).collect();
    let rates = model
        .exprs
        .reachable(&roots)
        .into_iter()
        .any(|id| matches!(model.exprs.node(id), Node::Call(Function::Int | Function::Der, _)));
    !rates && !is_controlled(model)
}

impl<E> Run<E> {
    /// Converts the run to another field.
    pub(crate) fn map<T>(self, mut change: impl FnMut(&E) -> T) -> Run<T> {
        let mut rows = |rows: Vec<Row<E>>| -> Vec<Row<T>> {
            rows.iter()
                .map(|row| row.iter().map(|(column, value)| (*column, change(value))).collect())
                .collect()
        };
        let (rates, measures) = (rows(self.rates), rows(self.measures));
        let (dependent_co_energy, couplings) = (rows(self.dependent_co_energy), rows(self.couplings));
        let shared = rows(self.shared);
        let outputs = self
            .outputs
            .into_iter()
            .map(|output| OutputRow {
                row: output
                    .row
                    .map(|row| row.iter().map(|(column, value)| (*column, change(value))).collect()),
                rest: output.rest,
                starts: output
                    .starts
                    .iter()
                    .map(|(value, state)| (change(value), *state))
                    .collect(),
            })
            .collect();
        Run {
            columns: self.columns,
            rates,
            outputs,
            added: self.added,
            constants: self.constants,
            constant_rates: self.constant_rates,
            measures,
            dependent_co_energy,
            couplings,
            shared,
        }
    }
}
