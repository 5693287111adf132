"""Results of runs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import Diagnostic
from ._names import Names, Quantity, unknown


@dataclass(frozen=True)
class Event:
    """A change of a mode, or a block that acted.

    Attributes
    ----------
    time : float
        When, in s.
    kind : str
        ``"mode"``, ``"junction"``, ``"when"``, ``"every"``, or ``"start"`` if only initial values are lost.
    element : str
        The element, or the block by its kind and line.
    before, after : str
        The modes before and after; empty for a block.
    energy_lost : float or None
        The energy that storage has lost at this instant, in J, with its last event; None if it is unknown.
    """

    time: float
    kind: str
    element: str
    before: str
    after: str
    energy_lost: float | None


class Result:
    """Samples of a run, by name.

    Attributes
    ----------
    time : ndarray
        The times, in s, ``(samples,)``; read-only as all arrays here.
    columns : Names
        Outputs, states and inputs with their units. If an output has the name of a state and is something else, the state is
        ``NAME (state)``.
    status : str
        ``"complete"`` or ``"failed"``.
    events : tuple of Event
        What happened in a model with events.
    notes : tuple of Diagnostic
        Remarks of the run.
    stats : dict
        The method, and its numbers of steps and evaluations.
    verified, unverified : str or None
        For a run with ``verify=True``: what was compared with the laws of the graph, and what could not be compared.

    Examples
    --------
    >>> import lgm
    >>> model = lgm.loads('''model M { node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
    ...     r : Resistor(1 [ohm]) a -> gnd; output u = across(c); }''')
    >>> result = model.simulate(stop=1, points=3)
    >>> result.time
    array([0. , 0.5, 1. ])
    >>> result["u"].round(4)
    array([1.    , 0.6065, 0.3679])
    """

    def __init__(self, model: str, parts: dict[str, Any]) -> None:
        self.model = model
        self.time: NDArray[np.float64] = np.frombuffer(parts["time"])
        self._values: dict[str, NDArray[np.float64]] = {}
        self._kinds: dict[str, str] = {}
        quantities = []
        for name, unit, kind, values in parts["columns"]:
            self._values[name] = np.frombuffer(values)
            self._kinds[name] = kind
            quantities.append(Quantity(name, unit))
        self.columns = Names("column", quantities)
        self.status: str = "failed" if "failure" in parts else "complete"
        self.events = tuple(Event(*event) for event in parts["events"])
        self.stats: dict[str, Any] = parts.get("stats", {})
        self._notes: str = parts["notes"]
        self.verified: str | None
        self.unverified: str | None
        self.verified, self.unverified, _ = parts.get("verification", (None, None, None))

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Remarks of the run."""
        from ._errors import diagnostics_of

        return tuple(diagnostics_of(self._notes))

    def __getitem__(self, name: str | tuple[str, str]) -> NDArray[np.float64]:
        """The samples of a column, or of a vector as ``(samples, entries)``.

        A pair names a derivative of `Model.sensitivities`.
        """
        if isinstance(name, tuple):
            name = "d {}/d {}".format(*name)
        if name == "time":
            return self.time
        if name in self._values:
            return self._values[name]
        entries = [known for known in self._values if known.startswith(name + "[")]
        if entries:
            return np.column_stack([self._values[entry] for entry in entries])
        raise unknown("column", name, self._values)

    def __contains__(self, name: object) -> bool:
        return name == "time" or name in self._values

    def __len__(self) -> int:
        return len(self.time)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._values)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "no samples"
        return f"<lgm.Result of {self.model}: {self.status}, {len(self)} samples, {span}, {', '.join(self._values)}>"

    def to_pandas(self) -> Any:
        """The samples as a `pandas.DataFrame` over the time; ``frame.attrs["units"]`` has the units.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas

        frame = pandas.DataFrame(self._values, index=pandas.Index(self.time, name="time"))
        frame.attrs = {"model": self.model, "units": {entry.name: entry.unit for entry in self.columns}}
        return frame

    def to_xarray(self) -> Any:
        """The samples as an `xarray.Dataset` over the time; units are in ``attrs["units"]`` of each variable.

        Returns
        -------
        xarray.Dataset
        """
        import xarray

        variables = {}
        for entry in self.columns:
            attributes = {"kind": self._kinds[entry.name]}
            if entry.unit is not None:
                attributes["units"] = entry.unit
            variables[entry.name] = ("time", self._values[entry.name], attributes)
        return xarray.Dataset(variables, {"time": ("time", self.time, {"units": "s"})}, {"model": self.model})

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the samples to a Parquet file, with the metadata of ``lgm simulate -o FILE.parquet``.

        The metadata of the file hold ``model``, ``columns`` (the JSON text of names, units and kinds), ``status``, and
        ``unit:NAME`` for every column with a unit.

        Parameters
        ----------
        path : path
            The file to write.

        Examples
        --------
        >>> import lgm, pandas, pathlib, tempfile
        >>> model = lgm.loads('''model M { node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
        ...     r : Resistor(1 [ohm]) a -> gnd; output u = across(c); }''')
        >>> path = pathlib.Path(tempfile.mkdtemp(), "run.parquet")
        >>> model.simulate(stop=1, points=3).to_parquet(path)  # doctest: +SKIP
        >>> pandas.read_parquet(path).columns.tolist()  # doctest: +SKIP
        ['time', 'u', 'c.v']
        """
        import pyarrow
        import pyarrow.parquet

        columns: list[dict[str, str | None]] = [{"name": "time", "unit": "s", "kind": "time"}]
        columns += [
            {"name": entry.name, "unit": entry.unit, "kind": self._kinds[entry.name]} for entry in self.columns
        ]
        about = {"schema": "lgm-simulation/1", "model": self.model, "columns": json.dumps(columns), "status": self.status}
        about |= {f"unit:{column['name']}": column["unit"] for column in columns if column["unit"] is not None}
        table = pyarrow.table({"time": self.time, **self._values})
        pyarrow.parquet.write_table(table.replace_schema_metadata(about), os.fspath(path))

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Plot columns over the time with Matplotlib.

        Parameters
        ----------
        *names : str
            The columns; by default all outputs, or all states of a model without outputs.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default new axes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots()
        if not names:
            kinds = set(self._kinds.values())
            shown = "output" if "output" in kinds else "state"
            names = tuple(name for name, kind in self._kinds.items() if kind == shown)
        units = set()
        for name in names:
            ax.plot(self.time, self[name], label=name)
            units.add(self.columns[name].unit if name in self.columns.names else None)
        ax.set_xlabel("time [s]")
        if len(names) == 1 or len(units) == 1:
            unit = units.pop() if len(units) == 1 else None
            label = names[0] if len(names) == 1 else ""
            ax.set_ylabel(f"{label} [{unit}]".strip() if unit else label)
        if len(names) > 1:
            ax.legend()
        return ax
