"""The command ``lgm``."""

from __future__ import annotations

import sys

from . import _native


def main() -> int:
    """Run ``lgm`` with the arguments of this process and return its exit code."""
    return _native.run_command(["lgm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
