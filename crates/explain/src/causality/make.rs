//! Creates the causality report of a model, from the causality with which its equations are formed.

use super::by_hand::strokes;
use super::paths::Paths;
use super::reasons::{Retained, because, why};
use super::report::{
    AlgebraicLoop, Bond, CausalPath, CausalityReport, End, Junction, OpenBonds, Port, Role, RunTimeLoop, Step, Storage,
};
use super::tree::tree;
use crate::names::Names;
use lgm_equations::bond::End as GraphEnd;
use lgm_equations::causality::scap::{Assignment, Stroke};
use lgm_equations::causality::structure::column_port;
use lgm_equations::{Assigned, Options, StateSystem, assigned, assigned_by_hand};
use lgm_model::{Law, Model, PortId, Variable};
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Returns the causality of a model, decided as for its equations with the same options. `graph` is the model's bond graph. `system` is the
/// model's equations, if available; they provide the names of the states.
pub fn causality(
    model: &Model,
    graph: &lgm_equations::bond::BondGraph,
    options: &Options,
    system: Option<&StateSystem>,
) -> CausalityReport {
    report(&assigned(model, graph, options), options, system, &[])
}

/// A causality with strokes set by hand, and the reports of those that are impossible; an error for a text that names no stroke.
pub type CausalityByHand = Result<(CausalityReport, Vec<Diagnostic>), Box<Diagnostic>>;

/// Returns the causality with variables that elements set by hand, such as `I1=flow`, before all others except those of sources. States are
/// not named, because the equations of the model may have others. The diagnostics report texts and strokes that are impossible.
pub fn causality_by_hand(
    model: &Model,
    graph: &lgm_equations::bond::BondGraph,
    options: &Options,
    texts: &[String],
) -> CausalityByHand {
    let strokes = strokes(Names { model, graph }, texts)?;
    let (assigned, refused) = assigned_by_hand(model, graph, options, &strokes);
    let holds =
        |stroke: &&(PortId, Variable)| assigned.causality.solved[stroke.0.index()] == Some(stroke.1.conjugate());
    let held: Vec<PortId> = strokes.iter().filter(holds).map(|stroke| stroke.0).collect();
    Ok((report(&assigned, options, None, &held), refused))
}

fn report(
    assigned: &Assigned<'_>,
    options: &Options,
    system: Option<&StateSystem>,
    by_hand: &[PortId],
) -> CausalityReport {
    let assignment = assigned.strokes();
    let names = Names {
        model: &assigned.model,
        graph: &assigned.graph,
    };
    let setters = setters(assigned, &assignment);
    let mut report = CausalityReport {
        model: assigned.model.heading.name.clone(),
        junctions: (0..assigned.graph.junctions.len())
            .map(|at| Junction {
                name: names.junction(at as u32),
                kind: assigned.graph.junctions[at].kind,
                set_by: setters[at],
            })
            .collect(),
        bonds: bonds(assigned, &assignment),
        has_drawn_bonds: !assigned.model.graph.bonds.is_empty(),
        ports: (0..assigned.model.graph.ports.len() as u32)
            .map(|at| port(assigned, &assignment, names, PortId(at)))
            .collect(),
        storage: Vec::new(),
        order: Vec::new(),
        loops: Vec::new(),
        at_run_time: system.map(at_run_time).unwrap_or_default(),
        open: open(names, &assignment),
        references: assignment.references.iter().map(|at| names.junction(*at)).collect(),
        conflicts: conflicts(assigned),
        by_hand: by_hand.iter().map(|port| port.index()).collect(),
        tree: None,
    };
    let influences = assigned.influences().unwrap_or_default();
    let paths = Paths::new(names, &assignment, &setters);
    let retained = Retained::of(assigned, options, by_hand);
    report.storage = storage(assigned, names, &paths, &influences.dependent, system, &retained);
    report.order = (assignment.steps.iter())
        .map(|step| {
            let (cause, by, because) = because(assigned, names, &assignment, &setters, step, &retained);
            Step {
                bond: step.bond as usize,
                cause,
                by,
                because,
            }
        })
        .collect();
    let looped = influences.loops.iter();
    report.loops = looped.map(|ports| algebraic_loop(assigned, &paths, ports)).collect();
    report.tree = tree(names, &assignment, &order(assigned), &report);
    report
}

/// Returns the ports in the order in which their causality was decided.
fn order(assigned: &Assigned<'_>) -> Vec<PortId> {
    let causality = &assigned.causality;
    let mut seen = vec![false; causality.solved.len()];
    let ports = causality.pivots.iter().map(|(_, column)| column_port(*column).0);
    ports
        .filter(|port| causality.solved.get(port.index()).copied().flatten().is_some())
        .filter(|port| !std::mem::replace(&mut seen[port.index()], true))
        .collect()
}

/// Returns the bond that sets the common variable of each junction, if exactly one does.
fn setters(assigned: &Assigned<'_>, assignment: &Assignment) -> Vec<Option<usize>> {
    let graph = &assigned.graph;
    let mut setters = vec![None; graph.junctions.len()];
    let mut is_single = vec![true; graph.junctions.len()];
    for (at, bond) in graph.bonds.iter().enumerate() {
        let Some(stroke) = assignment.strokes[at] else { continue };
        for end in [bond.tail, bond.head] {
            if let GraphEnd::Junction(junction) = end
                && stroke.imposed(bond, end) == graph.junctions[junction as usize].kind.common()
            {
                let before = setters[junction as usize].replace(at);
                is_single[junction as usize] &= before.is_none();
            }
        }
    }
    let single = setters.into_iter().zip(is_single);
    single.map(|(setter, is_single)| setter.filter(|_| is_single)).collect()
}

fn end(end: GraphEnd) -> End {
    match end {
        GraphEnd::Junction(junction) => End::Junction(junction as usize),
        GraphEnd::Port(port) => End::Port(port.index()),
    }
}

fn bonds(assigned: &Assigned<'_>, assignment: &Assignment) -> Vec<Bond> {
    let bonds = assigned.graph.bonds.iter().zip(&assignment.strokes);
    bonds
        .map(|(bond, stroke)| Bond {
            tail: end(bond.tail),
            head: end(bond.head),
            effort_at: stroke.map(|stroke| match stroke {
                Stroke::Tail => end(bond.tail),
                Stroke::Head => end(bond.head),
            }),
        })
        .collect()
}

fn port(assigned: &Assigned<'_>, assignment: &Assignment, names: Names<'_>, id: PortId) -> Port {
    let model = names.model;
    let element = &model.graph.elements[model.graph.ports[id.index()].element.index()];
    let role = match &element.law {
        _ if element.is_velocity() => Role::Velocity,
        Law::Source { given, .. } => Role::Source(*given),
        Law::Dissipator(_) => Role::Dissipator,
        Law::Coupler { .. } => Role::Coupler,
        Law::Storage { .. } | Law::Nonlinear(_) => match assigned.co_energy(id) {
            Some(co_energy) => Role::Storage(co_energy),
            None => Role::Dissipator,
        },
    };
    let bond = names.graph.ports[id.index()].bond;
    let by_stroke = || {
        let stroke = assignment.strokes[bond as usize]?;
        Some(stroke.imposed(&names.graph.bonds[bond as usize], GraphEnd::Port(id)))
    };
    Port {
        name: names.port(id),
        element: model.element_name(model.graph.ports[id.index()].element),
        kind: element.kind.clone(),
        role,
        words: names.words(id),
        effort_is_across: names.effort_is_across(id),
        taken: assigned.causality.solved[id.index()].or_else(by_stroke),
    }
}

/// Returns the sources whose own variable the structure already determines.
fn conflicts(assigned: &Assigned<'_>) -> Vec<usize> {
    let is_in_conflict = |port: &&PortId| {
        let element = assigned.model.graph.ports[port.index()].element;
        match &assigned.model.graph.elements[element.index()].law {
            Law::Source { given, .. } => assigned.causality.solved[port.index()] != Some(given.conjugate()),
            _ => false,
        }
    };
    let sources = assigned.causality.sources.iter();
    sources.filter(is_in_conflict).map(|port| port.index()).collect()
}

/// Returns the bonds without strokes, in groups connected by junctions and couplers.
fn open(names: Names<'_>, assignment: &Assignment) -> Vec<OpenBonds> {
    let graph = names.graph;
    let mut group_of: FxHashMap<String, usize> = FxHashMap::default();
    let mut groups: Vec<Option<OpenBonds>> = Vec::new();
    let open = (0..graph.bonds.len()).filter(|at| assignment.strokes[*at].is_none());
    for at in open {
        let mut own = OpenBonds {
            bonds: vec![at],
            circulates: assignment.undetermined.get(at) == Some(&true),
            between: Vec::new(),
        };
        for end in [graph.bonds[at].tail, graph.bonds[at].head] {
            let name = match end {
                GraphEnd::Junction(junction) => names.junction(junction),
                GraphEnd::Port(port) => names.model.element_name(names.model.graph.ports[port.index()].element),
            };
            match group_of.get(&name).and_then(|group| groups[*group].take()) {
                Some(other) => {
                    own.bonds.extend(other.bonds);
                    own.circulates |= other.circulates;
                    own.between.extend(other.between);
                }
                None if own.between.contains(&name) => {}
                None => own.between.push(name),
            }
        }
        let place = groups.len();
        group_of.extend(own.between.iter().map(|name| (name.clone(), place)));
        groups.push(Some(own));
    }
    let mut found: Vec<OpenBonds> = groups.into_iter().flatten().collect();
    found.iter_mut().for_each(|group| group.bonds.sort_unstable());
    found.sort_by_key(|group| group.bonds[0]);
    found
}

/// Returns the storage in declaration order, with its states and the storage that determines it.
fn storage(
    assigned: &Assigned<'_>,
    names: Names<'_>,
    paths: &Paths<'_>,
    dependent: &[(PortId, Vec<PortId>)],
    system: Option<&StateSystem>,
    retained: &Retained,
) -> Vec<Storage> {
    let model = names.model;
    let states = States::of(system);
    let mut found = Vec::new();
    for (index, info) in model.graph.ports.iter().enumerate() {
        let port = PortId(index as u32);
        let Some(co_energy) = assigned.co_energy(port) else {
            continue;
        };
        let element = &model.graph.elements[info.element.index()];
        let number = (port.0 - element.ports.start) as usize + 1;
        let is_integral = assigned.causality.solved[index] == Some(co_energy.conjugate());
        let from = dependent.iter().find(|entry| entry.0 == port);
        let from = from.map_or(&[][..], |entry| &entry.1);
        let follows = follows(paths, port, co_energy, from);
        let state = is_integral
            .then(|| states.of_port(model, names, port, number))
            .flatten();
        let because = why(assigned, names, port, (co_energy, is_integral), from, retained);
        found.push(Storage {
            port: index,
            number,
            is_integral,
            state,
            follows,
            because,
        });
    }
    found
}

/// The maximum numbers of causal paths of one storage element, and of ports in a loop; longer reports are unreadable.
const MOST_PATHS: usize = 20;

/// Returns the paths from a port to the ports that determine it; only the first ones if there are many. If no path of bonds is determined,
/// only its ends are named.
fn follows(paths: &Paths<'_>, port: PortId, variable: Variable, from: &[PortId]) -> Vec<CausalPath> {
    let first = &from[..from.len().min(MOST_PATHS)];
    let mut known: FxHashMap<PortId, Vec<String>> = paths.back(port, variable, first).into_iter().collect();
    let path = |to: &PortId| CausalPath {
        to: to.index(),
        through: known.remove(to).unwrap_or_default(),
    };
    from.iter().map(path).collect()
}

/// The names of states by element.
struct States {
    of: FxHashMap<Arc<str>, Vec<Arc<str>>>,
}

impl States {
    fn of(system: Option<&StateSystem>) -> States {
        let mut of: FxHashMap<Arc<str>, Vec<Arc<str>>> = FxHashMap::default();
        let states = system.iter().flat_map(|system| &system.states);
        for state in states {
            of.entry(state.element.clone()).or_default().push(state.name.clone());
        }
        States { of }
    }

    /// Returns the state of a port: the only state of its element, the state of its entry, or that with the name of the port.
    fn of_port(&self, model: &Model, names: Names<'_>, port: PortId, number: usize) -> Option<Arc<str>> {
        let info = &model.graph.ports[port.index()];
        let states = self.of.get(&*model.element_name(info.element))?;
        let entry = info.entry.unwrap_or(number as u32);
        let (ending, beginning) = (format!("[{entry}]"), format!("{}.", names.port(port)));
        let is_own = |name: &&Arc<str>| name.ends_with(&ending) || name.starts_with(&beginning);
        match &states[..] {
            [only] => Some(only.clone()),
            several => several.iter().find(is_own).cloned(),
        }
    }
}

fn at_run_time(system: &StateSystem) -> Vec<RunTimeLoop> {
    let of = |each: &lgm_equations::AlgebraicLoop| {
        let mut laws: Vec<Arc<str>> = Vec::new();
        for (name, _) in each.owners.iter().flatten() {
            if !laws.contains(name) {
                laws.push(name.clone());
            }
        }
        RunTimeLoop {
            unknowns: each.unknowns.len(),
            names: (each.unknowns.iter())
                .map(|unknown| system.exprs.symbol_info(*unknown).name.to_string())
                .collect(),
            is_linear: each.linear,
            laws,
        }
    };
    system.equations.loops.iter().map(of).collect()
}

/// Returns a loop with the junctions and couplers between its members, unless it is long.
fn algebraic_loop(assigned: &Assigned<'_>, paths: &Paths<'_>, ports: &[PortId]) -> AlgebraicLoop {
    let mut through: Vec<String> = Vec::new();
    for port in ports.iter().filter(|_| ports.len() <= MOST_PATHS) {
        let Some(taken) = assigned.causality.solved[port.index()] else {
            continue;
        };
        for (_, path) in paths.back(*port, taken, ports) {
            let inner = path.len().saturating_sub(1);
            for name in path.into_iter().take(inner).skip(1) {
                if !through.contains(&name) {
                    through.push(name);
                }
            }
        }
    }
    AlgebraicLoop {
        ports: ports.iter().map(|port| port.index()).collect(),
        through,
    }
}
