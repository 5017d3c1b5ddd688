"""Holds ops/dequantize and ops/quantize against the GGUF format's own Python package, bit for bit.

usage: dequantize_test.py [EMULATOR...] TOOL    (TOOL is the built dequantize_tool)
The package is the `gguf-py` folder of the peer in the cache (HWTV_CACHE).
"""
import os
import pathlib
import subprocess
import sys

CACHE = pathlib.Path(os.environ.get("HWTV_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or
                                  pathlib.Path.home() / ".cache") / "hwtv")
GGUF_PY = CACHE / "peer/llama_cpp_python-0.3.36/vendor/llama.cpp/gguf-py"
SKIP = 77  # ctest's SKIP_RETURN_CODE
if not CACHE.exists():
    print(f"skipped: there is no cache folder at {CACHE}; `make peer-files` fills it")
    sys.exit(SKIP)
if not GGUF_PY.exists():
    print(f"FAIL: {GGUF_PY} is missing although the cache exists; `make peer-files` fetches it")
    sys.exit(1)
sys.path.insert(0, str(GGUF_PY))

import numpy as np  # noqa: E402
from gguf import quants  # noqa: E402
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType  # noqa: E402

# Where a block keeps its half-precision numbers (byte offsets).
HALFS = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
         "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
         "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [], "BF16": [], "F32": []}
# Zeros, subnormals (smallest, largest), smallest normal, one, largest, infinity, NaN; both signs.
EDGE_HALFS = [0x0000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7e01]
EDGE_HALFS += [h | 0x8000 for h in EDGE_HALFS]
EDGE_FLOATS = np.array([0, 1e-45, 1.17549435e-38, 1, 3.4028235e38, np.inf, np.nan], np.float32)


def run(tool, arguments, data):
    done = subprocess.run([*tool, *arguments], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout


def blocks_of(name, random):
    """Random blocks with finite scales, then every edge scale over random and constant bytes."""
    size = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
    blocks = random.integers(0, 256, (500, size), dtype=np.uint8)
    for at in HALFS[name]:
        finite = (random.standard_normal(500) * 10.0 ** random.integers(-6, 4, 500))
        blocks[:, at:at + 2] = finite.astype(np.float16).view(np.uint8).reshape(-1, 2)
    edges = []
    for half in EDGE_HALFS:
        for fill in (0x00, 0xff, 0x55, 0x80, None):
            block = (random.integers(0, 256, size, dtype=np.uint8) if fill is None
                     else np.full(size, fill, np.uint8))
            for at in HALFS[name]:
                block[at:at + 2] = np.array([half], np.uint16).view(np.uint8)
            edges.append(block)
    if name == "MXFP4":
        exponents = random.integers(0, 256, (256, size), dtype=np.uint8)
        exponents[:, 0] = np.arange(256)
        edges.extend(exponents)
    if name == "F32":
        edges.extend(EDGE_FLOATS.view(np.uint8).reshape(-1, 4))
    return np.concatenate([blocks, np.stack(edges)])


def same_bits(ours, theirs):
    """Equal bits; a NaN equals any NaN."""
    ours, theirs = ours.ravel(), theirs.ravel()
    return ours.size == theirs.size and bool(
        np.all((ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))))


def check_dequantize(tool, name, random):
    blocks = blocks_of(name, random)
    with np.errstate(all="ignore"):
        theirs = quants.dequantize(blocks, GGMLQuantizationType[name]).astype(np.float32)
    ours = np.frombuffer(run(tool, [name], blocks.tobytes()), np.float32)
    if not same_bits(ours, theirs):
        wrong = np.flatnonzero((ours != theirs.ravel()) & ~np.isnan(ours))[:1]
        print(f"FAIL {name}: first difference at element {wrong} of {ours.size}")
        return False
    print(f"{name}: {len(blocks)} blocks, {ours.size} elements equal")
    return True


def check_quantize(tool, name, random):
    x = random.standard_normal((400, 64)).astype(np.float32)
    x *= 10.0 ** random.integers(-3, 4, (400, 1))
    x[0] = 0
    x[1, :32] = 3
    x[2, 5] = x[2, 9] = -np.abs(x[2]).max()
    if name == "Q8_0":
        x[3, :4] = [127, 0.5, 1.5, -2.5]  # halves round away from zero
    theirs = quants.quantize(x, GGMLQuantizationType[name]).view(np.uint8).tobytes()
    ours = run(tool, ["--quantize", name], x.tobytes())
    if ours != theirs:
        print(f"FAIL quantize {name}: rows differ")
        return False
    print(f"quantize {name}: {x.size} elements equal")
    return True


def main():
    tool = sys.argv[1:]
    random = np.random.default_rng(20240229)
    good = [check_dequantize(tool, name, random) for name in HALFS]
    good += [check_quantize(tool, name, random) for name in ("F16", "BF16", "Q8_0", "Q4_0")]
    return 0 if all(good) else 1


sys.exit(main())
