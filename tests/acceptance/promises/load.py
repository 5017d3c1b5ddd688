"""Speed promise 8: what loading takes, in memory and in time."""
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from promises.fidelity import license_text
from promises.lines import attempt
from promises.memory import prompt_of
from promises.place import HWTV, QUICK, Failed, output_of, peer_tool
from promises.rivalry import ROUNDS, THREADS
from rivals import models
from rivals.quiet import alone

MIB = 1 << 20
OF_FILE, ROOM_BYTES, OF_PEER = 1.1, 100 * MIB, 1.2
N_PROMPT = 32
TYPES = ("Q4_0", "Q8_0", "Q4_K_M")


def peak_bytes(command):
    """The most that the process held at once (VmHWM)."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{command[1]} exits {process.returncode}")
    return usage.ru_maxrss * 1024


def wall_s(command):
    begin = time.monotonic()
    output_of(command)
    return time.monotonic() - begin


def check_model(name, text, folder):
    model = models.demo_model() if name == "SmolLM2" else models.random_model(name)
    prompt = prompt_of(model, text, N_PROMPT, folder)
    run = [HWTV, "run", model, "-f", prompt, "--raw", "--ctx", 512, "--threads", THREADS]
    memory = json.loads(output_of([*run, "-n", 8, "--json"]))["account"]["memory"]
    allowed = OF_FILE * pathlib.Path(model).stat().st_size + memory["kv_bytes"] + ROOM_BYTES
    peak = peak_bytes([*run, "-n", 8, "--no-account"])
    yield (peak <= allowed, f"{name} peak memory", f"{peak / MIB:.0f} MiB",
           f"<= {allowed / MIB:.0f} MiB, 1.1 x the file, KV and 100 MiB")
    yield from attempt(f"{name} load to first token", check_time(name, model, run))


def check_time(name, model, run):
    """Against a program that loads the model, computes as many tokens and ends."""
    peer = [peer_tool("llama-bench"), "-m", model, "-p", N_PROMPT, "-n", 0, "-r", 1, "--no-warmup", "-fa", 1,
            "-t", THREADS]
    our_s, their_s = [], []
    for _ in range(ROUNDS):
        with alone():
            our_s.append(wall_s([*run, "-n", 1, "--no-account"]))
            their_s.append(wall_s(peer))
    one, other = statistics.median(our_s), statistics.median(their_s)
    yield (one <= OF_PEER * other, f"{name} load to first token",
           f"{one / other:.2f} x, {one:.2f} against {other:.2f} s, {ROUNDS} rounds",
           f"<= {OF_PEER} x llama.cpp's")


def check():
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        text = license_text(folder)
        for name in ("SmolLM2", *(TYPES[:1] if QUICK else TYPES)):
            yield from attempt(name, check_model(name, text, folder))
