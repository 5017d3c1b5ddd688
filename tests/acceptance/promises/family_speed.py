"""Families promise 5: shapes of other families with random weights against llama.cpp, by the ratios of the
speed promises; a mixture of 16 experts, of which each token goes through 2, by ratios of its own."""
from promises import large_model
from promises.lines import attempt
from promises.place import QUICK, Failed
from promises.rivalry import check_void, ratio_line, turns_of
from rivals import models

TYPES = ("Q4_0", "Q8_0", "Q4_K_M")
EXPERTS = (1.5, 2.0)
ROUNDS = 1 if QUICK else 3
# No record of the peer says what these models should reach.  But ours is bound by the bandwidth, of which
# llama.cpp takes 30 % or more by every record of its: a wider decode ratio is a disturbed peer.
MOST_DECODE_RATIO = 4.0


def targets(shape, dtype):
    """What decode and prefill must reach of llama.cpp's.  The promise's "(decode >= 1.5 x, prefill >= 2 x)"
    stands beside the experts and is read as theirs alone: for all shapes it would leave nothing of "the
    ratios of the speed issue"."""
    return EXPERTS if shape == "16x40m" else large_model.TARGETS[dtype]


def check_plausible(turns):
    """Failed where the peer is too far behind to have had the machine."""
    ratio = turns.ratio("decode", "llama.cpp")
    if ratio and ratio > MOST_DECODE_RATIO:
        raise Failed(f"void, a peer was disturbed: llama.cpp decode {turns.median('llama.cpp', 'decode'):.1f} "
                     f"tok/s, {ratio:.1f} x slower than hwtv where at most {MOST_DECODE_RATIO} is plausible")


def check_shape(shape, dtype):
    model = models.family_model(shape, dtype)
    turns = turns_of(f"{shape} {dtype}", model, rounds=ROUNDS)
    check_void(turns)
    check_plausible(turns)
    for what, target, goal in zip(("decode", "prefill"), targets(shape, dtype), large_model.GOALS):
        yield from ratio_line(turns, what, "llama.cpp", target, goal)


def check():
    for shape in models.FAMILY_SHAPES:
        for dtype in TYPES:
            yield from attempt(f"{shape} {dtype}", check_shape(shape, dtype))
