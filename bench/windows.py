#!/usr/bin/env python3
"""What `culprit record --engine simulate --windows` estimates, beside what it estimates of: the same
program simulated whole.

    bench/windows.py CULPRIT [--seeds 20] [--only NAME] [--windows 5%] [--first N] [--size 1]

Each program runs once whole and once with each seed of the windows' places. For the whole program
and for its ten largest functions (by modelled cycles), and for each kind of figure (cycles, misses
of L1, of L2 and of L3, mispredictions), prints: the share of 95 % intervals that hold the exact
figure, the median of their half-widths and of the errors, both against the exact figure, and the
mean error with its sign (a bias, if it is beyond 2 of its standard errors). A figure that is less
than a hundredth of the program's is left out; "not covered" is the share of instructions without
an estimate. Executions are compared, too: what is more than the time of day makes ends it.

Programs have phases, a start-up, rare slow paths. --size makes them longer: at 1 they take some
tenths of a second natively, and the whole takes about half an hour for each 20 seeds. A size of 0.25
(of those but phases and matrix) with --first 8000000 is a quick look: windows are as many, and shorter.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PERL_HASH_SEED": "0"}
FIGURES = (("cycles", "sim:cycles"), ("L1 misses", "L1-dcache-load-misses"),
           ("L2 misses", "LLC-loads"), ("L3 misses", "LLC-load-misses"),
           ("mispredicted", "branch-misses"))
LEAST = 0.01  # of the program's
DIFFERS = 1e-5  # of the instructions: some programs look at the time

PHASES = r"""
// Phases that come once: arithmetic, a walk over memory, branches on random bits, and sorting; and
// a slow path that is taken once in 4096 times.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
static unsigned seed = 1;
static unsigned next() { return seed = seed * 1664525 + 1013904223; }
__attribute__((noinline)) double arithmetic(long n) {
  double x = 1;
  for (long i = 0; i < n; ++i) x = x * 0.999999 + 1.0 / (1 + (i & 15));
  return x;
}
__attribute__((noinline)) long slow(std::vector<unsigned>& table) {
  long sum = 0;
  for (int i = 0; i < 512; ++i) sum += table[next() % table.size()];
  return sum;
}
__attribute__((noinline)) long walk(std::vector<unsigned>& table, long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    sum += table[next() % table.size()];
    if ((next() >> 12 & 4095) == 0) sum += slow(table);
  }
  return sum;
}
__attribute__((noinline)) long branches(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    if (next() >> 20 & 1) sum += i; else sum ^= i * 3;
  }
  return sum;
}
__attribute__((noinline)) void sort(std::vector<unsigned>& table, size_t n) {
  std::sort(table.begin(), table.begin() + static_cast<long>(n));
}
int main(int, char** argv) {
  const long size = atol(argv[1]);
  std::vector<unsigned> table(1 << 20);
  for (unsigned& one : table) one = next();
  double sum = arithmetic(12000000 * size);
  sum += walk(table, 4000000 * size);
  sum += branches(12000000 * size);
  for (long i = 0; i < size; ++i) {
    for (unsigned& one : table) one = next();
    sort(table, 400000);
  }
  std::printf("%g\n", sum);
}
"""
MATRIX = r"""
#include <cstdio>
#include <cstdlib>
#include <vector>
__attribute__((noinline)) void by_row(const double* a, const double* b, double* c, int n) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
__attribute__((noinline)) void by_column(const double* a, const double* b, double* c, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
int main(int, char** argv) {
  const int n = 300;
  std::vector<double> a(n * n, 1), b(n * n, 2), c(n * n);
  for (long i = 0; i < atol(argv[1]); ++i) {
    by_row(a.data(), b.data(), c.data(), n);
    by_column(a.data(), b.data(), c.data(), n);
    by_row(a.data(), b.data(), c.data(), n);
  }
  std::printf("%g\n", c[5]);
}
"""


def build(folder, name, text, *flags):
    source = folder / f"{name}.cc"
    source.write_text(text)
    path = folder / name
    subprocess.run(["g++", "-O2", "-g", *flags, "-o", path, source], check=True)
    return str(path)


def make_text(folder, lines):
    """Words of a small vocabulary with numbers between them, the same whenever it is made."""
    path = folder / "text"
    state = 1
    with open(path, "w") as out:
        for i in range(lines):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            out.write(f"{state >> 40} word{state >> 33 & 1023} line {i} {'abc' * (state >> 20 & 7)}\n")
    return str(path)


def programs(folder, size):
    text = make_text(folder, int(60000 * size))
    sql = ("create table a(x integer, y text); create table b(x integer, z integer);"
           "with recursive n(i) as (select 1 union all select i + 1 from n where i < "
           f"{int(30000 * size)}) insert into a select i * 7919 % 65536, 'row' || i from n;"
           "insert into b select x * 31 % 65536, length(y) from a; create index ix on b(x);"
           "select count(*), sum(z) from a join b on a.x = b.x;"
           "select y from a order by y desc limit 3;")
    yield "phases", [build(folder, "phases", PHASES), str(max(1, int(size)))]
    yield "matrix", [build(folder, "matrix", MATRIX, "-O3"), str(max(1, int(size)))]
    yield "gzip", ["/usr/bin/gzip", "-n", "-c", text]
    yield "xz", ["/usr/bin/xz", "-2", "-T1", "-c", text]
    yield "zstd", ["/usr/bin/zstd", "-q", "-9", "--single-thread", "-c", text]
    yield "sqlite3", ["/usr/bin/sqlite3", ":memory:", sql]
    yield "perl", ["/usr/bin/perl", "-e",
                   f"my %n; $n{{$_ * 7919 % 100000}} .= $_ for 1 .. {int(400000 * size)};"
                   "print scalar grep { /7$/ } sort values %n"]
    yield "sort", ["/usr/bin/sort", "--parallel=1", "-k2", text]


def simulate(options, folder, command, *words):
    """(seconds, report as JSON)."""
    profile = folder / "run.culprit"
    begin = time.monotonic()
    subprocess.run([options.culprit, "record", "-q", "--force", "--engine", "simulate", *words, "-o",
                    profile, "--", *command], check=True, cwd=folder, env=ENVIRONMENT,
                   stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    text = subprocess.run([options.culprit, "report", "--by", "module,function", "--limit", "0",
                           "--format", "json", profile], check=True, cwd=folder,
                          env=ENVIRONMENT, stdout=subprocess.PIPE).stdout
    return seconds, json.loads(text)


def rows_of(report):
    """{name: {event: (value, error)}}; "" is the whole program, whose variance is the rows' sum."""
    rows = {"": {event["name"]: (event["total"], math.sqrt(sum(
        row["values"].get(event["name"], {}).get("error", 0) ** 2 for row in report["rows"])))
        for event in report["events"]}}
    for row in report["rows"]:
        rows[f"{row.get('module', '')}:{row.get('function', '')}"] = {
            event: (one["value"], one["error"]) for event, one in row["values"].items()}
    return rows


class Figure:
    """What estimates of one figure came to."""

    def __init__(self):
        self.held, self.widths, self.errors = [], [], []

    def add(self, exact, estimate, error):
        half = 1.959964 * error
        self.held.append(abs(estimate - exact) <= half)
        self.widths.append(half / exact)
        self.errors.append(estimate / exact - 1)

    def add_all(self, other):
        self.held += other.held
        self.widths += other.widths
        self.errors += other.errors

    def cells(self):
        if not self.held:
            return f"{'-':>8}"
        mean = statistics.fmean(self.errors)
        chance = statistics.stdev(self.errors) / math.sqrt(len(self.errors)) if len(self.errors) > 1 else 0
        mark = "!" if abs(mean) > 2 * chance and abs(mean) > 0.005 else " "
        return (f"{100 * statistics.fmean(self.held):7.0f}%{100 * statistics.median(self.widths):9.2f}"
                f"{100 * statistics.median(abs(e) for e in self.errors):9.2f}{100 * mean:+9.2f}{mark}"
                f"{len(self.held):6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=os.path.realpath)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", action="append")
    parser.add_argument("--windows", default="5%")
    parser.add_argument("--first", type=int, default=33554432, help="instructions modelled whole")
    parser.add_argument("--size", type=float, default=1)
    options = parser.parse_args()
    of_all = {(title, whose): Figure() for title, _ in FIGURES for whose in ("program", "functions")}
    print(f"{'':10}{'':14}{'':10}{'held':>8}{'+- %':>9}{'off %':>9}{'mean %':>9}{'':7}of")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for program, command in programs(folder, options.size):
            if options.only and program not in options.only:
                continue
            whole_s, report = simulate(options, folder, command)
            exact = rows_of(report)
            largest = sorted((row for row in exact if row), reverse=True,
                             key=lambda row: exact[row].get("sim:cycles", (0, 0))[0])[:10]
            figures = {key: Figure() for key in of_all}
            seconds, missed = [], 0
            for seed in range(1, options.seeds + 1):
                took, report = simulate(options, folder, command, "--windows",
                                        f"{options.windows},{seed},{options.first}")
                seconds.append(took)
                estimates = rows_of(report)
                ran, whole = estimates[""]["instructions"][0], exact[""]["instructions"][0]
                if abs(ran - whole) > DIFFERS * whole:
                    sys.exit(f"{program}: {ran:.0f} instructions, not {whole:.0f}")
                for title, event in FIGURES:
                    least = LEAST * exact[""][event][0]
                    for row in ["", *largest]:
                        value = exact[row].get(event, (0, 0))[0]
                        if value < max(least, 1):
                            continue
                        found = estimates.get(row, {}).get(event)
                        if found is None:
                            missed += 1
                            continue
                        figures[title, "functions" if row else "program"].add(value, *found)
            print(f"{program:10}{exact['']['instructions'][0] / 1e6:8.0f} M instructions, whole "
                  f"{whole_s:.1f} s, in windows {statistics.median(seconds):.1f} s, "
                  f"{missed} figures not covered")
            for (title, whose), figure in figures.items():
                print(f"{'':10}{title:14}{whose:10}{figure.cells()}", flush=True)
                of_all[title, whose].add_all(figure)
    print("all")
    for (title, whose), figure in of_all.items():
        print(f"{'':10}{title:14}{whose:10}{figure.cells()}")


main()
