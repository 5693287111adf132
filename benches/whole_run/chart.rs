//! The plot of whole runs: seconds by number of states, one panel for each family.

use crate::Row;
use crate::families::FAMILIES;
use std::fmt::Write;
use std::path::Path;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 250.0;

/// Names, colours and dashes, so that curves can be distinguished without colour.
const CURVES: [(&str, &str, &str); 6] = [
    ("lgm", "#0072b2", ""),
    ("diffsol by hand", "#d55e00", "8 4"),
    ("lgm, portable", "#009e73", "2 3"),
    ("SciPy DOP853", "#cc79a7", "9 3 2 3"),
    ("SciPy LSODA", "#e69f00", "4 2 1 2 1 2"),
    ("CVODE Adams", "#555555", "12 3"),
];

fn seconds(row: &Row, curve: usize) -> Option<f64> {
    match curve {
        0 => Some(row.native),
        1 => Some(row.hand),
        2 => Some(row.portable),
        curve => row.others[curve - 3],
    }
}

/// Writes docs/simulation-speed.svg.
pub fn write(rows: &[Row]) {
    let mut out = String::new();
    let all = || {
        rows.iter()
            .flat_map(|row| (0..CURVES.len()).filter_map(|curve| seconds(row, curve)))
    };
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min).log10().floor(),
        all().fold(0.0, f64::max).log10().ceil(),
    );
    let sizes = || rows.iter().map(|row| row.states as f64);
    let (first, last) = (
        sizes().fold(f64::INFINITY, f64::min).log10(),
        sizes().fold(0.0, f64::max).log10(),
    );
    for (at, (name, colour, dashes)) in CURVES.iter().enumerate() {
        let x = 70.0 + 140.0 * at as f64;
        let _ = writeln!(
            out,
            "<path d=\"M{x:.0} 24h30\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
             <text x=\"{:.0}\" y=\"28\">{name}</text>",
            x + 36.0
        );
    }
    for (at, family) in FAMILIES.iter().enumerate() {
        let left = 70.0 + (WIDTH + 80.0) * (at % 2) as f64;
        let top = 70.0 + (HEIGHT + 80.0) * (at / 2) as f64;
        let (right, bottom) = (left + WIDTH, top + HEIGHT);
        let x = |states: f64| left + (states.log10() - first) / (last - first).max(1.0) * WIDTH;
        let y = |seconds: f64| bottom - (seconds.log10() - low) / (high - low).max(1.0) * HEIGHT;
        let _ = writeln!(
            out,
            "<text x=\"{left:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
            top - 10.0,
            family.name
        );
        for power in low as i32..=high as i32 {
            let y = y(10.0_f64.powi(power));
            let _ = writeln!(
                out,
                "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">10<tspan dy=\"-5\" font-size=\"9\">{power}</tspan></text>",
                left - 6.0,
                y + 4.0
            );
        }
        for power in first.ceil() as i32..=last.floor() as i32 {
            let x = x(10.0_f64.powi(power));
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {top:.1}V{bottom:.1}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">10<tspan dy=\"-5\" font-size=\"9\">{power}</tspan></text>",
                bottom + 18.0
            );
        }
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#333\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">states</text>\
             <text transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">CPU seconds of a run</text>",
            left + WIDTH / 2.0,
            bottom + 36.0,
            left - 40.0,
            top + HEIGHT / 2.0
        );
        for (curve, (_, colour, dashes)) in CURVES.iter().enumerate() {
            let own = rows.iter().filter(|row| row.family == family.name);
            let points: Vec<(f64, f64)> = own
                .filter_map(|row| Some((x(row.states as f64), y(seconds(row, curve)?))))
                .collect();
            if points.is_empty() {
                continue;
            }
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            let _ = writeln!(
                out,
                "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>",
                path.join("L")
            );
            for (x, y) in points {
                let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
        }
    }
    let picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 920 740\" width=\"920\" height=\"740\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"920\" height=\"740\" fill=\"white\"/>\n{out}</svg>\n"
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/simulation-speed.svg");
    if let Err(fault) = std::fs::write(&path, picture) {
        eprintln!("{}: {fault}", path.display());
    }
}
