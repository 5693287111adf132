//! Energy over ten thousand periods, and power at every row.

use super::runs::{Rows, Shape, compile, example, finished, tight};
use lgm::analysis::poles;
use lgm::elaborate::Settings;
use lgm::equations::{Instant, Options, StateRequest, power_balance};
use lgm::simulate::{Side, Signals};
use lgm::source::{NoFiles, SourceMap};
use lgm::{bond, elaborate, equations};

/// Lossless examples that oscillate, with the elements that hold their energy.
const LOSSLESS: [(&str, &[&str]); 2] = [
    (
        "seeds/five_mass_seven_spring.lgm",
        &[
            "mass1", "mass2", "mass3", "mass4", "mass5", "spring1", "spring2", "spring3", "spring4", "spring5",
            "spring6", "spring7",
        ],
    ),
    ("seeds/bar_microelement_chain.lgm", &[]),
];

#[test]
fn energy_stays_over_ten_thousand_periods() {
    for (name, elements) in LOSSLESS {
        let text = example(name);
        let sum: Vec<String> = elements.iter().map(|element| format!("energy({element})")).collect();
        let sum = match sum.is_empty() {
            true => "sum(i in 1:N, energy(mass[i]) + energy(spring[i]))".to_string(),
            false => sum.join(" + "),
        };
        let end = text.trim_end().rfind('}').unwrap();
        let system = compile(&format!("{}  output energy_of_all = {sum};\n}}\n", &text[..end]));
        let found = poles(&compile(&text).numeric.unwrap().a).unwrap();
        let speeds = found.iter().map(|pole| pole.im).filter(|speed| *speed > 1e-6);
        let slowest = speeds.clone().fold(f64::INFINITY, f64::min);
        let fastest = speeds.fold(0.0, f64::max);
        // One pulse sets it in motion, and then it is left alone.
        let mut inputs = vec![Shape::Zero; system.inputs.len()];
        inputs[0] = Shape::Pulse(1.0, 0.0, 1.0);
        let stop = 1e4 * 2.0 * std::f64::consts::PI / fastest;
        let (rows, summary) = finished(&system, &inputs, &tight(stop, 1001));
        let place = system
            .outputs
            .iter()
            .position(|output| &*output.name == "energy_of_all")
            .unwrap();
        let energy: Vec<f64> = rows
            .times
            .iter()
            .zip(&rows.outputs)
            .filter(|(time, _)| **time > 1.0)
            .map(|(_, row)| row[place])
            .collect();
        let drift = energy
            .iter()
            .map(|value| (value / energy[0] - 1.0).abs())
            .fold(0.0, f64::max);
        println!(
            "{name}: the energy drifts by {drift:.1e} of itself over 1e4 periods of the fastest mode ({:.0} of the \
             slowest), {} steps by {}",
            1e4 * slowest / fastest,
            summary.steps,
            summary.method.word()
        );
        assert!(energy[0] > 0.0, "{name}");
        assert!(drift < 1e-4, "{name}: {drift:.1e}");
    }
}

/// Every example of the folder, by its name below `examples`.
fn all_examples() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names = Vec::new();
    for (inside, prefix) in [(folder.clone(), ""), (folder.join("seeds"), "seeds/")] {
        for entry in std::fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "lgm") {
                names.push(format!("{prefix}{}", path.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    names.sort();
    names
}

#[test]
fn power_adds_up_to_zero_at_every_row() {
    let names = all_examples();
    assert!(names.len() >= 27, "{} examples", names.len());
    let (mut checked, mut linear, mut overall) = (0, 0, 0.0_f64);
    for name in &names {
        let text = example(name);
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", text.as_str(), None);
        let (program, _) = elaborate::load(&NoFiles, &mut map, root);
        let (model, _) = elaborate::elaborate(&program, &map, &Settings::default());
        let mut model = model.unwrap_or_else(|| panic!("{name}"));
        bond::split_singular_stiffness(&mut model);
        let graph = bond::lower(&model);
        let (system, _) = equations::formulate(&model, &graph, &Options::default());
        let system = system.unwrap_or_else(|| panic!("{name}"));
        if !system.linear {
            // The ports of nonlinear models are balanced where their laws are verified: tests/nonlinear_laws.rs, tests/mechanisms.rs.
            continue;
        }
        linear += 1;
        let inputs: Vec<Shape> = (0..system.inputs.len())
            .map(|at| Shape::Sine(1.0 + at as f64, 3.0 + 0.7 * at as f64))
            .collect();
        let (rows, _) = finished(&system, &inputs, &tight(2.0, 101));
        let instants = instants(&rows, &inputs);
        let balance = power_balance(&model, &graph, &system, &[], StateRequest::Natural, &instants)
            .unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
        let known: Vec<f64> = balance.into_iter().flatten().collect();
        let worst = known.iter().copied().fold(0.0, f64::max);
        assert!(worst < 1e-9, "{name}: {worst:.1e}");
        checked += usize::from(!known.is_empty());
        overall = overall.max(worst);
    }
    println!("power over all ports of {checked} of {linear} linear examples: {overall:.1e} of its size",);
    assert!(linear >= 27, "{linear} linear examples");
    assert!(
        checked + 3 > linear,
        "ports of {checked} of {linear} linear examples are determined"
    );
}

fn instants(rows: &Rows, inputs: &[Shape]) -> Vec<Instant> {
    let signals = super::runs::Shapes(inputs.to_vec());
    let one = |(time, states): (&f64, &Vec<f64>)| {
        let (mut values, mut rates) = (vec![0.0; inputs.len()], vec![0.0; inputs.len()]);
        signals.values(*time, Side::After, &mut values, &mut rates);
        Instant {
            time: *time,
            states: states.clone(),
            inputs: values,
            rates,
        }
    };
    rows.times.iter().zip(&rows.states).map(one).collect()
}
