//! `lgm causality`: the report agrees with the equations. Strokes, trees and states are checked here from the report
//! and the laws of the elements alone, by counting and by joining nodes, without the compiler's linear algebra.

use crate::equations::networks;
use crate::support;

use lgm::explain::causality::{CausalityReport, End, Member, Role};
use lgm::model::system::StateSystem;
use lgm::model::{JunctionKind, Law, Model, Variable};
use lgm::source::SourceMap;
use lgm::{Compilation, Request};
use networks::generate::generate;
use networks::write::write;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use support::points;

/// All examples.
fn examples() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "lgm") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub fn compilation(text: &str, path: Option<PathBuf>, retain: &[&str]) -> Compilation {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, path);
    let mut request = Request::default();
    request.equations.symbolic = false;
    request.equations.retain = retain.iter().map(ToString::to_string).collect();
    Compilation::new(&points::Disk, map, root, request)
}

/// The faults of a report.
fn faults(model: &Model, system: &StateSystem, report: &CausalityReport) -> Vec<String> {
    let mut faults = Vec::new();
    junctions(report, &mut faults);
    ports(model, report, &mut faults);
    couplers(model, report, &mut faults);
    states(system, report, &mut faults);
    order(report, &mut faults);
    tree(model, report, &mut faults);
    faults
}

/// Every bond that imposes effort on a 0-junction, or flow on a 1-junction, sets it: exactly one bond of each junction
/// does, and none of a reference node. If a junction has bonds without strokes and no bond sets it, at least two bonds
/// lack strokes.
fn junctions(report: &CausalityReport, faults: &mut Vec<String>) {
    for (index, junction) in report.junctions.iter().enumerate() {
        let here = End::Junction(index);
        let (mut setting, mut open, mut all) = (Vec::new(), 0, 0);
        for (at, bond) in report.bonds.iter().enumerate() {
            if bond.tail != here && bond.head != here {
                continue;
            }
            all += 1;
            match bond.effort_at {
                None => open += 1,
                Some(end) if (end == here) == (junction.kind == JunctionKind::Zero) => setting.push(at),
                Some(_) => {}
            }
        }
        let circulates = report
            .open
            .iter()
            .any(|group| group.circulates && group.between.contains(&junction.name));
        let is_right = match open {
            0 if report.references.contains(&junction.name) => setting.is_empty(),
            0 => setting.len() == 1 || all == 0,
            _ if circulates => setting.len() < 2,
            _ => setting.is_empty() && open > 1,
        };
        if !is_right {
            faults.push(format!(
                "{} is set by {setting:?}, {open} bonds are open",
                junction.name
            ));
        }
        if junction.set_by != setting.first().copied() {
            faults.push(format!(
                "{} is set by {setting:?}, not by {:?}",
                junction.name, junction.set_by
            ));
        }
    }
}

/// An effort source has the stroke at its far end, a flow source at its own; storage in integral causality likewise, by
/// its co-energy variable.
fn ports(model: &Model, report: &CausalityReport, faults: &mut Vec<String>) {
    let storage: BTreeMap<usize, bool> = (report.storage.iter())
        .map(|storage| (storage.port, storage.is_integral))
        .collect();
    for bond in &report.bonds {
        let port = match (bond.tail, bond.head) {
            (End::Port(port), End::Junction(_)) | (End::Junction(_), End::Port(port)) => port,
            _ => continue,
        };
        let name = &report.ports[port].name;
        let effort_given = bond.effort_at.map(|end| end != End::Port(port));
        let wanted = match report.ports[port].role {
            Role::Source(given) => Some(given == Variable::Effort),
            Role::Storage(co_energy) => Some((co_energy == Variable::Effort) == storage[&port]),
            Role::Velocity | Role::Dissipator | Role::Coupler => None,
        };
        if wanted.is_some() && effort_given != wanted {
            faults.push(format!("{name} gives its effort: {effort_given:?}, not {wanted:?}"));
        }
        if effort_given.is_none() && !matches!(report.ports[port].role, Role::Coupler) {
            faults.push(format!("{name} has no stroke"));
        }
        let takes = effort_given.map(|effort| if effort { Variable::Flow } else { Variable::Effort });
        if takes != report.ports[port].taken {
            faults.push(format!(
                "{name} takes {:?}, and its bond gives {takes:?}",
                report.ports[port].taken
            ));
        }
    }
    // Roles according to the laws.
    for (index, port) in model.graph.ports.iter().enumerate() {
        let is_right = match (
            &model.graph.elements[port.element.index()].law,
            report.ports[index].role,
        ) {
            (Law::Source { given, .. }, Role::Source(role)) => *given == role,
            (Law::Storage { co_energy, .. }, Role::Storage(role)) => *co_energy == role,
            (Law::Dissipator(_), Role::Dissipator) | (Law::Coupler { .. }, Role::Coupler) => true,
            (Law::Nonlinear(_), Role::Storage(_) | Role::Dissipator) => true,
            _ => false,
        };
        if !is_right {
            faults.push(format!(
                "{} is no {:?}",
                report.ports[index].name, report.ports[index].role
            ));
        }
    }
}

/// A transformer has one of its two strokes at itself, a gyrator both or none. The number of imposed variables of a
/// multiport coupler is the number of columns of its matrix.
fn couplers(model: &Model, report: &CausalityReport, faults: &mut Vec<String>) {
    let mut stroke_at: BTreeMap<usize, Option<bool>> = BTreeMap::new();
    for bond in &report.bonds {
        for end in [bond.tail, bond.head] {
            if let End::Port(port) = end {
                stroke_at.insert(port, bond.effort_at.map(|at| at == end));
            }
        }
    }
    for element in &model.graph.elements {
        let Law::Coupler { input, output, matrix } = &element.law else {
            continue;
        };
        let strokes: Vec<Option<bool>> = element.ports.clone().map(|port| stroke_at[&(port as usize)]).collect();
        let Some(strokes) = strokes.into_iter().collect::<Option<Vec<bool>>>() else {
            continue;
        };
        let name = model.path_name(element.path);
        if let ([a, b], 1, 1) = (&strokes[..], matrix.rows, matrix.columns) {
            let is_transformer = input == output;
            if (a != b) != is_transformer {
                faults.push(format!("strokes at {name}: {a}, {b}"));
            }
            continue;
        }
        let taken = strokes.iter().enumerate().filter(|(at, effort)| {
            let own = if *at < matrix.columns { *input } else { *output };
            **effort == (own == Variable::Effort)
        });
        let taken = taken.count();
        if taken != matrix.columns {
            faults.push(format!("{name} takes {taken} of {} variables", matrix.columns));
        }
    }
}

/// The storage in integral causality is the storage of the states. A velocity that a modulus needs is named after the
/// integrated variable.
fn states(system: &StateSystem, report: &CausalityReport, faults: &mut Vec<String>) {
    let stored: BTreeSet<&str> = (report.storage.iter())
        .map(|storage| &*report.ports[storage.port].element)
        .collect();
    let integral = report.storage.iter().filter(|storage| storage.is_integral);
    let integral: BTreeSet<&str> = integral.map(|storage| &*report.ports[storage.port].element).collect();
    let states: BTreeSet<&str> = system.states.iter().map(|state| &*state.element).collect();
    // States of declarations and outputs are integrals, not storage.
    let of_storage: BTreeSet<&str> = states.intersection(&stored).copied().collect();
    if integral != of_storage {
        faults.push(format!("integral causality: {integral:?}, states of {of_storage:?}"));
    }
    let mut named = BTreeSet::new();
    for storage in &report.storage {
        let name = &report.ports[storage.port].name;
        let is_state = |state: &&std::sync::Arc<str>| system.states.iter().any(|known| known.name == **state);
        match (&storage.state, storage.is_integral) {
            (Some(state), true) if is_state(&state) => {
                if !named.insert(state.clone()) {
                    faults.push(format!("{state} is the state of two"));
                }
            }
            (None, false) => {}
            (state, _) => faults.push(format!("the state of {name} is {state:?}")),
        }
    }
    let count = system
        .states
        .iter()
        .filter(|state| stored.contains(&*state.element))
        .count();
    if count != named.len() {
        faults.push(format!("{count} states of storage, {} are named", named.len()));
    }
    for storage in &report.storage {
        let name = &report.ports[storage.port].name;
        if storage.is_integral && !storage.follows.is_empty() {
            faults.push(format!("{name} has a state, and follows others"));
        }
        for path in &storage.follows {
            let to = &report.ports[path.to];
            let ends = (path.through.first(), path.through.last());
            if ends != (Some(name), Some(&to.name)) {
                faults.push(format!("a causal path of {name} to {}: {:?}", to.name, path.through));
            }
            let has_state = report
                .storage
                .iter()
                .any(|other| other.port == path.to && other.is_integral);
            if !has_state && !matches!(to.role, Role::Source(_) | Role::Dissipator) {
                faults.push(format!("{name} follows {}, which has no state", to.name));
            }
        }
    }
}

/// Each bond with a stroke was assigned exactly once.
fn order(report: &CausalityReport, faults: &mut Vec<String>) {
    let steps: Vec<usize> = report.order.iter().map(|step| step.bond).collect();
    let once: BTreeSet<usize> = steps.iter().copied().collect();
    let with_stroke = report
        .bonds
        .iter()
        .enumerate()
        .filter(|bond| bond.1.effort_at.is_some());
    let with_stroke: BTreeSet<usize> = with_stroke.map(|bond| bond.0).collect();
    if once.len() != steps.len() || once != with_stroke {
        faults.push(format!("steps of {steps:?}, strokes at {with_stroke:?}"));
    }
    let open: BTreeSet<usize> = report
        .open
        .iter()
        .flat_map(|group| group.bonds.iter().copied())
        .collect();
    let all: BTreeSet<usize> = once.union(&open).copied().collect();
    if all.len() != report.bonds.len() || !once.is_disjoint(&open) {
        faults.push(format!("open bonds {open:?}"));
    }
}

/// Nodes joined into sets.
struct Joined(BTreeMap<Option<String>, Option<String>>);

impl Joined {
    fn root(&self, node: &Option<String>) -> Option<String> {
        let mut at = node.clone();
        while let Some(next) = self.0.get(&at) {
            at = next.clone();
        }
        at
    }

    /// Joins two nodes; returns whether they were separate.
    fn join(&mut self, ends: &(Option<String>, Option<String>)) -> bool {
        let (a, b) = (self.root(&ends.0), self.root(&ends.1));
        let apart = a != b;
        if apart {
            self.0.insert(a, b);
        }
        apart
    }

    /// The number of these that can be branches together, in addition to those already joined.
    fn rank<'t>(&mut self, ends: impl Iterator<Item = &'t (Option<String>, Option<String>)>) -> usize {
        ends.filter(|ends| self.join(ends)).count()
    }
}

/// Branches close no loop, and every link would close one; sources have their required roles; in a graph without
/// couplers, no tree has more A-type or fewer T-type storage.
fn tree(model: &Model, report: &CausalityReport, faults: &mut Vec<String>) {
    let Some(tree) = &report.tree else {
        if model.graph.nodes.iter().any(|node| node.is_graph_node) {
            faults.push("no tree".to_string());
        }
        return;
    };
    let is_across =
        |place: usize, variable: Variable| report.ports[place].effort_is_across == Some(variable == Variable::Effort);
    let class = |member: &Member| match member {
        Member::Bond(_) => 'K',
        Member::Port(place) => match report.ports[*place].role {
            Role::Source(given) if is_across(*place, given) => 'E',
            Role::Source(_) => 'J',
            Role::Storage(co_energy) if is_across(*place, co_energy) => 'A',
            Role::Storage(_) => 'T',
            Role::Velocity => 'V',
            Role::Dissipator => 'D',
            Role::Coupler => 'K',
        },
    };
    let mut joined = Joined(BTreeMap::new());
    for member in tree.members.iter().filter(|member| member.is_branch == Some(true)) {
        if !joined.join(&member.ends) {
            faults.push(format!("branches close a loop with {}", member.name));
        }
        if class(&member.of) == 'J' {
            faults.push(format!("{} is a branch", member.name));
        }
    }
    for member in tree.members.iter().filter(|member| member.is_branch == Some(false)) {
        if joined.root(&member.ends.0) != joined.root(&member.ends.1)
            && !tree.members.iter().any(|m| m.is_branch.is_none())
        {
            faults.push(format!("the branches do not join the ends of {}", member.name));
        }
        if class(&member.of) == 'E' {
            faults.push(format!("{} is a link", member.name));
        }
    }
    let is_plain = tree
        .members
        .iter()
        .all(|member| !matches!(class(&member.of), 'K' | 'V'));
    let has_ideal = model
        .graph
        .elements
        .iter()
        .any(|element| matches!(&element.law, Law::Dissipator(lgm::model::Dissipator::Implicit(..))));
    if is_plain && !has_ideal {
        let of = |classes: &'static str| {
            let members = tree
                .members
                .iter()
                .filter(move |member| classes.contains(class(&member.of)));
            members.map(|member| &member.ends)
        };
        let branches = |wanted: char| {
            let own = tree.members.iter().filter(|member| class(&member.of) == wanted);
            own.filter(|member| member.is_branch == Some(true)).count()
        };
        let mut first = Joined(BTreeMap::new());
        first.rank(of("E"));
        let most = first.rank(of("A"));
        first.rank(of("D"));
        let fewest = first.rank(of("T"));
        if branches('A') != most || branches('T') != fewest {
            let counts = (branches('A'), branches('T'));
            faults.push(format!(
                "A-type and T-type branches: {counts:?}, not {:?}",
                (most, fewest)
            ));
        }
    }
}

#[test]
fn reports_of_all_examples_are_consistent() {
    let mut faults_of_all = String::new();
    let (mut trees, mut derivative) = (0, 0);
    for path in examples() {
        let text = fs::read_to_string(&path).unwrap();
        let compilation = compilation(&text, Some(path.clone()), &[]);
        let report = compilation.causality().unwrap();
        let found = faults(compilation.model().unwrap(), compilation.system().unwrap(), report);
        trees += usize::from(report.tree.is_some());
        derivative += report.storage.iter().filter(|storage| !storage.is_integral).count();
        for fault in found {
            faults_of_all += &format!("{}: {fault}\n", path.display());
        }
    }
    assert!(faults_of_all.is_empty(), "{faults_of_all}");
    assert!(
        trees > 50 && derivative > 30,
        "{trees} trees, {derivative} in derivative causality"
    );
}

/// Networks of all domains with transformers, gyrators, vectors, loops and bond graphs.
#[test]
fn reports_of_random_networks_are_consistent() {
    let mut said = String::new();
    let (mut checked, mut open, mut loops) = (0, 0, 0);
    for seed in 0..500 {
        let text = write(&generate(seed));
        let compilation = compilation(&text, None, &[]);
        let (Some(model), Some(system)) = (compilation.model(), compilation.system()) else {
            continue;
        };
        let report = compilation.causality().unwrap();
        checked += 1;
        open += usize::from(!report.open.is_empty());
        loops += usize::from(!report.loops.is_empty());
        let found = faults(model, system, report);
        if !found.is_empty() {
            said += &format!("seed {seed}: {found:#?}\n{text}\n");
        }
    }
    assert!(said.is_empty(), "{said}");
    println!("{checked} networks, {open} with bonds that have no stroke, {loops} with algebraic loops");
    assert!(
        checked > 200 && loops > 50,
        "{checked} networks, {loops} with algebraic loops"
    );
}
