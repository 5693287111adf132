//! Creates the report on storage fields, from the causality with which the equations are formed.

use super::conserved::conserved;
use super::merging::total;
use super::parameters::{inertance, is_constant, negated, readable, shown, times};
use super::report::{Class, Dependent, GainedPath, Merge, MergeKind, Reduction, ReductionReport};
use crate::CausalityReport;
use crate::names::Names;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_equations::bond::BondGraph;
use lgm_equations::causality::structure::port_column;
use lgm_equations::causality::words::list;
use lgm_equations::{Assigned, Options, StateSystem, assigned};
use lgm_model::{ElementId, Law, Model, PortId, Variable};

/// A port that determines a dependent one, and the gain; none if it is too long to read.
struct Follows {
    port: PortId,
    gain: Option<ExprId>,
}

/// A dependent port with all ports that determine it.
struct Follower {
    port: PortId,
    co_energy: Variable,
    from: Vec<Follows>,
}

/// Reports the storage fields of a model, with the causality of its equations under the same options; `system` are
/// these equations, and `causality` is their report. Fields whose energy variables never differ are merged only on
/// request (`merge_conserved`).
pub fn reduction<'m>(
    model: &'m Model,
    graph: &'m BondGraph,
    options: &Options,
    system: &StateSystem,
    causality: &CausalityReport,
    merge_conserved: bool,
) -> Reduction<'m> {
    let assigned = assigned(model, graph, options);
    let mut exprs = assigned.model.exprs.clone();
    let followers = followers(&assigned, &mut exprs, causality);
    let mut merges = merges(&assigned, &mut exprs, &followers);
    let found = conserved(&assigned, &mut exprs, system, causality, (&mut merges, merge_conserved));
    let mut dependent: Vec<Dependent> = Vec::new();
    let mut at = 0;
    while at < followers.len() {
        let element = |follower: &Follower| assigned.model.graph.ports[follower.port.index()].element;
        let own = element(&followers[at]);
        let count = followers[at..].iter().take_while(|next| element(next) == own).count();
        let about = About {
            assigned: &assigned,
            exprs: &exprs,
            system,
            causality,
            merges: &merges,
        };
        dependent.push(about.dependent(own, &followers[at..at + count]));
        at += count;
    }
    Reduction {
        report: ReductionReport {
            model: model.heading.name.clone(),
            dependent,
            knows_conserved: found.is_some(),
            conserved: found.unwrap_or_default(),
        },
        merges,
        exprs,
        assigned,
    }
}

/// Returns the dependent ports in declaration order.
fn followers(assigned: &Assigned<'_>, exprs: &mut Exprs, causality: &CausalityReport) -> Vec<Follower> {
    let ports = (0..assigned.model.graph.ports.len() as u32).map(PortId);
    let ports: Vec<(PortId, Variable)> = ports
        .filter(|port| assigned.is_derivative(*port))
        .filter_map(|port| Some((port, assigned.co_energy(port)?)))
        .collect();
    let columns: Vec<u32> = ports
        .iter()
        .map(|(port, variable)| port_column(*port, *variable))
        .collect();
    let rows = assigned.over_given(exprs, &columns);
    let without_gains = |port: PortId| {
        let of = causality.storage.iter().find(|storage| storage.port == port.index());
        let follows = of.iter().flat_map(|storage| &storage.follows);
        let follows = follows.map(|path| Follows {
            port: PortId(path.to as u32),
            gain: None,
        });
        follows.collect()
    };
    let mut rows = rows.unwrap_or_default().into_iter();
    let mut found = Vec::with_capacity(ports.len());
    for (port, co_energy) in ports {
        let from = match rows.next().flatten() {
            Some(row) => row
                .into_iter()
                .map(|(port, gain)| Follows { port, gain: Some(gain) })
                .collect(),
            None => without_gains(port),
        };
        found.push(Follower { port, co_energy, from });
    }
    found
}

fn element(model: &Model, port: PortId) -> ElementId {
    model.graph.ports[port.index()].element
}

fn law(model: &Model, port: PortId) -> &Law {
    &model.graph.elements[element(model, port).index()].law
}

fn is_storage(model: &Model, port: PortId) -> bool {
    match law(model, port) {
        Law::Storage { .. } => true,
        Law::Nonlinear(law) => law.storage.iter().any(Option::is_some),
        _ => false,
    }
}

/// Returns the class of the dependent ports of one element.
fn class(assigned: &Assigned<'_>, exprs: &Exprs, ports: &[Follower]) -> Class {
    let model = &*assigned.model;
    let own = element(model, ports[0].port);
    let from = || ports.iter().flat_map(|port| &port.from);
    let is_nonlinear = |port: PortId| matches!(law(model, port), Law::Nonlinear(_));
    let is_controlled = |port: PortId| match law(model, port) {
        Law::Source { values, .. } => {
            let held = exprs.symbols_of(values);
            held.iter()
                .any(|held| model.measures.iter().any(|(symbol, _)| symbol == held))
        }
        _ => false,
    };
    if is_nonlinear(ports[0].port) || from().any(|follows| is_nonlinear(follows.port)) {
        return Class::Nonlinear;
    }
    let is_tied = ports.iter().any(|port| assigned.causality.tied.contains(&port.port));
    if is_tied || from().any(|follows| is_controlled(follows.port)) {
        return Class::Signal;
    }
    if from().any(|follows| matches!(law(model, follows.port), Law::Source { .. })) || from().next().is_none() {
        return Class::Source;
    }
    let is_wide = |id: ElementId| model.ports_of(id).count() > 1;
    if is_wide(own) || from().any(|follows| is_wide(element(model, follows.port))) {
        return Class::Multiport;
    }
    match &ports[0].from[..] {
        [Follows { gain: Some(gain), port }] => {
            let is_velocity = model.graph.elements[element(model, *port).index()].is_velocity();
            match is_constant(exprs, *gain) && !is_velocity {
                true => Class::OneToOne,
                false => Class::Signal,
            }
        }
        [_] => Class::Signal,
        _ => Class::SplitPath,
    }
}

/// Returns the dependent storage that one other element can replace, with the resulting parameters.
fn merges(assigned: &Assigned<'_>, exprs: &mut Exprs, followers: &[Follower]) -> Vec<Merge> {
    let model = &*assigned.model;
    let mut found: Vec<Merge> = Vec::new();
    for (at, follower) in followers.iter().enumerate() {
        if class(assigned, exprs, &followers[at..=at]) != Class::OneToOne {
            continue;
        }
        let [
            Follows {
                gain: Some(gain),
                port: kept,
            },
        ] = follower.from[..]
        else {
            continue;
        };
        let (Some(own), Some(before)) = (inertance(model, exprs, follower.port), inertance(model, exprs, kept)) else {
            continue;
        };
        found.push(Merge {
            removed: follower.port,
            kept,
            gain,
            kind: MergeKind::Dependent,
            own,
            before,
            after: before,
        });
    }
    total(exprs, &mut found);
    found
}

/// The data for the report on one element.
struct About<'a, 'm> {
    assigned: &'a Assigned<'m>,
    exprs: &'a Exprs,
    system: &'a StateSystem,
    causality: &'a CausalityReport,
    merges: &'a [Merge],
}

impl About<'_, '_> {
    fn names(&self) -> Names<'_> {
        Names {
            model: &self.assigned.model,
            graph: &self.assigned.graph,
        }
    }

    fn dependent(&self, id: ElementId, ports: &[Follower]) -> Dependent {
        let model = &*self.assigned.model;
        let name = model.element_name(id);
        let class = class(self.assigned, self.exprs, ports);
        let mut on: Vec<String> = Vec::new();
        for follows in ports.iter().flat_map(|port| &port.from) {
            let other = model.element_name(element(model, follows.port));
            if is_storage(model, follows.port) && !on.contains(&other) {
                on.push(other);
            }
        }
        let of_equations = self.system.dependent.iter().find(|found| *found.element == *name);
        let merge = self.merges.iter().find(|merge| merge.removed == ports[0].port);
        let equivalent = match merge {
            Some(merge) => shown(self.exprs, merge.after),
            None => of_equations.map(|found| found.equivalent.clone()).unwrap_or_default(),
        };
        let unit = of_equations
            .and_then(|found| found.unit.as_ref())
            .map(ToString::to_string);
        let paths = ports.iter().flat_map(|port| self.paths(port)).collect();
        Dependent {
            done: self.done(class, ports, &on, &equivalent),
            element: name,
            on,
            class,
            paths,
            equivalent,
            unit,
        }
    }

    /// Returns the paths of a dependent port with their gains.
    fn paths(&self, follower: &Follower) -> Vec<GainedPath> {
        let report = self.causality;
        let storage = report
            .storage
            .iter()
            .find(|storage| storage.port == follower.port.index());
        let through = |port: PortId| {
            let known = storage.iter().flat_map(|storage| &storage.follows);
            let known = known.filter(|path| path.to == port.index()).map(|path| &path.through);
            known
                .flatten()
                .map(|name| self.with_digit(name))
                .collect::<Vec<String>>()
        };
        let names = self.names();
        let whole = follower.from.len() == 1;
        let path = |follows: &Follows| {
            let gain = follows.gain.and_then(|gain| readable(self.exprs, gain));
            let back = gain.as_deref().map(negated);
            let given = self.given(follows.port);
            let equations = match (&gain, &back) {
                (Some(gain), Some(back)) => {
                    let own = names.measure(follower.port, follower.co_energy);
                    let from = names.measure(follows.port, given);
                    let rest = if whole { "" } else { " + .." };
                    let first = format!("{own} = {}{rest}", times(gain, &from));
                    let own = names.measure(follower.port, follower.co_energy.conjugate());
                    let from = names.measure(follows.port, given.conjugate());
                    vec![first, format!("{from} = {} + ..", times(back, &own))]
                }
                _ => Vec::new(),
            };
            let (effort_gain, flow_gain) = match given {
                Variable::Effort => (gain, back),
                Variable::Flow => (back, gain),
            };
            GainedPath {
                to: names.port(follows.port),
                through: through(follows.port),
                effort_gain,
                flow_gain,
                equations,
            }
        };
        follower.from.iter().map(path).collect()
    }

    /// Returns the variable that the element of a port sets.
    fn given(&self, port: PortId) -> Variable {
        let solved = self.assigned.causality.solved[port.index()];
        solved
            .expect("invariant: causality assigns every storage, dissipator and source")
            .conjugate()
    }

    /// Returns the name of a bond graph junction prefixed with its digit: `1B`.
    fn with_digit(&self, name: &str) -> String {
        let model = &*self.assigned.model;
        let names = self.names();
        let declared = self.causality.junctions.iter().find(|junction| junction.name == name);
        let of_graph =
            |at: u32| model.graph.nodes[at as usize].is_graph_node && names.node(lgm_model::NodeId(at)) == name;
        match declared {
            Some(junction) if !name.contains('(') && !(0..model.graph.nodes.len() as u32).any(of_graph) => {
                let digit = match junction.kind {
                    lgm_model::JunctionKind::Zero => 0,
                    lgm_model::JunctionKind::One => 1,
                };
                format!("{digit}{name}")
            }
            _ => name.to_string(),
        }
    }

    /// Describes the treatment of a dependent element.
    fn done(&self, class: Class, ports: &[Follower], on: &[String], equivalent: &str) -> String {
        let model = &*self.assigned.model;
        let co_energy = ports[0].co_energy;
        let word = self.names().word(ports[0].port, co_energy);
        let other = self.names().word(ports[0].port, co_energy.conjugate());
        let matrix = match equivalent.is_empty() {
            true => String::new(),
            false => format!(": {equivalent}"),
        };
        match class {
            Class::OneToOne => format!("merged into {}, which gets the equivalent parameter", list(on)),
            Class::SplitPath => format!(
                "kept: no single element replaces it; the equations contain the matrix of {}{matrix}",
                list(on)
            ),
            Class::Source => {
                let sources = ports.iter().flat_map(|port| &port.from);
                let sources = sources.filter(|follows| !is_storage(model, follows.port));
                let mut sources: Vec<String> = sources.map(|follows| self.names().port(follows.port)).collect();
                sources.dedup();
                let rate = format!(
                    "its {other} receives the rate of the variable that {} sets",
                    list(&sources)
                );
                match (sources.is_empty(), on.is_empty()) {
                    (true, _) => format!("kept: its {word} is always 0, so it has no effect"),
                    (false, true) => format!(
                        "kept: {} {} its {word}; {rate}",
                        list(&sources),
                        if sources.len() > 1 { "set" } else { "sets" }
                    ),
                    (false, false) => format!("kept: its {word} also follows from {}; {rate}", list(&sources)),
                }
            }
            Class::Multiport => {
                let count = ports.len();
                let word = if count == 1 { "port" } else { "ports" };
                format!(
                    "kept: it follows at {count} {word} of a field; the equations contain the matrix of {}{matrix}",
                    list(on)
                )
            }
            Class::Nonlinear => "kept: a law is nonlinear; the equations contain its derivative".to_string(),
            Class::Signal => format!(
                "kept: its {word} follows through signals or a variable gain; the equations contain the rate of the \
                 gain"
            ),
        }
    }
}
