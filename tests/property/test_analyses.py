#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The analyses against generated logs whose truth is known: what was planted is found, and nothing else is.

TTMEM and GEN_LOG name the two programs. TTMEM_SEEDS=1-200 runs these seeds of --mix for the live set instead of the usual ones.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

TTMEM = os.environ.get("TTMEM", "build/bin/ttmem")
GEN_LOG = os.environ.get("GEN_LOG", "build/release/bench/gen_log")
SMALL = "--hidden 128 --vocab 300 --seq 40 --layers 2"
ROUNDING = 0.0011  # MB per bank: two figures of the log
checks = 0


def check(condition, *what):
    global checks
    checks += 1
    if not condition:
        print("FAIL:", *what, file=sys.stderr)
        sys.exit(1)


def analyze(folder, options, source=None):
    """Findings and truth of a generated log."""
    log, truth = os.path.join(folder, "log"), os.path.join(folder, "truth.json")
    subprocess.run([GEN_LOG, *options.split(), "--out", log, "--truth", truth, "--truth-ops"], check=True)
    done = subprocess.run([TTMEM, "analyze", log, "-q", "-d", folder, "-n", "r"], capture_output=True, text=True)
    if done.returncode:
        return None, None
    with open(os.path.join(folder, "r_findings.json")) as file, open(truth) as known:
        return json.load(file), json.load(known)


def live_set(folder, options, least=99.0):
    findings, truth = analyze(folder, options)
    if findings is None:
        return
    for memory, live in findings["live_at_peak"].items():
        held, classes = live["allocated_per_bank_MB"], live["classes"]
        check(abs(held - findings["peak"][memory]["allocated_per_bank_MB"]) < ROUNDING, options, memory, "is not the peak")
        total = sum(classes.values()) - live["counted_twice_MB"]
        check(abs(total - held) < ROUNDING, options, memory, f"adds up to {total}, not {held}")
        rows = sum(row["per_bank_MB"] for row in live["rows"]) + live["other_rows_per_bank_MB"]
        check(abs(rows - sum(classes.values())) < ROUNDING, options, memory, "rows do not add up to the classes")
        if findings["peak"][memory]["measured_is_lower_bound"]:
            continue  # operations without states: who filled it before them is unknown
        # Each rank but the first starts with 3 MB that nobody explains (see the generator).
        planted = 3.0 * findings["peak"][memory].get("rank", 0) if memory == "DRAM" else 0
        if planted == 0 and "--ranks" in options or "--mix" in options:
            planted = round(classes["unaccounted_MB"] / 3) * 3.0
        known = live["explained_per_bank_MB"] + planted - live["counted_twice_MB"]
        check(held < 0.5 or known >= held * least / 100 - 2 * ROUNDING, options, memory, f"explains {known} of {held} MB")


def read_levels(folder):
    """Operations (program depth, run, text, line) and DRAM levels, read without ttmem; None instead of the operation at submit blocks."""
    depth, run, rows, op = 0, 0, [], None
    with open(os.path.join(folder, "log"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            message = line.rstrip("\n").split(" | ", 2)[-1]
            if message.startswith("Starting execution"):
                run += depth == 0
                depth += 1
            elif message.startswith("Finished execution"):
                depth -= 1
            elif message.startswith("Executing operation: "):
                op = (depth, run, message, number)
            elif message.startswith("Device memory state"):
                op = op if "before operation" in message else None
            elif message.startswith("Device DRAM memory state"):
                level = int(message.split("AllocatedPerBank: ")[1].split(" MB")[0].replace(".", ""))
                rows.append((op, level))
    return rows


def who_changed(op, following, change):
    # The last deallocation of a run frees what it names, and the generator's host frees nothing right behind it.
    if op is not None and op[0] == 1 and "ttnn.deallocate" in op[2] and change < 0:
        return "deallocated"
    if op is None or (following is None and change < 0) or (following and following[1] != op[1]):
        return "host"
    if op[0] > 1 and "trace" not in op[2]:
        return "const_eval"
    if "ttnn.deallocate" in op[2]:
        return "deallocated"
    return "operations" if change > 0 else "given_back"


def attribution(folder):
    """Every change goes to who made it; what a const-eval program leaves belongs to its load_cached."""
    for options in ("--runs 3", "--runs 3 --zoo --program-level", "--runs 4 --graphs 2", "--no-const-eval --runs 2"):
        found, _ = analyze(folder, f"{SMALL} --ansi never {options}")
        rows = read_levels(folder)
        parts = dict.fromkeys(("operations", "const_eval", "given_back", "deallocated", "host"), 0)
        whole = {}
        for i, ((op, level), (following, after)) in enumerate(zip(rows, rows[1:])):
            parts[who_changed(op, following, after - level)] += after - level
            if op and "ttcore.load_cached" in op[2] and op[0] == 1:
                whole[op[3]] = next(l for o, l in rows[i + 1:] if o is None or o[0] == 1) - level
        told = found["attribution"]
        check(abs(told["total_MB"] * 1000 - (rows[-1][1] - rows[0][1])) < 0.5, options, told, rows[-1], rows[0])
        total = sum(told[f"{part}_MB"] for part in parts)
        check(abs(total - told["total_MB"]) < 0.0005, options, "does not add up", told)
        for part, value in parts.items():
            check(abs(told[f"{part}_MB"] * 1000 - value) < 0.5, options, part, told, parts)
        for row in found["top_consumers"]["DRAM"]:
            if row["mlir_op"] == "ttcore.load_cached":
                check(abs(row["effect_MB"] * 1000 - whole[row["line"]]) < 0.5, options, row, whole[row["line"]])
                check(row["operations_inside"] > 0 and row["highest_inside_MB"] >= row["effect_MB"], options, row)
        best = max(whole.values(), default=0)
        loads = [row for row in found["top_consumers"]["DRAM"] if row["mlir_op"] == "ttcore.load_cached"]
        check(not best or loads and round(loads[0]["effect_MB"] * 1000) == best, options, "largest load_cached", best, loads)


def kv_cache(folder):
    """Arguments marked as KV cache are that; those that are only called so are a guess and said to be one."""
    for how, basis in (("marked", "derived"), ("named", "estimated")):
        for runs in ("", "--no-const-eval --fail fatal"):
            found, _ = analyze(folder, f"{SMALL} --seq 200 --kv-cache {how} {runs}")
            live = found["live_at_peak"]["DRAM"]
            rows = [row for row in live["rows"] if row["class"] == "kv_cache"]
            check(len(rows) == 2 and {row["basis"] for row in rows} == {basis}, how, rows)
            size = sum(row["per_bank_MB"] for row in rows)
            check(abs(live["classes"]["kv_cache_MB"] - size) < ROUNDING and live["explained_pct"] > 99, how, live["classes"])
            check(abs(live["kv_cache_by_name_MB"] - (size if how == "named" else 0)) < ROUNDING, how, live["kv_cache_by_name_MB"])
    found, _ = analyze(folder, SMALL)
    check(found["live_at_peak"]["DRAM"]["classes"]["kv_cache_MB"] == 0, "a KV cache that is none")


def late_frees(folder):
    """Freed four operations late in every layer of every run: found, and the peak without it is that of the log where it is not."""
    model = "--seq 1024 --vocab 1000 --hidden 512 --runs 3"
    late, _ = analyze(folder, f"{model} --late")
    clean, _ = analyze(folder, model)
    rows = late["late_frees"]["tensors"]
    check(len(rows) == 1 and rows[0]["made_by"]["loc"].endswith("Attn|scores.0"), "late free not found", rows)
    check(rows[0]["operations_late"] == 4 and rows[0]["times"] == 12, rows)
    peak = clean["peak"]["DRAM"]["allocated_per_bank_MB"]
    check(late["peak"]["DRAM"]["allocated_per_bank_MB"] > peak + 0.01, "the planted late free does not show in the peak")
    check(abs(late["late_frees"]["peak_if_freed_per_bank_MB"] - peak) < ROUNDING, "replayed peak", late["late_frees"])
    check(abs(rows[0]["peak_if_freed_per_bank_MB"] - peak) < ROUNDING, "derived peak", rows)
    check(late["late_frees"]["replay_agrees"] and rows[0]["replay_agrees"], "replay", late["late_frees"])
    fix = next((fix for fix in late["fixes"] if fix["kind"] == "free_earlier"), None)
    check(fix and fix["verified"] == "replayed" and abs(fix["peak_after_per_bank_B"] / 2**20 - peak) < ROUNDING, "the fix as it was tried", fix)
    check(not clean["late_frees"]["tensors"], "a late free that is none", clean["late_frees"])
    for seed in (1, 2, 3):  # the operations of other ranks between are nobody's delay
        woven, _ = analyze(folder, f"--runs 3 --ranks 4 --seed {seed}")
        check(not woven["late_frees"]["tensors"], "other ranks taken for lateness", seed, woven["late_frees"])


def trials(folder):
    """A trial that changes nothing comes to the peak of the log, whatever the log holds; each fix comes to its own peak again."""
    for seed in range(1, 13):
        found, _ = analyze(folder, f"--mix --seed {seed} --runs 4 --kind full")
        for change in ["batch=1", *(fix["change"] for fix in found["fixes"] if "change" in fix)]:
            done = subprocess.run([TTMEM, "verify", os.path.join(folder, "log"), "--change", change, "--json", "-q", "--allow-partial"], capture_output=True, text=True, check=False)
            check(done.returncode < 2, seed, change, done.stderr)
            dram = json.loads(done.stdout)["memories"]["DRAM"]
            wanted = [fix["peak_after_per_bank_B"] for fix in found["fixes"] if fix.get("change") == change]
            check(not wanted or dram["peak_after_per_bank_B"] in wanted or "L1" in str(found["incidents"]), seed, change, dram, wanted)
            highest = max(found["peak"]["DRAM"]["allocated_per_bank_MB"], *[(i["allocated_per_bank_B"] or 0) / 2**20 for i in found["incidents"]], 0)
            check(abs(dram["peak_before_per_bank_B"] / 2**20 - highest) < 4 * ROUNDING, seed, change, dram, highest)


def layers(folder):
    cases = [(3, 0, "end"), (12, 0, "end")] + [(12, odd, at) for odd in (1, 2, 7, 11, 12) for at in ("end", "middle", "start")]
    for count, odd, at in cases:
        found, _ = analyze(folder, f"{SMALL} --layers {count} --odd-layer {odd} --odd-at {at} --runs 2")
        block = found["layers"]
        check(block and block["operations"] == 16, count, odd, at, block)
        check(block["count"] == count - (odd > 0) and block["odd_count"] == (odd > 0), count, odd, at, block)
        check("layers.0|" in block["first"]["loc"] and f"layers.{count - 1}|" in block["last"]["loc"], odd, at, block)
        if odd:
            check(block["odd"][0]["layer"] == odd - 1 and block["odd"][0]["operations"] == 17, odd, at, block["odd"])
            check("clamp" in block["odd"][0]["differs"]["loc"], odd, at, block["odd"])
    # A run that dies inside a layer has no odd layer; a cut one neither.
    for options in ("--fail exhausted --layers 9", "--truncate op --layers 9 --no-const-eval --runs 1"):
        found, _ = analyze(folder, f"{SMALL} {options}")
        check(not found["layers"] or not found["layers"]["odd_count"], options, found["layers"])
    for options in ("--layers 1", "--layers 1 --zoo", "--layers 2"):
        found, _ = analyze(folder, f"{SMALL} {options}")
        check(found["layers"] is None, options, "is no repetition", found["layers"])


def wasted(found, kind):
    """The names of the wasteful tensors of a kind: layers are folded, each row has its members."""
    rows = [row for row in found["waste_at_peak"]["top"] if row["kind"] == kind]
    return {one["name"] for row in rows for one in row.get("members") or [row]}


def waste(folder):
    found, _ = analyze(folder, f"{SMALL} --layers 3 --vocab 40 --upcast")
    names = wasted(found, "f32_copy")
    wanted = {f"model.layers.{layer}.mlp.{part}_proj.weight" for layer in range(3) for part in ("gate", "up", "down")}
    check(names <= wanted and len(names) >= 6, "upcast weights", names)
    for options in ("", "--weights f32", "--weights bfp8"):
        found, _ = analyze(folder, f"{SMALL} {options}")
        check(not found["waste_at_peak"]["per_bank_MB"]["f32_copy"], options, "an upcast that is none")
    # Weights as the host gave them beside what const-eval made of them: every one is there twice.
    found, truth = analyze(folder, "--hidden 256 --vocab 400 --seq 64 --layers 2 --originals --runs 3")
    twice = wasted(found, "weight_twice")
    matrices = {entry["name"] for entry in truth["registry"] if entry["name"].endswith("_proj.weight")}
    check(matrices <= twice, "weights there twice", matrices - twice)
    check([row["kind"] for row in found["advice"]] == ["one_form"], "advice on weights there twice", found["advice"])
    found, _ = analyze(folder, "--hidden 256 --vocab 400 --seq 64 --layers 2 --originals --runs 3 --no-dumps")
    check(found["live_at_peak"]["DRAM"]["explained_pct"] > 99, "originals without a dump", found["live_at_peak"]["DRAM"]["classes"])
    # 300x32x1 in tiles: 300 tiles of 2048 B for 10 that are needed. 20000 rows of 4 B, each 32 B long, for 2500 that are full.
    for runs in (1, 3):
        found, _ = analyze(folder, f"--hidden 256 --vocab 400 --seq 64 --layers 2 --waste --no-const-eval --runs {runs}")
        top = {(row["kind"], row["made_by"]["loc"]): row for row in found["waste_at_peak"]["top"] if row["made_by"]}
        column, rows = top.get(("tile_padding", "waste|column")), top.get(("narrow_rows", "waste|rows"))
        check(column and column["better_shape"] == "300x32", top)
        check(abs(column["per_bank_MB"] - (25 - 1) * 2048 / 2**20) < 0.0001, column)
        check(rows and rows["better_shape"] == "2500x16" and abs(rows["per_bank_MB"] - (1667 - 209) * 32 / 2**20) < 0.0001, rows)
        told = {row["kind"]: row["text"] for row in found["advice"]}
        check("waste|column" in told.get("reshape", "") and "waste|rows" in told.get("wider_rows", ""), runs, found["advice"])
    found, _ = analyze(folder, "--hidden 256 --vocab 400 --seq 64 --layers 2 --no-const-eval")
    check(found["waste_at_peak"]["per_bank_MB"]["narrow_rows"] == 0, "narrow rows that are none")


def fragmentation(folder):
    found, _ = analyze(folder, "--fail fragmented --runs 1 --ansi never --fail-memory dram")
    x = found["fragmentation"]
    # The generator fills six places and frees the first, third and fifth: the other three stand between free blocks.
    pins = x["pinned_by"]["tensors"]
    check({pin["made_by"]["loc"] for pin in pins[:3]} == {f"pressure|zeros.{i}" for i in (1, 3, 5)}, "pinning tensors", pins)
    ways = {way["kind"]: way for way in found["incidents"][0]["ways"]}
    check(ways["move_pin"]["bytes"] >= found["incidents"][0]["needed_per_bank_B"], "a way out that is none", ways)
    # Without the pins the refused tensor fits: what is in the way really is.
    check(pins[0]["free_block_without_MB"] > found["incidents"][0]["largest_free_block_B"] / 2**20, pins)
    # The states that would have refused the largest request, counted from the log itself.
    request, refusing, worst = x["largest_request"], [], 0
    with open(os.path.join(folder, "log"), encoding="utf-8") as file:
        for line in file:
            if "Device DRAM memory state" not in line:
                continue
            free, largest = (float(line.split(f"{key}: ")[1].split(" MB")[0]) for key in ("totalBytesFreePerBank", "largestContiguousBytesFreePerBank"))
            worst = max(worst, free - largest)
            refusing.append(largest + 0.0005 < request["per_bank_MB"] <= free - 0.0005)
    check(request["states_that_would_refuse_it"] == sum(refusing) > 0, request, sum(refusing))
    check(len(request["states"]) == min(5, sum(refusing)) and request["states"][0]["line"] == request["first_line"], request)
    check(all(s["largest_free_block_MB"] < request["per_bank_MB"] <= s["free_per_bank_MB"] for s in request["states"]), request)
    check(abs(x["worst"]["free_per_bank_MB"] - x["worst"]["largest_free_block_MB"] - worst) < ROUNDING, x["worst"], worst)
    for options in ("", "--runs 5 --leak", "--board p150"):
        found, _ = analyze(folder, options)
        check(not found["fragmentation"]["pinned_by"]["tensors"], options, "pins on a clean log")
        check(not found["fragmentation"]["largest_request"]["states_that_would_refuse_it"], options, "refused on a clean log")


def leaks(folder):
    for runs in (6, 9):
        found, truth = analyze(folder, f"{SMALL} --leak --runs {runs}")
        check(len(found["leaks"]) == 1, found["leaks"])
        leak = found["leaks"][0]
        check(leak["loc"] == truth["leak"]["loc"] and leak["mlir_op"] == truth["leak"]["mlir_op"], leak)
        last = found["runs"][-1]
        room = found["memory"]["DRAM"]["capacity_per_bank_MB"] - last["start_MB"] - max(
            run["peak_MB"] - run["start_MB"] for run in found["runs"][1:])
        check(abs(leak["runs_until_full"] - room / leak["per_run_MB"]) <= 1, leak, room)
        programs = found["programs"]
        check(len(programs) == 1 and programs[0]["runs"] == runs and programs[0]["warm_up_runs"] == 1, programs)
    # Several operations, one of them in every layer: all are named, and their sizes add up.
    for layers in (1, 3):
        found, _ = analyze(folder, f"{SMALL} --layers {layers} --leak --leak-more 2 --runs 8")
        check(len(found["leaks"]) == 1, found["leaks"])
        leak = found["leaks"][0]
        named = {row["loc"]: row for row in leak["culprits"]}
        check(leak["confidence"] == "high" and len(named) == 3, leak)
        for what, tensors in (("kv_cache.append", 1), ("history.a", layers), ("history.b", layers)):
            row = next((row for loc, row in named.items() if what in loc), None)
            check(row and row["tensors_per_run"] == tensors, what, leak)
        total = sum(row["per_run_MB"] for row in leak["culprits"])
        check(abs(total - leak["per_run_MB"]) < 2 * ROUNDING, leak)
    for options in ("--runs 9", "--runs 9 --zoo", "--runs 8 --graphs 2", "--runs 9 --no-const-eval --binaries"):
        found, _ = analyze(folder, f"{SMALL} {options}")
        check(not found["leaks"], options, "a leak that is none", found["leaks"])


def rescue(folder):
    """Memory ends while the scores stand there past their last use: freeing them is a way out, known from other layers or an earlier run."""
    model = "--seq 512 --hidden 256 --layers 4 --vocab 300 --runs 3 --fail tight"
    for options in ("--late --fail-run 0", "--late --fail-run 1", "--late --fail-run 2 --board p150"):
        found, truth = analyze(folder, f"{model} {options}")
        ways = {way["kind"]: way for way in found["incidents"][0]["ways"]}
        check("free_earlier" in ways and "Attn|scores.2" in ways["free_earlier"]["text"], options, ways)
        check(ways["free_earlier"]["basis"] == "derived" and ways["free_earlier"]["bytes"] == truth["incidents"][0]["needed"], options, ways)
    # Freed in time, or in the first run with a single layer: nothing shows that somebody is past its use.
    for options in ("--fail-run 1", "--late --fail-run 0 --layers 1"):
        found, _ = analyze(folder, f"{model} {options}")
        check("free_earlier" not in {way["kind"] for way in found["incidents"][0]["ways"]}, options, found["incidents"][0]["ways"])


def samples(folder):
    """Real logs: no leak where there is none, and what is alive at the peak adds up."""
    shared = os.environ.get("TTMEM_SHARED", os.path.join(os.path.dirname(__file__), "../../../shared"))
    folder_of_samples = os.path.join(shared, "samples/xla")
    if not os.path.isdir(folder_of_samples):
        print("skipped: no samples at", folder_of_samples)
        return
    for number in ("02", "03", "05", "20", "21", "22"):
        logs = [log for log in glob.glob(os.path.join(folder_of_samples, f"{number}_*")) if not log.endswith(".json")]
        check(logs, number, "no such sample in", folder_of_samples)
        for log in logs:
            done = subprocess.run([TTMEM, "analyze", log, "-q", "-d", folder, "-n", "r"], capture_output=True, text=True)
            check(done.returncode == 0, log, done.stderr)
            with open(os.path.join(folder, "r_findings.json")) as file:
                found = json.load(file)
            check(not found["leaks"], log, "a leak that is none", found["leaks"])
            if number == "21":  # 8 billion parameters in bf16 on a board of 12 GB: the weights can never fit
                check(found["weights"]["fit_in_DRAM"] is False, found["weights"])
                check({way["kind"] for way in found["incidents"][0]["ways"]} == {"weights_dtype", "chips", "board"}, found["incidents"])
            check(number != "22" or found["weights"]["fit_in_DRAM"] is True, found["weights"])
            check(number not in ("21", "22") or found["live_at_peak"]["DRAM"]["explained_pct"] > 99, log)


def advice(folder):
    """What was planted comes first; a clean log gets none."""
    cases = (("--upcast --vocab 40 --layers 3", "no_upcast", "mlp."), ("--late --seq 512 --vocab 40 --hidden 256", "free_earlier", "scores"),
             ("--fail fragmented", "move_pin", "pressure"), ("--leak --runs 8 --vocab 40 --hidden 64 --seq 32", "stop_leak", "kv_cache.append"))
    for options, kind, where in cases:
        found, _ = analyze(folder, f"{SMALL} {options}" if kind != "move_pin" else options)
        texts = [row["text"] for row in found["fixes"] if row["kind"] == kind]
        check(len(texts) == 1 and where in texts[0], options, found["fixes"])
        check(len(found["advice"]) <= 8, options)
        savings = [row["saves_per_bank_MB"] for row in found["advice"]]
        check(savings == sorted(savings, reverse=True), options, "not ranked")
    for options in ("--no-const-eval", "--no-const-eval --runs 5", "--no-const-eval --board p150 --zoo --seq 64",
                    "--no-const-eval --trace --runs 3", "--no-const-eval --graphs 2 --runs 6 --kv-cache marked"):
        found, _ = analyze(folder, f"--hidden 512 --seq 64 {options}")
        check(not found["advice"], options, "advice on a clean log", found["advice"])


def seeds():
    given = os.environ.get("TTMEM_SEEDS")
    if not given:
        return [*range(1, 25), 65, 78, 92, 127, 326]  # cut, dying before its last arguments, ranks woven, host at work after a failure
    first, _, last = given.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for options in ("", "--runs 6 --leak", "--runs 3 --no-const-eval", "--zoo --runs 3", "--fail fragmented", "--fail exhausted --board p150",
                        "--program-level --runs 3", "--graphs 2 --trace --runs 4", "--no-dumps", "--binaries --runs 3",
                        "--devices 4 --weights bfp8 --runs 3"):
            live_set(folder, f"{SMALL} {options}")
        live_set(folder, "--no-free --operations 1500 --runs 1")
        attribution(folder)
        kv_cache(folder)
        late_frees(folder)
        trials(folder)
        layers(folder)
        waste(folder)
        fragmentation(folder)
        leaks(folder)
        advice(folder)
        rescue(folder)
        samples(folder)
        for seed in seeds():
            live_set(folder, f"--mix --seed {seed}")
    print(checks, "checks")


main()
