"""How promises are checked and told: one line for each figure, PASS or FAIL, its promise's number, the
figure and the target.  A goal is told too and fails nothing."""
import importlib
import os
import subprocess
import sys
import time

from promises.place import Failed, Missing


# What may go wrong with a check that is no bug of the check.
FAULTS = (Failed, Missing, OSError, ValueError, KeyError, ImportError, subprocess.SubprocessError)


def attempt(name, results):
    """The results, and one more that fails where a fault ends them early: the checks after it still run."""
    try:
        yield from results
    except FAULTS as error:
        yield False, name, f"could not be checked: {error}", "it runs"


class Goal(tuple):
    """(reached, name, figure, target), told and not counted."""


def tell(number, result):
    """Prints one line; whether it is no failure."""
    reached, name, figure, target = result
    if isinstance(result, Goal):
        verdict = "reached" if reached else "not reached"
        print(f"GOAL  {number} {name}: {figure} (goal {target}, {verdict})", flush=True)
        return True
    print(f"{'PASS' if reached else 'FAIL'}  {number} {name}: {figure} (target {target})", flush=True)
    return bool(reached)


def check(number, module_name):
    """Prints the lines of one promise; whether all of them pass."""
    begin, all_pass = time.monotonic(), True

    def results():
        yield from importlib.import_module(f"promises.{module_name}").check()
    for result in attempt(module_name, results()):
        all_pass &= tell(number, result)
    print(f"      {number} took {time.monotonic() - begin:.0f} s", flush=True)
    return all_pass


def run(promises, script):
    """Checks {number: module}, or those that ONLY names; the exit code."""
    only = os.environ.get("ONLY", "")
    numbers = [int(word) for word in only.replace(",", " ").split()] or sorted(promises)
    if not set(numbers) <= set(promises):
        sys.exit(f"ONLY={only}: the promises are {' '.join(map(str, promises))}")
    if len(numbers) == 1:
        return 0 if check(numbers[0], promises[numbers[0]]) else 1
    # A process for each, so that none inherits what another one holds.
    failed = 0
    for number in numbers:
        failed |= subprocess.call([sys.executable, script], env={**os.environ, "ONLY": str(number)}) != 0
    print("FAIL: see above" if failed else "All pass.")
    return int(failed)
