//! The equations of vectors: the laws of elements as products of matrices, and the equations of the graph of the first entries.

use super::super::report::Rule;
use super::super::topology::{Equation, graph_equations};
use super::algebra::{Product, Sum, Term, negated, times};
use super::lift::{Lift, stripped};
use crate::causality::CausalityReport;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_equations::bond::BondGraph;
use lgm_model::{Dissipator, ElementId, Law, PortId, StorageForm, Variable};

/// An equation between sums of vectors.
pub(super) struct VectorEquation {
    pub(super) rule: Rule,
    pub(super) of: String,
    pub(super) left: Sum,
    pub(super) right: Sum,
    /// The vector that it is intended to determine.
    pub(super) gives: Option<SymbolId>,
    /// True if it determines the rate of a state.
    pub(super) is_of_state: bool,
    /// The vector whose derivative is the vector of the equation.
    pub(super) rate_of: Option<Sum>,
}

struct Writer<'w, 'a> {
    lift: &'w mut Lift<'a>,
    causality: &'w CausalityReport,
    found: Vec<VectorEquation>,
    /// Rates of storage without states, each with the vector whose rate it is.
    rates: Vec<(String, SymbolId, Sum)>,
}

/// Returns all equations, those of laws first; `None` if a law or a node has no equation between vectors.
pub(super) fn equations(
    lift: &mut Lift<'_>,
    graph: &BondGraph,
    causality: &CausalityReport,
    independent: usize,
) -> Option<Vec<VectorEquation>> {
    let mut writer = Writer {
        lift,
        causality,
        found: Vec::new(),
        rates: Vec::new(),
    };
    // This registers the measured variables that integrals read.
    let of_graph = graph_equations(&mut writer.lift.table, graph, causality);
    for element in 0..writer.lift.table.names.model.graph.elements.len() as u32 {
        writer.law(ElementId(element))?;
    }
    writer.integrals(independent)?;
    for (of, rate, vector) in std::mem::take(&mut writer.rates) {
        let left = writer.one(rate);
        writer.add(Rule::Substitution, &of, left.clone(), left, Some(rate));
        writer.found.last_mut()?.rate_of = Some(vector);
    }
    writer.graph(of_graph)?;
    Some(writer.found)
}

impl Writer<'_, '_> {
    fn add(&mut self, rule: Rule, of: &str, left: Sum, right: Sum, gives: Option<SymbolId>) {
        self.found.push(VectorEquation {
            rule,
            of: of.to_string(),
            left,
            right,
            gives,
            is_of_state: rule == Rule::Shell,
            rate_of: None,
        });
    }

    /// Returns a vector as a sum.
    fn one(&mut self, vector: SymbolId) -> Sum {
        let product = Product {
            scalar: self.lift.table.exprs.one(),
            factors: Vec::new(),
        };
        vec![Term { product, vector }]
    }

    fn product(&mut self, factor: &Product, sum: &Sum) -> Sum {
        times(&mut self.lift.table.exprs, factor, sum)
    }

    fn law(&mut self, id: ElementId) -> Option<()> {
        let model = self.lift.table.names.model;
        let element = &model.graph.elements[id.index()];
        let name = model.element_name(id);
        let groups: Vec<PortId> = self.lift.groups[id.index()].iter().map(|group| group[0]).collect();
        match (&element.law, &groups[..]) {
            _ if element.is_velocity() => None,
            (Law::Storage { co_energy, value, form }, [port]) => {
                let factor = self.lift.factor(&name, value)?;
                self.storage(&name, *port, *co_energy, (&factor, *form))
            }
            (Law::Dissipator(law), [port]) => {
                let (matrix, given) = match law {
                    Dissipator::Resistance(matrix) => (matrix, Variable::Effort),
                    Dissipator::Conductance(matrix) => (matrix, Variable::Flow),
                    Dissipator::Implicit(..) => return None,
                };
                let factor = self.lift.factor(&name, matrix)?;
                let (left, from) = (
                    self.lift.vector(*port, given)?,
                    self.lift.vector(*port, given.conjugate())?,
                );
                let gives = self.given_by_law(*port, None);
                let right = self.product(&factor, &from);
                self.add(Rule::Constitutive, &name, left, right, gives);
                Some(())
            }
            (Law::Source { .. }, [_]) => Some(()),
            (Law::Coupler { input, output, matrix }, [x, y]) => {
                let sizes = [0, 1].map(|at| self.lift.groups[id.index()][at].len());
                if sizes != [matrix.columns, matrix.rows] {
                    return None;
                }
                let factor = self.lift.factor(&name, matrix)?;
                self.coupler(&name, [*x, *y], [*input, *output], factor)
            }
            _ => None,
        }
    }

    /// Returns the vector that the law of a port sets according to causality; for a coupler only if it is `wanted`.
    fn given_by_law(&self, port: PortId, wanted: Option<Variable>) -> Option<SymbolId> {
        let given = self.causality.ports.get(port.index())?.taken?.conjugate();
        let table = &self.lift.table;
        table
            .as_variable(table.port(port, given))
            .filter(|_| wanted.is_none_or(|wanted| wanted == given))
    }

    fn storage(
        &mut self,
        name: &str,
        port: PortId,
        co_energy: Variable,
        (factor, form): (&Product, StorageForm),
    ) -> Option<()> {
        let (z, w) = (
            self.lift.vector(port, co_energy)?,
            self.lift.vector(port, co_energy.conjugate())?,
        );
        let group = self
            .lift
            .groups
            .iter()
            .flatten()
            .find(|group| group[0] == port)?
            .clone();
        let state = self.lift.table.state_of.get(&port).copied();
        let rate = match state {
            Some(state) if self.lift.table.system.states[state].variable.is_co_energy() => self.lift.table.rates[state],
            Some(_) => return None,
            None => {
                let rates: Vec<ExprId> = (group.iter())
                    .map(|port| self.lift.table.port_rate(*port, co_energy))
                    .collect();
                let symbols: Option<Vec<SymbolId>> =
                    rates.iter().map(|rate| self.lift.table.as_variable(*rate)).collect();
                let symbols = symbols?;
                self.rates.push((name.to_string(), symbols[0], z));
                let first = symbols[0];
                self.lift.add(symbols);
                first
            }
        };
        let rates = self.one(rate);
        let (rule, gives) = match state {
            Some(_) => (Rule::Shell, None),
            None => (Rule::Constitutive, w.first().map(|term| term.vector)),
        };
        let (left, right) = match (form, state) {
            (StorageForm::Direct, Some(_)) => (self.product(factor, &rates), w),
            (StorageForm::Direct, None) => (w, self.product(factor, &rates)),
            (StorageForm::Inverse, _) => (rates, self.product(factor, &w)),
        };
        self.add(rule, name, left, right, gives);
        Some(())
    }

    /// Adds `y = M x` and `conj(x) = -M' conj(y)`.
    fn coupler(
        &mut self,
        name: &str,
        [x, y]: [PortId; 2],
        [input, output]: [Variable; 2],
        factor: Product,
    ) -> Option<()> {
        let mut back = factor.clone();
        back.factors.iter_mut().for_each(|factor| factor.transposed = true);
        back.scalar = self.lift.table.exprs.neg(back.scalar);
        for (to, from, variables, factor) in [
            (y, x, [output, input], &factor),
            (x, y, [input.conjugate(), output.conjugate()], &back),
        ] {
            let (left, right) = (
                self.lift.vector(to, variables[0])?,
                self.lift.vector(from, variables[1])?,
            );
            let right = self.product(factor, &right);
            let other = || self.given_by_law(from, Some(variables[1]));
            let gives = self.given_by_law(to, Some(variables[0])).or_else(other);
            self.add(Rule::Constitutive, name, left, right, gives);
        }
        Some(())
    }

    /// Adds the rates of declared integrals, with those of a vector state as one equation.
    fn integrals(&mut self, independent: usize) -> Option<()> {
        let (model, system) = (self.lift.table.names.model, self.lift.table.system);
        let mut at = 0;
        while at < model.integrals.len() {
            let name = |at: usize| system.states.get(independent + at).map(|state| &*state.name);
            let first = name(at)?;
            let is_next = |other: &usize| {
                name(*other).is_some_and(|name| stripped(name) != name && stripped(name) == stripped(first))
            };
            let count = 1 + (at + 1..model.integrals.len()).take_while(is_next).count();
            let states = independent + at..independent + at + count;
            let rates: Vec<SymbolId> = states.clone().map(|state| self.lift.table.rates[state]).collect();
            self.lift.add(rates.clone());
            self.lift.add(states.map(|state| system.states[state].symbol).collect());
            let rate = self.lift.table.carried(model.integrals[at].rate).ok()?;
            let (right, length) = self.lift.sum(rate)??;
            if length != count {
                return None;
            }
            let left = self.one(rates[0]);
            self.add(Rule::Shell, stripped(first), left, right, None);
            at += count;
        }
        Some(())
    }

    /// Adds the equations of nodes and loops for the first entries.
    fn graph(&mut self, equations: Vec<Equation>) -> Option<()> {
        for equation in equations {
            if !matches!(equation.rule, Rule::Node | Rule::Loop) || equation.state.is_some() {
                return None;
            }
            let Some((left, length)) = self.lift.sum(equation.left)? else {
                continue;
            };
            let of = match length {
                1 => &equation.of,
                _ => stripped(&equation.of),
            };
            let left = match left.iter().all(|term| self.is_negative(term)) {
                true => negated(&mut self.lift.table.exprs, &left),
                false => left,
            };
            self.add(equation.rule, of, left, Vec::new(), equation.gives);
        }
        Some(())
    }

    fn is_negative(&self, term: &Term) -> bool {
        super::super::terms::is_negative(&self.lift.table.exprs, term.product.scalar)
    }
}
