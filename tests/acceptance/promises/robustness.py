"""Promise 7: nothing that lies in a file makes the program crash, hang or swallow memory."""
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import time

from promises.place import BUILD, HWTV, QUICK, ROOT, need, output_of

EXIT_CODES = {"invalid_request": 2, "unsupported": 3, "corrupt_file": 4, "io": 5, "out_of_memory": 6}
PEAK_BYTES = 64 << 20
SECONDS = 5


def check_fuzzers():
    seconds = os.environ.get("FUZZ_SECONDS", "20" if QUICK else "600")
    done = subprocess.run(["make", "--no-print-directory", "fuzz"], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, "FUZZ_SECONDS": seconds})
    quiet = re.findall(r"^fuzz (\S+): found nothing in \d+ s, (\d+) inputs", done.stdout, re.M)
    loud = re.findall(r"^fuzz (\S+): FOUND", done.stdout, re.M)
    yield (done.returncode == 0 and quiet and not loud, "fuzzers",
           f"{len(quiet)} found nothing ({', '.join(f'{name} {n}' for name, n in quiet)} inputs)"
           + (f"; found something: {' '.join(loud)}" if loud else ""), f"nothing in {seconds} s each")


def inspect(path):
    """(exit code, stdout, stderr, peak bytes, seconds) of `hwtv inspect` on a file."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        process = subprocess.Popen([HWTV, "inspect", path], stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        return (process.returncode, out.read().decode("utf-8", "replace"),
                err.read().decode("utf-8", "replace"), usage.ru_maxrss * 1024, seconds)


def complaint(path, code):
    """What is wrong with the answer to a bad file, and its peak memory."""
    status, out, err, peak, seconds = inspect(path)
    lines = err.splitlines()
    if status != EXIT_CODES[code]:
        return f"exit code {status}, expected {EXIT_CODES[code]}", peak
    if out or len(lines) != 2 or not lines[0].startswith("hwtv: ") or not lines[1].strip():
        return f"not one error of two lines: {err[:200]!r}", peak
    if peak > PEAK_BYTES:
        return f"peak memory {peak / 2**20:.0f} MiB", peak
    return (f"took {seconds:.1f} s" if seconds > SECONDS else ""), peak


def check_bad_files():
    tool = need(BUILD / "src/gguf/gguf_bad_files", "cmake --build build/release")
    wrong, most = [], 0
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-") as folder:
        output_of([tool, folder])
        rows = [line.split("\t") for line in (pathlib.Path(folder) / "index.tsv").read_text().splitlines()]
        for name, code, _ in rows:
            what, peak = complaint(pathlib.Path(folder) / f"{name}.gguf", code)
            most = max(most, peak)
            wrong += [f"{name}: {what}"] if what else []
    yield (len(rows) >= 40 and not wrong, "bad files",
           f"{len(rows)} files, {len(wrong)} wrong, peak memory {most / 2**20:.1f} MiB"
           + "".join(f"\n    {line}" for line in wrong[:10]),
           "at least 40, one error of two lines each, documented exit code, peak < 64 MiB")


def check():
    # A child's ru_maxrss begins at what this process held when it was started.
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > PEAK_BYTES:
        raise RuntimeError("this check must run in a small process: alone, ONLY=7")
    yield from check_bad_files()
    yield from check_fuzzers()
