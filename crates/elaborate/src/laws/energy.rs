//! The test of whether a law that stores energy at several ports has an energy function.
//!
//! Let `u` be the variables that the law integrates, `x' = A u`, and `y` the others at the same ports, so that the power is `y' u`. An
//! energy `E(x)` requires `y = A' grad E(x)` while `u` is 0. Then `G A` is symmetric, where `G` is the derivative of `y` with respect to
//! `x`: mixed derivatives of an energy agree. If they differ, a slow motion in a closed cycle creates energy.
//!
//! The equality is decided exactly modulo a prime at random points on the law. Non-rational functions count as independent numbers there,
//! so that a law with such functions is reported only if a test in doubles confirms it. Two kinds of laws are not reported: laws with
//! states other than integrals of port variables (which may dissipate), and laws without a test point because their equations are affine in
//! no variable.

use crate::laws::LawReader;
use lgm_algebra::expr::print::brief;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind, to_f64};
use lgm_algebra::{Doubles, Field, FromExpression, PrimeField, Sampled};
use lgm_model::{ElementId, NonlinearLaw, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// The numbers of test points modulo the prime, and in doubles.
const EXACT_POINTS: u64 = 3;
const ROUGH_POINTS: u64 = 24;
/// Doubles with a larger relative difference than this are different.
const DIFFERENT: f64 = 1e-6;

/// The law of ports that store energy, with its derivatives while u is 0.
#[derive(Debug)]
struct StoringLaw {
    /// Ports that have a state, in order.
    ports: Vec<usize>,
    /// The symbols of y at all ports, and of x.
    given: Vec<SymbolId>,
    states: Vec<SymbolId>,
    residuals: Vec<ExprId>,
    /// The derivatives of the residuals with respect to y and to x, and A, row by row.
    by_given: Vec<ExprId>,
    by_states: Vec<ExprId>,
    rates: Vec<ExprId>,
    /// True if the whole law is affine in y.
    is_affine: bool,
    /// For each residual, its symbols of y and of x, each with the derivative if the residual is affine in it.
    occurring: Vec<Vec<(SymbolId, Option<ExprId>)>>,
}

/// Values of symbols.
type Point<F> = FxHashMap<SymbolId, <F as Field>::Element>;

/// The value of a symbol that can be chosen freely.
type Sample<'s, F> = &'s dyn Fn(SymbolId) -> <F as Field>::Element;

/// The values of expressions at a point; none if they do not exist.
type Values<'s, F> = &'s dyn Fn(&[ExprId], &Point<F>) -> Option<Vec<<F as Field>::Element>>;

impl StoringLaw {
    /// Returns the law with its states and their rates; none if the test does not apply to it.
    fn new(exprs: &mut Exprs, law: &NonlinearLaw, states: &[(SymbolId, ExprId)]) -> Option<StoringLaw> {
        let rates: Vec<ExprId> = states.iter().map(|state| state.1).collect();
        let (mut ports, mut given, mut fed) = (Vec::new(), Vec::new(), Vec::new());
        for (port, (effort, flow)) in law.variables.iter().enumerate() {
            let held = |symbol: &SymbolId| rates.iter().any(|rate| exprs.depends_on(*rate, *symbol));
            match (held(effort), held(flow)) {
                (true, true) => return None,
                (true, false) => {
                    ports.push(port);
                    fed.push(*effort);
                    given.push(*flow);
                }
                (false, true) => {
                    ports.push(port);
                    fed.push(*flow);
                    given.push(*effort);
                }
                (false, false) => given.push(*effort),
            }
        }
        if ports.len() < 2 {
            return None;
        }
        let rates = constant_rates(exprs, &rates, &fed)?;
        let zero = exprs.zero();
        let at_rest = |symbol: SymbolId| fed.contains(&symbol).then_some(zero);
        let residuals = exprs.substitute(&law.residuals, at_rest);
        let states: Vec<SymbolId> = states.iter().map(|state| state.0).collect();
        let by_given = derivatives(exprs, &residuals, &given)?;
        let by_states = derivatives(exprs, &residuals, &states)?;
        let free_of = |exprs: &Exprs, list: &[ExprId], symbols: &[SymbolId]| {
            !exprs.symbols_of(list).iter().any(|symbol| symbols.contains(symbol))
        };
        let is_affine = free_of(exprs, &by_given, &given);
        let occurring = (0..residuals.len()).map(|row| {
            let of_row = |symbols: &[SymbolId], by: &[ExprId]| -> Vec<(SymbolId, Option<ExprId>)> {
                let pairs = symbols.iter().zip(&by[row * symbols.len()..]);
                let present = pairs.filter(|(symbol, _)| exprs.depends_on(residuals[row], **symbol));
                present
                    .map(|(symbol, rate)| (*symbol, (!exprs.depends_on(*rate, *symbol)).then_some(*rate)))
                    .collect()
            };
            [of_row(&given, &by_given), of_row(&states, &by_states)].concat()
        });
        let occurring = occurring.collect();
        Some(StoringLaw {
            ports,
            given,
            states,
            residuals,
            by_given,
            by_states,
            rates,
            is_affine,
            occurring,
        })
    }

    /// Returns a point on the law: y and x.
    fn point_on<F: Field>(&self, field: &mut F, sample: Sample<'_, F>, values: Values<'_, F>) -> Option<Point<F>> {
        if !self.is_affine {
            return self.point_by_point(field, sample, values);
        }
        let mut at: Point<F> = self.states.iter().map(|symbol| (*symbol, sample(*symbol))).collect();
        at.extend(self.given.iter().map(|symbol| (*symbol, field.zero())));
        let (matrix, rest) = (values(&self.by_given, &at)?, values(&self.residuals, &at)?);
        let solved = solve(field, &matrix, &rest, self.given.len(), 1)?;
        for (symbol, value) in self.given.iter().zip(solved) {
            at.insert(*symbol, field.neg(&value));
        }
        Some(at)
    }

    /// Returns a point on a law that is not affine in y. Each residual is solved for one symbol in which it is affine, y before x; earlier
    /// symbols are known, and others are chosen freely.
    fn point_by_point<F: Field>(
        &self,
        field: &mut F,
        sample: Sample<'_, F>,
        values: Values<'_, F>,
    ) -> Option<Point<F>> {
        let mut at: Point<F> = FxHashMap::default();
        let mut waiting: Vec<usize> = (0..self.residuals.len()).collect();
        while !waiting.is_empty() {
            let open = |row: usize| {
                let held = self.occurring[row].iter();
                held.filter(|(symbol, _)| self.given.contains(symbol) && !at.contains_key(symbol))
                    .count()
            };
            let next = (0..waiting.len()).min_by_key(|place| open(waiting[*place]))?;
            let row = waiting.remove(next);
            let held = &self.occurring[row];
            let (unknown, rate) = held
                .iter()
                .find_map(|(symbol, rate)| (*rate).filter(|_| !at.contains_key(symbol)).map(|rate| (*symbol, rate)))?;
            for (symbol, _) in held {
                at.entry(*symbol).or_insert_with(|| sample(*symbol));
            }
            at.insert(unknown, field.zero());
            let found = values(&[self.residuals[row], rate], &at)?;
            if field.is_zero(&found[1]) {
                return None;
            }
            let quotient = field.div(&found[0], &found[1]);
            at.insert(unknown, field.neg(&quotient));
        }
        for symbol in self.given.iter().chain(&self.states) {
            at.entry(*symbol).or_insert_with(|| sample(*symbol));
        }
        Some(at)
    }

    /// Returns G A at one point of the law: a row and a column for each storing port.
    fn reciprocity<F: Field>(
        &self,
        field: &mut F,
        sample: Sample<'_, F>,
        values: Values<'_, F>,
    ) -> Option<Vec<F::Element>> {
        let at = self.point_on(field, sample, values)?;
        let (by_given, by_states) = (values(&self.by_given, &at)?, values(&self.by_states, &at)?);
        let rates = values(&self.rates, &at)?;
        let (count, states) = (self.given.len(), self.states.len());
        let gradient = solve(field, &by_given, &by_states, count, states)?;
        let mut product = Vec::with_capacity(self.ports.len() * self.ports.len());
        for port in &self.ports {
            for column in 0..self.ports.len() {
                let mut sum = field.zero();
                for state in 0..states {
                    let term = field.mul(
                        &gradient[port * states + state],
                        &rates[state * self.ports.len() + column],
                    );
                    sum = field.sub(&sum, &term);
                }
                product.push(sum);
            }
        }
        Some(product)
    }

    /// Returns the first pair of ports whose variables disagree in a matrix of [`StoringLaw::reciprocity`].
    fn disagreeing<E>(&self, matrix: &[E], differ: impl Fn(&E, &E) -> bool) -> Option<(usize, usize)> {
        let n = self.ports.len();
        let mut pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        pairs
            .find(|(i, j)| differ(&matrix[i * n + j], &matrix[j * n + i]))
            .map(|(i, j)| (self.ports[i], self.ports[j]))
    }

    /// Returns a pair that disagrees modulo the prime; symbols without a known value are sampled.
    fn exactly(&self, exprs: &Exprs, known: &dyn Fn(SymbolId) -> Option<BigRational>) -> Option<(usize, usize)> {
        (1..=EXACT_POINTS).find_map(|seed| {
            let symbols = exprs.symbols_of(&[&self.residuals[..], &self.rates].concat());
            let fixed: FxHashMap<SymbolId, u64> = symbols
                .into_iter()
                .filter_map(|symbol| Some((symbol, PrimeField.reduce(&known(symbol)?))))
                .collect();
            let values = |list: &[ExprId], at: &Point<PrimeField>| {
                let mut all = fixed.clone();
                all.extend(at);
                let mut field = Sampled::with_given(seed, all);
                list.iter().map(|id| field.from_expression(exprs, *id).ok()).collect()
            };
            let point = |symbol: SymbolId| Sampled::new(seed).symbol(symbol);
            let matrix = self.reciprocity(&mut PrimeField, &point, &values)?;
            self.disagreeing(&matrix, |a, b| a != b)
        })
    }

    /// Returns a pair that disagrees in doubles, at a point where all values are finite.
    fn roughly(&self, exprs: &Exprs, known: &dyn Fn(SymbolId) -> Option<BigRational>) -> Option<(usize, usize)> {
        (0..ROUGH_POINTS).find_map(|seed| {
            let scale = [1.0, 0.1, 10.0, 1e-3][seed as usize % 4];
            let point = |symbol: SymbolId| {
                let part = PrimeField.sample(u64::from(symbol.0), seed + 1) as f64 / PrimeField::MODULUS as f64;
                // Half of the points have values of both signs.
                scale * if seed % 8 < 4 { part } else { 2.0 * part - 1.0 }
            };
            let values = |list: &[ExprId], at: &Point<Doubles>| {
                let value = |symbol: SymbolId| {
                    let given = at.get(&symbol).copied();
                    Some(
                        given
                            .or_else(|| known(symbol).map(|number| to_f64(&number)))
                            .unwrap_or_else(|| point(symbol)),
                    )
                };
                let found = exprs.evaluate_unchecked(list, &value);
                found.iter().all(|value| value.is_finite()).then_some(found)
            };
            let matrix = self.reciprocity(&mut Doubles, &point, &values)?;
            self.disagreeing(&matrix, |a, b| (a - b).abs() > DIFFERENT * a.abs().max(b.abs()))
        })
    }

    /// Returns a pair of ports whose variables are inconsistent with any energy.
    fn fault(&self, exprs: &Exprs, known: &dyn Fn(SymbolId) -> Option<BigRational>) -> Option<(usize, usize)> {
        let exact = self.exactly(exprs, known)?;
        let is_rational = exprs
            .reachable(&self.residuals)
            .into_iter()
            .all(|id| match exprs.node(id) {
                Node::Number(_) | Node::Symbol(_) | Node::Sum(_) | Node::Product(_) => true,
                Node::Power(_, exponent) => exprs.as_number(*exponent).is_some_and(|number| number.is_integer()),
                _ => false,
            });
        if is_rational {
            return Some(exact);
        }
        self.roughly(exprs, known)
    }
}

/// Returns A if the rates are linear in the variables that feed them, with coefficients that depend only on parameters.
fn constant_rates(exprs: &mut Exprs, rates: &[ExprId], fed: &[SymbolId]) -> Option<Vec<ExprId>> {
    let zero = exprs.zero();
    let rest = exprs.substitute(rates, |symbol| fed.contains(&symbol).then_some(zero));
    let is_nothing = |exprs: &Exprs, id: ExprId| {
        let sampled = Sampled::new(1).from_expression(exprs, id);
        sampled.is_ok_and(|value| value == 0)
    };
    if !rest.iter().all(|rest| is_nothing(exprs, *rest)) {
        return None;
    }
    let coefficients = derivatives(exprs, rates, fed)?;
    let is_fixed = |symbol: &SymbolId| exprs.symbol_info(*symbol).kind == SymbolKind::Parameter;
    let holds_time = |id: ExprId| {
        matches!(
            exprs.node(id),
            Node::Call(Function::Step | Function::Pulse | Function::Ramp, _)
        )
    };
    let steady = exprs.symbols_of(&coefficients).iter().all(is_fixed)
        && !exprs.reachable(&coefficients).into_iter().any(holds_time);
    steady.then_some(coefficients)
}

/// Returns the derivatives of expressions with respect to symbols, row by row.
fn derivatives(exprs: &mut Exprs, list: &[ExprId], symbols: &[SymbolId]) -> Option<Vec<ExprId>> {
    let mut found = Vec::with_capacity(list.len() * symbols.len());
    for id in list {
        for symbol in symbols {
            found.push(exprs.differentiate(*id, *symbol)?);
        }
    }
    Some(found)
}

/// Solves `matrix X = right`, both with `rows` rows, `right` with `columns` columns; none if the matrix is singular.
fn solve<F: Field>(
    field: &mut F,
    matrix: &[F::Element],
    right: &[F::Element],
    rows: usize,
    columns: usize,
) -> Option<Vec<F::Element>> {
    let sparse = |list: &[F::Element], width: usize| -> Vec<lgm_algebra::Row<F::Element>> {
        let row = |row: &[F::Element]| (0..).zip(row.iter().cloned()).collect();
        list.chunks(width).map(row).collect()
    };
    let (matrix, right) = (sparse(matrix, rows), sparse(right, columns));
    let solved = lgm_algebra::solve(field, matrix, right).ok()?;
    let mut dense = vec![field.zero(); rows * columns];
    for (row, entries) in solved.into_iter().enumerate() {
        for (column, value) in entries {
            dense[row * columns + column as usize] = value;
        }
    }
    Some(dense)
}

/// Returns true if a law has an energy for all values of its parameters.
pub(crate) fn always_has_energy(exprs: &mut Exprs, law: &NonlinearLaw, states: &[(SymbolId, ExprId)]) -> bool {
    match StoringLaw::new(exprs, law, states) {
        Some(storing) => storing.fault(exprs, &|_| None).is_none(),
        None => true,
    }
}

impl<'a> LawReader<'_, 'a> {
    /// Checks that a law with the values of an instance has an energy; an inconsistent pair of variables is reported.
    pub fn check_energy(&mut self, id: ElementId, element: &'a ast::Element, law: &NonlinearLaw) -> Option<()> {
        // In a pseudo domain across times through is not a power, and the stored quantity is not an energy.
        let is_pseudo = |port: u32| {
            let domain = self.graph.model.graph.ports[port as usize].domain;
            domain.is_some_and(|domain| self.graph.model.graph.domains[domain.index()].pseudo)
        };
        if self.graph.model.graph.elements[id.index()].ports.clone().any(is_pseudo) {
            return Some(());
        }
        let owned = self
            .graph
            .model
            .integrals
            .iter()
            .filter(|integral| integral.owner == Some(id));
        let states: Vec<(SymbolId, ExprId)> = owned.map(|integral| (integral.symbol, integral.rate)).collect();
        let exprs = &mut self.arena.exprs;
        let Some(storing) = StoringLaw::new(exprs, law, &states) else {
            return Some(());
        };
        let parameters = &self.parameter_values;
        let known = |symbol: SymbolId| parameters.get(&symbol).cloned();
        let Some((a, b)) = storing.fault(&self.arena.exprs, &known) else {
            return Some(());
        };
        let name = self.graph.model.element_name(id);
        let words = [a, b].map(|port| self.stored_variable(id, law, port));
        let diagnostic = Diagnostic::error(Code::LGM0413, format!("the law of `{name}` has no energy"));
        let whole = match (element.equations.first(), element.equations.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => element.name.span,
        };
        let mut diagnostic = self.law_diagnostic(diagnostic, id, whole);
        let state_of = |port: usize| {
            let (effort, flow) = law.variables[port];
            states.iter().find(|state| {
                [effort, flow]
                    .iter()
                    .any(|fed| self.arena.exprs.depends_on(state.1, *fed))
            })
        };
        let fed = [a, b].map(|port| state_of(port).map(|state| state.0));
        if let [Some(x), Some(y)] = fed {
            let names = [x, y].map(|symbol| self.arena.exprs.symbol_info(symbol).name.clone());
            let rates = [
                self.rate_of_variable(&storing, a, y),
                self.rate_of_variable(&storing, b, x),
            ];
            let said = |rate: &Option<String>| rate.as_ref().map_or(String::new(), |rate| format!(" by `{rate}`"));
            diagnostic = diagnostic.note(format!(
                "`{}` changes with `{}`{}, but `{}` changes with `{}`{}; for a law with an energy these mixed \
                 derivatives are equal",
                words[0],
                names[1],
                said(&rates[0]),
                words[1],
                names[0],
                said(&rates[1])
            ));
        }
        let diagnostic = diagnostic
            .note("a storage element without an energy would create or lose energy in a closed cycle")
            .help("write the law as derivatives of one energy: for E = q^2*x/(2*c) these are q*x/c and q^2/(2*c)");
        self.report(diagnostic);
        None
    }

    /// Returns the variable set by a storage port, as measured.
    fn stored_variable(&self, id: ElementId, law: &NonlinearLaw, port: usize) -> String {
        let about =
            &self.graph.model.graph.ports[self.graph.model.graph.elements[id.index()].ports.start as usize + port];
        let owned = self
            .graph
            .model
            .integrals
            .iter()
            .filter(|integral| integral.owner == Some(id));
        let feeds_effort = owned
            .clone()
            .any(|integral| self.arena.exprs.depends_on(integral.rate, law.variables[port].0));
        let given = if feeds_effort { Variable::Flow } else { Variable::Effort };
        let word = match about
            .domain
            .map(|domain| &self.graph.model.graph.domains[domain.index()])
        {
            Some(domain) if domain.effort_is_across == (given == Variable::Effort) => "across",
            Some(_) => "through",
            None if given == Variable::Effort => "effort",
            None => "flow",
        };
        let port = about.name.as_ref().map_or(String::new(), |name| format!(".{name}"));
        let entry = about.entry.map_or(String::new(), |entry| format!("[{entry}]"));
        format!("{word}({}{port}){entry}", self.graph.model.element_name(id))
    }

    /// Returns the symbolic derivative of a port's variable with respect to a state, if the law has a closed form.
    fn rate_of_variable(&mut self, storing: &StoringLaw, port: usize, state: SymbolId) -> Option<String> {
        let given = storing.given[port];
        let exprs = &mut self.arena.exprs;
        let closed = storing
            .residuals
            .iter()
            .find_map(|residual| exprs.isolate(*residual, given))?;
        let others = exprs.symbols_of(&[closed]);
        if others.iter().any(|symbol| storing.given.contains(symbol)) {
            return None;
        }
        let rate = exprs.differentiate(closed, state)?;
        Some(brief(exprs, rate))
    }
}
