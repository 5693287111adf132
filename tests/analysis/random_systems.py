"""Random state-space systems as models, and what python-control and SciPy say of them beside `lgm`.

Usage: random_systems.py LGM FOLDER COUNT. Prints the faults, and ends with 1 if there are any.
"""

import json
import subprocess
import sys
import warnings

import control
import numpy as np
import scipy.linalg
import scipy.signal

try:
    import slycot
except ImportError:
    # The comparison with SLICOT is left out where its wheel cannot be had.
    slycot = None

warnings.simplefilter("ignore")
LGM, FOLDER, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
FAULTS = []


def run(*words):
    done = subprocess.run([LGM, *map(str, words), "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        FAULTS.append(f"lgm {' '.join(map(str, words))}: {done.stderr}")
        return None
    return json.loads(done.stdout)


def complexes(list_of_pairs):
    return np.array([complex(*pair) for pair in list_of_pairs])


def check(what, found, expected, allowed):
    found, expected = np.atleast_1d(np.asarray(found)), np.atleast_1d(np.asarray(expected))
    if found.shape != expected.shape:
        FAULTS.append(f"{what}: {found.shape} instead of {expected.shape}")
        return
    scale = np.max(np.abs(expected)) if expected.size else 1.0
    error = np.max(np.abs(found - expected)) / (scale or 1.0) if expected.size else 0.0
    if not error <= allowed:
        FAULTS.append(f"{what}: error {error}")


def check_set(what, found, expected, allowed):
    """Each of the expected numbers has its own partner among those that were found."""
    found, expected = list(found), list(expected)
    if len(found) != len(expected):
        FAULTS.append(f"{what}: {len(found)} instead of {len(expected)}: {found} {expected}")
        return
    scale = max([abs(value) for value in expected], default=1.0)
    for value in expected:
        at = min(range(len(found)), key=lambda k: abs(found[k] - value))
        if not abs(found[at] - value) <= allowed * max(scale, 1e-30):
            FAULTS.append(f"{what}: {value} is missing, nearest {found[at]}")
        found.pop(at)


def text(A, B, C, D):
    """A model with these matrices; its states are integrals of sums."""
    n, m, p = A.shape[0], B.shape[1], C.shape[0]

    def total(row_a, row_b):
        terms = [f"({float(value)!r})*x{k + 1}" for k, value in enumerate(row_a) if value]
        terms += [f"({float(value)!r})*u{k + 1}" for k, value in enumerate(row_b) if value]
        return " + ".join(terms) or "0"

    lines = ["model Random {"]
    lines += [f"  input u{k + 1} = 0;" for k in range(m)]
    lines += [f"  state x{k + 1} = int({total(A[k], B[k])});" for k in range(n)]
    lines += [f"  output y{k + 1} = {total(C[k], D[k])};" for k in range(p)]
    return "\n".join(lines + ["}"])


def one(seed):
    random = np.random.default_rng(seed)
    n, m, p = random.integers(2, 7), random.integers(1, 3), random.integers(1, 3)
    A = random.normal(size=(n, n))
    A -= (max(np.linalg.eigvals(A).real) + random.uniform(0.1, 1.0)) * np.eye(n)
    B, C = random.normal(size=(n, m)), random.normal(size=(p, n))
    D = random.normal(size=(p, m)) if random.uniform() < 0.5 else np.zeros((p, m))
    A, B, C, D = (np.round(matrix, 3) for matrix in (A, B, C, D))
    if max(np.linalg.eigvals(A).real) >= -1e-3:
        return
    file = f"{FOLDER}/random{seed}.lgm"
    with open(file, "w") as out:
        out.write(text(A, B, C, D))
    name = f"seed {seed}"
    whole = control.ss(A, B, C, D)
    single = control.ss(A, B[:, :1], C[:1], D[:1, :1])
    pair = ["--from", "u1", "--to", "y1"]

    modes = run("modes", file)
    if modes:
        poles = [complex(pole["real"], pole["imaginary"]) for pole in modes["poles"]]
        check_set(f"{name} poles", poles, np.linalg.eigvals(A), 1e-8)
    zpk = run("transfer", file, "--as", "zpk", *pair)
    if zpk:
        poles, zeros = complexes(zpk["poles"]), complexes(zpk["zeros"])
        check_set(f"{name} zpk poles", poles, np.linalg.eigvals(A), 1e-8)
        expected = control.zeros(single)
        # A zero at infinity comes out of SciPy's generalised eigenvalues as one of 1e15 or so.
        check_set(f"{name} zeros", zeros, expected[np.abs(expected) < 1e10], 1e-6)
        check(f"{name} static gain", zpk["static_gain"], control.dcgain(single), 1e-9)
        s = 0.3 + 0.7j
        value = zpk["gain"] * np.prod(s - zeros) / np.prod(s - poles)
        check(f"{name} zpk value", value, single(s), 1e-8)
    for words in ([], ["--numeric"]):
        tf = run("transfer", file, *words, *pair)
        if tf:
            num, den = ([float(eval_number(text)) for text in tf[key]] for key in ("num", "den"))
            s = -0.2 + 1.1j
            check(f"{name} tf {words}", np.polyval(num, s) / np.polyval(den, s), single(s), 1e-8)

    response = run("response", file, "--omega", "0.01:100:50", "--margins", "--peaks", "--group-delay", *pair)
    if response:
        omega = np.array(response["omega"])
        check(f"{name} omega", omega, np.logspace(-2, 2, 50), 1e-13)
        H = complexes(response["H"]["u1->y1"])
        check(f"{name} response", H, np.array([single(1j * w) for w in omega]), 1e-10)
        margins = response["margins"]["u1->y1"]
        tf = control.ss2tf(single)
        gm, pm, wcg, wcp = control.margin(tf)
        finite = lambda value: None if value is None or not np.isfinite(value) else float(value)
        for key, expected in [("gain_margin", gm), ("phase_margin", pm), ("phase_crossover", wcg), ("gain_crossover", wcp)]:
            found, expected = margins[key], finite(expected)
            if (found is None) != (expected is None):
                FAULTS.append(f"{name} {key}: {found} instead of {expected}")
            elif found is not None and abs(found - expected) > 1e-5 * max(1.0, abs(expected)):
                FAULTS.append(f"{name} {key}: {found} instead of {expected}")
        fine = np.logspace(-2, 2, 40001)
        size = np.abs(scipy.signal.freqs_zpk(*scipy.signal.ss2zpk(A, B[:, :1], C[:1], D[:1, :1]), worN=fine)[1])
        tops = [k for k in range(1, len(fine) - 1) if size[k] >= size[k - 1] and size[k] > size[k + 1]]
        found = response["peaks"]["u1->y1"]
        check(f"{name} peaks", [peak["omega"] for peak in found], fine[tops], 3e-4)
        check(f"{name} peak values", [peak["magnitude"] for peak in found], size[tops], 1e-6)
        step = 1e-5
        delay = [-np.angle(single(1j * (w + step * w)) / single(1j * (w - step * w))) / (2 * step * w) for w in omega]
        check(f"{name} group delay", response["group_delay"]["u1->y1"], delay, 1e-5)

    structure = run("structure", file)
    if structure:
        Wc = scipy.linalg.solve_continuous_lyapunov(A, -B @ B.T)
        Wo = scipy.linalg.solve_continuous_lyapunov(A.T, -C.T @ C)
        check(f"{name} controllability", structure["gramians"]["controllability"], Wc, 1e-9)
        check(f"{name} observability", structure["gramians"]["observability"], Wo, 1e-9)
        check(f"{name} ranks", [structure["controllable"], structure["observable"], structure["minimal_order"]], [n] * 3, 0)
        hankel = np.sqrt(np.sort(np.linalg.eigvals(Wc @ Wo).real)[::-1])
        order = max(1, n // 2)
        for words in ([], ["--match-dc"], ["--method", "modal"]):
            reduced = run("approximate", file, "--order", order, *words)
            if not reduced:
                continue
            check(f"{name} hankel", reduced["hankel"], hankel, 1e-6)
            a, b, c, d = (np.array(reduced[key]) for key in "ABCD")
            k = reduced["order"]
            small = control.ss(a.reshape(k, k), b.reshape(k, m), c.reshape(p, k), d.reshape(p, m))
            errors = [np.linalg.norm(whole(1j * w, squeeze=False) - small(1j * w, squeeze=False), 2) for w in np.logspace(-3, 3, 200)]
            if max(errors) > reduced["bound"] * (1 + 1e-6) + 1e-9:
                FAULTS.append(f"{name} {words}: error {max(errors)} above the bound {reduced['bound']}")
            if words == []:
                check(f"{name} bound", reduced["bound"], 2 * sum(hankel[order:]), 1e-6)
                if slycot:
                    by_slicot(name, (A, B, C, D), order, reduced["hankel"], small)
            if words == ["--match-dc"]:
                check(f"{name} static", small(0, squeeze=False), whole(0, squeeze=False), 1e-8)
            if words == ["--method", "modal"]:
                poles = sorted(np.linalg.eigvals(A), key=abs)[:k]
                check_set(f"{name} slow poles", np.linalg.eigvals(a), poles, 1e-7)

    for hold, method in [("zero", "zoh"), ("first", "foh"), ("tustin", "bilinear")]:
        period = 0.17
        discrete = run("equations", file, "--discretize", period, "--hold", hold)
        if discrete:
            expected = scipy.signal.cont2discrete((A, B, C, D), period, method)[:4]
            for key, matrix in zip("ABCD", expected):
                check(f"{name} {hold} {key}", np.array(discrete[key]).reshape(matrix.shape), matrix, 1e-10)


def by_slicot(name, matrices, order, hankel, small):
    """Balanced truncation by SLICOT: the same values, and the same reduced system up to its states."""
    A, B, C, D = matrices
    n, m, p = A.shape[0], B.shape[1], C.shape[0]
    # The routine overwrites its arguments.
    kept, a, b, c, values = slycot.ab09ad("C", "B", "N", n, m, p, A.copy(), B.copy(), C.copy(), nr=order)
    check(f"{name} hankel by SLICOT", hankel, values, 1e-6)
    expected = control.ss(a[:kept, :kept], b[:kept, :m], c[:p, :kept], D)
    for w in np.logspace(-2, 2, 9):
        check(f"{name} truncated by SLICOT", small(1j * w, squeeze=False), expected(1j * w, squeeze=False), 1e-6)


def eval_number(entry):
    return entry if isinstance(entry, (int, float)) else eval(entry.replace("^", "**"), {})


for seed in range(COUNT):
    one(seed)
print("\n".join(FAULTS))
sys.exit(1 if FAULTS else 0)
