//! The time responses of the known answers, each within 1e-8 at a relative tolerance of 1e-10.

use super::runs::{Shape, compile, example, finished, tight};
use super::support::records::{Record, list, number, response_error};
use lgm::simulate::Method;
use serde_json::Value;

fn shape(input: &Value) -> Shape {
    match input["type"].as_str().unwrap() {
        "zero" => Shape::Zero,
        "step" => Shape::Constant(number(&input["amp"])),
        "sine" => Shape::Sine(number(&input["amp"]), number(&input["omega"])),
        other => panic!("no shape `{other}`"),
    }
}

/// The largest difference of all outputs of a record.
fn compared(record: &Record, method: Method) -> f64 {
    let name = &record.name;
    let response = &record.json["linear"]["time_response"];
    let system = compile(&example(&format!("seeds/{name}.lgm")));
    let times = list(&response["t"]);
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
    let names = record.json["linear"]["outputs"].as_array().unwrap();
    let mut worst = 0.0_f64;
    for (index, output) in names.iter().enumerate() {
        let expected = list(&response["outputs"][output.as_str().unwrap()]);
        let found: Vec<f64> = rows.outputs.iter().map(|row| row[index]).collect();
        let difference = response_error(&found, &expected);
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
    for record in Record::with_responses() {
        compared(&record, Method::Auto);
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
        compared(&Record::load(name), Method::Bdf);
    }
}

#[test]
fn two_springs_with_unequal_starts_come_to_rest_away_from_zero() {
    let text = example("seeds/two_springs.lgm")
        .replace("C(1/k1);", "C(1/k1), start = 0.3;")
        .replace("C(1/k2);", "C(1/k2), start = -0.2;");
    let system = compile(&text);
    let record = Record::load("two_springs");
    let response = &record.json["time_response_unequal_initial"];
    let times = list(&response["t"]);
    let (rows, _) = finished(&system, &[Shape::Zero], &tight(*times.last().unwrap(), times.len()));
    let column = |name: &str| system.states.iter().position(|state| &*state.name == name).unwrap();
    for (name, key) in [("first_spring.q", "q1"), ("second_spring.q", "q2")] {
        let place = column(name);
        let found: Vec<f64> = rows.states.iter().map(|row| row[place]).collect();
        let off = response_error(&found, &list(&response[key]));
        assert!(off < 1e-8, "{key}: off by {off:.1e}");
    }
    let found: Vec<f64> = rows.outputs.iter().map(|row| row[0]).collect();
    let off = response_error(&found, &list(&response["v"]));
    assert!(off < 1e-8, "v: off by {off:.1e}");
}
