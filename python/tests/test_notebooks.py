"""The notebooks, cell by cell, without Jupyter."""

import json

import numpy as np
import pytest
import sympy
from conftest import ROOT

import lgm

FOLDER = ROOT / "python" / "notebooks"


def executed(name, monkeypatch, folder=None):
    """The variables of a notebook after its last cell. Its figures are saved in a folder if one is given."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    monkeypatch.chdir(FOLDER)
    figures = []

    def show():
        for number in pyplot.get_fignums():
            figures.append(number)
            if folder is not None:
                pyplot.figure(number).savefig(folder / f"{name}-{len(figures)}.png", dpi=70)
        pyplot.close("all")

    monkeypatch.setattr(pyplot, "show", show)
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and notebook["cells"][0]["cell_type"] == "markdown"
    scope = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, "clear all outputs"
        if text.startswith("%%lgm\n"):
            model = lgm.loads(text.partition("\n")[2])
            scope[model.name] = model
            assert model._repr_html_()
            continue
        lines = [line for line in text.splitlines() if not line.startswith("%")]
        exec(compile("\n".join(lines), f"{name}.ipynb {cell['id']}", "exec"), scope)
    assert figures
    return scope


def test_tour(monkeypatch):
    scope = executed("tour", monkeypatch)
    assert scope["stiff"].poles.imag.max() > 1.9 * scope["Oscillator"].poles.imag.max()
    assert scope["frame"]["y"].max() > 0.4 and set(scope["runs"]["failure"].values) == {""}


def test_causality(monkeypatch):
    scope = executed("causality", monkeypatch)
    assert len(scope["free"].states) == 3 and len(scope["coupled"].states) == 1
    assert scope["other"].states.names != scope["coupled"].states.names and scope["same"]
    m1, m2, n = sympy.symbols("m1 m2 n")
    inertia = 1 / scope["coupled"].B[0, 0]
    assert sympy.simplify(inertia - (m1 + m2 / n**2)) == 0 or sympy.simplify(inertia - (m1 + m2 * n**2)) == 0
    assert scope["conflict"].diagnostics[0].severity == "error"


def test_control_design(monkeypatch):
    scope = executed("control_design", monkeypatch)
    assert scope["phase_margin"] > 45 and (scope["poles"].real < 0).all()
    assert scope["response"].outputs[0][-1] == pytest.approx(100.0, abs=1.0)
    # A fast sampled controller is nearly the continuous one.
    assert np.abs(scope["response"].outputs[0] - scope["sampled"]["speed"]).max() < 5.0
    speed = scope["point"].outputs["speed"]
    # u = R i + K w with K i = b w + T
    assert speed == pytest.approx((12 - 1.2 * 0.1 / 0.05) / (0.05 + 1.2 * 2e-5 / 0.05), rel=1e-9)


def test_fitting(monkeypatch):
    scope = executed("fitting", monkeypatch)
    fit = scope["fit"]
    for name, true in (("k", 62.0), ("b", 0.9)):
        assert abs(fit.params[name] - true) < 4 * fit.stderr[name]
    assert scope["deviation"] == pytest.approx(0.004, rel=0.1)


def test_cluster(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed (pip install dask distributed)")
    pytest.importorskip("pyarrow")
    scope = executed("cluster", monkeypatch)
    assert scope["distributed"].equals(scope["runs"]) and set(scope["runs"]["failure"].values.ravel()) == {""}
    assert len(list(scope["folder"].glob("*.parquet"))) == len(scope["parts"]) and len(scope["frame"]) == 61 * 25**2
    assert (scope["limited"]["failure"].values != "").tolist() == [False, False, True]


def test_beam(monkeypatch):
    scope = executed("beam", monkeypatch)
    assert np.allclose(scope["omega"], scope["expected"], rtol=2e-3)
    assert scope["small"].A.shape == (4, 4) and scope["small"].errors[60.0] < 1e-6
