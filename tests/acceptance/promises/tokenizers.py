"""Promise 3: texts become the peer's tokens, exactly."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

from promises.place import HWTV, PEER_SOURCE, QUICK, ROOT, Failed, need, output_of

CASES = ["bert-bge", "command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "gpt-2",
         "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2", "qwen35", "refact", "starcoder"]
WITHOUT_CASES = ["aquila", "baichuan", "gpt-neox", "nomic-bert-moe"]
BETWEEN = b"\n__ggml_vocab_test__\n"


def vocabulary(name):
    return need(PEER_SOURCE / f"models/ggml-vocab-{name}.gguf", "make peer-source")


def check_pair(name, folder):
    """(texts, texts that differ) of one case pair."""
    path = vocabulary(name)
    texts = pathlib.Path(f"{path}.inp").read_bytes().split(BETWEEN)
    lines = pathlib.Path(f"{path}.out").read_text().splitlines()
    # The file of texts ends with a separator, after which no case comes.
    if len(texts) not in (len(lines), len(lines) + 1):
        raise Failed(f"{name}: {len(texts)} texts, {len(lines)} lines of ids")
    n_wrong = 0
    for text, line in zip(texts, lines):
        file = pathlib.Path(folder) / "text"
        file.write_bytes(text)
        ids = json.loads(output_of([HWTV, "tokenize", path, file, "--json"]))["ids"]
        n_wrong += ids != [int(word) for word in line.split()]
    return len(lines), n_wrong


def check(seed="1"):
    """`seed`: of the random texts."""
    n_texts = n_wrong = 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        for name in CASES:
            texts, differ = check_pair(name, folder)
            n_texts += texts
            n_wrong += differ
            wrong += [name] if differ else []
    yield (n_wrong == 0, "tokenizer cases",
           f"{n_wrong} of {n_texts} texts differ in {len(CASES)} vocabularies {' '.join(wrong)}".strip(),
           f"0 of {len(CASES)} vocabularies")
    compare = need(ROOT / "tests/text/compare_peer.py", "it belongs to the repository")
    command = ["/usr/bin/python3", str(compare), "--hwtv", str(HWTV), "--seed", seed,
               "--texts", "2" if QUICK else "8"]
    # By name those that have no cases; without names all vocabularies, the demo model included.
    command += [str(vocabulary(name)) for name in WITHOUT_CASES] if QUICK else []
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    figure = re.sub(r"(PASS|FAIL) tokenizers against the peer: ", "", done.stdout.strip())
    yield done.returncode == 0, "tokenizers against the peer", figure.partition("; target")[0], "0 texts differ"
