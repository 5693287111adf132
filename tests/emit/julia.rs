//! Emitted Julia, tested without Julia: a small interpreter evaluates its functions, which must agree with the kernels,
//! and a parser of the language accepts every file.
//!
//! The tests need a Python with NumPy, and with tree_sitter and tree_sitter_julia for the parser, named by `LGM_PYTHON`
//! or `python3`. Missing tools are reported, and the test passes.

use crate::support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::emitted::{emit, examples, for_each, must, python};
use support::points::{Found, Point, compiled};

/// The module's file.
fn module(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap();
    let mut names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found = names.find(|name| name.ends_with(".jl") && !name.starts_with("run_"));
    found.expect("there is a module")
}

/// Parses the programs of a module line by line, and runs them over arrays with indices from 1.
const INTERPRETER: &str = r#"
import inspect, json, re, sys
import numpy as np

np.seterr(all="ignore")
text = open(sys.argv[1]).read()
asked = json.load(open(sys.argv[2]))


class One:
    def __init__(self, values):
        self.values = [np.float64(value) if isinstance(value, float) else value for value in values]

    def __getitem__(self, at):
        assert isinstance(at, int) and 1 <= at <= len(self.values), at
        return self.values[at - 1]

    def __setitem__(self, at, value):
        assert isinstance(at, int) and 1 <= at <= len(self.values), at
        self.values[at - 1] = np.float64(value)


def domain(of, holds):
    return lambda a: of(a) if holds(a) else np.nan


def power(a, b):
    if abs(b) < 1024 and b == np.trunc(b):
        return np.float64(a) ** int(b)
    return np.nan if a < 0 else np.float64(a) ** b


def lesser(a, b):
    return np.nan if np.isnan(a) or np.isnan(b) else min(a, b)


words = {
    "ifelse": lambda c, a, b: a if c else b, "power_of": power,
    "sqrt_of": domain(np.sqrt, lambda a: not a < 0), "log_of": domain(np.log, lambda a: not a < 0),
    "asin_of": domain(np.arcsin, lambda a: not abs(a) > 1), "acos_of": domain(np.arccos, lambda a: not abs(a) > 1),
    "sin_of": np.sin, "cos_of": np.cos, "tan_of": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "exp": np.exp, "expm1": np.expm1, "floor": np.floor, "sign": np.sign, "abs": abs, "min": lesser, "max": lambda a, b: -lesser(-a, -b),
    "atan": lambda a, b=None: np.arctan(a) if b is None else np.arctan2(a, b), "NaN": np.nan, "Inf": np.inf,
    "One": One, "range": range,
}
lines, inside = [], False
for found in re.finditer(r"^const (PROGRAM_\w+) = (?:Int|Float64)(\[[^\]]*\])$", text, re.M):
    lines.append(f"{found.group(1)} = One({found.group(2)})")
for line in text.split("\n"):
    head = re.fullmatch(r"function (program_\w+)\((.*)\)", line)
    if head:
        inside = True
        lines.append(f"def {head.group(1)}({head.group(2)}):")
    elif inside and line == "end":
        inside = False
    elif inside:
        loop = re.fullmatch(r"    @inbounds for k in 1:(\d+)", line)
        if loop:
            lines.append(f"    for k in range(1, {loop.group(1)} + 1):")
        elif line == "    return nothing":
            lines.append("    return")
        elif line != "    end":
            line = line.split(" # ")[0]
            lines.append(line.replace("&&", " and ").replace("||", " or ").replace("!(", "not ("))
exec("\n".join(lines), words)
number = lambda pattern: int(re.search(pattern, text).group(1))
arrays = {
    "t": asked["t"], "p": One(asked["p"]), "x": One(asked["x"]), "u": One(asked["u"]), "du": One(asked["du"]),
    "s": One([0.0] * number(r"    s = zeros\((\d+)\)")), "w": One([0.0] * asked["unknowns"]),
}


def call(name, size):
    arrays["out"] = One([0.0] * size)
    function = words.get("program_" + name)
    if function is not None:
        function(*(arrays[argument] for argument in inspect.signature(function).parameters))
    return np.array(arrays["out"].values, dtype=float)


def matrix(name, after, rows, columns):
    places = re.search(r"zip\((?:Int)?(\[[^\]]*\]), (?:Int)?(\[[^\]]*\]), entries\)", text[text.index(after):], re.S)
    places = [eval(part) for part in places.groups()]
    made = np.zeros((rows, columns))
    for row, column, entry in zip(*places, call(name, len(places[0]))):
        made[row - 1, column - 1] = entry
    return made


n, k = len(asked["x"]), asked["unknowns"]
if k:
    guesses = eval(re.search(r"for guess in (\[.*?\]\])\n", text, re.S).group(1).replace("Float64", ""))
    for guess in guesses:
        w = np.array(guess, dtype=float)
        for _ in range(200):
            arrays["w"] = One(list(map(float, w)))
            try:
                step = np.linalg.solve(matrix("loop_matrix", "function loop_matrix", k, k), call("residuals", k))
            except np.linalg.LinAlgError:
                break
            # Short steps first: the loops of closed chains have two solutions.
            w = w - step * min(1.0, 0.5 / max(np.max(np.abs(step) / (1 + np.abs(w))), 1e-300))
        if np.all(np.isfinite(w)) and np.max(np.abs(step) / (1 + np.abs(w))) < 1e-9:
            break
    arrays["w"] = One(list(map(float, w)))
total = matrix("partials", "function jacobian", n, n)
if k:
    by_loop = matrix("by_unknowns", "by_loop, by_state = ", n, k)
    by_state = matrix("residuals_by_states", "by_loop[row, column] = entry", k, n)
    total -= by_loop @ np.linalg.solve(matrix("loop_matrix", "function loop_matrix", k, k), by_state)
rows, columns = (eval(part) for part in re.search(r"JACOBIAN = \(Int(\[.*?\]), Int(\[.*?\])\)", text, re.S).groups())
assert set(zip(*(places + 1 for places in np.nonzero(total)))) <= set(zip(rows, columns))
print(json.dumps([
    list(map(float, arrays["w"].values)), list(call("derivatives", n)), list(call("outputs", asked["outputs"])),
    [[int(row), int(column), total[row, column]] for row, column in zip(*np.nonzero(total))],
    [None if np.isnan(value) else value for value in call("inputs", 2 * len(asked["u"]))], list(call("starts", n)),
]))
"#;

fn found(python: &str, folder: &Path, point: &Point) -> Found {
    let asked = serde_json::json!({
        "t": point.time, "p": point.parameters, "x": point.states, "u": point.inputs, "du": point.rates,
        "outputs": point.system.outputs.len(), "unknowns": point.system.first_unknowns(0.0).len(),
    });
    let (script, file) = (folder.join("interpreter.py"), folder.join("asked.json"));
    fs::write(&script, INTERPRETER).unwrap();
    fs::write(&file, asked.to_string()).unwrap();
    let module = folder.join(module(folder));
    let printed = must(Command::new(python).arg(script).arg(module).arg(file));
    let lists: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let numbers = |at: usize| -> Vec<f64> {
        let list = lists[at].as_array().unwrap().iter();
        list.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
    };
    let entries = lists[3].as_array().unwrap().iter();
    let place = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    Found {
        unknowns: numbers(0),
        derivatives: numbers(1),
        outputs: numbers(2),
        jacobian: entries
            .map(|entry| (place(&entry[0]), place(&entry[1]), entry[2].as_f64().unwrap()))
            .collect(),
        signals: numbers(4),
        starts: numbers(5),
    }
}

#[test]
fn every_example_says_what_the_kernels_compute() {
    let Some(python) = python("numpy") else { return };
    for_each(&examples(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(file, "julia", &folder, &[]);
        let point = Point::new(compiled(file));
        point.compare(&found(&python, &folder, &point))
    });
}

/// A model with keywords or functions of Julia as names, names that differ only in case, a vector and a matrix.
const NAMES: &str = "
/// Costs $5 \"each\" \\ piece.
model Model {
  param function [kg] = 2;
  param end [N/m] = 50;
  param NaN = 1.5;
  param let = [1, 2];
  param Inf [kg] = function*NaN;
  param G = [[1, 2], [3, 4]];
  input begin [N] = 1;
  node x, X : translational;
  p1 : ForceSource(begin + let[2] + G[2, 1]) gnd -> x;
  a : Mass(Inf) x -> gnd;
  A : Mass(function)  X -> gnd;
  b : Spring(end) x -> X;
  output return = across(a);
  output Return = across(A);
}
";

#[test]
fn words_of_the_language_are_names_all_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("Größe \"$1\".lgm"), scratch.path().join("code"));
    fs::write(&file, NAMES).unwrap();
    emit(&file, "julia", &folder, &[]);
    assert_eq!(module(&folder), "Model_.jl");
    let text = fs::read_to_string(folder.join("Model_.jl")).unwrap();
    for line in [
        "module Model_",
        "    function_::Float64 = 2.0",
        "    NaN_::Float64 = 1.5",
        "    Inf_::Float64 = NaN",
        "    let_::Vector{Float64} = [1.0, 2.0]",
        "    G::Matrix{Float64} = [1.0 2.0; 3.0 4.0]",
        "    p[7:10] .= vec(permutedims(given.G))",
        "Costs \\$5 \\\"each\\\" \\\\ piece.",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    let Some(python) = python("numpy") else { return };
    let point = Point::new(compiled(&file));
    point.compare(&found(&python, &folder, &point)).unwrap();
}

#[test]
fn every_file_is_julia_to_a_parser() {
    let Some(python) = python("tree_sitter, tree_sitter_julia") else {
        return;
    };
    let script = "
import sys, tree_sitter, tree_sitter_julia
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))
for path in sys.argv[1:]:
    text = open(path, 'rb').read()
    pending = [parser.parse(text).root_node]
    while pending:
        node = pending.pop()
        assert node.type != 'ERROR' and not node.is_missing, (path, node.start_point, node.text[:200])
        pending.extend(node.children)
";
    let scratch = tempfile::tempdir().unwrap();
    let names = scratch.path().join("names.lgm");
    fs::write(&names, NAMES).unwrap();
    let mut files = examples();
    files.push(names);
    for_each(&files, |file| {
        let folder = scratch.path().join(file.display().to_string().replace(['/', '.'], "_"));
        emit(file, "julia", &folder, &[]);
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let written = entries.filter(|path| path.extension().is_some_and(|ending| ending == "jl"));
        must(Command::new(&python).args(["-c", script]).args(written));
        Ok(())
    });
}
