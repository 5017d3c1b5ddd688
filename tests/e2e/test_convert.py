#!/usr/bin/env python3
"""hwtv convert on tiny generated folders: what it writes is what the peer's converter wrote
(tests/transform/converted.json), and what cannot be converted is refused with numbers."""
import json
import pathlib
import resource
import signal
import struct
import sys

from program import CORRUPT_FILE, INVALID_REQUEST, IO, OK, UNSUPPORTED, ProgramTest, main

TRANSFORM = pathlib.Path(__file__).resolve().parents[1] / "transform"
sys.path.insert(0, str(TRANSFORM))
from gguf_digest import describe  # noqa: E402
from hf_folders import CASES, write_case, write_json, write_safetensors  # noqa: E402
from peer_differences import unexplained  # noqa: E402

EXPECTED = json.loads((TRANSFORM / "converted.json").read_text())
LAYER_0_Q = "model.layers.0.self_attn.q_proj.weight"


def limit_file_size():
    """A disk that is full after 64 KiB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))


class ConvertTest(ProgramTest):
    def case(self, name):
        path, self.model = write_case(name, self.folder)
        return path

    def changed(self, name, **settings):
        """A case with another config.json; None takes a setting out."""
        path = self.case(name)
        config = json.loads((path / "config.json").read_text()) | settings
        write_json(path / "config.json", {key: value for key, value in config.items() if value is not None})
        return path

    def with_tensors(self, name, change):
        """A case whose tensors `change` alters in place."""
        path = self.case(name)
        tensors = self.model.tensors(0, name)
        change(tensors)
        write_safetensors(path / "model.safetensors", tensors, self.model.kind)
        return path

    def test_equals_the_peers_converter(self):
        for key in EXPECTED:
            case, type_name, kind = key.split()
            if kind != "metadata":
                continue
            with self.subTest(case=case, type=type_name):
                path = self.folder / case / CASES[case][1]
                if not path.exists():
                    self.case(case)
                out = self.folder / f"{case}-{type_name}.gguf"
                self.good("convert", path, out, *([] if type_name == "auto" else ["--type", type_name]))
                theirs = {kind: EXPECTED[f"{case} {type_name} {kind}"] for kind in ["metadata", "tensors"]}
                lines, _ = unexplained(case, type_name, describe(out), theirs)
                self.assertEqual(lines, [])

    def test_the_default_name_and_what_is_told(self):
        path = self.case("llama_pieces")
        said = self.good("convert", path)
        out = path / f"{path.name}-BF16.gguf"
        self.assertTrue(out.exists(), said)
        self.assertIn("3 of them padding", said)
        self.assertIn("memory", said)
        self.assertIn("llama", self.good("inspect", out))
        self.assertTrue(self.hwtv("run", out, "-p", "the", "-n", "4", "--temp", "0").code == OK)

    def test_json_and_a_dry_run(self):
        path = self.case("qwen2")
        out = self.folder / "out.gguf"
        outcome = self.hwtv("convert", path, out, "--dry-run", "--json").json()
        self.assertFalse(out.exists())
        self.assertEqual([outcome[key] for key in ["written", "architecture", "type"]],
                         [False, "qwen2", "BF16"])
        self.assertEqual(outcome["tokenizer"]["pre"], "qwen2")
        self.assertEqual(len(outcome["tensors"]), len(self.model.tensors(0, "qwen2")))
        self.assertIn("nothing was written", self.good("convert", path, out, "--dry-run"))

    def test_what_is_left_out_is_told(self):
        said = self.good("convert", self.case("gemma3_vision"), self.folder / "out.gguf")
        self.assertIn("2 tensors of images are left out", said)

        def untie(tensors):
            tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
        path = self.with_tensors("llama_bytes", untie)
        self.assertIn("lm_head.weight is left out", self.good("convert", path, self.folder / "out.gguf"))

    def test_families_and_settings_that_are_not_known(self):
        out = self.folder / "out.gguf"
        path = self.changed("mistral", architectures=["MambaForCausalLM"])
        self.refused(UNSUPPORTED, "convert", path, out, says=["MambaForCausalLM", "Qwen3ForCausalLM"])
        for settings, words in [
                ({"quantization_config": {"quant_method": "gptq"}}, ["gptq", "quantize"]),
                ({"hidden_act": "relu"}, ["relu", "silu"]),
                ({"rope_scaling": {"rope_type": "mrope"}}, ["mrope", "llama3"])]:
            path = self.folder / "mistral" / CASES["mistral"][1]
            config = json.loads((path / "config.json").read_text())
            write_json(path / "config.json", config | settings | {"architectures": ["MistralForCausalLM"]})
            self.refused(UNSUPPORTED, "convert", path, out, says=words)
            write_json(path / "config.json", config)
        self.assertFalse(out.exists())

    def test_config_without_its_numbers(self):
        out = self.folder / "out.gguf"
        path = self.changed("mistral", num_hidden_layers=None)
        self.refused(CORRUPT_FILE, "convert", path, out, says=["num_hidden_layers"])
        config = json.loads((path / "config.json").read_text())
        for value, words in [(0, ["is 0"]), ("two", ["'\"two\"'", "whole number"]),
                             (3, ["has no place", "missing"])]:
            write_json(path / "config.json", config | {"num_hidden_layers": value})
            answer = self.hwtv("convert", path, out)
            self.assertEqual(answer.code, CORRUPT_FILE)
            self.assertTrue(any(word in answer.err for word in words), answer.err)
        (path / "config.json").write_text("{")
        self.refused(CORRUPT_FILE, "convert", path, out, says=["no JSON object"])

    def test_tensors_that_do_not_fit(self):
        out = self.folder / "out.gguf"

        def lose(tensors):
            del tensors[LAYER_0_Q]
        path = self.with_tensors("mistral", lose)
        self.refused(CORRUPT_FILE, "convert", path, out, says=["1 of 21 tensors are missing", LAYER_0_Q])

        def add(tensors):
            tensors["model.layers.9.mystery.weight"] = ([1], [0.0])
        tensors = self.model.tensors(0, "mistral")
        add(tensors)
        write_safetensors(path / "model.safetensors", tensors, "F32")
        self.refused(CORRUPT_FILE, "convert", path, out, says=["mystery", "2 layers"])

        tensors = self.model.tensors(0, "mistral")
        tensors[LAYER_0_Q] = ([64, 32], [0.0] * 2048)
        write_safetensors(path / "model.safetensors", tensors, "F32")
        self.refused(CORRUPT_FILE, "convert", path, out, says=["64 x 32", "64 x 64"])
        self.assertFalse(out.exists())

    def test_numbers_that_the_type_cannot_hold(self):
        def grow(tensors):
            tensors[LAYER_0_Q][1][64 + 7] = 70000.0
            tensors["model.norm.weight"][1][3] = 70000.0  # F32 in every type
        path = self.with_tensors("mistral", grow)
        out = self.folder / "out.gguf"
        self.refused(CORRUPT_FILE, "convert", path, out, "--type", "F16",
                     says=["element 71 ", "row 1, column 7", "70000", "BF16"])
        self.assertFalse(out.exists())
        self.good("convert", path, out, "--type", "BF16")

    def test_parts(self):
        out = self.folder / "out.gguf"
        path = self.case("llama_pieces")
        third = path / "model-00003-of-00003.safetensors"
        content = third.read_bytes()
        third.unlink()
        self.refused(IO, "convert", path, out, says=["1 of the 3 parts", third.name])
        third.write_bytes(content[:-10])
        self.refused(CORRUPT_FILE, "convert", path, out, says=[third.name])
        third.write_bytes((path / "model-00002-of-00003.safetensors").read_bytes())
        self.refused(CORRUPT_FILE, "convert", path, out, says=["is in model-00002-of-00003"])
        write_safetensors(third, {"model.other.weight": ([1], [0.0])}, "BF16")
        self.refused(CORRUPT_FILE, "convert", path, out, says=["are not in their parts", "model.other.weight"])
        (path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../b"}}')
        self.refused(CORRUPT_FILE, "convert", path, out, says=["'../b'"])

    def test_tokenizers_that_do_not_fit(self):
        out = self.folder / "out.gguf"
        path = self.changed("qwen3", vocab_size=4)
        self.refused(CORRUPT_FILE, "convert", path, out)
        path = self.case("qwen2")
        document = json.loads((path / "tokenizer.json").read_text())
        document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\w+"
        write_json(path / "tokenizer.json", document)
        self.refused(UNSUPPORTED, "convert", path, out, says=["\\x5cw+", "--pre NAME", "llama-bpe"])
        self.good("convert", path, out, "--pre", "qwen2")
        self.refused(INVALID_REQUEST, "convert", path, out, "--pre", "none-such")
        document["model"]["type"] = "Unigram"
        write_json(path / "tokenizer.json", document)
        self.refused(UNSUPPORTED, "convert", path, out, says=["Unigram"])
        (path / "tokenizer.json").unlink()
        self.refused(IO, "convert", path, out, says=["neither tokenizer.model nor tokenizer.json"])
        path = self.case("mistral")
        model = path / "tokenizer.model"
        model.write_bytes(model.read_bytes()[:-3])
        self.refused(CORRUPT_FILE, "convert", path, out, says=["tokenizer.model", "at byte"])

    def test_a_sentence_piece_vocabulary_without_its_file(self):
        """tokenizer.json's merges give the pieces the order that their scores had."""
        path = self.case("mistral")
        pieces = ["<unk>", "<s>", "</s>", "▁the", "▁t", "he", "▁", "t", "h", "e"]
        document = {"added_tokens": [{"id": i, "content": pieces[i], "special": True} for i in range(3)],
                    "model": {"type": "BPE", "unk_token": "<unk>", "byte_fallback": True,
                              "vocab": {text: i for i, text in enumerate(pieces)},
                              "merges": [["▁", "t"], ["h", "e"], ["▁t", "he"]]}}
        (path / "tokenizer.model").unlink()
        (path / "added_tokens.json").unlink()
        write_json(path / "tokenizer_config.json", {"bos_token": "<s>"})
        write_json(path / "tokenizer.json", document)
        out = self.folder / "out.gguf"
        self.assertIn("llama (default)", self.good("convert", path, out))
        self.assertEqual(self.hwtv("tokenize", out, "--json", given="the").json()["ids"], [3])

    def test_a_full_disk_and_odd_paths(self):
        path = self.case("mistral")
        full = self.folder / "full/out.gguf"
        full.parent.mkdir()
        self.refused(IO, "convert", path, full, "--type", "F32", says=["KiB"], preexec_fn=limit_file_size)
        self.assertEqual(list(full.parent.iterdir()), [])
        self.refused(INVALID_REQUEST, "convert", path, path / "model.safetensors", says=["to be read"])
        self.refused(INVALID_REQUEST, "convert", path, full, "--type", "Q4_K_M", says=["hwtv quantize"])
        self.refused(IO, "convert", self.folder / "none", full)
        self.refused(IO, "convert", path / "config.json", full)

    def test_a_checkpoint_that_is_no_safetensors_file(self):
        path = self.case("mistral")
        file = path / "model.safetensors"
        for content in [b"", b"\x08", struct.pack("<Q", 1 << 40), struct.pack("<Q", 2) + b"{}" + b"x"]:
            file.write_bytes(content)
            self.refused(CORRUPT_FILE, "convert", path, self.folder / "out.gguf", says=["model.safetensors"])


if __name__ == "__main__":
    main()
