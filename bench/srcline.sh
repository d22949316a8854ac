#!/bin/sh
# Source lines of a recording: `culprit symbolize` and `culprit report --by line` against
# `perf report -s srcline`, in seconds per 1,000 distinct addresses, of the same program.
#
#   bench/srcline.sh [BUILD_FOLDER [SECONDS_FOR_PERF]]
#
# The program is generated: 300 functions with 24 inlined calls each. perf report gets a limited time; if it is not done by then, its rate is at most what
# it had addresses / that time, and the ratio printed is a lower bound.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build/release}
patience=${2:-90}
culprit=$(find "$build" -maxdepth 2 -name culprit -type f -perm -u+x | head -1)
work=$build/bench_srcline
mkdir -p "$work"
cd "$work"

python3 - > many.cc <<'PYTHON'
import random
random.seed(7)
print("#include <cstdint>\n#include <ctime>\n#include <algorithm>\nvolatile uint64_t sink;")
print("template <int N> __attribute__((always_inline)) inline uint64_t mix(uint64_t x) {\n  x ^= x >> (N % 31 + 1);\n"
      "  x *= 0x9e3779b97f4a7c15ull + N;\n  return x ^ (x << (N % 13 + 1));\n}")
for i in range(300):
    print(f"__attribute__((noinline)) uint64_t step{i}(uint64_t x) {{")
    for j in range(12):
        print(f"  if (x & {1 << (j % 7)}) x = mix<{(i * 12 + j) % 200}>(x) + std::max<uint64_t>(x, {j});")
        print(f"  else x += mix<{random.randrange(200)}>(x) / {j + 3};")
    print("  return x;\n}")
print("uint64_t (*const steps[])(uint64_t) = {")
for i in range(300): print(f"    step{i},")
print("};\nint main() {\n  uint64_t x = 1;\n  for (std::time_t end = std::time(nullptr) + 8; std::time(nullptr) < end;)\n"
      "    for (int i = 0; i < 150000; ++i) x = steps[i % 300](x);\n  sink = x;\n}")
PYTHON
c++ -g -O1 -o many many.cc

now() { date +%s.%N; }
rate() { echo "scale=4; 1000 * $1 / $2" | bc; }

perf record -q -e cpu-clock -F 10000 -o perf.data ./many
perf_addresses=$(perf script -i perf.data -F ip,dso | awk '/many/ {print $1}' | sort -u | wc -l)
echo "perf resolves lines by $(perf version --build-options | grep -q 'libbfd: \[ on' &&
  echo libbfd || echo 'running addr2line'): $(perf version), $(addr2line --version | head -1)"
a=$(now)
timeout "$patience" perf report --stdio -i perf.data -s srcline > perf.txt 2> /dev/null && done=yes || done=no
b=$(now)
perf_seconds=$(echo "$b - $a" | bc)
perf_rate=$(rate "$perf_seconds" "$perf_addresses")
echo "perf report -s srcline: $perf_seconds s for $perf_addresses addresses (finished: $done)"

"$culprit" record -q --no-symbols -F 10000 -o many.culprit -- ./many
a=$(now); "$culprit" symbolize many.culprit > symbolize.txt 2>&1
b=$(now); "$culprit" report --by line --limit 0 many.culprit > culprit.txt
c=$(now)
ours=$("$culprit" export --to csv many.culprit | python3 -c '
import csv, sys
print(len({r["address"] for r in csv.DictReader(sys.stdin) if r["module"].endswith("/many")}))')
our_seconds=$(echo "$c - $a" | bc)
our_rate=$(rate "$our_seconds" "$ours")
echo "culprit: $our_seconds s for $ours addresses (symbolize $(echo "$b - $a" | bc), report $(echo "$c - $b" | bc))"
echo "seconds per 1,000 addresses: perf $perf_rate, culprit $our_rate," \
  "ratio $(echo "scale=1; $perf_rate / $our_rate" | bc)$([ "$done" = yes ] || echo ' or more')"
