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
        """Write the picture to an SVG file.

        Raises
        ------
        ValueError
            If the file name has the ending of another format.
        """
        if Path(path).suffix.lower() not in ("", ".svg"):
            raise ValueError(f"a drawing is written as SVG: name a file that ends in .svg, not {os.fspath(path)!r}")
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<lgm.Drawing: {len(self.svg)} bytes of SVG>"
