#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a machine can do to a program: a full disk, a device that cannot be read, signals, files that change under the reader, folders
# that cannot be written, readers that go away. Every time: a sentence that says so, exit status 2, nothing of the user's lost.
. "$(dirname "$0")/lib.bash"

# small_files KILOBYTES: no file may grow beyond it. The counters of make coverage are files too: those of this process go elsewhere.
small_files() {
  ulimit -f "$1"
  GCOV_PREFIX=$(mktemp -d -p "$work")
  export GCOV_PREFIX
}
log=two_runs_oom_profile.log

# fails COMMAND...: exit status 2, one error message (kept in .err), nothing else on standard error.
fails() {
  local got=0
  "$@" >.out 2>.err </dev/null || got=$?
  [ "$got" -eq 2 ] || fail "exit $got instead of 2: $*"
  grep -q ': error: ' .err || fail "no error message: $*"
}
says() { grep -q -- "$1" .err || fail "'$1' is not in: $(cat .err)"; }

# ---- Disk full ------------------------------------------------------------------------------------------------------------
for command in "--llm --logfile $log -o /dev/full" "html $log -o /dev/full" "cb simulate 16 24 -o /dev/full" "last-run $log -o /dev/full"; do
  # shellcheck disable=SC2086
  fails "$TTMEM" $command
  says 'No space left on device'
done
for command in "--llm --logfile $log" "analyze $log --no-json" "explain $log" "fit $log" "ask $log --at-peak" "last-run $log" \
  "doctor $log" "help" "--version" "cb simulate 16 24" "cb log" "train --logs tinyllama_train.log"; do
  got=0
  # shellcheck disable=SC2086
  "$TTMEM" $command >/dev/full 2>.err </dev/null || got=$?
  [ "$got" -eq 2 ] || fail "exit $got, standard output was full: $command"
  says 'No space left on device'
done

# A file that may not grow stands for the disk: the report of before stays whole, and nothing is left half written.
"$TTMEM" analyze $log --quiet
before=$(cd home/reports && find . -type f -exec cksum {} + | sort)
for kilobytes in 1 8 64; do
  got=0
  (small_files $kilobytes && exec "$TTMEM" analyze $log --quiet) >.out 2>.err </dev/null || got=$?
  [ "$got" -eq 2 ] || fail "exit $got with files of $kilobytes KB at most"
  says 'File too large'
  [ "$before" = "$(cd home/reports && find . -type f -exec cksum {} + | sort)" ] || fail "the last report was touched"
  [ -z "$(find home -name '.*' -not -name .)" ] || fail "leftovers: $(find home -name '.*')"
done
echo mine >kept.md
got=0
(small_files 1 && exec "$TTMEM" --llm --logfile $log -o kept.md) 2>.err || got=$?
[ "$got" -eq 2 ] && [ "$(cat kept.md)" = mine ] || fail "the file that was there is gone"
[ -z "$(find . -maxdepth 1 -name '.ttmem-*')" ] || fail "left behind: $(find . -maxdepth 1 -name '.ttmem-*')"
# The copy that last-run makes of a pipe.
got=0
(small_files 8 && cat $log | exec "$TTMEM" last-run - -q) >.out 2>.err || got=$?
[ "$got" -eq 2 ] || fail "exit $got: the copy of the pipe has no room"
says 'cannot write a temporary file.*File too large'

# A program that is run keeps running, is heard to its end, and its exit status counts.
got=0
(small_files 1 && exec "$TTMEM" run --log --quiet --output-dir full -- sh -c 'head -c 20000 /dev/zero | tr "\\0" x; exit 3') 2>.err \
  </dev/null | wc -c >.count || got=$?
[ "$got" -eq 3 ] || fail "exit $got instead of the program's 3"
[ "$(cat .count)" -ge 20000 ] || fail "only $(cat .count) bytes came through"
says 'the program continues'
fails "$TTMEM" run --output-dir /proc/nowhere -- true ; says 'cannot make folder'

# ---- What cannot be read --------------------------------------------------------------------------------------------------
fails "$TTMEM" --llm --logfile / ; says 'holds no report'
fails "$TTMEM" analyze nowhere.log ; says 'No such file'
fails "$TTMEM" cb scan nowhere ; says 'No such file'
if [ -r /proc/self/mem ]; then # reading address 0 is EIO
  for command in "--llm --logfile" "analyze" "explain" "graph" "train --logs" "cb log" "last-run" "doctor"; do
    # shellcheck disable=SC2086
    fails "$TTMEM" $command /proc/self/mem
    says 'Input/output error'
  done
  for command in "--llm --logfile -" "explain -" "last-run -" "analyze -"; do
    # Of a process that lives on: a memory whose process is gone only ends.
    # shellcheck disable=SC2086
    fails python3 -c 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], stdin=open("/proc/self/mem", "rb")).returncode)' "$TTMEM" $command
    says 'Input/output error'
  done
fi
got=0
"$TTMEM" --llm --logfile - <&- 2>.err >.out || got=$?
[ "$got" -eq 2 ] || fail "exit $got without a standard input"

# ---- A file that ends before its size, grows, or gives way to another while it is read -------------------------------------
head -c 3000 $log >short.log
status 0 "$TTMEM" --llm --logfile short.log
python3 - "$TTMEM" $log <<'P'
# Through a pipe that ends where no line ends; then a file that is cut, rotated and grown while ttmem has it open and is stopped.
import os, signal, subprocess, sys
ttmem, log = sys.argv[1:]
text = open(log, "rb").read()

def start(path, stdout=subprocess.PIPE):
    return subprocess.Popen([ttmem, "--llm", "--logfile", path], stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE)

def judge(name, process, *allowed):
    """A report, or a reason."""
    try:
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    if out is None:
        out = open("moving.md", "rb").read()
    told = out.startswith(b"# Memory Profile") if process.returncode == 0 else b": error: " in err
    if process.returncode not in allowed or not told:
        sys.exit("FAIL: %s: exit %s, %s" % (name, process.returncode, err.decode(errors="replace")))

def has_open(process, path):
    folder = "/proc/%d/fd" % process.pid
    try:
        return any(os.readlink(os.path.join(folder, fd)) == path for fd in os.listdir(folder))
    except OSError:  # it has ended, or closed one while we looked
        return False

for end, status in ((0, 2), (1, 2), (100, 2), (2500, 0), (len(text) // 2, 0)):
    process = start("-")
    process.stdin.write(text[:end])
    judge("pipe of %d bytes" % end, process, status)
big = text * (24 * 1024 * 1024 // len(text))
for name in ("rotated", "grown", "removed", "cut", "emptied"):
    with open("moving.log", "wb") as file:
        file.write(big)
    # A busy machine may let it read the log before we look: then again. Its report, more than a pipe holds, goes to a file, so that it can end.
    for _ in range(100):
        process = start("moving.log", open("moving.md", "wb"))
        while process.poll() is None and not has_open(process, os.path.realpath("moving.log")):
            pass
        process.send_signal(signal.SIGSTOP)
        if process.poll() is None:
            break
        judge("too late", process, 0)
    else:
        sys.exit("FAIL: %s: ttmem was never met while it read" % name)
    if name == "cut":
        os.truncate("moving.log", len(big) // 2 + 77)
    elif name == "rotated":
        os.rename("moving.log", "moving.log.1")
        open("moving.log", "wb").write(text)
    elif name == "grown":
        open("moving.log", "ab").write(text)
    elif name == "emptied":
        os.truncate("moving.log", 0)
    else:
        os.remove("moving.log")
    process.send_signal(signal.SIGCONT)
    judge(name, process, *((0, 2) if name == "emptied" else (0,)))  # nothing may have been read before
P

# ---- Signals while reading ------------------------------------------------------------------------------------------------
# A stop and a continue interrupt read(2) and nanosleep; a SIGWINCH comes from every resized terminal.
"$TTMEM" --llm --logfile - <$log >whole.md
python3 - "$TTMEM" $log whole.md <<'P'
import signal, subprocess, sys, time
ttmem, log, whole = sys.argv[1:]
text = open(log, "rb").read()
process = subprocess.Popen([ttmem, "--llm", "--logfile", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
step = len(text) // 40 + 1
for at in range(0, len(text), step):
    process.stdin.write(text[at:at + step])
    process.stdin.flush()
    for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGWINCH, signal.SIGCHLD):
        process.send_signal(number)
    time.sleep(0.002)
out, _ = process.communicate(timeout=300)
if process.returncode or out != open(whole, "rb").read():
    sys.exit("FAIL: signals changed the report")
P

# ---- Folders that cannot be written -----------------------------------------------------------------------------------------
echo file >not_a_folder
(export TTMEM_HOME="$work/not_a_folder"; fails "$TTMEM" analyze $log --quiet; says 'Not a directory')
(export TTMEM_HOME=/proc/nowhere; fails "$TTMEM" analyze $log --quiet; says 'No such file')
fails "$TTMEM" --llm --logfile $log -o nowhere/report.md ; says 'No such file'
fails "$TTMEM" html $log -o . ; says 'Is a directory'
# As another user (root may write anywhere): a read-only report folder is left as it is.
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
  chmod 755 "$work" && mkdir locked && cp $log locked/ && "$TTMEM" analyze $log --quiet --output-dir locked/report --name r
  chmod -R a+rX "$work"
  as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
elif [ "$(id -u)" -eq 0 ]; then
  mkdir locked
  as_nobody() { false; } # its root folder is root's alone
else
  mkdir locked && "$TTMEM" analyze $log --quiet --output-dir locked/report --name r
  chmod -R a-w locked
  as_nobody() { "$@"; }
fi
if as_nobody "$TTMEM" --version >/dev/null 2>&1; then
  before=$(find locked -type f -exec cksum {} + | sort)
  fails as_nobody "$TTMEM" analyze $log --quiet --output-dir locked/report --name r ; says 'Permission denied'
  fails as_nobody "$TTMEM" html locked/report ; says 'Permission denied'
  [ "$before" = "$(find locked -type f -exec cksum {} + | sort)" ] || fail "a read-only report was changed"
  # A file that may not be written, in a folder that may: a rename would not ask.
  mkdir -m 777 shared && echo theirs >shared/theirs.md && chmod 444 shared/theirs.md
  fails as_nobody "$TTMEM" --llm --logfile $log -o shared/theirs.md ; says 'Permission denied'
  [ "$(cat shared/theirs.md)" = theirs ] || fail "a read-only file was replaced"
fi
# A user whom nothing tells a home.
if setpriv --reuid 54321 --clear-groups env -u HOME -u TTMEM_HOME "$TTMEM" --version >/dev/null 2>&1; then
  fails setpriv --reuid 54321 --clear-groups env -u HOME -u TTMEM_HOME "$TTMEM" analyze $log --quiet ; says 'no home folder to keep reports in'
fi
chmod -R u+w locked

# ---- A reader that goes away ------------------------------------------------------------------------------------------------
for command in "--llm --logfile $log" "analyze $log --no-json" "explain $log" "fit $log" "ask $log --range 1-9" "last-run $log" "help" \
  "html $log -o -" "cb log" "cb simulate 16 24 --html" "train --logs tinyllama_train.log --json"; do
  # shellcheck disable=SC2086
  { got=0; "$TTMEM" $command 2>.err || got=$?; echo $got >.status; } | true
  grep -q error .err && fail "a closed pipe is told: $command: $(cat .err)"
  [ "$(cat .status)" -eq 0 ] || fail "exit $(cat .status) at a closed pipe: $command"
done

# ---- A report of a later ttmem ----------------------------------------------------------------------------------------------
"$TTMEM" analyze $log --quiet --output-dir later --name r
sed -i 's/"schema_version":1,/"schema_version":2,/' later/r_findings.json
before=$(find later -type f -exec cksum {} + | sort)
fails "$TTMEM" html later ; says 'written by a later ttmem (schema 2, this one knows 1)'
[ "$before" = "$(find later -type f -exec cksum {} + | sort)" ] || fail "a later report was changed"
