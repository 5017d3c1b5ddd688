"""Promise 2: the numbers are right.  "Exact" is the same file dequantized to F32, run by the peer with
F32 keys and values; the peer's own distance to it, on the quantized file, is the measure of ours."""
import dataclasses
import hashlib
import json
import pathlib
import tempfile

import numpy

from promises import peer
from promises.place import HWTV, MODEL, QUICK, Failed, need, output_of
from promises.tensors import read_tensors

LICENSES = [pathlib.Path("/usr/share/common-licenses") / name
            for name in ["GPL-3", "Artistic", "Apache-2.0", "GFDL-1.3", "MPL-2.0"]]
TEXT_BYTES = 92299
TEXT_SHA256 = "385dd43a941205e4f23fedaa5963e02d25394fdc498de0836d2e1422b85419b9"
RECORDED_WITHIN = 0.0005

GAP_OF_PEER = 1.2         # ours to exact, in units of the peer's own
REF_GAP = 0.001           # of the reference backend, relative
REF_KL = 1e-4
AGREEMENT = 0.94
CLEAR_GAP = 0.5           # nats between the first and the second: no mismatch above


@dataclasses.dataclass(frozen=True)
class Subject:
    """A model, what the peer is known to say of the whole text, and greedy continuations."""
    model: pathlib.Path
    recorded: dict      # perplexity by "exact" and "peer"
    prompts: str        # a file beside this one, by make_prompts.py
    end_tokens: list    # which the continuations were made without
    advice: str         # how to get the model


SMOLLM2 = Subject(MODEL, {"exact": 15.3740, "peer": 15.4496}, "prompts.json", [0, 2], "make model")


def license_text(folder):
    bytes_ = b"".join(need(path, "a Debian system has it").read_bytes() for path in LICENSES)
    if len(bytes_) != TEXT_BYTES or hashlib.sha256(bytes_).hexdigest() != TEXT_SHA256:
        raise Failed(f"the licences are {len(bytes_)} bytes of a text that is not the one of "
                     f"{TEXT_BYTES} bytes that the figures are of")
    path = pathlib.Path(folder) / "licenses.txt"
    path.write_bytes(bytes_)
    return path


def our_perplexity(model, text, backend, windows):
    command = [HWTV, "perplexity", model, text, "--ctx", "512", "--backend", backend, "--json"]
    if windows:
        command += ["--windows", str(windows)]
    return json.loads(output_of(command))["perplexity"]


def check_perplexity(subject, text):
    windows = 6 if QUICK else 0
    exact = peer.perplexity(peer.exact_model(subject.model), text, windows, exact=True)
    theirs = peer.perplexity(subject.model, text, windows, exact=False)
    if not windows:
        for name, figure in [("exact", exact), ("peer", theirs)]:
            if abs(figure - subject.recorded[name]) > RECORDED_WITHIN:
                raise Failed(f"the peer's perplexity {name} is {figure}, recorded is {subject.recorded[name]}")
    ours = our_perplexity(subject.model, text, "cpu", windows)
    yield (abs(ours - exact) <= GAP_OF_PEER * abs(theirs - exact),
           "perplexity cpu", f"{ours:.4f}, exact {exact:.4f}, gap {abs(ours - exact):.4f}",
           f"gap <= {GAP_OF_PEER} x the peer's {abs(theirs - exact):.4f}"
           + (f"; {windows} windows, QUICK" if windows else ""))
    windows = 2 if QUICK else 0
    exact = peer.perplexity(peer.exact_model(subject.model), text, windows, exact=True)
    ours = our_perplexity(subject.model, text, "ref", windows)
    yield (abs(ours / exact - 1) <= REF_GAP,
           "perplexity ref", f"{ours:.4f}, exact {exact:.4f}, gap {100 * abs(ours / exact - 1):.4f} %",
           f"<= {100 * REF_GAP} %" + (f"; {windows} windows, QUICK" if windows else ""))


def log_softmax(rows):
    rows = rows.astype(numpy.float64)
    rows -= rows.max(axis=1, keepdims=True)
    return rows - numpy.log(numpy.exp(rows).sum(axis=1, keepdims=True))


def divergence(exact, rows):
    """KL(exact || rows) of each position, in nats; both log-probabilities."""
    return (numpy.exp(exact) * (exact - rows)).sum(axis=1)


def our_logits(model, case, backend, folder):
    ids, out = pathlib.Path(folder) / "ids.txt", pathlib.Path(folder) / "out.gguf"
    ids.write_text(" ".join(map(str, case["ids"])))
    output_of([HWTV, "logits", model, "--tokens", ids, "-o", out, "--ctx", "512", "--backend", backend])
    tensors = read_tensors(out)
    if tensors["tokens"].tolist() != case["ids"]:
        raise Failed(f"hwtv logits computes other tokens than those of prompt {case['name']}")
    return tensors["logits"].reshape(len(case["ids"]), -1)[case["n_prompt"] - 1:-1]


class Distance:
    """Of one program's predictions to the exact ones, over all prompts."""

    def __init__(self):
        self.kl, self.agreed, self.clear_gaps = [], [], []

    def add(self, exact, rows):
        rows = log_softmax(rows)
        top = numpy.sort(exact, axis=1)[:, -2:]
        agreed = exact.argmax(axis=1) == rows.argmax(axis=1)
        self.kl += divergence(exact, rows).tolist()
        self.agreed += agreed.tolist()
        self.clear_gaps += (top[:, 1] - top[:, 0])[~agreed].tolist()

    def mean_kl(self):
        return float(numpy.mean(self.kl))

    def agreement(self):
        return float(numpy.mean(self.agreed))

    def widest_mismatch(self):
        """The largest exact gap at which another token was found likelier; 0 where none was."""
        return max(self.clear_gaps, default=0.0)


def check_greedy(case, exact, end_tokens):
    """The continuation is the exact model's own: each token its likeliest, but for ties and for the
    tokens that would end it."""
    tokens = numpy.array(case["ids"][case["n_prompt"]:])
    goes_on = exact.copy()
    goes_on[:, end_tokens] = -numpy.inf
    behind = goes_on.max(axis=1) - exact[numpy.arange(len(tokens)), tokens]
    if behind.max() > 1e-3:
        raise Failed(f"prompt {case['name']} is not continued greedily: {behind.max():.4f} nats behind")


def check_forced(subject, folder):
    cases = json.loads(pathlib.Path(__file__).with_name(subject.prompts).read_text("utf-8"))
    if QUICK:
        cases = cases[::4]
    exact_model = peer.exact_model(subject.model)
    theirs, cpu, ref = Distance(), Distance(), Distance()
    for case in cases:
        exact = log_softmax(peer.logits(exact_model, case, exact=True))
        check_greedy(case, exact, subject.end_tokens)
        theirs.add(exact, peer.logits(subject.model, case, exact=False))
        cpu.add(exact, our_logits(subject.model, case, "cpu", folder))
        ref.add(exact, our_logits(subject.model, case, "ref", folder))
    of = f"{len(cases)} prompts, {len(cpu.kl)} positions"
    yield (cpu.mean_kl() <= GAP_OF_PEER * theirs.mean_kl(), "KL cpu", f"{cpu.mean_kl():.6f} nats",
           f"<= {GAP_OF_PEER} x the peer's {theirs.mean_kl():.6f}; {of}")
    yield (cpu.agreement() >= AGREEMENT, "top-1 cpu", f"{100 * cpu.agreement():.2f} %",
           f">= {100 * AGREEMENT:.0f} %; the peer's {100 * theirs.agreement():.2f} %")
    yield (cpu.widest_mismatch() <= CLEAR_GAP, "mismatch cpu",
           f"widest at an exact gap of {cpu.widest_mismatch():.3f} nats",
           f"none above {CLEAR_GAP}; the peer's widest {theirs.widest_mismatch():.3f}")
    yield ref.mean_kl() <= REF_KL, "KL ref", f"{ref.mean_kl():.2e} nats", f"<= {REF_KL:.0e}"


def check_subject(subject):
    need(subject.model, subject.advice)
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        yield from check_perplexity(subject, license_text(folder))
        yield from check_forced(subject, folder)


def check():
    yield from check_subject(SMOLLM2)
