//! Elimination between vectors: each is replaced by states, inputs and values of sources.

use super::super::check::{Checked, Points};
use super::super::order::Order;
use super::super::report::{Rule, Sides, Step};
use super::super::topology::Equation;
use super::super::variables::{Reading, Table};
use super::algebra::{Factor, Product, Sum, Term, collected, negated, times};
use super::check::holds;
use super::equations::{VectorEquation, equations};
use super::lift::{Lift, stripped};
use super::print::{Writing, definition};
use crate::causality::CausalityReport;
use lgm_algebra::expr::{ExprId, Function, Node, SymbolId, SymbolKind};
use lgm_equations::bond::BondGraph;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of terms of an equation.
const MOST_TERMS: usize = 60;

/// A step without a number.
pub(super) struct VectorDraft {
    pub(super) rule: Rule,
    of: String,
    pub(super) content: Content,
    because: Vec<usize>,
    is_derivative: bool,
    /// False for the internal equation of a rate.
    is_shown: bool,
}

/// The equation of a step.
pub(super) enum Content {
    Vectors(Sum, Sum),
    /// An output that is not a vector.
    Scalars(ExprId, ExprId),
    /// The values of a source.
    Values(SymbolId, Vec<ExprId>),
    /// The entries of a matrix, or of its rate.
    Matrix(usize, bool),
}

/// The elimination and its steps.
pub(super) struct Work<'a> {
    pub(super) lift: Lift<'a>,
    equations: usize,
    rate_of: FxHashMap<usize, Sum>,
    order: Order,
    pub(super) steps: Vec<VectorDraft>,
    resolved: FxHashMap<SymbolId, Sum>,
    /// The steps that define each vector.
    cites: FxHashMap<SymbolId, Vec<usize>>,
    open: FxHashSet<SymbolId>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        table: Table<'a>,
        graph: &BondGraph,
        causality: &CausalityReport,
        independent: usize,
    ) -> Option<Work<'a>> {
        let mut lift = Lift::new(table)?;
        let found = equations(&mut lift, graph, causality, independent)?;
        let placeholders: Vec<Equation> = found.iter().map(|equation| placeholder(&mut lift, equation)).collect();
        let order = Order::new(&lift.table, &placeholders, &[]);
        let rate_of = found
            .iter()
            .enumerate()
            .filter_map(|(at, equation)| Some((at, equation.rate_of.clone()?)));
        let mut work = Work {
            equations: found.len(),
            rate_of: rate_of.collect(),
            order,
            steps: Vec::new(),
            resolved: FxHashMap::default(),
            cites: FxHashMap::default(),
            open: FxHashSet::default(),
            lift,
        };
        for equation in found {
            let content = Content::Vectors(equation.left, equation.right);
            let is_shown = equation.rate_of.is_none();
            work.add(equation.rule, equation.of, content, Vec::new());
            work.steps.last_mut()?.is_shown = is_shown;
        }
        for (vector, values) in work.lift.values.clone() {
            work.add(
                Rule::Constitutive,
                String::new(),
                Content::Values(vector, values),
                Vec::new(),
            );
        }
        Some(work)
    }

    fn add(&mut self, rule: Rule, of: String, content: Content, because: Vec<usize>) -> usize {
        self.steps.push(VectorDraft {
            rule,
            of,
            content,
            because,
            is_derivative: false,
            is_shown: true,
        });
        self.steps.len() - 1
    }

    /// Adds the equations of the states, the outputs and the matrices.
    pub(super) fn results(&mut self) -> Option<()> {
        let shell: Vec<usize> = (0..self.equations)
            .filter(|at| self.steps[*at].rule == Rule::Shell)
            .collect();
        let mut ends = Vec::new();
        for at in shell {
            let Content::Vectors(left, right) = &self.steps[at].content else {
                continue;
            };
            let (left, right) = (left.clone(), right.clone());
            let (found, mut because) = self.substituted(&right)?;
            let end = match because.is_empty() {
                true => at,
                false => {
                    because.insert(0, at);
                    let content = Content::Vectors(left.clone(), found.clone());
                    self.add(Rule::Substitution, String::new(), content, because)
                }
            };
            ends.push((left, found, end));
        }
        for (left, right, end) in ends {
            // Rates of states on the right come from masses that follow.
            let (rates, rest): (Sum, Sum) = right.into_iter().partition(|term| self.is_rate(term.vector));
            let exprs = &mut self.lift.table.exprs;
            let moved = negated(exprs, &rates);
            let left = collected(exprs, [left, moved].concat());
            self.add(Rule::Result, String::new(), Content::Vectors(left, rest), vec![end]);
        }
        self.outputs()?;
        let used = self.used_matrices();
        for (matrix, rate) in used {
            self.add(Rule::Matrix, String::new(), Content::Matrix(matrix, rate), Vec::new());
        }
        Some(())
    }

    fn is_rate(&self, vector: SymbolId) -> bool {
        matches!(self.lift.table.readings.get(&vector), Some(Reading::StateRate(_)))
    }

    fn outputs(&mut self) -> Option<()> {
        let (model, system) = (self.lift.table.names.model, self.lift.table.system);
        let mut whole: FxHashSet<String> = FxHashSet::default();
        for (at, output) in system.outputs.iter().enumerate() {
            let name = &*output.name;
            let value = model.outputs.get(at)?.value;
            let is_plain = !matches!(model.exprs.node(value), Node::Call(Function::Der, _));
            let value = is_plain.then(|| self.lift.table.carried(value).ok()).flatten();
            let lifted = value.and_then(|value| self.lift.sum(value));
            let symbol = self.lift.table.exprs.new_symbol(name, SymbolKind::Measure);
            self.lift.table.readings.insert(symbol, Reading::Output(at));
            if whole.contains(stripped(name)) && matches!(lifted, Some(None)) {
                let first = self.output_vector(stripped(name))?;
                self.lift.entries.get_mut(&first)?.push(symbol);
                continue;
            }
            let is_whole = |length: usize| length == 1 || name.ends_with("[1]");
            if let Some(Some((sum, _))) = lifted.filter(|found| found.as_ref().is_some_and(|found| is_whole(found.1))) {
                let (right, because) = self.substituted(&sum)?;
                whole.insert(stripped(name).to_string());
                self.lift.add(vec![symbol]);
                let one = self.lift.table.exprs.one();
                let product = Product {
                    scalar: one,
                    factors: Vec::new(),
                };
                let left = vec![Term {
                    product,
                    vector: symbol,
                }];
                self.add(Rule::Result, name.to_string(), Content::Vectors(left, right), because);
                continue;
            }
            let left = self.lift.table.exprs.symbol(symbol);
            let content = Content::Scalars(left, system.read_output(at));
            self.add(Rule::Result, name.to_string(), content, Vec::new());
        }
        Some(())
    }

    /// Returns the vector of the output whose first entry has this name without its index.
    fn output_vector(&self, name: &str) -> Option<SymbolId> {
        self.steps.iter().find_map(|step| match &step.content {
            Content::Vectors(left, _) if step.rule == Rule::Result && stripped(&step.of) == name => {
                left.first().map(|term| term.vector)
            }
            _ => None,
        })
    }

    /// Returns the matrices of the shown equations, in their order.
    fn used_matrices(&self) -> Vec<(usize, bool)> {
        let mut used: Vec<(usize, bool)> = Vec::new();
        for step in self.steps.iter().filter(|step| step.is_shown) {
            let Content::Vectors(left, right) = &step.content else {
                continue;
            };
            for factor in left.iter().chain(right).flat_map(|term| &term.product.factors) {
                let own = (factor.matrix, factor.rate);
                if !used.contains(&own) {
                    used.push(own);
                }
            }
        }
        used
    }

    /// Replaces all unknown vectors of a sum; returns the steps that this requires.
    fn substituted(&mut self, sum: &Sum) -> Option<(Sum, Vec<usize>)> {
        let (mut found, mut cites): (Sum, Vec<usize>) = (Vec::new(), Vec::new());
        for term in sum {
            if !self.lift.table.unknowns.contains(&term.vector) {
                found.push(term.clone());
                continue;
            }
            self.resolve(term.vector)?;
            let own = self.resolved[&term.vector].clone();
            found.extend(times(&mut self.lift.table.exprs, &term.product, &own));
            for cite in &self.cites[&term.vector] {
                if !cites.contains(cite) {
                    cites.push(*cite);
                }
            }
        }
        let found = collected(&mut self.lift.table.exprs, found);
        (found.len() <= MOST_TERMS).then_some((found, cites))
    }

    /// Expresses a vector in states and inputs; `None` if it is a part of an algebraic loop.
    fn resolve(&mut self, vector: SymbolId) -> Option<()> {
        if self.resolved.contains_key(&vector) {
            return Some(());
        }
        let at = *self.order.of.get(&vector)?;
        if !self.open.insert(vector) {
            return None;
        }
        let (value, cites) = match self.rate_of.get(&at).cloned() {
            Some(of) => self.differentiated(vector, &of)?,
            None => {
                let definition = self.solved(at, vector)?;
                let (value, cited) = self.substituted(&definition)?;
                let others = cited.into_iter().filter(|cite| *cite != at);
                (value, [at].into_iter().chain(others).collect())
            }
        };
        self.resolved.insert(vector, value);
        self.cites.insert(vector, cites);
        Some(())
    }

    /// Solves an equation for a vector.
    fn solved(&mut self, at: usize, vector: SymbolId) -> Option<Sum> {
        let Content::Vectors(left, right) = &self.steps[at].content else {
            return None;
        };
        let (left, right) = (left.clone(), right.clone());
        let exprs = &mut self.lift.table.exprs;
        let whole = [left, negated(exprs, &right)].concat();
        let (own, others): (Sum, Sum) = whole.into_iter().partition(|term| term.vector == vector);
        let [own] = &own[..] else { return None };
        let one = exprs.one();
        let minus = exprs.neg(one);
        let scalar = exprs.div(minus, own.product.scalar);
        let factors = match own.product.factors[..] {
            [] => Vec::new(),
            [factor] if !factor.rate => {
                let matrix = &self.lift.matrices[factor.matrix];
                let inverse = Factor {
                    inverse: true,
                    ..factor
                };
                (matrix.rows == matrix.columns).then_some(vec![inverse])?
            }
            _ => return None,
        };
        Some(times(&mut self.lift.table.exprs, &Product { scalar, factors }, &others))
    }

    /// Returns the derivative of a vector, with the step that states it.
    fn differentiated(&mut self, rate: SymbolId, of: &Sum) -> Option<(Sum, Vec<usize>)> {
        let (value, cites) = self.substituted(of)?;
        let [into, by @ ..] = &cites[..] else { return None };
        let line = match by.is_empty() {
            true => *into,
            false => {
                let content = Content::Vectors(of.clone(), value.clone());
                self.add(Rule::Substitution, String::new(), content, cites.clone())
            }
        };
        let mut found: Sum = Vec::new();
        for term in &value {
            if self.lift.rate(term.product.scalar)?.is_some() {
                return None;
            }
            for (at, factor) in term.product.factors.iter().enumerate() {
                if self.lift.matrices[factor.matrix].rates.is_empty() {
                    continue;
                }
                if factor.inverse || factor.rate {
                    return None;
                }
                let mut own = term.clone();
                own.product.factors[at].rate = true;
                found.push(own);
            }
            if let Some(vector) = self.rate_vector(term.vector)? {
                found.push(Term {
                    product: term.product.clone(),
                    vector,
                });
            }
        }
        let one = self.lift.table.exprs.one();
        let product = Product {
            scalar: one,
            factors: Vec::new(),
        };
        let left = vec![Term { product, vector: rate }];
        let step = self.add(
            Rule::Substitution,
            String::new(),
            Content::Vectors(left, found.clone()),
            vec![line],
        );
        self.steps[step].is_derivative = true;
        Some((found, vec![step]))
    }

    /// Returns the rate of a known vector; `Some(None)` if it is constant.
    fn rate_vector(&mut self, vector: SymbolId) -> Option<Option<SymbolId>> {
        let table = &self.lift.table;
        match table.readings.get(&vector)? {
            Reading::State(state) => Some(Some(table.rates[*state])),
            Reading::Input(input) => Some(Some(table.system.input_rates[*input])),
            Reading::Port(..) => {
                let values = self.lift.values.iter().find(|known| known.0 == vector)?.1.clone();
                let rates = values
                    .iter()
                    .map(|value| self.lift.rate(*value))
                    .collect::<Option<Vec<_>>>()?;
                rates.iter().all(Option::is_none).then_some(None)
            }
            _ => None,
        }
    }

    /// Checks the steps at points, and returns those that results follow from.
    pub(super) fn shown(&mut self, points: &mut Points) -> Option<Vec<Option<Step>>> {
        let mut is_needed: Vec<bool> = self
            .steps
            .iter()
            .map(|step| matches!(step.rule, Rule::Result | Rule::Matrix))
            .collect();
        for at in (0..self.steps.len()).filter(|at| self.steps[*at].rule == Rule::Result) {
            let mut waiting = self.steps[at].because.clone();
            while let Some(next) = waiting.pop() {
                if !std::mem::replace(&mut is_needed[next], true) {
                    waiting.extend(&self.steps[next].because);
                }
            }
        }
        let shown: FxHashSet<SymbolId> = (self.steps.iter().zip(&is_needed))
            .filter(|entry| *entry.1)
            .flat_map(|(step, _)| match &step.content {
                Content::Vectors(left, right) => left.iter().chain(right).map(|term| term.vector).collect(),
                _ => Vec::new(),
            })
            .collect();
        let mut found: Vec<Option<Step>> = Vec::with_capacity(self.steps.len());
        for (at, is_needed) in is_needed.into_iter().enumerate() {
            let step = &self.steps[at];
            let is_shown = match &step.content {
                Content::Values(vector, _) => shown.contains(vector),
                _ => is_needed && step.is_shown,
            };
            if !is_shown {
                found.push(None);
                continue;
            }
            let sides = self.sides(at, points)?;
            let step = &self.steps[at];
            found.push(Some(Step {
                number: 0,
                rule: step.rule,
                of: step.of.clone(),
                sides,
                because: step.because.clone(),
                together: Vec::new(),
                is_derivative: step.is_derivative,
            }));
        }
        Some(found)
    }

    /// Returns the sides of a step if it holds at the points.
    fn sides(&mut self, at: usize, points: &mut Points) -> Option<Sides> {
        match &self.steps[at].content {
            Content::Vectors(left, right) => {
                let is_sound = holds(points, &self.lift, left, right) == Checked::Holds;
                let (left, right) = (left.clone(), right.clone());
                let is_solved = self.steps[at].rule == Rule::Result;
                is_sound.then(|| Writing::new(&mut self.lift).equation(&left, &right, is_solved))
            }
            Content::Scalars(left, right) => {
                let is_sound = points.check(&self.lift.table.exprs, *left, *right) == Checked::Holds;
                is_sound.then_some(Sides::Scalar(*left, *right))
            }
            Content::Values(vector, values) => {
                let (vector, values) = (*vector, values.clone());
                Some(Writing::new(&mut self.lift).values(vector, &values))
            }
            Content::Matrix(matrix, rate) => Some(definition(&self.lift, *matrix, *rate)),
        }
    }
}

/// Returns an equation that contains the same vectors, for the order of elimination.
fn placeholder(lift: &mut Lift<'_>, equation: &VectorEquation) -> Equation {
    let mut seen: Vec<SymbolId> = Vec::new();
    let all = equation
        .left
        .iter()
        .chain(&equation.right)
        .chain(equation.rate_of.iter().flatten());
    for term in all {
        if !seen.contains(&term.vector) {
            seen.push(term.vector);
        }
    }
    let exprs = &mut lift.table.exprs;
    let symbols: Vec<ExprId> = seen.into_iter().map(|symbol| exprs.symbol(symbol)).collect();
    let (left, right) = (exprs.sum(symbols), exprs.zero());
    let mut found = Equation::new(equation.rule, String::new(), left, right);
    found.gives = equation.gives;
    found.state = equation.is_of_state.then_some(0);
    found
}
