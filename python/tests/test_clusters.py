"""Sweeps over local clusters of Dask and of Ray, with a worker that is killed in the middle."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import lgm
from conftest import EXAMPLES

VALUES = {"k": np.linspace(10, 100, 8), "b": np.linspace(0.1, 2.0, 8)}
OPTIONS = {"stop": 1, "points": 3, "columns": ["y"]}


def slow(one, folder):
    """A function of tasks that waits, so that there is a middle of the sweep, and tells which process runs it."""

    # Schedulers send a function inside a function as code: their workers cannot import this file.
    def run(task):
        (folder / str(os.getpid())).touch()
        time.sleep(0.2)
        return one(task)

    return run


def kill_the_first(folder):
    """Kill the first process that runs a task; returns a list that gets its number."""
    killed = []

    def look():
        deadline = time.monotonic() + 60
        while not killed and time.monotonic() < deadline:
            for path in folder.iterdir():
                os.kill(int(path.name), signal.SIGKILL)
                killed.append(int(path.name))
                break
            time.sleep(0.02)

    threading.Thread(target=look, daemon=True).start()
    return killed


@pytest.fixture
def expected():
    return lgm.sweep(lgm.load(EXAMPLES / "oscillator.lgm"), VALUES, **OPTIONS)


def test_dask(expected, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (pip install dask distributed)")
    model = lgm.load(EXAMPLES / "oscillator.lgm")
    marks = tmp_path / "marks"
    marks.mkdir()
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, cluster.get_client() as client:
        killed = kill_the_first(marks)
        found = lgm.sweep(model, VALUES, map=lambda one, tasks: client.map(slow(one, marks), tasks), **OPTIONS)
        assert killed and len(list(marks.iterdir())) >= 2
        folder = lgm.sweep(model, VALUES, map=client.map, to=tmp_path / "runs", **OPTIONS)
    assert found.equals(expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(folder).sort_values(["run", "time"])
    assert np.array_equal(frame["y"], expected["y"].values.ravel())


def test_ray(expected, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed (pip install ray)")
    model = lgm.load(EXAMPLES / "oscillator.lgm")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        run = ray.remote(lambda one, task: one(task))
        killed = kill_the_first(tmp_path)

        def on_ray(one, tasks):
            one = ray.put(slow(one, tmp_path))
            return [run.remote(one, task) for task in tasks]

        found = lgm.sweep(model, VALUES, map=on_ray, **OPTIONS)
        assert killed and len(list(tmp_path.iterdir())) >= 2
    finally:
        ray.shutdown()
    assert found.equals(expected)
