#!/usr/bin/env python3
"""The matrix-vector product of papers/data-structure-profiling at its size, n = 12000 by four
threads (1.15 GB, some minutes): loads of `a` per thread and in all, by its own name, by a range, and
by a range within an OpenMP construct.

    bench/matvec.py CULPRIT [--n 12000]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def loads_of(culprit, profile, name, kind, where):
    """Of each thread, in the function that multiplies, or in the parallel region."""
    text = subprocess.run([culprit, "report", profile, "--by", f"{kind},object,thread",
                           "--format", "json"], check=True, capture_output=True, text=True).stdout
    return [int(row["values"]["fp-loads"]["value"]) for row in json.loads(text)["rows"]
            if row["object"] == name and row[kind].startswith(where)
            and "fp-loads" in row["values"]]


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
        subprocess.run(["gcc", "-O2", "-g", "-fno-tree-vectorize", "-fopenmp", f"-DN={options.n}",
                        SOURCE / "tests/programs/openmp/matvec.c", "-o", folder / "team"],
                       check=True)
        function, region = ("function", "multiply"), ("region", "parallel")
        for words, of, program, place in (
                (["--objects", "site"], "a", "matvec", function),
                (["--range", "matrix=a"], "matrix", "matvec", function),
                (["--range", "matrix=a", "--regions"], "matrix", "team", region)):
            profile = folder / f"{of}.culprit"
            subprocess.run([culprit, "record", "-q", "-o", profile, "--engine", "simulate",
                            "--machine", "none", *words, "--", folder / program], check=True,
                           stdout=subprocess.DEVNULL)
            threads = loads_of(culprit, profile, of, *place)
            print(" ".join(words))
            for number, loads in enumerate(threads):
                print(f"  thread {number}  {loads:>14,}")
            print(f"  SUM       {sum(threads):>14,}   expected {4 * expected:,}", flush=True)
            is_right = is_right and threads == [expected] * 4
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
