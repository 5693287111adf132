//! Definitions in an order: assignments, linear cycles solved, nonlinear ones torn.
//!
//! A cycle of definitions is an algebraic loop. Members that others depend on nonlinearly are candidates for tearing:
//! with their values known, the remaining members must decompose into assignments and linear cycles. The smallest such
//! set is searched for in sets of one and two; otherwise a set that cannot be reduced further is used.

mod components;
mod linear;

use super::definitions::ranges::is_defined_everywhere;
use super::definitions::{Blame, Definition, Definitions, Value};
use crate::assembly::assemble::Obstacle;
use crate::assembly::linearity::varies;
use crate::assembly::refusal::Failure;
use crate::formulation::matrices::is_negative;
use crate::formulation::shared_arena::SharedArena;
use components::components;
use indexmap::IndexMap;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind, to_f64};
use lgm_algebra::{ExactValues, Field, FromExpression, PrimeField, RationalFunctions, Sampled};
use lgm_readable::is_large;
use linear::{Form, solve_forms};
use num_rational::BigRational;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// A remaining loop.
#[derive(Clone, Debug)]
pub(crate) struct TornLoop {
    pub(crate) unknowns: Vec<SymbolId>,
    pub(crate) residuals: Vec<ExprId>,
    /// The owner of each residual.
    pub(crate) blames: Vec<Blame>,
    /// For each unknown, true if it determines a stored quantity: a law requires its rate, or it follows from a conserved quantity.
    pub(crate) rated: Vec<bool>,
}

/// One of the equations that determine accelerations together: `sum of coefficient * rate = right`.
#[derive(Clone, Debug)]
pub(crate) struct MassRow {
    /// The rate that the equation is solved for.
    pub(crate) rate: SymbolId,
    pub(crate) terms: Vec<(SymbolId, ExprId)>,
    pub(crate) right: ExprId,
}

/// The matrix of a linear cycle; the cycle has no solution if it is singular.
#[derive(Clone, Debug)]
pub(crate) struct LoopBlock {
    pub(crate) members: Vec<SymbolId>,
    /// Indices of members with their coefficients.
    pub(crate) rows: Vec<Vec<(usize, ExprId)>>,
}

/// The maximum number of members of a cycle whose matrix is kept.
const KEPT: usize = 60;

/// Definitions in order.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// Symbols with their values, each over states, inputs, unknowns of loops and earlier assignments.
    pub(crate) assignments: Vec<(SymbolId, ExprId)>,
    pub(crate) loops: Vec<TornLoop>,
    /// The equations for the rates of states, if these are not plain expressions.
    pub(crate) mass: Vec<MassRow>,
    /// The matrices of all linear cycles that contain rates of states.
    pub(crate) blocks: Vec<LoopBlock>,
    pub(crate) roots: Vec<ExprId>,
    pub(crate) states: usize,
    pub(crate) outputs: usize,
}

/// The maximum number of candidates for which pairs are tried.
const PAIRS: usize = 24;

/// Coefficients of a cycle with this many nodes or more get a name.
const LONG: usize = 6;

/// Cycles with more members than this are solved by shared expressions, as by a factorisation.
const WRITTEN_OUT: usize = 3;

/// The maximum number of term operations for a linear cycle before its solution is left uncancelled.
const OPERATIONS: u64 = 1_000_000;

type Map = IndexMap<SymbolId, Definition, FxBuildHasher>;

/// Orders the definitions. `given` are the values of the parameters, for which linear cycles must have a solution.
pub(crate) fn resolve(
    exprs: &mut Exprs,
    definitions: Definitions,
    given: FxHashMap<SymbolId, BigRational>,
) -> Result<Resolved, Failure> {
    let Definitions {
        map,
        roots,
        states,
        outputs,
        rated,
        conserved,
        ..
    } = definitions;
    let is_rate = |id: &ExprId| match exprs.node(*id) {
        Node::Symbol(symbol) => Some(*symbol),
        _ => None,
    };
    let rates = roots[..states].iter().filter_map(is_rate).collect();
    let mut resolver = Resolver {
        exprs,
        map,
        assignments: Vec::new(),
        loops: Vec::new(),
        mass: Vec::new(),
        blocks: Vec::new(),
        rates,
        rated,
        conserved,
        given: ExactValues::new(given),
    };
    let needed = resolver.needed(&roots);
    resolver.order(&needed)?;
    Ok(Resolved {
        assignments: resolver.assignments,
        loops: resolver.loops,
        mass: resolver.mass,
        blocks: resolver.blocks,
        roots,
        states,
        outputs,
    })
}

struct Resolver<'a> {
    exprs: &'a mut Exprs,
    map: Map,
    assignments: Vec<(SymbolId, ExprId)>,
    loops: Vec<TornLoop>,
    mass: Vec<MassRow>,
    blocks: Vec<LoopBlock>,
    /// The rates of the states.
    rates: FxHashSet<SymbolId>,
    /// Symbols whose rates the rates of states depend on.
    rated: FxHashSet<SymbolId>,
    /// The variables that follow from conserved quantities.
    conserved: FxHashSet<SymbolId>,
    /// The values of the parameters.
    given: ExactValues,
}

fn expression(definition: &Definition) -> ExprId {
    match definition.value {
        Value::Explicit(id) | Value::Implicit(id) => id,
    }
}

impl Resolver<'_> {
    /// Returns the defined symbols that the roots depend on, in the order of definition.
    fn needed(&self, roots: &[ExprId]) -> Vec<SymbolId> {
        let mut seen: FxHashSet<SymbolId> = FxHashSet::default();
        let mut stack = self.exprs.symbols_of(roots);
        while let Some(symbol) = stack.pop() {
            if let Some(definition) = self.map.get(&symbol)
                && seen.insert(symbol)
            {
                stack.extend(self.exprs.symbols_of(&[expression(definition)]));
            }
        }
        self.map
            .keys()
            .copied()
            .filter(|symbol| seen.contains(symbol))
            .collect()
    }

    /// Returns for each member the members that it depends on, by index.
    fn edges(&self, members: &[SymbolId]) -> Vec<Vec<usize>> {
        let place: FxHashMap<SymbolId, usize> = members.iter().enumerate().map(|(k, symbol)| (*symbol, k)).collect();
        members
            .iter()
            .map(|symbol| {
                let on = self.exprs.symbols_of(&[expression(&self.map[symbol])]);
                on.iter().filter_map(|symbol| place.get(symbol).copied()).collect()
            })
            .collect()
    }

    /// Writes the members as assignments and loops, dependencies first.
    fn order(&mut self, members: &[SymbolId]) -> Result<(), Failure> {
        let edges = self.edges(members);
        for component in components(&edges) {
            if let [only] = component[..]
                && !edges[only].contains(&only)
                && let Value::Explicit(value) = self.map[&members[only]].value
            {
                self.assignments.push((members[only], value));
                continue;
            }
            let symbols: Vec<SymbolId> = component.iter().map(|k| members[*k]).collect();
            self.cycle(symbols)?;
        }
        Ok(())
    }

    fn cycle(&mut self, members: Vec<SymbolId>) -> Result<(), Failure> {
        self.prefer_laws(&members);
        self.share(&members);
        let (torn, _) = self.nonlinear_members(&members);
        if torn.is_empty() {
            return self.solve_linear(&members);
        }
        let torn = self.fewest(&members, torn);
        let rest = without(&members, &torn);
        let before = self.assignments.len();
        self.order(&rest)?;
        let mut residuals = Vec::with_capacity(torn.len());
        for symbol in &torn {
            residuals.push(match self.map[symbol].value {
                Value::Implicit(residual) => residual,
                Value::Explicit(value) => {
                    let unknown = self.exprs.symbol(*symbol);
                    self.exprs.sub(unknown, value)
                }
            });
        }
        let is_conserved = members.iter().any(|symbol| self.conserved.contains(symbol));
        if let ([unknown], [residual]) = (&torn[..], &residuals[..])
            && let Some(value) = self.closed_form(*unknown, *residual, before)
        {
            self.assignments.insert(before, (*unknown, value));
            return Ok(());
        }
        self.loops.push(TornLoop {
            blames: torn.iter().map(|symbol| self.map[symbol].blame).collect(),
            rated: torn
                .iter()
                .map(|symbol| is_conserved || self.rated.contains(symbol))
                .collect(),
            unknowns: torn,
            residuals,
        });
        Ok(())
    }

    /// Returns the solution of a loop with one unknown, if it has a closed form with values everywhere: two orifices in
    /// series are equivalent to one. The assignments from the index `first` on are parts of the loop.
    fn closed_form(&mut self, unknown: SymbolId, residual: ExprId, first: usize) -> Option<ExprId> {
        let mut parts: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        for (symbol, value) in &self.assignments[first..] {
            let value = self.exprs.substitute(&[*value], |symbol| parts.get(&symbol).copied())[0];
            parts.insert(*symbol, value);
        }
        let whole = self.exprs.substitute(&[residual], |symbol| parts.get(&symbol).copied())[0];
        let value = self.exprs.isolate(whole, unknown)?;
        (!is_large(self.exprs, value) && is_defined_everywhere(self.exprs, value)).then_some(value)
    }

    /// Replaces solved forms that are undefined somewhere, or are roots, with their laws. During the search for a
    /// solution, and near the edge of the inverse's range, the law can be evaluated but the inverse cannot. A blocking
    /// diode is an example.
    fn prefer_laws(&mut self, members: &[SymbolId]) {
        for symbol in members {
            if let Some(definition) = self.map.get_mut(symbol)
                && let Some(law) = definition.law.take()
            {
                definition.value = Value::Implicit(law);
            }
        }
    }

    /// Merges members with equal or opposite values, such as the voltages of two diodes back to back.
    fn share(&mut self, members: &[SymbolId]) {
        let mut sampled = Sampled::new(11);
        let mut known: FxHashMap<u64, SymbolId> = FxHashMap::default();
        for symbol in members {
            let Value::Explicit(value) = self.map[symbol].value else {
                continue;
            };
            let Ok(value) = sampled.from_expression(self.exprs, value) else {
                continue;
            };
            let same = match (known.get(&value), known.get(&PrimeField.neg(&value))) {
                (Some(other), _) => self.exprs.symbol(*other),
                (None, Some(other)) => {
                    let other = self.exprs.symbol(*other);
                    self.exprs.neg(other)
                }
                (None, None) => {
                    known.insert(value, *symbol);
                    continue;
                }
            };
            if let Some(definition) = self.map.get_mut(symbol) {
                definition.value = Value::Explicit(same);
            }
        }
    }

    /// Returns, in order, the members that some member depends on nonlinearly, and those of them that are given only by a residual.
    fn nonlinear_members(&self, members: &[SymbolId]) -> (Vec<SymbolId>, FxHashSet<SymbolId>) {
        let inside: FxHashSet<SymbolId> = members.iter().copied().collect();
        let mut found: FxHashSet<SymbolId> = FxHashSet::default();
        let mut implicit = FxHashSet::default();
        for symbol in members {
            let definition = &self.map[symbol];
            let own = nonlinear_symbols(self.exprs, expression(definition), &inside);
            // A residual that is affine in the members is an equation like any other.
            if matches!(definition.value, Value::Implicit(_)) && !own.is_empty() {
                implicit.insert(*symbol);
                found.insert(*symbol);
            }
            found.extend(own);
        }
        let list = members
            .iter()
            .copied()
            .filter(|symbol| found.contains(symbol))
            .collect();
        (list, implicit)
    }

    /// Returns true if the members without the torn ones are assignments and linear cycles.
    fn falls_apart(&self, members: &[SymbolId], torn: &[SymbolId]) -> bool {
        let rest = without(members, torn);
        let edges = self.edges(&rest);
        components(&edges).iter().all(|component| {
            let symbols: Vec<SymbolId> = component.iter().map(|k| rest[*k]).collect();
            match symbols[..] {
                [only] if !edges[component[0]].contains(&component[0]) => {
                    matches!(self.map[&only].value, Value::Explicit(_))
                }
                _ => self.nonlinear_members(&symbols).0.is_empty(),
            }
        })
    }

    /// Returns a small set of members to tear.
    fn fewest(&self, members: &[SymbolId], candidates: Vec<SymbolId>) -> Vec<SymbolId> {
        let (_, implicit) = self.nonlinear_members(members);
        let fixed: Vec<SymbolId> = members
            .iter()
            .copied()
            .filter(|symbol| implicit.contains(symbol))
            .collect();
        let free: Vec<SymbolId> = candidates
            .iter()
            .copied()
            .filter(|symbol| !implicit.contains(symbol))
            .collect();
        let with = |more: &[SymbolId]| -> Vec<SymbolId> {
            let chosen: FxHashSet<SymbolId> = fixed.iter().chain(more).copied().collect();
            let members = members.iter().copied();
            members.filter(|symbol| chosen.contains(symbol)).collect()
        };
        if free.len() <= PAIRS {
            let mut tries: Vec<Vec<SymbolId>> = vec![Vec::new()];
            tries.extend(free.iter().map(|symbol| vec![*symbol]));
            for (k, first) in free.iter().enumerate() {
                tries.extend(free[k + 1..].iter().map(|second| vec![*first, *second]));
            }
            for more in &tries {
                let torn = with(more);
                if !torn.is_empty() && self.falls_apart(members, &torn) {
                    return torn;
                }
            }
        }
        let mut torn = with(&free);
        for symbol in free {
            let fewer: Vec<SymbolId> = torn.iter().copied().filter(|other| *other != symbol).collect();
            if !fewer.is_empty() && self.falls_apart(members, &fewer) {
                torn = fewer;
            }
        }
        torn
    }

    /// Solves a cycle that is linear in its members, in lowest terms if these are not too large.
    fn solve_linear(&mut self, members: &[SymbolId]) -> Result<(), Failure> {
        let places: FxHashMap<SymbolId, usize> = members.iter().enumerate().map(|(k, symbol)| (*symbol, k)).collect();
        let is_member =
            |exprs: &Exprs, id: ExprId| matches!(exprs.node(id), Node::Symbol(symbol) if places.contains_key(symbol));
        let mut forms = Vec::with_capacity(members.len());
        for (own, symbol) in members.iter().enumerate() {
            let form = self
                .exprs
                .affine(expression(&self.map[symbol]), &is_member)
                .expect("invariant: a cycle without nonlinear members is affine in them");
            let mut terms: Vec<(usize, ExprId)> = form
                .terms
                .into_iter()
                .map(|(atom, coefficient)| {
                    let Node::Symbol(symbol) = *self.exprs.node(atom) else {
                        unreachable!("invariant: the atoms are members")
                    };
                    (places[&symbol], coefficient)
                })
                .collect();
            // Each equation has the form `sum of coefficient * member = rest`.
            let mut rest = form.rest;
            match self.map[symbol].value {
                Value::Implicit(_) => rest = self.exprs.neg(rest),
                Value::Explicit(_) => {
                    let mut is_there = false;
                    for (place, coefficient) in &mut terms {
                        *coefficient = self.exprs.neg(*coefficient);
                        if *place == own {
                            let one = self.exprs.one();
                            *coefficient = self.exprs.add(one, *coefficient);
                            is_there = true;
                        }
                    }
                    if !is_there {
                        terms.push((own, self.exprs.one()));
                    }
                }
            }
            forms.push((terms, rest));
        }
        if let Some(row) = self.row_without_pivot(&forms) {
            return Err(singular(self.blame(members, row)));
        }
        if members.iter().all(|member| self.rates.contains(member)) {
            self.keep_mass_rows(members, &forms);
        }
        if members.len() <= KEPT && members.iter().any(|member| self.rates.contains(member)) {
            self.blocks.push(LoopBlock {
                members: members.to_vec(),
                rows: forms.iter().map(|form| form.0.clone()).collect(),
            });
        }
        if members.len() > 1 {
            self.name_long_coefficients(&mut forms);
        }
        let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
        let solved = match members.len() {
            ..=WRITTEN_OUT => solve_forms(self.exprs, &mut field, &forms, false, |field, exprs, value| {
                field.to_expression(exprs, value)
            }),
            _ => Err(Ok(0)),
        };
        let is_long = |exprs: &Exprs, values: &[ExprId]| values.iter().any(|id| is_large(exprs, *id));
        // Lowest terms of sines and cosines may be longer than the products from which they were expanded.
        let expanded = solved
            .as_ref()
            .ok()
            .filter(|values| is_long(self.exprs, values))
            .cloned();
        let solved = if field.exhausted() || members.len() > WRITTEN_OUT || expanded.is_some() {
            let parameters = self.given.values.iter();
            let parameters = parameters.map(|(symbol, value)| (*symbol, to_f64(value)));
            let mut field = SharedArena::new(5, Sampled::new(5)).along_motions(parameters.collect());
            let shared = solve_forms(self.exprs, &mut field, &forms, true, |field, exprs, value| {
                field.export(exprs, value)
            });
            match (expanded, shared) {
                (Some(expanded), Ok(shared))
                    if self.exprs.reachable(&expanded).len() <= self.exprs.reachable(&shared).len() =>
                {
                    Ok(expanded)
                }
                (Some(expanded), Err(_)) => Ok(expanded),
                (_, shared) => shared,
            }
        } else {
            solved
        };
        let values = solved.map_err(|fault| match fault {
            Ok(row) => singular(self.blame(members, row)),
            Err(fault) => Failure::Assembly(Obstacle::Value(fault)),
        })?;
        for (symbol, value) in members.iter().zip(values) {
            self.assignments.push((*symbol, value));
        }
        Ok(())
    }

    /// Returns the row without a pivot for the given values, if one exists and the coefficients of the cycle are constant.
    fn row_without_pivot(&mut self, forms: &[Form]) -> Option<usize> {
        let mut coefficients = forms.iter().flat_map(|form| &form.0);
        if forms.len() > KEPT || coefficients.any(|(_, coefficient)| varies(self.exprs, *coefficient)) {
            return None;
        }
        let mut matrix = Vec::with_capacity(forms.len());
        for (terms, _) in forms {
            let mut row: Vec<(u32, BigRational)> = Vec::with_capacity(terms.len());
            for (place, coefficient) in terms {
                let value = self.given.from_expression(self.exprs, *coefficient).ok()?;
                row.push((*place as u32, value));
            }
            row.sort_by_key(|entry| entry.0);
            row.retain(|entry| !self.given.is_zero(&entry.1));
            matrix.push(row);
        }
        let right = vec![Vec::new(); forms.len()];
        let singular = lgm_algebra::solve(&mut self.given, matrix, right).err()?;
        (!self.given.exhausted()).then_some(singular.row as usize)
    }

    /// Keeps the equations of accelerations before they are solved; the mass of each is positive.
    fn keep_mass_rows(&mut self, members: &[SymbolId], forms: &[Form]) {
        for (own, (rate, (terms, right))) in members.iter().zip(forms).enumerate() {
            let diagonal = terms.iter().find(|term| term.0 == own);
            let is_reversed = diagonal.is_some_and(|term| is_negative(self.exprs, term.1));
            let mut signed = |id: ExprId| if is_reversed { self.exprs.neg(id) } else { id };
            let terms = terms.iter().map(|(place, id)| (members[*place], signed(*id))).collect();
            let right = signed(*right);
            self.mass.push(MassRow {
                rate: *rate,
                terms,
                right,
            });
        }
    }

    /// Names the coefficients and right sides of a cycle that are longer than a product, so that the solution is
    /// written in terms of them: the entries of a mass matrix, and the forces.
    fn name_long_coefficients(&mut self, forms: &mut [Form]) {
        let mut known: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for (terms, rest) in forms {
            for id in terms.iter_mut().map(|term| &mut term.1).chain([rest]) {
                // The sign stays outside, so that the entries of a mass matrix are positive.
                let minus = self.exprs.neg(*id);
                let is_negative = is_negative(self.exprs, *id);
                let part = if is_negative { minus } else { *id };
                if self.exprs.reachable(&[part]).len() < LONG {
                    continue;
                }
                let name = *known.entry(part).or_insert_with(|| {
                    let symbol = self.exprs.new_symbol("part(..)", SymbolKind::Assignment);
                    self.assignments.push((symbol, part));
                    self.exprs.symbol(symbol)
                });
                *id = if is_negative { self.exprs.neg(name) } else { name };
            }
        }
    }

    /// Returns the part of the model to report for a cycle: the element whose equation has no pivot, any element with a
    /// member, or a declared integral.
    fn blame(&self, members: &[SymbolId], row: usize) -> Blame {
        let own = members.get(row).map(|symbol| self.map[symbol].blame);
        let others = members.iter().map(|symbol| self.map[symbol].blame);
        let all: Vec<Blame> = own.into_iter().chain(others).collect();
        let element = all.iter().find(|blame| matches!(blame, Blame::Element(_)));
        let integral = || all.iter().find(|blame| matches!(blame, Blame::Integral(_)));
        element.or_else(integral).copied().unwrap_or(Blame::Model)
    }
}

/// Returns the members that are not torn.
fn without(members: &[SymbolId], torn: &[SymbolId]) -> Vec<SymbolId> {
    let torn: FxHashSet<SymbolId> = torn.iter().copied().collect();
    let members = members.iter().copied();
    members.filter(|symbol| !torn.contains(symbol)).collect()
}

fn singular(blame: Blame) -> Failure {
    Failure::Assembly(match blame {
        Blame::Element(id) => Obstacle::SingularControl(id),
        Blame::Integral(index) => Obstacle::SingularIntegral(index),
        _ => Obstacle::SingularLoop,
    })
}

/// Returns the symbols of a set on which an expression depends nonlinearly: with these as constants it is affine in the others.
fn nonlinear_symbols(exprs: &Exprs, root: ExprId, inside: &FxHashSet<SymbolId>) -> FxHashSet<SymbolId> {
    let mut all: FxHashMap<ExprId, FxHashSet<SymbolId>> = FxHashMap::default();
    let mut found: FxHashSet<SymbolId> = FxHashSet::default();
    for id in exprs.reachable(&[root]) {
        let node = exprs.node(id);
        let mut symbols: FxHashSet<SymbolId> = FxHashSet::default();
        for child in node.children() {
            symbols.extend(all[&child].iter().copied());
        }
        match node {
            Node::Symbol(symbol) => {
                if inside.contains(symbol) {
                    symbols.insert(*symbol);
                }
            }
            Node::Sum(_) | Node::Number(_) | Node::Pi => {}
            Node::Product(list) => {
                // One factor may stay affine: the one with the most symbols.
                let kept = (0..list.len()).max_by_key(|k| all[&list[*k]].len());
                for (_, child) in list.iter().enumerate().filter(|(k, _)| Some(*k) != kept) {
                    found.extend(all[child].iter().copied());
                }
            }
            Node::If(condition, ..) => found.extend(all[condition].iter().copied()),
            _ => found.extend(symbols.iter().copied()),
        }
        all.insert(id, symbols);
    }
    found
}
