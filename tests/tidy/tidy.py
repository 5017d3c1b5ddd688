#!/usr/bin/env python3
"""Checks what the compiler can't: who includes whom, sizes, words, forgotten files.

Usage: tidy.py ROOT.  Prints one line per finding, "file:line: what"; exits with 1 if there is any.
tidy_test.py plants each of these faults in a copy and expects it to be found.
"""
import pathlib
import re
import sys

LINE_COLUMNS_MAX = 112
FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 75

CODE = {".h", ".cc", ".cu", ".cuh"}
TEXT = CODE | {".inc", ".py", ".sh", ".cmake", ".txt", ".md", ".json", ".jinja", ""}
FOLDERS = ["src", "tests", "bench", "scripts", "cmake", "docs", ".ci"]
TOP_FILES = ["CMakeLists.txt", "CMakePresets.json", "Makefile", "README.md", "README.zh-CN.md"]

# A thing has a subject, or belongs to base.
BANNED_NAMES = {"util", "utils", "common", "helper", "helpers", "misc"}
# What stands in code (comments and strings taken out), and what to use instead.
BANNED_CODE = [
    (r"\busing\s+namespace\b", "using namespace: name what you use"),
    (r"(?<!_)\bassert\s*\(", "assert: CHECK holds in release too"),
    (r"\bNULL\b", "NULL: nullptr"),
    (r"\b(?:std::)?s?rand\s*\(", "rand: an own generator with a seed"),
    (r"\b(?:hidden_(?:dim|size)|n_hidden|n_embd|n_layer|n_head|n_head_kv|n_ff|n_vocab)\b",
     "a name of another project: docs/GLOSSARY.md has ours"),
]
# Flags that would change results by link order or by compiler.
BANNED_BUILD = [(r"-ffast-math|-Ofast", "fast-math: sums must give the same bits in every build")]
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
MACHINE_PATH = re.compile(r"(?<![\w./}-])/(?:root|work|home/\w+|tmp|var/tmp)/[\w.-]+")
# Files whose subject is such paths: what a machine's /proc says, and these checks themselves.
PATHS_ALLOWED = re.compile(r"^tests/(tidy/|probe/)|^tests/.*fixtures/")


class Tree:
    """The project's files, read once; findings in the order in which they are made."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.findings = []
        self.texts = {}
        paths = [self.root / name for name in TOP_FILES]
        for folder in FOLDERS:
            paths += sorted((self.root / folder).rglob("*"))
        for path in paths:
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts:
                try:
                    self.texts[path.relative_to(self.root).as_posix()] = path.read_text("utf-8")
                except UnicodeDecodeError:
                    pass  # test data on purpose
        self.code = {name: text for name, text in self.texts.items() if suffix(name) in CODE}

    def report(self, name, line, what):
        self.findings.append(f"{name}:{line}: {what}")


def suffix(name):
    return pathlib.PurePosixPath(name).suffix


RAW_STRING = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.S)
TOKENS = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|"""
                    r"""(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'""", re.S)


DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def bare(text):
    """The code alone: comments and strings become blanks, every line keeps its place."""
    return TOKENS.sub(blank, RAW_STRING.sub(blank, text))


# --- layers -----------------------------------------------------------------------------------

def read_layers(tree):
    layers = {}
    for line in tree.texts["src/layers.txt"].splitlines():
        if line.strip() and not line.startswith("#"):
            folder, _, allowed = line.partition(":")
            layers[folder.strip()] = allowed.split()
    for folder, allowed in layers.items():
        if allowed == ["*"]:
            layers[folder] = [other for other in layers if other != folder]
        for other in allowed:
            if other != "*" and other not in layers:
                tree.report("src/layers.txt", 1, f"{folder} may include {other}: no folder")
    return layers


def check_acyclic(tree, layers):
    state = {}

    def visit(folder, way):
        if state.get(folder) == "done":
            return
        if folder in way:
            cycle = " -> ".join(way[way.index(folder):] + [folder])
            tree.report("src/layers.txt", 1, f"a cycle: {cycle}")
            state[folder] = "done"
            return
        for other in layers.get(folder, []):
            visit(other, way + [folder])
        state[folder] = "done"

    for folder in layers:
        visit(folder, [])


def folder_of(path, layers):
    """The longest folder of layers.txt that holds path (relative to src/), or None."""
    return max((f for f in layers if path.startswith(f + "/")), key=len, default=None)


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_includes(tree, layers):
    for name, text in tree.code.items():
        in_src = name.startswith("src/")
        here = folder_of(name[4:], layers) if in_src else None
        if in_src and here is None:
            tree.report(name, 1, "in no folder of src/layers.txt")
        for match in INCLUDE.finditer(text):
            target, line = match[1], line_of(text, match.start())
            there = folder_of(target, layers)
            if not any(way in tree.texts for way in (f"src/{target}", target)) and not any(
                    f"/{target}" in text for file, text in tree.texts.items()
                    if file.endswith("CMakeLists.txt")):  # where one is made by the build
                tree.report(name, line, f'"{target}" is no file below src/; write folder/file.h')
            elif in_src and there is None:
                tree.report(name, line, f"src/ may not include {target}")
            elif here and there != here and there not in layers[here]:
                tree.report(name, line, f"{here} may not include {there} (src/layers.txt)")


CALL = re.compile(r"add_layer\(([\w/]+)([^)]*)\)")


def check_cmake_deps(tree, layers):
    """What a folder links is what it may include."""
    for name, text in tree.texts.items():
        here = folder_of(name[4:], layers) if name.startswith("src/") else None
        for call in CALL.finditer(text) if here else []:
            deps = re.search(r"\bDEPS\b([^A-Z]*)", call[2])
            for dep in deps[1].split() if deps else []:
                if dep not in layers[here]:
                    tree.report(name, line_of(text, call.start()),
                                f"{here} may not link {dep} (src/layers.txt)")


def check_documented_layers(tree, layers):
    """docs/ARCHITECTURE.md tells the same as src/layers.txt about every folder that exists."""
    page = "docs/ARCHITECTURE.md"
    told = {}
    a_row = r"^\| ([\w/*, ]+) \| ([^|]*?)(?: — [^|]*)? \|$"
    for row in re.finditer(a_row, tree.texts[page], re.M):
        for folder in row[1].split(", "):
            told[folder] = (set(row[2].split()) - {"—"}, line_of(tree.texts[page], row.start()))
    for folder, allowed in layers.items():
        words, line = told.get(folder) or told.get(re.sub(r"/.*", "/*", folder)) or (None, 1)
        if words != set(allowed) and words != {"all"}:
            tree.report(page, line, f"tells otherwise than src/layers.txt about {folder}")


DOC_PATH = re.compile(r"(?<![\w/.])((?:src|tests|scripts|cmake|docs|bench)/[\w/.-]*\w)(?![\w<])")


def check_documented_paths(tree):
    """A page names no file or folder that is not there; <name> stands for any."""
    for name, text in tree.texts.items():
        if suffix(name) != ".md" or name == "docs/STYLE.md":  # which speaks of other projects too
            continue
        for match in DOC_PATH.finditer(text):
            if not (tree.root / match[1]).exists() and not match[1].endswith("/NAME"):
                tree.report(name, line_of(text, match.start()), f"there is no {match[1]}")


# --- sizes ------------------------------------------------------------------------------------

SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b[^;{}()=]*$")
# What may stand between the last ")" of a function's head and its "{".
TAIL = re.compile(r"(?:\s|const\b|noexcept\b|override\b|final\b|mutable\b|&)*"
                  r"(?:->.*|(?:[:,]\s*\w+\{[^{}]*\}\s*)*)", re.S)


def is_function(head):
    _, parenthesis, tail = head.rpartition(")")
    return bool(parenthesis) and bool(TAIL.fullmatch(tail))


def functions(text):
    """(first, last line) of each function body at namespace or class scope, found by braces."""
    code = DIRECTIVE.sub(blank, bare(text))
    scopes, inside, start, begin = [], 0, 0, 0
    for match in re.finditer(r"[{};]", code):
        char, offset = match[0], match.start()
        if inside:
            inside += {"{": 1, "}": -1, ";": 0}[char]
            if inside == 0 and begin >= 0:
                yield line_of(code, begin), line_of(code, offset)
                start = offset + 1  # after a mere value, such as m_{1}, the head goes on
        elif char == "{":
            head = code[start:offset]
            if SCOPE.search(head):
                scopes.append(head)
                start = offset + 1
            else:
                inside = 1
                begin = offset if is_function(head) else -1
        else:
            if char == "}" and scopes:
                scopes.pop()
            start = offset + 1


def is_kernel(name):
    return name.startswith("src/backends/")


def check_sizes(tree):
    for name, text in tree.texts.items():
        lines = text.splitlines()
        if suffix(name) in CODE and len(lines) > FILE_LINES_MAX:
            tree.report(name, len(lines), f"{len(lines)} lines, more than {FILE_LINES_MAX}")
        if suffix(name) in CODE | {".py", ".sh", ".cmake"} or name.endswith("CMakeLists.txt"):
            for number, line in enumerate(lines, 1):
                if len(line) > LINE_COLUMNS_MAX:
                    tree.report(name, number, f"{len(line)} columns, more than {LINE_COLUMNS_MAX}")
                if line != line.rstrip():
                    tree.report(name, number, "blanks at the end of the line")
        if name in tree.code and name.startswith("src/") and not is_kernel(name):
            for first, last in functions(text):
                if last - first + 1 > FUNCTION_LINES_MAX:
                    tree.report(name, first, f"a function of {last - first + 1} lines, more than "
                                             f"{FUNCTION_LINES_MAX}")


# --- words ------------------------------------------------------------------------------------

def check_words(tree):
    for name, text in tree.texts.items():
        path = pathlib.PurePosixPath(name)
        for part in (*path.parts[:-1], path.stem):
            if part.lower() in BANNED_NAMES:
                tree.report(name, 1, f'"{part}" is no subject; name what is in it')
        if not name.startswith("tests/tidy/") and suffix(name) != ".md":
            for match in TODO.finditer(text):
                tree.report(name, line_of(text, match.start()), f"{match[0]} without (#issue)")
        if not PATHS_ALLOWED.match(name):
            for match in MACHINE_PATH.finditer(text):
                tree.report(name, line_of(text, match.start()),
                            f"a path of one machine: {match[0]}")
        if name in tree.code:
            code = bare(text)
            for pattern, what in BANNED_CODE:
                for match in re.finditer(pattern, code):
                    tree.report(name, line_of(code, match.start()), what)
            if suffix(name) == ".h":
                if "#pragma once" not in text:
                    tree.report(name, 1, "a header without #pragma once")
                if not text.startswith("//"):
                    tree.report(name, 1, "a header opens with what it is for")
        if name.endswith("CMakeLists.txt") or suffix(name) in {".cmake", ".json"}:
            for pattern, what in BANNED_BUILD:
                for match in re.finditer(pattern, text):
                    tree.report(name, line_of(text, match.start()), what)


# --- forgotten files --------------------------------------------------------------------------

def check_listed(tree):
    """Every source is built: named in a CMakeLists.txt, or a test that add_layer picks up."""
    lists = {name: text for name, text in tree.texts.items() if name.endswith("CMakeLists.txt")}
    tested = {(re.search(r"\bTESTS (\S+)", call[2]) or call)[1]
              for text in lists.values() for call in CALL.finditer(text)}
    for name in tree.code:
        if suffix(name) == ".h":
            continue
        path = pathlib.PurePosixPath(name)
        folder = path.parent.as_posix()
        if folder.startswith("tests/") and name.endswith("_test.cc") and folder[6:] in tested:
            continue
        # Its own folder's list or one above names it from there; any list may give the full name.
        relative = [name] + [path.relative_to(parent).as_posix() for parent in path.parents
                             if f"{parent}/CMakeLists.txt" in lists]
        front = r"(?:(?<![\w./])|(?<=\$\{CMAKE_SOURCE_DIR\}/))"
        if not any(re.search(rf"{front}{re.escape(way)}(?![\w.])", text)
                   for way in relative for text in lists.values()):
            tree.report(name, 1, "in no CMakeLists.txt")


def main():
    tree = Tree(sys.argv[1])
    layers = read_layers(tree)
    check_acyclic(tree, layers)
    check_includes(tree, layers)
    check_cmake_deps(tree, layers)
    check_documented_layers(tree, layers)
    check_documented_paths(tree)
    check_sizes(tree)
    check_words(tree)
    check_listed(tree)
    print(*tree.findings, f"tidy: {len(tree.texts)} files, {len(tree.findings)} findings", sep="\n")
    return 1 if tree.findings else 0


if __name__ == "__main__":
    sys.exit(main())
