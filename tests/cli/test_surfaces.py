#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every surface says the same: the statements of findings.json are what the one screen, `ask --findings`, `--llm`, `explain` and `analyze --check`
print, word for word, and nothing else is concluded there. On logs with planted causes, the demo and every real sample."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TTMEM, GEN_LOG, SOURCE = os.environ["TTMEM"], os.environ["GEN_LOG"], os.environ["TTMEM_SOURCE"]
SHARED = os.environ.get("TTMEM_SHARED", os.path.join(SOURCE, "..", "shared"))
SCREEN = 23  # rows: a terminal of 24 with the prompt below
SMALL = ["--seed", "7"]
LOGS = {
    "leak": ["--runs", "8", "--layers", "8", "--leak", "--upcast", "--odd-layer", "5"],
    "leaks": ["--runs", "8", "--layers", "4", "--leak", "--leak-more", "1"],
    "late": ["--runs", "3", "--layers", "8", "--late", "--seq", "4096", "--no-const-eval"],
    "fragmented": ["--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"],
    "exhausted": ["--runs", "2", "--fail", "exhausted", "--fail-run", "1", "--fail-copies", "3"],
    "clash": ["--runs", "2", "--fail", "clash", "--fail-run", "1"],
    "clean": ["--runs", "5", "--layers", "4", "--ranks", "2"],
    "zoo": ["--runs", "3", "--zoo"],
    "blocks": ["--runs", "3", "--kind", "blocks"],
    "ops": ["--runs", "3", "--kind", "ops"],
}
# What must be found in them: else the surfaces could agree on nothing at all.
PLANTED = {
    "leak": lambda f: len(f["leaks"]) == 1 and len(f["layers"]["odd"]) == 1 and "no_upcast" in kinds(f["fixes"]) and "leak.run" in ids(f),
    "leaks": lambda f: len(f["leaks"][0]["culprits"]) == 2 and "stop_leak" in kinds(f["fixes"]),
    "late": lambda f: len(f["late_frees"]["tensors"]) == 1 and "late.free" in ids(f),
    "fragmented": lambda f: "oom.fragmented" in ids(f) and f["fixes"] and f["fragmentation"]["worst"]["pct"] > 50
    and f["fragmentation"]["largest_request"]["states_that_would_refuse_it"],
    "exhausted": lambda f: "oom.insufficient" in ids(f) and f["fixes"] and "peak.in-operation" in ids(f),
    "clash": lambda f: f["statements"][0]["id"] == "l1.overlap" and "ttnn.zeros pressure|zeros.0" in f["statements"][0]["detail"]
    and [s["id"] for s in f["statements"] if s["topic"] == "peak"][:2] == ["peak.l1", "peak.dram"] and "ttnn.zeros pressure|zeros.0" in f["fixes"][0]["text"] and [w["operation"]["loc"] for w in f["incidents"][0]["in_the_way"]] == ["pressure|zeros.0"],
    "clean": lambda f: "leak.none" in ids(f) and "failure.none" in ids(f) and "late.none" in ids(f) and f["layers"]["count"] == 4,
    "zoo": lambda f: not f["leaks"] and "failure.none" in ids(f) and "alive.dram" in ids(f),
    "blocks": lambda f: f["input"]["kind"] == "blocks" and "late.unknown" in ids(f) and f["fragmentation"],
    "ops": lambda f: f["input"]["kind"] == "ops" and "late.unknown" in ids(f) and f["layers"]["count"] == 4,
}
TITLES = ["Failure", "Fixes", "Whole program", "Peak", "Live tensors at the peak", "Growth", "Freed late", "Fragmentation", "Waste at the peak", "Padding", "Runs",
          "Layers", "L1 of the fullest core", "Traces", "Host memory", "Log"]
LABELS = ["Failure", "Need", "Fixes", "Fix", "Peak", "Added by", "Live", "Held by", "Growth", "Late", "Fragments", "Waste", "Padding", "Runs", "Layers", "Unknown",
          "L1 core", "Tests", "Traces", "Host", "Input"]
failures = []


def kinds(rows):
    return [row["kind"] for row in rows]


def ids(f):
    return [s["id"] for s in f["statements"]]


def check(ok, name, what, text=""):
    if not ok:
        failures.append(name)
        print("FAIL: %s: %s in\n%s" % (name, what, text[:6000]), file=sys.stderr)


def run(*args, ok=(0,), both=False):
    done = subprocess.run([TTMEM, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT if both else subprocess.PIPE, text=True, errors="replace")
    if done.returncode not in ok:
        raise SystemExit("ttmem %s: exit %d\n%s" % (" ".join(args), done.returncode, done.stderr))
    return done.stdout


def flat(text):
    return " ".join(text.split())


def unescaped(markdown):
    return flat(re.sub(r"\\([|`<\\])", r"\1", markdown))


def mb(x):
    """Megabytes as every surface shows them."""
    if x == 0:
        return "0"
    if abs(x) < 999.95:
        return "%.*f" % (1 if abs(x) >= 99.995 else 2 if abs(x) >= 0.9995 else 3, x)
    return format(round(x, 1), ",.1f")


def texts_of(f):
    """Every sentence a surface may show, longest first."""
    out = []
    for s in f["statements"]:
        out += [s["headline"], s.get("detail", "")] + [p["text"] for p in s.get("points", [])]
    out += [fix[key] for fix in f["fixes"] for key in ("text", "paste") if key in fix]
    return sorted({flat(t) for t in out if t}, key=len, reverse=True)


def rest_of(text, f):
    """What is left of a text when the statements are taken out of it."""
    text = flat(text)
    for sentence in texts_of(f):
        text = text.replace(sentence, "\0")
    return text


def unread(f):
    """Whether memory lines went unread, in a log that is damaged or torn."""
    return any("memory line" in p["text"] or "ends early" in p["text"] for s in f["statements"] if s["id"] == "input" for p in s.get("points", []))


def check_numbers(name, f):
    """The sentences against the figures beside them."""
    by_id = {}
    for s in f["statements"]:
        by_id.setdefault(s["id"], []).append(s)
    peak = f["peak"]["DRAM"]
    if peak and "peak.dram" in by_id and f["memory"]["DRAM"]["capacity_per_bank_MB"]:
        has = by_id["peak.dram"][0]["headline"]
        said = re.match(r"DRAM peak (?:≥ )?([\d,.]+) of ", has)
        check(has.startswith("DRAM peak ≥") == peak["lower_bound"] == (f["input"]["kind"] == "capture" and "recording" not in f or unread(f)), name, "lower bound", has)
        check(said and abs(float(said.group(1).replace(",", "")) - peak["allocated_per_bank_MB"]) < 0.051, name, "peak", has)
    for memory, sid in (("DRAM", "peak.consumers"), ("L1", "peak.consumers-l1")):
        rows = f["top_consumers"][memory]
        points = by_id.get(sid, [{}])[0].get("points", [])
        check([p["per_bank_MB"] for p in points] == [r["total_MB"] for r in rows], name, "consumers of " + memory, json.dumps(points))
        for point, row in zip(points, rows):
            check(row["name"] in point["text"] or len(row["name"]) > 50 or row["name"] == "N/A" or "\\u" in json.dumps(row["name"]), name, "name of a consumer",
                  json.dumps([point, row]))
            check(not row["members"] or abs(max(m["effect_MB"] for m in row["members"]) - row["effect_MB"]) < 0.0015 or row["runs"] > 1, name, "members",
                  json.dumps(row))
    alive = f["live_at_peak"].get("DRAM")
    if alive and "alive.dram" in by_id:
        points = by_id["alive.dram"][0]["points"]
        for point, group in zip(points[:20], alive["groups"]):
            check(abs(point["per_bank_MB"] - group["per_bank_MB"]) < 1e-9, name, "live tensors", json.dumps([point, group]))
        total = sum(g["per_bank_MB"] for g in alive["groups"])
        check(len(alive["groups"]) == 512 or abs(total - sum(alive["classes"].values())) < 0.01, name, "groups add up to the classes", "")
    for leak, s in zip(f["leaks"], by_id.get("leak.run", [])):
        check(re.search(r"by [\d.,]+ K?B|by %s" % re.escape(mb(leak["per_run_MB"])), s["headline"]) and "seen %d times" % leak["runs_seen"] in s["headline"], name, "leak", s["headline"])
    for fix in f["fixes"]:
        rest = ", the rest predicted" * (fix.get("rest") == "predicted")
        check(fix["text"].endswith("(%s%s)" % (fix["verified"], rest)), name, "how far a fix was tried", fix["text"])
    for s in f["statements"]:
        for word in re.findall(r"(\d[\d,.]*) %", s["headline"]):
            check(float(word.replace(",", "")) <= 100 or "on top of" in s["headline"], name, "a percentage above 100", s["headline"])
        check(s["headline"] and "  " not in s["headline"] and not s["headline"].endswith("."), name, "headline", s["headline"])
        check("0.000 MB" not in s["headline"], name, "nothing is no finding", s["headline"])


def check_screen(name, text, f):
    lines = text.splitlines()
    long = any(len(s.get("detail", "")) > 500 or len(s.get("points", [])) > 2 for s in f["statements"] if s["topic"] in ("input", "failure"))
    several = sum(s["topic"] == "failure" for s in f["statements"]) > 1
    check(len(lines) <= SCREEN or long or several or f["input"]["kind"] != "full", name, "%d lines" % len(lines), text)
    too_wide = [line for line in lines if len(line) > 80 and line.split()[0] not in ("Report", "Next", "Log") and " " in line[10:].strip()]
    check(not too_wide, name, "too wide: %r" % too_wide, text)
    body = re.sub(r"^(Log|Report|Next) .*(\n {10}(/|--findings).*)*", "", text, flags=re.M)
    body = re.sub(r"^(DRAM|L1|L1_SMALL|TRACE|HOST) +[^ A-Za-z]+ .*", "", body, flags=re.M)
    left = rest_of(body, f)
    left = re.sub(r"[\d,.]+ MB \0|\((estimated|predicted)\)|, (?:memory )?predicted|and \d+ more|\0", " ", left)
    for label in LABELS:
        left = re.sub(r"(^|\s)%s(?=\s|$)" % label, " ", left)
    left = re.sub(r"[\d.,]+ (B|KB|MB|GB), [\d,]+ lines?,|[\d,]+ operations?|(in|on) [\d,]+ (runs?|ranks?|devices?)", " ", left)
    check(not left.strip() or name.startswith("wide"), name, "said by nobody else: %r" % left.strip(), text)
    shown = flat(text)
    failed = [s for s in f["statements"] if s["severity"] == "failure"]
    for s in failed[:3]:
        check(flat(s["headline"]) in shown, name, "missing %r" % s["headline"], text)
    if not any(i["kind"] == "oom" for i in f["incidents"]):  # another error is not about room
        check(not any("what failed" in fix["text"] for fix in f["fixes"]), name, "a fix of what did not fail", json.dumps(f["fixes"]))
    for fix in f["fixes"][:1]:
        check(flat(fix["text"]) in shown, name, "missing %r" % fix["text"], text)


def check_full(name, text, f):
    headings = [line for line in text.splitlines() if line and not line.startswith(" ") and not line.startswith("And ")]
    check(headings == [t for t in TITLES if t in headings], name, "headings %r" % headings, text)
    shown = flat(text)
    most = {}
    for s in f["statements"]:
        most[s["topic"]] = most.get(s["topic"], 0) + 1
        if most[s["topic"]] > 20:
            continue
        for sentence in [s["headline"], s.get("detail", "")] + [p["text"] for p in s.get("points", [])]:
            check(flat(sentence) in shown, name, "missing %r" % sentence, text)
    for fix in f["fixes"]:
        check(flat(fix["text"]) in shown and flat(fix.get("paste", "")) in shown, name, "missing %r" % fix, text)
    left = re.sub(r"\((derived|estimated|predicted)\)|[\d,.]+ \0|•|\0|[.:]|And \d+ more", " ", rest_of(text, f))
    for title in sorted(TITLES, key=len, reverse=True):
        left = left.replace(title, " ")
    check(not left.strip(), name, "said by nobody else: %r" % left.strip(), text)


def check_llm(name, text, f):
    shown = unescaped(text)
    for s in f["statements"]:
        if s["id"].startswith("peak.consumers") or (s["topic"] in ("runs", "input") and s["severity"] != "failure"):
            continue
        if s["topic"] == "padding" and s["severity"] == "ok":
            continue
        check(flat(s["headline"]) in shown, name, "--llm lacks %r" % s["headline"], text)
    for fix in f["fixes"]:
        check(flat(fix["text"]) in shown, name, "--llm lacks %r" % fix["text"], text)
        check(fix.get("paste", "") in text.replace("\n  ", "\n"), name, "--llm lacks %r" % fix.get("paste"), text)
    for row in f["top_consumers"]["DRAM"]:
        check("| %s |" % mb(row["total_MB"]) in text, name, "--llm: consumer of %s MB" % mb(row["total_MB"]), text)


def check_explain(name, log, f):
    failed = [s for s in f["statements"] if s["severity"] == "failure" and s["id"] != "weights.exceed-dram"]
    if not failed:
        return
    shown = flat(run("explain", log, ok=(0, 1)))
    for s in failed[:20]:
        check(flat(s["headline"]) in shown, name, "explain lacks %r" % s["headline"], shown)
        for fix in s.get("fixes", []):
            check(flat(fix["text"]) in shown and flat(fix.get("paste", "")) in shown, name, "explain lacks %r" % fix, shown)


def check_judgement(name, log, f):
    said = run("analyze", log, "--no-json", "--check", ok=(0, 1, 2), both=True)
    for s in f["statements"]:
        if s["severity"] == "failure" or s["id"] == "leak.run":
            check(flat(s["headline"]) in flat(said), name, "--check lacks %r" % s["headline"], said)


def check_fit(name, log, f):
    """Other boards: the table and its sentences are those of --json; what does not fit where it failed is named as the failure is."""
    fit = json.loads(run("fit", log, "--json"))
    text = run("fit", log)
    shown = flat(text)
    for board in fit["boards"]:
        row = re.search(r"^%s +(yes|no|\?) +(>= |≥ |)([\d,.]+) +([\d,.]+) " % board["board"], text, re.M)
        check(row and row.group(1) == {True: "yes", False: "no", None: "?"}[board["fits"]] and bool(row.group(2)) == board["peak_dram_is_lower_bound"]
              and row.group(3) == mb(board["peak_dram_per_bank_B"] / 2**20), name, "row of %s" % board["board"], text)
        check((board["statement"] == "fit.fits") == bool(board["fits"]), name, "statement of %s" % board["board"], json.dumps(board))
        check(board["fits"] is not None or board["why_unknown"], name, "why unknown on %s" % board["board"], json.dumps(board))
        if not board["fits"]:
            check(flat(board["headline"]) in shown and flat(board["detail"] or "") in shown, name, "fit lacks %r" % board["headline"], text)
        peak = f["peak"]["DRAM"]
        if peak and peak["banks"] == board["dram_banks"] and not f["incidents"] and not peak["devices"] and board["fits"] is not False:  # one number for one question
            apart = abs(board["peak_dram_per_bank_B"] / 2**20 - peak["allocated_per_bank_MB"])
            check(apart <= 0.002 + peak["allocated_per_bank_MB"] / 100, name, "fit and analyze have other peaks", json.dumps([board, peak]))
        advised = re.search(r"Use a %s: about ([\d,.]+) of " % board["board"], " ".join(fix["text"] for fix in f["fixes"]))
        if advised:  # the same question, asked of the report
            apart = abs(board["peak_dram_per_bank_B"] / 2**20 / float(advised.group(1).replace(",", "")) - 1)
            check(apart <= 0.02, name, "fit and the fix have other peaks on %s" % board["board"], json.dumps([board, advised.group(0)]))
    for key in ("headline", "detail"):
        check(flat(fit["confidence"][key]) in shown, name, "fit lacks %r" % fit["confidence"][key], text)
    check(not [line for line in text.splitlines() if len(line) > 80], name, "too wide", text)


def check_graph(name, log, f):
    capture = json.loads(run("graph", log, "--json"))["captures"][0]
    for form, shown in (("graph", flat(run("graph", log))), ("graph --md", unescaped(run("graph", log, "--md")))):
        for sentence in [p["text"] for p in capture["pitfalls"]] + [s["headline"] for s in f["statements"] if s["topic"] == "l1_core"]:
            check(flat(sentence) in shown, name, "%s lacks %r" % (form, sentence), shown)


def check_log(name, log, work):
    folder = os.path.join(work, name)
    screen = run("analyze", log, "--name", "r", "--output-dir", folder)
    with open(os.path.join(folder, "r_findings.json"), encoding="utf-8") as file:
        f = json.load(file)
    check_numbers(name, f)
    check_screen(name, screen, f)
    check_full(name, run("ask", log, "--findings"), f)
    check_llm(name, run("--llm", "--logfile", log), f)
    check_explain(name, log, f)
    check_judgement(name, log, f)
    if f["input"]["kind"] in ("full", "ops"):
        check_fit(name, log, f)
    if f["input"]["kind"] == "capture":
        check_graph(name, log, f)
    return f


def check_diff(work):
    """Two logs side by side: text, markdown and JSON say the same."""
    before, after = os.path.join(work, "clean.log"), os.path.join(work, "leak.log")
    d = json.loads(run("diff", before, after, "--json"))
    check("diff.worse" in ids(d) and "diff.fails-after" in ids(d), "diff", "not what was planted", json.dumps(d["statements"], indent=1))
    for name, shown in (("diff", flat(run("diff", before, after))), ("diff --md", unescaped(run("diff", before, after, "--md")))):
        for s in d["statements"]:
            check(flat(s["headline"]) in shown, name, "lacks %r" % s["headline"], shown)
        for row in d["changed"]:
            check(mb(row["total_change_MB"]).lstrip("-") in shown, name, "lacks %s" % row, shown)


def samples():
    out = sorted(glob.glob(os.path.join(SOURCE, "demo", "llama*")))
    for pattern in ("xla/*.log", "xla/*.txt", "metal/*.json", "metal/ttnn-0.81.1/*", "answers/*/*.log"):
        out += sorted(glob.glob(os.path.join(SHARED, "samples", pattern)))
    return out


def main():
    read = 0
    with tempfile.TemporaryDirectory(prefix="ttmem-surfaces-") as work:
        for name, options in LOGS.items():
            log = os.path.join(work, name + ".log")
            subprocess.run([GEN_LOG, *SMALL, *options, "--out", log], check=True)
            f = check_log(name, log, work)
            check(PLANTED[name](f), name, "not what was planted", json.dumps(f["statements"], indent=1))
        check_diff(work)
        for n, log in enumerate(samples()):
            if subprocess.run([TTMEM, "analyze", log, "--no-json"], capture_output=True).returncode:
                continue  # refused with a reason: other tests look at that
            check_log("%d-%s" % (n, os.path.basename(log)), log, work)
            read += 1
    if not os.path.isdir(os.path.join(SHARED, "samples")):
        print("the real samples are not here: only the demo and generated logs were compared")
    print("%d generated logs and %d samples compared" % (len(LOGS), read))
    return 1 if failures else 0


sys.exit(main())
