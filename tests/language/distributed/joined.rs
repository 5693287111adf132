//! Interactions of modal blocks: bars end to end, imposed velocities, residuals, spans, other elements at the ports.

use super::blocks::file;
use crate::support::linear::Linear;
use crate::support::program;
use crate::support::records::{Record, number};
use std::f64::consts::PI;

/// The linear system of a model's text.
fn system(name: &str, text: &str) -> Linear {
    program::numeric(&file(name, text), &Vec::new())
}

/// Angular frequencies of the oscillating poles, in ascending order.
fn frequencies(linear: &Linear) -> Vec<f64> {
    let mut list: Vec<f64> = linear
        .poles()
        .iter()
        .map(|pole| pole.im)
        .filter(|omega| *omega > 1e-6)
        .collect();
    list.sort_by(f64::total_cmp);
    list
}

/// Two bars, rho = E = A = L = 1: one fixed at its far end, one free, connected at the others.
fn two_bars(modes: usize, residual: bool) -> Linear {
    let text = format!(
        "import distributed;
model M {{
  input F = 1;
  node joint, tip : translational;
  held : FixedFreeBar(1, 1, 1, 1, modes = {modes}, at = [1], residual = {residual}) joint -> gnd;
  free : FreeFreeBar(1, 1, 1, 1, modes = {modes}, at = [0, 1], residual = {residual}) joint -> gnd, tip -> gnd;
  push : ForceSource(F) gnd -> tip;
  output v = across(tip);
}}
"
    );
    system(&format!("two_bars_{modes}_{residual}"), &text)
}

#[test]
fn two_bars_end_to_end_are_one_of_double_length() {
    // The double bar's frequencies, (2 i - 1) pi/4; truncation makes the joint too stiff, but less with more modes.
    let exact = |i: usize| (2 * i - 1) as f64 * PI / 4.0;
    let error = |modes: usize, residual: bool| -> f64 {
        let found = frequencies(&two_bars(modes, residual));
        (1..=4)
            .map(|i| (found[i - 1] / exact(i) - 1.0).abs())
            .fold(0.0, f64::max)
    };
    // The truncation error decreases as 1/n; with the residual the stiffness is right and only the inertia is missing,
    // 1/n^3.
    let plain = [10, 20, 40].map(|modes| error(modes, false));
    let whole = [10, 20, 40].map(|modes| error(modes, true));
    assert!(plain[0] > 1.8 * plain[1] && plain[1] > 1.8 * plain[2], "{plain:?}");
    assert!(whole[0] > 6.0 * whole[1] && whole[1] > 6.0 * whole[2], "{whole:?}");
    assert!(plain[2] < 0.02 && whole[2] < 1e-5, "{plain:?} {whole:?}");
}

#[test]
fn a_driven_end_gives_the_modes_of_a_held_one() {
    // A cantilever with a driven tip has, at zero velocity, the modes of a clamped-pinned beam: tan z = tanh z, z = (4
    // i + 1) pi/4.
    let error = |modes: usize| -> f64 {
        let text = format!(
            "import distributed;
model M {{
  input V = 1;
  node tip : translational;
  beam : Cantilever(1, 1, 1, 1, 1, modes = {modes}, at = [1]) tip -> gnd;
  drive : VelocitySource(V) tip -> gnd;
  output f = through(beam.port[1]);
}}
"
        );
        let found = frequencies(&system(&format!("driven_{modes}"), &text));
        assert_eq!(found.len(), modes - 1, "one mass depends on the others");
        let z = |i: usize| (4 * i + 1) as f64 * PI / 4.0;
        (1..=3)
            .map(|i| (found[i - 1] / z(i).powi(2) - 1.0).abs())
            .fold(0.0, f64::max)
    };
    let errors = [4, 8, 16].map(error);
    assert!(errors[0] > 6.0 * errors[1] && errors[1] > 6.0 * errors[2], "{errors:?}");
    assert!(errors[2] < 1e-3, "{errors:?}");
}

#[test]
fn a_residual_mends_what_truncation_leaves_out() {
    // At rest the compliance of the bar's end is L/(E A); n modes have the part sum 8/(pi^2 (2 i - 1)^2) of it, with
    // the residual all of it. At a frequency W below the omitted modes, only the part c W^2/w_(n+1)^2 of the rest is
    // missing.
    for (block, arguments, x, exact) in [
        (
            "FixedFreeBar",
            "1, 1, 1, 1",
            1.0,
            (|w: f64| w.tan() / w) as fn(f64) -> f64,
        ),
        ("FixedFixedBar", "1, 1, 1, 1", 0.4, |w: f64| {
            (0.4 * w).sin() * (0.6 * w).sin() / (w * w.sin())
        }),
        ("FreeFreeBar", "1, 1, 1, 1", 1.0, |w: f64| -1.0 / (w * w.tan())),
    ] {
        let omega = 0.9;
        let error = |modes: usize, residual: bool| -> f64 {
            let text = format!(
                "import distributed;
model M {{
  input F = 1;
  node tip : translational;
  bar : {block}({arguments}, modes = {modes}, at = [{x}], residual = {residual}) tip -> gnd;
  push : ForceSource(F) gnd -> tip;
  output u = displacement(bar, {x});
}}
"
            );
            let response = system(&format!("residual_{block}_{modes}_{residual}"), &text).response(omega);
            (response[(0, 0)].re - exact(omega)).abs()
        };
        for modes in [5, 10] {
            let (plain, whole) = (error(modes, false), error(modes, true));
            let factor = (modes as f64 * PI / omega).powi(2);
            assert!(
                plain > factor / 2.0 * whole,
                "{block}, {modes} modes: {plain} and {whole}"
            );
        }
        // 1/n without, 1/n^3 with it.
        assert!(error(5, false) > 1.6 * error(10, false), "{block}");
        assert!(error(5, true) > 6.0 * error(10, true), "{block}");
    }
}

#[test]
fn residuals_of_beams_make_up_for_the_modes_left_out() {
    for (block, x) in [("PinnedBeam", 0.3), ("Cantilever", 1.0), ("ClampedBeam", 0.45)] {
        let yields = |modes: usize, residual: bool| -> f64 {
            let text = format!(
                "import distributed;
model M {{
  input F = 1;
  node a, b : translational;
  beam : {block}(1, 1, 1, 1, 1, modes = {modes}, at = [{x}, 0.7], residual = {residual}) a -> gnd, b -> gnd;
  push : ForceSource(F) gnd -> a;
  idle : ForceSource(0) gnd -> b;
  output u = displacement(beam, 0.7);
}}
"
            );
            system(&format!("residual_{block}_{modes}_{residual}"), &text).response(1e-3)[(0, 0)].re
        };
        let exact = yields(60, false);
        let (plain, whole) = ((yields(2, false) - exact).abs(), (yields(2, true) - exact).abs());
        assert!(
            whole < 2e-6 * exact.abs() && plain > 100.0 * whole,
            "{block}: {plain} and {whole} of {exact}"
        );
    }
}

#[test]
fn a_span_is_the_mean_of_many_points() {
    let over = "import distributed;
model M {
  input F = 1;
  node a : translational;
  beam : Cantilever(1, 1, 1, 1, 1, modes = 6, over = [0.2, 0.8]) a -> gnd;
  push : ForceSource(F) gnd -> a;
  output v = across(a);
}
";
    let n = 60;
    let text = format!(
        "import distributed;
model M {{
  input F = 1;
  node x[{n}] : translational;
  beam : Cantilever(1, 1, 1, 1, 1, modes = 6, at = list(k in 1:{n}, 0.2 + 0.6*(k - 0.5)/{n})) {};
  for k in 1:{n} {{ push[k] : ForceSource(F/{n}) gnd -> x[k]; }}
  output v = sum(k in 1:{n}, across(x[k]))/{n};
}}
",
        (1..=n).map(|k| format!("x[{k}] -> gnd")).collect::<Vec<_>>().join(", ")
    );
    let (span, points) = (system("span", over), system("points", &text));
    for omega in [1.0, 5.0, 30.0] {
        let (a, b) = (span.response(omega)[(0, 0)], points.response(omega)[(0, 0)]);
        // The error of the midpoint rule is proportional to the square of the step times the square of the wave number.
        assert!((a - b).norm() < 2e-3 * b.norm(), "{a} and {b}");
    }
}

#[test]
fn forces_inside_balance_those_outside() {
    // At rest, the clamp of a cantilever carries F and F*L, and the wall of a bar F; many modes, because shear
    // converges slowly.
    let text = "import distributed;
model M {
  input F = 1;
  node a, b : translational;
  beam : Cantilever(1, 1, 1, 1, 1, modes = 80, at = [1]) a -> gnd;
  bar  : FixedFreeBar(1, 1, 1, 1, modes = 80, at = [1]) b -> gnd;
  push : ForceSource(F) gnd -> a;
  pull : ForceSource(F) gnd -> b;
  output M0 = moment(beam, 0);
  output M5 = moment(beam, 0.5);
  output N5 = force(bar, 0.5);
}
";
    let response = system("inside", text).response(1e-4);
    for (row, expected) in [1.0, 0.5, 1.0].into_iter().enumerate() {
        let found = response[(row, 0)].re;
        assert!((found - expected).abs() < 0.02, "output {row}: {found}, not {expected}");
    }
}

#[test]
fn damping_is_a_ratio_or_a_rayleigh_pair() {
    let of = |arguments: &str| {
        let text = format!(
            "import distributed;
model M {{
  input F = 1;
  node a : translational;
  bar  : FixedFreeBar(1, 1, 1, 1, {arguments}, modes = 4, at = [1]) a -> gnd;
  pull : ForceSource(F) gnd -> a;
  output v = across(a);
}}
"
        );
        let mut poles = system("damped", &text).poles();
        poles.retain(|pole| pole.im > 0.0);
        poles.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        poles
    };
    for (i, pole) in (1..).zip(of("zeta = 0.03")) {
        assert!((-pole.re / pole.norm() - 0.03).abs() < 1e-12, "mode {i}: {pole}");
    }
    for (i, pole) in (1..).zip(of("alpha = 0.2, beta = 0.004")) {
        let omega = (2 * i - 1) as f64 * PI / 2.0;
        assert!((pole.norm() - omega).abs() < 1e-10 * omega);
        assert!(
            (-2.0 * pole.re - (0.2 + 0.004 * omega * omega)).abs() < 1e-10,
            "mode {i}: {pole}"
        );
    }
}

/// Micro-elements and modes converge to each other and to the exact solution, as 1/N.
#[test]
fn micro_elements_and_modes_tend_to_each_other() {
    let record = Record::load("bar_microelement_chain");
    let exact = number(&record.json["exact_pde_transfer"][0]["im"][0]);
    let error = |file: &str, name: &str, count: u64| -> f64 {
        let set = vec![(name.to_owned(), count.into())];
        let found = program::numeric(&program::example(&format!("seeds/{file}.lgm")), &set);
        (found.response(0.31)[(0, 0)].im - exact).abs()
    };
    for (file, name) in [("bar_microelement_chain", "N"), ("bar_modal", "n_modes")] {
        let errors = [8, 16, 32].map(|count| error(file, name, count));
        assert!(
            errors[0] > 1.8 * errors[1] && errors[1] > 1.8 * errors[2],
            "{file}: {errors:?}"
        );
    }
}

/// The elimination multiplies five capacities of 1e-11 m^3/Pa with each other: exact sums of a part in 1e40 of their terms are no rounding.
#[test]
fn a_line_between_capacitors_is_verified() {
    for modes in [3, 5, 6] {
        let text = format!(
            "import distributed;
model M {{
  input q [m^3/s] = step(0);
  node x, y : fluid;
  source : FlowSource(q) gnd -> x;
  first : FluidCapacitor(1e-9) x -> gnd;
  last : FluidCapacitor(2e-9) y -> gnd;
  leak : FluidResistor(1e8) y -> gnd;
  line : FlowDrivenLine(rho = 1000, a = 1400, A = 1e-3, L = 100, modes = {modes}, at = [0, 100]) x -> gnd, y -> gnd;
  output p = across(last);
}}
"
        );
        let path = file(&format!("line_between_capacitors_{modes}"), &text);
        let (_, said, code) = program::said("check", &[path.to_str().unwrap(), "--verify"]);
        assert_eq!(code, Some(0), "{said}");
    }
}
