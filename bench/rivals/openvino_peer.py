"""OpenVINO GenAI through its GGUF reader, in an environment of its own in the cache folder."""
import json
import os
import pathlib
import subprocess
import sys

from promises.place import CACHE, Failed

VERSION = "2026.4.1"
PACKAGES = [f"openvino-genai=={VERSION}.0", f"openvino-tokenizers=={VERSION}.0"]


class NotSupported(Exception):
    """The package is not to be had here, or it does not read this model."""


def environment():
    """The Python that has the packages; made on the first call."""
    folder = CACHE / f"openvino-genai-{VERSION}"
    python = folder / "bin/python"
    if python.exists():
        return python
    part = folder.with_name(f".part-{os.getpid()}-{folder.name}")
    try:
        subprocess.run([sys.executable, "-m", "venv", part], check=True, capture_output=True)
        subprocess.run([part / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                        *PACKAGES], check=True, capture_output=True)
        part.rename(folder)  # python -m pip and the packages work from wherever they lie
    except (OSError, subprocess.CalledProcessError) as error:
        words = getattr(error, "stderr", b"") or str(error).encode()
        raise NotSupported(f"{PACKAGES[0]} cannot be installed: "
                           f"{words.decode('utf-8', 'replace').strip()[-200:]}") from error
    return python


class OpenVino:
    name = "OpenVINO GenAI"

    def __init__(self, model, threads, vocabulary):
        script = pathlib.Path(__file__).with_name("openvino_worker.py")
        self.worker = subprocess.Popen([environment(), script, str(model), str(threads)], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
        self.vocabulary, self.seed = vocabulary, 0
        try:
            self.load_s = self.reply()["ready"]
            self.ask(8, 2)
        except (NotSupported, Failed):
            self.close()
            raise

    def reply(self):
        line = self.worker.stdout.readline()
        if not line:
            raise NotSupported(f"its process ended with {self.worker.wait()}")
        answer = json.loads(line)
        if "not_supported" in answer:
            raise NotSupported(answer["not_supported"])
        return answer

    def ask(self, prompt, decode):
        self.seed += 1  # other ids each time, so that nothing is remembered
        print(json.dumps({"prompt": prompt, "decode": decode, "vocabulary": self.vocabulary,
                          "seed": self.seed}), file=self.worker.stdin, flush=True)
        return self.reply()

    def measure(self, prefill, decode):
        return {"prefill": prefill / self.ask(prefill, 0)["first_s"],
                "decode": 1 / self.ask(8, decode)["token_s"]}

    def close(self):
        self.worker.stdin.close()
        self.worker.kill()
        self.worker.wait()
