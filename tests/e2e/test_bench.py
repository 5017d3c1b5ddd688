#!/usr/bin/env python3
"""hwtv bench: its forms, its refusals, its place in the journal."""
import csv
import io
import json
import unittest

from program import INVALID_REQUEST, MODEL, ProgramTest, main

SMALL = ["--prefill", "8", "--decode", "3", "--depth", "0,40", "--batch", "2", "--repetitions", "2"]


class BenchTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.need_model()

    def test_json_has_what_was_asked_and_the_journal_keeps_it(self):
        report = json.loads(self.good("bench", MODEL, *SMALL, "--json"))
        rows = [(row["test"], row["prompt_tokens"], row["decode_tokens"], row["sequences"])
                for row in report["bench"]]
        self.assertEqual(rows, [("prefill", 8, 0, 1), ("decode", 1, 3, 1), ("decode", 40, 3, 1),
                                ("batch", 32, 3, 2)])
        for row in report["bench"]:
            self.assertEqual(len(row["seconds"]), 2)
            self.assertGreater(row["tokens_per_s"], 0)
            self.assertTrue(0 < row["share_of_limit"] < 1.5, row)
        runs = json.loads(self.good("history", "--json"))
        self.assertEqual((runs[0]["command"], runs[0]["account"]["bench"]), ("bench", report["bench"]))
        self.assertRegex(self.good("history"), r"bench +SmolLM2\S* +[\d.]+ +[\d.]+ ")

    def test_bytes_of_a_step_are_those_of_the_run(self):
        answer = json.loads(self.good("run", MODEL, "--raw", "-p", "a", "-n", "4", "--json"))
        self.assertEqual(len(answer["prompt_tokens"]), 1)
        row = json.loads(self.good("bench", MODEL, "--decode", "3", "--json"))["bench"][0]
        self.assertEqual(row["step_bytes"], answer["account"]["decode"]["bytes_per_token"])

    def test_markdown_and_csv(self):
        text = self.good("bench", MODEL, *SMALL)
        self.assertRegex(text, r"(?m)^\| load \| .* \| 2 \|")
        self.assertRegex(text, r"(?m)^\| decode 3 at 40 \| [\d.]+ \|")
        rows = list(csv.DictReader(io.StringIO(self.good("bench", MODEL, *SMALL, "--csv"))))
        self.assertEqual([row["test"] for row in rows], ["prefill", "decode", "decode", "batch"])
        self.assertTrue(all(float(row["tokens_per_s"]) > 0 for row in rows))

    def test_what_the_model_cannot_hold_is_skipped_and_said(self):
        text = self.good("bench", MODEL, "--decode", "3", "--depth", "0,9000", "--repetitions", "1")
        self.assertRegex(text, r"\| decode 3 at 9000 \| skipped: the model was trained for 8192 tokens \|")
        self.assertRegex(text, r"\| decode 3 at 0 \| [\d.]+ \|")

    def test_refusals(self):
        self.refused(INVALID_REQUEST, "bench", MODEL, "--prefill", "12,x", says=["--prefill 12,x", "'x'"])
        self.refused(INVALID_REQUEST, "bench", MODEL, "--json", "--csv", says=["--csv"])
        self.refused(INVALID_REQUEST, "bench", MODEL, "--repetitions", "0", says=["--repetitions"])


if __name__ == "__main__":
    main()
