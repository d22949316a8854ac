#!/usr/bin/env python3
"""What `record --off-cpu` costs a program that switches 10,000 times a second.

    bench/off_cpu.py BUILD [ROUNDS]

A program works for 50 us and sleeps for 50 us, 20,000 times. Natively, under `record -g`, under
`record -g --off-cpu`, and under `perf record` of the same events with stack copies of the same size, by
turns; medians of the program's own time by the clock, the switches a second that it came to, and CPU
time (user and kernel) of the program with, where there is one, the recorder. Last the median over the
rounds of what waits add to `record -g`.
Symbols are not read (--no-symbols): that comes after the program.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdio.h>
#include <time.h>
static double now(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}
int main(void) {
  struct timespec span = {0, 1000};  // and the kernel's slack of 50 us
  const double start = now(CLOCK_MONOTONIC);
  for (int i = 0; i < 20000; ++i) {
    const double end = now(CLOCK_THREAD_CPUTIME_ID) + 40e-6;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
    }
    nanosleep(&span, 0);
  }
  printf("%.6f\n", now(CLOCK_MONOTONIC) - start);
}
"""


def measure(command):
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = os.times()
    cpu = (after.children_user - before.children_user +
           after.children_system - before.children_system)
    return float(done.stdout.split()[-1]), cpu


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    culprit = pathlib.Path(sys.argv[1]).resolve() / "culprit"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "switches"
        subprocess.run(["gcc", "-O2", "-xc", "-", "-o", program], input=PROGRAM, text=True,
                       check=True)
        record = [culprit, "record", "--force", "--no-symbols", "-o",
                  pathlib.Path(folder) / "profile", "-g"]
        ways = {"native": [program], "record -g": [*record, "--", program],
                "record -g --off-cpu": [*record, "--off-cpu", "--", program]}
        if shutil.which("perf"):
            ways["perf, the same"] = ["perf", "record", "-B", "-q", "-a", "-o", pathlib.Path(folder) / "perf.data",
                                      "-e", "cpu-clock/period=1000000/", "-e", "context-switches/period=1/",
                                      "--call-graph", "dwarf,4096", "--switch-events", "--", program]
        results = {name: [] for name in ways}
        for _ in range(rounds):
            for name, command in ways.items():
                results[name].append(measure(command))
        native_wall = statistics.median(wall for wall, _ in results["native"])
        native_cpu = statistics.median(cpu for _, cpu in results["native"])
        print(f"{'':22}{'wall s':>8}{'ratio':>8}{'switches/s':>12}{'CPU s':>8}{'ratio':>8}")
        for name, runs in results.items():
            wall = statistics.median(wall for wall, _ in runs)
            cpu = statistics.median(cpu for _, cpu in runs)
            print(f"{name:22}{wall:8.2f}{wall / native_wall:8.3f}{20000 / wall:12.0f}"
                  f"{cpu:8.2f}{cpu / native_cpu:8.3f}")
        added = [waits / plain - 1 for (waits, _), (plain, _) in
                 zip(results["record -g --off-cpu"], results["record -g"])]
        print(f"waits add {100 * statistics.median(added):.1f} % to record -g "
              f"({100 * min(added):.1f} to {100 * max(added):.1f})")


if __name__ == "__main__":
    main()
