#!/usr/bin/env bash
# build.sh ASSETS.cc NODE NPM: bundles the page and writes it as a C++ source. Where it cannot, the
# source says why: the rest of Culprit does not need it.
set -uo pipefail
out=$1 node=$2 npm=$3
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(dirname "$out")
mkdir -p "$folder"

without_page() {
  echo "culprit: no web page in this build: $1" >&2
  cat >"$out" <<END
#include "documents/assets.h"
namespace culprit {
const WebAssets& web_assets() {
  static constexpr WebAssets kNone{"", "", "this build of culprit has no web page: $1\nbuild it again where Node (18 or later) and npm are installed, with the npm registry in reach"};
  return kNone;
}
}  // namespace culprit
END
  exit 0
}

case "$node:$npm" in
  *NOTFOUND* | :* | *:) without_page "Node or npm was missing" ;;
esac
# Packages are kept beside the build, and installed again when the lock file changes.
cp "$source_folder"/package.json "$source_folder"/package-lock.json "$folder"/ || without_page "its folder cannot be written"
if ! cmp -s "$folder/package-lock.json" "$folder/installed-lock.json"; then
  (cd "$folder" && timeout 120 "$npm" ci --omit=dev --ignore-scripts --no-audit --no-fund --prefer-offline >npm.log 2>&1) ||
    without_page "npm could not get its packages (npm.log beside $(basename "$out") says why)"
  cp "$folder/package-lock.json" "$folder/installed-lock.json"
fi
(cd "$folder" && "$node" "$source_folder/build.mjs" "$source_folder" "$folder" "$out") ||
  exit 1
