"""The cell magic ``%%lgm``."""

from __future__ import annotations

from typing import Any

from ._errors import CompileError
from ._load import loads


def register(shell: Any) -> None:
    """Register the magic in an IPython shell."""

    def cell(line: str, text: str) -> Any:
        """Compile a cell into the variable named after its model, and show it."""
        try:
            model = loads(text, name="<cell>", model=line.strip() or None)
        except CompileError as error:
            # IPython prints this instead of the frames inside the package.
            shown = [f"{type(error).__name__}: {error}"]
            vars(error)["_render_traceback_"] = lambda: shown
            raise
        shell.user_ns[model.name] = model
        return model

    shell.register_magic_function(cell, magic_kind="cell", magic_name="lgm")
