#!/usr/bin/env python3
"""The matrix-vector product of papers/data-structure-profiling at its size, n = 12000 by four
threads (1.15 GB, some minutes): loads of `a` per thread and in all, by its own name and by a range.

    bench/matvec.py CULPRIT [--n 12000]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def loads_of(culprit, profile, name):
    """Of each thread, of the function that multiplies."""
    text = subprocess.run([culprit, "report", profile, "--by", "object,thread", "--function",
                           "multiply", "--format", "json"], check=True, capture_output=True,
                          text=True).stdout
    return [int(row["values"]["fp-loads"]["value"]) for row in json.loads(text)["rows"]
            if row["object"] == name]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--n", type=int, default=12000)
    options = parser.parse_args()
    culprit = options.culprit.resolve()
    expected = options.n ** 2 // 4
    is_right = True
    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        # Vectorised, two elements would be one load.
        subprocess.run(["gcc", "-O2", "-g", "-fno-tree-vectorize", "-pthread", f"-DN={options.n}",
                        SOURCE / "tests/programs/matvec.c", "-o", folder / "matvec"], check=True)
        for words, of in ((["--objects", "site"], "a"), (["--range", "matrix=a"], "matrix")):
            profile = folder / f"{of}.culprit"
            subprocess.run([culprit, "record", "-q", "-o", profile, "--engine", "simulate",
                            "--machine", "none", *words, "--", folder / "matvec"], check=True,
                           stdout=subprocess.DEVNULL)
            threads = loads_of(culprit, profile, of)
            print(" ".join(words))
            for number, loads in enumerate(threads):
                print(f"  thread {number}  {loads:>14,}")
            print(f"  SUM       {sum(threads):>14,}   expected {4 * expected:,}", flush=True)
            is_right = is_right and threads == [expected] * 4
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
