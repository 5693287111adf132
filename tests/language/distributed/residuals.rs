//! `residual = true`: the truncated response is exact at rest, and its error decreases faster by two powers of the
//! number of modes.

use super::blocks::file;
use crate::support::linear::Linear;
use crate::support::program;
use num_complex::Complex64;

/// A block with one port or two, the first of which is driven.
struct Case {
    block: &'static str,
    domain: &'static str,
    arguments: &'static str,
    /// `at = [..]`, `over = [..]`.
    ports: &'static str,
    count: usize,
    omega: f64,
}

impl Case {
    fn across(&self) -> bool {
        self.block.starts_with("Pressure") || self.block.starts_with("Voltage")
    }

    fn system(&self, modes: usize, residual: bool) -> Linear {
        let branches: Vec<String> = (1..=self.count).map(|k| format!("x[{k}] -> gnd")).collect();
        let (drive, idle, output) = match self.across() {
            true => (
                "AcrossSource(u) x[1] -> gnd",
                "AcrossSource(0) x[2] -> gnd",
                "through(block.port[{k}])",
            ),
            false => (
                "ThroughSource(u) gnd -> x[1]",
                "ThroughSource(0) gnd -> x[2]",
                "across(x[{k}])",
            ),
        };
        let idle = match self.count {
            1 => String::new(),
            _ => format!("  idle : {idle};\n"),
        };
        let outputs: Vec<String> = (1..=self.count)
            .map(|k| format!("  output y{k} = {};\n", output.replace("{k}", &k.to_string())))
            .collect();
        let text = format!(
            "import distributed;\nmodel M {{\n  input u = 1;\n  node x[{}] : {};\n  block : {}({}, modes = {modes}, {}, residual = \
             {residual}) {};\n  drive : {drive};\n{idle}{}}}\n",
            self.count,
            self.domain,
            self.block,
            self.arguments,
            self.ports,
            branches.join(", "),
            outputs.concat()
        );
        let name = format!("left_out_{}_{}_{modes}_{residual}", self.block, self.ports.len());
        program::numeric(&file(&name, &text), &Vec::new())
    }

    fn answers(&self, modes: usize, residual: bool, omega: f64) -> Vec<Complex64> {
        self.system(modes, residual).response(omega).iter().copied().collect()
    }

    /// The largest difference from the response of very many modes.
    fn error(&self, modes: usize, residual: bool, whole: &[Complex64]) -> f64 {
        let answers = self.answers(modes, residual, self.omega);
        let pairs = answers.iter().zip(whole);
        pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    }
}

const CASES: &[Case] = &[
    Case {
        block: "FreeBeam",
        domain: "translational",
        arguments: "1, 1, 1, 1, 1",
        ports: "at = [0.25, 1]",
        count: 2,
        omega: 9.0,
    },
    Case {
        block: "FlowDrivenLine",
        domain: "fluid",
        arguments: "0.9, 1.3, 0.21, 1",
        ports: "at = [0, 1]",
        count: 2,
        omega: 1.1,
    },
    Case {
        block: "FlowDrivenLine",
        domain: "fluid",
        arguments: "0.9, 1.3, 0.21, 1, B = 0.4",
        ports: "at = [0, 0.37]",
        count: 2,
        omega: 1.1,
    },
    Case {
        block: "PressureDrivenLine",
        domain: "fluid",
        arguments: "0.9, 1.3, 0.21, 1, B = 0.4",
        ports: "at = [0, 1]",
        count: 2,
        omega: 1.1,
    },
    Case {
        block: "CurrentDrivenLine",
        domain: "electrical",
        arguments: "0.9, 1.3, 1, r = 0.2, g = 0.1",
        ports: "at = [0.2, 1]",
        count: 2,
        omega: 0.8,
    },
    Case {
        block: "VoltageDrivenLine",
        domain: "electrical",
        arguments: "0.9, 1.3, 1, r = 0.2, g = 0.1",
        ports: "at = [0, 1]",
        count: 2,
        omega: 0.8,
    },
    Case {
        block: "HeatRod",
        domain: "thermal",
        arguments: "0.9, 1.3, 0.4, 1, 1",
        ports: "at = [0, 0.8]",
        count: 2,
        omega: 0.6,
    },
    Case {
        block: "HeldHeatRod",
        domain: "thermal",
        arguments: "0.9, 1.3, 0.4, 1, 1",
        ports: "at = [0.5, 1]",
        count: 2,
        omega: 0.6,
    },
    // Separate spans, and overlapping spans, with a point inside one.
    Case {
        block: "Cantilever",
        domain: "translational",
        arguments: "1, 1, 1, 1, 1",
        ports: "over = [[0.1, 0.4], [0.6, 0.9]]",
        count: 2,
        omega: 2.0,
    },
    Case {
        block: "FixedFreeBar",
        domain: "translational",
        arguments: "1, 1, 1, 1",
        ports: "over = [[0.1, 0.6], [0.45, 0.9]]",
        count: 2,
        omega: 0.9,
    },
    Case {
        block: "FreeBeam",
        domain: "translational",
        arguments: "1, 1, 1, 1, 1",
        ports: "at = [0.3], over = [0.2, 0.7]",
        count: 2,
        omega: 9.0,
    },
];

#[test]
fn what_is_left_out_is_made_up_for_by_the_expected_factor() {
    for case in CASES {
        let name = format!("{} {}", case.block, case.ports);
        let whole = case.answers(60, true, case.omega);
        let (plain, mended) = (case.error(4, false, &whole), case.error(4, true, &whole));
        // An omitted mode above the frequency w contributes (w/w_n)^2 of its response as inertia: at least two powers
        // of n.
        assert!(plain > 12.0 * mended, "{name}: {plain} and {mended}");
        let more = case.error(8, true, &whole);
        assert!(mended > 5.0 * more, "{name}: {mended} with 4 modes, {more} with 8");
        // Very many modes without the residual converge to the same value.
        let many = case.error(60, false, &whole);
        assert!(many < plain / 8.0, "{name}: {many} with 60 modes, {plain} with 4");
    }
}

/// At rest, one mode with its residual agrees with thirty modes with theirs, to round-off; therefore the integrals over
/// spans are exact.
#[test]
fn at_rest_the_number_of_modes_makes_no_difference() {
    for case in CASES
        .iter()
        .filter(|case| matches!(case.block, "Cantilever" | "FixedFreeBar" | "HeldHeatRod"))
    {
        let omega = 1e-8;
        let (one, many) = (case.answers(1, true, omega), case.answers(30, true, omega));
        for (a, b) in one.iter().zip(&many) {
            assert!(
                (a - b).norm() < 1e-9 * b.norm(),
                "{} {}: {a} and {b}",
                case.block,
                case.ports
            );
        }
    }
}

/// A displacement between the ports has a residual too.
#[test]
fn outputs_beside_the_ports_are_made_up_for() {
    let u = |modes: usize, residual: bool| {
        let text = format!(
            "import distributed;
model M {{
  input F = 1;
  node a : translational;
  beam : Cantilever(1, 1, 1, 1, 1, modes = {modes}, over = [0.5, 0.9], residual = {residual}) a -> gnd;
  push : ForceSource(F) gnd -> a;
  output u = displacement(beam, 0.7);
}}
"
        );
        program::numeric(&file(&format!("beside_{modes}_{residual}"), &text), &Vec::new()).response(1e-4)[(0, 0)].re
    };
    // The mean over the span of y of min^2 (3 max - min)/6 at x = 0.7, by hand.
    let below = |y: f64| y.powi(3) * 0.7 / 6.0 - y.powi(4) / 24.0;
    let above = |y: f64| 0.49 * (3.0 * y * y / 2.0 - 0.7 * y) / 6.0;
    let exact = (below(0.7) - below(0.5) + above(0.9) - above(0.7)) / 0.4;
    assert!((u(1, true) - exact).abs() < 1e-7 * exact, "{} and {exact}", u(1, true));
    assert!((u(1, false) - exact).abs() > 1e-4 * exact);
}
