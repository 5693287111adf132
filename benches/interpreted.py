"""Runs of all examples with interpreted kernels and with machine code, as whole processes.

Usage: python benches/interpreted.py INTERPRETED NATIVE. The arguments are two programs: that of `cargo build --release`, and that of
`cargo build --release --features native`. Times are the shortest of five, alternating.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def seconds(program, file):
    """The time of a run, or None if it fails."""
    begin = time.perf_counter()
    run = subprocess.run([program, "simulate", file], capture_output=True, timeout=300)
    return None if run.returncode else time.perf_counter() - begin


rows = []
for file in sorted(EXAMPLES.rglob("*.lgm")):
    times = [[seconds(program, file) for program in sys.argv[1:3]] for _ in range(5)]
    if None not in times[0]:
        interpreted, native = (min(column) for column in zip(*times))
        rows.append((interpreted / native, interpreted, native, file.relative_to(EXAMPLES)))
rows.sort()
ratios = [row[0] for row in rows]
print(f"{len(rows)} examples: interpreted / native has the median {statistics.median(ratios):.2f}; in total", end=" ")
print(f"{sum(row[1] for row in rows):.2f} s interpreted and {sum(row[2] for row in rows):.2f} s native")
for ratio, interpreted, native, file in rows[:3] + rows[-6:]:
    print(f"| {file} | {1000 * interpreted:.0f} | {1000 * native:.0f} | {ratio:.2f} |")
