//! Stepwise network reduction compared with simultaneous elimination.

use super::transfer::value;
use super::{json, written};
use crate::equations::networks::random::Random;
use crate::support;
use num_complex::Complex64;
use serde_json::Value;
use std::fmt::Write;
use support::arithmetic::Bindings;
use support::records::{Record, bindings};

/// A two-terminal network that grows by series and parallel connections and couplers.
#[derive(Default)]
struct Network {
    text: String,
    nodes: Vec<(String, bool)>,
    elements: usize,
    bindings: Bindings,
}

impl Network {
    /// A node of the electrical or the translational domain.
    fn node(&mut self, is_electrical: bool) -> String {
        let name = format!("n{}", self.nodes.len());
        self.nodes.push((name.clone(), is_electrical));
        name
    }

    /// Inserts an element between two nodes.
    fn grow(&mut self, random: &mut Random, (from, to): (&str, &str), is_electrical: bool, depth: usize) {
        match (depth, random.below(5)) {
            (0, _) => self.element(random, (from, to), is_electrical),
            (_, 0 | 1) => {
                let middle = self.node(is_electrical);
                self.grow(random, (from, &middle), is_electrical, depth - 1);
                self.grow(random, (&middle, to), is_electrical, depth - 1);
            }
            (_, 2 | 3) => {
                self.grow(random, (from, to), is_electrical, depth - 1);
                self.grow(random, (from, to), is_electrical, depth - 1);
            }
            _ => {
                let far = self.node(!is_electrical);
                let name = self.parameter(random);
                let kind = ["Transformer", "Gyrator"][random.below(2)];
                let ports = [format!("{from} -> {to}"), format!("{far} -> gnd")];
                let [first, last] = if random.below(2) == 0 { [0, 1] } else { [1, 0] };
                let (first, last) = (&ports[first], &ports[last]);
                writeln!(self.text, "  c{0} : {kind}({name}) {first}, {last};", self.elements).unwrap();
                self.grow(random, (&far, "gnd"), !is_electrical, depth - 1);
            }
        }
    }

    fn parameter(&mut self, random: &mut Random) -> String {
        self.elements += 1;
        let name = format!("p{}", self.elements);
        self.bindings.insert(name.clone(), (1 + random.below(9)) as f64 / 4.0);
        name
    }

    fn element(&mut self, random: &mut Random, (from, to): (&str, &str), is_electrical: bool) {
        let name = self.parameter(random);
        let kinds = match is_electrical {
            true => ["Resistor", "Inductor", "Capacitor", "VoltageSource"],
            false => ["Damper", "Spring", "Damper", "ForceSource"],
        };
        // Sources need an element in series or in parallel; otherwise the network is rejected.
        let kind = kinds[random.below(if self.elements.is_multiple_of(5) { 4 } else { 3 })];
        let value = if kind.ends_with("Source") {
            "u".to_string()
        } else {
            name
        };
        let (from, to) = if random.below(2) == 0 { (from, to) } else { (to, from) };
        writeln!(self.text, "  e{} : {kind}({value}) {from} -> {to};", self.elements).unwrap();
    }

    fn model(&self) -> String {
        let mut text = "model Network {\n  input u = 1;\n".to_string();
        for (name, is_electrical) in &self.nodes {
            let domain = if *is_electrical { "electrical" } else { "translational" };
            writeln!(text, "  node {name} : {domain};").unwrap();
        }
        for (name, value) in &self.bindings {
            writeln!(text, "  param {name} = {value:?};").unwrap();
        }
        format!("{text}{}  output y = across(n0);\n}}\n", self.text)
    }
}

fn ratio(ratio: &Value, bindings: &Bindings, s: Complex64) -> Complex64 {
    value(&ratio["num"], bindings, s) / value(&ratio["den"], bindings, s)
}

#[test]
fn steps_end_at_what_elimination_finds() {
    let scratch = tempfile::tempdir().unwrap();
    let (mut reduced, mut rules) = (0, std::collections::BTreeSet::new());
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut network = Network::default();
        let first = network.node(true);
        let depth = 2 + random.below(3);
        network.grow(&mut random, (&first, "gnd"), true, depth);
        let file = written(scratch.path(), "network.lgm", &network.model());
        let arguments = ["thevenin", file.to_str().unwrap(), "--at", "n0", "--format", "json"];
        let output = support::command::lgm(std::path::Path::new(env!("CARGO_MANIFEST_DIR")), &arguments);
        if !output.status.success() {
            // Two sources in conflict.
            continue;
        }
        let answer = json(&arguments[..4]);
        let Some(last) = answer["steps"].as_array().unwrap().last() else {
            continue;
        };
        for step in answer["steps"].as_array().unwrap() {
            rules.insert(step["rule"].as_str().unwrap().to_string());
        }
        if last["impedance"].is_null() || answer["kind"] == "through" {
            continue;
        }
        reduced += 1;
        let s = Complex64::new(0.3, 0.9);
        let mut bindings = network.bindings.clone();
        bindings.insert("u".to_string(), 1.0);
        let (found, expected) = (&last["impedance"], &answer["impedance"]);
        let (found, expected) = (ratio(found, &bindings, s), ratio(expected, &bindings, s));
        let close = |found: Complex64, expected: Complex64| (found - expected).norm() <= 1e-9 * expected.norm();
        assert!(
            close(found, expected),
            "seed {seed}: {found} is not {expected}\n{}",
            network.model()
        );
        match (&last["source"], &answer["source"]) {
            (Value::Null, Value::Null) => {}
            (found, expected) => {
                let (found, expected) = (ratio(found, &bindings, s), ratio(expected, &bindings, s));
                assert!(
                    close(found, expected),
                    "seed {seed}: source {found} is not {expected}\n{}",
                    network.model()
                );
            }
        }
    }
    assert!(reduced > 25, "{reduced}");
    assert_eq!(rules.len(), 4, "{rules:?}");
}

#[test]
fn a_motor_on_bonds_is_reflected_to_its_shaft() {
    let file = support::program::example("dc_motor.lgm");
    let answer = json(&["convert", file.to_str().unwrap(), "--to", "rotational"]);
    let steps = answer["reductions"][0]["steps"].as_array().unwrap();
    let rules: Vec<&str> = steps.iter().map(|step| step["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["series", "series", "reflection"]);
    let last = steps.last().unwrap();
    assert_eq!(
        last["impedance"],
        serde_json::json!({"num": ["L_a", "R_a"], "den": ["K_m^2"]})
    );
    assert_eq!(last["source"], serde_json::json!({"num": ["u"], "den": ["K_m"]}));
}

/// De Silva, equations 13 to 19: the equivalents in the steps of his actuator.
#[test]
fn the_actuator_of_de_silva_is_reduced_as_in_his_text() {
    let file = support::program::example("seeds").join("hydraulic_actuator.lgm");
    let file = file.to_str().unwrap();
    let records = Record::all();
    let record = records
        .iter()
        .find(|record| record.name == "hydraulic_actuator")
        .unwrap();
    let mut bindings = bindings(&record.parameters());
    bindings.insert("P_s".to_string(), 1.0);
    let answer = json(&["convert", file, "--to", "translational"]);
    let steps = answer["reductions"][0]["steps"].as_array().unwrap();
    let load = json(&["thevenin", file, "--at", "piston.b"]);
    let known = record.json["thevenin"]["values"].as_array().unwrap();
    assert!(known.len() > 3);
    for known in known {
        let s = Complex64::new(0.0, known["omega"].as_f64().unwrap());
        let expected = |key: &str| Complex64::new(known[key][0].as_f64().unwrap(), known[key][1].as_f64().unwrap());
        let found = [
            ("P_oc_over_P_s", &steps[3]["source"]),
            ("Z_e", &steps[3]["impedance"]),
            ("v_e_over_P_s", &steps[4]["source"]),
            ("M_e", &steps[4]["impedance"]),
        ];
        for (key, found) in found {
            let found = ratio(found, &bindings, s);
            assert!(
                (found - expected(key)).norm() < 1e-9 * expected(key).norm(),
                "{key}: {found}"
            );
        }
        let found = ratio(&load["impedance"], &bindings, s);
        assert!((found - expected("M_m")).norm() < 1e-9 * found.norm(), "M_m: {found}");
    }
}
