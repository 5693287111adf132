//! The reduction of storage fields as JSON. The format is stable, because other tools read it.

use super::report::{Dependent, ReductionReport};
use serde_json::{Value, json};

/// Converts the report; `path` and the gains of an element are at the top level if it has only one path.
pub fn json(report: &ReductionReport) -> Value {
    let conserved = report.conserved.iter().map(|found| {
        json!({
            "quantity": found.quantity, "kind": found.kind, "of": found.of, "driven_by": found.driven_by,
            "equivalent": found.equivalent, "done": found.done,
        })
    });
    json!({
        "schema": "lgm-reduce/1",
        "model": &*report.model,
        "dependent": report.dependent.iter().map(dependent).collect::<Vec<_>>(),
        "conserved": match report.knows_conserved {
            true => Value::from(conserved.collect::<Vec<_>>()),
            false => Value::Null,
        },
    })
}

fn dependent(found: &Dependent) -> Value {
    let paths = found.paths.iter().map(|path| {
        json!({
            "to": path.to, "path": path.through, "effort_gain": path.effort_gain, "flow_gain": path.flow_gain,
        })
    });
    let only = match &found.paths[..] {
        [only] => Some(only),
        _ => None,
    };
    json!({
        "element": found.element, "on": found.on, "class": found.class.word(),
        "path": only.map(|path| &path.through),
        "effort_gain": only.and_then(|path| path.effort_gain.as_ref()),
        "flow_gain": only.and_then(|path| path.flow_gain.as_ref()),
        "paths": paths.collect::<Vec<_>>(),
        "equivalent": found.equivalent, "unit": found.unit, "done": found.done,
    })
}
