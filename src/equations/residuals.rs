//! The equations of the flat graph, with values put into them.

use super::formulate::Problem;
use super::verify::{Known, Numbers, Symbols, Verification};
use crate::causality::structure::port_column;
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{Dissipator, ElementId, Law, Matrix, Model, PortId, StorageForm, Variable};
use crate::expr::{ExprId, Function, Node};
use crate::source::Span;
use num_rational::BigRational;

/// The largest residual, relative to the terms of its equation, that still counts as rounding.
const TOLERANCE: f64 = 1e-9;

/// Puts the variables into the equations of the flat graph.
pub(super) struct Checker<'a, F: Numbers> {
    pub(super) problem: Problem<'a>,
    pub(super) field: F,
    /// Values of structure columns.
    pub(super) values: Vec<Known<F::Element>>,
    /// Rates of structure columns, from the emitted derivatives.
    pub(super) rates: Vec<Known<F::Element>>,
    /// Values of the model's measured variables.
    pub(super) measured: Vec<Known<F::Element>>,
    pub(super) worst: Vec<(f64, String, Span)>,
    pub(super) equations: usize,
}

impl<F: Numbers> Checker<'_, F> {
    /// Notes an equation, a sum of terms that should be zero. An equation with a value that is not known says nothing.
    fn note(&mut self, terms: Option<Vec<F::Element>>, what: impl FnOnce(&Model) -> (String, Span)) {
        let Some(terms) = terms else { return };
        self.equations += 1;
        let residual = self.relative_sum(&terms, false);
        if residual > TOLERANCE {
            let (text, span) = what(self.problem.model);
            self.worst.push((residual, text, span));
        } else {
            self.worst.push((residual, String::new(), self.problem.model.span));
        }
    }

    /// The sum of terms relative to the largest of them, or to the sum of their sizes.
    fn relative_sum(&mut self, terms: &[F::Element], of_all: bool) -> f64 {
        let mut sum = self.field.zero();
        let mut scale: f64 = 0.0;
        for term in terms {
            sum = self.field.add(&sum, term);
            let size = F::double(term).abs();
            scale = if of_all { scale + size } else { scale.max(size) };
        }
        let sum = F::double(&sum).abs();
        if sum == 0.0 { 0.0 } else { sum / scale }
    }

    /// Junctions and couplers.
    pub(super) fn structure(&mut self) {
        let Problem { model, causality, .. } = self.problem;
        let rows = causality
            .structure
            .rows_in(&mut self.field, |field, id| field.from_expression(&model.exprs, id))
            .unwrap_or_default();
        for row in &rows {
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
            self.note(terms, |model| ("a junction or a coupler".to_string(), model.span));
        }
    }

    /// The laws of storage, dissipators and sources.
    pub(super) fn laws(&mut self, time: &BigRational, symbols: &Symbols) {
        let model = self.problem.model;
        for (index, element) in model.elements.iter().enumerate() {
            let id = ElementId(index as u32);
            let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
            for equation in 0..ports.len() {
                let terms = match &element.law {
                    // Models with nonlinear laws are verified in a room of their own.
                    Law::Coupler { .. } | Law::Nonlinear(_) => continue,
                    Law::Storage { co_energy, value, form } => {
                        self.storage_terms(*co_energy, value, *form, &ports, equation)
                    }
                    Law::Dissipator(law) => self.dissipator_terms(law, &ports, equation),
                    Law::Source { given, values } => {
                        let set = self.values[port_column(ports[equation], *given) as usize].clone();
                        let wanted = self.graph_value(values[equation], time, symbols);
                        set.zip(wanted).map(|(set, wanted)| vec![set, self.field.neg(&wanted)])
                    }
                };
                self.note(terms, |model| {
                    (
                        format!("the law of `{}`", model.element_name(id)),
                        model.element_span(id),
                    )
                });
            }
        }
    }

    /// Outputs, from the variables of the flat graph. `int` and `der` are no functions of these at one instant.
    pub(super) fn outputs(&mut self, time: &BigRational, symbols: &Symbols, emitted: &[F::Element]) {
        let model = self.problem.model;
        for (output, emitted) in model.outputs.iter().zip(emitted) {
            let held = model
                .exprs
                .reachable(&[output.value])
                .into_iter()
                .any(|id| matches!(model.exprs.node(id), Node::Call(Function::Int | Function::Der, _)));
            if held {
                continue;
            }
            // The terms of a sum one by one: where they cancel, as in the power of a coupler, rounding is small beside
            // them, and not beside their sum.
            let parts = match model.exprs.node(output.value) {
                Node::Sum(list) => list,
                _ => std::slice::from_ref(&output.value),
            };
            let values: Known<Vec<F::Element>> = parts.iter().map(|id| self.graph_value(*id, time, symbols)).collect();
            let terms = values.map(|mut terms| {
                terms.push(self.field.neg(emitted));
                terms
            });
            self.note(terms, |_| (format!("output `{}`", output.name), output.span));
        }
    }

    /// The power over all ports of storage, dissipators and sources.
    pub(super) fn power(&mut self) {
        let model = self.problem.model;
        let mut terms = Vec::new();
        for (index, port) in model.ports.iter().enumerate() {
            if matches!(model.elements[port.element.index()].law, Law::Coupler { .. }) {
                continue;
            }
            let at = |variable| self.values[port_column(PortId(index as u32), variable) as usize].as_ref();
            match (at(Variable::Effort), at(Variable::Flow)) {
                (Some(effort), Some(flow)) => terms.push(self.field.mul(effort, flow)),
                _ => return,
            }
        }
        let balance = self.relative_sum(&terms, true);
        let text = if balance > TOLERANCE {
            "the power balance over all ports"
        } else {
            ""
        };
        self.worst.push((balance, text.to_string(), model.span));
    }

    /// Hands over what was found; the power balance was noted last.
    pub(super) fn finish(self, result: &mut Verification) {
        result.equations = self.equations;
        if let Some((balance, _, _)) = self.worst.last() {
            result.power = result.power.max(*balance);
        }
        for (residual, text, span) in self.worst {
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

    /// The value of an expression over measured variables.
    fn graph_value(&self, id: ExprId, time: &BigRational, symbols: &Symbols) -> Known<F::Element> {
        let model = self.problem.model;
        let mut all = symbols.clone();
        let used = model.exprs.symbols_of(&[id]);
        for ((symbol, _), value) in model.measures.iter().zip(&self.measured) {
            if used.contains(symbol) {
                all.insert(*symbol, F::rational(value.as_ref()?)?);
            }
        }
        let list = F::evaluate(&model.exprs, &[id], time, &all).ok()?;
        list.into_iter().next()
    }

    /// `factor * value`, for a sum of terms that a factor of zero hides.
    fn term(&mut self, matrix: &Matrix, row: usize, column: usize, value: &Known<F::Element>) -> Known<F::Element> {
        let model = self.problem.model;
        let factor = self.field.from_expression(&model.exprs, matrix.get(row, column)).ok()?;
        if self.field.is_zero(&factor) {
            return Some(factor);
        }
        Some(self.field.mul(&factor, value.as_ref()?))
    }

    /// `first - sum of matrix row * others`
    fn matrix_law(
        &mut self,
        first: Known<F::Element>,
        matrix: &Matrix,
        row: usize,
        others: Vec<Known<F::Element>>,
    ) -> Option<Vec<F::Element>> {
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
    ) -> Option<Vec<F::Element>> {
        let rate = |port: &PortId| self.rates[port_column(*port, co_energy) as usize].clone();
        let conjugate = |port: &PortId| self.values[port_column(*port, co_energy.conjugate()) as usize].clone();
        let (first, others) = match form {
            StorageForm::Direct => (conjugate(&ports[equation]), ports.iter().map(rate).collect()),
            StorageForm::Inverse => (rate(&ports[equation]), ports.iter().map(conjugate).collect()),
        };
        self.matrix_law(first, value, equation, others)
    }

    fn dissipator_terms(&mut self, law: &Dissipator, ports: &[PortId], equation: usize) -> Option<Vec<F::Element>> {
        let list = |variable: Variable| -> Vec<Known<F::Element>> {
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
