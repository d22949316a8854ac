#!/usr/bin/env bash
# Debian's arm64 packages that the emulated Arm machine is made of (its kernel, and the
# static libraries of the small build), unpacked into a folder. Fetched through an apt of
# their own, so that this machine's packages and architectures stay as they are; apt checks
# signatures and sums. Nothing is done if the folder is complete.
#
#   tests/arm/fetch_packages.sh FOLDER        FOLDER/root: the packages; FOLDER/vmlinuz
set -euo pipefail

folder=$(realpath -m "$1")
libraries=(busybox-static libsqlite3-dev libzstd-dev libfmt-dev libpfm4-dev libcli11-dev nlohmann-json3-dev robin-map-dev libtomlplusplus-dev libbpf-dev libelf-dev zlib1g-dev)
wanted="linux-image-arm64 ${libraries[*]}"
[ "$(cat "$folder/complete" 2>/dev/null)" = "$wanted" ] && exit 0

apt="$folder/apt"
rm -rf "$apt" "$folder/root" "$folder/complete"
mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,sources.list.d,debs} "$folder/root"
touch "$apt/state/status" "$apt/sources.list"
# This machine's own mirrors, but of Debian alone.
[ ! -f /etc/apt/sources.list ] || cp /etc/apt/sources.list "$apt/sources.list"
for list in /etc/apt/sources.list.d/debian*; do
  [ ! -f "$list" ] || cp "$list" "$apt/sources.list.d/"
done
cat > "$apt/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Dir::State "$apt/state";
Dir::State::status "$apt/state/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/sources.list.d";
CONF
export APT_CONFIG="$apt/apt.conf"
apt-get update -qq
kernel=$(apt-cache depends linux-image-arm64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }')
[ -n "$kernel" ] || { echo "no kernel package: linux-image-arm64 is not known to apt" >&2; exit 1; }
(cd "$apt/debs" && apt-get download -qq "$kernel" "${libraries[@]}")
for package in "$apt"/debs/*.deb; do
  case "$package" in
    # Of the kernel only the image: its modules are most of it.
    */linux-image-*) dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --wildcards './boot/vmlinuz-*' ;;
    *) dpkg-deb -x "$package" "$folder/root" ;;
  esac
done
mv "$folder"/boot/vmlinuz-* "$folder/vmlinuz"
rm -rf "$folder/boot" "$apt"
echo "$wanted" > "$folder/complete"
