#!/usr/bin/env bash
# Runs the live tests of the simulation with another QEMU than the installed one.
#
#   scripts/test_qemu.sh FOLDER [BUILD]    FOLDER has qemu-x86_64 and qemu-aarch64
#                                          (scripts/build_qemu.sh); BUILD: build/dev
set -euo pipefail
[ "$#" -ge 1 ] || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"$folder/qemu-x86_64" --version | head -1
CULPRIT_TEST_QEMU=$folder exec ctest --test-dir "${2:-build/dev}" -L live -j "$(nproc)" \
  -R '^(accesses|simulate|timer_simulate)' --output-on-failure
