import functools
import os
import pathlib

import pytest

import lgm

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@functools.cache
def loaded(path):
    """The model of an example, compiled once for all tests; None if the file has none."""
    try:
        return lgm.load(path)
    except lgm.CompileError as error:
        assert error.diagnostics[-1].code == "LGM0910", path
        return None


@pytest.fixture
def oscillator():
    return lgm.load(EXAMPLES / "oscillator.lgm")


def pytest_report_header():
    return f"lgm {lgm.__version__} from {os.path.dirname(lgm.__file__)}"
