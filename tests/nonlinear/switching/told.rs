//! What a run tells about a model with modes: lost initial values, shared loads, events that accumulate.

use super::{RECTIFIER, said, written};
use std::fs;

/// The initial values of runs with events follow the rules of all runs: a contradiction caused by the values of a sweep
/// is an error too.
#[test]
fn starts_that_contradict_each_other_in_a_sweep_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model Starts {\n  param a = 1;\n  node n : electrical;\n  c1 : Capacitor(1) n -> gnd, start = a;\n  \
         c2 : Capacitor(2) n -> gnd, start = 1;\n  r : Resistor(1) n -> gnd;\n  discrete k = 0;\n  every 0.5 { k := k + 1; }\n  \
         output v = across(r);\n  experiment { stop = 1 [s]; points = 3; }\n}\n";
    let file = written(&folder, text).display().to_string();
    let (rows, told, _) = said("simulate", &[&file, "--sweep", "a=1:2:2"]);
    assert!(told.contains("1 of 2 runs failed"), "{told}");
    assert!(rows.contains("LGM1005"), "{rows}");
}

#[test]
fn a_current_around_ideal_elements_is_told_to_be_one_of_many() {
    let folder = tempfile::tempdir().unwrap();
    let second = "  c : Capacitor";
    let beside = RECTIFIER.replace(second, &format!("  d2 : IdealDiode a -> k;\n{second}"));
    for (text, is_told) in [(RECTIFIER, false), (&beside, true)] {
        let file = written(&folder, text).display().to_string();
        let (_, told, code) = said("simulate", &[&file]);
        assert_eq!(code, Some(0));
        assert_eq!(told.contains("LGM1026"), is_told, "{told}");
    }
}

#[test]
fn an_initial_value_that_the_modes_do_not_keep_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let model = |parts: &str| {
        let source = "source : VoltageSource(1 [V]) a -> gnd;\n  r : Resistor(1 [ohm]) a -> b;";
        let further = if parts.contains("-> c;") { ", c" } else { "" };
        format!("import switching;\nmodel M {{\n  node a, b{further} : electrical;\n  {source}\n  {parts}\n}}\n")
    };
    let coil = "coil : Inductor(0.1 [H]) c -> gnd, start";
    let capacitor = "c1 : Capacitor(1) b -> gnd, start = 10;  s : Switch(time";
    let cases = [
        (format!("s : Switch(time > 0.5) b -> c;  {coil} = 10;"), true),
        (format!("s : Switch(time < 0.5) b -> c;  {coil} = 10;"), false),
        (format!("s : Switch(time > 0.5) b -> c;  {coil} = 0;"), false),
        (format!("t : Thyristor(time > 0.5) b -> c;  {coil} = 10;"), true),
        (format!("d : IdealDiode b -> c;  {coil} = -10;"), true),
        (format!("d : IdealDiode b -> c;  {coil} = 10;"), false),
        (format!("{capacitor} < 0.5) b -> gnd;"), true),
        (format!("{capacitor} > 0.5) b -> gnd;"), false),
        // Charge is shared, and not lost.
        (
            format!("{capacitor} < 0.5) b -> c;  c2 : Capacitor(1) c -> gnd, start = 2;"),
            false,
        ),
    ];
    for (parts, is_told) in cases {
        let file = written(&folder, &model(&parts));
        let (_, told, code) = said("simulate", &[&file.display().to_string(), "--stop", "1"]);
        assert_eq!(code, Some(0), "{parts}\n{told}");
        assert_eq!(told.contains("LGM1027"), is_told, "{parts}\n{told}");
        let program = folder.path().join("program").display().to_string();
        let (_, told, code) = said(
            "emit",
            &[&file.display().to_string(), "--target", "c", "-o", &program, "--force"],
        );
        assert_eq!(code, Some(0), "{parts}\n{told}");
        assert_eq!(told.contains("LGM1027"), is_told, "{parts}\n{told}");
    }
}

/// Energies in closed form: charge and flux are kept, and what a source gives at its voltage is half stored.
#[test]
fn energy_lost_at_the_start_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        // 50 J become 25 J at 5 V, or at 5 A.
        (
            "c1 : Capacitor(1) a -> gnd, start = 10;  c2 : Capacitor(1) b -> gnd;  s : Switch(time > -1) a -> b;",
            "mode,s",
            25.0,
        ),
        (
            "l1 : Inductor(1) a -> b, start = 10;  l2 : Inductor(1) b -> gnd;  s : Switch(time > 9) b -> gnd;",
            "start,",
            25.0,
        ),
        (
            "c1 : Capacitor(1) b -> gnd;  s : Switch(time > -1) a -> b;  v : VoltageSource(10) a -> gnd;",
            "mode,s",
            50.0,
        ),
        (
            "c1 : Capacitor(1) b -> gnd, start = 4;  s : Switch(time > -1) a -> b;  v : VoltageSource(10) a -> gnd;",
            "mode,s",
            18.0,
        ),
        (
            "l1 : Inductor(1) a -> b, start = 4;  s : Switch(time > 9) b -> gnd;  v : VoltageSource(10) a -> gnd;",
            "start,",
            8.0,
        ),
        (
            "c1 : Capacitor(1) b -> gnd, start = 4;  s : Switch(time > 9) a -> b;  v : VoltageSource(10) a -> gnd;",
            "",
            0.0,
        ),
    ];
    for (parts, row, lost) in cases {
        let text = format!(
            "import switching;\nmodel M {{\n  node a, b : electrical;\n  {parts}\n  r : Resistor(1) a -> gnd;\n  \
             q : Resistor(1) b -> gnd;\n}}\n"
        );
        // A resistor would take the current of the two coils.
        let text = if parts.starts_with("l1") {
            text.replace("  q : Resistor(1) b -> gnd;\n", "")
        } else {
            text
        };
        let file = written(&folder, &text).display().to_string();
        let events = folder.path().join("events.csv").display().to_string();
        let (_, told, code) = said("simulate", &[&file, "--stop", "1", &format!("--events={events}")]);
        assert_eq!(code, Some(0), "{parts}\n{told}");
        let listed = fs::read_to_string(&events).unwrap();
        let Some(first) = listed.lines().nth(1) else {
            assert_eq!(lost, 0.0, "{parts}\n{listed}");
            continue;
        };
        let found: f64 = first.rsplit(',').next().unwrap().parse().unwrap();
        assert!(first.starts_with(&format!("0.0,{row}")), "{parts}\n{listed}");
        assert!((found - lost).abs() < 1e-9, "{parts}\n{listed}");
        assert!(told.contains(&format!("{lost} J lost in them")), "{parts}\n{told}");
        assert!(
            told.contains(&format!("{lost} J lost in events, within")),
            "{parts}\n{told}"
        );
    }
}

#[test]
fn antiparallel_thyristors_share_no_load() {
    let text = "import switching;\nmodel M {\n  node a, b, x : electrical;\n  source : VoltageSource(100*sin(2*pi*50*time)) a -> gnd;\n  \
         t1 : Thyristor(time > 0) a -> b;\n  t2 : Thyristor(time > 0) b -> a;\n  r : Resistor(10) b -> x;\n  \
         l : Inductor(0.018) x -> gnd;\n  output i2 = through(t2);\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, text).display().to_string();
    let (rows, told, _) = said("simulate", &[&file, "--stop", "0.04", "--points", "5"]);
    assert!(!told.contains("LGM1026"), "{told}");
    assert_eq!(rows.lines().nth(2), Some("0.01,0"), "{rows}");
}

#[test]
fn an_output_that_is_small_between_two_events_only_is_no_small_difference() {
    // One row between two events: the voltage passes zero there.
    let text = "model M {\n  node a, b : electrical;\n  source : VoltageSource(10*sin(2*pi*50*time + 0.37)) a -> gnd;\n  \
         r : Resistor(1) a -> b;\n  l : Inductor(0.005) b -> gnd;\n  discrete k = 0;\n  every 0.0002 { k := k + 1; }\n  \
         output v = across(l);\n  experiment { stop = 0.04 [s]; points = 41; }\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, text).display().to_string();
    for method in ["auto", "bdf", "sdirk", "tr-bdf2"] {
        let (_, told, _) = said("simulate", &[&file, "--method", method]);
        assert!(!told.contains("LGM1025"), "{method}: {told}");
    }
}

#[test]
fn events_that_accumulate_are_told_with_their_block() {
    let text = "model M {\n  discrete n = 0;  discrete m = 0;\n  when n > m { m := n + 1; }\n  \
         when m > n { n := m + 1; }\n  when time > 0.5 { n := 1; }\n  output n = n;\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, text).display().to_string();
    let (_, told, code) = said("simulate", &[&file, "--stop", "1"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("LGM1014") && told.contains("model.lgm:3:3"), "{told}");
}

#[test]
fn the_events_of_a_law_that_jumps_are_named_after_its_line() {
    let text = "model M {\n  node s : rotational;\n  rotor : Inertia(1) s -> gnd, start = 2;\n  \
         state angle = int(across(rotor));\n  motor : TorqueSource(if cos(4*angle) > 0.5 then 0.1 else 0) gnd -> s;\n  \
         output w = across(rotor);\n  experiment { stop = 1 [s]; points = 3; }\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, text).display().to_string();
    let events = folder.path().join("events.csv").display().to_string();
    let (_, told, code) = said("simulate", &[&file, &format!("--events={events}")]);
    assert_eq!(code, Some(0), "{told}");
    let listed = fs::read_to_string(&events).unwrap();
    assert!(listed.lines().skip(1).all(|line| line.contains("when:5")), "{listed}");
    assert!(listed.lines().count() > 1, "{listed}");
}

#[test]
fn the_blocks_of_a_component_are_named_after_its_instance() {
    let text = "import signals;\nmodel M {\n  adc : SampleHold(0.1) (u = time);\n  every 0.5 { }\n  output y = adc.y;\n  \
         experiment { stop = 1 [s]; points = 3; }\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, text).display().to_string();
    let events = folder.path().join("events.csv").display().to_string();
    let (_, told, code) = said("simulate", &[&file, &format!("--events={events}")]);
    assert_eq!(code, Some(0), "{told}");
    let listed = fs::read_to_string(&events).unwrap();
    assert!(listed.contains("adc.every:") && listed.contains(",every:4"), "{listed}");
}

#[test]
fn the_elements_that_share_a_load_do_not_depend_on_the_order_of_lines() {
    let folder = tempfile::tempdir().unwrap();
    let parts = [
        "source : VoltageSource(3*sin(2*pi*50*time)) p -> gnd;",
        "d1 : IdealDiode p -> k;",
        "d2 : IdealDiode gnd -> k;",
        "d3 : IdealDiode n -> p;",
        "d4 : IdealDiode n -> gnd;",
        "r : Resistor(10) k -> m;",
        "battery : VoltageSource(5) m -> n;",
    ];
    for turn in 0..parts.len() {
        let mut turned = parts;
        turned.rotate_left(turn);
        let first = turned.iter().position(|part| part.starts_with('d')).unwrap();
        let text = format!(
            "import switching;\nmodel M {{\nnode p, k, m, n : electrical;\n{}\n}}\n",
            turned.join("\n")
        );
        let file = written(&folder, &text).display().to_string();
        let (_, told, _) = said("simulate", &[&file, "--stop", "0.04"]);
        let place = format!("model.lgm:{}:1", first + 4);
        assert!(told.contains("LGM1026") && told.contains(&place), "{place}\n{told}");
    }
}
