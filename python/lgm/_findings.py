"""Results of analyses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._state_space import StateSpace


@dataclass(frozen=True)
class OperatingPoint:
    """The values of all variables at a point, in SI units.

    Attributes
    ----------
    states, inputs, outputs : dict of float
        The values by name.
    time : float
        The time, in s.
    equilibrium : bool
        True if the states are at rest.
    """

    states: dict[str, float]
    inputs: dict[str, float]
    outputs: dict[str, float]
    time: float
    equilibrium: bool

    @property
    def x(self) -> NDArray[np.float64]:
        """The states as an array, ``(n,)``."""
        return np.array(list(self.states.values()))

    @property
    def u(self) -> NDArray[np.float64]:
        """The inputs as an array, ``(m,)``."""
        return np.array(list(self.inputs.values()))

    @property
    def y(self) -> NDArray[np.float64]:
        """The outputs as an array, ``(p,)``."""
        return np.array(list(self.outputs.values()))


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """``M X'' + B X' + K X = input U + input_integral int(U) + input_derivative U'``.

    Attributes
    ----------
    coordinates : tuple of str
        The elements whose displacements are ``X``.
    inputs : tuple of str
        The names of ``U``.
    M, B, K : sympy.Matrix or ndarray
        Inertia, damping and stiffness, ``(k, k)``.
    gyroscopic, circulatory : sympy.Matrix or ndarray
        The skew parts of `B` and `K`, which are contained in them.
    input, input_integral, input_derivative : sympy.Matrix or ndarray
        The factors of the inputs, ``(k, m)``.
    """

    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    M: Any
    B: Any
    K: Any
    gyroscopic: Any
    circulatory: Any
    input: Any
    input_integral: Any
    input_derivative: Any


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Lagrange's equations ``M(q) v' + C(q, v) v + D v + g(q) = Q``, with ``q' = v``.

    Attributes
    ----------
    velocities : tuple of str
        The states ``v``.
    displacements : tuple of str or None
        The states ``q``; None where nothing depends on one.
    M, C, D, g, Q : sympy.Matrix
        The inertia, the Coriolis and centrifugal terms, the damping, the forces of potentials, and the applied forces.
    """

    velocities: tuple[str, ...]
    displacements: tuple[str | None, ...]
    M: Any
    C: Any
    D: Any
    g: Any
    Q: Any


@dataclass(frozen=True, eq=False)
class Thevenin:
    """The equivalent of a network at a port.

    Attributes
    ----------
    impedance : sympy.Expr
        The across variable over the through variable into the network, in ``s``; infinite behind an ideal through source.
    sources : dict of sympy.Expr
        The source of each input that acts on the port, as a factor of the input.
    kind : str
        What the sources set: ``"across"``, in series with the impedance, or ``"through"``.
    steps : tuple of dict
        The series-parallel reduction; empty if there is none.
    """

    impedance: Any
    sources: dict[str, Any]
    kind: str
    steps: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, eq=False)
class Approximation(StateSpace):
    """A linear model of lower order: a `StateSpace` with the error of the approximation.

    Attributes
    ----------
    method : str
        The method.
    hankel : ndarray
        The Hankel singular values of the model; empty for moments.
    bound : float or None
        The largest error of a transfer function at any frequency, if it is known.
    errors : dict of float
        For moments: relative errors at frequencies in rad/s.
    """

    method: str
    hankel: NDArray[np.float64]
    bound: float | None
    errors: dict[float, float]

    @classmethod
    def _read(cls, data: dict[str, Any], name: str) -> Approximation:
        states, inputs, outputs = (tuple(data[key]) for key in ("states", "inputs", "outputs"))
        shapes = {
            "A": (len(states), len(states)),
            "B": (len(states), len(inputs)),
            "C": (len(outputs), len(states)),
            "D": (len(outputs), len(inputs)),
        }
        matrices = {letter: np.array(data[letter], dtype=float).reshape(shape) for letter, shape in shapes.items()}
        # Rates of inputs have no part in a reduced model.
        matrices |= {"E": np.zeros(shapes["B"]), "F": np.zeros(shapes["D"])}
        for matrix in matrices.values():
            matrix.flags.writeable = False
        return cls(
            **matrices,
            x_offset=None,
            y_offset=None,
            states=states,
            inputs=inputs,
            outputs=outputs,
            name=name,
            method=data["method"],
            hankel=np.array(data["hankel"], dtype=float),
            bound=data["bound"],
            errors={entry["omega"]: entry["relative"] for entry in data.get("errors", [])},
        )


@dataclass(frozen=True)
class Combination:
    """A combination of modes.

    Attributes
    ----------
    mode : dict of str
        The mode of each element.
    order : int or None
        The number of states; None if the modes contradict each other.
    dependent : tuple of str
        Storage elements whose state depends on others.
    conflict : str or None
        Why the equations have no solution, if they have none.
    """

    mode: dict[str, str]
    order: int | None
    dependent: tuple[str, ...]
    conflict: str | None


@dataclass(frozen=True)
class Switching:
    """The reachable combinations of modes.

    Attributes
    ----------
    possible : int
        The number of all combinations.
    complete : bool
        True if the search ended by itself.
    combinations : tuple of Combination
        Those that are reachable, the initial one first.
    """

    possible: int
    complete: bool
    combinations: tuple[Combination, ...]


@dataclass(frozen=True)
class Fit:
    """Estimated parameters, in SI units.

    Attributes
    ----------
    params : dict of float
        The estimates by name.
    stderr : dict of float
        Standard errors, for independent errors of equal size in the data.
    ci : dict of tuple
        Confidence intervals of 95 %.
    sum_of_squares : float
        What remains.
    """

    params: dict[str, float]
    stderr: dict[str, float]
    ci: dict[str, tuple[float, float]]
    sum_of_squares: float
    _model: Any = field(repr=False, compare=False, default=None)

    @property
    def model(self) -> Any:
        """The model with the estimated values."""
        return self._model.with_params(self.params)

    @classmethod
    def _read(cls, data: dict[str, Any], model: Any) -> Fit:
        entries = data["parameters"]
        return cls(
            {entry["name"]: entry["value"] for entry in entries},
            {entry["name"]: entry["standard_error"] for entry in entries},
            {entry["name"]: tuple(entry["confidence"]) for entry in entries},
            data["sum_of_squares"],
            model,
        )
