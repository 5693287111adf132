"""The right sides of a model as functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native


class Rhs:
    """Compiled right sides of a model, in the order of arguments that `scipy.integrate.solve_ivp` expects.

    Parameters of all functions are the time `t` in s, the states `x` with the shape ``(n,)``, or ``(n, k)`` for k columns at
    once, the inputs `u` with the shape ``(m,)`` and their rates `du`; all in SI units and in the order of `Model.states` and
    `Model.inputs`. Without `u` the inputs have the signals of the model.

    Raises
    ------
    ValueError
        If an array has the wrong shape, an input without a signal gets no value, or the equations contain rates of inputs that
        are not given.

    Examples
    --------
    >>> import lgm
    >>> decay = lgm.loads("model M { node a : electrical; c : Capacitor(2 [F]) a -> gnd, start = 4;"
    ...                   " r : Resistor(5 [ohm]) a -> gnd; }")
    >>> f = decay.rhs()
    >>> f(0.0, [4.0])
    array([-0.4])
    >>> f.jacobian(0.0, [4.0])
    array([[-0.1]])
    """

    def __init__(self, native: _native.Rhs) -> None:
        self._native = native
        self._count = native.states()

    def _at(self, t: float, x: ArrayLike, u: ArrayLike | None, du: ArrayLike | None) -> tuple[Any, tuple[int, ...]]:
        """The arguments of the native functions, and the shape of the columns."""
        states = np.asarray(x, dtype=np.float64)
        if states.ndim not in (1, 2) or states.shape[0] != self._count:
            raise ValueError(f"x has the shape {states.shape}, but the model has {self._count} states")
        rest = [None if part is None else np.asarray(part, dtype=np.float64).ravel().tobytes() for part in (u, du)]
        return (float(t), states.tobytes(), *rest), states.shape[1:]

    def __call__(
        self, t: float, x: ArrayLike, u: ArrayLike | None = None, du: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The rates of the states, in the shape of `x`."""
        at, columns = self._at(t, x, u, du)
        return np.frombuffer(self._native.rates(at)).reshape(-1, *columns).copy()

    def outputs(
        self, t: float, x: ArrayLike, u: ArrayLike | None = None, du: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The outputs, ``(p,)`` or ``(p, k)``."""
        at, columns = self._at(t, x, u, du)
        return np.frombuffer(self._native.outputs(at)).reshape(-1, *columns).copy()

    def jacobian(
        self, t: float, x: ArrayLike, u: ArrayLike | None = None, du: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The exact partial derivatives of the rates by the states, ``(n, n)``, at one point."""
        at, columns = self._at(t, x, u, du)
        if columns:
            raise ValueError("the Jacobian is at one point: x has one dimension")
        rows, places, values = self._native.jacobian(at)
        matrix = np.zeros((self._count, self._count))
        matrix[np.frombuffer(rows, np.int64), np.frombuffer(places, np.int64)] = np.frombuffer(values)
        return matrix

    @property
    def x0(self) -> NDArray[np.float64]:
        """The initial values of the states, ``(n,)``."""
        return np.frombuffer(self._native.starts()).copy()

    def __repr__(self) -> str:
        return f"<lgm.Rhs of {self._count} states>"


def nonlinear_system(model: Any) -> Any:
    """A `control.NonlinearIOSystem` of a model."""
    import control

    f = model.rhs()

    def update(t: float, x: Any, u: Any, params: Any) -> Any:
        return f(t, x, np.atleast_1d(u))

    def output(t: float, x: Any, u: Any, params: Any) -> Any:
        return f.outputs(t, x, np.atleast_1d(u))

    return control.nlsys(
        update,
        output,
        name=model.name,
        states=list(model.states.names),
        inputs=list(model.inputs.names),
        outputs=list(model.outputs.names),
    )
