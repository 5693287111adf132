//! Rows that repeat over indices are printed as one (`lgm equations`): of random models of arrays, they are the flat rows again once each index
//! has its values.

use crate::support::cases::cases;
use lgm::Request;
use lgm::emit::{MatrixOptions, TextOptions, text};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use proptest::prelude::*;
use std::fmt::Write;

/// A chain of sections that may be turned around or lack an element, with parameters by index, and a grid beside it.
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

/// The lines of a text, each for all values of its indices.
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

/// A row in which an index has a value: each part in brackets that is the letter, alone or with a number added, is a number.
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

proptest! {
    #![proptest_config(cases(500))]

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
        if sections > 4 && kinds.iter().all(|kind| *kind > 1) {
            prop_assert!(short.contains(" for i in 2:"), "{}", short);
        }
    }
}
