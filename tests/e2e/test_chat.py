#!/usr/bin/env python3
"""hwtv chat over a pipe: turns, commands, saved conversations, a model without a template."""
import json

from gguf_file import write_model
from program import INVALID_REQUEST, MODEL, OK, ProgramTest, main


class ChatTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.need_model()

    def chat(self, *lines, words=(), code=OK):
        answer = self.hwtv("chat", MODEL, "--ctx", "512", "-n", "12", *words,
                           given="".join(line + "\n" for line in lines))
        self.assertEqual(answer.code, code, answer.err)
        return answer

    def saved(self, name):
        return json.loads((self.folder / name).read_text("utf-8"))

    def test_two_turns_are_saved_and_continued(self):
        answer = self.chat("Say hello.", "", "What is 2 + 2?", "/account", "/save talk.json")
        messages = self.saved("talk.json")
        self.assertEqual([message["role"] for message in messages], ["user", "assistant"] * 2)
        self.assertEqual(messages[0]["content"], "Say hello.")
        self.assertEqual(answer.out, messages[1]["content"] + "\n" + messages[3]["content"] + "\n")
        self.assertIn("tokens reused", answer.err)  # the first turn's cache served the second
        again = self.chat("/load talk.json", "/undo", "What is 2 + 2?", "/save again.json")
        self.assertIn("4 messages", again.err)
        # Computed from scratch or upon the kept cache: the same answer.
        self.assertEqual(self.saved("again.json"), messages)
        self.assertEqual(self.chat("/save third.json", words=["--load", "talk.json"]).out, "")
        self.assertEqual(self.saved("third.json"), messages)

    def test_a_draft_changes_no_turn(self):
        lines = ["Say hello.", "What is 2 + 2?", "/undo", "What is 3 + 3?", "/account"]
        drafted = self.chat(*lines, words=["--draft", MODEL, "--speculate", "draft", "--draft-max", "4"])
        self.assertEqual(drafted.out, self.chat(*lines, words=["--speculate", "off"]).out)
        self.assertIn("        draft ", drafted.err)

    def test_system_message_stays_after_clear(self):
        self.chat("Hi", "/clear", "/save talk.json", words=["--system", "Answer in French."])
        self.assertEqual(self.saved("talk.json"), [{"role": "system", "content": "Answer in French."}])

    def test_commands_that_are_wrong(self):
        answer = self.chat("/saev talk.json", "/save", "/load nosuch.json", "/help", "/exit", "Hi",
                           code=INVALID_REQUEST)
        for words in ["did you mean /save?", "/save needs a file", "nosuch.json", "/undo"]:
            self.assertIn(words, answer.err)
        self.assertEqual(answer.out, "")

    def test_a_file_that_is_no_conversation(self):
        (self.folder / "talk.json").write_text('[{"role": "user"}]')
        answer = self.chat("/load talk.json", "/help", code=INVALID_REQUEST)
        self.assertIn("message 1 has no role and content", answer.err)
        self.refused(INVALID_REQUEST, "chat", MODEL, "--load", "talk.json", "--ctx", "64")

    def test_last_line_without_its_end(self):
        answer = self.hwtv("chat", MODEL, "--ctx", "256", "-n", "4", given="Say hello.")
        self.assertEqual(answer.code, 0)
        self.assertGreater(len(answer.out), 2)


class TemplatelessTest(ProgramTest):
    def test_says_what_to_do_and_both_ways_work(self):
        write_model(self.folder / "tiny.gguf", n_layers=1, model_dim=64, ffn_dim=64, n_heads=2, n_kv_heads=1,
                    head_dim=32, context=256)
        self.refused(INVALID_REQUEST, "chat", "tiny.gguf", given="abc\n",
                     says=["no chat template", "--raw", "--chat-template"])
        (self.folder / "own.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
        for words in (["--raw"], ["--chat-template", "chatml"], ["--chat-template", "own.jinja"]):
            answer = self.hwtv("chat", "tiny.gguf", "-n", "4", *words, given="abc\n")
            self.assertEqual(answer.code, 0, answer.err)
        self.refused(INVALID_REQUEST, "run", "tiny.gguf", "--chat", "-p", "abc", says=["no chat template"])
        self.refused(INVALID_REQUEST, "chat", "tiny.gguf", "--chat-template", "chatlm", says=["chatlm"])
        for template, where in [("a\n  {{ 'x' }", "line 2 column 10"),
                                ("\n{{ raise_exception('no') }}", "line 2 column 19: no")]:
            (self.folder / "bad.jinja").write_text(template)
            self.refused(INVALID_REQUEST, "chat", "tiny.gguf", "--chat-template", "bad.jinja", given="abc\n",
                         says=[where])


if __name__ == "__main__":
    main()
