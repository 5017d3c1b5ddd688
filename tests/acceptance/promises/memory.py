"""Promise 4: what was predicted before anything was allocated is what the process then held."""
import json
import pathlib
import re
import subprocess
import tempfile
import time

from promises.fidelity import license_text
from promises.place import BUILD, HWTV, MODEL, QUICK, Failed, digest_of_file, kept, need, output_of

SHAPES = [("0.5b", "Q8_0"), ("1.2b", "Q4_0")]
CONTEXTS = [512, 4096]
SHARE, ROOM_BYTES = 0.03, 6 << 20
MIB = 1 << 20


def generated(shape, dtype):
    tool = need(BUILD / "tests/golden/make_model", "cmake --build build/release")
    return kept(f"random-{shape}-{dtype}", [shape, dtype, digest_of_file(tool)],
                lambda path: output_of([tool, shape, dtype, MODEL, path]), ".gguf")


def prompt_of(model, text, n_tokens, folder):
    """A file of at most n_tokens tokens, short of it by 4 at most."""
    ids = json.loads(output_of([HWTV, "tokenize", model, text, "--json"]))["ids"]
    path = pathlib.Path(folder) / "prompt.txt"
    for n in range(n_tokens, n_tokens - 50, -1):
        path.write_bytes(output_of([HWTV, "detokenize", model],
                                   input=" ".join(map(str, ids[:n])).encode()))
        again = json.loads(output_of([HWTV, "tokenize", model, path, "--json"]))["ids"]
        if n_tokens - 4 <= len(again) <= n_tokens:
            return path
    raise Failed(f"no prompt of {n_tokens} tokens could be made")


def held_bytes(pid, model):
    """RssAnon and the model mapping's Rss of a living process; 0 when it has gone."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        smaps = pathlib.Path(f"/proc/{pid}/smaps").read_text()
    except OSError:
        return 0
    anonymous = re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)
    total = int(anonymous[1]) if anonymous else 0
    for mapping in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", smaps):
        if mapping.partition("\n")[0].endswith(str(model)):
            total += int(re.search(r"^Rss:\s+(\d+) kB", mapping, re.M)[1])
    return total * 1024


def most_held(command, model):
    """The most that a run holds at any moment, as seen from outside."""
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            most = max(most, held_bytes(process.pid, model))
            time.sleep(0.05)
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command[:3]))} exits {process.returncode}")
    return most


def check():
    need(MODEL, "make model")
    subjects = [("SmolLM2", MODEL, context) for context in CONTEXTS]
    for shape, dtype in SHAPES[:1] if QUICK else SHAPES:
        subjects += [(f"{shape} {dtype}", generated(shape, dtype), context)
                     for context in CONTEXTS[:1 if QUICK else None]]
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        text = license_text(folder)
        for name, model, context in subjects:
            prompt = prompt_of(model, text, context - 8, folder)
            command = [HWTV, "run", model, "-f", prompt, "--raw", "--ctx", str(context), "-n", "8"]
            answer = json.loads(output_of([*command, "--json"]))
            # The account measures the bandwidth after the answer, with a buffer of its own.
            outside = most_held([*command, "--no-account"], model)
            memory = answer["account"]["memory"]
            predicted, observed = memory["predicted_bytes"], memory["observed_bytes"]
            room = max(SHARE * observed, ROOM_BYTES)
            filled = len(answer["prompt_tokens"]) + len(answer["answer_tokens"])
            yield (abs(predicted - observed) <= room and abs(predicted - outside) <= room,
                   f"memory {name}, context {context}",
                   f"predicted {predicted / MIB:.1f} MiB, observed {observed / MIB:.1f}, at most "
                   f"{outside / MIB:.1f} seen from outside; {filled} tokens",
                   f"within {room / MIB:.1f} MiB")
