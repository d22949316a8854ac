#!/bin/sh
# Source lines of a recording: `culprit symbolize` and `culprit report --by line` against
# `perf report -s srcline`, in seconds per 1,000 distinct addresses, of the same program.
#
#   bench/srcline.sh [BUILD_FOLDER [LARGE_PROGRAM [SECONDS_FOR_PERF]]]
#
# Two programs: a generated one (300 functions with 24 inlined calls each, 1 MB of debug
# information), and a large one, by default the dev build of culprit itself (tens of MB),
# that makes reports of the profile of bench/report_speed.sh. Build `culprit` and
# `report_speed_profile` of the release preset, and `culprit` of the dev preset first.
#
# perf and culprit record the same command at the same rate, without randomized addresses,
# user code only; both are counted in distinct addresses. culprit's time is the median of
# five runs. perf report gets a limited time; if it is not done by then, its
# rate is at most what it had addresses / that time, and the ratio printed is a lower bound.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$here/build/release}" && pwd)
large=${2:-$here/build/dev/culprit}
patience=${3:-240}
culprit=$build/culprit
work=$build/bench_srcline
mkdir -p "$work"
cd "$work"

make_small_program() {
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
}

make_large_work() {
  rm -f work.culprit
  "$build/report_speed_profile" work.culprit
  cat > large.sh <<END
for by in function line block instruction line,function process; do
  for format in text json; do
    "$large" report --by \$by --format \$format --limit 1000 work.culprit > /dev/null
  done
done
"$large" report --by instruction --function '*step_7*' work.culprit > /dev/null
"$large" export --to csv work.culprit > /dev/null
END
}

now() { date +%s.%N; }
rate() { echo "scale=4; 1000 * $1 / $2" | bc; }

# compare NAME SAMPLES_PER_SECOND COMMAND...
compare() {
  name=$1
  frequency=$2
  shift 2
  rm -f "$name".data* "$name".culprit*
  for attempt in 1 2 3 4 5; do  # perf 6.1 sometimes dies of its own assertions about build-ids
    perf record -q -e cpu-clock:u -F "$frequency" -o "$name.data" -- setarch -R "$@" && break
    echo "$name: perf record failed (attempt $attempt)"
  done
  perf_addresses=$(perf script -i "$name.data" -F ip,dso 2> /dev/null | sort -u | wc -l)
  a=$(now)
  timeout "$patience" perf report --stdio -i "$name.data" -s srcline > "$name.perf.txt" 2> /dev/null &&
    done=yes || done=no
  b=$(now)
  perf_seconds=$(echo "$b - $a" | bc)
  perf_rate=$(rate "$perf_seconds" "$perf_addresses")
  echo "$name at $frequency Hz: perf report -s srcline: $perf_seconds s for $perf_addresses addresses (finished: $done)"

  "$culprit" record -q --no-symbols -e cpu-clock:u -F "$frequency" -o "$name.culprit" -- setarch -R "$@"
  : > runs.txt
  for run in 1 2 3 4 5; do
    cp "$name.culprit" run.culprit
    a=$(now); "$culprit" symbolize run.culprit > symbolize.txt 2>&1
    b=$(now); "$culprit" report --by line --limit 0 run.culprit > "$name.culprit.txt"
    c=$(now)
    echo "$(echo "$c - $a" | bc) $(echo "$b - $a" | bc) $(echo "$c - $b" | bc)" >> runs.txt
  done
  read -r our_seconds symbolize_seconds report_seconds <<END
$(sort -n runs.txt | sed -n 3p)
END
  ours=$("$culprit" export --to csv run.culprit | python3 -c '
import csv, sys
rows = csv.DictReader(sys.stdin)
print(len({(r["module"], r["address"]) for r in rows if not r["module"].startswith("[k")}))')
  our_rate=$(rate "$our_seconds" "$ours")
  echo "$name at $frequency Hz: culprit: $our_seconds s for $ours addresses (symbolize $symbolize_seconds, report $report_seconds)"
  echo "$name at $frequency Hz: seconds per 1,000 addresses: perf $perf_rate, culprit $our_rate," \
    "ratio $(echo "scale=1; $perf_rate / $our_rate" | bc)$([ "$done" = yes ] || echo ' or more')"
}

debug_info() { readelf -SW "$1" | awk '$2 == ".debug_info" || $3 == ".debug_info" {
  size = $2 == ".debug_info" ? $6 : $7; print size }'; }

echo "$(perf version) resolves lines by $(perf version --build-options | grep -q 'libbfd: \[ on' &&
  echo libbfd || echo "running addr2line as a subprocess"): $(addr2line --version | head -1)"
make_small_program
echo "many: $((0x$(debug_info many))) bytes of .debug_info"
compare many 10000 ./many
if [ -x "$large" ]; then
  make_large_work
  echo "large: $large, $((0x$(debug_info "$large"))) bytes of .debug_info"
  # Twice: the debug information is opened once, however few the addresses are.
  compare large 1000 sh large.sh
  compare large 5000 sh large.sh
else
  echo "large: skipped, there is no $large (cmake --build --preset dev --target culprit)"
fi
