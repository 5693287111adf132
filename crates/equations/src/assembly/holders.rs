//! Integrals that states hold: a multiple of one state, or a sum over the states of one storage field.

use crate::assembly::assemble::Assembled;
use crate::causality::Causality;
use crate::causality::elimination::{Row, add_scaled, find};
use crate::parameter_values::parameter_numbers;
use lgm_algebra::expr::{Evaluated, ExprId, Exprs, Node, SymbolKind};
use lgm_algebra::{Field, solve};
use lgm_model::{ElementId, Law, Model, PortId};
use rustc_hash::FxHashMap;

/// Fields with more ports have unreadable inverses.
const PORTS: usize = 4;

/// Rows with more entries than this may be shared in another field, and are not compared.
const LONG: usize = 8;

/// The states that hold an integral.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// A multiple of one state.
    Alone(usize),
    /// A sum over states of one storage field, such as a displacement over the forces of a matrix of springs.
    Together {
        /// The states, which are independent.
        states: Vec<usize>,
        /// The columns with independent rates.
        columns: Vec<u32>,
    },
}

impl Held {
    /// Returns the integral in terms of the states, possibly in a field other than the one in which the states were found.
    pub(crate) fn parts<F: Field>(
        &self,
        field: &mut F,
        assembled: &Assembled<F::Element>,
        integrand: &Row<F::Element>,
    ) -> Result<Row<F::Element>, Evaluated> {
        let (states, columns) = match self {
            Held::Alone(state) => {
                let factor = ratio(field, integrand, &assembled.rates[*state]).ok_or(Evaluated::DivisionByZero)?;
                return Ok(vec![(*state as u32, factor)]);
            }
            Held::Together { states, columns } => (states, columns),
        };
        let (mut matrix, mut right) = (Vec::new(), Vec::new());
        for column in columns {
            let entry = |row: &Row<F::Element>| find(row, *column).map(|at| row[at].1.clone());
            let rates = states
                .iter()
                .zip(0..)
                .filter_map(|(state, k)| Some((k, entry(&assembled.rates[*state])?)));
            matrix.push(rates.collect());
            right.push(entry(integrand).map(|value| vec![(0, value)]).unwrap_or_default());
        }
        // The given numbers may make a field singular that is regular in general.
        let solution = solve(field, matrix, right).map_err(|_| Evaluated::DivisionByZero)?;
        let factors = states.iter().zip(solution);
        let parts = factors.filter_map(|(state, row)| Some((*state as u32, row.into_iter().next()?.1)));
        Ok(parts.collect())
    }
}

/// The integrals to compare with.
pub(crate) struct Holders {
    /// The states by the first column and the length of their rates, so that an integrand is compared with only a few of them.
    states: FxHashMap<(u32, usize), Vec<usize>>,
    /// The states of each field with few ports.
    fields: Vec<Vec<usize>>,
}

impl Holders {
    /// Collects the states of storage, followed by the declared integrals.
    pub(crate) fn new<E>(model: &Model, causality: &Causality, assembled: &Assembled<E>) -> Holders {
        let independent = &causality.independent;
        let mut states: FxHashMap<(u32, usize), Vec<usize>> = FxHashMap::default();
        // At an event, storage may receive charge that a measured current does not carry. Integrals count from the
        // initial values, which must be those of the model; the equations of other modes have none.
        if !model.switching.is_empty() || starts_may_follow(model, causality) {
            let fields = Vec::new();
            return Holders { states, fields };
        }
        let values = parameter_numbers(model);
        let is_loose = |state: usize| {
            independent.get(state).is_some_and(|port| {
                let law = &model.graph.elements[model.graph.ports[port.index()].element.index()].law;
                law.is_without_stiffness(&model.exprs, &|symbol| values.get(&symbol).copied())
            })
        };
        for (state, rate) in assembled.rates.iter().enumerate() {
            if let Some((first, _)) = rate.first()
                && !is_loose(state)
            {
                states.entry((*first, rate.len())).or_default().push(state);
            }
        }
        // Sorted by name, independent of the order of declarations.
        for list in states.values_mut().filter(|list| list.len() > 1) {
            list.sort_by_cached_key(|state| place(model, independent, *state));
        }
        let mut fields: FxHashMap<ElementId, Vec<usize>> = FxHashMap::default();
        for (state, port) in independent.iter().enumerate() {
            let element = model.graph.ports[port.index()].element;
            fields.entry(element).or_default().push(state);
        }
        let mut fields: Vec<Vec<usize>> = fields.into_values().collect();
        fields.retain(|states| (2..=PORTS).contains(&states.len()));
        fields.retain(|states| states.iter().all(|state| assembled.rates[*state].len() <= LONG));
        fields.sort_by_cached_key(|states| place(model, independent, states[0]));
        Holders { states, fields }
    }

    /// Returns the first state, by name, whose rate is a multiple of the integrand, or the first field whose rates add up to it.
    pub(crate) fn of<F: Field>(
        &self,
        field: &mut F,
        assembled: &Assembled<F::Element>,
        integrand: &Row<F::Element>,
    ) -> Option<Held> {
        if let Some(state) = self.alone(field, assembled, integrand) {
            return Some(Held::Alone(state));
        }
        if integrand.is_empty() || integrand.len() > LONG {
            return None;
        }
        self.fields.iter().find_map(|states| {
            let all = together(field, assembled, states, integrand)?;
            // States without a part in it are omitted.
            let parts = all.parts(field, assembled, integrand).ok()?;
            let needed: Vec<usize> = parts.into_iter().map(|entry| entry.0 as usize).collect();
            together(field, assembled, &needed, integrand)
        })
    }

    /// Returns the first state whose rate is a multiple of the integrand.
    fn alone<F: Field>(
        &self,
        field: &mut F,
        assembled: &Assembled<F::Element>,
        integrand: &Row<F::Element>,
    ) -> Option<usize> {
        let alike = self.states.get(&(integrand.first()?.0, integrand.len()))?;
        alike.iter().copied().find(|state| {
            let rate = &assembled.rates[*state];
            let Some(factor) = ratio(field, integrand, rate) else {
                return false;
            };
            rate.iter().zip(integrand).all(|(a, b)| {
                let product = field.mul(&factor, &a.1);
                let difference = field.sub(&product, &b.1);
                a.0 == b.0 && field.is_zero(&difference)
            })
        })
    }
}

/// Returns true if states may start at other values than those of the model: because of conditions, guesses, or ties to
/// dependent storage with initial values or to sources.
fn starts_may_follow(model: &Model, causality: &Causality) -> bool {
    if !model.start_conditions.is_empty() || model.integrals.iter().any(|integral| integral.is_guess) {
        return true;
    }
    if causality.dependent.is_empty() {
        return false;
    }
    let mut exprs = model.exprs.clone();
    let is_variable = |exprs: &Exprs, id: ExprId| match exprs.node(id) {
        Node::Symbol(symbol) => exprs.symbol_info(*symbol).kind != SymbolKind::Parameter,
        _ => false,
    };
    // A value that contains a constant, possibly with inputs.
    let mut has_constant = |id: &ExprId| {
        let form = exprs.affine(*id, &is_variable);
        form.is_none_or(|form| !exprs.is_zero(form.rest))
    };
    model.graph.elements.iter().any(|element| match &element.law {
        Law::Source { values, .. } => values.iter().any(&mut has_constant),
        _ => element.start.iter().flatten().any(|start| !model.exprs.is_zero(*start)),
    }) || model
        .integrals
        .iter()
        .any(|integral| integral.start.is_some_and(|start| !model.exprs.is_zero(start)))
}

/// Returns the sort key of a state that holds the same integral as others: storage first, by the names of its elements.
fn place(model: &Model, independent: &[PortId], state: usize) -> (bool, String, usize) {
    match independent.get(state) {
        Some(port) => {
            let element = model.graph.ports[port.index()].element;
            (false, model.element_name(element).to_string(), state)
        }
        None => {
            let integral = model.integrals.get(state - independent.len());
            let name = integral.map(|integral| model.exprs.symbol_info(integral.symbol).name.to_string());
            (true, name.unwrap_or_default(), state)
        }
    }
}

/// Returns the factor between two proportional rows, taken at the best pivot of the second; `None` if the given numbers
/// make only the second one zero, as a spring without stiffness does.
fn ratio<F: Field>(field: &mut F, integrand: &Row<F::Element>, rate: &Row<F::Element>) -> Option<F::Element> {
    let Some(best) = rate
        .iter()
        .min_by(|a, b| field.pivot_cost(&a.1).total_cmp(&field.pivot_cost(&b.1)))
    else {
        return integrand.is_empty().then(|| field.zero());
    };
    Some(match integrand.binary_search_by_key(&best.0, |entry| entry.0) {
        Ok(at) => field.div(&integrand[at].1, &best.1),
        Err(_) => field.zero(),
    })
}

/// Returns the given states with independent rates, if the integrand is a sum over these rates.
fn together<F: Field>(
    field: &mut F,
    assembled: &Assembled<F::Element>,
    states: &[usize],
    integrand: &Row<F::Element>,
) -> Option<Held> {
    let mut basis: Vec<(u32, Row<F::Element>)> = Vec::new();
    let mut chosen = Vec::new();
    for state in states {
        let rest = reduced(field, &basis, assembled.rates[*state].clone());
        let best = rest
            .iter()
            .min_by(|a, b| field.pivot_cost(&a.1).total_cmp(&field.pivot_cost(&b.1)))
            .map(|entry| entry.0);
        if let Some(column) = best {
            basis.push((column, rest));
            chosen.push(*state);
        }
    }
    let is_sum = reduced(field, &basis, integrand.clone()).is_empty();
    is_sum.then(|| Held::Together {
        states: chosen,
        columns: basis.into_iter().map(|entry| entry.0).collect(),
    })
}

/// Eliminates the columns of a basis from a row; each basis row lacks the columns of the rows before it.
fn reduced<F: Field>(field: &mut F, basis: &[(u32, Row<F::Element>)], mut row: Row<F::Element>) -> Row<F::Element> {
    for (column, known) in basis {
        if find(&row, *column).is_some() {
            let factor = quotient(field, &row, known, *column);
            let factor = field.neg(&factor);
            row = add_scaled(field, &row, known, &factor, Some(*column), |_| ());
        }
    }
    row
}

fn quotient<F: Field>(field: &mut F, row: &Row<F::Element>, known: &Row<F::Element>, column: u32) -> F::Element {
    match (find(row, column), find(known, column)) {
        (Some(a), Some(b)) => field.div(&row[a].1, &known[b].1),
        _ => field.zero(),
    }
}
