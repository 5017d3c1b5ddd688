"""Promise 5: the bandwidth probe reads as fast as likwid-bench, and no decode beats its own limit."""
import json
import re
import subprocess
import sys

from promises.place import HWTV, MODEL, QUICK, ROOT, need, output_of

SHARE_MAX = 1.03


def check_probe():
    script = need(ROOT / "tests/acceptance/promises/bandwidth_check.py", "it belongs to the repository")
    command = [sys.executable, str(script), "--hwtv", str(HWTV), "--rounds", "3" if QUICK else "7"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    words = re.sub(r"^(PASS|FAIL) bandwidth: ", "", done.stdout.strip())
    figure, _, target = words.partition(", target ")
    yield done.returncode == 0, "bandwidth probe", figure, target or "within 10 % of likwid-bench"


def check_decode():
    prompts = ["Why is the sky blue?", "Count from one to fifty.", "Write a short story about a lighthouse."]
    shares = []
    for prompt in prompts * (1 if QUICK else 3):
        for threads in (["--threads", "1"], []):
            answer = json.loads(output_of([HWTV, "run", MODEL, "-p", prompt, "-n", "128", "--json", *threads]))
            shares.append(answer["account"]["decode"]["share_of_limit"])
    yield (0 < max(shares) <= SHARE_MAX, "decode share",
           f"{100 * min(shares):.1f} to {100 * max(shares):.1f} % of the limit in {len(shares)} runs",
           f"<= {100 * SHARE_MAX:.0f} %")


def check():
    need(MODEL, "make model")
    yield from check_probe()
    yield from check_decode()
