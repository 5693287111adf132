"""Linear graphs and bond graphs of physical systems.

A model is a text that names elements and how they are connected. ``lgm`` derives its exact state equations, analyses them and
runs them.

>>> import lgm
>>> model = lgm.loads('''
... model Oscillator {
...     node x : translational;
...     param m = 2 [kg]; param k = 50 [N/m];
...     input F [N] = 1;
...     mass : Mass(m) x -> gnd; spring : Spring(k) x -> gnd; force : ForceSource(F) gnd -> x;
...     output v = across(mass);
... }''')
>>> model.A
Matrix([
[0, -1/m],
[k,    0]])

Names of states, inputs, outputs and parameters are those of the text. Numbers are in SI units.
"""

from __future__ import annotations

from . import _native
from ._errors import CompileError, Diagnostic, LgmError, SimulationError
from ._drawing import Drawing
from ._equations import Step
from ._findings import Approximation, Combination, Fit, Mechanism, OperatingPoint, SecondOrder, Switching, Thevenin
from ._load import check, load, loads
from ._model import Model
from ._names import Names, Quantity
from ._result import Event, Result
from ._rhs import Rhs
from ._state_space import StateSpace
from ._sweep import sweep

__version__ = _native.version()

__all__ = [
    "Approximation",
    "Combination",
    "CompileError",
    "Diagnostic",
    "Drawing",
    "Event",
    "Fit",
    "LgmError",
    "Mechanism",
    "Model",
    "Names",
    "OperatingPoint",
    "Quantity",
    "Result",
    "Rhs",
    "SecondOrder",
    "SimulationError",
    "StateSpace",
    "Step",
    "Switching",
    "Thevenin",
    "check",
    "load",
    "loads",
    "sweep",
]


def load_ipython_extension(shell: object) -> None:
    """Register the cell magic ``%%lgm`` (``%load_ext lgm``)."""
    from ._ipython import register

    register(shell)
