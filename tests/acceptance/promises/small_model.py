"""Speed promise 2: SmolLM2-135M against llama.cpp."""
from promises.rivalry import check_void, ratio_line, turns_of
from rivals import models


def check():
    turns = turns_of("SmolLM2", models.demo_model())
    check_void(turns)
    yield from ratio_line(turns, "decode", "llama.cpp", 2.0, 3.0)
    yield from ratio_line(turns, "prefill", "llama.cpp", 4.0, 8.0)
