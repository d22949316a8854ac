#!/bin/sh
# Median times of `culprit data` and `culprit locality`, process start to end, over a profile of
# 100,000 data objects and a million edges.
#
#   bench/data_speed.sh [BUILD_FOLDER [ROUNDS]]
#
# Build `data_speed_profile` and `culprit` of the release preset first. The first run of a round is
# not counted: the file is in the page cache, as after a recording.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build/release}
rounds=${2:-9}
work=$build/bench_data_speed
mkdir -p "$work"
rm -f "$work/profile.culprit"
"$build/data_speed_profile" "$work/profile.culprit"

python3 - "$build/culprit" "$work/profile.culprit" "$rounds" <<'END'
import os, statistics, subprocess, sys, time
culprit, profile, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
print(f"{os.path.getsize(profile) / 1e6:.1f} MB; wall (CPU), median of {rounds}, ms")
for name, words in (("data", ["data"]), ("data OBJECT", ["data", "source.cc:5"]),
                    ("locality", ["locality"]), ("locality FUNCTION", ["locality", "part::step_7"])):
    walls, cpus = [], []
    for _ in range(rounds + 1):
        before, start = os.times(), time.perf_counter()
        subprocess.run([culprit, *words, "-i", profile], stdout=subprocess.DEVNULL, check=True)
        walls.append(1000 * (time.perf_counter() - start))
        after = os.times()
        cpus.append(1000 * (after.children_user + after.children_system
                            - before.children_user - before.children_system))
    print(f"{name:20} {statistics.median(walls[1:]):8.0f} ({statistics.median(cpus[1:]):4.0f})")
END
