//! Runs: Fig. 4-5 of the thesis compared with its formula and the record, modes with initial displacement or velocity,
//! and internal forces of a beam.

use super::blocks::file;
use crate::support::linear::Linear;
use crate::support::program;
use crate::support::records::{Record, number};
use std::f64::consts::PI;
use std::path::Path;

/// The displacement of the end of a bar with n modes, from rest, under F sin(W t) there.
fn bar_end(modes: usize, frequency: f64, t: f64) -> f64 {
    let (e, rho, l, a) = (210e9f64, 7850.0, 1.0, 0.01);
    let (mass, force) = (rho * a * l / 2.0, 2.0 * PI * frequency);
    let of_mode = |i: usize| {
        let w = (2 * i - 1) as f64 * PI / (2.0 * l) * (e / rho).sqrt();
        ((force * t).sin() - force / w * (w * t).sin()) / (mass * (w * w - force * force))
    };
    (1..=modes).map(of_mode).sum()
}

/// The columns of a run by their names.
fn run(path: &Path, options: &[&str]) -> impl Fn(&str) -> Vec<f64> + use<> {
    let mut arguments = vec!["simulate".to_owned(), path.display().to_string()];
    arguments.extend(options.iter().map(|word| (*word).to_owned()));
    let text = program::succeed(&arguments);
    move |name: &str| {
        let mut lines = text.lines();
        let at = lines.next().unwrap().split(',').position(|column| column == name);
        let at = at.unwrap_or_else(|| panic!("no column {name}"));
        lines
            .map(|line| line.split(',').nth(at).unwrap().parse().unwrap())
            .collect()
    }
}

#[test]
fn the_record_of_figure_4_5_is_the_formula() {
    let record = Record::load("bar_fig4_5");
    let times: Vec<f64> = record.json["t"].as_array().unwrap().iter().map(number).collect();
    for modes in [1, 2, 3, 4, 5, 10, 50] {
        let curve = &record.json["u_L_by_number_of_modes"][modes.to_string()];
        for (t, u) in times.iter().zip(curve.as_array().unwrap()) {
            assert!(
                (bar_end(modes, 1.0, *t) - number(u)).abs() < 1e-9 * 4.8e-10,
                "{modes} modes at {t} s"
            );
        }
    }
}

#[test]
fn figure_4_5_is_drawn_by_its_formula() {
    let column = run(
        &program::example("seeds/bar_fig4_5.lgm"),
        &["--rtol", "1e-9", "--atol", "1e-18"],
    );
    let times = column("time");
    assert_eq!(times.len(), 401);
    let mut largest = Vec::new();
    for modes in (1..=10).chain([2000]) {
        // The bar without visible truncation has ten modes and the residual of the rest.
        let (name, allowed) = match modes {
            2000 => ("u_exact".to_owned(), 5e-5),
            modes => (format!("u[{modes}]"), 1e-6),
        };
        let found = column(&name);
        let size = found.iter().fold(0.0f64, |most, u| most.max(u.abs()));
        for (t, u) in times.iter().zip(&found) {
            // Only the compliance remains of the modes beyond two thousand.
            let beyond: f64 = match modes {
                2000 => 1.0 - (1..=2000).map(|i| 8.0 / ((2 * i - 1) as f64 * PI).powi(2)).sum::<f64>(),
                _ => 0.0,
            };
            let exact = bar_end(modes, 100.0, *t) + beyond / (210e9 * 0.01) * (200.0 * PI * t).sin();
            assert!((u - exact).abs() < allowed * size, "{name} at {t} s: {u}, not {exact}");
        }
        largest.push(size);
    }
    assert!(largest.is_sorted(), "more modes yield more: {largest:?}");
}

#[test]
fn modes_start_displaced_and_moving() {
    // A bar of unit values, deformed in its first and third modes and released, with an impulse on its second mode.
    let text = "import distributed;
model M {
  node tip : translational;
  bar : FixedFreeBar(1, 1, 1, 1, modes = 3, at = [1]) tip -> gnd,
        displacement = [0.3, 0, -0.1], start = [0, 0.2, 0];
  none : ForceSource(0) gnd -> tip;
  output u = displacement(bar, 1);
  experiment { stop = 3; points = 61; }
}
";
    let column = run(&file("displaced", text), &["--rtol", "1e-10", "--atol", "1e-12"]);
    for (t, u) in column("time").iter().zip(column("u")) {
        let w = |i: f64| (2.0 * i - 1.0) * PI / 2.0;
        let exact = 0.3 * (w(1.0) * t).cos() - 0.2 / w(2.0) * (w(2.0) * t).sin() - 0.1 * (w(3.0) * t).cos();
        assert!((u - exact).abs() < 1e-8, "at {t}: {u}, not {exact}");
    }
}

#[test]
fn starts_that_no_mode_can_have_are_refused() {
    let check = |attributes: &str| {
        let text = format!(
            "import distributed;
model M {{
  node a, b : translational;
  bar : FreeFreeBar(1, 1, 1, 1, modes = 2, at = [0, 1]) a -> gnd, b -> gnd, {attributes};
  m : Mass(1) a -> gnd;
  n : Mass(1) b -> gnd;
}}
"
        );
        let path = file("refused_start", &text).display().to_string();
        let output = program::run(&["check".to_owned(), path]);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(check("displacement = [0.1, 0]").contains("LGM0136"));
    assert!(check("displacement = [0.1, 0, 0]").contains("LGM0202"));
    assert!(check("speed = [0.1, 0]").contains("LGM0136"));
    assert!(check("start = [1 [N], 2 [N]]").contains("LGM0201"));
}

/// The moment is E I times the second derivative of the displacement, the shear force the derivative of the moment.
#[test]
fn moments_and_shear_forces_are_derivatives_of_the_displacement() {
    let (x, h) = (0.4, 1e-3);
    for block in ["PinnedBeam", "Cantilever", "ClampedBeam", "FreeBeam"] {
        let text = format!(
            "import distributed;
model M {{
  input F = 1;
  node a : translational;
  beam : {block}(1, 1, 3, 1, 1, modes = 5, at = [0.7]) a -> gnd;
  push : ForceSource(F) gnd -> a;
  output u[1] = displacement(beam, {});
  output u[2] = displacement(beam, {x});
  output u[3] = displacement(beam, {});
  output m[1] = moment(beam, {});
  output m[2] = moment(beam, {x});
  output m[3] = moment(beam, {});
  output q = shear(beam, {x});
}}
",
            x - h,
            x + h,
            x - h,
            x + h
        );
        let linear: Linear = program::numeric(&file(&format!("inside_{block}"), &text), &Vec::new());
        let response = linear.response(7.0);
        let row = |name: &str| {
            let at = linear.outputs.iter().position(|output| output == name);
            response[(at.unwrap(), 0)].re
        };
        let moment = 3.0 * (row("u[1]") - 2.0 * row("u[2]") + row("u[3]")) / (h * h);
        let shear = (row("m[3]") - row("m[1]")) / (2.0 * h);
        assert!(
            (moment - row("m[2]")).abs() < 1e-4 * moment.abs(),
            "{block}: {moment} and {}",
            row("m[2]")
        );
        assert!(
            (shear - row("q")).abs() < 1e-3 * shear.abs(),
            "{block}: {shear} and {}",
            row("q")
        );
    }
}
