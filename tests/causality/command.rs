//! `lgm causality` as a command: its output for models of known causality, and the contents of its page.

use crate::causality::report::compilation;
use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use support::program;

fn said(arguments: &[&str]) -> (String, String, Option<i32>) {
    program::said("causality", arguments)
}

fn example(name: &str) -> String {
    format!("{}/examples/{name}.lgm", env!("CARGO_MANIFEST_DIR"))
}

/// McCalla's path, as the thesis prints it: "I2 1B T 1A I1".
#[test]
fn dependent_storage_has_its_causal_path() {
    let (out, _, code) = said(&[&example("lever"), "--format", "json"]);
    assert_eq!(code, Some(0));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["schema"], "lgm-causality/1");
    let storage = &report["storage"];
    assert_eq!(storage[0]["causality"], "integral");
    assert_eq!(storage[0]["state"], "I1.p");
    assert_eq!(storage[1]["causality"], "derivative");
    assert_eq!(storage[1]["on"], serde_json::json!(["I1"]));
    assert_eq!(storage[1]["paths"], serde_json::json!([["I2", "B", "T", "A", "I1"]]));
    let strokes: Vec<&str> = report["bonds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bond| bond["effort_at"].as_str().unwrap())
        .collect();
    assert_eq!(strokes.len(), 5);
    let causes: BTreeSet<&str> = report["order"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["cause"].as_str().unwrap())
        .collect();
    assert_eq!(causes, BTreeSet::from(["source", "storage", "junction", "coupler"]));
    assert_eq!(report["tree"], serde_json::Value::Null);
}

/// The report shows the choice of `--retain`.
#[test]
fn retained_storage_is_integral() {
    let (out, _, code) = said(&[&example("rigid_gears"), "--retain", "load"]);
    assert_eq!(code, Some(0));
    let line = |name: &str| {
        out.lines()
            .rfind(|line| line.trim_start().starts_with(name))
            .unwrap()
            .to_string()
    };
    assert!(
        line("load ").contains("integral") && line("load ").contains("retained"),
        "{out}"
    );
    assert!(
        line("rotor ").contains("derivative") && line("rotor ").contains("follows from load"),
        "{out}"
    );
    let (out, error, code) = said(&[&example("rigid_gears"), "--retain", "nothing"]);
    assert_eq!(code, Some(2));
    assert!(out.is_empty() && error.contains("LGM0904"), "{out}{error}");
}

/// Contradictory sources: the diagnostic, and the report up to the conflict.
#[test]
fn conflicts_are_reported_with_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.lgm");
    let text = "model M { node a, b : electrical; E1 : VoltageSource(1 [V]) a -> gnd; E2 : VoltageSource(2 [V]) a -> gnd;\n\
                R : Resistor(2 [ohm]) a -> b; C : Capacitor(1 [F]) b -> gnd; output v = across(C); }\n";
    fs::write(&file, text).unwrap();
    let (out, error, code) = said(&[&file.display().to_string()]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("LGM0301"), "{error}");
    assert!(out.contains("\nconflicts\n  E2  its voltage is already set\n"), "{out}");
    assert!(out.contains("it closes a loop with E1"), "{out}");
    assert!(out.lines().any(|line| line.contains("branch  C ")), "{out}");
}

/// Capacitors in a loop with a source: the one declared last is a link, and follows from the others.
#[test]
fn a_loop_of_across_elements_has_a_link() {
    let text = "model M { node a, b : electrical; E : VoltageSource(1 [V]) a -> gnd; C1 : Capacitor(1 [F]) a -> b;\n\
                C2 : Capacitor(1 [F]) b -> gnd; R : Resistor(1 [ohm]) b -> gnd; output v = across(C2); }\n";
    let compilation = compilation(text, None, &[]);
    let report = compilation.causality().unwrap();
    let tree = report.tree.as_ref().unwrap();
    let member = tree.members.iter().find(|member| member.name == "C2").unwrap();
    assert_eq!(member.is_branch, Some(false));
    assert!(
        member.rule.contains("with C1 and E it would close a loop of branches"),
        "{}",
        member.rule
    );
    let storage = report
        .storage
        .iter()
        .find(|storage| report.ports[storage.port].name == "C2")
        .unwrap();
    assert!(!storage.is_integral);
    let ends: BTreeSet<&str> = storage
        .follows
        .iter()
        .map(|path| &*report.ports[path.to].name)
        .collect();
    assert_eq!(ends, BTreeSet::from(["C1", "E"]));
}

/// Algebraic loops: a bridge of resistors has two, on both sides of its supply; a divider that feeds a coil has none.
#[test]
fn algebraic_loops_are_those_of_the_resistors() {
    let loops = |text: &str| {
        let compilation = compilation(text, None, &[]);
        let report = compilation.causality().unwrap();
        let names = |ports: &Vec<usize>| {
            ports
                .iter()
                .map(|port| report.ports[*port].name.clone())
                .collect::<Vec<_>>()
        };
        report.loops.iter().map(|each| names(&each.ports)).collect::<Vec<_>>()
    };
    let bridge = fs::read_to_string(example("wheatstone_bridge")).unwrap();
    assert_eq!(
        loops(&bridge),
        [["upper_left", "lower_left"], ["upper_right", "lower_right"]]
    );
    let series = "model M { node a, b, c : electrical; E : VoltageSource(1 [V]) a -> gnd; R : Resistor(1 [ohm]) a -> b;\n\
                  L : Inductor(1 [H]) b -> c; P : Resistor(1 [ohm]) c -> gnd; output i = through(L); }\n";
    assert_eq!(loops(series), Vec::<Vec<String>>::new());
    let controlled = "model M { node a, b : electrical; E : VoltageSource(1 [V]) a -> gnd; R : Resistor(1 [ohm]) a -> b;\n\
                      J : CurrentSource(0.5*across(R)/(1 [ohm])) gnd -> b; P : Resistor(1 [ohm]) b -> gnd; output v = across(P); }\n";
    assert_eq!(loops(controlled), [["R", "J", "P"]]);
}

/// The output in the root of the repository, as on the page.
pub fn printed(line: &str) -> String {
    let arguments = line.split_whitespace().skip(1);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lgm"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_of_the_help_run() {
    let help = printed("lgm causality --help");
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    let lines: Vec<&str> = examples
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("lgm "))
        .collect();
    assert!(lines.len() > 2, "{lines:?}");
    for line in lines {
        let part = if line.contains("--play") {
            "id=\"steps\""
        } else {
            "\nstorage\n"
        };
        assert!(printed(line).contains(part), "{line}");
    }
}

/// The rules of a model's tree, and the causes of its strokes, by name.
fn rules(text: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lgm");
    fs::write(&path, text).unwrap();
    let (out, ..) = said(&[path.to_str().unwrap(), "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rules = report["tree"]["rules"].as_array().cloned().unwrap_or_default();
    let order = report["order"].as_array().unwrap().iter();
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    (rules.iter().map(|rule| (word(&rule["name"]), word(&rule["rule"]))))
        .chain(order.map(|step| (format!("cause of {}", word(&step["by"])), word(&step["cause"]))))
        .collect()
}

/// Two current sources at one node: the second one closes no loop, because its node is connected to the first one.
#[test]
fn through_sources_in_conflict_are_blamed_by_their_cut() {
    let found = rules(
        "model M { node a, b : electrical; s1 : CurrentSource(1) gnd -> a; s2 : CurrentSource(2) a -> b;
         r : Resistor(1) b -> gnd; }",
    );
    assert_eq!(found["s2"], "in conflict: without it, only s1 connects a");
}

/// A node with a coupler whose ports may both be branches is not connected by its links alone.
#[test]
fn nothing_is_said_of_cuts_with_couplers_that_are_open() {
    let found = rules(
        "model M { node a, b : electrical; i : CurrentSource(1) gnd -> a; l4 : Inductor(1) gnd -> b;
         l2 : Inductor(1) b -> a; t : Transformer(0.4) b -> gnd, a -> b; }",
    );
    assert_eq!(found["l2"], "T-type storage, but a branch: its current is already set");
    assert!(found["t.a"].starts_with("either"), "{found:?}");
}

#[test]
fn the_stroke_of_a_source_is_that_of_a_source() {
    let found = rules("model M { one A; v : Se(1); s : Sf(2); v -> A; s -> A; }");
    assert_eq!((&*found["cause of v"], &*found["cause of s"]), ("source", "source"));
}

/// The unknowns of a closed chain belong to no element, but still have names.
#[test]
fn unknowns_of_closed_chains_are_named() {
    let path = format!("{}/examples/{}", env!("CARGO_MANIFEST_DIR"), "slider_crank.lgm");
    let (out, ..) = said(&[&path]);
    assert!(out.contains("1 unknown  nonlinear  phi"), "{out}");
}

/// Paths between hundreds of capacitors in one loop are omitted, because they took gigabytes.
#[test]
fn reports_grow_no_faster_than_what_storage_follows_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lgm");
    let text = "model M { const N = 200; input u = 1; node v[N+1] : electrical; s : VoltageSource(u) v[1] -> gnd;
        for i in 1:N { c[i] : Capacitor(1) v[i] -> v[i+1]; g[i] : Capacitor(1) v[i+1] -> gnd;
        r[i] : Resistor(1) v[i+1] -> gnd; } }";
    fs::write(&path, text).unwrap();
    let (out, _, code) = said(&[path.to_str().unwrap(), "--format", "json"]);
    assert_eq!(code, Some(0));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let storage = report["storage"].as_array().unwrap();
    let paths = |storage: &serde_json::Value| {
        let paths = storage["paths"].as_array().unwrap().iter();
        paths.filter(|path| !path.as_array().unwrap().is_empty()).count()
    };
    let most = storage
        .iter()
        .max_by_key(|storage| storage["on"].as_array().unwrap().len())
        .unwrap();
    assert!(most["on"].as_array().unwrap().len() > 100);
    assert_eq!(paths(most), 20);
}

/// The page of the assignment draws a line for every step, and loads no external files.
#[test]
fn the_assignment_is_played_on_the_drawing() {
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, has_open) in [
        ("examples/lever.lgm", false),
        ("examples/quarter_car.lgm", false),
        ("examples/bead_on_hoop.lgm", false),
        ("examples/four_bar.lgm", true),
    ] {
        let page = crate::support::command::lgm(package, &["causality", file, "--play"]);
        crate::support::command::ends_with(&page, 0);
        let page = crate::support::command::out(&page);
        let (_, rest) = page.split_once("id=\"steps\">").unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        let lines = page.matches("<g class=\"half\"").count();
        let report = crate::support::command::lgm(package, &["causality", file, "--format", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
        let steps = data["steps"].as_array().unwrap();
        assert_eq!(steps.len(), report["order"].as_array().unwrap().len(), "{file}");
        let edges = steps.iter().flat_map(|step| step["edges"].as_array().unwrap());
        let edges: std::collections::BTreeSet<u64> = edges.map(|edge| edge.as_u64().unwrap()).collect();
        assert!(
            edges.iter().all(|edge| *edge < lines as u64),
            "{file}: {edges:?} of {lines}"
        );
        let open = data["open"].as_array().unwrap();
        let never: usize = open.iter().map(|group| group["edges"].as_array().unwrap().len()).sum();
        assert_eq!(edges.len() + never, lines, "{file}");
        assert_eq!(!open.is_empty(), has_open, "{file}: {open:?}");
        assert!(!page.contains("src=") && !page.contains("href="), "{file}");
    }
}
