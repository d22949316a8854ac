#!/usr/bin/env python3
"""Two builds of culprit beside each other: what each takes for the same work, in turns.

    bench/versions.py OLD_BUILD NEW_BUILD [--rounds 9] [--only WORK]

Prints the median CPU time (user and system, children too) of each, and the median of the ratios new /
old of the rounds with the range of their middle half: on a busy machine CPU time is the program's own,
and neighbours slow both. NEW_BUILD must have `report_speed_profile` (a profile of 20,000 functions)
and each `culprit`, of the release preset. Work:

  report, why ...   over that profile
  record            a second of a loop by timers
  simulate          a loop by the software PMU, counts and then the model
  import            a perf.data of the same loop by perf; left out where perf is not
"""
import argparse
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile

LOOP = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint32_t table[1 << 16];
__attribute__((noinline)) static uint64_t walk(uint64_t rounds) {
  uint64_t sum = 0, at = 1;
  for (uint64_t i = 0; i < rounds; ++i) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    if ((at >> 60) > 7) sum += ++table[at >> 48];
  }
  return sum;
}
int main(int count, char** words) {
  printf("%lu\\n", (unsigned long)walk(strtoull(words[count - 1], 0, 10)));
}
"""


def cpu_seconds(command, folder):
    (folder / "made.culprit").unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def list_work(folder, profile, has_perf):
    loop = str(folder / "loop")
    record = ["record", "-q", "-o", "made.culprit"]
    simulate = [*record, "--engine", "simulate"]
    work = {f"report --by {by}": ["report", "--limit", "30", "--by", by, profile]
            for by in ("function", "line", "instruction", "module,function")}
    work["report --by function, JSON"] = ["report", "--by", "function", "--format", "json", profile]
    work["report --by instruction, JSON"] = ["report", "--by", "instruction", "--format", "json",
                                             profile]
    work["why"] = ["why", profile]
    work["record, 1 s"] = [*record, "--engine", "timer", "--", loop, "400000000"]
    work["simulate, counts"] = [*simulate, "--machine", "none", "--", loop, "2000000"]
    work["simulate, zen4"] = [*simulate, "--machine", "zen4", "--", loop, "2000000"]
    work["simulate, zen4, locality"] = [*simulate, "--machine", "zen4", "--locality", "all",
                                        "--objects", "site", "--", loop, "1000000"]
    if has_perf:
        work["import"] = ["import", "-o", "made.culprit", "perf.data"]
    return work


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("new", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("--rounds: two at least, for the range of their ratios")
    for build in (options.old, options.new):
        if not (build / "culprit").exists():
            parser.error(f"{build} has no culprit: build it first")
    if not (options.new / "report_speed_profile").exists():
        parser.error(f"{options.new}: build report_speed_profile there first")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "loop.c").write_text(LOOP)
        subprocess.run(["cc", "-O2", "-g", "-o", "loop", "loop.c"], cwd=folder, check=True)
        # An old culprit may not read what a new one writes, but each reads older files.
        made_by = options.old if (options.old / "report_speed_profile").exists() else options.new
        subprocess.run([made_by / "report_speed_profile", folder / "profile.culprit"], check=True,
                       stdout=subprocess.DEVNULL)
        perf = shutil.which("perf")
        if perf:
            subprocess.run([perf, "record", "-q", "-B", "-e", "cpu-clock", "-o", "perf.data", "./loop",
                            "400000000"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        print(f"{'':32} {'old':>9} {'new':>9} {'new/old':>8}   middle half   [ms of CPU time]")
        for work, words in list_work(folder, "profile.culprit", perf is not None).items():
            if options.only and options.only not in work:
                continue
            pairs = [[cpu_seconds([build / "culprit", *words], folder)
                      for build in (options.old, options.new)]
                     for _ in range(options.rounds + 1)][1:]
            ratios = [new / old for old, new in pairs]
            low, _, high = statistics.quantiles(ratios, n=4)
            old, new = (1000 * statistics.median(side) for side in zip(*pairs))
            print(f"{work:32} {old:9.0f} {new:9.0f} {statistics.median(ratios):8.2f}   "
                  f"{low:.2f} to {high:.2f}", flush=True)
        if not perf:
            print("left out: import (there is no perf)")


if __name__ == "__main__":
    main()
