"""Families promise 7: a batch mixing three LoRA adapters and none gives each sequence its solo text, bit
for bit: on the demo model and on an F16 one, greedy and sampled, whatever the threads, the chunks, the
order and the guesses.  And what an adapter adds is what the peer adds: the logits of the same weights as
F32 with the same adapters, on the reference backend."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

from promises import peer
from promises.lines import attempt
from promises.place import BUILD, HWTV, MODEL, QUICK, ROOT, Failed, need, output_of, peer_tool
from promises.tensors import read_tensors

sys.path.insert(0, str(ROOT / "tests/e2e"))
from gguf_file import write_model  # noqa: E402
from lora_file import bytes_of, matrices, write_adapter  # noqa: E402

N_TOKENS = 24 if QUICK else 96
N_LOGITS = 64
LOGITS_ERROR = 2e-5  # of the logits' range
PROMPTS = ["The capital of France is", "Once upon a time there was a fox who", "def main():\n    print(",
           "Why is the sky blue?"]
# Threads, prompt tokens per step, how tokens are guessed.
WAYS = [(2, 64, "off"), (1, 3, "off"), (3, 64, "lookup"), (2, 7, "auto")]
PARTS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


def write_adapters(model, folder, size):
    """Three that differ in rank, type and the matrices that they adapt."""
    described = json.loads(output_of([HWTV, "inspect", model, "--json"]))
    paths = []
    for seed, (rank, parts, type_name) in enumerate([(8, PARTS, "F32"), (4, ("attn_q", "attn_v"), "F16"),
                                                     (16, ("ffn_down",), "F32")]):
        paths.append(pathlib.Path(folder) / f"adapter-{seed}.gguf")
        write_adapter(paths[-1], matrices(described, parts), rank, seed, size=size, type_name=type_name)
    return paths


class Batches:
    """The sequences of batches on one model; each is a prompt and its adapters."""

    def __init__(self, model, adapters):
        self.tool = need(BUILD / "tests/e2e/adapter_batch", "make build")
        self.model, self.adapters = model, adapters

    def run(self, sequences, temperature, threads, chunk, speculate):
        """({sequence: what it gave}, tokens guessed)."""
        answer = json.loads(output_of([self.tool, self.model, N_TOKENS, threads, chunk, temperature, speculate,
                                       *sequences, "--", *self.adapters]))
        lines = [json.dumps(line) for line in answer["sequences"]]
        return dict(zip(sequences, lines)), answer["n_guessed"]


def check_batches(name, model, adapters):
    batches = Batches(model, adapters)
    odd, n_runs, n_guessed, kinds = [], 0, 0, set()
    for temperature in "0", "0.8":
        # One prompt by all, so that only the adapters tell the sequences apart; then each its own.
        for prompts in [PROMPTS[:1] * 4, PROMPTS]:
            sequences = [f"{prompt}:{adapter}" for prompt, adapter in zip(prompts, ["0", "1", "2", ""])]
            alone = {sequence: batches.run([sequence], temperature, 2, 64, "off")[0][sequence]
                     for sequence in sequences}
            kinds.add(len(set(alone.values())))
            for threads, chunk, speculate in WAYS:
                random.Random(n_runs).shuffle(sequences)
                found, guessed = batches.run(sequences, temperature, threads, chunk, speculate)
                n_runs, n_guessed = n_runs + 1, n_guessed + guessed
                odd += [f"{sequence!r} with {threads} threads, chunks of {chunk}, guesses {speculate}"
                        for sequence in sequences if found[sequence] != alone[sequence]]
    yield (not odd and kinds == {4} and n_guessed > 0, f"three adapters and none, {name}",
           f"{n_runs} batches of 4 sequences of {N_TOKENS} tokens, {len(odd)} texts or logits unlike the solo "
           f"run's, {min(kinds)} of 4 solo texts differ, {n_guessed} tokens guessed"
           + (f": {odd[0]}" if odd else ""), "ids and logits bit-identical, 4 texts that differ")


def our_logits(model, ids, words, folder):
    tokens, out = folder / "ids.txt", folder / "ours.gguf"
    tokens.write_text(" ".join(map(str, ids)))
    output_of([HWTV, "logits", model, "--tokens", tokens, "-o", out, "--backend", "ref", "--kv-type", "f32",
               "--ctx", "512", *words])
    return read_tensors(out)["logits"].reshape(len(ids), -1)


def check_peer(adapters, folder):
    """Two adapters with scales of their own, both at once."""
    exact, out = peer.exact_model(MODEL), folder / "peer.gguf"
    scales = [0.5, -1.25]
    output_of([peer_tool("llama-results"), "-m", exact, "-p", " ".join(PROMPTS), "-o", out, "-c", "512",
               "-t", peer.N_THREADS, *peer.EXACT, "--lora-scaled",
               ",".join(f"{path}:{scale}" for path, scale in zip(adapters, scales))],
              stderr=subprocess.STDOUT)
    tensors = read_tensors(out)
    ids = tensors["tokens"].tolist()[:N_LOGITS]
    theirs = tensors["logits"].reshape(len(tensors["tokens"]), -1)[:len(ids)]
    words = [word for path, scale in zip(adapters, scales) for word in ("--lora", f"{path}:{scale}")]
    spread = float(theirs.max() - theirs.min())
    error = float(numpy.abs(our_logits(exact, ids, words, folder) - theirs).max()) / spread
    plain = float(numpy.abs(our_logits(exact, ids, [], folder) - theirs).max()) / spread
    if plain < 100 * LOGITS_ERROR:
        raise Failed(f"the adapters change too little: {plain:.1e} of the range")
    yield (error <= LOGITS_ERROR, "the peer's logits with two adapters",
           f"{len(ids)} positions, off by {error:.1e} of their range (without adapters by {plain:.1e})",
           f"<= {LOGITS_ERROR:.0e}")


def check():
    need(HWTV, "make build")
    need(MODEL, "make model")
    with tempfile.TemporaryDirectory(prefix="hwtv-adapters-") as name:
        folder = pathlib.Path(name)
        adapters = write_adapters(MODEL, folder, 0.03)
        yield from attempt("the demo model", check_batches("Q4_1", MODEL, adapters))
        yield from attempt("the peer's logits", check_peer(adapters[:2], folder))
        tiny, numbers = folder / "tiny.gguf", random.Random(1)
        write_model(tiny, 2, 64, 96, 4, 2, 16, 1024,
                    lambda n: bytes_of([numbers.uniform(-0.3, 0.3) for _ in range(n)], "F16"))
        yield from attempt("a tiny model",
                           check_batches("F16", tiny, write_adapters(tiny, folder, 0.3)))
