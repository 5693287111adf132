//! Writes the parts of the text one by one.

use super::far_side::FarSide;
use super::internal::Internal;
use super::names::{Names, is_sum, sum};
use super::parts::Parts;
use super::port::{Port, Static};
use crate::one_port::{Conversion, Kind, Test, is_across};
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind, text as written};
use lgm_model::system::StateSystem;
use lgm_model::{BondEnd, ElementId, Measure, Model, Parameter, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// Derives the equations of the network at one coupler, with a test at the port and outputs for its measurements. Returns `None` if such a
/// test is impossible.
pub type Probed<'a> = dyn FnMut(usize, Test, &[SymbolId]) -> Option<StateSystem> + 'a;

fn refused(message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0718, message).help(help))
}

/// The text under construction.
pub(super) struct Writer<'a> {
    pub(super) model: &'a Model,
    pub(super) conversion: &'a Conversion,
    is_numeric: bool,
    pub(super) names: Names,
    /// The new names of the domain's elements.
    pub(super) elements: FxHashMap<ElementId, String>,
    /// The old and new names of the domain's nodes.
    pub(super) nodes: Vec<(String, String)>,
    /// The texts for each coupler: across and through variable of its port.
    ports: FxHashMap<PortId, (String, String)>,
    /// The measurements on the far side of couplers, in the notation of the domain.
    pub(super) measures: FxHashMap<SymbolId, String>,
    /// For each coupler, the measurements in its network.
    wanted: Vec<Vec<SymbolId>>,
    pub(super) parts: Parts,
    /// A constant with the value 1 and without a unit, if values are numbers.
    pub(super) unit: Option<String>,
    /// Parameters that may be named, the model's first.
    pub(super) parameters: Vec<Parameter>,
    /// The texts of dependent parameters.
    pub(super) derived: FxHashMap<String, String>,
}

impl<'a> Writer<'a> {
    /// Names the domain's own elements.
    pub(super) fn new(
        model: &'a Model,
        conversion: &'a Conversion,
        is_numeric: bool,
    ) -> Result<Writer<'a>, Box<Diagnostic>> {
        let mut names = Names::default();
        let entries = model.parameters.iter().map(|parameter| &parameter.name);
        let inputs = model.inputs.iter().map(|input| &input.name);
        for name in entries
            .chain(inputs)
            .chain(model.outputs.iter().map(|output| &output.name))
        {
            names.take(name.split('[').next().unwrap_or(name));
        }
        let mut nodes: Vec<(String, String)> = Vec::new();
        let branches = conversion.branches.iter().map(|branch| &branch.ends);
        for ends in branches.chain(conversion.behind.iter().map(|behind| &behind.ends)) {
            for node in [&ends.0, &ends.1].into_iter().flatten() {
                if nodes.iter().all(|known| known.0 != *node) {
                    let name = names.fresh(node);
                    nodes.push((node.clone(), name));
                }
            }
        }
        let elements = conversion.branches.iter();
        let elements = elements
            .map(|branch| (branch.element, names.fresh(&branch.name)))
            .collect();
        let domain = model
            .graph
            .domains
            .iter()
            .find(|domain| *domain.name == *conversion.domain);
        let domain = domain.ok_or_else(|| refused("there is no such domain".to_string(), "choose another one"))?;
        let mut writer = Writer {
            model,
            conversion,
            is_numeric,
            elements,
            nodes,
            ports: FxHashMap::default(),
            measures: FxHashMap::default(),
            wanted: vec![Vec::new(); conversion.behind.len()],
            parts: Parts::new(domain),
            unit: is_numeric.then(|| names.fresh("unit")),
            names,
            parameters: model.parameters.clone(),
            derived: FxHashMap::default(),
        };
        writer.own_elements();
        writer.sort_measures()?;
        Ok(writer)
    }

    /// Writes the passive elements of the domain; sources follow after all variables that control them have names.
    fn own_elements(&mut self) {
        let mut exprs = self.conversion.model.exprs.clone();
        for branch in &self.conversion.branches {
            let Some(part) = branch.part else { continue };
            let one = exprs.one();
            let inverse = exprs.div(one, part.value);
            let both = (self.constant(&exprs, part.value), self.constant(&exprs, inverse));
            let (value, inverse) = if part.is_inverse { (both.1, both.0) } else { both };
            let ends = (self.node(&branch.ends.0), self.node(&branch.ends.1));
            let name = self.elements[&branch.element].clone();
            self.parts.passive(name, part.kind, &value, &inverse, ends);
        }
    }

    /// Formats a value in terms of the parameters, or as a number if numbers are requested.
    fn constant(&self, exprs: &lgm_algebra::expr::Exprs, id: ExprId) -> String {
        if !self.is_numeric {
            return written(exprs, id);
        }
        let entries = self.model.parameters.iter().flat_map(|parameter| &parameter.entries);
        let values: FxHashMap<SymbolId, f64> = entries
            .map(|entry| (entry.symbol, lgm_algebra::expr::to_f64(&entry.value)))
            .collect();
        format!(
            "{:?}",
            exprs.evaluate_unchecked(&[id], &|symbol| values.get(&symbol).copied())[0]
        )
    }

    pub(super) fn node(&self, name: &Option<String>) -> String {
        let found = name
            .as_ref()
            .and_then(|name| self.nodes.iter().find(|known| known.0 == *name));
        found.map_or("gnd".to_string(), |known| known.1.clone())
    }

    /// Returns the expressions that the text will contain.
    pub(super) fn roots(&self) -> Vec<ExprId> {
        let sources = self
            .conversion
            .branches
            .iter()
            .filter_map(|branch| Some(branch.source?.1));
        let mut roots: Vec<ExprId> = sources
            .chain(self.model.outputs.iter().map(|output| output.value))
            .collect();
        let mut at = 0;
        while at < roots.len() {
            let symbols = self.model.exprs.symbols_of(&roots[at..=at]);
            at += 1;
            for integral in &self.model.integrals {
                if symbols.contains(&integral.symbol) && !roots.contains(&integral.rate) {
                    roots.push(integral.rate);
                }
            }
        }
        roots
    }

    /// Sorts the measurements by the coupler whose network contains them.
    fn sort_measures(&mut self) -> Result<(), Box<Diagnostic>> {
        let Some((couplers, side)) = separate(self.model, self.conversion)? else {
            return Ok(());
        };
        let symbols: FxHashSet<SymbolId> = self.model.exprs.symbols_of(&self.roots()).into_iter().collect();
        for (symbol, measure) in &self.model.measures {
            if symbols.contains(symbol)
                && let Some(owner) = side.owner(*measure, &couplers)
            {
                self.wanted[owner].push(*symbol);
            }
        }
        Ok(())
    }

    /// Writes the network at a coupler.
    pub(super) fn behind(&mut self, at: usize, probed: &mut Probed<'_>) -> Result<(), Box<Diagnostic>> {
        let behind = &self.conversion.behind[at];
        let (wanted, name) = (self.wanted[at].clone(), self.names.fresh(&behind.name));
        let ends = (self.node(&behind.ends.0), self.node(&behind.ends.1));
        let through = probed(at, Test::Through, &wanted);
        let across = match through {
            Some(_) => None,
            None => probed(at, Test::Across, &wanted),
        };
        let unknown = || {
            refused(
                format!("the network behind `{name}` could not be computed"),
                "use `lgm convert` without `--format lgm`, or `--numeric` for numbers",
            )
        };
        let (system, test) = match (&through, &across) {
            (Some(system), _) => (system, Test::Through),
            (None, Some(system)) => (system, Test::Across),
            (None, None) => return Err(unknown()),
        };
        self.know_parameters(system);
        if self.as_ladder(behind.port, &name, &ends, system, test, &wanted) {
            return Ok(());
        }
        // The impedance at high frequencies determines which variable can be set without a loop.
        let mut internal = Internal::new(system, self.is_numeric).ok_or_else(unknown)?;
        let is_strictly_proper = internal.direct().is_none() && internal.rate().is_none();
        if test == Test::Through
            && is_strictly_proper
            && let Some(other) = probed(at, Test::Across, &wanted)
        {
            self.know_parameters(&other);
            internal = Internal::new(&other, self.is_numeric).ok_or_else(unknown)?;
            self.as_states(behind.port, &name, &ends, internal, Test::Across, &wanted);
        } else {
            self.as_states(behind.port, &name, &ends, internal, test, &wanted);
        }
        Ok(())
    }

    /// Adds parameters for equilibrium values, which occur only in the equations.
    fn know_parameters(&mut self, system: &StateSystem) {
        for parameter in &system.parameters {
            if let [entry] = &parameter.entries[..]
                && let Some(derived) = entry.derived
            {
                self.derived
                    .insert(parameter.name.to_string(), written(&system.exprs, derived));
            }
            if self.parameters.iter().all(|known| known.name != parameter.name) {
                self.parameters.push(parameter.clone());
            }
        }
    }

    /// Returns the inputs as factors. If values are numbers without units, a constant removes the unit of an input as well.
    fn inputs(&self) -> Vec<String> {
        let declared = self.model.inputs.iter().filter(|input| !input.is_internal);
        declared.map(|input| self.without_unit(&input.name)).collect()
    }

    fn without_unit(&self, text: &str) -> String {
        match &self.unit {
            Some(unit) => format!("{unit}*{text}"),
            None => text.to_string(),
        }
    }

    /// Writes a ladder with a constant source, if the network is one and all measurements follow from its port.
    fn as_ladder(
        &mut self,
        port: PortId,
        name: &str,
        ends: &(String, String),
        system: &StateSystem,
        test: Test,
        wanted: &[SymbolId],
    ) -> bool {
        let mut found = Port::new(system, test, self.is_numeric);
        let pulls = match &found {
            Some(found) if self.is_numeric => found.ladder(),
            _ => Port::new(system, test, true).and_then(|numbers| numbers.ladder()),
        };
        let (Some(found), Some(pulls)) = (&mut found, pulls) else {
            return false;
        };
        let (Some(values), Some(sources), Some(shown)) = (
            found.values(&pulls),
            found.constant_sources(),
            found.constant_measures(),
        ) else {
            return false;
        };
        let inputs = self.inputs();
        let has_sources = found.has_sources();
        let source = sum(sources.factors.into_iter().zip(inputs.iter().cloned()));
        let mut from = ends.0.clone();
        let mut throughs: Vec<String> = Vec::new();
        let mut is_whole = false;
        let is_short = !found.is_open() && pulls.is_empty();
        if sources.is_series && (has_sources || is_short) {
            let own = self.names.fresh(&format!("{name}_source"));
            let next = if is_short {
                ends.1.clone()
            } else {
                self.new_node(&format!("{name}_end"))
            };
            self.parts.source(own.clone(), true, &source, (from, next.clone()));
            throughs.push(format!("through({own})"));
            (from, is_whole) = (next, true);
        } else if has_sources {
            let own = self.names.fresh(&format!("{name}_source"));
            self.parts.source(own.clone(), false, &source, ends.clone());
            throughs.push(format!("through({own})"));
        }
        for (at, (pull, (value, inverse))) in pulls.iter().zip(values).enumerate() {
            let letter = match pull.kind {
                Kind::AType => "a",
                Kind::TType => "t",
                Kind::DType => "d",
            };
            let own = match pulls.len() {
                1 => name.to_string(),
                _ => self.names.fresh(&format!("{name}_{letter}{}", at + 1)),
            };
            let is_last = pulls[at + 1..].is_empty();
            let next = match pull.is_series && !is_last {
                true => self.new_node(&format!("{name}_{}", at + 1)),
                false => ends.1.clone(),
            };
            self.parts
                .passive(own.clone(), pull.kind, &value, &inverse, (from.clone(), next.clone()));
            if !is_whole {
                throughs.push(format!("through({own})"));
            }
            if pull.is_series {
                (from, is_whole) = (next, true);
            }
        }
        let q = sum(throughs.into_iter().map(|through| ("1".to_string(), through)));
        let p = across_of(ends);
        self.show(wanted, shown, (&p, &q), &inputs);
        self.know_port(port, p, q);
        true
    }

    /// Writes measurements in terms of the variables of the port.
    fn show(&mut self, wanted: &[SymbolId], shown: Vec<Static>, (p, q): (&str, &str), inputs: &[String]) {
        for (symbol, one) in wanted.iter().zip(shown) {
            let variable = if one.is_across { p } else { q };
            let variable = match one.order {
                -1 => format!("int({variable})"),
                1 => format!("der({variable})"),
                _ => in_brackets(variable),
            };
            let terms = one.inputs.into_iter().zip(inputs.iter().cloned());
            let text = sum(std::iter::once((one.factor, variable)).chain(terms));
            self.measures.insert(*symbol, in_brackets(&text));
        }
    }

    fn new_node(&mut self, like: &str) -> String {
        let name = self.names.fresh(like);
        self.nodes.push((name.clone(), name.clone()));
        name
    }

    /// Writes states with a source, and the instantaneous parts as elements next to it.
    fn as_states(
        &mut self,
        port: PortId,
        name: &str,
        ends: &(String, String),
        mut internal: Internal,
        test: Test,
        wanted: &[SymbolId],
    ) {
        let states: Vec<String> = (1..=internal.order())
            .map(|at| self.names.fresh(&format!("{name}_x{at}")))
            .collect();
        let own = self.names.fresh(&format!("{name}_source"));
        let (direct, rate) = (internal.direct(), internal.rate());
        let mut from = ends.0.clone();
        let p = across_of(ends);
        let mut q = format!("through({own})");
        let storage = if test == Test::Through {
            Kind::TType
        } else {
            Kind::AType
        };
        for (at, (kind, value)) in [(storage, rate), (Kind::DType, direct)].into_iter().enumerate() {
            let Some((value, inverse)) = value else { continue };
            let part = self
                .names
                .fresh(&format!("{name}_{}", if at == 0 { "storage" } else { "loss" }));
            if test == Test::Through {
                let next = self.new_node(&format!("{name}_{}", at + 1));
                self.parts
                    .passive(part.clone(), kind, &value, &inverse, (from, next.clone()));
                from = next;
                q = format!("through({part})");
            } else {
                // The factors of an admittance are C and 1/R.
                let (value, inverse) = if kind == Kind::DType {
                    (inverse, value)
                } else {
                    (value, inverse)
                };
                self.parts.passive(part.clone(), kind, &value, &inverse, ends.clone());
                q = format!("{q} + through({part})");
            }
        }
        let given = if test == Test::Through { &q } else { &p };
        let mut inputs = self.inputs();
        inputs.push(self.without_unit(&in_brackets(given)));
        for (at, state) in states.iter().enumerate() {
            let rate = internal.state_rate(at, &states, &inputs);
            self.parts.state(state, &rate);
        }
        let value = internal.output(0, &states, &inputs);
        let place = if test == Test::Through {
            (from, ends.1.clone())
        } else {
            ends.clone()
        };
        self.parts.source(own, test == Test::Through, &value, place);
        for (at, symbol) in wanted.iter().enumerate() {
            let text = internal.output(at + 1, &states, &inputs);
            self.measures.insert(*symbol, in_brackets(&text));
        }
        self.know_port(port, p, q);
    }

    /// Stores the texts of the across and through variables of a coupler's port.
    fn know_port(&mut self, port: PortId, p: String, q: String) {
        let mut behind = self.conversion.behind.iter();
        let is_flipped = behind.any(|behind| behind.port == port && behind.is_flipped);
        let signed = |text: String| match is_flipped {
            true => sum([("-1".to_string(), in_brackets(&text))]),
            false => text,
        };
        self.ports.insert(port, (signed(p), signed(q)));
    }

    /// Returns the text of a measurement in the domain, or at the port of a coupler.
    pub(super) fn own_measure(&self, measure: Measure) -> Option<String> {
        let of_port = |port: PortId, variable: Variable| {
            let is_across = is_across(self.model, port, variable);
            if let Some((across, through)) = self.ports.get(&port) {
                return Some(in_brackets(if is_across { across } else { through }));
            }
            let name = self.elements.get(&self.model.graph.ports[port.index()].element)?;
            let word = if is_across { "across" } else { "through" };
            Some(format!("{word}({name})"))
        };
        match measure {
            Measure::PortEffort(port) => of_port(port, Variable::Effort),
            Measure::PortFlow(port) => of_port(port, Variable::Flow),
            Measure::Common(node) => {
                let old = self.model.path_name(self.model.graph.nodes[node.index()].path);
                let known = self.nodes.iter().find(|known| known.0 == old)?;
                Some(format!("across({})", known.1))
            }
            Measure::BondEffort(bond) | Measure::BondFlow(bond) => {
                let bond = &self.model.graph.bonds[bond.index()];
                let is_effort = matches!(measure, Measure::BondEffort(_));
                let variable = if is_effort { Variable::Effort } else { Variable::Flow };
                match (bond.tail, bond.head) {
                    (_, BondEnd::Port(port)) => of_port(port, variable),
                    // The flow of a bond that leaves a port is the flow that the port delivers.
                    (BondEnd::Port(port), _) if !is_effort => Some(format!("(-{})", of_port(port, variable)?)),
                    (BondEnd::Port(port), _) => of_port(port, variable),
                    _ => None,
                }
            }
        }
    }
}

/// Formats the across variable between two ends.
fn across_of(ends: &(String, String)) -> String {
    let terms = [("1", &ends.0), ("-1", &ends.1)]
        .into_iter()
        .filter(|term| term.1 != "gnd");
    sum(terms.map(|(factor, node)| (factor.to_string(), format!("across({node})"))))
}

fn in_brackets(text: &str) -> String {
    match is_sum(text) || text.starts_with('-') {
        true => format!("({text})"),
        false => text.to_string(),
    }
}

/// Creates a symbol that prints as the given text.
pub(super) fn stand_in(exprs: &mut lgm_algebra::expr::Exprs, text: &str) -> ExprId {
    let symbol = exprs.new_symbol(text, SymbolKind::Measure);
    exprs.symbol(symbol)
}

/// Returns the couplers of a conversion and the networks that they lead to. It is an error if two couplers lead to one network, which then
/// has two ports. `None` without couplers.
pub(super) fn separate<'m>(
    model: &'m Model,
    conversion: &Conversion,
) -> Result<Option<(Vec<ElementId>, FarSide<'m>)>, Box<Diagnostic>> {
    let couplers: Vec<ElementId> = conversion.behind.iter().map(|behind| behind.element).collect();
    let port = conversion
        .behind
        .first()
        .map(|behind| &model.graph.ports[behind.port.index()]);
    let Some(own) = port.and_then(|port| crate::one_port::domain_of(model, port)) else {
        return Ok(None);
    };
    let side = FarSide::of(model, own);
    for (at, coupler) in couplers.iter().enumerate() {
        let mut before = couplers[..at].iter();
        if let Some(other) = before.find(|other| side.hang_together(**other, *coupler)) {
            let (one, two) = (model.element_name(*other), model.element_name(*coupler));
            return Err(refused(
                format!("`{one}` and `{two}` lead to the same network, so it has more than one port"),
                "convert to a domain that this network joins at one point",
            ));
        }
    }
    Ok(Some((couplers, side)))
}
