#!/usr/bin/env python3
"""hwtv run on the demo model: its text, its JSON, its account, the same text whatever the threads."""
import json
import re

from gguf_file import write_model
from program import IO, INVALID_REQUEST, MODEL, OUT_OF_MEMORY, ProgramTest, main

# Each next number is likelier than any other token by 1.7 nats or more: no instruction set's last bits
# can change this text.
COUNTING = ["--raw", "-p", "1, 2, 3, 4, 5, 6,"]
COUNTED = " 7, 8, 9, 10, 11"


class RunTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.need_model()

    def json_of(self, *words, **options):
        return json.loads(self.good("run", MODEL, "--ctx", "256", "--json", *words, **options))

    def text_of(self, *words, **options):
        return self.good("run", MODEL, "--ctx", "256", "--no-account", *words, **options)

    def test_greedy_text_of_both_backends(self):
        for backend in ["cpu", "ref"]:
            self.assertEqual(self.text_of(*COUNTING, "-n", "16", "--backend", backend), COUNTED + "\n")

    def test_greedy_text_of_every_kernel_table(self):
        tables = re.search(r"kernel tables (.*)", self.good("--version"))[1].split()
        for table in tables:
            self.assertEqual(self.text_of(*COUNTING, "-n", "16", environment={"HWTV_ISA": table}),
                             COUNTED + "\n", table)

    def test_text_is_the_same_without_packing(self):
        self.assertEqual(self.text_of(*COUNTING, "-n", "16", "--no-pack"), COUNTED + "\n")

    def test_unknown_kernel_table_fails_loudly(self):
        self.refused(INVALID_REQUEST, "run", MODEL, "-p", "x", environment={"HWTV_ISA": "nonsense"},
                     says=["nonsense", "scalar"])

    def test_prompt_from_file_and_stdin(self):
        (self.folder / "prompt.txt").write_text("1, 2, 3, 4, 5, 6,")
        self.assertEqual(self.text_of("--raw", "-f", "prompt.txt", "-n", "16"), COUNTED + "\n")
        self.assertEqual(self.text_of("--raw", "-n", "16", given="1, 2, 3, 4, 5, 6,"), COUNTED + "\n")
        self.refused(INVALID_REQUEST, "run", MODEL, "-p", "x", "-f", "prompt.txt", says=["-p", "-f"])
        self.refused(IO, "run", MODEL, "-f", "nosuch.txt", says=["nosuch.txt"])

    def test_json_has_every_field(self):
        answer = self.json_of(*COUNTING, "-n", "16", "--logprobs", "3")
        self.assertEqual(answer["text"], COUNTED)
        self.assertEqual(answer["finish_reason"], "length")
        self.assertEqual(len(answer["answer_tokens"]), 16)
        tokens = json.loads(self.good("tokenize", MODEL, "--json", given=COUNTING[-1]))["ids"]
        self.assertEqual(answer["prompt_tokens"], tokens)
        self.assertEqual([entry["token"] for entry in answer["logprobs"]], answer["answer_tokens"])
        for entry in answer["logprobs"]:
            self.assertEqual(len(entry["top"]), 3)
            self.assertEqual(entry["top"][0]["logprob"], entry["logprob"])
            self.assertTrue(0 >= entry["top"][0]["logprob"] >= entry["top"][1]["logprob"])
        self.assertNotIn("account", self.json_of(*COUNTING, "-n", "1", "--no-account"))

    def test_account_adds_up(self):
        answer = self.json_of(*COUNTING, "-n", "16")
        account, memory = answer["account"], answer["account"]["memory"]
        self.assertEqual(account["prefill"]["tokens"], len(answer["prompt_tokens"]))
        self.assertEqual(account["decode"]["tokens"], 15)  # the first token comes with the prefill
        self.assertEqual(account["answer_tokens"], 16)
        self.assertEqual(memory["predicted_bytes"], memory["weights_bytes"] + memory["kv_bytes"]
                         + memory["activations_bytes"] + memory["runtime_predicted_bytes"])
        self.assertLess(abs(memory["predicted_bytes"] - memory["observed_bytes"]), 2 << 20)
        # SmolLM2 reads its whole file for a step, and 22.5 KiB of cache for each token before.
        file_bytes = MODEL.stat().st_size
        steps_per_token = account["speculation"]["decode_steps"] / account["decode"]["tokens"]
        self.assertTrue(0.97 < account["decode"]["bytes_per_token"] / (file_bytes * steps_per_token) < 1.03)
        for phase in (account["prefill"], account["decode"]):
            self.assertGreater(phase["share_of_limit"], 0)
            self.assertLess(phase["share_of_limit"], 1.1)

    def test_account_is_shown_beside_the_text(self):
        answer = self.hwtv("run", MODEL, "--ctx", "256", *COUNTING, "-n", "16")
        self.assertEqual(answer.out, COUNTED + "\n")
        for words in ["answer ", "prefill ", "decode ", "memory ", "predicted ", "observed ", "limits "]:
            self.assertIn(words, answer.err)

    def test_answer_is_clipped_to_the_context(self):
        answer = self.json_of(*COUNTING, "--ctx", "32", "-n", "1000")
        self.assertEqual(len(answer["prompt_tokens"]) + len(answer["answer_tokens"]), 32)
        self.assertEqual(answer["finish_reason"], "length")

    def test_too_long_a_prompt_is_refused_with_both_numbers(self):
        answer = self.refused(INVALID_REQUEST, "run", MODEL, "--raw", "--ctx", "64", "-p", "word " * 100,
                              says=["prompt has 1", "64"])
        context = re.search(r"--ctx (\d+)", answer.err)[1]
        self.text_of("--raw", "--ctx", context, "-p", "word " * 100, "-n", "1")  # what it advises works

    def test_context_beyond_the_trained_one_is_refused(self):
        self.refused(INVALID_REQUEST, "run", MODEL, "-p", "x", "--ctx", "8193", says=["8193", "--ctx 8192"])

    def test_nonsense_numbers_are_refused(self):
        for flags in (["-n", "0"], ["--threads", "-1"], ["--chunk", "0"], ["--temp", "-1"], ["--top-p", "2"],
                      ["--top-k", "-3"], ["--logit-bias", "7"], ["--logprobs", "-1"], ["--draft-max", "0"],
                      ["--speculate", "nothing"]):
            self.refused(INVALID_REQUEST, "run", MODEL, "-p", "x", *flags)

    def test_same_seed_same_text(self):
        sampled = ["-p", "Tell me a story.", "-n", "24", "--temp", "0.8", "--top-p", "0.95", "--seed"]
        text = self.text_of(*sampled, "3")
        for ways in (["--threads", "1"], ["--threads", "3", "--chunk", "7"], ["--chunk", "1"]):
            self.assertEqual(self.text_of(*sampled, "3", *ways), text, ways)
        self.assertNotEqual(self.text_of(*sampled, "4"), text)

    def test_same_text_with_a_draft(self):
        for sampling in ([], ["--temp", "0.8", "--seed", "5"]):
            words = ["-p", "Tell me a story.", "-n", "40", *sampling]
            plain = self.json_of(*words, "--speculate", "off")
            for way in (["auto"], ["draft", "--draft-max", "3"], ["draft", "--chunk", "7"]):
                drafted = self.json_of(*words, "--draft", MODEL, "--speculate", *way)
                for key in ("text", "answer_tokens", "finish_reason"):
                    self.assertEqual(drafted[key], plain[key], way)

    def test_a_model_drafts_for_itself(self):
        account = self.json_of(*COUNTING, "-n", "41", "--draft", MODEL, "--speculate", "draft",
                               "--draft-max", "4")["account"]
        found, decode, memory = account["speculation"], account["decode"], account["memory"]
        self.assertEqual([found[key] for key in ("proposed_tokens", "accepted_tokens", "decode_steps")],
                         [32, 32, 8])
        draft = found["draft"]
        self.assertEqual((draft["model"], draft["guesses"]), (MODEL.name, 31))  # and one with the prompt
        self.assertTrue(0 < draft["guess_s"] and 0 < draft["seconds"] < decode["seconds"])
        self.assertEqual(decode["seconds_of_draft"], draft["seconds"])
        self.assertTrue(0.97 < draft["bytes_per_guess"] / MODEL.stat().st_size < 1.03)
        plain = self.json_of(*COUNTING, "-n", "1")["account"]["memory"]
        self.assertEqual(memory["weights_bytes"], 2 * plain["weights_bytes"])
        self.assertEqual(memory["kv_bytes"], 2 * plain["kv_bytes"])
        self.assertEqual(memory["predicted_bytes"], memory["weights_bytes"] + memory["kv_bytes"]
                         + memory["activations_bytes"] + memory["runtime_predicted_bytes"])
        self.assertLess(abs(memory["predicted_bytes"] - memory["observed_bytes"]), 6 << 20)
        answer = self.hwtv("run", MODEL, "--ctx", "256", *COUNTING, "-n", "41", "--draft", MODEL,
                           "--speculate", "draft")
        self.assertIn("        draft ", answer.err)
        self.assertIn("with the draft model", answer.err)

    def test_both_backends_draft(self):
        text = self.text_of(*COUNTING, "-n", "16", "--draft", MODEL, "--speculate", "draft", "--backend", "ref")
        self.assertEqual(text, COUNTED + "\n")

    def test_drafts_that_are_refused(self):
        shape = dict(n_layers=1, model_dim=32, ffn_dim=32, n_heads=1, n_kv_heads=1, head_dim=32, context=64)
        write_model(self.folder / "other.gguf", **shape)
        ask = ["run", MODEL, "-p", "x", "-n", "1", "--draft"]
        self.refused(INVALID_REQUEST, *ask, "nosuch.gguf", says=["--draft", "nosuch.gguf", "hwtv list"])
        self.refused(INVALID_REQUEST, *ask, "other.gguf", says=["vocabulary of 268", "49152", "--draft"])
        self.refused(INVALID_REQUEST, *ask, MODEL, "--speculate", "off", says=["--draft", "off"])
        self.refused(INVALID_REQUEST, *ask, MODEL, "--speculate", "lookup", says=["--draft", "lookup"])
        self.refused(INVALID_REQUEST, *ask, MODEL, "--chunk", "1", says=["--chunk 1", "--chunk 2"])
        self.refused(INVALID_REQUEST, "run", MODEL, "-p", "x", "--speculate", "draft", says=["--draft MODEL"])
        # The same size, another token.
        write_model(self.folder / "first.gguf", **shape)
        changed = (self.folder / "first.gguf").read_bytes().replace(b"<0x41>", b"<0xZZ>", 1)
        (self.folder / "second.gguf").write_bytes(changed)
        self.refused(INVALID_REQUEST, "run", "first.gguf", "-p", "x", "--draft", "second.gguf",
                     says=["token 68 of 268", "'<0xZZ>'", "'<0x41>'"])
        write_model(self.folder / "huge.gguf", **shape | dict(n_layers=400, model_dim=16384, ffn_dim=32768))
        self.refused(OUT_OF_MEMORY, "run", "first.gguf", "-p", "x", "--draft", "huge.gguf",
                     says=["of it the draft model", "leave --draft out"])

    def test_a_step_without_room_speculates_not(self):
        account = self.json_of(*COUNTING, "-n", "4", "--chunk", "1", "--speculate", "lookup")["account"]
        self.assertFalse(account["speculation"]["on"])

    def test_same_text_whatever_is_guessed(self):
        repeats = ["-p", "Repeat this list: red, green, blue, red, green, blue, red, green, blue.", "-n", "48"]
        for sampling in ([], ["--temp", "0.8", "--seed", "5"], ["--stop", "blue"],
                         ["--repetition-penalty", "1.2"]):
            plain = self.json_of(*repeats, *sampling, "--speculate", "off", "--logprobs", "2")
            self.assertEqual(plain["account"]["speculation"]["proposed_tokens"], 0)
            for way in (["--speculate", "auto"], ["--speculate", "lookup"],
                        ["--speculate", "lookup", "--draft-max", "3", "--chunk", "7"]):
                guessed = self.json_of(*repeats, *sampling, *way, "--logprobs", "2")
                for key in ("text", "answer_tokens", "finish_reason", "logprobs"):
                    self.assertEqual(guessed[key], plain[key], way)

    def test_guesses_are_in_the_account(self):
        words = [*COUNTING, "-n", "40", "--speculate", "lookup"]
        account = self.json_of(*words)["account"]
        found = account["speculation"]
        self.assertTrue(found["on"])
        self.assertEqual(found["decode_steps"] + found["accepted_tokens"], account["decode"]["tokens"])
        self.assertGreater(found["proposed_tokens"], found["accepted_tokens"])
        self.assertGreater(found["accepted_tokens"], 5)
        self.assertIn("guessed ", self.hwtv("run", MODEL, "--ctx", "256", *words).err)
        kept = json.loads(self.good("history", "--json"))
        self.assertEqual(kept[0]["account"]["speculation"]["proposed_tokens"], found["proposed_tokens"])

    def test_stop_strings_never_appear(self):
        answer = self.json_of(*COUNTING, "-n", "40", "--stop", "1,", "--stop", " 10")
        self.assertEqual(answer["text"], " 7, 8, 9,")
        self.assertEqual(answer["finish_reason"], "stop")
        self.assertEqual(self.text_of(*COUNTING, "-n", "40", "--stop", " 9,"), " 7, 8,\n")

    def test_chat_template_is_used_unless_raw(self):
        with_template = self.json_of("-p", "Hi", "-n", "1")["prompt_tokens"]
        self.assertIn(1, with_template)  # <|im_start|>
        self.assertNotIn(1, self.json_of("--raw", "-p", "Hi", "-n", "1")["prompt_tokens"])
        self.refused(INVALID_REQUEST, "run", MODEL, "--raw", "--chat", "-p", "x")

    def test_kv_types(self):
        for kind in ["f32", "bf16", "q8_0", "q4_0"]:
            self.assertTrue(self.text_of(*COUNTING, "-n", "4", "--kv-type", kind).startswith(" 7, "), kind)


class HistoryTest(ProgramTest):
    def test_runs_are_journalled_and_compared(self):
        self.need_model()
        self.assertIn("no runs yet", self.good("history"))
        for n in ("4", "8"):
            self.good("run", MODEL, *COUNTING, "--ctx", "64", "-n", n)
        runs = json.loads(self.good("history", "--json"))
        self.assertEqual([run["account"]["answer_tokens"] for run in runs], [8, 4])
        self.assertEqual({run["model"] for run in runs}, {MODEL.name})
        first, second = (str(run["id"]) for run in reversed(runs))
        self.assertIn(MODEL.name[:20], self.good("history"))
        self.assertEqual(json.loads(self.good("history", first))["id"], int(first))
        table = self.good("history", first, second)
        for row in ["machine", "prefill", "decode", "bandwidth limit", "observed"]:
            self.assertIn(row, table)
        self.refused(INVALID_REQUEST, "history", "99", says=["99"])
        self.refused(INVALID_REQUEST, "history", "first", says=["first"])


class JudgeTest(ProgramTest):
    def test_perplexity_and_a_model_against_itself(self):
        self.need_model()
        text = "The quick brown fox jumps over the lazy dog. " * 30
        (self.folder / "text.txt").write_text(text)
        answer = json.loads(self.good("perplexity", MODEL, "text.txt", "--ctx", "64", "--windows", "2",
                                      "--json", "--against", MODEL))
        self.assertEqual(answer["windows"], 2)
        self.assertEqual(answer["scored_tokens"], 2 * 31)
        self.assertEqual(answer["mean_kl_nats"], 0)
        self.assertEqual(answer["top1_agreement"], 1)
        self.assertEqual(answer["perplexity"], answer["base_perplexity"])
        self.assertTrue(1 < answer["perplexity"] < 3)
        self.refused(INVALID_REQUEST, "perplexity", MODEL, "text.txt", "--ctx", "4096",
                     says=["one window takes 4096"])

    def test_logits_do_not_depend_on_chunk_and_threads(self):
        self.need_model()
        (self.folder / "ids.txt").write_text("[504, 3575, 282, 4649, 314]")
        files = []
        for name, ways in (("a", ["--threads", "1"]), ("b", ["--threads", "2", "--chunk", "2"])):
            self.good("logits", MODEL, "--tokens", "ids.txt", "-o", name, "--ctx", "64", *ways)
            files.append((self.folder / name).read_bytes())
        self.assertEqual(files[0], files[1])
        self.assertGreater(len(files[0]), 5 * 49152 * 4)


if __name__ == "__main__":
    main()
