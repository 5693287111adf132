"""Signals of inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._names import unknown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Signal = str | float | Callable[[float], float] | tuple[Any, Any] | ArrayLike
    Value = float | str | ArrayLike


def signal_of(known: Sequence[str], name: str, signal: Any) -> tuple[str, str, Any, Any]:
    """What an input is given, for the native run."""
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
