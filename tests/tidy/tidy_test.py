#!/usr/bin/env python3
"""Shows that tidy.py finds what it promises: each fault is planted in a copy of a part of the tree,
and exactly that finding expected.  Usage: tidy_test.py ROOT"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
TIDY = ROOT / "tests/tidy/tidy.py"
HEADER = "// A header for the test.\n#pragma once\n"
LONG_BODY = "".join(f"  n += {i};\n" for i in range(80)) + "  return n;\n}\n"


class TidyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hwtv-tidy-")
        cls.tree = pathlib.Path(cls.folder.name) / "tree"
        cls.tree.mkdir()
        for name in ["src/base", "src/gguf", "src/hw", "src/backends/ref", "tests/base", "docs"]:
            shutil.copytree(ROOT / name, cls.tree / name)
        for name in ["src/layers.txt", "src/CMakeLists.txt", "CMakeLists.txt"]:
            shutil.copy(ROOT / name, cls.tree / name)
        cls.before = set(cls.tidy()[1])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def tidy(cls):
        run = subprocess.run([sys.executable, TIDY, cls.tree], stdout=subprocess.PIPE, text=True)
        *findings, _summary = run.stdout.splitlines()
        return run.returncode, findings

    def plant(self, name, text, append=True):
        """Appends text to a file of the copy (or makes it); puts the tree back after the test."""
        path = self.tree / name
        old = path.read_text() if path.exists() else None
        made = [p for p in path.parents if not p.exists()]

        def restore():
            if old is None:
                path.unlink()
                for folder in made:
                    folder.rmdir()
            else:
                path.write_text(old)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((old or "") + text if append else text)
        self.addCleanup(restore)

    def expect(self, finding):
        """The planted fault is found, and nothing else that was not there before."""
        code, findings = self.tidy()
        new = set(findings) - self.before
        self.assertEqual(code, 1)
        self.assertEqual(len(new), 1, new)
        self.assertIn(finding, new.pop())

    def expect_nothing(self):
        self.assertEqual(set(self.tidy()[1]), self.before)

    def test_forbidden_include(self):
        self.plant("src/gguf/value.cc", '#include "hw/ledger.h"\n')
        self.expect("gguf may not include hw")

    def test_upward_include(self):
        self.plant("src/base/check.h", '#include "gguf/value.h"\n')
        self.expect("base may not include gguf")

    def test_src_includes_no_tests(self):
        self.plant("tests/base/planted.h", HEADER)
        self.plant("src/base/check.cc", '#include "tests/base/planted.h"\n')
        self.expect("src/ may not include tests/base/planted.h")

    def test_include_without_folder(self):
        self.plant("src/base/check.cc", '#include "clock.h"\n')
        self.expect('"clock.h" is no file below src/')

    def test_include_in_a_comment_or_string_is_not_meant(self):
        self.plant("src/gguf/value.cc", '// #include "hw/ledger.h"\n')
        self.expect_nothing()

    def test_cycle_of_layers(self):
        text = (self.tree / "src/layers.txt").read_text()
        self.plant("src/layers.txt", text.replace("\nbase:", "\nbase: hw"), append=False)
        page = (self.tree / "docs/ARCHITECTURE.md").read_text()
        page = page.replace("| base | — |", "| base | hw |")
        self.plant("docs/ARCHITECTURE.md", page, append=False)
        self.expect("a cycle: ")

    def test_layer_that_is_no_folder(self):
        self.plant("src/layers.txt", "planted: nowhere\n")
        self.plant("docs/ARCHITECTURE.md", "\n| planted | nowhere |\n")
        self.expect("planted may include nowhere: no folder")

    def test_undocumented_layer(self):
        self.plant("src/layers.txt", "planted: base\n")
        self.expect("tells otherwise than src/layers.txt about planted")

    def test_folder_without_a_layer(self):
        self.plant("src/planted/thing.h", HEADER)
        self.expect("in no folder of src/layers.txt")

    def test_page_about_a_file_that_is_not_there(self):
        self.plant("docs/GLOSSARY.md", "See `src/base/<name>.cc` and `src/base/planted.h`.\n")
        self.expect("there is no src/base/planted.h")

    def test_forbidden_link(self):
        text = (self.tree / "src/gguf/CMakeLists.txt").read_text()
        self.assertIn("DEPS base", text)
        text = text.replace("DEPS base", "DEPS base hw", 1)
        self.plant("src/gguf/CMakeLists.txt", text, append=False)
        self.expect("gguf may not link hw")

    def test_long_line(self):
        self.plant("src/base/clock.cc", "// " + "x" * 120 + "\n")
        self.expect("123 columns, more than")

    def test_trailing_blanks(self):
        self.plant("src/base/clock.cc", "// x \n")
        self.expect("blanks at the end of the line")

    def test_long_file(self):
        self.plant("src/base/clock.cc", "// x\n" * 800)
        self.expect("lines, more than 800")

    def test_long_function(self):
        text = "namespace hwtv {\nint planted(int n) {\n" + LONG_BODY + "}\n"
        self.plant("src/base/clock.cc", text)
        self.expect("a function of 83 lines, more than 75")

    def test_long_method_after_an_initialiser_list(self):
        text = "Planted::Planted(int n)\n    : n_(n), m_{n} {\n" + LONG_BODY
        self.plant("src/base/clock.cc", text)
        self.expect("lines, more than 75")

    def test_a_long_table_is_no_function(self):
        self.plant("src/base/clock.cc", "constexpr int kPlanted[] = {\n" + "  1,\n" * 90 + "};\n")
        self.expect_nothing()

    def test_kernels_may_be_long(self):
        self.plant("src/backends/ref/planted.cc", "int planted(int n) {\n" + LONG_BODY)
        self.plant("src/backends/ref/CMakeLists.txt", "# planted.cc\n")
        self.expect_nothing()

    def test_banned_folder_and_file(self):
        self.plant("docs/util/planted.md", "\n")
        self.expect('"util" is no subject')

    def test_todo_without_an_issue(self):
        self.plant("src/base/clock.cc", "// " + "TODO: later\n// TODO" + "(#7): fine\n")
        self.expect("TODO without (#issue)")

    def test_using_namespace(self):
        self.plant("src/base/clock.cc", "using namespace std;\n")
        self.expect("using namespace: name what you use")

    def test_foreign_name(self):
        self.plant("src/base/clock.cc", 'int planted(int hidden_dim);  // "n_embd" in a comment\n')
        self.expect("a name of another project")

    def test_assert(self):
        self.plant("src/base/clock.cc", "static_assert(true);\nvoid f() { assert(true); }\n")
        self.expect("assert: CHECK holds in release too")

    def test_machine_path(self):
        self.plant("src/base/clock.cc", "// see " + "/home/" + "somebody/notes.txt\n")
        self.expect("a path of one machine")

    def test_header_without_pragma(self):
        self.plant("src/base/planted.h", "// A header.\n")
        self.expect("a header without #pragma once")

    def test_header_without_purpose(self):
        self.plant("src/base/planted.h", "#pragma once\n")
        self.expect("a header opens with what it is for")

    def test_fast_math(self):
        self.plant("src/base/CMakeLists.txt", "# -ffast-math\n")
        self.expect("fast-math")

    def test_forgotten_source(self):
        self.plant("src/base/planted.cc", "\n")
        self.expect("in no CMakeLists.txt")

    def test_forgotten_test(self):
        self.plant("tests/planted/planted_test.cc", "\n")
        self.expect("in no CMakeLists.txt")


if __name__ == "__main__":
    unittest.main(verbosity=1)
