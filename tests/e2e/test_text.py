#!/usr/bin/env python3
"""Texts and tokens: tokenize, detokenize, inspect."""
import json

from program import CORRUPT_FILE, INVALID_REQUEST, IO, MODEL, VOCABULARY, ProgramTest, main

TEXTS = ["Hello world", "  leading and trailing  \n\n",
         "Ünïcödé 你好 🚀👩‍👩‍👧‍👦", "1234567 3.14", "\tif x:\n\t\treturn 'y'\n"]


class TextTest(ProgramTest):
    def test_round_trip_of_texts(self):
        self.need_model()
        for text in TEXTS:
            ids = self.json_of(MODEL, text)["ids"]
            self.assertEqual(self.good("detokenize", MODEL, given=" ".join(map(str, ids))), text)

    def json_of(self, model, text, *words):
        return json.loads(self.good("tokenize", model, "--json", *words, given=text))

    def test_ids_and_pieces(self):
        self.need_model()
        answer = self.json_of(MODEL, "Hello world")
        self.assertEqual(answer["ids"], [19556, 905])
        self.assertEqual("".join(answer["pieces"]), "Hello world")
        lines = self.good("tokenize", MODEL, given="Hello world\n").splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["19556", "905", "198"])

    def test_special_tokens_only_when_asked(self):
        self.need_model()
        self.assertEqual(self.json_of(MODEL, "<|im_end|>", "--special")["ids"], [2])
        self.assertGreater(len(self.json_of(MODEL, "<|im_end|>")["ids"]), 1)
        self.assertEqual(self.good("detokenize", MODEL, given="2 19556"), "Hello")
        self.assertEqual(self.good("detokenize", MODEL, "--special", given="[2, 19556]"), "<|im_end|>Hello")

    def test_a_vocabulary_without_tensors_is_enough(self):
        self.need_vocabulary()
        self.assertEqual(self.json_of(VOCABULARY, "Hello world")["ids"], [15043, 3186])

    def test_wrong_ids_are_named(self):
        self.need_model()
        self.refused(INVALID_REQUEST, "detokenize", MODEL, given="1 2 x3", says=["x3", "word 3"])
        self.refused(INVALID_REQUEST, "detokenize", MODEL, given="49152", says=["49152", "49151"])

    def test_text_of_a_file_that_is_not_there(self):
        self.need_model()
        self.refused(IO, "tokenize", MODEL, "nosuch.txt", says=["nosuch.txt"])


class InspectTest(ProgramTest):
    def test_json_sums_up_to_the_file(self):
        self.need_model()
        answer = json.loads(self.good("inspect", MODEL, "--json"))
        self.assertTrue(answer["supported"])
        self.assertEqual(answer["metadata"]["general.architecture"], '"llama"')
        total = sum(tensor["bytes"] for tensor in answer["tensors"])
        self.assertEqual(total, answer["bytes"])
        self.assertLessEqual(MODEL.stat().st_size - total, 3 << 20)  # the rest is metadata
        for sums in (answer["by_role"], answer["by_type"]):
            self.assertEqual(sum(one["bytes"] for one in sums.values()), total)
        self.assertEqual(set(answer["by_type"]), {"F32", "Q4_1", "Q8_0"})

    def test_text(self):
        self.need_model()
        text = self.good("inspect", MODEL, "--tensors")
        for words in ["llama: supported", "tokenizer", "chat template", "understood", "blk.29.ffn_down.weight"]:
            self.assertIn(words, text)

    def test_a_file_that_is_no_model(self):
        (self.folder / "x.gguf").write_bytes(b"PK\x03\x04" + bytes(100))
        self.refused(CORRUPT_FILE, "inspect", "x.gguf")
        (self.folder / "empty.gguf").write_bytes(b"")
        self.refused(CORRUPT_FILE, "inspect", "empty.gguf")


if __name__ == "__main__":
    main()
