import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sympy
from conftest import EXAMPLES, loaded

import lgm

PLATE = """
model Plate {
  node x : translational;
  param m = 2 [kg]; param k [N/mm] = 3; param K = [[5, -1], [-1, 4]] [N/m]; const n = 2;
  input F [kN];
  mass : Mass(m) x -> gnd; spring : Spring(k) x -> gnd, start = 1;
  force : ForceSource(F) gnd -> x;
  output v = across(mass);
}
"""


def test_quantities_have_names_units_and_values(oscillator):
    assert oscillator.states.names == ("mass.v", "spring.F")
    assert oscillator.inputs["F"].unit == "N"
    assert [entry.value for entry in oscillator.parameters] == [2.0, 50.0, 0.4]
    assert "F" in oscillator.inputs and "G" not in oscillator.inputs
    assert oscillator.outputs[1:] == (oscillator.outputs["fk"], oscillator.outputs["y"])
    with pytest.raises(KeyError, match="did you mean 'mass.v'"):
        oscillator.states["mas.v"]
    with pytest.raises(IndexError):
        oscillator.states[7]


def test_numbers_are_in_si_units_for_every_declared_unit():
    model = lgm.loads(PLATE)
    assert model.parameters["k"].value == 3000.0
    assert model.with_params(k=4000.0).parameters["k"].value == 4000.0
    assert model.with_params(k="4").parameters["k"].value == 4000.0
    assert model.with_params(k="5 [N/m]").parameters["k"].value == 5.0
    # Exactly the double that was given, although a kilonewton is not one.
    for value in (0.1, 1e-7 / 3, 12345.678):
        assert model.with_params(k=value).parameters["k"].value == value
    assert model.with_params(K=np.array([[6, -1], [-1, 6.5]])).parameters["K"].value == [[6.0, -1.0], [-1.0, 6.5]]
    assert model.with_params(n=3).with_params(n=2).states == model.states
    found = model.simulate(stop=0.1, points=2, inputs={"F": 2.0})
    assert found["F"].tolist() == [2.0, 2.0]
    assert model.simulate(stop=0.1, points=2, inputs={"F": "2"})["F"].tolist() == [2000.0, 2000.0]


def test_models_are_immutable_and_equal_by_what_made_them(oscillator):
    other = oscillator.with_params(k=20.0)
    assert oscillator.parameters["k"].value == 50.0 and other.parameters["k"].value == 20.0
    assert other == oscillator.with_params(k=20) and hash(other) == hash(oscillator.with_params(k=20))
    assert other != oscillator and len({other, oscillator, oscillator.with_params(k=20.0)}) == 2
    with pytest.raises(AttributeError):
        oscillator.name = "Other"


def test_pickles_are_texts_and_compute_the_same(oscillator, tmp_path):
    model = oscillator.with_params({"k": 20.0}).with_params(b=0.1)
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    assert np.array_equal(copy.simulate(stop=1)["v"], model.simulate(stop=1)["v"])
    point = lgm.load(EXAMPLES / "duffing.lgm").linearize({"spring.int_v": "1"}, equilibrium=True)
    assert np.array_equal(pickle.loads(pickle.dumps(point)).state_space().A, point.state_space().A)
    text = pickle.dumps(model).replace(lgm.__version__.encode(), b"9.9.9"[: len(lgm.__version__)])
    with pytest.raises(ValueError, match="was pickled by lgm 9.9.9"):
        pickle.loads(text)


def test_imports_are_found_beside_the_file_after_unpickling(tmp_path, monkeypatch):
    (tmp_path / "parts.lgm").write_text(
        "component Twice(k [N/m]) { port a, b : translational; first : Spring(k) a -> b; }"
    )
    file = tmp_path / "main.lgm"
    file.write_text(
        'import "parts.lgm"; model M { node x : translational; m : Mass(1 [kg]) x -> gnd; '
        "s : Twice(4 [N/m]) (a = x, b = gnd); output v = across(m); }"
    )
    try:
        model = lgm.load(file)
    except lgm.CompileError as error:
        pytest.fail(str(error))
    monkeypatch.chdir("/")
    assert abs(pickle.loads(pickle.dumps(model)).poles[0]) == pytest.approx(2.0)


def test_faults_of_texts_are_errors_with_places():
    with pytest.raises(lgm.CompileError) as found:
        lgm.loads("model M {\n  node a : electrical;\n  r : Resistr(2 [ohm]) a -> gnd;\n}", name="mine.lgm")
    [error] = [entry for entry in found.value.diagnostics if entry.severity == "error"]
    assert (error.file, error.line) == ("mine.lgm", 3)
    assert "Resistor" in error.help and "mine.lgm" in str(found.value)
    assert isinstance(found.value, lgm.LgmError)
    copy = pickle.loads(pickle.dumps(found.value))
    assert str(copy) == str(found.value) and copy.diagnostics == found.value.diagnostics
    assert [entry.code for entry in lgm.check("model M { x }")] != []
    with pytest.raises(lgm.CompileError, match="no `param` or `const` named `q`"):
        lgm.loads(PLATE, q=3)
    with pytest.raises(TypeError, match="a number, an array or a text"):
        lgm.loads(PLATE).with_params(k=object)
    with pytest.raises(ValueError, match="finite"):
        lgm.loads(PLATE, k=float("nan"))


def test_check_verifies_the_equations(oscillator):
    assert [entry.severity for entry in oscillator.check() if entry.severity == "error"] == []


def test_equations_are_written_and_drawn(oscillator):
    assert "der(mass.v)" in str(oscillator)
    assert r"\frac" in oscillator.latex() and r"\documentclass" in oscillator.latex(document=True)
    assert oscillator._repr_html_().count("<svg") == 1 and "<math" in oscillator._repr_html_()
    assert oscillator._repr_svg_().startswith("<svg") or "<svg" in oscillator._repr_svg_()
    shown = oscillator._repr_latex_()
    assert shown.startswith(r"$$\begin{aligned}") and shown.count("$$") == 4 and r"\section" not in shown
    both = oscillator.draw().svg, oscillator.draw("bond-graph").svg
    assert both[0] != both[1] and "<svg" in both[1]
    with pytest.raises(ValueError, match="linear-graph"):
        oscillator.draw("tree")


def test_programs_are_written(oscillator, tmp_path):
    files = oscillator.emit("c", tmp_path / "out")
    assert any(path.suffix == ".c" for path in files) and all(path.is_file() for path in files)
    with pytest.raises(FileExistsError):
        oscillator.emit("c", tmp_path / "out")
    with pytest.raises(ValueError, match="the targets are c, rust"):
        oscillator.emit("fmu3", tmp_path / "other")


def test_ordinary_differential_equations_hold_for_every_model():
    t = sympy.Symbol("t")
    model = lgm.load(EXAMPLES / "duffing.lgm")
    [first, *_] = model.ode
    v, x, force = (sympy.Function(name)(t) for name in ("mass.v", "spring.int_v", "F"))
    m, k1, k3, b = sympy.symbols("m k1 k3 b")
    assert sympy.simplify(first.rhs - (force - k1 * x - k3 * x**3 - b * v) / m) == 0
    assert first.lhs == sympy.Derivative(v, t)
    with pytest.raises(ValueError, match="nonlinear"):
        model.A
    with pytest.raises(ValueError, match="nonlinear"):
        model.state_space()


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.lgm")), ids=lambda path: path.stem)
def test_written_equations_have_the_values_of_the_compiled_ones(path):
    """SymPy's expressions against the compiled functions at a point, with the numbers of the parameters."""
    model = loaded(path)
    if model is None or model._equations["loops"] or model._equations.get("modes") or re.search(r"^\s*(discrete|when|every) ", path.read_text(), re.MULTILINE):
        pytest.skip("no explicit equations")
    f = model.rhs()
    t = sympy.Symbol("t")
    random = np.random.default_rng(7)
    x = f.x0 + random.uniform(0.1, 0.4, len(f.x0))
    u, du = random.uniform(0.5, 1.5, len(model.inputs)), random.uniform(0.5, 1.5, len(model.inputs))
    functions = [sympy.Function(name)(t) for name in (*model.states.names, *model.inputs.names)]
    values = dict(zip(functions, map(sympy.Float, [*x, *u]), strict=True))
    rates = {sympy.Derivative(function, t): value for function, value in zip(functions[len(x) :], map(sympy.Float, du), strict=True)}
    constants = {sympy.Symbol(entry["name"]): sympy.Float(entry["value"]) for entry in model._equations.get("constants", [])}
    for entry in model.parameters:
        array = np.asarray(entry.value, dtype=float)
        for place, value in np.ndenumerate(array):
            name = entry.name if not place else f"{entry.name}[{', '.join(str(at + 1) for at in place)}]"
            constants[sympy.Symbol(name)] = sympy.Float(float(value))
    expected = f(0.3, x, u, du)
    for equation, value in zip(model.ode, expected, strict=True):
        found = equation.rhs.xreplace(rates).xreplace(values).xreplace(constants).subs(t, 0.3)
        assert float(found) == pytest.approx(value, rel=1e-9, abs=1e-9 * max(1.0, abs(expected).max())), equation


def test_other_threads_run_while_a_model_does(oscillator):
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    counter = threading.Thread(target=count)
    counter.start()
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda k: oscillator.with_params(k=k).simulate(stop=200, points=2)["v"][-1], range(20, 28)))
    done.set()
    counter.join()
    again = [oscillator.with_params(k=k).simulate(stop=200, points=2)["v"][-1] for k in range(20, 28)]
    assert runs == again and ticks > 5


def test_functions_of_casadi_are_the_equations():
    pytest.importorskip("casadi", reason="CasADi is not installed (pip install casadi)")
    model = lgm.load(EXAMPLES / "dc_motor.lgm", R_a=2.0)
    functions = model.to_casadi()
    assert functions.parameters["R_a"] == 2.0
    p, x, u = list(functions.parameters.values()), [3.0, 40.0], [12.0, 0.1]
    assert np.allclose(functions.right_side(0, x, u, p).full().ravel(), model.rhs()(0, x, u), rtol=1e-14)
    assert np.allclose(functions.outputs(0, x, u, p).full().ravel(), [40.0, 3.0])


def test_misuse_is_told_as_in_python(oscillator, tmp_path):
    with pytest.raises(FileNotFoundError, match="use lgm.loads"):
        lgm.load(tmp_path / "missing.lgm")
    with pytest.raises(ValueError, match="ends in .svg"):
        oscillator.draw().save(tmp_path / "drawing.png")
    with pytest.raises(TypeError, match="not None"):
        oscillator.with_params(k=None)


def test_delays_are_approximated():
    text = "model M { input u = 1; state x = int(u - delay(x, 0.5 [s])); output y = x; }"
    model = lgm.loads(text, pade=2)
    # 1/(s + e) with e = (1 - T*s/2 + T^2*s^2/12)/(1 + T*s/2 + T^2*s^2/12).
    poles = np.roots([1 / 48, 1 / 4, 1, 0] + np.array([0, 1 / 48, -1 / 4, 1]))
    assert np.allclose(np.sort_complex(model.poles), np.sort_complex(poles))
    with pytest.raises(ValueError, match="order from 1 to 20"):
        lgm.loads(text, pade=0)
