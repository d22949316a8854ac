#!/usr/bin/env python3
"""Samples by region where two regions alternate (tests/programs/openmp/alternate.c), each for 20 us
to 5 ms: the share of the first, which is a half, with its 95 % interval; samples whose address says
another region than their tag; and those of no known region. Says the smallest length for which the
interval holds a half and no more than 1 % are in a wrong or unknown region.

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
    """{(region, function): samples}"""
    profile = folder / "profile.culprit"
    subprocess.run([culprit, "record", "-q", "-f", "-F", "1999", "--engine", engine, "-o", profile,
                    "--regions", "--", program, str(length_us * 1000), str(SECONDS), "1"],
                   check=True)
    text = subprocess.run([culprit, "report", profile, "--by", "region,function", "--limit", "0",
                           "--format", "json"], check=True, capture_output=True, text=True).stdout
    found = {}
    for row in json.loads(text)["rows"]:
        key = row["region"], row["function"].split(".")[0]
        found[key] = found.get(key, 0) + sum(value["samples"] for value in row["values"].values())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--engine", default="timer", choices=("timer", "posix-timer"))
    options = parser.parse_args()
    culprit = options.culprit.resolve()
    source = SOURCE / "tests/programs/openmp/alternate.c"
    first_line = next(number for number, line in enumerate(source.read_text().splitlines(), 1)
                      if "in_first(omp" in line) - 1
    region_of = {"in_first": f"parallel alternate.c:{first_line}",
                 "in_second": f"parallel alternate.c:{first_line + 2}"}
    smallest = None
    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        program = folder / "alternate"
        subprocess.run(["gcc", "-O2", "-g", "-fopenmp", source, "-o", program], check=True)
        print(f"{'each':>8} {'samples':>8}  {'share of the first':>20}  {'wrong':>7} {'unknown':>8}")
        for length_us in LENGTHS_US:
            found = samples(culprit, program, folder, options.engine, length_us)
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
            holds = abs(share - 0.5) <= half_width and wrong + unknown <= MOST_WRONG
            if holds:
                smallest = length_us
            print(f"{length_us:>5} us {both:>8}  {share:>9.4f} +- {half_width:.4f} "
                  f"{'' if holds else '!':>2} {wrong:>7.2%} {unknown:>8.2%}", flush=True)
    print("holds down to " + (f"{smallest} us" if smallest else "no length"))
    return 0 if smallest else 1


if __name__ == "__main__":
    sys.exit(main())
