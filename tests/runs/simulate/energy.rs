//! Energy over ten thousand periods, and power at every sample.

use super::runs::{BesideExamples, Rows, Shape, compile, example, finished, run, tight};
use lgm::analysis::poles;
use lgm::elaborate::Settings;
use lgm::equations::{FlatGraph, Instant, Options, StateRequest, StateSystem, StateVariable};
use lgm::expr::{ExprId, SymbolKind, to_f64};
use lgm::model::{Law, Model, PortId, StorageForm, Variable};
use lgm::simulate::{Plan, Side, Signals};
use lgm::source::SourceMap;
use lgm::{bond, elaborate, equations};
use std::time::Instant as Clock;

/// Examples whose only loss is one damper: without that line they are lossless too. Also an initial state that is not
/// an equilibrium.
const DAMPED: [(&str, &str, &str, &str); 2] = [
    ("duffing.lgm", "damper : ", "start = 1;", "start = 0.4;"),
    ("pendulum.lgm", "bearing : ", "start = 2.5;", "start = 2.5;"),
];

/// Lossless oscillating examples: all that the search below finds. The energy of seeds/bar_fig4_5.lgm cannot be
/// measured in the language: part of it is in the residual stiffness of its blocks.
const FOUND: [&str; 17] = [
    "duffing.lgm",
    "pendulum.lgm",
    "seeds/bar_microelement_chain.lgm",
    "seeds/bar_modal.lgm",
    "seeds/bar_vlg.lgm",
    "seeds/beam_cantilever.lgm",
    "seeds/beam_free_free.lgm",
    "seeds/beam_pinned_pinned.lgm",
    "seeds/dp_element_2port.lgm",
    "seeds/dp_element_velocity_driven.lgm",
    "seeds/euler_gyrator_ring.lgm",
    "seeds/five_mass_seven_spring.lgm",
    "seeds/rocking_pendulum.lgm",
    "seeds/roller_coaster_augmented.lgm",
    "seeds/two_discs_special_case.lgm",
    "slider_crank.lgm",
    "tumbling_body.lgm",
];

/// The model of a text.
fn elaborated(name: &str, text: &str) -> Model {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (program, _) = elaborate::load(&BesideExamples, &mut map, root);
    let (model, found) = elaborate::elaborate(&program, &map, &Settings::default());
    model.unwrap_or_else(|| panic!("{name}: {found:?}"))
}

/// The energy of a lossless model as two sums in the language: that of linear storage, and the energy delivered to all
/// other storage and to constant sources (a weight). None if an element dissipates or is controlled.
fn energy_without_loss(model: &Model) -> Option<[String; 2]> {
    let is_controlled = |id: &ExprId| {
        let symbols = model.exprs.symbols_of(&[*id]);
        let kind = |symbol| model.exprs.symbol_info(symbol).kind;
        symbols
            .into_iter()
            .any(|symbol| matches!(kind(symbol), SymbolKind::Measure | SymbolKind::State))
    };
    let is_input = |id: &ExprId| {
        let symbols = model.exprs.symbols_of(&[*id]);
        symbols
            .iter()
            .any(|symbol| model.exprs.symbol_info(*symbol).kind == SymbolKind::Input)
    };
    let modes = model.graph.elements.iter().filter(|element| element.mode.is_some());
    let blocks: Vec<_> = modes.map(|element| model.paths[element.path.index()].parent).collect();
    let (mut stored, mut flowing) = (Vec::new(), Vec::new());
    for (at, element) in model.graph.elements.iter().enumerate() {
        let name = model.element_name(lgm::model::ElementId(at as u32));
        match &element.law {
            // The parts of a modal block have no names; its states have.
            Law::Storage { co_energy, value, form } if element.mode.is_some() => {
                let port = &model.graph.ports[element.ports.start as usize];
                let domain = &model.graph.domains[port.domain.unwrap().index()];
                let is_across = domain.effort_is_across == (*co_energy == Variable::Effort);
                let symbol = if is_across { &domain.across } else { &domain.through };
                let parameters = model.parameters.iter().flat_map(|parameter| &parameter.entries);
                let given = |symbol| {
                    parameters
                        .clone()
                        .find(|entry| entry.symbol == symbol)
                        .map(|entry| entry.value.clone())
                };
                let number = to_f64(&model.exprs.evaluate_exact(&[value.get(0, 0)], &given).unwrap()[0]);
                let half = match form {
                    StorageForm::Direct => 0.5 * number,
                    StorageForm::Inverse => 0.5 / number,
                };
                let block = model.path_name(model.paths[element.path.index()].parent.unwrap());
                let mode = element.mode.unwrap();
                stored.push(format!("{half:.17e}*{block}.{symbol}[{mode}]^2"));
            }
            // The energy in the residual of a modal block cannot be measured in the language.
            Law::Storage { .. } if blocks.contains(&model.paths[element.path.index()].parent) => return None,
            Law::Storage { .. } => stored.push(format!("energy({name})")),
            Law::Coupler { .. } => {}
            Law::Dissipator(_) => return None,
            Law::Nonlinear(law) if law.storage.iter().all(Option::is_some) => flowing.push(format!("power({name})")),
            Law::Nonlinear(_) => return None,
            Law::Source { values, .. } if values.iter().any(is_controlled) => return None,
            // Inputs are constant.
            Law::Source { values, .. } if values.iter().any(is_input) => {}
            Law::Source { .. } => flowing.push(format!("power({name})")),
        }
    }
    let flown = match flowing.is_empty() {
        true => "0".to_string(),
        false => format!("int({})", flowing.join(" + ")),
    };
    Some([stored.join(" + "), flown])
}

/// The period of the fastest vibration; none if there is none.
fn period(system: &StateSystem) -> Option<f64> {
    if let Some(numeric) = &system.matrices.numeric {
        let found = poles(&numeric.a).unwrap();
        let fastest = found.iter().map(|pole| pole.im).fold(0.0, f64::max);
        return (fastest > 1e-6).then_some(2.0 * std::f64::consts::PI / fastest);
    }
    // Two turning points make a period; each state has its own, and the fastest counts.
    let still = vec![Shape::Zero; system.inputs.len()];
    let plan = Plan {
        stop: 50.0,
        points: 50_001,
        ..Plan::default()
    };
    let (rows, _) = finished(system, &still, &plan);
    let turns = |state: usize| {
        let moves: Vec<f64> = rows
            .states
            .windows(2)
            .map(|pair| pair[1][state] - pair[0][state])
            .collect();
        moves.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count()
    };
    let most = (0..system.states.len()).map(turns).max().unwrap_or(0);
    // A motion that keeps accelerating, such as down a slope, has no period.
    let storage = || {
        system
            .states
            .iter()
            .enumerate()
            .filter(|state| state.1.variable != StateVariable::Integral)
    };
    let largest = |rows: &[Vec<f64>]| {
        let of = |state: usize| rows.iter().map(move |row| row[state].abs()).fold(0.0, f64::max);
        storage().map(|state| of(state.0)).fold(0.0, f64::max)
    };
    let (first, second) = rows.states.split_at(rows.states.len() / 2);
    let runs_away = largest(second) > 1.5 * largest(first);
    (most >= 10 && !runs_away).then_some(2.0 * 50.0 / most as f64)
}

/// Lossless oscillating examples: the name, the text without losses, the parts of the energy, the period.
fn lossless_examples() -> Vec<(String, String, [String; 2], f64)> {
    let mut found = Vec::new();
    for name in all_examples() {
        let mut text = example(&name);
        if let Some((_, damper, start, other)) = DAMPED.iter().find(|entry| entry.0 == name) {
            let is_kept = |line: &&str| !line.trim_start().starts_with(damper);
            text = text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
            assert!(text.contains(start), "{name}");
            text = text.replace(start, other);
        }
        if let Some(energy) = energy_without_loss(&elaborated(&name, &text))
            && let Some(period) = period(&compile(&text))
        {
            found.push((name, text, energy, period));
        }
    }
    found
}

/// The number of periods: as set by `LGM_PERIODS`, otherwise three hundred. `LGM_PERIODS=1e4 cargo test --release --test all
/// simulate::energy -- --nocapture` prints the figures of docs/energy.md.
fn periods() -> f64 {
    let asked = std::env::var("LGM_PERIODS").ok();
    asked.map_or(3e2, |number| number.parse().expect("LGM_PERIODS is a number"))
}

#[test]
fn energy_stays_over_thousands_of_periods() {
    let examples = lossless_examples();
    let names: Vec<&str> = examples.iter().map(|entry| &*entry.0).collect();
    assert_eq!(names, FOUND, "the lossless examples that oscillate");
    let periods = periods();
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(example) = examples.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    energy_stays(example, periods);
                }
            });
        }
    });
}

/// Runs one lossless example over several periods, and prints the drift of its energy.
fn energy_stays((name, text, [stored, flown], period): &(String, String, [String; 2], f64), periods: f64) {
    let end = text.trim_end().rfind('}').unwrap();
    let outputs = format!("output energy_stored = {stored};\n  output energy_flown = {flown};");
    let system = compile(&format!("{}  {outputs}\n}}\n", &text[..end]));
    let mut inputs = vec![Shape::Zero; system.inputs.len()];
    if system.states.iter().all(|state| state.start_value == 0.0) {
        // One pulse sets it in motion, without any input afterwards.
        inputs[0] = Shape::Pulse(1.0, 0.0, 1.0);
    }
    let begun = Clock::now();
    let (rows, summary) = finished(&system, &inputs, &tight(periods * period, 1001));
    let place = |name: &str| system.outputs.iter().position(|output| &*output.name == name).unwrap();
    let (stored, flown) = (place("energy_stored"), place("energy_flown"));
    let after = rows.times.iter().zip(&rows.outputs).filter(|(time, _)| **time > 1.0);
    let rows: Vec<&Vec<f64>> = after.map(|entry| entry.1).collect();
    // The total may be near zero, such as that of a weight, which is relative to its start; the maximum stored energy
    // is its magnitude.
    let size = rows.iter().map(|row| row[stored]).fold(0.0, f64::max);
    let whole = |row: &[f64]| row[stored] + row[flown];
    let drift = rows
        .iter()
        .map(|row| (whole(row) - whole(rows[0])).abs())
        .fold(0.0, f64::max)
        / size;
    println!(
        "{name}: the energy drifts by {drift:.1e} of itself over {periods:.0e} periods of {period:.3} s, {} steps by {} in \
         {:.1} s",
        summary.steps,
        summary.method.word(),
        begun.elapsed().as_secs_f64()
    );
    assert!(size > 0.0, "{name}");
    assert!(drift < 1e-6 * periods / 1e4, "{name}: {drift:.1e}");
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
    // Linear and nonlinear ones.
    let (mut checked, mut count, mut overall) = ([0; 2], [0; 2], [0.0_f64; 2]);
    for name in &names {
        let text = example(name);
        let model = elaborated(name, &text);
        let graph = bond::lower(&model);
        let (system, _) = equations::formulate(&model, &graph, &Options::default());
        let system = system.unwrap_or_else(|| panic!("{name}"));
        let kind = usize::from(!system.equations.linear);
        count[kind] += 1;
        let inputs: Vec<Shape> = (0..system.inputs.len())
            .map(|at| Shape::Sine(1.0 + at as f64, 3.0 + 0.7 * at as f64))
            .collect();
        // The samples of a run that fails with these inputs balance until the failure.
        let (rows, _) = run(&system, &inputs, &tight(horizon(&system), 101));
        let instants = instants(&rows, &inputs);
        let mut flat = FlatGraph::new(&model, &graph, &system, &[], StateRequest::Natural)
            .unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
        let powers = instants
            .iter()
            .filter_map(|instant| power(flat.as_mut()?, &model, instant));
        let powers: Vec<(f64, f64)> = powers.collect();
        let size = powers.iter().map(|power| power.1).fold(f64::MIN_POSITIVE, f64::max);
        let known: Vec<f64> = powers.iter().map(|power| power.0.abs() / size).collect();
        let worst = known.iter().copied().fold(0.0, f64::max);
        println!(
            "{name}: {worst:.1e} of the power over all ports at {} of 101 rows",
            known.len()
        );
        assert!(worst < 1e-9, "{name}: {worst:.1e}");
        checked[kind] += usize::from(!known.is_empty() && known.len() == instants.len());
        overall[kind] = overall[kind].max(worst);
    }
    println!(
        "power over all ports at all rows of {} of {} linear examples: {:.1e} of its size; of {} of {} nonlinear ones: {:.1e}",
        checked[0], count[0], overall[0], checked[1], count[1], overall[1]
    );
    assert!(
        count[0] >= 27 && count[1] >= 11,
        "{count:?} linear and nonlinear examples"
    );
    // Ideal elements in a ring, and unloaded sources, leave flows undetermined.
    assert!(
        checked[0] >= 27 && checked[1] >= 11,
        "ports of {checked:?} of {count:?} examples are determined at all rows"
    );
}

/// Two seconds, or less if the fastest motion of a linear model would complete more than about eighty periods: the
/// modes of a short steel bar complete 25,000 in a second.
fn horizon(system: &StateSystem) -> f64 {
    let matrices = system.matrices.numeric.as_ref();
    let poles = matrices.and_then(|matrices| poles(&matrices.a)).unwrap_or_default();
    let fastest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    2.0_f64.min(500.0 / fastest)
}

/// Returns the power over all ports of storage, dissipators and sources, and the sum of its magnitudes; `None` if a port is
/// undetermined.
fn power(flat: &mut FlatGraph<'_>, model: &Model, instant: &Instant) -> Option<(f64, f64)> {
    let seen = flat.see(instant, &[])?;
    let (mut sum, mut size) = (0.0, 0.0);
    for (at, port) in model.graph.ports.iter().enumerate() {
        if !matches!(model.graph.elements[port.element.index()].law, Law::Coupler { .. }) {
            let of = |variable| seen.port(PortId(at as u32), variable);
            let power = of(Variable::Effort)? * of(Variable::Flow)?;
            sum += power;
            size += power.abs();
        }
    }
    Some((sum, size))
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
