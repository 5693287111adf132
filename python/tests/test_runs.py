import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas
import pytest
from conftest import EXAMPLES
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import lgm

STORAGE = """
model Storage {
  node a : electrical;
  input i [A];
  source : CurrentSource(i) gnd -> a; c : Capacitor(2 [F]) a -> gnd;
  output u = across(c);
}
"""
# The current of a capacitor across a voltage source is the rate of the input.
RATED = """
model Rated {
  node a : electrical;
  input u [V];
  source : VoltageSource(u) a -> gnd; c : Capacitor(2 [F]) a -> gnd;
  output i = through(c);
}
"""
LONG = """
model Long {
  node x : translational;
  param k = 1e8 [N/m];
  mass : Mass(1 [kg]) x -> gnd; spring : Spring(k) x -> gnd, start = 1;
  output v = across(mass);
}
"""


def test_samples_are_those_of_the_matrix_exponential(oscillator):
    result = oscillator.simulate(stop=4, points=9, inputs={"F": "0"}, rtol=1e-10)
    form = oscillator.state_space()
    started = lgm.load(EXAMPLES / "oscillator.lgm").simulate(stop=4, points=9, inputs={"F": 3.0}, rtol=1e-10)
    rest = -np.linalg.solve(form.A, form.B[:, 0] * 3.0)
    for at, now in enumerate(result.time):
        assert np.allclose(result["v"][at], 0.0)
        expected = rest - expm(form.A * now) @ rest
        assert np.allclose([started["v"][at], started["spring.F (state)" if "spring.F (state)" in started else "fk"][at]], expected, atol=1e-8)


def test_signals_are_texts_numbers_functions_and_samples():
    model = lgm.loads(STORAGE)
    times = np.linspace(0, 2, 5)
    for signal, charge in [
        ("2 [A]", 4.0),
        (2, 4.0),
        (lambda t: 3 * t, 6.0),
        ((lambda t: 3 * t, lambda t: 3.0), 6.0),
        ((times, 3 * times), 6.0),
        ((times, 3 * times, "held"), 4.5),
        (pandas.Series(3 * times, index=times), 6.0),
    ]:
        result = model.simulate(stop=2, points=3, inputs={"i": signal}, rtol=1e-9)
        assert result["u"][-1] == pytest.approx(charge / 2, rel=1e-7), signal
        assert result.notes == ()


def test_signals_that_cannot_be_are_refused():
    model = lgm.loads(STORAGE)
    with pytest.raises(lgm.CompileError, match="has no signal"):
        model.simulate(stop=1)
    with pytest.raises(KeyError, match="no input 'j'"):
        model.simulate(stop=1, inputs={"j": 1})
    for wrong in [([0, 1], [1]), ([1, 0], [1, 1]), ([], []), ([0], [np.nan]), ([0, 1], [1, 1], "cubic")]:
        with pytest.raises(ValueError, match="samples of 'i'"):
            model.simulate(stop=1, inputs={"i": wrong})
    with pytest.raises(ZeroDivisionError):
        model.simulate(stop=1, inputs={"i": lambda t: 1 / 0})
    with pytest.raises(TypeError):
        model.simulate(stop=1, inputs={"i": lambda t: "much"})
    with pytest.raises(ValueError, match="no method 'euler'"):
        model.simulate(stop=1, inputs={"i": 1}, method="euler")


def test_rates_of_functions_are_never_guessed():
    model = lgm.loads(RATED)
    with pytest.raises(ValueError, match="rate of `u`"):
        model.simulate(stop=1, inputs={"u": np.sin})
    result = model.simulate(stop=1, points=5, inputs={"u": (np.sin, np.cos)})
    assert np.allclose(result["i"], 2 * np.cos(result.time), rtol=1e-12)


def test_functions_of_time_in_the_text_are_no_inputs_to_be_given():
    model = lgm.loads("model M { node a, b : electrical; s : VoltageSource(3 [V]*sin(2*time/1 [s])) a -> gnd;"
                      " c : Capacitor(2 [F]) a -> gnd; r : Resistor(1 [ohm]) a -> b; l : Inductor(1 [H]) b -> gnd;"
                      " output i = through(c); }")
    assert len(model.inputs) == 0 and model.state_space().inputs == ("s.v",) and model.F.shape == (1, 1)
    f = model.rhs()
    assert f(0.1, [0.2])[0] == pytest.approx(3 * np.sin(0.2) - 0.2)
    assert f.outputs(0.1, [0.2])[0] == pytest.approx(12 * np.cos(0.2))
    result = model.simulate(stop=1, points=5)
    assert np.allclose(result["i"], 12 * np.cos(2 * result.time))


def test_runs_agree_with_solve_ivp():
    model = lgm.load(EXAMPLES / "duffing.lgm")
    f = model.rhs()
    found = model.simulate(stop=10, points=101, inputs={"F": "0.5*cos(1.2*time)"}, rtol=1e-10, atol=1e-12)

    def rates(t, x):
        return f(t, x, [0.5 * np.cos(1.2 * t)])

    solved = solve_ivp(rates, (0, 10), f.x0, t_eval=found.time, rtol=1e-11, atol=1e-13, method="DOP853")
    assert np.allclose(found["mass.v"], solved.y[0], atol=1e-7)


def test_right_sides_take_columns_and_have_exact_jacobians():
    model = lgm.load(EXAMPLES / "duffing.lgm")
    f = model.rhs()
    random = np.random.default_rng(1)
    x, u = random.normal(size=(3, 4)), [0.3]
    found = f(0.0, x, u)
    assert found.shape == (3, 4)
    for column in range(4):
        assert np.array_equal(found[:, column], f(0.0, x[:, column], u))
    matrix = f.jacobian(0.0, x[:, 0], u)
    step = 1e-6
    for at in range(3):
        ahead, behind = x[:, 0].copy(), x[:, 0].copy()
        ahead[at] += step
        behind[at] -= step
        slope = (f(0.0, ahead, u) - f(0.0, behind, u)) / (2 * step)
        assert np.allclose(matrix[:, at], slope, atol=1e-8)
    assert f.outputs(0.0, x, u).shape == (3, 4)
    # Orders of memory do not matter.
    assert np.array_equal(f(0.0, np.asfortranarray(x), u), found)
    with pytest.raises(ValueError, match="3 states"):
        f(0.0, [1.0, 2.0], u)
    with pytest.raises(ValueError, match="u has 2 values for 1 inputs"):
        f(0.0, x[:, 0], [1.0, 2.0])


def test_right_sides_refuse_what_they_cannot_know():
    f = lgm.loads(STORAGE).rhs()
    with pytest.raises(ValueError, match="`i` has no signal"):
        f(0.0, [1.0])
    model = lgm.load(EXAMPLES / "seeds" / "sound_system.lgm")
    if (model.E != 0 * model.E) or (model.F != 0 * model.F):
        with pytest.raises(ValueError, match="give du"):
            model.rhs()(0.0, np.zeros(len(model.states)), np.zeros(len(model.inputs)))
    with pytest.raises(ValueError, match="loops, a mass matrix or modes"):
        lgm.load(EXAMPLES / "switching" / "dropped_ball.lgm").rhs()


def test_a_failed_run_keeps_its_samples():
    model = lgm.loads("model M { node x : translational; input F [N] = 1; m : Mass(1 [kg]) x -> gnd;"
                      " d : Damper(-5 [N.s/m]) x -> gnd; f : ForceSource(F) gnd -> x; output v = across(m); }")
    with pytest.raises(lgm.SimulationError) as found:
        model.simulate(stop=1000, points=1001)
    error = found.value
    assert error.diagnostics[0].code == "LGM1010" and 0 < error.time < 1000
    assert error.partial.status == "failed" and 0 < len(error.partial) < 1001
    assert error.partial.time[-1] <= error.time
    copy = pickle.loads(pickle.dumps(error))
    assert copy.time == error.time and np.array_equal(copy.partial["v"], error.partial["v"])


@pytest.mark.parametrize("work", [lambda model: model.simulate(stop=1e3, points=2), lambda model: lgm.sweep(model, {"k": [1e8]}, stop=1e3, points=2)])
def test_control_c_ends_runs(work):
    # A shell starts what runs in the background with Ctrl-C ignored.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    model = lgm.loads(LONG)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            work(model)
    finally:
        signal.signal(signal.SIGINT, former)
    assert time.monotonic() - begin < 5


def test_progress_is_reported_and_may_end_the_run():
    shares = []
    model = lgm.loads(LONG)
    model.simulate(stop=0.02, points=2, progress=shares.append)
    assert shares[-1] == 1.0 and shares == sorted(shares)

    class Enough(Exception):
        pass

    def stop(share):
        raise Enough

    with pytest.raises(Enough):
        model.simulate(stop=1e3, points=2, progress=stop)


def test_events_are_listed():
    result = lgm.load(EXAMPLES / "switching" / "dropped_ball.lgm").simulate()
    assert result.events and all(event.time >= 0 and event.kind for event in result.events)


def test_results_are_tables():
    model = lgm.load(EXAMPLES / "oscillator.lgm")
    result = model.simulate(stop=1, points=11)
    with pytest.raises(ValueError, match="read-only"):
        result["v"][0] = 1
    frame = result.to_pandas()
    assert frame.index.name == "time" and frame["v"].tolist() == result["v"].tolist()
    assert frame.attrs["units"]["v"] == "m/s"
    data = result.to_xarray()
    assert data["v"].attrs == {"kind": "output", "units": "m/s"} and data.attrs["model"] == "Oscillator"
    assert float(data["v"].sel(time=0.5)) == result["v"][5]
    with pytest.raises(KeyError, match="no column 'w'"):
        result["w"]
    assert result.stats["steps"] > 0 and result.status == "complete"
    copy = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copy["v"], result["v"])


def test_results_are_plotted():
    import matplotlib

    matplotlib.use("Agg")
    axes = lgm.load(EXAMPLES / "oscillator.lgm").simulate(stop=1).plot("v")
    assert axes.get_xlabel() == "time [s]" and axes.get_ylabel() == "v [m/s]"
    assert len(axes.get_lines()[0].get_xdata()) == 801
