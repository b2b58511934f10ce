#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/release-check: a tree with nothing missing passes, and each gap planted in it is named.
. "$(dirname "$0")/lib.bash"

command -v git >/dev/null || { echo "skipped: git is not installed"; exit 77; }

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
git -c init.defaultBranch=main init -q tree
cd tree
mkdir -p include/ttmem docs bindings/python build/release build/bin
printf '#define TTM_VERSION_%s %s\n' MAJOR 3 MINOR 1 PATCH 4 >include/ttmem/version.h
cp "$TTMEM_SOURCE/bindings/python/build_backend.py" bindings/python/
printf 'CMAKE_PROJECT_VERSION:STATIC=3.1.4\n' >build/release/CMakeCache.txt
for program in ttmem tt-memory-profiler; do
  printf '#!/bin/sh\necho "%s 3.1.4"\n' $program >build/bin/$program
  chmod +x build/bin/$program
done
printf '# ttmem\n\nThis is ttmem 3.1.4.\n' >README.md
printf '# Manual\n' >docs/manual.md
printf '# Changelog\n\n## [Unreleased]\n\n## [3.1.4] - 2026-01-02\n\n### Added\n- Something.\n\n## [3.1.3] - 2026-01-01\n- Less.\n' >CHANGELOG.md
printf 'build/\n' >.gitignore

check() { "$TTMEM_SOURCE/scripts/release-check" . >.git/said 2>&1; }
# complete, gap TEXT: what the check says of the tree as it is; a gap is undone afterwards.
complete() { check || fail "a complete release is refused: $(cat .git/said)"; }
gap() {
  ! check || fail "not seen: $1"
  grep -qF -- "$1" .git/said || fail "'$1' is not named in: $(cat .git/said)"
  [ "$(wc -l <.git/said)" -eq "${2:-1}" ] || fail "for '$1' it says: $(cat .git/said)"
  git reset -q --hard v3.1.4
}
# change FILE SED-EXPRESSION: a committed and tagged change, so that only the change is amiss.
change() {
  sed -i "$2" "$1"
  git commit -qam changed
  git tag -f v3.1.4 >/dev/null
}

git add -A
git commit -qm 'a release'
! check || fail "a release without a tag passes"
grep -qF 'no tag v3.1.4' .git/said || fail "$(cat .git/said)"
git tag -a v3.1.4 -m 'ttmem 3.1.4'
complete

echo more >>README.md
gap 'changes are not committed'
git commit -q --allow-empty -m later
gap 'tag v3.1.4 is not on the current commit'

undo=$(git rev-parse HEAD)
changed() { # FILE SED TEXT [LINES]
  change "$1" "$2"
  gap "$3" "${4:-1}"
  git reset -q --hard "$undo"
  git tag -f v3.1.4 >/dev/null
  complete
}
changed CHANGELOG.md 's/^## \[Unreleased\]/&\n- New./' 'changes are still under [Unreleased]'
changed CHANGELOG.md 's/ - 2026-01-02//' "no heading '## [3.1.4] - YYYY-MM-DD'"
changed CHANGELOG.md '/Something/d' 'nothing is said about 3.1.4'
changed README.md 's/3.1.4/3.1.3/' 'README.md:3:ttmem 3.1.3 is not 3.1.4' 2
changed README.md '/This is/d' 'README.md: does not name ttmem 3.1.4'
changed docs/manual.md 's/$/ of ttmem 3.0.9/' 'docs/manual.md:1:ttmem 3.0.9 is not 3.1.4'
changed bindings/python/build_backend.py 's/return "\.".join.*/return "3.1"/' 'Python package: version 3.1 instead of 3.1.4'
changed include/ttmem/version.h '/PATCH/d' 'no TTM_VERSION_MAJOR, MINOR and PATCH'

sed -i s/3.1.4/3.1.0/ build/bin/ttmem
gap 'build/bin/ttmem: version 3.1.0 instead of 3.1.4; run make'
sed -i s/3.1.0/3.1.4/ build/bin/ttmem
rm build/release/CMakeCache.txt
gap 'CMake (build/release): version unknown instead of 3.1.4; run make'
