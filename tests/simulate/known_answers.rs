//! The time responses of the known answers, each within 1e-8 at a relative tolerance of 1e-10.

use super::runs::{Shape, compile, example, finished, tight};
use lgm::simulate::Method;
use serde_json::Value;
use std::path::Path;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Every record with a time response, by name.
fn records() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known-answers");
    let mut found: Vec<(String, Value)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (
                name,
                serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(),
            )
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.retain(|(_, record): &(String, Value)| record["linear"]["time_response"].is_object());
    found
}

fn shape(input: &Value) -> Shape {
    match input["type"].as_str().unwrap() {
        "zero" => Shape::Zero,
        "step" => Shape::Constant(number(&input["amp"])),
        "sine" => Shape::Sine(number(&input["amp"]), number(&input["omega"])),
        other => panic!("no shape `{other}`"),
    }
}

/// The largest difference from a column, relative to the column's largest value.
fn difference(found: impl Iterator<Item = f64>, expected: &[f64]) -> f64 {
    let size = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let worst = found.zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if size > 0.0 { worst / size } else { worst }
}

/// The worst difference of all outputs of a record.
fn compared(name: &str, record: &Value, method: Method) -> f64 {
    let response = &record["linear"]["time_response"];
    let system = compile(&example(&format!("seeds/{name}.lgm")));
    let times = numbers(&response["t"]);
    let inputs: Vec<Shape> = response["inputs"].as_array().unwrap().iter().map(shape).collect();
    let mut plan = tight(*times.last().unwrap(), times.len());
    plan.method = method;
    let (rows, summary) = finished(&system, &inputs, &plan);
    assert!(
        rows.times
            .iter()
            .zip(&times)
            .all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs()),
        "{name}: rows are where they were asked for"
    );
    let names = record["linear"]["outputs"].as_array().unwrap();
    let mut worst = 0.0_f64;
    for (index, output) in names.iter().enumerate() {
        let expected = numbers(&response["outputs"][output.as_str().unwrap()]);
        let found = rows.outputs.iter().map(|row| row[index]);
        let difference = difference(found, &expected);
        assert!(
            difference < 1e-8,
            "{name}, {} by {}: off by {difference:.1e} of its size",
            output,
            method.word()
        );
        worst = worst.max(difference);
    }
    println!(
        "{name}: {worst:.1e} of its size, {} in {} steps, {} rejected",
        summary.method.word(),
        summary.steps,
        summary.rejected
    );
    worst
}

#[test]
fn time_responses_are_those_of_the_records() {
    let records = records();
    assert!(records.len() >= 18, "{} records", records.len());
    for (name, record) in &records {
        compared(name, record, Method::Auto);
    }
}

#[test]
fn time_responses_by_bdf_are_those_of_the_records() {
    for name in [
        "two_springs",
        "lg2ss_EF_cap_loop",
        "hydraulic_actuator",
        "vlg_table3_1_generic",
    ] {
        let record = records().into_iter().find(|entry| entry.0 == name).unwrap().1;
        compared(name, &record, Method::Bdf);
    }
}

#[test]
fn two_springs_with_unequal_starts_come_to_rest_away_from_zero() {
    let text = example("seeds/two_springs.lgm")
        .replace("C(1/k1);", "C(1/k1), start = 0.3;")
        .replace("C(1/k2);", "C(1/k2), start = -0.2;");
    let system = compile(&text);
    let record = records().into_iter().find(|entry| entry.0 == "two_springs").unwrap().1;
    let response = &record["time_response_unequal_initial"];
    let times = numbers(&response["t"]);
    let (rows, _) = finished(&system, &[Shape::Zero], &tight(*times.last().unwrap(), times.len()));
    let column = |name: &str| system.states.iter().position(|state| &*state.name == name).unwrap();
    for (name, key) in [("first_spring.q", "q1"), ("second_spring.q", "q2")] {
        let place = column(name);
        let off = difference(rows.states.iter().map(|row| row[place]), &numbers(&response[key]));
        assert!(off < 1e-8, "{key}: off by {off:.1e}");
    }
    let off = difference(rows.outputs.iter().map(|row| row[0]), &numbers(&response["v"]));
    assert!(off < 1e-8, "v: off by {off:.1e}");
}
