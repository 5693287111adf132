//! Translation validation (design 2.9): at random points the emitted equations must satisfy every equation of the flat
//! graph, and the power over all ports must add up to zero.
//!
//! The emitted expressions are evaluated as any user of the equations would evaluate them. Every variable of the flat
//! graph is then computed in doubles from the same states and inputs, the rates of storage from the *emitted* derivatives, and put into
//! each junction, coupler, storage, dissipator and source equation.

use super::assemble::Columns;
use super::formulate::{Run, decide, run};
use super::outputs::Plan;
use super::refusal::Failure;
use super::states::StateRequest;
use super::system::StateSystem;
use crate::algebra::{DoubleValues, FromExpression, PrimeField};
use crate::bond::BondGraph;
use crate::causality::elimination::Row;
use crate::causality::structure::port_column;
use crate::causality::{Causality, Request};
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{Dissipator, ElementId, Law, Matrix, Model, PortId, StorageForm, Variable};
use crate::expr::{ExprId, Function, Node, SymbolId, to_f64};
use crate::reduce::Refusal;
use crate::source::Span;
use rustc_hash::FxHashMap;

/// The largest residual, relative to the terms of its equation, that still counts as rounding.
const TOLERANCE: f64 = 1e-9;

/// What verification found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Random points that were tried.
    pub points: usize,
    /// Equations of the flat graph that were checked at each point.
    pub equations: usize,
    /// The largest relative residual of an equation.
    pub residual: f64,
    /// The largest relative sum of the power over all ports.
    pub power: f64,
    /// One error for each kind of failure.
    pub diagnostics: Vec<Diagnostic>,
}

impl Verification {
    /// What to tell the user: the failures, or what was checked.
    pub fn into_diagnostics(self, model: &Model) -> Vec<Diagnostic> {
        if !self.diagnostics.is_empty() || self.points == 0 {
            return self.diagnostics;
        }
        vec![
            Diagnostic::information("LGM0712", format!("verified: the equations of `{}` hold", model.name))
                .label(
                    model.span,
                    format!(
                        "all {} equations of its flat graph are satisfied at {} random points",
                        self.equations, self.points
                    ),
                )
                .note(format!(
                    "largest residual {:.1e} of the largest term; power over all ports adds up to {:.1e} of its size",
                    self.residual, self.power
                )),
        ]
    }
}

/// Verifies a state system against the flat graph that it came from.
///
/// `retain` and `states` must be those that the system was made with. Symbolic equations are checked at the given
/// parameter values and at two random sets around them; numeric ones at the given values.
pub fn verify(
    model: &Model,
    graph: &BondGraph,
    system: &StateSystem,
    retain: &[ElementId],
    states: StateRequest,
) -> Verification {
    let mut result = Verification::default();
    let request = Request {
        retain: retain.to_vec(),
    };
    let (causality, general, _) = decide(model, graph, &request);
    let sets: u64 = if system.symbolic.is_some() && general { 3 } else { 1 };
    for set in 0..sets {
        let values = parameter_set(model, set);
        let mut point = match Point::new(model, graph, &causality, system, states, values, set) {
            Ok(point) => point,
            Err(failure) => {
                if set == 0 {
                    result.diagnostics.push(failure.diagnostic(model));
                }
                continue;
            }
        };
        point.check(&mut result);
        result.points += 1;
        if !result.diagnostics.is_empty() {
            break;
        }
    }
    result
}

fn uniform(key: u64, seed: u64) -> f64 {
    PrimeField.sample(key, seed) as f64 / PrimeField::MODULUS as f64
}

/// Parameter values: those given, or those given times one random factor a parameter, derived ones recomputed.
fn parameter_set(model: &Model, set: u64) -> FxHashMap<SymbolId, f64> {
    let mut values: FxHashMap<SymbolId, f64> = FxHashMap::default();
    let mut derived = Vec::new();
    for (index, parameter) in model.parameters.iter().enumerate() {
        let factor = if set == 0 {
            1.0
        } else {
            0.6 + 0.8 * uniform(index as u64, set + 10)
        };
        for entry in &parameter.entries {
            values.insert(entry.symbol, to_f64(&entry.value) * factor);
            if let Some(id) = entry.derived {
                derived.push((entry.symbol, id));
            }
        }
    }
    // Derived parameters may depend on each other in any order of declaration; each pass settles at least one more.
    for _ in 0..derived.len() {
        let mut changed = false;
        for (symbol, id) in &derived {
            if let Ok(list) = model
                .exprs
                .evaluate_f64(&[*id], 0.0, &|symbol| values.get(&symbol).copied())
                && values.insert(*symbol, list[0]) != Some(list[0])
            {
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    values
}

/// Everything at one point: parameters, states, inputs, and all variables of the flat graph.
struct Point<'a> {
    model: &'a Model,
    causality: &'a Causality,
    field: DoubleValues,
    time: f64,
    /// Values of structure columns; NaN where a column is not determined.
    values: Vec<f64>,
    /// Their rates, from the emitted derivatives; NaN where they would need a second rate of an input.
    rates: Vec<f64>,
    emitted_outputs: Vec<f64>,
    symbols: FxHashMap<SymbolId, f64>,
    /// Values of the model's measured variables.
    measured: FxHashMap<SymbolId, f64>,
}

impl<'a> Point<'a> {
    fn new(
        model: &'a Model,
        graph: &BondGraph,
        causality: &'a Causality,
        system: &'a StateSystem,
        states: StateRequest,
        parameters: FxHashMap<SymbolId, f64>,
        set: u64,
    ) -> Result<Point<'a>, Failure> {
        let time = 0.1 + uniform(1, set + 20);
        let mut symbols = parameters.clone();
        symbols.insert(system.time, time);
        let spread = |key: u64| 2.0 * uniform(key, set + 30) - 1.0;
        for (k, state) in system.states.iter().enumerate() {
            symbols.insert(state.symbol, spread(3 * k as u64));
        }
        for (k, input) in system.inputs.iter().enumerate() {
            symbols.insert(input.symbol, spread(3 * k as u64 + 1));
            symbols.insert(system.input_rates[k], spread(3 * k as u64 + 2));
        }
        let evaluate = |symbols: &FxHashMap<SymbolId, f64>, roots: &[ExprId]| {
            system
                .exprs
                .evaluate_f64(roots, time, &|symbol| symbols.get(&symbol).copied())
                .map_err(|fault| Failure::Assembly(super::assemble::Obstacle::Value(fault)))
        };
        for assignment in &system.assignments {
            let value = evaluate(&symbols, &[assignment.value])?[0];
            symbols.insert(assignment.symbol, value);
        }
        let derivatives = evaluate(&symbols, &system.derivatives)?;
        let emitted_outputs = evaluate(&symbols, &system.output_values)?;

        let mut field = DoubleValues::new(parameters.clone());
        let (wanted, found) = flat_run(model, graph, causality, &mut field, states)?;
        let full = Full::new(system, &found.0, &symbols, &derivatives, &found.1, time);
        let found = found.0;
        let count = causality.structure.columns;
        let (mut values, mut rates) = (vec![f64::NAN; count], vec![f64::NAN; count]);
        let first = model.measures.len();
        for (column, row) in wanted.iter().zip(&found.measures[first..]) {
            values[*column as usize] = full.value(row);
            rates[*column as usize] = full.rate(row);
        }
        let measured = model
            .measures
            .iter()
            .zip(&found.measures)
            .map(|(entry, row)| (entry.0, full.value(row)))
            .collect();
        Ok(Point {
            model,
            causality,
            field,
            time,
            values,
            rates,
            emitted_outputs,
            symbols,
            measured,
        })
    }

    fn check(&mut self, result: &mut Verification) {
        let mut worst: Vec<(f64, String, Span)> = Vec::new();
        let mut count = 0;
        let mut note = |terms: &[f64], what: &dyn Fn() -> (String, Span)| {
            if terms.iter().any(|term| term.is_nan()) {
                return;
            }
            count += 1;
            let scale: f64 = terms.iter().map(|term| term.abs()).fold(0.0, f64::max);
            let sum: f64 = terms.iter().sum();
            let residual = if scale == 0.0 { 0.0 } else { sum.abs() / scale };
            let (text, span) = if residual > TOLERANCE {
                what()
            } else {
                (String::new(), self.model.span)
            };
            worst.push((residual, text, span));
        };
        let rows = self
            .causality
            .structure
            .rows_in(&mut self.field, |field, id| {
                field.from_expression(&self.model.exprs, id)
            })
            .unwrap_or_default();
        for row in &rows {
            let terms: Vec<f64> = row
                .iter()
                .map(|(column, value)| value * self.values[*column as usize])
                .collect();
            note(&terms, &|| ("a junction or coupler".to_string(), self.model.span));
        }
        let mut power = Vec::new();
        for (index, element) in self.model.elements.iter().enumerate() {
            let id = ElementId(index as u32);
            let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
            for equation in 0..ports.len() {
                let terms = match &element.law {
                    Law::Coupler { .. } => continue,
                    law => law_terms(
                        self.model,
                        law,
                        &ports,
                        equation,
                        &mut self.field,
                        &self.values,
                        &self.rates,
                    ),
                };
                let terms = match (&element.law, terms) {
                    (Law::Source { given, values }, _) => {
                        let wanted = self.graph_value(values[equation]);
                        vec![self.values[port_column(ports[equation], *given) as usize], -wanted]
                    }
                    (_, terms) => terms,
                };
                note(&terms, &|| {
                    (
                        format!("the law of `{}`", self.model.element_name(id)),
                        self.model.element_span(id),
                    )
                });
            }
            if !matches!(element.law, Law::Coupler { .. }) {
                for port in &ports {
                    let effort = self.values[port_column(*port, Variable::Effort) as usize];
                    let flow = self.values[port_column(*port, Variable::Flow) as usize];
                    power.push(effort * flow);
                }
            }
        }
        for (index, output) in self.model.outputs.iter().enumerate() {
            if !holds_rate_or_integral(self.model, output.value) {
                let value = self.graph_value(output.value);
                note(&[value, -self.emitted_outputs[index]], &|| {
                    (format!("output `{}`", output.name), output.span)
                });
            }
        }
        let scale: f64 = power.iter().map(|term| term.abs()).sum();
        let balance = if scale == 0.0 {
            0.0
        } else {
            power.iter().sum::<f64>().abs() / scale
        };
        if balance > TOLERANCE {
            worst.push((balance, "the power balance over all ports".to_string(), self.model.span));
        }
        result.equations = count;
        result.power = result.power.max(balance);
        for (residual, text, span) in worst {
            result.residual = result.residual.max(residual);
            if residual > TOLERANCE && result.diagnostics.len() < 10 {
                result.diagnostics.push(
                    Diagnostic::error("LGM0711", format!("the equations do not satisfy {text}"))
                        .label(span, format!("off by {residual:.1e} of its largest term"))
                        .help("this is a fault of lgm, not of the model: please report it with the model"),
                );
            }
        }
    }

    /// The value of an expression over measured variables, from the variables of the flat graph.
    fn graph_value(&self, id: ExprId) -> f64 {
        let value = |symbol: SymbolId| {
            self.measured
                .get(&symbol)
                .or_else(|| self.symbols.get(&symbol))
                .copied()
        };
        self.model
            .exprs
            .evaluate_f64(&[id], self.time, &value)
            .map_or(f64::NAN, |list| list[0])
    }
}

/// Rows of all columns of the structure that are determined, behind those of the model's own measures.
fn flat_run(
    model: &Model,
    graph: &BondGraph,
    causality: &Causality,
    field: &mut DoubleValues,
    states: StateRequest,
) -> Result<(Vec<u32>, (Run<f64>, crate::expr::Exprs)), Failure> {
    let mut wanted: Vec<u32> = (0..causality.structure.columns as u32)
        .filter(|column| !causality.free.contains(column))
        .collect();
    loop {
        let mut exprs = model.exprs.clone();
        let found = run(
            model,
            graph,
            causality,
            &mut exprs,
            field,
            states,
            &mut Plan::default(),
            &wanted,
        );
        match found {
            // A circulating flow of an ideal loop reaches this column: nothing can be said of it.
            Err(Failure::Reduction(Refusal::Undetermined(index))) if index >= model.measures.len() => {
                wanted.remove(index - model.measures.len());
            }
            found => return found.map(|found| (wanted, (found, exprs))),
        }
    }
}

/// The values and rates of the columns of an assembled run.
struct Full {
    columns: Columns,
    values: Vec<f64>,
    rates: Vec<f64>,
}

impl Full {
    fn new(
        system: &StateSystem,
        found: &Run<f64>,
        symbols: &FxHashMap<SymbolId, f64>,
        derivatives: &[f64],
        exprs: &crate::expr::Exprs,
        time: f64,
    ) -> Full {
        let columns = found.columns;
        let mut values: Vec<f64> = system.states.iter().map(|state| symbols[&state.symbol]).collect();
        let mut rates = derivatives.to_vec();
        values.resize(columns.states(), 0.0);
        rates.resize(columns.states(), 0.0);
        values.extend(system.inputs.iter().map(|input| symbols[&input.symbol]));
        rates.extend(system.input_rates.iter().map(|symbol| symbols[symbol]));
        values.extend(system.input_rates.iter().map(|symbol| symbols[symbol]));
        rates.resize(values.len(), f64::NAN);
        let evaluate = |list: &[ExprId]| {
            exprs
                .evaluate_f64(list, time, &|symbol| symbols.get(&symbol).copied())
                .unwrap_or_else(|_| vec![f64::NAN; list.len()])
        };
        let constant_rates = evaluate(&found.constant_rates);
        values.extend(evaluate(&found.constants));
        rates.extend(&constant_rates);
        values.extend(&constant_rates);
        // The second rate of a constant is zero where its rate is the number zero.
        rates.extend(
            constant_rates
                .iter()
                .map(|rate| if *rate == 0.0 { 0.0 } else { f64::NAN }),
        );
        Full { columns, values, rates }
    }

    fn value(&self, row: &Row<f64>) -> f64 {
        row.iter()
            .map(|(column, factor)| factor * self.values[*column as usize])
            .sum()
    }

    fn rate(&self, row: &Row<f64>) -> f64 {
        debug_assert!(row.last().is_none_or(|entry| entry.0 < self.columns.controlled(0)));
        row.iter()
            .map(|(column, factor)| factor * self.rates[*column as usize])
            .sum()
    }
}

/// Whether an output holds an `int(..)` or `der(..)`, whose value is no function of the graph's variables at one instant.
fn holds_rate_or_integral(model: &Model, id: ExprId) -> bool {
    model
        .exprs
        .reachable(&[id])
        .into_iter()
        .any(|id| matches!(model.exprs.node(id), Node::Call(Function::Int | Function::Der, _)))
}

/// The terms of one equation of a storage's or a dissipator's law, which add up to zero.
fn law_terms(
    model: &Model,
    law: &Law,
    ports: &[PortId],
    equation: usize,
    field: &mut DoubleValues,
    values: &[f64],
    rates: &[f64],
) -> Vec<f64> {
    let mut entry = |matrix: &Matrix, column: usize| {
        field
            .from_expression(&model.exprs, matrix.get(equation, column))
            .unwrap_or(f64::NAN)
    };
    let at = |list: &[f64], column: usize, variable: Variable| list[port_column(ports[column], variable) as usize];
    let columns = 0..ports.len();
    match law {
        Law::Storage { co_energy, value, form } => {
            let conjugate = co_energy.conjugate();
            match form {
                StorageForm::Direct => std::iter::once(at(values, equation, conjugate))
                    .chain(columns.map(|column| product(-entry(value, column), || at(rates, column, *co_energy))))
                    .collect(),
                StorageForm::Inverse => std::iter::once(at(rates, equation, *co_energy))
                    .chain(columns.map(|column| product(-entry(value, column), || at(values, column, conjugate))))
                    .collect(),
            }
        }
        Law::Dissipator(Dissipator::Resistance(matrix)) => std::iter::once(at(values, equation, Variable::Effort))
            .chain(columns.map(|column| product(-entry(matrix, column), || at(values, column, Variable::Flow))))
            .collect(),
        Law::Dissipator(Dissipator::Conductance(matrix)) => std::iter::once(at(values, equation, Variable::Flow))
            .chain(columns.map(|column| product(-entry(matrix, column), || at(values, column, Variable::Effort))))
            .collect(),
        Law::Dissipator(Dissipator::Implicit(efforts, flows)) => columns
            .clone()
            .map(|column| product(entry(efforts, column), || at(values, column, Variable::Effort)))
            .collect::<Vec<f64>>()
            .into_iter()
            .chain(columns.map(|column| product(entry(flows, column), || at(values, column, Variable::Flow))))
            .collect(),
        Law::Source { .. } | Law::Coupler { .. } => Vec::new(),
    }
}

/// A product that is 0 where the factor is, so that an entry of zero hides a value that is not known.
fn product(factor: f64, value: impl Fn() -> f64) -> f64 {
    if factor == 0.0 { 0.0 } else { factor * value() }
}
