//! The equations of the flat graph at one point: junctions, couplers, laws, outputs and the power over all ports.

use super::dual::{Dual, Point, duals};
use super::prepare::Prepared;
use crate::causality::structure::{Coefficient, column_port, port_column};
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{
    Dissipator, ElementId, JunctionKind, Law, Matrix, Measure, Model, PortId, StorageForm, Variable,
};
use crate::equations::system::StateSystem;
use crate::equations::verify::Verification;
use crate::expr::{ExprId, Node};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// The largest residual, relative to the terms of its equation, that still counts as rounding.
const TOLERANCE: f64 = 1e-9;

/// The size of a residual that counts as one, relative to the largest variable of its kind: with [`TOLERANCE`], a few hundred units
/// in the last place.
const ROUNDING: f64 = 1e-4;

/// The largest effort and the largest flow at a point: of the ports, and of what storage would take for the fastest change of a
/// co-energy. All variables of a kind are computed from each other, and carry the rounding of the largest of them even where they
/// vanish themselves, as the force on a joint without mass does.
#[derive(Clone, Copy, Default)]
struct Sizes {
    effort: f64,
    flow: f64,
}

impl Sizes {
    fn of(&self, variable: Variable) -> f64 {
        match variable {
            Variable::Effort => self.effort,
            Variable::Flow => self.flow,
        }
    }

    fn reach(&mut self, variable: Variable, size: f64) {
        let own = match variable {
            Variable::Effort => &mut self.effort,
            Variable::Flow => &mut self.flow,
        };
        if size.is_finite() {
            *own = own.max(size);
        }
    }
}

/// Puts the variables of the ports into the equations of the flat graph.
struct Checker<'a> {
    prepared: &'a Prepared,
    sizes: Sizes,
    at: FxHashMap<u32, Dual>,
    point: Point,
    worst: Vec<(f64, String, Span)>,
    equations: usize,
}

/// Puts the variables of all ports, and the symbols of the model, into every equation; `emitted` are the equations that are
/// verified, with the values of their own symbols.
pub(super) fn check(
    prepared: &Prepared,
    at: FxHashMap<u32, Dual>,
    point: Point,
    emitted: (&StateSystem, &Point),
    result: &mut Verification,
) {
    let mut checker = Checker::new(prepared, at, point);
    checker.structure();
    checker.laws();
    checker.integrals();
    checker.outputs(emitted.0, emitted.1);
    checker.power();
    checker.finish(result);
}

/// The power over all ports, relative to the sum of its sizes; none where a port's variable is not among those that are given.
pub(super) fn power(prepared: &Prepared, at: FxHashMap<u32, Dual>, point: Point) -> Option<f64> {
    let mut checker = Checker::new(prepared, at, point);
    checker.power();
    checker.worst.last().map(|entry| entry.0)
}

impl<'a> Checker<'a> {
    fn new(prepared: &'a Prepared, at: FxHashMap<u32, Dual>, point: Point) -> Checker<'a> {
        let mut checker = Checker {
            prepared,
            sizes: Sizes::default(),
            at,
            point,
            worst: Vec::new(),
            equations: 0,
        };
        checker.measure_sizes();
        checker
    }

    /// Notes an equation whose terms are rounded to what is rounding of this size.
    fn note(&mut self, terms: &[f64], size: f64, what: &str, span: Span) {
        self.equations += 1;
        let sum: f64 = terms.iter().sum();
        let scale = terms.iter().map(|term| term.abs()).fold(size, f64::max);
        let residual = if sum == 0.0 { 0.0 } else { sum.abs() / scale.max(1e-12) };
        // A residual that is no number says that the point lies outside the domain of a law.
        if residual.is_nan() {
            return;
        }
        let text = if residual > TOLERANCE {
            what.to_string()
        } else {
            String::new()
        };
        self.worst.push((residual, text, span));
    }

    fn port(&self, port: PortId, variable: Variable) -> Option<Dual> {
        self.at.get(&port_column(port, variable)).copied()
    }

    fn value(&self, id: ExprId) -> Option<f64> {
        Some(duals(&self.prepared.model.exprs, &[id], &self.point)?[0].0)
    }

    /// Measured variables of ports are known at once; junctions and bonds follow from the ports that share them.
    fn structure(&mut self) {
        let model = &self.prepared.model;
        let signed =
            crate::equations::run::measure_columns(model, &self.prepared.graph, &self.prepared.causality.structure);
        for ((symbol, _), signed) in model.measures.iter().zip(signed) {
            if let Some(value) = self.at.get(&signed.column) {
                let sign = if signed.negative { -1.0 } else { 1.0 };
                self.point.insert(*symbol, (sign * value.0, sign * value.1));
            }
        }
        let rows = self.prepared.causality.structure.rows.clone();
        let span = model.span;
        for row in rows {
            let mut terms = Vec::with_capacity(row.len());
            for (column, coefficient) in &row {
                let factor = match coefficient {
                    Coefficient::Unit(negative) => Some(if *negative { -1.0 } else { 1.0 }),
                    Coefficient::Modulus(id, negative) => {
                        self.value(*id).map(|value| if *negative { -value } else { value })
                    }
                };
                match (factor, self.at.get(column)) {
                    (Some(factor), Some(value)) => terms.push(factor * value.0),
                    _ => break,
                }
            }
            if terms.len() == row.len() {
                let sizes = row.iter().map(|entry| self.rounding(column_port(entry.0).1));
                let size = sizes.fold(0.0, f64::max);
                self.note(&terms, size, "a junction or a coupler", span);
            }
        }
    }

    fn laws(&mut self) {
        let model = &self.prepared.model;
        for (index, element) in model.elements.iter().enumerate() {
            let id = ElementId(index as u32);
            let what = format!("the law of `{}`", model.element_name(id));
            let span = model.element_span(id);
            for row in 0..element.ports.len() {
                if let Some(terms) = self.law_terms(id, row) {
                    let size = match &element.law {
                        Law::Storage {
                            co_energy,
                            form: StorageForm::Direct,
                            ..
                        } => self.rounding(co_energy.conjugate()),
                        _ => 0.0,
                    };
                    self.note(&terms, size, &what, span);
                }
            }
        }
    }

    fn measure_sizes(&mut self) {
        let model = &self.prepared.model;
        let (mut sizes, mut fastest) = (Sizes::default(), Sizes::default());
        for (column, value) in &self.at {
            let (_, variable) = column_port(*column);
            sizes.reach(variable, value.0.abs());
            fastest.reach(variable, value.1.abs());
        }
        for element in &model.elements {
            if let Law::Storage {
                co_energy,
                value,
                form: StorageForm::Direct,
            } = &element.law
            {
                let entries = value.entries.iter().filter_map(|entry| self.value(*entry));
                let largest = entries.fold(0.0, |most: f64, entry| most.max(entry.abs()));
                sizes.reach(co_energy.conjugate(), largest * fastest.of(*co_energy));
            }
        }
        self.sizes = sizes;
    }

    /// The size below which a sum of such variables is rounding.
    fn rounding(&self, variable: Variable) -> f64 {
        ROUNDING * self.sizes.of(variable)
    }

    /// An integral moves with the rate that the graph has for it: a state of its own, and a displacement that closes a chain.
    fn integrals(&mut self) {
        for index in 0..self.prepared.model.integrals.len() {
            let model = &self.prepared.model;
            let integral = &model.integrals[index];
            let (id, span) = (integral.rate, model.paths[integral.path.index()].span);
            let what = format!("the velocity of `{}`", model.path_name(integral.path));
            let emitted = self.point.get(&integral.symbol).map(|value| value.1);
            if let (Some(rate), Some(emitted)) = (self.value(id), emitted) {
                self.compare(id, rate, emitted, &what, span);
            }
        }
    }

    /// Notes an equation between the value of an expression of the graph and an emitted one.
    fn compare(&mut self, id: ExprId, value: f64, emitted: f64, what: &str, span: Span) {
        let mut size = 0.0;
        if (value - emitted).abs() > TOLERANCE * value.abs() {
            size = self.rounding_of(id, value);
        }
        self.note(&[value, -emitted], size, what, span);
    }

    fn law_terms(&self, id: ElementId, row: usize) -> Option<Vec<f64>> {
        let model = &self.prepared.model;
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let of = |matrix: &Matrix, values: Vec<Option<f64>>| -> Option<Vec<f64>> {
            let mut terms = Vec::new();
            for (column, value) in values.into_iter().enumerate() {
                let factor = self.value(matrix.get(row, column))?;
                terms.push(if factor == 0.0 { 0.0 } else { factor * value? });
            }
            Some(terms)
        };
        let list = |variable: Variable, rate: bool| -> Vec<Option<f64>> {
            let pick = |value: Dual| if rate { value.1 } else { value.0 };
            ports.iter().map(|port| self.port(*port, variable).map(pick)).collect()
        };
        let equal = |first: Option<f64>, terms: Option<Vec<f64>>| -> Option<Vec<f64>> {
            let mut all: Vec<f64> = terms?.iter().map(|term| -term).collect();
            all.push(first?);
            Some(all)
        };
        match &model.elements[id.index()].law {
            Law::Coupler { .. } => None,
            Law::Storage { co_energy, value, form } => match form {
                StorageForm::Direct => equal(
                    list(co_energy.conjugate(), false)[row],
                    of(value, list(*co_energy, true)),
                ),
                StorageForm::Inverse => equal(
                    list(*co_energy, true)[row],
                    of(value, list(co_energy.conjugate(), false)),
                ),
            },
            Law::Dissipator(Dissipator::Resistance(matrix)) => equal(
                list(Variable::Effort, false)[row],
                of(matrix, list(Variable::Flow, false)),
            ),
            Law::Dissipator(Dissipator::Conductance(matrix)) => equal(
                list(Variable::Flow, false)[row],
                of(matrix, list(Variable::Effort, false)),
            ),
            Law::Dissipator(Dissipator::Implicit(efforts, flows)) => {
                let mut terms = of(efforts, list(Variable::Effort, false))?;
                terms.extend(of(flows, list(Variable::Flow, false))?);
                Some(terms)
            }
            Law::Source { given, values } => {
                let value = self.value(values[row])?;
                Some(vec![self.port(ports[row], *given)?.0, -value])
            }
            Law::Nonlinear(law) => {
                // The terms of the residual, so that it is compared with the largest of them.
                let terms: Vec<ExprId> = match model.exprs.node(law.residuals[row]) {
                    Node::Sum(list) => list.to_vec(),
                    _ => vec![law.residuals[row]],
                };
                terms.into_iter().map(|term| self.value(term)).collect()
            }
        }
    }

    fn outputs(&mut self, system: &StateSystem, point: &Point) {
        let model = &self.prepared.model;
        for (output, emitted) in model.outputs.iter().zip(&system.output_values) {
            let emitted = duals(&system.exprs, &[*emitted], point).map(|list| list[0].0);
            if let (Some(value), Some(emitted)) = (self.value(output.value), emitted) {
                let what = format!("output `{}`", output.name);
                self.compare(output.value, value, emitted, &what, output.span);
            }
        }
    }

    /// What the rounding of the measured variables makes of an expression of this value.
    fn rounding_of(&mut self, id: ExprId, value: f64) -> f64 {
        let mut size = 0.0;
        for index in 0..self.prepared.model.measures.len() {
            let (symbol, measure) = self.prepared.model.measures[index];
            let Some(known) = self.point.get(&symbol).copied() else {
                continue;
            };
            let shift = TOLERANCE * self.rounding(measured_variable(&self.prepared.model, measure));
            self.point.insert(symbol, (known.0 + shift, known.1));
            if let Some(shifted) = self.value(id) {
                size += (shifted - value).abs() / TOLERANCE;
            }
            self.point.insert(symbol, known);
        }
        size
    }

    fn power(&mut self) {
        let model = &self.prepared.model;
        let mut terms = Vec::new();
        for (index, port) in model.ports.iter().enumerate() {
            if matches!(model.elements[port.element.index()].law, Law::Coupler { .. }) {
                continue;
            }
            let id = PortId(index as u32);
            match (self.port(id, Variable::Effort), self.port(id, Variable::Flow)) {
                (Some(effort), Some(flow)) => terms.push(effort.0 * flow.0),
                _ => return,
            }
        }
        let size: f64 = terms.iter().map(|term| term.abs()).sum();
        let sum: f64 = terms.iter().sum();
        let size = size.max(ROUNDING * self.sizes.effort * self.sizes.flow);
        let balance = if sum == 0.0 { 0.0 } else { sum.abs() / size };
        let text = if balance > TOLERANCE {
            "the power balance over all ports"
        } else {
            ""
        };
        self.worst.push((balance, text.to_string(), model.span));
    }

    fn finish(self, result: &mut Verification) {
        result.equations = result.equations.max(self.equations);
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
}

/// Whether a measured variable is an effort or a flow.
fn measured_variable(model: &Model, measure: Measure) -> Variable {
    match measure {
        Measure::PortEffort(_) | Measure::BondEffort(_) => Variable::Effort,
        Measure::PortFlow(_) | Measure::BondFlow(_) => Variable::Flow,
        Measure::Common(node) => match model.nodes[node.index()].kind {
            JunctionKind::Zero => Variable::Effort,
            JunctionKind::One => Variable::Flow,
        },
    }
}
