#!/usr/bin/env python3
"""culprit scan search against trying every setup.

    bench/scan_search.py [--setups 72|500] [--rounds N] [KERNEL...]

For each kernel of examples/scan (dot, matmul and polynomial, if none is named): every setup is built
and timed by `scan search --all`, then `scan search` looks for the best with at most a fifth of the
runs that this took. Both winners, and base, are built once more and timed here, interleaved, without
Culprit. Good is a setup that is slower than the winner of all by at most 2 %, or by no more than the
half interval of that ratio. Each
setup is timed as often as the search times its finalists at least (seven rounds), so that the best
of all is no accident. Exits with 1 if one kernel's is not.
"""
import argparse
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")) / "culprit"
KERNELS = SOURCE / "examples/scan"

FACTORS = {
    72: """cc = ["g++-12", "clang++-19"]
O = ["-O2", "-O3", "-Os"]
march = ["", "-march=x86-64-v3"]
math = ["", "-ffast-math"]
unroll = ["", "-funroll-loops", "-fno-unroll-loops"]
""",
    500: """cc = ["g++-12", "g++-11", "clang++-19", "clang++-16"]
O = ["-O1", "-O2", "-O3", "-Os"]
march = ["", "-mavx", "-march=x86-64-v3", "-march=native"]
math = ["", "-ffast-math"]
unroll = ["", "-funroll-loops"]
contract = ["", "-ffp-contract=off"]
""",
}
PLAN = """[scan]
program = ["{kernel}"]
build = "{{cc}} {{flags}} -DDIM={{DIM}} {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
DIM = [{size}]
[search]
{factors}"""
SIZES = {"dot": 64, "polynomial": 32, "matmul": 8}


def search(folder, *options):
    done = subprocess.run([CULPRIT, "scan", "search", "--any-output", "--quiet", "--format", "json",
                           *options], cwd=folder, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def winner(document):
    return document["trials"][document["chosen"]]


def run_s(program, runs):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, str(runs)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))


def compare(folder, kernel, size, setups, rounds=15):
    """Logarithms of the time of each setup against the first, a list for each."""
    programs = []
    for number, trial in enumerate(setups):
        variables = trial["variables"]
        out = folder / f"again{number}"
        subprocess.run([variables["cc"], *variables["flags"].split(), f"-DDIM={size}",
                        KERNELS / f"{kernel}.cc", "-o", out], check=True)
        programs.append(out)
    runs = 1000
    while run_s(programs[0], runs) < 0.05:
        runs *= 2
    ratios = [[] for _ in setups]
    for _ in range(rounds):
        times = [run_s(program, runs) - run_s(program, runs // 8) for program in programs]
        for number, time in enumerate(times):
            ratios[number].append(math.log(time / times[0]))
    return ratios


def half_interval(values):
    """Of the median of 15: the 4th and the 12th value hold it with 96 % (by binomial tables)."""
    values = sorted(values)
    return (values[11] - values[3]) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--setups", type=int, choices=FACTORS, default=72)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("kernels", nargs="*", default=list(SIZES))
    arguments = parser.parse_args()
    bad = 0
    for kernel in arguments.kernels:
        size = SIZES.get(kernel, 8)
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "scan.toml").write_text(PLAN.format(
                kernel=KERNELS / f"{kernel}.cc", size=size, factors=FACTORS[arguments.setups]))
            everything = search(folder, "--all", "--rounds", str(arguments.rounds))
            fifth = everything["runs"] // 5
            found = search(folder, "--max-runs", str(fifth))
            base = found["trials"][0]
            ratios = compare(folder, kernel, size, [winner(everything), winner(found), base])
        loss = math.expm1(statistics.median(ratios[1]))
        error = half_interval(ratios[1])
        good = loss <= max(0.02, error) and found["runs"] <= fifth
        bad += not good
        print(f"{kernel} {size}: {'good' if good else 'NOT GOOD'}: {100 * loss:+.1f} % "
              f"(+-{100 * error:.1f}) beside the best of all; base "
              f"{math.exp(statistics.median(ratios[2])):.2f} times the best\n"
              f"  all    {len(everything['trials'])} setups, {everything['runs']} runs, "
              f"{everything['elapsed_s']:.0f} s: {winner(everything)['name']}\n"
              f"  search {len(found['trials'])} setups, {found['runs']} runs, "
              f"{found['elapsed_s']:.0f} s: {winner(found)['name']}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
