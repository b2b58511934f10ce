#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian packages of build/dist: lintian, then installed, used and removed in a bare root of Debian 12 (needs root and debootstrap).
# usage: check_deb.sh DIST WORK      WORK/root keeps the bare root
set -uo pipefail
dist=$1 root=$2/root failed=0
source=$(cd "$(dirname "$0")/../.." && pwd)
fails() { echo "test-dist: FAILED: $*"; failed=1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

if command -v lintian >/dev/null; then
  lintian --fail-on error,warning --tag-display-limit 0 --allow-root "$dist"/*.deb || fails "lintian"
  echo "test-dist: lintian: done"
else echo "test-dist: no lintian: left out"; fi

rm -rf "$2/unpacked"
for package in "$dist"/*.deb; do dpkg -x "$package" "$2/unpacked"; done
"$source/scripts/check-hardening" "$2/unpacked" || fails "the packages are not hardened"

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "test-dist: no root or no debootstrap: the packages were not installed"
  exit $failed
fi
if [ ! -e "$root/.ready" ]; then
  rm -rf "$root"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" http://deb.debian.org/debian >"$2/debootstrap.log" 2>&1 ||
    { tail -n 3 "$2/debootstrap.log"; echo "test-dist: no bare root could be made: the packages were not installed"; exit $failed; }
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -a /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" 2>/dev/null
  touch "$root/.ready"
fi
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
packages="ttmem libttmem0 libttmem-dev python3-ttmem"
before=$(inside dpkg-query -W -f '${Package}\n')
mkdir -p "$root/debs"
rm -f "$root"/debs/*
cp "$dist"/*.deb "$source/demo/llama_small.log.zst" "$source/tests/data/small.log" "$root/debs/"
inside apt-get update -q >"$2/apt.log" 2>&1
inside sh -c 'apt-get install -y -q --no-install-recommends /debs/*.deb' >>"$2/apt.log" 2>&1 || { tail -n 5 "$2/apt.log"; fails "apt-get install"; exit 1; }
inside ttmem --version | grep -q '^ttmem ' || fails "ttmem --version"
inside tt-memory-profiler --version >/dev/null || fails "tt-memory-profiler"
inside TTMEM_HOME=/debs/home ttmem analyze /debs/small.log >"$2/said" 2>&1 || { fails "ttmem analyze"; cat "$2/said"; }
inside python3 -c 'import ttmem; assert "DRAM" in ttmem.analyze("/debs/small.log")["peak"]; print(ttmem.program())' | grep -q /usr/bin/ttmem || fails "import ttmem"
inside sh -c 'test -e /usr/include/ttmem/ttmem.h && ls /usr/lib/*/libttmem.a /usr/lib/*/pkgconfig/ttmem.pc /usr/lib/*/cmake/ttmem/ttmem-config.cmake' >/dev/null || fails "libttmem-dev"
inside test -e /usr/share/man/man1/ttmem.1.gz || inside grep -qr 'path-exclude.*man' /etc/dpkg/dpkg.cfg.d || fails "the manual page"
# shellcheck disable=SC2086 # words
inside apt-get purge -y -q --auto-remove $packages >>"$2/apt.log" 2>&1 || fails "apt-get purge"
[ -z "$(inside sh -c 'find / -xdev -name "*ttmem*" ! -path "/debs/*" ! -path "/var/*"')" ] || fails "files stay behind: $(inside sh -c 'find / -xdev -name "*ttmem*" ! -path "/debs/*"')"
[ "$before" = "$(inside dpkg-query -W -f '${Package}\n')" ] || fails "packages stay behind"
echo "test-dist: Debian packages installed and removed: done"
exit $failed
