#!/usr/bin/env bash
# Fails where clang-format would change a file; `--fix` changes them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(--dry-run --Werror)
[ "${1:-}" = --fix ] && mode=(-i)
git ls-files '*.cc' '*.h' '*.c' | xargs clang-format-19 "${mode[@]}"
