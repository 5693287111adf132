//! Mechanisms with varying moduli: accelerations compared with Lagrange's equations by automatic differentiation,
//! trajectories compared with the records of known answers, and conserved quantities.

mod chains;
mod closed;
mod examples;
mod jet;
mod model;
mod random;
mod seeds;
mod spatial;

use crate::runs::simulate::runs;
use crate::support;
use jet::lagrange;
use model::Compiled;
use std::collections::HashMap;
use support::records::{Parameters, number};

/// Values by name.
type Values = HashMap<String, f64>;

/// The scalar parameters of a record, by name.
fn values(parameters: &Parameters) -> Vec<(String, f64)> {
    let entries = parameters.iter();
    entries.map(|(name, value)| (name.clone(), number(value))).collect()
}

/// The scalar parameters of a record, as settings.
fn settings(parameters: &Parameters, derived: &[&str]) -> Vec<(String, f64)> {
    let set = parameters.iter().filter(|entry| !derived.contains(&&*entry.0));
    set.map(|(name, value)| (name.clone(), number(value))).collect()
}

/// A number between -1 and 1 for each key.
fn spread(key: usize) -> f64 {
    let word = (key as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    2.0 * ((word >> 20) % 99_991) as f64 / 99_991.0 - 1.0
}

#[test]
fn random_mechanisms_move_as_lagrange_says() {
    for seed in 0..16 {
        let mechanism = random::Mechanism::new(seed);
        let compiled = Compiled::of_text(&format!("random mechanism {seed}"), mechanism.text(), &[]);
        let names = mechanism.velocities();
        for trial in 0..5 {
            let key = 1_000 * seed as usize + 10 * trial;
            let q: Vec<f64> = (0..2).map(|k| 2.0 * spread(key + k)).collect();
            let v: Vec<f64> = (0..2).map(|k| 2.0 * spread(key + 5 + k)).collect();
            let mut states = compiled.starts();
            for k in 0..2 {
                states[compiled.position(&format!("q{}", k + 1))] = q[k];
                states[compiled.position(&names[k])] = v[k];
            }
            let found = compiled.evaluate(&states);
            let wanted = lagrange(|q, v| mechanism.lagrangian(q, v), &[0.0, 0.0], &q, &v);
            for (name, wanted) in names.iter().zip(wanted) {
                let found = found[compiled.position(name)];
                assert!(
                    (found - wanted).abs() <= 1e-7 * wanted.abs().max(1.0),
                    "{}\n{name} at {q:?}, {v:?}: {found} instead of {wanted}",
                    mechanism.text()
                );
            }
        }
    }
}
