//! `lgm draw`: drawings agree with the model and its causality, with each element once; no text overlaps anything; and
//! the pictures are well-formed. Crossings and corners are counted and limited.

mod manner;
mod pages;
mod score;
mod shapes;

use crate::equations::networks;
use crate::support;

use lgm::draw::{Drawing, Kind, LabelKind, Manner, Refusal, Stroke, dot, draw, html, json, svg};
use lgm::explain::causality::End;
use lgm::model::{Connection, Model, PathId};
use lgm::source::SourceMap;
use lgm::{Compilation, Request};
use networks::generate::generate;
use networks::write::write;
use score::{Score, score};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use support::emitted::examples;
use support::{points, program};

fn compilation(text: &str, path: Option<PathBuf>) -> Compilation {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, path);
    let mut request = Request::default();
    request.equations.symbolic = false;
    Compilation::new(&points::Disk, map, root, request)
}

fn drawn(compilation: &Compilation, kind: Kind) -> Result<Drawing, Refusal> {
    let model = compilation.formulated_model().or_else(|| compilation.model()).unwrap();
    let (graph, report) = (compilation.bond_graph().unwrap(), compilation.causality().unwrap());
    draw(model, graph, report, kind)
}

fn drawing(text: &str, kind: Kind) -> Drawing {
    drawn(&compilation(text, None), kind).unwrap()
}

/// The modal block that contains the element, or that it is.
fn block(model: &Model, element: usize) -> Option<PathId> {
    let parent = |path: PathId| model.paths[path.index()].parent;
    let modes = model.graph.elements.iter().filter(|other| other.mode.is_some());
    let blocks: BTreeSet<PathId> = modes.filter_map(|other| parent(other.path)).collect();
    let own = model.graph.elements[element].path;
    [Some(own), parent(own)]
        .into_iter()
        .flatten()
        .find(|path| blocks.contains(path))
}

/// The name of the element, or of its modal block.
fn outer_name(model: &Model, element: usize) -> String {
    model.path_name(block(model, element).unwrap_or(model.graph.elements[element].path))
}

/// The errors of a drawing.
fn faults(compilation: &Compilation, drawing: &Drawing) -> Vec<String> {
    let mut faults = Vec::new();
    let model = compilation.model().unwrap();
    let wanted: BTreeSet<String> = (0..model.graph.elements.len())
        .map(|at| outer_name(model, at))
        .collect();
    match drawing.kind {
        Kind::BondGraph => bonds(compilation, drawing, &wanted, &mut faults),
        Kind::LinearGraph => branches(compilation, drawing, &wanted, &mut faults),
    }
    for (at, edge) in drawing.edges.iter().enumerate() {
        if edge.path.len() < 2 || edge.path.iter().any(|at| !at.x.is_finite() || !at.y.is_finite()) {
            faults.push(format!("edge {at} of {} has no path", edge.name));
        }
    }
    let names: Vec<&str> = drawing.nodes.iter().map(|node| node.id.as_str()).collect();
    if names.iter().collect::<BTreeSet<_>>().len() != names.len() {
        faults.push(format!("nodes share names: {names:?}"));
    }
    faults.extend(score(drawing).1);
    faults
}

/// Each element has one text, and every bond of the report is in one bond of the drawing, with its stroke.
fn bonds(compilation: &Compilation, drawing: &Drawing, wanted: &BTreeSet<String>, faults: &mut Vec<String>) {
    let report = compilation.causality().unwrap();
    let elements = drawing.nodes.iter().filter(|node| {
        let is_element = matches!(node.shape, lgm::draw::Shape::Element(_));
        is_element && !node.id.starts_with("velocity of ")
    });
    let drawn: Vec<&str> = elements.map(|node| node.id.as_str()).collect();
    let once: BTreeSet<String> = drawn.iter().map(ToString::to_string).collect();
    if once.len() != drawn.len() || once != *wanted {
        faults.push(format!("elements {drawn:?}, not {wanted:?}"));
    }
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for edge in &drawing.edges {
        for bond in &edge.bonds {
            *seen.entry(*bond).or_default() += 1;
            let info = &report.bonds[*bond];
            let own = match info.effort_at {
                None => Stroke::Open,
                Some(end) if end == info.tail => Stroke::Tail,
                Some(_) => Stroke::Head,
            };
            let own = match (own, edge.turned.contains(bond)) {
                (Stroke::Tail, true) => Stroke::Head,
                (Stroke::Head, true) => Stroke::Tail,
                _ => own,
            };
            if ![own, Stroke::Both, Stroke::Contested].map(Some).contains(&edge.stroke) {
                faults.push(format!("bond {bond} has {own:?}, and is drawn with {:?}", edge.stroke));
            }
        }
    }
    if seen.values().any(|count| *count > 1) {
        faults.push("a bond is drawn twice".to_string());
    }
    // Elements within a modal block are not drawn.
    let has_modes = compilation
        .model()
        .unwrap()
        .graph
        .elements
        .iter()
        .any(|element| element.mode.is_some());
    // Two junctions of one kind are drawn as one, without a bond or a junction of two bonds between them.
    let kind = |end: End| match end {
        End::Junction(at) => Some(report.junctions[at].kind),
        End::Port(_) => None,
    };
    let passes = |end: End| {
        report
            .bonds
            .iter()
            .filter(|bond| bond.tail == end || bond.head == end)
            .count()
            == 2
    };
    let unites = |bond: &lgm::explain::causality::Bond| {
        let kinds = [kind(bond.tail), kind(bond.head)];
        !kinds.contains(&None) && (kinds[0] == kinds[1] || passes(bond.tail) || passes(bond.head))
    };
    let lost: Vec<usize> = (0..report.bonds.len())
        .filter(|bond| !seen.contains_key(bond) && !unites(&report.bonds[*bond]))
        .collect();
    if !lost.is_empty() && !has_modes {
        faults.push(format!("bonds {lost:?} are not drawn"));
    }
    for storage in &report.storage {
        let port = &report.ports[storage.port];
        let is_own =
            |node: &&lgm::draw::Node| node.id == port.element && matches!(node.shape, lgm::draw::Shape::Element(_));
        let node = drawing.nodes.iter().find(is_own);
        let frames = |node: &lgm::draw::Node| node.shape == lgm::draw::Shape::Element(Some(false));
        if node.is_some_and(|node| !frames(node)) && !storage.is_integral {
            faults.push(format!("{} is drawn in integral causality", port.name));
        }
    }
}

/// Each branch goes between the declared nodes, and is heavy if it belongs to the normal tree.
fn branches(compilation: &Compilation, drawing: &Drawing, wanted: &BTreeSet<String>, faults: &mut Vec<String>) {
    let (model, report) = (compilation.model().unwrap(), compilation.causality().unwrap());
    let named = drawing.edges.iter().filter_map(|edge| edge.element.clone());
    let drawn: BTreeSet<String> = named.filter(|name| !name.starts_with("velocity of ")).collect();
    if drawn != *wanted {
        faults.push(format!("elements {drawn:?}, not {wanted:?}"));
    }
    let labels = drawing.labels.iter().filter(|label| label.kind == LabelKind::Branch);
    if labels.count() != drawing.edges.len() {
        faults.push("a branch has no name, or two".to_string());
    }
    let node = |node: Option<lgm::model::NodeId>| match node {
        Some(node) => model.path_name(model.graph.nodes[node.index()].path),
        None => "gnd".to_string(),
    };
    let members = report.tree.iter().flat_map(|tree| &tree.members);
    let tree: BTreeMap<&str, Option<bool>> = members.map(|member| (member.name.as_str(), member.is_branch)).collect();
    for (at, port) in model.graph.ports.iter().enumerate() {
        let Connection::Branch { from, to, .. } = &port.connection else {
            continue;
        };
        // In a bond graph, branches are those of one of the graphs with the same loops.
        if block(model, port.element.index()).is_some() || from == to || !model.graph.bonds.is_empty() {
            continue;
        }
        let name = &report.ports[at].name;
        let plain = name.rsplit_once('[').map_or(name.as_str(), |(start, _)| start);
        let edge = drawing.edges.iter().find(|edge| edge.name == *name);
        let edge = edge.or_else(|| drawing.edges.iter().find(|edge| edge.name == plain));
        let Some(edge) = edge else {
            faults.push(format!("{name} is not drawn"));
            continue;
        };
        let is_known = drawing
            .edges
            .iter()
            .any(|other| other.name == edge.name && other.from == node(*from) && other.to == node(*to));
        if !is_known {
            faults.push(format!("{name} is drawn from {} to {}", edge.from, edge.to));
        }
        if edge.width == 1 && tree.get(name.as_str()).copied() != Some(edge.tree) {
            faults.push(format!("{name} is drawn as {:?}", edge.tree));
        }
    }
}

/// Names of open tags; the XML errors of a text.
fn fault_of_xml(text: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let outside = &rest[..start];
        for (at, _) in outside.match_indices('&') {
            let entity = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            if !entity.iter().any(|entity| outside[at..].starts_with(entity)) {
                return Some(format!("a bare & in `{outside}`"));
            }
        }
        let Some(end) = rest[start..].find('>') else {
            return Some("a tag without an end".to_string());
        };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Some(format!("</{name}> closes nothing"));
            }
            continue;
        }
        if tag.matches('"').count() % 2 == 1 || tag.contains('<') {
            return Some(format!("quotes in `{tag}`"));
        }
        if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap_or(tag));
        }
    }
    (!open.is_empty() || !rest.trim().is_empty()).then(|| format!("{open:?} stay open"))
}

#[test]
fn drawings_of_all_examples_show_everything_once_and_no_text_lies_over_anything() {
    let (mut said, mut table) = (String::new(), String::new());
    let mut sums: BTreeMap<&str, Score> = BTreeMap::new();
    for path in examples() {
        let text = fs::read_to_string(&path).unwrap();
        let compilation = compilation(&text, Some(path.clone()));
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for (kind, word) in [(Kind::LinearGraph, "linear graph"), (Kind::BondGraph, "bond graph")] {
            let drawing = match drawn(&compilation, kind) {
                Ok(drawing) => drawing,
                Err(refusal) => panic!("{name}: {refusal:?}"),
            };
            let counts = score(&drawing).0;
            *sums.entry(word).or_default() += counts;
            table += &format!(
                "{name}, {word}: {} edges, {} crossings, {} bends\n",
                counts.edges, counts.crossings, counts.bends
            );
            let mut found = faults(&compilation, &drawing);
            found.extend(fault_of_xml(&svg(&drawing)));
            for fault in found {
                said += &format!("{name}, {word}: {fault}\n");
            }
        }
    }
    println!("{table}{sums:?}");
    assert!(said.is_empty(), "{said}");
    let (linear, bonds) = (sums["linear graph"], sums["bond graph"]);
    assert!(linear.crossings * 100 < linear.edges * 12, "{linear:?}");
    assert!(bonds.crossings * 100 < bonds.edges * 12, "{bonds:?}");
    assert!(bonds.bends * 100 < bonds.edges * 60, "{bonds:?}");
}

#[test]
fn drawings_of_random_networks_show_everything_once_and_no_text_lies_over_anything() {
    let mut said = String::new();
    let mut sums: BTreeMap<&str, Score> = BTreeMap::new();
    let mut checked = 0;
    for seed in 0..200 {
        let text = write(&generate(seed));
        let compilation = compilation(&text, None);
        if compilation.model().is_none() {
            continue;
        }
        checked += 1;
        for (kind, word) in [(Kind::LinearGraph, "linear graph"), (Kind::BondGraph, "bond graph")] {
            let Ok(drawing) = drawn(&compilation, kind) else {
                continue;
            };
            *sums.entry(word).or_default() += score(&drawing).0;
            let mut found = faults(&compilation, &drawing);
            found.extend(fault_of_xml(&svg(&drawing)));
            if !found.is_empty() {
                said += &format!("seed {seed}, {word}: {found:#?}\n{text}\n");
            }
        }
    }
    println!("{checked} networks: {sums:?}");
    assert!(said.is_empty(), "{said}");
    assert!(checked > 150, "{checked}");
    let bonds = sums["bond graph"];
    assert!(bonds.crossings < bonds.edges, "{bonds:?}");
}

/// Drawing is reproducible, and an added element does not move unrelated ones.
#[test]
fn drawings_are_the_same_every_time_and_change_little_with_the_model() {
    let text = fs::read_to_string(program::example("quarter_car.lgm")).unwrap();
    let more = text.replace(
        "  output acceleration",
        "  seat : Damper(20) body_floor -> gnd;\n  output acceleration",
    );
    assert_ne!(text, more);
    for kind in [Kind::LinearGraph, Kind::BondGraph] {
        let (first, second) = (drawing(&text, kind), drawing(&text, kind));
        assert_eq!(svg(&first), svg(&second));
        assert_eq!(json(&first), json(&second));
        let changed = drawing(&more, kind);
        let order = |drawing: &Drawing| {
            let kept = drawing.nodes.iter().filter(|node| !node.id.contains("seat"));
            let mut places: Vec<(f64, f64, String)> =
                kept.map(|node| (node.at.x, node.at.y, node.id.clone())).collect();
            places.sort_by(|a, b| a.partial_cmp(b).unwrap());
            places.into_iter().map(|place| place.2).collect::<Vec<String>>()
        };
        let junctions = |drawing: &Drawing| -> Vec<String> {
            let names = order(drawing);
            names
                .into_iter()
                .filter(|name| ["ground", "wheel_hub", "body_floor"].contains(&name.as_str()))
                .collect()
        };
        assert_eq!(junctions(&first), junctions(&changed));
    }
}

#[test]
fn branches_are_oriented_as_written_and_the_tree_is_heavy() {
    let text = fs::read_to_string(program::example("quarter_car.lgm")).unwrap();
    let drawing = drawing(&text, Kind::LinearGraph);
    let json = json(&drawing);
    assert_eq!(json["schema"], "lgm-drawing/1");
    assert_eq!(json["kind"], "linear-graph");
    let edges = json["edges"].as_array().unwrap();
    let edge = |name: &str| edges.iter().find(|edge| edge["element"] == name).unwrap();
    for (name, from, to, tree) in [
        ("tyre", "ground", "wheel_hub", false),
        ("suspension", "wheel_hub", "body_floor", false),
        ("body", "body_floor", "gnd", true),
        ("profile", "ground", "gnd", true),
    ] {
        let edge = edge(name);
        assert_eq!(
            (&edge["from"], &edge["to"], &edge["tree"]),
            (&from.into(), &to.into(), &tree.into())
        );
        // The line starts at the first node and ends at the second.
        let nodes = json["nodes"].as_array().unwrap();
        let place = |id: &str| nodes.iter().find(|node| node["id"] == id).map(|node| &node["at"]);
        let path = edge["path"].as_array().unwrap();
        assert_eq!(path.first(), place(from));
        if to != "gnd" {
            assert_eq!(path.last(), place(to));
        }
    }
    assert_eq!(edge("profile")["source"], "across");
    let label = &json["labels"][0];
    assert_eq!(label["box"].as_array().unwrap().len(), 4);
    assert!(label["text"].is_string());
}

/// Karnopp's rules on a bond graph: an effort source has its stroke at the far end, and of two inertias on a lever one
/// is dependent.
#[test]
fn strokes_of_the_lever_are_those_of_the_book() {
    let text = fs::read_to_string(program::example("lever.lgm")).unwrap();
    let all = Manner {
        all_junctions: true,
        ..Manner::default()
    };
    let drawing = manner::bonds_in(&text, all);
    let json = json(&drawing);
    let effort_at = |from: &str, to: &str| {
        let edges = json["edges"].as_array().unwrap();
        let edge = edges
            .iter()
            .find(|edge| edge["from"] == from && edge["to"] == to)
            .unwrap();
        edge["effort_at"].as_str().unwrap().to_string()
    };
    assert_eq!(effort_at("SE", "A"), "A");
    assert_eq!(effort_at("A", "I1"), "I1");
    assert_eq!(effort_at("B", "I2"), "B");
    let node = |id: &str| {
        let nodes = json["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["id"] == id).unwrap().clone()
    };
    assert_eq!(node("I1")["causality"], "integral");
    assert_eq!(node("I2")["causality"], "derivative");
    assert_eq!(node("A")["shape"], "1");
}

/// The variables of a law are at the ends of a dashed arrow.
#[test]
fn signals_stand_at_what_they_modulate() {
    let text = fs::read_to_string(program::example("pendulum.lgm")).unwrap();
    let drawing = drawing(&text, Kind::BondGraph);
    assert_eq!(drawing.signals.len(), 1);
    assert_eq!(drawing.signals[0].element, "arm");
    let signal = drawing
        .labels
        .iter()
        .find(|label| label.kind == LabelKind::Signal)
        .unwrap();
    assert_eq!(signal.text, "theta");
    assert!(drawing.labels.iter().any(|label| label.text == "MTF:arm"));
    // The vector node is one junction, and its bonds are double.
    let bob = drawing
        .edges
        .iter()
        .find(|edge| edge.element.as_deref() == Some("bob"))
        .unwrap();
    assert_eq!((bob.width, bob.bonds.len()), (2, 2));
}

#[test]
fn names_are_escaped() {
    assert_eq!(fault_of_xml("<a><b x=\"1\"/></a>"), None);
    assert!(fault_of_xml("<a><b></a>").is_some());
    assert!(fault_of_xml("<a>&b</a>").is_some());
    let text = fs::read_to_string(program::example("quarter_car.lgm")).unwrap();
    let mut drawing = drawing(&text, Kind::LinearGraph);
    drawing.labels[0].text = "a<b & \"c\"".to_string();
    drawing.edges[0].name = "x>y'\\\"".to_string();
    let picture = svg(&drawing);
    assert_eq!(fault_of_xml(&picture), None, "{picture}");
    assert!(picture.contains("a&lt;b &amp; &quot;c&quot;"));
    assert!(dot(&drawing).contains("label=\"x>y'\\\\\\\"\""));
}

/// The page contains the complete picture, and works offline.
#[test]
fn the_page_needs_no_network() {
    let text = fs::read_to_string(program::example("quarter_car.lgm")).unwrap();
    let mut drawing = drawing(&text, Kind::LinearGraph);
    drawing.model = "PICTURE of <TITLE>".into();
    let page = html(&drawing);
    assert!(page.contains(&svg(&drawing)));
    assert!(page.contains("<title>PICTURE of &lt;TITLE&gt;</title>"), "{page}");
    assert_eq!(
        page.matches("://").count(),
        page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
    );
    for edge in &drawing.edges {
        let name = edge.element.as_deref().unwrap();
        // Its line and its name.
        assert_eq!(page.matches(&format!("data-name=\"{name}\"")).count(), 2, "{name}");
    }
}

/// The band connects the conflicting source to those that it contradicts, in both notations, and to nothing else.
#[test]
fn conflicts_are_marked_back_to_their_causes() {
    let text = "model Clash {
      param k = 3; param b = 1; param m = 2; input u = 1; input w = 1;
      node x, y, z : translational;
      drive : VelocitySource(u) x -> gnd;
      mass  : Mass(m)           x -> gnd;
      link  : Spring(k)         x -> y;
      tie   : VelocitySource(w) x -> z;
      other : VelocitySource(w) z -> gnd;
      drag  : Damper(b)         y -> gnd;
      output v = across(drag);
    }";
    let marked = |kind: Kind| -> BTreeSet<String> {
        let drawing = drawing(text, kind);
        assert!(svg(&drawing).contains("class=\"conflict\""));
        let marked = drawing.edges.iter().filter(|edge| edge.conflict);
        marked.filter_map(|edge| edge.element.clone()).collect()
    };
    let wanted: BTreeSet<String> = ["drive", "tie", "other"].map(String::from).into();
    assert_eq!(marked(Kind::LinearGraph), wanted);
    assert_eq!(marked(Kind::BondGraph), wanted);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clash.lgm");
    fs::write(&file, text).unwrap();
    let (out, err, code) = said(&[&file.display().to_string()]);
    assert!(out.starts_with("<svg ") && err.contains("LGM0301"), "{err}");
    assert_eq!(code, Some(1));
    // Without a conflict nothing is highlighted.
    assert!(!svg(&self::drawing(&ladder(3), Kind::BondGraph)).contains("class=\"conflict\""));
}

/// A ladder of this many sections.
fn ladder(sections: usize) -> String {
    let text = fs::read_to_string(program::example("line.lgm")).unwrap();
    text.replace("const N = 4;", &format!("const N = {sections};"))
}

/// Long drawings continue in the next row, and no row is wider than a page.
#[test]
fn long_ladders_are_wrapped() {
    for sections in [3, 20, 66] {
        let compilation = compilation(&ladder(sections), None);
        for kind in [Kind::LinearGraph, Kind::BondGraph] {
            let drawing = drawn(&compilation, kind).unwrap();
            let found = faults(&compilation, &drawing);
            assert!(found.is_empty(), "{sections}: {found:#?}");
            assert!(drawing.size.0 < 2200.0, "{sections}: {:?}", drawing.size);
            let crossings = score(&drawing).0.crossings;
            assert_eq!(crossings, 0, "{sections}");
        }
    }
}

fn said(arguments: &[&str]) -> (String, String, Option<i32>) {
    program::said("draw", arguments)
}

#[test]
fn the_command_draws_what_was_written_by_the_ending_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let lever = program::example("lever.lgm").display().to_string();
    let car = program::example("quarter_car.lgm").display().to_string();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(said(&[&car, "-o", &file("car.svg")]).2, Some(0));
    assert!(read("car.svg").starts_with("<svg ") && read("car.svg").contains("linear graph"));
    assert_eq!(said(&[&lever, "-o", &file("lever.json")]).2, Some(0));
    assert!(read("lever.json").contains("\"kind\": \"bond-graph\""));
    assert_eq!(said(&[&car, "--as", "bond-graph", "-o", &file("car.dot")]).2, Some(0));
    assert!(read("car.dot").starts_with("digraph \"QuarterCar\" {"));
    let (out, _, code) = said(&[&lever, "--format", "dot"]);
    assert_eq!(code, Some(0));
    assert!(
        out.contains("\"SE\" -> \"A\" [dir=both, arrowhead=teelvee, arrowtail=none];"),
        "{out}"
    );
    let none = file("none.lgm");
    fs::write(&none, shapes::NO_GRAPH).unwrap();
    let (out, err, code) = said(&[&none, "--as", "linear-graph"]);
    assert_eq!((out.as_str(), code), ("", Some(1)), "{err}");
    assert!(
        err.contains("LGM0939") && err.contains("do not correspond to a graph"),
        "{err}"
    );
}

/// A model that is too large is rejected within seconds.
#[test]
fn what_is_too_large_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.lgm");
    fs::write(&file, ladder(600)).unwrap();
    let (out, err, code) = said(&[&file.display().to_string()]);
    assert_eq!((out.as_str(), code), ("", Some(1)));
    assert!(err.contains("LGM0938") && err.contains("1802 elements"), "{err}");
}
