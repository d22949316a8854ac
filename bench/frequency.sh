#!/bin/sh
# Errors of estimated frequencies against exact executions, and what large functions take.
#
#   bench/frequency.sh BUILD_FOLDER [PROGRAM_WITH_ARGUMENTS ...]
#
# Each program, a word with its arguments ("gzip -9 -k -c /etc/services"), is recorded with
# --engine timer+simulate. Without one: kernels of bench/kernels and programs of the system. Build
# `culprit` and `frequency_bench` of the release preset first.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?build folder}" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -g -w -o "$work/kernels" "$here"/bench/kernels/*.c -lm
cat "$here"/src/*/*.cc > "$work/text"
if [ $# -eq 0 ]; then
  set -- "gzip -9 -c $work/text" "xz -1 -c $work/text" "bzip2 -c $work/text" "sort $work/text" \
    "sha256sum $work/text" "wc $work/text" "gawk {n[\$1]+=NF}END{for(w\ in\ n)print\ n[w]} $work/text" \
    "sed s/[aeiou]*x/y/g $work/text" "grep -c [a-z]*_[a-z]*( $work/text" \
    "$work/kernels branches-16k 20000000" "$work/kernels indirect-random 20000000" \
    "$work/kernels histogram 20000000" "$work/kernels chase-l2 20000000"
fi
number=0
profiles=
for program in "$@"; do
  number=$((number + 1))
  # shellcheck disable=SC2086
  if "$build/culprit" record -q --force --engine timer+simulate --machine none -F 4999 \
      -o "$work/$number.culprit" -- $program > /dev/null 2> "$work/log"; then
    profiles="$profiles $work/$number.culprit"
    echo "$number.culprit: $program"
  else
    echo "left out: $program: $(tail -1 "$work/log")"
  fi
done
# shellcheck disable=SC2086
"$build/frequency_bench" $profiles
