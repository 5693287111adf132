//! The flat graph of a model at the instants of a run, evaluated through its laws, its junctions and its energy.

use crate::assembly::linearity::applies;
use crate::assembly::problem::Problem;
use crate::assembly::states::StateRequest;
use crate::bond::BondGraph;
use crate::causality::structure::port_column;
use crate::causality::{Causality, Request};
use crate::instants::Instant;
use crate::state_selection::decision::decide;
use crate::verification::bounds::{Ball, BallValues, Places, Rated, value_of};
use crate::verification::checker::{Checker, emitted_outputs, holds_integral};
use crate::verification::equation::{Equation, Flat, Verdict};
use crate::verification::flat_run::{FlatRun, flat_run, rounded_at};
use crate::verification::nonlinear::{self, Formulation};
use crate::verification::points::{Numbers, Symbols, symbols_at};
use lgm_model::system::StateSystem;
use lgm_model::{ElementId, Law, Matrix, Model, Output, PortId, StorageForm, Variable};
use lgm_source::Span;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::{DMatrix, DVector};
use rustc_hash::FxHashMap;

/// The flat graph of a model, with the equations derived from it.
pub struct FlatGraph<'a> {
    pub(crate) model: &'a Model,
    pub(crate) system: &'a StateSystem,
    kind: Kind<'a>,
}

/// The variables of its ports in terms of the states.
enum Kind<'a> {
    Linear(Box<Linear<'a>>),
    Nonlinear(Box<Formulation>),
}

struct Linear<'a> {
    graph: &'a BondGraph,
    causality: Causality,
    states: StateRequest,
    parameters: Symbols,
    field: BallValues,
    flat: FlatRun<Ball>,
}

/// An equation of the flat graph that does not hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Its name: ``the law of `damper` ``.
    pub what: String,
    /// Its location.
    pub span: Span,
    /// The residual relative to its largest term.
    pub residual: f64,
}

/// The flat graph at one instant.
pub struct Seen {
    /// The number of equations that hold.
    pub equations: usize,
    /// The number of equations with too few digits left after round-off.
    pub open: usize,
    /// The largest relative residual of the equations that hold.
    pub worst: f64,
    /// The equations that do not hold.
    pub failed: Vec<Violation>,
    /// The outputs from the graph, with bounds on their round-off; none for outputs without a value at one instant.
    pub outputs: Vec<Option<(f64, f64)>>,
    /// The rates of the states from the equations, with bounds on their round-off.
    pub rates: Vec<(f64, f64)>,
    /// The unknowns of the loops.
    pub unknowns: Vec<f64>,
    pub(crate) at: FxHashMap<u32, Rated>,
    pub(crate) places: Places,
}

/// The evaluation of the equations at an instant.
struct Point {
    at: FxHashMap<u32, Rated>,
    places: Places,
    outputs: Vec<Option<Rated>>,
    rates: Vec<Ball>,
    unknowns: Vec<f64>,
}

impl Seen {
    /// Returns a variable of a port, in the absorbing direction; `None` if it is undetermined.
    pub fn port(&self, port: PortId, variable: Variable) -> Option<f64> {
        self.at.get(&port_column(port, variable)).map(|found| found.value.value)
    }

    /// Returns its time derivative; NaN if that is unknown.
    pub fn port_rate(&self, port: PortId, variable: Variable) -> Option<f64> {
        self.at.get(&port_column(port, variable)).map(|found| found.rate.value)
    }
}

/// Powers at one instant, in watts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Powers {
    /// The energy from sources.
    pub supplied: f64,
    /// The energy absorbed by dissipators.
    pub lost: f64,
    /// The energy absorbed by storage without a closed form here: that of nonlinear laws.
    pub taken: f64,
    /// The sum of all magnitudes.
    pub size: f64,
}

impl<'a> FlatGraph<'a> {
    /// Returns the flat graph from which a system was derived; `retain` and `states` must be the same as for the
    /// derivation. Returns `None` if its ports cannot be evaluated.
    pub fn new(
        model: &'a Model,
        graph: &'a BondGraph,
        system: &'a StateSystem,
        retain: &[ElementId],
        states: StateRequest,
    ) -> Result<Option<FlatGraph<'a>>, Diagnostic> {
        if applies(model) {
            let found = nonlinear::formulation(model, retain, states).map_err(|diagnostic| *diagnostic)?;
            return Ok(found.map(|formulation| FlatGraph {
                model,
                system,
                kind: Kind::Nonlinear(Box::new(formulation)),
            }));
        }
        let request = Request::retaining(retain);
        let (causality, _, _) = decide(model, graph, &request);
        let mut parameters = Symbols::default();
        for entry in model.parameters.iter().flat_map(|parameter| &parameter.entries) {
            parameters.insert(entry.symbol, entry.value.clone());
        }
        let mut field = BallValues::with_values(&parameters);
        let problem = Problem {
            model,
            graph,
            causality: &causality,
            states,
        };
        let flat = flat_run(problem, &mut field).map_err(|failure| failure.diagnostic(model))?;
        let linear = Linear {
            graph,
            causality,
            states,
            parameters,
            field,
            flat,
        };
        Ok(Some(FlatGraph {
            model,
            system,
            kind: Kind::Linear(Box::new(linear)),
        }))
    }

    pub(crate) fn flat(&self) -> Flat<'_> {
        match &self.kind {
            Kind::Linear(linear) => Flat {
                model: self.model,
                graph: linear.graph,
                structure: &linear.causality.structure,
            },
            Kind::Nonlinear(formulation) => formulation.flat(),
        }
    }

    /// Returns the ports, the symbols of the model, the emitted outputs and the unknowns at an instant.
    fn point(&mut self, instant: &Instant, unknowns: &[f64]) -> Option<Point> {
        match &mut self.kind {
            Kind::Linear(linear) => {
                let symbols = symbols_at(self.system, &linear.parameters, instant);
                let problem = Problem {
                    model: self.model,
                    graph: linear.graph,
                    causality: &linear.causality,
                    states: linear.states,
                };
                let found = rounded_at(problem, self.system, &linear.flat, &mut linear.field, &symbols).ok()?;
                Some(Point {
                    outputs: found.outputs,
                    rates: found.rates,
                    at: found.at,
                    places: found.places,
                    unknowns: Vec::new(),
                })
            }
            Kind::Nonlinear(formulation) => {
                let emitted = nonlinear::emitted(self.system, instant, unknowns)?;
                let (at, places) = formulation.at(self.system, &emitted)?;
                Some(Point {
                    outputs: emitted_outputs(
                        &self.system.exprs,
                        &self.system.equations.output_values,
                        &emitted.places,
                    ),
                    unknowns: emitted.unknowns(self.system),
                    rates: emitted.rates,
                    at,
                    places,
                })
            }
        }
    }

    /// Examines all equations at an instant; the unknowns of loops are searched for from the given ones, if any.
    /// Returns `None` if the equations have no values.
    pub fn see(&mut self, instant: &Instant, unknowns: &[f64]) -> Option<Seen> {
        let point = self.point(instant, unknowns)?;
        let flat = self.flat();
        let checker = Checker::new(flat, point.at.clone(), point.places);
        let places = checker.places().clone();
        // An integral is undefined at a single instant; the equations give its value, whose rate is checked below.
        let output = |(output, emitted): (&Output, &Option<Rated>)| {
            let value = match holds_integral(flat.model, output.value) {
                true => emitted.map(|emitted| emitted.value),
                false => value_of(&flat.model.exprs, output.value, &places),
            };
            let known = value.filter(|value| value.value.is_finite() && value.error.is_finite());
            known.map(|value| (value.value, value.error))
        };
        let mut seen = Seen {
            equations: 0,
            open: 0,
            worst: 0.0,
            failed: Vec::new(),
            outputs: flat.model.outputs.iter().zip(&point.outputs).map(output).collect(),
            rates: point.rates.iter().map(|rate| (rate.value, rate.error)).collect(),
            unknowns: point.unknowns,
            at: point.at,
            places: Places::default(),
        };
        for one in checker.judge(&point.outputs) {
            match one.verdict {
                Verdict::Holds => {
                    seen.equations += 1;
                    seen.worst = seen.worst.max(one.residual);
                }
                Verdict::Open => seen.open += 1,
                // A run stops if rates have no value; an expression that only outputs contain has no value in the samples either.
                Verdict::NoValue => {}
                Verdict::Fails => {
                    let (what, span) = flat.words(one.equation);
                    let residual = one.residual;
                    seen.failed.push(Violation { what, span, residual });
                }
            }
        }
        seen.places = places;
        Some(seen)
    }

    /// Returns true if effort times flow is a power at all ports.
    pub fn has_power(&self) -> bool {
        let ports = self.model.graph.ports.iter();
        let mut domains = ports.filter_map(|port| port.domain);
        !domains.any(|domain| self.model.graph.domains[domain.index()].pseudo)
    }

    /// Returns true if signals have given initial values, from which those of the storage follow.
    pub fn has_start_conditions(&self) -> bool {
        !self.model.start_conditions.is_empty()
    }

    /// Returns the number of ports.
    pub fn ports(&self) -> u64 {
        self.model.graph.ports.len() as u64
    }

    /// Returns powers at an instant; `None` if a port is undetermined. The unknowns of loops are searched for from the
    /// given ones, which are then updated to this instant.
    pub fn powers(&mut self, instant: &Instant, unknowns: &mut Vec<f64>) -> Option<Powers> {
        let Point {
            at, unknowns: found, ..
        } = self.point(instant, unknowns)?;
        *unknowns = found;
        let mut sum = Powers::default();
        for (index, port) in self.model.graph.ports.iter().enumerate() {
            let element = &self.model.graph.elements[port.element.index()];
            if matches!(element.law, Law::Coupler { .. }) {
                continue;
            }
            let of = |variable| {
                at.get(&port_column(PortId(index as u32), variable))
                    .map(|found| found.value.value)
            };
            let power = of(Variable::Effort)? * of(Variable::Flow)?;
            sum.size += power.abs();
            match &element.law {
                Law::Source { .. } => sum.supplied -= power,
                Law::Dissipator(_) => sum.lost += power,
                Law::Nonlinear(law) if law.storage.iter().all(Option::is_none) => sum.lost += power,
                Law::Nonlinear(_) => sum.taken += power,
                Law::Storage { .. } | Law::Coupler { .. } => {}
            }
        }
        sum.size.is_finite().then_some(sum)
    }

    /// Returns the energy of all linear storage, in joules, from the co-energy at its ports; `None` if one of these is undetermined.
    pub fn stored(&self, seen: &Seen) -> Option<f64> {
        let mut energy = 0.0;
        for (index, element) in self.model.graph.elements.iter().enumerate() {
            let Law::Storage { co_energy, value, form } = &element.law else {
                continue;
            };
            let ports = self.model.ports_of(ElementId(index as u32));
            let of: Option<Vec<f64>> = ports.map(|port| seen.port(port, *co_energy)).collect();
            let (z, matrix) = (DVector::from_vec(of?), self.numbers(value, &seen.places)?);
            let conjugate = match form {
                StorageForm::Direct => matrix * &z,
                // A spring without stiffness stores nothing.
                StorageForm::Inverse => matrix.lu().solve(&z).unwrap_or_else(|| DVector::zeros(z.len())),
            };
            energy += 0.5 * z.dot(&conjugate);
        }
        energy.is_finite().then_some(energy)
    }

    pub(crate) fn numbers(&self, matrix: &Matrix, places: &Places) -> Option<DMatrix<f64>> {
        let model = self.flat().model;
        let entry = |id: &lgm_algebra::expr::ExprId| value_of(&model.exprs, *id, places).map(|ball| ball.value);
        let entries: Option<Vec<f64>> = matrix.entries.iter().map(entry).collect();
        Some(DMatrix::from_row_slice(matrix.rows, matrix.columns, &entries?))
    }

    /// Returns the value of an input at a time by its definition in the model; `None` if it has none, or is a table.
    pub fn input(&self, at: usize, time: f64) -> Option<f64> {
        let signal = self.model.inputs[at].signal?;
        let mut places = Places::default();
        for entry in self.model.parameters.iter().flat_map(|parameter| &parameter.entries) {
            let value = lgm_algebra::expr::to_f64(&entry.value);
            places.insert(entry.symbol, Rated::still(Ball::exact(value)));
        }
        places.insert(self.model.time, Rated::still(Ball::exact(time)));
        value_of(&self.model.exprs, signal, &places).map(|ball| ball.value)
    }

    /// Returns the name and the location of an output.
    pub fn output_words(&self, at: usize) -> (String, Span) {
        self.flat().words(Equation::Output(at as u32))
    }
}
