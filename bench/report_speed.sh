#!/bin/sh
# Median times of `culprit report`, process start to end, over a profile of 100,000
# addresses in 20,000 functions, by each level, and of `culprit annotate`.
#
#   bench/report_speed.sh [BUILD_FOLDER [ROUNDS]]
#
# Build `report_speed_profile` and `culprit` of the release preset first. The first
# report of a round is not counted: the file is in the page cache, as after a recording.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build/release}
rounds=${2:-9}
work=$build/bench_report_speed
mkdir -p "$work"
rm -f "$work/profile.culprit"
"$build/report_speed_profile" "$work/profile.culprit"

python3 - "$build/culprit" "$work/profile.culprit" "$rounds" <<'END'
import os, statistics, subprocess, sys, time
culprit, profile, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])

def median_ms(*options, command="report"):
    """Wall time, and CPU time beside it: on a busy machine only that is the program's own."""
    walls, cpus = [], []
    for _ in range(rounds + 1):
        before, start = os.times(), time.perf_counter()
        limit = ["--limit", "30"] if command == "report" else []
        subprocess.run([culprit, command, *limit, *options, profile],
                       stdout=subprocess.DEVNULL, check=True)
        walls.append(1000 * (time.perf_counter() - start))
        after = os.times()
        cpus.append(1000 * (after.children_user + after.children_system
                            - before.children_user - before.children_system))
    return f"{statistics.median(walls[1:]):8.0f} ({statistics.median(cpus[1:]):4.0f})"

print(f"{'by':30} {'text':>15} {'json':>15}   wall (CPU), median of {rounds}, ms")
for by in ("process", "module", "function", "line", "block", "instruction",
           "module,function", "function,line,instruction"):
    print(f"{by:30} {median_ms('--by', by)} {median_ms('--by', by, '--format', 'json')}")
for option in (("--function", "*step_77*"), ("--module", "libsyn*")):
    name = "instruction " + " ".join(option)
    by = ("--by", "instruction", *option)
    print(f"{name:30} {median_ms(*by)} {median_ms(*by, '--format', 'json')}")
function = "library::part0::Worker<int>::step_7"
print(f"{'annotate FUNCTION':30} {median_ms(function, command='annotate')}"
      f" {median_ms(function, '--format', 'json', command='annotate')}")
END
