"""Families promise 4: `hwtv convert` writes what the peer's converter writes.  Generated folders of each
family, those that are committed and others with other shapes and weights, go through both programs: every
tensor, every key.  Where they differ on purpose (tests/transform/peer_differences.py), the reason is
told.  Then transformers itself, in float64, says what each folder's logits are, and the converted file
on the reference backend must agree.

Needs a Python with torch, transformers, sentencepiece and PyYAML: the one of HWTV_TORCH_PYTHON, or
venv/bin/python in the acceptance folder of the cache."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

from promises.lines import attempt
from promises.place import (HWTV, KEPT, PEER_SOURCE, QUICK, ROOT, Failed, Missing, digest_of_file, kept, need,
                            output_of)
from promises.tensors import read_tensors

TRANSFORM = ROOT / "tests/transform"
sys.path.append(str(TRANSFORM))
from gguf_digest import describe  # noqa: E402
from hf_folders import CASES, write_case  # noqa: E402
from make_converted import TYPES, convert_with_peer  # noqa: E402
from peer_differences import unexplained  # noqa: E402

SEEDS = [1] if QUICK else [1, 2, 3]  # beside 0, which is committed
LOGITS_ERROR = 2e-5  # of the logits' range
N_TOKENS = 64

TRANSFORMERS = """
import json, sys
import numpy, torch, transformers
folder, tokens, out = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
kind = getattr(transformers, json.load(open(folder + "/config.json"))["architectures"][0])
model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").double().eval()
with torch.no_grad():
    numpy.save(open(out, "wb"), model(torch.tensor([tokens])).logits[0].numpy())
"""


def torch_python():
    """A Python that can run the peer's converter and transformers."""
    advice = (f"python3 -m venv {KEPT}/venv && {KEPT}/venv/bin/pip install torch transformers sentencepiece "
              "pyyaml, or set HWTV_TORCH_PYTHON")
    python = pathlib.Path(os.environ.get("HWTV_TORCH_PYTHON") or KEPT / "venv/bin/python")
    need(python, advice)
    done = subprocess.run([python, "-c", "import torch, transformers, sentencepiece, yaml"], check=False,
                          capture_output=True)
    if done.returncode != 0:
        raise Missing(f"{python} has no torch, transformers, sentencepiece or yaml: {advice}")
    return python


def what_makes_folders():
    names = ["hf_folders.py", "make_converted.py", "gguf_digest.py"]
    return [digest_of_file(TRANSFORM / name) for name in names]


def of_the_peer(python, case, seed, type_name, path, pre):
    """The description of the file that the peer makes: slow, and the same each time."""
    def make(kept_path):
        with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
            out = pathlib.Path(folder) / "out.gguf"
            error = convert_with_peer(python, PEER_SOURCE, path, out, type_name, pre)
            if error:
                raise Failed(f"the peer's converter on {case}, seed {seed}: {error[-300:]}")
            kept_path.write_text(json.dumps(describe(out)))
    inputs = [case, seed, type_name, what_makes_folders()]
    return json.loads(kept("converted", inputs, make, ".json").read_text())


def committed():
    """{(case, type): description} of seed 0."""
    lists, out = json.loads((TRANSFORM / "converted.json").read_text()), {}
    for name, entries in lists.items():
        case, type_name, kind = name.split()
        out.setdefault((case, type_name), {})[kind] = entries
    return out


def check_case(python, case, below):
    known, n_same, lines, reasons = committed(), 0, [], {}
    for seed in [0, *SEEDS]:
        path, folder = write_case(case, pathlib.Path(below) / str(seed), seed)
        for type_name in TYPES[case]:
            out = pathlib.Path(below) / "ours.gguf"
            output_of([HWTV, "convert", path, out, *(["--type", type_name] if type_name else [])])
            ours = describe(out)
            theirs = (known[case, type_name or "auto"] if seed == 0 else
                      of_the_peer(python, case, seed, type_name, path, folder.pre))
            new_lines, new_reasons = unexplained(case, type_name, ours, theirs)
            lines += [f"seed {seed} {type_name or 'auto'} {line}" for line in new_lines]
            for reason, n in new_reasons.items():
                reasons[reason] = reasons.get(reason, 0) + n
            n_all = len(theirs["metadata"]) + len(theirs["tensors"])
            n_same += n_all - len(new_lines) - sum(new_reasons.values())
    figure = f"{n_same} keys and tensors alike over {1 + len(SEEDS)} folders, {len(lines)} are not"
    figure += "".join(f"; {n} by intent: {reason}" for reason, n in reasons.items())
    figure += "".join(f"; {line[:200]}" for line in lines[:2])
    yield not lines, f"{case} as the peer's", figure, "all alike"


def check_logits(python, case, below):
    path, folder = write_case(case, pathlib.Path(below) / "logits", SEEDS[0])
    numbers = numpy.random.default_rng(4)
    tokens = numbers.integers(3, folder.config["vocab_size"], N_TOKENS).tolist()
    exact = numpy.load(kept(
        "transformers-logits", [case, SEEDS[0], tokens, what_makes_folders()],
        lambda out: output_of([python, "-c", TRANSFORMERS, path, json.dumps(tokens), out]), ".npy"))
    converted, out, ids = (pathlib.Path(below) / name for name in ["whole.gguf", "logits.gguf", "ids.txt"])
    ids.write_text(" ".join(map(str, tokens)))
    output_of([HWTV, "convert", path, converted, "--type", "F32"])
    output_of([HWTV, "logits", converted, "--tokens", ids, "-o", out, "--backend", "ref", "--kv-type", "f32"])
    ours = read_tensors(out)["logits"].reshape(exact.shape).astype(numpy.float64)
    error = float(numpy.abs(ours - exact).max() / (exact.max() - exact.min()))
    yield error <= LOGITS_ERROR, f"{case} logits", f"{error:.2e} of the range from transformers' in float64", \
        f"<= {LOGITS_ERROR}"


def check():
    python = torch_python()
    need(PEER_SOURCE / "convert_hf_to_gguf.py", "make peer-source")
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as below:
            yield from attempt(f"{case} as the peer's", check_case(python, case, below))
            yield from attempt(f"{case} logits", check_logits(python, case, below))
