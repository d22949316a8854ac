#!/usr/bin/env python3
"""Modelled cycles beside measured ones: kernels that stress one thing each.

    bench/simulated_time.py CULPRIT [--machine host] [--runs 5] [--only PART]

Measured: CPU time of the kernel times the clock, which is that of a chain of additions that
take a cycle each; medians of runs that take turns over all kernels, with the range of the
middle half. Modelled: sim:cycles of the program under `culprit record --engine simulate`, of two
lengths the difference. Every second kernel (marked *) is kept out of tuning, but for triad-memory
and stores-memory, which the bandwidth of L3 was set by. (docs/decisions/0008-cycles.md names the
other kernels that a constant was set by: all of them without a mark.)
The machine's name decides whose cycles: compare with the machine that the script runs on.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

KERNELS = pathlib.Path(__file__).parent / "kernels" / "kernels.c"
CLOCK = "dependent-adds"  # four a round, one cycle each
MEASURED_ROUNDS = 20_000_000
MODELLED_ROUNDS = 2_000_000
# Rounds that take long: a memory's latency each, or a whole pass over an array.
FEWER = {"chase-l3": 10, "chase-64m": 10}


def build(folder):
    program = folder / "kernels"
    subprocess.run(["gcc", "-O2", "-g", "-static", "-o", program, KERNELS], check=True)
    return program


def measure_ns(program, name):
    rounds = MEASURED_ROUNDS // FEWER.get(name, 1)
    output = subprocess.run([program, name, str(rounds)], check=True, capture_output=True, text=True)
    return int(output.stdout) / rounds


def model_cycles(culprit, machine, program, name, folder):
    """Cycles per round: the difference of two lengths, so that what comes before drops out."""
    rounds = MODELLED_ROUNDS // FEWER.get(name, 1)
    total = {}
    for factor in (1, 2):
        profile = folder / "kernel.culprit"
        subprocess.run([culprit, "record", "-q", "--no-symbols", "--engine", "simulate",
                        "--machine", machine, "-o", profile, "--", program, name,
                        str(rounds * factor)], check=True, stdout=subprocess.DEVNULL)
        report = subprocess.run([culprit, "report", "--by", "module", "--format", "json", profile],
                                check=True, capture_output=True, text=True)
        total[factor] = next(event["total"] for event in json.loads(report.stdout)["events"]
                             if event["name"] == "sim:cycles")
    return (total[2] - total[1]) / rounds


def rank_correlation(pairs):
    def ranks(values):
        order = sorted(range(len(values)), key=values.__getitem__)
        return [order.index(i) for i in range(len(values))]
    return statistics.correlation(ranks([a for a, _ in pairs]), ranks([b for _, b in pairs]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--machine", default="host")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = build(folder)
        names = subprocess.run([program], capture_output=True, text=True).stdout.split()
        kept_out = set(names[1::2])
        if options.only:
            names = [name for name in names if options.only in name or name == CLOCK]
        times = {name: [] for name in names}
        for _ in range(options.runs):
            for name in names:
                times[name].append(measure_ns(program, name))
        cycle_ns = statistics.median(times[CLOCK]) / 4
        print(f"clock {1 / cycle_ns:.2f} GHz, machine {options.machine}; cycles per round")
        print(f"{'':24}{'modelled':>10}{'measured':>10}{'middle half':>20}{'ratio':>8}")
        pairs = []
        errors = {True: [], False: []}
        for name in names:
            modelled = model_cycles(options.culprit, options.machine, program, name, folder)
            ordered = sorted(value / cycle_ns for value in times[name])
            measured = statistics.median(ordered)
            quarter = len(ordered) // 4
            middle = f"{ordered[quarter]:.2f} - {ordered[-1 - quarter]:.2f}"
            mark = "*" if name in kept_out else " "
            print(f"{mark} {name:22}{modelled:10.2f}{measured:10.2f}{middle:>20}"
                  f"{modelled / measured:8.2f}", flush=True)
            pairs.append((modelled, measured))
            errors[name in kept_out].append(abs(modelled / measured - 1))
        if len(pairs) < 3:
            return
        print(f"median error: {100 * statistics.median(errors[True] + errors[False]):.0f} % "
              f"(of those kept out: {100 * statistics.median(errors[True] or [0]):.0f} %); "
              f"rank correlation {rank_correlation(pairs):.2f}")


if __name__ == "__main__":
    main()
