//! Random circuits, hydraulic circuits and drives of sources, transformers, storage, dissipators and 2 to 12 elements that
//! switch, compared with an implicit method that does not use modes.
//!
//! The reference gives each ideal element a small resistance if it conducts and a large one if it blocks, and takes
//! 20,000 implicit Euler steps of nodal equations, or more if a model differs. In each step the laws are monotone, and
//! Newton's method with exact line searches finds the minimum of a convex function. Walls and backlash act on the
//! displacement at the end of a step.
//! A third of the models, and in a campaign each one, is also run with its lines in another order.
//!
//! `LGM_CASES=50 cargo test --test all random_switching` runs 50 times the usual number of models; `LGM_SEED=1700` is
//! the first seed.

mod draw;
mod reference;

use crate::support::cases::{first_seed, is_campaign, many};
use crate::support::emitted::Rows;
use crate::support::program::run;
use draw::{Drawn, Kind, POINTS};
use reference::STEPS;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The usual number of models.
const MODELS: u64 = 24;

/// The tolerance relative to the reference, as a fraction of a column's magnitude: its resistances and steps are
/// finite.
const BESIDE_REFERENCE: f64 = 2e-2;

/// The tolerance between two orders of lines.
const BETWEEN_ORDERS: f64 = 1e-3;

/// How many times more steps the reference takes for a model that differs.
const FINER: usize = 32;

/// The fraction of the models for which the reference may have no solution.
const MOST_UNSOLVED: f64 = 0.05;

/// The number of samples of a column that may differ by more: an across variable jumps at events, which may coincide
/// with a sample.
const AT_EVENTS: usize = 3;

/// Columns below this fraction of the largest one of their kind count as 0.
const SMALL: f64 = 1e-2;

/// The smallest scale of a column, in SI units: 50 A leave 5e-3 V across an ideal element of the reference, and these
/// drive 5e-3 A through 1 ohm.
const RESOLVED: f64 = 0.3;

fn simulated(file: &Path, text: &str, further: &[&str]) -> Result<Vec<Vec<f64>>, String> {
    fs::write(file, text).unwrap();
    let mut words = vec!["simulate".to_string(), file.display().to_string()];
    words.extend(further.iter().map(ToString::to_string));
    let output = run(&words);
    match output.status.success() {
        true => Ok(Rows::read(&String::from_utf8_lossy(&output.stdout)).values),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The first column outside the tolerance, without samples at gate instants.
fn difference(drawn: &Drawn, expected: &[Vec<f64>], found: &[Vec<f64>], allowed: f64) -> Option<String> {
    let nodes = drawn.nodes;
    let columns = expected[0].len();
    let size = |column: usize| expected.iter().map(|row| row[column].abs()).fold(0.0, f64::max);
    let largest = |columns: std::ops::Range<usize>| columns.map(size).fold(1e-9, f64::max);
    let of_kind = [
        largest(0..nodes).max(RESOLVED / SMALL),
        largest(nodes..columns).max(RESOLVED / SMALL),
    ];
    for column in 0..columns {
        let scale = size(column).max(SMALL * of_kind[usize::from(column >= nodes)]);
        let rows = 1..POINTS;
        let mut errors: Vec<f64> = rows
            .filter(|row| !drawn.switches_at(*row))
            // The first value of a sample is its time.
            .map(|row| (expected[row][column] - found[row][column + 1]).abs() / scale)
            .collect();
        errors.sort_by(f64::total_cmp);
        let worst = errors[errors.len() - 1 - AT_EVENTS];
        if worst.is_nan() || worst > allowed {
            return Some(format!("column {column} differs by {worst:.1e} of {scale:.3e}"));
        }
    }
    None
}

/// The verdict on the run of a model; none if the reference has no solution.
fn fault(folder: &Path, seed: u64) -> Option<Result<(), String>> {
    let drawn = Drawn::new(seed);
    let expected = reference::solve(&drawn, STEPS)?;
    let file = folder.join(format!("seed{seed}.lgm"));
    let text = drawn.text(None);
    let judged = simulated(&file, &text, &["--verify"]).and_then(|found| {
        // An event just before a gate instant takes smaller steps to be seen.
        let differs = |expected: &[Vec<f64>]| difference(&drawn, expected, &found, BESIDE_REFERENCE);
        let refined =
            |words: String| reference::solve(&drawn, FINER * STEPS).map_or(Some(words), |rows| differs(&rows));
        if let Some(words) = differs(&expected).and_then(refined) {
            return Err(words);
        }
        if !is_campaign() && !seed.is_multiple_of(3) {
            return Ok(());
        }
        let other = simulated(&file, &drawn.text(Some(seed)), &[])?;
        let first: Vec<Vec<f64>> = found.iter().map(|row| row[1..=expected[0].len()].to_vec()).collect();
        match difference(&drawn, &first, &other, BETWEEN_ORDERS) {
            Some(words) => Err(format!("with its lines in another order: {words}")),
            None => Ok(()),
        }
    });
    Some(judged.map_err(|words| format!("seed {seed}: {words}\n{text}")))
}

#[test]
fn rows_are_those_of_small_steps() {
    let folder = tempfile::tempdir().unwrap();
    let seeds = first_seed()..first_seed() + many(MODELS);
    let next = AtomicU64::new(seeds.start);
    let (faults, unsolved) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    match fault(folder.path(), seed) {
                        Some(Ok(())) => {}
                        Some(Err(words)) => faults.lock().unwrap().push(words),
                        None => unsolved.lock().unwrap().push(seed),
                    }
                }
            });
        }
    });
    let (faults, unsolved) = (faults.into_inner().unwrap(), unsolved.into_inner().unwrap());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    let most = MOST_UNSOLVED * many(MODELS) as f64;
    assert!(
        unsolved.len() as f64 <= most,
        "the reference has no solution: {unsolved:?}"
    );
}

/// The comparison detects the omission of the last switched element in at least a quarter of the models.
#[test]
fn an_element_that_is_left_out_is_seen() {
    let mut seen = 0;
    for seed in 0..20 {
        let drawn = Drawn::new(seed);
        let mut other = drawn.clone();
        let last = other.elements.iter().rposition(|element| element.kind.is_switched());
        other.elements.remove(last.expect("each model has a switched element"));
        let (Some(expected), Some(found)) = (reference::solve(&drawn, STEPS), reference::solve(&other, STEPS)) else {
            continue;
        };
        let found: Vec<Vec<f64>> = found.iter().map(|row| [&[0.0][..], row].concat()).collect();
        seen += usize::from(difference(&drawn, &expected, &found, BESIDE_REFERENCE).is_some());
    }
    assert!(seen >= 5, "{seen} of 20");
}

/// The pieces of the reference: a diode at a source of 1 V and 2 ohm conducts, and at -1 V it blocks.
#[test]
fn the_reference_rectifies() {
    for (offset, expected) in [(1.0, 1.0), (-1.0, 0.0)] {
        let drawn = Drawn::of(vec![
            (
                Kind::Across {
                    offset,
                    amplitude: 0.0,
                    phase: 0.0,
                },
                2,
                0,
            ),
            (Kind::Diode(0.0), 2, 1),
            (Kind::Dissipator(2.0), 1, 0),
        ]);
        let rows = reference::solve(&drawn, STEPS).unwrap();
        assert!((rows[POINTS - 1][0] - expected).abs() < 1e-3, "{:?}", rows[POINTS - 1]);
    }
}
