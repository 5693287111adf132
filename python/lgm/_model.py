"""Models."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._analyses import Analyses
from ._drawing import Drawing
from ._errors import Diagnostic, LgmError, SimulationError, diagnostics_of
from ._findings import OperatingPoint
from ._names import known_parameter
from ._parts import Recipe
from ._result import Result
from ._rhs import Rhs, nonlinear_system
from ._signals import signal_of
from ._state_space import StateSpace

if TYPE_CHECKING:
    from ._signals import Signal, Value


def _rebuilt(version: str, name: str, path: str | None, text: str, options: dict[str, Any], steps: Any) -> Model:
    """The model of a pickle."""
    if version != _native.version():
        raise ValueError(f"this model was pickled by lgm {version}, and this is lgm {_native.version()}")
    model = Model(_native.Session.open(name, text, path, **options), Recipe(name, path, text, options))
    for kind, *arguments in steps:
        model = model._set(arguments[0]) if kind == "set" else model._linearized(*arguments)
    return model


def _plain(value: Any) -> Any:
    """A value without NumPy, as it is pickled and hashed."""
    if isinstance(value, str):
        return value
    if value is None:
        raise TypeError("a parameter is a number, an array or a text with a unit, not None")
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"a parameter is a number, an array or a text with a unit, not {value!r}") from None
    return _tuples(array.tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def with_values(model: Model, parameters: Mapping[str, Any]) -> Model:
    return model.with_params(parameters) if parameters else model


#: The options of a run, where none are given.
_OPTIONS: dict[str, Any] = {
    **dict.fromkeys(("start", "stop", "points", "rtol", "atol", "method", "max_steps")),
    "events": False,
    "from_equilibrium": False,
    "verify": False,
    "sensitivities": [],
}


class Model(Analyses):
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
            Values by name, for names that are no identifiers, such as ``motor.R_a`` for the parameter of an instance.
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

    def operating_point(
        self,
        x: Mapping[str, float | str] | None = None,
        u: Mapping[str, float | str] | None = None,
        *,
        equilibrium: bool = True,
    ) -> OperatingPoint:
        """The equilibrium at given inputs, or the values of all variables at given states.

        Parameters
        ----------
        x : mapping, optional
            Values of states, from which the equilibrium is searched; others have their initial values.
        u : mapping, optional
            Values of inputs; others have their signals at time 0. Values are numbers in SI units, or texts as in `linearize`.
        equilibrium : bool, optional
            Search an equilibrium; if False, the states are exactly `x`.

        Returns
        -------
        OperatingPoint

        Raises
        ------
        KeyError
            If there is no such state or input.
        CompileError
            If no equilibrium is found.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; input i [A] = 1; s : CurrentSource(i) gnd -> a;"
        ...                   " c : Capacitor(1 [F]) a -> gnd, start = 1; signal u = across(c)/1 [V];"
        ...                   " r : CurrentSource(u^3*1 [A]) a -> gnd; output y = across(c); }")
        >>> point = model.operating_point(u={"i": 8.0})
        >>> round(point.states["c.v"], 9), point.inputs
        (2.0, {'i': 8.0})
        >>> model.linearize(point).poles.real.round(6)
        array([-12.])
        """
        for names, given in ((self.states, x), (self.inputs, u)):
            for name in given or {}:
                names.place(name)
        point = self.linearize({**(x or {}), **(u or {})}, equilibrium=equilibrium)._equations["linearized_at"]
        parts = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        values = {key: dict(zip(names.names, point[key], strict=True)) for key, names in parts.items()}
        return OperatingPoint(**values, time=point["time"], equilibrium=point["equilibrium"])

    def linearize(
        self, at: Mapping[str, float | str] | OperatingPoint | None = None, *, equilibrium: bool = False
    ) -> Model:
        """The model of small deviations.

        Parameters
        ----------
        at : mapping or OperatingPoint, optional
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
        if isinstance(at, OperatingPoint):
            at = {**at.states, **at.inputs, "time": at.time}
        texts = tuple(f"{name}={value}" if isinstance(value, str) else f"{name}={float(value)!r}" for name, value in (at or {}).items())
        return self._linearized(texts, equilibrium)

    def _linearized(self, texts: tuple[str, ...], equilibrium: bool) -> Model:
        native = self._native.linearized(list(texts), equilibrium)
        return Model(native, self._recipe.then("linearize", texts, equilibrium))

    # Numbers.

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
        model = with_values(self, parameters)
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
        verify: bool = False,
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
        verify : bool, optional
            Compare the samples with the laws of the graph while the model runs; ``result.verified`` describes what was compared.
        progress : callable, optional
            Called now and then with the share of the run that is done, from 0 to 1.

        Returns
        -------
        Result

        Raises
        ------
        SimulationError
            If the run does not reach its stop time, or violates a law with `verify`; ``error.partial`` has its samples.
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
        return self._run(
            inputs,
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
            verify=verify,
        )

    def sensitivities(self, parameters: Iterable[str], stop: float | None = None, **options: Any) -> Result:
        """Run the model with the derivatives of all outputs and states with respect to parameters.

        The derivatives solve the variational equations together with the model. For the derivatives of poles see `modes`.

        Parameters
        ----------
        parameters : iterable of str
            The parameters.
        stop : float, optional
            The stop time in s.
        **options
            Other options of `simulate`, without `verify` and `events`.

        Returns
        -------
        Result
            ``result["v", "k"]`` is the derivative of the column ``v`` with respect to ``k`` in SI units; its column is ``d v/d k``.

        Raises
        ------
        KeyError
            If there is no such parameter.
        CompileError
            If the derivatives are unknown, as for models with events or algebraic loops.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { param R = 2 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
        ...     r : Resistor(R) a -> gnd; output u = across(c); }''')
        >>> found = model.sensitivities(["R"], stop=2, points=2)
        >>> found["u", "R"].round(5)  # t/R^2 exp(-t/R)
        array([0.     , 0.18394])
        """
        names = [parameters] if isinstance(parameters, str) else list(parameters)
        if not names:
            raise ValueError("name at least one parameter")
        for name in names:
            known_parameter(self.parameters, name)
        allowed = ("start", "points", "inputs", "rtol", "atol", "method", "max_steps", "from_equilibrium", "progress")
        for name in options:
            if name not in allowed:
                raise TypeError(f"sensitivities() has no option {name!r}; the options are stop, {', '.join(allowed)}")
        inputs, progress = options.pop("inputs", None), options.pop("progress", None)
        return self._run(inputs, progress, sensitivities=names, stop=stop, **options)

    def _run(
        self, inputs: Mapping[str, Signal] | None, progress: Callable[[float], object] | None, **options: Any
    ) -> Result:
        if self._recipe.is_linearized():
            raise ValueError("a linearised model has no run of its own: use state_space().to_control()")
        given = [signal_of(self.inputs.names, name, signal) for name, signal in (inputs or {}).items()]
        parts = self._native.simulate(given, progress, **{**_OPTIONS, **options})
        result = Result(self.name, parts)
        if "failure" in parts:
            message, diagnostics, time = parts["failure"]
            raise SimulationError(message, diagnostics, time, result)
        if "verification" in parts and parts["verification"][2]:
            message, diagnostics = parts["verification"][2]
            raise SimulationError(message, diagnostics, float(result.time[-1]), result)
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

    def to_casadi(self) -> Any:
        """The model as functions of CasADi, for optimal control.

        Returns
        -------
        types.SimpleNamespace
            ``right_side`` and ``outputs``, functions of t, x, u and p; ``initial_state`` of p; ``inputs``, the signals of the
            inputs, of t and p; ``parameters``, the values p by name. States, inputs and outputs have the order of the model.

        Raises
        ------
        CompileError
            If the model has events.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm]; c : Capacitor(1 [F]) a -> gnd, start = 1;"
        ...                   " r : Resistor(R) a -> gnd; output u = across(c); }")
        >>> functions = model.to_casadi()  # doctest: +SKIP
        >>> functions.right_side(0, 3.0, [], list(functions.parameters.values()))  # doctest: +SKIP
        DM(-1.5)
        """
        files, _ = self._native.package("casadi")
        text = next(contents for name, contents in files if name.endswith(".py"))
        scope: dict[str, Any] = {"__name__": "casadi_functions"}
        exec(compile(text, f"<{self.name} in CasADi>", "exec"), scope)
        functions = scope["functions"]()
        functions.parameters = dict(scope["PARAMETERS"])
        return functions

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


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
