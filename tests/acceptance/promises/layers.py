"""Promise 8: who includes whom is written in src/layers.txt, holds, and is watched by a test that finds
a forbidden include."""
import re
import subprocess
import sys

from promises.place import ROOT


def run(script):
    return subprocess.run([sys.executable, f"tests/tidy/{script}", "."], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


def check():
    tidy = run("tidy.py")
    yield tidy.returncode == 0, "layers", tidy.stdout.strip()[-400:], "no finding"
    planted = run("tidy_test.py")
    found = re.search(r"Ran (\d+) tests", planted.stdout)
    yield (planted.returncode == 0 and found, "layers, faults planted",
           f"{found[1] if found else 'no'} tests, {planted.stdout.strip().splitlines()[-1]}",
           "each planted fault is found, a forbidden include among them")
