"""`pull` survives a connection cut at any byte, a server that lies about length or range, and a full
disk, losing nothing already fetched: the real program against a hub on this machine."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

from promises.place import HWTV, QUICK, ROOT, Failed, need

sys.path.insert(0, str(ROOT / "tests/e2e"))
from hub_server import Hub, sha256, tiny_model  # noqa: E402

NAME = "owner/tiny-GGUF"
TIMEOUT_S = 120
SMALL = tiny_model(480)  # 2,016 bytes: one run for each
LARGE = tiny_model(1 << 20)


class Client:
    """`hwtv pull` with a cache of its own."""

    def __init__(self, hub, folder):
        self.hub, self.cache = hub, pathlib.Path(folder)
        kept = {key: value for key, value in os.environ.items()
                if not key.lower().endswith("_proxy") and not key.startswith(("HF_", "HWTV", "XDG_"))}
        self.environment = kept | {"HWTV_CACHE": str(self.cache), "HF_ENDPOINT": hub.address}

    def start(self, *words, **options):
        return subprocess.Popen([HWTV, "pull", *words, "--json", "-q"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.environment, **options)

    def pull(self, *words, **options):
        """(exit code, the answer or the error)."""
        with self.start(*words, **options) as process:
            out, err = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, json.loads(out) if process.returncode == 0 else err.decode()

    def model(self, by_hub):
        return self.cache / "models" / (f"{NAME}/tiny.gguf" if by_hub else "tiny.gguf")

    def part(self, by_hub):
        return self.model(by_hub).with_name("tiny.gguf.part")

    def forget(self):
        for path in (self.cache / "models").rglob("*.gguf*"):
            path.unlink()


@contextlib.contextmanager
def a_client(data):
    with Hub({NAME: {"tiny.gguf": data}, "": {"tiny.gguf": data}}) as hub, \
            tempfile.TemporaryDirectory(prefix="hwtv-pull-") as folder:
        yield Client(hub, folder)


def words_for(client, by_hub):
    return [NAME if by_hub else f"{client.hub.address}/tiny.gguf"]


def check_cuts():
    """One run for each byte at which the connection may break; a hash is known, and it is not."""
    step = 37 if QUICK else 1
    wrong, n, twice_bytes = [], 0, 0
    with a_client(SMALL) as client:
        for cut in range(0, len(SMALL), step):
            by_hub = (cut // step) % 2 == 0
            client.hub.requests.clear()
            client.hub.deeds["file"] = [{"cut": cut}]
            code, answer = client.pull(*words_for(client, by_hub))
            n += 1
            if code != 0 or client.model(by_hub).read_bytes() != SMALL:
                wrong.append(f"cut at {cut}: exit code {code}: {answer}")
                client.forget()
                continue
            again = client.hub.file_requests()[1][1].get("Range", "bytes=0-")
            twice_bytes += cut - int(again[6:-1])
            client.model(by_hub).unlink()
    # The first three bytes do not say that they are of a GGUF file, and are not kept.
    yield (not wrong and twice_bytes <= 6, "a cut at any byte",
           f"{n} cuts in a file of {len(SMALL)} bytes, {len(wrong)} wrong, {twice_bytes} bytes fetched twice"
           + "".join(f"\n    {line}" for line in wrong[:5]),
           "every file right, at most the first 3 bytes fetched twice")


def check_kills():
    """The process dies, again and again; what it had is what the next one begins with."""
    n_kills, lost_bytes, request = 4 if QUICK else 12, 0, None
    with a_client(LARGE) as client:
        for _ in range(n_kills):
            client.hub.requests.clear()
            client.hub.deeds["file"] = [{"bytes_per_s": 2 << 20}]
            before = client.part(True).stat().st_size if client.part(True).exists() else 0
            process = client.start(NAME)
            end = time.monotonic() + TIMEOUT_S
            while not (client.part(True).exists() and client.part(True).stat().st_size > before + 100000):
                if process.poll() is not None or time.monotonic() > end:
                    raise Failed(f"pull ended by itself: {process.communicate()}")
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            request = client.hub.file_requests()[0][1].get("Range", "bytes=0-")
            lost_bytes += before - int(request[6:-1])
            data = client.part(True).read_bytes()
            if data != LARGE[:len(data)] or client.model(True).exists():
                lost_bytes += 1 << 30
        code, _ = client.pull(NAME)
        right = code == 0 and client.model(True).read_bytes() == LARGE
    yield (right and lost_bytes == 0, "killed and begun again", f"{n_kills} kills, {lost_bytes} bytes lost, "
           f"the file {'right' if right else 'wrong'}", "the right file, nothing lost")


def lies():
    """(what the server does, with something kept already)."""
    size = len(SMALL)
    for length in [0, 1, 3, 100, size - 1, size + 1, 10 * size, None]:
        yield {"length": length}
    for words in ["bytes 0-99/100", f"bytes 0-{size - 1}/{size}", f"bytes 1001-{size - 1}/{size}",
                  f"bytes 1000-{size - 1}/{size + 5}", "bytes 1000-999/2016", f"bytes */{size}", "bytes", "",
                  f"bytes 1000-{size - 1}/99999999999999999999999"]:
        yield {"fields": {"Content-Range": words}}
    yield {"status": 200, "ignores_range": True}
    yield {"ignores_range": True, "cut": 500}
    yield {"status": 206, "ignores_range": True}
    yield {"status": 416, "body": b""}
    yield {"ignores_range": True, "body": b"<!DOCTYPE html><html>a login</html>"}
    yield {"ignores_range": True, "body": tiny_model(480, b"evil")}
    yield {"fields": {"Content-Encoding": "gzip"}}
    yield {"length": 100, "ignores_range": True}


def check_lies():
    """1,000 bytes are kept when the server begins to lie: once, and then always."""
    wrong, n, refused = [], 0, 0
    with a_client(SMALL) as client:
        for lie in lies():
            for by_hub in (True, False):
                for always in (False, True):
                    n += 1
                    client.forget()
                    client.hub.deeds["file"] = [{"cut": 1000}, {"status": 404}]
                    client.pull(*words_for(client, by_hub))
                    if client.part(by_hub).read_bytes() != SMALL[:1000]:
                        raise Failed("the 1,000 bytes to begin with are not there")
                    client.hub.deeds["file"] = [] if always else [lie]
                    client.hub.always = lie if always else {}
                    code, answer = client.pull(*words_for(client, by_hub), "--retries", "1")
                    client.hub.always = {}
                    refused += code != 0
                    what = told_wrong(client, by_hub, lie, code)
                    how = f"{'always' if always else 'once'}, {'a' if by_hub else 'no'} hash"
                    wrong += [f"{lie} {how}: {what}: {answer}"] if what else []
    yield (not wrong, "lies about length and range",
           f"{n} cases, {n - refused} fetched right, {refused} refused, {len(wrong)} wrong"
           + "".join(f"\n    {line}" for line in wrong[:5]),
           "the right file, or an error and every byte of before")


def told_wrong(client, by_hub, lie, code):
    """What is wrong after a lie; empty: nothing."""
    model, part = client.model(by_hub), client.part(by_hub)
    if code == 0:
        # Without a hash, another whole GGUF file in place of the first is what the address has now.
        data = model.read_bytes()
        right = data == SMALL or (not by_hub and data == lie.get("body"))
        return "" if right else "a wrong file bears the name"
    if model.exists():
        return "an error, and a file that bears the name"
    if "body" in lie and lie["body"].startswith(b"GGUF"):
        return ""  # another file throughout: the hash says that nothing of it may stay
    kept = part.read_bytes() if part.exists() else b""
    return "" if kept[:1000] == SMALL[:1000] else f"{len(kept)} bytes are kept, not the 1,000 of before"


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk of that size where root may mount one; None otherwise."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=False,
                          stderr=subprocess.DEVNULL)
    try:
        yield folder if done.returncode == 0 else None
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=False)


def limited_to(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def check_full_disk():
    with a_client(LARGE) as client, small_disk(client.cache, 3 << 20) as disk:
        # Where the whole file's size is known the space is looked at first; here it is not.
        client.hub.deeds["file"] = [{"length": None}]
        address = words_for(client, False)
        options = {} if disk else {"preexec_fn": limited_to(1 << 20)}
        code, error = client.pull(*address, **options)
        kept = client.part(False).stat().st_size
        same = client.part(False).read_bytes() == LARGE[:kept]
        no_space = "No space left" in error if disk else "File too large" in error
        if disk:
            subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
        client.hub.requests.clear()
        code_then, _ = client.pull(*address)
        asked = client.hub.file_requests()[0][1].get("Range", "bytes=0-")
        right = code_then == 0 and client.model(False).read_bytes() == LARGE
    yield (code == 5 and no_space and same and kept > 0 and asked == f"bytes={kept}-" and right, "a full disk",
           f"{'a disk of 3 MiB' if disk else 'a limit of 1 MiB'}: exit code {code}, {kept:,} of "
           f"{len(LARGE):,} bytes kept, {'right' if same else 'wrong'}; with space it asked for {asked} "
           f"and the file was {'right' if right else 'wrong'}", "exit code 5, all kept, and gone on from there")


def check_space_first():
    with a_client(LARGE) as client:
        huge = json.dumps([{"type": "file", "path": "tiny.gguf", "size": 1 << 60}]).encode()
        client.hub.deeds["listing"] = [{"body": huge}]
        code, error = client.pull(NAME)
        asked = len(client.hub.file_requests())
    yield (code == 5 and asked == 0 and "are free there" in error, "space is looked at first",
           f"exit code {code}, {asked} requests for the file: {error.splitlines()[0] if code else ''}",
           "exit code 5 with both numbers, no request")


def check_hash():
    with a_client(SMALL) as client:
        client.hub.always = {"body": tiny_model(480, b"evil")}
        code, error = client.pull(NAME)
        left = [path.name for path in client.cache.rglob("*.gguf*")]
    yield (code == 4 and not left and sha256(SMALL) in error, "a wrong hash",
           f"exit code {code}, left: {left}", "exit code 4, nothing left")


def check():
    need(HWTV, "make build")
    yield from check_cuts()
    yield from check_kills()
    yield from check_lies()
    yield from check_full_disk()
    yield from check_space_first()
    yield from check_hash()
