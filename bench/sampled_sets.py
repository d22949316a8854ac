#!/usr/bin/env python3
"""What `culprit record --sets 1/N --locality all --objects site` estimates, beside what it estimates of:
the same program with all sets.

    bench/sampled_sets.py CULPRIT [--seeds 20] [--sets 16] [--first 1000000] [--size 1] [--only NAME]

Each program runs once with all sets and once with each seed. Of the ten statements that bring in most
lines of L1D, and of the whole: misses, lines, spatial and temporal use of each level; of the three
functions that bring in most, the ten largest edges by lines (evictions and refetches, L1D and L2).
Printed by kind of figure: the share of 95 % intervals that hold the exact figure, of how many, the
median of their half-widths against the exact figure, and how many had none (too few sets). Last, what
each program takes, as ratios of CPU time to its native run: all sets, the sample, and valgrind's
callgrind with --cacheuse=yes, by turns in this run.

The machine has no prefetchers, which a sample of sets does not have either. Programs: a stream over an
array, loads at random places, structs of which some fields are used, rows a power of two apart that are
read by columns, and one column of such rows, all of which is in one set of 64.
"""
import argparse
import json
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile

MACHINE = """
name = "plain"
line_bytes = 64
[l1i]
size_kib = 32
ways = 8
[l1d]
size_kib = 32
ways = 8
[l2]
size_kib = 256
ways = 8
[l3]
size_kib = 2048
ways = 16
[prefetch]
stream = false
stride = false
code_lines = 0
"""
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct thing { double x, y, z; long id, kind; double mass; char name[16]; };
static unsigned seed = 1;
static unsigned next(void) { return (seed = seed * 1664525 + 1013904223) >> 8; }
__attribute__((noinline)) double stream(double* a, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += a[i];
  for (long i = 0; i < n; ++i) a[i] = sum;
  return sum;
}
__attribute__((noinline)) long scattered(const int* table, long n, long loads) {
  long sum = 0;
  for (long i = 0; i < loads; ++i) {
    sum += table[next() % n];
    if (next() % 4 == 0) sum += table[next() % 4096];
  }
  return sum;
}
__attribute__((noinline)) double structs(struct thing* things, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += things[i].x * things[i].mass;
  for (long i = 0; i < n; ++i) if (things[i].kind != 0) things[i].y += 1;
  return sum;
}
__attribute__((noinline)) double columns(const double* a, long rows, long columns) {
  double sum = 0;
  for (long c = 0; c < columns; ++c) for (long r = 0; r < rows; ++r) sum += a[r * 512 + c];
  return sum;
}
__attribute__((noinline)) double one_column(const volatile double* a, long rows, long rounds) {
  double sum = 0;
  for (long i = 0; i < rounds; ++i) for (long r = 0; r < rows; ++r) sum += a[r * 512];
  return sum;
}
int main(int argc, char** argv) {
  const long size = atol(argv[2]);
  char* at = NULL;
  if (argc != 3 || posix_memalign((void**)&at, 4096, 64 << 20) != 0) return 1;
  double sum = 0;
  for (long i = 0; i < 6 * size; ++i) {
    if (strcmp(argv[1], "stream") == 0) sum += stream((double*)at, 400000);
    if (strcmp(argv[1], "scattered") == 0) sum += scattered((int*)at, 1 << 20, 500000);
    if (strcmp(argv[1], "structs") == 0) sum += structs((struct thing*)at, 150000);
    if (strcmp(argv[1], "columns") == 0) sum += columns((double*)at, 1500, 500);
    if (strcmp(argv[1], "one_column") == 0) {
      sum += one_column((double*)at, 1500, 300) + stream((double*)at, 100000);
    }
  }
  printf("%g\n", sum);
  return 0;
}
"""
NAMES = ("stream", "scattered", "structs", "columns", "one_column")
LEVELS = ("L1D", "L2", "L3")
EDGES = ("evicted_by_capacity", "evicted_by_conflict", "refetches")


def cpu_time(words):
    """Runs it; what it and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Answers:
    """What a profile says: {(kind, whose, which): (value, error)}; an error of None: too few sets."""

    def __init__(self, culprit, path):
        self.culprit, self.path = culprit, path
        self.document = self.ask()
        self.values = {}
        rows = sorted(self.document["rows"], key=lambda row: -row["use"]["levels"]["L1D"]["lines"])
        self.statements = [self.name(row) for row in rows[:10]]
        self.functions = list(dict.fromkeys(row["function"] for row in rows if "function" in row))[:3]
        for row in rows:
            self.add_use(self.name(row), row["use"])
        self.add_use("all", self.document["totals"])

    def ask(self, *words):
        done = subprocess.run([self.culprit, "locality", *words, "-i", self.path, "--limit", "0",
                               "--format", "json"], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    @staticmethod
    def name(row):
        return f"{row.get('function', row['module'])}:{row.get('line', 0)}"

    def add_use(self, name, use):
        for level in LEVELS:
            errors = use["miss_errors"] or dict.fromkeys(LEVELS, 0)
            self.values["misses", name, level] = use["misses"][level], errors[level]
            of_level = use["levels"][level]
            for key in ("lines", "spatial_percent", "temporal"):
                error = 0 if of_level["errors"] is None else of_level["errors"][key]
                self.values[key, name, level] = of_level[key] or 0, error

    def add_edges(self, functions):
        """{edge: lines} of the functions."""
        found = {}
        for function in functions:
            part = self.ask(function)["part"]
            for level in ("L1D", "L2"):
                for kind in EDGES:
                    for edge in part["edges"][level][kind]:
                        key = "edges", f"{function} {kind} {self.name(edge)}", level
                        found[key] = found.get(key, 0) + edge["count"]
                        self.values[key] = edge["count"], edge["error"]
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sets", type=int, default=16)
    parser.add_argument("--first", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    kinds = ("misses", "lines", "spatial_percent", "temporal", "edges")
    inside = {kind: [] for kind in kinds}
    widths = {kind: [] for kind in kinds}
    too_few = dict.fromkeys(kinds, 0)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "machine.toml").write_text(MACHINE)
        (folder / "program.c").write_text(PROGRAM)
        program = folder / "program"
        subprocess.run(["gcc", "-O2", "-fno-tree-vectorize", "-g", "-o", program, folder / "program.c"],
                       check=True)
        profile = folder / "profile.culprit"
        print(f"1 in {options.sets} sets, {options.seeds} seeds, first {options.first:,} accesses exact")
        print(f"{'CPU time / native':18}{'all sets':>10}{'sample':>10}{'callgrind':>10}"
              f"{'intervals that hold':>22}")
        for name in NAMES:
            if options.only not in name:
                continue
            command = [program, name, options.size]

            def record(*sets):
                taken = cpu_time([options.culprit, "record", "-q", "--engine", "simulate",
                                  "--locality", "all", "--objects", "site", "--detail", "events",
                                  "--machine", folder / "machine.toml", *sets, "-o", profile, "--",
                                  *command])
                return taken, Answers(options.culprit, profile)
            native = statistics.median(cpu_time(command) for _ in range(3))
            exact_time, exact = record()
            edges = exact.add_edges(exact.functions)
            largest = sorted(edges, key=lambda key: -edges[key])[:10]
            wanted = [key for key in exact.values if key[0] != "edges" and
                      (key[1] == "all" or key[1] in exact.statements)] + largest
            times, held = [], []
            for seed in range(1, options.seeds + 1):
                taken, sampled = record("--sets", f"1/{options.sets},{seed},{options.first}")
                times.append(taken)
                sampled.add_edges(exact.functions)
                for key in wanted:
                    value, error = sampled.values.get(key, (0, None))
                    truth = exact.values[key][0]
                    if error is None:
                        too_few[key[0]] += 1
                        continue
                    if truth == 0:
                        continue
                    holds = abs(value - truth) <= error * (1 + 1e-9) + 1e-9 * truth
                    held.append(holds)
                    inside[key[0]].append(holds)
                    widths[key[0]].append(error / truth)
            ratios = [exact_time / native, statistics.median(times) / native]
            if shutil.which("valgrind"):
                ratios.append(cpu_time(["valgrind", "-q", "--tool=callgrind", "--cacheuse=yes",
                                        "--callgrind-out-file=/dev/null", *command]) / native)
            print(f"{name:18}" + "".join(f"{ratio:10.1f}" for ratio in ratios) +
                  f"{100 * statistics.mean(held):20.1f} %" if held else f"{name:18} nothing to compare",
                  flush=True)
    print(f"\n{'':18}{'intervals':>10}{'that hold':>12}{'half-width':>12}{'too few sets':>14}")
    for kind in kinds:
        if inside[kind]:
            print(f"{kind:18}{len(inside[kind]):10}{100 * statistics.mean(inside[kind]):10.1f} %"
                  f"{100 * statistics.median(widths[kind]):10.1f} %{too_few[kind]:14}")


if __name__ == "__main__":
    main()
