//! Nonlinear laws: residuals in terms of effort and flow, with integrals replaced by states.
//!
//! `int(e)` in a law is a state x with `x' = e`. `der(h) = r`, also as `c*der(h) + .. = 0`, is the state x = h with
//! `x' = r`. A port stores energy if its law contains such a state and only one of its variables. The law determines that variable, the
//! co-energy variable, for any value of the state.

use crate::context::values::{DimId, Value};
use crate::law_forms::classify::Fault;
use crate::law_forms::templates::{LawIntegral, Template};
use crate::laws::LawReader;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_algebra::units::Dimension;
use lgm_model::SiUnit;
use lgm_model::{Closed, ElementId, Integral, Law, Measure, NonlinearLaw, Path, PathId, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// A state of a nonlinear law in the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LawState {
    pub symbol: SymbolId,
    /// The port, from 0, whose initial value it has.
    pub port: usize,
    /// Its dimension, if the domain defines it.
    pub dimension: Option<Dimension>,
}

/// Returns the law of equations of the form `expression = 0`; variable 2j is the effort of port j, variable 2j + 1 its flow.
pub(crate) fn nonlinear_law(
    exprs: &mut Exprs,
    equations: &[ExprId],
    variables: &FxHashMap<SymbolId, u32>,
    ports: usize,
) -> Result<(NonlinearLaw, Vec<LawIntegral>), Fault> {
    let mut reader = Reader {
        exprs,
        variables,
        integrals: Vec::new(),
    };
    let mut residuals = Vec::with_capacity(equations.len());
    for equation in equations {
        let equation = reader.without_integrals(*equation);
        residuals.push(reader.without_rate(equation)?);
    }
    let mut integrals = reader.integrals;
    let symbols = in_order(variables, ports);
    for residual in &residuals {
        let holds = |symbol: &SymbolId| exprs.depends_on(*residual, *symbol);
        if !symbols.iter().any(|port| holds(&port.0) || holds(&port.1)) {
            return Err(Fault::Dependent);
        }
    }
    integrals.retain(|integral| {
        residuals
            .iter()
            .any(|residual| exprs.depends_on(*residual, integral.symbol))
    });
    // In the order of the ports, as for initial values, independent of the order of equations.
    integrals.sort_by_key(|integral| integral.of.map_or(u32::MAX, |(variable, _)| variable / 2));
    let mut law = NonlinearLaw {
        variables: symbols.clone(),
        explicit: Vec::with_capacity(ports),
        storage: vec![None; ports],
        residuals,
    };
    for (port, &(effort, flow)) in symbols.iter().enumerate() {
        let mut closed = |symbol: SymbolId| {
            let each = law
                .residuals
                .iter()
                .map(|residual| how_closed(exprs, *residual, symbol));
            each.max().unwrap_or(Closed::Not)
        };
        law.explicit.push((closed(effort), closed(flow)));
        law.storage[port] = storage_of(exprs, &law.residuals, &integrals, (effort, flow));
    }
    Ok((law, integrals))
}

/// Returns the symbols of effort and flow of each port; variable 2j is the effort of port j, variable 2j + 1 its flow.
pub(crate) fn in_order(variables: &FxHashMap<SymbolId, u32>, ports: usize) -> Vec<(SymbolId, SymbolId)> {
    let mut symbols = vec![None; 2 * ports];
    for (symbol, at) in variables {
        symbols[*at as usize] = Some(*symbol);
    }
    let of = |at: usize| symbols[at].expect("invariant: every port has an effort and a flow");
    (0..ports).map(|port| (of(2 * port), of(2 * port + 1))).collect()
}

/// Returns an expression with its integrals replaced by known states or, if necessary, by new ones.
pub(crate) fn hold_integrals(
    exprs: &mut Exprs,
    expr: ExprId,
    variables: &FxHashMap<SymbolId, u32>,
    integrals: &mut Vec<LawIntegral>,
) -> ExprId {
    let mut reader = Reader {
        exprs,
        variables,
        integrals: std::mem::take(integrals),
    };
    let held = reader.without_integrals(expr);
    *integrals = reader.integrals;
    held
}

/// Returns the expression of a variable from an equation: as written if the equation is affine in it.
fn how_closed(exprs: &mut Exprs, residual: ExprId, symbol: SymbolId) -> Closed {
    let is_it = |exprs: &Exprs, id: ExprId| matches!(exprs.node(id), Node::Symbol(found) if *found == symbol);
    if exprs.isolate(residual, symbol).is_none() {
        return Closed::Not;
    }
    let form = exprs.affine(residual, &is_it);
    let steady = form.is_some_and(|form| {
        form.terms.iter().all(|(_, coefficient)| {
            let held = exprs.symbols_of(&[*coefficient]);
            held.iter()
                .all(|symbol| exprs.symbol_info(*symbol).kind == SymbolKind::Parameter)
        })
    });
    if steady { Closed::Direct } else { Closed::Inverse }
}

/// Returns the co-energy variable and the energy variable of a port, if its law contains one of its variables and a state that the other
/// variable feeds.
fn storage_of(
    exprs: &Exprs,
    residuals: &[ExprId],
    integrals: &[LawIntegral],
    (effort, flow): (SymbolId, SymbolId),
) -> Option<(Variable, SymbolId)> {
    let held = |symbol: SymbolId| residuals.iter().any(|residual| exprs.depends_on(*residual, symbol));
    for (variable, given, fed) in [(Variable::Effort, effort, flow), (Variable::Flow, flow, effort)] {
        if !held(given) || held(fed) {
            continue;
        }
        let found = integrals
            .iter()
            .find(|integral| exprs.depends_on(integral.rate, fed) && !exprs.depends_on(integral.rate, given));
        if let Some(integral) = found {
            return Some((variable, integral.symbol));
        }
    }
    None
}

struct Reader<'a> {
    exprs: &'a mut Exprs,
    variables: &'a FxHashMap<SymbolId, u32>,
    integrals: Vec<LawIntegral>,
}

impl Reader<'_> {
    fn variable(&self, id: ExprId) -> Option<u32> {
        match self.exprs.node(id) {
            Node::Symbol(symbol) => self.variables.get(symbol).copied(),
            _ => None,
        }
    }

    fn holds_variable(&self, id: ExprId) -> bool {
        self.exprs.symbols_of(&[id]).iter().any(|symbol| {
            self.variables.contains_key(symbol) || self.integrals.iter().any(|integral| integral.symbol == *symbol)
        })
    }

    fn rates_inside(&self, id: ExprId) -> bool {
        self.exprs
            .reachable(&[id])
            .into_iter()
            .any(|id| matches!(self.exprs.node(id), Node::Call(Function::Der, _)))
    }

    /// Returns the state with this rate.
    fn state(&mut self, rate: ExprId, of: Option<(u32, bool)>) -> ExprId {
        let known = self
            .integrals
            .iter()
            .find(|integral| integral.rate == rate && integral.of == of);
        let symbol = match known {
            Some(integral) => integral.symbol,
            None => {
                let symbol = self.exprs.new_symbol("integral", SymbolKind::State);
                self.integrals.push(LawIntegral { symbol, rate, of });
                symbol
            }
        };
        self.exprs.symbol(symbol)
    }

    /// Replaces `int(..)` by states, inner ones first.
    fn without_integrals(&mut self, root: ExprId) -> ExprId {
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.exprs.reachable(&[root]) {
            let node = self.exprs.node(id).clone();
            let now = match &node {
                Node::Call(Function::Int, list) => {
                    let inner = replaced[&list[0]];
                    let minus = self.exprs.neg(inner);
                    match (self.variable(inner), self.variable(minus)) {
                        (Some(variable), _) => self.state(inner, Some((variable, true))),
                        (None, Some(variable)) => {
                            let state = self.state(minus, Some((variable, true)));
                            self.exprs.neg(state)
                        }
                        (None, None) => self.state(inner, None),
                    }
                }
                _ => self.exprs.rebuild(&node, &replaced),
            };
            replaced.insert(id, now);
        }
        replaced[&root]
    }

    /// Returns the terms of a sum, including those of sums inside a product.
    fn terms(&mut self, root: ExprId) -> Vec<ExprId> {
        let mut found = Vec::new();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            match self.exprs.node(id).clone() {
                Node::Sum(list) => open.extend(list.iter().rev()),
                Node::Product(list) => {
                    let sum = list.iter().position(|factor| {
                        matches!(self.exprs.node(*factor), Node::Sum(_)) && self.rates_inside(*factor)
                    });
                    let Some(at) = sum else {
                        found.push(id);
                        continue;
                    };
                    let inner = match self.exprs.node(list[at]).clone() {
                        Node::Sum(inner) => inner,
                        _ => unreachable!("invariant: the factor is a sum"),
                    };
                    for term in inner.iter().rev() {
                        let mut factors = list.to_vec();
                        factors[at] = *term;
                        open.push(self.exprs.product(factors));
                    }
                }
                _ => found.push(id),
            }
        }
        found
    }

    /// Replaces `c*der(h) + rest` by `h - x`, where x is a state with rate `-rest/c`.
    fn without_rate(&mut self, equation: ExprId) -> Result<ExprId, Fault> {
        if !self.rates_inside(equation) {
            return Ok(equation);
        }
        let form = Fault::Form("a derivative is inside a nonlinear expression; write it as `der(h(across)) = through`");
        let terms = self.terms(equation);
        let (with, rest): (Vec<ExprId>, Vec<ExprId>) = terms.into_iter().partition(|term| self.rates_inside(*term));
        let [only] = with[..] else { return Err(form) };
        let factors = match self.exprs.node(only).clone() {
            Node::Product(list) => list.to_vec(),
            _ => vec![only],
        };
        let (rates, factors): (Vec<ExprId>, Vec<ExprId>) =
            factors.into_iter().partition(|factor| self.rates_inside(*factor));
        let [rate] = rates[..] else { return Err(form) };
        let Node::Call(Function::Der, list) = self.exprs.node(rate).clone() else {
            return Err(form);
        };
        if self.rates_inside(list[0]) {
            return Err(form);
        }
        let mut held = list[0];
        let (varying, steady): (Vec<ExprId>, Vec<ExprId>) =
            factors.into_iter().partition(|factor| self.holds_variable(*factor));
        if !varying.is_empty() {
            // `C(z)*der(z)` is the rate of the antiderivative of C.
            let density = self.exprs.product(varying);
            held = self.antiderivative(density, held).ok_or(form)?;
        }
        let (rest, factor) = (self.exprs.sum(rest), self.exprs.product(steady));
        let quotient = self.exprs.div(rest, factor);
        let rate = self.exprs.neg(quotient);
        if let Node::Symbol(symbol) = *self.exprs.node(held)
            && self.variables.contains_key(&symbol)
            && self.exprs.depends_on(rate, symbol)
        {
            // The state is the variable itself, and replaces it in its own rate.
            let state = self.exprs.new_symbol("integral", SymbolKind::State);
            let expr = self.exprs.symbol(state);
            let rate = self
                .exprs
                .substitute(&[rate], |other| (other == symbol).then_some(expr))[0];
            let of = self.variables.get(&symbol).map(|variable| (*variable, false));
            self.integrals.push(LawIntegral {
                symbol: state,
                rate,
                of,
            });
            return Ok(self.exprs.sub(held, expr));
        }
        let minus = self.exprs.neg(rate);
        let of = match (self.variable(held), self.variable(rate).or(self.variable(minus))) {
            (Some(variable), _) => Some((variable, false)),
            (None, Some(variable)) => Some((variable, true)),
            (None, None) => None,
        };
        let state = self.state(rate, of);
        Ok(self.exprs.sub(held, state))
    }

    /// Returns the antiderivative of a polynomial in one variable, with constant coefficients.
    fn antiderivative(&mut self, density: ExprId, variable: ExprId) -> Option<ExprId> {
        self.variable(variable)?;
        let terms = match self.exprs.node(density).clone() {
            Node::Sum(list) => list.to_vec(),
            _ => vec![density],
        };
        let mut parts = Vec::with_capacity(terms.len());
        for term in terms {
            let factors = match self.exprs.node(term).clone() {
                Node::Product(list) => list.to_vec(),
                _ => vec![term],
            };
            let mut degree = num_rational::BigRational::from_integer(1.into());
            let mut product = Vec::with_capacity(factors.len());
            for factor in factors {
                if factor == variable {
                    degree += num_rational::BigRational::from_integer(1.into());
                } else if let Node::Power(base, exponent) = *self.exprs.node(factor)
                    && base == variable
                {
                    let exponent = self.exprs.as_number(exponent)?;
                    if !exponent.is_integer() || *exponent < num_rational::BigRational::from_integer(1.into()) {
                        return None;
                    }
                    degree += exponent;
                } else if self.holds_variable(factor) {
                    return None;
                } else {
                    product.push(factor);
                }
            }
            product.push(self.exprs.number(degree.recip()));
            let degree = self.exprs.number(degree);
            product.push(self.exprs.power(variable, degree));
            parts.push(self.exprs.product(product));
        }
        Some(self.exprs.sum(parts))
    }
}

impl<'a> LawReader<'_, 'a> {
    /// Returns a nonlinear law with the values of an instance: its variables are measures of the ports, and its states are integrals of the
    /// model. `states` receives the port of each state.
    pub fn fill_nonlinear(
        &mut self,
        id: ElementId,
        template: &Template,
        law: &NonlinearLaw,
        arguments: &[Value],
        states: &mut Vec<LawState>,
    ) -> Law {
        let values: Vec<ExprId> = arguments
            .iter()
            .flat_map(|value| value.entries().iter().map(|entry| entry.expr))
            .collect();
        let mut own: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        let variables = self.own_variables(id, &law.variables, &mut own);
        let renamed = self.own_integrals(id, template, &values, &mut own, states);
        let residuals = law
            .residuals
            .iter()
            .map(|residual| self.fill_entry(template, &values, &own, *residual))
            .collect();
        let storage = law
            .storage
            .iter()
            .map(|entry| entry.map(|(variable, symbol)| (variable, renamed[&symbol])))
            .collect();
        Law::Nonlinear(NonlinearLaw {
            residuals,
            variables,
            explicit: law.explicit.clone(),
            storage,
        })
    }

    /// Returns the measures of the variables of an element's ports; `own` receives them by the symbols of the template.
    pub fn own_variables(
        &mut self,
        id: ElementId,
        symbols: &[(SymbolId, SymbolId)],
        own: &mut FxHashMap<SymbolId, ExprId>,
    ) -> Vec<(SymbolId, SymbolId)> {
        let first = self.graph.model.graph.elements[id.index()].ports.start;
        let mut variables = Vec::with_capacity(symbols.len());
        for (at, (effort, flow)) in symbols.iter().enumerate() {
            let port = PortId(first + at as u32);
            let here = [(Variable::Effort, *effort), (Variable::Flow, *flow)].map(|(variable, symbol)| {
                let measure = match variable {
                    Variable::Effort => Measure::PortEffort(port),
                    Variable::Flow => Measure::PortFlow(port),
                };
                let expr = self.port_variable_measure(port, measure, variable);
                own.insert(symbol, expr);
                expr
            });
            let symbol = |expr: ExprId| match self.arena.exprs.node(expr) {
                Node::Symbol(symbol) => *symbol,
                _ => unreachable!("invariant: a measure is a symbol"),
            };
            variables.push((symbol(here[0]), symbol(here[1])));
        }
        variables
    }

    /// Returns the symbols of the model's integrals by those of a template. Integrals that the element already has, such as in another of
    /// its modes, are reused; others are added. `own` and `states` receive them.
    pub fn own_integrals(
        &mut self,
        id: ElementId,
        template: &Template,
        values: &[ExprId],
        own: &mut FxHashMap<SymbolId, ExprId>,
        states: &mut Vec<LawState>,
    ) -> FxHashMap<SymbolId, SymbolId> {
        let mut renamed: FxHashMap<SymbolId, SymbolId> = FxHashMap::default();
        let mut taken = FxHashSet::default();
        for (at, integral) in template.integrals.iter().enumerate() {
            let (mut name, mut entry, unit) = self.integral_name(id, integral);
            let mut number = at + 1;
            while name.is_empty() || !taken.insert((name.clone(), entry)) {
                (name, entry) = (format!("x{number}"), None);
                number += 1;
            }
            // An element has one integral of a variable in all of its modes.
            let model = &self.graph.model;
            let mut known = model.integrals.iter().rev().take_while(|known| known.owner == Some(id));
            let is_same = |known: &&Integral| {
                let path = &model.paths[known.path.index()];
                *path.name == *name && path.indices.first().copied() == entry.map(i64::from)
            };
            let is_plain = integral.of.is_some_and(|of| of.1);
            if let Some(known) = known.find(is_same).filter(|_| is_plain).map(|known| known.symbol) {
                own.insert(integral.symbol, self.arena.exprs.symbol(known));
                renamed.insert(integral.symbol, known);
                continue;
            }
            let index = entry.map_or(String::new(), |entry| format!("[{entry}]"));
            let whole = format!("{}.{name}{index}", self.graph.model.element_name(id));
            let symbol = self.arena.exprs.new_symbol(whole, SymbolKind::State);
            let expr = self.arena.exprs.symbol(symbol);
            own.insert(integral.symbol, expr);
            renamed.insert(integral.symbol, symbol);
            let about = &self.graph.model.graph.elements[id.index()];
            let (parent, span) = (about.path, self.graph.model.paths[about.path.index()].span);
            let path = PathId(self.graph.model.paths.len() as u32);
            self.graph.model.paths.push(Path {
                parent: Some(parent),
                name: name.as_str().into(),
                indices: entry.map(i64::from).into_iter().collect(),
                span,
            });
            let rate = self.fill_entry(template, values, own, integral.rate);
            let written = match integral.of {
                Some((_, true)) => format!("integral of {}", self.variable_word(id, integral)),
                Some((_, false)) => self.variable_word(id, integral),
                None => format!("{name} of {}", self.graph.model.element_name(id)),
            };
            self.graph.model.integrals.push(Integral {
                owner: Some(id),
                unit,
                ..Integral::from_zero((path, symbol), rate, written.into())
            });
            states.push(LawState {
                symbol,
                port: integral.of.map_or(0, |(variable, _)| (variable / 2) as usize),
                dimension: self.integral_dimension(id, integral),
            });
        }
        renamed
    }

    /// Sets the initial values and magnitudes of the states of a nonlinear law from their element.
    pub fn start_integrals(&mut self, id: ElementId, states: &[LawState]) {
        let start = self.graph.model.graph.elements[id.index()].start.clone();
        let nominal = self.graph.model.graph.elements[id.index()].nominal.clone();
        let span = self.graph.model.graph.elements[id.index()].start_span;
        let integrals = self.graph.model.integrals.iter_mut().rev();
        for integral in integrals.take_while(|integral| integral.owner == Some(id)) {
            if let Some(state) = states.iter().find(|state| state.symbol == integral.symbol) {
                integral.start = start.get(state.port).copied().flatten();
                integral.nominal = nominal.get(state.port).copied().flatten();
                integral.start_span = span;
            }
        }
    }

    /// Returns the dimensions of the states of a nonlinear law, one per port.
    pub fn integral_dimensions(&mut self, ports: usize, states: &[LawState]) -> Vec<DimId> {
        let of = |port: usize| states.iter().find(|state| state.port == port)?.dimension;
        let found: Vec<Option<Dimension>> = (0..ports).map(of).collect();
        found.into_iter().map(|each| self.dims.optional(each)).collect()
    }

    /// Returns the dimension of a state of a law, if the domain of its port defines it.
    fn integral_dimension(&self, id: ElementId, integral: &LawIntegral) -> Option<Dimension> {
        let (variable, is_integral) = integral.of?;
        let about = &self.graph.model.graph.elements[id.index()];
        let port = &self.graph.model.graph.ports[(about.ports.start + variable / 2) as usize];
        let domain = &self.graph.model.graph.domains[port.domain?.index()];
        let is_across = domain.effort_is_across == variable.is_multiple_of(2);
        let dimension = domain.dimension(is_across);
        match is_integral {
            true => dimension?.times(&Dimension::TIME),
            false => dimension,
        }
    }

    fn port_variable_measure(&mut self, port: PortId, measure: Measure, variable: Variable) -> ExprId {
        self.measure(measure, |model| {
            let about = &model.graph.ports[port.index()];
            let word = match about.domain {
                Some(domain) => {
                    let across = model.graph.domains[domain.index()].effort_is_across == (variable == Variable::Effort);
                    if across { "across" } else { "through" }
                }
                None if variable == Variable::Effort => "effort",
                None => "flow",
            };
            let of_port = about.name.as_ref().map_or(String::new(), |name| format!(".{name}"));
            format!("{word}({}{of_port})", model.element_name(about.element))
        })
    }

    /// Returns a description of the port variable of a law's state: `across of spring`.
    fn variable_word(&self, id: ElementId, integral: &LawIntegral) -> String {
        let variable = integral.of.map_or(0, |(variable, _)| variable);
        let about = &self.graph.model.graph.elements[id.index()];
        let port = &self.graph.model.graph.ports[(about.ports.start + variable / 2) as usize];
        let is_effort = variable.is_multiple_of(2);
        let word = match port
            .domain
            .map(|domain| &self.graph.model.graph.domains[domain.index()])
        {
            Some(domain) if domain.effort_is_across == is_effort => "across",
            Some(_) => "through",
            None if is_effort => "effort",
            None => "flow",
        };
        let of_port = port.name.as_ref().map_or(String::new(), |name| format!(".{name}"));
        format!("{word} of {}{of_port}", self.graph.model.element_name(id))
    }

    /// Returns the name of a state of a law within its element, with its port if that has a name, the entry of the port, and the unit. A
    /// state of an expression of several variables has no name.
    fn integral_name(&self, id: ElementId, integral: &LawIntegral) -> (String, Option<u32>, Option<SiUnit>) {
        let Some((variable, is_integral)) = integral.of else {
            return (String::new(), None, None);
        };
        let about = &self.graph.model.graph.elements[id.index()];
        let port = &self.graph.model.graph.ports[(about.ports.start + variable / 2) as usize];
        let is_effort = variable % 2 == 0;
        let of_port = |symbol: &str| match &port.name {
            Some(name) => format!("{name}.{symbol}"),
            None => symbol.to_string(),
        };
        let Some(domain) = port.domain else {
            let name = match (is_effort, is_integral) {
                (true, true) => "p",
                (false, true) => "q",
                (true, false) => "e",
                (false, false) => "f",
            };
            return (of_port(name), port.entry, None);
        };
        let domain = &self.graph.model.graph.domains[domain.index()];
        let across = domain.effort_is_across == is_effort;
        let symbol = if across { &domain.across } else { &domain.through };
        if !is_integral {
            return (of_port(symbol), port.entry, domain.unit(across).cloned());
        }
        let dimension = domain.dimension(across);
        let unit = dimension.and_then(|dimension| dimension.times(&Dimension::TIME).map(SiUnit::of));
        (of_port(&format!("int_{symbol}")), port.entry, unit)
    }
}
