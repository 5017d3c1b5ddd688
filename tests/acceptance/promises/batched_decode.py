"""Speed promise 4: sixteen sequences that decode together."""
import statistics

from promises.rivalry import ROUNDS, THREADS
from rivals import llama_cpp, models, ours
from rivals.quiet import alone

N_SEQS, TARGET = 16, 2.5


def check():
    model, our_rates, their_rates = models.random_model("Q4_0"), [], []
    for _ in range(ROUNDS):
        with alone():
            rows = ours.bench(model, THREADS, batch=[N_SEQS])[1]
            our_rates.append(rows["batch", N_SEQS]["tokens_per_s"])
        with alone():
            their_rates.append(llama_cpp.batched(model, THREADS, N_SEQS))
    one, other = statistics.median(our_rates), statistics.median(their_rates)
    yield (one >= TARGET * other, f"Q4_0 decode of {N_SEQS} together",
           f"{one / other:.2f} x, {one:.1f} against {other:.1f} tok/s, {ROUNDS} rounds", f">= {TARGET} x")
