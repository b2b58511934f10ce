#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A power cut at any moment leaves the old report or the new one, never a torn one; so for the page of -o and for the history. What a run wrote, renamed
and waited for is recorded (strace) and played again as a disk may have it: after each call, with any of those that nothing waited for missing. Signals
leave no temporary file, and the next run removes that of one that was killed."""
import glob
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TTMEM, GEN_LOG = os.environ["TTMEM"], os.environ["GEN_LOG"]
random.seed(25)


# ---- A disk ---------------------------------------------------------------------------------------------------------

class Disk:
    """Inodes: a folder is a dict of names, a file a bytearray. Operations are told by inode, so that any of them can be left out."""

    def __init__(self, root):
        self.root, self.nodes, self.ops = root, [], []
        self.top = self.load(root)
        self.live = {i: dict(n) if isinstance(n, dict) else None for i, n in enumerate(self.nodes)}

    def load(self, path):
        self.nodes.append({} if os.path.isdir(path) else bytearray(pathlib.Path(path).read_bytes()))
        at = len(self.nodes) - 1
        if os.path.isdir(path):
            for name in os.listdir(path):
                self.nodes[at][name] = self.load(os.path.join(path, name))
        return at

    def find(self, path):
        """(folder, name, inode) of a path inside; None outside."""
        if path == self.root:
            return None, "", self.top
        if not path.startswith(self.root + "/"):
            return None
        at, parts = self.top, path[len(self.root) + 1:].strip("/").split("/")
        for part in parts[:-1]:
            at = self.live[at][part]
        return at, parts[-1], self.live[at].get(parts[-1])

    def names(self, *changes):
        for folder, name, inode in changes:
            self.live[folder][name] = inode
            if inode is None:
                del self.live[folder][name]
        self.ops.append(("names", changes))

    def make(self, path, node):
        folder, name, _ = self.find(path)
        self.nodes.append(node)
        self.live[len(self.nodes) - 1] = {} if isinstance(node, dict) else None
        self.names((folder, name, len(self.nodes) - 1))

    def state(self, end, keep):
        """The tree when the ops up to `end` happened and those of `keep`, besides the ones that were waited for, are on the disk."""
        nodes = [n.copy() for n in self.nodes]
        for i, op in enumerate(self.ops[:end]):
            if i not in keep:
                continue
            if op[0] == "names":
                for folder, name, inode in op[1]:
                    if inode is None:
                        nodes[folder].pop(name, None)
                    else:
                        nodes[folder][name] = inode
            elif op[0] == "data":
                _, inode, at, data = op
                file = nodes[inode]
                file.extend(bytes(max(0, at + len(data) - len(file))))
                file[at:at + len(data)] = data
            elif op[0] == "size":
                file = nodes[op[1]]
                del file[op[2]:]
                file.extend(bytes(op[2] - len(file)))
        return nodes

    def waited(self, end):
        """The ops that are on the disk for certain."""
        sure = set()
        for i, op in enumerate(self.ops[:end]):
            if op[0] != "sync":
                continue
            for k in range(i):
                other = self.ops[k]
                if other[0] == "names" and any(op[1] == folder for folder, _, _ in other[1]):
                    sure.add(k)
                if other[0] in ("data", "size") and other[1] == op[1]:
                    sure.add(k)
        return sure

    def files(self, nodes, path):
        """The files below a path of a state, by name; None when there is no such path."""
        at = self.top
        for part in [p for p in path[len(self.root):].split("/") if p]:
            at = nodes[at].get(part) if isinstance(nodes[at], dict) else None
            if at is None:
                return None
        return self.below(nodes, at)

    def below(self, nodes, at):
        if not isinstance(nodes[at], dict):
            return bytes(nodes[at])
        return {name: self.below(nodes, inode) for name, inode in nodes[at].items()}

    def cuts(self, tries=24):
        """(end, keep) of power cuts: nothing beyond what was waited for, everything, each alone, all but each, and some at random."""
        for end in range(len(self.ops) + 1):
            sure = self.waited(end)
            rest = [i for i in range(end) if i not in sure and self.ops[i][0] != "sync"]
            for chosen in [[], rest, *([i] for i in rest), *([k for k in rest if k != i] for i in rest), *([i for i in rest if random.random() < 0.5] for _ in range(tries if rest else 0))]:
                yield end, sure | set(chosen)


CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>)?")


def text(quoted):
    return bytes.fromhex(quoted.replace("\\x", "")) if quoted else b""


def record(root, *words, env=None):
    """What a command did below `root`."""
    disk = Disk(root)
    trace = tempfile.NamedTemporaryFile()
    env = {**(env or os.environ), "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # which is a tracer itself
    done = subprocess.run(["strace", "-f", "-y", "-xx", "-s", "100000000", "-o", trace.name, "-e", "trace=openat,open,creat,lseek,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,link,linkat",
                           TTMEM, *words], capture_output=True, text=True, check=False, env=env)
    if "ptrace" in done.stderr or not os.path.getsize(trace.name):
        print("skipped: strace does not work here")
        sys.exit(77)
    assert done.returncode == 0, (words, done.stderr)
    places = {}
    for line in open(trace.name, encoding="latin-1"):
        assert "unfinished" not in line, "threads"
        found = CALL.match(line)
        if not found or int(found[3]) < 0:
            continue
        call, rest = found[1], found[2]
        strings = [text(s).decode("latin-1") for s in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', rest)]
        handle = re.match(r"-?\w+<((?:\\x[0-9a-f]{2}|[^>])*)>", rest)
        path = handle and (text(handle[1]).decode("latin-1") if handle[1].startswith("\\x") else handle[1])
        if call in ("openat", "open", "creat") and "O_CREAT" in rest and disk.find(strings[0]):
            if disk.find(strings[0])[2] is None:
                disk.make(strings[0], bytearray())
        elif call in ("mkdir", "mkdirat") and disk.find(strings[0]):
            disk.make(strings[0], {})
        elif call in ("write", "pwrite64") and path and disk.find(path):
            inode, data = disk.find(path)[2], text(re.search(r'"((?:\\x[0-9a-f]{2})*)"', rest)[1])
            at = int(rest.rsplit(",", 1)[1]) if call == "pwrite64" else places.get(inode, 0)
            if call == "write":
                places[inode] = at + len(data)
            disk.ops.append(("data", inode, at, data))
        elif call == "lseek" and path and disk.find(path):
            places[disk.find(path)[2]] = int(found[3])
        elif call == "ftruncate" and path and disk.find(path):
            disk.ops.append(("size", disk.find(path)[2], int(rest.rsplit(",", 1)[1])))
        elif call in ("fsync", "fdatasync") and path and disk.find(path):
            disk.ops.append(("sync", disk.find(path)[2]))
        elif call.startswith("rename") and disk.find(strings[0]):
            (a, name_a, one), (b, name_b, two) = disk.find(strings[0]), disk.find(strings[1])
            disk.names((b, name_b, one), (a, name_a, two if "EXCHANGE" in rest else None))
        elif call == "unlinkat" and path and disk.find(path + "/" + strings[0]):
            folder, name, _ = disk.find(path + "/" + strings[0])
            disk.names((folder, name, None))
        elif call in ("unlink", "rmdir") and disk.find(strings[0]):
            folder, name, _ = disk.find(strings[0])
            disk.names((folder, name, None))
    assert disk.ops, "nothing was recorded"
    return disk


def check(disk, target, old, new, what):
    states = 0
    for end, keep in disk.cuts():
        got = disk.files(disk.state(end, keep), target)
        assert got in (old, new), (what, "after", end, "of", len(disk.ops), disk.ops[end - 1][:2] if end else "", "left", {k: len(v) for k, v in got.items()} if isinstance(got, dict) else got and len(got))
        states += 1
    last = disk.files(disk.state(len(disk.ops), disk.waited(len(disk.ops))), target)
    assert last == new, (what, "is not on the disk when the command ends")
    print(f"{what}: {len(disk.ops)} calls, {states} power cuts")


def tree(path):
    if not os.path.exists(path):
        return None
    return {n: tree(os.path.join(path, n)) for n in os.listdir(path)} if os.path.isdir(path) else pathlib.Path(path).read_bytes()


def check_reports(folder):
    root = folder + "/disk"
    os.makedirs(root)
    env = {**os.environ, "TTMEM_HOME": root}
    for seed in ("1", "2"):
        subprocess.run([GEN_LOG, "--runs", "1", "--layers", "1", "--hidden", "64", "--vocab", "64", "--seed", seed, "--out", f"{folder}/{seed}.log"], check=True)
    target = root + "/reports/r"
    for log, what in (("1.log", "the first report"), ("2.log", "a report in the place of another")):
        old = tree(target)
        disk = record(root, "analyze", f"{folder}/{log}", "-q", "--name", "r", "--threads", "1", "--no-history", env=env)
        check(disk, target, old, tree(target), what)
    old = tree(target)
    loose = record(root, "analyze", f"{folder}/1.log", "-q", "--name", "r", "--threads", "1", "--no-history", "--no-sync", env=env)
    new = tree(target)
    torn = [1 for end, keep in loose.cuts() if loose.files(loose.state(end, keep), target) not in (old, new)]
    assert torn, "without waiting a report may be torn, or this test cannot fail"
    page = root + "/page.html"
    for log, what in (("1.log", "the first page"), ("2.log", "a page in the place of another")):
        old = tree(page)
        check(record(root, "html", f"{folder}/{log}", "-q", "-o", page, env=env), page, old, tree(page), what)


def check_history(folder):
    root = folder + "/past"
    store = root + "/history.sqlite"
    os.makedirs(root)
    for log in ("1.log", "2.log"):
        disk = record(root, "analyze", f"{folder}/{log}", "-q", "--no-html", "--output-dir", folder + "/away", "--store", store, "--threads", "1")
    before = 1
    states = 0
    for end, keep in disk.cuts(4):
        files = disk.files(disk.state(end, keep), root)
        place = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else folder)
        for name, data in files.items():
            if not name.endswith("-shm"):
                pathlib.Path(place, name).write_bytes(data)
        db = sqlite3.connect(place + "/history.sqlite")
        assert db.execute("pragma integrity_check").fetchone() == ("ok",), end
        runs = db.execute("select count(*) from run").fetchone()[0]
        assert runs in (before, before + 1), (end, runs)
        db.close()
        shutil.rmtree(place)
        states += 1
    print(f"the history: {len(disk.ops)} calls, {states} power cuts")

    root = folder + "/tables"
    os.makedirs(root)
    disk = record(root, "analyze", f"{folder}/1.log", "-q", "--no-html", "--output-dir", folder + "/away", "--store", root, "--threads", "1")
    whole = {os.path.relpath(p, root): pathlib.Path(p).read_bytes() for p in glob.glob(root + "/**/*.parquet", recursive=True)}
    assert whole

    def flat(files, prefix=""):
        for name, inside in (files or {}).items():
            yield from flat(inside, prefix + name + "/") if isinstance(inside, dict) else [(prefix + name, inside)]
    for end, keep in disk.cuts(8):
        found = {n: d for n, d in flat(disk.files(disk.state(end, keep), root)) if n.endswith(".parquet")}
        assert all(whole[n] == d for n, d in found.items()), (end, "a torn table")
        assert not any(n.startswith("run/") for n in found) or found == whole, (end, "a run that is listed is not whole")


# ---- Signals --------------------------------------------------------------------------------------------------------

def check_signals(folder):
    place = folder + "/out"
    os.makedirs(place)

    def begun(*slowed, output=place + "/page.html", files=1):
        child = subprocess.Popen([*slowed, TTMEM, "html", "-", "-q", "-o", output], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(500):
            if len(os.listdir(place)) >= files:
                return child
            time.sleep(0.02)
        raise AssertionError("no temporary file")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        child = begun()
        child.send_signal(number)
        assert child.wait() == -number
        assert not os.listdir(place), (number, os.listdir(place))
    if shutil.which("strace") and subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        # A signal when the file has just been made, and the program has not locked it yet.
        child = begun("strace", "-qq", "-o", "/dev/null", "-D", "-e", "trace=flock", "-e", "inject=flock:delay_exit=1000000")
        child.send_signal(signal.SIGTERM)
        assert child.wait() == -signal.SIGTERM and not os.listdir(place), os.listdir(place)
    child = begun()
    child.kill()
    child.wait()
    assert os.listdir(place)
    subprocess.run([TTMEM, "html", folder + "/1.log", "-q", "-o", place + "/page.html"], check=True)
    assert os.listdir(place) == ["page.html"], os.listdir(place)
    # Through a link, from another folder: the temporary file lies where the file does.
    os.symlink(place + "/page.html", folder + "/link.html")
    child = begun(output=folder + "/link.html", files=2)
    child.kill()
    child.wait()
    assert len(os.listdir(place)) == 2
    subprocess.run([TTMEM, "html", folder + "/1.log", "-q", "-o", folder + "/link.html"], check=True)
    assert os.listdir(place) == ["page.html"] and os.path.islink(folder + "/link.html"), os.listdir(place)


with tempfile.TemporaryDirectory() as scratch:
    os.environ["TTMEM_HOME"] = scratch + "/home"
    subprocess.run([GEN_LOG, "--runs", "1", "--layers", "1", "--hidden", "64", "--vocab", "64", "--out", scratch + "/1.log"], check=True)
    check_signals(scratch)
    if not shutil.which("strace"):
        print("skipped: no strace; power cuts were NOT tried")
        sys.exit(77)
    check_reports(scratch)
    check_history(scratch)
