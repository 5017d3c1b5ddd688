"""Promise 1: a new Debian system gets from a clone to an answer, and through every test."""
import re
import subprocess

from promises.place import QUICK, ROOT, need


def check():
    if QUICK:
        print("skipped in QUICK  1 clean Debian: a new system takes an hour")
        return
    script = need(ROOT / "tests/acceptance/promises/clean_debian.sh", "it belongs to the repository")
    done = subprocess.run(["bash", str(script)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    lines = re.findall(r"^(PASS|FAIL) clean_debian:? ?(.*?)(?:, target (.*))?$", done.stdout, re.M)
    for verdict, figure, target in lines:
        yield verdict == "PASS", "clean Debian", figure, target or "it runs"
    if not lines or done.returncode not in (0, 1):
        yield False, "clean Debian", done.stdout.strip()[-400:], "it runs"
