//! Bond graphs in textbook style: directions of half arrows, omitted junctions, labels of elements, frames of
//! components, and signals.

use super::compilation;
use crate::support::emitted::examples;
use crate::support::program;
use lgm::draw::{Drawing, Kind, LabelKind, Manner, Shape, Stroke, draw_with, svg, written_as};
use lgm::model::{Law, Model};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

pub(crate) fn bonds_in(text: &str, manner: Manner) -> Drawing {
    let compilation = compilation(text, None);
    let model = compilation.formulated_model().or_else(|| compilation.model()).unwrap();
    let (graph, report) = (compilation.bond_graph().unwrap(), compilation.causality().unwrap());
    draw_with(model, graph, report, Kind::BondGraph, manner).unwrap()
}

fn example(name: &str) -> String {
    fs::read_to_string(program::example(name)).unwrap()
}

/// The law of each element by its name.
fn laws(model: &Model) -> BTreeMap<String, &Law> {
    let elements = model.graph.elements.iter();
    elements
        .map(|element| (model.path_name(element.path), &element.law))
        .collect()
}

#[test]
fn half_arrows_leave_sources_enter_storage_and_pass_through_couplers() {
    let mut looked = 0;
    for path in examples() {
        let text = fs::read_to_string(&path).unwrap();
        let compilation = compilation(&text, Some(path.clone()));
        let drawing = super::drawn(&compilation, Kind::BondGraph).unwrap();
        let model = compilation.formulated_model().unwrap_or(compilation.model().unwrap());
        let blocks: BTreeSet<String> = (0..model.graph.elements.len())
            .filter_map(|at| super::block(model, at))
            .map(|path| model.path_name(path))
            .collect();
        let switched = model.switching.elements.iter();
        let switched: BTreeSet<String> = switched.map(|each| model.element_name(each.element)).collect();
        let others = laws(model).into_iter();
        let others = others.filter(|(name, _)| !blocks.contains(name) && !switched.contains(name));
        for (name, law) in others {
            let leaving = drawing.edges.iter().filter(|edge| edge.from == name).count();
            let coming = drawing.edges.iter().filter(|edge| edge.to == name).count();
            let is_right = match law {
                Law::Source { .. } => coming == 0,
                Law::Storage { .. } => leaving == 0,
                Law::Coupler { .. } if leaving + coming == 2 => leaving == 1,
                _ => true,
            };
            looked += 1;
            assert!(is_right, "{path:?}: {name} has {coming} in and {leaving} out");
        }
    }
    assert!(looked > 300, "{looked}");
    // The model's original direction, on request.
    let own = Manner {
        own_directions: true,
        all_junctions: true,
        values: false,
    };
    let drawing = bonds_in(&example("dc_motor.lgm"), own);
    assert!(drawing.edges.iter().all(|edge| edge.turned.is_empty()));
    let edge = drawing.edges.iter().find(|edge| edge.name == "supply").unwrap();
    assert_eq!(edge.to, "supply");
}

#[test]
fn junctions_that_power_only_passes_through_are_left_out_unless_asked_for() {
    let text = example("quarter_car.lgm");
    let junctions = |manner: Manner| {
        let drawing = bonds_in(&text, manner);
        let own = drawing
            .nodes
            .iter()
            .filter(|node| matches!(node.shape, Shape::Junction(_)));
        own.map(|node| node.id.clone()).collect::<BTreeSet<String>>()
    };
    let all = Manner {
        all_junctions: true,
        ..Manner::default()
    };
    let (few, many) = (junctions(Manner::default()), junctions(all));
    let gone: Vec<&String> = many.difference(&few).collect();
    assert_eq!(gone, ["ground"]);
    // One line represents both bonds there.
    let drawing = bonds_in(&text, Manner::default());
    let profile = drawing.edges.iter().find(|edge| edge.from == "profile").unwrap();
    assert_eq!(profile.bonds.len(), 2);
}

/// Resistance, inductance and machine share one current: one 1-junction, in every example; and bonds are numbered 1 to
/// n.
#[test]
fn neighbouring_junctions_of_one_kind_are_one_and_bonds_are_numbered_from_1_to_n() {
    let mut united = 0;
    for path in examples() {
        let text = fs::read_to_string(&path).unwrap();
        let compilation = compilation(&text, Some(path.clone()));
        let drawing = super::drawn(&compilation, Kind::BondGraph).unwrap();
        let node = |id: &str| drawing.nodes.iter().find(|node| node.id == id).unwrap();
        for edge in &drawing.edges {
            let (from, to) = (node(&edge.from), node(&edge.to));
            let is_like = matches!(from.shape, Shape::Junction(_)) && from.shape == to.shape && from.width == to.width;
            // User-defined names stay, and so do junctions that several components share.
            let is_named = from.label.len() > 1 && to.label.len() > 1;
            let is_within = edge.from.contains('.') || edge.to.contains('.');
            assert!(
                !is_like || is_named || is_within,
                "{path:?}: {} and {}",
                edge.from,
                edge.to
            );
        }
        let numbers = drawing.labels.iter().filter(|label| label.kind == LabelKind::Number);
        let mut numbers: Vec<usize> = numbers.map(|label| label.text.parse().unwrap()).collect();
        numbers.sort_unstable();
        let (count, all) = (numbers.len(), drawing.edges.len());
        numbers.dedup();
        assert!(
            numbers.len() == count && numbers.iter().all(|number| (1..=all).contains(number)),
            "{path:?}: {numbers:?}"
        );
        let report = compilation.causality().unwrap();
        united += report.bonds.len() - drawing.edges.iter().map(|edge| edge.bonds.len()).sum::<usize>();
    }
    assert!(united > 20, "{united}");
    let motor = bonds_in(&example("dc_motor.lgm"), Manner::default());
    let electrical = motor
        .edges
        .iter()
        .filter(|edge| edge.domain.as_deref() == Some("electrical"));
    let ends = electrical.flat_map(|edge| [&edge.from, &edge.to]);
    let junctions: BTreeSet<&String> = ends
        .filter(|end| {
            motor
                .nodes
                .iter()
                .any(|node| node.id == **end && matches!(node.shape, Shape::Junction(_)))
        })
        .collect();
    assert_eq!(junctions.len(), 1, "{junctions:?}");
}

/// The laws of a junction hold for the drawn arrows: one bond sets the common variable.
#[test]
fn united_junctions_have_one_bond_that_sets_what_they_share() {
    let mut looked = 0;
    for name in [
        "dc_motor.lgm",
        "motor_drive.lgm",
        "quarter_car.lgm",
        "seeds/hydraulic_actuator.lgm",
        "hoist.lgm",
    ] {
        let drawing = bonds_in(&example(name), Manner::default());
        for node in &drawing.nodes {
            let Shape::Junction(kind) = node.shape else { continue };
            let at = |edge: &&lgm::draw::Edge| edge.from == node.id || edge.to == node.id;
            // Effort acts on the junction at the bond with its stroke there.
            let sets_effort = |edge: &&lgm::draw::Edge| match edge.stroke {
                Some(Stroke::Tail) => edge.from == node.id,
                Some(Stroke::Head) => edge.to == node.id,
                other => panic!("{name}: {other:?}"),
            };
            let own: Vec<&lgm::draw::Edge> = drawing.edges.iter().filter(at).collect();
            let efforts = own.iter().filter(|edge| sets_effort(edge)).count();
            let wanted = match kind {
                lgm::model::JunctionKind::Zero => 1,
                lgm::model::JunctionKind::One => own.len() - 1,
            };
            assert_eq!(efforts, wanted, "{name}: {}", node.id);
            looked += 1;
        }
    }
    assert!(looked > 10, "{looked}");
}

#[test]
fn bonds_have_the_numbers_of_lgm_causality() {
    let lever = program::example("lever.lgm").display().to_string();
    let (out, _, code) = program::said("causality", &[&lever]);
    assert_eq!(code, Some(0));
    let drawing = bonds_in(
        &example("lever.lgm"),
        Manner {
            all_junctions: true,
            ..Manner::default()
        },
    );
    let numbers = drawing.labels.iter().filter(|label| label.kind == LabelKind::Number);
    let mut looked = 0;
    for (edge, number) in drawing.edges.iter().zip(numbers) {
        let bare = |name: &str| {
            name.trim_start_matches(['0', '1', ':'])
                .split('.')
                .next()
                .unwrap()
                .to_string()
        };
        let row = out
            .lines()
            .find(|line| line.trim_start().starts_with(&format!("{} ", number.text)))
            .unwrap();
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(
            [bare(words[1]), bare(words[3])],
            [edge.from.clone(), edge.to.clone()],
            "{row}"
        );
        looked += 1;
    }
    assert_eq!(looked, 5);
}

/// The values of all elements that have one.
fn values(text: &str) -> BTreeMap<String, String> {
    let manner = Manner {
        values: true,
        ..Manner::default()
    };
    let drawing = bonds_in(text, manner);
    let values = drawing.labels.iter().filter(|label| label.kind == LabelKind::Value);
    values.map(|label| (label.name.clone(), label.text.clone())).collect()
}

#[test]
fn values_have_the_signs_of_the_arrows_that_are_drawn() {
    let lever = values(&example("lever.lgm"));
    let wanted = [("I1", "m1"), ("I2", "m2"), ("SE", "F"), ("T", "ratio")];
    assert_eq!(
        lever,
        wanted.map(|(name, value)| (name.to_string(), value.to_string())).into()
    );
    // A force drawn from the node to the reference opposes the velocity: the outgoing arrow has the negative of that
    // force.
    let text = "model Pull {
      param k = 3; param n = 2; param g = 5; input F = 1;
      node x, y : translational; node a, b : electrical;
      pull : ForceSource(F) x -> gnd;
      spring : Spring(k) x -> gnd;
      lever : Transformer(n) x -> gnd, y -> gnd;
      drag : Damper(k) y -> gnd;
      feed : VoltageSource(F) a -> gnd;
      ideal : Transformer(n) a -> gnd, b -> gnd;
      load : Resistor(k) b -> gnd;
      output v = across(drag);
      output i = through(load);
    }";
    let found = values(text);
    // f_out = n f_in, and e_in = (1/n) e_out.
    for (name, value) in [
        ("pull", "-F"),
        ("spring", "1/k"),
        ("lever", "n"),
        ("drag", "k"),
        ("feed", "F"),
        ("ideal", "1/n"),
        ("load", "k"),
    ] {
        assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}: {found:?}");
    }
}

#[test]
fn components_that_are_alike_are_drawn_alike() {
    for (name, count) in [("line.lgm", 4), ("thermal_wall.lgm", 6)] {
        let drawing = bonds_in(&example(name), Manner::default());
        assert_eq!(drawing.frames.len(), count, "{name}");
        let inside = |frame: &lgm::draw::Frame| -> BTreeSet<String> {
            let nodes = drawing
                .nodes
                .iter()
                .filter(|node| node.id.contains(&format!("{}.", frame.name)));
            nodes
                .map(|node| {
                    format!(
                        "{} at {:.1} {:.1}",
                        node.label,
                        node.at.x - frame.at.x,
                        node.at.y - frame.at.y
                    )
                })
                .collect()
        };
        let first = inside(&drawing.frames[0]);
        assert!(first.len() > 3, "{first:?}");
        for frame in &drawing.frames {
            assert_eq!(inside(frame), first, "{name}: {}", frame.name);
            let title = drawing
                .labels
                .iter()
                .find(|label| label.kind == LabelKind::Component && label.name == frame.name);
            assert!(title.is_some_and(|title| title.text == frame.name));
        }
    }
}

#[test]
fn signals_are_lines_from_what_is_measured() {
    let drawing = bonds_in(&example("motor_drive.lgm"), Manner::default());
    let from: BTreeSet<(Option<&str>, &str)> = (drawing.signals.iter())
        .map(|signal| (signal.from.as_deref(), signal.element.as_str()))
        .collect();
    let wanted = [
        (Some("inductance"), "bridge"),
        (Some("rotor"), "bridge"),
        (None, "bridge"),
    ];
    assert_eq!(from, wanted.into());
    for signal in drawing.signals.iter().filter(|signal| signal.from.is_some()) {
        let node = |name: &str| drawing.nodes.iter().find(|node| node.id == name).unwrap().at;
        let (first, last) = (signal.path[0], signal.path[signal.path.len() - 1]);
        assert!(first.distance(node(signal.from.as_deref().unwrap())) < 60.0);
        assert!(last.distance(node(&signal.element)) < 60.0);
    }
}

#[test]
fn an_operational_amplifier_is_no_resistor() {
    let text = "element IdealOpAmp : electrical { port in, out; in.across = 0; in.through = 0; }
    element Gain(g) : electrical { port in, out; in.through = 0; out.through = g*in.across; }
    model Inverter {
      param R = 2; input u = 1;
      node s, m, o, p : electrical;
      V : VoltageSource(u) s -> gnd;
      R1 : Resistor(R) s -> m;
      R2 : Resistor(R) m -> o;
      Op : IdealOpAmp() m -> gnd, o -> gnd;
      G : Gain(R) o -> gnd, p -> gnd;
      R3 : Resistor(R) p -> gnd;
      output y = across(R3);
    }";
    let drawing = bonds_in(text, Manner::default());
    let label = |name: &str| drawing.nodes.iter().find(|node| node.id == name).unwrap().label.clone();
    assert_eq!(label("Op"), "IdealOpAmp:Op");
    assert_eq!(label("G"), "Gain:G");
    assert_eq!(label("R3"), "R3");
}

#[test]
fn an_element_that_switches_keeps_its_word_and_takes_power() {
    let drawing = bonds_in(&example("switching/bridge_rectifier.lgm"), Manner::default());
    for name in ["d1", "d2", "d3", "d4"] {
        let node = drawing.nodes.iter().find(|node| node.id == name).unwrap();
        assert_eq!(node.label, format!("IdealDiode:{name}"));
        assert!(drawing.edges.iter().any(|edge| edge.to == name));
    }
}

#[test]
fn the_stroke_that_cannot_be_is_drawn_in_both_places() {
    let path = program::example("../tests/corpus/conflicts/two_voltage_sources.lgm");
    let text = fs::read_to_string(path).unwrap();
    let drawing = bonds_in(&text, Manner::default());
    let edge = |name: &str| {
        drawing
            .edges
            .iter()
            .find(|edge| edge.element.as_deref() == Some(name))
            .unwrap()
    };
    assert_eq!(edge("second").stroke, Some(Stroke::Contested));
    assert_eq!(edge("second").marks().strokes.len(), 2);
    assert_eq!(edge("first").stroke, Some(Stroke::Head));
    assert_eq!(svg(&drawing).matches("stroke electrical contested\"").count(), 2);
    let json = lgm::draw::json(&drawing);
    let found = json["edges"]
        .as_array()
        .unwrap()
        .iter()
        .find(|edge| edge["element"] == "second")
        .unwrap();
    assert_eq!(found["effort_at"], serde_json::json!(["second", "a"]));
}

/// Written as a bond graph, so that nothing here becomes one accidentally.
#[test]
fn examples_hold_both_notations() {
    let kinds = examples().into_iter().map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        written_as(compilation(&text, Some(path)).model().unwrap()) == Kind::BondGraph
    });
    let kinds: Vec<bool> = kinds.collect();
    assert!(kinds.contains(&true) && kinds.contains(&false));
}
