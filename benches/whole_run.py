"""Whole runs of SciPy's DOP853 and LSODA over vectorised right-hand sides, as a user of NumPy writes them.

Arguments: method, family, cells, angular frequency of the input, stop, file of the final states (doubles).
Prints for each tolerance: rtol, error of the final states relative to their largest, CPU seconds, evaluations.
"""

import sys
import time

import numpy as np
from scipy.integrate import solve_ivp


def ladder(u, x, out):
    i, v = x[0::2], x[1::2]
    rates, slopes = out[0::2], out[1::2]
    rates[0] = u
    rates[1:] = v[:-1]
    rates -= 0.1 * i
    rates -= v
    rates *= 1e3
    slopes[:-1] = i[:-1] - i[1:]
    slopes[-1] = i[-1] - v[-1] / 50.0
    slopes *= 1e6


def chain(u, x, out):
    v, f = x[0::2], x[1::2]
    stretch = np.diff(v, prepend=0.0)
    force = f + 0.4 * stretch
    out[0:-2:2] = (force[1:] - force[:-1]) * 0.5
    out[-2] = (u - force[-1]) * 0.5
    out[1::2] = 50.0 * stretch


def gears(u, x, out):
    w, tau = x[0::2], x[1::2]
    inertia = 1.0 / (0.01 + 1.5 * 1.5 * 0.02)
    out[0:-2:2] = (tau[1:] - tau[:-1]) * inertia
    out[-2] = (u - tau[-1]) * inertia
    out[1::2] = 30.0 * np.diff(w, prepend=0.0)


def cubic(u, x, out):
    v, q = x[0::2], x[1::2]
    force = q * (20.0 + 3.0 * q * q)
    out[0:-2:2] = (force[1:] - force[:-1]) * 0.5
    out[-2] = (u - force[-1]) * 0.5
    out[1::2] = np.diff(v, prepend=0.0)


def main():
    method, family = sys.argv[1:3]
    cells, frequency, stop = int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
    expected = np.fromfile(sys.argv[6])
    right = {"ladder": ladder, "chain": chain, "gears": gears, "cubic": cubic}[family]

    def rates(t, x):
        out = np.empty_like(x)
        right(np.sin(frequency * t), x, out)
        return out

    # Without the width of its band, LSODA would keep a full Jacobian.
    options = {"lband": 3, "uband": 3} if method == "LSODA" and cells > 2 else {}
    start = np.zeros(2 * cells)
    for decade in range(4, 10):
        rtol = 10.0**-decade
        best, rounds = np.inf, 2 if cells <= 5000 else 1
        for _ in range(rounds):
            begun = time.process_time()
            found = solve_ivp(
                rates, (0.0, stop), start, method, rtol=rtol, atol=1e-3 * rtol, t_eval=[stop], **options
            )
            best = min(best, time.process_time() - begun)
        final = found.y[:, -1]
        if family == "cubic":
            # The model has all velocities first.
            final = np.concatenate((final[0::2], final[1::2]))
        error = np.max(np.abs(final - expected)) / np.max(np.abs(expected))
        print(rtol, error, best, found.nfev, flush=True)


main()
