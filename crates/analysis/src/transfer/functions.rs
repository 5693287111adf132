//! Transfer functions in terms of the parameters, and exactly for their values.

use super::elimination::{Quotient, quotients, with_sign};
use crate::values::{exact_form, in_digits, try_map};
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, SymbolKind};
use lgm_algebra::{Field, FromExpression, Kernels, Polynomial, RationalFunction, RationalFunctions, Variable};
use lgm_model::system::{LinearForm, StateSystem};
use num_rational::BigRational;
use num_traits::Zero;

/// The maximum number of term operations for one elimination: a second or two.
const OPERATIONS: u64 = 20_000_000;

/// The maximum length of an intermediate polynomial.
const TERMS: usize = 20_000;

/// Coefficients with more terms than this in total are unreadable.
const SHOWN_TERMS: usize = 5_000;

/// One transfer function: coefficients of the powers of s, highest first. Zero is 0/1.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferFunction<T> {
    /// Index of the input.
    pub input: usize,
    /// Index of the output.
    pub output: usize,
    /// Coefficients of the numerator.
    pub numerator: Vec<T>,
    /// Coefficients of the denominator.
    pub denominator: Vec<T>,
}

/// Transfer functions in terms of the parameters, with the arena of their expressions. Numerator and denominator have integer coefficients
/// and no common factor, neither in s nor in any parameter.
#[derive(Clone, Debug)]
pub struct SymbolicTransfer {
    /// The arena.
    pub exprs: Exprs,
    /// The functions, one for each pair, inputs outermost.
    pub functions: Vec<TransferFunction<ExprId>>,
}

/// Returns the transfer functions in terms of the parameters; `None` if the system has no such matrices, or if the functions are too long.
pub fn symbolic_transfer(system: &StateSystem, inputs: &[usize], outputs: &[usize]) -> Option<SymbolicTransfer> {
    let mut symbols = Symbols::of(system)?;
    let found = quotients(&mut symbols.field, &symbols.form, symbols.s, inputs, outputs)?;
    let terms = |quotient: &Quotient| {
        let all = quotient.numerator.iter().chain(&quotient.denominator);
        all.map(Polynomial::term_count).sum::<usize>()
    };
    if found.iter().map(terms).max().unwrap_or(0) > SHOWN_TERMS {
        return None;
    }
    let mut written = |list: Vec<Polynomial>| -> Vec<ExprId> {
        let coefficients = list.into_iter().rev();
        coefficients.map(|value| symbols.written(value)).collect()
    };
    let functions = found.into_iter().map(|quotient| TransferFunction {
        input: quotient.input,
        output: quotient.output,
        numerator: written(quotient.numerator),
        denominator: written(quotient.denominator),
    });
    let functions = functions.collect();
    Some(SymbolicTransfer {
        exprs: symbols.exprs,
        functions,
    })
}

/// The matrices in terms of the parameters, with the field of their entries.
pub(super) struct Symbols {
    exprs: Exprs,
    /// The field.
    pub(super) field: RationalFunctions,
    /// The variable of the Laplace transform.
    pub(super) s: Variable,
    /// The matrices.
    pub(super) form: LinearForm<RationalFunction>,
}

impl Symbols {
    /// Converts the matrices of a system; `None` if it has none, or if they are too long.
    pub(super) fn of(system: &StateSystem) -> Option<Symbols> {
        let form = written_form(system)?;
        let mut exprs = system.exprs.clone();
        let s = Kernels::symbol(exprs.new_symbol("s", SymbolKind::Parameter));
        let mut field = RationalFunctions::new(OPERATIONS, TERMS);
        let form = try_map(form, |id| field.from_expression(&exprs, *id).ok())?;
        Some(Symbols { exprs, field, s, form })
    }

    fn written(&mut self, value: Polynomial) -> ExprId {
        self.field
            .to_expression(&mut self.exprs, &RationalFunction::from(value))
    }

    /// Formats the coefficients of descending powers of s.
    pub(super) fn coefficients(&mut self, value: &Polynomial) -> Vec<String> {
        let list = value.coefficients_in(self.s).into_iter().rev();
        list.map(|value| {
            let id = self.written(value);
            lgm_algebra::expr::text(&self.exprs, id)
        })
        .collect()
    }
}

/// The maximum number of pairs computed one by one; a pair takes at most a second or two.
const MOST_PAIRS: usize = 16;

/// Returns the exact transfer functions for the values of the parameters, in lowest terms, one for each pair, inputs outermost. `None` for
/// a pair if the values are not known exactly, or if its function is too long. If all pairs together are too long, they are computed one by
/// one.
pub(crate) fn exact_transfers(
    system: &StateSystem,
    inputs: &[usize],
    outputs: &[usize],
) -> Vec<Option<TransferFunction<BigRational>>> {
    if let Some(all) = exact_transfer(system, inputs, outputs) {
        return all.into_iter().map(Some).collect();
    }
    let pairs = inputs
        .iter()
        .flat_map(|input| outputs.iter().map(|output| (*input, *output)));
    let is_tried = (2..=MOST_PAIRS).contains(&(inputs.len() * outputs.len()));
    let one = |(input, output)| {
        let found = is_tried.then(|| exact_transfer(system, &[input], &[output]))?;
        found?.pop()
    };
    pairs.map(one).collect()
}

/// Computes the transfer functions of all pairs together.
fn exact_transfer(
    system: &StateSystem,
    inputs: &[usize],
    outputs: &[usize],
) -> Option<Vec<TransferFunction<BigRational>>> {
    let form = exact_form(system)?;
    let mut exprs = Exprs::default();
    let s = Kernels::symbol(exprs.new_symbol("s", SymbolKind::Parameter));
    let mut field = RationalFunctions::new(OPERATIONS, TERMS);
    let form = try_map(&form, |value| Some(RationalFunction::number(value)))?;
    let found = quotients(&mut field, &form, s, inputs, outputs)?;
    let numbers = |list: Vec<Polynomial>| -> Vec<BigRational> {
        let coefficients = list.into_iter().rev();
        coefficients
            .map(|value| value.evaluate(|_| BigRational::zero()))
            .collect()
    };
    let functions = found.into_iter().map(|quotient| TransferFunction {
        input: quotient.input,
        output: quotient.output,
        numerator: numbers(quotient.numerator),
        denominator: numbers(quotient.denominator),
    });
    Some(functions.collect())
}

/// Transfer functions of one output, for further calculation.
pub(crate) struct Functions {
    field: RationalFunctions,
    exprs: Exprs,
    s: Variable,
    list: Vec<RationalFunction>,
    numeric: bool,
}

/// Returns the matrices in terms of the parameters, unless they contain shared terms, which represent long expressions.
fn written_form(system: &StateSystem) -> Option<&LinearForm<ExprId>> {
    let form = system.matrices.symbolic.as_ref()?;
    let is_shared = |symbol: &SymbolId| system.exprs.symbol_info(*symbol).kind == SymbolKind::Assignment;
    let is_written = |id: &ExprId| !system.exprs.symbols_of(&[*id]).iter().any(is_shared);
    try_map(form, |id| is_written(id).then_some(())).map(|_| form)
}

/// Returns the matrices for the values of the parameters: exact if these are known exactly, otherwise from their doubles.
fn values_form(system: &StateSystem) -> Option<LinearForm<BigRational>> {
    let rounded = || {
        try_map(system.matrices.numeric.as_ref()?, |value| {
            BigRational::from_float(*value)
        })
    };
    exact_form(system).or_else(rounded)
}

/// Returns the transfer functions from the inputs to the outputs, inputs outermost, in terms of the parameters or for their values; `None`
/// if they are too long. Equations that share long terms are too long in terms of the parameters.
pub(crate) fn functions(system: &StateSystem, inputs: &[usize], outputs: &[usize], numeric: bool) -> Option<Functions> {
    let mut exprs = match numeric {
        true => Exprs::default(),
        false => system.exprs.clone(),
    };
    let s = Kernels::symbol(exprs.new_symbol("s", SymbolKind::Parameter));
    let mut field = RationalFunctions::new(OPERATIONS, TERMS);
    let form = match numeric {
        true => try_map(&values_form(system)?, |value| Some(RationalFunction::number(value)))?,
        false => {
            let form = written_form(system)?;
            try_map(form, |id| field.from_expression(&exprs, *id).ok())?
        }
    };
    let found = quotients(&mut field, &form, s, inputs, outputs)?;
    let mut list = Vec::with_capacity(found.len());
    for quotient in found {
        let above = Polynomial::from_coefficients_in(s, &quotient.numerator);
        let below = Polynomial::from_coefficients_in(s, &quotient.denominator);
        list.push(field.quotient(&above, &below));
    }
    Some(Functions {
        field,
        exprs,
        s,
        list,
        numeric,
    })
}

impl Functions {
    /// Converts expressions in terms of the parameters, the inputs and `s`; `None` if they are too long.
    pub(crate) fn of_expressions(exprs: &Exprs, s: SymbolId, list: &[ExprId]) -> Option<Functions> {
        let mut field = RationalFunctions::new(OPERATIONS, TERMS);
        let read = list.iter().map(|id| field.from_expression(exprs, *id).ok());
        let list: Vec<RationalFunction> = read.collect::<Option<_>>()?;
        (!field.exhausted()).then(|| Functions {
            field,
            exprs: exprs.clone(),
            s: Kernels::symbol(s),
            list,
            numeric: false,
        })
    }

    /// Returns true if a function is zero.
    pub(crate) fn is_zero(&self, at: usize) -> bool {
        self.list[at].is_zero()
    }

    /// Replaces a function by its quotient with another one.
    pub(crate) fn divide(&mut self, at: usize, by: usize) {
        self.list[at] = self.field.div(&self.list[at], &self.list[by]);
    }

    /// Replaces a function by its negative.
    pub(crate) fn negate(&mut self, at: usize) {
        self.list[at] = self.field.neg(&self.list[at]);
    }

    /// Replaces a function by its inverse.
    pub(crate) fn invert(&mut self, at: usize) {
        self.list[at] = self.field.invert(&self.list[at]);
    }

    /// Returns true if the results are invalid because they grew too long.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.field.exhausted()
    }

    /// Returns the field, the arena, the variable s and the functions, inputs outermost.
    pub(crate) fn into_parts(self) -> (RationalFunctions, Exprs, Variable, Vec<RationalFunction>) {
        (self.field, self.exprs, self.s, self.list)
    }

    /// Formats a function; if the denominator has no s, the numerator is divided by it and the denominator becomes 1.
    pub(crate) fn written_over_one(&mut self, at: usize) -> (Vec<String>, Vec<String>) {
        let function = &self.list[at];
        let (above, below) = (
            function.numerator().coefficients_in(self.s),
            function.denominator().coefficients_in(self.s),
        );
        let [below] = &below[..] else { return self.written(at) };
        if self.numeric {
            return self.written(at);
        }
        let mut texts = Vec::with_capacity(above.len());
        for coefficient in above.iter().rev() {
            let value = self.field.quotient(coefficient, below);
            let id = self.field.to_expression(&mut self.exprs, &value);
            texts.push(lgm_algebra::expr::text(&self.exprs, id));
        }
        (texts, vec!["1".to_string()])
    }

    /// Formats the coefficients of descending powers of s.
    pub(crate) fn written(&mut self, at: usize) -> (Vec<String>, Vec<String>) {
        let function = &self.list[at];
        let quotient = with_sign(self.s, [0, at], function.numerator(), function.denominator());
        let leading = quotient
            .denominator
            .last()
            .map(|value| value.evaluate(|_| BigRational::zero()));
        let numeric = leading.filter(|leading| self.numeric && !leading.is_zero());
        let mut texts = |list: Vec<Polynomial>| -> Vec<String> {
            let text = |value: Polynomial| match &numeric {
                Some(leading) => in_digits(&(value.evaluate(|_| BigRational::zero()) / leading)),
                None => {
                    let id = self
                        .field
                        .to_expression(&mut self.exprs, &RationalFunction::from(value));
                    lgm_algebra::expr::text(&self.exprs, id)
                }
            };
            list.into_iter().rev().map(text).collect()
        };
        (texts(quotient.numerator), texts(quotient.denominator))
    }
}
