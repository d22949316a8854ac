#!/usr/bin/env python3
"""What counting by data object costs: `culprit record --engine simulate --locality all` with
`--objects site` beside without, interleaved.

    bench/objects.py CULPRIT [--runs 3] [--only NAME] [--locality all]

Prints the CPU time of each against native (medians) and their ratio, with the geometric mean of the
ratios. Programs are Debian's, or compiled here; "blocks" allocates and frees ten million.
"""
import argparse
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]

BLOCKS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const long count = atol(argv[1]);
  void* kept[64] = {0};
  unsigned long sum = 0;
  for (long i = 0; i < count; ++i) {
    free(kept[i % 64]);
    int* const block = malloc(16 + i % 200);
    *block = (int)i;
    sum += (unsigned)*block;
    kept[i % 64] = block;
  }
  printf("%lu\n", sum);
}
"""
MAPS = r"""
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
int main() {
  std::map<unsigned, std::vector<unsigned>> rows;
  std::unordered_map<std::string, unsigned> names;
  unsigned x = 1;
  for (int i = 0; i < 60000; ++i) {
    x = x * 1664525 + 1013904223;
    rows[x >> 20].push_back(x);
    names[std::to_string(x >> 18)] += i;
  }
  unsigned long sum = 0;
  for (const auto& [key, row] : rows)
    for (unsigned value : row) sum += value ^ key;
  for (const auto& [name, value] : names) sum += name.size() * value;
  std::printf("%lu\n", sum);
}
"""
SQL = ("with recursive n(i) as (select 1 union all select i + 1 from n limit 20000) "
       "select count(*), sum(i % 7) from n group by i % 13 order by 2")


def programs(folder):
    def compiled(name, text, *flags):
        suffix = ".cc" if "#include <map>" in text else ".c"
        (folder / (name + suffix)).write_text(text)
        subprocess.run(["g++" if suffix == ".cc" else "gcc", "-O2", *flags, folder / (name + suffix),
                        "-o", folder / name], check=True)
        return str(folder / name)
    matvec = str(folder / "matvec")
    subprocess.run(["gcc", "-O2", "-pthread", "-DN=1200", SOURCE / "tests/programs/matvec.c", "-o",
                    matvec], check=True)
    text = folder / "text"
    text.write_text("".join(f"{i} {i * i} {i ^ 0x55aa}\n" for i in range(60000)))
    found = {"maps": [compiled("maps", MAPS)], "matvec": [matvec],
             "blocks": [compiled("blocks", BLOCKS), "300000"]}
    for name, words in {"gzip": ["gzip", "-kc", str(text)],
                        "sqlite3": ["sqlite3", ":memory:", SQL],
                        "python3": ["/usr/bin/python3", "-S", "-c",
                                    "print(sum(len(str({i: [i] * 3})) for i in range(20000)))"],
                        "sort": ["sort", "-R", str(text)]}.items():
        if shutil.which(words[0]):
            found[name] = words
    return found


def cpu_seconds(words, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--locality", default="all")
    options = parser.parse_args()
    culprit = options.culprit.resolve()
    ratios = []
    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        print(f"{'':10}{'native s':>9}{'without':>9}{'with':>9}{'ratio':>8}")
        for program, words in programs(folder).items():
            if options.only not in (None, program):
                continue
            record = [culprit, "record", "-q", "-o", folder / "profile", "--engine", "simulate",
                      "--locality", options.locality]
            ways = {"native": words, "without": [*record, "--objects", "none", "--", *words],
                    "with": [*record, "--objects", "site", "--", *words]}
            taken = {way: [] for way in ways}
            for _ in range(options.runs):
                for way, command in ways.items():
                    taken[way].append(cpu_seconds(command, folder))
            native, without, with_objects = (statistics.median(taken[way]) for way in ways)
            ratios.append(with_objects / without)
            print(f"{program:10}{native:9.3f}{without / native:8.0f}x{with_objects / native:8.0f}x"
                  f"{ratios[-1]:8.2f}", flush=True)
    mean = math.exp(statistics.mean(math.log(ratio) for ratio in ratios))
    print(f"{'geometric mean':28}{'':9}{mean:8.2f}   worst {max(ratios):.2f}")


if __name__ == "__main__":
    sys.exit(main())
