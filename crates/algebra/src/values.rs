//! Fields in which the symbols have values, and the field of uncancelled shared expressions.

use super::from_expression::FromExpression;
use super::linear::minors::solve_away_from_zero;
use super::ranges::Ranges;
use super::sampled::Sampled;
use super::{Doubles, Field, PrimeField, Rationals, Row};
use crate::BlockSolution;
use crate::expr::{Evaluated, ExprId, Exprs, SymbolId, without_rounding};
use num_rational::BigRational;
use rustc_hash::{FxHashMap, FxHashSet};

/// Exact rational numbers in which each symbol has a value, with a limit on the work for their digits. Irrational numbers are rounded to
/// 384 bits, and a sum that is 0 to within these digits is 0.
#[derive(Clone, Debug)]
pub struct ExactValues {
    /// The values; changing one does not affect expressions already converted.
    pub values: FxHashMap<SymbolId, BigRational>,
    memo: FxHashMap<ExprId, BigRational>,
    /// The remaining word operations; none after more were requested.
    work: Option<u64>,
}

impl ExactValues {
    /// The number of word operations that take about a second.
    const WORK: u64 = 500_000_000;

    /// Creates the field with these values.
    pub fn new(values: FxHashMap<SymbolId, BigRational>) -> ExactValues {
        ExactValues {
            values,
            memo: FxHashMap::default(),
            work: Some(ExactValues::WORK),
        }
    }

    /// Deducts the work of an operation; returns true if enough was left. Cancelling common factors takes most of the work: one pass over
    /// all words for each bit.
    fn has_work(&mut self, a: &BigRational, b: &BigRational) -> bool {
        let bits = |value: &BigRational| value.numer().bits() + value.denom().bits();
        let all = bits(a) + bits(b);
        self.work = self.work.and_then(|left| left.checked_sub(all * (all / 64 + 1)));
        self.work.is_some()
    }
}

/// Returns the longer of two numbers.
fn larger<'n>(a: &'n BigRational, b: &'n BigRational) -> &'n BigRational {
    let magnitude = |value: &BigRational| value.numer().bits() as i64 - value.denom().bits() as i64;
    if magnitude(a) < magnitude(b) { b } else { a }
}

impl Field for ExactValues {
    type Element = BigRational;

    fn zero(&self) -> BigRational {
        Rationals.zero()
    }
    fn one(&self) -> BigRational {
        Rationals.one()
    }
    fn is_zero(&self, a: &BigRational) -> bool {
        Rationals.is_zero(a)
    }
    fn add(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        match self.has_work(a, b) {
            true => without_rounding(Rationals.add(a, b), larger(a, b)),
            false => self.zero(),
        }
    }
    fn sub(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        match self.has_work(a, b) {
            true => without_rounding(Rationals.sub(a, b), larger(a, b)),
            false => self.zero(),
        }
    }
    fn mul(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        match self.has_work(a, b) {
            true => Rationals.mul(a, b),
            false => self.zero(),
        }
    }
    fn neg(&mut self, a: &BigRational) -> BigRational {
        Rationals.neg(a)
    }
    fn invert(&mut self, a: &BigRational) -> BigRational {
        match self.exhausted() {
            true => self.one(),
            false => Rationals.invert(a),
        }
    }
    fn div(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        match self.has_work(a, b) {
            true => Rationals.div(a, b),
            false => self.zero(),
        }
    }
    fn pivot_cost(&self, a: &BigRational) -> f64 {
        Rationals.pivot_cost(a)
    }
    fn exhausted(&self) -> bool {
        self.work.is_none()
    }
}

/// Double precision, in which each symbol has a value.
#[derive(Clone, Debug, Default)]
pub struct DoubleValues {
    /// The values; changing one does not affect expressions already converted.
    pub values: FxHashMap<SymbolId, f64>,
    memo: FxHashMap<ExprId, f64>,
}

impl DoubleValues {
    /// Creates the field with these values.
    pub fn new(values: FxHashMap<SymbolId, f64>) -> DoubleValues {
        DoubleValues {
            values,
            memo: FxHashMap::default(),
        }
    }
}

impl Field for DoubleValues {
    type Element = f64;

    fn zero(&self) -> f64 {
        Doubles.zero()
    }
    fn one(&self) -> f64 {
        Doubles.one()
    }
    fn is_zero(&self, a: &f64) -> bool {
        Doubles.is_zero(a)
    }
    fn add(&mut self, a: &f64, b: &f64) -> f64 {
        Doubles.add(a, b)
    }
    fn sub(&mut self, a: &f64, b: &f64) -> f64 {
        Doubles.sub(a, b)
    }
    fn mul(&mut self, a: &f64, b: &f64) -> f64 {
        Doubles.mul(a, b)
    }
    fn neg(&mut self, a: &f64) -> f64 {
        Doubles.neg(a)
    }
    fn invert(&mut self, a: &f64) -> f64 {
        Doubles.invert(a)
    }
    fn div(&mut self, a: &f64, b: &f64) -> f64 {
        Doubles.div(a, b)
    }
    fn pivot_cost(&self, a: &f64) -> f64 {
        Doubles.pivot_cost(a)
    }
    fn magnitude(&self, a: &f64) -> Option<f64> {
        Doubles.magnitude(a)
    }
}

impl FromExpression for ExactValues {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<BigRational, Evaluated> {
        if let Some(known) = self.memo.get(&id) {
            return Ok(known.clone());
        }
        let value = exprs
            .evaluate_exact(&[id], &|symbol| self.values.get(&symbol).cloned())?
            .swap_remove(0);
        self.memo.insert(id, value.clone());
        Ok(value)
    }
}

impl FromExpression for DoubleValues {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<f64, Evaluated> {
        if let Some(known) = self.memo.get(&id) {
            return Ok(*known);
        }
        let value = exprs.evaluate_f64(&[id], &|symbol| self.values.get(&symbol).copied())?[0];
        self.memo.insert(id, value);
        Ok(value)
    }
}

/// An expression with its image under a sampled point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The expression, in the arena of [`SharedExpressions`].
    pub expression: ExprId,
    /// The value in the prime field; 0 exactly if the expression is the number 0.
    pub image: u64,
}

/// The field of expressions that are shared but never expanded or cancelled, for rational functions that exceed their limit.
///
/// Each element stores its image at a sampled point, so that vanishing elements are recognised, though not expanded. For the same reason,
/// two elements with the same image are one function, and the first expression found represents both.
#[derive(Clone, Debug)]
pub struct SharedExpressions {
    /// The arena that contains the elements.
    pub exprs: Exprs,
    point: Sampled,
    by_image: FxHashMap<u64, ExprId>,
    /// The point at which the expressions will be evaluated first, and the elements that vanish or have no value there: as a pivot, such an
    /// element would divide by zero.
    given: Option<Sampled>,
    vanishing: FxHashSet<ExprId>,
    /// The ranges of the expressions along a motion: which of them vary, and which may pass through zero.
    ranges: Option<Ranges>,
    changing: FxHashSet<ExprId>,
    passing: FxHashSet<ExprId>,
}

impl SharedExpressions {
    /// Creates the field over an arena, which [`SharedExpressions::into_exprs`] returns.
    pub fn new(mut exprs: Exprs, seed: u64) -> SharedExpressions {
        let (zero, one) = (exprs.zero(), exprs.one());
        let minus_one = exprs.integer(-1);
        let by_image = [(0, zero), (1, one), (PrimeField::MODULUS - 1, minus_one)];
        SharedExpressions {
            exprs,
            point: Sampled::new(seed),
            by_image: by_image.into_iter().collect(),
            given: None,
            vanishing: FxHashSet::default(),
            ranges: None,
            changing: FxHashSet::default(),
            passing: FxHashSet::default(),
        }
    }

    /// Returns the field with pivots that, if possible, do not pass through zero while all symbols except these parameters vary.
    pub fn along_motions(self, parameters: FxHashMap<SymbolId, f64>) -> SharedExpressions {
        SharedExpressions {
            ranges: Some(Ranges::new(parameters)),
            ..self
        }
    }

    /// Creates the field with pivots that, if possible, do not vanish at a given point.
    pub fn with_given(exprs: Exprs, seed: u64, given: Sampled) -> SharedExpressions {
        SharedExpressions {
            given: Some(given),
            ..SharedExpressions::new(exprs, seed)
        }
    }

    /// Returns the arena, with all expressions built so far.
    pub fn into_exprs(self) -> Exprs {
        self.exprs
    }

    /// Converts an expression of the arena to an element.
    pub fn read(&mut self, id: ExprId) -> Result<Shared, Evaluated> {
        let image = self.point.from_expression(&self.exprs, id)?;
        Ok(self.element(image, |_| id))
    }

    fn element(&mut self, image: u64, build: impl FnOnce(&mut Exprs) -> ExprId) -> Shared {
        if let Some(known) = self.by_image.get(&image) {
            return Shared {
                expression: *known,
                image,
            };
        }
        let expression = match self.by_image.get(&PrimeField.neg(&image)) {
            Some(opposite) => self.exprs.neg(*opposite),
            None => build(&mut self.exprs),
        };
        self.by_image.insert(image, expression);
        if let Some(given) = &mut self.given
            && matches!(given.from_expression(&self.exprs, expression), Ok(0) | Err(_))
        {
            self.vanishing.insert(expression);
        }
        if let Some(ranges) = &mut self.ranges {
            if ranges.changes(&self.exprs, expression) {
                self.changing.insert(expression);
            }
            if ranges.may_vanish(&self.exprs, expression) {
                self.passing.insert(expression);
            }
        }
        Shared { expression, image }
    }
}

impl Field for SharedExpressions {
    type Element = Shared;

    fn zero(&self) -> Shared {
        Shared {
            expression: self.by_image[&0],
            image: 0,
        }
    }
    fn one(&self) -> Shared {
        Shared {
            expression: self.by_image[&1],
            image: 1,
        }
    }
    fn is_zero(&self, a: &Shared) -> bool {
        a.image == 0
    }
    fn add(&mut self, a: &Shared, b: &Shared) -> Shared {
        let image = PrimeField.add(&a.image, &b.image);
        self.element(image, |exprs| exprs.add(a.expression, b.expression))
    }
    fn sub(&mut self, a: &Shared, b: &Shared) -> Shared {
        let image = PrimeField.sub(&a.image, &b.image);
        self.element(image, |exprs| exprs.sub(a.expression, b.expression))
    }
    fn mul(&mut self, a: &Shared, b: &Shared) -> Shared {
        let image = PrimeField.mul(&a.image, &b.image);
        self.element(image, |exprs| exprs.mul(a.expression, b.expression))
    }
    fn neg(&mut self, a: &Shared) -> Shared {
        let image = PrimeField.neg(&a.image);
        self.element(image, |exprs| exprs.neg(a.expression))
    }
    fn invert(&mut self, a: &Shared) -> Shared {
        let image = PrimeField.invert(&a.image);
        self.element(image, |exprs| {
            let one = exprs.one();
            exprs.div(one, a.expression)
        })
    }
    fn div(&mut self, a: &Shared, b: &Shared) -> Shared {
        let image = PrimeField.div(&a.image, &b.image);
        self.element(image, |exprs| exprs.div(a.expression, b.expression))
    }
    fn pivot_cost(&self, a: &Shared) -> f64 {
        if self.vanishing.contains(&a.expression) {
            f64::INFINITY
        } else if self.exprs.as_number(a.expression).is_none() {
            2.0
        } else {
            PrimeField.pivot_cost(&a.image)
        }
    }
    fn may_vanish(&self, a: &Shared) -> bool {
        self.passing.contains(&a.expression)
    }
    fn solve_block(&mut self, matrix: Vec<Row<Shared>>, right: Vec<Row<Shared>>) -> BlockSolution<Shared> {
        let mut entries = matrix.iter().flatten();
        match entries.any(|entry| self.changing.contains(&entry.1.expression)) {
            true => BlockSolution::Solved(solve_away_from_zero(self, matrix, right)),
            false => BlockSolution::ByElimination(matrix, right),
        }
    }
}

impl FromExpression for SharedExpressions {
    /// Returns the ids must belong to the arena from which the field was created.
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<Shared, Evaluated> {
        let image = self.point.from_expression(exprs, id)?;
        Ok(self.element(image, |_| id))
    }
}
