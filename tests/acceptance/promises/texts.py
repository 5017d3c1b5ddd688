"""Families promise 3: texts become the peer's tokens and conversations jinja2's prompts, exactly; how fast
one core tokenizes."""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from promises import tokenizers
from promises.chinese import chinese_text
from promises.fidelity import license_text
from promises.lines import attempt
from promises.place import BUILD, HWTV, PEER_SOURCE, QUICK, ROOT, Failed, need, output_of
from rivals.quiet import alone

VOCABULARIES = tokenizers.CASES + ["nomic-bert-moe"]
SEED = "2"  # other texts and conversations than those of the quick tests
ENGLISH_MB_PER_S, CHINESE_MB_PER_S = 10, 5
LINE_BYTES = 10_000_000
LINE_S = 30
TEMPLATES = 70


def tokens_of(name):
    """The texts of a vocabulary's tokens, as its file spells them."""
    sys.path.insert(0, str(ROOT / "tests/text"))
    import compare_peer
    return compare_peer.array_of(tokenizers.vocabulary(name).read_bytes(), "tokenizer.ggml.tokens")


def check_templates():
    script = need(ROOT / "tests/text/make_template_cases.py", "it belongs to the repository")
    program = need(BUILD / "src/text/render_template", "make build")
    drawn = ["drawn", "40" if QUICK else "300", SEED]
    for name, what in (("templates", ["templates"]), ("templates, random conversations", drawn)):
        done = subprocess.run([sys.executable, str(script), str(program), *what], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        found = re.search(r"(\d+) templates, (\d+) conversations", done.stdout)
        same = re.search(r"(\d+) texts are the same, (\d+) refusals are the same.*, (\d+) differ", done.stdout)
        if not found or not same:
            raise Failed(done.stdout.strip()[-400:] or f"{script.name} says nothing")
        yield (done.returncode == 0 and found[1] == str(TEMPLATES), name,
               f"{same[3]} differ of {found[1]} templates x {found[2]} conversations; {same[1]} texts and "
               f"{same[2]} refusals are jinja2's", f"0 differ of {TEMPLATES} templates")


def english_text(folder):
    """What this system and the peer's source hold of it: licences and manuals."""
    pages = sorted((PEER_SOURCE / "docs").rglob("*.md")) + sorted(PEER_SOURCE.glob("*/*/README.md"))
    text = license_text(folder).read_bytes() + b"\n".join(page.read_bytes() for page in pages)
    return text.decode("utf-8", "ignore")


def check_speed(folder):
    bench = need(BUILD / "bench/text/bench_tokenizer", "make all")
    texts = {"English": (english_text(folder), ENGLISH_MB_PER_S),
             "Chinese": (chinese_text(tokens_of("gemma-4"), 3_000_000), CHINESE_MB_PER_S)}
    for language, (text, target) in texts.items():
        path = pathlib.Path(folder) / language
        path.write_text(text, "utf-8")
        rates = {}
        for name in VOCABULARIES:
            with alone():
                said = output_of([bench, tokenizers.vocabulary(name), path, "0.5" if QUICK else "1.5"])
            rates[name] = json.loads(said)["mb_per_s"]
        slowest = sorted(rates, key=rates.get)[:3]
        yield (rates[slowest[0]] >= target, f"{language}, one core",
               "slowest: " + ", ".join(f"{name} {rates[name]:.1f} MB/s" for name in slowest)
               + f"; median {sorted(rates.values())[len(rates) // 2]:.1f}", f">= {target} MB/s each")


def lines_without_spaces(folder):
    """(what, text) of lines without a space, LINE_BYTES long."""
    letters = re.sub(r"[^a-z]", "", english_text(folder).lower())
    yield "letters", (letters * (LINE_BYTES // len(letters) + 1))[:LINE_BYTES]
    yield "one letter", "a" * LINE_BYTES
    yield "Chinese", chinese_text(tokens_of("gemma-4"), LINE_BYTES, between="")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check_lines(folder):
    path = pathlib.Path(folder) / "line"
    seconds = {}
    for what, text in lines_without_spaces(folder):
        path.write_text(text, "utf-8")
        for name in VOCABULARIES:
            command = [HWTV, "tokenize", tokenizers.vocabulary(name), path, "--json"]
            before = cpu_seconds()
            output_of(command, stdout=subprocess.DEVNULL, timeout=20 * LINE_S)
            seconds[f"{name} ({what})"] = cpu_seconds() - before
    slowest = max(seconds, key=seconds.get)
    yield (seconds[slowest] <= LINE_S, f"{LINE_BYTES // 10**6} MB line without spaces",
           f"slowest of {len(seconds)}: {slowest} {seconds[slowest]:.1f} s of CPU time", f"<= {LINE_S} s")


def check():
    yield from attempt("tokenizers", tokenizers.check(seed=SEED))
    yield from attempt("templates", check_templates())
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        yield from attempt("tokenizer speed", check_speed(folder))
        yield from attempt("long lines", check_lines(folder))
