"""Equations of models: matrices, formulas and derivations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._parts import Parts


@dataclass(frozen=True)
class Step:
    """An equation of a derivation.

    Attributes
    ----------
    heading : str
        The group that it belongs to.
    words : str
        What is done; names are in backquotes.
    latex : str
        The equation.
    number : int
        Its number, from 1.
    """

    heading: str
    words: str
    latex: str
    number: int

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"


class Equations(Parts):
    """The equations of a model."""

    @cached_property
    def _matrices(self) -> dict[str, Any]:
        from . import _sympy

        program = self._native.matrices()
        if program is None:
            if not self.is_linear:
                raise ValueError(f"the equations of {self.name} are nonlinear: use linearize(), or ode")
            raise ValueError(f"the matrices of {self.name} over its parameters are too large: use state_space()")
        done, roots = _sympy.run(program)
        return {name: _sympy.matrix(done, root) for name, root in roots.items() if isinstance(root, dict)}

    @property
    def A(self) -> Any:
        """``x' = A x + B u + E u'``: a SymPy matrix over the parameters, as `B` to `F` are.

        Raises
        ------
        ValueError
            If the equations are nonlinear, or the entries too long.
        """
        return self._matrices["A"]

    @property
    def B(self) -> Any:
        """``x' = A x + B u + E u'``, see `A`. Functions of time whose rates the equations contain have columns after the inputs."""
        return self._matrices["B"]

    @property
    def C(self) -> Any:
        """``y = C x + D u + F u'``, see `A`."""
        return self._matrices["C"]

    @property
    def D(self) -> Any:
        """``y = C x + D u + F u'``, see `A`."""
        return self._matrices["D"]

    @property
    def E(self) -> Any:
        """``x' = A x + B u + E u'``, see `A`."""
        return self._matrices["E"]

    @property
    def F(self) -> Any:
        """``y = C x + D u + F u'``, see `A`."""
        return self._matrices["F"]

    @cached_property
    def _written(self) -> tuple[list[Any], list[Any]]:
        from . import _sympy

        return _sympy.equations(self._native.ode(), self.states.names, self.outputs.names)

    @property
    def ode(self) -> list[Any]:
        """The differential equations as `sympy.Eq` over functions of ``t``, and the equations of algebraic loops after them."""
        return list(self._written[0])

    @property
    def output_equations(self) -> list[Any]:
        """The equations of the outputs as `sympy.Eq`."""
        return list(self._written[1])

    def latex(self, document: bool = False) -> str:
        r"""The equations as LaTeX.

        Parameters
        ----------
        document : bool, optional
            A whole document, and not only its body.

        Returns
        -------
        str

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm]; c : Capacitor(1 [F]) a -> gnd, start = 1;"
        ...                   " r : Resistor(R) a -> gnd; output u = across(c); }")
        >>> r"\frac" in model.latex()
        True
        """
        return self._native.latex() if document else self._native.latex_body()

    def mathml(self) -> str:
        """The equations as HTML with MathML, for a page or a notebook.

        Returns
        -------
        str
        """
        return self._native.html_body()

    def derivation(self) -> list[Step]:
        """The way from the laws of the elements to the state equations.

        Returns
        -------
        list of Step
            The equations in their order.

        Raises
        ------
        CompileError
            If the model has no derivation (LGM0941).

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; c : Capacitor(1 [F]) a -> gnd; r : Resistor(2 [ohm]) a -> gnd; }")
        >>> steps = model.derivation()
        >>> steps[0].number, steps[-1].number == len(steps)
        (1, True)
        """
        return [Step(*step) for step in self._native.derivation()]
