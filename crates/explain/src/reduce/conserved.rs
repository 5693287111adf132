//! Conserved quantities: combinations of momenta, charges and displacements whose rates sum to zero, or to source variables, by the
//! junction structure.

use super::merging::total;
use super::parameters::{inertance, inverse, is_constant, is_sum, shortest, shown, times};
use super::report::{Conserved, Merge, MergeKind};
use crate::CausalityReport;
use crate::names::Names;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_algebra::{Field, FromExpression, RationalFunction, RationalFunctions};
use lgm_equations::causality::structure::port_column;
use lgm_equations::causality::words::list;
use lgm_equations::{Assigned, OverGiven, StateSystem};
use lgm_model::{Law, PortId, Variable};
use rustc_hash::FxHashMap;

/// The maximum number of storage ports for which combinations are searched for.
const MOST: usize = 200;

/// A row of rates, and the corresponding combination of storage.
struct Combination {
    /// Rates in terms of the ports that affect them, without storage.
    rates: FxHashMap<PortId, RationalFunction>,
    /// Storage ports with their coefficients.
    of: FxHashMap<PortId, RationalFunction>,
}

/// Returns the conserved quantities; `None` if they were not searched for. Fields of two elements are added to the merges on request.
pub(super) fn conserved(
    assigned: &Assigned<'_>,
    exprs: &mut Exprs,
    system: &StateSystem,
    causality: &CausalityReport,
    (merges, merge): (&mut Vec<Merge>, bool),
) -> Option<Vec<Conserved>> {
    let combinations = combinations(assigned, exprs)?;
    let mut found = Vec::new();
    for (of, driven_by) in combinations {
        let about = About {
            assigned,
            system,
            causality,
        };
        // A single element driven by a source is not a combination.
        if of.len() == 1 && !driven_by.is_empty() {
            continue;
        }
        found.push(about.conserved(exprs, &of, &driven_by, (merges, merge)));
    }
    Some(found)
}

/// Returns the linear storage ports in integral causality.
fn storage(assigned: &Assigned<'_>) -> Vec<PortId> {
    let model = &*assigned.model;
    let ports = (0..model.graph.ports.len() as u32).map(PortId);
    ports
        .filter(|port| {
            let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
            let is_linear = matches!(element.law, Law::Storage { .. }) && !element.is_velocity();
            is_linear && !assigned.is_derivative(*port)
        })
        .collect()
}

/// Returns all independent combinations, with the sources that drive each.
#[allow(clippy::type_complexity)]
fn combinations(assigned: &Assigned<'_>, exprs: &mut Exprs) -> Option<Vec<(Vec<(PortId, ExprId)>, Vec<PortId>)>> {
    let model = &*assigned.model;
    let ports = storage(assigned);
    if ports.len() > MOST {
        return None;
    }
    let column = |port: &PortId| Some(port_column(*port, assigned.co_energy(*port)?.conjugate()));
    let columns: Vec<u32> = ports.iter().filter_map(column).collect();
    let rows: Vec<OverGiven> = assigned
        .over_given(exprs, &columns)?
        .into_iter()
        .collect::<Option<_>>()?;
    let mut field = RationalFunctions::default();
    let mut open: Vec<Combination> = Vec::new();
    for (port, row) in ports.iter().zip(rows) {
        if row.iter().any(|(_, value)| !is_constant(exprs, *value)) {
            continue;
        }
        let mut own = Combination {
            rates: FxHashMap::default(),
            of: FxHashMap::default(),
        };
        own.of.insert(*port, field.one());
        for (other, value) in row {
            let value = field.from_expression(exprs, value).ok()?;
            // Dependent storage absorbs the rate of the quantity that it stores.
            match assigned.is_derivative(other) {
                true => _ = own.of.insert(other, field.neg(&value)),
                false => _ = own.rates.insert(other, value),
            }
        }
        open.push(own);
    }
    let is_source = |port: PortId| {
        let element = model.graph.ports[port.index()].element;
        matches!(model.graph.elements[element.index()].law, Law::Source { .. })
    };
    eliminate(&mut field, &mut open, &|port| !is_source(port));
    let mut driven: Vec<Combination> = open;
    // Driven combinations are also eliminated from each other, so that undriven combinations become visible.
    let kept = driven.len();
    eliminate_within(&mut field, &mut driven, kept);
    if field.exhausted() {
        return None;
    }
    let mut found = Vec::new();
    for combination in driven {
        let mut of: Vec<(PortId, RationalFunction)> = combination.of.into_iter().collect();
        of.retain(|entry| !field.is_zero(&entry.1));
        of.sort_unstable_by_key(|entry| entry.0);
        let first = of.first()?.1.clone();
        let of = of.into_iter().map(|(port, value)| {
            let value = field.div(&value, &first);
            (port, field.to_expression(exprs, &value))
        });
        let of: Vec<(PortId, ExprId)> = of.collect();
        let mut by: Vec<PortId> = combination.rates.keys().copied().collect();
        by.sort_unstable();
        found.push((of, by));
    }
    found.sort_by_key(|(of, by)| (!by.is_empty(), of[0].0, of.len()));
    Some(found)
}

/// Eliminates ports from the rates one by one; each uses up one combination.
fn eliminate(field: &mut RationalFunctions, open: &mut Vec<Combination>, goes: &dyn Fn(PortId) -> bool) {
    let first = |combination: &Combination| combination.rates.keys().copied().filter(|port| goes(*port)).min();
    while let Some(at) = open.iter().position(|combination| first(combination).is_some()) {
        let pivot = open.remove(at);
        let port = first(&pivot).expect("invariant: the position was found by it");
        subtract(field, open, &pivot, port);
        if field.exhausted() {
            return;
        }
    }
}

/// Eliminates sources from all but one combination each; these combinations are kept.
fn eliminate_within(field: &mut RationalFunctions, open: &mut Vec<Combination>, count: usize) {
    for at in 0..count {
        let Some(port) = open[at].rates.keys().copied().min() else {
            continue;
        };
        let pivot = open.remove(at);
        subtract(field, open, &pivot, port);
        open.insert(at, pivot);
        if field.exhausted() {
            return;
        }
    }
}

/// Eliminates a port from the rates of combinations with a pivot combination.
fn subtract(field: &mut RationalFunctions, open: &mut [Combination], pivot: &Combination, port: PortId) {
    for other in open {
        let Some(value) = other.rates.get(&port).cloned() else {
            continue;
        };
        let factor = field.div(&value, &pivot.rates[&port]);
        for (into, from) in [(&mut other.rates, &pivot.rates), (&mut other.of, &pivot.of)] {
            for (port, value) in from {
                let product = field.mul(&factor, value);
                let before = into.get(port).cloned().unwrap_or_else(|| field.zero());
                let after = field.sub(&before, &product);
                match field.is_zero(&after) {
                    true => _ = into.remove(port),
                    false => _ = into.insert(*port, after),
                }
            }
        }
    }
}

struct About<'a, 'm> {
    assigned: &'a Assigned<'m>,
    system: &'a StateSystem,
    causality: &'a CausalityReport,
}

impl About<'_, '_> {
    fn conserved(
        &self,
        exprs: &mut Exprs,
        of: &[(PortId, ExprId)],
        driven_by: &[PortId],
        (merges, merge): (&mut Vec<Merge>, bool),
    ) -> Conserved {
        let names = Names {
            model: &self.assigned.model,
            graph: &self.assigned.graph,
        };
        let terms: Vec<String> = of
            .iter()
            .map(|(port, factor)| self.held(exprs, *port, *factor))
            .collect();
        let mut quantity = String::new();
        for term in terms {
            match (quantity.is_empty(), term.strip_prefix('-')) {
                (true, _) => quantity.push_str(&term),
                (false, Some(rest)) => quantity.push_str(&format!(" - {rest}")),
                (false, None) => quantity.push_str(&format!(" + {term}")),
            }
        }
        let mut elements: Vec<String> = Vec::new();
        for (port, _) in of {
            let name = names.model.element_name(names.model.graph.ports[port.index()].element);
            if !elements.contains(&name) {
                elements.push(name);
            }
        }
        let driven_by: Vec<String> = driven_by.iter().map(|port| names.port(*port)).collect();
        let (equivalent, done) = match (of, &driven_by[..]) {
            ([first, second], []) => self.field(exprs, (*first, *second), &elements, (merges, merge)),
            (_, []) => (
                String::new(),
                "kept, although its initial value determines this state".to_string(),
            ),
            (_, by) => {
                let verb = if by.len() > 1 { "change" } else { "changes" };
                (String::new(), format!("kept: only {} {verb} it", list(by)))
            }
        };
        Conserved {
            quantity,
            kind: self.kind(of),
            of: elements,
            driven_by,
            equivalent,
            done,
        }
    }

    /// Formats the quantity stored at a port, times a factor, in terms of its state.
    fn held(&self, exprs: &mut Exprs, port: PortId, factor: ExprId) -> String {
        let model = &*self.assigned.model;
        let found = self
            .causality
            .storage
            .iter()
            .find(|storage| storage.port == port.index());
        let state = found.and_then(|storage| storage.state.clone());
        let is_energy = state.as_ref().is_some_and(|name| {
            let states = self.system.states.iter();
            states
                .into_iter()
                .any(|state| state.name == *name && !state.variable.is_co_energy())
        });
        let parameter = match (is_energy, inertance(model, exprs, port)) {
            (true, _) => factor,
            (false, Some(own)) => exprs.mul(factor, own),
            (false, None) => factor,
        };
        let parameter = shortest(exprs, parameter);
        let names = Names {
            model,
            graph: &self.assigned.graph,
        };
        let co_energy = self
            .assigned
            .co_energy(port)
            .expect("invariant: storage has a co-energy");
        let variable = state.map_or_else(|| names.measure(port, co_energy), |state| state.to_string());
        let text = shown(exprs, parameter);
        // The variable of `1/k` is in the numerator.
        match (text.strip_prefix("1/"), text.strip_prefix("-1/")) {
            _ if is_sum(&text) => times(&text, &variable),
            (Some(below), _) => format!("{variable}/{below}"),
            (_, Some(below)) => format!("-{variable}/{below}"),
            _ => times(&text, &variable),
        }
    }

    /// Adds a field of two elements whose intakes are equal, or multiples of each other.
    fn field(
        &self,
        exprs: &mut Exprs,
        ((kept, _), (removed, factor)): ((PortId, ExprId), (PortId, ExprId)),
        names: &[String],
        (merges, merge): (&mut Vec<Merge>, bool),
    ) -> (String, String) {
        let model = &*self.assigned.model;
        let alike = "kept, although its initial value determines this state";
        let is_alone = |port: PortId| {
            model.graph.elements[model.graph.ports[port.index()].element.index()]
                .ports
                .len()
                == 1
        };
        let same = self.assigned.co_energy(kept) == self.assigned.co_energy(removed);
        let is_free = !merges
            .iter()
            .any(|other| [other.kept, other.removed].contains(&removed))
            && !merges.iter().any(|other| other.removed == kept);
        let (Some(own), Some(before), true, true) = (
            inertance(model, exprs, removed),
            inertance(model, exprs, kept),
            same && is_alone(kept) && is_alone(removed) && !self.assigned.is_derivative(removed),
            is_free,
        ) else {
            return (String::new(), alike.to_string());
        };
        // w_k + factor*w_r = 0: the intake of the removed element is -1/factor times the intake of the other.
        let below = inverse(exprs, factor);
        let gain = exprs.neg(below);
        let gain = shortest(exprs, gain);
        let mut both = merges.clone();
        both.push(Merge {
            removed,
            kept,
            gain,
            kind: MergeKind::Conserved,
            own,
            before,
            after: before,
        });
        total(exprs, &mut both);
        let after = both.last().map_or(before, |last| last.after);
        let equivalent = shown(exprs, after);
        if let Some(difference) = self.unequal_starts(exprs, (kept, removed, factor)) {
            return (
                equivalent,
                format!("kept: the initial values differ, so the quantity is {difference} and not 0"),
            );
        }
        if !merge {
            let done = format!("kept; `--merge-conserved` merges it into {}", names[0]);
            return (equivalent, done);
        }
        *merges = both;
        (
            equivalent,
            format!("merged into {}, which gets the equivalent parameter", names[0]),
        )
    }

    /// Returns the quantity at the start, if it is nonzero.
    fn unequal_starts(&self, exprs: &mut Exprs, (kept, removed, factor): (PortId, PortId, ExprId)) -> Option<f64> {
        let model = &*self.assigned.model;
        let parameters = model.parameters.iter().flat_map(|parameter| &parameter.entries);
        let values: FxHashMap<_, _> = parameters.map(|entry| (entry.symbol, entry.value.clone())).collect();
        let mut sum = 0.0;
        let mut size = 0.0f64;
        let one = exprs.one();
        for (port, factor) in [(kept, one), (removed, factor)] {
            let storage = self
                .causality
                .storage
                .iter()
                .find(|storage| storage.port == port.index())?;
            let name = storage.state.as_ref()?;
            let state = self.system.states.iter().find(|state| state.name == *name)?;
            let mut weight = factor;
            if state.variable.is_co_energy() {
                let own = inertance(model, exprs, port)?;
                weight = exprs.mul(factor, own);
            }
            let mut field = lgm_algebra::ExactValues::new(values.clone());
            let weight = field.from_expression(exprs, weight).ok()?;
            let part = lgm_algebra::expr::to_f64(&weight) * state.start_value;
            sum += part;
            size += part.abs();
        }
        (sum.abs() > 1e-12 * size).then_some(sum)
    }

    /// Returns the kind of the combination, if it is uniform.
    fn kind(&self, of: &[(PortId, ExprId)]) -> &'static str {
        let mut kinds = of.iter().map(|(port, _)| self.kind_of(*port));
        let first = kinds.next().unwrap_or("quantity");
        match kinds.all(|kind| kind == first) {
            true => first,
            false => "quantity",
        }
    }

    fn kind_of(&self, port: PortId) -> &'static str {
        let model = &*self.assigned.model;
        let is_effort = self.assigned.co_energy(port) == Some(Variable::Effort);
        let Some(domain) = model.graph.ports[port.index()].domain else {
            return if is_effort { "displacement" } else { "momentum" };
        };
        let domain = &model.graph.domains[domain.index()];
        match (&*domain.name, domain.effort_is_across == is_effort) {
            ("translational", true) => "momentum",
            ("translational", false) => "displacement",
            ("rotational", true) => "angular momentum",
            ("rotational", false) => "angle",
            ("electrical", true) => "charge",
            ("electrical", false) => "flux linkage",
            ("fluid", true) => "volume",
            ("fluid", false) => "momentum of the fluid",
            ("thermal", true) => "heat",
            _ => "quantity",
        }
    }
}
