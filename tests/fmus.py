"""Runs emitted FMUs in FMPy, a simulator of others: usage: fmus.py LGM [EXAMPLE.lgm ..]

Every example is emitted for FMI 2.0 and 3.0 and validated. Co-simulation and model exchange then must give the rows of
`lgm simulate`. Versions alternate between the examples, so that this takes a minute; `--all` runs both.
"""

import csv
import io
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu

ROOT = Path(__file__).resolve().parent.parent

# The largest difference as a share of a column's range. Where a model multiplies errors, it is instead what a hundredfold tolerance
# makes in `lgm simulate` itself.
AGREEMENT = 1e-9


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def simulated(lgm, model, rtol=1e-11, atol=1e-14):
    """The names and the rows of `lgm simulate`."""
    stop = [] if "experiment {" in model.read_text() else ["--stop", "2"]
    tight = ["--rtol", str(rtol), "--atol", str(atol), "--method", "tsit45"]
    rows = list(csv.reader(io.StringIO(run(lgm, "simulate", model, *tight, *stop))))
    return rows[0], numpy.array([[float(field) for field in row] for row in rows[1:]])


def rows_of(fmu, mode, names, rows):
    """The rows of an FMU at the times of others."""
    # CVODE needs more digits for the same error.
    tolerance = 1e-11 if mode == "CoSimulation" else 1e-13
    times = rows[:, 0]
    length = times[-1] - times[0]
    found = simulate_fmu(
        str(fmu),
        fmi_type=mode,
        start_time=times[0],
        stop_time=times[-1],
        output_interval=length / (len(times) - 1),
        relative_tolerance=tolerance,
        output=[name.replace(", ", ",") for name in names[1:]],
    )
    found = numpy.array([list(row) for row in found])
    same = []
    for time in times:
        # At the instant of a step the last row is the one after it.
        near = found[abs(found[:, 0] - time) <= 1e-9 * length]
        if len(near) == 0:
            raise RuntimeError(f"no row at {time} s")
        same.append(near[-1])
    return numpy.array(same)


def difference(rows, found):
    """The largest difference between rows at the same times, as a share of each column's range."""
    worst = 0.0
    for column in range(1, rows.shape[1]):
        size = abs(rows[:, column]).max()
        extent = numpy.ptp(rows[:, column])
        extent = size if extent < 1e-3 * size else extent
        error = abs(found[:, column] - rows[:, column]).max()
        worst = max(worst, error / extent if error > 0.0 else 0.0)
    return worst


def compared(lgm, folder, model, versions):
    """A line about a model, and its faults; rows are compared for these versions of FMI."""
    line, faults = [model.stem], []
    for version in (2, 3):
        fmu = folder / f"{model.stem}{version}.fmu"
        run(lgm, "emit", model, "--target", f"fmu{version}", "-o", fmu)
        problems = validate_fmu(str(fmu))
        if problems:
            faults.append(f"{model.stem}, FMI {version}: {problems}")
        if read_model_description(str(fmu)).guid is None:
            faults.append(f"{model.stem}, FMI {version}: no token")
        if version not in versions:
            continue
        names, rows = simulated(lgm, model)
        for mode in ("CoSimulation", "ModelExchange"):
            worst = difference(rows, rows_of(fmu, mode, names, rows))
            line.append(f"FMI {version} {mode} {worst:.1e}")
            if worst <= AGREEMENT:
                continue
            own = difference(rows, simulated(lgm, model, 1e-9, 1e-12)[1])
            line.append(f"({own:.1e})")
            if not worst <= own:
                faults.append(
                    f"{model.stem}, FMI {version}, {mode}: {worst:e} of the range;"
                    f" a hundredfold tolerance changes {own:e}"
                )
    return "  ".join(line), faults


def main():
    lgm, *models = [word for word in sys.argv[1:] if word != "--all"]
    folders = [ROOT / "examples", ROOT / "examples" / "switching"]
    models = [Path(word) for word in models] or sorted(model for folder in folders for model in folder.glob("*.lgm"))
    faults = []
    # An FMU is loaded into the process, so that models are compared in processes.
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        versions = [(2, 3) if "--all" in sys.argv else (2 + at % 2,) for at in range(len(models))]
        found = [
            pool.submit(compared, lgm, Path(folder), model, wanted) for model, wanted in zip(models, versions)
        ]
        for each in found:
            line, own = each.result()
            print(line, flush=True)
            faults.extend(own)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
