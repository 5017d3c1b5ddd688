"""What the speed promises share: engines in turns on one model, their ratios as lines."""
import os

from promises.lines import Goal
from promises.place import QUICK, Failed
from rivals.llama_cpp import LlamaCpp
from rivals.openvino_peer import NotSupported, OpenVino
from rivals.ours import Hwtv
from rivals.turns import Turns

THREADS = min(2, len(os.sched_getaffinity(0)))
ROUNDS = 2 if QUICK else 7
PREFILL, DECODE = 512, 64


def turns_of(name, model, vocabulary=None, rounds=ROUNDS):
    """hwtv, llama.cpp and, where the vocabulary is given, OpenVINO GenAI on one model."""
    turns, engines = Turns(name, THREADS), [Hwtv(model, THREADS), LlamaCpp(model, THREADS)]
    try:
        if vocabulary:
            try:
                engines.append(OpenVino(model, THREADS, vocabulary))
            except NotSupported as reason:
                turns.absent[OpenVino.name] = str(reason)
        return turns.run(engines, rounds, PREFILL, DECODE)
    finally:
        for engine in engines:
            engine.close()


def check_void(turns):
    """Failed where the run cannot be held against anything."""
    if turns.void():
        raise Failed("void, a peer was disturbed: " + "; ".join(turns.void()))


def ratio_line(turns, what, engine, target, goal=None):
    """The line of one ratio, and that of its goal."""
    ratio = turns.ratio(what, engine)
    ours, theirs = turns.median("hwtv", what), turns.median(engine, what)
    if ratio is None:
        yield (False, f"{turns.model_name} {what} against {engine}",
               f"could not be checked: {turns.absent.get(engine, 'it gave no figure')}", f">= {target}")
        return
    rounds = f"{turns.rounds} round{'s' * (turns.rounds != 1)}"
    figure = f"{ratio:.2f} x, {ours:.1f} against {theirs:.1f} tok/s, {rounds}"
    name = f"{turns.model_name} {what} against {engine}"
    yield ratio >= target, name, figure, f">= {target} x"
    if goal:
        yield Goal((ratio >= goal, name, f"{ratio:.2f} x", f">= {goal} x"))
