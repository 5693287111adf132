"""Errors of models and runs, and diagnostics as data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result


@dataclass(frozen=True)
class Diagnostic:
    """A remark, a warning or an error about a text.

    Attributes
    ----------
    code : str
        The code, such as ``LGM0905``; ``lgm explain CODE`` describes it.
    severity : str
        ``"error"``, ``"warning"`` or ``"information"``.
    message : str
        What is wrong.
    file, line, column : str or int or None
        The place of the first label; lines and columns count from 1.
    labels : tuple of dict
        Places in the text with what is said of each.
    notes : tuple of str
        Further explanations.
    help : str or None
        What to write instead.
    """

    code: str
    severity: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    labels: tuple[dict[str, Any], ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = ()
    help: str | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"{self.file}:{self.line}:{self.column}: "
        return f"{place}{self.severity} [{self.code}]: {self.message}"


def diagnostics_of(text: str) -> list[Diagnostic]:
    """Read the JSON of ``lgm check --format json``."""
    return [
        Diagnostic(
            code=entry["code"],
            severity=entry["severity"],
            message=entry["message"],
            file=entry["file"],
            line=entry["line"],
            column=entry["column"],
            labels=tuple(entry["labels"]),
            notes=tuple(entry["notes"]),
            help=entry["help"],
        )
        for entry in json.loads(text)["diagnostics"]
    ]


class LgmError(Exception):
    """An error of a model or a run.

    The message is the text of the terminal, with the lines of the source; `diagnostics` has the same as data.
    """

    def __init__(self, message: str, diagnostics: str | list[Diagnostic] = "") -> None:
        super().__init__(message)
        if isinstance(diagnostics, str):
            diagnostics = diagnostics_of(diagnostics) if diagnostics else []
        self.diagnostics: list[Diagnostic] = diagnostics

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.diagnostics)


class CompileError(LgmError):
    """A model that has no equations, or equations that do not allow an analysis."""


class SimulationError(LgmError):
    """A run that has not reached its stop time.

    Attributes
    ----------
    time : float
        When the run ended, in s.
    partial : Result
        The samples up to there.
    """

    def __init__(
        self,
        message: str,
        diagnostics: str | list[Diagnostic] = "",
        time: float = float("nan"),
        partial: Result | None = None,
    ) -> None:
        super().__init__(message, diagnostics)
        self.time = time
        self.partial = partial

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.diagnostics, self.time, self.partial)
