//! Random machines with friction and collisions, compared with answers that do not use the program's events.

use super::{column, rows, written};
use crate::support::records::Dice;
use std::fmt::Write;

/// A chain of masses with springs, friction and forces. `friction` is the definition of the element `Friction(Fc)`.
fn sliding(seed: u64, friction: &str) -> String {
    let mut dice = Dice::new(seed);
    let mut whole = |most: usize| (dice.between(0.0, most as f64 - 1e-3)) as usize;
    let count = 2 + whole(4);
    let ends = |from: usize, step: usize| {
        let to = (from + 1 + step % count) % (count + 1);
        let name = |at: usize| match at < count {
            true => format!("x[{}]", at + 1),
            false => "gnd".to_string(),
        };
        format!("{} -> {}", name(from), name(to))
    };
    let springs: Vec<String> = (0..1 + whole(count))
        .map(|_| ends(whole(count), whole(count)))
        .collect();
    let rubs: Vec<String> = (0..2 + whole(3)).map(|_| ends(whole(count), whole(count))).collect();
    let pushed = 1 + whole(count);
    let mut text = format!("{friction}\nmodel Sliding {{\n  node x[{count}] : translational;\n");
    for at in 1..=count {
        let (mass, start) = (dice.between(0.3, 3.0), dice.between(-2.0, 2.0));
        _ = writeln!(text, "  m{at} : Mass({mass}) x[{at}] -> gnd, start = {start};");
        _ = writeln!(text, "  output v{at} = across(m{at});");
    }
    for (at, ends) in springs.iter().enumerate() {
        _ = writeln!(text, "  k{at} : Spring({}) {ends};", dice.between(3.0, 100.0));
    }
    for (at, ends) in rubs.iter().enumerate() {
        _ = writeln!(text, "  f{at} : Friction({}) {ends};", dice.between(0.5, 4.0));
    }
    let (size, rate, phase) = (dice.between(2.0, 8.0), dice.between(1.0, 6.0), dice.between(0.0, 6.0));
    _ = writeln!(
        text,
        "  push : ForceSource({size}*sin({rate}*time + {phase})) gnd -> x[{pushed}];"
    );
    text + "  experiment { stop = 6 [s]; points = 61; }\n}\n"
}

/// Sticking friction is the limit of a very steep damper with a bounded force, which is a model of fixed structure.
#[test]
fn dry_friction_is_the_limit_of_a_steep_damper() {
    let folder = tempfile::tempdir().unwrap();
    let dry = "import switching;\nelement Friction(Fc [N]) : translational {\n  \
         mode stuck { across = 0; } when through > Fc -> forward; when through < -Fc -> backward;\n  \
         mode forward { through = Fc; } when across < 0 -> stuck;\n  \
         mode backward { through = -Fc; } when across > 0 -> stuck;\n}";
    let steep = "element Friction(Fc [N]) : translational { through = Fc*max(-1, min(1, across*1e5)); }";
    let mut compared = 0;
    for seed in 1..=24 {
        let ideal = rows(&written(&folder, &sliding(seed, dry)), &[]).unwrap_or_else(|why| panic!("{seed}: {why}"));
        let Ok(limit) = rows(&written(&folder, &sliding(seed, steep)), &["--rtol", "1e-8"]) else {
            continue;
        };
        compared += 1;
        for name in limit.names.iter().filter(|name| name.starts_with('v')) {
            let (found, expected) = (column(&ideal, name), column(&limit, name));
            let size = expected.iter().fold(0.1f64, |size, value| size.max(value.abs()));
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let off = (found - expected).abs() / size;
                assert!(off < 2e-3, "{seed}: {name} in row {at}: {found} in place of {expected}");
            }
        }
    }
    assert!(compared >= 20, "{compared} models of steep dampers ran");
}

/// Masses between two walls, without forces.
struct Row {
    masses: Vec<f64>,
    speeds: Vec<f64>,
    gaps: Vec<f64>,
    restitution: Vec<f64>,
}

impl Row {
    fn new(seed: u64) -> Row {
        let mut dice = Dice::new(seed);
        let count = 2 + dice.between(0.0, 3.999) as usize;
        let mut list =
            |count: usize, low: f64, high: f64| -> Vec<f64> { (0..count).map(|_| dice.between(low, high)).collect() };
        Row {
            masses: list(count, 0.3, 3.0),
            speeds: list(count, -2.0, 2.0),
            gaps: list(count + 1, 0.05, 0.5),
            restitution: list(count + 1, 0.7, 1.0),
        }
    }

    fn text(&self) -> String {
        let count = self.masses.len();
        let mut text = format!("import switching;\nmodel Row {{\n  node x[{count}] : translational;\n");
        let name = |at: usize| match (1..=count).contains(&at) {
            true => format!("x[{at}]"),
            false => "gnd".to_string(),
        };
        for at in 0..count {
            let (mass, speed, place) = (self.masses[at], self.speeds[at], name(at + 1));
            _ = writeln!(text, "  m{at} : Mass({mass}) {place} -> gnd, start = {speed};");
            _ = writeln!(
                text,
                "  output v{at} = across(m{at});\n  output y{at} = int(across(m{at}));"
            );
        }
        for at in 0..=count {
            let (gap, e) = (self.gaps[at], self.restitution[at]);
            _ = writeln!(text, "  w{at} : Wall({gap}, {e}) {} -> {};", name(at), name(at + 1));
        }
        text + "  experiment { stop = 4 [s]; points = 5; }\n}\n"
    }

    /// Velocities and positions at 4 s, from collision to collision in closed form, and the number of collisions.
    fn at_the_end(&self) -> (Vec<f64>, Vec<f64>, usize) {
        let count = self.masses.len();
        let (mut speeds, mut ways, mut left, mut hits) = (self.speeds.clone(), vec![0.0; count], 4.0, 0);
        let of = |values: &[f64], at: usize| match (1..=count).contains(&at) {
            true => values[at - 1],
            false => 0.0,
        };
        loop {
            let next = (0..=count).filter_map(|at| {
                let closing = of(&speeds, at) - of(&speeds, at + 1);
                let room = self.gaps[at] - (of(&ways, at) - of(&ways, at + 1));
                (closing > 0.0).then(|| (room.max(0.0) / closing, at))
            });
            let next = next.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|next| next.0 < left);
            let passed = next.map_or(left, |next| next.0);
            for (way, speed) in ways.iter_mut().zip(&speeds) {
                *way += speed * passed;
            }
            left -= passed;
            let Some((_, at)) = next else {
                return (speeds, ways, hits);
            };
            hits += 1;
            let yielding = |at: usize| match (1..=count).contains(&at) {
                true => 1.0 / self.masses[at - 1],
                false => 0.0,
            };
            let closing = of(&speeds, at) - of(&speeds, at + 1);
            let impulse = (1.0 + self.restitution[at]) * closing / (yielding(at) + yielding(at + 1));
            if at > 0 {
                speeds[at - 1] -= impulse * yielding(at);
            }
            if at < count {
                speeds[at] += impulse * yielding(at + 1);
            }
        }
    }
}

#[test]
fn masses_between_walls_fly_and_hit_in_closed_form() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = 0;
    for seed in 1..=30 {
        let row = Row::new(seed);
        let (speeds, ways, hits) = row.at_the_end();
        let found =
            rows(&written(&folder, &row.text()), &["--rtol", "1e-9"]).unwrap_or_else(|why| panic!("{seed}: {why}"));
        for at in 0..speeds.len() {
            let end = |kind: &str| *column(&found, &format!("{kind}{at}")).last().unwrap();
            let off = (end("v") - speeds[at]).abs().max((end("y") - ways[at]).abs());
            assert!(off < 1e-6, "{seed}: mass {at} is off by {off} after {hits} hits");
        }
        all += hits;
    }
    assert!(all > 300, "{all} hits");
}
