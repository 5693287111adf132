//! The achieved error of every method against what was asked for and what it cost: a table and a picture for `docs/`.
//!
//! Run with `cargo bench --bench work_precision`. Work is counted in evaluations of the right sides and of Jacobians times
//! the number of states, not in seconds, so that the same build gives the same figures on every machine.

use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{Method, Plan, Silent, simulate};
use lgm::source::{NoFiles, SourceMap};
use std::fmt::Write;
use std::path::Path;

#[path = "../tests/simulate/shapes.rs"]
mod shapes;

use shapes::{Shape, Shapes};

/// A system with its exact solution.
struct Problem {
    title: &'static str,
    text: String,
    inputs: Vec<Shape>,
    stop: f64,
    /// The outputs at a time.
    exact: fn(f64) -> Vec<f64>,
}

/// A mass on a spring with little damping, pushed by a step of force.
fn oscillator() -> Problem {
    Problem {
        title: "Oscillator (2 states, damping ratio 0.02, 8 periods)",
        text: "model Oscillator {
  param m = 2 [kg]; param k = 50 [N/m]; param b = 0.4 [N.s/m];
  input F [N];
  node x : translational;
  push : ForceSource(F) gnd -> x;
  mass : Mass(m) x -> gnd;
  spring : Spring(k) x -> gnd;
  damper : Damper(b) x -> gnd;
  output v = across(mass);
}"
        .into(),
        inputs: vec![Shape::Constant(10.0)],
        stop: 10.0,
        exact: |time| {
            let (m, k, b) = (2.0_f64, 50.0_f64, 0.4_f64);
            let decay = b / (2.0 * m);
            let omega = (k / m - decay * decay).sqrt();
            vec![10.0 * (-decay * time).exp() * (omega * time).sin() / (m * omega)]
        },
    }
}

/// Cells of the stiff problem.
const CELLS: usize = 40;

/// A rod that cools through its ends: rates from 10 to 6700 in 1/s.
fn rod() -> Problem {
    Problem {
        title: "Cooling rod (40 states, stiff: rates from 10 to 6700 1/s)",
        text: format!(
            "model Rod {{
  const N = {CELLS};
  node T[N] : thermal;
  for i in 1:N {{
    cell[i] : ThermalCapacitor(1/(N + 1)) T[i] -> gnd, start = sin(pi*i/(N + 1)) + 0.5*sin(3*pi*i/(N + 1));
    if i > 1 {{ link[i] : ThermalResistor(1/(N + 1)) T[i - 1] -> T[i]; }}
  }}
  left : ThermalResistor(1/(N + 1)) T[1] -> gnd;
  right : ThermalResistor(1/(N + 1)) T[N] -> gnd;
  output middle = across(cell[20]);
  output quarter = across(cell[10]);
}}"
        ),
        inputs: Vec::new(),
        stop: 1.0,
        exact: |time| {
            let whole = (CELLS + 1) as f64;
            let at = |cell: f64| {
                let mode = |order: f64, share: f64| {
                    let half = order * std::f64::consts::PI / (2.0 * whole);
                    let rate = 4.0 * whole * whole * half.sin().powi(2);
                    share * (-rate * time).exp() * (2.0 * half * cell).sin()
                };
                mode(1.0, 1.0) + mode(3.0, 0.5)
            };
            vec![at(20.0), at(10.0)]
        },
    }
}

/// One run.
struct Point {
    rtol: f64,
    error: f64,
    steps: u64,
    work: f64,
}

/// One method on one problem.
struct Curve {
    method: Method,
    points: Vec<Point>,
}

fn measured(problem: &Problem, method: Method, tightest: i32) -> Curve {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", problem.text.as_str(), None);
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
    let system = system.unwrap_or_else(|| panic!("{}", lgm::diagnostic::render(&map, &diagnostics, false)));
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let signals = Shapes(problem.inputs.clone());
    let mut points = Vec::new();
    for decade in 3..=tightest {
        let rtol = 10.0_f64.powi(-decade);
        let plan = Plan {
            stop: problem.stop,
            points: 101,
            rtol,
            atol: rtol * 1e-3,
            method,
            ..Plan::default()
        };
        let (mut error, mut size) = (0.0_f64, 0.0_f64);
        let mut sink = |time: f64, outputs: &[f64], _: &[f64]| {
            for (found, expected) in outputs.iter().zip((problem.exact)(time)) {
                error = error.max((found - expected).abs());
                size = size.max(expected.abs());
            }
        };
        let result = simulate(&system, &kernels, &parameters, &signals, &plan, &mut sink, &Silent);
        let summary = result.unwrap_or_else(|failure| panic!("{failure:?}"));
        points.push(Point {
            rtol,
            error: error / size,
            steps: summary.steps,
            work: (summary.evaluations + summary.jacobians * system.states.len() as u64) as f64,
        });
    }
    Curve { method, points }
}

/// A short form of a power of ten.
fn decade(value: f64) -> String {
    format!("{value:.0e}")
}

fn table(out: &mut String, problem: &Problem, curves: &[Curve]) {
    let _ = writeln!(out, "\n## {}\n", problem.title);
    let _ = writeln!(out, "| method | asked for | achieved | steps | work |");
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

/// Dashes and marks of the curves, so that they can be told apart without colour.
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

/// One diagram, achieved error over the value of each point that `across` gives, both by powers of ten.
struct Diagram<'a> {
    left: f64,
    top: f64,
    title: &'a str,
    label: &'a str,
    across: fn(&Point) -> f64,
    /// Whether the line "achieved as asked for" is drawn.
    diagonal: bool,
}

impl Diagram<'_> {
    const WIDTH: f64 = 380.0;
    const HEIGHT: f64 = 280.0;

    fn draw(&self, out: &mut String, curves: &[Curve]) {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let ends = |value: &dyn Fn(&Point) -> f64| {
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
        "# Work and precision\n\nThe error that `lgm simulate` achieves at each relative tolerance, against exact solutions, \
         and what it costs. The error is\nthe largest over 101 rows and all outputs, relative to the largest output; the \
         absolute tolerance is a thousandth of the\nrelative one. Work counts evaluations of the right sides, and for each \
         Jacobian as many as there are states. Written by\n`cargo bench --bench work_precision`.\n\n![achieved error over \
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
            label: "relative tolerance that was asked for",
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
