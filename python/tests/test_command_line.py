"""Results equal those of the command line to the last digit."""

import csv
import functools
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
import sympy
from conftest import EXAMPLES, ROOT, command, loaded

import lgm


@pytest.fixture(scope="module")
def models():
    """All examples that hold a model."""
    found = {str(path.relative_to(ROOT)): loaded(path) for path in sorted(EXAMPLES.rglob("*.lgm"))}
    return {name: model for name, model in found.items() if model is not None}


FUNCTIONS = {name: getattr(sympy, name) for name in ("sin", "cos", "sinh", "cosh", "exp", "sqrt", "log", "atan", "pi")}


@functools.cache
def expression(text):
    """An expression of the JSON, read by SymPy: what is no function is a symbol with its name in the model."""
    symbols = {}

    def place(match):
        name = match.group()
        if name in FUNCTIONS:
            return name
        return symbols.setdefault(name, f"q{len(symbols)}_")

    text = re.sub(r"(?<![\w.])[A-Za-z_]\w*(\[[\d, ]+\])?(\.\w+(\[[\d, ]+\])?)*", place, text.replace("^", "**"))
    names = {short: sympy.Symbol(name) for name, short in symbols.items()}
    return sympy.sympify(text, locals={**FUNCTIONS, **names}, rational=True)


def same(one, other):
    """Whether two expressions have the same value at a point at random; the JSON rounds constants of modes to 17 digits."""
    names = sorted(one.free_symbols | other.free_symbols, key=str)
    point = {name: sympy.Rational(7 * at + 11, 13 + at % 5) for at, name in enumerate(names)}
    values = [sympy.N(each.xreplace(point), 40) for each in (one, other)]
    return abs(values[0] - values[1]) <= sympy.Float("1e-12", 40) * abs(values[0])


def test_matrices_over_parameters_are_those_of_the_json(models):
    linear = 0
    for name, model in models.items():
        if not model.is_linear:
            with pytest.raises(ValueError, match="nonlinear"):
                _ = model.A
            continue
        data = json.loads(command("equations", name, "--format", "json"))
        if data["A"] is None:
            with pytest.raises(ValueError, match="too large"):
                _ = model.A
            continue
        linear += 1
        shared = {}
        for entry in data["assignments"]:
            shared[sympy.Symbol(entry["name"])] = expression(entry["expr"]).xreplace(shared)
        for letter in "ABCDEF":
            found, rows = getattr(model, letter), data[letter]
            if isinstance(rows, dict):
                continue
            assert found.shape == (len(rows), len(rows[0]) if rows else found.shape[1]), name
            for row, entries in enumerate(rows):
                for column, text in enumerate(entries):
                    expected = expression(text).xreplace(shared)
                    one = found[row, column]
                    assert one == expected or same(one, expected), (name, letter, one, text)
    assert linear > 15


def test_numbers_are_those_of_the_json(models):
    for name, model in models.items():
        if not model.is_linear or len(model.states) > 500:
            continue
        data = json.loads(command("equations", name, "--numeric", "--format", "json"))
        found = model.state_space()
        for letter in "ABCDEF":
            rows = np.array(data[letter], dtype=float).reshape(getattr(found, letter).shape)
            assert np.array_equal(getattr(found, letter), rows), (name, letter)


@pytest.mark.parametrize(
    "name", ["oscillator", "quarter_car", "dc_motor", "sallen_key", "loudspeaker", "thermal_wall", "seeds/beam_cantilever"]
)
def test_poles_transfer_and_response_are_those_of_the_command(name):
    file = f"examples/{name}.lgm"
    model = loaded(ROOT / file)
    poles = json.loads(command("modes", file, "--format", "json"))["poles"]
    assert [(mode["pole"].real, mode["pole"].imag) for mode in model.modes()] == [
        (mode["real"], mode["imaginary"]) for mode in poles
    ]
    shapes = json.loads(command("modes", file, "--shapes", "--format", "json"))["poles"]
    for mine, its in zip(model.modes(shapes=True), shapes, strict=True):
        assert mine["energy"] == {entry["element"]: entry["share"] for entry in its["energy"]}
    if not len(model.inputs) or not len(model.outputs):
        return
    omega = "0.1,1,10,100"
    response = json.loads(command("response", file, "--omega", omega, "--format", "json"))
    found = model.response([0.1, 1, 10, 100])
    for one, source in enumerate(model.inputs.names):
        for other, sink in enumerate(model.outputs.names):
            values = np.array(response["H"][f"{source}->{sink}"])
            assert np.array_equal(found[other, one].real, values[:, 0])
            assert np.array_equal(found[other, one].imag, values[:, 1])
            zpk = json.loads(
                command("transfer", file, "--from", source, "--to", sink, "--as", "zpk", "--format", "json")
            )
            zeros, poles, gain = model.zpk(source, sink)
            assert [[value.real, value.imag] for value in zeros] == zpk["zeros"]
            assert [[value.real, value.imag] for value in poles] == zpk["poles"]
            assert gain == zpk["gain"]


RUNS = [
    ("oscillator", {"stop": 5.0}, {}),
    ("oscillator", {"stop": 2.0, "points": 41, "rtol": 1e-9}, {"F": "2*step(0) - 2*step(1)"}),
    ("van_der_pol", {}, {}),
    ("duffing", {"stop": 3.0, "method": "bdf"}, {}),
    ("pendulum", {}, {}),
    ("diode_rectifier", {}, {}),
    ("switching/dropped_ball", {"events": True}, {}),
    ("switching/digital_speed_loop", {}, {}),
]


@pytest.mark.parametrize(("name", "options", "inputs"), RUNS)
def test_samples_are_those_of_the_command(name, options, inputs):
    file = f"examples/{name}.lgm"
    words = []
    for option, value in options.items():
        words += [f"--{option}"] if value is True else [f"--{option}", repr(value) if isinstance(value, float) else str(value)]
    for entry in inputs.items():
        words += ["--input", "=".join(entry)]
    table = list(csv.reader(io.StringIO(command("simulate", file, *words))))
    result = loaded(ROOT / file).simulate(inputs=inputs, **options)
    assert table[0][0] == "time" and len(table) > 2
    for at, title in enumerate(table[0]):
        expected = np.array([float(row[at]) for row in table[1:]])
        assert np.array_equal(result[title], expected), title


def test_equations_that_are_set_and_linearised_are_those_of_the_command():
    file = "examples/duffing.lgm"
    words = ["--set", "b=0.7", "--at", "spring.int_v=1.2, F=0.3", "--equilibrium", "--numeric", "--format", "json"]
    data = json.loads(command("equations", file, *words))
    model = lgm.load(ROOT / file, b=0.7).linearize({"spring.int_v": 1.2, "F": 0.3}, equilibrium=True)
    assert np.array_equal(model.state_space().A, np.array(data["A"]))


def test_the_command_reports_misuse():
    done = subprocess.run([sys.executable, "-m", "lgm._command", "equations", "none.lgm"], capture_output=True, text=True)
    assert done.returncode == 2 and "LGM0909" in done.stderr
