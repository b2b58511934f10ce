#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the page: `run.sh types` (strict type check), `run.sh lint`, `run.sh FILE.test.mjs` (a real browser). Exit 77: cannot be run here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
web=$here/../../web
skip() { printf '\n*** SKIPPED: %s ***\n\n' "$1" >&2; exit 77; }

major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
[ "${major:-0}" -ge 18 ] || skip "the tests of the HTML page need node 18 or newer, this is ${major:-none}"
[ -e "$web/node_modules/typescript/package.json" ] || skip "web/node_modules lacks the packages of the tests; run scripts/setup test"
cd "$web"
case ${1-} in
  types) exec node node_modules/typescript/bin/tsc --noEmit ;;
  lint) exec node node_modules/eslint/bin/eslint.js --max-warnings 0 . ;;
  *.test.mjs)
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
      skip "no chromium on this machine: the HTML report was NOT tested in a browser (on Debian: scripts/setup test)"
    if [ "$1" = open.test.mjs ] && [ -z "${TTMEM_PAGE-}" ]; then # built here where the compiler is there already; it is a large download
      [ -e "$here/../../build/zig/.ready" ] || skip "build/zig is not there: the page that needs nothing installed was NOT tested (make web builds it)"
      "$here/../../scripts/web" >"$here/../../build/web.log" 2>&1 || { tail -n 20 "$here/../../build/web.log"; exit 1; }
    fi
    exec node --test "$here/$1" ;;
  *) echo "usage: run.sh types|lint|FILE.test.mjs" >&2; exit 2 ;;
esac
