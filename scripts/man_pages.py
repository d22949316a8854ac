#!/usr/bin/env python3
"""Writes the manual pages culprit.1, culprit-record.1, ... from what `culprit help` says.

    scripts/man_pages.py build/release/culprit share/man/man1
"""
import pathlib
import re
import subprocess
import sys

COLUMN = 27  # where the help says what an option does
HEADING = re.compile(r"[A-Z].*:")
ITEM = re.compile(r"  \S")
VERBATIM = ("Examples",)


def escape(text):
    """For roff: a backslash, a hyphen that can be typed, and a dot or quote that begins a line."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text[:1] in (".", "'") else text


def items(lines):
    """(name, words) of lines like `  -p, --pid PID        running processes`, continued or not."""
    found = []
    for line in lines:
        if ITEM.match(line):
            name, words = line[:COLUMN].strip(), line[COLUMN:].strip()
            if len(line) > COLUMN and line[COLUMN - 1] != " ":
                name, words = line.strip(), ""
            found.append([name, words])
        elif line.strip() and found:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def verbatim(lines):
    return [".nf", *(escape(line) for line in lines), ".fi"]


def section(heading, lines):
    out = [f'.SH "{escape(heading.upper())}"']
    if heading in VERBATIM:
        return out + verbatim(lines)
    for name, words in items(lines):
        out += [".TP", rf"\fB{escape(name)}\fR", escape(words)]
    return out


def page(name, title, help_text, version, others):
    """The help is a description, `Usage:`, headings with their lines, and examples."""
    before, _, after = help_text.partition("Usage: ")
    usage, *lines = after.rstrip().split("\n")
    out = [f'.TH "{escape(name.upper())}" 1 "" "{escape(version)}" "Culprit"', '.SH NAME',
           rf"{escape(name)} \- {escape(title)}", ".SH SYNOPSIS",
           *verbatim(re.split(r"   or   ", usage))]
    if before.strip() != title:
        out += [".SH DESCRIPTION", *verbatim(before.strip().split("\n"))]
    heading, body = None, []
    for line in [*lines, "End:"]:
        if HEADING.fullmatch(line):
            if heading:
                out += section(heading, body)
            heading, body = line[:-1], []
        else:
            body.append(line)
    see = ", ".join(rf"\fB{escape(other)}\fR(1)" for other in others if other != name)
    return "\n".join([*out, '.SH "SEE ALSO"', see]) + "\n"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write_pages(culprit, folder):
    version = output_of(culprit, "--version").strip()
    root = output_of(culprit, "help")
    commands = dict(items(root.partition("Subcommands:\n")[2].split("\n")))
    names = {"culprit": (root, "where the cycles went in native code, and what took them")}
    for command, title in commands.items():
        names[f"culprit-{command}"] = (output_of(culprit, "help", command), title)
    folder.mkdir(parents=True, exist_ok=True)
    for name, (text, title) in names.items():
        (folder / f"{name}.1").write_text(page(name, title, text, version, sorted(names)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_pages(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
