"""Several engines on one model, in turns: round after round, so that all see the same machine."""
import json
import statistics

from promises.place import HWTV, output_of
from rivals import models, ours, record
from rivals.quiet import alone

PROBE_BYTES = 1 << 30


def read_gb_s(threads):
    """This machine's read bandwidth beyond its caches, now."""
    answer = output_of([HWTV, "devices", "--bandwidth", PROBE_BYTES, "--threads", threads, "--json"])
    return json.loads(answer)["median_bytes_per_s"] / 1e9


def vector_gop_s(threads):
    """The int8 peak of this machine's vector units, now.  The record was made with them: a matrix unit (AMX)
    has ten times as much, and not every peer uses it."""
    device = json.loads(output_of([HWTV, "devices", "--threads", threads, "--json"]))["devices"][0]
    isa = next(peak["isa"] for peak in device["measured"]["peaks"] if peak["isa"] != "amx")
    rows = ours.bench(models.demo_model(), threads, [64], isa=isa)[1]
    return rows["prefill", 64]["limit_ops_per_s"] / 1e9


class Series:
    """The rates of one engine in one test, and what the machine was measured to do right before each."""

    def __init__(self):
        self.rates, self.probes = [], []

    @property
    def scaled(self):
        """The rate for each GB/s or Gop/s that the machine had at that moment."""
        return statistics.median(rate / probe for rate, probe in zip(self.rates, self.probes))

    @property
    def median(self):
        return statistics.median(self.rates) if self.rates else None

    @property
    def spread(self):
        return (max(self.rates) - min(self.rates)) / self.median if self.rates else None


class Turns:
    """What the engines did in all rounds."""

    def __init__(self, model_name, threads):
        self.model_name, self.threads = model_name, threads
        self.series = {}  # (engine, "prefill" or "decode"): Series
        self.absent = {}  # engine: why it has no figures
        self.read, self.int8 = [], []
        self.rounds = 0

    def run(self, engines, rounds, prefill, decode):
        self.rounds += rounds
        for number in range(rounds):
            # Another one begins each round: whoever comes second finds warm caches.
            for engine in engines[number % len(engines):] + engines[:number % len(engines)]:
                if engine.name in self.absent:
                    continue
                with alone():
                    self.read.append(read_gb_s(self.threads))
                    self.int8.append(vector_gop_s(self.threads))
                    rates = engine.measure(prefill, decode)
                for what, rate in rates.items():
                    series = self.series.setdefault((engine.name, what), Series())
                    series.rates.append(rate)
                    series.probes.append((self.read if what == "decode" else self.int8)[-1])
        return self

    def median(self, engine, what):
        """None where it has no figure."""
        series = self.series.get((engine, what))
        return series.median if series else None

    def ratio(self, what, engine, to="hwtv"):
        ours, theirs = self.median(to, what), self.median(engine, what)
        return ours / theirs if ours and theirs else None

    def void(self):
        """Why the run cannot be held against the record; empty: it can."""
        if self.threads != record.THREADS or not self.int8:
            return []
        past, reasons = record.of_cpu(record.this_cpu()), []
        for (engine, what), series in sorted(self.series.items()):
            share = record.share(past, engine, self.model_name, what, series.scaled)
            if share is not None and share < 1 - record.ALLOWED_BELOW:
                reasons.append(f"{engine} {what} {series.median:.1f} tok/s, {100 * share:.0f} % of its record "
                               f"at {statistics.median(series.probes):.1f} {record.UNITS[what]}")
        return reasons
