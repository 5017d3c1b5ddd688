"""A Chinese text of any length: words of a vocabulary, the frequent ones often, between punctuation.
Few systems carry real Chinese text; this one has less repetition, so it takes a tokenizer longer."""
import itertools
import random

BETWEEN = "，，，。。、？！：\n"


def is_han(token):
    return bool(token) and all("\u4e00" <= c <= "\u9fff" for c in token)


def chinese_text(tokens, n_bytes, between=BETWEEN, seed=1):
    """`tokens`: texts, the frequent ones first.  Without `between` it is a line without spaces."""
    words = [token for token in tokens if is_han(token)]
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))
    rng = random.Random(seed)
    parts, size = [], 0
    while size < n_bytes:
        drawn = rng.choices(words, cum_weights=weights, k=rng.randrange(3, 12))
        parts.append("".join(drawn) + (rng.choice(between) if between else ""))
        size += 3 * len(parts[-1])
    return "".join(parts).encode()[:n_bytes // 3 * 3].decode(errors="ignore")
