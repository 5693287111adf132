"""Runs over a grid of parameter values."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import LgmError
from ._model import Model
from ._result import Result

#: The duration of a task, in s: long beside what a scheduler takes for one, short beside a sweep.
_TASK = 1.0

_Point = tuple[Any, ...]
#: The columns of a run, and the reason if it failed.
_Run = tuple[dict[str, NDArray[np.float64]], str]


def sweep(
    model: Model,
    values: Mapping[str, ArrayLike | Sequence[str]],
    *,
    map: Callable[..., Iterable[Any]] | None = None,
    known: Any = None,
    **options: Any,
) -> Any:
    """Run a model with all combinations of parameter values.

    Parameters
    ----------
    model : Model
        The model.
    values : mapping
        The values of each parameter: numbers in SI units, or texts such as ``"3 [mm]"``.
    map : callable, optional
        A function that distributes the tasks: ``map(function, tasks)`` of an executor or a pool, which returns results or
        futures. By default all cores of this machine.
    known : xarray.Dataset, optional
        The result of a sweep over the same parameters that is to be continued. Only points that it lacks, or at which the
        run failed, are run.
    **options
        Options of `Model.simulate`, such as ``stop`` and ``points``. All runs have the same samples.

    Returns
    -------
    xarray.Dataset
        The columns over the parameters and the time, and ``failure``: the reason why a run failed, or an empty text. The
        samples behind a failure are NaN.

    Raises
    ------
    KeyError
        If the model has no such parameter.

    Examples
    --------
    >>> import lgm
    >>> model = lgm.loads('''model M { param R = 1 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
    ...     r : Resistor(R) a -> gnd; output u = across(c); }''')
    >>> runs = lgm.sweep(model, {"R": [1, 2, 4]}, stop=1, points=2)
    >>> runs["u"].sel(time=1).values.round(4)
    array([0.3679, 0.6065, 0.7788])
    """
    import xarray

    axes = {name: list(np.asarray(axis)) for name, axis in values.items()}
    for name in axes:
        model.parameters[name]
    points: list[_Point] = list(itertools.product(*axes.values()))
    runs: dict[_Point, _Run] = {}
    if known is not None:
        _take(known, axes, points, runs)
    waiting = [point for point in points if point not in runs]
    if not points:
        raise ValueError("there are no values to run")
    one = partial(_run, model, tuple(axes), options)
    if waiting:
        # The first run tells how many of them make a task.
        begin = time.perf_counter()
        runs[waiting[0]] = one(waiting[:1])[0]
        size = max(1, min(int(_TASK / (time.perf_counter() - begin)), -(-len(waiting) // (4 * (os.cpu_count() or 1)))))
        tasks = [waiting[at : at + size] for at in range(1, len(waiting), size)]
        for task, found in zip(tasks, _distributed(one, tasks, map), strict=True):
            runs.update(zip(task, found, strict=True))
    return _dataset(xarray, model, axes, [runs[point] for point in points])


def _run(model: Model, names: tuple[str, ...], options: dict[str, Any], points: list[_Point]) -> list[_Run]:
    """Run a model at some points; a fault is part of the result."""
    found: list[_Run] = []
    for point in points:
        given = {name: value if isinstance(value, str) else float(value) for name, value in zip(names, point, strict=True)}
        result: Result | None
        try:
            result, failure = model.with_params(given).simulate(**options), ""
        except LgmError as error:
            result, failure = getattr(error, "partial", None), str(error)
        columns = {"time": result.time, **{entry.name: result[entry.name] for entry in result.columns}} if result else {}
        found.append((columns, failure))
    return found


def _distributed(one: Callable[[list[_Point]], list[_Run]], tasks: list[list[_Point]], map: Callable[..., Iterable[Any]] | None) -> Iterable[list[_Run]]:
    if map is not None:
        for found in map(one, tasks):
            # The client of a cluster returns futures.
            yield found.result() if hasattr(found, "result") else found
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(one, tasks)


def _take(known: Any, axes: dict[str, list[Any]], points: list[_Point], runs: dict[_Point, _Run]) -> None:
    """Take complete runs of an earlier sweep."""
    for point in points:
        try:
            there = known.sel(dict(zip(axes, point, strict=True)))
        except KeyError:
            continue
        if not there["failure"].item():
            runs[point] = ({str(name): there[name].values for name in ["time", *there.data_vars] if name != "failure"}, "")


def _dataset(xarray: Any, model: Model, axes: dict[str, list[Any]], runs: list[_Run]) -> Any:
    shape = tuple(len(axis) for axis in axes.values())
    longest = max((columns for columns, _ in runs), key=lambda columns: len(columns.get("time", ())))
    times = longest.get("time", np.empty(0))
    units = {entry.name: entry.unit for names in (model.outputs, model.states, model.inputs) for entry in reversed(list(names))}
    variables: dict[str, Any] = {}
    for name in longest:
        if name == "time":
            continue
        table = np.full((len(runs), len(times)), np.nan)
        for row, (columns, _) in zip(table, runs, strict=True):
            found = columns.get(name, np.empty(0))
            row[: len(found)] = found
        unit = units.get(name)
        variables[name] = ((*axes, "time"), table.reshape(*shape, len(times)), {"units": unit} if unit else {})
    failures = np.array([failure for _, failure in runs], dtype=object).reshape(shape)
    variables["failure"] = (tuple(axes), failures)
    coordinates: dict[str, Any] = {"time": ("time", times, {"units": "s"})}
    for name, axis in axes.items():
        unit = model.parameters[name].unit
        coordinates[name] = (name, axis, {"units": unit} if unit and not isinstance(axis[0], str) else {})
    return xarray.Dataset(variables, coordinates, {"model": model.name})
