#!/bin/sh
# Errors of estimated frequencies against exact executions, and what large functions take.
#
#   bench/frequency.sh BUILD_FOLDER [PROGRAM_WITH_ARGUMENTS ...]
#
# Each program, a word with its arguments ("gzip -9 -k -c /etc/services"), is recorded with
# --engine timer+simulate. Without one: kernels of bench/kernels and programs of the system, which
# take some minutes; every second one is kept out of choosing estimators (bench/frequency.cc). Build
# `culprit` and `frequency_bench` of the release preset first.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?build folder}" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -g -w -o "$work/kernels" "$here"/bench/kernels/*.c -lm
cat "$here"/src/*/*.cc > "$work/text"
for copy in 1 2 3 4 5 6 7 8 9 10 11 12; do cat "$work/text"; done > "$work/long"
cat > "$work/sums.pl" <<'END'
while (<>) { $n{$1} += length while /(\w+)/g }
print "$_ $n{$_}\n" for sort { $n{$b} <=> $n{$a} } keys %n;
END
cat > "$work/words.py" <<'END'
import re, sys
words = {}
for line in open(sys.argv[1]):
    for word in re.findall(r"\w+", line):
        words[word] = words.get(word, 0) + 1
print(sorted(words.items(), key=lambda one: -one[1])[:20])
END
cat > "$work/join.sql" <<'END'
create table t(a, b);
insert into t select value, value * 7919 % 10007 from generate_series(1, 60000);
create index i on t(b);
select sum(x.a * y.a % 17) from t x join t y on x.b = y.b;
END
cc -E "$here/bench/known_cycles.c" > "$work/unit.i"
if [ $# -eq 0 ]; then
  # By turns: those that may be looked at when estimators are chosen, and those that are kept out.
  set -- "gzip -9 -c $work/text" "xz -1 -c $work/text" "bzip2 -c $work/text" "sort $work/text" \
    "sha256sum $work/long" "wc $work/long" "sed s/[aeiou]*x/y/g;s/(.*)()/z/ $work/long" \
    "grep -E -c ([a-z])\\1[a-z]*_[a-z]*[(] $work/text" "perl $work/sums.pl $work/text" \
    "/usr/bin/python3 $work/words.py $work/text" "sqlite3 -batch -init $work/join.sql :memory: .exit" \
    "$(cc -print-prog-name=cc1) -quiet -O2 -o /dev/null $work/unit.i" \
    "$work/kernels branches-16k 20000000" "$work/kernels indirect-random 20000000" \
    "$work/kernels histogram 20000000" "$work/kernels chase-l2 20000000"
fi
# Patterns for programs are words of these, not names of files.
set -f
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
