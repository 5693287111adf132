"""The cost of a run in lgm.sweep, and its scaling with cores.

Usage: python benches/python_sweep.py [RUNS]. Requires `pip install ./python xarray`; Dask is measured if it is installed. The overhead of a
run is the time of a run that has nothing to integrate: the oscillator over a microsecond, with two samples. The other rows are runs of 20 s
with 2 and with 801 samples. Scaling is runs per second with 1, 2, 4, .. threads of one process. Times are the shortest of three.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import lgm
from lgm._sweep import _compiled, _Job

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
MODEL = lgm.load(Path(__file__).resolve().parent.parent / "examples/oscillator.lgm")
GRID = {"k": np.linspace(20, 80, RUNS)}


def best(work):
    """The shortest of three times, in s."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    print(f"{os.cpu_count()} cores\n")
    print("| runs | sweep [s] | per run and core [us] |\n| --- | --- | --- |")
    cases = {"nothing to integrate": (1e-6, 2), "20 s, 2 samples": (20, 2), "20 s, 801 samples": (20, 801)}
    for name, (stop, points) in cases.items():
        seconds = best(lambda: lgm.sweep(MODEL, GRID, stop=stop, points=points, columns=["y"]))
        print(f"| {RUNS} x {name} | {seconds:.3f} | {1e6 * seconds / RUNS * os.cpu_count():.1f} |", flush=True)
    print("\n| threads | runs/s | speedup |\n| --- | --- | --- |")
    job = _Job(MODEL, GRID, {}, ["y"], {"stop": 20, "points": 2})
    _compiled(job)
    first, threads = 0.0, 1
    while threads <= (os.cpu_count() or 1):
        rate = RUNS / best(lambda: job.found((0, RUNS), threads))
        first = first or rate
        print(f"| {threads} | {rate:.0f} | {rate / first:.2f} |", flush=True)
        threads *= 2
    alone = best(lambda: [MODEL.with_params(k=k).simulate(20, points=2) for k in GRID["k"][:100]]) / 100
    print(f"\na model and a run of its own for each value: {1e6 * alone:.0f} us")
    try:
        from distributed import Client
    except ImportError:
        return
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        # Workers compile the model in the first round.
        seconds = best(lambda: lgm.sweep(MODEL, GRID, stop=20, points=2, columns=["y"], map=client.map))
    print(f"Dask, 2 workers: {seconds:.3f} s, {2e6 * seconds / RUNS:.1f} us per run and worker")


if __name__ == "__main__":
    main()
