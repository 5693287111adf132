//! The blocks of the library: frequencies compared with closed forms and roots found here, shapes compared with
//! textbook formulas.

use super::records::{beam_mode, halved};
use crate::support::linear::Linear;
use crate::support::program;
use std::f64::consts::PI;
use std::path::PathBuf;

/// The closed form for a mode, counted from 1.
type OfMode = fn(usize) -> f64;

/// A model with one block, written to a separate file.
pub fn file(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("distributed");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.lgm"));
    std::fs::write(&path, text).unwrap();
    path
}

/// A block of `modes` modes with a free port each at the positions.
fn single(block: &str, domain: &str, arguments: &str, modes: usize, positions: &[f64]) -> String {
    let list: Vec<String> = positions.iter().map(f64::to_string).collect();
    let branches: Vec<String> = (1..=positions.len()).map(|k| format!("x[{k}] -> gnd")).collect();
    let source = if block.starts_with("Pressure") || block.starts_with("Voltage") {
        "AcrossSource(u) x[k] -> gnd"
    } else {
        "ThroughSource(u) gnd -> x[k]"
    };
    format!(
        "import distributed;\nmodel M {{\n  input u = 1;\n  node x[{n}] : {domain};\n  block : {block}({arguments}, modes = {modes}, \
         at = [{at}]) {branches};\n  for k in 1:{n} {{ drive[k] : {source}; }}\n  output y = through(drive[1]);\n}}\n",
        n = positions.len(),
        at = list.join(", "),
        branches = branches.join(", "),
    )
}

/// The square of each mode's angular frequency: the product of the two couplings of its states.
fn squares(linear: &Linear, modes: usize, symbols: [&str; 2]) -> Vec<f64> {
    let place = |symbol: &str, k: usize| {
        linear
            .states
            .iter()
            .position(|name| *name == format!("block.{symbol}[{k}]"))
    };
    (1..=modes)
        .map(|k| {
            let (Some(v), Some(f)) = (place(symbols[0], k), place(symbols[1], k)) else {
                return 0.0;
            };
            -linear.a[(v, f)] * linear.a[(f, v)]
        })
        .collect()
}

fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(f64::MIN_POSITIVE),
        "{what}: {found}, not {expected}"
    );
}

/// The root z_i of `cos z = -+1/cosh z` in extended form: near (2 i - 1) pi/2 the correction is of the order exp(-z),
/// and its fixed-point iteration converges immediately.
fn beam_root(i: usize, sign: f64) -> f64 {
    let centre = (2 * i - 1) as f64 * PI / 2.0;
    if i < 4 {
        return halved(|z| z.cos() + sign / z.cosh(), centre - 0.5, centre + 0.5);
    }
    // cos(centre + d) = -sin(centre) sin d, with sin(centre) = -(-1)^i.
    let side = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut d = 0.0;
    for _ in 0..50 {
        d = f64::asin(-sign * side / (centre + d).cosh());
    }
    centre + d
}

#[test]
fn one_hundred_frequencies_of_every_line() {
    let n = 100;
    let waves: [(&str, OfMode); 3] = [
        ("FixedFree", |i| (i as f64 - 0.5) * PI),
        ("FixedFixed", |i| i as f64 * PI),
        ("FreeFree", |i| (i as f64 - 1.0) * PI),
    ];
    for (ends, wave) in waves {
        for (kind, domain, arguments, speed, length, symbols) in [
            (
                "Bar",
                "translational",
                "7850, 210e9, 0.01, 1.7",
                (210e9f64 / 7850.0).sqrt(),
                1.7,
                ["v", "F"],
            ),
            (
                "Shaft",
                "rotational",
                "7850, 80e9, 1e-6, 1.3",
                (80e9f64 / 7850.0).sqrt(),
                1.3,
                ["w", "tau"],
            ),
            (
                "String",
                "translational",
                "0.01, 60, 0.65",
                (60.0f64 / 0.01).sqrt(),
                0.65,
                ["v", "F"],
            ),
        ] {
            let block = format!("{ends}{kind}");
            let text = single(&block, domain, arguments, n, &[0.3]);
            let found = program::numeric(&file(&block, &text), &Vec::new());
            for (i, square) in (1..=n).zip(squares(&found, n, symbols)) {
                let omega = wave(i) * speed / length;
                assert_close(&format!("{block}, mode {i}"), square.sqrt(), omega, 1e-12);
            }
        }
    }
}

#[test]
fn one_hundred_frequencies_of_every_beam() {
    let n = 100;
    let (rho, a, e, i_y, l) = (7850.0f64, 0.002, 210e9, 3e-7, 2.3);
    let speed = (e * i_y / (rho * a)).sqrt();
    let roots: [(&str, OfMode); 4] = [
        ("PinnedBeam", |i| i as f64 * PI),
        ("Cantilever", |i| beam_root(i, 1.0)),
        ("ClampedBeam", |i| beam_root(i + 1, -1.0)),
        ("FreeBeam", |i| if i < 3 { 0.0 } else { beam_root(i - 1, -1.0) }),
    ];
    for (block, root) in roots {
        let text = single(
            block,
            "translational",
            &format!("{rho}, {a}, {e}, {i_y}, {l}"),
            n,
            &[0.3],
        );
        let found = program::numeric(&file(block, &text), &Vec::new());
        for (i, square) in (1..=n).zip(squares(&found, n, ["v", "F"])) {
            let omega = (root(i) / l).powi(2) * speed;
            assert_close(&format!("{block}, mode {i}"), square.sqrt(), omega, 1e-12);
        }
    }
}

#[test]
fn frequencies_of_lines_rods_and_surfaces() {
    let n = 100;
    let wave = |i: usize, l: f64| (i - 1) as f64 * PI / l;
    for (block, domain, arguments, speed, l, symbols) in [
        ("FlowDrivenLine", "fluid", "900, 1300, 1e-4, 4", 1300.0, 4.0, ["P", "Q"]),
        (
            "PressureDrivenLine",
            "fluid",
            "900, 1300, 1e-4, 4",
            1300.0,
            4.0,
            ["Q", "P"],
        ),
        (
            "CurrentDrivenLine",
            "electrical",
            "2.5e-7, 1e-10, 30",
            2e8,
            30.0,
            ["v", "i"],
        ),
        (
            "VoltageDrivenLine",
            "electrical",
            "2.5e-7, 1e-10, 30",
            2e8,
            30.0,
            ["i", "v"],
        ),
    ] {
        let text = single(block, domain, arguments, n, &[0.0, l]);
        let found = program::numeric(&file(block, &text), &Vec::new());
        for (i, square) in (1..=n).zip(squares(&found, n, symbols)) {
            assert_close(&format!("{block}, mode {i}"), square.sqrt(), wave(i, l) * speed, 1e-12);
        }
    }
    let (rho, c, k, l) = (7850.0, 460.0, 50.0, 0.4);
    for (block, shift) in [("HeatRod", 1.0), ("HeldHeatRod", 0.5)] {
        let text = single(block, "thermal", &format!("{rho}, {c}, {k}, 1e-4, {l}"), n, &[0.1]);
        let found = program::numeric(&file(block, &text), &Vec::new());
        for i in 1..=n {
            let wave = (i as f64 - shift) * PI / l;
            let at = found
                .states
                .iter()
                .position(|name| *name == format!("block.T[{i}]"))
                .unwrap();
            assert_close(
                &format!("{block}, mode {i}"),
                -found.a[(at, at)],
                k / (rho * c) * wave * wave,
                1e-12,
            );
        }
    }
    let (a, b) = (0.7, 0.45);
    let side = |i: usize| (((i - 1) / 10 + 1) as f64 * PI / a).powi(2) + (((i - 1) % 10 + 1) as f64 * PI / b).powi(2);
    let plate = 70e9f64 * 0.002 * 0.002 / (12.0 * 2700.0 * (1.0 - 0.33 * 0.33));
    for (block, arguments, omega) in [
        (
            "RectangularMembrane",
            "0.3, 900, 0.7, 0.45, 10",
            Box::new(|i| (3000.0 * side(i)).sqrt()) as Box<dyn Fn(usize) -> f64>,
        ),
        (
            "SupportedPlate",
            "2700, 70e9, 0.33, 0.002, 0.7, 0.45, 10",
            Box::new(|i| plate.sqrt() * side(i)),
        ),
    ] {
        let text = single(block, "translational", arguments, n, &[0.2, 0.3])
            .replace("x[1] -> gnd, x[2] -> gnd", "x[1] -> gnd");
        let text = text.replace("1:2", "1:1").replace("x[2]", "x[1]");
        let found = program::numeric(&file(block, &text), &Vec::new());
        for (i, square) in (1..=n).zip(squares(&found, n, ["v", "F"])) {
            assert_close(&format!("{block}, mode {i}"), square.sqrt(), omega(i), 1e-12);
        }
    }
}

/// The ends of beams have known shape values at every mode, even if cosh and sinh would overflow.
#[test]
fn shapes_are_sound_at_high_modes() {
    let n = 240;
    for (block, end) in [("Cantilever", 2.0), ("FreeBeam", 2.0)] {
        let text = single(block, "translational", "2.7, 0.13, 71, 0.0023, 1.7", n, &[1.7]);
        let found = program::numeric(&file(&format!("high_{block}"), &text), &Vec::new());
        for k in 3..=n {
            let at = found
                .states
                .iter()
                .position(|name| *name == format!("block.v[{k}]"))
                .unwrap();
            let shape = (found.b[(at, 0)] * 2.7 * 0.13 * 1.7).abs();
            assert_close(&format!("{block}, mode {k}"), shape, end, 1e-12);
        }
    }
}

/// Shapes along the beam compared with the textbook's cosh and sinh, as long as these have nine correct digits.
#[test]
fn shapes_agree_with_the_textbook() {
    for (block, kind) in [
        ("Cantilever", "cantilever"),
        ("ClampedBeam", "clamped"),
        ("FreeBeam", "free"),
        ("PinnedBeam", "pinned"),
    ] {
        let positions = [0.2, 0.75, 1.1, 1.6];
        let text = single(block, "translational", "2.7, 0.13, 71, 0.0023, 1.7", 5, &positions);
        let text = text.replace(
            "output y = through(drive[1]);",
            "for k in 1:4 { output y[k] = across(x[k]); }",
        );
        let found = program::numeric(&file(&format!("shape_{block}"), &text), &Vec::new());
        for k in 1..=5 {
            let at = found
                .states
                .iter()
                .position(|name| *name == format!("block.v[{k}]"))
                .unwrap();
            for (row, x) in positions.iter().enumerate() {
                let expected = beam_mode(kind, k, x / 1.7).2;
                assert!(
                    (found.c[(row, at)] - expected).abs() < 1e-9,
                    "{block}, mode {k} at {x}: {}, not {expected}",
                    found.c[(row, at)]
                );
            }
        }
    }
}
