//! Metamorphic tests: a random model has the same samples if it is rewritten, rescaled or run differently.
//!
//! `LGM_CASES=400 cargo test --release --test all runs::metamorphic::random_models_keep_their_rows -- --exact
//! --nocapture` runs 400 times the usual number of models, with all relations instead of some. `LGM_SEED=17` is the
//! first seed, and `LGM_RELATIONS=place,shuffled` selects relations by the start of their names.
//! `LGM_RELATIONS_PER_MODEL=6` tests the unchanged run and five random relations of each model, so that many models
//! take little time. `LGM_THREADS=1` uses one thread instead of two. For each failure the seed, the relation and the
//! largest difference are printed, and the smallest failing model found within some seconds is written to
//! `target/tmp/metamorphic`. `LGM_TRACE=1` prints each seed and why it has no samples.
//! `tests/runs/metamorphic/compare.rs` defines when samples count as equal.

mod bonds;
mod campaign;
mod compare;
mod draw;
mod exact;
mod functions;
mod model;
mod relations;
mod rescale;
mod rework;
mod run;
mod shrink;
mod targets;
mod write;

use crate::emit::fmu::driven;
use crate::equations::networks::{random, scalar};
use crate::support;
use crate::support::cases::{first_seed, is_campaign, many};
pub use run::{Fault, Rows, compile, run};
pub use write::number;

use campaign::{Tally, campaign, campaign_of_targets};
use draw::{Drawn, draw};
use lgm::equations::StateRequest;
use model::Kind;
use relations::{Case, Relation, Settings};
use targets::Target;
use write::{Writing, write};

/// The usual number of models, and of relations of each.
const MODELS: u64 = 25;
const RELATIONS: usize = 3;

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number is wanted in the environment variable"))
}

/// The relations of a campaign: those selected by `LGM_RELATIONS=place,shuffled`.
fn asked_for() -> Vec<Relation> {
    let words = std::env::var("LGM_RELATIONS").unwrap_or_default();
    let is_wanted = |relation: &Relation| words.split(',').any(|word| relation.word().starts_with(word));
    Relation::ALL.into_iter().filter(is_wanted).collect()
}

/// The number of relations of each model in a campaign.
fn per_model() -> usize {
    variable("LGM_RELATIONS_PER_MODEL").map_or(usize::MAX, |count| count as usize)
}

/// The number of threads that run models.
fn threads() -> usize {
    variable("LGM_THREADS").map_or(2, |count| count.max(1) as usize)
}

#[test]
fn random_models_keep_their_rows() {
    let seeds = first_seed()..first_seed() + many(MODELS);
    let tally: Tally = match is_campaign() {
        true => campaign(seeds, &asked_for(), per_model()),
        false => campaign(seeds, Relation::SETTLED, RELATIONS),
    };
    println!("{tally}");
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    assert!(tally.models > 0, "no model runs: {tally}");
}

/// The usual number of models in each target: those of Rust and Python take seconds each.
fn count(target: Target) -> u64 {
    match target {
        Target::C => 2,
        Target::Rust => 1,
        Target::Python => 1,
        Target::CoSimulation | Target::ModelExchange => 1,
    }
}

#[test]
fn random_models_keep_their_rows_in_every_target() {
    let mut faults = Vec::new();
    for target in Target::ALL.into_iter().filter(|target| target.is_there()) {
        let tally = campaign_of_targets(first_seed(), many(count(target)), target);
        println!("{}: {tally}", target.word());
        faults.extend(tally.failures);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The sensitivity of the comparison: a value that is off by a fifth is detected wherever it matters.
#[test]
fn a_change_of_a_value_is_seen() {
    let (mut seen, mut models) = (0, 0);
    for seed in 0..30 {
        let Drawn { model, units } = draw(seed);
        let Ok(case) = Case::new(&model, units, Settings::draw(seed)) else {
            continue;
        };
        let mut other = case.model.clone();
        for element in &mut other.elements {
            if let Kind::AType(value) | Kind::TType(value) | Kind::DType(value) = &mut element.kind {
                *value *= 1.2;
                break;
            }
        }
        let text = write(&other, Writing::PLAIN);
        let rows =
            compile(&text, StateRequest::Natural, false).and_then(|system| run(&system, &case.plan(), true, None));
        models += 1;
        seen += usize::from(case.judge(rows, &text).is_some());
    }
    println!("seen in {seen} of {models} models");
    assert!(models > 10 && 2 * seen > models, "{seen} of {models}");
}
