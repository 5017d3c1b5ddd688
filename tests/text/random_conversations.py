"""Random conversations for make_template_cases.py, in OpenAI's form: well-formed ones, and some with a
message out of place."""
import random

from template_conversations import DOCUMENTS, IMAGE, IMAGE_URL, PARTS, TOKENS, TOOLS

WORDS = ["", " ", "ok", "Grüße", "北京 today", "a\nb", "  spaced  ", "\n\nlines\n", "{{ x }}", "{% if %}",
         "<|im_end|>", "[INST]", "</s>", "<think>", "</think>", "<think>\nhm\n</think>\n\nSo", "\"quoted\"",
         "it's", "<b>&amp;</b>", "\\n", "🙂👩‍👧", "e\u0301", "1,000.50", "```json\n{}\n```", "\u2028", "\t|\r\n",
         "<tool_call>", "tool_calls", "x" * 300, "None", "true", "%s", "ß İ ŉ"]
KEYS = ["city", "n", "items", "a b", "ключ", "x\"y", "name", "type", "default", "keys", "arguments"]
EXTRAS = {"enable_thinking": [True, False], "thinking": [True, False], "reasoning_effort": ["low", "high"],
          "preserve_thinking": [True, False], "thinking_budget": [0, 64], "add_vision_id": [True],
          "tools_in_user_message": [False], "builtin_tools": [["python"]], "date_string": ["3 May 2026"],
          "keep_past_thinking": [True], "clear_thinking": [True, False],
          "functions": ["[]"], "datetime": ["now"], "model_identity": ["A test."]}


class Conversation:
    def __init__(self, generator):
        self.random = generator
        self.n_calls = 0

    def maybe(self, share):
        return self.random.random() < share

    def text(self):
        return "".join(self.random.choice(WORDS) for _ in range(self.random.randrange(4)))

    def content(self, parts=0.15):
        if not self.maybe(parts):
            return self.text()
        return self.random.choice([PARTS, IMAGE, IMAGE_URL, [{"type": "text", "text": self.text()}], []])

    def value(self, depth=2):
        kind = self.random.randrange(9 if depth else 7)
        if kind == 7:
            return [self.value(depth - 1) for _ in range(self.random.randrange(3))]
        if kind == 8:
            return self.arguments(depth - 1)
        return [self.text(), self.random.randrange(-5, 10**self.random.randrange(1, 18)), None, True, False,
                self.random.choice([0.5, -1.25, 1e-9, 3e20, 2.0]), self.text()][kind]

    def arguments(self, depth=2):
        return {key: self.value(depth) for key in self.random.sample(KEYS, self.random.randrange(4))}

    def call(self):
        self.n_calls += 1
        name = self.random.choice(TOOLS)["function"]["name"]
        arguments = self.arguments() if self.maybe(0.9) else '{"city": "Bern"}'
        return {"id": f"call{self.n_calls:05}", "type": "function",
                "function": {"name": name, "arguments": arguments}}

    def thoughts(self):
        if not self.maybe(0.3):
            return {}
        return {self.random.choice(["reasoning_content", "reasoning_content", "reasoning", "thinking"]):
                self.text()}

    def tool_round(self):
        calls = [self.call() for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
        content = None if self.maybe(0.2) else self.content(0.1)
        yield {"role": "assistant", "content": content, "tool_calls": calls, **self.thoughts()}
        for call in calls:
            answer = self.value() if self.maybe(0.2) else self.content(0.1)
            yield {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"],
                   "content": answer}

    def messages(self):
        if self.maybe(0.6):
            yield {"role": "system" if self.maybe(0.9) else "developer", "content": self.content()}
        for _ in range(self.random.randrange(1, 5)):
            yield {"role": "user", "content": self.content()}
            for _ in range(self.random.choice([0, 0, 0, 1, 1, 2])):
                yield from self.tool_round()
            yield {"role": "assistant", "content": self.content(0.05), **self.thoughts()}

    def draw(self):
        messages = list(self.messages())
        if self.maybe(0.8):
            while len(messages) > 1 and messages[-1]["role"] == "assistant":
                messages.pop()
        if self.maybe(0.1):
            self.random.shuffle(messages)
        drawn = {"special_tokens": TOKENS if self.maybe(0.9) else {}, "messages": messages,
                 "add_generation_prompt": self.maybe(0.7)}
        if self.maybe(0.6):
            drawn["tools"] = self.random.sample(TOOLS, self.random.randrange(1, 5))
        if self.maybe(0.1):
            drawn["documents"] = DOCUMENTS
        names = self.random.sample(sorted(EXTRAS), self.random.choice([0, 0, 1, 2, 4]))
        drawn["extra"] = {name: self.random.choice(EXTRAS[name]) for name in names}
        return drawn


def conversations(n, seed):
    """(name, conversation) of n cases."""
    for i in range(n):
        yield f"conversation {i} of seed {seed}", Conversation(random.Random(f"{seed} {i}")).draw()
