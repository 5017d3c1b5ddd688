"""Speed promise 3: decode against the read bandwidth, prefill against the int8 peak, both of this run."""
import statistics

from promises.lines import Goal, attempt
from promises.place import QUICK
from promises.rivalry import DECODE, PREFILL, ROUNDS, THREADS
from rivals import models, ours
from rivals.quiet import alone

TYPES = ("Q4_0", "Q8_0", "Q4_K_M", "Q6_K", "F16")
DECODE_SHARE, DECODE_GOAL = 0.75, 0.9
PREFILL_SHARE, PREFILL_GOAL = 0.4, 0.6


def check_type(dtype):
    model, rows = models.random_model(dtype), []
    for _ in range(ROUNDS):
        with alone():
            rows.append(ours.bench(model, THREADS, [PREFILL], DECODE, [0])[1])

    def median(test, key, field):
        return statistics.median(row[test, key][field] for row in rows)
    share = median("decode", 0, "share_of_limit")
    figure = (f"{100 * share:.0f} %, {median('decode', 0, 'tokens_per_s'):.1f} tok/s of "
              f"{median('decode', 0, 'limit_bytes_per_s') / 1e9:.1f} GB/s")
    yield share >= DECODE_SHARE, f"{dtype} decode", figure, f">= {100 * DECODE_SHARE:.0f} %"
    yield Goal((share >= DECODE_GOAL, f"{dtype} decode", f"{100 * share:.0f} %",
                f">= {100 * DECODE_GOAL:.0f} %"))
    if rows[0]["prefill", PREFILL]["compute_kind"] != "int8":
        return
    share = median("prefill", PREFILL, "share_of_limit")
    figure = (f"{100 * share:.0f} %, {median('prefill', PREFILL, 'tokens_per_s'):.0f} tok/s of "
              f"{median('prefill', PREFILL, 'limit_ops_per_s') / 1e9:.0f} Gop/s int8")
    yield share >= PREFILL_SHARE, f"{dtype} prefill", figure, f">= {100 * PREFILL_SHARE:.0f} %"
    yield Goal((share >= PREFILL_GOAL, f"{dtype} prefill", f"{100 * share:.0f} %",
                f">= {100 * PREFILL_GOAL:.0f} %"))


def check():
    for dtype in TYPES[:2] if QUICK else TYPES:
        yield from attempt(dtype, check_type(dtype))
