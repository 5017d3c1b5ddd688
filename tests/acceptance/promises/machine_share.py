"""Speed promise 3: decode against the read bandwidth, prefill against the int8 peak, both of this run.  Where
the CPU has a matrix unit (AMX) the promise is about the vector units, and the unit's share is told beside it:
its peak is ten times theirs, and what a group of 32 takes in floats bounds the kernel."""
import statistics

from promises.lines import Goal, attempt
from promises.place import QUICK
from promises.rivalry import DECODE, PREFILL, ROUNDS, THREADS
from rivals import models, ours
from rivals.quiet import alone

TYPES = ("Q4_0", "Q8_0", "Q4_K_M", "Q6_K", "F16")
DECODE_SHARE, DECODE_GOAL = 0.75, 0.9
PREFILL_SHARE, PREFILL_GOAL = 0.4, 0.6
MATRIX_UNIT, VECTORS = "amx", "avx512vnni"


def medians(rows, test, key, *fields):
    return [statistics.median(row[test, key][field] for row in rows) for field in fields]


def check_prefill(name, rows, must):
    share, rate, limit = medians(rows, "prefill", PREFILL, "share_of_limit", "tokens_per_s", "limit_ops_per_s")
    figure = f"{100 * share:.0f} %, {rate:.0f} tok/s of {limit / 1e9:.0f} Gop/s int8"
    if must:
        yield share >= PREFILL_SHARE, name, figure, f">= {100 * PREFILL_SHARE:.0f} %"
    yield Goal((share >= PREFILL_GOAL, name, figure, f">= {100 * PREFILL_GOAL:.0f} %"))


def check_type(dtype):
    model, rows, vector_rows = models.random_model(dtype), [], []
    for _ in range(ROUNDS):
        with alone():
            report, row = ours.bench(model, THREADS, [PREFILL], DECODE, [0])
            rows.append(row)
            has_unit = report["kernels"].endswith(MATRIX_UNIT)
            if has_unit:
                vector_rows.append(ours.bench(model, THREADS, [PREFILL], isa=VECTORS)[1])
    share, rate, limit = medians(rows, "decode", 0, "share_of_limit", "tokens_per_s", "limit_bytes_per_s")
    figure = f"{100 * share:.0f} %, {rate:.1f} tok/s of {limit / 1e9:.1f} GB/s"
    yield share >= DECODE_SHARE, f"{dtype} decode", figure, f">= {100 * DECODE_SHARE:.0f} %"
    yield Goal((share >= DECODE_GOAL, f"{dtype} decode", f"{100 * share:.0f} %",
                f">= {100 * DECODE_GOAL:.0f} %"))
    if rows[0]["prefill", PREFILL]["compute_kind"] != "int8":
        return
    if has_unit:
        yield from check_prefill(f"{dtype} prefill with {MATRIX_UNIT}", rows, must=False)
    yield from check_prefill(f"{dtype} prefill", vector_rows or rows, must=True)


def check():
    for dtype in TYPES[:2] if QUICK else TYPES:
        yield from attempt(dtype, check_type(dtype))
