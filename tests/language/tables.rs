//! Tables of two arguments, and inputs from files, against closed forms.

use crate::support::command::{ends_with, err, lgm, out};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with one model in `m.lgm`.
fn folder(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    folder
}

/// The numbers of the columns of a run, row by row.
fn rows(folder: &Path, arguments: &[&str]) -> Vec<Vec<f64>> {
    let all: Vec<&str> = ["simulate", "m.lgm"].iter().chain(arguments).copied().collect();
    let output = lgm(folder, &all);
    ends_with(&output, 0);
    let text = out(&output);
    let numbers = |line: &str| line.split(',').filter_map(|field| field.parse().ok()).collect();
    text.lines().skip(1).map(numbers).collect()
}

fn run(text: &str, arguments: &[&str]) -> Vec<Vec<f64>> {
    rows(folder(text).path(), arguments)
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
        "{found} instead of {expected}"
    );
}

#[test]
fn tables_of_two_arguments_are_bilinear() {
    let model = |value: &str, attributes: &str, call: &str| {
        format!(
            "model M {{ param k = 2; table t = {value}{attributes}; input u = 4*time; input v = 10 + 10*time; \
             output y = {call}; experiment {{ stop = 1; points = 5; }} }}"
        )
    };
    let list = "[[0, 10, 15, 20], [0, 0, 1, k], [1, 3, 5, 8], [4, 9, 7, 1]]";
    let (x, y) = ([0.0, 1.0, 4.0], [10.0, 15.0, 20.0]);
    let values = [[0.0, 1.0, 2.0], [3.0, 5.0, 8.0], [9.0, 7.0, 1.0]];
    let bilinear = |u: f64, v: f64| {
        let (i, j) = (usize::from(u > 1.0), usize::from(v > 15.0));
        let (a, b) = ((u - x[i]) / (x[i + 1] - x[i]), (v - y[j]) / (y[j + 1] - y[j]));
        let line = |row: usize| values[row][j] * (1.0 - b) + values[row][j + 1] * b;
        line(i) * (1.0 - a) + line(i + 1) * a
    };
    for row in run(&model(list, "", "t(u, v)"), &[]) {
        near(row[1], bilinear(4.0 * row[0], 10.0 + 10.0 * row[0]), 1e-12);
    }
    for row in run(&model(list, ", outside = hold", "t(2*u, v - 20)"), &[]) {
        near(row[1], bilinear((8.0 * row[0]).min(4.0), 10.0), 1e-12);
    }
    let steps = run(&model(list, ", method = steps", "t(u, v)"), &[]);
    let found: Vec<f64> = steps.iter().map(|row| row[1]).collect();
    assert_eq!(found, [0.0, 3.0, 5.0, 5.0, 1.0]);
    let folder = folder(&model("csv(\"map.csv\")", "", "t(u*1 [m/s], v*1 [V])"));
    let text = "speed [km/h], 10 [V], 15 [V], 20000 [mV]\n0,0,1,2\n3.6,3,5,8\n14.4,9,7,1\n";
    fs::write(folder.path().join("map.csv"), text).unwrap();
    for row in rows(folder.path(), &[]) {
        near(row[1], bilinear(4.0 * row[0], 10.0 + 10.0 * row[0]), 1e-12);
    }
    for (value, call) in [
        (list, "t(u)"),
        ("[[1, 10, 20], [0, 0, 1], [1, 3, 5]]", "t(u, v)"),
        ("[[0, 10, 5], [0, 0, 1], [1, 3, 5]]", "t(u, v)"),
        ("[[0, 1], [1, 2]]", "t(u, v)"),
    ] {
        let output = lgm(self::folder(&model(value, "", call)).path(), &["check", "m.lgm"]);
        assert!(err(&output).contains("LGM0211"), "{value} {call}: {}", err(&output));
    }
    // Positions are not values of a table of one argument.
    fs::write(folder.path().join("m.lgm"), model("csv(\"map.csv\")", "", "t(u)")).unwrap();
    let output = lgm(folder.path(), &["check", "m.lgm"]);
    assert!(err(&output).contains("LGM0211"), "{}", err(&output));
}

#[test]
fn inputs_read_signals_from_files() {
    let text = "model M { input road [m] = csv(\"road.csv\", \"z\"); state s = int(road); output r = road; output y = s; \
                experiment { stop = 4; points = 5; rtol = 1e-9; } }";
    for (file, scale) in [
        ("z [mm],time [s]\n0,1\n1000,2\n1000,3\n", 1.0),
        ("t,z\n1,0\n2,1\n3,1\n", 1.0),
        ("x [ms],z\n1000,0\n2000,3\n3000,3\n", 3.0),
    ] {
        let folder = folder(text);
        fs::write(folder.path().join("road.csv"), file).unwrap();
        let found = rows(folder.path(), &[]);
        let expected = [(0.0, 0.0), (0.0, 0.0), (1.0, 0.5), (1.0, 1.5), (1.0, 2.5)];
        for (row, (road, area)) in found.iter().zip(expected) {
            near(row[1], scale * road, 1e-12);
            near(row[2], scale * area, 1e-8);
        }
        // Options still replace the signal.
        near(rows(folder.path(), &["--input", "road=2"])[4][1], 2.0, 1e-12);
    }
    for (file, code) in [
        ("t,z [kg]\n1,0\n2,1\n", "LGM02"),
        ("t [m],z\n1,0\n2,1\n", "LGM02"),
        ("t,y\n1,0\n2,1\n", "LGM0211"),
        ("t,z\n1,0\n1,1\n", "LGM0211"),
    ] {
        let folder = folder(text);
        fs::write(folder.path().join("road.csv"), file).unwrap();
        let output = lgm(folder.path(), &["check", "m.lgm"]);
        ends_with(&output, 1);
        assert!(err(&output).contains(code), "{file}: {}", err(&output));
    }
}
