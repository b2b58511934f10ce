#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completions in the real shells, and manual pages as man reads them.
. "$(dirname "$0")/lib.bash"
mkdir -p bin home/reports/llama-small home/reports/$'new\nline'
ln -sf "$TTMEM" bin/ttmem
export PATH=$PWD/bin:$PATH TTMEM_HOME=$PWD/home
echo '{"schema_version": 1}' >home/reports/llama-small/llama-small_findings.json
touch model.log

note "what the program answers"
answers() { ttmem completion -- ttmem "$@" | cut -f1 | tr '\n' ' '; }
is() { # expected words...
  expected=$1; shift
  got=$(answers "$@")
  [ "$got" = "$expected" ] || fail "'$*' gives '$got', not '$expected'"
}
is 'analyze ' an
is 'simulate scan ' cb s
is 'n150 n300 ' fit --board n
is 'n150,p100 n150,p150 n150,p300 ' fit --board n150,p
is '--color=auto --color=always ' analyze --color=a
is 'auto always ' analyze --color a
is 'auto always ' analyze --color = a
is 'bank chip ' ask x.log --per =
is 'llama-small :files ' ask ll
is ':files ' run -- python3 m
is 'bash ' completion b
is 'completion ' help comp
is '' nonsense x
for option in $(ttmem help fit | grep -oE '^ +(-., )?--[a-z_-]+' | grep -oE -- '--.*'); do
  answers fit "$option" | grep -q . || fail "fit $option is not completed"
done

note "bash"
cat >try.bash <<'END'
source <(ttmem completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_ttmem 2>/dev/null
printf '%s ' "${COMPREPLY[@]}"
END
[ "$(bash try.bash ttmem expl)" = 'explain ' ] || fail "bash: $(bash try.bash ttmem expl)"
[ "$(bash try.bash ttmem ask mod)" = 'model.log ' ] || fail "bash: $(bash try.bash ttmem ask mod)"
[ "$(bash try.bash ttmem analyze --color = nev)" = 'never ' ] || fail "bash: --color=nev"

note "fish"
if command -v fish >/dev/null; then
  got=$(HOME=$PWD fish -c 'ttmem completion fish | source; complete -C "ttmem expl"; complete -C "ttmem ask mod"; complete -C "ttmem fit --board p1"' | cut -f1 | tr '\n' ' ')
  [ "$got" = 'explain model.log p100 p150 ' ] || fail "fish: $got"
else
  echo "fish is not here: its completion was not tried"
fi

note "zsh"
if command -v zsh >/dev/null && command -v tmux >/dev/null; then
  mkdir -p functions
  ttmem completion zsh >functions/_ttmem
  terminal() { tmux -L "shells-$$" "$@"; }
  terminal -f /dev/null new-session -d -x 120 -y 30 "env PATH=$PATH TTMEM_HOME=$TTMEM_HOME zsh -f"
  completes() { # typed, what becomes of it with a key
    terminal send-keys C-u C-l "$1" "$3"
    for ((i = 0; i < 100; i++)); do
      terminal capture-pane -p | grep -qF -- "$2" && return
      sleep 0.1
    done
    terminal capture-pane -p >screen
    terminal kill-server
    fail "zsh: '$1' does not become '$2': $(cat screen)"
  }
  completes "fpath=($PWD/functions \$fpath); autoload -Uz compinit; compinit -u -D; echo ready-\$((40 + 2))" ready-42 Enter
  completes 'ttmem expl' 'ttmem explain' Tab
  completes 'ttmem ask mod' 'ttmem ask model.log' Tab
  completes 'ttmem analyze --color=nev' 'ttmem analyze --color=never' Tab
  terminal kill-server
else
  echo "zsh or tmux is not here: its completion was not tried"
fi

note "manual pages"
"$TTMEM_SOURCE/scripts/make-pages" "$TTMEM" share
[ -s share/man/man1/ttmem.1 ] && [ -s share/man/man1/ttmem-cb-scan.1 ] && [ -s share/man/man1/tt-memory-profiler.1 ] || fail "pages: $(ls share/man/man1)"
for page in share/man/man1/*.1; do
  grep -q '^\.SH EXIT STATUS' "$page" || [ "${page##*/}" = ttmem.1 ] || fail "$page is not whole"
  if command -v mandoc >/dev/null; then # a date would make two builds differ
    mandoc -T lint -W warning "$page" 2>&1 | grep -v 'missing date' >lint && fail "$page: $(cat lint)"
  fi
done
command -v mandoc >/dev/null || echo "mandoc is not here: the pages were not read"
ttmem help --all >all.txt
for command in analyze 'cb scan' fit tt-memory-profiler; do grep -q "^Usage: .*$command" all.txt || fail "help --all lacks $command"; done
show ttmem help --all analyze
show ttmem completion tcsh
show ttmem completion
same_transcript
