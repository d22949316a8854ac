#!/usr/bin/env python3
"""Figure 1 of papers/data-structure-profiling by our own output: a critical section of one second
that four threads come to at once. By hand: one thread after the other, so that they wait for 0, 1, 2
and 3 s and are inside for 1 s each, 6 and 4 s in all, whatever the number of CPUs.

    bench/figure_1.py CULPRIT
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PAPER = {"enter": [0.00, 1.00, 2.00, 3.01], "body": [1.00] * 4}
BY_HAND = {"enter": [0, 1, 2, 3], "body": [1] * 4}
OFF_BY_S, RELATIVE = 0.02, 0.02


def critical(culprit, program, folder):
    """The rows of its threads, those first that come in first."""
    profile = folder / "profile.culprit"
    subprocess.run([culprit, "record", "-q", "-o", profile, "--regions", "--", program,
                    "critical", "1000"], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([culprit, "regions", profile, "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    found = [one for one in json.loads(text)["constructs"] if one["kind"] == "critical"]
    assert len(found) == 1, text
    return sorted(found[0]["threads"], key=lambda one: one["enter_ns"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    culprit = parser.parse_args().culprit.resolve()
    is_right = True
    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        for compiler in ("gcc", "clang-19"):
            program = folder / compiler
            built = subprocess.run([compiler, "-O2", "-g", "-fopenmp",
                                    SOURCE / "tests/programs/openmp/constructs.c", "-o", program],
                                   stderr=subprocess.DEVNULL)
            if built.returncode != 0:
                print(f"{compiler}: no OpenMP here")
                continue
            rows = critical(culprit, program, folder)
            print(f"{compiler}: execC, enterT, bodyT, execT [s]; the paper's enterT and bodyT")
            for at, row in enumerate(rows):
                seen = {part: row[part + "_ns"] / 1e9 for part in BY_HAND}
                print(f"  {row['executions']}  {seen['enter']:6.3f} {seen['body']:6.3f} "
                      f"{row['whole_ns'] / 1e9:6.3f}    {PAPER['enter'][at]:5.2f} "
                      f"{PAPER['body'][at]:5.2f}")
                is_right = is_right and row["executions"] == 1 and all(
                    abs(seen[part] - BY_HAND[part][at]) <= max(OFF_BY_S, RELATIVE * BY_HAND[part][at])
                    for part in BY_HAND)
            print("  SUM   enter {:.3f}, body {:.3f}; by hand 6 and 4".format(
                *(sum(row[part + "_ns"] for row in rows) / 1e9 for part in ("enter", "body"))))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
