#!/usr/bin/env bash
# Every fuzz target, one after the other, for many minutes each; what it finds is a finding:
#
#   bench/fuzz.sh [MINUTES [TARGET...]]      10 minutes each; build/asan/fuzz_TARGET
#
# The corpora in build/asan grow from run to run. Inputs that fail are kept beside them and
# named at the end; the status says whether there are any.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes=${1:-10}
shift || true
cmake --preset asan >/dev/null
cmake --build --preset asan -- --quiet
if [ "$#" = 0 ]; then
  for program in build/asan/fuzz_*; do
    [ -x "$program" ] && set -- "$@" "${program#build/asan/fuzz_}"
  done
fi

failed=
for target in "$@"; do
  echo "== $target, $minutes minutes"
  folder=build/asan/tests/fuzz
  mkdir -p "$folder/corpus/$target" "$folder/found/$target"
  # The limits of the target's CTest test, a longer time.
  limits=$(ctest --test-dir build/asan -N -V -R "^fuzz_$target\$" |
    grep -oE -- '-(timeout|rss_limit_mb|malloc_limit_mb)=[0-9]+' | tr '\n' ' ')
  # shellcheck disable=SC2086  # several words
  nice "build/asan/fuzz_$target" $limits -max_total_time=$((60 * minutes)) -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$folder/found/$target/" "$folder/corpus/$target" ||
    failed="$failed $target"
done
[ -z "$failed" ] && exit 0
echo "failed:$failed; inputs are in build/asan/tests/fuzz/found"
exit 1
