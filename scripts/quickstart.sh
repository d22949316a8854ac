#!/usr/bin/env bash
# From a fresh Debian 12 to a first report: installs what is missing, builds a
# release (build/release/culprit), profiles examples/logstat.cc and reports.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_packages.sh use
mkdir -p build
cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset release

set -x
build/release/culprit record -g -o build/logstat.culprit -- build/release/logstat
build/release/culprit report build/logstat.culprit
