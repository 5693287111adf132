//! Linear analysis by model size: `cargo bench --bench analysis [-- --largest N]`.
//!
//! The analyses are symbolic transfer functions of ladders and bridges in cascade, with every parameter a symbol; then
//! poles near a frequency and reduced models of chains of masses. Times are those of the analysis alone, in seconds,
//! without compilation.

use lgm::analysis::{
    ModeRequest, MomentRequest, ReductionMethod, match_moments, modes, numeric_transfer, reduce_order,
    symbolic_transfer, with_storage_outputs,
};
use lgm::equations::{Options, StateRequest, StateSystem, formulate_with_time};
use lgm::source::{NoFiles, SourceMap};
use lgm::{Compilation, Request, Whole};
use std::fmt::Write;
use std::time::Instant;

/// Sections of ladders, and bridges in cascade.
const LADDERS: [usize; 6] = [5, 10, 15, 20, 30, 40];
const BRIDGES: [usize; 4] = [1, 2, 3, 4];

/// Masses of chains, of two states each.
const CHAINS: [usize; 5] = [500, 2_000, 5_000, 20_000, 50_000];

/// Alternating inductors and capacitors, each with a separate parameter.
fn ladder(sections: usize) -> String {
    format!(
        "model Ladder {{
  const N = {sections};
  param L = list(i in 1:N, 0.5 + 0.01*i);
  param C = list(i in 1:N, 0.25 + 0.02*i);
  param R = 3;
  input u = 1;
  node v[N + 1] : electrical;
  src : VoltageSource(u) v[1] -> gnd;
  for i in 1:N {{ l[i] : Inductor(L[i]) v[i] -> v[i + 1]; c[i] : Capacitor(C[i]) v[i + 1] -> gnd; }}
  load : Resistor(R) v[N + 1] -> gnd;
  output y = across(load);
}}"
    )
}

/// Bridges of four resistors with a capacitor across, in cascade.
fn bridges(count: usize) -> String {
    let mut text = String::from("model Bridges {\n  input u = 1;\n  node top[");
    let _ = write!(
        text,
        "{}] : electrical;\n  node left[{count}], right[{count}] : electrical;\n",
        count + 1
    );
    for k in 1..=count {
        for (name, value) in [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0), ("q", 0.5), ("r", 0.7)] {
            let _ = writeln!(text, "  param {name}{k} = {};", value + 0.1 * k as f64);
        }
        let _ = writeln!(
            text,
            "  ra{k} : Resistor(a{k}) top[{k}] -> left[{k}];  rb{k} : Resistor(b{k}) left[{k}] -> gnd;
  rc{k} : Resistor(c{k}) top[{k}] -> right[{k}];  rd{k} : Resistor(d{k}) right[{k}] -> gnd;
  cq{k} : Capacitor(q{k}) left[{k}] -> right[{k}];  rr{k} : Resistor(r{k}) right[{k}] -> top[{}];",
            k + 1
        );
    }
    let _ = writeln!(
        text,
        "  param e = 0.9;\n  src : VoltageSource(u) top[1] -> gnd;\n  load : Capacitor(e) top[{}] -> gnd;\n  output y = across(load);\n}}",
        count + 1
    );
    text
}

/// Masses between springs and dampers, with both ends fixed.
fn chain(masses: usize) -> String {
    format!(
        "model Chain {{
  const N = {masses};
  input F = 0;
  node x[N] : translational;
  push : ForceSource(F) gnd -> x[1];
  first : Spring(100) gnd -> x[1];
  last : Spring(100) x[N] -> gnd;
  for i in 1:N {{ m[i] : Mass(1) x[i] -> gnd; b[i] : Damper(0.02) x[i] -> gnd; }}
  for i in 1:N-1 {{ k[i] : Spring(100) x[i] -> x[i + 1]; }}
  output v = across(m[1]);
}}"
    )
}

fn compiled(text: &str, symbolic: bool) -> Whole {
    let mut map = SourceMap::default();
    let root = map.add("bench.lgm", text, None);
    let request = Request {
        equations: Options {
            symbolic,
            readable: false,
            ..Options::default()
        },
        ..Request::default()
    };
    let (_, whole) = Compilation::new(&NoFiles, map, root, request).into_parts();
    whole.unwrap_or_else(|| panic!("a model of the benchmark does not compile:\n{text}"))
}

fn seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let found = work();
    (found, began.elapsed().as_secs_f64())
}

fn transfers(name: &str, size: usize, text: &str) {
    let whole = compiled(text, true);
    let symbols: usize = whole
        .system
        .parameters
        .iter()
        .map(|parameter| parameter.entries.len())
        .sum();
    let (found, time) = seconds(|| symbolic_transfer(&whole.system, &[0], &[0]));
    let terms = match &found {
        None => "too long".to_string(),
        Some(found) => {
            let one = &found.functions[0];
            let roots: Vec<_> = one.numerator.iter().chain(&one.denominator).copied().collect();
            format!(
                "{} letters",
                roots
                    .iter()
                    .map(|id| lgm::expr::text(&found.exprs, *id).len())
                    .sum::<usize>()
            )
        }
    };
    let (_, numbers) = seconds(|| numeric_transfer(&whole.system, &[0], &[0]));
    let states = whole.system.states.len();
    println!("| {name} | {size} | {states} | {symbols} | {time:.3} | {terms} | {numbers:.3} |");
}

/// The equations in power variables, with outputs for all storage.
fn with_storage(whole: &Whole) -> (StateSystem, Vec<lgm::analysis::StorageOutputs>) {
    let (model, storage) = with_storage_outputs(&whole.model);
    let options = Options {
        states: StateRequest::Power,
        symbolic: false,
        readable: false,
        ..Options::default()
    };
    let (made, _) = formulate_with_time(&model, &whole.graph, &options);
    (made.expect("the model has equations").0, storage)
}

fn chains(masses: usize) {
    let whole = compiled(&chain(masses), false);
    let states = whole.system.states.len();
    let near = ModeRequest {
        near: Some((7.3, 8)),
        ..ModeRequest::default()
    };
    let (poles, time) = seconds(|| modes(&whole.system, &near, &mut Vec::new()));
    let poles = poles.map_or(0, |poles| poles.len());
    let (system, storage) = with_storage(&whole);
    let request = MomentRequest {
        order: 20,
        omega: &[1.0, 7.3],
        outputs: 1,
        storage: &storage,
        keeps_second_order: false,
    };
    let (reduced, reduction) = seconds(|| match_moments(&system, &request));
    let worst = reduced.map_or(f64::NAN, |found| {
        found.errors.iter().map(|error| error.1).fold(0.0, f64::max)
    });
    println!("| {states} | {time:.2} | {poles} | {reduction:.2} | {worst:.1e} |");
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let largest = match words.as_slice() {
        [name, value] if name == "--largest" => value.parse().expect("a number of masses"),
        _ => usize::MAX,
    };
    println!("| model | size | states | symbols | transfer [s] | result | in numbers [s] |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for sections in LADDERS {
        transfers("ladder", sections, &ladder(sections));
    }
    for count in BRIDGES {
        transfers("bridges", count, &bridges(count));
    }
    let whole = compiled(&chain(100), false);
    let (_, time) = seconds(|| reduce_order(&whole.system, 20, ReductionMethod::Balanced, false));
    println!("\nbalanced truncation of 200 states: {time:.2} s\n");
    println!("| states | 8 poles near 7.3 rad/s [s] | found | moments, order 20 [s] | largest error |");
    println!("| --- | --- | --- | --- | --- |");
    for masses in CHAINS.into_iter().filter(|masses| *masses <= largest) {
        chains(masses);
    }
}
