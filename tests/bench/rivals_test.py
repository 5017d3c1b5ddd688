#!/usr/bin/env python3
"""The comparison with the peers, with peers that are made up: medians, ratios, what makes a run void, and the
inner loops that the speed promises count."""
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/acceptance")]

from promises import family_speed, instructions, lines, rivalry  # noqa: E402
from rivals import llama_cpp, models, quiet, record, turns  # noqa: E402


class Engine:
    """Gives its rates in turn and notes when it was asked."""

    def __init__(self, name, prefill, decode, asked):
        self.name, self.prefill, self.decode, self.asked = name, prefill, decode, asked
        self.n = 0

    def measure(self, prefill, decode):
        self.asked.append(self.name)
        self.n += 1
        return {"prefill": self.prefill[self.n - 1], "decode": self.decode[self.n - 1]}


TARGETS = record.RECORDS[0]


class TurnsTest(unittest.TestCase):
    def setUp(self):
        cpu = mock.patch.object(record, "this_cpu", lambda: "a processor without a record")
        cpu.start()
        self.addCleanup(cpu.stop)

    def run_turns(self, prefill, decode, read=TARGETS["read_gb_s"], int8=TARGETS["int8_gop_s"], threads=2):
        self.asked = []
        engines = [Engine("hwtv", [300, 100, 200], [30, 10, 20], self.asked),
                   Engine("llama.cpp", prefill, decode, self.asked)]
        with (mock.patch.object(turns, "read_gb_s", lambda _: read),
              mock.patch.object(turns, "vector_gop_s", lambda _: int8)):
            return turns.Turns("Q4_0", threads).run(engines, 3, 512, 64)

    def test_the_engines_take_turns_and_medians_are_compared(self):
        made = self.run_turns([100, 50, 400], [5, 20, 10])
        self.assertEqual(self.asked, ["hwtv", "llama.cpp", "llama.cpp", "hwtv", "hwtv", "llama.cpp"])
        self.assertEqual(made.median("hwtv", "decode"), 20)
        self.assertEqual(made.ratio("prefill", "llama.cpp"), 2.0)
        self.assertEqual(made.ratio("decode", "llama.cpp"), 2.0)
        self.assertIsNone(made.ratio("decode", "OpenVINO GenAI"))
        self.assertEqual(made.series["llama.cpp", "decode"].spread, 1.5)

    def test_a_peer_far_below_its_record_makes_the_run_void(self):
        least = 0.85 * 14.8
        self.assertEqual(self.run_turns([91] * 3, [least + 0.01] * 3).void(), [])
        void = self.run_turns([91] * 3, [least - 0.01] * 3).void()
        self.assertEqual(len(void), 1)
        self.assertIn("llama.cpp decode", void[0])

    def test_the_record_is_scaled_by_what_this_machine_can_do(self):
        half = {"read": TARGETS["read_gb_s"] / 2, "int8": TARGETS["int8_gop_s"] / 2}
        self.assertEqual(self.run_turns([46] * 3, [7.4] * 3, **half).void(), [])
        self.assertEqual(len(self.run_turns([46] * 3, [7.4] * 3).void()), 2)
        self.assertEqual(self.run_turns([1] * 3, [1] * 3, threads=4).void(), [])  # the record is of two threads

    def test_a_rate_is_held_against_its_own_moment(self):
        # In the order of turns.
        moments = iter([TARGETS["int8_gop_s"] * share for share in (1, 1, .5, 1, 1, .5)])
        self.asked = []
        engines = [Engine("hwtv", [1] * 3, [1] * 3, self.asked),
                   Engine("llama.cpp", [91, 45.5, 45.5], [14.8] * 3, self.asked)]
        with (mock.patch.object(turns, "read_gb_s", lambda _: TARGETS["read_gb_s"]),
              mock.patch.object(turns, "vector_gop_s", lambda _: next(moments))):
            self.assertEqual(turns.Turns("Q4_0", 2).run(engines, 3, 512, 64).void(), [])

    def test_a_kind_of_processor_has_its_own_record(self):
        own = {**TARGETS, "cpu": "6/1", "rates": {"llama.cpp": {"Q4_0": {"prefill": 40, "decode": 7}}}}
        with mock.patch.object(record, "RECORDS", [TARGETS, own]):
            self.assertEqual(len(self.run_turns([40] * 3, [7] * 3).void()), 2)
            with mock.patch.object(record, "this_cpu", lambda: "6/1"):
                self.assertEqual(self.run_turns([40] * 3, [7] * 3).void(), [])
                self.assertEqual(len(self.run_turns([30] * 3, [7] * 3).void()), 1)

    def test_lines_say_ratio_target_and_goal(self):
        made = self.run_turns([91] * 3, [16] * 3)
        line, goal = rivalry.ratio_line(made, "decode", "llama.cpp", 1.2, 1.3)
        self.assertEqual((line[0], goal[0]), (True, False))
        self.assertIsInstance(goal, lines.Goal)
        self.assertIn("1.25 x, 20.0 against 16.0 tok/s, 3 rounds", line[2])
        self.assertFalse(next(rivalry.ratio_line(made, "decode", "OpenVINO GenAI", 1.2))[0])

    def test_dense_families_have_the_ratios_of_their_type_and_experts_their_own(self):
        self.assertEqual(family_speed.targets("gemma3-1b", "Q8_0"), (1.7, 3.0))
        self.assertEqual(family_speed.targets("qwen3-0.6b", "Q4_K_M"), (1.6, 2.2))
        self.assertEqual(family_speed.targets("16x40m", "Q8_0"), (1.5, 2.0))

    def test_a_family_peer_that_is_implausibly_slow_makes_the_run_void(self):
        family_speed.check_plausible(self.run_turns([91] * 3, [5.1] * 3))
        with self.assertRaisesRegex(family_speed.Failed, "void"):
            family_speed.check_plausible(self.run_turns([91] * 3, [4.9] * 3))


class PeerTest(unittest.TestCase):
    def bench(self, rows, **options):
        with mock.patch.object(llama_cpp, "peer_tool", lambda name: name), \
                mock.patch.object(llama_cpp, "output_of", lambda command: json.dumps(rows)):
            return llama_cpp.bench("model", 2, **options)

    def test_llama_bench_rows_are_told_apart(self):
        rows = [{"n_prompt": 512, "n_gen": 0, "avg_ts": 90.5}, {"n_prompt": 0, "n_gen": 64, "avg_ts": 14.5}]
        self.assertEqual(self.bench(rows, prefill=512, decode=64), {"prefill": 90.5, "decode": 14.5})

    def test_a_missing_row_is_no_figure(self):
        with self.assertRaises(llama_cpp.Failed):
            self.bench([{"n_prompt": 512, "n_gen": 0, "avg_ts": 90.5}], prefill=512, decode=64)

    def test_a_batched_rate_is_that_of_decode(self):
        out = b'log\n{"n_kv_max": 9, "speed_pp": 1.0, "speed_tg": 40.5}\n'
        with mock.patch.object(llama_cpp, "peer_tool", lambda name: name), \
                mock.patch.object(llama_cpp, "output_of", lambda command: out):
            self.assertEqual(llama_cpp.batched("model", 2, 16), 40.5)


class MachineTest(unittest.TestCase):
    def test_others_are_kept_off_while_the_block_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = pathlib.Path(folder) / "held"
            holder = pathlib.Path(folder) / "hold"
            holder.write_text(f'#!/bin/sh\ntouch "{mark}"\n"$@"\nrm "{mark}"\n')
            holder.chmod(0o755)
            with mock.patch.dict("os.environ", {"MEASURE_ALONE": str(holder)}):
                with quiet.alone():
                    self.assertTrue(mark.exists())
                self.assertFalse(mark.exists())

    def test_a_half_made_model_is_no_model(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(models, "KEPT", pathlib.Path(folder)):
            def half(path):
                path.write_bytes(b"half")
                raise models.Missing("no quantizer")
            with self.assertRaises(models.Missing):
                models.kept_model("m.gguf", half)
            self.assertEqual(list(pathlib.Path(folder).rglob("*.gguf")), [])


class LoopsTest(unittest.TestCase):
    # An outer loop of 0..5 that holds an inner one of 1..3, and a jump forward.
    BODY = [(0, "mov", -1), (10, "vpdpbusd zmm", -1), (20, "add", -1), (30, "jne", 10), (40, "je", 60),
            (50, "jmp", 0), (60, "ret", -1)]

    def test_only_innermost_loops_count(self):
        self.assertEqual(instructions.loops(self.BODY), [(1, 3)])

    def test_kernels_are_compared_within_five_percent(self):
        kept = {"a": ["100/8"], "b": ["40/4", "60/8"]}
        self.assertEqual(instructions.differences({"a": ["105/8"], "b": ["40/4", "60/8"]}, kept), [])
        self.assertEqual(instructions.differences({"a": ["106/8"], "b": ["40/4", "60/8"]}, kept), ["a"])
        self.assertEqual(instructions.differences({"a": ["100/9"], "b": ["40/4"]}, kept), ["a", "b"])
        self.assertEqual(instructions.differences({"a": ["100/8"]}, kept), ["b"])

    def test_a_kernel_has_a_short_name(self):
        self.assertEqual(instructions.short_name(
            "void hwtv::cpu::(anonymous namespace)::dot_rows<hwtv::cpu::(anonymous namespace)::PlainF16, 4>"
            "(unsigned char const*)"), "dot_rows<PlainF16, 4>")


if __name__ == "__main__":
    unittest.main(verbosity=2)
