#!/usr/bin/env python3
"""What the first release promised: one line for each figure, PASS or FAIL, its promise's number, the
figure and the target.  Exits with 1 when a line fails.

    run.py                 everything, about three hours; each promise can be run alone: ONLY=2 or ONLY=4,6
    QUICK=1 run.py         smaller samples, at most 10 minutes where `make peer fuzz` has run before
    PEER_THREADS=1         for a busy machine: the peer's threads spin while they wait

Peer figures are computed once and kept in the cache folder, in acceptance/.  The machine should do
nothing else for promise 5.
"""
import importlib
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

PROMISES = {1: "clean_system", 2: "fidelity", 3: "tokenizers", 4: "memory", 5: "bandwidth",
            6: "invariance", 7: "robustness", 8: "layers"}


def check(number):
    """Prints the lines of one promise; whether all of them pass."""
    module = importlib.import_module(f"promises.{PROMISES[number]}")
    from promises.place import Failed, Missing
    begin, all_pass = time.monotonic(), True

    def line(passed, name, figure, target):
        print(f"{'PASS' if passed else 'FAIL'}  {number} {name}: {figure} (target {target})", flush=True)
        return bool(passed)

    try:
        for result in module.check():
            all_pass &= line(*result)
    except (Failed, Missing, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        all_pass &= line(False, PROMISES[number], f"could not be checked: {error}", "it runs")
    print(f"      {number} took {time.monotonic() - begin:.0f} s", flush=True)
    return all_pass


def main():
    only = os.environ.get("ONLY", "")
    numbers = [int(word) for word in only.replace(",", " ").split()] or sorted(PROMISES)
    if not set(numbers) <= set(PROMISES):
        sys.exit(f"ONLY={only}: the promises are {' '.join(map(str, PROMISES))}")
    if len(numbers) == 1:
        return 0 if check(numbers[0]) else 1
    # A process for each, so that none inherits what another one holds.
    failed = 0
    for number in numbers:
        failed |= subprocess.call([sys.executable, __file__], env={**os.environ, "ONLY": str(number)}) != 0
    print("FAIL: see above" if failed else "All pass.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
