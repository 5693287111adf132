//! The laws of elements as equations: the shell of the states, and all others.

use super::report::Rule;
use super::terms::{positive, tidy};
use super::topology::Equation;
use super::variables::{Reason, Table};
use crate::causality::CausalityReport;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::{Closed, Dissipator, ElementId, Law, Matrix, NonlinearLaw, PortId, StorageForm, Variable};

/// Adds the laws of all elements, then the rates of declared integrals.
pub(super) fn laws(
    table: &mut Table<'_>,
    causality: &CausalityReport,
    independent: usize,
) -> Result<Vec<Equation>, Reason> {
    let model = table.names.model;
    let mut found = Vec::new();
    for (index, element) in model.graph.elements.iter().enumerate() {
        let mut writer = Writer {
            name: model.element_name(ElementId(index as u32)),
            ports: element.ports.clone().map(PortId).collect(),
            table,
            causality,
            found: &mut found,
        };
        match &element.law {
            _ if element.is_velocity() => {}
            Law::Storage { co_energy, value, form } => writer.storage(*co_energy, value, *form)?,
            Law::Dissipator(law) => writer.dissipator(law)?,
            Law::Source { given, values } => writer.source(*given, values)?,
            Law::Coupler { input, output, matrix } => writer.coupler(*input, *output, matrix)?,
            Law::Nonlinear(law) => writer.nonlinear(law)?,
        }
    }
    for (at, integral) in model.integrals.iter().enumerate() {
        let state = independent + at;
        let Some(name) = table.system.states.get(state).map(|state| state.element.to_string()) else {
            return Err(format!("`{}` has no state of its own", integral.written));
        };
        let right = table.carried(integral.rate)?;
        let left = table.state_rate(state);
        let mut equation = Equation::new(Rule::Shell, name, left, tidy(&mut table.exprs, right));
        equation.state = Some(state);
        found.push(equation);
    }
    for (port, symbol) in table.port_rates.clone() {
        let Some(co_energy) = co_energy(table, port) else {
            continue;
        };
        let (left, of) = (table.port_rate(port, co_energy), table.port(port, co_energy));
        let name = table.names.port(port);
        let mut equation = Equation::new(Rule::Substitution, name, left, left);
        (equation.gives, equation.rate_of) = (Some(symbol), Some(of));
        found.push(equation);
    }
    Ok(found)
}

/// Returns the co-energy variable of linear storage.
fn co_energy(table: &Table<'_>, port: PortId) -> Option<Variable> {
    let model = table.names.model;
    match &model.graph.elements[model.graph.ports[port.index()].element.index()].law {
        Law::Storage { co_energy, .. } => Some(*co_energy),
        _ => None,
    }
}

struct Writer<'w, 'a> {
    name: String,
    ports: Vec<PortId>,
    table: &'w mut Table<'a>,
    causality: &'w CausalityReport,
    found: &'w mut Vec<Equation>,
}

impl Writer<'_, '_> {
    fn add(&mut self, rule: Rule, left: ExprId, right: ExprId, gives: Option<SymbolId>, state: Option<usize>) {
        let (left, right) = match state {
            Some(_) => (left, right),
            None => positive(&mut self.table.exprs, left, right),
        };
        let mut equation = Equation::new(rule, self.name.clone(), left, right);
        (equation.gives, equation.state) = (gives, state);
        self.found.push(equation);
    }

    fn all(&self, variable: Variable) -> Vec<ExprId> {
        self.ports.iter().map(|port| self.table.port(*port, variable)).collect()
    }

    /// Multiplies a row of a matrix by a vector.
    fn row(&mut self, matrix: &Matrix, row: usize, vector: &[ExprId]) -> Result<ExprId, Reason> {
        let mut terms = Vec::new();
        for (column, entry) in vector.iter().enumerate() {
            let factor = self.table.carried(matrix.get(row, column))?;
            if !self.table.exprs.is_zero(factor) {
                terms.push(self.table.exprs.mul(factor, *entry));
            }
        }
        Ok(self.table.exprs.sum(terms))
    }

    fn storage(&mut self, co_energy: Variable, value: &Matrix, form: StorageForm) -> Result<(), Reason> {
        let (z, w) = (self.all(co_energy), self.all(co_energy.conjugate()));
        let states: Vec<Option<usize>> = self
            .ports
            .iter()
            .map(|port| self.table.state_of.get(port).copied())
            .collect();
        let has_energy = |table: &Table<'_>, state: &Option<usize>| {
            state.is_some_and(|state| !table.system.states[state].variable.is_co_energy())
        };
        for (at, state) in states.iter().enumerate() {
            if !has_energy(self.table, state) {
                let rates: Vec<ExprId> = match form {
                    StorageForm::Direct => (self.ports.iter())
                        .map(|port| self.table.port_rate(*port, co_energy))
                        .collect(),
                    StorageForm::Inverse => vec![self.table.port_rate(self.ports[at], co_energy)],
                };
                let rule = if state.is_some() {
                    Rule::Shell
                } else {
                    Rule::Constitutive
                };
                let (left, right) = match form {
                    StorageForm::Direct => {
                        let taken = self.row(value, at, &rates)?;
                        if state.is_some() {
                            (taken, w[at])
                        } else {
                            (w[at], taken)
                        }
                    }
                    StorageForm::Inverse => (rates[0], self.row(value, at, &w)?),
                };
                let gives = self.table.as_variable(w[at]).filter(|_| state.is_none());
                self.add(rule, left, right, gives, *state);
                continue;
            }
            let Some(own) = *state else { continue };
            let (rate, held) = (self.table.state_rate(own), self.table.system.states[own].symbol);
            let held = self.table.exprs.symbol(held);
            self.add(Rule::Shell, rate, w[at], None, Some(own));
            let gives = self.table.as_variable(z[at]);
            match form {
                StorageForm::Direct => {
                    let right = self.row(value, at, &z)?;
                    self.add(Rule::Constitutive, held, right, gives, None);
                }
                StorageForm::Inverse if states.iter().all(|state| has_energy(self.table, state)) => {
                    let symbols: Vec<SymbolId> = (states.iter().flatten())
                        .map(|state| self.table.system.states[*state].symbol)
                        .collect();
                    let energies: Vec<ExprId> = symbols.iter().map(|symbol| self.table.exprs.symbol(*symbol)).collect();
                    let right = self.row(value, at, &energies)?;
                    self.add(Rule::Constitutive, z[at], right, gives, None);
                }
                StorageForm::Inverse => {
                    return Err(format!("`{}` is a stiffness with dependent ports", self.name));
                }
            }
        }
        Ok(())
    }

    fn dissipator(&mut self, law: &Dissipator) -> Result<(), Reason> {
        let (efforts, flows) = (self.all(Variable::Effort), self.all(Variable::Flow));
        for at in 0..self.ports.len() {
            let (left, right) = match law {
                Dissipator::Resistance(matrix) => (efforts[at], self.row(matrix, at, &flows)?),
                Dissipator::Conductance(matrix) => (flows[at], self.row(matrix, at, &efforts)?),
                Dissipator::Implicit(of_efforts, of_flows) => {
                    let terms = [self.row(of_efforts, at, &efforts)?, self.row(of_flows, at, &flows)?];
                    (self.table.exprs.sum(terms), self.table.exprs.zero())
                }
            };
            let gives = self.given_by_law(self.ports[at], None);
            self.add(Rule::Constitutive, left, right, gives, None);
        }
        Ok(())
    }

    /// Returns the variable that the law of a port sets according to causality; for a coupler only if it is `wanted`.
    fn given_by_law(&self, port: PortId, wanted: Option<Variable>) -> Option<SymbolId> {
        let given = self.causality.ports.get(port.index())?.taken?.conjugate();
        let variable = self.table.port(port, given);
        self.table
            .as_variable(variable)
            .filter(|_| wanted.is_none_or(|wanted| wanted == given))
    }

    fn source(&mut self, given: Variable, values: &[ExprId]) -> Result<(), Reason> {
        for (at, value) in values.iter().enumerate() {
            let port = self.ports[at];
            if !self.table.placed.contains(&port) {
                let (left, right) = (self.table.port(port, given), self.table.carried(*value)?);
                let gives = self.table.as_variable(left);
                self.add(Rule::Constitutive, left, right, gives, None);
            }
        }
        Ok(())
    }

    /// Adds `y = M x` and `conj(x) = -M' conj(y)`.
    fn coupler(&mut self, input: Variable, output: Variable, matrix: &Matrix) -> Result<(), Reason> {
        let (x, y) = self.ports.split_at(matrix.columns);
        let (x, y) = (x.to_vec(), y.to_vec());
        let of = |table: &Table<'_>, ports: &[PortId], variable: Variable| -> Vec<ExprId> {
            ports.iter().map(|port| table.port(*port, variable)).collect()
        };
        let (inputs, outputs) = (of(self.table, &x, input), of(self.table, &y, output));
        for (row, port) in y.iter().enumerate() {
            let right = self.row(matrix, row, &inputs)?;
            let other = || self.given_by_law(*x.first()?, Some(input));
            let gives = self.given_by_law(*port, Some(output)).or_else(other);
            self.add(Rule::Constitutive, outputs[row], right, gives, None);
        }
        let (back, from) = (
            of(self.table, &x, input.conjugate()),
            of(self.table, &y, output.conjugate()),
        );
        for (column, port) in x.iter().enumerate() {
            let mut terms = Vec::new();
            for (row, entry) in from.iter().enumerate() {
                let factor = self.table.carried(matrix.get(row, column))?;
                if !self.table.exprs.is_zero(factor) {
                    let product = self.table.exprs.mul(factor, *entry);
                    terms.push(self.table.exprs.neg(product));
                }
            }
            let right = self.table.exprs.sum(terms);
            let other = || self.given_by_law(*y.first()?, Some(output.conjugate()));
            let gives = self.given_by_law(*port, Some(input.conjugate())).or_else(other);
            self.add(Rule::Constitutive, back[column], right, gives, None);
        }
        Ok(())
    }

    /// Adds a law solved for the variable that it sets, if a closed form exists.
    fn nonlinear(&mut self, law: &NonlinearLaw) -> Result<(), Reason> {
        for (at, residual) in law.residuals.iter().enumerate() {
            let residual = self.table.carried(*residual)?;
            let mut candidates: Vec<(Closed, bool, ExprId)> = Vec::new();
            for (place, port) in self.ports.iter().enumerate() {
                let (effort, flow) = law.explicit[place];
                candidates.push((effort, place == at, self.table.port(*port, Variable::Effort)));
                candidates.push((flow, place == at, self.table.port(*port, Variable::Flow)));
            }
            candidates.retain(|candidate| candidate.0 != Closed::Not);
            candidates.sort_by_key(|candidate| std::cmp::Reverse((candidate.0, candidate.1)));
            let solved = candidates.into_iter().find_map(|(_, _, variable)| {
                let symbol = self.table.as_variable(variable)?;
                Some((symbol, self.table.exprs.isolate(residual, symbol)?))
            });
            let (left, right) = match solved {
                Some((symbol, right)) => (self.table.exprs.symbol(symbol), right),
                None => (residual, self.table.exprs.zero()),
            };
            let gives = self.given_by_law(self.ports[at], None);
            self.add(Rule::Constitutive, left, right, gives, None);
        }
        Ok(())
    }
}
