import functools
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

import lgm

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


PROGRAM = [os.environ["LGM"]] if "LGM" in os.environ else [sys.executable, "-m", "lgm._command"]


@functools.cache
def loaded(path):
    """The model of an example, compiled once for all tests; None if the file has none."""
    try:
        return lgm.load(path)
    except lgm.CompileError as error:
        assert error.diagnostics[-1].code == "LGM0910", path
        return None


def command(*arguments):
    """What the command prints. Analyses run in this process; runs in one of their own, since they listen for Ctrl-C.

    Runs are those of the program in `LGM`, if it is set: a program with interpreted kernels has the same digits as this package.
    """
    words = ["lgm", *map(str, arguments)]
    if words[1] == "simulate":
        done = subprocess.run(
            [*PROGRAM, *words[1:]], cwd=ROOT, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
    kept, folder = os.dup(1), os.getcwd()
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 1)
        os.chdir(ROOT)
        try:
            code = lgm._native.run_command(words)
        finally:
            os.chdir(folder)
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        assert code == 0, words
        return file.read()


@pytest.fixture
def oscillator():
    return lgm.load(EXAMPLES / "oscillator.lgm")


def pytest_report_header():
    return f"lgm {lgm.__version__} from {os.path.dirname(lgm.__file__)}"
