//! Right-hand sides in loops: kernels, and the handwritten C of `rhs.c`.

use lgm::kernels::{Arguments, Kernel};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The measured flags of the C compiler.
pub const FLAGS: [&[&str]; 2] = [&["-O2", "-march=native"], &["-O3", "-march=native"]];

/// The handwritten loops, compiled once for each set of flags.
pub fn compile_c(folder: &Path, flags: &[&str]) -> PathBuf {
    let program = folder.join(format!("rhs{}", flags.concat()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/rhs.c");
    let status = Command::new("cc")
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg("-lm")
        .status();
    assert!(status.expect("a C compiler named cc").success());
    program
}

/// Nanoseconds per call, the best of nine rounds, and the checksum, of a family with n cells.
pub fn run_c(program: &Path, family: &str, n: usize, calls: usize) -> (f64, f64) {
    let output = Command::new(program)
        .args([family, &n.to_string(), &calls.to_string()])
        .output()
        .expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("it prints numbers");
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    (numbers[0], numbers[1])
}

/// Nanoseconds per call, the best of nine rounds, and the checksum.
pub fn run_kernel(kernel: &Kernel, at: &Arguments<'_>, calls: usize) -> (f64, f64) {
    let mut scratch = vec![0.0; kernel.scratch()];
    let mut out = vec![0.0; kernel.outputs()];
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let begun = Instant::now();
        for _ in 0..calls {
            kernel.call(std::hint::black_box(at), &mut scratch, std::hint::black_box(&mut out));
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / calls as f64);
    }
    let sum = out
        .iter()
        .enumerate()
        .map(|(k, value)| value * (0.7 * k as f64).cos())
        .sum();
    (best, sum)
}
