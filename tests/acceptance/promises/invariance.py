"""Promise 6: the same bits, whatever the thread count, the chunk size, the batch mates or the guesses."""
import json
import pathlib
import tempfile

from promises.fidelity import license_text
from promises.place import BUILD, MODEL, QUICK, need, output_of

N_TOKENS = 1000
# Threads, prompt tokens per step (0: the whole prompt in one), sequences beside the one that is judged, and
# how tokens are guessed.
WAYS = [(1, 64, 0, "off"), (2, 64, 0, "off"), (3, 64, 0, "auto"), (2, 1, 0, "off"), (2, 7, 0, "lookup"),
        (2, 0, 0, "lookup"), (2, 64, 3, "lookup"), (3, 7, 2, "off"), (1, 0, 1, "auto")]


def check():
    need(MODEL, "make model")
    tool = need(BUILD / "tests/e2e/invariance", "cmake --build build/release")
    n_tokens = 64 if QUICK else N_TOKENS
    found, n_guessed = {}, 0
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        prompt = pathlib.Path(folder) / "prompt.txt"
        prompt.write_bytes(license_text(folder).read_bytes()[700:1900])
        for temperature in ("0", "0.8"):
            for threads, chunk, mates, speculate in WAYS:
                answer = json.loads(output_of([tool, MODEL, prompt, n_tokens, threads, chunk, mates,
                                               temperature, speculate]))
                same = (answer["n_tokens"], answer["ids_hash"], answer["logits_hash"])
                n_guessed += answer["n_guessed"]
                found.setdefault((temperature, same), []).append((threads, chunk, mates, speculate))
    kinds = len(found)
    odd = [str(way) for ways in list(found.values())[2:] for way in ways]
    enough = all(same[0] == n_tokens for _, same in found)
    yield (kinds == 2 and enough and n_guessed > 0, "batch invariance",
           f"{2 * len(WAYS)} runs of {n_tokens} tokens, {kinds - 2} beside the two expected hashes, "
           f"{n_guessed} tokens guessed"
           + (f": (threads, chunk, mates, guesses) {' '.join(odd)}" if odd else ""),
           "ids and logits bit-identical, greedy and sampled")
