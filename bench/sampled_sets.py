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

The machine has no prefetchers, which a sample of sets does not have either. Programs, of which the first
five were looked at when the sample's rules were made, and the other seven were not: a stream over an
array, loads at random places, structs of which some fields are used, rows a power of two apart that are
read by columns, and one column of such rows, all of which is in one set of 64; a product of matrices, a
matrix turned in blocks, a list of shuffled nodes, a hash table that grows, structs sorted by their
places, a stencil over rows that are a power of two, and two arrays of which each line evicts the other's.
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
__attribute__((noinline)) double product(const double* a, const double* b, double* c, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c[n];
}
__attribute__((noinline)) double turned(const double* a, double* b, int n) {
  for (int i = 0; i < n; i += 8)
    for (int j = 0; j < n; j += 8)
      for (int k = 0; k < 8; ++k)
        for (int l = 0; l < 8; ++l) b[(j + l) * n + i + k] += a[(i + k) * n + j + l];
  return b[n];
}
struct node { struct node* next; long key; char rest[32]; };
__attribute__((noinline)) void shuffle(struct node** order, struct node* nodes, long n) {
  for (long i = 0; i < n; ++i) order[i] = &nodes[i];
  for (long i = n - 1; i > 0; --i) {
    const long other = next() % (i + 1);
    struct node* kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (long i = 0; i < n; ++i) {
    order[i]->key = i;
    order[i]->next = order[(i + 1) % n];
  }
}
__attribute__((noinline)) long walked(const struct node* at, long steps) {
  long sum = 0;
  for (; steps > 0; --steps) {
    sum += at->key;
    at = at->next;
  }
  return sum;
}
__attribute__((noinline)) long* grown(long* table, long size) {
  long* larger = calloc(2 * size, sizeof *larger);
  for (long i = 0; i < size; ++i) {
    if (table[i] == 0) continue;
    long at = table[i] * 0x9e3779b97f4a7c15 >> 20 & (2 * size - 1);
    while (larger[at] != 0) at = (at + 1) & (2 * size - 1);
    larger[at] = table[i];
  }
  free(table);
  return larger;
}
__attribute__((noinline)) long hashed(long keys) {
  long size = 1024, used = 0, met = 0;
  long* table = calloc(size, sizeof *table);
  for (long i = 0; i < keys; ++i) {
    const long key = 1 + next() % 100000;
    long at = key * 0x9e3779b97f4a7c15 >> 20 & (size - 1);
    while (table[at] != 0 && table[at] != key) at = (at + 1) & (size - 1);
    if (table[at] == key) {
      ++met;
      continue;
    }
    table[at] = key;
    if (++used * 2 > size) {
      table = grown(table, size);
      size *= 2;
    }
  }
  free(table);
  return met;
}
static const struct thing* sorted_things;
static int by_id(const void* left, const void* right) {
  const long a = sorted_things[*(const int*)left].id, b = sorted_things[*(const int*)right].id;
  return a < b ? -1 : a > b;
}
__attribute__((noinline)) long ordered(struct thing* things, int* order, int n) {
  for (int i = 0; i < n; ++i) {
    things[i].id = next();
    order[i] = i;
  }
  sorted_things = things;
  qsort(order, n, sizeof *order, by_id);
  return order[n / 2];
}
__attribute__((noinline)) double stencil(const double* a, double* b, long rows) {
  for (long r = 1; r + 1 < rows; ++r)
    for (long c = 1; c < 511; ++c)
      b[r * 512 + c] = a[r * 512 + c - 1] + a[r * 512 + c + 1] + a[(r - 1) * 512 + c] +
                       a[(r + 1) * 512 + c];
  return b[600];
}
__attribute__((noinline)) double ping_pong(const double* a, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    for (int way = 0; way < 12; ++way) sum += a[(long)way * 131072 + i % 4096];
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
    if (strcmp(argv[1], "product") == 0) {
      sum += product((double*)at, (double*)at + 40000, (double*)at + 80000, 144);
    }
    if (strcmp(argv[1], "turned") == 0) sum += turned((double*)at, (double*)at + (1 << 20), 1024);
    if (strcmp(argv[1], "list") == 0) {
      if (i == 0) shuffle((struct node**)(at + (32 << 20)), (struct node*)at, 60000);
      sum += walked((struct node*)at, 1000000);
    }
    if (strcmp(argv[1], "hash") == 0) sum += hashed(700000);
    if (strcmp(argv[1], "ordered") == 0) {
      sum += ordered((struct thing*)at, (int*)(at + (32 << 20)), 40000);
    }
    if (strcmp(argv[1], "stencil") == 0) sum += stencil((double*)at, (double*)(at + (32 << 20)), 800);
    if (strcmp(argv[1], "ping_pong") == 0) sum += ping_pong((double*)at, 150000);
  }
  printf("%g\n", sum);
  return 0;
}
"""
PROGRAMS = {
    "seen": ("stream", "scattered", "structs", "columns", "one_column"),
    "kept out": ("product", "turned", "list", "hash", "ordered", "stencil", "ping_pong")}
KINDS = ("misses", "lines", "spatial_percent", "temporal", "edges")
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


class Tally:
    """How often intervals held, by kind of figure."""

    def __init__(self):
        self.held = {kind: [] for kind in KINDS}
        self.widths = {kind: [] for kind in KINDS}
        self.too_few = dict.fromkeys(KINDS, 0)

    def add(self, kind, value, error, truth):
        """`error` is None where too few sets were seen."""
        if error is None:
            self.too_few[kind] += 1
        elif truth != 0:
            self.held[kind].append(abs(value - truth) <= error * (1 + 1e-9) + 1e-9 * truth)
            self.widths[kind].append(error / truth)

    def all_held(self):
        return [holds for kind in KINDS for holds in self.held[kind]]

    def print(self, title):
        print(f"\n{title:18}{'intervals':>10}{'that hold':>12}{'half-width':>12}{'too few sets':>14}")
        for kind in KINDS:
            if self.held[kind]:
                print(f"{kind:18}{len(self.held[kind]):10}{100 * statistics.mean(self.held[kind]):10.1f} %"
                      f"{100 * statistics.median(self.widths[kind]):10.1f} %{self.too_few[kind]:14}")


class Comparison:
    """One program, whole and sampled."""

    def __init__(self, options, folder, name):
        self.options, self.folder = options, folder
        self.command = [folder / "program", name, options.size]

    def record(self, *sets):
        """What it took, and what it says."""
        profile = self.folder / "profile.culprit"
        taken = cpu_time([self.options.culprit, "record", "-q", "--force", "--engine", "simulate",
                          "--locality", "all", "--objects", "site", "--detail", "events", "--machine",
                          self.folder / "machine.toml", *sets, "-o", profile, "--", *self.command])
        return taken, Answers(self.options.culprit, profile)

    def compare(self, tallies):
        """Adds each seed's figures to all tallies; CPU time of all sets, of a sample and under
        callgrind (if it is there) by that of the program alone."""
        native = statistics.median(cpu_time(self.command) for _ in range(3))
        exact_time, exact = self.record()
        edges = exact.add_edges(exact.functions)
        wanted = [key for key in exact.values if key[0] != "edges" and
                  (key[1] == "all" or key[1] in exact.statements)]
        wanted += sorted(edges, key=lambda key: -edges[key])[:10]
        times = []
        for seed in range(1, self.options.seeds + 1):
            taken, sampled = self.record("--sets", f"1/{self.options.sets},{seed},{self.options.first}")
            times.append(taken)
            sampled.add_edges(exact.functions)
            for key in wanted:
                for tally in tallies:
                    tally.add(key[0], *sampled.values.get(key, (0, None)), exact.values[key][0])
        ratios = [exact_time / native, statistics.median(times) / native]
        if shutil.which("valgrind"):
            ratios.append(cpu_time(["valgrind", "-q", "--tool=callgrind", "--cacheuse=yes",
                                    "--callgrind-out-file=/dev/null", *self.command]) / native)
        return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sets", type=int, default=16)
    parser.add_argument("--first", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of programs' names, or: seen, kept out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "machine.toml").write_text(MACHINE)
        (folder / "program.c").write_text(PROGRAM)
        subprocess.run(["gcc", "-O2", "-fno-tree-vectorize", "-g", "-o", folder / "program",
                        folder / "program.c"], check=True)
        print(f"1 in {options.sets} sets, {options.seeds} seeds, first {options.first:,} accesses exact")
        print(f"{'CPU time / native':18}{'all sets':>10}{'sample':>10}{'callgrind':>10}"
              f"{'intervals that hold':>22}")
        tallies = {}
        for group, names in PROGRAMS.items():
            tallies[group] = Tally()
            for name in names:
                if options.only != group and options.only not in name:
                    continue
                alone = Tally()
                ratios = Comparison(options, folder, name).compare((alone, tallies[group]))
                held = alone.all_held()
                share = f"{100 * statistics.mean(held):20.1f} %" if held else "nothing to compare"
                print(f"{name:18}" + "".join(f"{ratio:10.1f}" for ratio in ratios) + share, flush=True)
        for group, tally in tallies.items():
            if tally.all_held():
                tally.print(group)


if __name__ == "__main__":
    main()
