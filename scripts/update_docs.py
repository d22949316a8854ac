#!/usr/bin/env python3
"""Runs the commands shown in README.md and docs/ and puts their real output there.

    scripts/update_docs.py [PART]      after scripts/quickstart.sh; only commands with PART in them

A block between `<!-- run: COMMAND -->` and `<!-- end -->` is replaced by a code
block with "$ COMMAND" and its output. Commands run in the repository with
build/release first in PATH; `| head -N`-like cuts are written in the command.
Names of this machine's folders are cut from the output.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- run: (.*?) -->\n).*?(<!-- end -->)", re.S)


def output_of(command):
    environment = {**os.environ, "PATH": f"{ROOT}/build/release:{os.environ['PATH']}", "COLUMNS": "80"}
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.replace(f"{ROOT}/", "").rstrip("\n")
    return f"```\n$ {command}\n{text}\n```\n"


def main(part=""):
    def updated(match):
        return match[1] + output_of(match[2]) + match[3] if part in match[2] else match[0]

    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        old = path.read_text()
        new = BLOCK.sub(updated, old)
        if new != old:
            path.write_text(new)
            print(f"updated {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
