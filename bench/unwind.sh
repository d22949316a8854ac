#!/bin/sh
# Unwinding copied stacks: samples per second of room `unwind` and of `perf script`, on the
# same perf.data file that `perf record --call-graph dwarf` wrote.
#
#   bench/unwind.sh [BUILD_FOLDER]
#
# Both times include reading the file; perf's includes finding names, so it is given twice,
# with names (-F ip,sym) and without (-F ip). Best of three. The program compiles C++: deep
# stacks in a large program without frame pointers.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$here/build/release}")
driver=$build/unwind_perf_data
[ -x "$driver" ] || cmake --build "$build" --target unwind_perf_data
work=$build/bench_unwind
mkdir -p "$work"
cd "$work"

cat > many.cc <<'CODE'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, std::regex> all; std::cout << all.size(); }
CODE
perf record -q -B -N -e cpu-clock -F 1999 --call-graph dwarf -o perf.data \
  c++ -std=c++20 -O2 -c many.cc

now() { date +%s.%N; }
# The shortest of three runs, in seconds.
best() {
  shortest=999999
  for _ in 1 2 3; do
    a=$(now); "$@" > out.txt 2> /dev/null; b=$(now)
    taken=$(echo "$b - $a" | bc)
    [ "$(echo "$taken < $shortest" | bc)" = 1 ] && shortest=$taken
  done
  echo "$shortest"
}
samples=$("$driver" perf.data | wc -l)
"$driver" perf.data --bench
ours=$(best "$driver" perf.data --bench)
bare=$(best perf script --no-inline -F ip -i perf.data)
names=$(best perf script --no-inline -F ip,sym -i perf.data)
line() { echo "$1: $2 s, $(echo "$samples / $2" | bc) samples/s$3"; }
line "culprit" "$ours" ""
line "perf script -F ip" "$bare" ", culprit is $(echo "scale=1; $bare / $ours" | bc) times as fast"
line "perf script -F ip,sym" "$names" ", culprit is $(echo "scale=1; $names / $ours" | bc) times as fast"
