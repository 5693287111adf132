//! The achieved error of every method by requested tolerance and by work: tables and a plot for `docs/`.
//!
//! Run it with `cargo bench --bench work_precision`. Work is the number of evaluations of right sides and Jacobians
//! times the number of states, not time, so that the figures of a build do not depend on the machine.

use lgm::simulate::Method;
use std::fmt::Write;
use std::path::Path;

#[path = "../tests/runs/simulate/problems.rs"]
mod problems;
#[path = "../tests/runs/simulate/shapes.rs"]
mod shapes;

use problems::{Achieved, Problem, oscillator, rod};

/// One method on one problem.
struct Curve {
    method: Method,
    points: Vec<Achieved>,
}

fn measured(problem: &Problem, method: Method, tightest: i32) -> Curve {
    let system = problem.compile();
    let decades = 3..=tightest;
    let points = decades.map(|decade| problem.run(&system, method, 10.0_f64.powi(-decade)));
    Curve {
        method,
        points: points.collect(),
    }
}

/// A short form of a power of ten.
fn decade(value: f64) -> String {
    format!("{value:.0e}")
}

fn table(out: &mut String, problem: &Problem, curves: &[Curve]) {
    let _ = writeln!(out, "\n## {}\n", problem.title);
    let _ = writeln!(out, "| method | requested | achieved | steps | work |");
    let _ = writeln!(out, "| --- | --- | --- | --- | --- |");
    for curve in curves {
        for point in &curve.points {
            let _ = writeln!(
                out,
                "| {} | {} | {:.1e} | {} | {} |",
                curve.method.word(),
                decade(point.rtol),
                point.error,
                point.steps,
                point.work
            );
        }
    }
}

/// Dashes and markers of the curves, so that they can be distinguished without colour.
const STYLES: [(&str, &str, &str); 4] = [
    ("#0072b2", "", "circle"),
    ("#d55e00", "7 4", "square"),
    ("#009e73", "2 3", "diamond"),
    ("#cc79a7", "9 3 2 3", "triangle"),
];

fn mark(out: &mut String, kind: &str, colour: &str, x: f64, y: f64) {
    let shape = match kind {
        "circle" => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\""),
        "square" => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"",
            x - 3.5,
            y - 3.5
        ),
        "diamond" => format!("<path d=\"M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z\"", y - 4.5),
        _ => format!("<path d=\"M{x:.1} {:.1}l4.5 8l-9 0z\"", y - 5.0),
    };
    let _ = writeln!(out, "{shape} fill=\"white\" stroke=\"{colour}\" stroke-width=\"1.6\"/>");
}

/// One diagram: the achieved error by the abscissa that `across` returns, both logarithmic.
struct Diagram<'a> {
    left: f64,
    top: f64,
    title: &'a str,
    label: &'a str,
    across: fn(&Achieved) -> f64,
    /// True to draw the line "achieved equals requested".
    diagonal: bool,
}

impl Diagram<'_> {
    const WIDTH: f64 = 380.0;
    const HEIGHT: f64 = 280.0;

    fn draw(&self, out: &mut String, curves: &[Curve]) {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let ends = |value: &dyn Fn(&Achieved) -> f64| {
            let low = points().map(value).fold(f64::INFINITY, f64::min).log10().floor();
            let high = points().map(value).fold(0.0, f64::max).log10().ceil();
            (low, high.max(low + 1.0))
        };
        let (x0, x1) = ends(&self.across);
        let (y0, y1) = ends(&|point| point.error);
        let place_x = |value: f64| self.left + (value.log10() - x0) / (x1 - x0) * Self::WIDTH;
        let place_y = |value: f64| self.top + (y1 - value.log10()) / (y1 - y0) * Self::HEIGHT;
        let (right, bottom) = (self.left + Self::WIDTH, self.top + Self::HEIGHT);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
            self.left,
            self.top - 14.0,
            self.title
        );
        for power in x0 as i32..=x1 as i32 {
            let x = place_x(10.0_f64.powi(power));
            let _ = writeln!(out, "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"#ddd\"/>", self.top);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">10<tspan dy=\"-5\" font-size=\"9\">{power}</tspan></text>",
                bottom + 18.0
            );
        }
        let every = if y1 - y0 > 8.0 { 2 } else { 1 };
        for power in (y0 as i32..=y1 as i32).step_by(every) {
            let y = place_y(10.0_f64.powi(power));
            let _ = writeln!(out, "<path d=\"M{:.1} {y:.1}H{right:.1}\" stroke=\"#ddd\"/>", self.left);
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">10<tspan dy=\"-5\" font-size=\"9\">{power}</tspan></text>",
                self.left - 6.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333\"/>",
            self.left,
            self.top,
            Self::WIDTH,
            Self::HEIGHT
        );
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            self.left + Self::WIDTH / 2.0,
            bottom + 40.0,
            self.label
        );
        let _ = writeln!(
            out,
            "<text transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">achieved error, relative</text>",
            self.left - 44.0,
            self.top + Self::HEIGHT / 2.0
        );
        if self.diagonal {
            let low = 10.0_f64.powf(x0.max(y0));
            let high = 10.0_f64.powf(x1.min(y1));
            let _ = writeln!(
                out,
                "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#888\" stroke-width=\"1\"/>",
                place_x(low),
                place_y(low),
                place_x(high),
                place_y(high)
            );
        }
        for (curve, (colour, dashes, kind)) in curves.iter().zip(STYLES) {
            let path: Vec<String> = curve
                .points
                .iter()
                .map(|point| format!("{:.1} {:.1}", place_x((self.across)(point)), place_y(point.error)))
                .collect();
            let _ = writeln!(
                out,
                "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\"/>",
                path.join("L")
            );
            for point in &curve.points {
                mark(out, kind, colour, place_x((self.across)(point)), place_y(point.error));
            }
        }
    }
}

fn legend(out: &mut String, curves: &[Curve], left: f64, top: f64) {
    for (at, (curve, (colour, dashes, kind))) in curves.iter().zip(STYLES).enumerate() {
        let x = left + 120.0 * at as f64;
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {top:.1}h36\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\"/>"
        );
        mark(out, kind, colour, x + 18.0, top);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 44.0,
            top + 4.0,
            curve.method.word()
        );
    }
}

fn main() {
    let mut text = String::from(
        "# Work and precision\n\nThe tables compare the requested relative tolerance of `lgm simulate` with the achieved error \
         against exact solutions, and\nlist the work. The error is the largest over 101 samples and all outputs, relative to the \
         largest output. The absolute\ntolerance is a thousandth of the relative one. Work counts evaluations of the right-hand \
         sides; a Jacobian counts as one\nevaluation per state. `cargo bench --bench work_precision` writes this page.\n\n![achieved error over \
         tolerance and over work](work-precision.svg)\n",
    );
    let mut picture = String::new();
    for (row, problem) in [oscillator(), rod()].iter().enumerate() {
        let curves: Vec<Curve> = [
            (Method::Tsit45, 11),
            (Method::Bdf, 9),
            (Method::Sdirk, 8),
            (Method::TrBdf2, 6),
        ]
        .into_iter()
        .map(|(method, tightest)| measured(problem, method, tightest))
        .collect();
        table(&mut text, problem, &curves);
        let top = 110.0 + 400.0 * row as f64;
        if row == 0 {
            legend(&mut picture, &curves, 80.0, 36.0);
        }
        let left = Diagram {
            left: 80.0,
            top,
            title: problem.title,
            label: "requested relative tolerance",
            across: |point| point.rtol,
            diagonal: true,
        };
        left.draw(&mut picture, &curves);
        let right = Diagram {
            left: 560.0,
            title: "",
            label: "evaluations of the right sides",
            across: |point| point.work,
            diagonal: false,
            ..left
        };
        right.draw(&mut picture, &curves);
    }
    let picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 880\" width=\"980\" height=\"880\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"980\" height=\"880\" fill=\"white\"/>\n{picture}</svg>\n"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for (name, content) in [("work-precision.md", text), ("work-precision.svg", picture)] {
        let path = folder.join(name);
        if let Err(fault) = std::fs::write(&path, content) {
            eprintln!("{}: {fault}", path.display());
        }
    }
}
