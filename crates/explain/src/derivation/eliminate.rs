//! Elimination: expresses each variable in terms of states and inputs, and records the corresponding lines.

use super::order::Order;
use super::report::Rule;
use super::terms::{shortest, tidy};
use super::topology::Equation;
use super::variables::{Reading, Reason, Table};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId};
use lgm_algebra::{Field, FromExpression, RationalFunctions};
use lgm_equations::is_large;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of term operations for the equations of one loop.
const OPERATIONS: u64 = 400_000;

/// The maximum number of torn variables before the derivation is abandoned.
const MOST_TORN: usize = 40;

/// A step that has no number yet; `because` contains indices of drafts.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) rule: Rule,
    pub(super) of: String,
    pub(super) left: ExprId,
    pub(super) right: ExprId,
    pub(super) because: Vec<usize>,
    pub(super) together: Vec<String>,
    pub(super) is_derivative: bool,
}

/// The work of an elimination, and its results.
pub(super) struct Elimination<'t, 'a> {
    pub(super) table: &'t mut Table<'a>,
    /// Drafts; the equations come first, in order.
    pub(super) drafts: Vec<Draft>,
    /// Equations that remain to be solved at each instant, as drafts.
    pub(super) loops: Vec<usize>,
    equations: Vec<Equation>,
    order: Order,
    /// Variables for which such equations are solved.
    torn: Vec<SymbolId>,
    definitions: FxHashMap<SymbolId, ExprId>,
    resolved: FxHashMap<SymbolId, ExprId>,
    /// The drafts that define each variable.
    cites: FxHashMap<SymbolId, Vec<usize>>,
    /// Variables with their own draft instead of their equation.
    stepped: FxHashMap<SymbolId, usize>,
    /// The equations and targets that contain each variable.
    consumers: FxHashMap<SymbolId, Vec<usize>>,
    /// The position of each variable in the order of elimination.
    rank: FxHashMap<SymbolId, usize>,
    is_full: bool,
}

impl<'t, 'a> Elimination<'t, 'a> {
    /// Eliminates all variables needed by `targets`, expressions in addition to the state equations.
    pub(super) fn new(
        table: &'t mut Table<'a>,
        equations: Vec<Equation>,
        targets: &[ExprId],
        is_full: bool,
    ) -> Result<Elimination<'t, 'a>, Reason> {
        let rates = integral_rates(table, &equations);
        table.unknowns.extend(rates.iter().map(|rate| rate.0));
        let mut torn: Vec<SymbolId> = Vec::new();
        let (order, needed) = loop {
            let order = Order::new(table, &equations, &rates);
            let needed = needed(table, &equations, &order, targets, &torn);
            match to_tear(table, &equations, &order, &needed)? {
                None => break (order, needed),
                Some(_) if torn.len() == MOST_TORN => return Err("its algebraic loops are too large".to_string()),
                Some(symbol) => {
                    table.unknowns.remove(&symbol);
                    torn.push(symbol);
                }
            }
        };
        let known = table
            .readings
            .iter()
            .filter(|entry| matches!(entry.1, Reading::LoopUnknown(_)));
        torn.extend(known.map(|entry| *entry.0));
        torn.sort_unstable();
        let drafts = equations.iter().map(|equation| Draft {
            rule: equation.rule,
            of: equation.of.clone(),
            left: equation.left,
            right: equation.right,
            because: Vec::new(),
            together: Vec::new(),
            is_derivative: false,
        });
        let mut work = Elimination {
            drafts: drafts.collect(),
            loops: Vec::new(),
            order,
            torn,
            definitions: FxHashMap::default(),
            resolved: FxHashMap::default(),
            cites: FxHashMap::default(),
            stepped: FxHashMap::default(),
            consumers: FxHashMap::default(),
            rank: FxHashMap::default(),
            is_full,
            table,
            equations,
        };
        work.count_consumers(&needed, targets);
        for (at, group) in work.order.groups.clone().iter().enumerate() {
            group.iter().for_each(|symbol| _ = work.rank.insert(*symbol, at));
            if group.iter().any(|symbol| needed.contains(symbol)) {
                work.solve(group)?;
            }
        }
        work.remaining_loops()?;
        Ok(work)
    }

    fn count_consumers(&mut self, needed: &FxHashSet<SymbolId>, targets: &[ExprId]) {
        let given: FxHashSet<usize> = needed
            .iter()
            .filter_map(|symbol| self.order.of.get(symbol).copied())
            .collect();
        for (at, equation) in self.equations.iter().enumerate() {
            if !given.contains(&at) && equation.state.is_none() && !self.order.left_over.contains(&at) {
                continue;
            }
            let mut roots = vec![equation.left, equation.right];
            roots.extend(equation.rate_of);
            for symbol in self.table.unknowns_of(&roots) {
                if self.order.of.get(&symbol) != Some(&at) {
                    self.consumers.entry(symbol).or_default().push(at);
                }
            }
        }
        for (at, target) in targets.iter().enumerate() {
            for symbol in self.table.unknowns_of(&[*target]) {
                self.consumers
                    .entry(symbol)
                    .or_default()
                    .push(self.equations.len() + at);
            }
        }
    }

    /// Solves for one group of variables.
    fn solve(&mut self, group: &[SymbolId]) -> Result<(), Reason> {
        let [symbol] = *group else {
            return self.solve_together(group);
        };
        // A variable without an equation is an error only if it is needed.
        let Some(at) = self.order.of.get(&symbol).copied() else {
            return Ok(());
        };
        if let Some(of) = self.equations[at].rate_of {
            return self.differentiate(symbol, of);
        }
        let definition = defined(self.table, &self.equations[at], symbol);
        let definition = definition.ok_or_else(|| format!("`{}` has no closed form", self.name(symbol)))?;
        self.define(symbol, definition, at)
    }

    fn name(&self, symbol: SymbolId) -> String {
        self.table.exprs.symbol_info(symbol).name.to_string()
    }

    /// Records the definition of a variable by an equation. A variable that several others need, and that requires several equations, gets
    /// its own line.
    fn define(&mut self, symbol: SymbolId, definition: ExprId, at: usize) -> Result<(), Reason> {
        self.definitions.insert(symbol, definition);
        let (value, cited) = self.substituted(definition)?;
        let mut cites = vec![at];
        cites.extend(cited.iter().filter(|cite| **cite != at));
        let uses = self.consumers.get(&symbol).map_or(0, Vec::len);
        if uses > 1 && cites.len() > 2 && !cited.is_empty() {
            let left = self.table.exprs.symbol(symbol);
            let step = self.lines([left, definition], Some(symbol), at)?;
            self.note(symbol, self.drafts[step].right, step);
        } else {
            self.resolved.insert(symbol, value);
            self.cites.insert(symbol, cites);
        }
        Ok(())
    }

    /// Records the expression of a variable in a draft.
    fn note(&mut self, symbol: SymbolId, value: ExprId, step: usize) {
        self.resolved.insert(symbol, value);
        self.cites.insert(symbol, vec![step]);
        self.stepped.insert(symbol, step);
    }

    /// Expresses an expression in states and inputs; returns it with the drafts that this requires.
    pub(super) fn substituted(&mut self, root: ExprId) -> Result<(ExprId, Vec<usize>), Reason> {
        let ([_, value], cites) = self.of_states([root, root], None)?;
        Ok((value, cites))
    }

    /// Expresses two sides in states and inputs, except for the variable that they determine; returns them with the drafts that this
    /// requires.
    fn of_states(&mut self, sides: [ExprId; 2], kept: Option<SymbolId>) -> Result<([ExprId; 2], Vec<usize>), Reason> {
        let mut cites: Vec<usize> = Vec::new();
        for symbol in self.replaced(sides, kept) {
            let Some(own) = self.cites.get(&symbol) else {
                return Err(format!("nothing determines `{}`", self.name(symbol)));
            };
            own.iter().for_each(|cite| {
                if !cites.contains(cite) {
                    cites.push(*cite)
                }
            });
        }
        let resolved = &self.resolved;
        let by = |symbol: SymbolId| resolved.get(&symbol).copied().filter(|_| Some(symbol) != kept);
        let mut found = self.table.exprs.substitute(&sides, by);
        for (value, side) in found.iter_mut().zip(sides) {
            if *value != side || cites.is_empty() {
                *value = shortest(&mut self.table.exprs, *value);
            }
            if is_large(&self.table.exprs, *value) {
                return Err("its equations are too long to read".to_string());
            }
        }
        Ok(([found[0], found[1]], cites))
    }

    /// Returns the variables to be replaced in two sides, the last in the order of elimination first.
    fn replaced(&self, sides: [ExprId; 2], kept: Option<SymbolId>) -> Vec<SymbolId> {
        let mut unknowns = self.table.unknowns_of(&sides);
        unknowns.retain(|symbol| Some(*symbol) != kept);
        unknowns.sort_by_key(|symbol| std::cmp::Reverse(self.rank.get(symbol).copied()));
        unknowns
    }

    /// Replaces all variables of an equation except the one that it determines: in one line, or in one line for each of them. Returns the
    /// draft of the last line.
    fn lines(&mut self, sides: [ExprId; 2], kept: Option<SymbolId>, into: usize) -> Result<usize, Reason> {
        let (ends, cites) = self.of_states(sides, kept)?;
        if cites.is_empty() {
            return Ok(into);
        }
        if !self.is_full {
            return Ok(self.line(ends, [&[into][..], &cites].concat()));
        }
        let (mut sides, mut last) = (sides, into);
        while let Some(symbol) = self.replaced(sides, kept).first().copied() {
            let (by, cite) = match self.stepped.get(&symbol) {
                Some(step) => (self.resolved[&symbol], *step),
                None => (self.definitions[&symbol], self.order.of[&symbol]),
            };
            let next = self.table.exprs.substitute(&sides, |own| (own == symbol).then_some(by));
            sides = match self.replaced([next[0], next[1]], kept).is_empty() {
                true => ends,
                false => [0, 1].map(|side| match next[side] == sides[side] {
                    true => sides[side],
                    false => tidy(&mut self.table.exprs, next[side]),
                }),
            };
            last = self.line(sides, vec![last, cite]);
        }
        Ok(last)
    }

    fn line(&mut self, [left, right]: [ExprId; 2], because: Vec<usize>) -> usize {
        self.drafts.push(Draft {
            rule: Rule::Substitution,
            of: String::new(),
            left,
            right,
            because,
            together: Vec::new(),
            is_derivative: false,
        });
        self.drafts.len() - 1
    }

    /// Differentiates a variable that states and inputs determine.
    fn differentiate(&mut self, symbol: SymbolId, of: ExprId) -> Result<(), Reason> {
        let name = self.name(symbol);
        let (value, mut cites) = self.substituted(of)?;
        if let Some(own) = self.table.as_variable(of)
            && cites.len() > 1
            && !self.stepped.contains_key(&own)
        {
            let left = self.table.exprs.symbol(own);
            let at = self.order.of[&own];
            let definition = self.definitions[&own];
            let step = self.lines([left, definition], Some(own), at)?;
            self.note(own, self.drafts[step].right, step);
            cites = vec![step];
        }
        let mut terms = Vec::new();
        for own in self.table.exprs.symbols_of(&[value]) {
            let rate = match self.table.readings.get(&own) {
                Some(Reading::State(state)) => self.table.state_rate(*state),
                Some(Reading::Input(input)) => self.table.exprs.symbol(self.table.system.input_rates[*input]),
                Some(Reading::Time) => self.table.exprs.one(),
                Some(Reading::Number(_)) => continue,
                _ => return Err(format!("`{name}` receives the rate of `{}`", self.name(own))),
            };
            let slope = self.table.exprs.differentiate(value, own);
            let slope = slope.ok_or_else(|| format!("`{name}` is the rate of a variable without a derivative"))?;
            terms.push(self.table.exprs.mul(slope, rate));
        }
        let rate = self.table.exprs.sum(terms);
        // A rate has the sign of its variable.
        let minus = matches!(self.table.exprs.node(of), Node::Product(_));
        let rate = if minus { self.table.exprs.neg(rate) } else { rate };
        let (value, others) = self.substituted(rate)?;
        let left = self.table.exprs.symbol(symbol);
        cites.extend(others);
        let step = self.line([left, value], cites);
        self.drafts[step].is_derivative = true;
        self.note(symbol, value, step);
        Ok(())
    }

    /// Solves a loop of equations that are linear in their variables as a whole.
    fn solve_together(&mut self, group: &[SymbolId]) -> Result<(), Reason> {
        let mut group = group.to_vec();
        group.sort_unstable();
        let members: FxHashSet<SymbolId> = group.iter().copied().collect();
        let equations: Vec<usize> = group.iter().map(|symbol| self.order.of[symbol]).collect();
        let mut cites = equations.clone();
        cites.sort_unstable();
        let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
        let too_large = || "an algebraic loop is too large to solve on paper".to_string();
        let (mut matrix, mut right) = (Vec::new(), Vec::new());
        for at in &equations {
            let residual = self
                .table
                .exprs
                .sub(self.equations[*at].left, self.equations[*at].right);
            let form = affine(self.table, residual, &members).ok_or_else(too_large)?;
            let mut row = Vec::new();
            for (symbol, coefficient) in form.0 {
                let coefficient = self.of_others(coefficient, &mut cites)?;
                let place = group.binary_search(&symbol).unwrap_or_default() as u32;
                row.push((
                    place,
                    field
                        .from_expression(&self.table.exprs, coefficient)
                        .map_err(|_| too_large())?,
                ));
            }
            row.sort_by_key(|entry| entry.0);
            row.retain(|entry| !field.is_zero(&entry.1));
            matrix.push(row);
            let rest = self.of_others(form.1, &mut cites)?;
            let rest = field
                .from_expression(&self.table.exprs, rest)
                .map_err(|_| too_large())?;
            let rest = field.neg(&rest);
            right.push(if field.is_zero(&rest) {
                Vec::new()
            } else {
                vec![(0, rest)]
            });
        }
        let solution = lgm_algebra::solve(&mut field, matrix, right).map_err(|_| too_large())?;
        if field.exhausted() {
            return Err(too_large());
        }
        let names: Vec<String> = group.iter().map(|symbol| self.name(*symbol)).collect();
        for (symbol, row) in group.iter().zip(&solution) {
            let outside = self
                .consumers
                .get(symbol)
                .is_some_and(|list| list.iter().any(|at| !equations.contains(at)));
            let value = match row.first() {
                Some((_, value)) => field.to_expression(&mut self.table.exprs, value),
                None => self.table.exprs.zero(),
            };
            let value = shortest(&mut self.table.exprs, value);
            if is_large(&self.table.exprs, value) {
                return Err(too_large());
            }
            if outside {
                let left = self.table.exprs.symbol(*symbol);
                let step = self.line([left, value], cites.clone());
                self.drafts[step].together.clone_from(&names);
                self.note(*symbol, value, step);
            }
        }
        Ok(())
    }

    /// Expresses a part of a loop's equation in states and inputs.
    fn of_others(&mut self, root: ExprId, cites: &mut Vec<usize>) -> Result<ExprId, Reason> {
        let (value, cited) = self.substituted(root)?;
        cited.into_iter().for_each(|cite| {
            if !cites.contains(&cite) {
                cites.push(cite)
            }
        });
        Ok(value)
    }

    /// Expresses the remaining equations in states, inputs and the variables for which they must be solved.
    fn remaining_loops(&mut self) -> Result<(), Reason> {
        if self.torn.is_empty() {
            return Ok(());
        }
        for at in self.order.left_over.clone() {
            let residual = self.table.exprs.sub(self.equations[at].left, self.equations[at].right);
            let Ok((value, cites)) = self.substituted(residual) else {
                continue;
            };
            let symbols = self.table.exprs.symbols_of(&[value]);
            let wanted: Vec<SymbolId> = symbols
                .into_iter()
                .filter(|symbol| self.torn.contains(symbol))
                .collect();
            if wanted.is_empty() {
                continue;
            }
            let sides = [self.equations[at].left, self.equations[at].right];
            let step = match cites.is_empty() {
                true => self.line(sides, vec![at]),
                false => self.lines(sides, None, at)?,
            };
            self.drafts[step].together = wanted.iter().map(|symbol| self.name(*symbol)).collect();
            self.loops.push(step);
        }
        Ok(())
    }

    /// Returns the final draft of each state's equation, with all drafts that it requires.
    pub(super) fn state_equations(&mut self) -> Result<FxHashMap<usize, usize>, Reason> {
        let mut found = FxHashMap::default();
        for at in 0..self.equations.len() {
            if let Some(state) = self.equations[at].state {
                let sides = [self.equations[at].left, self.equations[at].right];
                found.insert(state, self.lines(sides, Some(self.table.rates[state]), at)?);
            }
        }
        Ok(found)
    }

    /// Returns true for equations that are not separate lines.
    pub(super) fn is_hidden(&self, draft: usize) -> bool {
        self.equations
            .get(draft)
            .is_some_and(|equation| equation.rate_of.is_some())
    }
}

/// Returns the rates of declared integrals, each with its shell equation.
fn integral_rates(table: &Table<'_>, equations: &[Equation]) -> Vec<(SymbolId, usize)> {
    let shells = equations.iter().enumerate().filter(|entry| entry.1.rule == Rule::Shell);
    let first = table.state_of.len();
    shells
        .filter_map(|(at, equation)| Some((table.rates[equation.state.filter(|state| *state >= first)?], at)))
        .collect()
}

/// Returns the variables that the state equations, the targets and torn loops need.
fn needed(
    table: &Table<'_>,
    equations: &[Equation],
    order: &Order,
    targets: &[ExprId],
    torn: &[SymbolId],
) -> FxHashSet<SymbolId> {
    let mut roots: Vec<ExprId> = targets.to_vec();
    for (at, equation) in equations.iter().enumerate() {
        let is_loop = !torn.is_empty() || !table.system.equations.loops.is_empty();
        if equation.state.is_some() || is_loop && order.left_over.contains(&at) {
            roots.extend([equation.left, equation.right]);
        }
    }
    let mut waiting = table.unknowns_of(&roots);
    let mut found: FxHashSet<SymbolId> = FxHashSet::default();
    while let Some(symbol) = waiting.pop() {
        if !found.insert(symbol) {
            continue;
        }
        if let Some(equation) = order.of.get(&symbol).map(|at| &equations[*at]) {
            let mut roots = vec![equation.left, equation.right];
            roots.extend(equation.rate_of);
            waiting.extend(table.unknowns_of(&roots));
        }
    }
    found
}

/// Returns the value that an equation determines for a variable.
fn defined(table: &mut Table<'_>, equation: &Equation, symbol: SymbolId) -> Option<ExprId> {
    let left = table.exprs.symbol(symbol);
    if equation.left == left && !table.exprs.depends_on(equation.right, symbol) {
        return Some(equation.right);
    }
    let residual = table.exprs.sub(equation.left, equation.right);
    let found = table.exprs.isolate(residual, symbol)?;
    Some(shortest(&mut table.exprs, found))
}

/// Variables with their coefficients.
type Terms = Vec<(SymbolId, ExprId)>;

/// Splits an expression that is linear in some variables into their coefficients and the rest.
fn affine(table: &mut Table<'_>, root: ExprId, members: &FxHashSet<SymbolId>) -> Option<(Terms, ExprId)> {
    let is_member = |exprs: &Exprs, id: ExprId| matches!(exprs.node(id), Node::Symbol(own) if members.contains(own));
    let form = table.exprs.affine(root, &is_member)?;
    let symbol = |id: ExprId| match table.exprs.node(id) {
        Node::Symbol(symbol) => Some(*symbol),
        _ => None,
    };
    let terms = form
        .terms
        .iter()
        .filter_map(|(id, coefficient)| Some((symbol(*id)?, *coefficient)));
    Some((terms.collect(), form.rest))
}

/// Returns a variable to tear, so that the first group without a closed-form solution may have one.
fn to_tear(
    table: &mut Table<'_>,
    equations: &[Equation],
    order: &Order,
    needed: &FxHashSet<SymbolId>,
) -> Result<Option<SymbolId>, Reason> {
    for group in order
        .groups
        .iter()
        .filter(|group| group.iter().any(|symbol| needed.contains(symbol)))
    {
        let members: FxHashSet<SymbolId> = group.iter().copied().collect();
        for symbol in group {
            let Some(equation) = order.of.get(symbol).map(|at| &equations[*at]) else {
                continue;
            };
            if equation.rate_of.is_some() {
                match group.len() {
                    1 => continue,
                    _ => {
                        let name = &table.exprs.symbol_info(*symbol).name;
                        return Err(format!(
                            "`{name}` and the variable it differentiates depend on each other"
                        ));
                    }
                }
            }
            let is_solved = match group.len() {
                1 => defined(table, equation, *symbol).is_some(),
                _ => {
                    let residual = table.exprs.sub(equation.left, equation.right);
                    affine(table, residual, &members).is_some()
                }
            };
            if !is_solved {
                return Ok(Some(*symbol));
            }
        }
    }
    Ok(None)
}
