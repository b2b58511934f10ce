#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheels of build/dist: what auditwheel says of each, then an installation without a compiler or a network in every Python from 3.8 on that
# is here (PATH, pyenv, uv), and the tests of the package there. usage: check_wheels.sh DIST WORK
set -uo pipefail
dist=$1 work=$2 failed=0
root=$(cd "$(dirname "$0")/../.." && pwd)
fails() { echo "test-dist: FAILED: $*"; failed=1; }

audit() {
  local tools=$work/auditwheel wheel name said
  [ -x "$tools/bin/auditwheel" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install -q --disable-pip-version-check --require-hashes -r "$root/tests/dist/auditwheel.txt"; } ||
    { echo "test-dist: no auditwheel: left out"; return; }
  for wheel in "$dist"/*manylinux*.whl; do
    said=$("$tools/bin/auditwheel" show "$wheel" 2>&1)
    if tr -s ' \n' ' ' <<<"$said" | grep -q 'platform tag: "manylinux_2_17'; then echo "test-dist: ${wheel##*/}: auditwheel says manylinux_2_17"
    else fails "${wheel##*/}:" && echo "$said"; fi
  done
}

hardened() {
  local wheel
  for wheel in "$dist"/*.whl; do
    rm -rf "$work/unpacked"
    python3 -m zipfile -e "$wheel" "$work/unpacked"
    "$root/scripts/check-hardening" "$work/unpacked" || fails "${wheel##*/}: not hardened"
  done
}

# No Python of musl is here: an example in C stands for it, run by the loader of Debian's package.
under_musl() {
  local loader=/lib/ld-musl-x86_64.so.1 program=$work/follow
  [ -x "$loader" ] || { echo "test-dist: no musl: its wheel was not loaded"; return; }
  ln -sf libttmem.so "$1/$(readelf -d "$1/libttmem.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"
  "$("$root/scripts/zig-cc" x86_64-linux-musl)" -dynamic -I"$root/include" "$root/examples/follow.c" -L"$1" -lttmem -o "$program" &&
    LD_LIBRARY_PATH=$1 "$loader" "$program" <"$root/tests/data/small.log" | grep -q '^18 operations, 21 states'
}

# auditwheel judges musllinux on a musl system only; here: the library needs nothing but musl.
musl() {
  local wheel needs
  for wheel in "$dist"/*musllinux*.whl; do
    python3 -m zipfile -e "$wheel" "$work/musl"
    needs=$(readelf -d "$work/musl/ttmem/libttmem.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | paste -sd' ')
    if [ "$needs" = libc.so ]; then echo "test-dist: ${wheel##*/} needs musl only"; else fails "${wheel##*/} needs $needs"; fi
    under_musl "$work/musl/ttmem" || fails "${wheel##*/}: its library in a program of musl"
  done
}

pythons() { # one of each version
  local python
  for python in /usr/bin/python3 "$HOME"/.pyenv/versions/3.*/bin/python3 "$HOME"/.local/share/uv/python/cpython-3.*/bin/python3; do
    [ -x "$python" ] && "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 8))' 2>/dev/null &&
      echo "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') $python"
  done | sort -u -k1,1V
}

install() {
  local version python folder wheel
  wheel=$(echo "$dist"/ttmem-*manylinux*"$(uname -m)".whl)
  while read -r version python; do
    folder=$work/python-$version
    rm -rf "$folder"
    "$python" -m venv "$folder" || { fails "no environment with $python"; continue; }
    env PATH=/nowhere "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-index "$wheel" || { fails "Python $version: pip install"; continue; }
    (cd "$folder" && TTMEM_SOURCE=$root TTMEM_TTNN=0 PATH=$folder/bin:$PATH "$folder/bin/python" "$root/bindings/python/tests/check_wheel.py") >"$folder/log" 2>&1 ||
      { fails "Python $version"; tail -n 20 "$folder/log"; }
    "$folder/bin/tt-memory-profiler" --version >/dev/null || fails "Python $version: tt-memory-profiler"
    echo "test-dist: wheel in Python $version: done"
  done < <(pythons)
}

# Pythons that are newer than this machine: Debian's testing has them.
newest() {
  local forky=$work/forky wheel version
  wheel=$(echo "$dist"/ttmem-*manylinux*"$(uname -m)".whl)
  [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "test-dist: no root or no debootstrap: no Python after 3.13"; return; }
  if [ ! -e "$forky/.ready" ]; then
    rm -rf "$forky"
    debootstrap --variant=minbase --include=python3.14-venv,python3.15-venv forky "$forky" http://deb.debian.org/debian sid >"$work/forky.log" 2>&1 ||
      { tail -n 3 "$work/forky.log"; echo "test-dist: no root of Debian's testing: no Python after 3.13"; return; }
    mkdir "$forky/source" && touch "$forky/.ready"
  fi
  mount --bind "$root" "$forky/source" && mount -t proc proc "$forky/proc"
  for version in 3.14 3.15; do
    if chroot "$forky" env -i PATH=/v/bin:/usr/bin:/bin LC_ALL=C.UTF-8 TTMEM_SOURCE=/source TTMEM_TTNN=0 sh -ec "cd /tmp; rm -rf /v; python$version -m venv /v
      pip install -q --no-index /source/build/dist/${wheel##*/}; python /source/bindings/python/tests/check_wheel.py" >"$work/log" 2>&1
    then echo "test-dist: wheel in Python $version: done"; else fails "Python $version"; tail -n 20 "$work/log"; fi
  done
  umount "$forky/source" "$forky/proc"
}

audit
hardened
musl
install
newest
exit $failed
