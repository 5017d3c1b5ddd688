#!/usr/bin/env python3
"""hwtv kernels: what it lists, what it keeps, and that a kept choice is taken and changes no text."""
import json
import unittest

from program import INVALID_REQUEST, MODEL, OK, ProgramTest, main

ASK = ["run", MODEL, "--raw", "-p", "The sea is", "-n", "6", "--json"]


class KernelsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.need_model()

    def list(self, *words, **options):
        return json.loads(self.good("kernels", MODEL, "--threads", "1", "--json", *words, **options))

    def kept(self):
        return next((self.folder / "cache/hwtv").glob("kernels-*-1.json"))

    def ask(self):
        answer = json.loads(self.good(*ASK, "--threads", "1"))
        return answer["text"], answer["account"]["kernels"]

    def test_lists_every_product_with_what_was_measured_and_keeps_it(self):
        found = self.list()
        counts = [product["count"] for product in found["products"] if product["rows"] == "one"]
        self.assertEqual(sum(counts), 7 * 30 + 1)
        for product in found["products"]:
            names = [time["isa"] for time in product["measured"]]
            self.assertEqual(names[0], found["rule"])
            self.assertIn(product["chosen"], names)
            self.assertTrue(all(time["bytes_per_s"] > 0 for time in product["measured"]))
            if product["chosen"] == found["rule"]:
                self.assertRegex(product["why"], r"^rule")
            else:
                self.assertRegex(product["why"], r"^trial of \d{4}-\d\d-\d\d: [1-9]\d*\.\d\d x the rule's$")
        self.assertIn("attention_f16_f16", " ".join(other["kernel"] for other in found["others"]))
        self.assertEqual(len(json.loads(self.kept().read_text())["trials"]), len(found["products"]))

    def test_a_kept_choice_is_taken_and_changes_no_text_until_it_is_forgotten(self):
        text, kernel = self.ask()
        found = self.list()
        names = [time["isa"] for time in found["products"][0]["measured"]]
        if len(names) < 2:
            self.skipTest(f"only {names[0]} runs here")
        document = json.loads(self.kept().read_text())
        for trial in document["trials"]:
            for time in trial["times"]:
                time["gain"] = 2.0 if time["isa"] == names[-1] else 1.0
        self.kept().write_text(json.dumps(document))
        self.assertEqual(self.ask(), (text, kernel.replace(names[0], names[-1])))
        forgotten = self.list("--rule")
        self.assertEqual({(product["chosen"], product["why"]) for product in forgotten["products"]},
                         {(names[0], "rule")})
        self.assertEqual(json.loads(self.kept().read_text())["trials"], [])
        self.assertEqual(self.ask(), (text, kernel))

    def test_a_broken_file_is_said_and_replaced(self):
        self.list("--rule")
        self.assertEqual(list((self.folder / "cache/hwtv").glob("kernels-*")), [])
        found = self.list()
        self.kept().write_text("{")
        self.assertIn("_packed_" + found["rule"], self.ask()[1])
        answer = self.hwtv("kernels", MODEL, "--threads", "1", "--rule")
        self.assertEqual(answer.code, OK)
        self.assertIn("what was kept is dropped", answer.err)
        self.assertEqual(json.loads(self.kept().read_text())["trials"], [])

    def test_a_forced_set_of_kernels_is_tried_against_nothing(self):
        forced = {"HWTV_ISA": "scalar"}
        text = self.good("kernels", MODEL, environment=forced)
        self.assertRegex(text, r"the rule: scalar, which HWTV_ISA names\n")
        self.assertRegex(text, r"Q4_1 576 x 576 +\d+ +1 +scalar +HWTV_ISA\n +not tried\n")
        self.assertEqual(list((self.folder / "cache/hwtv").glob("kernels-*")), [])
        self.refused(INVALID_REQUEST, "kernels", MODEL, "--rule", environment=forced,
                     says=["--rule", "HWTV_ISA"])


if __name__ == "__main__":
    main()
