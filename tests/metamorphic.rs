//! Metamorphic tests: a random model that is written, scaled or run otherwise has the same rows.
//!
//! `LGM_METAMORPHIC=10000 cargo test --release --test metamorphic campaign -- --nocapture` runs that many models with all
//! relations instead of the usual number with some; `LGM_SEED=17` is the first seed. For each failure it prints the seed, the
//! relation and the largest difference, and writes the smallest model that still fails to `target/tmp/metamorphic`.
//! `tests/metamorphic/compare.rs` says when rows count as the same.

#[path = "random_networks/network.rs"]
#[allow(dead_code)]
mod network;
#[path = "random_networks/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "random_networks/scalar.rs"]
#[allow(dead_code)]
mod scalar;

#[path = "metamorphic/bonds.rs"]
mod bonds;
#[path = "metamorphic/campaign.rs"]
mod campaign;
#[path = "metamorphic/compare.rs"]
mod compare;
#[path = "metamorphic/draw.rs"]
mod draw;
#[path = "metamorphic/exact.rs"]
mod exact;
#[path = "metamorphic/functions.rs"]
mod functions;
#[path = "metamorphic/model.rs"]
mod model;
#[path = "metamorphic/relations.rs"]
mod relations;
#[path = "metamorphic/rescale.rs"]
mod rescale;
#[path = "metamorphic/rework.rs"]
mod rework;
#[path = "metamorphic/run.rs"]
mod run;
#[path = "metamorphic/shrink.rs"]
mod shrink;
#[path = "metamorphic/write.rs"]
mod write;

use campaign::{Tally, campaign};

/// How many models are run where nothing else is asked for, and how many relations of each.
const MODELS: u64 = 200;
const RELATIONS: usize = 5;

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number is wanted in the environment variable"))
}

#[test]
fn random_models_keep_their_rows() {
    let asked = variable("LGM_METAMORPHIC");
    let first = variable("LGM_SEED").unwrap_or(0);
    let relations = asked.map_or(RELATIONS, |_| usize::MAX);
    let tally: Tally = campaign(first..first + asked.unwrap_or(MODELS), relations);
    println!("{tally}");
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    assert!(tally.checked > tally.models, "too few models run: {tally}");
}
