#!/usr/bin/env python3
"""What --deterministic costs: programs of one and of two threads, simulated with and without it.

    bench/simulated_order.py CULPRIT [--runs 3]

For each program and each thing that is simulated: CPU time of the native run, and of the simulated
run in threads that run as they come and in turns, against it; and wall time of the latter against
native CPU time, which is what src/simulate/slowdown.cc foretells. Medians of interleaved runs. The
programs are tests/programs/interleaved.c (two counters in two lines, or in one; a queue with
conditions) and tests/programs/counted.c (loops of one thread); natively they do so many times more,
and what that takes is divided by it.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).parents[1]
PROGRAMS = SOURCE / "tests/programs"
MACHINE = SOURCE / "data/uarch/golden-cove.toml"
WORK = {  # the last word is how often; natively LONGER times as often, to be long enough
    "one thread: loops": ("counted", "loops", 6_000_000),
    "two threads: two lines": ("interleaved", "sharing", "128", 12_000_000),
    "two threads: one line": ("interleaved", "sharing", "8", 2_000_000),
    "three threads: queue": ("interleaved", "queue", 10_000),
}
LONGER = 20
MODES = {
    "counts": ("--machine", "none"),
    "misses": ("--machine", MACHINE, "--detail", "events"),
    "cycles": ("--machine", MACHINE),
}
LIMIT_S = 150


def measure(command, folder):
    """CPU and wall seconds; None: longer than the limit."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["timeout", str(LIMIT_S), *command], cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic() - start
    if done.returncode == 124:
        return None
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def medians(measured):
    if None in measured:
        return None
    return [statistics.median(column) for column in zip(*measured)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    culprit = arguments.culprit.resolve()
    print(f"{'program':<26}{'simulated':<10}{'native':>9}{'as they come':>14}{'in turns':>10}"
          f"{'wall':>8}{'wall in turns':>15}")
    with tempfile.TemporaryDirectory() as folder:
        for name in {words[0] for words in WORK.values()}:
            subprocess.run(["gcc", "-O1", "-g", "-pthread", PROGRAMS / f"{name}.c", "-o",
                            os.path.join(folder, name)], check=True)
        for label, (name, *words) in WORK.items():
            *words, times = words
            program = [os.path.join(folder, name), *words]
            once, longer = f"{times:08}", f"{times * LONGER:08}"
            for mode, options in MODES.items():
                record = [culprit, "record", "-q", "--no-symbols", "--engine", "simulate", *options,
                          "-o", "profile"]
                ways = {"native": [*program, longer], "free": [*record, "--", *program, once],
                        "turns": [*record, "--deterministic", "--", *program, once]}
                rows = {way: [] for way in ways}
                for _ in range(arguments.runs):
                    for way, command in ways.items():
                        rows[way].append(measure([str(word) for word in command], folder))
                native, free, turns = (medians(rows[way]) for way in ways)
                cpu_s = native[0] / LONGER

                def ratio(row, part):
                    return f"{row[part] / cpu_s:.0f}" if row else f"> {LIMIT_S} s"

                print(f"{label:<26}{mode:<10}{cpu_s:>7.3f} s{ratio(free, 0):>14}"
                      f"{ratio(turns, 0):>10}{ratio(free, 1):>8}{ratio(turns, 1):>15}", flush=True)


if __name__ == "__main__":
    main()
