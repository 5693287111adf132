"""Analyses beyond equations: equal to the command line's to the last digit, and right by independent means."""

import json
import subprocess
import sys

import control
import numpy as np
import pandas
import pytest
import scipy.optimize
import sympy
from conftest import EXAMPLES, ROOT, command, loaded

import lgm


def of_command(*arguments):
    return json.loads(command(*arguments, "--format", "json"))


def example(name):
    return f"examples/{name}.lgm", loaded(EXAMPLES / f"{name}.lgm")


@pytest.mark.parametrize(
    ("name", "words", "inputs"), [("oscillator", ["--at", "F=2.5"], {"F": 2.5}), ("pendulum", [], {}), ("duffing", ["--at", "F=0.3"], {"F": 0.3})]
)
def test_operating_points_are_those_of_the_command(name, words, inputs):
    file, model = example(name)
    data = of_command("equations", file, "--equilibrium", *words)["linearized_at"]
    point = model.operating_point(u=inputs)
    assert (point.x.tolist(), point.u.tolist(), point.y.tolist()) == (data["states"], data["inputs"], data["outputs"])
    assert point.equilibrium and point.time == data["time"]
    # The equations are at rest there, and the linear model is that of this point.
    assert np.allclose(model.rhs()(0.0, point.x, point.u), 0.0, atol=1e-9)
    assert np.array_equal(model.linearize(point).state_space().A, model.linearize(inputs, equilibrium=True).state_space().A)


def test_operating_points_agree_with_control():
    model = lgm.load(EXAMPLES / "duffing.lgm")
    found = control.find_operating_point(model.to_control(), [0.1, 1.0, 0.0], [0.3])
    point = model.operating_point(u={"F": 0.3})
    assert np.allclose(point.x[:2], found.states[:2], atol=1e-6)
    free = model.operating_point({"spring.int_v": 0.5}, {"F": 0.0}, equilibrium=False)
    assert free.states["spring.int_v"] == 0.5 and not free.equilibrium
    with pytest.raises(KeyError, match="no input 'G'"):
        model.operating_point(u={"G": 1.0})
    with pytest.raises(KeyError, match="did you mean 'spring.int_v'"):
        model.operating_point({"spring.int_w": 1.0})


@pytest.mark.parametrize("name", ["oscillator", "quarter_car", "seeds/five_mass_seven_spring"])
def test_second_order_is_that_of_the_command(name):
    file, model = example(name)
    data = of_command("second-order", file, "--numeric")
    found = model.second_order(numeric=True)
    assert found.coordinates == tuple(data["coordinates"]) and found.inputs == tuple(data["inputs"])
    symbols = model.second_order()
    values = {sympy.Symbol(entry.name): entry.value for entry in model.parameters}
    for part in ("M", "B", "K", "gyroscopic", "circulatory", "input", "input_integral", "input_derivative"):
        assert np.array_equal(getattr(found, part), np.array(data[part]).reshape(getattr(found, part).shape)), part
        assert np.allclose(np.array(getattr(symbols, part).subs(values), dtype=float), getattr(found, part)), part
    # The quadratic eigenvalue problem has the poles of the model.
    count = len(found.coordinates)
    inverse = np.linalg.inv(found.M)
    companion = np.block([[np.zeros((count, count)), np.eye(count)], [-inverse @ found.K, -inverse @ found.B]])
    for pole in np.linalg.eigvals(companion):
        assert min(abs(model.poles - pole)) < 1e-6 * max(1, abs(pole))


def test_mechanisms_have_lagranges_equations():
    file, model = example("two_link_arm")
    data = of_command("second-order", file)
    found = model.second_order()
    assert isinstance(found, lgm.Mechanism) and found.velocities == tuple(data["velocities"])
    assert found.M == found.M.T
    # M' - 2 C is skew along the motion.
    q, v = ([sympy.Symbol(name) for name in names] for names in (found.displacements, found.velocities))
    motion = sum((found.M.diff(one) * rate for one, rate in zip(q, v, strict=True)), sympy.zeros(2))
    power = (sympy.Matrix(v).T * (motion - 2 * found.C) * sympy.Matrix(v))[0]
    point = {name: 0.3 + 0.17 * at for at, name in enumerate(sorted(power.free_symbols, key=str))}
    assert abs(power.subs(point)) < 1e-12
    numbers = model.second_order(numeric=True)
    assert [[float(entry) for entry in row] for row in numbers.D.tolist()] == of_command("second-order", file, "--numeric")["D"]
    with pytest.raises(ValueError, match="'p' or 'q'"):
        model.second_order(eliminate="x")


@pytest.mark.parametrize(("name", "port"), [("oscillator", "spring"), ("wheatstone_bridge", ("left", "right")), ("dc_motor", "rotor")])
def test_thevenin_is_that_of_the_command(name, port):
    file, model = example(name)
    place = port if isinstance(port, str) else ",".join(port)
    data = of_command("thevenin", file, "--at", place, "--numeric")
    found = model.thevenin(port, numeric=True)
    s = sympy.Symbol("s")
    for point in (0.3, 2.0):
        expected = [np.polyval(data["impedance"][side], point) for side in ("num", "den")]
        assert complex(found.impedance.subs(s, point)) == pytest.approx(expected[0] / expected[1], rel=1e-12)
    assert found.kind == data["kind"] and [step["rule"] for step in found.steps] == [step["rule"] for step in data["steps"]]
    values = {sympy.Symbol(entry.name): entry.value for entry in model.parameters}
    difference = model.thevenin(port).impedance.subs(values) - found.impedance
    assert abs(complex(difference.subs(s, 1.5))) < 1e-9 * abs(complex(found.impedance.subs(s, 1.5)))
    given = data["source"] if isinstance(data["source"], list) else [data["source"]]
    assert list(found.sources) == [entry["input"] for entry in given if entry]


def test_ports_that_do_not_exist_are_errors(oscillator):
    with pytest.raises(lgm.CompileError, match="nowhere"):
        oscillator.thevenin("nowhere")


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--match-dc"], {"match_dc": True}),
        (["--method", "modal"], {"method": "modal"}),
        (["--method", "moments", "--at", "0,100"], {"method": "moments", "omega": [0, 100]}),
        (["--method", "moments", "--at", "0", "--keep", "second-order"], {"method": "moments", "omega": 0, "keep_second_order": True}),
    ],
)
def test_approximations_are_those_of_the_command(words, options):
    file = "examples/line.lgm"
    data = of_command("approximate", file, "--set", "N=12", "--order", 4, *words)
    found = lgm.load(ROOT / file, N=12).approximate(4, **options)
    for letter in "ABCD":
        assert np.array_equal(getattr(found, letter), np.array(data[letter]).reshape(getattr(found, letter).shape))
    assert found.hankel.tolist() == data["hankel"] and found.bound == data["bound"]
    assert found.errors == {entry["omega"]: entry["relative"] for entry in data.get("errors", [])}
    assert found.states == tuple(data["states"])
    if options:
        return
    # No error exceeds the bound.
    omega = np.geomspace(1, 1e5, 60)
    whole = lgm.load(ROOT / file, N=12).response(omega)
    small = control.frequency_response(found.to_control(), omega).frdata
    assert abs(whole - small).max() <= found.bound * (1 + 1e-9)


def test_contradicting_options_are_refused(oscillator):
    for options in [{"method": "best"}, {"omega": [1]}, {"method": "moments"}, {"method": "moments", "omega": [1], "match_dc": True}]:
        with pytest.raises(ValueError):
            oscillator.approximate(1, **options)


@pytest.mark.parametrize("name", ["switching/buck_converter", "switching/clutch", "oscillator"])
def test_combinations_of_modes_are_those_of_the_command(name):
    file, model = example(name)
    data = of_command("switching", file)
    found = model.switching()
    assert (found.possible, found.complete) == (data["possible"], data["complete"])
    assert [vars(one) | {"dependent": list(one.dependent)} for one in found.combinations] == data["combinations"]
    assert len(model.switching(most=1).combinations) == 1


def test_sensitivities_of_poles_are_those_of_the_command(oscillator):
    data = of_command("modes", "examples/oscillator.lgm", "--sensitivity", "k,b")["poles"]
    for mine, its in zip(oscillator.modes(sensitivity=["k", "b"]), data, strict=True):
        assert mine["sensitivity"] == {part["parameter"]: complex(part["re"], part["im"]) for part in its["sensitivity"]}
    with pytest.raises(KeyError, match="no parameter 'q'"):
        oscillator.modes(sensitivity=["q"])


@pytest.mark.parametrize(("name", "options"), [("oscillator", {"inputs": {"F": "sin(3*time)"}}), ("van_der_pol", {})])
def test_sensitivities_are_differences_of_runs(name, options):
    _, model = example(name)
    names = list(model.parameters.names)[:2]
    found = model.sensitivities(names, stop=2, points=9, rtol=1e-9, **options)
    plain = model.simulate(stop=2, points=9, rtol=1e-9, **options)
    for parameter in names:
        value = model.parameters[parameter].value
        step = 1e-4 * value
        ahead, behind = (
            model.with_params({parameter: value + sign * step}).simulate(stop=2, points=9, rtol=1e-11, atol=1e-12, **options) for sign in (1, -1)
        )
        for column in plain.columns:
            if column.name in model.inputs:
                continue
            slope = (ahead[column.name] - behind[column.name]) / (2 * step)
            assert np.allclose(found[column.name, parameter], slope, atol=2e-5 * max(abs(slope).max(), 1e-3)), (column.name, parameter)
            assert np.allclose(found[column.name], plain[column.name], atol=1e-6)


def test_sensitivities_that_are_unknown_are_errors(oscillator):
    ball = loaded(EXAMPLES / "switching" / "dropped_ball.lgm")
    with pytest.raises(lgm.CompileError, match="derivatives of runs of `.*` are unknown: the model has events, and the derivatives jump there"):
        ball.sensitivities([ball.parameters[0].name])
    with pytest.raises(KeyError, match="no parameter 'kk'; did you mean 'k'"):
        oscillator.sensitivities(["kk"], stop=1)
    with pytest.raises(TypeError, match="no option 'verify'"):
        oscillator.sensitivities(["k"], stop=1, verify=True)
    with pytest.raises(ValueError, match="at least one"):
        oscillator.sensitivities([], stop=1)


@pytest.fixture(scope="module")
def measured():
    """A noisy run of an oscillator with other parameters."""
    times = np.linspace(0, 5, 101)
    force = np.sin(2 * times)
    model = lgm.load(EXAMPLES / "oscillator.lgm", k=60.0, b=0.7)
    run = model.simulate(stop=5, points=101, inputs={"F": (times, force)}, rtol=1e-9)
    noise = np.random.default_rng(5).normal(scale=0.01, size=101)
    return pandas.DataFrame({"F": force, "v": run["v"] + noise}, index=pandas.Index(times, name="time"))


def test_fits_are_those_of_the_command(measured, oscillator, tmp_path):
    file = tmp_path / "measured.csv"
    measured.to_csv(file)
    data = of_command("fit", "examples/oscillator.lgm", "--data", file, "--vary", "k,b")
    for given in (measured, measured.reset_index(), {"time": measured.index, **{name: measured[name] for name in measured}}, file):
        found = oscillator.fit(given, vary=["k", "b"])
        assert [(name, found.params[name], found.stderr[name], list(found.ci[name])) for name in ("k", "b")] == [
            (entry["name"], entry["value"], entry["standard_error"], entry["confidence"]) for entry in data["parameters"]
        ]
        assert found.sum_of_squares == data["sum_of_squares"]
    assert found.model.parameters["k"].value == found.params["k"]


def test_fits_agree_with_scipy(measured, oscillator):
    found = oscillator.fit(measured, ["k", "b"])
    signal = {"F": (measured.index, measured["F"])}

    def runs(_, k, b):
        return oscillator.with_params(k=k, b=b).simulate(stop=5, points=101, inputs=signal, rtol=1e-9)["v"]

    values, covariance = scipy.optimize.curve_fit(runs, measured.index, measured["v"], p0=[50.0, 0.4], method="trf", x_scale=[50.0, 0.4])
    assert np.allclose(list(found.params.values()), values, rtol=1e-5)
    assert np.allclose(list(found.stderr.values()), np.sqrt(np.diag(covariance)), rtol=1e-3)
    assert all(low < true < high for (low, high), true in zip(found.ci.values(), (60.0, 0.7), strict=True))


def test_fits_that_cannot_be_are_errors(measured, oscillator):
    with pytest.raises(KeyError, match="no parameter 'q'"):
        oscillator.fit(measured, ["q"])
    with pytest.raises(lgm.CompileError, match="no column of an output"):
        oscillator.fit(measured[["F"]], ["k"])
    with pytest.raises(lgm.CompileError, match="do not determine `m`|do not determine `k`|do not determine `b`"):
        oscillator.fit({"time": [0, 1, 2, 3, 4], "F": [0, 0, 0, 0, 0], "v": [0, 0, 0, 0, 0]}, ["k", "b"])
    with pytest.raises(TypeError, match="not list"):
        oscillator.fit([1, 2], ["k"])
    with pytest.raises(ValueError, match="'v' must be a vector"):
        oscillator.fit({"time": [0, 1], "v": [0]}, ["k"])
    with pytest.raises(ValueError, match="linearised"):
        oscillator.linearize().fit(measured, ["k"])


@pytest.mark.parametrize(("name", "words", "options"), [("oscillator", ["--stop", "2"], {"stop": 2.0}), ("switching/dropped_ball", [], {})])
def test_verified_runs_say_what_the_command_says(name, words, options):
    file, model = example(name)
    program = [sys.executable, "-m", "lgm._command", "simulate", file, "--verify", *words]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=300)
    result = model.simulate(verify=True, **options)
    assert result.verified is not None and result.verified in done.stderr
    assert result.unverified is None or result.unverified in done.stderr
    plain = model.simulate(**options)
    assert plain.verified is None and np.array_equal(plain.time, result.time)


def test_parquet_has_the_units(oscillator, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    result = oscillator.simulate(stop=1, points=11)
    result.to_parquet(tmp_path / "run.parquet")
    table = parquet.read_table(tmp_path / "run.parquet")
    assert table.column_names == ["time", *result.columns.names]
    about = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert about["model"] == "Oscillator" and about["status"] == "complete" and about["unit:v"] == "m/s"
    assert json.loads(about["columns"])[0] == {"name": "time", "unit": "s", "kind": "time"}
    assert np.array_equal(table["v"].to_numpy(), result["v"])
    assert pandas.read_parquet(tmp_path / "run.parquet")["v"].tolist() == result["v"].tolist()


def test_parameters_of_instances_are_set_and_varied(oscillator):
    text = oscillator.text.replace("Spring(k)", "Spring(50 [N/m])")
    model = lgm.loads(text)
    whole = oscillator.with_params(k=80.0)
    own = model.with_params({"spring.k": 80.0})
    assert np.allclose(own.poles, whole.poles, rtol=1e-12)
    assert np.allclose(lgm.loads(text, **{"spring.k": "0.08 [N/mm]"}).poles, whole.poles, rtol=1e-12)
    runs = lgm.sweep(model, {"spring.k": [20.0, 80.0], "b": [0.4]}, stop=2, points=5)
    named = lgm.sweep(oscillator, {"k": [20.0, 80.0], "b": [0.4]}, stop=2, points=5)
    assert np.allclose(runs["y"].values, named["y"].values, rtol=0, atol=1e-9) and runs["spring.k"].attrs["units"] == "N/m"
    assert np.allclose(
        model.sensitivities(["spring.k"], stop=2, points=5)["y", "spring.k"], oscillator.sensitivities(["k"], stop=2, points=5)["y", "k"], atol=1e-9
    )
    # Over 5 s, a spring of 80 N/m is too far from 50 N/m: the search would end in another minimum.
    found = model.fit(whole.simulate(stop=2, points=101, rtol=1e-9), vary=["spring.k"])
    assert found.params["spring.k"] == pytest.approx(80.0, rel=1e-5)
    assert found.model.parameters["spring.k"].value == found.params["spring.k"]
    with pytest.raises(lgm.CompileError, match="spring"):
        model.with_params({"spring.q": 2.0})
    with pytest.raises(lgm.CompileError, match="sprung"):
        lgm.sweep(model, {"sprung.k": [2.0]}, stop=1)
