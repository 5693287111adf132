//! The inputs and input rates that the equations will depend on, found from the structure before any equation is written.
//!
//! Causality identifies the storage that depends on sources. One reduction over a field that recognises zeros gives the
//! dependencies of each rate and of each output. A nonlinear model is followed through the definitions that its
//! equations would be made of.

use crate::assembly::linearity;
use crate::assembly::outputs::{Plan, without_nonlinear_outputs};
use crate::assembly::problem::Problem;
use crate::assembly::run::{Run, run_sharing_many};
use crate::bond::BondGraph;
use crate::causality::Request;
use crate::causality::elimination::Row;
use crate::formulation::frame;
use crate::index_reduction::read::{Dependence, Read};
use crate::nonlinear;
use crate::options::Options;
use crate::parameter_values::sampled;
use crate::state_selection::decision::decide;
use crate::state_selection::retain::retained;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_algebra::{SHARED, Sampled};
use lgm_model::Model;
use lgm_source::diagnostic::has_errors;
use rustc_hash::FxHashSet;

/// Returns the inputs on which the equations of a model depend; `None` if the equations cannot be written.
pub(crate) fn dependence(model: &Model, graph: &BondGraph, options: &Options) -> Option<Dependence> {
    let linear_model = match options.linear_outputs {
        true => without_nonlinear_outputs(model, &mut Vec::new()),
        false => None,
    };
    let model = linear_model.as_ref().unwrap_or(model);
    options.go_on().ok()?;
    let retain = retained(model, options, &mut Vec::new());
    if linearity::applies(model) {
        return nonlinear::dependence(model, options, &retain);
    }
    let request = Request::retaining(retain);
    let (causality, general, found) = decide(model, graph, &request);
    if has_errors(&found) {
        return None;
    }
    let problem = Problem {
        model,
        graph,
        causality: &causality,
        states: options.state_request(),
    };
    let mut field = match general {
        true => Sampled::new(2),
        false => sampled(model, 2),
    };
    let mut exprs = model.exprs.clone();
    let run = run_sharing_many(problem, &mut exprs, &mut field, &mut Plan::default()).ok()?;
    let system = frame::frame(model, exprs, &causality, problem.states, &run.added, &mut Vec::new());
    let rows = Rows { model, run: &run };
    let outputs = model.outputs.iter().zip(&run.outputs);
    Some(Dependence {
        is_linear: run.outputs.iter().all(|output| output.row.is_some()),
        outputs: outputs
            .map(|(output, found)| {
                let read = match &found.row {
                    Some(row) => rows.read(row),
                    None => rows.behind(&system.exprs, found.rest),
                };
                (output.name.clone(), read)
            })
            .collect(),
        states: system
            .states
            .into_iter()
            .zip(run.rates.iter().map(|row| rows.read(row)))
            .collect(),
    })
}

/// The rows of linear equations.
struct Rows<'a> {
    model: &'a Model,
    run: &'a Run<u64>,
}

impl Rows<'_> {
    fn read(&self, row: &Row<u64>) -> Read {
        let columns = self.run.columns;
        let inputs = columns.input(0)..columns.input_rate(0);
        let rates = columns.input_rate(0)..columns.constant(0);
        let mut read = Read::default();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut open: Vec<u32> = row.iter().map(|entry| entry.0).collect();
        while let Some(column) = open.pop() {
            if inputs.contains(&column) {
                read.values.insert((column - inputs.start) as usize);
            } else if rates.contains(&column) {
                read.rates.insert((column - rates.start) as usize);
            } else if column >= SHARED && seen.insert(column) {
                let shared = &self.run.shared[(column - SHARED) as usize];
                open.extend(shared.iter().map(|entry| entry.0));
            }
        }
        read
    }

    /// Returns the inputs that an output depends on if it is nonlinear in the variables of the graph.
    fn behind(&self, exprs: &Exprs, value: ExprId) -> Read {
        let symbols: FxHashSet<SymbolId> = exprs.symbols_of(&[value]).into_iter().collect();
        let measures = self.model.measures.iter().zip(&self.run.measures);
        let measures = measures.filter(|(measure, _)| symbols.contains(&measure.0));
        let mut read = Read::default();
        for found in measures.map(|(_, row)| self.read(row)) {
            read.values.extend(found.values);
            read.rates.extend(found.rates);
        }
        let inputs = self.model.inputs.iter().enumerate();
        let inputs = inputs.filter(|(_, input)| symbols.contains(&input.symbol));
        read.values.extend(inputs.map(|(at, _)| at));
        read
    }
}
