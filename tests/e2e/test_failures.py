#!/usr/bin/env python3
"""What goes wrong around a run: memory that is not there, Ctrl-C, readers that go, disks that are full."""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

from gguf_file import write_model
from program import CANCELLED, HWTV, IO, MODEL, OK, OUT_OF_MEMORY, ProgramTest, main


class MemoryTest(ProgramTest):
    PARTS = ["weights", "kv", "activations", "runtime", "cpu:0"]

    def refused_unloaded(self, *words, **options):
        """Refused with the parts of the sum, before much was held."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        answer = self.refused(OUT_OF_MEMORY, "run", *words, says=self.PARTS, **options)
        held = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(held - before, 200 << 10)  # KiB
        return answer

    def test_weights_that_do_not_fit(self):
        write_model(self.folder / "huge.gguf", n_layers=400, model_dim=16384, ffn_dim=32768, n_heads=128,
                    n_kv_heads=8, head_dim=128, context=4096)
        answer = self.refused_unloaded("huge.gguf", "-p", "abc")
        self.assertIn("no context fits", answer.err)

    def test_context_that_does_not_fit_names_one_that_does(self):
        # 8 GiB of cache for a thousand tokens.
        write_model(self.folder / "wide.gguf", n_layers=128, model_dim=32, ffn_dim=32, n_heads=16,
                    n_kv_heads=16, head_dim=1024, context=1 << 20)
        answer = self.refused_unloaded("wide.gguf", "-p", "abc", "--ctx", str(1 << 20))
        context = int(re.search(r"--ctx (\d+)", answer.err)[1])
        self.assertTrue(0 < context < 1 << 20)
        self.refused_unloaded("wide.gguf", "-p", "abc", "--ctx", str(context * 2))


def catches_interrupt(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return bool(int(re.search(r"^SigCgt:\s+(\S+)", status, re.M)[1], 16) & 1 << (signal.SIGINT - 1))


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class InterruptTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.need_model()

    def wait_until(self, process, true):
        for _ in range(2400):
            if true():
                return
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.05)
        self.fail("it never came")

    def test_first_one_stops_the_answer(self):
        with self.start("run", MODEL, "--raw", "-p", "1, 2, 3,", "-n", "4000") as process:
            self.assertEqual(process.stdout.read(2), b" 4")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, CANCELLED)
        self.assertIn(out[:1], (b",", b"\n"))  # one more piece, or the end at once
        self.assertIn(b"answer ", err)  # what was computed is accounted for

    def test_json_is_whole_after_it(self):
        with self.start("run", MODEL, "--raw", "-p", "1, 2, 3,", "-n", "4000", "--json") as process:
            self.wait_until(process, lambda: catches_interrupt(process.pid))
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, CANCELLED)
        self.assertEqual(json.loads(out)["finish_reason"], "cancelled")

    def test_second_one_ends_the_program_at_once(self):
        # One step of the reference backend takes long enough for two signals.
        with self.start("run", MODEL, "--raw", "-p", "word " * 500, "--ctx", "1024", "--chunk", "1024",
                        "--backend", "ref") as process:
            self.wait_until(process, lambda: catches_interrupt(process.pid))
            ready_s = cpu_s(process.pid)
            self.wait_until(process, lambda: cpu_s(process.pid) > ready_s + 0.3)  # within the step
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            out, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, CANCELLED)
        self.assertEqual(out, b"")
        self.assertLess(time.monotonic() - begin, 10)


class OutputTest(ProgramTest):
    def test_reader_that_goes(self):
        self.need_model()
        with self.start("run", MODEL, "--raw", "-p", "1, 2, 3,", "-n", "4000") as process:
            process.stdout.read(1)
            process.stdout.close()
            err = process.stderr.read().decode()
            process.wait(120)
        self.assertEqual(process.returncode, IO)
        self.assertEqual(len(err.splitlines()), 3, err)
        self.assertTrue(err.startswith("predicted "), err)
        self.assertIn("cannot write to stdout", err)

    def test_full_disk_under_stdout(self):
        for words in (["list"], ["--help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([HWTV, *words], stdout=full, stderr=subprocess.PIPE, check=False,
                                      env=self.environment)
            self.assertIn("cannot write to stdout", done.stderr.decode(), words)
            self.assertEqual(done.returncode, IO, words)


def no_file_may_grow():
    """As a full disk does: nothing more can be written to any file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


class DiskTest(ProgramTest):
    RUN = [MODEL, "--raw", "-p", "1, 2, 3, 4,", "-n", "4", "--ctx", "64"]

    def run_warned(self, **options):
        """The run goes on with one warning of the journal."""
        answer = self.hwtv("run", *self.RUN, **options)
        self.assertEqual(answer.code, OK, answer.err)
        self.assertEqual(answer.out, " 5, \n")
        warnings = [line for line in answer.err.splitlines() if line.startswith("hwtv: ")]
        self.assertEqual(len(warnings), 1, answer.err)
        self.assertIn("journal", warnings[0])

    def test_journal_on_a_full_disk(self):
        self.need_model()
        self.run_warned(preexec_fn=no_file_may_grow, restore_signals=False)

    def test_journal_in_a_place_that_is_no_folder(self):
        self.need_model()
        (self.folder / "state").write_text("in the way")
        self.run_warned()

    def test_broken_journal_is_moved_aside(self):
        self.need_model()
        (self.folder / "state/hwtv").mkdir(parents=True)
        (self.folder / "state/hwtv/journal.sqlite").write_bytes(os.urandom(8192))
        self.run_warned()
        self.assertIn("SmolLM2", self.good("history"))

    def test_rates_on_a_full_disk(self):
        answer = self.hwtv("devices", preexec_fn=no_file_may_grow, restore_signals=False)
        self.assertEqual(answer.code, OK, answer.err)
        self.assertIn("measured with", answer.out)
        self.assertIn("rates are not kept", answer.err)
        self.assertEqual(len(answer.err.splitlines()), 1)

    def test_logits_on_a_full_disk_fail(self):
        self.need_model()
        answer = self.refused(IO, "logits", MODEL, "--tokens", "-", "-o", "out.gguf", "--ctx", "64",
                              given="1 2 3", preexec_fn=no_file_may_grow, restore_signals=False)
        self.assertIn("out.gguf", answer.err)
        self.assertEqual(list(self.folder.glob("out.gguf*")), [])


if __name__ == "__main__":
    main()
