//! The number of random cases, and their seeds.

use proptest::test_runner::{Config, RngSeed};

/// `LGM_CASES=4` runs four times the usual number of cases in every random test.
fn factor() -> u64 {
    std::env::var("LGM_CASES").map_or(1, |text| text.parse().expect("LGM_CASES is a whole number"))
}

/// The number of cases to run, relative to the usual number.
pub fn many(usual: u64) -> u64 {
    usual * factor()
}

/// Campaigns, from `LGM_CASES=10` on, also try every variant of a case (relations, methods) instead of a few.
pub fn is_campaign() -> bool {
    factor() >= 10
}

/// The first seed: `LGM_SEED`, or 0.
pub fn first_seed() -> u64 {
    std::env::var("LGM_SEED").map_or(0, |text| text.parse().expect("LGM_SEED is a whole number"))
}

/// A fixed seed and `many(usual)` cases. The variable `PROPTEST_RNG_SEED` sets another seed.
pub fn cases(usual: u32) -> Config {
    let config = Config {
        cases: many(usual.into()).try_into().expect("fewer cases than 2^32"),
        failure_persistence: None,
        ..Config::default()
    };
    match config.rng_seed {
        RngSeed::Random => Config {
            rng_seed: RngSeed::Fixed(20_261_121),
            ..config
        },
        RngSeed::Fixed(_) => config,
    }
}
