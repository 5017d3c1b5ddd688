"""No instruction of an optional set outside its file: isa_leak_test.py OBJDUMP NM libbackends_cpu.a

Baseline objects hold no AVX instruction, and the ISA objects define no symbol that the linker might
choose over a baseline object's copy (a weak one: an inline function or a template shared by both).
"""
import re
import subprocess
import sys

AVX = re.compile(r"\t(v(?!er[rw]\b)[a-z0-9]+) .*|.*%[yz]mm")
OPTIONAL = re.compile(r"isa_a[vm]x\w*\.cc\.o$")


def members(tool, flags, archive, header):
    """(object, line) of every line that the tool prints for the archive."""
    text = subprocess.run([tool, *flags, archive], capture_output=True, text=True, check=True).stdout
    name = None
    for line in text.splitlines():
        found = re.match(header, line)
        if found:
            name = found.group(1)
        elif name:
            yield name, line


def main():
    objdump, nm, archive = sys.argv[1:]
    leaks, weak = set(), set()
    n_baseline, n_optional = set(), set()
    for name, line in members(objdump, ["-d", "--no-show-raw-insn"], archive,
                              r"(\S+\.o):\s+file format"):
        if OPTIONAL.search(name):
            n_optional.add(name)
            continue
        n_baseline.add(name)
        if AVX.match(line[line.find("\t"):] if "\t" in line else ""):
            leaks.add(f"{name}: {line.strip()}")
    for name, line in members(nm, ["--defined-only"], archive, r"(\S+\.o):$"):
        fields = line.split()
        if OPTIONAL.search(name) and len(fields) == 3 and fields[1] in "WVu":
            if not fields[2].startswith("DW.ref."):  # data of the unwinder
                weak.add(f"{name}: {fields[2]}")
    for complaint in sorted(leaks)[:20] + sorted(weak)[:20]:
        print(complaint)
    print(f"{len(n_baseline)} baseline objects with {len(leaks)} AVX instructions, "
          f"{len(n_optional)} ISA objects with {len(weak)} weak symbols")
    return 1 if leaks or weak or not n_baseline or len(n_optional) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
