"""Runs over grids of parameter values, on the cores of this machine or on a cluster."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._errors import LgmError
from ._model import Model
from ._names import known_parameter, unknown
from ._signals import signal_of

if TYPE_CHECKING:
    from ._signals import Signal

#: The most samples of a task, over all columns: 32 MB.
_MOST_SAMPLES = 4_000_000

#: The number of runs that are timed before the tasks are made, if one takes less than 10 ms.
_TIMED, _QUICK = 8, 0.01

_Samples = dict[str, NDArray[np.float64]]
#: The columns of the runs of a task, one run a row, and the reasons of failed runs by row.
_Found = tuple[_Samples, list[tuple[int, str]]]
#: The first run of a task, and the run after its last, in the order of the grid; or the runs themselves.
_Task = tuple[int, int] | NDArray[np.int64]

#: The options of the runs; None stands for that of the experiment.
_OPTIONS: dict[str, Any] = {
    **dict.fromkeys(("start", "stop", "points", "rtol", "atol", "method", "max_steps")),
    "from_equilibrium": False,
}


class _Job:
    """What a task needs: the model, the grid and the options. A process compiles it once."""

    def __init__(
        self,
        model: Model,
        axes: dict[str, NDArray[np.float64]],
        inputs: Mapping[str, Signal],
        columns: list[str],
        options: dict[str, Any],
        task: float = 1.0,
    ) -> None:
        self.model, self.axes, self.columns, self.options, self.task = model, axes, columns, options, task
        self.inputs = [signal_of(model.inputs.names, name, signal) for name, signal in inputs.items()]
        self.key = uuid.uuid4().hex

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Job) and self.key == other.key

    def __dask_tokenize__(self) -> str:
        return self.key

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis) for axis in self.axes.values())

    def values(self, task: _Task) -> NDArray[np.float64]:
        """The values of the parameters, one run a row."""
        numbers = np.arange(*task) if isinstance(task, tuple) else task
        places = np.unravel_index(numbers, self.shape)
        return np.column_stack([axis[place] for axis, place in zip(self.axes.values(), places, strict=True)])

    def found(self, task: _Task, threads: int = 1) -> _Found:
        """Run a task."""
        native = _compiled(self)
        values = self.values(task)
        tables, failures = native.run(values.tobytes(), threads)
        names = (column[0] for column in native.columns())
        return {name: np.frombuffer(table).reshape(len(values), -1) for name, table in zip(names, tables, strict=True)}, failures

    def fingerprint(self) -> str:
        """A hash of all that the samples depend on, except for functions of time."""
        inputs = [(name, kind, None if kind == "function" else (first, second)) for name, kind, first, second in self.inputs]
        # The path of the file is left out, and its imports count by their equations.
        model = (*self.model._recipe.key()[1:], self.model._native.equations())
        parts = (_native.version(), model, inputs, self.columns, sorted(self.options.items()))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def check_continued(self) -> None:
        """Refuse to continue a sweep whose inputs are functions, which cannot be compared with those of the earlier one."""
        functions = [name for name, kind, *_ in self.inputs if kind == "function"]
        if functions:
            raise ValueError(
                f"a sweep with a function as the input {functions[0]!r} cannot be continued, because functions cannot be compared: "
                "give an expression or a table"
            )


@functools.lru_cache(maxsize=4)
def _compiled(job: _Job) -> _native.Sweep:
    return job.model._native.sweep(list(job.axes), job.inputs, job.columns, **{**_OPTIONS, **job.options})


def sweep(
    model: Model,
    values: Mapping[str, ArrayLike | Sequence[str]],
    *,
    inputs: Mapping[str, Signal] | None = None,
    columns: Iterable[str] | None = None,
    map: Callable[..., Iterable[Any]] | None = None,
    task: float = 1.0,
    known: Any = None,
    to: str | os.PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Any:
    """Run a model with all combinations of parameter values.

    The runs share one compiled model, whose equations contain the parameters. They equal those of ``lgm simulate --sweep``.

    Parameters
    ----------
    model : Model
        The model.
    values : mapping
        The values of each parameter: numbers in SI units, or texts such as ``"3 [mm]"``. A parameter of an instance has a name
        such as ``"motor.R_a"``.
    inputs : mapping, optional
        Signals of inputs, as for `Model.simulate`.
    columns : iterable of str, optional
        The columns to keep: outputs, states or inputs; by default all.
    map : callable, optional
        A function that distributes the tasks: ``map(function, tasks)`` of an executor, a pool or the client of a cluster. It
        returns results, futures or Ray references. By default, the threads of this process use all cores.
    task : float, optional
        The duration of a task in s, from which the number of its runs follows. It should be long compared with the time that the
        scheduler needs for a task, about a millisecond, times the number of cores.
    known : xarray.Dataset, optional
        The result of an earlier sweep of this model with the same options. Only missing points and failed runs are run.
    to : path, optional
        A folder for a Parquet dataset with one file per task, instead of an `xarray.Dataset`. If the folder contains files of
        the same sweep, only the missing tasks are run. All workers must be able to write to it.
    progress : callable, optional
        Called with the completed fraction of the sweep.
    **options
        The options ``start``, ``stop``, ``points``, ``rtol``, ``atol``, ``method``, ``max_steps`` and ``from_equilibrium`` of
        `Model.simulate`. All runs have the same sample times.

    Returns
    -------
    xarray.Dataset or pathlib.Path
        The columns over the parameters and the time, and ``failure``: the reason of a failed run, or an empty text. The
        samples after a failure are NaN. With `to`, the folder.

    Raises
    ------
    KeyError
        If the model has no such parameter or column.
    ValueError
        If `known` or the folder belongs to another sweep, or if an input is a function.
    LgmError
        If tasks of a sweep to a folder have ended without a result.

    Examples
    --------
    >>> import lgm
    >>> model = lgm.loads('''model M { param R = 1 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
    ...     r : Resistor(R) a -> gnd; output u = across(c); }''')
    >>> runs = lgm.sweep(model, {"R": [1, 2, 4]}, stop=1, points=2)
    >>> runs["u"].sel(time=1).values.round(4)
    array([0.3679, 0.6065, 0.7788])
    """
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"sweep() has no option {name!r}; the options of runs are inputs, {', '.join(_OPTIONS)}")
    if model._recipe.is_linearized():
        raise ValueError("a linearised model has no runs of its own: use state_space().to_control()")
    shown = {name: np.asarray(axis) for name, axis in values.items()}
    axes = {name: _numbers(model, name, axis) for name, axis in shown.items()}
    count = math.prod(len(axis) for axis in axes.values())
    if not task > 0:
        raise ValueError(f"a task lasts longer than 0 s, not {task}")
    if not axes or not count:
        raise ValueError("there are no values to run")
    job = _Job(model, axes, inputs or {}, list(columns or ()), options, task)
    _check_columns(job)
    if to is not None:
        if known is not None:
            raise ValueError("`known` continues a dataset, and `to` the files of its folder: give one of them")
        return _to_folder(job, Path(to), count, map, progress)
    return _to_dataset(job, shown, count, known, map, progress)


def _numbers(model: Model, name: str, axis: NDArray[Any]) -> NDArray[np.float64]:
    """The values of a parameter in SI units."""
    known_parameter(model.parameters, name)
    if axis.ndim != 1:
        raise ValueError(f"the values of {name!r} are a list of numbers, not an array of {axis.ndim} dimensions")
    if axis.dtype.kind in "US":
        axis = np.array([model.with_params({name: str(text)}).parameters[name].value for text in axis])
    numbers = axis.astype(float)
    if not np.isfinite(numbers).all():
        raise ValueError(f"the values of {name!r} must be finite")
    return numbers


def _check_columns(job: _Job) -> None:
    known = [column[0] for column in _compiled(job).columns()]
    for name in job.columns:
        if not any(entry == name or entry.startswith(name + "[") for entry in known):
            model = job.model
            raise unknown("column", name, [*model.outputs.names, *model.states.names, *model.inputs.names])


def _task_size(job: _Job, runs: _Task, threads: int | None) -> int:
    """The number of runs that take as long as a task should, by running some of them."""
    native = _compiled(job)

    def seconds(count: int) -> float:
        first = (runs[0], runs[0] + count) if isinstance(runs, tuple) else runs[:count]
        begin = time.perf_counter()
        job.found(first)
        return (time.perf_counter() - begin) / count

    each, count = seconds(1), _size(runs)
    if each < _QUICK and count > _TIMED:
        each = seconds(_TIMED)
    samples = max(1, len(native.times()) // 8 * len(native.columns()))
    most = _MOST_SAMPLES // samples
    if threads is None:
        # No core should wait long for the last tasks.
        most = min(most, -(-count // (4 * (os.cpu_count() or 1))))
    return max(1, min(int(job.task / each) * (threads or 1), most))


def _results(
    one: Callable[..., Any], tasks: Sequence[_Task], map: Callable[..., Iterable[Any]] | None
) -> Iterator[tuple[_Task, Any, str]]:
    """The results of tasks in order; for a task that has none, the reason."""
    if map is None:
        yield from ((task, one(task, _threads(map)), "") for task in tasks)
        return
    answer = map(one, tasks)
    # The memory of a cluster keeps results for as long as their futures are held here.
    held = deque(answer) if isinstance(answer, list) else None
    rest = iter(answer if held is None else ())
    del answer
    why = "the map has returned fewer results than there are tasks"
    for task in tasks:
        try:
            result = held.popleft() if held else next(rest)
            # Ray's references have a method that returns a future.
            result = result.future() if hasattr(result, "future") else result
            result = result.result() if hasattr(result, "result") else result
        except Exception as error:
            if not isinstance(error, StopIteration):
                why = f"the task ended without a result: {type(error).__name__}: {error}"
            yield task, None, why
        else:
            yield task, result, ""


def _threads(map: Callable[..., Iterable[Any]] | None) -> int | None:
    """The number of threads of a task, unless tasks are distributed."""
    return (os.cpu_count() or 1) if map is None else None


def _size(task: _Task) -> int:
    return task[1] - task[0] if isinstance(task, tuple) else len(task)


def _to_dataset(
    job: _Job,
    shown: dict[str, NDArray[Any]],
    count: int,
    known: Any,
    map: Callable[..., Iterable[Any]] | None,
    progress: Callable[[float], object] | None,
) -> Any:
    import xarray

    failures = np.full(count, "", dtype=object)
    tables: _Samples = {}
    native = _compiled(job)
    times = np.frombuffer(native.times())
    runs: _Task = (0, count)
    fingerprint = job.fingerprint()
    if known is not None:
        job.check_continued()
        runs = _take(known, shown, (fingerprint, times), tables, failures)
    for name, *_ in native.columns():
        tables.setdefault(name, np.full((count, len(times)), np.nan))
    waiting = _size(runs)
    if waiting:
        done = 0
        for task, result, reason in _results(job.found, _tasks(runs, _task_size(job, runs, _threads(map))), map):
            rows = slice(*task) if isinstance(task, tuple) else task
            samples, failed = result if result is not None else ({}, [(row, reason) for row in range(_size(task))])
            for name, table in samples.items():
                tables[name][rows] = table
            for row, words in failed:
                failures[task[0] + row if isinstance(task, tuple) else task[row]] = words
            done += _size(task)
            if progress is not None:
                progress(done / waiting)
    variables: dict[str, Any] = {}
    for name, unit, kind in native.columns():
        attributes = {"kind": kind, **({"units": unit} if unit else {})}
        variables[name] = ((*shown, "time"), tables[name].reshape(*job.shape, len(times)), attributes)
    variables["failure"] = (tuple(shown), failures.reshape(job.shape))
    coordinates: dict[str, Any] = {"time": ("time", times, {"units": "s"})}
    for (name, axis), unit in zip(shown.items(), native.units(), strict=True):
        coordinates[name] = (name, axis, {"units": unit} if unit and axis.dtype.kind not in "US" else {})
    return xarray.Dataset(variables, coordinates, {"model": job.model.name, "sweep": fingerprint})


def _ranges(count: int, size: int) -> list[tuple[int, int]]:
    """The first and the end of each task of at most this size."""
    return [(at, min(at + size, count)) for at in range(0, count, size)]


def _tasks(runs: _Task, size: int) -> list[_Task]:
    ranges = _ranges(_size(runs), size)
    return list(ranges) if isinstance(runs, tuple) else [runs[first:end] for first, end in ranges]


def _take(
    known: Any, shown: dict[str, NDArray[Any]], sweep: tuple[str, NDArray[np.float64]], tables: _Samples, failures: NDArray[Any]
) -> NDArray[np.int64]:
    """Take the complete runs of an earlier sweep; the others are returned."""
    fingerprint, times = sweep
    if known.attrs.get("sweep") != fingerprint or not np.array_equal(known["time"].values, times):
        raise ValueError("`known` is the result of another model, of other options or of another version of lgm")
    if set(known["failure"].dims) != set(shown):
        raise ValueError(f"`known` varies {', '.join(known['failure'].dims)}, and this sweep {', '.join(shown)}")
    there = known.reindex(shown)
    order = tuple(shown)
    complete = there["failure"].transpose(*order).values.ravel() == ""
    for name, table in there.data_vars.items():
        if name != "failure":
            values = table.transpose(*order, "time").values.reshape(len(complete), -1).copy()
            values[~complete] = np.nan
            tables[str(name)] = values
    return np.flatnonzero(~complete)


# Partitioned Parquet.


class _Written:
    """Runs a task and writes its file."""

    def __init__(self, job: _Job, folder: str) -> None:
        self.job, self.folder = job, folder

    def __call__(self, task: tuple[int, int], threads: int = 1) -> int:
        """Write the samples of a task, and return the number of failed runs."""
        import pyarrow
        import pyarrow.parquet

        samples, reasons = self.job.found(task, threads)
        times = np.frombuffer(_compiled(self.job).times())
        failures = np.full(_size(task), "", dtype=object)
        for row, words in reasons:
            failures[row] = words
        columns: dict[str, Any] = {"run": np.repeat(np.arange(*task), len(times))}
        for name, values in zip(self.job.axes, self.job.values(task).T, strict=True):
            columns[name] = np.repeat(values, len(times))
        columns["time"] = np.tile(times, _size(task))
        columns |= {name: table.ravel() for name, table in samples.items()}
        columns["failure"] = pyarrow.array(np.repeat(failures, len(times)), pyarrow.string())
        path = _part(self.folder, task)
        # A name that begins with a dot is no part of a dataset. Two workers may run the same task.
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        pyarrow.parquet.write_table(pyarrow.table(columns), draft)
        draft.replace(path)
        return len(reasons)


def _part(folder: str | os.PathLike[str], task: tuple[int, int]) -> Path:
    return Path(folder) / f"runs-{task[0]:09}-{task[1]:09}.parquet"


def _to_folder(
    job: _Job,
    folder: Path,
    count: int,
    map: Callable[..., Iterable[Any]] | None,
    progress: Callable[[float], object] | None,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    about = folder / "_sweep.json"
    axes = {name: axis.tolist() for name, axis in job.axes.items()}
    mine = {"sweep": job.fingerprint(), "model": job.model.name, "values": axes}
    if about.exists():
        job.check_continued()
        there = json.loads(about.read_text())
        if {name: there[name] for name in mine} != mine:
            raise ValueError(f"{folder} contains another sweep: other values, another model or other options; choose another folder")
        size = there["size"]
    else:
        if any(folder.iterdir()):
            raise FileExistsError(f"{folder} contains files that are not of a sweep")
        size = _task_size(job, (0, count), _threads(map))
        about.write_text(json.dumps({**mine, "size": size, "columns": [list(entry) for entry in _compiled(job).columns()]}))
    tasks = [task for task in _ranges(count, size) if not _part(folder, task).exists()]
    one = _Written(job, str(folder.resolve()))
    ended = []
    for at, (_, failed, reason) in enumerate(_results(one, tasks, map)):
        if failed is None:
            ended.append(reason)
        if progress is not None:
            progress((at + 1) / len(tasks))
    if ended:
        raise LgmError(f"{len(ended)} of {len(tasks)} tasks have no file ({ended[0]}); repeat the call to run them")
    return folder
