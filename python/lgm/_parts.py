"""The parts of a model, by name."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from . import _native
from ._names import Names, Quantity


class Recipe:
    """How a model was made: all that a copy in another process needs."""

    def __init__(self, name: str, path: str | None, text: str, options: dict[str, Any], steps: tuple[Any, ...] = ()) -> None:
        self.name, self.path, self.text, self.options, self.steps = name, path, text, options, steps

    def then(self, kind: str, *arguments: Any) -> Recipe:
        return Recipe(self.name, self.path, self.text, self.options, (*self.steps, (kind, *arguments)))

    def is_linearized(self) -> bool:
        """Whether the model is one of small deviations."""
        return any(step[0] == "linearize" for step in self.steps)

    def key(self) -> tuple[Any, ...]:
        options = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in self.options.items())
        return self.path, self.text, options, self.steps


class Parts:
    """What a model consists of."""

    def __init__(self, native: _native.Session, recipe: Recipe) -> None:
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
