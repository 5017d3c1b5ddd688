"""Speed promise 5: a token after 8k others costs no more than the bytes of their keys and values."""
import statistics

from promises.place import QUICK
from promises.rivalry import DECODE, THREADS
from rivals import models, ours
from rivals.quiet import alone

DEPTH, SHARE = 8192, 0.7


def check():
    rounds, model, grown, allowed = 1 if QUICK else 3, models.random_model("Q4_0"), [], []
    for _ in range(rounds):
        with alone():
            rows = ours.bench(model, THREADS, decode=DECODE, depth=[0, DEPTH])[1]
        near, far = rows["decode", 0], rows["decode", DEPTH]
        # The two lie a minute apart: the near one is scaled to the bandwidth of the far one's moment.
        slower = near["limit_bytes_per_s"] / far["limit_bytes_per_s"]
        grown.append(1 / far["tokens_per_s"] - slower / near["tokens_per_s"])
        allowed.append((far["step_bytes"] - near["step_bytes"]) / (SHARE * far["limit_bytes_per_s"]))
    growth, room = statistics.median(grown), statistics.median(allowed)
    yield (growth <= room, f"Q4_0 decode at {DEPTH}", f"{1e3 * growth:.2f} ms more per token, {rounds} rounds",
           f"<= {1e3 * room:.2f} ms, the KV bytes at {100 * SHARE:.0f} % of the bandwidth")
