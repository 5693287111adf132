//! Time and memory of one modal block by its numbers of modes and ports, driven by forces, driven by velocities, and
//! carrying masses: `cargo bench --bench modal`. docs/modal-size.md contains the table.
//!
//! Each size runs in a separate process, so that its memory peak is measured alone.

use lgm::emit::{MatrixOptions, TextOptions, text};
use lgm::equations::Options;
use lgm::source::{NoFiles, SourceMap};
use std::process::Command;
use std::time::Instant;

/// The elements at each port, by the name of the case.
const PARTS: [(&str, &str); 3] = [
    ("force", "ForceSource(u) gnd -> x[k]"),
    ("velocity", "VelocitySource(u) x[k] -> gnd"),
    ("mass", "Mass(2) x[k] -> gnd"),
];

const SIZES: [(usize, usize); 6] = [(250, 5), (500, 5), (1000, 5), (250, 50), (500, 50), (1000, 50)];

/// A damped steel bar with evenly spaced ports.
fn model(part: &str, modes: usize, ports: usize) -> String {
    let branches: Vec<String> = (1..=ports).map(|k| format!("x[{k}] -> gnd")).collect();
    format!(
        "import distributed;
model M {{
  input u = sin(2*pi*100*time);
  node x[{ports}] : translational;
  bar : FixedFreeBar(7850, 210e9, 0.01, 1, zeta = 0.01, modes = {modes}, at = list(k in 1:{ports}, (k - 0.3)/{ports})) {};
  for k in 1:{ports} {{ part[k] : {part}; }}
  push : ForceSource(u) gnd -> x[1];
  output v = velocity(bar, 1);
}}
",
        branches.join(", ")
    )
}

/// The memory peak of this process in MB, if the system reports it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

fn one(case: &str) {
    let words: Vec<&str> = case.split(' ').collect();
    let [kind, modes, ports] = words[..] else {
        panic!("a case is a kind and two numbers: {case}")
    };
    let (modes, ports) = (modes.parse().unwrap(), ports.parse().unwrap());
    let part = PARTS.iter().find(|part| part.0 == kind).unwrap().1;
    // A port with a prescribed velocity cannot have a prescribed force.
    let source = match kind {
        "velocity" => model(part, modes, ports).replace("  push : ForceSource(u) gnd -> x[1];\n", ""),
        _ => model(part, modes, ports),
    };
    let compiled = |blocks: bool| {
        let mut map = SourceMap::default();
        let root = map.add("modal.lgm", source.as_str(), None);
        let request = lgm::Request {
            equations: Options {
                symbolic: false,
                blocks,
                ..Options::default()
            },
            ..lgm::Request::default()
        };
        let start = Instant::now();
        let (system, found) = lgm::compile(&NoFiles, &mut map, root, &request);
        let system = system.unwrap_or_else(|| panic!("{found:?}"));
        (system, start.elapsed().as_secs_f64())
    };
    let (system, time) = compiled(false);
    let memory = peak().map_or("-".to_string(), |peak| format!("{peak:.0}"));
    let shape = match &system.matrices.numeric {
        Some(numeric) => format!("{} entries of A", numeric.a.stored()),
        None => format!("{} shared rows", system.equations.assignments.len()),
    };
    drop(system);
    let (system, _) = compiled(true);
    let matrices = MatrixOptions {
        numeric: true,
        blocks: true,
        ..MatrixOptions::default()
    };
    let options = TextOptions {
        matrices,
        ..TextOptions::default()
    };
    let lines = match &system.matrices.blocks {
        Some(_) => text(&system, &options).lines().count().to_string(),
        None => "-".to_string(),
    };
    println!("| {kind} | {modes} | {ports} | {time:.2} | {memory} | {shape} | {lines} |");
}

fn main() {
    if let Ok(case) = std::env::var("LGM_MODAL_CASE") {
        return one(&case);
    }
    println!("| ports | modes | number | compile [s] | peak [MB] | equations | lines of `--blocks` |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let program = std::env::current_exe().expect("this program has a path");
    for (kind, _) in PARTS {
        for (modes, ports) in SIZES {
            let mut child = Command::new(&program);
            child.env("LGM_MODAL_CASE", format!("{kind} {modes} {ports}"));
            let status = child.status().expect("this program runs again");
            assert!(status.success(), "{kind}, {modes} modes, {ports} ports");
        }
    }
}
