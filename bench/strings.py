#!/usr/bin/env python3
"""Copies and fills under the software PMU: how long they take beside native runs, and modelled
cycles beside measured ones.

    bench/strings.py CULPRIT [--machine host] [--runs 5] [--only KIND] [--most BYTES] [--native]

Kinds are those of strings/strings.c: string instructions that repeat, forward, backward, and onto
what they still have to read, and the C library's memcpy and memset; of 2 KiB to 64 MiB. Measured:
CPU time per round, medians of runs that take turns, and cycles by the clock of a chain of additions.
Modelled: sim:cycles of `culprit record --engine simulate`, and its CPU time, of two numbers of
rounds the difference, so that what comes before drops out. "ok": simulated in at most 40 times the
native time, modelled within 25 % of measured; "slow": kinds that CPUs do a round at a time, too.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).parent / "strings" / "strings.c"
KIB = 1024
SIZES = (2 * KIB, 16 * KIB, 256 * KIB, 4096 * KIB, 65536 * KIB)
BY_LINES = ("movsb", "movsq", "stosb", "stosq", "memcpy", "memset", "unaligned", "overlap-256",
            "down-8")
BY_ROUNDS = ("overlap-64", "overlap-32", "overlap-1", "backward")
MEASURED_BYTES = 512 << 20  # a run moves so many
MODELLED_BYTES = 8 << 20
MOST_TIMES, MOST_ERROR = 40, 0.25


def rounds_of(kind, size, moved):
    if kind in BY_ROUNDS:
        moved //= 64
    return max(2, moved // size)


def measure_ns(program, kind, size):
    rounds = rounds_of(kind, size, MEASURED_BYTES)
    output = subprocess.run([program, kind, str(size), str(rounds)], check=True,
                            capture_output=True, text=True).stdout
    return int(output) / rounds


def simulate(options, program, kind, size, rounds, folder):
    """sim:cycles and CPU seconds of the whole run."""
    profile = folder / "strings.culprit"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([options.culprit, "record", "-q", "--no-symbols", "--engine", "simulate",
                    "--machine", options.machine, "-o", profile, "--", program, kind, str(size),
                    str(rounds)], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(subprocess.run(
        [options.culprit, "report", "--by", "module", "--format", "json", profile], check=True,
        capture_output=True, text=True).stdout)
    events = {event["name"]: event["total"] for event in report["events"]}
    return events["sim:cycles"], (after.ru_utime + after.ru_stime
                                  - before.ru_utime - before.ru_stime)


def model(options, program, kind, size, folder):
    """Cycles and ns per round."""
    rounds = rounds_of(kind, size, MODELLED_BYTES)
    fewer = simulate(options, program, kind, size, rounds, folder)
    more = simulate(options, program, kind, size, 3 * rounds, folder)
    return ((more[0] - fewer[0]) / (2 * rounds), (more[1] - fewer[1]) / (2 * rounds) * 1e9)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--machine", default="host")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only")
    parser.add_argument("--most", type=int, default=SIZES[-1])
    parser.add_argument("--native", action="store_true", help="measure only")
    options = parser.parse_args()
    cases = [(kind, size) for kind in BY_LINES + BY_ROUNDS for size in SIZES
             if (options.only is None or options.only == kind) and size <= options.most
             and (kind in BY_LINES or size <= 256 * KIB)]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = folder / "strings"
        subprocess.run(["gcc", "-O2", "-static", "-o", program, SOURCE], check=True)
        times = {case: [] for case in cases}
        clocks = []
        for _ in range(options.runs):
            clocks.append(measure_ns(program, "adds", 16 * KIB) / (16 * KIB))
            for case in cases:
                times[case].append(measure_ns(program, *case))
        cycle_ns = statistics.median(clocks)
        print(f"clock {1 / cycle_ns:.2f} GHz, machine {options.machine}; per round")
        print(f"{'':12}{'KiB':>8}{'native ns':>12}{'B/cycle':>9}{'middle half of cycles':>24}"
              f"{'modelled':>12}{'/measured':>10}{'times native':>14}")
        good = []
        for kind, size in cases:
            ordered = sorted(value / cycle_ns for value in times[kind, size])
            measured = statistics.median(ordered)
            quarter = len(ordered) // 4
            line = (f"{kind:12}{size // KIB:8}{measured * cycle_ns:12.0f}{size / measured:9.2f}"
                    f"{f'{ordered[quarter]:.0f} - {ordered[-1 - quarter]:.0f}':>24}")
            if options.native:
                print(line, flush=True)
                continue
            cycles, ns = model(options, program, kind, size, folder)
            slowdown = ns / (measured * cycle_ns)
            is_near = abs(cycles / measured - 1) <= MOST_ERROR
            is_fast = slowdown <= MOST_TIMES
            if kind in BY_LINES:
                good.append((is_near, is_fast))
            verdict = ("slow" if kind in BY_ROUNDS else "ok" if is_near and is_fast
                       else "NOT" if not is_near and not is_fast
                       else "not near" if not is_near else "not fast")
            print(f"{line}{cycles:12.0f}{cycles / measured:10.2f}{slowdown:14.1f}  {verdict}",
                  flush=True)
        if good:
            print(f"{sum(near for near, _ in good)} of {len(good)} within "
                  f"{100 * MOST_ERROR:.0f} %, {sum(fast for _, fast in good)} within "
                  f"{MOST_TIMES} times native")


if __name__ == "__main__":
    main()
