"""Sequences whose entries have names."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, overload


@dataclass(frozen=True)
class Quantity:
    """A state, an input, an output or a parameter.

    Attributes
    ----------
    name : str
        Its name in the text.
    unit : str or None
        Its SI unit; None if it is unknown.
    value : float, nested list of float or None
        The value of a parameter or the initial value of a state, in SI units.
    """

    name: str
    unit: str | None = None
    value: Any = None


def unknown(what: str, name: str, names: Iterable[str]) -> KeyError:
    """A `KeyError` for an unknown name, with the nearest names there are."""
    names = list(names)
    near = get_close_matches(name, names, n=3)
    if near:
        hint = "; did you mean " + " or ".join(repr(entry) for entry in near) + "?"
    elif names:
        shown = ", ".join(repr(entry) for entry in names[:10])
        hint = f"; there are {shown}" + (", .." if len(names) > 10 else "")
    else:
        hint = f"; the model has no {what}s"
    return KeyError(f"no {what} {name!r}{hint}")


def known_parameter(names: Names, name: str) -> None:
    """Raise a `KeyError` for an unknown parameter of the model.

    Entries of a vector such as ``K[1, 2]`` are names, too. Parameters of instances such as ``motor.R_a`` are left to the compiler.
    """
    if "." not in name and name.partition("[")[0] not in names.names:
        raise unknown("parameter", name, names.names)


class Names(Sequence[Quantity]):
    """Quantities in their order, by place or by name.

    >>> import lgm
    >>> inputs = lgm.Names("input", [lgm.Quantity("F", "N"), lgm.Quantity("v", "m/s")])
    >>> inputs["F"].unit
    'N'
    >>> inputs[1].name, list(inputs.names)
    ('v', ['F', 'v'])
    """

    __slots__ = ("_what", "_list", "_places")

    def __init__(self, what: str, quantities: Iterable[Quantity]) -> None:
        self._what = what
        self._list = tuple(quantities)
        self._places = {entry.name: at for at, entry in enumerate(self._list)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(entry.name for entry in self._list)

    def place(self, name: str | int) -> int:
        """The place of a name, from 0.

        Raises
        ------
        KeyError
            If there is no such name; the message has near ones.
        """
        if not isinstance(name, str):
            return range(len(self._list))[name]
        try:
            return self._places[name]
        except KeyError:
            raise unknown(self._what, name, self.names) from None

    @overload
    def __getitem__(self, key: int | str) -> Quantity: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Quantity, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Quantity | tuple[Quantity, ...]:
        if isinstance(key, slice):
            return self._list[key]
        return self._list[self.place(key)]

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self._list)

    def __contains__(self, key: object) -> bool:
        return key in self._places or key in self._list

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and self._list == other._list

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.names)})"

    def _repr_html_(self) -> str:
        rows = [(entry.name, "" if entry.value is None else f"{entry.value}", entry.unit or "") for entry in self._list]
        cells = ("".join(f"<td>{html.escape(text)}</td>" for text in row) for row in [(self._what, "value", "unit"), *rows])
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)
