"""Documentation, types and notebooks."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import lgm

MODULES = [entry.name for entry in pkgutil.iter_modules(lgm.__path__) if entry.name != "_native"]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_of_docstrings(name):
    module = importlib.import_module(f"lgm.{name}" if name else "lgm")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.testmod(module, optionflags=flags).failed == 0


def test_public_things_are_described():
    missing = []
    for name in lgm.__all__:
        thing = getattr(lgm, name)
        parts = [(name, thing)]
        if inspect.isclass(thing):
            parts += [(f"{name}.{part}", value) for part, value in vars(thing).items() if not part.startswith("_")]
        for path, value in parts:
            is_documentable = callable(value) or isinstance(value, property) or inspect.isclass(value)
            if is_documentable and not inspect.getdoc(value):
                missing.append(path)
    assert missing == []


@pytest.mark.parametrize("page", ["python/README.md", "docs/python.md", "docs/python/analyses.md", "docs/python/fits.md", "docs/python/sweeps.md"])
def test_pages_run(page, tmp_path, monkeypatch):
    """All Python blocks of a page, one after the other."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    import matplotlib

    matplotlib.use("Agg")
    for path in [*ROOT.glob("examples/*.lgm"), *ROOT.glob("examples/switching/*.lgm")]:
        copy = tmp_path / path.relative_to(ROOT / "examples")
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text())
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "page"}
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks:
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, scope, page, page, 0)
            runner = doctest.DocTestRunner(optionflags=flags)
            runner.run(test, clear_globs=False)
            scope = test.globs
            assert runner.failures == 0
        else:
            exec(compile(block, page, "exec"), scope)


def test_types_hold():
    mypy = pytest.importorskip("mypy.api")
    folder = ROOT / "python"
    out, err, status = mypy.run(["--cache-dir", os.devnull, "--config-file", str(folder / "pyproject.toml"), str(folder / "lgm")])
    assert status == 0, out + err


def test_a_cell_of_a_notebook_becomes_a_variable():
    testing = pytest.importorskip("IPython.testing.globalipapp")
    shell = testing.start_ipython() or testing.get_ipython()
    shell.run_line_magic("load_ext", "lgm")
    text = "model Cell { node a : electrical; r : Resistor(2 [ohm]) a -> gnd; c : Capacitor(1 [F]) a -> gnd; }"
    shown = shell.run_cell_magic("lgm", "", text)
    assert shell.user_ns["Cell"] is shown and shown.states.names == ("c.v",)
    assert "<td>c.v</td>" in shown.states._repr_html_()
    with pytest.raises(lgm.CompileError) as found:
        shell.run_cell_magic("lgm", "", "model Cell { nothing }")
    assert found.value._render_traceback_()[0].startswith("CompileError: [LGM")


def test_the_command_is_that_of_the_package():
    done = subprocess.run([sys.executable, "-m", "lgm._command", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == f"lgm {lgm.__version__}"
