//! The equations of the flat graph, with values substituted.

use crate::assembly::problem::Problem;
use crate::causality::structure::port_column;
use crate::verification::equation::{Equation, Judged, Verdict};
use crate::verification::points::{Known, Symbols, holds_call};
use lgm_algebra::expr::{ExprId, SymbolId, to_f64};
use lgm_algebra::{ExactValues, Field, FromExpression};
use lgm_model::{Dissipator, ElementId, Law, Matrix, PortId, StorageForm, Variable};
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// The largest residual that irrational numbers with 384 bits (115 digits) may leave; equations solved only to the
/// precision of doubles leave more.
const ROUNDED: f64 = 1e-20;

/// Substitutes the variables into the equations of the flat graph, in exact numbers: any residual is an error.
pub(crate) struct Checker<'a> {
    pub(crate) problem: Problem<'a>,
    pub(crate) field: ExactValues,
    /// Values of structure columns.
    pub(crate) values: Vec<Known<BigRational>>,
    /// Rates of structure columns, from the emitted derivatives.
    pub(crate) rates: Vec<Known<BigRational>>,
    /// Values of the model's measured variables.
    pub(crate) measured: Vec<Known<BigRational>>,
    pub(crate) found: Vec<Judged>,
}

impl Checker<'_> {
    /// Records an equation, a sum of terms that should be zero. An equation with an unknown value is skipped.
    fn note(&mut self, equation: Equation, terms: Option<Vec<BigRational>>) {
        let Some(terms) = terms else { return };
        let mut sum = self.field.zero();
        let mut scale: f64 = 0.0;
        for term in &terms {
            sum = self.field.add(&sum, term);
            scale = scale.max(to_f64(term).abs());
        }
        let residual = to_f64(&sum).abs() / scale;
        let holds = self.field.is_zero(&sum) || residual <= ROUNDED;
        self.found.push(Judged {
            equation,
            verdict: if holds { Verdict::Holds } else { Verdict::Fails },
            residual: if self.field.is_zero(&sum) { 0.0 } else { residual },
            rounding: 0.0,
        });
    }

    /// Checks junctions and couplers.
    pub(crate) fn structure(&mut self) {
        let Problem { model, causality, .. } = self.problem;
        let rows = causality
            .structure
            .rows_in(&mut self.field, |field, id| field.from_expression(&model.exprs, id))
            .unwrap_or_default();
        for (index, row) in rows.iter().enumerate() {
            let mut terms = Some(Vec::with_capacity(row.len()));
            for (column, factor) in row {
                terms = match (terms, &self.values[*column as usize]) {
                    (Some(mut list), Some(value)) => {
                        list.push(self.field.mul(factor, value));
                        Some(list)
                    }
                    _ => None,
                };
            }
            self.note(Equation::Structure(index as u32), terms);
        }
    }

    /// Checks the laws of storage, dissipators and sources.
    pub(crate) fn laws(&mut self, symbols: &Symbols) {
        let model = self.problem.model;
        for (index, element) in model.graph.elements.iter().enumerate() {
            let id = ElementId(index as u32);
            let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
            for equation in 0..ports.len() {
                let terms = match &element.law {
                    // Models with nonlinear laws are verified in a separate module.
                    Law::Coupler { .. } | Law::Nonlinear(_) => continue,
                    Law::Storage { co_energy, value, form } => {
                        self.storage_terms(*co_energy, value, *form, &ports, equation)
                    }
                    Law::Dissipator(law) => self.dissipator_terms(law, &ports, equation),
                    Law::Source { given, values } => {
                        let set = self.values[port_column(ports[equation], *given) as usize].clone();
                        let wanted = self.graph_value(values[equation], symbols);
                        set.zip(wanted).map(|(set, wanted)| vec![set, self.field.neg(&wanted)])
                    }
                };
                self.note(Equation::Law(id), terms);
            }
        }
    }

    /// Checks that declared integrals change at the rates given by the graph.
    pub(crate) fn integrals(&mut self, symbols: &Symbols, derivatives: &[BigRational]) {
        let Problem { model, causality, .. } = self.problem;
        let own = derivatives.iter().skip(causality.independent.len());
        for (at, (integral, emitted)) in model.integrals.iter().zip(own).enumerate() {
            let rate = self.graph_value(integral.rate, symbols);
            let terms = rate.map(|rate| vec![rate, self.field.neg(emitted)]);
            self.note(Equation::Integral(at as u32), terms);
        }
    }

    /// Checks outputs computed from the variables of the flat graph. `int` and `der` are not functions of these at one instant.
    pub(crate) fn outputs(&mut self, symbols: &Symbols, emitted: &[BigRational]) {
        let model = self.problem.model;
        for (at, (output, emitted)) in model.outputs.iter().zip(emitted).enumerate() {
            if holds_call(model, output.value) {
                continue;
            }
            let value = self.graph_value(output.value, symbols);
            let terms = value.map(|value| vec![value, self.field.neg(emitted)]);
            self.note(Equation::Output(at as u32), terms);
        }
    }

    /// Checks the power over all ports of storage, dissipators and sources.
    pub(crate) fn power(&mut self) {
        let model = self.problem.model;
        let mut terms = Vec::new();
        for (index, port) in model.graph.ports.iter().enumerate() {
            if matches!(model.graph.elements[port.element.index()].law, Law::Coupler { .. }) {
                continue;
            }
            let at = |variable| self.values[port_column(PortId(index as u32), variable) as usize].as_ref();
            match (at(Variable::Effort), at(Variable::Flow)) {
                (Some(effort), Some(flow)) => terms.push(self.field.mul(effort, flow)),
                _ => return,
            }
        }
        self.note(Equation::Power, Some(terms));
    }

    /// Returns the value of an expression over measured variables.
    fn graph_value(&self, id: ExprId, symbols: &Symbols) -> Known<BigRational> {
        let model = self.problem.model;
        let used = model.exprs.symbols_of(&[id]);
        let mut measured: FxHashMap<SymbolId, &BigRational> = FxHashMap::default();
        for ((symbol, _), value) in model.measures.iter().zip(&self.measured) {
            if used.contains(symbol) {
                measured.insert(*symbol, value.as_ref()?);
            }
        }
        let value = |symbol: SymbolId| measured.get(&symbol).copied().or_else(|| symbols.get(&symbol)).cloned();
        model.exprs.evaluate_exact(&[id], &value).ok()?.into_iter().next()
    }

    /// Returns `factor * value`, for a sum of terms; a factor of zero hides an unknown value.
    fn term(&mut self, matrix: &Matrix, row: usize, column: usize, value: &Known<BigRational>) -> Known<BigRational> {
        let model = self.problem.model;
        let factor = self.field.from_expression(&model.exprs, matrix.get(row, column)).ok()?;
        if self.field.is_zero(&factor) {
            return Some(factor);
        }
        Some(self.field.mul(&factor, value.as_ref()?))
    }

    /// Returns the terms of `first - sum of matrix row * others`.
    fn matrix_law(
        &mut self,
        first: Known<BigRational>,
        matrix: &Matrix,
        row: usize,
        others: Vec<Known<BigRational>>,
    ) -> Option<Vec<BigRational>> {
        let mut terms = vec![first?];
        for (column, value) in others.iter().enumerate() {
            let term = self.term(matrix, row, column, value)?;
            terms.push(self.field.neg(&term));
        }
        Some(terms)
    }

    fn storage_terms(
        &mut self,
        co_energy: Variable,
        value: &Matrix,
        form: StorageForm,
        ports: &[PortId],
        equation: usize,
    ) -> Option<Vec<BigRational>> {
        let rate = |port: &PortId| self.rates[port_column(*port, co_energy) as usize].clone();
        let conjugate = |port: &PortId| self.values[port_column(*port, co_energy.conjugate()) as usize].clone();
        let (first, others) = match form {
            StorageForm::Direct => (conjugate(&ports[equation]), ports.iter().map(rate).collect()),
            StorageForm::Inverse => (rate(&ports[equation]), ports.iter().map(conjugate).collect()),
        };
        self.matrix_law(first, value, equation, others)
    }

    fn dissipator_terms(&mut self, law: &Dissipator, ports: &[PortId], equation: usize) -> Option<Vec<BigRational>> {
        let list = |variable: Variable| -> Vec<Known<BigRational>> {
            ports
                .iter()
                .map(|port| self.values[port_column(*port, variable) as usize].clone())
                .collect()
        };
        let (efforts, flows) = (list(Variable::Effort), list(Variable::Flow));
        match law {
            Dissipator::Resistance(matrix) => self.matrix_law(efforts[equation].clone(), matrix, equation, flows),
            Dissipator::Conductance(matrix) => self.matrix_law(flows[equation].clone(), matrix, equation, efforts),
            Dissipator::Implicit(effort_matrix, flow_matrix) => {
                let mut terms = Vec::new();
                for (matrix, values) in [(effort_matrix, &efforts), (flow_matrix, &flows)] {
                    for (column, value) in values.iter().enumerate() {
                        terms.push(self.term(matrix, equation, column, value)?);
                    }
                }
                Some(terms)
            }
        }
    }
}
