//! Modes from tables: a table of closed-form modes agrees with the library's block, and errors in a table are reported
//! with their location.

use crate::support::linear::assert_same_response;
use crate::support::program;
use lgm::diagnostic::Diagnostic;
use lgm::source::{SourceMap, Sources};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A model and its table, in a separate folder.
fn files(name: &str, text: &str, table: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tables").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("modes.csv"), table).unwrap();
    let path = folder.join("model.lgm");
    std::fs::write(&path, text).unwrap();
    path
}

/// A model of a body with two ports: one is driven by a force, the other carries a mass.
fn model(block: &str, modes: &str, at: &str) -> String {
    format!(
        "import distributed;
model M {{
  input F [N] = 1;
  node a, b : translational;
  body : {block}modes = {modes}, at = {at}) a -> gnd, b -> gnd;
  push : ForceSource(F) gnd -> a;
  more : Mass(0.7) b -> gnd;
  output v = across(a);
  output u = displacement(body, 1.5 [m]);
  output w = velocity(body, 0.4);
}}
"
    )
}

#[test]
fn a_table_of_closed_form_modes_is_the_block_of_the_library() {
    let (rho, a, e, i_y, l) = (2.7f64, 0.13, 71.0, 0.0023, 1.7);
    let mut table = "frequency [Hz],modal_mass [g],shape(400 [mm]),shape(1.1),zeta,shape(1.5)\n".to_string();
    for i in 1..=6 {
        let z = i as f64 * std::f64::consts::PI;
        let omega = (z / l).powi(2) * (e * i_y / (rho * a)).sqrt();
        let shape = |x: f64| (z * x / l).sin();
        let (frequency, mass) = (omega / std::f64::consts::TAU, 500.0 * rho * a * l);
        let (p, q, r) = (shape(0.4), shape(1.1), shape(1.5));
        writeln!(table, "{frequency:e},{mass},{p},{q},0.02,{r}").unwrap();
    }
    let measured = model("MeasuredBody(", "table(\"modes.csv\")", "[0.4, 1.1 [m]]");
    let measured = program::numeric(&files("closed_form", &measured, &table), &Vec::new());
    let library = model(
        "PinnedBeam(2.7, 0.13, 71, 0.0023, 1.7, zeta = 0.02, ",
        "6",
        "[0.4, 1.1]",
    );
    let library = program::numeric(&files("library", &library, &table), &Vec::new());
    assert_eq!(measured.states, library.states);
    for omega in [0.1, 1.3, 9.0, 40.0] {
        let (found, expected) = (measured.response(omega), library.response(omega));
        assert_same_response("table", &found, &expected, 1e-12);
    }
    // The first modes of a table are the modes of a smaller one.
    let four = model("MeasuredBody(", "table(\"modes.csv\", 4)", "[0.4, 1.1]");
    let four = program::numeric(&files("first_four", &four, &table), &Vec::new());
    let library = model(
        "PinnedBeam(2.7, 0.13, 71, 0.0023, 1.7, zeta = 0.02, ",
        "4",
        "[0.4, 1.1]",
    );
    let library = program::numeric(&files("library_four", &library, &table), &Vec::new());
    assert_same_response("first four", &four.response(1.3), &library.response(1.3), 1e-12);
}

#[test]
fn any_parameter_of_any_block_may_be_a_column() {
    let text = "import distributed;
model M {
  input F = 1;
  node a : translational;
  bar  : FixedFreeBar(1, 1, 1, 1, modes = table(\"modes.csv\"), at = [1]) a -> gnd;
  pull : ForceSource(F) gnd -> a;
  output v = across(a);
}
";
    let ratios = [0.01, 0.04, 0.02];
    let linear = program::numeric(
        &files("column", text, "\u{feff}zeta\r\n0.01\r\n4e-2\r\n+.02\r\n"),
        &Vec::new(),
    );
    let mut poles = linear.poles();
    poles.retain(|pole| pole.im > 0.0);
    poles.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
    assert_eq!(poles.len(), 3);
    for (pole, ratio) in poles.iter().zip(ratios) {
        assert!((-pole.re / pole.norm() - ratio).abs() < 1e-12, "{pole}, not {ratio}");
    }
}

#[test]
fn points_of_surfaces_have_two_coordinates_and_rigid_motions_no_frequency() {
    let text = "import distributed;
model M {
  const column = 0.2;
  input F = 1;
  node a : translational;
  lid  : MeasuredSurface(modes = table(\"modes.csv\"), at = [[column, 0.1]]) a -> gnd;
  pull : ForceSource(F) gnd -> a;
  output u = displacement(lid, 0.4, 0.1);
}
";
    let table = "modal_mass;frequency;\"shape(0.2, 0.1)\";\"shape(0.4, 100 [mm])\"\n2;0;1;1\n3;0.5;0.5;-0.25\n";
    let found = program::numeric(&files("surface", text, table), &Vec::new()).response(1.0)[(0, 0)];
    let expected = -1.0 / 2.0 - 0.5 * 0.25 / (3.0 * (std::f64::consts::PI.powi(2) - 1.0));
    assert!(
        (found.re - expected).abs() < 1e-13 && found.im.abs() < 1e-13,
        "{found}, not {expected}"
    );
}

/// A model's folder in memory.
struct Folder<'t>(&'t str);

impl Sources for Folder<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        match path == Path::new("modes.csv") {
            true => Ok(self.0.to_string()),
            false => Err("no such file".to_string()),
        }
    }
}

/// The diagnostics of a block with two ports at 0.4 and 1.5 and its table: the codes, each with line and column.
fn faults(block: &str, modes: &str, table: &str) -> Vec<(String, String)> {
    let mut map = SourceMap::default();
    let text = model(block, modes, "[0.4, 1.5]");
    let root = map.add("model.lgm", text.as_str(), Some("model.lgm".into()));
    let found = lgm::check(&Folder(table), &mut map, root, &lgm::Request::default());
    let place = |diagnostic: &Diagnostic| {
        let span = diagnostic.labels[0].span;
        let (line, column) = map.line_column(span.source, span.start);
        format!("{}:{line}:{column}", map.get(span.source).name)
    };
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
    errors.map(|error| (error.code.to_string(), place(error))).collect()
}

#[test]
fn faults_of_a_table_are_reported_at_their_place() {
    let head = "frequency,shape(0.4),shape(1.5)\n";
    let whole = format!("{head}1,2,3\n4,5,6\n");
    let table = "table(\"modes.csv\")";
    assert_eq!(faults("MeasuredBody(", table, &whole), []);
    let cases: &[(&str, &str, &str)] = &[
        ("1,2,3\n4,,6\n", "LGM0447", "modes.csv:3:1"),
        ("1,2,3\n4,5,6,7\n", "LGM0447", "modes.csv:3:1"),
        ("1,2,3\n4,5\n", "LGM0447", "modes.csv:3:1"),
        ("1,2,nan\n", "LGM0447", "modes.csv:2:5"),
        ("1,inf,3\n", "LGM0447", "modes.csv:2:3"),
        ("1,2,1e999\n", "LGM0447", "modes.csv:2:5"),
        ("1,2,1_000\n", "LGM0447", "modes.csv:2:5"),
        ("1,two,3\n", "LGM0447", "modes.csv:2:3"),
        ("1,2,\"3,5\"\n", "LGM0447", "modes.csv:2:5"),
        ("", "LGM0447", "modes.csv:1:1"),
        ("-1,2,3\n", "", ""),
    ];
    for (rows, code, place) in cases {
        let found = faults("MeasuredBody(", table, &format!("{head}{rows}"));
        let expected: Vec<(String, String)> = match code.is_empty() {
            true => Vec::new(),
            false => vec![(code.to_string(), place.to_string())],
        };
        assert_eq!(found, expected, "{rows:?}");
    }
    let headings: &[(&str, &str, &str)] = &[
        ("frequency,shape(0.4),shape(0.4)", "LGM0447", "modes.csv:1:22"),
        ("frequency,shape(0.4),shape(400 [mm])", "LGM0447", "modes.csv:1:22"),
        ("frequency,shape(0.4),", "LGM0447", "modes.csv:1:1"),
        ("frequency,shape(0.4),shape(tip)", "LGM0447", "modes.csv:1:22"),
        ("frequency [Hz,shape(0.4),shape(1.5)", "LGM0447", "modes.csv:1:1"),
        ("1,2,3", "LGM0447", "modes.csv:1:1"),
        ("frequency [Hx],shape(0.4),shape(1.5)", "LGM0204", "modes.csv:1:12"),
        ("frequency [kg],shape(0.4),shape(1.5)", "LGM0201", "modes.csv:1:1"),
        ("frequency,shape(0.4),shape(1.5 [kg])", "LGM0201", "model.lgm:9:33"),
        ("frequncy,shape(0.4),shape(1.5)", "LGM0134", "model.lgm:5:10"),
        ("frequency,shape(0.4),shape(1.6)", "LGM0448", "model.lgm:5:62"),
        ("frequency,shape(0.4),\"shape(1.5, 2)\"", "LGM0448", "modes.csv:1:22"),
        ("frequency,shape(0.4),mass", "LGM0448", "modes.csv:1:22"),
        ("frequency,shape(0.4),moment(1)", "LGM0448", "modes.csv:1:22"),
    ];
    for (heading, code, place) in headings {
        let found = faults("MeasuredBody(", table, &format!("{heading}\n1,2,3\n"));
        assert!(!found.is_empty(), "{heading}");
        assert_eq!(found[0], (code.to_string(), place.to_string()), "{heading}: {found:?}");
    }
    let single = |block: &str, modes: &str, text: &str| faults(block, modes, text).first().cloned();
    let at = |code: &str, place: &str| Some((code.to_string(), place.to_string()));
    assert_eq!(single("MeasuredBody(", table, ""), at("LGM0447", "model.lgm:5:37"));
    assert_eq!(single("MeasuredBody(", "3", ""), at("LGM0134", "model.lgm:5:10"));
    assert_eq!(
        single("MeasuredBody(frequency = 2, ", "3", ""),
        at("LGM0448", "model.lgm:5:10")
    );
    assert_eq!(single("MeasuredBody(", "table()", ""), at("LGM0448", "model.lgm:5:31"));
    let too_many = "table(\"modes.csv\", 3)";
    assert_eq!(
        single("MeasuredBody(", too_many, &whole),
        at("LGM0448", "model.lgm:5:50")
    );
    assert_eq!(
        single("MeasuredBody(frequency = 2, ", table, &whole),
        at("LGM0448", "modes.csv:1:1")
    );
    assert_eq!(
        single("Cantilever(1, 1, 1, 1, 2, ", table, &whole),
        at("LGM0448", "modes.csv:1:1")
    );
    assert_eq!(
        single("MeasuredBody(", "table(\"other.csv\")", &whole),
        at("LGM0101", "model.lgm:5:37")
    );
    assert_eq!(
        single("MeasuredBody(", "table(\"../modes.csv\")", &whole),
        at("LGM0103", "model.lgm:5:37")
    );
}

#[test]
fn a_table_that_is_no_text_is_refused() {
    let path = files(
        "no_text",
        &model("MeasuredBody(", "table(\"modes.csv\")", "[0.4, 1.5]"),
        "",
    );
    std::fs::write(path.with_file_name("modes.csv"), b"frequency,shape(0.4)\n1,\xff\n").unwrap();
    let output = program::run(&["check".to_owned(), path.display().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("LGM0101") && said.contains("not UTF-8 at byte 23, in line 2"),
        "{said}"
    );
}
