#!/usr/bin/env python3
"""Samples by region where two regions alternate (tests/programs/openmp/alternate.c), each for 20 us
to 5 ms: the share of the first by samples, with its 95 % interval, and by the program's own clock;
samples whose address says another region than their tag; and those of no known region. "!" marks
lengths at which the interval does not hold what the clock says (one in twenty does not by chance), or
more than 1 % are in a wrong or unknown region; more than one of them is a failure.

    bench/region_samples.py CULPRIT [--engine timer|posix-timer]
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
LENGTHS_US = (5000, 2000, 1000, 500, 200, 100, 50, 20)
SECONDS = 2
MOST_WRONG = 0.01


def samples(culprit, program, folder, engine, length_us):
    """({(region, function): samples}, the share of the first by the program's clock)"""
    profile = folder / "profile.culprit"
    printed = subprocess.run([culprit, "record", "-q", "-F", "1999", "--engine", engine, "-o",
                              profile, "--regions", "--", program, str(length_us * 1000),
                              str(SECONDS), "1"], check=True, capture_output=True, text=True).stdout
    first_s, second_s = (float(word) for word in printed.split())
    text = subprocess.run([culprit, "report", profile, "--by", "region,function", "--limit", "0",
                           "--format", "json"], check=True, capture_output=True, text=True).stdout
    found = {}
    for row in json.loads(text)["rows"]:
        key = row["region"], row["function"].split(".")[0]
        found[key] = found.get(key, 0) + sum(value["samples"] for value in row["values"].values())
    return found, first_s / (first_s + second_s)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--engine", default="timer", choices=("timer", "posix-timer"))
    options = parser.parse_args()
    culprit = options.culprit.resolve()
    source = SOURCE / "tests/programs/openmp/alternate.c"
    lines = source.read_text().splitlines()
    region_of = {}
    for function in ("in_first", "in_second"):
        call = next(number for number, line in enumerate(lines, 1) if function + "(omp" in line)
        region_of[function] = f"parallel alternate.c:{call - 1}"
    failed = []
    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        program = folder / "alternate"
        subprocess.run(["gcc", "-O2", "-g", "-fopenmp", source, "-o", program], check=True)
        print(f"{'each':>8} {'samples':>8}  {'share of the first':>18}   {'clock':>6}  "
              f"{'wrong':>7} {'unknown':>8}")
        for length_us in LENGTHS_US:
            found, expected = samples(culprit, program, folder, options.engine, length_us)
            inside = {function: sum(count for (region, _), count in found.items() if region == its)
                      for function, its in region_of.items()}
            both = sum(inside.values())
            share = inside["in_first"] / both
            half_width = 1.96 * math.sqrt(share * (1 - share) / both)
            in_functions = {key: count for key, count in found.items() if key[1] in region_of}
            whole = sum(in_functions.values())
            unknown = sum(count for (region, _), count in in_functions.items()
                          if region == "[not known]") / whole
            wrong = sum(count for (region, function), count in in_functions.items()
                        if region not in (region_of[function], "[not known]")) / whole
            holds = abs(share - expected) <= half_width and wrong + unknown <= MOST_WRONG
            if not holds:
                failed.append(f"{length_us} us")
            print(f"{length_us:>5} us {both:>8}  {share:>8.4f} +- {half_width:.4f} "
                  f"{'' if holds else '!':>2} {expected:>6.4f}  {wrong:>7.2%} {unknown:>8.2%}",
                  flush=True)
    print(f"holds at {len(LENGTHS_US) - len(failed)} of {len(LENGTHS_US)} lengths"
          + (", not at " + ", ".join(failed) if failed else ""))
    return 0 if len(failed) < 2 else 1


if __name__ == "__main__":
    sys.exit(main())
