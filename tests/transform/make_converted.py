#!/usr/bin/env python3
"""Makes tests/transform/converted.json: what the peer's converter makes of the folders of
hf_folders.py, as digests.

Needs torch, transformers, sentencepiece and the peer's source tree:

    python3 tests/transform/make_converted.py PEER_LLAMA_CPP_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from gguf_digest import describe  # noqa: E402
from hf_folders import CASES, write_case  # noqa: E402

PEER_TYPES = {"F32": "f32", "F16": "f16", "BF16": "bf16", "Q8_0": "q8_0", None: "auto"}
# The types that each case is converted to; None: the converter's own choice.
TYPES = {case: [None] for case in CASES} | {"llama_pieces": [None, "F32", "F16", "Q8_0"],
                                            "gemma3": ["BF16", "F32"], "mistral": [None, "BF16"]}
# The peer knows a byte-level rule by the ids that a vocabulary gives one text, so none that was made
# at home: it is told the name.
RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
name = sys.argv.pop(1)
import convert_hf_to_gguf
from conversion.base import TextModel
if name:
    TextModel.get_vocab_base_pre = lambda self, tokenizer: name
convert_hf_to_gguf.main()
"""


def convert_with_peer(python, peer, folder, out, type_name, pre):
    """The error's last words, or nothing."""
    done = subprocess.run([python, "-c", RUN, peer, pre or "", folder, "--outfile", out, "--outtype",
                           PEER_TYPES[type_name]], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr[-2000:]


def main():
    peer, converted = sys.argv[1], {}
    with tempfile.TemporaryDirectory() as below:
        for case, types in TYPES.items():
            path, folder = write_case(case, below)
            for type_name in types:
                out = pathlib.Path(below) / "out.gguf"
                error = convert_with_peer(sys.executable, peer, path, out, type_name, folder.pre)
                if error:
                    sys.exit(f"{case}: {error}")
                converted.setdefault(case, {})[type_name or "auto"] = describe(out)
    lines = []
    for case, by_type in converted.items():
        for type_name, content in by_type.items():
            for kind, entries in content.items():
                body = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
                lines.append(f'"{case} {type_name} {kind}": {{\n{body}\n}}')
    path = pathlib.Path(__file__).parent / "converted.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path}: {len(lines)} lists, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
