#!/usr/bin/env python3
"""Programs before and after a known repair: what the software PMU blames, and what it promises.

    bench/simulated_decisions.py CULPRIT [--machine host] [--runs 7] [--only PAIR]

For each pair of bench/decisions/decisions.c: the branch of the tree of cycles (culprit why) that
has most of the kernel before the repair, and its share, which is the most that a repair of it
alone can save; the gain that the model predicts (cycles before and after); the gain measured
(CPU time of the kernel, medians of runs that take turns, with the range of the middle half).
A gain of 80 % means that a fifth of the time is left.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

PROGRAM = pathlib.Path(__file__).parent / "decisions" / "decisions.c"
SIDES = ("before", "after")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def branches_of(culprit, machine, program, pair, side, folder):
    """{branch: cycles} of the kernel, and its cycles."""
    profile = folder / "pair.culprit"
    output_of(culprit, "record", "-q", "--engine", "simulate", "--deterministic", "--machine",
              machine, "-o", profile, "--", program, pair, side)
    tree = json.loads(output_of(culprit, "why", "--in", f"kernel_{pair.replace('-', '_')}*",
                                "--format", "json", profile))["tree"]
    levels = {node["branch"]: node for node in tree["parts"] if node["kind"] == "level"}
    return {node["branch"]: node["cycles"]["value"]
            for level in levels.values() for node in level["parts"]
            if node["kind"] == "branch" and node["cycles"]}, tree["cycles"]["value"]


def quartiles(values):
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return ordered[quarter], ordered[-1 - quarter]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--machine", default="host")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = folder / "decisions"
        output_of("gcc", "-O2", "-g", "-static", "-pthread", "-o", program, PROGRAM)
        expected = dict(line.split() for line in output_of(program).splitlines())
        pairs = [pair for pair in expected if not options.only or options.only in pair]
        times = {(pair, side): [] for pair in pairs for side in SIDES}
        for _ in range(options.runs):
            for pair, side in times:
                times[pair, side].append(int(output_of(program, pair, side)))
        print(f"machine {options.machine}, {options.runs} runs; gains in % of the time before")
        print(f"{'':14}{'blamed first':30}{'share':>7}{'modelled gain':>15}{'measured':>10}"
              f"{'middle half':>16}")
        right = 0
        errors = []
        for pair in pairs:
            branches, before = branches_of(options.culprit, options.machine, program, pair,
                                           "before", folder)
            _, after = branches_of(options.culprit, options.machine, program, pair, "after", folder)
            first = max(branches, key=branches.get)
            is_right = first in expected[pair].split("|")
            right += is_right
            gains = [100 * (1 - b / a) for a, b in zip(times[pair, "before"], times[pair, "after"])]
            measured = statistics.median(gains)
            low, high = quartiles(gains)
            modelled = 100 * (1 - after / before)
            errors.append(abs(modelled - measured))
            wrong = "" if is_right else f"  expected {expected[pair]}"
            print(f"{pair:14}{first:30}{100 * branches[first] / before:7.1f}{modelled:15.1f}"
                  f"{measured:10.1f}{low:9.1f} - {high:4.1f}{wrong}", flush=True)
        print(f"{right} of {len(pairs)} blamed as expected; the gains differ by "
              f"{statistics.median(errors):.0f} points (median), {max(errors):.0f} at most")


if __name__ == "__main__":
    main()
