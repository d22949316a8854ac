#!/usr/bin/env python3
"""Modelled cycles beside measured ones: kernels that stress one thing each.

    bench/simulated_time.py CULPRIT [--machine host] [--runs 5] [--only PART] [--accounting]

Measured: CPU time of the kernel times the clock, which is that of a chain of additions that
take a cycle each; medians of runs that take turns over all kernels, with the range of the
middle half. Modelled: sim:cycles of the program under `culprit record --engine simulate`, of two
lengths the difference. Kernels marked * are kept out of tuning: those that always were, and of the
others every third by the checksum of its name, but for those that constants were set by before
there was this rule (docs/decisions/0008-cycles.md).
The machine's name decides whose cycles: compare with the machine that the script runs on.

A second table, the only one with --accounting, shows that the cycles of each kernel's whole program
add up: stalled and unstalled ones against all, the branches of the tree (culprit why) against
stalled, and with the useful work against unstalled ones; differences in ticks, of which a cycle
has 840. Overlap is what branches counted twice, unexplained what none did, in % of the stalled
cycles. Any tick too many or too few, and the script fails.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zlib

KERNELS = pathlib.Path(__file__).parent / "kernels"
CLOCK = "dependent-adds"  # four a round, one cycle each
MEASURED_ROUNDS = 20_000_000
MODELLED_ROUNDS = 2_000_000
TICKS = 840  # a cycle
# What the rule of is_kept_out() came too late for.
KEPT_OUT_BEFORE = frozenset((
    "four-chains", "multiply-throughput", "fp-add-chain", "sqrt-chain", "chase-l2", "chase-64m",
    "triad-l1", "gather-l3", "matvec-columns", "branches-periodic", "indirect-random",
    "histogram", "branches-16k"))
TUNED_BEFORE = frozenset((
    "dependent-adds", "multiply-chain", "divide-chain", "fp-multiply-throughput", "chase-l1",
    "chase-l3", "sum-l1", "triad-l2", "triad-memory", "gather-l2", "matvec-rows",
    "branches-random", "deep-calls", "stores-l1", "stores-memory", "conflicts", "straight-code",
    "chase-64m-huge"))
# Rounds that take long: a memory's latency each, or a whole pass over an array.
FEWER = {"chase-l3": 10, "chase-64m": 10, "chase-64m-huge": 10}


def is_kept_out(name):
    if name in KEPT_OUT_BEFORE or name in TUNED_BEFORE:
        return name in KEPT_OUT_BEFORE
    return zlib.crc32(name.encode()) % 3 == 0


def build(folder):
    program = folder / "kernels"
    subprocess.run(["gcc", "-O2", "-g", "-static", "-o", program, *KERNELS.glob("*.c")], check=True)
    return program


def measure_ns(program, name):
    rounds = MEASURED_ROUNDS // FEWER.get(name, 1)
    output = subprocess.run([program, name, str(rounds)], check=True, capture_output=True, text=True)
    return int(output.stdout) / rounds


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def model(culprit, machine, program, name, folder, factor=1):
    """The profile of so many rounds, and the rounds."""
    rounds = MODELLED_ROUNDS // FEWER.get(name, 1) * factor
    profile = folder / "kernel.culprit"
    output_of(culprit, "record", "-q", "--no-symbols", "--engine", "simulate", "--machine", machine,
              "-o", profile, "--", program, name, str(rounds))
    return profile, rounds


def totals(culprit, profile):
    report = json.loads(output_of(culprit, "report", "--by", "module", "--format", "json", profile))
    return {event["name"]: event["total"] for event in report["events"]}


def model_cycles(culprit, machine, program, name, folder):
    """Cycles per round: the difference of two lengths, so that what comes before drops out."""
    total = {}
    for factor in (1, 2):
        profile, rounds = model(culprit, machine, program, name, folder, factor)
        total[factor] = totals(culprit, profile)["sim:cycles"]
    return (total[2] - total[1]) / (rounds / 2)


def ticks(cycles):
    """Cycles are whole ticks, but for the last digits of their decimals."""
    whole = round(cycles * TICKS)
    if abs(cycles * TICKS - whole) > 1e-3:
        raise ValueError(f"{cycles} cycles are no whole ticks")
    return whole


def account(culprit, profile):
    """Cycles, stalled and unstalled ones; [ticks too many]; overlap and unexplained in cycles."""
    events = totals(culprit, profile)
    cycles, stalled, unstalled, base = (ticks(events[f"sim:{kind}cycles"])
                                        for kind in ("", "stalled-", "unstalled-", "base-"))
    why = json.loads(output_of(culprit, "why", "--template", "simulated-core", "--format", "json",
                               profile))
    branches = {level["branch"]: sum(ticks(branch["cycles"]["value"]) for branch in level["parts"]
                                     if branch["kind"] == "branch" and branch["cycles"])
                for level in why["tree"]["parts"] if level["kind"] == "level"}
    too_many = [stalled + unstalled - cycles, branches["stalled"] - stalled,
                branches["unstalled"] + base - unstalled]
    return (cycles, stalled, unstalled), too_many, (why["overlap"]["value"],
                                                    why["unexplained"]["value"])


def print_accounting(options, program, names, folder):
    """Whether all add up."""
    print(f"\n{'cycles add up':24}{'cycles':>14}{'stalled':>14}{'unstalled':>14}"
          f"{'ticks beyond: all':>19}{'stalled':>9}{'unstalled':>11}{'overlap':>9}{'unexpl.':>9}")
    wrong = []
    for name in names:
        profile, _ = model(options.culprit, options.machine, program, name, folder)
        amounts, too_many, (overlap, unexplained) = account(options.culprit, profile)
        stalled = max(amounts[1] / TICKS, 1)
        print(f"{name:24}" + "".join(f"{amount / TICKS:14,.2f}" for amount in amounts)
              + f"{too_many[0]:19}{too_many[1]:9}{too_many[2]:11}"
              f"{100 * overlap / stalled:9.2f}{100 * unexplained / stalled:9.2f}", flush=True)
        if any(too_many):
            wrong.append(name)
    print(f"{len(names) - len(wrong)} of {len(names)} add up to the tick"
          + (f"; not: {', '.join(wrong)}" if wrong else ""))
    return not wrong


def rank_correlation(pairs):
    def ranks(values):
        order = sorted(range(len(values)), key=values.__getitem__)
        return [order.index(i) for i in range(len(values))]
    return statistics.correlation(ranks([a for a, _ in pairs]), ranks([b for _, b in pairs]))


def print_times(options, program, names, folder):
    times = {name: [] for name in names}
    for _ in range(options.runs):
        for name in names:
            times[name].append(measure_ns(program, name))
    cycle_ns = statistics.median(times[CLOCK]) / 4
    print(f"clock {1 / cycle_ns:.2f} GHz, machine {options.machine}; cycles per round")
    print(f"{'':24}{'modelled':>10}{'measured':>10}{'middle half':>20}{'ratio':>8}")
    kernels = []  # (name, modelled, measured)
    for name in names:
        modelled = model_cycles(options.culprit, options.machine, program, name, folder)
        ordered = sorted(value / cycle_ns for value in times[name])
        measured = statistics.median(ordered)
        quarter = len(ordered) // 4
        middle = f"{ordered[quarter]:.2f} - {ordered[-1 - quarter]:.2f}"
        mark = "*" if is_kept_out(name) else " "
        print(f"{mark} {name:22}{modelled:10.2f}{measured:10.2f}{middle:>20}"
              f"{modelled / measured:8.2f}", flush=True)
        kernels.append((name, modelled, measured))
    print_errors("all", kernels)
    print_errors("kept out", [kernel for kernel in kernels if is_kept_out(kernel[0])])


def print_errors(group, kernels):
    if len(kernels) < 3:
        return
    errors = sorted(abs(modelled / measured - 1) for _, modelled, measured in kernels)
    ninth = errors[math.ceil(0.9 * len(errors)) - 1]
    print(f"{group}: {len(kernels)} kernels, median error {100 * statistics.median(errors):.0f} %, "
          f"90th percentile {100 * ninth:.0f} %, rank correlation "
          f"{rank_correlation([kernel[1:] for kernel in kernels]):.3f}")
    worst = sorted(kernels, key=lambda kernel: -abs(math.log(kernel[1] / kernel[2])))[:10]
    print("    worst: " + ", ".join(f"{name} {modelled / measured:.2f}"
                                    for name, modelled, measured in worst))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--machine", default="host")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only")
    parser.add_argument("--accounting", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = build(folder)
        names = subprocess.run([program], capture_output=True, text=True).stdout.split()
        if options.only:
            names = [name for name in names if options.only in name or name == CLOCK]
        if not options.accounting:
            print_times(options, program, names, folder)
        if not print_accounting(options, program, names, folder):
            sys.exit(1)


if __name__ == "__main__":
    main()
