//! Causal strokes: sequential assignment agrees with the exact criterion, and every junction is determined once.

use lgm::bond::{BondGraph, lower};
use lgm::causality::scap::{Assignment, Cause, Undetermined, strokes};
use lgm::causality::{Causality, Request};
use lgm::elaborate::{Settings, elaborate, load};
use lgm::model::Model;
use lgm::source::{NoFiles, SourceMap};

/// The strokes of an example.
fn assigned(path: &str) -> (Model, BondGraph, Causality, Assignment) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut map = SourceMap::default();
    let root = map.add(path, text, None);
    let (program, _) = load(&NoFiles, &mut map, root);
    let (model, diagnostics) = elaborate(&program, &map, &Settings::default());
    let model = model.unwrap_or_else(|| panic!("{path}: {diagnostics:?}"));
    let graph = lower(&model);
    let (causality, _, diagnostics) = lgm::equations::decide(&model, &graph, &Request::default());
    assert!(diagnostics.is_empty(), "{path}: {diagnostics:?}");
    let assignment = strokes(&model, &graph, &causality, &Undetermined::default());
    (model, graph, causality, assignment)
}

#[test]
fn without_loops_propagation_serves_every_junction_once() {
    for path in [
        "examples/oscillator.lgm",
        "examples/lever.lgm",
        "examples/dc_motor.lgm",
        "examples/line.lgm",
        "examples/rigid_gears.lgm",
        "examples/seeds/two_masses.lgm",
        "examples/seeds/gyrator_field.lgm",
        "examples/seeds/sound_system.lgm",
        "examples/seeds/hydraulic_actuator.lgm",
    ] {
        let (_, graph, _, assignment) = assigned(path);
        assert!(
            assignment.strokes.iter().all(Option::is_some),
            "{path}: a bond without a stroke"
        );
        assert_eq!(
            assignment.steps.len(),
            graph.bonds.len(),
            "{path}: a bond assigned twice"
        );
        assert!(
            assignment.solved_together.is_empty(),
            "{path}: {:?}",
            assignment.solved_together
        );
    }
}

#[test]
fn sources_choose_first_then_storage() {
    let (_, _, causality, assignment) = assigned("examples/dc_motor.lgm");
    let chosen: Vec<_> = assignment
        .steps
        .iter()
        .filter_map(|step| match step.cause {
            Cause::Chosen(port) => Some(port),
            _ => None,
        })
        .collect();
    let place = |port| chosen.iter().position(|other| other == port);
    for source in &causality.sources {
        for storage in &causality.independent {
            if let (Some(first), Some(second)) = (place(source), place(storage)) {
                assert!(first < second, "a storage chose before a source");
            }
        }
    }
    assert!(chosen.len() > causality.sources.len());
}

#[test]
fn a_bridge_is_a_block_whose_strokes_the_exact_criterion_decides() {
    let (model, _, causality, assignment) = assigned("examples/wheatstone_bridge.lgm");
    assert!(assignment.strokes.iter().all(Option::is_some));
    // Every port received the variable for which the equations are solved, regardless of propagation around the loop
    // suggested.
    let ports = causality.solved.iter().filter(|solved| solved.is_some()).count();
    assert_eq!(ports, model.graph.ports.len());
    assert_eq!(causality.dependent.len(), 0);
}
