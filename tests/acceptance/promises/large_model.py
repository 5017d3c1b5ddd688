"""Speed promise 1: the 1.24 B llama shape with random weights against both peers, and its logits."""
import tempfile

import numpy

from promises.lines import Goal, attempt
from promises.place import HWTV, QUICK, digest_of_file, kept, output_of, peer_tool
from promises.rivalry import THREADS, check_void, ratio_line, turns_of
from promises.tensors import read_tensors
from rivals import models

# Type: what decode and prefill must reach of llama.cpp's.
TARGETS = {"Q4_0": (1.6, 2.2), "Q4_K_M": (1.6, 2.2), "Q8_0": (1.7, 3.0)}
GOALS = (2.0, 3.0)
BEST_PEER, BEST_PEER_GOAL, OPENVINO_PREFILL = 1.15, 1.3, 0.95
PEERS = ("llama.cpp", "OpenVINO GenAI")
N_POSITIONS = 64
RMS_OF_PEER = 1.2
TEXT = ("The river rose in the night, and by morning the lower fields were gone. Nobody in the village had "
        "seen water move so quietly. The miller counted his sacks twice, wrote the number on the door with "
        "chalk, and went up the hill to ask whether the bridge at the old quarry was still standing after all "
        "the rain of the week before.")


def check_peers(dtype):
    model = models.random_model(dtype)
    turns = turns_of(dtype, model, models.vocabulary_size(model))
    check_void(turns)
    for what, target, goal in zip(("decode", "prefill"), TARGETS[dtype], GOALS):
        yield from ratio_line(turns, what, "llama.cpp", target, goal)
    best = max(PEERS, key=lambda peer: turns.median(peer, "decode") or 0)
    yield from ratio_line(turns, "decode", best, BEST_PEER, BEST_PEER_GOAL)
    if turns.median("OpenVINO GenAI", "prefill"):
        yield from ratio_line(turns, "prefill", "OpenVINO GenAI", OPENVINO_PREFILL, BEST_PEER_GOAL)
    else:
        yield Goal((True, f"{dtype} prefill against OpenVINO GenAI",
                    f"not supported there: {turns.absent.get('OpenVINO GenAI', 'no figure')}", "where it is"))


def their_logits(model, path):
    """(positions, vocabulary), and the ids that the peer made of the text."""
    output_of([peer_tool("llama-results"), "-m", model, "-p", TEXT, "-o", path, "-c", "512", "-t", THREADS,
               "-fa", "on"])
    tensors = read_tensors(path)
    ids = tensors["tokens"].reshape(-1)
    return tensors["logits"].reshape(len(ids), -1)[:N_POSITIONS], ids[:N_POSITIONS].tolist()


def our_logits(model, ids, path, words=()):
    tokens = path.with_suffix(".txt")
    try:
        tokens.write_text(" ".join(map(str, ids)))
        output_of([HWTV, "logits", model, "--tokens", tokens, "-o", path, "--threads", THREADS, *words])
    finally:
        tokens.unlink(missing_ok=True)
    return read_tensors(path)["logits"].reshape(len(ids), -1)


def exact_logits(model, ids):
    """Of the reference backend with F32 keys and values; slow, so kept."""
    path = kept("speed/exact", [digest_of_file(model), ids], lambda path: our_logits(
        model, ids, path, ["--backend", "ref", "--kv-type", "f32"]), ".gguf")
    return read_tensors(path)["logits"].reshape(len(ids), -1)


def rms_error(found, exact):
    found, exact = found.astype(numpy.float64), exact.astype(numpy.float64)
    return float(numpy.sqrt(((found - exact) ** 2).mean() / (exact ** 2).mean()))


def check_logits(dtype):
    import pathlib
    model = models.random_model(dtype)
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        theirs, ids = their_logits(model, pathlib.Path(folder) / "theirs.gguf")
        exact = exact_logits(model, ids)
        ours = our_logits(model, ids, pathlib.Path(folder) / "ours.gguf")
    error, their_error = rms_error(ours, exact), rms_error(theirs, exact)
    yield (error <= RMS_OF_PEER * their_error, f"{dtype} logits of {len(ids)} tokens",
           f"relative RMS error {error:.5f}, llama.cpp's {their_error:.5f}",
           f"<= {RMS_OF_PEER} x llama.cpp's")


def check():
    for dtype in TARGETS:
        yield from attempt(f"{dtype} against the peers", check_peers(dtype))
        if not QUICK or dtype == "Q4_0":
            yield from attempt(f"{dtype} logits", check_logits(dtype))
