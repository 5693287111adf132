//! The equations of the flat graph at one point: junctions, couplers, laws, integrals, outputs and the power over all ports.
//!
//! The checks do not depend on how the values were found. An equation is judged by bounds on the round-off of its terms
//! ([`Ball`]): a residual beyond them is an error, and one within them passes. If the bounds leave no digits, no
//! verdict is possible.

use crate::causality::structure::{Coefficient, column_port, measure_columns, port_column};
use crate::verification::bounds::{Ball, Places, Rated, rated, size_of, value_of};
use crate::verification::equation::{Equation, Flat, Judged, Verdict};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node};
use lgm_model::{Dissipator, ElementId, Law, Matrix, Model, PortId, StorageForm, Variable};
use rustc_hash::FxHashMap;

/// A residual within this many round-off bounds is round-off.
const SAFETY: f64 = 4.0;

/// If round-off may exceed this fraction of the largest term, the residual proves nothing.
const READABLE: f64 = 1e-6;

/// A residual below this fraction of the largest term is accepted without considering round-off.
const TOLERANCE: f64 = 1e-9;

/// A variable below this fraction of the largest of its kind counts as zero.
const NEGLIGIBLE: f64 = 1e-4;

/// The largest effort and the largest flow at a point: of the ports, and of storage for the fastest change of a
/// co-energy. All variables of a kind are computed from each other, and the last digits of a vanishing one are not
/// examined.
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

/// The variables of the flat graph at one point.
pub(crate) struct Checker<'a> {
    flat: Flat<'a>,
    sizes: Sizes,
    /// The determined columns of the junction structure.
    at: FxHashMap<u32, Rated>,
    /// Symbols of the model.
    places: Places,
    found: Vec<Judged>,
}

impl<'a> Checker<'a> {
    /// Creates a checker. `at` holds the variables of ports, `places` the parameters, the time, inputs and states of
    /// the model; measured variables follow from the ports.
    pub(crate) fn new(flat: Flat<'a>, at: FxHashMap<u32, Rated>, mut places: Places) -> Checker<'a> {
        let signed = measure_columns(flat.model, flat.graph, flat.structure);
        for ((symbol, _), signed) in flat.model.measures.iter().zip(signed) {
            if let Some(found) = at.get(&signed.column) {
                let of = |ball: Ball| if signed.negative { -ball } else { ball };
                let (value, rate) = (of(found.value), of(found.rate));
                places.insert(*symbol, Rated { value, rate });
            }
        }
        let mut checker = Checker {
            flat,
            sizes: Sizes::default(),
            at,
            places,
            found: Vec::new(),
        };
        checker.measure_sizes();
        checker
    }

    /// Returns the symbols of the model, including measured variables.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Judges all equations; the emitted values of the outputs are compared with those of the graph.
    pub(crate) fn judge(mut self, outputs: &[Option<Rated>]) -> Vec<Judged> {
        self.structure();
        self.laws();
        self.integrals();
        self.outputs(outputs);
        self.power();
        self.found
    }

    /// Records an equation, a sum of terms that is zero; values below `beside` count as zero.
    fn note(&mut self, equation: Equation, terms: &[Ball], beside: f64, of_all: bool) {
        let sum = terms.iter().fold(Ball::exact(0.0), |sum, term| sum + *term);
        // The point is outside the domain of a law, or a rate is unknown.
        if sum.value.is_nan() {
            if self.has_no_rates(equation) {
                self.found.push(Judged {
                    equation,
                    verdict: Verdict::NoValue,
                    residual: 0.0,
                    rounding: 0.0,
                });
            }
            return;
        }
        let sizes = terms.iter().map(|term| term.value.abs());
        let scale = match of_all {
            true => sizes.sum::<f64>().max(beside),
            false => sizes.fold(beside, f64::max),
        };
        let share = |size: f64| {
            if size == 0.0 {
                0.0
            } else {
                size / scale.max(f64::MIN_POSITIVE)
            }
        };
        let (residual, rounding) = (share(sum.value.abs()), share(SAFETY * sum.error));
        let verdict = if residual > rounding && scale >= f64::MIN_POSITIVE {
            Verdict::Fails
        } else if rounding <= READABLE || residual <= TOLERANCE {
            Verdict::Holds
        } else {
            Verdict::Open
        };
        self.found.push(Judged {
            equation,
            verdict,
            residual,
            rounding,
        });
    }

    /// Returns true if an equation contains only values, which are known wherever they exist; rates may be unknown.
    fn has_no_rates(&self, equation: Equation) -> bool {
        let model = self.flat.model;
        match equation {
            Equation::Law(id) => !matches!(model.graph.elements[id.index()].law, Law::Storage { .. }),
            Equation::Output(at) => !holds_integral(model, model.outputs[at as usize].value),
            Equation::Structure(_) | Equation::Integral(_) | Equation::Power => false,
        }
    }

    fn port(&self, port: PortId, variable: Variable) -> Option<Rated> {
        self.at.get(&port_column(port, variable)).copied()
    }

    fn value(&self, id: ExprId) -> Option<Ball> {
        value_of(&self.flat.model.exprs, id, &self.places)
    }

    /// Returns the size of the terms of an expression.
    fn size(&self, id: ExprId) -> f64 {
        let size = size_of(&self.flat.model.exprs, id, &self.places);
        size.filter(|size| size.is_finite()).unwrap_or(0.0)
    }

    fn measure_sizes(&mut self) {
        let (mut sizes, mut fastest) = (Sizes::default(), Sizes::default());
        for (column, found) in &self.at {
            let (_, variable) = column_port(*column);
            sizes.reach(variable, found.value.value.abs());
            fastest.reach(variable, found.rate.value.abs());
        }
        for element in &self.flat.model.graph.elements {
            if let Law::Storage {
                co_energy,
                value,
                form: StorageForm::Direct,
            } = &element.law
            {
                let entries = value.entries.iter().filter_map(|entry| self.value(*entry));
                let largest = entries.fold(0.0, |most: f64, entry| most.max(entry.value.abs()));
                sizes.reach(co_energy.conjugate(), largest * fastest.of(*co_energy));
            }
        }
        self.sizes = sizes;
    }

    /// Returns the magnitude below which a variable counts as zero.
    fn beside(&self, variable: Variable) -> f64 {
        NEGLIGIBLE * self.sizes.of(variable)
    }

    fn structure(&mut self) {
        let structure = self.flat.structure;
        for (index, row) in structure.rows.iter().enumerate() {
            let mut terms = Vec::with_capacity(row.len());
            for (column, coefficient) in row {
                let factor = match coefficient {
                    Coefficient::Unit(negative) => Some(Ball::exact(if *negative { -1.0 } else { 1.0 })),
                    Coefficient::Modulus(id, negative) => {
                        self.value(*id).map(|value| if *negative { -value } else { value })
                    }
                };
                match (factor, self.at.get(column)) {
                    (Some(factor), Some(found)) => terms.push(factor * found.value),
                    _ => break,
                }
            }
            if terms.len() == row.len() {
                let ports = row
                    .iter()
                    .filter(|entry| (entry.0 as usize) < 2 * self.flat.model.graph.ports.len());
                let beside = ports.map(|entry| self.beside(column_port(entry.0).1));
                let beside = beside.fold(0.0, f64::max);
                self.note(Equation::Structure(index as u32), &terms, beside, false);
            }
        }
    }

    fn laws(&mut self) {
        let model = self.flat.model;
        for (index, element) in model.graph.elements.iter().enumerate() {
            let id = ElementId(index as u32);
            for row in 0..element.ports.len() {
                if let Some(terms) = self.law_terms(id, row) {
                    let beside = match &element.law {
                        Law::Storage {
                            co_energy,
                            form: StorageForm::Direct,
                            ..
                        } => self.beside(co_energy.conjugate()),
                        Law::Dissipator(Dissipator::Resistance(_)) => self.beside(Variable::Effort),
                        Law::Dissipator(Dissipator::Conductance(_)) => self.beside(Variable::Flow),
                        Law::Source { given, .. } => self.beside(*given),
                        Law::Nonlinear(law) => self.size(law.residuals[row]),
                        _ => 0.0,
                    };
                    self.note(Equation::Law(id), &terms, beside, false);
                }
            }
        }
    }

    fn law_terms(&self, id: ElementId, row: usize) -> Option<Vec<Ball>> {
        let model = self.flat.model;
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let of = |matrix: &Matrix, values: Vec<Option<Ball>>| -> Option<Vec<Ball>> {
            let mut terms = Vec::new();
            for (column, value) in values.into_iter().enumerate() {
                let factor = self.value(matrix.get(row, column))?;
                terms.push(if factor.is_zero() { factor } else { factor * value? });
            }
            Some(terms)
        };
        let list = |variable: Variable, rate: bool| -> Vec<Option<Ball>> {
            let pick = |found: Rated| if rate { found.rate } else { found.value };
            ports.iter().map(|port| self.port(*port, variable).map(pick)).collect()
        };
        let equal = |first: Option<Ball>, terms: Option<Vec<Ball>>| -> Option<Vec<Ball>> {
            let mut all: Vec<Ball> = terms?.iter().map(|term| -*term).collect();
            all.push(first?);
            Some(all)
        };
        match &model.graph.elements[id.index()].law {
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
                Some(vec![self.port(ports[row], *given)?.value, -value])
            }
            Law::Nonlinear(law) => Some(vec![self.value(law.residuals[row])?]),
        }
    }

    /// Checks that integrals change at the rates given by the graph, including displacements that close a chain.
    fn integrals(&mut self) {
        for (at, integral) in self.flat.model.integrals.iter().enumerate() {
            let emitted = self.places.get(&integral.symbol).map(|found| found.rate);
            if let (Some(rate), Some(emitted)) = (self.value(integral.rate), emitted) {
                self.compare(Equation::Integral(at as u32), rate, emitted, integral.rate);
            }
        }
    }

    fn outputs(&mut self, emitted: &[Option<Rated>]) {
        let model = self.flat.model;
        for (at, (output, emitted)) in model.outputs.iter().zip(emitted).enumerate() {
            let equation = Equation::Output(at as u32);
            let found = rated(&model.exprs, &[output.value], &self.places).map(|list| list[0]);
            let (Some(found), Some(emitted)) = (found, emitted) else {
                continue;
            };
            match holds_integral(model, output.value) {
                // The value of an integral depends on its history; its change does not.
                true => self.note(equation, &[found.rate, -emitted.rate], 0.0, false),
                false => self.compare(equation, found.value, emitted.value, output.value),
            }
        }
    }

    /// Records an equation between the value of an expression of the graph and an emitted one.
    fn compare(&mut self, equation: Equation, value: Ball, emitted: Ball, written: ExprId) {
        // The equations have no value although the graph has one: 0/0, or an overflow.
        if value.value.is_finite() && !emitted.value.is_finite() {
            self.found.push(Judged {
                equation,
                verdict: Verdict::Open,
                residual: 0.0,
                rounding: f64::INFINITY,
            });
            return;
        }
        // If terms cancel, such as in the power of a coupler, round-off is small compared with them.
        let beside = self.size(written);
        self.note(equation, &[value, -emitted], beside, false);
    }

    fn power(&mut self) {
        let model = self.flat.model;
        let mut terms = Vec::new();
        for (index, port) in model.graph.ports.iter().enumerate() {
            if matches!(model.graph.elements[port.element.index()].law, Law::Coupler { .. }) {
                continue;
            }
            let id = PortId(index as u32);
            match (self.port(id, Variable::Effort), self.port(id, Variable::Flow)) {
                (Some(effort), Some(flow)) => terms.push(effort.value * flow.value),
                _ => return,
            }
        }
        let beside = NEGLIGIBLE * self.sizes.effort * self.sizes.flow;
        self.note(Equation::Power, &terms, beside, true);
    }
}

/// Returns the emitted outputs at a point; `None` if a symbol has no value.
pub(crate) fn emitted_outputs(exprs: &Exprs, outputs: &[ExprId], places: &Places) -> Vec<Option<Rated>> {
    match rated(exprs, outputs, places) {
        Some(list) => list.into_iter().map(Some).collect(),
        None => {
            let one = |id: &ExprId| rated(exprs, &[*id], places).map(|list| list[0]);
            outputs.iter().map(one).collect()
        }
    }
}

/// Returns true if an expression contains `int(..)`.
pub(crate) fn holds_integral(model: &Model, id: ExprId) -> bool {
    let mut all = model.exprs.reachable(&[id]).into_iter();
    all.any(|id| matches!(model.exprs.node(id), Node::Call(Function::Int, _)))
}
