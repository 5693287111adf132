"""Analyses of models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._equations import Equations
from ._findings import Approximation, Combination, Fit, Mechanism, SecondOrder, Switching, Thevenin
from ._names import known_parameter


def _list(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


class Analyses(Equations):
    """The analyses of a model."""

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
        if program is None:
            [one] = json.loads(found)
            sides = [[sympy.Float(value) for value in one[side]] for side in ("num", "den")]
        else:
            done, [root] = _sympy.run(program)
            sides = [[done[place] for place in root[side]] for side in ("num", "den")]
        return _sympy.quotient(*sides)

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

    def modes(self, *, shapes: bool = False, sensitivity: Iterable[str] = ()) -> list[dict[str, Any]]:
        """The poles with natural frequencies and damping ratios.

        Parameters
        ----------
        shapes : bool, optional
            Add the shape of each mode over the states, which are power variables then, and the share of each storage in its
            energy.
        sensitivity : iterable of str, optional
            Parameters; add the derivative of each pole with respect to them.

        Returns
        -------
        list of dict
            ``pole`` in 1/s, ``omega`` in rad/s, ``damping`` (None for a free motion); ``shape`` by state and ``energy`` by element;
            ``sensitivity`` by parameter, in SI units (None for a multiple pole).

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads("model M { node a : electrical; param R = 2 [ohm]; c : Capacitor(1 [F]) a -> gnd, start = 1;"
        ...                   " r : Resistor(R) a -> gnd; output u = across(c); }")
        >>> model.modes()
        [{'pole': (-0.5+0j), 'omega': 0.5, 'damping': 1.0}]
        >>> model.modes(sensitivity=["R"])[0]["sensitivity"]
        {'R': (0.25+0j)}
        """
        names = _list(sensitivity)
        for name in names:
            known_parameter(self.parameters, name)
        found = []
        for mode in json.loads(_native.modes(self._native, shapes, names))["poles"]:
            entry: dict[str, Any] = {
                "pole": complex(mode["real"], mode["imaginary"]),
                "omega": mode["omega"],
                "damping": mode["damping"],
            }
            if shapes:
                entry["shape"] = {part["state"]: complex(part["re"], part["im"]) for part in mode["shape"]}
                entry["energy"] = {part["element"]: part["share"] for part in mode["energy"]}
            if names:
                entry["sensitivity"] = {
                    part["parameter"]: None if part["re"] is None else complex(part["re"], part["im"])
                    for part in mode["sensitivity"]
                }
            found.append(entry)
        return found

    @property
    def poles(self) -> NDArray[np.complex128]:
        """The poles, in 1/s."""
        return np.array([mode["pole"] for mode in self.modes()], dtype=complex)

    def second_order(self, *, eliminate: str | None = None, numeric: bool = False) -> SecondOrder | Mechanism:
        """The equations of second order: ``M X'' + B X' + K X = input U + input_integral int(U) + input_derivative U'``.

        ``X`` are displacements of inertias or of compliances, whichever are fewer. A nonlinear mechanism has Lagrange's equations
        instead, see `Mechanism`.

        Parameters
        ----------
        eliminate : {"p", "q"}, optional
            Eliminate the momenta of inertias or the displacements of compliances.
        numeric : bool, optional
            NumPy arrays in SI units instead of SymPy matrices.

        Returns
        -------
        SecondOrder or Mechanism

        Raises
        ------
        CompileError
            If the model has no such equations.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { node x : translational; param m = 2 [kg]; param k = 8 [N/m]; input F [N] = 1;
        ...     mass : Mass(m) x -> gnd; spring : Spring(k) x -> gnd; f : ForceSource(F) gnd -> x; output v = across(mass); }''')
        >>> found = model.second_order()
        >>> found.coordinates, found.M, found.K
        (('mass',), Matrix([[m]]), Matrix([[k]]))
        >>> model.second_order(numeric=True).K
        array([[8.]])
        """
        found, program = _native.second_order(self._native, eliminate, numeric)
        data = json.loads(found)
        parts: dict[str, Any] = {}
        if numeric and "coordinates" in data:
            names = ("M", "B", "K", "gyroscopic", "circulatory", "input", "input_integral", "input_derivative")
            parts = {name: np.array(data[name], dtype=float).reshape(len(data[name]), -1) for name in names}
        else:
            import sympy

            from . import _sympy

            done, roots = _sympy.run(program)
            for name, rows in roots.items():
                entries = [[done[place] for place in row] for row in rows]
                if numeric:
                    # Entries that depend on states stay expressions.
                    given = data[name] if name not in ("g", "Q") else [[entry] for entry in data[name]]
                    entries = [
                        [old if isinstance(new, str) else sympy.Float(new) for old, new in zip(*pair, strict=True)]
                        for pair in zip(entries, given, strict=True)
                    ]
                parts[name] = sympy.ImmutableDenseMatrix(len(entries), len(entries[0]) if entries else 0, sum(entries, []))
        if "coordinates" in data:
            return SecondOrder(tuple(data["coordinates"]), tuple(data["inputs"]), **parts)
        return Mechanism(tuple(data["velocities"]), tuple(data["displacements"]), **parts)

    def thevenin(self, port: str | tuple[str, str], *, numeric: bool = False) -> Thevenin:
        """The Thévenin equivalent at a port: an impedance, and a source for each input.

        Parameters
        ----------
        port : str or pair of str
            An element, which is removed; a port of a coupler such as ``"motor.shaft"``, which is removed with the network behind
            it; a node, relative to ``gnd``; or two nodes.
        numeric : bool, optional
            Numbers instead of symbols.

        Returns
        -------
        Thevenin

        Raises
        ------
        CompileError
            If there is no such port, or the model is nonlinear there.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { node a, b : electrical; param R = 2 [ohm]; param C = 1 [F]; input u [V] = 1;
        ...     e : VoltageSource(u) a -> gnd; r : Resistor(R) a -> b; c : Capacitor(C) b -> gnd; }''')
        >>> found = model.thevenin("c")
        >>> found.impedance, found.sources
        (R, {'u': 1})
        """
        from . import _sympy

        place = port if isinstance(port, str) else ",".join(port)
        data = json.loads(_native.thevenin(self._native, place, numeric))
        sources = data["source"] or []
        sources = {entry["input"]: _sympy.ratio(entry) for entry in (sources if isinstance(sources, list) else [sources])}
        steps = []
        for step in data["steps"]:
            parts = {key: None if step[key] is None else _sympy.ratio(step[key]) for key in ("impedance", "source")}
            steps.append({**step, **parts})
        return Thevenin(_sympy.ratio(data["impedance"]), sources, data["kind"], tuple(steps))

    def approximate(
        self,
        order: int,
        *,
        method: str = "balanced",
        match_dc: bool = False,
        omega: ArrayLike = (),
        keep_second_order: bool = False,
    ) -> Approximation:
        """A linear model of lower order, with an error bound if one is known.

        Parameters
        ----------
        order : int
            The number of states to keep; conjugate pairs stay complete.
        method : {"balanced", "modal", "moments"}, optional
            Balanced truncation; the poles nearest to 0; or moments matched at `omega`, also for very large models.
        match_dc : bool, optional
            Keep the static gain (not for moments, where ``omega=0`` does so).
        omega : array_like, optional
            Frequencies in rad/s that moments are matched at.
        keep_second_order : bool, optional
            For moments: keep across and through variables apart.

        Returns
        -------
        Approximation

        Raises
        ------
        CompileError
            If the equations are nonlinear or have no such approximation.
        ValueError
            If the options contradict each other.

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''model M { node a, b : electrical; input i [A] = 1; s : CurrentSource(i) gnd -> a;
        ...     c : Capacitor(1 [F]) a -> gnd; r : Resistor(1 [ohm]) a -> gnd; t : Resistor(0.01 [ohm]) a -> b;
        ...     d : Capacitor(0.01 [F]) b -> gnd; output u = across(c); }''')
        >>> small = model.approximate(1, match_dc=True)
        >>> small.A.shape, small.bound < 1e-4, float(small.to_control().dcgain().round(9))
        ((1, 1), True, 1.0)
        """
        frequencies = np.atleast_1d(np.asarray(omega, dtype=float))
        if method not in ("balanced", "modal", "moments"):
            raise ValueError(f"method is 'balanced', 'modal' or 'moments', not {method!r}")
        if frequencies.ndim != 1 or not np.isfinite(frequencies).all():
            raise ValueError("omega must be a vector of finite numbers")
        if (method == "moments") != bool(frequencies.size):
            raise ValueError("omega belongs to the method 'moments', which requires it")
        if match_dc and method == "moments" or keep_second_order and method != "moments":
            raise ValueError(f"{'match_dc' if match_dc else 'keep_second_order'} is not available for the method {method!r}")
        arguments = (int(order), method, match_dc, frequencies.tolist(), keep_second_order)
        return Approximation._read(json.loads(_native.approximate(self._native, *arguments)), self.name)

    def switching(self, most: int = 256) -> Switching:
        """The combinations of modes that are reachable from the initial ones, with the order, dependent storage and conflicts of each.

        Parameters
        ----------
        most : int, optional
            End the search after this number of combinations.

        Returns
        -------
        Switching

        Examples
        --------
        >>> import lgm
        >>> model = lgm.loads('''import switching; model M { node a, b : electrical; s : VoltageSource(1 [V]*sin(time/1 [s])) a -> gnd;
        ...     d : IdealDiode a -> b; c : Capacitor(1 [F]) b -> gnd; r : Resistor(1 [ohm]) b -> gnd; }''')
        >>> found = model.switching()
        >>> [(one.mode, one.order) for one in found.combinations]
        [({'d': 'blocking'}, 1), ({'d': 'conducting'}, 0)]
        """
        data = json.loads(_native.switching(self._native, most))
        combinations = (
            Combination(one["mode"], one["order"], tuple(one["dependent"]), one["conflict"]) for one in data["combinations"]
        )
        return Switching(data["possible"], data["complete"], tuple(combinations))

    def fit(self, data: Any, vary: Iterable[str]) -> Fit:
        """Estimate parameters from measured data by least squares.

        Runs use the initial values of the model, and the search starts from its parameter values. All samples have equal weights.

        Parameters
        ----------
        data : DataFrame, mapping, Result or path
            Measured values: the times as the column ``time`` or the index of a `pandas.DataFrame`, columns of inputs, between whose
            samples lines are drawn, and columns of outputs. Other columns are ignored. Numbers are in SI units; inputs of a CSV
            file are in the units of their declarations.
        vary : iterable of str
            The parameters to estimate.

        Returns
        -------
        Fit

        Raises
        ------
        KeyError
            If there is no such parameter.
        CompileError
            If the data do not determine the parameters, or a run fails.

        Examples
        --------
        >>> import lgm
        >>> import numpy as np
        >>> model = lgm.loads('''model M { param R = 1 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
        ...     r : Resistor(R) a -> gnd; output u = across(c); }''')
        >>> times = np.linspace(0, 5, 11)
        >>> found = model.fit({"time": times, "u": np.exp(-times / 2)}, vary=["R"])
        >>> round(found.params["R"], 6)
        2.0
        """
        if self._recipe.is_linearized():
            raise ValueError("a linearised model has no runs, and therefore no fit")
        names = _list(vary)
        for name in names:
            known_parameter(self.parameters, name)
        path, columns = None, []
        if isinstance(data, (str, os.PathLike)):
            path = os.fspath(data)
        else:
            columns = _columns(data)
        return Fit._read(json.loads(_native.fit(self._native, path, columns, names)), self)


def _columns(data: Any) -> list[tuple[str, list[float]]]:
    """The columns of a table."""
    if hasattr(data, "to_pandas") and hasattr(data, "columns"):
        table = {"time": data.time, **{entry.name: data[entry.name] for entry in data.columns}}
    elif isinstance(data, Mapping):
        table = dict(data)
    elif hasattr(data, "index") and hasattr(data, "columns"):
        table = {str(name): data[name] for name in data.columns}
        table.setdefault("time", data.index)
    else:
        raise TypeError(f"data is a DataFrame, a mapping, a Result or a path, not {type(data).__name__}")
    columns = [(str(name), np.asarray(values, dtype=float)) for name, values in table.items()]
    for name, values in columns:
        if values.ndim != 1 or values.shape != columns[0][1].shape or not np.isfinite(values).all():
            raise ValueError(f"the column {name!r} must be a vector of finite numbers, as long as the others")
    return [(name, values.tolist()) for name, values in columns]
