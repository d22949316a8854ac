#!/bin/sh
# Symbolizes addresses of a large library with debug information, with Culprit and with
# llvm-symbolizer, and prints the ratio of their times and how many answers agree.
#
#   bench/symbolize.sh [BUILD_FOLDER [ADDRESSES]]
#
# Source lines of a recording against perf report are in bench/srcline.sh.
#
# The library is Debian's libceph-common.so.2 (librados2 with librados2-dbg: 11 MB of
# code, 95 MB of compressed debug information), downloaded once into BUILD_FOLDER.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build/release}
count=${2:-100000}
work=$build/bench_symbolize
mkdir -p "$work"

if [ ! -d "$work/root" ]; then
  (cd "$work" && apt-get download librados2 librados2-dbg)
  for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/root"; done
fi
library=$work/root/usr/lib/x86_64-linux-gnu/ceph/libceph-common.so.2
id=$(readelf -n "$library" | sed -n 's/.*Build ID: //p')
debug=$work/root/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug

c++ -std=c++20 -O2 -I"$here/src" "$here/bench/symbolize.cc" -o "$work/symbolize_bench" \
  "$build/src/libculprit_binary.a" "$build/src/libculprit_base.a" \
  -ldw -lelf -lfmt -llzma -L/usr/lib/llvm-19/lib -lLLVM -lpthread

readelf -SW "$library" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" {print $3, $5}' |
  python3 -c '
import random, sys
start, size = (int(x, 16) for x in sys.stdin.read().split())
random.seed(7)
for a in sorted(random.sample(range(start, start + size), int(sys.argv[1]))): print(hex(a))
' "$count" > "$work/addresses"

now() { date +%s.%N; }
best_ours=; best_llvm=
for round in 1 2 3; do
  a=$(now); "$work/symbolize_bench" "$library" "$debug" < "$work/addresses" > "$work/ours"
  b=$(now); llvm-symbolizer-19 --obj="$debug" < "$work/addresses" > "$work/theirs"
  c=$(now)
  ours=$(echo "$b - $a" | bc); llvm=$(echo "$c - $b" | bc)
  echo "round $round: culprit $ours s, llvm-symbolizer $llvm s"
  best_ours=$(printf '%s\n' $best_ours "$ours" | sort -n | head -1)
  best_llvm=$(printf '%s\n' $best_llvm "$llvm" | sort -n | head -1)
done
echo "best of 3: culprit $best_ours s, llvm-symbolizer $best_llvm s," \
  "ratio $(echo "scale=2; $best_llvm / $best_ours" | bc)"

# An answer agrees when every frame's function and line do, the path aside.
python3 - "$work/ours" "$work/theirs" <<'PYTHON'
import sys
def answers(path):
    for block in open(path).read().strip("\n").split("\n\n"):
        lines = block.split("\n")
        yield [(lines[i], lines[i + 1].rsplit(":", 2)[1]) for i in range(0, len(lines) - 1, 2)]
pairs = list(zip(answers(sys.argv[1]), answers(sys.argv[2])))
same = sum(a == b for a, b in pairs)
print(f"{same} of {len(pairs)} answers agree")
PYTHON

# perf report -s srcline runs addr2line (binutils) on the file and asks it for each address,
# so addr2line alone bounds it from below. 1,000 of the addresses are asked: all would take
# minutes.
awk "NR % ($count / 1000) == 1" "$work/addresses" > "$work/few"
a=$(now); timeout 300 addr2line -f -i -e "$debug" < "$work/few" > "$work/binutils" && done=yes || done=no
b=$(now)
few=$(wc -l < "$work/few")
per_theirs=$(echo "scale=9; ($b - $a) / $few" | bc)
per_ours=$(echo "scale=9; $best_ours / $count" | bc)
echo "addr2line: $(echo "$b - $a" | bc) s for $few addresses (finished: $done)," \
  "per address $(echo "scale=0; $per_theirs / $per_ours" | bc) x culprit's in the large batch"
