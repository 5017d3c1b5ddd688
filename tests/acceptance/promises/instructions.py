"""Speed promise 10: what the kernels execute, as numbers that no busy machine disturbs: the instructions of
one decode step with AVX2, counted by callgrind, and those of the inner loops with AVX-512, counted in the
program.  Both are kept in instructions.json; RECORD=1 writes what is found now."""
import collections
import json
import os
import pathlib
import re
import subprocess

from promises.place import HWTV, MODEL, Failed, Missing, need, output_of

KEPT_COUNTS = pathlib.Path(__file__).with_name("instructions.json")
WITHIN = 0.05
MOST_TOLD = 5  # of what differs
FEW, MANY = 2, 4  # decoded tokens of two runs, whose difference has nothing of loading and prefill


def executed(n_tokens):
    """Instructions of a whole run with so many tokens, on one thread."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", HWTV, "run", MODEL, "--raw",
               "-p", "a", "-n", n_tokens, "--ctx", 64, "--threads", 1, "--no-account"]
    try:
        done = subprocess.run(list(map(str, command)), env={**os.environ, "HWTV_ISA": "avx2"}, check=False,
                              capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Missing("valgrind is not installed: scripts/install_packages.sh acceptance") from error
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise Failed(f"callgrind exits {done.returncode}: {done.stderr.strip()[-300:]}")
    return int(found[1])


def step_instructions():
    need(MODEL, "make model")
    return round((executed(MANY) - executed(FEW)) / (MANY - FEW))


FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\S+)(?: +([0-9a-f]+) <)?")


def loops(instructions):
    """(first, last) index of each innermost loop: a jump back that holds no other one."""
    at = {address: index for index, (address, _, _) in enumerate(instructions)}
    found = [(at[target], index) for index, (address, name, target) in enumerate(instructions)
             if name.startswith("j") and target in at and target <= address]
    return [one for one in found if not any(
        other != one and one[0] <= other[0] and other[1] <= one[1] for other in found)]


def short_name(symbol):
    """multiply_tile<FormatQ4_0> of what the compiler calls it."""
    name = re.sub(r"\(anonymous namespace\)::|hwtv::\w+::", "", symbol).split("(")[0]
    return name.removeprefix("void ")


def inner_loops():
    """{kernel: ["instructions/dot products" of each inner loop that has some]} of those with AVX-512 VNNI."""
    functions, body = collections.defaultdict(list), None
    for line in output_of(["objdump", "-d", "--no-show-raw-insn", "-C", HWTV]).decode().splitlines():
        if head := FUNCTION.match(line):
            body = functions[head[1]] if "hwtv::cpu::" in head[1] else None
        elif body is not None and (word := INSTRUCTION.match(line)):
            name = word[2] + (" zmm" if word[2].startswith("vpdpbusd") and "%zmm" in line else "")
            body.append((int(word[1], 16), name, int(word[3], 16) if word[3] else -1))
    counts = {}
    for symbol, instructions in functions.items():
        sizes = []
        for first, last in loops(instructions):
            n_dots = sum(name.endswith(" zmm") for _, name, _ in instructions[first:last + 1])
            if n_dots:
                sizes.append(f"{last - first + 1}/{n_dots}")
        if sizes:
            counts.setdefault(short_name(symbol), []).extend(sizes)
    return {name: sorted(sizes) for name, sizes in sorted(counts.items())}


def recorded():
    return json.loads(KEPT_COUNTS.read_text()) if KEPT_COUNTS.exists() else {}


def record(**counts):
    KEPT_COUNTS.write_text(json.dumps({**recorded(), **counts}, indent=1, sort_keys=True) + "\n")


def differences(found, kept):
    """Kernels whose loops are not those that are kept, within 5 % of their instructions."""
    def like(one, other):
        (n, dots), (m, other_dots) = (map(int, size.split("/")) for size in (one, other))
        return dots == other_dots and abs(n - m) <= WITHIN * m
    return [name for name in sorted({*found, *kept})
            if len(found.get(name, [])) != len(kept.get(name, []))
            or not all(map(like, found.get(name, []), kept.get(name, [])))]


def check():
    loops_now = inner_loops()
    if os.environ.get("RECORD"):
        record(inner_loops=loops_now)
    kept = recorded().get("inner_loops", {})
    differing = differences(loops_now, kept)
    yield (bool(loops_now) and not differing, "AVX-512 VNNI inner loops",
           f"{len(loops_now)} kernels, {len(differing)} other than kept"
           + (": " + ", ".join(f"{name} {loops_now.get(name)} for {kept.get(name)}"
                               for name in differing[:MOST_TOLD]) if differing else ""),
           "instructions within 5 % of those kept, by dot products")
    step = step_instructions()
    if os.environ.get("RECORD"):
        record(decode_step_avx2=step)
    kept_step = recorded().get("decode_step_avx2")
    yield (bool(kept_step) and abs(step - kept_step) <= WITHIN * kept_step, "AVX2 decode step of SmolLM2",
           f"{step / 1e6:.2f} M instructions"
           + (f", {100 * (step / kept_step - 1):+.1f} %" if kept_step else ""),
           f"within 5 % of {kept_step / 1e6:.2f} M" if kept_step else "a kept count: RECORD=1")
