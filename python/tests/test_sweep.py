import csv
import io
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import lgm
from conftest import EXAMPLES, command

GRID = {"k": np.geomspace(10, 100, 4), "b": [0.1, 1.0]}


def test_a_sweep_is_the_runs_of_its_points(oscillator):
    found = lgm.sweep(oscillator, GRID, stop=2, points=11)
    assert found["v"].dims == ("k", "b", "time") and found["v"].shape == (4, 2, 11)
    assert found["v"].attrs["units"] == "m/s" and found["k"].attrs["units"] == "N/m"
    for k in GRID["k"]:
        for b in GRID["b"]:
            # A run of its own has numbers in its equations instead of parameters.
            alone = oscillator.with_params(k=k, b=b).simulate(stop=2, points=11)
            assert np.allclose(found["v"].sel(k=k, b=b), alone["v"], rtol=0, atol=1e-9)
    assert set(found["failure"].values.ravel()) == {""}


def test_a_sweep_equals_that_of_the_command(oscillator):
    text = command("simulate", "examples/oscillator.lgm", "--sweep", "k=10:100:4:log", "--stop", "2", "--points", "11")
    rows = list(csv.DictReader(io.StringIO(text)))
    k = [float(row["k"]) for row in rows[::11]]
    found = lgm.sweep(oscillator, {"k": k}, stop=2, points=11)
    for name in ("v", "fk", "y"):
        assert found[name].values.ravel().tolist() == [float(row[name]) for row in rows]


def test_options_and_columns_of_a_sweep(oscillator):
    done = []
    force = {"F": lambda t: np.sin(t)}
    found = lgm.sweep(oscillator, {"k": ["20 [N/m]", "0.05 [N/mm]"]}, inputs=force, stop=2, points=3, columns=["y"], progress=done.append)
    assert set(found.data_vars) == {"y", "failure"} and done[-1] == 1.0
    alone = oscillator.with_params(k=50.0).simulate(stop=2, points=3, inputs=force)
    assert np.allclose(found["y"].sel(k="0.05 [N/mm]"), alone["y"], rtol=0, atol=1e-9)
    for error, message, arguments in [
        (KeyError, "no parameter 'q'", ({"q": [1]}, {"stop": 1})),
        (KeyError, "no column 'vv'; did you mean 'v'", ({"k": [1]}, {"stop": 1, "columns": ["vv"]})),
        (TypeError, "no option 'events'", ({"k": [1]}, {"events": True})),
        (ValueError, "no values", ({"k": []}, {"stop": 1})),
        (ValueError, "finite", ({"k": [np.nan]}, {"stop": 1})),
        (ZeroDivisionError, "division", ({"k": [1, 2]}, {"stop": 1, "inputs": {"F": lambda t: 1 / 0}})),
    ]:
        with pytest.raises(error, match=message):
            lgm.sweep(oscillator, arguments[0], **arguments[1])
    with pytest.raises(ValueError, match="linearised"):
        lgm.sweep(oscillator.linearize(), {"k": [1]}, stop=1)


def test_runs_with_other_sample_times_are_refused():
    text = """model M { param R = 1 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
        r : Resistor(R) a -> gnd; output u = across(c); experiment { stop = R*2 [s/ohm]; points = 3; } }"""
    model = lgm.loads(text)
    with pytest.raises(ValueError, match="sample times of the experiment depend on the parameters"):
        lgm.sweep(model, {"R": [1, 2]})
    assert lgm.sweep(model, {"R": [1, 2]}, stop=2)["u"].sel(time=2).values == pytest.approx(np.exp([-2, -1]), rel=1e-5)


def test_events_of_a_sweep_are_those_of_each_run():
    model = lgm.load(EXAMPLES / "switching" / "buck_converter.lgm")
    parameter = "R"
    found = lgm.sweep(model, {parameter: [4.0, 6.0]}, stop=1e-3, points=11)
    output = model.outputs[0].name
    for value in (4.0, 6.0):
        alone = model.with_params({parameter: value}).simulate(stop=1e-3, points=11)
        assert np.allclose(found[output].sel({parameter: value}), alone[output], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_a_sweep_is_distributed(oscillator, kind):
    pool = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with pool:
        found = lgm.sweep(oscillator, GRID, map=pool.map, stop=1, points=3)
        futures = lgm.sweep(oscillator, GRID, map=lambda one, tasks: [pool.submit(one, task) for task in tasks], stop=1, points=3)
    alone = lgm.sweep(oscillator, GRID, stop=1, points=3)
    assert found.equals(alone) and futures.equals(alone)


def test_failed_runs_are_samples_and_a_sweep_goes_on():
    model = lgm.loads("""model M { param R = 1 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
        source : CurrentSource(across(c)^2*1 [A/V^2]/(R/1 [ohm])) gnd -> a; output u = across(c); }""")
    # du/dt = u^2/R is infinite at t = R.
    found = lgm.sweep(model, {"R": [0.5, 4.0]}, stop=1, points=11)
    failed = found.sel(R=0.5)
    assert "[LGM1" in failed["failure"].item() and " at 0.5" in failed["failure"].item()
    assert np.isnan(failed["u"].values[-1]) and failed["u"].values[0] == 1.0
    assert found["u"].sel(R=4.0, time=1.0).item() == pytest.approx(4 / 3, rel=1e-5)

    more = lgm.sweep(model, {"R": [4.0, 8.0]}, stop=1, points=11, known=found)
    assert np.array_equal(more["u"].sel(R=4.0), found["u"].sel(R=4.0))
    assert more["u"].sel(R=8.0, time=1.0).item() == pytest.approx(8 / 7, rel=1e-5)
    assert set(more["failure"].values) == {""}
    for other in ({"stop": 2, "points": 11}, {"stop": 1, "points": 11, "rtol": 1e-4}):
        with pytest.raises(ValueError, match="another model, of other options"):
            lgm.sweep(model, {"R": [4.0, 8.0]}, known=found, **other)
    with pytest.raises(ValueError, match="another model"):
        lgm.sweep(lgm.loads(model.text.replace("start = 1", "start = 2")), {"R": [4.0]}, stop=1, points=11, known=found)


def test_tasks_last_as_long_as_asked(oscillator):
    counts = []

    def counted(one, tasks):
        counts.append(len(tasks))
        return [one(task) for task in tasks]

    for task in (1e-9, 1e9):
        lgm.sweep(oscillator, {"k": np.linspace(10, 100, 100)}, stop=1, points=2, map=counted, task=task)
    # At least four tasks for each core.
    assert counts[0] == 100 and counts[1] <= 100 and counts[1] >= min(100, 4 * (os.cpu_count() or 1)) - 1
    with pytest.raises(ValueError, match="longer than 0 s"):
        lgm.sweep(oscillator, {"k": [1.0]}, task=0)


def refused_third(one, tasks):
    """A map whose third task ends with an error, as when a worker dies."""
    for number, task in enumerate(tasks):
        if number == 2:
            raise ConnectionError("worker lost")
        yield one(task)


def test_lost_tasks_are_failures_and_are_run_again(oscillator):
    values = {"k": np.linspace(10, 100, 40)}
    whole = lgm.sweep(oscillator, values, stop=1, points=3)
    found = lgm.sweep(oscillator, values, stop=1, points=3, map=refused_third)
    lost = found["failure"].values != ""
    assert 0 < lost.sum() < 40 and "ConnectionError: worker lost" in found["failure"].values[lost][0]
    assert np.isnan(found["v"].values[lost]).all() and np.array_equal(found["v"].values[~lost], whole["v"].values[~lost])
    again = lgm.sweep(oscillator, values, stop=1, points=3, known=found)
    assert again.equals(whole)


def test_a_sweep_to_a_folder_is_continued(oscillator, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    values = {"k": np.linspace(10, 100, 20), "b": [0.1, 1.0]}
    folder, options = tmp_path / "runs", {"stop": 1, "points": 3, "columns": ["v"]}
    with pytest.raises(lgm.LgmError, match="tasks have no file .the task ended without a result: ConnectionError"):
        lgm.sweep(oscillator, values, to=folder, map=refused_third, **options)
    parts = {path: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    assert len(parts) == 2
    assert lgm.sweep(oscillator, values, to=folder, **options) == folder
    assert all(path.stat().st_mtime_ns == time for path, time in parts.items())
    frame = pandas.read_parquet(folder).sort_values(["run", "time"])
    assert frame.columns.tolist() == ["run", "k", "b", "time", "v", "failure"] and len(frame) == 120
    whole = lgm.sweep(oscillator, values, **options)
    assert np.array_equal(frame["v"], whole["v"].values.ravel()) and set(frame["failure"]) == {""}
    with pytest.raises(ValueError, match="another sweep"):
        lgm.sweep(oscillator, {"k": [1.0]}, to=folder, **options)


def test_a_sweep_with_functions_is_not_continued(oscillator, tmp_path):
    # Another function with the same name would give other samples.
    values = {"k": [20.0, 30.0]}
    first = {"stop": 1, "points": 3, "inputs": {"F": lambda time: 1.0}}
    other = {**first, "inputs": {"F": lambda time: 2.0}}
    found = lgm.sweep(oscillator, values, **first)
    with pytest.raises(ValueError, match="'F' cannot be continued"):
        lgm.sweep(oscillator, values, known=found, **other)
    lgm.sweep(oscillator, values, to=tmp_path / "runs", **first)
    with pytest.raises(ValueError, match="'F' cannot be continued"):
        lgm.sweep(oscillator, values, to=tmp_path / "runs", **other)


def test_a_derivation_ends_with_the_equations():
    steps = lgm.load(EXAMPLES / "oscillator.lgm").derivation()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert len({step.heading for step in steps}) > 2 and "mass" in " ".join(step.latex for step in steps)
