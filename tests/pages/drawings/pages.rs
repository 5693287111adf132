//! The pictures of docs/drawings.md, and the colours of pictures and pages.

use super::{compilation, said};
use crate::support::program;
use lgm::draw::{Kind, Manner, Theme, draw_with, svg_in};
use std::fs;
use std::path::Path;

/// The pictures of docs/drawings.md match the program's current drawings; `UPDATE_GALLERY=1` rewrites them.
#[test]
fn pictures_of_the_page_are_up_to_date() {
    let (linear, bonds) = (Kind::LinearGraph, Kind::BondGraph);
    let books = Manner::default();
    let values = Manner { values: true, ..books };
    let all = Manner {
        all_junctions: true,
        ..books
    };
    for (name, model, kind, manner) in [
        ("quarter_car", "examples/quarter_car.lgm", linear, books),
        ("quarter_car_bonds", "examples/quarter_car.lgm", bonds, books),
        ("rigid_gears", "examples/rigid_gears.lgm", linear, books),
        ("dc_motor", "examples/dc_motor.lgm", bonds, values),
        ("line", "examples/line.lgm", bonds, books),
        (
            "two_voltage_sources",
            "tests/corpus/conflicts/two_voltage_sources.lgm",
            bonds,
            books,
        ),
        ("roller_coaster", "examples/seeds/roller_coaster.lgm", bonds, books),
        ("lever", "examples/lever.lgm", bonds, all),
        ("gyrator_field", "examples/seeds/gyrator_field.lgm", bonds, values),
        (
            "two_link_manipulator",
            "examples/seeds/two_link_manipulator.lgm",
            linear,
            books,
        ),
    ] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(model)).unwrap();
        let compilation = compilation(&text, None);
        let model = compilation.formulated_model().or_else(|| compilation.model()).unwrap();
        let (graph, report) = (compilation.bond_graph().unwrap(), compilation.causality().unwrap());
        let now = svg_in(&draw_with(model, graph, report, kind, manner).unwrap(), Theme::Light);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/drawings/{name}.svg"));
        if std::env::var_os("UPDATE_GALLERY").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &now).unwrap();
        }
        let known = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            known == now,
            "{name} has changed: run with UPDATE_GALLERY=1, and look at it"
        );
    }
}

/// Pictures are light by default, and only pages follow the reader's preference.
#[test]
fn themes_are_those_that_were_asked_for() {
    let lever = program::example("lever.lgm").display().to_string();
    let follows = |text: &str| text.contains("prefers-color-scheme");
    let (light, _, _) = said(&[&lever]);
    let (dark, _, _) = said(&[&lever, "--theme", "dark"]);
    let (page, _, _) = said(&[&lever, "--format", "html"]);
    let (dark_page, _, _) = said(&[&lever, "--format", "html", "--theme", "dark"]);
    assert!(light.contains(".paper, .source, .frame { fill: #ffffff }") && !follows(&light));
    assert!(dark.contains(".paper, .source, .frame { fill: #15181c }") && !follows(&dark));
    assert!(follows(&page) && !follows(&dark_page));
    assert!(light.contains("font-family=\"Helvetica, Arial, sans-serif\""));
    let (out, err, code) = said(&[&lever, "--theme", "auto"]);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(err.contains("LGM0907") && err.contains("--format html"), "{err}");
    let car = program::example("quarter_car.lgm").display().to_string();
    let (_, err, code) = said(&[&car, "--values"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("`--values` is only available for bond graphs"), "{err}");
}
