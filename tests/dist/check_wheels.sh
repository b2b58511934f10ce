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

# auditwheel judges musllinux on a musl system only; here: the library needs nothing but musl.
musl() {
  local wheel needs
  for wheel in "$dist"/*musllinux*.whl; do
    python3 -m zipfile -e "$wheel" "$work/musl"
    needs=$(readelf -d "$work/musl/ttmem/libttmem.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | paste -sd' ')
    if [ "$needs" = libc.so ]; then echo "test-dist: ${wheel##*/} needs musl only"; else fails "${wheel##*/} needs $needs"; fi
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

audit
hardened
musl
install
exit $failed
