#!/usr/bin/env python3
"""Compares `hwtv tokenize` with the peer's llama-tokenize on random texts.

Usage: compare_peer.py [--texts N] [--seed S] [--kib K] [--hwtv PATH] [VOCABULARY.gguf ...]

Every text mixes scripts, emoji, digits, code, contractions, long runs of white space, the
vocabulary's own special tokens and, in every second text, bytes that are not UTF-8.  Without files:
all vocabularies of the peer's package that hwtv supports, and the demo model.  Needs `make peer`.
Prints one line: PASS or FAIL, the figure, the target; on failure the first difference too.
"""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile

CACHE = pathlib.Path(os.environ.get("HWTV_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or
                                  pathlib.Path.home() / ".cache") / "hwtv")
PEER = CACHE / "peer/build/bin/llama-tokenize"
MODELS = CACHE / "peer/llama_cpp_python-0.3.36/vendor/llama.cpp/models"
DEMO = CACHE / "models/SmolLM2-135M-Instruct.Q4_1.gguf"
ROOT = pathlib.Path(__file__).resolve().parents[2]

# Blocks to draw characters from; ASCII and what models meet most are drawn more often.
BLOCKS = ([(0x20, 0x7E)] * 12 + [(0xA0, 0x24F)] * 4 + [(0x370, 0x52F)] * 4 + [(0x4E00, 0x9FFF)] * 4 +
          [(0x3040, 0x30FF), (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF), (0x600, 0x6FF)] * 3 +
          [(first, first + 0xFF) for first in range(0x500, 0x3400, 0x100)] +
          [(0x3400, 0x4DBF), (0xA000, 0xABFF), (0xE000, 0xFAFF), (0xFB00, 0xFFFF),
           (0x10000, 0x12FFF), (0x13000, 0x143FF), (0x16800, 0x18AFF), (0x1B000, 0x1B2FF),
           (0x1CF00, 0x1D7FF), (0x1DF00, 0x1EFFF), (0x20000, 0x323AF), (0xE0000, 0xE01FF),
           (0x0, 0xD7FF)])
SPACES = [*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C), 0x2028, 0x2029,
          0x202F, 0x205F, 0x3000, 0xFEFF, 0x1C]
WORDS = """the quick brown fox don't I'm you've WE'LL he'd THEY'RE it'S helloWorld XMLHttpRequest naïve
Straße привет Ελλάδα สวัสดี नमस्ते مرحبا שלום 你好世界 こんにちは カタカナ 한국어 ជំរាបសួរ 🚀🔥 👩‍👩‍👧‍👦 ❤️
🇩🇪 e\u0301 x² ½ Ⅷ ١٢٣ ४५६ 3.14 1,000,000 1234567 0x1F foo_bar->baz(); #include // /* === … — “quotes”
''' https://x.y/z?a=b&c=d $100 €5 <s> </s> <|im_start|> <|endoftext|> <unk> <0x41> ▁ ▁▁the Ġthe ſ 'ſ
Ω'S ﬁ İ ı""".split()
BROKEN = [bytes([b]) for b in (0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xE4, 0xED, 0xF0, 0xF8, 0xFF)] + [
    b"\xC0\x80", b"\xED\xA0\x80", b"\xE4\xB8", b"\xF0\x9F\x98", b"\xF0\x82\x82\xAC"]
# The share of texts that the peer may fail to read itself.
MOST_ABORTED = 0.05
GGUF_STRING = 8
RUNS = [1, 1, 2, 3, 4, 7, 8, 15, 16, 33, 64, 130, 600]


def array_of(data, key):
    """An array of a GGUF file's metadata: texts, or integers of 4 bytes."""
    name = struct.pack("<Q", len(key)) + key.encode()
    at = data.find(name) + len(name)
    _, kind, n = struct.unpack_from("<IIQ", data, at)
    at += 16
    if kind != GGUF_STRING:
        return struct.unpack_from(f"<{n}i", data, at)
    texts = []
    for _ in range(n):
        size, = struct.unpack_from("<Q", data, at)
        texts.append(data[at + 8:at + 8 + size].decode("utf-8", "replace"))
        at += 8 + size
    return texts


def special_tokens(path):
    """The texts of a vocabulary's control, user-defined and unknown tokens."""
    data = path.read_bytes()
    pairs = zip(array_of(data, "tokenizer.ggml.tokens"), array_of(data, "tokenizer.ggml.token_type"))
    return [text for text, kind in pairs if kind in (2, 3, 4)]


def random_part(rng, specials):
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(WORDS)
    if kind < 0.47:
        return "".join(chr(rng.choice(SPACES)) for _ in range(rng.choice([1, 1, 2, 3, 9])))
    if kind < 0.55:
        return rng.choice([" ", "\n", "\t", "\r\n", "'", "  ", "a", "é"]) * rng.choice(RUNS)
    if kind < 0.65:
        return "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 12)))
    if kind < 0.72:
        return "".join(chr(rng.randrange(0x21, 0x40)) for _ in range(rng.randrange(1, 6)))
    if kind < 0.80 and specials:
        spaces = ["", " ", "  ", "\n", "\t "]
        return rng.choice(spaces) + rng.choice(specials) + rng.choice(spaces)
    first, last = rng.choice(BLOCKS)
    return "".join(chr(rng.randint(first, last)) for _ in range(rng.randrange(1, 8)))


def random_text(rng, n_bytes, specials, broken):
    parts, size = [], 0
    while size < n_bytes:
        text = random_part(rng, specials) + rng.choice(["", " ", ""])
        part = text.encode("utf-8", "surrogatepass")
        if broken and rng.random() < 0.15:
            cut = rng.randrange(len(part) + 1)
            part = part[:cut] + rng.choice(BROKEN) + part[cut + rng.randrange(2):]
        parts.append(part)
        size += len(part)
    # The peer aborts on sequences beyond U+10FFFF.
    return re.sub(rb"[\xF4-\xF7]", b"\xF3", b"".join(parts))


class Aborted(Exception):
    """An assertion of the peer's own failed on a text: there is nothing to compare with."""


def ids_of(command):
    result = subprocess.run(command, capture_output=True, check=False)
    if result.returncode == -signal.SIGABRT and command[0] == PEER and b"GGML_ASSERT" in result.stderr:
        raise Aborted
    if result.returncode:
        sys.exit(f"{command[0]} failed: {result.stderr.decode(errors='replace')[-500:]}")
    return result.stdout


def compare(hwtv, vocabulary, path, special):
    """None if both agree, else the place and ids of the first difference."""
    ours = json.loads(ids_of([hwtv, "tokenize", vocabulary, path, "--json"] +
                             (["--special"] if special else [])))["ids"]
    peer = json.loads(ids_of([PEER, "-m", vocabulary, "-f", path, "--ids", "--no-bos", "--no-escape",
                              "--log-disable"] + ([] if special else ["--no-parse-special"])))
    if ours == peer:
        return None
    place = next((i for i, (a, b) in enumerate(zip(ours, peer)) if a != b),
                 min(len(ours), len(peer)))
    return f"id {place}: ours {ours[place:place + 5]}, peer {peer[place:place + 5]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kib", type=int, default=64)
    parser.add_argument("--hwtv", default=ROOT / "build/release/hwtv")
    parser.add_argument("vocabularies", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    vocabularies = options.vocabularies or sorted([*MODELS.glob("ggml-vocab-*.gguf"), DEMO])
    missing = [path for path in [PEER, options.hwtv, *vocabularies] if not pathlib.Path(path).exists()]
    if missing or not vocabularies:
        sys.exit(f"FAIL tokenizers against the peer: missing {missing}; run make peer and make build")

    n_texts = n_bytes = 0
    differences, aborted = [], []
    with tempfile.TemporaryDirectory() as folder:
        for vocabulary in vocabularies:
            specials = special_tokens(vocabulary)
            specials = specials[:40] + specials[-20:]
            for i in range(options.texts):
                rng = random.Random(f"{options.seed} {vocabulary.name} {i}")
                text = random_text(rng, options.kib << 10, specials, broken=i % 2 == 1)
                path = pathlib.Path(folder) / "text"
                path.write_bytes(text)
                for special in (False, True):
                    try:
                        difference = compare(options.hwtv, vocabulary, path, special)
                    except Aborted:
                        aborted.append(vocabulary.name)
                        continue
                    n_texts += 1
                    n_bytes += len(text)
                    if difference:
                        kept = pathlib.Path(f"compare_peer_{vocabulary.stem}_{i}.txt")
                        kept.write_bytes(text)
                        mode = "with" if special else "without"
                        differences.append(f"{vocabulary.name} {mode} --special, {kept}: {difference}")
    for line in differences[:10]:
        print("  " + line)
    failed = differences or len(aborted) > MOST_ABORTED * n_texts
    print(f"{'FAIL' if failed else 'PASS'} tokenizers against the peer: {len(differences)} of {n_texts} "
          f"texts differ ({len(vocabularies)} vocabularies, {n_bytes / 1e6:.1f} MB; the peer aborts on "
          f"{len(aborted)} more {' '.join(sorted(set(aborted)))}".strip() + "); target 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
