from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import lgm
from conftest import EXAMPLES

GRID = {"k": np.geomspace(10, 100, 4), "b": [0.1, 1.0]}


def test_a_sweep_is_the_runs_of_its_points(oscillator):
    found = lgm.sweep(oscillator, GRID, stop=2, points=11)
    assert found["v"].dims == ("k", "b", "time") and found["v"].shape == (4, 2, 11)
    assert found["v"].attrs["units"] == "m/s" and found["k"].attrs["units"] == "N/m"
    for k in GRID["k"]:
        for b in GRID["b"]:
            alone = oscillator.with_params(k=k, b=b).simulate(stop=2, points=11)
            assert np.array_equal(found["v"].sel(k=k, b=b), alone["v"])
    assert set(found["failure"].values.ravel()) == {""}
    with pytest.raises(KeyError, match="no parameter 'q'"):
        lgm.sweep(oscillator, {"q": [1]}, stop=1)


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
    assert "the run fails" in failed["failure"].item()
    assert np.isnan(failed["u"].values[-1]) and failed["u"].values[0] == 1.0
    assert found["u"].sel(R=4.0, time=1.0).item() == pytest.approx(4 / 3, rel=1e-5)

    more = lgm.sweep(model, {"R": [4.0, 8.0]}, stop=1, points=11, known=found)
    assert np.array_equal(more["u"].sel(R=4.0), found["u"].sel(R=4.0))
    assert more["u"].sel(R=8.0, time=1.0).item() == pytest.approx(8 / 7, rel=1e-5)
    assert set(more["failure"].values) == {""}


def test_a_derivation_ends_with_the_equations():
    steps = lgm.load(EXAMPLES / "oscillator.lgm").derivation()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert len({step.heading for step in steps}) > 2 and "mass" in " ".join(step.latex for step in steps)
