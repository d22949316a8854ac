#!/usr/bin/env bash
# Builds QEMU's user mode with plugins, which Debian 13 and later do not ship, from Debian's source
# package, for culprit to simulate with. Takes 2 GB, and 3 minutes of two CPUs.
#
#   scripts/build_qemu.sh FOLDER           Debian 13's QEMU (10.0); FOLDER gets qemu-x86_64 and
#                                          qemu-aarch64: put it before the others in PATH
#   scripts/build_qemu.sh FOLDER SUITE     of another suite
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$#" -ge 1 ] || { sed -n '2,8s/^# \?//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
suite=${2:-trixie}
scripts/install_packages.sh qemu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A package list of its own: what this machine installs from stays as it is.
site=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 !~ /security/ { print $2; exit }')
[ -n "$site" ] || { echo "no source of Debian packages among this machine's" >&2; exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p lists/partial cache/archives/partial
printf 'deb [signed-by=%s] %s %s main\n' "$keys" "$site" "$suite" >list
printf 'deb-src [signed-by=%s] %s %s main\n' "$keys" "$site" "$suite" >>list
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$work/list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@"
}
apt update
apt source --download-only qemu
apt download meson python3-pycotap   # QEMU wants newer ones than Debian 12 has
for package in *.deb; do dpkg-deb -x "$package" tools; done
export PYTHONPATH="$work/tools/usr/lib/python3/dist-packages"
mkdir source
tar -xf qemu_*.orig.tar.* -C source --strip-components=1

# What only QEMU's own tests and tools need would come from elsewhere.
cd source
sed -i -e '/^"qemu.qmp" = /d' -e '/^"qemu" = /d' pythondeps.toml
mkdir build
cd build
../configure --python=/usr/bin/python3 --target-list=x86_64-linux-user,aarch64-linux-user \
  --enable-plugins --disable-system --disable-tools --disable-docs --disable-install-blobs \
  --without-default-features --disable-werror >configure.log 2>&1 ||
  { tail -20 configure.log >&2; exit 1; }
ninja --quiet qemu-x86_64 qemu-aarch64
install -s qemu-x86_64 qemu-aarch64 "$folder"
"$folder/qemu-x86_64" --version | head -1
