"""Models."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._errors import Diagnostic, LgmError, SimulationError, diagnostics_of
from ._names import Names, Quantity, unknown
from ._result import Result
from ._rhs import Rhs, nonlinear_system
from ._state_space import StateSpace

if TYPE_CHECKING:
    Signal = str | float | Callable[[float], float] | tuple[Any, Any] | ArrayLike
    Value = float | str | ArrayLike


def load(
    path: str | os.PathLike[str],
    *,
    model: str | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    states: str | None = None,
    retain: Iterable[str] = (),
    modes: Mapping[str, str] | None = None,
    **parameters: Value,
) -> Model:
    """Read a file and form the equations of its model.

    Parameters
    ----------
    path : path
        The file, ``.lgm``.
    model : str, optional
        The name of the model; by default the last one of the file.
    include : iterable of path, optional
        Folders that imports are searched in.
    states : {"power", "energy"}, optional
        Power variables (across, through) or energy variables (p, q) for all storage.
    retain : iterable of str, optional
        Storage elements that keep their states if one of several must be dependent, the most wanted first.
    modes : mapping, optional
        Modes of switching elements, such as ``{"d1": "conducting"}``.
    **parameters : float, array or str
        Values of parameters in SI units, or texts with a unit such as ``"3 [mm]"``. A ``const`` takes a number in the unit of its
        declaration.

    Returns
    -------
    Model

    Raises
    ------
    CompileError
        If the text or a value has an error.

    Examples
    --------
    >>> import lgm, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rc.lgm")
    >>> _ = path.write_text("model RC { node a : electrical; param R = 2 [ohm];"
    ...                     " c : Capacitor(1 [F]) a -> gnd; r : Resistor(R) a -> gnd; }")
    >>> lgm.load(path, R=5.0).parameters["R"]
    Quantity(name='R', unit='ohm', value=5.0)
    """
    options = _options(model, include, states, retain, modes)
    path = os.fspath(path)
    native = _native.Session.open(path, None, None, **options)
    recipe = _Recipe(path, os.path.abspath(path), native.text(), options)
    return _with(Model(native, recipe), parameters)


def loads(
    text: str,
    *,
    name: str = "<text>",
    model: str | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    states: str | None = None,
    retain: Iterable[str] = (),
    modes: Mapping[str, str] | None = None,
    **parameters: Value,
) -> Model:
    """Form the equations of a model in a text; the other arguments are those of `load`.

    Parameters
    ----------
    text : str
        The text; imports are relative to the current folder.
    name : str, optional
        What error messages call the text.

    Returns
    -------
    Model

    Raises
    ------
    CompileError
        If the text or a value has an error.

    Examples
    --------
    >>> import lgm
    >>> lgm.loads("model M { node a : electrical; r : Resistor(2 [ohm]) a -> gnd; c : Capacitor(3 [F]) a -> gnd; }").states[0].unit
    'V'
    """
    options = _options(model, include, states, retain, modes)
    native = _native.Session.open(name, text, None, **options)
    return _with(Model(native, _Recipe(name, None, text, options)), parameters)


def check(
    text: str | os.PathLike[str],
    *,
    model: str | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    verify: bool = False,
) -> list[Diagnostic]:
    """Check all models of a text, or one of them.

    Parameters
    ----------
    text : str or path
        The text; a `pathlib.Path` names a file.
    model : str, optional
        The only model to check.
    include : iterable of path, optional
        Folders that imports are searched in.
    verify : bool, optional
        Also compare the equations with the laws of the graph and the power balance at random values.

    Returns
    -------
    list of Diagnostic
        Errors, warnings and remarks in the order of the text; empty if nothing is wrong.

    Examples
    --------
    >>> import lgm
    >>> [str(found) for found in lgm.check("model M { node a : electrical; }")]
    ['<text>:1:16: error [LGM0312]: nothing is connected to the node `a`']
    """
    folders = [os.fspath(folder) for folder in include]
    if isinstance(text, os.PathLike):
        return diagnostics_of(_native.check(None, os.fspath(text), model, folders, verify))
    return diagnostics_of(_native.check(text, "<text>", model, folders, verify))


class _Recipe:
    """How a model was made: all that a copy in another process needs."""

    def __init__(self, name: str, path: str | None, text: str, options: dict[str, Any], steps: tuple[Any, ...] = ()) -> None:
        self.name, self.path, self.text, self.options, self.steps = name, path, text, options, steps

    def then(self, kind: str, *arguments: Any) -> _Recipe:
        return _Recipe(self.name, self.path, self.text, self.options, (*self.steps, (kind, *arguments)))

    def key(self) -> tuple[Any, ...]:
        options = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in self.options.items())
        return self.path, self.text, options, self.steps


def _rebuilt(version: str, name: str, path: str | None, text: str, options: dict[str, Any], steps: Any) -> Model:
    """The model of a pickle."""
    if version != _native.version():
        raise ValueError(f"this model was pickled by lgm {version}, and this is lgm {_native.version()}")
    model = Model(_native.Session.open(name, text, path, **options), _Recipe(name, path, text, options))
    for kind, *arguments in steps:
        model = model._set(arguments[0]) if kind == "set" else model._linearized(*arguments)
    return model


def _options(
    model: str | None,
    include: Iterable[str | os.PathLike[str]],
    states: str | None,
    retain: Iterable[str],
    modes: Mapping[str, str] | None,
) -> dict[str, Any]:
    return {
        "model": model,
        "modes": [f"{element}={mode}" for element, mode in (modes or {}).items()],
        "include": [os.fspath(folder) for folder in include],
        "states": states,
        "retain": [retain] if isinstance(retain, str) else list(retain),
    }


def _plain(value: Any) -> Any:
    """A value without NumPy, as it is pickled and hashed."""
    if isinstance(value, str):
        return value
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"a parameter is a number, an array or a text with a unit, not {value!r}") from None
    return _tuples(array.tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _with(model: Model, parameters: Mapping[str, Any]) -> Model:
    return model.with_params(parameters) if parameters else model


class Model:
    """A model with its values; immutable, hashable, and safe to share between threads. Made by `load` and `loads`.

    Examples
    --------
    >>> import lgm
    >>> model = lgm.loads('''model M { node x : translational; param m = 2 [kg]; param b = 3 [N.s/m]; input F [N] = 1;
    ...     mass : Mass(m) x -> gnd; damper : Damper(b) x -> gnd; f : ForceSource(F) gnd -> x; output v = across(mass); }''')
    >>> model
    <lgm.Model M: states mass.v; inputs F; outputs v>
    >>> model.ode
    [Eq(Derivative(mass.v(t), t), (-b*mass.v(t) + F(t))/m)]
    """

    def __init__(self, native: _native.Session, recipe: _Recipe) -> None:
        self._native = native
        self._recipe = recipe

    # The parts of the model.

    @cached_property
    def _equations(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._native.equations())
        return found

    @property
    def name(self) -> str:
        """The name of the model."""
        name: str = self._equations["model"]
        return name

    @property
    def text(self) -> str:
        """The text that the model was read from."""
        return self._recipe.text

    @property
    def is_linear(self) -> bool:
        """True if the equations are affine in states, inputs and their rates."""
        linear: bool = self._equations["linear"]
        return linear

    def _names(self, what: str, key: str, value: str) -> Names:
        entries = self._equations[key]
        return Names(what, (Quantity(entry["name"], entry["unit"], entry.get(value)) for entry in entries))

    @cached_property
    def states(self) -> Names:
        """The states with their units and initial values."""
        return self._names("state", "states", "start")

    @cached_property
    def inputs(self) -> Names:
        """The inputs with their units."""
        declared = (entry for entry in self._equations["inputs"] if "follows" not in entry)
        return Names("input", (Quantity(entry["name"], entry["unit"]) for entry in declared))

    @cached_property
    def outputs(self) -> Names:
        """The outputs with their units."""
        return self._names("output", "outputs", "start")

    @cached_property
    def parameters(self) -> Names:
        """The parameters with their units and values in SI units."""
        return self._names("parameter", "parameters", "value")

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and remarks on the text and the equations."""
        return diagnostics_of(self._native.diagnostics())

    def check(self, verify: bool = True) -> list[Diagnostic]:
        """Check the text of the model, and compare its equations with the laws of its graph.

        Parameters
        ----------
        verify : bool, optional
            Compare the equations at random values.

        Returns
        -------
        list of Diagnostic
            Errors, warnings and remarks; those of the text, with its own values.
        """
        options, name = self._recipe.options, self._equations["model"]
        text, file = self._recipe.text, self._recipe.name
        return diagnostics_of(_native.check(text, file, name, options["include"], verify))

    # Other values.

    def with_params(self, values: Mapping[str, Value] | None = None, /, **parameters: Value) -> Model:
        """The same model with other values of parameters.

        Parameters
        ----------
        values : mapping, optional
            Values by name, for names that are no identifiers.
        **parameters : float, array or str
            Values in SI units, or texts with a unit such as ``"3 [mm]"``.

        Returns
        -------
        Model

        Raises
        ------
        CompileError
            If there is no such parameter, or the model has no equations with these values.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm];"
        ...                   " c : Capacitor(1 [F]) a -> gnd; r : Resistor(R) a -> gnd; }")
        >>> model.with_params(R="5 [kohm]").parameters["R"].value
        5000.0
        """
        given = {name: _plain(value) for name, value in {**(values or {}), **parameters}.items()}
        return self._set(tuple(given.items()))

    def _set(self, values: tuple[tuple[str, Any], ...]) -> Model:
        native = self._native.with_parameters(list(values))
        return Model(native, self._recipe.then("set", values))

    def linearize(self, at: Mapping[str, float | str] | None = None, *, equilibrium: bool = False) -> Model:
        """The model of small deviations.

        Parameters
        ----------
        at : mapping, optional
            Values of states, inputs and ``time``: numbers in SI units, or texts such as ``"pi/6"``, which may contain
            parameters. Other states have their initial values, other inputs their signals at time 0.
        equilibrium : bool, optional
            Linearise at an equilibrium, searched from these values.

        Returns
        -------
        Model
            Its states, inputs and outputs are deviations.

        Raises
        ------
        CompileError
            If a name is unknown, or no equilibrium is found.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; input i [A] = 1; s : CurrentSource(i) gnd -> a;"
        ...                   " c : Capacitor(1 [F]) a -> gnd; signal u = across(c)/1 [V];"
        ...                   " r : CurrentSource(u^3*1 [A]) a -> gnd; output y = across(c); }")
        >>> model.linearize({"i": 8.0, "c.v": 1.5}, equilibrium=True).state_space().A.round(6)
        array([[-12.]])
        """
        texts = tuple(f"{name}={value}" if isinstance(value, str) else f"{name}={float(value)!r}" for name, value in (at or {}).items())
        return self._linearized(texts, equilibrium)

    def _linearized(self, texts: tuple[str, ...], equilibrium: bool) -> Model:
        native = self._native.linearized(list(texts), equilibrium)
        return Model(native, self._recipe.then("linearize", texts, equilibrium))

    # Equations.

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

    def state_space(self, **parameters: Value) -> StateSpace:
        """The matrices in numbers.

        Parameters
        ----------
        **parameters : float, array or str
            Values of parameters, as in `with_params`.

        Returns
        -------
        StateSpace

        Raises
        ------
        ValueError
            If the equations are nonlinear.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm];"
        ...                   " c : Capacitor(1 [F]) a -> gnd; r : Resistor(R) a -> gnd; }")
        >>> model.state_space(R=4.0).A
        array([[-0.25]])
        """
        model = _with(self, parameters)
        found = model._native.numbers()
        if found is None:
            raise ValueError(f"the equations of {self.name} are nonlinear: use linearize()")
        columns = tuple(entry["name"] for entry in self._equations["inputs"])
        return StateSpace._of(found, (self.states.names, columns, self.outputs.names), self.name)

    def to_control(self, rates: str = "error") -> Any:
        """The model for python-control: linear equations as `control.StateSpace`, others as `control.NonlinearIOSystem`.

        Parameters
        ----------
        rates : {"error", "input"}
            For linear equations that contain rates of inputs, see `StateSpace.to_control`.

        Returns
        -------
        control.StateSpace or control.NonlinearIOSystem

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; input i [A] = 1; s : CurrentSource(i) gnd -> a;"
        ...                   " c : Capacitor(1 [F]) a -> gnd; r : Resistor(2 [ohm]) a -> gnd; output u = across(c); }")
        >>> model.to_control().input_labels
        ['i']
        """
        if self.is_linear:
            return self.state_space().to_control(rates)
        return nonlinear_system(self)

    def rhs(self) -> Rhs:
        """The right sides as a compiled function ``f(t, x, u)``.

        Returns
        -------
        Rhs

        Raises
        ------
        ValueError
            If the equations have algebraic loops, a mass matrix or modes.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm]; c : Capacitor(1 [F]) a -> gnd, start = 1;"
        ...                   " r : Resistor(R) a -> gnd; output u = across(c); }")
        >>> model.rhs()(0.0, [3.0])
        array([-1.5])
        """
        return Rhs(self._native.rhs())

    # Linear analyses.

    def _pair(self, source: str, sink: str) -> tuple[list[str], list[str]]:
        return [self.inputs[source].name], [self.outputs[sink].name]

    def transfer(self, source: str, sink: str, *, numeric: bool = False) -> Any:
        """The transfer function from an input to an output, in lowest terms.

        Parameters
        ----------
        source, sink : str
            The input and the output.
        numeric : bool, optional
            Numbers instead of symbols.

        Returns
        -------
        sympy.Expr
            A quotient of polynomials in ``s``, over the parameters unless these are too long or `numeric`.

        Raises
        ------
        KeyError
            If there is no such input or output.
        CompileError
            If the equations are nonlinear.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { node a, b : electrical; param R = 2 [ohm]; param C = 1 [F]; input u [V] = 1;
        ...     e : VoltageSource(u) a -> gnd; r : Resistor(R) a -> b; c : Capacitor(C) b -> gnd; output y = across(c); }''')
        >>> model.transfer("u", "y")
        1/(C*R*s + 1)
        """
        import sympy

        from . import _sympy

        found, program = self._native.transfer(*self._pair(source, sink), "tf", numeric)
        s = sympy.Symbol("s")
        if program is None:
            [one] = json.loads(found)
            sides = [[sympy.Float(value) for value in one[side]] for side in ("num", "den")]
        else:
            done, [root] = _sympy.run(program)
            sides = [[done[place] for place in root[side]] for side in ("num", "den")]
        above, below = (
            sympy.Add(*(value * s**power for power, value in enumerate(reversed(side)))) for side in sides
        )
        return above / below

    def zpk(self, source: str, sink: str) -> tuple[NDArray[np.complex128], NDArray[np.complex128], float]:
        """Zeros, poles and gain of a transfer function, as `scipy.signal` takes them.

        Parameters
        ----------
        source, sink : str
            The input and the output.

        Returns
        -------
        zeros, poles : ndarray of complex
            In 1/s.
        gain : float

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; input i [A] = 1; s : CurrentSource(i) gnd -> a;"
        ...                   " c : Capacitor(1 [F]) a -> gnd; r : Resistor(2 [ohm]) a -> gnd; output u = across(c); }")
        >>> zeros, poles, gain = model.zpk("i", "u")
        >>> len(zeros), poles.real.tolist(), gain
        (0, [-0.5], 1.0)
        """
        [one] = json.loads(self._native.transfer(*self._pair(source, sink), "zpk", True)[0])
        zeros, poles = (np.array([complex(*pair) for pair in one[key]], dtype=complex) for key in ("zeros", "poles"))
        return zeros, poles, one["gain"]

    def response(self, omega: ArrayLike, source: str | None = None, sink: str | None = None) -> NDArray[np.complex128]:
        """The frequency response.

        Parameters
        ----------
        omega : array_like
            Angular frequencies in rad/s, ``(k,)``.
        source, sink : str, optional
            One input and one output; by default all of them.

        Returns
        -------
        ndarray of complex
            ``(k,)`` for one pair, else ``(outputs, inputs, k)``. At a pole on the imaginary axis it is infinite.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { node a, b : electrical; input u [V] = 1; e : VoltageSource(u) a -> gnd;
        ...     r : Resistor(2 [ohm]) a -> b; c : Capacitor(0.5 [F]) b -> gnd; output y = across(c); }''')
        >>> abs(model.response([1.0], "u", "y")).round(6)
        array([0.707107])
        """
        if (source is None) != (sink is None):
            raise TypeError("source and sink are given together, or neither")
        frequencies = np.atleast_1d(np.asarray(omega, dtype=float))
        if frequencies.ndim != 1 or not np.isfinite(frequencies).all():
            raise ValueError("omega must be a vector of finite numbers")
        if source is not None and sink is not None:
            [(_, _, values)] = self._native.response(frequencies.tolist(), *self._pair(source, sink))
            return np.frombuffer(values, np.complex128)
        inputs, outputs = list(self.inputs.names), list(self.outputs.names)
        found = np.zeros((len(outputs), len(inputs), len(frequencies)), dtype=complex)
        for one, other, values in self._native.response(frequencies.tolist(), inputs, outputs):
            found[outputs.index(other), inputs.index(one)] = np.frombuffer(values, np.complex128)
        return found

    def modes(self, *, shapes: bool = False) -> list[dict[str, Any]]:
        """The poles with natural frequencies and damping ratios.

        Parameters
        ----------
        shapes : bool, optional
            Add the shape of each mode over the states, which are power variables then, and the share of each storage in its
            energy.

        Returns
        -------
        list of dict
            ``pole`` in 1/s, ``omega`` in rad/s, ``damping`` (None for a free motion); ``shape`` by state and ``energy`` by element.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm]; c : Capacitor(1 [F]) a -> gnd, start = 1;"
        ...                   " r : Resistor(R) a -> gnd; output u = across(c); }")
        >>> model.modes()
        [{'pole': (-0.5+0j), 'omega': 0.5, 'damping': 1.0}]
        """
        found = []
        for mode in json.loads(self._native.modes(shapes))["poles"]:
            entry: dict[str, Any] = {
                "pole": complex(mode["real"], mode["imaginary"]),
                "omega": mode["omega"],
                "damping": mode["damping"],
            }
            if shapes:
                entry["shape"] = {part["state"]: complex(part["re"], part["im"]) for part in mode["shape"]}
                entry["energy"] = {part["element"]: part["share"] for part in mode["energy"]}
            found.append(entry)
        return found

    @property
    def poles(self) -> NDArray[np.complex128]:
        """The poles, in 1/s."""
        return np.array([mode["pole"] for mode in self.modes()], dtype=complex)

    # Runs.

    def simulate(
        self,
        stop: float | None = None,
        *,
        start: float | None = None,
        points: int | None = None,
        inputs: Mapping[str, Signal] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        method: str | None = None,
        max_steps: int | None = None,
        events: bool = False,
        from_equilibrium: bool = False,
        progress: Callable[[float], object] | None = None,
    ) -> Result:
        """Run the model.

        Parameters
        ----------
        stop, start : float, optional
            Times in s. By default those of the model's experiment; without a stop time a run lasts five time constants or ten
            periods of the slowest mode.
        points : int, optional
            The number of equally spaced samples, both ends included; 501 by default.
        inputs : mapping, optional
            Signals by the names of inputs: a text of the language such as ``"2*step(0)"`` or ``"data.csv:force"``; a number; a
            continuous function of the time; a pair of functions, the value and its rate, where the equations contain the rate;
            or samples ``(t, u)``, between which lines are drawn, or ``(t, u, "held")``. Also a `pandas.Series` over the time.
            Numbers are in SI units.
        rtol, atol : float, optional
            The relative tolerance, 1e-6 by default, and the absolute one for all states in SI units.
        method : {"auto", "tsit45", "bdf", "sdirk", "tr-bdf2"}, optional
            The method of integration.
        max_steps : int, optional
            The run fails after this number of steps.
        events : bool, optional
            Add samples at input steps, condition changes and events.
        from_equilibrium : bool, optional
            Start at rest.
        progress : callable, optional
            Called now and then with the share of the run that is done, from 0 to 1.

        Returns
        -------
        Result

        Raises
        ------
        SimulationError
            If the run does not reach its stop time; ``error.partial`` has its samples.
        CompileError
            If an input has no signal, or a text has an error.
        KeyError
            If there is no such input.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { node a : electrical; input i [A]; s : CurrentSource(i) gnd -> a;
        ...     c : Capacitor(2 [F]) a -> gnd; output u = across(c); }''')
        >>> model.simulate(stop=3, points=4, inputs={"i": lambda t: t})["u"].round(6)
        array([0.  , 0.25, 1.  , 2.25])
        """
        if any(step[0] == "linearize" for step in self._recipe.steps):
            raise ValueError("a linearised model has no run of its own: use state_space().to_control()")
        given = [_signal(self, name, signal) for name, signal in (inputs or {}).items()]
        parts = self._native.simulate(
            given,
            progress,
            start=start,
            stop=stop,
            points=points,
            rtol=rtol,
            atol=atol,
            method=method,
            max_steps=max_steps,
            events=events,
            from_equilibrium=from_equilibrium,
        )
        result = Result(self.name, parts)
        if "failure" in parts:
            message, diagnostics, time = parts["failure"]
            raise SimulationError(message, diagnostics, time, result)
        return result

    # Pictures and programs.

    def draw(self, kind: str | None = None, *, dark: bool = False, values: bool = False) -> Drawing:
        """Draw the model.

        Parameters
        ----------
        kind : {"linear-graph", "bond-graph"}, optional
            By default the notation of the model.
        dark : bool, optional
            Light lines on a dark background.
        values : bool, optional
            Show moduli and parameters at the elements of a bond graph.

        Returns
        -------
        Drawing
            An SVG picture, which notebooks show.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm]; c : Capacitor(1 [F]) a -> gnd, start = 1;"
        ...                   " r : Resistor(R) a -> gnd; output u = across(c); }")
        >>> "<svg" in model.draw("bond-graph").svg
        True
        """
        return Drawing(self._native.draw(kind, dark, values))

    def emit(self, target: str, folder: str | os.PathLike[str]) -> list[Path]:
        """Write a program that computes the model.

        Parameters
        ----------
        target : {"c", "rust", "python", "matlab", "julia", "casadi", "modelica", "latex", "json"}
            The language. For FMUs use the command ``lgm emit``, which also builds their library.
        folder : path
            The folder to create.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        FileExistsError
            If the folder exists and is not empty.

        Examples
        --------
        >>> import lgm, pathlib, tempfile
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm]; c : Capacitor(1 [F]) a -> gnd, start = 1;"
        ...                   " r : Resistor(R) a -> gnd; output u = across(c); }")
        >>> folder = pathlib.Path(tempfile.mkdtemp(), "out")
        >>> "README.md" in [path.name for path in model.emit("python", folder)]
        True
        """
        files, _ = self._native.package(target)
        root = Path(folder)
        if root.exists() and any(root.iterdir()):
            raise FileExistsError(f"{root} is not empty")
        written = []
        for name, contents in files:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
            written.append(path)
        return written

    # Representations and copies.

    def __str__(self) -> str:
        return self._native.written()

    def __repr__(self) -> str:
        parts = [("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs)]
        shown = "; ".join(f"{what} {_few(names.names)}" for what, names in parts if names)
        return f"<lgm.Model {self.name}: {shown}>" if shown else f"<lgm.Model {self.name}>"

    def _repr_html_(self) -> str:
        # A model that is too large has no drawing, but equations.
        drawing = self._repr_svg_() or ""
        return f'<div class="lgm">{drawing}{self._native.html_body()}</div>'

    def _repr_svg_(self) -> str | None:
        try:
            return self._native.draw(None, False, False)
        except LgmError:
            return None

    def _repr_latex_(self) -> str:
        """The state equations and the outputs, as a notebook's LaTeX: formulas without text."""
        body = self.latex().partition(r"\subsection*{State equations}")[2].partition(r"\subsection*{Matrix form}")[0]
        parts = re.findall(r"\\begin\{align\*\}(.*?)\\end\{align\*\}", body, re.DOTALL)
        return "\n".join(rf"$$\begin{{aligned}}{part}\end{{aligned}}$$" for part in parts)

    def __reduce__(self) -> tuple[Any, ...]:
        recipe = self._recipe
        return _rebuilt, (_native.version(), recipe.name, recipe.path, recipe.text, recipe.options, recipe.steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._recipe.key() == other._recipe.key()

    def __hash__(self) -> int:
        return hash(self._recipe.key())


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


class Drawing:
    """A picture as SVG.

    Attributes
    ----------
    svg : str
        The text of the picture.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<lgm.Drawing: {len(self.svg)} bytes of SVG>"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _signal(model: Model, name: str, signal: Any) -> tuple[str, str, Any, Any]:
    """What an input is given, for the native run."""
    known = model.inputs.names
    if name not in known:
        raise unknown("input", name, known)
    if isinstance(signal, str):
        return name, "text", signal, None
    if callable(signal):
        return name, "function", signal, None
    if isinstance(signal, tuple) and len(signal) == 2 and all(callable(part) for part in signal):
        return name, "function", *signal
    if hasattr(signal, "index") and hasattr(signal, "to_numpy"):
        signal = (signal.index.to_numpy(), signal.to_numpy())
    if isinstance(signal, tuple):
        times, values, *rest = signal
        kind = rest[0] if rest else "linear"
        if kind not in ("linear", "held") or len(rest) > 1:
            raise ValueError(f"samples of {name!r} are (t, u) or (t, u, 'held')")
        times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
        if times.ndim != 1 or times.shape != values.shape or not len(times):
            raise ValueError(f"samples of {name!r} need two vectors of the same length")
        if not (np.isfinite(times).all() and np.isfinite(values).all() and (np.diff(times) > 0).all()):
            raise ValueError(f"samples of {name!r} need finite values and ascending times")
        return name, kind, times.tolist(), values.tolist()
    return name, "number", float(signal), None
