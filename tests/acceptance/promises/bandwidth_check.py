#!/usr/bin/env python3
"""The bandwidth probe against likwid-bench, interleaved: medians within 10 % on a buffer of 2 GiB.

    bandwidth_check.py [--hwtv build/release/hwtv] [--bytes 2147483648] [--rounds 7] [--threads N]

Prints one line, PASS or FAIL with its figure and its target, and exits 0 or 1.  Wants a machine
that does nothing else: each program reads the buffer with the same number of threads and ordinary
pages, in turns.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

TARGET = 0.10  # of the ratio of the medians to 1
# likwid's loops that only load, by the instruction set they need; the widest one is taken.
LOADS = [("avx512f", "load_avx512"), ("avx", "load_avx"), ("sse2", "load_sse")]


def likwid_test():
    flags = re.search(r"^flags\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    words = flags.group(1).split() if flags else []
    return next((test for flag, test in LOADS if flag in words), "load")


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAIL bandwidth: {' '.join(command)} exits {done.returncode}: "
                 f"{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def probe(hwtv, n_bytes, n_threads):
    read = json.loads(output_of([hwtv, "devices", "--threads", str(n_threads),
                                 "--bandwidth", str(n_bytes), "--json"]))
    if read["buffer_bytes"] != n_bytes:
        sys.exit(f"FAIL bandwidth: asked for {n_bytes} bytes, got {read['buffer_bytes']}")
    return read["bytes_per_s"]


def likwid(test, n_bytes, n_threads):
    text = output_of(["likwid-bench", "-t", test, "-w", f"N:{n_bytes // 1000}kB:{n_threads}"])
    rate = re.search(r"^MByte/s:\s+([0-9.]+)", text, re.M)
    if not rate:
        sys.exit(f"FAIL bandwidth: likwid-bench says no rate:\n{text}")
    return float(rate.group(1)) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hwtv", default="build/release/hwtv")
    parser.add_argument("--bytes", type=int, default=2 << 30)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    test = likwid_test()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(probe(options.hwtv, options.bytes, options.threads))
        theirs.append(likwid(test, options.bytes, options.threads))
    ratio = statistics.median(ours) / statistics.median(theirs)
    passed = abs(ratio - 1) <= TARGET
    spread = (max(theirs) - min(theirs)) / statistics.median(theirs)
    print(f"{'PASS' if passed else 'FAIL'} bandwidth: "
          f"probe {statistics.median(ours) / 1e9:.2f} GB/s, "
          f"likwid-bench {test} {statistics.median(theirs) / 1e9:.2f} GB/s, ratio {ratio:.3f}, "
          f"target 1 +- {TARGET:.2f} ({options.threads} threads, {options.bytes / 2**30:.2f} GiB, "
          f"{options.rounds} rounds, spread {100 * spread:.0f} %)")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
