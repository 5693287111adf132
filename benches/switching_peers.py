"""A buck converter at 100 kHz beside a loop by hand and ngspice, in one run.

Usage: python benches/switching_peers.py LGM [SECONDS]. LGM is a release build; SECONDS of the converter are run, 1 unless given, with 200,000
switched instants in a second. The loop by hand is C: the exact solution of each of its three circuits, and the instant at which the diode
blocks by bisection. ngspice is left out if it is not installed; its diode and its switch have small resistances. Printed are seconds of CPU,
and the values at the end.
"""

import csv
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LGM = sys.argv[1]
LENGTH = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
FOLDER = Path(tempfile.mkdtemp())
MODEL = Path(__file__).resolve().parent.parent / "examples/switching/buck_converter.lgm"

BY_HAND = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double Vin = 12, L = 100e-6, C = 100e-6, R = 5, period = 10e-6, on = 4e-6;

/* The state after a time with the coil at a voltage: exact, the poles are a pair. */
static void coil(double source, double time, double *v, double *i) {
    const double a = 1 / (2 * R * C), w = sqrt(1 / (L * C) - a * a);
    const double v0 = *v - source, i0 = *i - source / R;
    const double c = cos(w * time), s = sin(w * time) / w, e = exp(-a * time);
    *v = source + e * (v0 * c + (i0 / C - v0 / (R * C) + a * v0) * s);
    *i = source / R + e * (i0 * c + (-v0 / L + a * i0) * s);
}

int main(int count, char **arguments) {
    const double length = atof(arguments[1]);
    const long cycles = lround(length / period);
    double v = 0, i = 0;
    for (long cycle = 0; cycle < cycles; cycle++) {
        double left = period - on;
        coil(Vin, on, &v, &i);
        double end_v = v, end_i = i;
        coil(0, left, &end_v, &end_i);
        if (end_i < 0) {
            double low = 0, high = left;
            for (int step = 0; step < 60; step++) {
                const double middle = 0.5 * (low + high);
                double at_v = v, at_i = i;
                coil(0, middle, &at_v, &at_i);
                if (at_i < 0) { high = middle; } else { low = middle; }
            }
            coil(0, low, &v, &i);
            v *= exp(-(left - low) / (R * C));
            i = 0;
        } else {
            v = end_v;
            i = end_i;
        }
    }
    printf("%.12g %.12g\n", v, i);
    return count < 2;
}
"""

NETLIST = """a buck converter
vin in 0 12
vgate gate 0 pulse(0 1 0 1n 1n {on} 10u)
schop in sw gate 0 ideal
ddiode 0 sw ideald
vmeter sw coil 0
lcoil coil out 100u ic=0
ccap out 0 100u ic=0
rload out 0 5
.model ideal sw(vt=0.5 vh=0.01 ron=1u roff=10meg)
.model ideald d(is=1e-9 n=0.01 rs=1u)
.options method=gear reltol=1e-4
.control
tran 0.5u {length} {begin} 0.5u uic
let last = length(v(out)) - 1
print v(out)[last] i(vmeter)[last]
quit
.endc
.end
"""


def run(*words, **options):
    """What a program prints, and its seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{words[0]}: {done.stdout}{done.stderr}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def last_row(text):
    row = list(csv.DictReader(text.splitlines()))[-1]
    return float(row["v"]), float(row["i"])


def lgm(*options):
    text, took = run(LGM, "simulate", MODEL, "--stop", LENGTH, "--points", 2, "--columns", "v,i", *options)
    return (*last_row(text), took)


def emitted():
    package = FOLDER / "buck"
    run(LGM, "emit", MODEL, "--target", "c", "-o", package)
    run("make", "-C", package)
    programs = [file for file in package.iterdir() if file.is_file() and not file.suffix and file.stat().st_mode & 0o100]
    text, took = run(programs[0], "--stop", LENGTH, "--points", 2)
    return (*last_row(text), took)


def by_hand():
    source = FOLDER / "hand.c"
    source.write_text(BY_HAND)
    run("cc", "-O2", source, "-o", FOLDER / "hand", "-lm")
    text, took = run(FOLDER / "hand", LENGTH)
    v, i = map(float, text.split())
    return v, i, took


def ngspice():
    if not shutil.which("ngspice"):
        return None
    netlist = FOLDER / "buck.cir"
    netlist.write_text(NETLIST.format(on="4u", length=LENGTH, begin=LENGTH - 1e-5))
    text, took = run("ngspice", "-b", netlist)
    values = [float(line.split("=")[1]) for line in text.splitlines() if "[last]" in line and "=" in line]
    return (*values, took)


print(f"{LENGTH} s of the converter: v and i at the end, seconds of CPU")
reference = by_hand()
for name, found in [
    ("by hand, exact", reference),
    ("lgm simulate", lgm()),
    ("lgm simulate, 1e-9", lgm("--rtol", "1e-9")),
    ("emitted C", emitted()),
    ("ngspice", ngspice()),
]:
    if found is None:
        print(f"{name:20} not installed")
        continue
    v, i, took = found
    print(f"{name:20} {v:12.8f} V {i:12.8f} A {took:8.3f} s, off by {abs(v - reference[0]):.1e} V, {abs(i - reference[1]):.1e} A")
