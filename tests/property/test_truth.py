#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates logs of every kind and compares what ttmem writes with what the generator knows.

TTMEM and GEN_LOG name the two programs. TTMEM_SEEDS=1,2,3 or 1-200 runs these seeds of --mix instead of the usual
cases, TTMEM_MIX="--ranks 1" with these options on top.
"""
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TTMEM = os.environ.get("TTMEM", "build/bin/ttmem")
GEN_LOG = os.environ.get("GEN_LOG", "build/release/bench/gen_log")
MEMORIES = ("DRAM", "L1", "L1_SMALL", "TRACE")
OOM_NUMBERS = (
    ("needed_per_bank_B", "needed"),
    ("free_per_bank_B", "free"),
    ("largest_free_block_B", "largest"),
    ("bank_size_B", "bank_size"),
)
SOURCE = re.compile(rb'"path":\s*"[^"]*",|"bytes":\s*\d+,(?=\s*"fingerprint")|"fingerprint":\s*(null|"[^"]*"),|^- Log: [^,]*', re.MULTILINE)
# Searching and comparing bytes is glibc's, which picks its form by the processor: this makes it take the portable one.
WITHOUT_AVX = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX2_Usable,-AVX512F_Usable,-AVX512VL_Usable,-AVX512BW_Usable"
FILES = ("memory", "operations", "inputs_registry", "findings")

SMALL = "--hidden 128 --vocab 300 --seq 40 --layers 2"
CASES = [
    f"{SMALL}",
    f"{SMALL} --kind blocks --zoo",
    f"{SMALL} --kind blocks --program-level --runs 3",
    f"{SMALL} --kind ops --zoo",
    f"{SMALL} --kind ops --program-level",
    f"{SMALL} --kind submit --runs 4",
    f"{SMALL} --program-level --zoo --board p150",
    f"{SMALL} --no-const-eval --zoo --graphs 2 --runs 4",
    f"{SMALL} --ranks 3 --zoo --noise 100",
    f"{SMALL} --ranks 2 --fail exhausted --fail-run 1 --runs 3 --continue --ci-time",
    f"{SMALL} --leak --runs 7",
    f"{SMALL} --leak --runs 3",
    f"{SMALL} --leak --runs 4",
    f"{SMALL} --leak --leak-uneven --runs 30",
    f"{SMALL} --leak --graphs 3 --requests 4 --runs 30",
    f"{SMALL} --leak --leak-graph 1 --graphs 3 --requests 4 --runs 30",
    f"{SMALL} --leak --leak-graph 2 --leak-uneven --graphs 2 --requests 3 --runs 30 --program-level",
    f"{SMALL} --leak --leak-graph 3 --graphs 3 --requests 2 --runs 40 --ranks 2",
    f"{SMALL} --graphs 3 --requests 4 --runs 30 --program-level",
    f"{SMALL} --fail fragmented --fail-copies 3 --noise 300 --bad-bytes",
    f"{SMALL} --fail impossible --fail-memory l1 --fail-era dependent",
    f"{SMALL} --fail exhausted --fail-era 2025 --fail-copies 3",
    f"{SMALL} --fail clash --fail-era 2024 --continue --runs 3",
    f"{SMALL} --fail overflow --crlf --glue",
    f"{SMALL} --fail fatal --fail-copies 3 --ansi never",
    f"{SMALL} --fail runtime",
    f"{SMALL} --trace --runs 3",
    f"{SMALL} --truncate op --runs 2",
    f"{SMALL} --truncate header --runs 1 --kind blocks",
    f"{SMALL} --truncate dram --runs 2",
    f"{SMALL} --truncate l1 --runs 1 --crlf",
    f"{SMALL} --devices 4 --weights bfp8 --tqdm --noise 50 --runs 3",
    "--no-free --operations 1500 --runs 1",
    "--one-run --operations 900 --runs 1 --zoo",
] + [f"--mix --seed {seed}" for seed in [*range(1, 21), 62, 253]]


class Case:
    """One log, its truth, and what does not agree."""

    def __init__(self, number, options, folder):
        self.options = options if "--seed" in options else f"{options} --seed {number + 1}"
        self.log = os.path.join(folder, f"case{number}.log")
        self.folder = folder
        self.name = f"case{number}"
        self.wrong = []
        truth = os.path.join(folder, f"case{number}.truth")
        command = [GEN_LOG, *shlex.split(self.options), "--truth-ops", "--out", self.log, "--truth", truth]
        subprocess.run(command, check=True)
        with open(truth, encoding="utf-8") as file:
            self.truth = json.load(file)

    def say(self, what, ours, theirs):
        self.wrong.append(f"{what}: ttmem says {ours!r}, the truth is {theirs!r}")

    def same(self, what, ours, theirs):
        if ours != theirs:
            self.say(what, ours, theirs)

    def milli(self, what, ours, theirs):
        """ours in MB, theirs in 0.001 MB."""
        if ours is None or round(ours * 1000) != theirs:
            self.say(what, ours, theirs / 1000)


def run_ttmem(case, log, out, *extra, stdin=None, env=None):
    command = [TTMEM, "analyze", log, "--output-dir", out, "--name", "t", "--quiet", *extra]
    done = subprocess.run(command, stdin=stdin, env=env, capture_output=True, check=False)
    if done.returncode or done.stderr or done.stdout:
        said = f"{done.stdout[:300]!r} {done.stderr[-1500:]!r}"
        case.wrong.append(f"{shlex.join(command)}: exit {done.returncode}, {said}")
    return done.returncode == 0


def read_reports(out):
    reports = {}
    for name in FILES:
        with open(os.path.join(out, f"t_{name}.json"), encoding="utf-8") as file:
            reports[name] = json.load(file)
    return reports


# ---- the reports against the truth ----

def check_input(case, f):
    t, i = case.truth, f["input"]
    for key in ("lines", "op_lines", "deallocations", "truncated", "bytes", "ranks"):
        same_if_told = key not in ("deallocations",) or t["has"]["ops"] or t["has"]["blocks"]
        if same_if_told:
            case.same(f"input.{key}", i[key], t[key])
    if not t["cut_blocks"]:
        case.same("input.blocks", i["blocks"], t["blocks"])
    for name in MEMORIES:
        if t["has"]["blocks"] or t["has"]["submit"]:
            ours, theirs = f["memory"][name], t["memory"][name]
            case.same(f"memory.{name}.banks", ours["banks"], theirs["banks"])
            case.milli(f"memory.{name}.capacity", ours["capacity_per_bank_MB"], theirs["capacity"])


def alignment_known(t):
    """Blackhole aligns pages differently; a bare list of operations does not say that it is one."""
    return t["board"] != "p150" or any(t["has"][key] for key in ("dumps", "blocks", "submit"))


def op_name(case, op):
    return op["mlir_op"] if case.truth["has"]["ops"] else op["op_type"]


def check_peaks(case, f):
    for name in MEMORIES:
        truth, ours = case.truth["peak"][name], (f.get("peak") or {}).get(name)
        if truth is None:
            case.same(f"peak.{name}", bool(ours and ours.get("allocated_per_bank_MB")), False)
            continue
        if case.truth["cut_blocks"] and ours:
            continue  # the cut block may hold the highest state
        case.milli(f"peak.{name}", ours["measured_per_bank_MB"], truth["allocated"])
        if ours["measured_is_lower_bound"]:  # operations without states come higher; test_mixed_logs.py knows how high
            case.same(f"peak.{name}: operations without states", case.truth["has"]["blocks"] and not case.truth["has"]["submit"], False)
            continue
        capacity = case.truth["memory"][name]["capacity"]
        if capacity:
            percent = 100 * truth["allocated"] / capacity
            if abs(ours["utilization_pct"] - percent) > 0.01:
                case.say(f"peak.{name}.utilization_pct", ours["utilization_pct"], percent)
        if not truth["allocated"] or truth["doubtful"]:
            continue
        if not truth["line"] <= ours["line"] <= truth["state_line"]:
            case.say(f"peak.{name}.line", ours["line"], truth["line"])
        cause = truth["caused_by"]
        if cause is None or ours["caused_by"] is None:
            case.same(f"peak.{name}.caused_by", ours["caused_by"], cause)
            continue
        if case.truth["has"]["ops"]:
            case.same(f"peak.{name}.caused_by.loc", ours["caused_by"]["loc"], cause["loc"])
        case.same(f"peak.{name}.caused_by.mlir_op", ours["caused_by"]["mlir_op"], op_name(case, cause))
        case.same(f"peak.{name}.caused_by.line", ours["caused_by"]["line"], cause["line"])
        case.milli(f"peak.{name}.caused_by.effect_MB", ours["caused_by"]["effect_MB"], cause["effect"])


def check_incidents(case, f):
    t, ours = case.truth, f["incidents"]
    case.same("incidents", [(i["kind"], i["line"]) for i in ours], [(i["kind"], i["line"]) for i in t["incidents"]])
    if len(ours) != len(t["incidents"]):
        return
    for o, i in zip(ours, t["incidents"]):
        where = f"incident in line {i['line']}"
        case.same(f"{where}: text", o["text"].rstrip("."), i["text"].rstrip("."))
        # Older messages lack the numbers; the last state before them may still tell.
        if i["verdict_told"] or o["verdict"] is not None:
            case.same(f"{where}: verdict", o["verdict"], i["verdict"])
        if i["kind"] != "fatal":
            case.same(f"{where}: memory", o["memory"], i["memory"])
        if i["kind"] == "oom":
            for key, truth_key in OOM_NUMBERS:
                case.same(f"{where}: {key}", o[key], i[truth_key])
            if i["largest"] is not None:
                accepted = {i["needed"] - i[room] for room in ("bank_size", "free", "largest")}
                if o["shortfall_per_bank_B"] not in accepted:
                    case.say(f"{where}: shortfall", o["shortfall_per_bank_B"], sorted(accepted))
        if not t["has"]["ops"]:
            continue
        if o["operation"] is None:
            case.say(f"{where}: operation", None, i["operation"])
            continue
        for key in ("mlir_op", "loc"):
            case.same(f"{where}: operation.{key}", o["operation"][key], i["operation"][key])


def check_runs(case, f):
    t = case.truth
    if not t["has"]["ops"] and not t["has"]["submit"]:
        return  # nothing in such a log tells runs apart
    ours = {(r.get("rank", 0), r["run"]): r for r in f["runs"]}
    theirs = {(r["rank"], r["run"]): r for r in t["runs"]}
    case.same("runs", sorted(ours), sorted(theirs))
    for key in sorted(set(ours) & set(theirs)):
        o, r = ours[key], theirs[key]
        if t["has"]["ops"]:
            case.same(f"run {key}: program", o["program"], r["program"])
        if "start" not in r or t["cut_blocks"]:
            continue
        case.milli(f"run {key}: start_MB", o["start_MB"], r["start"]["DRAM"])
        after = t["has"]["submit"] and r["finished"]
        end = r["end"] if after or "next" not in r else r["next"]
        if not r["failed"]:
            case.milli(f"run {key}: end_MB", o["end_MB"], end["DRAM"])
            case.milli(f"run {key}: peak_MB", o["peak_MB"], max(r["peak"]["DRAM"], end["DRAM"] if after else 0))


def check_leaks(case, f):
    t = case.truth
    suspects = [s for s in f["statements"] if s["id"] == "leak.suspected"]
    if t["leak"] is None:
        case.same("leaks", f["leaks"], [])
        case.same("leaks that are suspected", suspects, [])
        return
    if t["has"]["submit"] and not t["has"]["ops"]:
        return
    runs = [r for r in t["runs"] if r["rank"] == 0]
    whole = not t["incidents"] and not t["truncated"] and t["has"]["ops"] and t["has"]["blocks"]
    if not whole:
        return
    if t["graphs"] > 1 or t["leak"]["uneven"]:
        for leak in f["leaks"]:
            case.same("leak: operation", (leak["mlir_op"], leak["loc"]), (t["leak"]["mlir_op"], t["leak"]["loc"] or None))
        if len(runs) >= 30 and not f["leaks"] and not suspects:
            case.say("leaks", [], t["leak"])
        return
    if len(runs) < 5:
        if len(runs) > 2 and t["leak"]["per_run"] * 900 > max(r["start"]["DRAM"] for r in runs):
            case.same("leaks that are suspected", len(suspects), 1)
        return
    if len(f["leaks"]) != 1:
        case.say("leaks", f["leaks"], t["leak"])
        return
    leak = f["leaks"][0]
    if abs(leak["per_run_MB"] * 1000 - t["leak"]["per_run"]) > 2:
        case.say("leak per run", leak["per_run_MB"], t["leak"]["per_run"] / 1000)
    case.same("leak: operation", (leak["mlir_op"], leak["loc"]), (t["leak"]["mlir_op"], t["leak"]["loc"] or None))


def check_memory_element(case, m, op):
    t, where = case.truth, f"operation in line {op['line']}"
    case.same(f"{where}: mlir_op", m["mlir_op"], op_name(case, op))
    case.same(f"{where}: rank", m["rank"], op["rank"])
    if op["state"]:
        case.same(f"{where}: op_type", m["op_type"], op["op_type"])
        for name in MEMORIES:
            state = (m["memory"] or {}).get(name) or {}
            case.milli(f"{where}: memory.{name}", state.get("totalBytesAllocatedPerBank_MB"), op["state"][name])
    if not op["failed"] and not t["cut_blocks"]:
        for name in MEMORIES:
            effect = (m["effect_MB"] or {}).get(name)
            if op["effect"] is None:
                case.same(f"{where}: effect_MB.{name}", effect, None)
            else:
                case.milli(f"{where}: effect_MB.{name}", effect, op["effect"][name])
    if not t["has"]["ops"]:
        return
    for key in ("loc", "program", "run", "const_eval_graph"):
        case.same(f"{where}: {key}", m[key], op[key])
    if op["const_eval_graph"]:
        case.same(f"{where}: const_eval_cache_miss", m["const_eval_cache_miss"], True)
    if op["failed"] or t["trace"] or "live" not in op or not alignment_known(t):
        return
    for name in ("DRAM", "L1"):
        u = m["unpadded_memory"][name]
        ours = (u["unpadded_bytes"], u["padded_bytes"], u["num_tensors"])
        # load_cached on a miss: before its program ran, or after it.
        sums = (op["live"][name], op["live_at_line"][name])
        accepted = [(s["logical"], s["stored"], s["n"]) for s in sums]
        if ours not in (accepted if op["mlir_op"] == "ttcore.load_cached" else accepted[:1]):
            case.say(f"{where}: live {name} (logical, stored, tensors)", ours, accepted[0])


def check_operation_element(case, o, op, names, calls):
    t, where = case.truth, f"operation in line {op['line']}"
    for key in ("result", "mlir_op", "inputs", "attributes", "loc"):
        case.same(f"{where}: {key}", o[key], op[key])
    case.same(f"{where}: output_shapes", o["output_shapes"], [r["shape"] or None for r in op["results"]])
    case.same(f"{where}: number of output_dtypes", len(o["output_dtypes"]), len(op["results"]))
    for ours, result in zip(o["output_dtypes"], op["results"]):
        if not result["dtype"].startswith("bfp"):  # those are printed as the tile, or as bf16
            case.same(f"{where}: output_dtypes", ours, result["dtype"])
    if len(op["results"]) == 1 and op["results"][0]["memory"] != "NONE":
        layout, result = o["output_layout_info"], op["results"][0]
        if layout is None:
            case.say(f"{where}: output_layout_info", None, result)
        else:
            case.same(f"{where}: unpadded_bytes", layout["unpadded_bytes"], result["logical"])
            if alignment_known(t):
                case.same(f"{where}: padded_bytes", layout["padded_bytes"], result["stored"])
            # A log without blocks may not say how many banks there are.
            if t["has"]["blocks"] and "bytes_per_bank" in layout and result["memory"] != "HOST":
                case.same(f"{where}: bytes_per_bank", layout["bytes_per_bank"], result["bank"])
    if not t["has"]["dumps"]:
        return
    ours = sorted(w["name"] for w in o["weights"])
    theirs = sorted(names[op["graph"], index] for index in op["weights"])
    # What was made of weights inside a const-eval program may stand for none, its own, or all that the program takes.
    call = (op["rank"], op["run"], op["const_eval_graph"])
    may = {names[op["graph"], index] for index in calls.get(call, op["weights"])}
    if ours != theirs and (op["weights_exact"] or not set(ours) <= may):
        case.say(f"{where}: weights", ours, theirs)


def check_operations(case, reports):
    t = case.truth
    elements, texts = reports["memory"]["operations"], reports["operations"]
    truth = [op for op in t["operations"] if op["reported"]]
    case.same("metadata.total_operations", reports["memory"]["metadata"]["total_operations"], len(truth))
    case.same("number of elements", (len(elements), len(texts)), (len(truth), len(truth)))
    if not t["has"]["ops"] and not t["has"]["blocks"]:
        return
    case.same("lines of operations", [m["line"] for m in elements], [op["line"] for op in truth])
    names = {(e["graph"], e["index"]): e["name"] for e in t["registry"]}
    loads = [op for op in truth if op["mlir_op"] == "ttcore.load_cached"]
    calls = {(op["rank"], op["run"], op["inputs"][0][1:]): op["weights"] for op in loads}
    for index, (m, o, op) in enumerate(zip(elements, texts, truth)):
        case.same("index", (m["index"], o["index"]), (index, index))
        check_memory_element(case, m, op)
        if t["has"]["ops"]:
            check_operation_element(case, o, op, names, calls)
        if len(case.wrong) > 12:
            return


def check_registry(case, registry):
    t = case.truth
    if not t["has"]["dumps"]:
        return
    entries = [e for e in registry["entries"] if not e.get("repeated")]
    known = {}
    for e in t["registry"]:  # two graphs may happen to take an input of the same name and shape
        known.setdefault((e["name"], e["type"], e["shape"], e["dtype"]), e)
    case.same("registry: number of entries", len(entries), len(known))
    for ours, theirs in zip(entries, known.values()):
        for key in ("ssa", "name", "type", "dtype", "bytes"):
            case.same(f"registry {theirs['ssa']}: {key}", ours[key], theirs[key])
        # On a mesh the shape may be the whole one or the device's; the bytes are the device's.
        if ours["shape"] not in (theirs["shape"], theirs["whole_shape"]):
            case.say(f"registry {theirs['ssa']}: shape", ours["shape"], theirs["shape"])
    case.same("registry entries", len(entries), len(known))
    case.same("total_weight_bytes", registry["metadata"]["total_weight_bytes"], t["weight_bytes"])


def check_llm(case, findings):
    done = subprocess.run([TTMEM, "--llm", "--logfile", case.log], capture_output=True, check=False)
    text = done.stdout.decode("utf-8", "replace")
    quote = next((line for line in text.splitlines() if line.startswith("> ")), "")
    if done.returncode or done.stderr or not text.startswith("# Memory Profile: "):
        case.wrong.append(f"--llm: exit {done.returncode}, {done.stderr[-800:]!r}, begins with {text[:80]!r}")
        return
    t = case.truth
    if t["cut_blocks"]:
        return
    told = {key: number.replace(",", "") for key, number in re.findall(r"([A-Z][\w ]*): ([\d,.]+)", quote)}
    case.same("--llm: Ops", told.get("Ops"), str(t["reported"]))
    if t["peak"]["DRAM"]:
        case.same("--llm: Peak DRAM", told.get("Peak DRAM"), f"{findings['peak']['DRAM']['allocated_per_bank_MB']:.1f}")
        case.same("--llm: Peak L1", told.get("Peak L1"), f"{findings['peak']['L1']['allocated_per_bank_MB']:.2f}")
    if t["has"]["dumps"]:
        case.same("--llm: Weights", told.get("Weights"), f"{t['weight_bytes'] / 2**20:.1f}")


# ---- the same log in other clothes ----

def without_input(folder):
    """All files as bytes, but for where the log came from."""
    contents = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            contents[name] = SOURCE.sub(b"", file.read())
    return contents


def check_same_from(case, base, what, log, *extra, stdin=None, env=None):
    out = os.path.join(case.folder, f"{case.name}.other")
    if run_ttmem(case, log, out, *extra, stdin=stdin, env=env):
        ours = without_input(out)
        for name in base:
            if name.endswith(".html") and not log.endswith(".log"):
                continue  # the page names its log inside its packed data
            if ours.get(name) != base[name]:
                case.wrong.append(f"{name} differs when the log comes {what}")
    shutil.rmtree(out, ignore_errors=True)


def check_clothes(case, base):
    for threads in ("1", "2", "4"):
        check_same_from(case, base, f"with --threads {threads}", case.log, "--threads", threads)
    check_same_from(case, base, "to a processor without AVX", case.log, env=dict(os.environ, GLIBC_TUNABLES=WITHOUT_AVX))
    with open(case.log, "rb") as file:
        check_same_from(case, base, "on stdin", "-", stdin=file)
    packed = case.log + ".gz"
    with open(case.log, "rb") as source, gzip.open(packed, "wb", 1) as target:
        shutil.copyfileobj(source, target)
    check_same_from(case, base, "as .gz", packed)
    os.remove(packed)
    if shutil.which("zstd"):
        packed = case.log + ".zst"
        subprocess.run(["zstd", "-q", "-f", case.log, "-o", packed], check=True)
        check_same_from(case, base, "as .zst", packed)
        os.remove(packed)


def check(number, options, folder, clothes):
    case = Case(number, options, folder)
    out = os.path.join(folder, f"{case.name}.out")
    if run_ttmem(case, case.log, out):
        reports = read_reports(out)
        findings = reports["findings"]
        check_input(case, findings)
        check_peaks(case, findings)
        check_incidents(case, findings)
        check_runs(case, findings)
        check_leaks(case, findings)
        check_registry(case, reports["inputs_registry"])
        check_operations(case, reports)
        if clothes:
            check_llm(case, findings)
            check_clothes(case, without_input(out))
    shutil.rmtree(out, ignore_errors=True)
    if case.wrong:
        print(f"FAIL {GEN_LOG} {case.options} --truth-ops --out x.log --truth x.json &&")
        print(f"      {TTMEM} analyze x.log --output-dir out --name t")
        for wrong in case.wrong[:12]:
            print(f"     {wrong[:700]}")
        if len(case.wrong) > 12:
            print("     and more")
    os.remove(case.log)
    return not case.wrong


def chosen_cases():
    seeds = os.environ.get("TTMEM_SEEDS")
    if not seeds:
        return CASES
    numbers = []
    for part in seeds.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    extra = os.environ.get("TTMEM_MIX", "")
    return [f"--mix {extra} --seed {seed}" for seed in numbers]


def main():
    cases = chosen_cases()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, options in enumerate(cases):
            failures += not check(number, options, folder, clothes=number % 5 == 0)
    print(f"{len(cases) - failures} of {len(cases)} logs agree with their truth")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
