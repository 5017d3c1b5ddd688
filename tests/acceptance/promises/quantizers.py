"""Speed promise 6: our quantizers lose no more than the peer's.  From one F16 model each type is made by
both programs: the same types of tensors, perplexity on the reference backend, and the peer runs our file.
K types need wider rows than that model's, so they are judged on a generated model, by error per tensor."""
import json
import pathlib
import sys
import tempfile

import numpy

from promises import peer
from promises.fidelity import license_text
from promises.lines import attempt
from promises.place import HWTV, MODEL, QUICK, ROOT, digest_of_file, kept, need, output_of, peer_tool
from promises.tensors import read_tensors

sys.path.append(str(ROOT / "tests/e2e"))
from gguf_file import write_model  # noqa: E402

PERPLEXITY_OF_PEER = 1.005
ERROR_OF_PEER = 1.0
WINDOWS = 2 if QUICK else 12
# The words for each program.  Only experts are MXFP4 in the peer's mix, so that one is made pure.
TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL", "Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K",
         "IQ4_XS", "F16", "BF16"]
WORDS = {name: (["{in}", "{out}", name], ["{in}", "{out}", name]) for name in TYPES}
WORDS["MXFP4"] = (["--pure", "{in}", "{out}", "MXFP4"], ["--pure", "{in}", "{out}", "MXFP4_MOE"])
K_TYPES = {"Q2_K": "Q2_K", "Q3_K": "Q3_K_S", "Q4_K": "Q4_K_S", "Q5_K": "Q5_K_S", "Q6_K": "Q6_K",
           "IQ4_XS": "IQ4_XS", "Q4_0": "Q4_0", "Q8_0": "Q8_0"}
WIDE = {"n_layers": 1, "model_dim": 2048, "ffn_dim": 2048, "n_heads": 32, "n_kv_heads": 8, "head_dim": 64,
        "context": 512}


def filled(words, source, path):
    return [word.replace("{in}", str(source)).replace("{out}", str(path)) for word in words]


def their_file(source, words):
    """Slow, and the same each time: kept."""
    tool = peer_tool("llama-quantize")
    return kept("quantized", [digest_of_file(source), words],
                lambda path: output_of([tool, *filled(words, source, path)]), ".gguf")


def types_of(path):
    tensors = json.loads(output_of([HWTV, "inspect", path, "--json"]))["tensors"]
    return {tensor["name"]: tensor["type"] for tensor in tensors}


def perplexity(model, text):
    def make(path):
        path.write_bytes(output_of([HWTV, "perplexity", model, text, "--ctx", "512", "--backend", "ref",
                                    "--windows", WINDOWS, "--json"]))
    inputs = [digest_of_file(model), digest_of_file(text), digest_of_file(HWTV), WINDOWS]
    return json.loads(kept("ref-perplexity", inputs, make, ".json").read_text())["perplexity"]


def check_type(name, source, text, folder):
    ours, (our_words, their_words) = pathlib.Path(folder) / f"{name}.gguf", WORDS[name]
    output_of([HWTV, "quantize", *filled(our_words, source, ours)])
    theirs = their_file(source, their_words)
    mine, other = types_of(ours), types_of(theirs)
    different = [key for key in other if mine.get(key) != other[key]]
    yield (not different and len(mine) == len(other), f"{name} types",
           f"{len(other) - len(different)} of {len(other)} tensors alike", "all")
    figure, target = perplexity(ours, text), perplexity(theirs, text)
    yield (figure <= PERPLEXITY_OF_PEER * target, f"{name} perplexity", f"{figure:.4f}",
           f"<= {PERPLEXITY_OF_PEER} x the peer's {target:.4f}; {WINDOWS} windows")
    run_by_peer = peer.perplexity(ours, text, 1, exact=False)
    yield run_by_peer < 1000, f"{name} run by the peer", f"perplexity {run_by_peer:.2f}", "it runs"
    ours.unlink()


def floats_of(path, folder):
    """{name: F32 array} of any model file."""
    exact = pathlib.Path(folder) / "exact.gguf"
    output_of([HWTV, "quantize", path, exact, "F32"])
    tensors = read_tensors(exact)
    exact.unlink()
    return tensors


def relative_errors(exact, other):
    return {name: float(numpy.linalg.norm(exact[name] - other[name]) / numpy.linalg.norm(exact[name]))
            for name in exact if not name.endswith("norm.weight")}


def check_wide(name, source, exact, folder):
    ours = pathlib.Path(folder) / "ours.gguf"
    words = ["--pure", "{in}", "{out}", K_TYPES[name]]
    output_of([HWTV, "quantize", *filled(words, source, ours)])
    mine = relative_errors(exact, floats_of(ours, folder))
    other = relative_errors(exact, floats_of(their_file(source, words), folder))
    ratios = {tensor: mine[tensor] / other[tensor] for tensor in other}
    worst = max(ratios, key=ratios.get)
    yield (ratios[worst] <= ERROR_OF_PEER, f"{name} error",
           f"{ratios[worst]:.4f} x the peer's {100 * other[worst]:.4f} % in {worst}, the worst of "
           f"{len(ratios)} tensors", f"<= {ERROR_OF_PEER} x")


def wide_model(folder):
    numbers = numpy.random.default_rng(20261201)
    path = pathlib.Path(folder) / "wide.gguf"
    write_model(path, **WIDE, fill=lambda n: (numbers.standard_normal(n, numpy.float32) / 45)
                .astype("<f2").tobytes())
    return path


def check():
    need(MODEL, "make model")
    source = kept("f16", digest_of_file(MODEL),
                  lambda path: output_of([HWTV, "quantize", MODEL, path, "F16"]), ".gguf")
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        wide = wide_model(folder)
        exact = floats_of(wide, folder)
        for name in K_TYPES:
            yield from attempt(f"{name} error", check_wide(name, wide, exact, folder))
        text = license_text(folder)
        for name in WORDS:
            yield from attempt(name, check_type(name, source, text, folder))
