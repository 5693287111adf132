"""Pictures of models."""

from __future__ import annotations

import os
from pathlib import Path


class Drawing:
    """A picture as SVG.

    Attributes
    ----------
    svg : str
        The text of the picture.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<lgm.Drawing: {len(self.svg)} bytes of SVG>"
