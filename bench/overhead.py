#!/usr/bin/env python3
"""What recording costs the recorded program.

    bench/overhead.py build/release/culprit [--quick] [--pairs N] [--seconds S] [--rate HZ]

A worker spins through a fixed amount of work and times it itself, so starting
and finishing the recorder do not count. It runs in interleaved rounds, each way
once per round and in a new order each time:

  bare      nothing
  culprit   culprit record
  perf      perf record -e cpu-clock (if perf is there)
  floor     a cpu-clock event, inherited, on each CPU, that nobody reads: what the
            kernel alone takes

Each round gives the slowdown of each way against the bare run of that round;
printed are the medians with a 95 % interval from their order statistics.

Then the start and the finish of a recording, each the median of several:

  start     from invoking the recorder to the first instruction of the program's
            main() (the program prints CLOCK_MONOTONIC)
  finish    from the last instruction of the program to the recorder's end
"""

import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

WORKER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
int main(int count, char** words) {
  const double start = now();
  const unsigned long rounds = count > 1 ? strtoul(words[1], NULL, 10) : 0;
  unsigned long x = rounds;
  for (unsigned long i = 0; i < rounds; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  const double end = now();
  printf("%.9f %.9f\n", start, end);
  return 0;
}
"""

# Opens the event as `perf record` does for a command (inherited, one on each CPU, with a
# ring), and never looks at it: a full ring still costs the interrupt.
FLOOR = r"""
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char** words) {
  struct perf_event_attr attr;
  if (count < 3) return 2;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = strtoul(words[1], NULL, 10);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
  attr.inherit = 1;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, (int)cpu, -1, 0);
    if (fd < 0) { perror("perf_event_open"); return 1; }
    const size_t size = (size_t)sysconf(_SC_PAGESIZE) * 129;
    if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) {
      perror("mmap");
      return 1;
    }
  }
  execvp(words[2], words + 2);
  return 127;
}
"""


def compile_c(folder, name, source):
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="ascii") as file:
        file.write(source)
    subprocess.run(["cc", "-O2", "-o", path, path + ".c"], check=True)
    return path


def run(command):
    """Start and end inside the program, and of the whole command, in seconds."""
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    ended = time.clock_gettime(time.CLOCK_MONOTONIC)
    words = done.stdout.split()
    if done.returncode != 0 or len(words) < 2:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr.decode()}")
    return float(words[0]), float(words[1]), began, ended


def median_interval(values):
    """Median and the order statistics that enclose it with about 95 %."""
    ordered = sorted(values)
    n = len(ordered)
    k = max(1, math.floor(n / 2 - 0.98 * math.sqrt(n)))
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    return middle, ordered[k - 1], ordered[n - k]


def find_rounds(worker, seconds):
    """Rounds of the worker's loop that take `seconds`, by two short runs."""
    rounds = 50_000_000
    fastest = min(end - start for start, end, _, _ in (run([worker, str(rounds)]) for _ in range(2)))
    return max(1, int(rounds * seconds / fastest))


def make_ways(arguments, worker, floor, folder):
    period_ns = round(1e9 / arguments.rate)
    profile = os.path.join(folder, "profile.culprit")
    ways = {"bare": [], "floor": [floor, str(period_ns)]}
    if arguments.culprit:
        ways["culprit"] = [arguments.culprit, "record", "-o", profile, "--no-source", "-F",
                           str(arguments.rate), "--"]
    perf = shutil.which("perf")
    if perf:
        ways["perf"] = [perf, "record", "-q", "-e", "cpu-clock", "-F", str(arguments.rate), "-o",
                        os.path.join(folder, "perf.data"), "--"]
    return {name: command + [worker] for name, command in ways.items()}


def measure_slowdown(ways, rounds, pairs):
    slowdown = {name: [] for name in ways if name != "bare"}
    for pair in range(pairs):
        order = list(ways)
        random.shuffle(order)
        took = {}
        for name in order:
            start, end, _, _ = run(ways[name] + [str(rounds)])
            took[name] = end - start
        for name, values in slowdown.items():
            values.append((took[name] / took["bare"] - 1) * 100)
        print(f"\r  round {pair + 1} of {pairs}", end="", file=sys.stderr, flush=True)
    print("\r" + " " * 30 + "\r", end="", file=sys.stderr)
    return slowdown


def measure_edges(ways, times):
    edges = {name: ([], []) for name in ways}
    for _ in range(times):
        for name, command in ways.items():
            start, end, began, ended = run(command + ["0"])
            edges[name][0].append((start - began) * 1000)
            edges[name][1].append((ended - end) * 1000)
    return edges


def main():
    parser = argparse.ArgumentParser(description="What recording costs the recorded program.")
    parser.add_argument("culprit", nargs="?", help="the culprit binary; left out: the others only")
    parser.add_argument("--quick", action="store_true", help="5 rounds of 1 s: a first look")
    parser.add_argument("--pairs", type=int, help="rounds (15)")
    parser.add_argument("--seconds", type=float, help="length of one run (10)")
    parser.add_argument("--rate", type=int, default=999, help="samples per second (999)")
    arguments = parser.parse_args()
    pairs = arguments.pairs or (5 if arguments.quick else 15)
    seconds = arguments.seconds or (1 if arguments.quick else 10)

    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as folder:
        worker = compile_c(folder, "worker", WORKER)
        floor = compile_c(folder, "floor", FLOOR)
        ways = make_ways(arguments, worker, floor, folder)
        rounds = find_rounds(worker, seconds)

        slowdown = measure_slowdown(ways, rounds, pairs)
        print(f"Slowdown of a spinning program, {pairs} rounds of {seconds:g} s, "
              f"{arguments.rate} Hz")
        print("             median   95 % interval")
        for name, values in slowdown.items():
            middle, low, high = median_interval(values)
            print(f"  {name:<9} {middle:6.2f} %   {low:6.2f} to {high:6.2f} %")
        for other in ("floor", "perf"):
            if "culprit" in slowdown and other in slowdown:
                pairs_of = zip(slowdown["culprit"], slowdown[other])
                middle, low, high = median_interval([mine - its for mine, its in pairs_of])
                print(f"  culprit - {other}: {middle:.2f} points ({low:.2f} to {high:.2f})")

        edges = measure_edges(ways, 5 if arguments.quick else 15)
        print("Start and finish of a recording, ms (median)")
        print("              start   finish")
        for name, (start, finish) in edges.items():
            print(f"  {name:<9} {median_interval(start)[0]:8.1f} {median_interval(finish)[0]:8.1f}")


if __name__ == "__main__":
    main()
