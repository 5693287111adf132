//! Elements with modes, event blocks, and the response of each command to them. Single phenomena are in
//! `tests/corpus/switching`; here are properties of random models, and the forms of the commands.

mod analysed;
mod random;
mod told;

use crate::support;

use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use support::cases::cases;
use support::emitted::Rows;
use support::program::{json as printed, run, said, succeed};

fn written(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let file = folder.path().join("model.lgm");
    fs::write(&file, text).unwrap();
    file
}

fn rows(file: &Path, further: &[&str]) -> Result<Rows, String> {
    let mut words = vec!["simulate".to_string(), file.display().to_string()];
    words.extend(further.iter().map(ToString::to_string));
    let output = run(&words);
    match output.status.success() {
        true => Ok(Rows::read(&String::from_utf8_lossy(&output.stdout))),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn column(rows: &Rows, name: &str) -> Vec<f64> {
    let at = rows
        .names
        .iter()
        .position(|known| known == name)
        .expect("the output is a column");
    rows.values.iter().map(|row| row[at]).collect()
}

const RECTIFIER: &str = "import switching;\nmodel Rectifier {\n  input u [V] = 10*sin(2*pi*50*time);\n  node a, k : electrical;\n  \
     src : VoltageSource(u) a -> gnd;\n  d : IdealDiode a -> k;\n  c : Capacitor(100 [uF]) k -> gnd;\n  r : Resistor(100) k -> gnd;\n  \
     output v = across(c);\n  output i = through(d);\n  experiment { stop = 40 [ms]; points = 41; }\n}\n";

/// A network of diodes, resistors and capacitors between several nodes, driven by two sources.
fn network() -> impl Strategy<Value = (String, usize)> {
    let branch = (0..4usize, 0..4usize, 0..6u8, 1..20u32);
    (prop::collection::vec(branch, 4..14), 1..40u32, 1..40u32).prop_map(|(branches, f1, f2)| {
        let mut text = String::from("import switching;\nmodel Network {\n  node n[4] : electrical;\n");
        let mut diodes = 0;
        let end = |at: usize| format!("n[{}]", at + 1);
        for (at, (from, to, kind, value)) in branches.into_iter().enumerate() {
            let to = if from == to { (to + 1) % 4 } else { to };
            let value = f64::from(value);
            let element = match kind {
                0 | 1 => {
                    diodes += 1;
                    text += &format!("  output v{diodes} = across(d{at});\n  output i{diodes} = through(d{at});\n");
                    format!("d{at} : IdealDiode({})", 0.1 * f64::from(kind))
                }
                2 => format!("c{at} : Capacitor({})", 1e-4 * value),
                _ => format!("r{at} : Resistor({})", 10.0 * value),
            };
            text += &format!("  {element} {} -> {};\n", end(from), end(to));
        }
        // Every node has a path to the reference, and the sources have resistances.
        for at in 0..4 {
            text += &format!("  leak{at} : Resistor({}) {} -> gnd;\n", 1e3 + 100.0 * at as f64, end(at));
        }
        text += &format!(
            "  s1 : CurrentSource(0.1*sin(2*pi*{f1}*time)) gnd -> n[1];\n  s2 : CurrentSource(0.05*sin(2*pi*{f2}*time + 1)) gnd -> n[3];\n  \
             experiment {{ stop = 0.1; points = 201; }}\n}}\n"
        );
        (text, diodes)
    })
}

proptest! {
    #![proptest_config(cases(8))]

    /// The law of every ideal diode holds in every sample: it blocks or conducts, with the right sign. Together with
    /// Kirchhoff's laws, which the equations satisfy, this determines the currents and voltages of such a network.
    #[test]
    fn diodes_block_or_conduct_in_random_networks((text, diodes) in network()) {
        let folder = tempfile::tempdir().unwrap();
        let file = written(&folder, &text);
        let rows = rows(&file, &["--verify"]).map_err(|said| TestCaseError::fail(format!("{said}\n{text}")))?;
        for diode in 1..=diodes {
            let (v, i) = (column(&rows, &format!("v{diode}")), column(&rows, &format!("i{diode}")));
            let size = |list: &[f64]| list.iter().fold(1e-9_f64, |size, value| size.max(value.abs()));
            let (volts, amperes) = (size(&v), size(&i));
            for (row, (v, i)) in v.iter().zip(&i).enumerate() {
                // The forward voltage is 0 or 0.1 V.
                prop_assert!(*v <= 0.1 + 1e-7 * volts, "{diode} at row {row}: {v} V\n{text}");
                prop_assert!(*i >= -1e-7 * amperes, "{diode} at row {row}: {i} A\n{text}");
                let conducts = *i > 1e-6 * amperes;
                let forward = (*v).abs() < 1e-9 * volts.max(1.0) || (v - 0.1).abs() < 1e-9 * volts.max(1.0);
                prop_assert!(!conducts || forward, "{diode} at row {row}: {v} V and {i} A\n{text}");
            }
        }
    }

    /// Masses in a chain that collide conserve their momentum; their energy does not grow, and is constant if all
    /// collisions are elastic.
    #[test]
    fn masses_that_hit_each_other_keep_their_momentum(
        masses in prop::collection::vec((1..50u32, -30..30i32), 2..6),
        restitution in prop::sample::select(vec![0.0, 0.3, 1.0]),
        gap in 1..10u32,
    ) {
        let mut text = format!("import switching;\nmodel Row {{\n  node x[{}] : translational;\n", masses.len());
        let (mut momentum, mut energy) = (Vec::new(), Vec::new());
        for (at, (mass, velocity)) in masses.iter().enumerate() {
            let (mass, velocity) = (0.1 * f64::from(*mass), 0.1 * f64::from(*velocity));
            text += &format!("  m{at} : Mass({mass}) x[{}] -> gnd, start = {velocity};\n", at + 1);
            if at > 0 {
                text += &format!("  w{at} : Wall({}, {restitution}) x[{at}] -> x[{}];\n", 0.1 * f64::from(gap), at + 1);
            }
            momentum.push(format!("{mass}*across(m{at})"));
            energy.push(format!("energy(m{at})"));
        }
        text += &format!(
            "  output p = {};\n  output E = {};\n  experiment {{ stop = 5; points = 101; }}\n}}\n",
            momentum.join(" + "),
            energy.join(" + ")
        );
        let folder = tempfile::tempdir().unwrap();
        let file = written(&folder, &text);
        let list = folder.path().join("events.csv");
        let events = format!("--events={}", list.display());
        let rows = rows(&file, &[&events]).map_err(|said| TestCaseError::fail(format!("{said}\n{text}")))?;
        let (p, e) = (column(&rows, "p"), column(&rows, "E"));
        for at in 1..p.len() {
            prop_assert!((p[at] - p[0]).abs() <= 1e-12 * (1.0 + p[0].abs()), "momentum {} of {}\n{text}", p[at], p[0]);
            prop_assert!(e[at] <= e[at - 1] * (1.0 + 1e-9) + 1e-12, "energy {} after {}\n{text}", e[at], e[at - 1]);
        }
        let last = e[e.len() - 1];
        if restitution == 1.0 {
            prop_assert!((last - e[0]).abs() <= 1e-9 * (1.0 + e[0]), "energy {last} of {}\n{text}", e[0]);
        }
        // The missing energy is the one that the list reports as lost.
        let listed = fs::read_to_string(&list).unwrap();
        let lost: f64 = listed.lines().skip(1).filter_map(|line| line.rsplit(',').next()?.parse::<f64>().ok()).sum();
        prop_assert!((lost - (e[0] - last)).abs() <= 1e-9 * (1.0 + e[0]), "lost {lost} of {}\n{text}\n{listed}", e[0] - last);
    }
}

#[test]
fn equations_name_the_modes_that_they_hold_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, RECTIFIER);
    let equations = printed("equations", &file, &[]);
    assert_eq!(equations["mode"], json!({ "d": "blocking" }));
    assert_eq!(equations["modes"], json!({ "d": ["blocking", "conducting"] }));
    assert_eq!(equations["states"].as_array().unwrap().len(), 1);
    let conducting = printed("equations", &file, &["--mode".to_string(), "d=conducting".to_string()]);
    assert_eq!(conducting["mode"], json!({ "d": "conducting" }));
    assert_eq!(
        conducting["states"].as_array().unwrap().len(),
        0,
        "the capacitor follows the source"
    );
    let text = succeed(&["equations".to_string(), file.display().to_string()]);
    assert!(text.contains("in the modes: d blocking"), "{text}");
}

#[test]
fn a_model_of_fixed_structure_prints_no_modes() {
    let equations = printed("equations", &support::program::example("oscillator.lgm"), &[]);
    assert!(equations.get("mode").is_none() && equations.get("modes").is_none());
}

#[test]
fn the_list_of_events_has_a_line_for_each() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, RECTIFIER);
    let list = folder.path().join("events.csv");
    rows(&file, &[&format!("--events={}", list.display())]).unwrap();
    let text = fs::read_to_string(&list).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "time,kind,element,from,to,energy_lost");
    assert!(lines[1].starts_with("0.0,mode,d,blocking,conducting,"), "{text}");
    assert!(lines.iter().skip(2).all(|line| line.contains(",mode,d,")), "{text}");
    // The current ends where 2*pi*50*R*C*cos = -sin, and the diode conducts again in the next period.
    let time = |line: &str| line.split(',').next().unwrap().parse::<f64>().unwrap();
    let omega = 2.0 * std::f64::consts::PI * 50.0;
    let end = (std::f64::consts::PI - (omega * 0.01).atan()) / omega;
    assert!((time(lines[2]) - end).abs() < 1e-9, "{} and {end}", time(lines[2]));
}

#[test]
fn the_energy_lost_in_all_events_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let list = format!("--events={}", folder.path().join("events.csv").display());
    let rows = folder.path().join("rows.csv").display().to_string();
    let ball = support::program::example("switching/dropped_ball.lgm")
        .display()
        .to_string();
    let (_, told, _) = said("simulate", &[&ball, &list, "-o", &rows]);
    // 2 kg have fallen 1 m and are at rest.
    assert!(told.contains(" mode), 19.62 J lost in them\n"), "{told}");
}

/// A source that steps across a capacitor supplies energy by an impulse. It is not part of the loss in another event.
#[test]
fn impulses_at_steps_of_inputs_are_not_lost_in_events() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(
        &folder,
        "import switching;
model Steps {
  input v [V] = 4 - 3*step(1);
  node a, b, d : electrical;
  s : VoltageSource(v) a -> gnd;
  c : Capacitor(2 [F]) a -> gnd;
  rest : VoltageSource(0) b -> gnd;
  sw : Switch(time >= 1.5) b -> d;
  r : Resistor(1) d -> gnd;
  output vc = across(c);
  experiment { stop = 2 [s]; points = 3; }
}",
    );
    let list = format!("--events={}", folder.path().join("events.csv").display());
    let (_, told, _) = said("simulate", &[file.to_str().unwrap(), &list]);
    assert!(told.contains("1 event (1 mode), 0 J lost in them\n"), "{told}");
    // From 4 V to 1 V: 15 J less, of which -6 J flow into the source.
    assert!(
        told.contains("-6 J supplied = -15 J stored + 0 J dissipated + 9 J lost"),
        "{told}"
    );
}

/// The energies of a run in the output of `--events=FILE`: supplied, stored, dissipated, lost, residual.
fn energies(text: &str, further: &[&str]) -> [f64; 5] {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, text);
    let list = format!("--events={}", folder.path().join("events.csv").display());
    let (_, error, code) = said("simulate", &[&[file.to_str().unwrap(), &list], further].concat());
    assert_eq!(code, Some(0), "{error}");
    let line = error.lines().find_map(|line| line.strip_prefix("energy: "));
    let line = line.unwrap_or_else(|| panic!("no balance: {error}"));
    let numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    let numbers: Vec<f64> = numbers.collect();
    numbers.try_into().unwrap_or_else(|_| panic!("five numbers: {line}"))
}

/// By hand: a capacitor charged by a source through a resistor takes half of the supplied energy, and merging charges
/// lose the rest.
#[test]
fn the_balance_of_energy_closes() {
    let shared = "import switching;\nmodel Shared {\n  node a, b, c : electrical;\n  src : VoltageSource(10) a -> gnd;\n  \
         r : Resistor(100) a -> b;\n  c1 : Capacitor(100 [uF]) b -> gnd;\n  s : Switch(time > 1) b -> c;\n  \
         c2 : Capacitor(100 [uF]) c -> gnd;\n  output v = across(c2);\n}\n";
    let [supplied, stored, dissipated, lost, rest] = energies(shared, &["--stop", "2", "--rtol", "1e-9"]);
    // 5 mJ each during charging from 0 to 10 V; then 10 V and 0 V become 5 V and 5 V, and both are charged again.
    let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-8, "{found} is not {wanted}");
    near(supplied, 0.01 + 0.01);
    near(stored, 0.01);
    near(dissipated, 0.005 + 0.0025);
    near(lost, 0.0025);
    near(rest, 0.0);
    for (model, further) in [
        ("stick_slip", &[][..]),
        ("clutch", &[]),
        ("buck_converter", &[]),
        ("bridge_rectifier", &[]),
        ("dropped_ball", &["--rtol", "1e-8"]),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/switching/{model}.lgm"));
        let [supplied, stored, dissipated, lost, rest] = energies(&fs::read_to_string(file).unwrap(), further);
        let size = supplied.abs() + stored.abs() + dissipated.abs() + lost.abs();
        assert!(
            size > 0.0 && rest < 1e-4 * size,
            "{model}: {rest} J of {size} J are left over"
        );
    }
}

/// At any tolerance, however small, a ball comes to rest on the floor.
#[test]
fn small_tolerances_do_not_make_events_accumulate() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/switching/collisions/ball_rests.lgm");
    for tolerance in ["1e-8", "1e-9", "1e-10", "1e-12"] {
        for method in ["tsit45", "bdf"] {
            let rows = rows(&file, &["--rtol", tolerance, "--method", method]).unwrap();
            let (fallen, force) = (column(&rows, "fallen"), column(&rows, "f"));
            let (fallen, force) = (fallen[fallen.len() - 1], force[force.len() - 1]);
            assert!(
                (fallen - 1.0).abs() < 1e-9 && (force - 19.62).abs() < 1e-9,
                "{tolerance} {method}: {fallen} {force}"
            );
        }
    }
}

#[test]
fn rows_just_before_and_behind_events_are_written_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model Count {\n  discrete n = 0;\n  every 0.3 { n := n + 1; }\n  output y = n;\n  experiment { stop = 1; points = 2; }\n}\n";
    let file = written(&folder, text);
    let plain = rows(&file, &[]).unwrap();
    assert_eq!(plain.values.len(), 2);
    let more = rows(&file, &["--events"]).unwrap();
    let at = |time: f64| {
        let values = more.values.iter().filter(|row| (row[0] - time).abs() < 1e-12);
        values.map(|row| row[1]).collect::<Vec<f64>>()
    };
    assert_eq!((at(0.3), at(0.6)), (vec![1.0, 2.0], vec![2.0, 3.0]));
}

/// The switches change one unit in the last place after the sample at 1.5 ms.
#[test]
fn rows_at_events_do_not_go_back_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import switching;\nmodel Pair {\n  node p, o : electrical;\n  s : VoltageSource(10) p -> gnd;\n  \
         hi : Switch(mod(time, 1e-3) < 0.5e-3) p -> o;\n  lo : Switch(mod(time, 1e-3) > 0.5e-3) o -> gnd;\n  \
         r : Resistor(1) o -> gnd;\n  output v = across(r);\n  experiment { stop = 0.1; points = 201; }\n}\n";
    let found = rows(&written(&folder, text), &["--events"]).unwrap();
    let times: Vec<f64> = found.values.iter().map(|row| row[0]).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times.contains(&1.5e-3) && times.len() > 500, "{times:?}");
}

#[test]
fn combinations_that_can_be_reached_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, RECTIFIER);
    let found = printed("switching", &file, &[]);
    assert_eq!((&found["possible"], &found["complete"]), (&json!(2), &json!(true)));
    let combinations = found["combinations"].as_array().unwrap();
    assert_eq!(
        combinations[0],
        json!({ "mode": { "d": "blocking" }, "order": 1, "dependent": [], "conflict": null })
    );
    assert_eq!(combinations[1]["dependent"], json!(["c"]));
    let (text, _, _) = said(
        "switching",
        &[&support::program::example("oscillator.lgm").display().to_string()],
    );
    assert!(text.contains("no element of the model has modes"), "{text}");
}

#[test]
fn poles_of_a_sampled_loop_are_those_of_its_exact_equations() {
    // J w' = u - b w with u = -k w held constant for a period: z = a - g k, a = exp(-b T/J), g = (1 - a)/b.
    let folder = tempfile::tempdir().unwrap();
    let text = "model Loop {\n  param J = 0.01; param b = 0.02; param k = 0.3; const T = 10 [ms];\n  node w : rotational;\n  discrete u = 0;\n  \
                every T { u := -k*across(rotor); }\n  motor : TorqueSource(u) gnd -> w;\n  rotor : Inertia(J) w -> gnd;\n  \
                drag : RotaryDamper(b) w -> gnd;\n}\n";
    let file = written(&folder, text);
    let found = printed("modes", &file, &["--sampled".to_string()]);
    let a = (-0.02_f64 * 0.01 / 0.01).exp();
    let expected = a - (1.0 - a) / 0.02 * 0.3;
    let z: Vec<f64> = found["z"]
        .as_array()
        .unwrap()
        .iter()
        .map(|z| z[0].as_f64().unwrap())
        .collect();
    assert_eq!(found["period"], json!(0.01));
    assert!(z.iter().any(|z| (z - expected).abs() < 1e-12), "{z:?} and {expected}");
    // The value of the discrete variable before the sample is overwritten.
    assert!(z.iter().any(|z| z.abs() < 1e-12), "{z:?}");
}

/// Linearised about a start of 1, `-k*w^2` is `-2*k*w`; about 0 it would be zero.
#[test]
fn blocks_that_are_not_linear_are_taken_about_the_starts() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model Loop {\n  const T = 10 [ms];\n  node w : rotational;\n  discrete u = 0;\n  discrete v = 0;\n  \
                every T { v := across(rotor)^2; u := -0.3*v; }\n  motor : TorqueSource(u) gnd -> w;\n  \
                rotor : Inertia(0.01) w -> gnd, start = 1;\n  drag : RotaryDamper(0.02) w -> gnd;\n}\n";
    let found = printed("modes", &written(&folder, text), &["--sampled".to_string()]);
    let a = (-0.02_f64).exp();
    let expected = a - (1.0 - a) / 0.02 * 0.6;
    let z = found["z"].as_array().unwrap();
    let is_there = z.iter().any(|z| (z[0].as_f64().unwrap() - expected).abs() < 1e-12);
    assert!(is_there && found["linearized"] == true, "{found} and {expected}");
}

#[test]
fn sampling_is_exact_over_many_periods() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model Clock {\n  discrete n = 0; discrete last = 0;\n  every 1e-5 { n := n + 1; last := time; }\n  output count = n;\n  \
                output at = last;\n  experiment { stop = 1; points = 3; }\n}\n";
    let file = written(&folder, text);
    let rows = rows(&file, &[]).unwrap();
    assert_eq!(column(&rows, "count"), [1.0, 50_001.0, 100_001.0]);
    assert_eq!(column(&rows, "at"), [0.0, 0.5, 1.0]);
}

#[test]
fn runs_with_many_parameter_values_carry_events_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = RECTIFIER
        .replace("input u", "param C = 100 [uF];\n  input u")
        .replace("Capacitor(100 [uF])", "Capacitor(C)");
    let file = written(&folder, &text);
    let table = folder.path().join("runs.csv").display().to_string();
    let words = [
        "simulate",
        &file.display().to_string(),
        "--sweep",
        "C=1e-4:3e-4:2",
        "-o",
        &table,
    ];
    succeed(&words.map(ToString::to_string));
    let many = fs::read_to_string(&table).unwrap();
    let mut lines = many.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let names = lines.next().unwrap();
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let of_run = |lines: &[Vec<&str>], run: &str| -> Vec<f64> {
        let own = lines.iter().filter(|line| line[at("run")] == run);
        own.map(|line| line[at("v")].parse().unwrap()).collect()
    };
    let lines: Vec<Vec<&str>> = lines.collect();
    for (run, value) in [("1", "1e-4"), ("2", "3e-4")] {
        let expected = column(&rows(&file, &["--set", &format!("C={value}")]).unwrap(), "v");
        let found = of_run(&lines, run);
        assert_eq!(found.len(), expected.len(), "{many}");
        let furthest = found
            .iter()
            .zip(&expected)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(furthest < 1e-5, "run {run}: {furthest}");
    }
}

#[test]
fn a_junction_that_is_off_lets_no_flow_through() {
    // The momentum of the inertance is lost when its junction switches off.
    let folder = tempfile::tempdir().unwrap();
    let text = "model Valve {\n  param m = 2;\n  one A, on = time < 1;\n  S : Se(3);\n  M : I(m);\n  B : R(1);\n  S -> A -> M;\n  A -> B;\n  \
                output f = flow(M);\n  experiment { stop = 2; points = 5; }\n}\n";
    let file = written(&folder, text);
    let list = folder.path().join("events.csv");
    let rows = rows(&file, &[&format!("--events={}", list.display())]).unwrap();
    let flow = column(&rows, "f");
    let rising = |time: f64| 3.0 * (1.0 - (-time / 2.0).exp());
    assert!((flow[1] - rising(0.5)).abs() < 1e-5, "{flow:?}");
    assert_eq!(&flow[3..], [0.0, 0.0]);
    let events = fs::read_to_string(&list).unwrap();
    let line = events.lines().nth(1).unwrap();
    assert!(line.contains(",junction,A,on,off,"), "{events}");
    let lost: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
    assert!((lost - rising(1.0).powi(2)).abs() < 1e-4, "{lost}");
}

#[test]
fn discrete_variables_stay_inputs_beside_functions_of_time() {
    // The capacitor needs the rate of its source, so this function of time becomes an input after the discrete one.
    let folder = tempfile::tempdir().unwrap();
    let text = "model Beside {\n  node a, b : electrical;\n  src : VoltageSource(sin(time)) a -> gnd;\n  c : Capacitor(0.5) a -> gnd;\n  \
                discrete k = 0;\n  every 1 { k := k + 1; }\n  i : CurrentSource(k) gnd -> b;\n  r : Resistor(2) b -> gnd;\n  \
                output v = across(r);\n  output j = through(c);\n  experiment { stop = 3 [s]; points = 7; }\n}\n";
    let rows = rows(&written(&folder, text), &[]).unwrap();
    assert_eq!(column(&rows, "v"), [2.0, 2.0, 4.0, 4.0, 6.0, 6.0, 8.0]);
    let time = column(&rows, "time");
    for (time, current) in time.iter().zip(column(&rows, "j")).skip(1) {
        assert!((current - 0.5 * time.cos()).abs() < 1e-9, "{time}: {current}");
    }
}

/// Two masses with friction between them and against the ground; one of them hits a wall.
const RUBBING: &str = "import switching;\nmodel Rubbing {\n  node x[2] : translational;\n  m0 : Mass(1.026) x[1] -> gnd, start = 0.117;\n  \
     m1 : Mass(1.244) x[2] -> gnd, start = -0.473;\n  k0 : Spring(65.411) x[2] -> gnd;\n  k1 : Spring(57.144) x[2] -> x[1];\n  \
     f0 : DryFriction(1.051, 2.679) x[1] -> gnd;\n  f1 : DryFriction(1.364, 2.399) x[1] -> x[2];\n  f2 : DryFriction(1.697, 2.175) x[2] -> \
     gnd;\n  push : ForceSource(7.513*sin(5.098*time + 3.972)) gnd -> x[1];\n  w : Wall(0.594, 0.50) gnd -> x[1];\n  output v0 = \
     across(m0);\n  output v1 = across(m1);\n  experiment { stop = 4 [s]; points = 41; }\n}\n";

#[test]
fn friction_passes_on_no_impulse_of_a_wall() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, RUBBING);
    let loose = rows(&file, &["--rtol", "1e-7"]).unwrap();
    let tight = rows(&file, &["--rtol", "1e-10"]).unwrap();
    for name in ["v0", "v1"] {
        let (a, b) = (column(&loose, name), column(&tight, name));
        assert!(
            (a[a.len() - 1] - b[b.len() - 1]).abs() < 1e-4,
            "{name}: {:?} and {:?}",
            a.last(),
            b.last()
        );
    }
    // Samples before and after each event: the second mass, which no wall stops, continues unchanged.
    let seen = rows(&file, &["--events"]).unwrap();
    let (time, v0, v1) = (column(&seen, "time"), column(&seen, "v0"), column(&seen, "v1"));
    let mut hits = 0;
    for at in 1..time.len() {
        if time[at] == time[at - 1] && (v0[at] - v0[at - 1]).abs() > 1e-3 {
            hits += 1;
            assert!((v0[at] + 0.5 * v0[at - 1]).abs() < 1e-6, "{} s", time[at]);
            assert!((v1[at] - v1[at - 1]).abs() < 1e-6, "{} s", time[at]);
        }
    }
    assert_eq!(hits, 2);
}

/// A valve that holds 5 MPa opens in the initial equilibrium of a run, and a block leaves an equilibrium unchanged.
#[test]
fn runs_from_an_equilibrium_begin_in_modes_that_agree_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(
        &folder,
        "import switching;
model Relief {
  input q [m^3/s] = 2e-4;
  node a, b : fluid;
  pump : FlowSource(q) gnd -> a; c1 : FluidCapacitor(1e-11) a -> gnd; valve : ReliefValve(5e6) a -> gnd;
  line : FluidResistor(1e11) a -> b; c2 : FluidCapacitor(1e-11) b -> gnd; load : FluidResistor(2e11) b -> gnd;
  discrete n = 0; when across(b) > 1e9 { n := 1; }
  output pa = across(a); output pb = across(b);
}",
    );
    let options = [
        "--from-equilibrium",
        "--stop",
        "1",
        "--points",
        "3",
        "--columns",
        "pa,pb",
    ];
    let found = rows(&file, &options).unwrap_or_else(|fault| panic!("{fault}"));
    for (name, wanted) in [("pa", 5e6), ("pb", 1e7 / 3.0)] {
        let values = column(&found, name);
        assert!(
            values.iter().all(|value| (value - wanted).abs() < 1e-3),
            "{name}: {values:?}"
        );
    }
    let refused = rows(&file, &["--stop", "1", "--states", "energy"])
        .err()
        .unwrap_or_default();
    assert!(refused.contains("LGM0606"), "{refused}");
}

/// A capacitor charged through an ideal switch takes half of the energy of the source.
#[test]
fn the_balance_of_energy_has_impulses_of_sources() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(
        &folder,
        "import switching;
model Charging {
  node a, b : electrical;
  src : VoltageSource(5) a -> gnd; s : Switch(time > 1e-3) a -> b; c : Capacitor(1 [uF]) b -> gnd;
  output v = across(c);
}",
    );
    let events = format!("--events={}", folder.path().join("events.csv").display());
    let words = [
        "simulate".to_string(),
        file.display().to_string(),
        "--stop=5e-3".into(),
        events,
    ];
    let output = run(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("2.5e-5 J supplied = 1.25e-5 J stored + 0 J dissipated + 1.25e-5 J lost in events"),
        "{said}"
    );
    // The list agrees.
    let list = fs::read_to_string(folder.path().join("events.csv")).unwrap();
    let lost = list.lines().nth(1).and_then(|line| line.rsplit_once(','));
    let lost: f64 = lost.unwrap().1.parse().unwrap();
    assert!((lost - 1.25e-5).abs() < 1e-12, "{list}");
    assert!(said.contains("1.25e-5 J lost in them"), "{said}");
}
