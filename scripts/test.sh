#!/usr/bin/env bash
# Installs what is missing and runs every test: formatting, whole programs by the dev build, and with
# sanitizers the rooms' own tests, fuzz targets, and programs that meet hostile input.
# `scripts/test.sh quick`: the dev build only, with the rooms' own tests.
# `scripts/test.sh layouts [NAME...]`: what must not matter to the software PMU's tests (environment,
# folder, CPUs, load, user; scripts/test_layouts.py --list), which takes an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_packages.sh use test

run() { echo; echo "== $* ($SECONDS s)"; "$@"; }
configure() {  # reports of an earlier run are no results of this one
  rm -rf build/"$1"/{,live.}junit.xml build/"$1"/gtest
  run cmake --preset "$1" >/dev/null
}
test_units() {
  run ctest --preset "$1" -LE live -j "$(nproc)" --output-junit "$PWD/build/$1/junit.xml" || failed=1
}
# What samples running programs may fail by what else the machine does: it must pass once in
# three. Some of these wait more than they compute: one more at a time than there are CPUs.
test_live() {
  run ctest --preset "$1" -L live -j "$(($(nproc) + 1))" --repeat until-pass:3 \
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
configure dev
if [ "${1:-all}" = quick ]; then
  run cmake --build --preset dev -- --quiet
  test_units dev
  test_live dev
else
  run scripts/check_format.sh || failed=1
  run cmake --build build/dev -- --quiet
  test_live dev
  builds+=(build/asan)
  configure asan
  run cmake --build --preset asan -- --quiet
  test_units asan
  test_live asan
fi
echo; echo "== $SECONDS s"
python3 scripts/sum_tests.py "${builds[@]}"
exit "$failed"
