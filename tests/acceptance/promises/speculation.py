"""Speed promise 9: speculation with prompt lookup pays where the answer repeats the prompt, costs next to
nothing elsewhere, and changes no text."""
import json
import os
import statistics
import tempfile

from promises.place import HWTV, MODEL, QUICK, Failed, need, output_of
from promises.rivalry import THREADS
from promises.speculation_prompts import EDITS, ORDINARY
from rivals.quiet import alone

ROUNDS = 2 if QUICK else 5
SHARE, FASTER, NOT_SLOWER = 0.6, 1.5, 0.97
N_EDIT, N_ORDINARY = 400, 200  # most tokens of an answer
SAMPLED = ["--temp", 0.8, "--seed", 7]
PAIR, LONGEST = 2, 64  # tokens that prompt lookup compares: at least, at most


def copyable(prompt, answer):
    """The share of the answer's tokens that followed the longest equal piece of the text before them."""
    text, places, n_right = prompt + answer, {}, 0
    for at in range(PAIR, len(text)):
        here = places.setdefault(tuple(text[at - PAIR:at]), [])
        if at >= len(prompt):
            longest, guess = 0, None
            for place in reversed(here):
                length = PAIR
                while length < min(LONGEST, place) and text[place - 1 - length] == text[at - 1 - length]:
                    length += 1
                if length > longest:
                    longest, guess = length, text[place]
            n_right += guess == text[at]
        here.append(at)
    return n_right / max(1, len(answer))


def answer_to(prompt, n_tokens, mode, words=()):
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as state:
        return json.loads(output_of([HWTV, "run", MODEL, "-p", prompt, "-n", n_tokens, "--threads", THREADS,
                                     "--json", "--speculate", mode, *words],
                                    env={**os.environ, "XDG_STATE_HOME": state}))


class Judged:
    """One prompt, answered with and without speculation."""

    def __init__(self, prompt, n_tokens):
        self.prompt, self.n_tokens = prompt, n_tokens
        self.ratios, self.same, self.share, self.speculation = [], True, 0, {}

    def take_turns(self, number):
        """Both ways, one right after the other: their ratio saw the same machine."""
        answers = {}
        with alone():
            for mode in ("off", "auto") if number % 2 == 0 else ("auto", "off"):
                answers[mode] = answer_to(self.prompt, self.n_tokens, mode)
        plain, guessed = answers["off"], answers["auto"]
        self.same &= all(plain[key] == guessed[key] for key in ("answer_tokens", "text", "finish_reason"))
        self.share = copyable(plain["prompt_tokens"], plain["answer_tokens"])
        self.speculation = guessed["account"]["speculation"]
        self.ratios.append(guessed["account"]["decode"]["tokens_per_s"]
                           / plain["account"]["decode"]["tokens_per_s"])

    @property
    def ratio(self):
        return statistics.median(self.ratios)

    def __str__(self):
        return (f"{100 * self.share:.0f} % copyable, {self.ratio:.2f} x, "
                f"{self.speculation['accepted_tokens']} of {self.speculation['proposed_tokens']} accepted")


def check():
    need(MODEL, "make model")
    edits = [Judged(prompt, N_EDIT) for prompt in (EDITS[:4] if QUICK else EDITS)]
    ordinary = [Judged(prompt, N_ORDINARY) for prompt in (ORDINARY[:4] if QUICK else ORDINARY)]
    for number in range(ROUNDS):
        for judged in edits + ordinary:
            judged.take_turns(number)
    for name, list_of in (("edit", edits), ("ordinary", ordinary)):
        for number, judged in enumerate(list_of, 1):
            print(f"      {name} {number}: {judged}", flush=True)
    repeating = [judged for judged in edits if judged.share >= SHARE]
    if 2 * len(repeating) < len(edits):
        raise Failed(f"only {len(repeating)} of {len(edits)} answers could be copied to {100 * SHARE:.0f} %")
    slowest = min(judged.ratio for judged in repeating)
    yield (slowest >= FASTER, "code repeated with a small change",
           f"{slowest:.2f} x or more on {len(repeating)} prompts, median "
           f"{statistics.median(judged.ratio for judged in repeating):.2f} x, {ROUNDS} rounds",
           f">= {FASTER} x where >= {100 * SHARE:.0f} % of the answer could be copied")
    slowest = min(judged.ratio for judged in ordinary)
    yield (slowest >= NOT_SLOWER, "ordinary prompts",
           f"{slowest:.2f} x or more on {len(ordinary)} prompts, median "
           f"{statistics.median(judged.ratio for judged in ordinary):.2f} x, {ROUNDS} rounds",
           f">= {NOT_SLOWER} x")
    sampled = [judged.prompt for judged in edits + ordinary]
    n_same = sum(judged.same for judged in edits + ordinary)
    n_same_sampled = sum(answer_to(prompt, 100, "off", SAMPLED)["answer_tokens"]
                         == answer_to(prompt, 100, "lookup", SAMPLED)["answer_tokens"] for prompt in sampled)
    yield (n_same == n_same_sampled == len(sampled), "the text",
           f"{n_same} of {len(sampled)} answers the same, greedy; {n_same_sampled} sampled",
           "all the same")
