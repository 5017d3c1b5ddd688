"""This engine: `hwtv bench`, a journal of its own."""
import json
import os
import tempfile

from promises.place import HWTV, output_of

NAME = "hwtv"


def bench(model, threads, prefill=(), decode=0, depth=(), batch=(), kv_type=None, words=(), isa=""):
    """The report of one repetition of each; the rows by (test, length or depth or sequences).  `isa`: the
    instruction set to force."""
    def listed(numbers):
        return ",".join(map(str, numbers)) or "none"
    command = [HWTV, "bench", model, "--threads", threads, "--repetitions", 1, "--json",
               "--prefill", listed(prefill), "--depth", listed(depth), "--batch", listed(batch), *words]
    if decode:
        command += ["--decode", decode]
    if kv_type:
        command += ["--kv-type", kv_type]
    with tempfile.TemporaryDirectory(prefix="hwtv-bench-") as state:
        report = json.loads(output_of(command, env={**os.environ, "XDG_STATE_HOME": state, "HWTV_ISA": isa}))
    rows = {}
    for row in report["bench"]:
        key = row["sequences"] if row["test"] == "batch" else row["prompt_tokens"]
        if row["test"] == "decode" and key == 1:
            key = 0
        rows[row["test"], key] = row
    return report, rows


class Hwtv:
    name = NAME

    def __init__(self, model, threads):
        self.model, self.threads = model, threads

    def measure(self, prefill, decode):
        """{"prefill": tok/s, "decode": tok/s} of one repetition of each."""
        _, rows = bench(self.model, self.threads, [prefill], decode, [0])
        return {"prefill": rows["prefill", prefill]["tokens_per_s"],
                "decode": rows["decode", 0]["tokens_per_s"]}

    def close(self):
        pass
