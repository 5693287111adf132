"""Linear state equations in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Above this number of states matrices are sparse, as in the JSON of the command line.
_DENSE = 500


def _matrix(part: Any, sparse: bool) -> Any:
    shape, (rows, columns, values) = part
    rows, columns, values = np.frombuffer(rows, np.int64), np.frombuffer(columns, np.int64), np.frombuffer(values)
    if sparse:
        from scipy.sparse import csr_array

        return csr_array((values, (rows, columns)), shape=shape)
    dense = np.zeros(shape)
    dense[rows, columns] = values
    dense.flags.writeable = False
    return dense


@dataclass(frozen=True, eq=False)
class StateSpace:
    """``x' = A x + B u + E u' + x_offset``, ``y = C x + D u + F u' + y_offset``, in SI units.

    Matrices are read-only NumPy arrays, and `scipy.sparse.csr_array` for more than 500 states.

    Attributes
    ----------
    A, B, C, D, E, F : ndarray or csr_array
        The matrices: ``(n, n)``, ``(n, m)``, ``(p, n)``, ``(p, m)``, ``(n, m)`` and ``(p, m)``.
    x_offset, y_offset : ndarray or None
        Constants of affine equations, ``(n,)`` and ``(p,)``.
    states, inputs, outputs : tuple of str
        The names. Functions of time whose rates the equations contain are further inputs, after those of the model.
    """

    A: Any
    B: Any
    C: Any
    D: Any
    E: Any
    F: Any
    x_offset: NDArray[np.float64] | None
    y_offset: NDArray[np.float64] | None
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str

    @classmethod
    def _of(cls, parts: dict[str, Any], names: tuple[tuple[str, ...], ...], name: str) -> StateSpace:
        states, inputs, outputs = names
        a, b, c, d, e, f = (_matrix(parts[letter], len(states) > _DENSE) for letter in "ABCDEF")
        x, y = (np.frombuffer(parts[key]) if key in parts else None for key in ("x_offset", "y_offset"))
        return cls(a, b, c, d, e, f, x, y, states, inputs, outputs, name)

    def _rated(self) -> list[str]:
        """The inputs whose rates the equations contain."""
        reads = (abs(self.E).sum(axis=0) + abs(self.F).sum(axis=0)) > 0
        return [name for name, is_read in zip(self.inputs, reads, strict=True) if is_read]

    def _plain(self, rates: str) -> tuple[Any, Any, list[str]]:
        """B and D with the inputs that they belong to."""
        if rates not in ("error", "input"):
            raise ValueError(f"rates is 'error' or 'input', not {rates!r}")
        for offset, what in ((self.x_offset, "rates of states"), (self.y_offset, "outputs")):
            if offset is not None:
                raise ValueError(f"the equations have constant {what}, which a linear system cannot express; linearize them")
        rated = self._rated()
        if not rated:
            return self.B, self.D, list(self.inputs)
        if rates == "error":
            names = ", ".join(f"der({name})" for name in rated)
            raise ValueError(f"the equations contain {names}; rates='input' adds the rates as inputs of their own")
        places = [self.inputs.index(name) for name in rated]
        stack = _stack(self.B)
        b, d = stack([self.B, self.E[:, places]]), stack([self.D, self.F[:, places]])
        return b, d, [*self.inputs, *(f"der({name})" for name in rated)]

    def to_control(self, rates: str = "error") -> Any:
        """The system for python-control.

        Parameters
        ----------
        rates : {"error", "input"}
            If the equations contain rates of inputs, raise an error or add the rates as further inputs ``der(u)``.

        Returns
        -------
        control.StateSpace

        Raises
        ------
        ValueError
            If the equations contain rates of inputs or constants.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { node x : translational; input F [N] = 1;
        ...     m : Mass(2 [kg]) x -> gnd; b : Damper(3 [N.s/m]) x -> gnd; f : ForceSource(F) gnd -> x;
        ...     output v = across(m); }''')
        >>> float(model.state_space().to_control().poles()[0].real)
        -1.5
        """
        import control

        b, d, inputs = self._plain(rates)
        dense = [entry.toarray() if hasattr(entry, "toarray") else entry for entry in (self.A, b, self.C, d)]
        return control.ss(
            *dense, states=list(self.states), inputs=inputs, outputs=list(self.outputs), name=self.name
        )

    def to_scipy(self, rates: str = "error") -> Any:
        """The system as `scipy.signal.StateSpace`; for `rates` see `to_control`."""
        from scipy.signal import StateSpace as SciPy

        b, d, _ = self._plain(rates)
        dense = [entry.toarray() if hasattr(entry, "toarray") else entry for entry in (self.A, b, self.C, d)]
        return SciPy(*dense)


def _stack(like: Any) -> Any:
    if isinstance(like, np.ndarray):
        return np.hstack
    from scipy.sparse import hstack

    return hstack
