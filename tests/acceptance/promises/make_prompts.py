#!/usr/bin/env python3
"""Makes prompts.json and its like: the exact model's greedy continuations of the prompts below, by the
peer's server.

    make_prompts.py EXACT.gguf [prompts.json]

Run again only to change the prompts; the acceptance run checks that the file says what the exact
model does.  A prompt whose continuation is not tokenized as it was generated is left out.
"""
import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from promises.place import peer_tool  # noqa: E402

N_TOKENS = 48
PROMPTS = {
    "history": "The first steam engines were built to pump water out of mines, and",
    "physics": "Light travels faster than sound, which explains why during a thunderstorm",
    "recipe": "To bake a simple loaf of bread you need flour, water, salt and yeast. First,",
    "dialogue": "\"Where have you been?\" she asked. He put the lantern on the table and",
    "letter": "Dear Mr. Thompson,\n\nThank you for your letter of 14 March. I am writing to",
    "geography": "The Amazon river flows through Brazil, Peru and Colombia. Its basin is",
    "legal": "The licensee may copy and distribute verbatim copies of the program provided that",
    "question": "Question: Why do leaves change their colour in autumn?\nAnswer:",
    "list": "Here are five tips for learning a new language:\n\n1.",
    "story": "Once upon a time, in a village at the edge of the great forest, there lived",
    # The first three whose continuation ends with a whole character are taken.
    "chinese_city": "北京是中国的首都，",
    "chinese_study": "学习新的语言需要时间和",
    "chinese_weather": "今天天气很好，我们",
    "chinese_reading": "读书是一种很好的习惯，因为",
    "chinese_tea": "中国茶有很多种，例如",
    "chinese_river": "长江是中国最长的河流，",
    "chinese_numbers": "一、二、三、四、五、六、七、",
    "chinese_greeting": "你好！我叫李明，我",
    "chinese_food": "我最喜欢的食物是",
    "chinese_spring": "春天来了，花",
    "chinese_computer": "计算机科学是研究",
    "chinese_hello": "问：什么是人工智能？\n答：",
    "python": "def fibonacci(n):\n    \"\"\"Return the n-th Fibonacci number.\"\"\"\n",
    "c": "#include <stdio.h>\n\nint main(void) {\n    int numbers[5] = {3, 1, 4, 1, 5};\n",
    "html": "<!DOCTYPE html>\n<html>\n<head>\n  <title>My page</title>\n",
    "sql": "SELECT name, COUNT(*) AS total\nFROM orders\nWHERE",
    "counting": "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,",
    "arithmetic": "12 + 30 = 42\n15 + 27 = 42\n20 + 25 = 45\n31 + 12 =",
    "table": "| Year | Population |\n|------|------------|\n| 1990 | 1,250,000 |\n| 2000 | 1,430,000 |\n",
}


def ask(port, path, document):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(document).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def started(model):
    """The server, ready, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([peer_tool("llama-server"), "-m", model, "-c", "512", "-np", "1", "-t", "1",
                               "-ctk", "f32", "-ctv", "f32", "-fa", "off", "--port", str(port)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return server, port
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    server.kill()
    sys.exit("the server does not start")


def main():
    name_of_file = sys.argv[2] if len(sys.argv) > 2 else "prompts.json"
    server, port = started(sys.argv[1])
    cases = []
    try:
        for name, prompt in PROMPTS.items():
            if name.startswith("chinese") and sum(c["name"].startswith("chinese") for c in cases) == 3:
                continue
            ids = ask(port, "/tokenize", {"content": prompt, "add_special": True})["tokens"]
            answer = ask(port, "/completion", {
                "prompt": ids, "n_predict": N_TOKENS, "temperature": 0, "top_k": 1, "samplers": ["top_k"],
                "return_tokens": True, "ignore_eos": True, "cache_prompt": False})
            tokens = answer["tokens"]
            whole = {"content": prompt + answer["content"], "add_special": True}
            again = ask(port, "/tokenize", whole)["tokens"]
            print(f"{name:16} {answer['content']!r}")
            if len(tokens) != N_TOKENS or again != ids + tokens:
                print(f"{name} is left out: not tokenized as it was generated")
                continue
            cases.append({"name": name, "prompt": prompt, "continuation": answer["content"],
                          "n_prompt": len(ids), "ids": ids + tokens})
    finally:
        server.terminate()
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    pathlib.Path(__file__).with_name(name_of_file).write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
