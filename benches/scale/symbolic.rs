//! Symbolic equations compared with the check of the same text: with shared parameters, and with a parameter for each
//! element.

use crate::measure::{Run, lgm};
use crate::models::{FAMILIES, Family};
use crate::report::{exponent, grouped, short};
use std::fmt::Write;
use std::path::Path;

/// The measured sizes.
const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// The families of [`FAMILIES`] that are measured here too, with shared values: their equations have one row for each
/// repeated pattern.
const SHARED: [&str; 3] = ["a", "b", "g"];

/// Families with a parameter for every element, written element by element.
const OWN: [Family; 3] = [
    Family {
        key: "a own",
        name: "RLC ladder, own parameters",
        unit: "section",
        text: ladder,
        aim: 1.1,
        largest: 100_000,
    },
    Family {
        key: "b own",
        name: "mass-spring-damper chain, own parameters",
        unit: "mass",
        text: chain,
        aim: 1.1,
        largest: 100_000,
    },
    Family {
        key: "h own",
        name: "chain of masses on cubic springs, own parameters",
        unit: "mass",
        text: cubic,
        aim: 1.1,
        largest: 10_000,
    },
];

fn ladder(n: usize) -> String {
    let mut text = String::from(
        "model Ladder {\n  input u [V] = 1;\n  node v0 : electrical;\n  src : VoltageSource(u) v0 -> gnd;\n",
    );
    for i in 1..=n {
        let (before, r, l, c) = (i - 1, 1 + i % 7, 2 + i % 5, 3 + i % 3);
        _ = writeln!(
            text,
            "  param R{i} = {r} [ohm]; param L{i} = {l} [mH]; param C{i} = {c} [uF];
  node m{i}, v{i} : electrical;
  r{i} : Resistor(R{i}) v{before} -> m{i};
  l{i} : Inductor(L{i}) m{i} -> v{i};
  c{i} : Capacitor(C{i}) v{i} -> gnd;"
        );
    }
    _ = writeln!(text, "  output y = across(c{n});\n}}");
    text
}

fn chain(n: usize) -> String {
    masses(n, "", |i| {
        format!("  param b{i} = 0.{} [N.s/m];\n  k{i} : Spring(k{i}_) ", 1 + i % 9)
    })
}

fn cubic(n: usize) -> String {
    let element = "element CubicSpring(k, a) : translational { through = k*int(across) + a*int(across)^3; }\n";
    masses(n, element, |i| {
        format!(
            "  param b{i} = 0.{0} [N.s/m]; param a{i} = {0} [N/m^3];\n  k{i} : CubicSpring(k{i}_, a{i}) ",
            1 + i % 9
        )
    })
}

/// A chain of masses with a damper next to each spring, without loops.
fn masses(n: usize, element: &str, spring: impl Fn(usize) -> String) -> String {
    let mut text = format!(
        "{element}model Chain {{\n  input F [N] = 1;\n  node x1 : translational;\n  push : ForceSource(F) gnd -> x1;\n"
    );
    for i in 1..=n {
        let next = if i < n {
            format!("x{}", i + 1)
        } else {
            "gnd".to_string()
        };
        if i < n {
            _ = writeln!(text, "  node {next} : translational;");
        }
        _ = writeln!(
            text,
            "  param m{i} = {} [kg]; param k{i}_ = {} [N/m];
  mass{i} : Mass(m{i}) x{i} -> gnd;
{}x{i} -> {next};
  d{i} : Damper(b{i}) x{i} -> {next};",
            1 + i % 4,
            100 + i % 11,
            spring(i)
        );
    }
    _ = writeln!(text, "  output y = across(mass1);\n}}");
    text
}

/// The measurements of one text.
struct Measured {
    family: &'static Family,
    size: usize,
    check: Run,
    equations: Run,
}

/// The minimum over n runs.
fn least(repeat: usize, arguments: &[&str]) -> Result<Run, String> {
    let mut best = lgm(arguments)?;
    for _ in 1..repeat {
        let run = lgm(arguments)?;
        if run.seconds < best.seconds {
            best = run;
        }
    }
    Ok(best)
}

/// Measures everything up to a size, and returns the tables.
pub fn measure(folder: &Path, max: usize, repeat: usize) -> Result<String, String> {
    let shared = FAMILIES.iter().filter(|family| SHARED.contains(&family.key));
    let mut all: Vec<Measured> = Vec::new();
    for family in shared.chain(&OWN) {
        for size in SIZES.into_iter().filter(|size| *size <= max.min(family.largest)) {
            let path = folder.join("model.lgm");
            std::fs::write(&path, (family.text)(size)).map_err(|fault| fault.to_string())?;
            let file = path.to_str().ok_or("the temporary folder has no name in Unicode")?;
            let check = least(repeat, &["check", file])?;
            let mut arguments = vec!["equations", "--format", "json", file];
            if SHARED.contains(&family.key) {
                arguments.push("--patterns");
            }
            let equations = least(repeat, &arguments)?;
            eprintln!(
                "{} N = {}: check {} s, equations {} s",
                family.name,
                grouped(size),
                short(check.seconds),
                short(equations.seconds)
            );
            all.push(Measured {
                family,
                size,
                check,
                equations,
            });
        }
    }
    Ok(tables(&all))
}

fn tables(all: &[Measured]) -> String {
    let mut text = String::from(
        "| | family | N | `check`: s | MB | `equations`: s | MB | ratio |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for each in all {
        _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} | {} | {:.0} | {:.1} |",
            each.family.key,
            each.family.name,
            grouped(each.size),
            short(each.check.seconds),
            each.check.peak as f64 / 1e6,
            short(each.equations.seconds),
            each.equations.peak as f64 / 1e6,
            each.equations.seconds / each.check.seconds
        );
    }
    text.push_str("\n| | growth of `check` | growth of `equations` |\n| --- | ---: | ---: |\n");
    let mut keys: Vec<&str> = all.iter().map(|each| each.family.key).collect();
    keys.dedup();
    for key in keys {
        let of = |seconds: &dyn Fn(&Measured) -> f64| {
            let large = all.iter().filter(|each| each.family.key == key && each.size >= 1_000);
            let pairs: Vec<(f64, f64)> = large.map(|each| (each.size as f64, seconds(each))).collect();
            exponent(&pairs).map_or("-".to_string(), |value| format!("{value:.2}"))
        };
        let (check, equations) = (of(&|each| each.check.seconds), of(&|each| each.equations.seconds));
        _ = writeln!(text, "| {key} | {check} | {equations} |");
    }
    text
}
