"""The peer's own benchmarks, as it builds them for this machine: flash attention on."""
import json

from promises.place import Failed, output_of, peer_tool


def bench(model, threads, prefill=0, decode=0, depth=0, words=()):
    """{"prefill": tok/s, "decode": tok/s} of one repetition."""
    command = [peer_tool("llama-bench"), "-m", model, "-fa", 1, "-t", threads, "-r", 1, "-o", "json",
               "-p", prefill, "-n", decode, "-d", depth, *words]
    rates = {}
    for row in json.loads(output_of(command)):
        rates["decode" if row["n_gen"] else "prefill"] = row["avg_ts"]
    if ("prefill" in rates, "decode" in rates) != (prefill > 0, decode > 0):
        raise Failed(f"llama-bench gives {sorted(rates)}")
    return rates


def batched(model, threads, n_seqs, prompt=32, decode=32):
    """tok/s of n_seqs that decode together."""
    command = [peer_tool("llama-batched-bench"), "-m", model, "-fa", "on", "-t", threads, "-npp", prompt,
               "-ntg", decode, "-npl", n_seqs, "-c", n_seqs * (prompt + decode) + 64, "-b", 2048, "-ub", 512,
               "--output-format", "jsonl"]
    for line in output_of(command).splitlines():
        if line.startswith(b"{"):
            return json.loads(line)["speed_tg"]
    raise Failed("llama-batched-bench gives no line of JSON")


class LlamaCpp:
    name = "llama.cpp"

    def __init__(self, model, threads):
        self.model, self.threads = model, threads
        peer_tool("llama-bench")

    def measure(self, prefill, decode):
        return bench(self.model, self.threads, prefill, decode)

    def close(self):
        pass
