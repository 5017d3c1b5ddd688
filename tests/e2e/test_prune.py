#!/usr/bin/env python3
"""hwtv prune on a tiny converted model: the layers that do least go, what is left runs, what cannot be is
refused."""
import pathlib
import sys

from program import INVALID_REQUEST, IO, ProgramTest, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "transform"))
from gguf_digest import describe  # noqa: E402
from hf_folders import CASES, write_safetensors  # noqa: E402

N_LAYERS = 5
IDLE = 2  # a layer whose outputs are zeros: it changes nothing


class PruneTest(ProgramTest):
    def setUp(self):
        super().setUp()
        model = CASES["mistral"][0](0)
        model.config["num_hidden_layers"] = N_LAYERS
        folder = self.folder / "tiny"
        model.write(folder, 0, "prune")
        tensors = model.tensors(0, "prune")
        for part in "self_attn.o_proj", "mlp.down_proj":
            shape, values = tensors[f"model.layers.{IDLE}.{part}.weight"]
            tensors[f"model.layers.{IDLE}.{part}.weight"] = (shape, [0.0] * len(values))
        write_safetensors(folder / "model.safetensors", tensors, model.kind)
        self.model, self.out = self.folder / "model.gguf", self.folder / "less.gguf"
        self.good("convert", folder, self.model, "--type", "F32")
        self.text = self.folder / "text.txt"
        self.text.write_text("the tea and the other thing on a line in the end. " * 40)
        self.words = ["--calibrate", self.text, "--ctx", "32", "--windows", "3"]

    def test_the_idle_layer_goes_and_nothing_changes(self):
        outcome = self.hwtv("prune", self.model, self.out, "--layers", "1", *self.words, "--json").json()
        self.assertEqual(outcome["removed"], [IDLE])
        self.assertAlmostEqual(outcome["influences"][IDLE], 0, delta=1e-12)
        self.assertEqual(outcome["watched_tokens"], 96)
        self.assertLess(outcome["mean_kl_nats"], 1e-9)
        self.assertEqual(outcome["top1_agreement"], 1)
        self.assertAlmostEqual(outcome["perplexity"], outcome["perplexity_before"], delta=1e-6)
        before, after = describe(self.model), describe(self.out)
        self.assertEqual(after["metadata"]["llama.block_count"], ["u32", N_LAYERS - 1])
        self.assertEqual(after["metadata"]["prune.removed_layers"][:2], ["i32s", 1])
        for layer in range(N_LAYERS - 1):
            old = layer + (layer >= IDLE)
            self.assertEqual(after["tensors"][f"blk.{layer}.attn_q.weight"],
                             before["tensors"][f"blk.{old}.attn_q.weight"])
        self.assertNotIn(f"blk.{N_LAYERS - 1}.attn_q.weight", after["tensors"])
        self.assertEqual(self.good("run", self.out, "-p", "the tea", "-n", "8", "--temp", "0"),
                         self.good("run", self.model, "-p", "the tea", "-n", "8", "--temp", "0"))

    def test_more_layers_cost_something(self):
        said = self.good("prune", self.model, "--layers", "3", *self.words)
        self.assertIn("model-less-3.gguf: 2 of 5 layers", said)
        self.assertIn("before", said)
        self.assertEqual(said.count("removed"), 3)
        self.assertTrue((self.folder / "model-less-3.gguf").exists())

    def test_a_dry_run_writes_nothing(self):
        said = self.good("prune", self.model, self.out, "--layers", "1", *self.words, "--dry-run")
        self.assertIn("nothing was written", said)
        self.assertFalse(self.out.exists())

    def test_what_cannot_be_is_refused(self):
        for layers in "0", "5", "-1":
            self.refused(INVALID_REQUEST, "prune", self.model, self.out, "--layers", layers, *self.words,
                         says=["of the 5 layers"])
        self.refused(INVALID_REQUEST, "prune", self.model, self.out, "--layers", "1", says=["--calibrate"])
        self.refused(INVALID_REQUEST, "prune", self.model, self.model, "--layers", "1", *self.words,
                     says=["to be read"])
        self.text.write_text("the tea")
        self.refused(INVALID_REQUEST, "prune", self.model, self.out, "--layers", "1", *self.words)
        self.refused(IO, "prune", self.model, self.out, "--layers", "1", "--calibrate", self.folder / "none",
                     "--ctx", "32")
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    main()
