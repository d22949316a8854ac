#!/usr/bin/env bash
# What counting by data object would take on sqlite3, python3 and cc1plus: bench/object_slots.cc
# on the first accesses of each, as valgrind's lackey sees them.
#
#   cmake --preset release && cmake --build --preset release --target object_slots
#   bench/object_slots.sh [accesses]        needs valgrind, g++, sqlite3 and python3
set -euo pipefail
cd "$(dirname "$0")"
accesses=${1:-5000000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
gcc -O2 -shared -fPIC -o "$folder/allocations.so" allocations.c
printf '#include <vector>\nint f(std::vector<int>& v) { v.push_back(1); return v.front(); }\n' >"$folder/a.cc"

trace() {  # NAME COMMAND...
  local name=$1
  shift
  { LD_PRELOAD="$folder/allocations.so" valgrind --tool=lackey --trace-mem=yes --log-fd=9 "$@" \
      9>&1 >/dev/null 2>/dev/null </dev/null || true; } | ../build/release/bench/object_slots "$name" "$accesses"
}
trace sqlite3 sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n limit 3000) select count(*), sum(i % 7) from n group by i % 13 order by 2'
trace python3 "$(python3 -c 'import sys; print(sys.executable)')" -S -c 'print(sum(len(str({i: [i] * 3})) for i in range(3000)))'
trace cc1plus "$(g++ -print-prog-name=cc1plus)" -quiet -O1 -o /dev/null "$folder/a.cc"
