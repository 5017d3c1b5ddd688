#!/usr/bin/env python3
"""hwtv quantize and imatrix on the demo model: what is written runs, what cannot be is refused."""
import resource
import signal

from gguf_file import write_model
from program import INVALID_REQUEST, IO, MODEL, OK, ProgramTest, main

PROMPT = ["-p", "What is the capital of France?", "-n", "20", "--temp", "0"]


def limit_file_size():
    """A disk that is full after 8 MiB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))


class QuantizeTest(ProgramTest):
    def small_model(self):
        path = self.folder / "small.gguf"
        write_model(path, n_layers=2, model_dim=256, ffn_dim=512, n_heads=4, n_kv_heads=2, head_dim=64,
                    context=256)
        return path

    def test_the_demo_model_runs_in_other_types(self):
        self.need_model()
        f16, text = self.folder / "f16.gguf", self.folder / "text.txt"
        text.write_text("The river rose in the night, and by morning the lower fields were gone. " * 5)
        self.good("quantize", MODEL, f16, "F16")
        for kind in ["Q8_0", "Q4_0"]:
            out = self.folder / f"{kind}.gguf"
            outcome = self.hwtv("quantize", f16, out, kind, "--json").json()
            self.assertEqual(outcome["type"], kind)
            self.assertLess(out.stat().st_size, f16.stat().st_size)
            self.assertAlmostEqual(outcome["bytes"] / out.stat().st_size, 1, delta=0.05)
            errors = {tensor["to"]: tensor["relative_error"] for tensor in outcome["tensors"]
                      if "relative_error" in tensor}
            self.assertLess(errors[kind], 0.01 if kind == "Q8_0" else 0.1)
            self.assertTrue(self.good("run", out, *PROMPT).strip())
            score = self.hwtv("perplexity", out, text, "--against", f16, "--ctx", "64", "--json").json()
            self.assertLess(score["mean_kl_nats"], 0.05 if kind == "Q8_0" else 0.7)

    def test_importance_data(self):
        self.need_model()
        text = self.folder / "text.txt"
        text.write_text("The quick brown fox jumps over the lazy dog. " * 40)
        out = self.folder / "importance.gguf"
        said = self.good("imatrix", MODEL, text, "-o", out, "--ctx", "64", "--windows", "2")
        self.assertIn("importance of 210 weights over 2 windows of 64 tokens", said)
        small = self.folder / "q4.gguf"
        self.good("quantize", MODEL, small, "Q4_0", "--imatrix", out, "--allow-requantize")
        self.assertIn("quantize.imatrix.chunks_count", self.good("inspect", small))

    def test_a_dry_run_writes_nothing(self):
        out = self.folder / "out.gguf"
        said = self.good("quantize", self.small_model(), out, "Q4_K_M", "--dry-run", "--report")
        self.assertIn("blk.1.ffn_down.weight", said)
        self.assertIn("nothing was written", said)
        self.assertFalse(out.exists())

    def test_what_cannot_be_is_refused(self):
        model, out = self.small_model(), self.folder / "out.gguf"
        self.refused(INVALID_REQUEST, "quantize", model, out, "Q4_X", says=["Q4_K_M"])
        self.refused(INVALID_REQUEST, "quantize", model, model, "Q8_0", says=["to be read"])
        self.refused(INVALID_REQUEST, "quantize", model, out, "Q8_0", "--threads", "-1")
        self.good("quantize", model, out, "Q8_0")
        again = self.folder / "again.gguf"
        self.refused(INVALID_REQUEST, "quantize", out, again, "Q4_0", says=["--allow-requantize", "Q8_0"])
        self.good("quantize", out, again, "F16")  # back to plain numbers: nothing more is lost
        self.good("quantize", out, again, "Q4_0", "--allow-requantize")

    def test_a_full_disk_leaves_nothing(self):
        model, out = self.small_model(), self.folder / "full/out.gguf"
        out.parent.mkdir()
        big = self.folder / "big.gguf"
        write_model(big, n_layers=8, model_dim=512, ffn_dim=2048, n_heads=8, n_kv_heads=8, head_dim=64,
                    context=256)
        self.refused(IO, "quantize", big, out, "Q8_0", says=["MiB"], preexec_fn=limit_file_size)
        self.assertEqual(list(out.parent.iterdir()), [])
        self.refused(IO, "quantize", model, self.folder / "none/out.gguf", "Q8_0")

    def test_rows_that_do_not_fill_blocks_are_told(self):
        self.need_model()
        answer = self.hwtv("quantize", MODEL, self.folder / "out.gguf", "Q4_K_M", "--dry-run",
                           "--allow-requantize")
        self.assertEqual(answer.code, OK)
        self.assertIn("rows of 576 do not fill blocks of Q4_K (256): Q5_0 instead", answer.out)


if __name__ == "__main__":
    main()
