"""Where things are: the program under test, the peer's tools, the cache of what takes long."""
import hashlib
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("HWTV_BUILD", ROOT / "build/release"))
HWTV = BUILD / "hwtv"
CACHE = pathlib.Path(os.environ.get("HWTV_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hwtv")
KEPT = CACHE / "acceptance"  # what takes long, keyed by what it was made from
MODEL = CACHE / "models/SmolLM2-135M-Instruct.Q4_1.gguf"
PEER_SOURCE = CACHE / "peer/llama_cpp_python-0.3.36/vendor/llama.cpp"
QUICK = os.environ.get("QUICK", "") not in ("", "0")


class Missing(Exception):
    """Something that the check needs is not there; says how to get it."""


class Failed(Exception):
    """A program that the check runs went wrong."""


def peer_tool(name):
    tool = CACHE / "peer/build/bin" / name
    if not tool.exists():
        raise Missing(f"{name} is not built: make peer")
    return str(tool)


def need(path, advice):
    if not pathlib.Path(path).exists():
        raise Missing(f"{path} is not there: {advice}")
    return pathlib.Path(path)


def output_of(command, **options):
    """The program's stdout; Failed with its last words when it does not exit with 0."""
    done = subprocess.run([str(word) for word in command], check=False,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options)
    if done.returncode != 0:
        words = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-400:]
        raise Failed(f"{pathlib.Path(command[0]).name} {' '.join(map(str, command[1:4]))} ... "
                     f"exits {done.returncode}: {words}")
    return done.stdout


def digest_of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_sources(*folders):
    """Of all files of some folders of src/: what a result depends on that only they can change."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted((ROOT / "src" / folder).iterdir()):
            if path.is_file():
                digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def kept(name, inputs, make, suffix=""):
    """The file KEPT/NAME-KEY, made by make(path) when it is not there yet; half-made ones don't count."""
    key = hashlib.sha256(repr(inputs).encode()).hexdigest()[:16]
    path = KEPT / f"{name}-{key}{suffix}"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        part = KEPT / f".part-{os.getpid()}-{path.name}"
        try:
            make(part)
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
    return path
