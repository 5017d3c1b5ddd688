"""Speed promise 6: our quantizers lose no more than the peer's.  From one F16 model each type is made by
both programs: the same types of tensors, perplexity on the reference backend, and the peer runs our file.
K types (IQ4_XS too) have blocks of 256, of which that model's rows of 576 are no multiple: they are judged
on a generated model, by error per tensor, and their perplexity is told as a goal.
The kernels of each type lose no more than the peer's: both run our file, and the reference backend, which
promise 2 holds to the exact one, says what the file itself gives.  Each instruction set passes its op tests."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

from promises import peer
from promises.fidelity import license_text
from promises.lines import Goal, attempt
from promises.place import (BUILD, HWTV, MODEL, QUICK, ROOT, Failed, digest_of_file, digest_of_sources, kept,
                            need, output_of, peer_tool)
from promises.tensors import read_tensors

sys.path.append(str(ROOT / "tests/e2e"))
from gguf_file import write_model  # noqa: E402

PERPLEXITY_OF_PEER = 1.005
ERROR_OF_PEER = 1.0
GAP_OF_PEER = 5  # in % of the exact perplexity: it reads the same weights
POINTS_OVER_PEER = 0.1  # of our kernels' gap, in % too
# Few windows differ by 3 % either way for no reason; these are the whole text.
WINDOWS = 2 if QUICK else 45
# The words for each program.  Only experts are MXFP4 in the peer's mix, so that one is made pure.
TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL", "Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K",
         "IQ4_XS", "F16", "BF16"]
WORDS = {name: (["{in}", "{out}", name], ["{in}", "{out}", name]) for name in TYPES}
WORDS["MXFP4"] = (["--pure", "{in}", "{out}", "MXFP4"], ["--pure", "{in}", "{out}", "MXFP4_MOE"])
TYPES_OF_WIDE_BLOCKS = ["Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "IQ4_XS"]
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


def perplexity(model, text, backend="ref"):
    def make(path):
        path.write_bytes(output_of([HWTV, "perplexity", model, text, "--ctx", "512", "--backend", backend,
                                    "--windows", WINDOWS, "--json"]))
    # The reference backend takes minutes for each, and seldom changes.
    program = digest_of_sources("backends/ref", "ops", "model") if backend == "ref" else digest_of_file(HWTV)
    inputs = [digest_of_file(model), digest_of_file(text), program, WINDOWS]
    return json.loads(kept(f"{backend}-perplexity", inputs, make, ".json").read_text())["perplexity"]


def check_kernels(name, model, text, exact):
    def gap(figure):
        return 100 * abs(figure / exact - 1)
    ours, theirs = perplexity(model, text, "cpu"), peer.perplexity(model, text, WINDOWS, exact=False)
    yield (gap(ours) <= gap(theirs) + POINTS_OVER_PEER, f"{name} kernels",
           f"perplexity {ours:.4f}, exact {exact:.4f}, gap {gap(ours):.3f} %",
           f"<= the peer's {gap(theirs):.3f} % + {POINTS_OVER_PEER}")
    yield (gap(theirs) <= GAP_OF_PEER, f"{name} run by the peer", f"perplexity {theirs:.4f}",
           f"within {GAP_OF_PEER} % of the exact one")


def check_type(name, source, text, folder):
    ours, (our_words, their_words) = pathlib.Path(folder) / f"{name}.gguf", WORDS[name]
    output_of([HWTV, "quantize", *filled(our_words, source, ours)])
    theirs = their_file(source, their_words)
    mine, other = types_of(ours), types_of(theirs)
    different = [key for key in other if mine.get(key) != other[key]]
    yield (not different and len(mine) == len(other), f"{name} types",
           f"{len(other) - len(different)} of {len(other)} tensors alike", "all")
    figure, target = perplexity(ours, text), perplexity(theirs, text)
    line = (figure <= PERPLEXITY_OF_PEER * target, f"{name} perplexity", f"{figure:.4f}",
            f"<= {PERPLEXITY_OF_PEER} x the peer's {target:.4f}; {WINDOWS} windows")
    yield Goal(line) if name in TYPES_OF_WIDE_BLOCKS else line
    yield from attempt(f"{name} run by the peer", check_kernels(name, ours, text, exact=figure))
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


def check_op_tests():
    """The op tests with each instruction set forced, of those that this machine has."""
    tests = json.loads(output_of(["ctest", "--test-dir", BUILD, "--show-only=json-v1", "-R", "^op_cpu_"]))
    names = [test["name"] for test in tests["tests"]]
    if not names:
        raise Failed(f"{BUILD} has no op tests of the CPU backend: make all")
    for name in names:
        isa = name.removeprefix("op_cpu_")
        done = subprocess.run([BUILD / "tests/ops/op_cpu", "--gtest_brief=1"], check=False, text=True,
                              env={**os.environ, "HWTV_ISA": isa}, stdout=subprocess.PIPE)
        last = (done.stdout.strip().splitlines() or ["says nothing"])[-1]
        yield done.returncode in (0, 77), f"op tests {isa}", last, "all pass, or the machine lacks it"


def check():
    yield from attempt("op tests", check_op_tests())
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
