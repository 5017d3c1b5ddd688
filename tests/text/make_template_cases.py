"""Compares our chat templates with jinja2, set up as Hugging Face transformers sets it up.

    make_template_cases.py RENDER_TEMPLATE templates [DIRECTORY]   every *.jinja, many conversations
    make_template_cases.py RENDER_TEMPLATE drawn [N] [SEED]      every *.jinja of the peer, N random ones
    make_template_cases.py RENDER_TEMPLATE snippets              tests/text/template_snippets.txt
    make_template_cases.py RENDER_TEMPLATE random [TEMPLATES] [SEED]

RENDER_TEMPLATE is our program (tests/text/render_template.cc).  Where jinja2 gives a text, ours must
give the same bytes; where it raises, ours must report an error, with the template's own message.
DIRECTORY defaults to the peer's templates in the cache that `make peer` fills.
Exit code 77, skipped: jinja2 is not installed, or there is no cache.
"""
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import warnings

try:
    import jinja2
    import jinja2.ext
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    print("skipped: the Python package jinja2 is not installed (Debian: python3-jinja2)")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import random_conversations  # noqa: E402
import template_conversations  # noqa: E402
import template_grammar  # noqa: E402

warnings.simplefilter("ignore", SyntaxWarning)
NOW = 1753920000  # 2025-07-31 00:00 UTC

# What ours refuses by design, and no chat template was seen to use.
UNSUPPORTED = ["a complex number", "striptags of text with entities", "an integer beyond 64 bits",
               "str.encode, str.maketrans and str.translate"]


class Generation(jinja2.ext.Extension):
    """{% generation %}: marks what the assistant wrote; it prints its body."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_body")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def strftime_now(format):
    return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).replace(
        tzinfo=None).strftime(format)


def environment():
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                         extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = strftime_now
    return made


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def render(self, job):
        self.process.stdin.write(json.dumps(job).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"render_template ended ({self.process.wait()}) on {job}")
        return json.loads(line)


class Checker:
    def __init__(self, program):
        self.ours = Ours(program)
        self.environment = environment()
        self.compiled = {}
        self.n_same = self.n_raised = self.n_unsupported = 0
        self.failures = []

    def expected(self, source, variables):
        """(text, None) or (None, exception)."""
        try:
            if source not in self.compiled:
                self.compiled[source] = self.environment.from_string(source)
            text = self.compiled[source].render(**variables)
            text.encode()
            return text, None
        except RecursionError:
            raise
        except Exception as error:  # whatever jinja2 or Python raises is an answer
            return None, error

    def check(self, name, source, conversation):
        variables = {"messages": conversation["messages"], "tools": conversation.get("tools"),
                     "documents": conversation.get("documents"),
                     "add_generation_prompt": conversation.get("add_generation_prompt", False),
                     **conversation.get("special_tokens", {}), **conversation.get("extra", {})}
        try:
            text, error = self.expected(source, json.loads(json.dumps(variables)))
        except RecursionError:
            return
        if error is None and " at 0x" in text:
            return  # the address of a Python object
        job = {"template": source, "now": NOW, "messages": json.dumps(conversation["messages"]),
               "add_generation_prompt": variables["add_generation_prompt"],
               "special_tokens": conversation.get("special_tokens", {})}
        for field in ("tools", "documents", "extra"):
            if conversation.get(field) is not None:
                job[field] = json.dumps(conversation[field])
        ours = self.ours.render(job)
        if any(limit in ours.get("error", "") for limit in UNSUPPORTED):
            self.n_unsupported += 1
            return
        if error is None and ours.get("text") == text:
            self.n_same += 1
        elif error is not None and "error" in ours and self.same_message(error, ours["error"]):
            self.n_raised += 1
        else:
            self.failures.append((name, source, error if error is not None else text, ours))

    @staticmethod
    def same_message(error, ours):
        own_message = type(error) in (jinja2.exceptions.TemplateError,
                                      jinja2.exceptions.UndefinedError)
        return not own_message or str(error) in ours

    def report(self):
        print(f"{self.n_same} texts are the same, {self.n_raised} refusals are the same, "
              f"{self.n_unsupported} are unsupported, {len(self.failures)} differ")
        for name, source, expected, ours in self.failures[:20]:
            print("---", name)
            if len(source) < 1000:
                print("template:", repr(source))
            if isinstance(expected, Exception):
                print("jinja2:  ", type(expected).__name__, expected)
                print("ours:    ", repr(ours)[:600])
                continue
            got = ours.get("text")
            if got is None:
                print("jinja2:  ", repr(expected)[:600])
                print("ours:    ", ours)
                continue
            at = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b),
                      min(len(expected), len(got)))
            first = max(at - 60, 0)
            print(f"jinja2 at {at}:", repr(expected[first:at + 100]))
            print(f"ours at {at}:  ", repr(got[first:at + 100]))
        return 1 if self.failures or self.n_same == 0 else 0


def peer_templates():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")
    cache = os.environ.get("HWTV_CACHE") or os.path.join(home, "hwtv")
    if not os.path.isdir(cache):
        print(f"skipped: there is no cache {cache}; `make peer` fills it")
        sys.exit(77)
    return os.path.join(cache, "peer/llama_cpp_python-0.3.36/vendor/llama.cpp/models/templates")


def check_templates(checker, directory, conversations):
    files = sorted(pathlib.Path(directory).glob("*.jinja"))
    if len(files) < 60:
        print(f"{directory} holds {len(files)} templates, 70 were expected")
        return 1
    rendered = {}
    for file in files:
        source = file.read_text()
        before = checker.n_same
        for name, conversation in conversations:
            checker.check(f"{file.name} with {name}", source, conversation)
        rendered[file.name] = checker.n_same - before
    print(f"{len(files)} templates, {len(conversations)} conversations")
    silent = [name for name, n in rendered.items() if n == 0]
    if silent:
        print("refused every conversation:", *silent)
    return checker.report()


def check_snippets(checker):
    conversation = template_conversations.for_snippets()
    for block in (HERE / "template_snippets.txt").read_text().split("\n=====\n"):
        checker.check("a snippet", block, conversation)
    return checker.report()


def check_random(checker, n_templates, seed):
    conversation = template_conversations.for_snippets()
    generator = template_grammar.Grammar(random.Random(seed))
    for _ in range(n_templates):
        checker.compiled.clear()
        checker.check("a random template", generator.template(), conversation)
    return checker.report()


def main():
    program, what, *rest = sys.argv[1:]
    checker = Checker(program)
    if what == "templates":
        return check_templates(checker, rest[0] if rest else peer_templates(),
                               list(template_conversations.conversations()))
    if what == "drawn":
        n, seed = (int(text) for text in (rest + ["40", "1"][len(rest):]))
        return check_templates(checker, peer_templates(), list(random_conversations.conversations(n, seed)))
    if what == "snippets":
        return check_snippets(checker)
    n_templates, seed = (int(text) for text in (rest + ["1500", "1"][len(rest):]))
    return check_random(checker, n_templates, seed)


sys.exit(main())
