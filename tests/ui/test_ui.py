#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interactive program, driven through tmux as a person would: keys in, screen text checked."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TTMEM = os.environ["TTMEM"]
SOURCE = os.environ["TTMEM_SOURCE"]
DATA = os.path.join(SOURCE, "tests/cli/data")
sys.path.insert(0, os.path.join(SOURCE, "tests"))
import terminal  # noqa: E402

if not terminal.is_here():
    print("skipped: tmux is not installed (scripts/setup test brings it)")
    sys.exit(77)

work = tempfile.mkdtemp(prefix="ttmem-ui-")
tmux = None
failures = []


def Session(columns=80, rows=24, locale="C.UTF-8", env=""):
    """One run of the program in a terminal of its own."""
    s = tmux.start("cd '%s'; unset NO_COLOR; export TTMEM_HOME='%s/home' LC_ALL=%s TERM=screen-256color TZ=UTC; %s '%s'"
                   % (work, work, locale, env, TTMEM), columns, rows)
    s.see("Where did the memory go?")  # keys typed before the program is there are lost
    return s


# What only this view of the report of two_runs_oom_profile.log shows, in their order.
PEAK = "1,006.3 of 1,021.2 MB per bank"
FAILURE = "Out of memory in DRAM: insufficient memory, short by 8.50 MB per"
VIEWS = ("9 operations in 2 runs", "states 1 to 15 of 15", "Operations that added most to DRAM", "4 live tensors at the DRAM peak", "9 of 9 operations",
         "Message in log line 114.", "-- lines 1 to 19 of", "only recordings and graph captures tell L1 core by core")


def check(ok, what):
    if not ok:
        failures.append(what)
        print("FAIL:", what, file=sys.stderr)


def test_log_to_server():
    s = Session()
    s.see("Where did the memory go?", "1  Open a log", "4  Browse reports", "q quit")
    s.keys("Enter")
    s.see("Which log,", "Tab complete")
    s.keys("Enter")  # nothing typed: nothing happens
    s.type("nowhere.log").keys("Enter")
    s.see("Cannot open it: No such file or directory")
    s.keys("C-u").type(work).keys("Enter")
    s.see("This is a folder")
    s.keys("C-u").type("data/em").keys("Tab")
    s.see("data/empty.log")
    s.keys("Enter")
    s.see("This file is empty")
    s.keys("C-w").type("zzz").keys("Tab")
    s.see("No file or folder starts like this")
    s.keys("BSpace", "BSpace", "BSpace", "Tab")
    s.see("hostile.log", "two_runs_oom_profile.log")  # the folder's files are offered
    s.type("no").keys("Tab", "Enter")
    s.see("Not a log", "This log cannot be used")
    s.keys("q")
    s.see("Where did the memory go?")
    s.keys("1").type("data/two").keys("Tab")
    s.see("data/two_runs_oom_profile.log")
    s.keys("Enter")
    s.see("Report › two-runs-oom", PEAK, "The report is written", FAILURE)
    check(os.path.exists(work + "/home/reports/two-runs-oom/two-runs-oom_findings.json"), "the report folder")
    s.keys("s")
    url = re.search(r"http://localhost:\d+/\S*", s.see("Open in your browser", re.compile(r"http://localhost:\d+/[0-9a-f]{32}/two-runs-oom/"))).group()
    check(urllib.request.urlopen(url).status == 200, "served: " + url)
    s.keys("q")
    s.see(PEAK)
    try:
        urllib.request.urlopen(url)
        check(False, "still served after leaving")
    except (urllib.error.URLError, OSError):
        pass
    s.keys("q")
    s.see("Where did the memory go?")
    s.keys("Escape")  # no way out by accident
    s.see("Where did the memory go?")
    s.keys("q")
    s.see("ended with 0")
    s.end()


def test_views():
    s = Session()
    s.keys("1").type("data/two_runs_oom_profile.log").keys("Enter")
    s.see("Report › two-runs-oom")
    s.keys("2")
    s.see("DRAM, MB per bank, capacity 1,021.2; states 1 to 15 of 15", "P!", "▲", "1,006.3 MB per bank (98.5 %), headroom 14.83, largest free block 9.00",
          "before #8 ttnn.softmax", "which failed")
    s.keys("h", "h", "h")
    s.see("before #6 ttcore.load_cached", without=["1,006.3 MB per bank"])
    s.keys("+")
    s.see(re.compile(r"states \d+ to \d+ of 15"), without=["states 1 to 15 of 15"])
    s.keys("-")
    s.see("states 1 to 15 of 15")
    s.keys("b")
    s.see("MB per chip, capacity 12,254.", "MB per chip (")
    s.keys("b", "m")
    s.see("L1: nothing was ever allocated in it.")
    s.keys("m", "m", "m", "p", "Enter")
    s.see("Operation", "#8 ttnn.softmax", "1,006.3 MB per bank before", "1x32768x4096", "failed here")
    s.keys("q")
    s.see("states 1 to 15 of 15")
    s.keys("Tab")
    s.see("Operations that added most to DRAM in one run, per bank.", re.compile(r"21\.33 +#3 ttnn\.matmul layers\.0\|MLP\|dot\.1, in 2 runs"))
    s.keys("j", "Enter")
    s.see("#4 ttnn.softmax", "delta +21.33 MB")
    s.keys("h", "l")
    s.see("DRAM peak " + PEAK, "raised by #7 ttnn.matmul", re.compile(r"960\.7 +unattributed"), "model.proj.weight, weights 4096x4096")
    s.keys("Enter")
    s.see("No operation of this log made it.")
    s.keys("m")
    s.see("Nothing was allocated in L1.")
    s.keys("5")
    s.see("9 of 9 operations", re.compile(r"\+2\.67 +#0 ttcore\.load_cached"))  # with what runs inside it
    s.keys("Enter")
    s.see("#0 ttcore.load_cached", "delta +2.67 MB", "2 operations of const-eval", "up to +5.34 MB", "never freed",
          re.compile(r"inputs +%arg\d+: 4096x4096 bf16"), re.compile(r"weight +model\.proj\.weight: .*logical size 32\.00 MB"))
    s.keys("q")
    s.keys("/").type("SOFT")
    s.see("2 of 9 operations", "search: SOFT", without=["ttnn.matmul"])
    s.keys("Enter", "G", "Enter")
    s.see("#8 ttnn.softmax", "(log line 108)")
    s.keys("q", "Escape")
    s.see("9 of 9 operations", "o sort")
    for order, first, second in (("delta", "#3 ttnn.matmul", "#4 ttnn.softmax"), ("level", "#8 ttnn.softmax", "#6 ttcore.load_cached"), ("name", "#0 ttcore.load_cached", "#6 ttcore.load_cached")):
        s.keys("o")
        s.see("9 of 9 operations, by " + order, re.compile(r"operation\n[^\n]*%s[^\n]*\n[^\n]*%s" % (first, second)))
    s.keys("Enter")
    s.see("Operation", "#0 ttcore.load_cached")
    s.keys("q", "m")
    s.see("by name, L1 in MB")
    s.keys("6")
    s.see(FAILURE, "needed        22,370,304 B")
    s.keys("G")
    s.see("Divide the tensor by 3")
    s.keys("7")
    s.see("7 Findings", "Failure", FAILURE, "In #8 ttnn.softmax", "Divide the tensor by 3", "DRAM peak " + PEAK)
    s.keys("Enter")
    s.see("Operation", "#8 ttnn.softmax", "(log line 108)")
    s.keys("q", "j", "j", "Enter")
    s.see("This row names no operation.")
    s.keys("G")
    s.see("Waste at the peak", "Layers", "operation lines and memory states", without=["Divide the tensor by 3"])
    s.keys("?")
    s.see("Keys › Report", "choose a view", "bank/chip", "leave the program")
    s.keys("Q")
    s.see("ended with 0")
    s.end()


def test_pictures():
    """What is held over time, by class; the bank at a state, by address; what is alive in it; the cores."""
    shutil.copy(SOURCE + "/demo/llama_small.log.zst", work + "/pictures.log.zst")
    s = Session()
    s.keys("1").type("data/two_runs_oom_profile.log").keys("Enter")
    s.see("Report › two-runs-oom")
    s.keys("2")
    # The level is 1,006.3 MB in 15 states; each takes 4 or 5 columns, and the last but one is looked at.
    s.see(re.compile(r" 0 └─+"), re.compile(r"│ {14}▁{18}[▂▄]{18}u+a+\n +0 └"), "w weights 2.67  i inputs 21.33  a activations 21.33  e earlier runs 0.336",
          "unattributed 960.7", "v blocks/tensors")
    s.keys("v")
    s.see(re.compile(r" 0 │EWwwa{16}·{8}Ii{15}Uu+\n"), "Where it lies is unknown: the replay", "refused            " + "▓" * 40 + " 21.33 MB",
          "largest free block " + "░" * 17 + " 9.00 MB")
    s.keys("h", "h", "h")
    s.see("before #6 ttcore.load_cached", without=["refused", "#8 ttnn.softmax"])
    s.keys("v")
    s.see("live tensors then", "MB per bank  Class", "before #6 ttcore.load_cached")
    s.keys("b")
    s.see("MB per chip  Class")
    s.keys("l", "l", "l")
    s.see("before #8 ttnn.softmax", "Class")
    subprocess.run([os.environ["GEN_LOG"], "--runs", "2", "--layers", "4", "--out", work + "/part.log"], check=True)
    s.keys("q", "1").type("part.log").keys("Enter")
    s.see("Report › part")
    s.keys("2", "v")
    # What is never in use has no room on the map, until it is asked for.
    check("░" * 69 not in s.see(re.compile(r" 0 │W"), "largest").replace("\n", ""), "the map of what is in use")
    s.keys("y")
    s.see("░" * 68)
    s.keys("m", "y")
    s.see(re.compile(r" 13\d{5}│.*A?a"))  # to the byte where MB would all be the same
    s.keys("q", "1").type("pictures.log.zst").keys("Enter")
    s.see("Report › pictures")
    s.keys("2", "v")
    found = ask_at(work + "/pictures.log.zst", 1519)
    screen = s.see("by the replay, whose largest is the measured one", "· free 44.60  ░ largest 7.49")
    # The largest free block is where `ask` says that it is.
    rows = [line for line in screen.split("\n") if re.match(r" +[\d.,]+ │", line)]
    cells, per_cell = "".join(row[11:].ljust(68) for row in rows), 1023.0 / (len(rows) * 68)
    first, n = cells.index("░"), cells.count("░")
    check(abs(first * per_cell - found[0][1] / 2**20) <= 2 * per_cell and abs(n * per_cell - found[0][0]) <= 2 * per_cell, "the largest free block: %r, cell %d, %d cells" % (found[0], first, n))
    check("░" * n in cells, "it is one block")
    colored = tmux.run("capture-pane", "-e", "-p", "-t", s.name).stdout
    check("\x1b[44m" in colored, "weights are blue")
    s.resize(132, 50)
    s.see(re.compile(r"[▁-█]w+\n"), "▲", re.compile(r" 0 │W"), "refused")  # the timeline above it
    s.resize(40, 12)
    s.see("ttmem › Report")
    s.resize(80, 24)
    s.see("refused")
    s.keys("v", "j", "j", "j")
    s.see("live tensors then", re.compile(r"-- lines 4 to \d+ of"))
    s.end()
    s = Session(env="NO_COLOR=1")
    s.keep_bytes(work + "/plain")
    s.keys("1").type("data/two_runs_oom_profile.log").keys("Enter")
    s.see("Report › two-runs-oom")
    s.keys("2", "v")
    s.see(re.compile(r" 0 │EWwwa"))
    s.keys("Q")
    s.see("ended with 0")
    with open(work + "/plain", "rb") as f:
        check(not re.search(rb"\x1b\[[0-9;]*[34][0-7]m", f.read()), "NO_COLOR: no colours")
    s.end()


def ask_at(log, operation):
    """The free blocks then, as `ttmem ask` tells them: MB and address, the largest first."""
    text = subprocess.run([TTMEM, "ask", log, "--at", str(operation)], check=True, capture_output=True, text=True).stdout
    return [(float(mb), int(at)) for mb, at in re.findall(r"^\s*([\d.]+)\s+(\d{4,})$", text.split("Address in its bank")[1], re.M)]


def test_cores():
    """The grid of cores of a graph capture, step by step."""
    shutil.copy(SOURCE + "/tests/data/capture_small.json", work)
    s = Session(80, 40)
    s.keys("1").type("capture_small.json").keys("Enter")
    s.see("Report › capture-small")
    s.keys("8")
    s.see("step 1 of 2  ttnn.add", "[░░]", "CBs ↑", "Core 4-4: 26.0 KB")
    s.keys("Right", "Down")
    s.see("Core 5-5:")
    s.keys("l")
    s.see("step 2 of 2")
    s.keys("c")
    s.see("No program's buffers overlap a tensor.")
    s.keys("h", "Enter")
    s.see("ttmem › Operation", "ttnn.add")
    s.end()


def test_folded_layers():
    """Repeated layers are one row, which opens to its members; nothing is cut on a small screen."""
    shutil.copy(SOURCE + "/demo/llama_small.log.zst", work)
    s = Session()
    s.keys("1").type("llama_small.log.zst").keys("Enter")
    s.see("Report › llama-small", "Out of memory in DRAM: fragmented")
    for view, text in (("3", "▸     144.0 ×18   #3 ttcore.load_cached"), ("4", "▸     144.0 ×18   model.layers.*.self_attn.qkv_proj.weight, weights 12288x4096")):
        s.keys(view)
        s.see("MB per bank ", text, without=["layers.1."])
        s.keys("Enter")
        s.see("▾     144.0 ×18", re.compile(r" 8\.00  .*model\.layers\.1\.self_attn\.qkv_proj\.weight", re.S))
        s.keys("b")
        s.see("MB per chip ", "▾   1,728.0 ×18", re.compile(r" 96\.00  .*model\.layers\.1\.", re.S))
        s.keys("b", "j", "j", "Enter")
        s.see("ttmem › Operation", "model.layers.1.self_attn.qkv_proj.weight")
        s.keys("q", "Left")
        s.see(text, without=["layers.1."])
        s.keys("Right")
        s.see("▾     144.0 ×18")
        s.keys("Left")
    for view in "12345678":
        s.keys(view)
        s.keys("G")
        check("…" not in s.see("Report › llama-small"), "view %s cuts nothing" % view)
    s.keys("q", "4")
    s.see("Reports", "llama-small", "Out of memory in DRAM: fragmented, short by 0.506 MB per bank")
    s.end()


def test_script():
    with open(work + "/model.py", "w") as f:
        f.write("import os, sys\nprint('switch', os.environ['TTMLIR_RUNTIME_LOGGER_LEVEL'])\n"
                "sys.stdout.write(open('data/two_runs_oom_profile.log').read())\nsys.exit(3)\n")
    s = Session()
    s.see("2  Run a script")
    s.keys("2").type("mod").keys("Tab", "Enter")
    s.see("Press Enter to")
    s.keys("Enter")
    s.see(re.compile(r"Report › model_\d{8}_\d{6}"), PEAK)
    runs = os.listdir(work + "/logs")
    check(len(runs) == 1 and os.path.exists("%s/logs/%s/model_profile.log" % (work, runs[0])), "the run folder: %r" % runs)
    s.keys("q", "4")
    s.see("ttmem › Reports", "Tab captured runs")
    s.keys("Tab")
    s.see("./logs, captured runs", runs[0][:8], "ttmem › Runs", "Tab reports")
    s.keys("q", "2").type("nothing.py").keys("Enter")
    s.see("Cannot open it")
    s.keys("Escape", "q")
    s.see("ended with 0")
    s.end()


def test_script_with_arguments():
    """A command with its arguments, quoted as in a shell, on a board that is chosen."""
    with open(work + "/args.py", "w") as f:
        f.write("import ttnn, sys\nprint('arguments', sys.argv[1:])\ndevice = ttnn.open_device(device_id=0)\nx = ttnn.empty(4096, device)\n"
                "ttnn.close_device(device)\n")
    s = Session(env="PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='%s/tests/launch/fake_ttnn/site-packages'" % SOURCE)
    s.keys("2").type("arg").keys("Tab").type(" --name 'a b' c\\ d")
    s.see("› args.py --name 'a b' c\\ d", "On ◂ the devices of this machine ▸")
    s.keys("Down", "Up", "Up")
    s.see("On ◂ p300 ▸")
    s.keys("Down", "Down")
    s.see("On ◂ n150 ▸")
    s.keys("Enter")
    s.see("arguments ['--name', 'a b', 'c d']", "n150", "Press Enter to")
    s.keys("Enter")
    s.see(re.compile(r"Report › args_\d{8}_\d{6}"))
    s.end()


def test_other_commands():
    """Explain, fit and diff show what the commands print; live shows its screen."""
    for name, log in (("before", "two_runs_oom_profile.log"), ("after", "two_runs_oom_profile.log")):
        shutil.copy(work + "/data/" + log, "%s/%s.log" % (work, name))
        subprocess.run([TTMEM, "analyze", name + ".log", "-q", "--no-html"], check=True, cwd=work)
    s = Session()
    s.keys("5")
    s.see("Explain a message", "Paste it")
    # A message that a terminal broke into lines is one message; what follows the last line's end is no key.
    tmux.run("set-buffer", "Out of Memory: Not enough space to allocate 268435456 B DRAM buffer across 12 banks, where\neach bank needs to store 22370304 B, "
             "but bank size is 1070773184 B (allocated: 1055223808 B,\nfree: 15549376 B, largest free block: 13448256 B)\n")
    tmux.run("paste-buffer", "-t", s.name)
    s.see("ttmem › Explain", "needed        22,370,304 B", "short by")
    s.keys("q", "5").type("no message").keys("Enter")
    s.see("ttmem › Explain", "is neither a file nor an error message")
    s.keys("q", "6")
    s.see("Fit: which report?")
    s.keys("/").type("before").keys("Enter", "Enter")
    s.see("ttmem › Fit", "Board   Fits", "n150    no", "Does not fit, out of memory in DRAM")
    s.keys("q", "q", "7")
    s.see("Compare: which report before?")
    s.keys("/").type("before").keys("Enter", "Enter")
    s.see("Compare: which report after? › before")
    s.keys("Escape")
    s.keys("/").type("after").keys("Enter", "Enter")
    s.see("ttmem › Compare", "Before: before.log", "After:  after.log", "Peak")
    s.keys("q", "q", "8")
    s.see("ttmem › Live", "filter")
    s.keys("q", "q")
    s.see("ended with 0")
    s.end()


def test_script_that_is_recorded():
    """What a script allocates with ttnn is in a recording; its log says nothing of it. Both ways lead to it: at once, and later."""
    with open(work + "/recorded.py", "w") as f:
        f.write("import ttnn\nprint('hello')\ndevice = ttnn.open_device(device_id=0)\nx = ttnn.empty(4096, device)\ny = ttnn.relu(x)\n"
                "ttnn.close_device(device)\n")
    s = Session(env="PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='%s/tests/launch/fake_ttnn/site-packages'" % SOURCE)
    s.keys("2").type("recorded.py").keys("Enter")
    s.see("Press Enter to")
    s.keys("Enter")
    s.see(re.compile(r"Report › recorded_\d{8}_\d{6}"), "a recording of what a program allocated with ttnn", "ttnn.relu at recorded.py:5")
    s.keys("q", "4", "Tab")
    s.see("./logs, captured runs")
    s.keys("/").type("recorded").keys("Enter", "Enter")
    s.see("a recording of what a program allocated with ttnn", without=["has changed"])
    s.end()


def test_capture():
    """A graph capture tells sums: where the free memory lies is unknown, so no largest block is made up."""
    shutil.copy(SOURCE + "/tests/data/capture_small.json", work)
    s = Session()
    s.keys("1").type("capture_small.json").keys("Enter")
    s.see("Report › capture-small", "ttnn graph capture")
    s.keys("2")
    s.see("MB per bank, capacity 1,023.0", re.compile(r"headroom [\d.,]+\n"), without=["largest"])
    s.keys("5", "Enter")
    s.see("log line", "per bank before", without=["largest", "program  ", "where  "])
    s.end()


def test_ranks_without_programs():
    """Two ranks, and no line that names a program: the rank is told all the same, and nothing is left blank."""
    subprocess.run([os.environ["GEN_LOG"], "--ranks", "2", "--runs", "1", "--layers", "1", "--out", work + "/ranks.log"], check=True)
    with open(work + "/ranks.log", "rb") as f:
        lines = [line for line in f if b"execution of program" not in line]
    with open(work + "/nameless.log", "wb") as f:
        f.writelines(lines)
    for name, place in (("ranks", r"program +main\S*, run \d, rank 1"), ("nameless", r"where +run \d, rank 1")):
        s = Session()
        s.keys("1").type(name + ".log").keys("Enter")
        s.see("Report › " + name)
        s.keys("5", "G", "Enter")
        s.see("log line", re.compile(place))
        s.end()


def test_guide():
    s = Session()
    s.keys("3")
    s.see("TT_RUNTIME_DEBUG=ON", "TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG", "tee model_profile.log")
    s.keys("q", "q")
    s.see("ended with 0")
    s.end()


def test_browse():
    for name in ("alpha", "beta"):
        subprocess.run([TTMEM, "analyze", "data/two_runs_oom_profile.log", "-q", "--no-html", "--name", name], check=True, cwd=work)
    gone = work + "/gone.log"
    shutil.copy(DATA + "/two_runs_oom_profile.log", gone)
    subprocess.run([TTMEM, "analyze", "gone.log", "-q", "--no-html"], check=True, cwd=work)
    os.unlink(gone)
    reports = work + "/home/reports"
    for name in os.listdir(reports):
        if re.search(r"_\d{8}_\d{6}", name):  # runs of the tests before
            shutil.rmtree(os.path.join(reports, name))
    shutil.copytree(SOURCE + "/tests/golden/llama-tiny", reports + "/old", ignore=shutil.ignore_patterns("*.log", "*.md"))
    os.makedirs(reports + "/bare")
    with open(reports + "/gone/gone_findings.json") as f, open(reports + "/bare/bare_findings.json", "w") as to:
        to.write(f.read().replace("gone.log", "lost.log"))
    s = Session()
    s.keys("4")
    s.see("6 of 6 in", "alpha", "beta", "gone", "two-runs-oom", "1,006.3 MB", "99 %", FAILURE, re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"))
    s.keys("/").type("ALP").keys("Enter")  # letter case does not matter, as among the operations
    s.see("1 of 6 in", "alpha", without=["beta"])
    s.keys("d")
    s.see("Delete the report alpha?")
    s.keys("n")
    s.see("alpha", without=["Delete the report"])
    check(os.path.exists(work + "/home/reports/alpha"), "n keeps the report")
    s.keys("d", "y")
    s.see("The report is deleted", "0 of 5 in")
    check(not os.path.exists(work + "/home/reports/alpha"), "y deletes the report")
    s.keys("Escape")
    s.see("5 of 5 in", "beta")
    s.keys("/").type("beta").keys("Enter", "Enter")
    s.see("Report › beta", PEAK, without=["has changed"])
    s.keys("f")
    s.see("ttmem › Fit", "n150    no")
    s.keys("q", "q", "s")
    s.see("Serving › beta", "/beta/")
    s.keys("q", "Escape", "S")
    s.see("Serving › all reports")
    s.keys("q", "/").type("gone").keys("Enter", "Enter")
    # Without its log a report is read from its JSON files, and says what it said.
    s.see("The log is gone", "Report › gone", PEAK, FAILURE, "4 live tensors at the DRAM peak")
    s.keys("2")
    s.see("1,006.3 MB per bank (98.5 %)")
    s.keys("4")
    s.see("DRAM peak " + PEAK, "4 live tensors at the DRAM peak", re.compile(r"2\.67 +weights: model\.proj\.weight"))
    s.keys("5", "G", "Enter")
    s.see("#8 ttnn.softmax", "(log line 108)")
    s.keys("q", "7")
    s.see("Divide the tensor by 3", "DRAM peak " + PEAK)
    s.keys("q", "/").type("old").keys("Enter", "Enter")
    # One of the Python tool has no findings: what takes the deallocations is unknown.
    s.see("Report › old", "The log is gone", "124 operations")
    s.keys("4")
    s.see("Live tensors at the peak are unknown: the files of this report do not hold the")
    s.keys("q", "/").type("bare").keys("Enter", "Enter")
    # Findings alone: they are all there is.
    s.see("Report › bare", "The log and the memory states of this report are gone", FAILURE, "Divide the tensor by 3")
    s.keys("q", "q", "q")
    s.see("ended with 0")
    s.end()
    with open(work + "/data/two_runs_oom_profile.log", "a") as f:
        f.write("one more line\n")
    s = Session()
    s.keys("4", "/").type("beta").keys("Enter", "Enter")
    s.see("The log has changed since the report was made: this is what the report's", PEAK)
    s.keys("5")
    s.see("9 of 9 operations")
    s.end()
    shutil.copy(DATA + "/two_runs_oom_profile.log", work + "/data/")


def test_typing_ahead():
    """Keys that are typed while a log is read are not lost: they go to the views they were meant for, in their order."""
    subprocess.run([os.environ["GEN_LOG"], "--runs", "20", "--layers", "20", "--out", work + "/long.log"], check=True)
    s = Session()
    s.keys("1").type("long.log").burst("Enter", "2", "Home", "Enter")
    s.see("Operation", "#0 ttcore.load_cached")
    s.keys("q")
    s.see("Report › long", "states 1 to", "log line")
    s.keys("q", "4")
    s.see("Reports")
    s.keys("/").type("long").burst("Enter", "Enter")
    s.see("Report › long", "operations in 20 runs")  # what the report says does not wait for the log
    s.keys("q").burst("Enter", "5", "/", "a", "r", "g", "m", "a", "x", "Enter", "Enter")
    s.see("Operation", "ttnn.argmax")
    s.keys("q")
    s.see("20 of 9,248 operations", "search: argmax")
    s.keys("q").burst("Enter", "2", "l", "q", "d")  # who goes back does not wait
    s.see("Delete the report long?")
    s.keys("n", "q", "q")
    s.see("ended with 0")
    s.end()


def test_another_log_of_that_name():
    os.makedirs(work + "/other")
    shutil.copy(DATA + "/two_runs_oom_profile.log", work + "/other/")
    s = Session()
    s.keys("1").type("other/two_runs_oom_profile.log").keys("Enter")
    s.see("Report › two-runs-oom-2")
    check(os.path.exists(work + "/home/reports/two-runs-oom"), "the other log's report stays")
    s.end()


def test_sizes():
    s = Session(132, 43)
    s.keys("1").type("data/two_runs_oom_profile.log").keys("Enter")
    s.see("1 Summary")
    s.keys("2")
    s.see("capacity 1,021.2", "before #8 ttnn.softmax")
    for columns, rows in ((80, 24), (60, 15), (200, 60), (40, 12), (80, 24)):
        s.resize(columns, rows)
        for view in "12345678":
            s.keys(view)
        s.keys("2")
        screen = s.see("1,006.3 MB per bank", "ttmem › Report", without=["larger"])
        check(max(map(len, screen.split("\n"))) <= columns, "%dx%d fits" % (columns, rows))
    s.resize(20, 5)
    s.see("Please make the")
    s.resize(80, 24)
    s.see("1,006.3 MB per bank")
    s.end()


def test_ascii():
    s = Session(locale="C")
    s.keys("1").type("data/two_runs_oom_profile.log").keys("Enter")
    s.see("ttmem > Report > two-runs-oom")
    s.keys("2")
    s.see("uuuu", "P!", "^")
    for view, text in enumerate(VIEWS, 1):
        s.keys(str(view))
        check(s.see(text).isascii(), "view %d in ASCII" % view)
    s.end()


def run_in_pty(keys, term):
    """The raw bytes the program sends to its terminal until it ends; the keys are typed when its first screen is there."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(work)
        os.environ.update(TERM=term, LC_ALL="C.UTF-8", TTMEM_HOME=work + "/home2")
        if term == "no-such-terminal":  # ncurses itself forgets some bytes then
            os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        os.execv(TTMEM, [TTMEM])
    got, typed, end = b"", False, time.monotonic() + terminal.WAIT
    try:
        while True:
            if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
                os.kill(pid, signal.SIGKILL)  # the exit status tells
                break
            got += os.read(fd, 65536)
            if keys and not typed and b"quit" in got:
                typed = os.write(fd, keys) > 0
    except OSError:  # the terminal is closed: the program has ended
        pass
    status = os.waitpid(pid, 0)[1]
    os.close(fd)
    return os.waitstatus_to_exitcode(status), got


def test_hostile_log():
    """What the log holds of escape sequences never reaches the terminal."""
    with open(DATA + "/two_runs_oom_profile.log", "rb") as f:
        log = f.read()
    with open(work + "/evil.log", "wb") as f:
        f.write(log.replace(b"dot.1", b"dot\x1b]0;OWNED\x07\x1b[2J.1").replace(b"Out of Memory:", b"Out of Memory:\x1b]0;OWNED\x07"))
    s = Session()
    s.keep_bytes(work + "/sent")
    s.keys("1").type("evil.log").keys("Enter")
    s.see("Report › evil")
    for view, text in enumerate(VIEWS, 1):
        s.keys(str(view))
        s.see(text)
        if view == 2:
            for _ in range(3):
                s.keys("v")
                s.see("before #8 ttnn.softmax")
        if view in (3, 5):
            s.keys("j", "j", "j", "Enter") if view == 5 else s.keys("Enter")
            s.see("log line", "OWNED")  # the name is shown, without its escapes
            s.keys("q")
    s.keys("Q")
    s.see("ended with 0")
    with open(work + "/sent", "rb") as f:
        got = f.read()
    check(b"OWNED" in got, "what the program sent was kept")
    check(b"\x1b]0;" not in got and b"\x07" not in got and b"\x1b[2J." not in got, "an escape sequence of the log reached the terminal")
    s.end()


def test_no_terminal():
    plain = subprocess.run([TTMEM], stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, "TERM": "xterm"})
    check(plain.returncode == 2 and "On a terminal, ttmem alone" in plain.stderr and not plain.stdout, "no terminal")
    code, got = run_in_pty(b"", "dumb")
    check(code == 2 and b"Usage: ttmem" in got and b"\x1b" not in got, "TERM=dumb: %d %r" % (code, got[:80]))
    code, got = run_in_pty(b"", "no-such-terminal")
    check(code == 2 and b"TERM=xterm-256color ttmem" in got, "unknown TERM: %d %r" % (code, got[:200]))
    code, got = run_in_pty(b"q", "vt100")
    check(code == 0 and b"Where did the memory go?" in got, "a terminal without colours")


try:
    os.environ["TTMEM_HOME"] = work + "/home"
    shutil.copytree(DATA, work + "/data")
    open(work + "/data/empty.log", "w").close()
    with open(work + "/data/no_log.txt", "w") as f:
        f.write("nothing of the runtime in here\n")
    tmux = terminal.Tmux(work)
    for test in (test_no_terminal, test_log_to_server, test_views, test_script, test_script_with_arguments, test_script_that_is_recorded, test_guide, test_browse, test_other_commands, test_pictures, test_cores, test_folded_layers, test_typing_ahead, test_another_log_of_that_name, test_sizes,
                 test_ascii, test_hostile_log, test_capture, test_ranks_without_programs):
        try:
            test()
        except AssertionError as error:  # the others may still tell something
            failures.append(test.__name__)
            print("FAIL: %s, line %d: %s" % (test.__name__, error.__traceback__.tb_next.tb_lineno, error), file=sys.stderr)
finally:
    if tmux:
        tmux.close()
    shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if failures else 0)
