#!/usr/bin/env python3
"""What the first release promised: one line for each figure, PASS or FAIL, its promise's number, the
figure and the target.  Exits with 1 when a line fails.

    run.py                 everything, about three hours; each promise can be run alone: ONLY=2 or ONLY=4,6
    QUICK=1 run.py         smaller samples, at most 10 minutes where `make peer fuzz` has run before
    PEER_THREADS=1         for a busy machine: the peer's threads spin while they wait

Peer figures are computed once and kept in the cache folder, in acceptance/.  The machine should do
nothing else for promise 5.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from promises import lines  # noqa: E402

PROMISES = {1: "clean_system", 2: "fidelity", 3: "tokenizers", 4: "memory", 5: "bandwidth",
            6: "invariance", 7: "robustness", 8: "layers"}

if __name__ == "__main__":
    sys.exit(lines.run(PROMISES, __file__))
