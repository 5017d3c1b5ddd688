#!/usr/bin/env python3
"""hwtv --lora on a tiny model: several adapters in one batch, what they weigh, and those that cannot be."""
import json
import os
import pathlib
import random
import subprocess

from gguf_file import write_model
from lora_file import bytes_of, matrices, pair, write_adapter, write_tensors, adapter_entries
from program import CORRUPT_FILE, INVALID_REQUEST, UNSUPPORTED, ProgramTest, main

BATCH = pathlib.Path(os.environ.get("ADAPTER_BATCH", "build/release/tests/e2e/adapter_batch")).resolve()


class AdaptersTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model.gguf"
        numbers = random.Random(1)
        write_model(self.model, 2, 64, 96, 4, 2, 16, 512,
                    lambda n: bytes_of([numbers.uniform(-0.3, 0.3) for _ in range(n)], "F16"))
        self.shapes = matrices(json.loads(self.good("inspect", self.model, "--json")))
        self.adapters = [self.folder / f"{name}.gguf" for name in "abc"]
        for seed, (path, rank) in enumerate(zip(self.adapters, (4, 16, 3))):
            write_adapter(path, self.shapes, rank, seed, 0.3, type_name="F16" if seed == 1 else "F32")

    def answer(self, *words):
        return json.loads(self.good("run", self.model, "-p", "abc", "-n", "24", "--temp", "0", "--json",
                                    *words))

    def lora(self, *which):
        return [word for index in which for word in ("--lora", self.adapters[index])]

    def batch(self, *sequences, threads=2, chunk=64, speculate="off"):
        words = [BATCH, self.model, 24, threads, chunk, 0.8, speculate, *sequences, "--", *self.adapters]
        done = subprocess.run([str(word) for word in words], check=True, capture_output=True,
                              env=self.environment)
        return json.loads(done.stdout)["sequences"]

    def test_a_batch_gives_each_sequence_its_own_text(self):
        sequences = ["abc:0", "abc:1", "abc:2", "abc:", "hgfedcba:0,2", "hgfedcba:2,0"]
        alone = [self.batch(sequence)[0] for sequence in sequences]
        self.assertEqual(len({json.dumps(one) for one in alone}), len(sequences))
        for threads, chunk, speculate in (2, 64, "off"), (1, 7, "off"), (2, 16, "lookup"):
            self.assertEqual(self.batch(*sequences, threads=threads, chunk=chunk, speculate=speculate), alone)

    def test_several_add_up_and_a_scale_counts(self):
        plain, first = self.answer(), self.answer(*self.lora(0))
        both = self.answer(*self.lora(0, 1))
        self.assertEqual(len({json.dumps(one["answer_tokens"]) for one in (plain, first, both)}), 3)
        self.assertEqual(self.answer("--lora", f"{self.adapters[0]}:0")["answer_tokens"],
                         plain["answer_tokens"])
        self.assertEqual(self.answer("--lora", f"{self.adapters[0]}:1.0")["answer_tokens"],
                         first["answer_tokens"])
        self.assertEqual(self.answer(*self.lora(0, 1), "--no-pack")["answer_tokens"], both["answer_tokens"])

    def test_the_account_has_their_bytes(self):
        plain, adapted = self.answer()["account"], self.answer(*self.lora(0, 1))["account"]
        n_bytes = [sum(rank * sum(shape) for shape in self.shapes.values()) * size
                   for rank, size in ((4, 4), (16, 2))]
        self.assertEqual(adapted["adapters"], [
            {"file": "a.gguf", "scale": 1, "bytes": n_bytes[0]},
            {"file": "b.gguf", "scale": 1, "bytes": n_bytes[1]}])
        self.assertEqual(plain["adapters"], [])
        more = adapted["memory"]["weights_bytes"] - plain["memory"]["weights_bytes"]
        self.assertEqual(more, sum(n_bytes))
        self.assertAlmostEqual(adapted["decode"]["bytes_per_token"] - plain["decode"]["bytes_per_token"],
                               sum(n_bytes), delta=1)
        self.assertGreater(adapted["prefill"]["ops"], plain["prefill"]["ops"])
        said = self.hwtv("run", self.model, "-p", "abc", "-n", "2", *self.lora(0, 1)).err
        self.assertIn("of it 2 adapters", said)
        self.assertIn("adapter b.gguf at 1:", said)

    def test_other_commands_take_them(self):
        text = self.folder / "text.txt"
        text.write_text("abcdefgh hgfe dcba " * 40)
        words = ["perplexity", self.model, text, "--ctx", "32", "--windows", "3", "--json", *self.lora(1)]
        against = json.loads(self.good(*words, "--against", self.model))
        self.assertGreater(against["mean_kl_nats"], 1e-3)
        self.assertNotEqual(against["perplexity"], against["base_perplexity"])
        ref = json.loads(self.good(*words, "--backend", "ref", "--kv-type", "f32"))
        cpu = json.loads(self.good(*words, "--kv-type", "f32"))
        self.assertAlmostEqual(ref["perplexity"] / cpu["perplexity"], 1, delta=1e-5)
        self.good("bench", self.model, "--prefill", "16", "--decode", "4", "--depth", "0", "--batch", "2",
                  "--repetitions", "1", "--json", *self.lora(0))
        self.assertNotEqual(self.good("chat", self.model, "--raw", "--temp", "0", "-n", "8", given="abc\n"),
                            self.good("chat", self.model, "--raw", "--temp", "0", "-n", "8", *self.lora(0),
                                      given="abc\n"))

    def test_q8_0_is_read_as_floats(self):
        """Q8_0 blocks with the values of an F16 adapter give its text."""
        whole, blocks = [], []
        for tensor, (n_in, n_out) in self.shapes.items():
            for name, shape, _, _ in pair(tensor, n_in, n_out, 32, 1, 1):
                numbers = random.Random(name)
                quants = [[numbers.randrange(-127, 128) for _ in range(32)]
                          for _ in range(shape[0] * shape[1] // 32)]
                whole.append((name, shape, "F16", b"".join(
                    bytes_of([q / 512 for q in block], "F16") for block in quants)))
                blocks.append((name, shape, "Q8_0", b"".join(
                    bytes_of([1 / 512], "F16") + bytes(q & 255 for q in block) for block in quants)))
        texts = []
        for name, tensors in ("f16.gguf", whole), ("q8_0.gguf", blocks):
            write_tensors(self.folder / name, adapter_entries(), tensors)
            texts.append(self.answer("--lora", self.folder / name)["answer_tokens"])
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], self.answer()["answer_tokens"])

    def refused_adapter(self, code, says, **changes):
        path = self.folder / "bad.gguf"
        write_adapter(path, changes.pop("shapes", self.shapes), 4, 1, **changes)
        self.refused(code, "run", self.model, "-p", "a", "--lora", path, says=says)

    def test_bad_adapters_are_refused(self):
        self.refused_adapter(INVALID_REQUEST, ["qwen2 model", "llama model"], architecture="qwen2")
        self.refused_adapter(UNSUPPORTED, ["'dora'"], kind="dora")
        self.refused_adapter(INVALID_REQUEST, ["blk.0.attn_q.weight", "64 x 64"],
                             shapes={"blk.0.attn_q.weight": (64, 32)})
        self.refused_adapter(INVALID_REQUEST, ["blk.9.attn_q.weight", "does not have"],
                             shapes={"blk.9.attn_q.weight": (64, 64)})
        self.refused(INVALID_REQUEST, "run", self.model, "-p", "a", "--lora", self.model, says=["no adapter"])
        self.refused(INVALID_REQUEST, "run", self.model, "-p", "a", "--lora", f"{self.adapters[0]}:much",
                     says=["'much' is no scale", "adapter.gguf:0.5"])
        self.refused(INVALID_REQUEST, "run", self.model, "-p", "a", "--lora", "nowhere.gguf", says=["nowhere"])
        tensors = pair("blk.0.attn_q.weight", 64, 64, 4, 1, 1)
        write_tensors(self.folder / "half.gguf", adapter_entries(), tensors[:1])
        self.refused(CORRUPT_FILE, "run", self.model, "-p", "a", "--lora", self.folder / "half.gguf",
                     says=["lora_a without", "lora_b"])
        data = self.adapters[0].read_bytes()
        for n_kept in 10, len(data) // 2, len(data) - 1000:
            cut = self.folder / "cut.gguf"
            cut.write_bytes(data[:n_kept])
            self.refused(CORRUPT_FILE, "run", self.model, "-p", "a", "--lora", cut)


if __name__ == "__main__":
    main()
