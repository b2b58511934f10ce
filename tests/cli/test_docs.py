#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documents say is there: links and anchors lead somewhere, files and make targets that are named exist, every command and option
shown is one the programs know, every variable of ours that is read from the environment is explained, every key of the JSON files and every id of
a statement, and architecture.md names the function in which each sentence of the demo's summary is written."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("TTMEM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
TTMEM = os.path.abspath(os.environ.get("TTMEM", SOURCE / "build/bin/ttmem"))
PROFILER = os.path.abspath(os.environ.get("TT_MEMORY_PROFILER", SOURCE / "build/bin/tt-memory-profiler"))
GEN_LOG = os.path.abspath(os.environ.get("GEN_LOG", SOURCE / "build/release/bench/gen_log"))
PATIENCE = 120  # only bounds a hang
DOCS = sorted([*SOURCE.glob("*.md"), *SOURCE.glob("docs/*.md"), SOURCE / "demo/README.md", SOURCE / "bindings/python/README.md"])
ROOMS = {path.name for path in SOURCE.iterdir() if path.is_dir()} - {"build"}
failures = []


def check(ok, path, line, what):
    if not ok:
        failures.append(f"{path.relative_to(SOURCE)}:{line}: {what}")


def help_of(*words, program=TTMEM):
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
    return done.stdout if done.returncode == 0 else ""


# ---- Text ------------------------------------------------------------------------------------------------------------


def anchor(title):
    """The anchor that GitHub gives a heading."""
    title = re.sub(r"`|\*|\[([^]]*)\]\([^)]*\)", r"\1", title).strip().lower()
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def lines_of(path):
    """(number, line, language of the code block it stands in or None) of every line that is no fence."""
    language = None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("```"):
            language = None if language is not None else line[3:].strip()
            continue
        yield number, line, language if language is not None else ("indented" if line.startswith("    ") else None)


def headings(path):
    return {anchor(line.lstrip("#")) for _, line, code in lines_of(path) if code is None and re.match(r"#+ ", line)}


# ---- Links, files, targets -------------------------------------------------------------------------------------------


def check_link(path, number, target):
    if re.match(r"[a-z]+:", target):
        return
    name, _, fragment = target.partition("#")
    there = (path.parent / name) if name else path
    check(there.exists(), path, number, f"dead link {target}")
    if fragment and there.suffix == ".md" and there.exists():
        check(fragment in headings(there), path, number, f"no heading for {target}")


def check_file(path, number, span):
    """`src/base/boards.c`, `parse/capture.c`, `bank.c`, `fuzz/fuzz_NAME.c` and `tests/data/placement_*.txt` name files of the project."""
    if re.fullmatch(r"[\w*-]+\.[ch]", span):
        check(any(SOURCE.glob(f"src/**/{span}")) or any(SOURCE.glob(f"include/ttmem/{span}")) or (SOURCE / "tests/unit" / span).exists(), path, number, f"no file {span}")
        return
    if span.split("/")[0] in {room.name for room in SOURCE.glob("src/*")} - ROOMS:
        span = "src/" + span
    if not re.fullmatch(r"[\w.{},*<>-]+(?:/[\w.{},*<>-]*)+", span) or span.split("/")[0] not in ROOMS:
        return
    pattern = re.sub(r"<[a-z]+>|[A-Z]{3,}", "*", span.rstrip("/"))
    patterns = [re.sub(r"\{[^}]*\}", word, pattern, count=1) for word in re.search(r"\{([^}]*)\}", pattern)[1].split(",")] if "{" in pattern else [pattern]
    for one in patterns:
        check(any(SOURCE.glob(one)), path, number, f"no file {one}")


def check_target(path, number, text, targets):
    for target in re.findall(r"(?<![\w-])make ([a-z][a-z-]*)\b(?! is| the)", text):
        check(target in targets, path, number, f"no target make {target}")


# ---- Commands --------------------------------------------------------------------------------------------------------


def commands():
    """Command words -> its help, from the program's own list."""
    known = {"--llm": help_of("help", "--llm")}
    known["cb"] = help_of("help", "cb")
    known["baseline"] = help_of("help", "baseline")
    for line in help_of("help").split("\nOptions:")[0].split("\n"):
        name = re.match(r"  ((?:cb|baseline) [a-z]+|[a-z][a-z-]*)\b", line)
        if name and not line.startswith("   "):
            known[name[1]] = help_of("help", *name[1].split())
    return known


def check_command(path, number, text, known):
    """`ttmem ask LOG --op N | --range A-B`: the command and each option up to `--` or the end of the command."""
    words = re.split(r"\s+(?:\||>|;|&&|#)\s|\s+#", text.replace("\\|", "|"))[0].replace("[", " ").replace("]", " ").split()
    if len(words) < 2:
        return
    name = words[1].rstrip(",;:.)")
    if name in ("cb", "baseline") and len(words) > 2:
        name += " " + words[2].rstrip(",;:.)")
    if not re.fullmatch(r"((?:cb|baseline) )?[a-z][a-z-]*|--[a-z]+", name) or name in ("--help", "--version", "--visualize"):
        return
    check(name in known, path, number, f"no command ttmem {name}")
    if name not in known:
        return
    for word in words[2:]:
        if word == "--":
            break
        option = re.match(r"--[a-z][a-z0-9_-]*", word)
        check(not option or re.search(re.escape(option[0]) + r"\b", known[name]), path, number, f"ttmem {name} has no option {word}")


def shown_commands(line, code):
    if code in ("console", "bash", "sh", "text", "", "indented"):
        found = re.match(r"\s*(?:\$ )?(?:\w+=\S+ )*(?:build/bin/)?(ttmem .*)", line)
        return [found[1]] if found else []
    if code is None:
        return [span for span in re.findall(r"`([^`]+)`", line) if span.startswith("ttmem ")]
    return []


# ---- Keys ------------------------------------------------------------------------------------------------------------


def keys_of(value, free=("distribution", "loc_index", "stages")):
    """Every key of a JSON document, without those that are names out of the log."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield key
            if key not in free:
                yield from keys_of(inside, free)
    elif isinstance(value, list):
        for inside in value:
            yield from keys_of(inside, free)


def recording(folder):
    """What `ttmem run` records of a program that uses ttnn, here the fake one of tests/launch."""
    program = pathlib.Path(folder, "model.py")
    program.write_text("import ttnn\ndevice = ttnn.open_device(device_id=0)\nx = ttnn.relu(ttnn.empty(4096, device))\nttnn.close_device(device)\n", encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TT_", "TTNN_", "PYTHON")) and name != "VIRTUAL_ENV"}
    clean.update(PYTHONPATH=str(SOURCE / "tests/launch/fake_ttnn/site-packages"), PYTHONDONTWRITEBYTECODE="1")
    subprocess.run([TTMEM, "run", "--quiet", "--no-html", "--output-dir", folder, "--", sys.executable, str(program)], env=clean, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True)
    return next(pathlib.Path(folder).glob("*/*_recording.json"))


def without_an_address(path):
    """As of a program whose last buffer nobody saw placed: from there on nothing tells where the free memory is."""
    recorded = json.loads(path.read_text(encoding="utf-8"))
    [node for node in recorded["graph"] if node["node_type"] == "buffer_allocate"][-1]["params"].pop("address")
    other = path.with_name("lost_recording.json")
    other.write_text(json.dumps(recorded), encoding="utf-8")
    return other


# Logs in which something of every analysis was planted: keys that stand only where it was found must occur.
PLANTED = ("--runs 8 --layers 8 --leak --upcast --odd-layer 5", "--runs 3 --layers 8 --late --seq 2048 --no-const-eval --waste",
           "--runs 1 --fail fragmented --fail-memory dram", "--runs 2 --fail clash --fail-run 1")
PLANTED_KEYS = {"odd", "differs", "culprits", "last_use", "replay_agrees", "states_that_would_refuse_it", "unknown_states", "free_block_without_MB", "better_shape", "ways", "l1_buffer_at"}


def generated(folder):
    for i, options in enumerate(PLANTED):
        path = os.path.join(folder, f"planted{i}.log")
        subprocess.run([GEN_LOG, *options.split(), "--out", path], stdin=subprocess.DEVNULL, timeout=PATIENCE, check=True)
        yield path


LOG = str(SOURCE / "tests/cli/data/two_runs_oom_profile.log")
COMMANDS_WITH_JSON = (("diff", str(SOURCE / "tests/golden/small.log"), LOG), ("fit", LOG), ("verify", LOG, "--change", "dtype=bfp8:ttnn.softmax"),
                      ("plan", str(SOURCE / "tests/cli/data/recording_caches.json")))


def output_of(*words):
    return subprocess.run([TTMEM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=PATIENCE, check=False).stdout


def check_keys():
    """Each key stands in backticks; a word of the running text that is spelled alike explains nothing."""
    page = SOURCE / "docs/outputs.md"
    spans = re.findall(r"`([^`]+)`", page.read_text(encoding="utf-8"))
    words = {word for span in spans for word in re.findall(r"[A-Za-z_0-9]+", span)}
    inputs = [SOURCE / "tests/golden/small.log", SOURCE / "tests/cli/data/two_runs_oom_profile.log", SOURCE / "tests/data/capture_small.json"]
    missing, seen = set(), set()
    with tempfile.TemporaryDirectory() as folder:
        recorded = recording(folder)
        for path in [*inputs, recorded, without_an_address(recorded), *generated(folder)]:
            subprocess.run([TTMEM, "analyze", str(path), "--quiet", "--no-html", "--name", "r", "--output-dir", folder], stdin=subprocess.DEVNULL, timeout=PATIENCE, check=True)
            for name in ("memory", "operations", "inputs_registry", "ir", "findings"):
                with open(os.path.join(folder, f"r_{name}.json"), encoding="utf-8") as file:
                    keys = set(keys_of(json.load(file)))
                seen |= keys
                missing |= {f"the key {key} ({name}.json)" for key in keys - words}
    for command in COMMANDS_WITH_JSON:
        missing |= {f"the key {key} (ttmem {command[0]} --json)" for key in set(keys_of(json.loads(output_of(*command, "--json")))) - words}
    for path in SOURCE.glob("src/analyze/*.c"):
        missing |= {f"the statement {one}" for one in re.findall(r'"((?!ttnn)[a-z0-9]+\.(?!h")[a-z0-9-]+)"', path.read_text(encoding="utf-8")) if one not in spans}
    check(PLANTED_KEYS <= seen, page, 1, f"no log of this test has {sorted(PLANTED_KEYS - seen)}")
    for key in sorted(missing):
        check(False, page, 1, f"{key} is not explained")


# ---- Folders ---------------------------------------------------------------------------------------------------------


def check_folders():
    """Every folder has its row, or is named in one."""
    page = SOURCE / "docs/architecture.md"
    rows = "".join(line for line in page.read_text(encoding="utf-8").splitlines(True) if line.startswith("| `"))
    folders = [path for path in [*SOURCE.iterdir(), *SOURCE.glob("src/*")] if path.is_dir() and path.name not in ("src", "build") and not path.name.startswith((".", "_"))]
    for path in folders:
        name = f"{path.relative_to(SOURCE)}/"
        check(f"`{name}" in rows, page, 1, f"no row for {name}")


# ---- Sentences -------------------------------------------------------------------------------------------------------


NAMES = r"(?:(?!\. |; )(?:[^()]|\([^()]*\)))+?"  # names and numbers: no second sentence hides in them


def table_rows(page, heading):
    """(line number, cells) of the table rows below a heading, up to the next one; `head` and rule included."""
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("#"):
            inside = line.lstrip("# ") == heading
        elif inside and line.startswith("|"):
            yield number, [cell.strip() for cell in line.strip("|").split("|")]


def strings_of(source, name):
    """The string literals of a C function; None when the file does not define it."""
    found = re.search(rf"^(?:static )?\w[\w *]*\b{name}\([^;{{]*\{{(?:.*\}}$|(?:.|\n)*?^\}})", source, re.M)
    return " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[0])) if found else None


def check_place(page, number, words, file, functions):
    """The fixed words of a sentence stand in the functions that are said to word it."""
    path = SOURCE / file.strip("`")
    check(path.is_file(), page, number, f"no file {file}")
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    text = ""
    for name in re.findall(r"`(\w+)`", functions):
        strings = strings_of(source, name)
        check(strings is not None, page, number, f"{file} has no function {name}")
        text += " " + (strings or "")
    known = set(re.findall(r"[A-Za-z0-9_]+", text))
    unsaid = [word for word in re.findall(r"[A-Za-z0-9_]+", words) if word not in known and word.rstrip("s") not in known]
    check(not unsaid, page, number, f"{functions} in {file} does not say {unsaid}")


def check_glossary():
    """Types that architecture.md names exist, each under one name: no two headers define the same."""
    page = SOURCE / "docs/architecture.md"
    sources = "\n".join(path.read_text(encoding="utf-8") for path in [*SOURCE.glob("src/**/*.h"), *SOURCE.glob("include/ttmem/*.h")])
    rows = list(table_rows(page, "Glossary"))
    check(len(rows) > 20, page, 1, f"the glossary has {len(rows)} rows")
    for number, cells in rows:
        for name in re.findall(r"`(ttm_\w+)", cells[1]):
            check(re.search(rf"\b{name}\b", sources), page, number, f"no type {name}")
    defined = re.findall(r"^\} ((?:ttm|cbs)_\w+);$", sources, re.M)
    for name in sorted({name for name in defined if defined.count(name) > 1}):
        check(False, page, 1, f"two types are called {name}")


def check_sentences():
    """The table of architecture.md is the demo's summary: every word of it, in its order, and where each is written."""
    page = SOURCE / "docs/architecture.md"
    rows = [(number, cells) for number, cells in table_rows(page, "Where each sentence is written") if len(cells) == 4 and cells[2].startswith("`")]
    sentences = [(number, *cells) for number, cells in rows if cells[1].startswith("`")]
    for number, _, words, file, functions in sentences:
        check_place(page, number, words.strip("`"), file, functions)
    for number, cells in rows:
        check_place(page, number, "", cells[2], cells[3])
    with tempfile.TemporaryDirectory() as folder:
        shown = subprocess.run([TTMEM, "analyze", "demo/llama_small.log.zst", "--output-dir", folder], cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               text=True, timeout=PATIENCE, check=True).stdout.splitlines()
    margin = [line[:10].strip() for line in shown if line[:10].strip()]
    labels = [label for _, label, *_ in sentences if label]
    check(margin == labels, page, rows[0][0], f"the summary has the labels {margin}, the table {labels}")
    text = " ".join(" ".join(line[10:] for line in shown).split())
    pattern = ""
    for number, _, words, *_ in sentences:
        pattern += re.escape(words.strip("`")).replace("…", NAMES) + r"(?: \((?:derived|estimated|replayed)\))? ?"
        if not re.match(pattern, text):
            check(False, page, number, f"the summary does not say {words} here")
            return
    check(re.fullmatch(pattern, text), page, rows[0][0], f"the summary says more than the table: {text}")


# ---- Environment -----------------------------------------------------------------------------------------------------


def check_environment():
    """But for those that `ttmem run` sets for its own recorder."""
    page = SOURCE / "docs/manual.md"
    explained = set(re.findall(r"^\| `(TTMEM_[A-Z_]+)", page.read_text(encoding="utf-8"), re.M))
    own = set(re.findall(r'^    "(TTMEM_[A-Z_]+)",', (SOURCE / "src/launch/record.c").read_text(encoding="utf-8"), re.M))
    read = set()
    for path in [*SOURCE.glob("src/*/*.c"), *SOURCE.glob("bindings/python/ttmem/**/*.py")]:
        read |= set(re.findall(r'(?:getenv\(|environ\.get\(|environ\[)"(TTMEM_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    check({"TTMEM_HOME", "TTMEM_LIBRARY"} <= read and "TTMEM_RECORDING" in own, page, 1, f"the variables that are read were not found: {sorted(read)}")
    for name in sorted(read - own - explained):
        check(False, page, 1, f"the variable {name} is not explained")


# ---- Length ----------------------------------------------------------------------------------------------------------


def check_length(most=24000):
    """What people are asked to read, as `wc -w` counts it; options are in the option table, and docs/checks.md is what make check-all wrote."""
    counted = [*(SOURCE / name for name in ("README.md", "CONTRIBUTING.md", "TTMEM_AGENTS.md")), *SOURCE.glob("docs/**/*.md")]
    counted.remove(SOURCE / "docs/checks.md")
    words = {path: len(path.read_text(encoding="utf-8").split()) for path in counted}
    longest = max(words, key=words.get)
    check(sum(words.values()) < most, longest, 1, f"the documents have {sum(words.values())} words, {most} are too many; this one has {words[longest]}")


# ---- All -------------------------------------------------------------------------------------------------------------


def main():
    known = commands()
    targets = set(re.findall(r"^([a-z-]+):", (SOURCE / "Makefile").read_text(encoding="utf-8"), re.M))
    check("analyze" in known and "cb scan" in known and "live" in known, SOURCE / "docs/manual.md", 1, f"'ttmem help' gave {sorted(known)}")
    manual = (SOURCE / "docs/manual.md").read_text(encoding="utf-8")
    for name in known:
        check(f"`ttmem {name}" in manual.split("\n## ")[0] or name.startswith("cb ") and f"`{name}" in manual.split("\n## ")[0], SOURCE / "docs/manual.md", 1, f"the first table lacks ttmem {name}")
    seen = 0
    for path in DOCS:
        lines = list(lines_of(path))
        for (number, line, code), (_, after, _) in zip(lines, [*lines[1:], (0, "", None)]):
            for text in shown_commands(line, code):
                if "did you mean" not in after:
                    check_command(path, number, text, known)
                seen += 1
            if code is not None:
                continue
            for target in re.findall(r"\]\(([^)\s]+)\)", line) + re.findall(r'src(?:set)?="([^"]+)"', line):
                check_link(path, number, target)
            for span in re.findall(r"`([^`]+)`", line):
                check_file(path, number, span)
                check_target(path, number, span, targets)
    check(seen > 100, SOURCE / "docs/manual.md", 1, f"only {seen} commands found: the test does not see them")
    check("--analyze" in help_of("--help", program=PROFILER), SOURCE / "docs/manual.md", 1, "tt-memory-profiler has no --analyze")
    shown = "".join(path.read_text(encoding="utf-8") for path in DOCS)
    for image in (SOURCE / "docs/images").iterdir():
        check(f"images/{image.name}" in shown, image, 1, "no document shows it")
    check_length()
    check_folders()
    check_glossary()
    check_sentences()
    check_environment()
    check_keys()
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
