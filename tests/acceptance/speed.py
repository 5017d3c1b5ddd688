#!/usr/bin/env python3
"""What was promised about speed: one line for each figure, PASS or FAIL, its promise's number, the figure
and the target; GOAL lines are told and fail nothing.  Exits with 1 when a line fails.

    speed.py               everything, about two hours; each promise can be run alone: ONLY=2 or ONLY=4,6
    QUICK=1 speed.py       fewer rounds and types, at most 10 minutes where the models and the peer are made
    MEASURE_ALONE=PROGRAM  a program that runs its arguments while it keeps others off the machine

Every figure is a median of rounds in which the engines take turns.  Models and environments are made once
and kept in the cache folder, in acceptance/speed/.  The machine should do nothing else.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/acceptance"), str(ROOT / "bench")]
sys.dont_write_bytecode = True

from promises import lines  # noqa: E402

PROMISES = {1: "large_model", 2: "small_model", 3: "machine_share", 4: "batched_decode", 5: "depth",
            6: "quantizers", 7: "busy_core", 8: "load", 9: "speculation", 10: "instructions",
            11: "invariance"}

if __name__ == "__main__":
    sys.exit(lines.run(PROMISES, __file__))
