"""What the end-to-end tests share: the real binary, the demo model, folders of their own."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HWTV = pathlib.Path(os.environ.get("HWTV", "build/release/hwtv")).resolve()
CACHE = pathlib.Path(os.environ.get("HWTV_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hwtv")
MODEL = CACHE / "models/SmolLM2-135M-Instruct.Q4_1.gguf"
VOCABULARY = CACHE / "peer/llama_cpp_python-0.3.36/vendor/llama.cpp/models/ggml-vocab-llama-spm.gguf"
TIMEOUT_S = 300

# The documented exit codes.
OK, INVALID_REQUEST, UNSUPPORTED, CORRUPT_FILE, IO, OUT_OF_MEMORY, CANCELLED = 0, 2, 3, 4, 5, 6, 130


class Answer:
    """How a run of the program ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.out)


class ProgramTest(unittest.TestCase):
    """Each test has a folder, a cache without models' rates and a journal of its own."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hwtv-e2e-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "cache/hwtv/models").mkdir(parents=True)
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("HWTV", "XDG_"))}
        self.environment |= {"XDG_CACHE_HOME": str(self.folder / "cache"),
                             "XDG_STATE_HOME": str(self.folder / "state")}

    def start(self, *words, environment=None, **options):
        """A running process with pipes."""
        return subprocess.Popen([HWTV, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.folder,
                                env=self.environment | (environment or {}), **options)

    def hwtv(self, *words, given="", environment=None, **options):
        with self.start(*words, environment=environment, **options) as process:
            try:
                out, err = process.communicate(given.encode() if isinstance(given, str) else given,
                                               TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Answer(process.returncode, out, err)

    def good(self, *words, **options):
        """The stdout of a run that must succeed."""
        answer = self.hwtv(*words, **options)
        self.assertEqual(answer.code, OK, f"hwtv {words}: {answer.err}")
        return answer.out

    def refused(self, code, *words, says=(), **options):
        """A run that must end with this code, nothing on stdout and one error of two lines."""
        answer = self.hwtv(*words, **options)
        self.assertEqual(answer.code, code, f"hwtv {words}: {answer.err}")
        self.assertEqual(answer.out, "")
        lines = [line for line in answer.err.splitlines() if not line.startswith("predicted ")]
        self.assertEqual(len(lines), 2, answer.err)
        self.assertTrue(lines[0].startswith("hwtv: "), answer.err)
        self.assertTrue(lines[1].strip(), answer.err)
        for words_said in says:
            self.assertIn(words_said, answer.err)
        return answer

    def need_model(self):
        """Skips where nothing was ever fetched, and fails where the model alone is missing."""
        if not CACHE.exists():
            self.skipTest(f"there is no {CACHE}: make model")
        self.assertTrue(MODEL.exists(), f"{MODEL} is missing: make model")

    def need_vocabulary(self):
        if not CACHE.exists():
            self.skipTest(f"there is no {CACHE}: make peer-source")
        self.assertTrue(VOCABULARY.exists(), f"{VOCABULARY} is missing: make peer-source")


def main():
    sys.exit(unittest.main(module="__main__", verbosity=2))
