#!/usr/bin/env python3
"""How long the analysis of frequencies and stalls takes, by CPU time of whole commands.

    bench/stall_speed.py CULPRIT [--profile FILE] [--rounds 5]

A compiler compiles a file of its own (cc1 -O2, sampled and simulated without a machine), which executes
some 9,000 functions. Asked of that profile, the median of the rounds: how often all of them ran, and
the stalls of all of them. Of a profile of time alone (cc1plus) the listing with stalls of the compiler's
hottest function; of the other one, too, which holds the counts of all the others.

Bars: 3 s for a profile of 5,000 functions (what all functions take, by their number), 0.5 s for the
listing of samples. What one function of 3,000 blocks takes is printed by bench/frequency.sh.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parent / "known_cycles.c"
LIBRARY = "".join(f"#include <{header}>\n" for header in ("regex", "map", "random", "fstream")) + \
    "std::regex expression(\"(a|b)*c[0-9]+\");\n"


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def make_profile(culprit, profile, language, *options):
    compiler = run("cc", f"-print-prog-name={language}").strip()
    source, unit = SOURCE, profile.with_suffix(".i")
    if language == "cc1plus":
        source = profile.with_suffix(".cc")
        source.write_text(LIBRARY)
    run("cc", "-E", source, "-o", unit)
    run(culprit, "record", "-q", "--force", *options, "-o", profile, "--", compiler, "-quiet", "-O2",
        "-o", "/dev/null", unit)
    return profile


def find_functions(culprit, profile):
    rows = json.loads(run(culprit, "report", "--by", "module,function", "--limit", 0, "--format",
                          "json", profile))["rows"]
    return len(rows), next(row["function"] for row in rows if "cc1" in row["module"])


def cpu_seconds(rounds, *command):
    times = []
    for _ in range(rounds):
        before = os.times()
        run(*command)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user -
                     before.children_system)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--profile", type=pathlib.Path, help="of a compiler, made before")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stall-speed-") as name:
        folder = pathlib.Path(name)
        counted = asked.profile or make_profile(
            asked.culprit, folder / "counted.culprit", "cc1", "--engine", "timer+simulate",
            "--machine", "none", "-F", "4999")
        sampled = make_profile(asked.culprit, folder / "sampled.culprit", "cc1plus")
        functions, hottest = find_functions(asked.culprit, counted)
        _, of_samples = find_functions(asked.culprit, sampled)
        held = []
        for what, profile, bar, command in (
                ("frequencies of all", counted, 3, ("report", "--columns", "frequency")),
                ("stalls of all", counted, 3, ("why", "--stalls")),
                (f"listing of {hottest}", counted, None, ("annotate", hottest)),
                (f"listing of {of_samples}, time alone", sampled, 0.5, ("annotate", of_samples))):
            seconds = cpu_seconds(asked.rounds, asked.culprit, *command, profile)
            told = f"{what[:50]:50} {seconds:6.2f} s of CPU"
            if bar == 3:
                seconds *= 5000 / functions
                told += f", {functions} functions: {seconds:.2f} s for 5000"
            if bar:
                held.append(seconds < bar)
                told += "  ok" if held[-1] else "  MISSED"
            print(told, flush=True)
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
