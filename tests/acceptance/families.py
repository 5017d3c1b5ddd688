#!/usr/bin/env python3
"""What was promised about the families of models: one line for each figure, PASS or FAIL, its promise's
number, the figure and the target.  Exits with 1 when a line fails.

    families.py            everything; each promise can be run alone: ONLY=2 or ONLY=4,6
    QUICK=1 families.py    smaller samples and fewer rounds, at most 10 minutes where the models, the peer
                           and what it says are made
    MEASURE_ALONE=PROGRAM  a program that runs its arguments while it keeps others off the machine

The machine should do nothing else for promises 2 and 5.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/acceptance"), str(ROOT / "bench")]
sys.dont_write_bytecode = True

from promises import lines  # noqa: E402

PROMISES = {1: "architectures", 2: "gemma", 3: "texts", 4: "conversion", 5: "family_speed", 6: "pulling",
            7: "adapters"}

if __name__ == "__main__":
    sys.exit(lines.run(PROMISES, __file__))
