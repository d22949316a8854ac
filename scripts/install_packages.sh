#!/usr/bin/env bash
# Installs what is missing of scripts/packages.txt (apt, with sudo when not root).
#
#   scripts/install_packages.sh use          to build and use culprit
#   scripts/install_packages.sh use test     to run the tests, too
set -euo pipefail

list="$(dirname "${BASH_SOURCE[0]}")/packages.txt"
missing=()
for group in "$@"; do
  while read -r package command; do
    if [ -n "$command" ] && command -v "$command" >/dev/null; then continue; fi
    if [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" != "ii " ]; then
      missing+=("$package")
    fi
  done < <(awk -v want="[$group]" '/^#/ || !NF { next } /^\[/ { on = ($1 == want); next } on' "$list")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

echo "installing: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "not root, and no sudo: install these packages first: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
