//! Figures as text: progress lines, tables for docs/scale.md.

use crate::models::Family;
use crate::stages::Stage;
use crate::{Command, Point};
use std::fmt::Write;
use std::path::Path;

/// One measurement as a line.
pub fn line(point: &Point) -> String {
    let (least, middle) = point.seconds();
    format!(
        "{:3} {:42} N = {:>9}  {:9}  {:>8} s (middle {:>8})  {:>7.0} MB  {:6.2} us and {:6.0} bytes a {}",
        point.family.key,
        point.family.name,
        grouped(point.size),
        point.command.name(),
        short(least),
        short(middle),
        point.peak() / 1e6,
        1e6 * least / point.size as f64,
        point.peak() / point.size as f64,
        point.family.unit,
    )
}

/// The slope of the least-squares line through logarithms; none for fewer than two points.
pub fn exponent(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 2 {
        return None;
    }
    let logs: Vec<(f64, f64)> = pairs.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = logs
        .iter()
        .fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (x, y) in &logs {
        covariance += (x - mean.0) * (y - mean.1);
        variance += (x - mean.0).powi(2);
    }
    Some(covariance / variance)
}

/// The measured families, in order.
pub fn families(points: &[Point]) -> Vec<&'static Family> {
    let mut list: Vec<&'static Family> = Vec::new();
    for point in points {
        if !list.iter().any(|family| family.key == point.family.key) {
            list.push(point.family);
        }
    }
    list
}

/// Points of one family and command, by size.
pub fn of<'a>(points: &'a [Point], family: &Family, command: Command) -> Vec<&'a Point> {
    let is_one = |point: &&Point| point.family.key == family.key && point.command == command;
    points.iter().filter(is_one).collect()
}

/// Time from N = 1,000 on; memory from 10,000 on, where the program's base memory is negligible.
fn growth(points: &[&Point]) -> (Option<f64>, Option<f64>) {
    let from = |least: usize, value: &dyn Fn(&Point) -> f64| {
        let pairs = points.iter().filter(|point| point.size >= least);
        exponent(&pairs.map(|point| (point.size as f64, value(point))).collect::<Vec<_>>())
    };
    (from(1_000, &|point| point.seconds().0), from(10_000, &Point::peak))
}

fn shown(exponent: Option<f64>) -> String {
    exponent.map_or("-".to_string(), |value| format!("{value:.2}"))
}

/// The growth exponents as a table.
pub fn exponents(points: &[Point]) -> String {
    let mut text = String::from(
        "| | family | aim | time of `check` | time of `equations` | memory of `equations` |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for family in families(points) {
        let (check, _) = growth(&of(points, family, Command::Check));
        let (equations, memory) = growth(&of(points, family, Command::Equations));
        let line = format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            family.key,
            family.name,
            family.aim,
            shown(check),
            shown(equations),
            shown(memory),
        );
        text.push_str(&line);
    }
    text
}

/// All measurements as a table.
fn table(points: &[Point]) -> String {
    let mut text = String::from(
        "| | N | `check`: s | MB | `equations`: s | middle | MB | us a section | bytes a section |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for family in families(points) {
        let checks = of(points, family, Command::Check);
        for (check, point) in checks.into_iter().zip(of(points, family, Command::Equations)) {
            let (least, middle) = point.seconds();
            let line = format!(
                "| {} | {} | {} | {:.0} | {} | {} | {:.0} | {:.1} | {:.0} |\n",
                family.key,
                grouped(point.size),
                short(check.seconds().0),
                check.peak() / 1e6,
                short(least),
                short(middle),
                point.peak() / 1e6,
                1e6 * least / point.size as f64,
                point.peak() / point.size as f64,
            );
            text.push_str(&line);
        }
    }
    text
}

/// The stages of one compilation as a table.
pub fn stages(size: usize, bytes: u64, list: &[Stage]) -> String {
    let total: f64 = list.iter().map(|stage| stage.1).sum();
    let mut text = format!(
        "The ladder of N = {}, {} MB of JSON:\n\n| stage | s | share | MB resident after it |\n| --- | ---: | ---: | ---: |\n",
        grouped(size),
        bytes / 1_000_000
    );
    for (name, seconds, memory) in list {
        let share = 100.0 * seconds / total;
        writeln!(
            text,
            "| {name} | {} | {share:.0} % | {} |",
            short(*seconds),
            memory / 1_000_000
        )
        .expect("a string takes all that is written");
    }
    writeln!(text, "| all | {} | | |", short(total)).expect("a string takes all that is written");
    text
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Two or three significant digits.
pub fn short(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.0995 => format!("{seconds:.3}"),
        _ if seconds < 9.95 => format!("{seconds:.2}"),
        _ => format!("{seconds:.1}"),
    }
}

/// The processor, and its number of cores.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let name = name.map_or("a processor that does not say its name", |pair| pair.1.trim());
    format!("{name}, {count} processors, {}", std::env::consts::OS)
}

/// The marks around the figures in docs/scale.md; text outside of them is handwritten.
const FIGURES: (&str, &str) = ("<!-- figures -->\n", "<!-- end of figures -->\n");

/// The marks for symbolic equations.
pub const SYMBOLIC: (&str, &str) = ("<!-- symbolic -->\n", "<!-- end of symbolic -->\n");

/// Replaces the tables of the page.
pub fn write(page: &Path, points: &[Point]) -> Result<(), String> {
    let tables = format!("{}\n{}", exponents(points), table(points));
    write_between(page, FIGURES, &tables)
}

/// Replaces the text between two marks by tables and the machine they were measured on.
pub fn write_between(page: &Path, marks: (&str, &str), tables: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(page).map_err(|fault| fault.to_string())?;
    let before = text.split_once(marks.0).ok_or("the page has no place for figures")?.0;
    let after = text.split_once(marks.1).ok_or("the page has no end of figures")?.1;
    let option = if marks == SYMBOLIC { "--symbolic " } else { "" };
    let text = format!(
        "{before}{}Measured on: {}. `cargo bench --bench scale -- {option}--write`, the best of several repetitions, except in columns named `middle` (median).\n\n{tables}{}{after}",
        marks.0,
        machine(),
        marks.1
    );
    std::fs::write(page, text).map_err(|fault| fault.to_string())
}
