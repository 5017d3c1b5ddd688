#!/usr/bin/env python3
"""The command line itself: help, version, suggestions, wrong words, missing models, completions."""
import pathlib
import subprocess
import unittest

from program import INVALID_REQUEST, ProgramTest, main

COMMANDS = ["run", "chat", "tokenize", "detokenize", "logits", "perplexity", "bench", "kernels",
            "inspect", "devices", "history", "pull", "list", "rm", "completions"]


class WordsTest(ProgramTest):
    def test_help_lists_every_command(self):
        text = self.good("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^ +{command} ")
        self.assertIn("Example:", text)

    def test_help_of_every_command_has_an_example_of_it(self):
        for command in COMMANDS:
            text = self.good(command, "--help")
            self.assertRegex(text, rf"Example:\n +.*hwtv {command}\b", command)

    def test_version_tells_commit_compiler_and_tables(self):
        self.assertRegex(self.good("--version"),
                         r"^hwtv \d+\.\d+\.\d+ \(\S.*\)\ncompiler .+\nkernel tables .*\bscalar\n$")

    def test_without_words_help_is_shown_and_the_code_says_that_nothing_was_asked(self):
        answer = self.hwtv()
        self.assertEqual(answer.code, INVALID_REQUEST)
        self.assertIn("Example:", answer.out)

    def test_unknown_command_suggests_the_nearest(self):
        self.refused(INVALID_REQUEST, "inspct", "x.gguf", says=["inspct", "did you mean inspect?"])
        self.refused(INVALID_REQUEST, "frobnicate", says=["frobnicate", "hwtv --help"])

    def test_unknown_flag_suggests_the_nearest(self):
        self.refused(INVALID_REQUEST, "run", "x.gguf", "--thread", "2",
                     says=["run has no flag --thread", "did you mean --threads?"])
        self.refused(INVALID_REQUEST, "run", "x.gguf", "--colour=blue", says=["--colour", "hwtv run --help"])

    def test_flag_without_its_value_or_with_a_wrong_one(self):
        self.refused(INVALID_REQUEST, "run", "x.gguf", "-n", says=["hwtv run --help"])
        self.refused(INVALID_REQUEST, "run", "x.gguf", "-n", "many", says=["many"])
        self.refused(INVALID_REQUEST, "run", "x.gguf", "--kv-type", "q9_9", "-p", "x", says=["q9_9"])
        self.refused(INVALID_REQUEST, "run", says=["MODEL"])

    def test_missing_model_is_said_with_what_to_do(self):
        for command in ["inspect", "run", "tokenize", "chat"]:
            self.refused(INVALID_REQUEST, command, "nosuch.gguf", *(["-p", "x"] if command == "run" else []),
                         says=["nosuch.gguf", "hwtv list"])

    def test_misspelled_model_suggests_the_nearest(self):
        (self.folder / "cache/hwtv/models/tiny-llama.gguf").write_bytes(b"GGUF")
        self.refused(INVALID_REQUEST, "inspect", "tiny-lama", says=["did you mean tiny-llama?"])

    def test_completions_are_scripts_that_their_shell_accepts(self):
        for shell in ["bash", "zsh", "fish"]:
            script = self.good("completions", shell)
            for command in COMMANDS:
                self.assertIn(command, script, shell)
        script = self.good("completions", "bash")
        subprocess.run(["bash", "-n"], input=script.encode(), check=True)
        self.refused(INVALID_REQUEST, "completions", "tcsh", says=["tcsh"])

    def test_bash_completes_commands_and_flags(self):
        script = self.good("completions", "bash") + (
            '\ncomplete -p hwtv > /dev/null\n'
            'complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); '
            '"$(complete -p hwtv | sed "s/.*-F \\([^ ]*\\).*/\\1/")"; echo "${COMPREPLY[@]}"; }\n'
            'complete_words hwtv insp\ncomplete_words hwtv run --thr\n')
        done = subprocess.run(["bash", "--norc"], input=script.encode(), stdout=subprocess.PIPE, check=True,
                              env=self.environment)
        self.assertEqual(done.stdout.decode().split(), ["inspect", "--threads"])


class ModelCacheTest(ProgramTest):
    def test_list_and_rm(self):
        models = self.folder / "cache/hwtv/models"
        self.assertIn("no models", self.good("list"))
        (models / "b.gguf").write_bytes(b"broken")
        (models / "a.gguf").write_bytes(b"GGUF")
        (models / "notes.txt").write_text("no model")
        self.assertEqual(self.good("list", "--names"), "a.gguf\nb.gguf\n")
        self.assertIn("corrupt_file", self.good("list"))
        self.refused(INVALID_REQUEST, "rm", "c.gguf", says=["c.gguf", "hwtv list"])
        self.assertIn("removed a.gguf", self.good("rm", "a"))
        self.assertEqual(self.good("list", "--names"), "b.gguf\n")

    def test_rm_touches_nothing_outside_the_cache(self):
        outside = self.folder / "mine.gguf"
        outside.write_bytes(b"GGUF")
        self.refused(INVALID_REQUEST, "rm", outside)
        self.refused(INVALID_REQUEST, "rm", "../../../mine.gguf")
        self.assertTrue(pathlib.Path(outside).exists())


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    main()
