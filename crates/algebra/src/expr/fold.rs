//! Bottom-up traversals of shared expressions, without recursion.

use super::{Exprs, doubles, precise};
use crate::expr::exact::{LONGEST_WORK, length, to_f64};
use crate::expr::{ExprId, Function, Node, Relation, SymbolId, SymbolKind};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxHashMap, FxHashSet};
use std::convert::Infallible;

/// The errors of an exact evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// A symbol has no value.
    NoValue(SymbolId),
    /// A division by zero.
    DivisionByZero,
    /// A function outside its domain, or a nonfinite result.
    NotFinite(Option<Function>),
}

/// Looks up the values of a node's children.
type Get<'a, V> = dyn Fn(ExprId) -> Result<V, Evaluated> + 'a;

impl Exprs {
    /// Returns every expression from which the roots are built, including the roots, children before parents.
    pub fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        self.reachable_beyond(roots, |_| false)
    }

    /// Returns the reachable expressions, without known ones and their exclusive parts. If many expressions with shared parts are examined
    /// one after another, each part is visited once.
    pub fn reachable_beyond(&self, roots: &[ExprId], is_known: impl Fn(ExprId) -> bool) -> Vec<ExprId> {
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut stack: Vec<ExprId> = roots.to_vec();
        while let Some(id) = stack.pop() {
            if !is_known(id) && seen.insert(id) {
                stack.extend(self.node(id).children());
            }
        }
        let mut list: Vec<ExprId> = seen.into_iter().collect();
        list.sort_unstable();
        list
    }

    /// Returns all symbols that the roots depend on, in order of their ids.
    pub fn symbols_of(&self, roots: &[ExprId]) -> Vec<SymbolId> {
        let mut list: Vec<SymbolId> = self
            .reachable(roots)
            .into_iter()
            .filter_map(|id| match self.node(id) {
                Node::Symbol(symbol) => Some(*symbol),
                _ => None,
            })
            .collect();
        list.sort_unstable();
        list
    }

    /// Returns true if an expression depends explicitly on time.
    pub fn changes_with_time(&self, root: ExprId) -> bool {
        let symbols = self.symbols_of(&[root]);
        symbols
            .into_iter()
            .any(|symbol| self.symbol_info(symbol).kind == SymbolKind::Time)
    }

    /// Computes a value for each root bottom-up; `visit` receives a node and a lookup of its children's values.
    pub fn fold<V: Clone, E>(
        &self,
        roots: &[ExprId],
        visit: impl FnMut(ExprId, &Node, &dyn Fn(ExprId) -> V) -> Result<V, E>,
    ) -> Result<Vec<V>, E> {
        self.fold_over(&self.reachable(roots), roots, visit)
    }

    /// Folds over the given list of expressions reachable from the roots.
    fn fold_over<V: Clone, E>(
        &self,
        reachable: &[ExprId],
        roots: &[ExprId],
        mut visit: impl FnMut(ExprId, &Node, &dyn Fn(ExprId) -> V) -> Result<V, E>,
    ) -> Result<Vec<V>, E> {
        let place = |id: &ExprId| {
            reachable
                .binary_search(id)
                .expect("invariant: what is reachable is whole")
        };
        let mut values: Vec<V> = Vec::with_capacity(reachable.len());
        for id in reachable {
            let lookup = |child: ExprId| values[place(&child)].clone();
            let value = visit(*id, self.node(*id), &lookup)?;
            values.push(value);
        }
        Ok(roots.iter().map(|id| values[place(id)].clone()).collect())
    }

    /// Returns the expanded size, in nodes, of each expression and of each of its parts: shared parts count at each occurrence. The size
    /// may far exceed the available memory.
    pub fn written_sizes(&self, roots: &[ExprId]) -> FxHashMap<ExprId, u64> {
        let mut sizes: FxHashMap<ExprId, u64> = FxHashMap::default();
        for id in self.reachable(roots) {
            let size = self.node(id).children().map(|child| sizes[&child]);
            sizes.insert(id, size.fold(1, u64::saturating_add));
        }
        sizes
    }

    /// Returns the expanded size of the largest root.
    pub fn written_size(&self, roots: &[ExprId]) -> u64 {
        let sizes = self.written_sizes(roots);
        roots.iter().map(|id| sizes[id]).max().unwrap_or(0)
    }

    /// Returns true if the expanded expression has more than `limit` nodes. Visiting stops at the limit.
    pub fn is_written_beyond(&self, root: ExprId, limit: u64) -> bool {
        // Each reachable node is written at least once.
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                if seen.len() as u64 > limit {
                    return true;
                }
                stack.extend(self.node(id).children());
            }
        }
        self.written_size(&[root]) > limit
    }

    /// Replaces symbols by expressions; `None` keeps the symbol.
    pub fn substitute(&mut self, roots: &[ExprId], replacement: impl FnMut(SymbolId) -> Option<ExprId>) -> Vec<ExprId> {
        self.substitute_on(roots, &mut FxHashMap::default(), replacement)
    }

    /// Replaces symbols in expressions that share parts, one after another: `values` caches the replacement of each part. Each symbol must
    /// be replaced in the same way each time.
    pub fn substitute_on(
        &mut self,
        roots: &[ExprId],
        values: &mut FxHashMap<ExprId, ExprId>,
        mut replacement: impl FnMut(SymbolId) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        for id in self.reachable_beyond(roots, |id| values.contains_key(&id)) {
            let node = self.node(id).clone();
            let value = match node {
                Node::Number(_) | Node::Pi => id,
                Node::Symbol(symbol) => replacement(symbol).unwrap_or(id),
                Node::Sum(list) => {
                    let list: Vec<ExprId> = list.iter().map(|child| values[child]).collect();
                    self.sum(list)
                }
                Node::Product(list) => {
                    let list: Vec<ExprId> = list.iter().map(|child| values[child]).collect();
                    self.product(list)
                }
                Node::Power(a, b) => self.power(values[&a], values[&b]),
                Node::Call(function, list) => {
                    let list: Vec<ExprId> = list.iter().map(|child| values[child]).collect();
                    self.call(function, list)
                }
                Node::Relation(relation, a, b) => self.relation(relation, values[&a], values[&b]),
                Node::Not(a) => self.not(values[&a]),
                Node::If(c, a, b) => self.if_else(values[&c], values[&a], values[&b]),
            };
            values.insert(id, value);
        }
        roots.iter().map(|id| values[id]).collect()
    }

    /// Like [`Exprs::fold`], but a part may have no value, which is an error for every expression that needs it.
    fn evaluate<V: Clone>(
        &self,
        reachable: &[ExprId],
        roots: &[ExprId],
        visit: impl Fn(&Node, &Get<V>) -> Result<V, Evaluated>,
    ) -> Result<Vec<V>, Evaluated> {
        let visit = |_, node: &Node, get: &Get<V>| Ok::<_, Infallible>(visit(node, get));
        let found = self.fold_over(reachable, roots, visit);
        let Ok(found) = found;
        found.into_iter().collect()
    }

    /// Computes values in double precision; `step` and similar functions require a value for the time symbol.
    pub fn evaluate_f64(
        &self,
        roots: &[ExprId],
        value: &dyn Fn(SymbolId) -> Option<f64>,
    ) -> Result<Vec<f64>, Evaluated> {
        self.evaluate_with(&self.reachable(roots), roots, value, true)
    }

    /// Computes values, with infinity for a division by zero: a branch that is not taken needs no value. Symbols without a value are NaN.
    pub fn evaluate_unchecked(&self, roots: &[ExprId], value: &dyn Fn(SymbolId) -> Option<f64>) -> Vec<f64> {
        self.evaluate_over(&self.reachable(roots), roots, value)
    }

    /// Computes values for roots that are evaluated many times: the list of reachable expressions is made once.
    pub fn evaluate_over(
        &self,
        reachable: &[ExprId],
        roots: &[ExprId],
        value: &dyn Fn(SymbolId) -> Option<f64>,
    ) -> Vec<f64> {
        let value = |symbol| Some(value(symbol).unwrap_or(f64::NAN));
        let found = self.evaluate_with(reachable, roots, &value, false);
        found.expect("invariant: nothing is checked")
    }

    fn evaluate_with(
        &self,
        reachable: &[ExprId],
        roots: &[ExprId],
        value: &dyn Fn(SymbolId) -> Option<f64>,
        checked: bool,
    ) -> Result<Vec<f64>, Evaluated> {
        self.evaluate(reachable, roots, |node, get: &Get<f64>| {
            Ok(match node {
                Node::Number(number) => number.to_f64().unwrap_or(f64::NAN),
                Node::Pi => std::f64::consts::PI,
                Node::Symbol(symbol) => value(*symbol).ok_or(Evaluated::NoValue(*symbol))?,
                Node::Sum(list) => list.iter().map(|id| get(*id)).sum::<Result<f64, Evaluated>>()?,
                Node::Product(list) => list.iter().map(|id| get(*id)).product::<Result<f64, Evaluated>>()?,
                Node::Power(base, exponent) => {
                    let (base, exponent) = (get(*base)?, get(*exponent)?);
                    if checked && base == 0.0 && exponent < 0.0 {
                        return Err(Evaluated::DivisionByZero);
                    }
                    doubles::power(base, exponent)
                }
                Node::Call(function, list) => {
                    let arguments = list
                        .iter()
                        .map(|id| get(*id))
                        .collect::<Result<Vec<f64>, Evaluated>>()?;
                    doubles::call(*function, &arguments)
                }
                Node::Relation(relation, a, b) => f64::from(doubles::holds(*relation, get(*a)?, get(*b)?)),
                Node::Not(a) => f64::from(get(*a)? == 0.0),
                Node::If(c, a, b) => {
                    if get(*c)? != 0.0 {
                        chosen(get(*a), get(*b))?
                    } else {
                        chosen(get(*b), get(*a))?
                    }
                }
            })
        })
    }

    /// Computes exact values. Decimals stay exact; the value of a transcendental function is rounded once to 384 bits and is then treated
    /// as exact (design: "The linear core, in formulas"). A value with thousands of digits is rounded to double. A sum that is 0 to within
    /// the digits of its terms is 0.
    pub fn evaluate_exact(
        &self,
        roots: &[ExprId],
        value: &dyn Fn(SymbolId) -> Option<BigRational>,
    ) -> Result<Vec<BigRational>, Evaluated> {
        let reachable = self.reachable(roots);
        self.evaluate(&reachable, roots, |node, get: &Get<BigRational>| {
            Ok(match node {
                Node::Number(number) => (**number).clone(),
                Node::Pi => precise::pi(),
                Node::Symbol(symbol) => value(*symbol).ok_or(Evaluated::NoValue(*symbol))?,
                Node::Sum(list) => {
                    let values = list
                        .iter()
                        .map(|id| get(*id))
                        .collect::<Result<Vec<BigRational>, Evaluated>>()?;
                    let sum = combined(&values, |a, b| a + b).ok_or(Evaluated::NotFinite(None))?;
                    let sizes = values
                        .iter()
                        .max_by_key(|value| value.numer().bits() as i64 - value.denom().bits() as i64);
                    match sizes {
                        Some(largest) => precise::without_rounding(sum, largest),
                        None => sum,
                    }
                }
                Node::Product(list) => {
                    let values = list
                        .iter()
                        .map(|id| get(*id))
                        .collect::<Result<Vec<BigRational>, Evaluated>>()?;
                    combined(&values, |a, b| a * b).ok_or(Evaluated::NotFinite(None))?
                }
                Node::Power(base, exponent) => {
                    let (base, exponent) = (get(*base)?, get(*exponent)?);
                    if base.is_zero() && exponent.is_negative() {
                        return Err(Evaluated::DivisionByZero);
                    }
                    let longest = |base: &BigRational, small: i32| length(base) * u64::from(small.unsigned_abs());
                    let small = exponent.to_integer().to_i32().filter(|_| exponent.is_integer());
                    let base = match small {
                        Some(small) if longest(&base, small) > LONGEST => precise::trimmed(base),
                        _ => base,
                    };
                    match small {
                        Some(small) if longest(&base, small) <= LONGEST => base.pow(small),
                        _ => match precise::power(&base, &exponent) {
                            Some(value) => value,
                            None => {
                                let found = BigRational::from_float(to_f64(&base).powf(to_f64(&exponent)));
                                found.ok_or(Evaluated::NotFinite(None))?
                            }
                        },
                    }
                }
                Node::Call(function, list) => {
                    let arguments = list
                        .iter()
                        .map(|id| get(*id))
                        .collect::<Result<Vec<BigRational>, Evaluated>>()?;
                    exact_call(*function, &arguments)?
                }
                Node::Relation(relation, a, b) => {
                    let (a, b) = (get(*a)?, get(*b)?);
                    let holds = match relation {
                        Relation::Less => a < b,
                        Relation::LessEqual => a <= b,
                        Relation::Greater => a > b,
                        Relation::GreaterEqual => a >= b,
                        Relation::Equal => a == b,
                        Relation::NotEqual => a != b,
                        Relation::And => !a.is_zero() && !b.is_zero(),
                        Relation::Or => !a.is_zero() || !b.is_zero(),
                    };
                    truth(holds)
                }
                Node::Not(a) => {
                    let value = get(*a)?;
                    truth(value.is_zero())
                }
                Node::If(c, a, b) => {
                    if get(*c)?.is_zero() {
                        chosen(get(*b), get(*a))?
                    } else {
                        chosen(get(*a), get(*b))?
                    }
                }
            })
        })
    }
}

/// Returns the exact value of a function, rounded to 384 bits if it is irrational.
fn exact_call(function: Function, arguments: &[BigRational]) -> Result<BigRational, Evaluated> {
    Ok(match (function, arguments) {
        (Function::Abs, [only]) => only.abs(),
        (Function::Sign, [only]) => only.signum(),
        (Function::Floor, [only]) => only.floor(),
        (Function::Min, [first, rest @ ..]) => rest.iter().fold(first.clone(), |a, b| a.min(b.clone())),
        (Function::Max, [first, rest @ ..]) => rest.iter().fold(first.clone(), |a, b| a.max(b.clone())),
        (Function::Int | Function::Der, _) => return Err(Evaluated::NotFinite(Some(function))),
        // Compares exact times, because doubles may not distinguish the time from the instant.
        (Function::Step, [begin, now]) => truth(begin <= now),
        (Function::Pulse, [begin, width, now]) => truth(begin <= now && *now < begin + width),
        (Function::Ramp, [begin, now]) => (now - begin).max(BigRational::zero()),
        (function, all) => match all.first().and_then(|only| precise::call(function, only)) {
            Some(value) => value,
            None => {
                let arguments: Vec<f64> = all.iter().map(to_f64).collect();
                let found = BigRational::from_float(doubles::call(function, &arguments));
                found.ok_or(Evaluated::NotFinite(Some(function)))?
            }
        },
    })
}

fn truth(holds: bool) -> BigRational {
    match holds {
        true => BigRational::one(),
        false => BigRational::zero(),
    }
}

/// Selects the active branch of an `if`. A division by zero in the other branch is ignored; a symbol without a value in it is an error.
fn chosen<V>(taken: Result<V, Evaluated>, other: Result<V, Evaluated>) -> Result<V, Evaluated> {
    match (taken, other) {
        (Ok(_), Err(fault @ Evaluated::NoValue(_))) => Err(fault),
        (taken, _) => taken,
    }
}

/// The maximum length in bits of the numerator and denominator of an exact value: longer than any literal, but short enough for fast
/// arithmetic.
const LONGEST: u64 = 8192;

/// Combines values from left to right, and rounds what becomes too long as irrational numbers are rounded; `None` out of range.
fn combined(values: &[BigRational], with: impl Fn(&BigRational, &BigRational) -> BigRational) -> Option<BigRational> {
    let (first, rest) = values.split_first()?;
    let (mut all, mut work) = (first.clone(), 0);
    for value in rest {
        all = with(&all, value);
        work += length(&all) * length(&all);
        if length(&all) > LONGEST || work > LONGEST_WORK {
            (all, work) = (precise::trimmed(all), 0);
        }
    }
    (length(&all) <= LONGEST).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a list in which each expression is twice the sine of the previous one, as a sum: the expanded size doubles each time.
    fn doubled(exprs: &mut Exprs, count: usize) -> Vec<ExprId> {
        let symbol = exprs.new_symbol("x", SymbolKind::State);
        let mut list = vec![exprs.symbol(symbol)];
        for _ in 1..count {
            let last = list[list.len() - 1];
            let sine = exprs.call(Function::Sin, [last]);
            list.push(exprs.sum([sine, sine]));
        }
        list
    }

    #[test]
    fn parts_that_are_known_are_visited_once() {
        let mut exprs = Exprs::default();
        let roots = doubled(&mut exprs, 500);
        let mut known: FxHashSet<ExprId> = FxHashSet::default();
        let mut visited = 0;
        for root in &roots {
            let new = exprs.reachable_beyond(&[*root], |id| known.contains(&id));
            visited += new.len();
            known.extend(new);
        }
        let all = exprs.reachable(&roots);
        assert_eq!(visited, all.len());
        assert!(all.iter().all(|id| known.contains(id)));
    }

    #[test]
    fn expressions_are_replaced_one_after_another_as_together() {
        let mut exprs = Exprs::default();
        let roots = doubled(&mut exprs, 50);
        let other = exprs.new_symbol("y", SymbolKind::State);
        let other = exprs.symbol(other);
        let together = exprs.substitute(&roots, |_| Some(other));
        let (mut values, mut asked) = (FxHashMap::default(), 0);
        for (root, wanted) in roots.iter().zip(together) {
            let found = exprs.substitute_on(&[*root], &mut values, |_| {
                asked += 1;
                Some(other)
            });
            assert_eq!(found, [wanted]);
        }
        assert_eq!(asked, 1);
    }

    #[test]
    fn lengths_beyond_a_limit_are_reported_as_by_the_length() {
        let mut exprs = Exprs::default();
        for root in doubled(&mut exprs, 100) {
            let size = exprs.written_size(&[root]);
            for limit in [0, 1, 4, 30, 400, 1 << 40, size.saturating_sub(1), size] {
                assert_eq!(exprs.is_written_beyond(root, limit), size > limit);
            }
        }
    }
}
