//! Lemke's method.

use crate::events::complementarity::{lemke, Memory, Outcome};
use std::vec;
use std::vec::Vec;

fn outcome(m: &[f64], q: &[f64]) -> (Outcome, Vec<f64>) {
    let n = q.len();
    let (mut table, mut basis, mut z) = (vec![0.0; n * (2 * n + 2)], vec![0; n], vec![0.0; n]);
    let mut memory = Memory {
        table: &mut table,
        basis: &mut basis,
        z: &mut z,
    };
    (lemke(m, q, &mut memory), z)
}

/// Returns the solution z, if one exists.
fn solved(m: &[f64], q: &[f64]) -> Option<Vec<f64>> {
    let (outcome, z) = outcome(m, q);
    (outcome == Outcome::Solved).then_some(z)
}

/// Returns a source of random numbers between -1 and 1.
fn random_numbers() -> impl FnMut() -> f64 {
    let mut seed = 1_u64;
    move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn check(m: &[f64], q: &[f64]) -> bool {
    let Some(z) = solved(m, q) else { return false };
    let n = q.len();
    let of = |row: usize| q[row] + (0..n).map(|column| m[row * n + column] * z[column]).sum::<f64>();
    let w: Vec<f64> = (0..n).map(of).collect();
    let size = q.iter().fold(1.0_f64, |size, value| size.max(value.abs()));
    assert!(w.iter().all(|value| *value > -1e-9 * size), "w of {q:?} is {w:?}");
    assert!(z.iter().all(|value| *value >= 0.0), "z of {q:?} is {z:?}");
    for (w, z) in w.iter().zip(&z) {
        assert!((w * z).abs() < 1e-8 * size * (1.0 + z), "{w} and {z}");
    }
    true
}

#[test]
fn problems_of_passive_networks_are_solved() {
    // Random positive definite matrices with a skew part, such as those of diode networks.
    let mut random = random_numbers();
    for n in 1..30 {
        for _ in 0..10 {
            let mut square = || (0..n * n).map(|_| random()).collect::<Vec<f64>>();
            let (a, skew) = (square(), square());
            let entry = |at: usize| {
                let (row, column) = (at / n, at % n);
                let product: f64 = (0..n).map(|of| a[row * n + of] * a[column * n + of]).sum();
                let diagonal = if row == column { 1e-3 } else { 0.0 };
                product + diagonal + skew[at] - skew[column * n + row]
            };
            let m: Vec<f64> = (0..n * n).map(entry).collect();
            let q: Vec<f64> = (0..n).map(|_| random()).collect();
            assert!(check(&m, &q), "{n}");
        }
    }
}

#[test]
fn a_problem_without_solution_ends_on_a_ray() {
    // w = -1 for any z.
    assert_eq!(outcome(&[0.0], &[-1.0]).0, Outcome::Unsolvable);
    assert_eq!(solved(&[0.0], &[1.0]), Some(vec![0.0]));
}

#[test]
fn semidefinite_problems_with_ties_do_not_cycle() {
    assert!(check(&[1.0; 4], &[-1.0, -1.0]));
    let m = [0.0, 1.0, -1.0, -1.0, 0.0, 1.0, 1.0, -1.0, 0.0];
    assert!(check(&m, &[-1.0, -1.0, 3.0]));
}

#[test]
fn rounding_contradicts_no_problem_with_a_solution() {
    // Many diodes on few coils: the responses have a low rank, and cancel.
    let mut random = random_numbers();
    for case in 0..5000 {
        let (n, rank) = (2 + case % 11, 1 + case % 3);
        let a: Vec<f64> = (0..n * rank).map(|_| random()).collect();
        let of =
            |row: usize, column: usize| -> f64 { (0..rank).map(|at| a[row * rank + at] * a[column * rank + at]).sum() };
        let m: Vec<f64> = (0..n * n).map(|at| of(at / n, at % n)).collect();
        let z: Vec<f64> = (0..n).map(|_| random().max(0.0)).collect();
        // Where z is zero, w may be positive.
        let w = z
            .iter()
            .map(|z| if *z > 0.0 { 0.0 } else { random().max(0.0) })
            .collect::<Vec<f64>>();
        let product = |row: usize| (0..n).map(|column| m[row * n + column] * z[column]).sum::<f64>();
        let q: Vec<f64> = (0..n).map(|row| w[row] - product(row)).collect();
        assert_ne!(outcome(&m, &q).0, Outcome::Unsolvable, "{m:?} and {q:?}");
    }
}
