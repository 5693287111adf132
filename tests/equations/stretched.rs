//! Models of many equal sections, compiled with only a few of them (`Stretched`): their equations and counts are those
//! of the flat model, and irregular models are left unchanged.

use crate::support::cases::cases;
use lgm::diagnostic::has_errors;
use lgm::emit::{
    DocumentOptions, MatrixOptions, TextOptions, json_patterns, latex, stretched_json, stretched_latex, stretched_text,
    text,
};
use lgm::model::counts::Counts;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use lgm::stretched::Stretched;
use lgm::{Compilation, Request};
use proptest::prelude::*;
use std::fmt::Write;

/// Symbolic equations have the same form for models of this size as for short ones.
const SHORT: std::ops::Range<u64> = 56..72;

/// Matrices of models of this size are listed by their entries.
const LONG: std::ops::Range<u64> = 260..300;

fn compilation(source: &str, numeric: bool) -> Compilation {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    Compilation::new(&NoFiles, map, root, request(numeric))
}

fn request(numeric: bool) -> Request {
    let mut request = Request::default();
    request.equations.symbolic = !numeric;
    request.equations.numeric = numeric;
    request.equations.shows_matrices = numeric;
    request
}

fn options(numeric: bool) -> TextOptions {
    TextOptions {
        matrices: MatrixOptions {
            numeric,
            ..MatrixOptions::default()
        },
        most_entries: 100,
        ..TextOptions::default()
    }
}

fn document(options: &TextOptions) -> DocumentOptions {
    DocumentOptions {
        matrices: options.matrices,
        most_entries: options.most_entries,
        flat: options.flat,
    }
}

/// The text, LaTeX, JSON and the counts without the long graph; symbolic ones contain no matrices.
fn short(source: &str, numeric: bool) -> Option<([String; 3], Counts)> {
    let compilation = compilation(source, numeric);
    let stretched = Stretched::of(&compilation, 0)?;
    let states = stretched.at(|each| each.system().map_or(0, |system| system.states.len()))?;
    let counts = (Stretched::FIRST, stretched.count());
    let (states, mut options) = (if numeric { states } else { usize::MAX }, options(numeric));
    if !numeric {
        options.most_entries = 0;
    }
    let systems = stretched.systems();
    let all = [
        stretched_text(&systems, counts, states, &options)?,
        stretched_latex(&systems, counts, states, &document(&options))?,
        String::from_utf8(stretched_json(&systems, counts, states, &document(&options))?).unwrap(),
    ];
    Some((without_matrices(all, numeric), stretched.counts()?))
}

/// The same from the long graph.
fn flat(source: &str, numeric: bool) -> ([String; 3], Counts) {
    let compilation = compilation(source, numeric);
    let diagnostics = compilation.diagnostics();
    assert!(
        !has_errors(&diagnostics),
        "{source}\n{}",
        render(compilation.map(), &diagnostics, false)
    );
    let system = compilation.system().expect("there are no errors");
    let model = compilation.model().expect("there are no errors");
    let options = options(numeric);
    let mut json = Vec::new();
    json_patterns(system, &document(&options), &mut json).unwrap();
    let all = [
        text(system, &options),
        latex(system, document(&options)),
        String::from_utf8(json).unwrap(),
    ];
    (without_matrices(all, numeric), model.heading.counts)
}

fn without_matrices(all: [String; 3], numeric: bool) -> [String; 3] {
    if numeric {
        return all;
    }
    let [text, latex, json] = all;
    let equations = |text: String, end: &str| {
        text.split_once(end)
            .map_or(text.clone(), |(front, _)| front.to_string())
    };
    let mut value: serde_json::Value = serde_json::from_str(&json).unwrap();
    for name in ["A", "B", "C", "D", "E", "F", "x_offset", "y_offset"] {
        value.as_object_mut().unwrap().remove(name);
    }
    [
        equations(text, "\nmatrix form"),
        equations(latex, "\\subsection*{Matrix form}"),
        value.to_string(),
    ]
}

/// The parts of a random array.
#[derive(Clone, Debug)]
struct Array {
    /// Inductors alone, reversed, or in series with resistors.
    series: u8,
    /// True for resistors in parallel with the capacitors.
    leaks: bool,
    /// True for an input at each section.
    driven: bool,
    /// True for two masses in each section that move together.
    pairs: bool,
    /// True for an array of components.
    component: bool,
    /// Numbers, parameters, or the length divided by the number of sections.
    values: u8,
    /// Springs between every second node.
    second: bool,
}

fn array() -> impl Strategy<Value = Array> {
    let flags = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    (0..3u8, flags, 0..3u8).prop_map(|(series, (leaks, driven, pairs, component, second), values)| Array {
        series,
        leaks,
        driven,
        pairs,
        component,
        values,
        second,
    })
}

impl Array {
    /// Declarations of an array whose names end with a letter, from node `n*[1]` to node `n*[N + 1]`.
    fn write(&self, end: char, out: &mut String) {
        let value = match self.values {
            0 => "2",
            1 => "P",
            _ => "P*3/N",
        };
        writeln!(out, "  node n{end}[N + 1], m{end}[N] : electrical;").unwrap();
        writeln!(out, "  for i in 1:N {{").unwrap();
        if self.component {
            writeln!(
                out,
                "    cell{end}[i] : Section({value}, C = 3) (a = n{end}[i], b = n{end}[i + 1]);"
            )
            .unwrap();
            writeln!(out, "    w{end}[i] : Resistor(5) m{end}[i] -> n{end}[i];").unwrap();
        } else {
            match self.series {
                0 => writeln!(out, "    l{end}[i] : Inductor({value}) n{end}[i] -> m{end}[i];").unwrap(),
                1 => writeln!(
                    out,
                    "    l{end}[i] : Inductor({value}) m{end}[i] -> n{end}[i], start = 0.5;"
                )
                .unwrap(),
                _ => writeln!(out, "    l{end}[i] : Inductor(4) n{end}[i] -> m{end}[i];").unwrap(),
            }
            writeln!(out, "    r{end}[i] : Resistor({value}) m{end}[i] -> n{end}[i + 1];").unwrap();
            writeln!(out, "    c{end}[i] : Capacitor(P) n{end}[i + 1] -> gnd;").unwrap();
        }
        if self.leaks {
            writeln!(out, "    g{end}[i] : Resistor(7) n{end}[i + 1] -> gnd;").unwrap();
        }
        if self.driven {
            writeln!(out, "    q{end}[i] : CurrentSource(u) gnd -> n{end}[i + 1];").unwrap();
        }
        if self.pairs {
            writeln!(out, "    d{end}[i] : Capacitor({value}) n{end}[i + 1] -> gnd;").unwrap();
        }
        out.push_str("  }\n");
        if self.second {
            writeln!(
                out,
                "  for i in 2:N - 1 {{ s{end}[i] : Inductor(6) n{end}[i - 1] -> n{end}[i + 1]; }}"
            )
            .unwrap();
        }
    }
}

/// One array or two, with sources, loads and links at the borders.
fn model(arrays: &[Array], count: u64, left: u8, right: u8, link: u8) -> String {
    let mut out = String::from(
        "component Section(L, C) {\n  port a, b : electrical;\n  node m : electrical;\n  l : Inductor(L) a -> m;\n  \
         r : Resistor(2) m -> b;\n  c : Capacitor(C) b -> gnd;\n}\nmodel Random {\n",
    );
    writeln!(out, "  const N = {count};\n  param P = 3;\n  input u = 1;").unwrap();
    for (array, end) in arrays.iter().zip(['a', 'b']) {
        array.write(end, &mut out);
    }
    let (first, last) = match arrays.len() {
        1 => ('a', 'a'),
        _ => ('a', 'b'),
    };
    out += &match left {
        0 => format!("  src : VoltageSource(u) n{first}[1] -> gnd;\n"),
        1 => format!("  src : CurrentSource(u) gnd -> n{first}[1];\n  cap : Capacitor(9) n{first}[1] -> gnd;\n"),
        _ => format!(
            "  node e : electrical;\n  src : VoltageSource(u) e -> gnd;\n  feed : Resistor(P) e -> n{first}[1];\n  \
             near : Capacitor(1) n{first}[1] -> gnd;\n"
        ),
    };
    out += &match right {
        0 => format!("  load : Resistor(50) n{last}[N + 1] -> gnd;\n"),
        1 => format!("  load : Inductor(8) n{last}[N + 1] -> gnd;\n"),
        _ => format!("  load : Resistor(50) n{last}[N] -> n{last}[N + 1];\n"),
    };
    if arrays.len() == 2 {
        out += match link {
            0 => "  link : Inductor(P) na[N + 1] -> nb[1];\n  begin : Capacitor(2) nb[1] -> gnd;\n",
            1 => "  link : Resistor(P) na[N + 1] -> nb[1];\n  begin : Capacitor(2) nb[1] -> gnd;\n",
            _ => "  link : Transformer(2) na[N + 1] -> gnd, nb[1] -> gnd;\n",
        };
        if link == 1 {
            out += "  for i in 1:N { rung[i] : Resistor(11) na[i + 1] -> nb[i + 1]; }\n";
        }
    }
    out += "  output y = across(load);\n  output z = through(load);\n}\n";
    out
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn the_equations_of_many_sections_are_the_flat_ones(
        arrays in prop::collection::vec(array(), 1..3),
        (count, numeric) in prop_oneof![(SHORT, Just(false)), (LONG, Just(true))],
        (left, right, link) in (0..3u8, 0..3u8, 0..3u8),
    ) {
        let source = model(&arrays, count, left, right, link);
        let (found, counts) = short(&source, numeric).unwrap_or_else(|| panic!("not stretched:\n{source}"));
        let (all, flat_counts) = flat(&source, numeric);
        prop_assert_eq!(&found, &all, "{}", source);
        prop_assert_eq!(counts, flat_counts);
    }
}

/// A ladder with modifications: the declarations, the repeated part, and the rest.
fn ladder(declared: &str, repeated: &str, behind: &str) -> String {
    format!(
        "element Cubic(k) : electrical {{ through = k*across^3; }}\nmodel Ladder {{\n  const N = 270;\n  input u = 1;\n  node v[N + 1], m[N] : electrical;\n  {declared}\n  src : VoltageSource(u) v[1] -> gnd;\n  \
         for i in 1:N {{\n    l[i] : Inductor(1) v[i] -> m[i];\n    r[i] : Resistor(0.1) m[i] -> v[i + 1];\n    c[i] : Capacitor(2) v[i + 1] -> gnd;\n    \
         {repeated}\n  }}\n  {behind}\n  output y = across(c[N]);\n}}\n"
    )
}

#[test]
fn a_ladder_is_stretched() {
    for (declared, repeated, behind) in [
        ("", "", ""),
        (
            "param K = 3/N;",
            "g[i] : Resistor(K*N) v[i + 1] -> gnd;",
            "load : Resistor(1/N) v[N] -> gnd;",
        ),
        (
            "",
            "g[i] : CurrentSource(u) v[i + 1] -> gnd;",
            "near : Resistor(4) v[2] -> v[5];",
        ),
    ] {
        let source = ladder(declared, repeated, behind);
        let (found, counts) = short(&source, true).unwrap_or_else(|| panic!("not stretched:\n{source}"));
        assert_eq!((found, counts), flat(&source, true), "{source}");
    }
}

#[test]
fn what_does_not_repeat_is_left_alone() {
    for (declared, repeated, behind) in [
        // Individual sections.
        ("", "if i == 30 { g[i] : Resistor(3) v[i + 1] -> gnd; }", ""),
        ("", "g[i] : Resistor(i) v[i + 1] -> gnd;", ""),
        ("", "g[i] : Resistor(2) v[N + 1 - i] -> gnd;", ""),
        ("", "g[i] : Resistor(2) v[2*i - i] -> gnd;", ""),
        ("", "", "for i in 1:N - 3 { g[i] : Inductor(2) v[i] -> v[i + 3]; }"),
        // A source or a load in the middle.
        ("", "", "load : Resistor(4) v[30] -> gnd;"),
        ("", "", "load : Resistor(4) v[N - 9] -> gnd;"),
        ("", "", "for i in 20:N { g[i] : Resistor(4) v[i] -> gnd; }"),
        ("const H = 135;", "", "load : Resistor(4) v[H] -> gnd;"),
        // The number of sections in another form.
        ("const M = N - 1;", "", "load : Resistor(4) v[M] -> gnd;"),
        ("", "", "for i in 1:N/2 { g[i] : Resistor(4) v[i] -> gnd; }"),
        ("", "", "signal s = sum(i in 1:N, across(c[i])); output w = s;"),
        // A node that all sections share.
        (
            "node hub : electrical;",
            "g[i] : Resistor(2) hub -> v[i + 1];",
            "bus : Capacitor(3) hub -> gnd;",
        ),
        ("", "", "for i in 3:N - 2 { g[i] : Inductor(2) v[2] -> v[i]; }"),
        ("", "", "for i in 3:N - 2 { g[i] : Inductor(2) v[N] -> v[i]; }"),
        // A chain of resistors, whose variables follow from both ends.
        (
            "node w[N + 1] : electrical;",
            "g[i] : Resistor(2) w[i] -> w[i + 1];",
            "a : Resistor(2) w[1] -> v[2]; b : Resistor(1) w[N + 1] -> gnd;",
        ),
        (
            "node w[N + 1] : electrical;",
            "g[i] : Transformer(1) w[i] -> gnd, w[i + 1] -> gnd;",
            "a : Resistor(1) w[1] -> v[2]; b : Capacitor(1) w[N + 1] -> gnd;",
        ),
        // Nonlinear.
        ("", "g[i] : Cubic(1) v[i + 1] -> gnd;", ""),
    ] {
        let source = ladder(declared, repeated, behind);
        assert!(short(&source, true).is_none(), "{source}");
        // The model is still valid.
        flat(&source, true);
    }
}

#[test]
fn the_number_of_sections_may_be_set() {
    let source = ladder("", "", "").replace("270", "3");
    let mut request = request(false);
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", &*source, None);
    request
        .settings
        .sets
        .push(("N=290".into(), map.add("--set", "N=290", None)));
    let compilation = Compilation::new(&NoFiles, map, root, request);
    let stretched = Stretched::of(&compilation, 0).expect("the ladder repeats");
    assert_eq!(stretched.count(), 290);
    let flat = compilation.model().expect("there are no errors");
    assert_eq!(stretched.counts(), Some(flat.heading.counts));
}

#[test]
fn a_model_with_faults_is_left_alone() {
    let conflict = "g[i] : VoltageSource(u) v[i + 1] -> gnd; h[i] : VoltageSource(u) v[i + 1] -> gnd;";
    for source in [ladder("", conflict, ""), ladder("", "g[i] : Resistor(2) m[i];", "")] {
        assert!(short(&source, true).is_none(), "{source}");
    }
}

#[test]
fn a_million_sections_are_no_more_than_a_few() {
    let source = ladder("", "", "load : Resistor(50) v[N + 1] -> gnd;").replace("270", "1000000");
    let ([text, latex, json], counts) = short(&source, false).expect("the ladder repeats");
    for line in [
        "der(l[1].i)       = u - 0.1*l[1].i - c[1].v",
        "der(l[i].i)       = c[i - 1].v - 0.1*l[i].i - c[i].v   for i in 2:1000000",
        "der(c[1000000].v) = l[1000000].i/2 - 0.01*c[1000000].v",
        "y = c[1000000].v",
    ] {
        assert!(text.contains(line), "{text}");
    }
    for line in [
        "\\frac{d}{dt} i_{\\mathrm{l[1]}} &= u - 0.1 \\, i_{\\mathrm{l[1]}} - v_{\\mathrm{c[1]}}",
        "- v_{\\mathrm{c[\\mathit{j}]}}, \\quad j = 2, \\ldots, 1000000",
        "y &= v_{\\mathrm{c[1000000]}}",
    ] {
        assert!(latex.contains(line), "{latex}");
    }
    for part in [
        r#"{"der":"l[i].i","expr":"c[i - 1].v - 0.1*l[i].i - c[i].v","for":[{"index":"i","from":2,"to":1000000}]}"#,
        r#"{"der":"c[1000000].v","expr":"l[1000000].i/2 - 0.01*c[1000000].v"}"#,
    ] {
        assert!(json.contains(part), "{json}");
    }
    assert_eq!((counts.scalar.branches, counts.scalar.nodes), (3_000_002, 2_000_002));
}
