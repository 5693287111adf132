//! `lgm reduce`: the paths, gains and equivalent parameters of McCalla's thesis, conserved quantities, and the text of
//! the reduced model. The responses of the text are compared with the known answers and with the independent solution
//! of random networks.

use crate::causality::command::printed;
use crate::causality::report::compilation;
use crate::equations::networks;
use crate::support;

use lgm::Compilation;
use lgm::explain::reduce::{Reduction, reduced_text, reduction};
use lgm::syntax::ast::{self, Item};
use networks::adapter::{compile_system, numbers};
use networks::compare::agree;
use networks::generate::{generate, generate_scalar_graph};
use networks::write::write;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use support::program;

fn said(arguments: &[&str]) -> (String, String, Option<i32>) {
    program::said("reduce", arguments)
}

fn example(name: &str) -> String {
    format!("{}/examples/{name}.lgm", env!("CARGO_MANIFEST_DIR"))
}

fn report(name: &str, more: &[&str]) -> Value {
    let (out, error, code) = said(&[&[&*example(name), "--format", "json"], more].concat());
    assert_eq!(code, Some(0), "{error}");
    serde_json::from_str(&out).unwrap()
}

fn known_answer(name: &str) -> Value {
    let path = format!("{}/tests/known-answers/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The model in the syntax tree of the root file.
fn declared(compilation: &Compilation) -> &ast::Model {
    let tree = compilation.program().ast(compilation.root()).unwrap();
    let mut models = tree.items.iter().filter_map(|item| match item {
        Item::Model(model) => Some(model),
        _ => None,
    });
    models.next_back().unwrap()
}

fn reduce(compilation: &Compilation, merge_conserved: bool) -> Option<Reduction<'_>> {
    let (model, graph) = (compilation.formulated_model()?, compilation.bond_graph()?);
    let (system, causality) = (compilation.system()?, compilation.causality()?);
    let options = &compilation.request().equations;
    Some(reduction(model, graph, options, system, causality, merge_conserved))
}

/// Equations 13 to 18 of the thesis, and its path "I2 1B T 1A I1".
#[test]
fn the_lever_is_reduced_as_in_the_thesis() {
    let found = report("lever", &[]);
    assert_eq!(found["schema"], "lgm-reduce/1");
    let lever = &found["dependent"][0];
    assert_eq!(lever["element"], "I2");
    assert_eq!(lever["on"], json!(["I1"]));
    assert_eq!(lever["class"], "one to one");
    assert_eq!(lever["path"], json!(["I2", "1B", "T", "1A", "I1"]));
    assert_eq!(lever["flow_gain"], "ratio");
    assert_eq!(lever["effort_gain"], "-ratio");
    assert_eq!(lever["equivalent"], "m1 + m2*ratio^2");
}

/// The dialogue of section 4.2 of the thesis: the named element is removed, and the other one keeps its state.
#[test]
fn the_dialogue_of_the_thesis_reduces_the_element_that_is_named() {
    let lever = example("lever");
    let dialogue = |answers: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lgm"))
            .args(["reduce", &lever, "--interactive"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    };
    let (first, questions) = dialogue("\n");
    assert!(
        questions.contains("The path contains the following elements: I2 1B T 1A I1"),
        "{questions}"
    );
    assert!(
        questions.contains("Which element would you like to reduce, I2 or I1? (I2) "),
        "{questions}"
    );
    assert!(first.contains("equivalent  m1 + m2*ratio^2"), "{first}");
    assert_eq!(dialogue("").0, first, "the end of the input takes what is offered");
    let (other, questions) = dialogue("I3\nI1\n");
    assert!(questions.contains("`I3` is neither of the two"), "{questions}");
    assert!(
        other.contains("I1: one to one") && other.contains("m2 + m1/ratio^2"),
        "{other}"
    );
}

/// The equivalent parameters of the records, derived from Lagrange's equations.
#[test]
fn equivalent_parameters_are_those_of_the_known_answers() {
    for name in ["two_masses", "lever_arm"] {
        let found = report(&format!("seeds/{name}"), &[]);
        let equivalent = found["dependent"][0]["equivalent"].as_str().unwrap().replace(' ', "");
        assert_eq!(equivalent, known_answer(name)["m_eq"].as_str().unwrap(), "{name}");
    }
    let found = report("seeds/gyrator_field", &[]);
    assert_eq!(found["dependent"][0]["equivalent"], "m + r^2/k");
    assert_eq!(
        found["dependent"][0]["path"],
        json!(["spring", "0spring_end", "gyrator", "1mover", "inertia"])
    );
}

#[test]
fn what_cannot_be_merged_has_its_class() {
    let class = |name: &str| report(name, &[])["dependent"][0]["class"].clone();
    assert_eq!(class("seeds/split_path_capacitors"), "split path");
    assert_eq!(class("seeds/split_path_inertias"), "split path");
    assert_eq!(class("seeds/lg2ss_EF_cap_loop"), "source");
    assert_eq!(class("pendulum"), "multiport");
    assert_eq!(class("seeds/roller_coaster"), "signal");
    let split = &report("seeds/split_path_capacitors", &[])["dependent"][0];
    assert_eq!(split["equivalent"], "[[C1 + C3, -C3], [-C3, C2 + C3]]");
    assert_eq!(split["paths"].as_array().unwrap().len(), 2);
    assert_eq!(split["path"], Value::Null);
}

/// The retained element carries the equivalent parameter: m2 + (a/b)^2 m1 for the lever.
#[test]
fn the_user_chooses_what_is_kept() {
    let found = report("seeds/lever_arm", &["--retain", "second_mass"]);
    assert_eq!(found["dependent"][0]["element"], "first_mass");
    assert_eq!(found["dependent"][0]["equivalent"], "m2 + (a/b)^2*m1");
    let (out, error, code) = said(&[&example("lever"), "--retain", "I1", "--retain", "I2"]);
    assert_eq!(code, Some(2));
    assert!(out.is_empty() && error.contains("LGM0927"), "{out}{error}");
}

/// The text of the reduced model has the responses of the record, and contains no dependent storage.
#[test]
fn reduced_texts_have_the_known_responses() {
    let cases: [(&str, &[&str]); 5] = [
        ("two_masses", &[]),
        ("lever_arm", &[]),
        ("lever_arm", &["--retain", "second_mass"]),
        ("gyrator_field", &[]),
        ("two_springs", &["--merge-conserved"]),
    ];
    for (name, more) in cases {
        let (out, error, code) = said(&[&[&*example(&format!("seeds/{name}")), "--format", "lgm"], more].concat());
        assert_eq!(code, Some(0), "{error}");
        let compiled = compilation(&out, None, &[]);
        let system = compiled.system().unwrap();
        assert!(system.dependent.is_empty(), "{name}: {out}");
        let record = known_answer(name);
        let curves = record["linear"]["transfer_functions"].as_array().unwrap();
        for (at, curve) in curves.iter().enumerate() {
            let numbers = |key: &str| -> Vec<f64> {
                curve[key]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|value| value.as_f64().unwrap())
                    .collect()
            };
            let request = lgm::analysis::ResponseRequest::all(system, numbers("omega"));
            let found = lgm::analysis::response(system, &request).0.unwrap();
            for ((value, re), im) in found.curves[at].values.iter().zip(numbers("re")).zip(numbers("im")) {
                let error = (value.re - re).hypot(value.im - im);
                assert!(
                    error <= 1e-12 * re.hypot(im).max(1e-12),
                    "{name} {at}: {value} and {re} {im}\n{out}"
                );
            }
        }
    }
}

/// Unused junctions and couplers are dropped, as in figures 7, 12 and 14 of the thesis.
#[test]
fn elements_without_use_are_dropped() {
    let (out, _, _) = said(&[&example("lever"), "--format", "lgm"]);
    assert!(
        out.contains("SE -> A -> I1;") && out.contains("I(m1 + m2*ratio^2)"),
        "{out}"
    );
    for gone in ["I2", "TF", " B", "-> T"] {
        assert!(!out.contains(gone), "{gone} in {out}");
    }
    let (out, _, _) = said(&[&example("rigid_gears"), "--format", "lgm"]);
    // The bearing turns with the load, so the gears remain.
    assert!(out.contains("second_stage") && out.contains("first_stage"), "{out}");
    assert!(!out.contains("load  ") && !out.contains("wheels"), "{out}");
}

/// Random networks compared with the independent solution of their equations; the reduced text has no additional
/// states, and fewer elements.
#[test]
fn reduced_random_networks_agree_with_the_reference() {
    let count = crate::support::cases::many(15);
    let mut reduced = 0;
    for seed in 0..count {
        for network in [generate_scalar_graph(seed), generate(seed)] {
            let text = write(&network);
            let compiled = compilation(&text, None, &[]);
            let Some(found) = reduce(&compiled, false).filter(|found| !found.merges.is_empty()) else {
                continue;
            };
            let rewritten = reduced_text(&found, compiled.root(), &text, declared(&compiled)).text;
            if rewritten == text {
                continue;
            }
            let system = compile_system(&rewritten, false).and_then(|system| numbers(&system));
            // The measured variable of a controller may need a derivative after it is expressed by the kept element.
            let system = match system {
                Ok(system) => system,
                Err(_) if network.is_controlled() => continue,
                Err(error) => panic!("seed {seed}: {error}\n{text}\n{rewritten}"),
            };
            if let Err(error) = agree(&network, &system.linear) {
                panic!("seed {seed}: {error}\n{text}\n{rewritten}");
            }
            reduced += 1;
        }
    }
    assert!(
        reduced as u64 > count / 12,
        "only {reduced} of {count} networks were reduced"
    );
}

fn conserved(text: &str) -> Vec<(String, String, String)> {
    let compiled = compilation(text, None, &[]);
    let found = reduce(&compiled, true).unwrap();
    assert!(found.report.knows_conserved);
    let found = found.report.conserved.into_iter();
    found
        .map(|found| (found.kind.to_string(), found.quantity, found.done))
        .collect()
}

#[test]
fn conserved_quantities_are_named() {
    let springs = conserved(&fs::read_to_string(example("seeds/two_springs")).unwrap());
    assert_eq!(springs[0].0, "displacement");
    assert_eq!(springs[0].1, "first_spring.q - second_spring.q");
    assert!(springs[0].2.starts_with("merged"));
    // The total momentum of two free masses.
    let free = conserved(
        "model Free { param m1 = 2; param m2 = 3; param k = 5; node a, b : translational;
           first : Mass(m1) a -> gnd; second : Mass(m2) b -> gnd; s : Spring(k) a -> b; output v = across(a); }",
    );
    assert_eq!(
        (free[0].0.as_str(), free[0].1.as_str()),
        ("momentum", "m1*first.v + m2*second.v")
    );
    // A loop of inductors: its flux linkage is conserved.
    let inductors = conserved(
        "model Loop { param L1 = 2; param L2 = 3; param R = 5; input u = 1; node a, b : electrical;
           source : VoltageSource(u) a -> gnd; r : Resistor(R) a -> b;
           first : Inductor(L1) b -> gnd; second : Inductor(L2) b -> gnd; output i = through(r); }",
    );
    assert_eq!(
        (inductors[0].0.as_str(), inductors[0].1.as_str()),
        ("flux linkage", "L1*first.i - L2*second.i")
    );
}

/// In parallel, stiffnesses add up, and so do reciprocals of inductances; derived by hand.
#[test]
fn conserved_fields_are_merged_if_they_start_equal() {
    let text = |starts: &str| {
        format!(
            "model M {{ param m = 2; param k1 = 3; param k2 = 5; input F = 1; node x : translational;
               push : ForceSource(F) gnd -> x; mass : Mass(m) x -> gnd;
               first : Spring(k1) x -> gnd{starts}; second : Spring(k2) x -> gnd; output f = through(second); output v = across(x); }}"
        )
    };
    let equal = text("");
    let compiled = compilation(&equal, None, &[]);
    let found = reduce(&compiled, true).unwrap();
    let rewritten = reduced_text(&found, compiled.root(), &equal, declared(&compiled)).text;
    assert!(
        rewritten.contains("Spring(k1 + k2)") && !rewritten.contains("second"),
        "{rewritten}"
    );
    assert!(
        rewritten.contains("output f = k2/(k1 + k2)*through(first);"),
        "{rewritten}"
    );
    let unequal = text(", start = 4");
    let found = conserved(&unequal);
    assert!(found[0].2.contains("the initial values differ"), "{found:?}");
}

/// A source that measures a removed element measures the derivative of the remaining one instead.
#[test]
fn a_source_reads_the_force_of_what_is_gone() {
    let text = "model Geared { param K = 0.5; input torque = 1; node motor, load : rotational;
        drive : TorqueSource(torque - K*through(wheel)) gnd -> motor; rotor : Inertia(0.1) motor -> gnd;
        gear : Transformer(0.2) motor -> gnd, load -> gnd; wheel : Inertia(2) load -> gnd; output w = across(rotor); }";
    let file = std::env::temp_dir().join(format!("lgm-reduce-{}.lgm", std::process::id()));
    fs::write(&file, text).unwrap();
    let path = file.to_string_lossy().into_owned();
    let (out, error, code) = said(&[&path, "--format", "lgm"]);
    fs::remove_file(&file).unwrap();
    assert_eq!(code, Some(0), "{out}{error}");
    assert!(out.contains("K*(0.4*der(across(rotor)))"), "{out}");
}

/// Without an input nothing can be compared, and a message reports this.
#[test]
fn a_text_that_was_not_compared_is_warned_of() {
    let text = "model Free { node a : translational; first : Mass(1) a -> gnd, start = 1; second : Mass(2) a -> gnd;
        d : Damper(1) a -> gnd; output v = across(a); }";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("free.lgm");
    fs::write(&file, text).unwrap();
    let (out, error, code) = said(&[file.to_str().unwrap(), "--format", "lgm"]);
    assert_eq!(code, Some(0), "{out}{error}");
    assert!(
        out.contains("Mass(3)") && error.contains("was not compared"),
        "{out}{error}"
    );
}

#[test]
fn values_that_the_text_does_not_have_are_named() {
    let lever = example("seeds/lever_arm");
    let (out, error, code) = said(&[&lever, "--format", "lgm", "--set", "m1=7"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        !out.contains("m1 = 7") && error.contains("`--set m1=7`: the text contains the values of the file"),
        "{out}{error}"
    );
    let (_, error, _) = said(&[&lever, "--format", "lgm"]);
    assert!(!error.contains("contains the values"), "{error}");
}

#[test]
fn examples_of_the_help_run() {
    let help = printed("lgm reduce --help");
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    let lines: Vec<&str> = examples
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("lgm "))
        .collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    for line in lines {
        assert!(!printed(line).is_empty(), "{line}");
    }
}

/// Elements inside sections share one declaration and stay in the text; the report agrees with the text.
#[test]
fn the_report_says_what_stays_in_the_text() {
    let text = "component Section(L [H], C [F]) {
  port p, n : electrical;
  a : Capacitor(C/2) p -> gnd;  l : Inductor(L) p -> n;  b : Capacitor(C/2) n -> gnd;
}
model Line {
  const N = 2;
  param L = 1 [mH];  param C = 0.4 [uF];
  input j [A] = 1;
  node v[N + 1] : electrical;
  src : CurrentSource(j) gnd -> v[1];
  for i in 1:N { s[i] : Section(L, C) (p = v[i], n = v[i + 1]); }
  load : Resistor(50) v[N + 1] -> gnd;
  output y = across(load);
}";
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("line.lgm");
    fs::write(&file, text).unwrap();
    let (out, error, code) = said(&[file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("stays in the text: s[1].b could represent both"), "{out}");
    assert!(!out.contains("merged"), "{out}");
}
