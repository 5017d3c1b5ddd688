#!/usr/bin/env python3
"""Writes the manual page from what the program says of itself.

Usage: make_man.py OUT [EMULATOR...] HWTV.  Every word comes from `hwtv --help`, `hwtv COMMAND
--help` and `hwtv --version`, so the page cannot differ from the program; FILES and EXIT STATUS are
the README's tables.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def said_by(program, *words):
    run = subprocess.run([*program, *words], stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def sections(help_text):
    """The parts of a help text by title; "" is what comes before the first: the description."""
    found, title = {"": []}, ""
    for line in help_text.splitlines():
        heading = re.fullmatch(r"(\w[\w ]*):", line)
        usage = re.match(r"Usage: (.*)", line)
        if heading:
            title = heading[1]
            found[title] = []
        elif usage:
            found["Usage"] = [usage[1]]
        else:
            found[title].append(line)
    return found


def entries(lines):
    """(name, description) of each row of a two-column list; a longer description goes on below."""
    rows = []
    for line in lines:
        row = re.match(r"  (\S.*?)(?:\s{2,}(.*))?$", line)
        if row:
            rows.append([row[1], row[2] or ""])
        elif line.strip() and rows:
            rows[-1][1] = (rows[-1][1] + " " + line.strip()).strip()
    return rows


def listed(rows):
    return [line for name, what in rows for line in (".TP", ".B " + escaped(name), escaped(what))]


def readme_table(title):
    """The rows of the first table below a heading of README.md."""
    text = (ROOT / "README.md").read_text().split(f"\n## {title}\n", 1)[1]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", text.split("\n## ", 1)[0], re.M)
    return [[cell.replace("`", "") for cell in row] for row in rows[1:]]


def command_part(program, name):
    parts = sections(said_by(program, name, "--help"))
    lines = [".SS " + escaped(f"hwtv {name}"), escaped(" ".join(parts[""]).strip()),
             ".PP", ".I " + escaped(parts["Usage"][0])]
    for title in ("Positionals", "Options"):
        lines += listed(entries(parts.get(title, [])))
    example = [line.strip() for line in parts.get("Example", []) if line.strip()]
    if example:
        lines += [".PP", "Example:", ".PP", ".nf", ".RS", *map(escaped, example), ".RE", ".fi"]
    return lines


def page(program):
    parts = sections(said_by(program, "--help"))
    version = said_by(program, "--version").split()[1]
    commands = entries(parts["Subcommands"])
    lines = [f'.TH HWTV 1 "" "hwtv {escaped(version)}" "User Commands"',
             ".SH NAME", r"hwtv \- language models, seen from the hardware",
             ".SH SYNOPSIS", ".B hwtv", ".I COMMAND", "[options]",
             ".SH DESCRIPTION", escaped(" ".join(parts[""]).strip()),
             ".SH OPTIONS", *listed(entries(parts["Options"])),
             ".SH COMMANDS"]
    for name, _ in commands:
        lines += command_part(program, name)
    files = [[where, what] for what, where in readme_table("Where things lie")]
    lines += [".SH FILES", *listed(files), ".SH EXIT STATUS", *listed(readme_table("Exit codes"))]
    return "\n".join(line for line in lines if line) + "\n"


def main():
    out, *program = sys.argv[1:]
    pathlib.Path(out).write_text(page(program))


if __name__ == "__main__":
    main()
