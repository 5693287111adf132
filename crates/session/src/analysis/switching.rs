//! Reachable combinations of modes, as JSON.

use crate::Session;
use lgm_equations::Options;
use lgm_equations::switching::{Explored, ExploredModes, explore};
use lgm_source::stack;
use serde_json::{Map, Value, json};

/// The number of combinations after which a search ends unless another one is given.
pub const MOST_COMBINATIONS: u64 = 256;

/// Explores the combinations of modes that are reachable from those of a session, up to a maximum number.
pub fn explored(session: &Session, most: usize) -> Explored {
    let compilation = session.compilation();
    let model = compilation.model().expect("invariant: a session has a model");
    let options = Options {
        symbolic: false,
        numeric: true,
        ..compilation.request().equations.clone()
    };
    stack::deep(|| explore(model, &options, most))
}

/// Returns the JSON of `lgm switching`.
pub fn switching_json(found: &Explored) -> Value {
    let modes = |each: &ExploredModes| {
        let pairs = each
            .modes
            .iter()
            .map(|mode| (mode.0.to_string(), Value::from(&*mode.1)));
        Value::Object(pairs.collect::<Map<String, Value>>())
    };
    let combinations = found.combinations.iter().map(|each| {
        json!({
            "mode": modes(each),
            "order": each.order,
            "dependent": each.dependent,
            "conflict": each.conflict,
        })
    });
    json!({
        "schema": "lgm-switching/1",
        "possible": found.possible,
        "complete": found.is_complete,
        "combinations": combinations.collect::<Vec<Value>>(),
    })
}
