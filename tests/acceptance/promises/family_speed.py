"""Families promise 5: shapes of other families with random weights against llama.cpp, by the ratios of the
speed promises; a mixture of 16 experts, of which each token goes through 2, by ratios of its own."""
from promises import large_model
from promises.lines import attempt
from promises.place import QUICK
from promises.rivalry import check_void, ratio_line, turns_of
from rivals import models

TYPES = ("Q4_0", "Q8_0", "Q4_K_M")
EXPERTS = (1.5, 2.0)
ROUNDS = 1 if QUICK else 3


def targets(shape, dtype):
    """What decode and prefill must reach of llama.cpp's.  The promise's "(decode >= 1.5 x, prefill >= 2 x)"
    stands beside the experts and is read as theirs alone: for all shapes it would leave nothing of "the
    ratios of the speed issue"."""
    return EXPERTS if shape == "16x40m" else large_model.TARGETS[dtype]


def check_shape(shape, dtype):
    model = models.family_model(shape, dtype)
    turns = turns_of(f"{shape} {dtype}", model, rounds=ROUNDS)
    check_void(turns)
    for what, target, goal in zip(("decode", "prefill"), targets(shape, dtype), large_model.GOALS):
        yield from ratio_line(turns, what, "llama.cpp", target, goal)


def check():
    for shape in models.FAMILY_SHAPES:
        for dtype in TYPES:
            yield from attempt(f"{shape} {dtype}", check_shape(shape, dtype))
