"""Speed promise 7: decode while another process keeps one of the cores busy."""
import contextlib
import os
import statistics
import subprocess
import sys

from promises.rivalry import DECODE, ROUNDS, THREADS
from rivals import llama_cpp, models, ours
from rivals.quiet import alone

OF_QUIET, OF_PEER = 0.5, 1.5


@contextlib.contextmanager
def hog():
    """A process that never waits, pinned to one core that we may use."""
    core = min(os.sched_getaffinity(0))
    with subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def check():
    model = models.random_model("Q4_0")
    rates = {"quiet": [], "busy": [], "peer": []}

    def our_rate():
        return ours.bench(model, THREADS, decode=DECODE, depth=[0])[1]["decode", 0]["tokens_per_s"]
    for _ in range(ROUNDS):
        with alone():
            rates["quiet"].append(our_rate())
            with hog():
                rates["busy"].append(our_rate())
                rates["peer"].append(llama_cpp.bench(model, THREADS, decode=DECODE)["decode"])
    quiet, busy, peer = (statistics.median(rates[name]) for name in ("quiet", "busy", "peer"))
    yield (busy >= OF_QUIET * quiet, "Q4_0 decode beside a busy process",
           f"{100 * busy / quiet:.0f} % of the quiet speed, {busy:.1f} of {quiet:.1f} tok/s, {ROUNDS} rounds",
           f">= {100 * OF_QUIET:.0f} %")
    yield (busy >= OF_PEER * peer, "the same against llama.cpp",
           f"{busy / peer:.2f} x, {busy:.1f} against {peer:.1f} tok/s", f">= {OF_PEER} x")
