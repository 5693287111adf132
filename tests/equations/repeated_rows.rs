//! Repeated rows over indices are printed as one (`lgm equations`), in text, LaTeX and JSON. For random models of
//! arrays, substituting the indices gives the flat rows again.

use crate::support::cases::cases;
use crate::support::command::{ends_with, err, lgm, out};
use crate::support::points::compiled;
use lgm::Request;
use lgm::emit::{DocumentOptions, MatrixOptions, TextOptions, json, json_patterns, latex, text};
use lgm::model::system::StateSystem;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use proptest::prelude::*;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A chain of sections that may be reversed or lack an element, with parameters by index, and an additional grid.
fn model(sections: usize, grid: (usize, usize), kinds: &[u8], has_parameters: bool) -> String {
    let mut text = format!(
        "model Chain {{\n  input u = 1;\n  node n[{}] : electrical;\n",
        sections + 1
    );
    let value = |name: &str| match has_parameters {
        true => format!("{name}[i]"),
        false => "2".to_string(),
    };
    if has_parameters {
        for (name, from) in [("L", 1), ("R", 3), ("C", 2)] {
            let list: Vec<String> = (from..from + sections).map(|value| value.to_string()).collect();
            writeln!(text, "  param {name} = [{}];", list.join(", ")).unwrap();
        }
    }
    text += "  s : VoltageSource(u) n[1] -> gnd;\n";
    let turned: Vec<String> = (1..=sections)
        .filter(|at| kinds[at % kinds.len()] == 0)
        .map(|at| format!("i == {at}"))
        .collect();
    let lacking: Vec<String> = (1..=sections)
        .filter(|at| kinds[at % kinds.len()] == 1)
        .map(|at| format!("i == {at}"))
        .collect();
    let any = |list: &[String]| {
        if list.is_empty() {
            "1 == 2".to_string()
        } else {
            list.join(" or ")
        }
    };
    write!(
        text,
        "  for i in 1:{sections} {{\n    if {} {{ l[i] : Inductor({l}) n[i + 1] -> n[i]; }} else {{ l[i] : Inductor({l}) n[i] -> n[i + 1]; }}\n    \
         if not ({}) {{ r[i] : Resistor({}) n[i + 1] -> gnd; }}\n    c[i] : Capacitor({}) n[i + 1] -> gnd;\n  }}\n",
        any(&turned),
        any(&lacking),
        value("R"),
        value("C"),
        l = value("L"),
    )
    .unwrap();
    let (rows, columns) = grid;
    if rows > 0 {
        write!(
            text,
            "  node x[{rows}, {columns}] : translational;\n  for i in 1:{rows} {{ for j in 1:{columns} {{\n    m[i, j] : Mass(1) x[i, j] -> gnd;\n    \
             if j < {columns} {{ k[i, j] : Spring(3) x[i, j] -> x[i, j + 1]; }}\n    if i < {rows} {{ d[i, j] : Damper(2) x[i, j] -> x[i + 1, j]; }}\n  }} }}\n"
        )
        .unwrap();
    }
    text + "  output y = across(c[1]);\n}\n"
}

/// The lines of a text, expanded over all values of their indices.
fn expanded(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some((row, ranges)) = line.rsplit_once(" for ").filter(|(_, ranges)| ranges.contains(" in ")) else {
            lines.push(line.to_string());
            continue;
        };
        let mut rows = vec![row.to_string()];
        for range in ranges.split(", ") {
            let (letter, bounds) = range.split_once(" in ").unwrap();
            let (first, last) = bounds.split_once(':').unwrap();
            let values = first.parse::<i64>().unwrap()..=last.parse::<i64>().unwrap();
            rows = rows
                .iter()
                .flat_map(|row| values.clone().map(move |value| with_index(row, letter, value)))
                .collect();
        }
        lines.extend(rows);
    }
    lines
        .iter()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// A row with a value substituted for an index: each bracketed part that is the letter, alone or with an added number,
/// becomes a number.
fn with_index(row: &str, letter: &str, value: i64) -> String {
    let mut out = String::new();
    for (at, piece) in row.split('[').enumerate() {
        if at == 0 {
            out += piece;
            continue;
        }
        let (inside, behind) = piece.split_once(']').unwrap();
        let indices = inside.split(", ").map(|index| {
            let words: Vec<&str> = index.split(' ').collect();
            match words[..] {
                [only] if only == letter => value.to_string(),
                [first, "+", number] if first == letter => (value + number.parse::<i64>().unwrap()).to_string(),
                [first, "-", number] if first == letter => (value - number.parse::<i64>().unwrap()).to_string(),
                _ => index.to_string(),
            }
        });
        out += &format!("[{}]{behind}", indices.collect::<Vec<_>>().join(", "));
    }
    out
}

/// All rows, expanded over the values of their indices.
fn for_all<R>(rows: Vec<R>, letter: &str, (first, last): (i64, i64), put_in: impl Fn(&R, &str, i64) -> R) -> Vec<R> {
    let rows = rows.iter();
    rows.flat_map(|row| {
        (first..=last)
            .map(|value| put_in(row, letter, value))
            .collect::<Vec<_>>()
    })
    .collect()
}

/// The lines of a LaTeX document, expanded over the values of their indices; equations are on one line, items of lists
/// without separators.
fn expanded_latex(latex: &str) -> Vec<String> {
    let latex = latex.replace(" \\\\\n&\\quad", "");
    let mut lines = Vec::new();
    for line in latex.lines() {
        let line = line
            .trim_end_matches(" \\\\")
            .trim_end_matches(".\\par")
            .trim_end_matches("; all others from zero")
            .trim_end_matches(',');
        let line = ["States: ", "Inputs: ", "Outputs: ", "Starts: "]
            .iter()
            .fold(line, |line, title| line.trim_start_matches(title));
        let in_equation = line.rsplit_once(", \\quad ");
        let in_list = || line.strip_suffix('$')?.rsplit_once(" for $");
        let Some((row, ranges)) = in_equation.or_else(in_list) else {
            lines.push(line.to_string());
            continue;
        };
        let mut rows = vec![row.to_string()];
        for range in ranges.split(", \\; ") {
            let (letter, values) = range.split_once(" = ").unwrap();
            let values: Vec<&str> = values.split(", ").collect();
            let ends = (values[0].parse().unwrap(), values.last().unwrap().parse().unwrap());
            rows = for_all(rows, letter, ends, |row, letter, value| {
                with_latex_index(row, letter, value)
            });
        }
        lines.extend(rows);
    }
    lines
}

/// A formula with a value substituted for an index: in names of owners it is `\mathit{i}`, and in subscripts a single
/// letter.
fn with_latex_index(row: &str, letter: &str, value: i64) -> String {
    let shifted = |behind: &str| -> (i64, usize) {
        for (sign, factor) in [(" + ", 1), (" - ", -1)] {
            if let Some(rest) = behind.strip_prefix(sign) {
                let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
                let ends = rest[digits..].starts_with(['}', ']', ',']);
                if let (true, Ok(number)) = (ends, rest[..digits].parse::<i64>()) {
                    return (factor * number, sign.len() + digits);
                }
            }
        }
        (0, 0)
    };
    let in_owner = format!("\\mathit{{{letter}}}");
    let mut out = String::new();
    let mut at = 0;
    while at < row.len() {
        let rest = &row[at..];
        let length = if rest.starts_with(&in_owner) {
            in_owner.len()
        } else if rest.starts_with(letter) && (row[..at].ends_with(['{', ',']) || row[..at].ends_with(", ")) {
            letter.len()
        } else {
            0
        };
        let (shift, more) = shifted(&rest[length..]);
        let ends = rest[length + more..].starts_with(['}', ']', ',']);
        if length > 0 && ends {
            out += &(value + shift).to_string();
            at += length + more;
        } else {
            let next = rest.chars().next().unwrap();
            out.push(next);
            at += next.len_utf8();
        }
    }
    out
}

/// The members of a JSON document, with all rows of lists: those with positions in that order, others in the order of
/// their texts.
fn expanded_json(json: &[u8]) -> Value {
    let mut value: Value = serde_json::from_slice(json).unwrap();
    for (key, list) in value.as_object_mut().unwrap() {
        let Value::Array(rows) = list else { continue };
        let mut all: Vec<(Option<i64>, Value)> = Vec::new();
        for mut row in std::mem::take(rows) {
            let mut taken = |key: &str| row.as_object_mut().and_then(|row| row.shift_remove(key));
            let (place, ranges) = (taken("at").map(|place| place.as_i64().unwrap()), taken("for"));
            let mut repeated = vec![(place, row)];
            for range in ranges.iter().flat_map(|ranges| ranges.as_array().unwrap()) {
                let number = |key: &str| range[key].as_i64();
                let (first, last) = (number("from").unwrap(), number("to").unwrap());
                let letter = range["index"].as_str().unwrap();
                repeated = for_all(repeated, letter, (first, last), |(place, row), letter, value| {
                    let place = place.map(|place| place + (value - first) * number("step").unwrap());
                    (place, with_json_index(row, letter, value))
                });
            }
            all.extend(repeated);
        }
        if all.iter().any(|(place, _)| place.is_some()) {
            all.sort_by_key(|(place, _)| *place);
            let places: Vec<Option<i64>> = all.iter().map(|(place, _)| *place).collect();
            assert_eq!(places, (0..all.len() as i64).map(Some).collect::<Vec<_>>(), "{key}");
        } else if !["states", "inputs", "outputs"].contains(&&**key) {
            all.sort_by_key(|(_, row)| row.to_string());
        }
        *rows = all.into_iter().map(|(_, row)| row).collect();
    }
    value
}

fn with_json_index(value: &Value, letter: &str, index: i64) -> Value {
    match value {
        Value::String(text) => with_index(text, letter, index).into(),
        Value::Array(list) => list.iter().map(|value| with_json_index(value, letter, index)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.clone(), with_json_index(value, letter, index)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// LaTeX and JSON with patterns have the same rows as without.
#[track_caller]
fn documents_have_the_flat_rows(system: &StateSystem, matrices: MatrixOptions, source: &str) -> (String, String) {
    let options = |flat| DocumentOptions {
        flat,
        ..matrices.into()
    };
    let short = latex(system, options(false));
    let (mut all, mut found) = (expanded_latex(&latex(system, options(true))), expanded_latex(&short));
    all.sort();
    found.sort();
    assert_eq!(all, found, "{source}\n{short}");
    let (mut flat, mut patterns) = (Vec::new(), Vec::new());
    json(system, matrices, &mut flat).unwrap();
    json_patterns(system, &options(false), &mut patterns).unwrap();
    let patterns_text = String::from_utf8(patterns.clone()).unwrap();
    assert_eq!(
        expanded_json(&flat),
        expanded_json(&patterns),
        "{source}\n{patterns_text}"
    );
    // Without patterns, the procedure returns the same document.
    let mut again = Vec::new();
    json_patterns(system, &options(true), &mut again).unwrap();
    assert_eq!(
        String::from_utf8(flat).unwrap(),
        String::from_utf8(again).unwrap(),
        "{source}"
    );
    (short, patterns_text)
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn repeated_rows_are_the_flat_ones(
        sections in 1..9usize,
        grid in prop_oneof![Just((0, 0)), (2..4usize, 2..4usize)],
        kinds in prop::collection::vec(0..6u8, 1..9),
        has_parameters: bool,
    ) {
        let source = model(sections, grid, &kinds, has_parameters);
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", source.as_str(), None);
        let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &Request::default());
        let system = system.unwrap_or_else(|| panic!("{source}\n{}", render(&map, &diagnostics, false)));
        let matrices = MatrixOptions { numeric: false, sparse: true, blocks: false };
        let printed = |flat| text(&system, &TextOptions { matrices, flat, ..TextOptions::default() });
        let (flat, short) = (printed(true), printed(false));
        let (mut all, mut found) = (expanded(&flat), expanded(&short));
        all.sort();
        found.sort();
        prop_assert_eq!(all, found, "{}\n{}", source, short);
        let (latex, json) = documents_have_the_flat_rows(&system, matrices, &source);
        if sections > 4 && kinds.iter().all(|kind| *kind > 1) {
            prop_assert!(short.contains(" for i in 2:"), "{}", short);
            prop_assert!(latex.contains(", \\quad j = 2, "), "{}", latex);
            prop_assert!(json.contains("\"for\": [{\"index\": \"i\", \"from\": 2, \"to\": "), "{}", json);
        }
    }
}

/// Section numbers that are not indices remain numbers: values by index, and initial values.
#[test]
fn rows_that_differ_in_numbers_stay_apart() {
    let source = "model Chain {
        param R = [1, 2, 3];
        param L = [4, 4, 4];
        node n[4] : electrical;
        a : Capacitor(1) n[1] -> gnd;
        for i in 1:3 {
            l[i] : Inductor(L[i]) n[i] -> n[i + 1], start = i;
            c[i] : Capacitor(1) n[i + 1] -> gnd, start = 7;
            r[i] : Resistor(R[i]) n[i + 1] -> gnd;
        }
    }";
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &Request::default());
    let system = system.unwrap_or_else(|| panic!("{}", render(&map, &diagnostics, false)));
    let (latex, json) = documents_have_the_flat_rows(&system, MatrixOptions::default(), source);
    for line in [
        "R_{3} &= 3",
        "L_{i} &= 4, \\quad i = 1, 2, 3",
        "$i_{\\mathrm{l[2]}}(0) = 2\\,\\mathrm{A}$",
        "$v_{\\mathrm{c[\\mathit{j}]}}(0) = 7\\,\\mathrm{V}$ for $j = 1, 2, 3$",
    ] {
        assert!(latex.contains(line), "{line}\n{latex}");
    }
    for line in [
        r#"{"name": "R", "value": [1.0, 2.0, 3.0]"#,
        r#"{"name": "l[2].i", "element": "l[2]", "variable": "through", "unit": "A", "start": 2.0, "at": 3}"#,
        r#""start": 7.0, "at": 2, "for": [{"index": "i", "from": 1, "to": 3, "step": 2}]}"#,
    ] {
        assert!(json.contains(line), "{line}\n{json}");
    }
}

#[test]
fn the_page_shows_json_with_patterns() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let system = compiled(&folder.join("examples/line.lgm"));
    let mut json = Vec::new();
    let matrices = MatrixOptions {
        sparse: true,
        ..MatrixOptions::default()
    };
    json_patterns(&system, &matrices.into(), &mut json).unwrap();
    let json = String::from_utf8(json).unwrap();
    let command = "$ lgm equations examples/line.lgm --format json --patterns --sparse\n";
    let page = fs::read_to_string(folder.join("docs/equations-json.md")).unwrap();
    assert!(page.contains(&format!("```console\n{command}{json}```\n")), "{json}");
}

#[test]
fn patterns_are_an_option_of_json() {
    let equations = |arguments: &[&str]| {
        let all = [&["equations", "examples/line.lgm"], arguments].concat();
        lgm(Path::new(env!("CARGO_MANIFEST_DIR")), &all)
    };
    let refused = equations(&["--format", "latex", "--patterns"]);
    ends_with(&refused, 2);
    let said = err(&refused);
    assert!(said.contains("LGM0907") && said.contains("--format json"), "{said}");
    let letters = [
        ("json", "cell[i].l.i"),
        ("latex", "cell[\\mathit{j}]"),
        ("html", "<mi>j</mi>"),
        ("text", "cell[i].l.i"),
    ];
    for (format, letter) in letters {
        let patterns = if format == "json" { &["--patterns"][..] } else { &[] };
        let short = equations(&[&["--format", format], patterns].concat());
        let flat = equations(&["--format", format, "--flat"]);
        assert!(out(&short).contains(letter), "{}", out(&short));
        assert!(!out(&flat).is_empty() && !out(&flat).contains(letter), "{}", out(&flat));
    }
}
