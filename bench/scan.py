#!/usr/bin/env python3
"""culprit scan against known costs, and what a scan costs.

    bench/scan.py [FOLDER]     prints the whole table of 32 cells (vector addition, four setups, eight
                               sizes) beside the figures measured apart (../shared/facts/scan.md,
                               section 2), the time and the size of the file; exits 1 if one differs
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")) / "culprit"
DIMS = [1, 2, 3, 4, 5, 8, 9, 16]
# By setup: instructions, then loads / stores; g++ 12.2, clang 19.
FACTS = {
    "gcc12_O2": ([6, 8, 9, 9, 41, 33, 69, 62],
                 ["2/1", "4/1", "4/2", "4/2", "10/5", "8/4", "18/9", "16/8"]),
    "gcc12_O3": ([6, 8, 13, 17, 12, 15, 18, 27],
                 ["2/1", "4/1", "8/2", "12/2", "6/3", "8/4", "10/5", "16/8"]),
    "clang19_O2": ([5, 5, 9, 8, 13, 14, 21, 26],
                   ["2/1", "2/1", "4/2", "4/2", "6/3", "8/4", "10/5", "16/8"]),
    "gcc12_O3_avx2": ([6, 8, 13, 14, 9, 9, 12, 15], None),
}
PLAN = f"""[scan]
program = ["{SOURCE}/examples/scan/vecadd.cc"]
build = "{{cc}} {{flags}} -g -DDIM={{DIM}} {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
runs = [100, 300, 700]
DIM = {DIMS}
[setup]
gcc12_O2 = {{ cc = "g++-12", flags = "-O2" }}
gcc12_O3 = {{ cc = "g++-12", flags = "-O3" }}
gcc12_O3_avx2 = {{ cc = "g++-12", flags = "-O3 -mavx2" }}
clang19_O2 = {{ cc = "clang++-19", flags = "-O2" }}
"""


def culprit(folder, *arguments):
    return subprocess.run([CULPRIT, "scan", *arguments], cwd=folder, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def table(folder, expression):
    document = json.loads(culprit(folder, "table", expression, "--format", "json"))
    return {series["name"]: [mark.get("value") for mark in series["marks"]]
            for panel in document["panels"] for series in panel["series"]}


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        (folder / "scan.toml").write_text(PLAN)
        start = time.monotonic()
        culprit(folder, "run")
        seconds = time.monotonic() - start
        instructions, loads, stores = (table(folder, name)
                                       for name in ("instructions", "loads", "stores"))
        wrong = 0
        for setup, (expected, memory) in FACTS.items():
            found = [f"{a:g}/{b:g}" for a, b in zip(loads[setup], stores[setup])]
            good = instructions[setup] == expected and memory in (None, found)
            wrong += not good
            print(f"{setup:14} {'as in the facts' if good else 'DIFFERS'}")
            print("  instructions ", *(f"{value:>5g}" for value in instructions[setup]))
            print("  loads/stores ", *(f"{value:>5}" for value in found))
        size = (folder / "scan.culprit").stat().st_size
        print(f"{len(FACTS) * len(DIMS)} cells, 3 runs each: {seconds:.1f} s, "
              f"{size / 1000:.0f} kB, {size / 1000 / len(FACTS) / len(DIMS):.1f} kB a cell")
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
