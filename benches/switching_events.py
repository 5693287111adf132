"""CPU time of two runs with about 1e4 events each, with the energy balance.

Usage: python benches/switching_events.py LGM. LGM is a release build.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LGM = sys.argv[1]
CORPUS = Path(__file__).resolve().parent.parent / "tests/corpus/switching"

MACHINE = """import switching;
/// A state machine charges and discharges a capacitor between 1 V and 2 V.
model Machine {
  node a, b, k : electrical;
  discrete phase = 0;
  when phase < 0.5 and across(c) > 2 { phase := 1; }
  when phase > 0.5 and across(c) < 1 { phase := 0; }
  src  : VoltageSource(3 [V]) a -> gnd;
  up   : Switch(phase < 0.5) a -> b;
  down : Switch(phase > 0.5) b -> gnd;
  r    : Resistor(1 [kohm]) b -> k;
  c    : Capacitor(1 [uF]) k -> gnd, start = 1 [V];
  output v = across(c);
}
"""


def seconds(name, model, stop):
    """Runs a model and prints the least CPU time of three runs."""
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "events.csv"
        words = [LGM, "simulate", str(model), "--stop", str(stop), "--points", "11", f"--events={listed}"]
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            ran = subprocess.run(words, capture_output=True, text=True, check=True)
            best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        events = len(listed.read_text().splitlines()) - 1
    print(f"{name}: {events} events, {best:.2f} s, last sample {ran.stdout.splitlines()[-1]}")


seconds("boost converter, 1000 cycles, discontinuous", CORPUS / "converters/boost_dcm_every.lgm", 0.02)
with tempfile.TemporaryDirectory() as folder:
    machine = Path(folder) / "machine.lgm"
    machine.write_text(MACHINE)
    # A cycle takes 2*ln(2) ms and has six events: two blocks, and four changes of modes.
    seconds("state machine", machine, 2.31)
