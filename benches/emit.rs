//! Emitted C: time and memory from the text to the C files, gcc's time, and the right-hand side compared with a
//! handwritten loop.
//!
//! `cargo bench --bench emit` prints the tables of docs/emit-speed.md; `-- --write` writes that page. Numbers of states
//! are optional arguments: `-- 100 1000`. Times are processor time; those of right-hand sides are the best of 200 short
//! alternating rounds.

#[path = "families.rs"]
mod families;
#[path = "scale/measure.rs"]
#[allow(dead_code)] // Stages are measured elsewhere.
mod measure;

use families::{FAMILIES, Family};
use measure::{Run, lgm, run};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Compiler flags of right-hand sides.
const FLAGS: [&[&str]; 2] = [&["-O2"], &["-O3", "-march=native"]];

/// One model.
struct Point {
    family: &'static str,
    states: usize,
    emit: Run,
    /// Bytes of the model's C file.
    size: u64,
    gcc: Run,
    /// For each set of flags, nanoseconds per state: handwritten, emitted.
    speed: Vec<[f64; 2]>,
}

/// The best of several runs, to exclude other load on the machine.
fn best(count: usize, mut once: impl FnMut() -> Result<Run, String>) -> Result<Run, String> {
    let mut best = once()?;
    for _ in 1..count {
        let run = once()?;
        best.seconds = best.seconds.min(run.seconds);
        best.peak = best.peak.min(run.peak);
    }
    Ok(best)
}

fn measure(family: &Family, states: usize, folder: &Path) -> Result<Point, String> {
    let text = (family.text)(states / 2);
    let after = text.split("\nmodel ").nth(1).expect("there is a model");
    let name = after.split(' ').next().expect("it has a name");
    let (file, code) = (folder.join("model.lgm"), folder.join("code"));
    fs::write(&file, &text).map_err(|fault| fault.to_string())?;
    let path = |path: &Path| path.display().to_string();
    let rounds = if states > 20_000 { 1 } else { 3 };
    let emit = best(rounds, || {
        lgm(&["emit", &path(&file), "--target", "c", "-o", &path(&code), "--force"])
    })?;
    let (source, object) = (code.join(format!("{name}.c")), folder.join("model.o"));
    let size = fs::metadata(&source).map_err(|fault| fault.to_string())?.len();
    let compiler = Path::new("gcc");
    let compile = |flags: &[&str]| {
        let (source, object) = (path(&source), path(&object));
        run(compiler, &[flags, &["-std=c99", "-c", &source, "-o", &object]].concat())
    };
    let gcc = best(rounds, || compile(FLAGS[0]))?;
    let mut speed = Vec::new();
    for flags in FLAGS {
        compile(flags)?;
        speed.push(right_sides(family, name, states, flags, &code, &object)?);
    }
    Ok(Point {
        family: family.name,
        states,
        emit,
        size,
        gcc,
        speed,
    })
}

/// Nanoseconds per state of the right-hand sides; both of [`Point::speed`].
fn right_sides(
    family: &Family,
    name: &str,
    states: usize,
    flags: &[&str],
    code: &Path,
    object: &Path,
) -> Result<[f64; 2], String> {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    let (hand, program) = (object.with_extension("hand.o"), object.with_extension("program"));
    let status = Command::new("gcc")
        .args(flags)
        .args(["-DWITHOUT_MAIN", "-c"])
        .arg(benches.join("rhs.c"))
        .arg("-o")
        .arg(&hand)
        .status();
    let linked = Command::new("gcc")
        .args(flags)
        .arg(format!("-DMODEL={name}"))
        .arg(format!("-DHEADER=\"{name}.h\""))
        .arg(format!("-DFAMILY=\"{}\"", family.name))
        .arg(format!("-DSTATES={states}L"))
        .arg("-I")
        .arg(code)
        .arg(benches.join("emit.c"))
        .args([object, &hand])
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .status();
    if !status.is_ok_and(|status| status.success()) || !linked.is_ok_and(|status| status.success()) {
        return Err(format!("{}: gcc fails", family.name));
    }
    let calls = (200_000 / states).max(2).to_string();
    let output = Command::new(program)
        .arg(calls)
        .output()
        .map_err(|fault| fault.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [hand, emitted, difference] if difference <= 1e-12 => Ok([hand, emitted].map(|time| time / states as f64)),
        _ => Err(format!("{} of {states} states: `{}`", family.name, text.trim())),
    }
}

/// The growth exponent from one point to the next.
fn exponent(before: Option<&Point>, here: &Point, of: impl Fn(&Point) -> f64) -> String {
    let Some(before) = before.filter(|before| before.family == here.family) else {
        return String::new();
    };
    let (grown, larger) = (of(here) / of(before), here.states as f64 / before.states as f64);
    format!("{:.2}", grown.ln() / larger.ln())
}

const HEAD: &str = "# Speed of emitted C: emission, compilation, execution

All figures are measured; `cargo bench --bench emit -- --write` writes this page. Times are the processor time of one process
(the best of three up to 20,000 states), and memory is its largest resident set. The families are those of
docs/simulation-speed.md: unmodified models in the language.
";

const SIDES: &str = "
## Right-hand sides

The tables show nanoseconds per state per right-hand side in cache-warm loops, the best of 200 alternating rounds. `by hand` is
the loops of `benches/rhs.c`, with separate ends and precomputed reciprocals, compiled with the same flags. `NAME_rhs` computes
the same values.
";

fn report(points: &[Point]) -> String {
    let mut text = HEAD.to_string();
    text.push_str("\n## From the text to C, and gcc -O2 on it\n\n");
    text.push_str("| family | states | text to C (s) | exponent | memory (MB) | C (MB) | gcc -O2 (s) | exponent | memory of gcc (MB) |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (at, point) in points.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &points[at]);
        let _ = writeln!(
            text,
            "| {} | {} | {:.3} | {} | {:.0} | {:.2} | {:.3} | {} | {:.0} |",
            point.family,
            point.states,
            point.emit.seconds,
            exponent(before, point, |point| point.emit.seconds),
            point.emit.peak as f64 / 1e6,
            point.size as f64 / 1e6,
            point.gcc.seconds,
            exponent(before, point, |point| point.gcc.seconds),
            point.gcc.peak as f64 / 1e6,
        );
    }
    text.push_str(SIDES);
    for (set, flags) in FLAGS.iter().enumerate() {
        let _ = write!(
            text,
            "\n`gcc {}`:\n\n| family | states | by hand | emitted | emitted / by hand |\n\
             | --- | ---: | ---: | ---: | ---: |\n",
            flags.join(" ")
        );
        for point in points {
            let [hand, emitted] = point.speed[set];
            let _ = writeln!(
                text,
                "| {} | {} | {hand:.3} | {emitted:.3} | {:.2} |",
                point.family,
                point.states,
                emitted / hand
            );
        }
    }
    text
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let asked: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let sizes = if asked.is_empty() {
        vec![100, 1_000, 10_000, 100_000]
    } else {
        asked
    };
    let folder = tempfile::tempdir().map_err(|fault| fault.to_string())?;
    let mut points = Vec::new();
    for family in &FAMILIES {
        for states in &sizes {
            // A failure does not discard earlier measurements.
            match measure(family, *states, folder.path()) {
                Ok(point) => points.push(point),
                Err(fault) => eprintln!("{fault}"),
            }
        }
    }
    let page = report(&points);
    print!("{page}");
    if words.iter().any(|word| word == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/emit-speed.md");
        fs::write(path, page).map_err(|fault| fault.to_string())?;
    }
    Ok(())
}
