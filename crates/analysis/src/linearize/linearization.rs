//! The system during linearisation: its right-hand sides, the operating point, and the diagnostics of both.

use crate::linearize::point::Point;
use lgm_algebra::expr::{ExprId, Gradient, GradientRow, Node, SymbolId};
use lgm_model::Model;
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// All right-hand sides, with assignments substituted.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    /// Derivatives, then outputs, then residuals.
    pub(crate) all: Vec<ExprId>,
    pub(crate) unknowns: Vec<SymbolId>,
}

impl Roots {
    pub(crate) fn of(system: &mut StateSystem) -> Roots {
        let mut all = system.equations.derivatives.clone();
        all.extend(&system.equations.output_values);
        all.extend(system.equations.residuals());
        let unknowns = system.equations.unknowns().collect();
        let mut values: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        for assignment in &system.equations.assignments {
            let value = system
                .exprs
                .substitute(&[assignment.value], |symbol| values.get(&symbol).copied());
            values.insert(assignment.symbol, value[0]);
        }
        let all = system.exprs.substitute(&all, |symbol| values.get(&symbol).copied());
        Roots { all, unknowns }
    }
}

/// The system, the point, the right-hand sides, and their diagnostics.
pub(crate) struct Linearization<'a> {
    pub(crate) model: &'a Model,
    pub(crate) system: StateSystem,
    pub(crate) point: Point,
    pub(crate) roots: Roots,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

pub(crate) type Fault = Box<Diagnostic>;

/// Returns true if an expression is the number zero.
pub(crate) fn is_zero_number(system: &StateSystem, id: ExprId) -> bool {
    matches!(system.exprs.node(id), Node::Number(_)) && system.exprs.is_zero(id)
}

impl Linearization<'_> {
    pub(crate) fn rows(&mut self, roots: &[ExprId], columns: &[SymbolId]) -> Result<Vec<GradientRow>, Fault> {
        let mut gradient = Gradient::new(&mut self.system.exprs, columns);
        let mut rows = Vec::with_capacity(roots.len());
        for (at, root) in roots.iter().enumerate() {
            match gradient.row(&mut self.system.exprs, *root) {
                Ok(row) => rows.push(row),
                Err(_) => {
                    let fault = Diagnostic::error(Code::LGM0706, format!("{} has no derivative", self.row_name(at)))
                        .label(self.model.heading.span, "in this model")
                        .help("declare the integral as a separate state: `state z = int(..);`");
                    return Err(Box::new(fault));
                }
            }
        }
        Ok(rows)
    }

    pub(crate) fn values_are_finite(&mut self) -> Result<(), Fault> {
        let values = self.evaluate(&self.roots.all);
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(row) => Err(Box::new(
                Diagnostic::error(
                    Code::LGM0706,
                    format!("{} has no value at this point", self.row_name(row)),
                )
                .label(self.model.heading.span, "in this model")
                .note(format!("at {}", self.state_words()))
                .help("choose another point with `--at`"),
            )),
        }
    }

    pub(crate) fn evaluate(&self, roots: &[ExprId]) -> Vec<f64> {
        let point = &self.point;
        self.system
            .exprs
            .evaluate_unchecked(roots, &|symbol| point.value(symbol))
    }

    /// Returns the states, the inputs, their rates, and the unknowns of loops.
    pub(crate) fn columns(&self) -> Vec<SymbolId> {
        let system = &self.system;
        let states = system.states.iter().map(|state| state.symbol);
        let inputs = system.inputs.iter().map(|input| input.symbol);
        let rates = system.input_rates.iter().copied();
        states
            .chain(inputs)
            .chain(rates)
            .chain(self.roots.unknowns.iter().copied())
            .collect()
    }

    pub(crate) fn name(&self, symbol: SymbolId) -> Arc<str> {
        self.system.exprs.symbol_info(symbol).name.clone()
    }

    /// Describes a root in words, with the element to which it belongs.
    pub(crate) fn row_name(&self, row: usize) -> String {
        let system = &self.system;
        let outputs = row.wrapping_sub(system.states.len());
        if let Some(state) = system.states.get(row) {
            if state.element == state.name {
                return format!("`der({})`", state.name);
            }
            return format!("`der({})` of `{}`", state.name, state.element);
        }
        match system.outputs.get(outputs) {
            Some(output) => format!("the output `{}`", output.name),
            None => {
                let unknown = self.roots.unknowns[outputs - system.outputs.len()];
                format!("the algebraic loop of `{}`", self.name(unknown))
            }
        }
    }

    /// Formats the first few states: `theta = 0, joint.w = 1`.
    pub(crate) fn state_words(&self) -> String {
        let states = &self.system.states;
        let shown = states.iter().take(8).map(|state| {
            let value = self.point.values.get(&state.symbol).copied().unwrap_or(f64::NAN);
            format!("{} = {}", state.name, six_digits(value))
        });
        let mut words: Vec<String> = shown.collect();
        if states.len() > words.len() {
            words.push(format!("and {} more", states.len() - words.len()));
        }
        match words.is_empty() {
            true => "the point".to_string(),
            false => words.join(", "),
        }
    }
}
