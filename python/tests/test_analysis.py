"""Analyses against python-control, SciPy and SymPy."""

import control
import numpy as np
import pytest
import sympy
from conftest import EXAMPLES

import lgm

RATED = """
model Rated {
  node a, b : electrical; param R = 3 [ohm]; param C = 2 [F];
  input u [V] = 1; input w [V] = 0;
  source : VoltageSource(u) a -> gnd; r : Resistor(R) a -> b; other : VoltageSource(w) b -> gnd; c : Capacitor(C) a -> gnd;
  l : Inductor(4 [H]) b -> gnd;
  output i = through(c); output j = through(l);
}
"""


def test_transfer_functions_are_those_of_the_matrices(oscillator):
    s = sympy.Symbol("s")
    a, b, c, d = oscillator.A, oscillator.B, oscillator.C, oscillator.D
    expected = c * (s * sympy.eye(2) - a).inv() * b + d
    for at, name in enumerate(oscillator.outputs.names):
        assert sympy.simplify(oscillator.transfer("F", name) - expected[at, 0]) == 0
    numeric = oscillator.transfer("F", "v", numeric=True)
    values = {entry.name: entry.value for entry in oscillator.parameters}
    for point in (0.5, 2.0):
        assert complex(numeric.subs("s", point)) == pytest.approx(complex(expected[0, 0].subs(values).subs(s, point)))
    with pytest.raises(KeyError, match="did you mean 'v'"):
        oscillator.transfer("F", "vv")
    with pytest.raises(lgm.CompileError, match="has no transfer function"):
        lgm.load(EXAMPLES / "duffing.lgm").zpk("F", "force")


@pytest.mark.parametrize("name", ["oscillator", "quarter_car", "dc_motor", "sallen_key", "loudspeaker"])
def test_control_sees_the_same_system(name):
    model = lgm.load(EXAMPLES / f"{name}.lgm")
    form = model.state_space()
    system = model.to_control(rates="input")
    assert list(system.state_labels) == list(model.states.names)
    omega = np.geomspace(0.1, 100, 7)
    # Inputs and their rates, both from one input.
    all_at = control.frequency_response(system, omega).frdata
    for one, source in enumerate(model.inputs.names):
        factor = all_at[:, one]
        if f"der({source})" in system.input_labels:
            factor = factor + all_at[:, system.input_labels.index(f"der({source})")] * 1j * omega
        found = model.response(omega)[:, one]
        assert np.allclose(found, factor, rtol=1e-9, atol=1e-12 * abs(factor).max())
    poles = np.sort_complex(model.poles)
    assert np.allclose(np.sort_complex(system.poles()), poles, rtol=1e-6, atol=1e-8 * max(1, abs(poles).max()))
    assert form.to_scipy(rates="input").A.shape == form.A.shape


def test_nonlinear_outputs_do_not_shift_the_others():
    model = lgm.loads("model M { node x : translational; input F [N] = 1; m : Mass(2 [kg]) x -> gnd; b : Damper(3 [N.s/m]) x -> gnd;"
                      " f : ForceSource(F) gnd -> x; output lost = power(b); output v = across(m); }")
    assert model.response([1.5], "F", "v")[0] == pytest.approx(1 / (3 + 3j))
    s = sympy.Symbol("s")
    assert sympy.simplify(model.transfer("F", "v") - 1 / (2 * s + 3)) == 0
    assert model.zpk("F", "v")[1].tolist() == [-1.5]
    with pytest.raises(ValueError, match="output lost has no linear equation"):
        model.response([1.5], "F", "lost")
    with pytest.raises(ValueError, match="output lost has no linear equation"):
        model.response([1.5])


def test_rates_of_inputs_are_never_dropped():
    form = lgm.loads(RATED).state_space()
    assert form.F[0, 0] == 2.0
    with pytest.raises(ValueError, match=r"contain der\(u\); rates='input'"):
        form.to_control()
    system = form.to_control(rates="input")
    assert system.input_labels == ["u", "w", "der(u)"]
    assert control.frequency_response(system, [2.0]).frdata[0, 2, 0] == pytest.approx(2.0)
    with pytest.raises(ValueError, match="rates is 'error' or 'input'"):
        form.to_control(rates="drop")


def test_constants_of_affine_equations_are_never_dropped():
    model = lgm.loads("model M { node x : translational; mass : Mass(2 [kg]) x -> gnd; d : Damper(1 [N.s/m]) x -> gnd;"
                      " weight : ForceSource(20 [N]) gnd -> x; output v = across(mass); }")
    assert model.state_space().x_offset.tolist() == [10.0]
    with pytest.raises(ValueError, match="constant rates of states"):
        model.to_control()


def test_nonlinear_models_are_nonlinear_systems():
    model = lgm.load(EXAMPLES / "duffing.lgm")
    system = model.to_control()
    times = np.linspace(0, 3, 31)
    found = control.input_output_response(
        system, times, np.full((1, 31), 0.5), model.rhs().x0, solve_ivp_kwargs={"rtol": 1e-9, "atol": 1e-12}
    )
    expected = model.simulate(stop=3, points=31, inputs={"F": 0.5}, rtol=1e-9)
    assert np.allclose(found.outputs[0], expected["velocity"], atol=1e-6)


def test_linearised_models_are_those_of_control():
    model = lgm.load(EXAMPLES / "duffing.lgm")
    x = model.rhs().x0
    point = control.linearize(model.to_control(), x, [0.0])
    mine = model.linearize({"F": 0.0}).state_space()
    assert np.allclose(mine.A, point.A, atol=1e-5) and np.allclose(mine.B, point.B, atol=1e-5)
    with pytest.raises(ValueError, match="linearised"):
        model.linearize().simulate(stop=1)


def test_modes_are_eigenvalues(oscillator):
    poles = np.linalg.eigvals(oscillator.state_space().A)
    assert np.allclose(np.sort_complex(oscillator.poles), np.sort_complex(poles))
    [mode, _] = oscillator.modes(shapes=True)
    assert mode["omega"] == pytest.approx(5.0) and mode["damping"] == pytest.approx(0.4 / (2 * np.sqrt(100)))
    assert sum(mode["energy"].values()) == pytest.approx(1.0)
    assert set(mode["shape"]) == set(oscillator.states.names)


def test_large_matrices_are_sparse():
    model = lgm.load(EXAMPLES / "line.lgm", N=400)
    form = model.state_space()
    assert form.A.shape == (len(model.states), len(model.states)) and len(model.states) > 500
    assert form.A.nnz < 5 * len(model.states)
    dense = form.A.toarray()
    x = np.random.default_rng(3).normal(size=len(model.states))
    f = model.rhs()
    u = np.ones(len(model.inputs))
    assert np.allclose(dense @ x + form.B @ u, f(0.0, x, u, 0 * u), rtol=1e-9)
