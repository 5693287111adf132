//! The causality of a model as JSON. The format is stable, because other tools read it.

use super::report::{CausalityReport, End, Role};
use lgm_model::{JunctionKind, Variable};
use serde_json::{Value, json};

/// Converts the report; bonds are numbered from 0, the ports of an element from 1.
pub fn json(report: &CausalityReport) -> Value {
    let name = |end: End| match end {
        End::Junction(at) => &report.junctions[at].name,
        End::Port(at) => &report.ports[at].name,
    };
    let port_name = |at: &usize| &report.ports[*at].name;
    let junctions = report.junctions.iter().map(|junction| {
        let kind = match junction.kind {
            JunctionKind::Zero => "0",
            JunctionKind::One => "1",
        };
        json!({ "name": junction.name, "kind": kind, "set_by": junction.set_by })
    });
    let bonds = report
        .bonds
        .iter()
        .map(|bond| json!({ "from": name(bond.tail), "to": name(bond.head), "effort_at": bond.effort_at.map(name) }));
    let storage = report.storage.iter().map(|storage| {
        let port = &report.ports[storage.port];
        let word = if storage.is_integral { "integral" } else { "derivative" };
        let on: Vec<&String> = storage.follows.iter().map(|path| port_name(&path.to)).collect();
        let paths: Vec<&Vec<String>> = storage.follows.iter().map(|path| &path.through).collect();
        json!({
            "element": port.element, "port": storage.number, "causality": word, "name": port.name,
            "state": storage.state.as_deref(), "on": on, "paths": paths, "because": storage.because,
        })
    });
    let order = report
        .order
        .iter()
        .map(|step| json!({ "bond": step.bond, "cause": step.cause.word(), "by": step.by, "because": step.because }));
    let loops = report.loops.iter();
    let loops = loops.map(|each| each.ports.iter().map(port_name).collect::<Vec<_>>());
    let through: Vec<&Vec<String>> = report.loops.iter().map(|each| &each.through).collect();
    let run = report.at_run_time.iter().map(|each| {
        let laws: Vec<&str> = each.laws.iter().map(|name| &**name).collect();
        json!({ "unknowns": each.unknowns, "names": each.names, "linear": each.is_linear, "laws": laws })
    });
    let open = (report.open.iter())
        .map(|group| json!({ "bonds": group.bonds, "circulates": group.circulates, "between": group.between }));
    json!({
        "schema": "lgm-causality/1",
        "model": &*report.model,
        "junctions": junctions.collect::<Vec<_>>(),
        "bonds": bonds.collect::<Vec<_>>(),
        "ports": ports(report),
        "storage": storage.collect::<Vec<_>>(),
        "order": order.collect::<Vec<_>>(),
        "tree": tree(report),
        "loops": loops.collect::<Vec<_>>(),
        "loop_paths": through,
        "run_time_loops": run.collect::<Vec<_>>(),
        "references": report.references,
        "without_stroke": open.collect::<Vec<_>>(),
        "conflicts": report.conflicts.iter().map(port_name).collect::<Vec<_>>(),
    })
}

fn ports(report: &CausalityReport) -> Vec<Value> {
    let word = |variable: Variable| match variable {
        Variable::Effort => "effort",
        Variable::Flow => "flow",
    };
    let ports = report.ports.iter().map(|port| {
        let role = match port.role {
            Role::Source(_) => "source",
            Role::Storage(_) => "storage",
            Role::Velocity => "velocity",
            Role::Dissipator => "dissipator",
            Role::Coupler => "coupler",
        };
        json!({
            "name": port.name, "element": port.element, "kind": &*port.kind, "role": role,
            "takes": port.taken.map(word), "gives": port.taken.map(Variable::conjugate).map(word),
            "effort": port.words.0, "flow": port.words.1,
        })
    });
    ports.collect()
}

fn tree(report: &CausalityReport) -> Value {
    let Some(tree) = &report.tree else {
        return Value::Null;
    };
    let of = |wanted: Option<bool>| {
        let members = tree.members.iter().filter(|member| member.is_branch == wanted);
        members.map(|member| member.name.as_str()).collect::<Vec<&str>>()
    };
    let rules = tree.members.iter().map(|member| {
        let ends = [&member.ends.0, &member.ends.1].map(|end| end.as_deref().unwrap_or("gnd"));
        json!({ "name": member.name, "from": ends[0], "to": ends[1], "branch": member.is_branch, "gives": member.gives, "rule": member.rule })
    });
    json!({
        "branches": of(Some(true)), "links": of(Some(false)), "either": of(None), "rules": rules.collect::<Vec<_>>(),
    })
}
