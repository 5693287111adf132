"""Linear analysis beside lcapy, SciPy, python-control with SLICOT, and pyMOR, in one run.

Usage: python benches/analysis_peers.py LGM [LARGEST]. LGM is a release build; LARGEST bounds the number of masses. A peer that is not
installed is left out: `pip install lcapy control slycot pymor`. Times of lgm are those of the whole command, from text to answer; those of
the peers begin with their matrices or their netlist. A peer may take a minute.
"""

import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg

warnings.simplefilter("ignore")
LGM = sys.argv[1]
LARGEST = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
FOLDER = Path(tempfile.mkdtemp())
PATIENCE = 60


def lgm(text, *words):
    file = FOLDER / "model.lgm"
    file.write_text(text)
    began = time.perf_counter()
    done = subprocess.run([LGM, words[0], str(file), *map(str, words[1:]), "--format", "json"], capture_output=True, text=True)
    took = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout), took


def _answer(queue, work, arguments):
    began = time.perf_counter()
    result = work(*arguments)
    queue.put((result, time.perf_counter() - began))


def timed(work, *arguments):
    """The result of a peer and its seconds, or None where it takes longer than it may."""
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=_answer, args=(queue, work, arguments))
    process.start()
    try:
        result = queue.get(timeout=PATIENCE)
    except Exception:
        result = (None, None)
    process.terminate()
    return result


def shown(seconds):
    return f"> {PATIENCE}" if seconds is None else f"{seconds:.3g}"


def ladder(sections):
    """Inductors and capacitors by turns, each with a parameter of its own."""
    lines = ["model Ladder {", "  input u = 1;", f"  node v[{sections + 1}] : electrical;", "  src : VoltageSource(u) v[1] -> gnd;"]
    for k in range(1, sections + 1):
        lines += [f"  param L{k} = {0.5 + 0.01 * k};  param C{k} = {0.25 + 0.02 * k};"]
        lines += [f"  l{k} : Inductor(L{k}) v[{k}] -> v[{k + 1}];  c{k} : Capacitor(C{k}) v[{k + 1}] -> gnd;"]
    lines += ["  param R = 3;", f"  load : Resistor(R) v[{sections + 1}] -> gnd;", "  output y = across(load);", "}"]
    return "\n".join(lines)


def by_lcapy(sections):
    import lcapy

    lines = ["V1 1 0 {u(t)}"]
    for k in range(1, sections + 1):
        lines += [f"L{k} {k} {k + 1}", f"C{k} {k + 1} 0"]
    lines += [f"R1 {sections + 1} 0"]
    circuit = lcapy.Circuit("\n".join(lines))
    return str(circuit.transfer(1, 0, sections + 1, 0))


def chain(masses):
    return f"""model Chain {{
  const N = {masses};
  input F = 0;
  node x[N] : translational;
  push : ForceSource(F) gnd -> x[1];
  first : Spring(100) gnd -> x[1];
  last : Spring(100) x[N] -> gnd;
  for i in 1:N {{ m[i] : Mass(1) x[i] -> gnd; b[i] : Damper(0.02) x[i] -> gnd; }}
  for i in 1:N-1 {{ k[i] : Spring(100) x[i] -> x[i + 1]; }}
  output v = across(m[1]);
}}"""


def chain_matrices(masses):
    """Velocities, and forces of the springs from the one at the wall on."""
    difference = sparse.diags([1.0, -1.0], [0, 1], shape=(masses, masses + 1))
    A = sparse.bmat([[-0.02 * sparse.eye(masses), difference], [-100.0 * difference.T, None]]).tocsc()
    B = np.zeros((2 * masses + 1, 1))
    B[0] = 1.0
    return A, B, B.T.copy()


def nearest(masses, omega, count):
    A, _, _ = chain_matrices(masses)
    # Of a real matrix, SciPy would look about the shift and its conjugate at once.
    found = scipy.sparse.linalg.eigs(A.astype(complex), k=count, sigma=1j * omega)[0]
    return sorted(abs(found.imag))


def truncated(masses, order):
    import control

    A, B, C = chain_matrices(masses)
    A = A.toarray()
    # One spring force follows from the others: a state that is not there in a minimal system.
    keep = np.arange(2 * masses)
    transform = np.eye(2 * masses + 1)[:, keep]
    transform[-1, masses:] = -1.0
    A = A[keep] @ transform
    system = control.ss(A, B[keep], C @ transform, 0)
    return control.hankel_singular_values(system)[:order].tolist()


def penzl():
    """Penzl's system of 1006 states: three pairs of poles far out, and 1000 real ones (Oberwolfach and SLICOT collections)."""
    lines = ["model Penzl {", "  input u = 0;"]
    terms = []
    for pair, omega in enumerate([100, 200, 400]):
        a, b = f"a{pair}", f"b{pair}"
        lines += [f"  state {a} = int(-{a} + {omega}*{b} + 10*u);", f"  state {b} = int(-{omega}*{a} - {b} + 10*u);"]
        terms += [f"10*{a}", f"10*{b}"]
    for k in range(1, 1001):
        lines += [f"  state x{k} = int(-{k}*x{k} + u);"]
        terms += [f"x{k}"]
    return "\n".join([*lines, f"  output y = {' + '.join(terms)};", "}"])


def by_pymor(order):
    from pymor.basic import set_log_levels
    from pymor.models.examples import penzl_example
    from pymor.reductors.bt import BTReductor

    set_log_levels({"pymor": "ERROR"})
    model = penzl_example()
    reduced = BTReductor(model).reduce(order)
    omega = np.logspace(-1, 4, 400)
    error = max(abs((model.transfer_function.eval_tf(1j * w) - reduced.transfer_function.eval_tf(1j * w))[0, 0]) for w in omega)
    return [float(value) for value in model.hsv()[: order + 2]], float(error)


def main():
    print("| ladder, all symbols | lgm transfer [s] | lcapy [s] |\n| --- | --- | --- |")
    for sections in [1, 2, 3, 4, 5, 10, 20, 40]:
        _, ours = lgm(ladder(sections), "transfer")
        theirs = timed(by_lcapy, sections)[1] if sections <= 5 else None
        print(f"| {sections} sections | {ours:.3g} | {shown(theirs) if sections <= 5 else 'not tried'} |", flush=True)

    print("\n| chain: 8 poles near 7.3 rad/s | lgm modes [s] | SciPy eigs [s] | largest difference |\n| --- | --- | --- | --- |")
    for masses in [500, 2_000, 10_000, 50_000]:
        if masses > LARGEST:
            break
        found, ours = lgm(chain(masses), "modes", "--near", 7.3, "--count", 8)
        values, theirs = timed(nearest, masses, 7.3, 4)
        poles = sorted(pole["imaginary"] for pole in found["poles"] if pole["imaginary"] > 0)
        difference = "none" if values is None else f"{max(abs(a - b) for a, b in zip(poles, values)):.1e}"
        print(f"| {2 * masses} states | {ours:.3g} | {shown(theirs)} | {difference} |", flush=True)

    print("\n| chain: balanced truncation to 10 | lgm approximate [s] | Hankel values by python-control, SLICOT [s] | largest difference |")
    print("| --- | --- | --- | --- |")
    for masses in [25, 50, 100]:
        found, ours = lgm(chain(masses), "approximate", "--order", 10)
        values, theirs = timed(truncated, masses, 10)
        difference = "none" if values is None else f"{max(abs(a - b) for a, b in zip(found['hankel'], values)) / values[0]:.1e}"
        print(f"| {2 * masses} states | {ours:.3g} | {shown(theirs)} | {difference} |", flush=True)

    print("\n| Penzl's 1006 states | lgm, moments [s] | its error | pyMOR, balanced [s] | its error |\n| --- | --- | --- | --- | --- |")
    for order in [10, 20]:
        found, ours = lgm(penzl(), "approximate", "--method", "moments", "--at", "10,100,200,400", "--order", order)
        result, theirs = timed(by_pymor, found["order"])
        A, B, C, D = (np.array(found[key], dtype=float) for key in "ABCD")
        error = 0.0
        for w in np.logspace(-1, 4, 400):
            s = 1j * w
            exact = sum(200 * (s + 1) / ((s + 1) ** 2 + omega**2) for omega in [100, 200, 400])
            exact += sum(1 / (s + k) for k in range(1, 1001))
            small = C.reshape(1, -1) @ np.linalg.solve(s * np.eye(len(A)) - A, B.reshape(-1, 1)) + D.reshape(1, 1)
            error = max(error, abs(small[0, 0] - exact))
        known = "none" if result is None else f"{result[1]:.3e}"
        print(f"| order {found['order']} | {ours:.3g} | {error:.3e} | {shown(theirs)} | {known} |", flush=True)


if __name__ == "__main__":
    main()
