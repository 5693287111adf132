//! The relation between the variables at a network's port, and the measurements inside the network.

use super::ladder::{Impedance, Pull, search, values};
use crate::one_port::Test;
use crate::transfer::functions;
use crate::values::in_digits;
use lgm_algebra::expr::{ExprId, Exprs, text};
use lgm_algebra::{Field, RationalFunction, RationalFunctions, Variable};
use lgm_model::system::StateSystem;
use num_rational::BigRational;

/// Values longer than this are written as numbers.
const SHOWN: usize = 300;

/// Functions of s: with p the across variable of the port and q the through variable into the network, `p = Z q + sum V u`.
pub(super) struct Port {
    field: RationalFunctions,
    exprs: Exprs,
    s: Variable,
    /// Z; none if it is infinite.
    impedance: Option<RationalFunction>,
    /// V of each input; if Z is infinite, q is `-sum V u`.
    sources: Vec<RationalFunction>,
    /// Measurements inside: the factors of q, or of p if Z is infinite, and of each input.
    measures: Vec<(RationalFunction, Vec<RationalFunction>)>,
}

/// A measurement as a constant relation to the variables of the port: `factor` times p or q, its integral or its rate, and the inputs.
pub(super) struct Static {
    pub(super) is_across: bool,
    pub(super) factor: String,
    /// -1 for the integral, 1 for the rate.
    pub(super) order: i32,
    pub(super) inputs: Vec<String>,
}

/// Sources with constant factors of the inputs; 0 for inputs without influence.
pub(super) struct Sources {
    /// True for a series source of the across variable, measured from the first end; false for a parallel source of the through variable
    /// from the first end to the second.
    pub(super) is_series: bool,
    pub(super) factors: Vec<String>,
}

impl Port {
    /// Computes the functions of a system whose last input is the test, and whose outputs are the port and the measurements.
    pub(super) fn new(system: &StateSystem, test: Test, is_numeric: bool) -> Option<Port> {
        let count = system.declared_inputs().count();
        let (inputs, outputs) = ((0..count).collect::<Vec<_>>(), system.outputs.len());
        let found = functions(system, &inputs, &(0..outputs).collect::<Vec<_>>(), is_numeric)?;
        let (mut field, exprs, s, list) = found.into_parts();
        let own = count.checked_sub(1)?;
        let of = |input: usize, output: usize| list[input * outputs + output].clone();
        let at_port = of(own, 0);
        let mut sources: Vec<RationalFunction> = (0..own).map(|input| of(input, 0)).collect();
        let mut measures: Vec<(RationalFunction, Vec<RationalFunction>)> = (1..outputs)
            .map(|output| (of(own, output), (0..own).map(|input| of(input, output)).collect()))
            .collect();
        let impedance = match test {
            Test::Through => Some(at_port),
            Test::Across if at_port.is_zero() => {
                sources.iter_mut().for_each(|source| *source = field.neg(source));
                None
            }
            Test::Across => {
                // q = Y p + I u, and so p = q/Y - I/Y u.
                for source in &mut sources {
                    let quotient = field.div(source, &at_port);
                    *source = field.neg(&quotient);
                }
                for (own, inputs) in &mut measures {
                    for (input, source) in inputs.iter_mut().zip(&sources) {
                        let moved = field.mul(own, source);
                        *input = field.add(input, &moved);
                    }
                    *own = field.div(own, &at_port);
                }
                Some(field.invert(&at_port))
            }
        };
        (!field.exhausted()).then_some(Port {
            field,
            exprs,
            s,
            impedance,
            sources,
            measures,
        })
    }

    /// Returns true if any source acts on the port.
    pub(super) fn has_sources(&self) -> bool {
        self.sources.iter().any(|source| !source.is_zero())
    }

    fn coefficients(&self, function: &RationalFunction) -> Impedance<RationalFunction> {
        let list = |polynomial: &lgm_algebra::Polynomial| {
            let coefficients = polynomial.coefficients_in(self.s).into_iter();
            let mut list: Vec<RationalFunction> = coefficients.map(RationalFunction::from).collect();
            while list.last().is_some_and(RationalFunction::is_zero) {
                list.pop();
            }
            list
        };
        Impedance {
            above: list(function.numerator()),
            below: list(function.denominator()),
        }
    }

    /// Returns the pieces of the ladder for the given parameter values; `None` if the impedance is not a ladder, empty for an open circuit.
    pub(super) fn ladder(&self) -> Option<Vec<Pull>> {
        let Some(impedance) = &self.impedance else {
            return Some(Vec::new());
        };
        let found = self.coefficients(impedance);
        let numbers = |list: &[RationalFunction]| -> Option<Vec<BigRational>> {
            list.iter().map(RationalFunction::as_number).collect()
        };
        search(&Impedance {
            above: numbers(&found.above)?,
            below: numbers(&found.below)?,
        })
    }

    /// Returns true for an open circuit and false for a short circuit, if the network has only sources.
    pub(super) fn is_open(&self) -> bool {
        self.impedance.is_none()
    }

    /// Returns the values of the pieces as text, with their reciprocals.
    pub(super) fn values(&mut self, pulls: &[Pull]) -> Option<Vec<(String, String)>> {
        let Some(impedance) = &self.impedance else {
            return Some(Vec::new());
        };
        let coefficients = self.coefficients(impedance);
        let found = values(&mut self.field, coefficients, pulls)?;
        let mut texts = Vec::with_capacity(found.len());
        for value in found {
            let inverse = self.field.invert(&value);
            texts.push((self.text(&value)?, self.text(&inverse)?));
        }
        Some(texts)
    }

    /// Formats a function that does not depend on s.
    fn text(&mut self, value: &RationalFunction) -> Option<String> {
        if self.depends_on_s(value) || self.field.exhausted() {
            return None;
        }
        let id: ExprId = self.field.to_expression(&mut self.exprs, value);
        let text = match value.as_number() {
            Some(number) => in_digits(&number),
            None => text(&self.exprs, id),
        };
        (text.len() <= SHOWN).then_some(text)
    }

    fn depends_on_s(&self, value: &RationalFunction) -> bool {
        value.numerator().degree(self.s) > 0 || value.denominator().degree(self.s) > 0
    }

    fn texts(&mut self, list: &[RationalFunction]) -> Option<Vec<String>> {
        list.iter().map(|value| self.text(value)).collect()
    }

    /// Returns the sources, if their factors are constant in series or in parallel.
    pub(super) fn constant_sources(&mut self) -> Option<Sources> {
        let sources = self.sources.clone();
        let is_series = self.impedance.is_some();
        if is_series && let Some(factors) = self.texts(&sources) {
            return Some(Sources { is_series, factors });
        }
        let parallel: Vec<RationalFunction> = match &self.impedance {
            Some(impedance) if impedance.is_zero() => return None,
            Some(impedance) => {
                let impedance = impedance.clone();
                let quotients = sources.iter().map(|source| self.field.div(source, &impedance));
                quotients.collect()
            }
            None => sources,
        };
        // The source's flow reduces the flow into the network at its first end.
        let negated: Vec<RationalFunction> = parallel.iter().map(|source| self.field.neg(source)).collect();
        let factors = self.texts(&negated)?;
        Some(Sources {
            is_series: false,
            factors,
        })
    }

    /// Returns the measurements as constant relations to the variables of the port.
    pub(super) fn constant_measures(&mut self) -> Option<Vec<Static>> {
        let measures = self.measures.clone();
        measures.iter().map(|measure| self.constant_measure(measure)).collect()
    }

    fn constant_measure(&mut self, (own, inputs): &(RationalFunction, Vec<RationalFunction>)) -> Option<Static> {
        let s = RationalFunction::variable(self.s);
        let one = RationalFunction::one();
        let inverse = self.field.invert(&s);
        for (order, operator) in [(0, &one), (-1, &inverse), (1, &s)] {
            for is_across in [false, true] {
                // own q = operator factor p, with p = Z q + V u; or own p if Z is infinite.
                let port = match (&self.impedance, is_across) {
                    (None, true) | (Some(_), false) => one.clone(),
                    (None, false) => continue,
                    (Some(impedance), true) if impedance.is_zero() => continue,
                    (Some(impedance), true) => impedance.clone(),
                };
                let port = self.field.mul(operator, &port);
                let factor = self.field.div(own, &port);
                let Some(written) = self.text(&factor) else { continue };
                let mut rest = Vec::with_capacity(inputs.len());
                for (input, source) in inputs.iter().zip(self.sources.clone()) {
                    let mut left = input.clone();
                    if is_across && self.impedance.is_some() {
                        let part = self.field.mul(&factor, operator);
                        let part = self.field.mul(&part, &source);
                        left = self.field.sub(&left, &part);
                    }
                    rest.push(left);
                }
                if let Some(inputs) = self.texts(&rest) {
                    return Some(Static {
                        is_across,
                        factor: written,
                        order,
                        inputs,
                    });
                }
            }
        }
        None
    }
}
