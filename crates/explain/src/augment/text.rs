//! Inserts parasitic elements into the text of a model.

use super::parasitic::{Parasitic, beside, in_series, inertia, is_linear};
use super::subject::{Place, Rule, Subject, is_reference, nodes_of, statement_of};
use crate::reduce::rewrite::edits::Edits;
use crate::reduce::rewrite::statements::{base, range};
use lgm_model::{BondEnd, Connection, ElementId, Law, Measure, NodeId, PortId, Variable};
use lgm_syntax::ast::{Expr, Instance, StatementKind};
use std::ops::Range;

/// The parameters of the parasitic elements in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The name of the stiffness.
    pub stiffness: String,
    /// The name of the damping; none if each damper follows from the stiffness and the adjacent inertia.
    pub damping: Option<String>,
    /// True for stiffnesses without dampers.
    pub is_undamped: bool,
}

/// A text with one inserted parasitic element.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The text of the whole file.
    pub text: String,
    /// The location of the insertion.
    pub place: Place,
}

/// Returns the end of the line on which a statement ends, so that a trailing comment stays with the statement. If the line continues after
/// the model, returns the statement's own end.
pub fn end_of_line(text: &str, end: usize, model_end: usize) -> usize {
    let line = text[end..].find('\n').map_or(text.len(), |length| end + length);
    if line < model_end { line } else { end }
}

/// Writes parasitic elements for one dependent element.
pub(super) struct Writer<'a> {
    subject: &'a Subject<'a>,
    parameters: &'a Parameters,
}

impl<'a> Writer<'a> {
    pub(super) fn new(subject: &'a Subject<'a>, parameters: &'a Parameters) -> Writer<'a> {
        Writer { subject, parameters }
    }

    /// Returns a name that the text does not contain yet.
    fn fresh(&self, prefix: &str) -> String {
        let own = self.subject.name.replace(['.', '[', ']', ','], "_").replace(' ', "");
        let mut name = format!("{prefix}_{}", own.trim_matches('_'));
        while self.subject.given.text.contains(name.as_str()) {
            name.push('_');
        }
        name
    }

    /// Returns the domain of the element's ports; empty for bonds.
    fn domain(&self) -> &'a str {
        let model = self.subject.given.model;
        let domain = model.graph.ports[self.subject.ports[0].index()].domain;
        domain.map_or("", |domain| &model.graph.domains[domain.index()].name)
    }

    /// Returns the value of a damper in parallel with a stiff spring, as a conductance; `None` if it cannot be determined.
    fn damping(&self) -> Option<String> {
        match &self.parameters.damping {
            Some(name) => Some(name.clone()),
            None => {
                let inertia = inertia(self.subject)?;
                let is_name = inertia
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "_.".contains(letter));
                let inertia = if is_name { inertia } else { format!("({inertia})") };
                Some(format!("2*sqrt({}*{inertia})", self.parameters.stiffness))
            }
        }
    }

    /// Formats ` start = ..` for values that are not all zero.
    fn start(values: Option<Vec<f64>>, over: Option<&str>) -> String {
        let Some(values) = values.filter(|values| values.iter().any(|value| *value != 0.0)) else {
            return String::new();
        };
        if values.iter().any(|value| !value.is_finite()) {
            return String::new();
        }
        let over = over.map_or(String::new(), |over| format!("/{over}"));
        let list: Vec<String> = values.iter().map(|value| format!("{value:?}{over}")).collect();
        match &list[..] {
            [only] => format!(", start = {only}"),
            _ => format!(", start = [{}]", list.join(", ")),
        }
    }

    fn measured(&self, ports: &[PortId], variable: Variable, sign: f64) -> Option<Vec<f64>> {
        let measures: Vec<Measure> = ports
            .iter()
            .map(|port| match variable {
                Variable::Effort => Measure::PortEffort(*port),
                Variable::Flow => Measure::PortFlow(*port),
            })
            .collect();
        let values = (self.subject.given.starts)(&measures)?;
        Some(values.into_iter().map(|value| sign * value).collect())
    }

    /// Returns the across or the through variable of a port.
    fn variable(&self, port: PortId, across: bool) -> Variable {
        let model = self.subject.given.model;
        let domain = model.graph.ports[port.index()].domain;
        let effort_is_across = domain.is_none_or(|domain| model.graph.domains[domain.index()].effort_is_across);
        match effort_is_across == across {
            true => Variable::Effort,
            false => Variable::Flow,
        }
    }

    /// Adds the initial value of the freed element, unless its statement sets one.
    fn own_start(&self, edits: &mut Edits) {
        let given = self.subject.given;
        let Some(statement) = statement_of(given, &self.subject.name) else {
            return;
        };
        let StatementKind::Instance(instance) = &statement.kind else {
            return;
        };
        let has_start = instance
            .attributes
            .iter()
            .any(|attribute| &*attribute.name.text == "start");
        if has_start || !is_linear(self.subject) {
            return;
        }
        let is_bond = self.domain().is_empty();
        let variable = match (is_bond, self.subject.is_across) {
            (true, true) => Variable::Effort,
            (true, false) => Variable::Flow,
            (false, across) => self.variable(self.subject.ports[0], across),
        };
        let values = self.measured(&self.subject.ports, variable, 1.0);
        // The state of a bond element is its energy variable.
        let values = match is_bond {
            true => values.and_then(|values| self.energies(&values)),
            false => values,
        };
        let start = Writer::start(values, None);
        if !start.is_empty() {
            let end = range(statement.span).end;
            let end = given.text[..end].trim_end().trim_end_matches(';').trim_end().len();
            edits.replace(end..end, start);
        }
    }

    fn energies(&self, values: &[f64]) -> Option<Vec<f64>> {
        let model = self.subject.given.model;
        let Law::Storage { value, .. } = &model.graph.elements[self.subject.id.index()].law else {
            return None;
        };
        let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
        let known: Vec<_> = entries
            .map(|entry| (entry.symbol, lgm_algebra::expr::to_f64(&entry.value)))
            .collect();
        let matrix = model.exprs.evaluate_unchecked(&value.entries, &|symbol| {
            known.iter().find(|entry| entry.0 == symbol).map(|entry| entry.1)
        });
        let row = |row: usize| {
            (0..value.columns)
                .map(|column| matrix[row * value.columns + column] * values[column])
                .sum()
        };
        Some((0..value.rows).map(row).collect())
    }

    /// Formats the size of a vector node with this number of entries, for a declaration.
    fn shape(ports: &[PortId], is_vector: bool) -> String {
        match is_vector {
            true => format!("[{}] vector", ports.len()),
            false => String::new(),
        }
    }

    fn is_vector(&self, port: PortId) -> bool {
        self.subject.given.model.graph.ports[port.index()].entry.is_some()
    }

    /// Returns the statements of an element in series between two ends, the second of which is new.
    fn series(
        &self,
        (old, new): (&str, &str),
        shape: &str,
        domain: &str,
        forces: Option<Vec<f64>>,
    ) -> Option<Vec<String>> {
        let stiffness = &self.parameters.stiffness;
        let mut statements = vec![format!("node {new}{shape} : {domain};")];
        match in_series(domain, stiffness) {
            Parasitic::Compliance { spring, damper } => {
                let start = Writer::start(forces, None);
                statements.push(format!(
                    "{} : {}({}) {old} -> {new}{start};",
                    self.fresh("yield"),
                    spring.0,
                    spring.1
                ));
                if self.parameters.is_undamped {
                    return Some(statements);
                }
                let damping = self.damping()?;
                let damping = match damper.1 {
                    true => format!("1/({damping})"),
                    false => damping,
                };
                statements.push(format!(
                    "{} : {}({damping}) {old} -> {new};",
                    self.fresh("loss"),
                    damper.0
                ));
            }
            Parasitic::Resistance(kind, value) => {
                statements.push(format!("{} : {kind}({value}) {old} -> {new};", self.fresh("loss")));
            }
        }
        Some(statements)
    }

    fn candidate(
        &self,
        mut edits: Edits,
        after: usize,
        statements: Vec<String>,
        place: (Rule, String, String),
    ) -> Candidate {
        let given = self.subject.given;
        self.own_start(&mut edits);
        let lines: String = statements.iter().map(|statement| format!("\n  {statement}")).collect();
        let after = end_of_line(given.text, after, given.declared.span.end as usize);
        edits.replace(after..after, lines);
        let edited = edits.apply(given.text);
        let text = lgm_syntax::format(given.source, &edited).unwrap_or(edited);
        let (rule, at, because) = place;
        Candidate {
            text,
            place: Place {
                element: self.subject.name.clone(),
                rule,
                at,
                because,
                inserted: statements,
            },
        }
    }

    fn slice(&self, expr: &Expr) -> &'a str {
        &self.subject.given.text[range(expr.span)]
    }

    fn end_of(&self, name: &str) -> Option<usize> {
        Some(range(statement_of(self.subject.given, name)?.span).end)
    }

    /// Inserts between an A-type element and its node.
    pub(super) fn branch_at_element(&self, instance: &Instance) -> Option<Candidate> {
        let (from, to) = instance.branches.first()?;
        let (end, is_tail) = match is_reference(from) {
            false => (from, true),
            true => (to, false),
        };
        let (old, new) = (self.slice(end), self.fresh("at"));
        let through = self.variable(self.subject.ports[0], false);
        let forces = self.measured(&self.subject.ports, through, 1.0);
        let shape = Writer::shape(&self.subject.ports, self.is_vector(self.subject.ports[0]));
        let ends = if is_tail {
            (old, new.as_str())
        } else {
            (new.as_str(), old)
        };
        let mut statements = self.series((ends.0, ends.1), &shape, self.domain(), forces)?;
        statements[0] = format!("node {new}{shape} : {};", self.domain());
        let mut edits = Edits::default();
        edits.replace(range(end.span), new);
        let name = &self.subject.name;
        let place = (
            Rule::Element,
            format!("between `{name}` and `{old}`"),
            format!(
                "`{name}` is rigidly tied at `{old}` to the storage it depends on, without a coupler in between that \
                 could be made compliant"
            ),
        );
        Some(self.candidate(edits, self.end_of(name)?, statements, place))
    }

    /// Inserts between a coupler and the node of an A-type element.
    pub(super) fn branch_at_coupler(&self, coupler: ElementId) -> Option<Candidate> {
        let model = self.subject.given.model;
        let name = model.element_name(coupler);
        let own: Vec<NodeId> = nodes_of(model, self.subject.ports[0]);
        let at = model
            .ports_of(coupler)
            .find(|port| nodes_of(model, *port).iter().any(|node| own.contains(node)))?;
        let about = &model.graph.ports[at.index()];
        let group: Vec<PortId> = model
            .ports_of(coupler)
            .filter(|port| model.graph.ports[port.index()].name == about.name)
            .collect();
        let Connection::Branch { from, .. } = &about.connection else {
            return None;
        };
        let is_tail = from.is_some_and(|node| own.contains(&node));
        let statement = statement_of(self.subject.given, &name)?;
        let StatementKind::Instance(instance) = &statement.kind else {
            return None;
        };
        let branch = instance.branches.get(self.group_of(coupler, at))?;
        let end = if is_tail { &branch.0 } else { &branch.1 };
        let domain = &model.graph.domains[about.domain?.index()].name;
        let (old, new) = (self.slice(end), self.fresh("at"));
        let through = self.variable(at, false);
        let forces = self.measured(&group, through, if is_tail { -1.0 } else { 1.0 });
        let shape = Writer::shape(&group, self.is_vector(at));
        let mut statements = self.series((&new, old), &shape, domain, forces)?;
        statements[0] = format!("node {new}{shape} : {domain};");
        let mut edits = Edits::default();
        edits.replace(range(end.span), new);
        let place = (
            Rule::Connection,
            format!("between `{name}` and `{old}`"),
            format!(
                "the coupler `{name}` ties `{}` to the storage it depends on; a compliance frees it",
                self.subject.name
            ),
        );
        Some(self.candidate(edits, range(statement.span).end, statements, place))
    }

    /// Returns the branch of the coupler's statement that a port represents.
    fn group_of(&self, coupler: ElementId, port: PortId) -> usize {
        let model = self.subject.given.model;
        let mut names = Vec::new();
        for each in model.ports_of(coupler) {
            let name = &model.graph.ports[each.index()].name;
            if !names.contains(&name) {
                names.push(name);
            }
            if each == port {
                break;
            }
        }
        names.len() - 1
    }

    /// Inserts in parallel with a T-type element.
    pub(super) fn beside(&self, instance: &Instance) -> Option<Candidate> {
        let (from, to) = instance.branches.first()?;
        let (from, to) = (self.slice(from), self.slice(to));
        let (kind, value) = beside(self.domain(), &self.parameters.stiffness);
        let statements = vec![format!("{} : {kind}({value}) {from} -> {to};", self.fresh("loss"))];
        let name = &self.subject.name;
        let place = (
            Rule::Beside,
            format!("beside `{name}`"),
            format!("the through variable of `{name}` follows from others at its ends; a parallel path frees it"),
        );
        Some(self.candidate(Edits::default(), self.end_of(name)?, statements, place))
    }

    /// Returns the through variables of an instance from its nodes, as measured on its internal branches.
    fn drawn(&self, instance: &str, nodes: &[NodeId]) -> Option<Vec<f64>> {
        let model = self.subject.given.model;
        let inside = format!("{instance}.");
        let elements = (0..model.graph.elements.len()).map(|at| ElementId(at as u32));
        let elements = elements.filter(|id| model.element_name(*id).starts_with(&inside));
        // The index of the node, the port, and the sign of its through variable.
        let mut taken: Vec<(usize, PortId, f64)> = Vec::new();
        for port in elements.flat_map(|id| model.ports_of(id)) {
            let Connection::Branch { from, to, .. } = &model.graph.ports[port.index()].connection else {
                continue;
            };
            for (end, sign) in [(from, 1.0), (to, -1.0)] {
                let at = nodes.iter().position(|node| *end == Some(*node));
                taken.extend(at.map(|at| (at, port, sign)));
            }
        }
        let mut sums = vec![0.0; nodes.len()];
        for (at, port, sign) in taken {
            let value = self.measured(&[port], self.variable(port, false), sign)?;
            sums[at] += value[0];
        }
        Some(sums)
    }

    /// Inserts at a port of the component that contains the element.
    pub(super) fn at_port(&self, holder: &Instance, port: &str, bound: &Expr) -> Option<Candidate> {
        if is_reference(bound) {
            return None;
        }
        let model = self.subject.given.model;
        let old = self.slice(bound);
        let node = model.graph.nodes.iter().find(|node| {
            let named = model.path_name(node.path) == old && node.is_graph_node;
            named && node.entry.is_none_or(|entry| entry == 1)
        })?;
        let width = model.graph.nodes.iter().filter(|other| other.path == node.path).count();
        let shape = match node.entry {
            Some(_) => format!("[{width}] vector"),
            None => String::new(),
        };
        let domain = &model.graph.domains[node.domain?.index()].name;
        let new = self.fresh("at");
        let name = &holder.declared.name.text;
        let nodes = (0..model.graph.nodes.len()).filter(|at| model.graph.nodes[*at].path == node.path);
        let nodes: Vec<NodeId> = nodes.map(|at| NodeId(at as u32)).collect();
        let statements = self.series((old, &new), &shape, domain, self.drawn(name, &nodes))?;
        let mut edits = Edits::default();
        edits.replace(range(bound.span), new);
        let place = (
            Rule::Port,
            format!("between the port `{port}` of `{name}` and `{old}`"),
            format!("`{}` is inside `{name}`, whose text is unchanged", self.subject.name),
        );
        Some(self.candidate(edits, self.end_of(name)?, statements, place))
    }

    /// Inserts between a bond element and its junction.
    pub(super) fn bond_at_element(&self) -> Option<Candidate> {
        let name = &self.subject.name;
        let because = match self.subject.is_across {
            true => {
                format!("the effort of `{name}` follows from others at its junction; a resistance frees it")
            }
            false => format!(
                "`{name}` is rigidly tied at its junction to the storage it depends on, without a coupler in between \
                 that could be made compliant"
            ),
        };
        self.bond(self.subject.ports[0], name, (Rule::Element, because))
    }

    /// Inserts between a coupler and the junction of a bond element.
    pub(super) fn bond_at_coupler(&self, coupler: ElementId) -> Option<Candidate> {
        let model = self.subject.given.model;
        let own: Vec<NodeId> = nodes_of(model, self.subject.ports[0]);
        let at = model
            .ports_of(coupler)
            .find(|port| nodes_of(model, *port).iter().any(|node| own.contains(node)))?;
        let name = model.element_name(coupler);
        let because = format!(
            "the coupler `{name}` ties `{}` to the storage it depends on; a compliance frees it",
            self.subject.name
        );
        self.bond(at, &name, (Rule::Connection, because))
    }

    /// Inserts a junction with parasitic elements into the bond of a port.
    fn bond(&self, port: PortId, element: &str, (rule, because): (Rule, String)) -> Option<Candidate> {
        if self.subject.ports.len() > 1 {
            return None;
        }
        let model = self.subject.given.model;
        let Connection::Bond(bond) = model.graph.ports[port.index()].connection else {
            return None;
        };
        let ends = model.graph.bonds[bond.index()].clone();
        let node = [ends.tail, ends.head].into_iter().find_map(|end| match end {
            BondEnd::Node(node) => Some(node),
            BondEnd::Port(_) => None,
        })?;
        let junction = model.path_name(model.graph.nodes[node.index()].path);
        let (statement, second) = self.arrow(element, &junction)?;
        let new = self.fresh("at");
        let (loss, stiffness) = (self.fresh("loss"), &self.parameters.stiffness);
        let statements = match self.subject.is_across {
            true => vec![
                format!("one {new};"),
                format!("{loss} : R(1/{stiffness});"),
                format!("{new} -> {loss};"),
            ],
            false => {
                let efforts = (self.subject.given.starts)(&[Measure::BondEffort(bond)]);
                let start = Writer::start(efforts, Some(stiffness));
                let (yields, way) = (self.fresh("yield"), self.fresh("way"));
                let compliance = format!("{yields} : C(1/{stiffness}){start};");
                match self.parameters.is_undamped {
                    true => vec![format!("zero {new};"), compliance, format!("{new} -> {yields};")],
                    false => vec![
                        format!("zero {new};"),
                        format!("one {way};"),
                        compliance,
                        format!("{loss} : R({});", self.damping()?),
                        format!("{new} -> {way};"),
                        format!("{way} -> {yields};"),
                        format!("{way} -> {loss};"),
                    ],
                }
            }
        };
        let mut edits = Edits::default();
        edits.replace(second..second, format!("{new} -> "));
        let place = (rule, format!("between `{element}` and `{junction}`"), because);
        Some(self.candidate(edits, statement.end, statements, place))
    }

    /// Returns the range of the chain that contains the arrow between an element and a junction, and the start of the arrow's second end.
    fn arrow(&self, element: &str, junction: &str) -> Option<(Range<usize>, usize)> {
        self.subject.given.declared.body.iter().find_map(|statement| {
            let StatementKind::Chain(ends) = &statement.kind else {
                return None;
            };
            let is_arrow = |pair: &[Expr]| {
                let names = (base(&pair[0]), base(&pair[1]));
                names == (Some(element), Some(junction)) || names == (Some(junction), Some(element))
            };
            let at = ends.windows(2).position(is_arrow)?;
            Some((range(statement.span), range(ends[at + 1].span).start))
        })
    }
}
