"""What the peer says: the exact model, logits and perplexities.  Slow, so kept in the cache."""
import json
import os
import re
import subprocess

import numpy

from promises.place import Failed, digest_of_file, kept, output_of, peer_tool
from promises.tensors import read_tensors

# Its threads spin while they wait, so on a busy machine one is faster than two.
N_THREADS = os.environ.get("PEER_THREADS", str(len(os.sched_getaffinity(0))))
# F32 keys and values, plain attention.
EXACT = ["-ctk", "f32", "-ctv", "f32", "-fa", "off"]


def exact_model(model):
    """The same weights dequantized to F32."""
    tool = peer_tool("llama-quantize")
    return kept("exact", digest_of_file(model), lambda path: output_of(
        [tool, "--allow-requantize", model, path, "F32"]), ".gguf")


def perplexity(model, text, windows, exact):
    """The peer's perplexity over the text's first windows of 512 (0: all of them)."""
    tool = peer_tool("llama-perplexity")
    options = EXACT if exact else []

    def make(path):
        command = [tool, "-m", model, "-f", text, "-c", "512", "-t", N_THREADS, *options]
        if windows:
            command += ["--chunks", str(windows)]
        found = re.search(rb"Final estimate: PPL = ([0-9.]+)", output_of(command, stderr=subprocess.STDOUT))
        if not found:
            raise Failed("llama-perplexity gives no final estimate")
        path.write_text(found[1].decode())
    inputs = [digest_of_file(model), digest_of_file(text), windows, options]
    return float(kept("perplexity", inputs, make, ".txt").read_text())


def logits(model, case, exact):
    """(positions that predict the continuation, vocabulary): of the ids of the case, which the peer
    must find in the case's text itself."""
    tool = peer_tool("llama-results")
    ids, first = case["ids"], case["n_prompt"] - 1
    options = EXACT if exact else []

    def make(path):
        out = path.with_suffix(".gguf")
        try:
            output_of([tool, "-m", model, "-p", case["prompt"] + case["continuation"], "-o", out,
                       "-c", "512", "-t", N_THREADS, *options])
            tensors = read_tensors(out)
        finally:
            out.unlink(missing_ok=True)
        if tensors["tokens"].tolist() != ids:
            raise Failed(f"the peer reads other tokens than those of prompt {case['name']}")
        rows = tensors["logits"].reshape(len(ids), -1)[first:-1]
        with open(path, "wb") as file:
            numpy.save(file, rows)
    inputs = [digest_of_file(model), json.dumps(case), options]
    return numpy.load(kept("logits", inputs, make, ".npy"))
