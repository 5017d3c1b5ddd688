"""Families promise 2: a real gemma3, judged as the first model was, and its decode against the peer's."""
from promises.fidelity import Subject, check_subject
from promises.lines import attempt
from promises.place import CACHE
from promises.rivalry import check_void, ratio_line, turns_of

GEMMA3 = Subject(CACHE / "models/gemma-3-270m-q4_k_m.gguf", {"exact": 11.9922, "peer": 12.0621},
                 "prompts_gemma3.json", [1, 106], "scripts/fetch_model.sh gemma3")
DECODE = 2.0


def check_speed():
    turns = turns_of("gemma3-270m", GEMMA3.model)
    check_void(turns)
    yield from ratio_line(turns, "decode", "llama.cpp", DECODE)


def check():
    yield from attempt("gemma3-270m numbers", check_subject(GEMMA3))
    yield from attempt("gemma3-270m speed", check_speed())
