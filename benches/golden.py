"""Golden rows: what a binary prints for all models of examples and tests, to compare two binaries.

    python benches/golden.py write target/debug/lgm FOLDER [PART ..]    # only models whose path contains a PART
    python benches/golden.py compare BEFORE AFTER

`write` stores one JSON file per model: diagnostics and exit code of `check`, `equations --format json` and `simulate`, with the samples.
`compare` lists the differences of text, and of numbers beyond 1e-9 of the largest magnitude in their column. Exit code 1 if any.
"""

import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["examples", "tests"]
POINTS = 51
SECONDS = 120
WORKERS = 2
TOLERANCE = 1e-9


def run(command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return {"exit": "timeout"}
    try:
        output = json.loads(done.stdout)
    except ValueError:
        output = done.stdout
    return {"exit": done.returncode, "output": output, "messages": done.stderr}


def write(binary, folder, parts):
    binary, folder = os.path.abspath(binary), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    models = sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*.lgm"))
    names = [str(path.relative_to(ROOT)) for path in models]
    names = [name for name in names if not parts or any(part in name for part in parts)]

    def one(name):
        results = {
            "check": run([binary, "check", name]),
            "equations": run([binary, "equations", "--format", "json", name]),
            "simulate": run([binary, "simulate", name, "--points", str(POINTS), "--format", "json"]),
        }
        (folder / (name.replace("/", "__") + ".json")).write_text(json.dumps(results, indent=1))

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, names))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def differences(before, after, path):
    """Yields the location and the values of each difference."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before | after:
            yield from differences(before.get(key), after.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        if before and all(map(is_number, before + after)):
            largest = max(map(abs, before))
            apart = max(range(len(before)), key=lambda at: abs(before[at] - after[at]))
            if abs(before[apart] - after[apart]) > TOLERANCE * largest:
                share = abs(before[apart] - after[apart]) / largest if largest else float("inf")
                yield f"{path}[{apart}]", before[apart], after[apart], share
        else:
            for at, pair in enumerate(zip(before, after)):
                yield from differences(*pair, f"{path}[{at}]")
    elif is_number(before) and is_number(after):
        if abs(before - after) > TOLERANCE * abs(before):
            yield path, before, after, abs(before - after) / abs(before) if before else float("inf")
    elif before != after:
        yield path, str(before)[:300], str(after)[:300], None


def compare(before, after):
    before, after = pathlib.Path(before), pathlib.Path(after)
    found = 0
    names = sorted(path.name for path in after.glob("*.json"))
    for name in names:
        if not (before / name).exists():
            print(f"{name}: new")
            continue
        pair = [json.loads((folder / name).read_text()) for folder in (before, after)]
        lines = list(differences(*pair, ""))
        found += bool(lines)
        for path, one, other, share in lines[:4]:
            apart = "" if share is None else f"  ({share:.1e})"
            print(f"{name[:-5]} {path}: {one} | {other}{apart}")
        if len(lines) > 4:
            print(f"{name[:-5]}: {len(lines) - 4} more, largest {max((line[3] or 0 for line in lines)):.1e}")
    print(f"{len(names)} models, {found} differ")
    return found > 0


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        sys.exit(compare(*sys.argv[2:4]))
