//! The names of variables of the graph, in the terms of their domain.

use crate::bond::{BondGraph, End, Origin};
use crate::causality::structure::{Structure, column_port};
use lgm_model::{BondEnd, Connection, Domain, DomainId, Law, Model, NodeId, PortId, Variable};
use lgm_source::Span;
use rustc_hash::FxHashMap;

/// The name of a physical quantity by its dimension (exponents of m, kg, s, A, K, mol, cd), as an across or through
/// variable. A dimension does not identify a quantity: torque and energy have the same dimension.
const QUANTITIES: [([i16; 7], bool, &str); 12] = [
    ([2, 1, -3, -1, 0, 0, 0], true, "voltage"),
    ([0, 0, 0, 1, 0, 0, 0], false, "current"),
    ([1, 0, -1, 0, 0, 0, 0], true, "velocity"),
    ([1, 1, -2, 0, 0, 0, 0], false, "force"),
    ([0, 0, -1, 0, 0, 0, 0], true, "angular velocity"),
    ([2, 1, -2, 0, 0, 0, 0], false, "torque"),
    ([-1, 1, -2, 0, 0, 0, 0], true, "pressure"),
    ([3, 0, -1, 0, 0, 0, 0], false, "flow"),
    ([0, 1, -1, 0, 0, 0, 0], false, "mass flow"),
    ([0, 0, 0, 0, 1, 0, 0], true, "temperature"),
    ([2, 1, -3, 0, 0, 0, 0], false, "heat flow"),
    ([2, 1, -3, 0, -1, 0, 0], false, "entropy flow"),
];

/// Returns the name of a domain's across or through variable: "voltage", or "across variable x" if it has none.
pub fn quantity(domain: &Domain, across: bool) -> String {
    let symbol = if across { &domain.across } else { &domain.through };
    let known = domain.dimension(across).and_then(|dimension| {
        QUANTITIES
            .iter()
            .find(|entry| entry.1 == across && lgm_algebra::units::Dimension::integers(entry.0) == dimension)
    });
    match known {
        Some((_, _, word)) => (*word).to_string(),
        None if across => format!("across variable {symbol}"),
        None => format!("through variable {symbol}"),
    }
}

/// Returns the plural of a quantity: "velocities".
pub fn plural(word: &str) -> String {
    if let Some((kind, symbol)) = word.split_once(" variable ") {
        return format!("{kind} variables {symbol}");
    }
    match word.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{word}s"),
    }
}

/// Returns `a`, `a and b`, `a, b and c`, or the first three names and the number of the others.
pub fn list(names: &[String]) -> String {
    const SHOWN: usize = 4;
    match names {
        [] => String::new(),
        [one] => one.clone(),
        _ if names.len() > SHOWN => {
            format!("{} and {} more", names[..SHOWN - 1].join(", "), names.len() + 1 - SHOWN)
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The meaning of a column of the junction structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fact {
    /// The common variable of a junction.
    Common(u32),
    /// A variable of a port that is not the common one of its junction.
    Own(PortId, Variable),
    /// The variable of a bond that is common to neither of its two junctions of the same kind.
    Bond(u32),
}

/// Returns the meanings of the columns that belong to no port.
pub(crate) fn inner_facts(model: &Model, structure: &Structure) -> FxHashMap<u32, Fact> {
    let first = 2 * model.graph.ports.len() as u32;
    let mut facts = FxHashMap::default();
    for (index, (effort, flow)) in structure.bonds.iter().enumerate() {
        for side in [effort, flow] {
            facts.insert(side.column, Fact::Bond(index as u32));
        }
    }
    for (index, common) in structure.common.iter().enumerate() {
        facts.insert(common.column, Fact::Common(index as u32));
    }
    facts.retain(|column, _| *column >= first);
    facts
}

/// A model with its graph, for naming their parts.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a BondGraph,
}

impl Words<'_> {
    /// Returns the name of a variable in a domain, or without one.
    pub(crate) fn variable(&self, domain: Option<DomainId>, variable: Variable) -> String {
        match domain {
            Some(domain) => {
                let domain = &self.model.graph.domains[domain.index()];
                quantity(domain, domain.effort_is_across == (variable == Variable::Effort))
            }
            None => match variable {
                Variable::Effort => "effort".to_string(),
                Variable::Flow => "flow".to_string(),
            },
        }
    }

    /// Returns true if a variable of a port is its across variable; `None` without a domain.
    pub(crate) fn is_across(&self, port: PortId, variable: Variable) -> Option<bool> {
        let domain = self.model.graph.ports[port.index()].domain?;
        Some(self.model.graph.domains[domain.index()].effort_is_across == (variable == Variable::Effort))
    }

    /// Returns the meaning of a column; `inner` gives the meanings of columns that belong to no port.
    pub(crate) fn fact(&self, inner: &FxHashMap<u32, Fact>, column: u32) -> Fact {
        let (port, variable) = column_port(column);
        if port.index() < self.model.graph.ports.len() {
            let junction = self.graph.ports[port.index()].junction;
            return match self.graph.junctions[junction as usize].kind.common() == variable {
                true => Fact::Common(junction),
                false => Fact::Own(port, variable),
            };
        }
        *inner
            .get(&column)
            .expect("invariant: a column belongs to a port, a junction or a bond")
    }

    /// Returns a name such as "the voltage of `a`" or "the force through `spring`".
    pub(crate) fn name(&self, fact: Fact) -> String {
        match fact {
            Fact::Common(junction) => {
                let common = self.graph.junctions[junction as usize].kind.common();
                match self.graph.junctions[junction as usize].origin {
                    Origin::Node(node) => {
                        let word = self.variable(self.model.graph.nodes[node.index()].domain, common);
                        format!("the {word} of {}", self.node(node))
                    }
                    Origin::Branch(port) => {
                        let word = self.variable(self.model.graph.ports[port.index()].domain, common);
                        format!("the {word} through {}", self.port(port))
                    }
                    Origin::Direct(bond) => {
                        let bond = &self.model.graph.bonds[bond.index()];
                        let word = self.variable(None, common);
                        format!("the {word} between {} and {}", self.end(bond.tail), self.end(bond.head))
                    }
                }
            }
            Fact::Own(port, variable) => {
                let info = &self.model.graph.ports[port.index()];
                let word = self.variable(info.domain, variable);
                match (&info.connection, self.is_across(port, variable)) {
                    (Connection::Branch { from, to, .. }, Some(true)) => {
                        let node = |node: &Option<NodeId>| node.map_or("`gnd`".to_string(), |node| self.node(node));
                        format!("the {word} from {} to {}", node(from), node(to))
                    }
                    (Connection::Branch { .. }, _) => format!("the {word} through {}", self.port(port)),
                    (Connection::Bond(_), _) => format!("the {word} of {}", self.port(port)),
                }
            }
            Fact::Bond(bond) => {
                let bond = &self.graph.bonds[bond as usize];
                let side = |end: End| match end {
                    End::Junction(junction) => self.junction(junction),
                    End::Port(port) => self.port(port),
                };
                let word = match bond.tail {
                    End::Junction(junction) => {
                        let junction = &self.graph.junctions[junction as usize];
                        let domain = match junction.origin {
                            Origin::Node(node) => self.model.graph.nodes[node.index()].domain,
                            Origin::Branch(port) => self.model.graph.ports[port.index()].domain,
                            Origin::Direct(_) => None,
                        };
                        self.variable(domain, junction.kind.common().conjugate())
                    }
                    End::Port(_) => "power".to_string(),
                };
                format!("the {word} from {} to {}", side(bond.tail), side(bond.head))
            }
        }
    }

    /// Returns the name of a node in quotes, such as `q[2]`.
    pub(crate) fn node(&self, node: NodeId) -> String {
        let info = &self.model.graph.nodes[node.index()];
        let entry = info.entry.map_or(String::new(), |entry| format!("[{entry}]"));
        format!("`{}{entry}`", self.model.path_name(info.path))
    }

    /// Returns the name of a port in quotes, such as `T.a`, with the entry of a vector element.
    pub(crate) fn port(&self, port: PortId) -> String {
        let info = &self.model.graph.ports[port.index()];
        let name = self.model.element_name(info.element);
        let name = match &info.name {
            Some(own) => format!("`{name}.{own}`"),
            None => format!("`{name}`"),
        };
        match info.entry {
            Some(entry) => format!("entry {entry} of {name}"),
            None => name,
        }
    }

    fn end(&self, end: BondEnd) -> String {
        match end {
            BondEnd::Node(node) => self.node(node),
            BondEnd::Port(port) => self.port(port),
        }
    }

    /// Returns the name of a junction: its node, or the element of its branch.
    pub(crate) fn junction(&self, junction: u32) -> String {
        match self.graph.junctions[junction as usize].origin {
            Origin::Node(node) => self.node(node),
            Origin::Branch(port) => self.port(port),
            Origin::Direct(bond) => {
                let bond = &self.model.graph.bonds[bond.index()];
                format!("{} -> {}", self.end(bond.tail), self.end(bond.head))
            }
        }
    }

    /// Returns the location of a junction's declaration.
    pub(crate) fn junction_span(&self, junction: u32) -> Span {
        match self.graph.junctions[junction as usize].origin {
            Origin::Node(node) => self.model.paths[self.model.graph.nodes[node.index()].path.index()].span,
            Origin::Branch(port) => self.port_span(port),
            Origin::Direct(bond) => self.model.graph.bonds[bond.index()].span,
        }
    }

    /// Returns the location of the element of a port.
    pub(crate) fn port_span(&self, port: PortId) -> Span {
        self.model.element_span(self.model.graph.ports[port.index()].element)
    }

    /// Returns true if a port belongs to a source.
    pub(crate) fn is_source(&self, port: PortId) -> bool {
        let element = self.model.graph.ports[port.index()].element;
        matches!(self.model.graph.elements[element.index()].law, Law::Source { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_plurals_read_well() {
        let names = |count: usize| (1..=count).map(|at| format!("`s{at}`")).collect::<Vec<_>>();
        assert_eq!(list(&names(1)), "`s1`");
        assert_eq!(list(&names(2)), "`s1` and `s2`");
        assert_eq!(list(&names(4)), "`s1`, `s2`, `s3` and `s4`");
        assert_eq!(list(&names(40)), "`s1`, `s2`, `s3` and 37 more");
        assert_eq!(plural("angular velocity"), "angular velocities");
        assert_eq!(plural("force"), "forces");
        assert_eq!(plural("across variable x"), "across variables x");
    }
}
