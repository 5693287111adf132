//! Conflicts of sources: the causal path between a source that cannot set its variable and the sources that already set it.

use lgm_explain::CausalityReport;
use lgm_explain::causality::End;
use lgm_model::{Law, Model, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// The causal paths of all conflicts.
#[derive(Debug, Default)]
pub(crate) struct Conflict {
    /// Bonds of the report.
    pub(crate) bonds: FxHashSet<usize>,
    /// Ports at these bonds.
    pub(crate) ports: FxHashSet<usize>,
    /// Bonds that require the stroke at both ends.
    pub(crate) contested: FxHashSet<usize>,
}

/// Traces the conflicts of a report back to their causes.
pub(crate) fn conflict(model: &Model, report: &CausalityReport) -> Conflict {
    let mut found = Conflict::default();
    if report.conflicts.is_empty() {
        return found;
    }
    let mut at_junction: Vec<Vec<usize>> = vec![Vec::new(); report.junctions.len()];
    let mut of_port: FxHashMap<usize, usize> = FxHashMap::default();
    for (bond, info) in report.bonds.iter().enumerate() {
        for end in [info.tail, info.head] {
            match end {
                End::Junction(junction) => at_junction[junction].push(bond),
                End::Port(port) => _ = of_port.insert(port, bond),
            }
        }
    }
    // Bonds with the requested variable and the end from which it comes.
    let mut open: Vec<(usize, Variable, End)> = Vec::new();
    for port in &report.conflicts {
        let Some(bond) = of_port.get(port).copied() else {
            continue;
        };
        found.bonds.insert(bond);
        found.contested.insert(bond);
        found.ports.insert(*port);
        let element = &model.graph.elements[model.graph.ports[*port].element.index()];
        if let Law::Source { given, .. } = element.law {
            open.push((bond, given, other(report, bond, End::Port(*port))));
        }
    }
    let mut seen: FxHashSet<(usize, Variable)> = FxHashSet::default();
    while let Some((bond, variable, end)) = open.pop() {
        if !seen.insert((bond, variable)) {
            continue;
        }
        found.bonds.insert(bond);
        match end {
            End::Junction(junction) => {
                let info = &report.junctions[junction];
                let from: Vec<usize> = match info.kind.common() == variable {
                    true => info.set_by.into_iter().collect(),
                    false => at_junction[junction].clone(),
                };
                let from = from.into_iter().filter(|next| *next != bond);
                open.extend(from.map(|next| (next, variable, other(report, next, end))));
            }
            End::Port(port) => {
                found.ports.insert(port);
                let next = behind(model, port, variable).and_then(|(port, variable)| {
                    let bond = of_port.get(&port)?;
                    found.ports.insert(port);
                    Some((*bond, variable, other(report, *bond, End::Port(port))))
                });
                open.extend(next);
            }
        }
    }
    found
}

/// Returns the other end of a bond.
fn other(report: &CausalityReport, bond: usize, end: End) -> End {
    let info = &report.bonds[bond];
    if info.tail == end { info.head } else { info.tail }
}

/// Returns the other port of a two-port coupler, and the variable there that determines this one.
fn behind(model: &Model, port: usize, variable: Variable) -> Option<(usize, Variable)> {
    let element = &model.graph.elements[model.graph.ports.get(port)?.element.index()];
    let Law::Coupler { input, output, .. } = &element.law else {
        return None;
    };
    let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
    let [first, second] = ports[..] else {
        return None;
    };
    let next = if first.index() == port { second } else { first };
    let same = if input == output {
        variable
    } else {
        variable.conjugate()
    };
    Some((next.index(), same))
}
