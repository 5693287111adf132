//! `int`, `der`, `if`, indices and functions of time at every position of a model: equations that hold or an error, and
//! never a panic.

use crate::language::format::checks;
use crate::support::command;
use checks::places::{EXPRESSIONS, PLACES, chosen, model};
use command::{ends_with, lgm, out};
use lgm::diagnostic::has_errors;
use lgm::source::{NoFiles, SourceMap};
use std::fs;
use std::panic::catch_unwind;

/// The stack size of the command line's worker thread (`src/cli/mod.rs`).
const STACK: usize = 256 << 20;

/// The expressions that break the check of a model when inserted at one position, and the number that have equations
/// there.
fn tried(place: &'static str) -> (Vec<&'static str>, usize) {
    let text = |expression: &str| model(&place.replace('@', &format!("w*{expression}")));
    let has_equations = |expression: &&str| {
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", text(expression), None);
        !has_errors(&lgm::check(&NoFiles, &mut map, root, &lgm::Request::default()))
    };
    let is_broken = |expression: &&str| catch_unwind(|| checks::pipeline(&text(expression))).is_err();
    let broken: Vec<&str> = EXPRESSIONS.into_iter().filter(is_broken).collect();
    let count = match broken.is_empty() {
        true => EXPRESSIONS.into_iter().filter(has_equations).count(),
        false => 0,
    };
    (broken, count)
}

/// Returns true if an expression at a position must be constant, or may depend only on parameters and time.
fn is_narrow(place: &str) -> bool {
    let narrow = ["param", "const", "input", "experiment", "d : Mass"];
    narrow.iter().any(|start| place.starts_with(start)) || place.contains("start = @")
}

#[test]
fn every_place_takes_or_refuses_every_expression() {
    for place in PLACES {
        let work = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || tried(place));
        let (broken, count) = work.unwrap().join().unwrap();
        assert!(broken.is_empty(), "`{place}` breaks with {broken:?}");
        assert!(
            is_narrow(place) || count > 3 * EXPRESSIONS.len() / 4,
            "`{place}` takes {count} alone"
        );
    }
}

#[test]
fn bytes_choose_models() {
    let mut broken = Vec::new();
    for seed in 0..60u8 {
        let bytes = (0..12u8).map(|at| seed.wrapping_mul(37).wrapping_add(at.wrapping_mul(at).wrapping_mul(11)) % 128);
        let text = String::from_utf8(bytes.collect()).unwrap();
        let model = chosen(&text);
        let work = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || checks::places(&text));
        if work.unwrap().join().is_err() {
            broken.push(model);
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The samples of a run, without the header.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let run = lgm(folder.path(), &["simulate", "m.lgm", "--rtol", "1e-9"]);
    ends_with(&run, 0);
    let rows = out(&run);
    let number = |row: &str| row.split(',').map(|word| word.parse().unwrap()).collect();
    rows.lines().skip(1).map(number).collect()
}

/// `v' = 1` until the distance is 0.1 m, at `t = sqrt(0.2)`; then `v' = 1 - v`.
#[test]
fn an_integral_of_another_element_decides_a_condition_of_a_law() {
    let text = "element Drag(b, y) : translational { through = b*(if y > 0.1 then across else 0); }
model H {
  node x : translational;
  push : ForceSource(1) gnd -> x;
  m : Mass(1) x -> gnd;
  d : Drag(1, int(across(m))) x -> gnd;
  output v = across(m);
  experiment { stop = 1 [s]; points = 11; }
}";
    let switch = 0.2f64.sqrt();
    for row in rows(text) {
        let expected = match row[0] < switch {
            true => row[0],
            false => 1.0 - (1.0 - switch) * (switch - row[0]).exp(),
        };
        assert!(
            (row[1] - expected).abs() < 1e-7,
            "{} is not {expected} at {}",
            row[1],
            row[0]
        );
    }
}

/// The spring starts at 0.5 m, and so does its integral in a law: initially the damper's argument is `1 + 0.5`.
#[test]
fn an_integral_in_a_nonlinear_law_counts_from_the_start_of_its_storage() {
    let text = "element Cubic(a) : translational { through = a*across^3; }
model S {
  node x : translational;
  m : Mass(1) x -> gnd, start = 1;
  k : Spring(4) x -> gnd, start = 2;
  param w = 1;  // of no known unit
  d : Cubic(1 + w*int(across(k))) x -> gnd;
  output f = through(d);
  experiment { stop = 1 [s]; points = 3; }
}";
    assert!((rows(text)[0][1] - 1.5).abs() < 1e-12, "{:?}", rows(text)[0]);
}
