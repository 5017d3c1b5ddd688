"""The models that are measured: random weights in the llama shape of 1.24 B in every type and in shapes of
other families, and SmolLM2."""
import hashlib
import json
import os
import re

from promises.place import (BUILD, CACHE, HWTV, KEPT, MODEL, PEER_SOURCE, ROOT, Missing, need, output_of,
                            peer_tool)

SHAPE = "1.2b"
FAMILY_SHAPES = ("qwen3-0.6b", "gemma3-1b", "16x40m")
# What the types take with the vocabulary of Llama 3 (128,256), in MB: other sizes are another model.
SIZES_MB = {"Q4_0": 771, "Q8_0": 1321, "Q4_K_M": 808, "Q6_K": 1022, "F16": 2480}
DIRECT = ("F16", "Q4_0", "Q8_0")  # made as they are; the others are quantized from F16


def vocabulary(family="llama-bpe"):
    return need(PEER_SOURCE / f"models/ggml-vocab-{family}.gguf", "make peer-source")


def vocabulary_of(shape):
    """A file with the tokenizer that models of this shape carry, of the family's own size."""
    if shape.startswith("gemma3"):
        return need(CACHE / "models/gemma-3-270m-q4_k_m.gguf", "scripts/fetch_model.sh gemma3")
    return vocabulary("qwen2" if shape.startswith("qwen3") else "llama-bpe")


def recipe():
    """Changes when the models would."""
    digest = hashlib.sha256()
    for name in ("make_model.cc", "generator.h"):
        digest.update((ROOT / "tests/golden" / name).read_bytes())
    return digest.hexdigest()[:8]


def kept_model(name, make):
    """KEPT/speed/NAME, made by make(path) when it is not there yet; half-made ones don't count."""
    folder = KEPT / "speed"
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f".part-{os.getpid()}-{name}"
        try:
            make(part)
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
        print(f"      made {path.name}: {path.stat().st_size / 1e6:.0f} MB", flush=True)
    return path


def quantize(source, path, dtype):
    """By our own program where it can, else by the peer's."""
    if b"quantize" in output_of([HWTV, "--help"]):
        return output_of([HWTV, "quantize", source, path, dtype])
    return output_of([peer_tool("llama-quantize"), source, path, dtype])


def make_random(shape, dtype, path):
    tool = need(BUILD / "tests/golden/make_model", "cmake --build build/release")
    output_of([tool, shape, dtype, vocabulary_of(shape), path])


def family_model(shape, dtype):
    """Another shape of make_model's in this type; of its F16 file nothing stays."""
    def make(path):
        if dtype in DIRECT:
            make_random(shape, dtype, path)
            return
        source = path.with_suffix(".F16.gguf")
        try:
            make_random(shape, "F16", source)
            quantize(source, path, dtype)
        finally:
            source.unlink(missing_ok=True)
    return kept_model(f"random-{shape}-{recipe()}.{dtype}.gguf", make)


def random_model(dtype):
    """The 1.24 B shape in this type."""
    def make(path):
        if dtype in DIRECT:
            make_random(SHAPE, dtype, path)
        else:
            quantize(random_model("F16"), path, dtype)
        made_mb = path.stat().st_size / 1e6
        if abs(made_mb - SIZES_MB[dtype]) > 0.01 * SIZES_MB[dtype]:
            raise Missing(f"{dtype} takes {made_mb:.0f} MB where {SIZES_MB[dtype]} are expected")
    return kept_model(f"random-{SHAPE}-{recipe()}.{dtype}.gguf", make)


def vocabulary_size(path):
    tokenizer = json.loads(output_of([HWTV, "inspect", path, "--json"]))["tokenizer"]
    return int(re.search(r"([\d,]+) tokens", tokenizer)[1].replace(",", ""))


def demo_model():
    return need(MODEL, "make model")
