#!/usr/bin/env bash
# Installs what is missing and runs every test: the dev build, the sanitizer
# build with its fuzz targets, formatting. `scripts/test.sh quick`: the dev build only.
# `scripts/test.sh layouts [NAME...]`: what must not matter to the software PMU's tests (environment,
# folder, CPUs, load, user; scripts/test_layouts.py --list), which takes an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_packages.sh use test

run() { echo; echo "== $* ($SECONDS s)"; "$@"; }
# What samples running programs may fail by what else the machine does: it must pass once in
# three. Reports of an earlier run are no results of this one.
test_build() {
  rm -rf build/"$1"/{,live.}junit.xml build/"$1"/gtest
  run cmake --preset "$1" >/dev/null
  run cmake --build --preset "$1" -- --quiet
  run ctest --preset "$1" -LE live -j "$(nproc)" --output-junit "$PWD/build/$1/junit.xml" || failed=1
  run ctest --preset "$1" -L live -j "$(nproc)" --repeat until-pass:3 \
    --output-junit "$PWD/build/$1/live.junit.xml" || failed=1
}

if [ "${1:-all}" = layouts ]; then
  run cmake --preset dev >/dev/null
  run cmake --build --preset dev -- --quiet
  run scripts/test_layouts.py "${@:2}"
  exit
fi
failed=0
builds=(build/dev)
test_build dev
if [ "${1:-all}" = all ]; then
  run scripts/check_format.sh || failed=1
  builds+=(build/asan)
  test_build asan
fi
echo; echo "== $SECONDS s"
python3 scripts/sum_tests.py "${builds[@]}"
exit "$failed"
