#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ttmem mcp`, spoken to as agents do: message by message, and by the official Python client where `mcp` is installed (build/pytools)."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
DATA = SOURCE / "tests/cli/data"
LOG = "two_runs_oom_profile.log"
CLIENTS = pathlib.Path(os.environ.get("TTMEM_CLIENTS", "/nowhere"))
TOOLS = CLIENTS / "venv/bin/python" if CLIENTS.is_dir() else SOURCE / "build/pytools/bin/python"
LAB = pathlib.Path.home() / ".cache/ttmem-lab/bin/python"


class Session:
    def __init__(self, *options, cwd=DATA, env=None):
        self.process = subprocess.Popen([TTMEM, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd, env={**os.environ, **(env or {})})
        self.count = 0

    def raw(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, method, params=None):
        self.count += 1
        answer = self.raw(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params or {}}).encode())
        assert answer["id"] == self.count and answer["jsonrpc"] == "2.0", answer
        return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(20) == 0


def printed(*words):
    return subprocess.run([TTMEM, *words], cwd=DATA, capture_output=True, text=True).stdout


class Protocol(unittest.TestCase):
    def test_begins_in_the_version_that_was_asked_for(self):
        with Session() as s:
            for version, answered in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
                result = s.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})["result"]
                self.assertEqual(result["protocolVersion"], answered)
                self.assertEqual(set(result["capabilities"]), {"tools", "resources", "prompts"})

    def test_what_is_no_request(self):
        with Session() as s:
            self.assertEqual(s.raw(b"nonsense")["error"]["code"], -32700)
            self.assertEqual(s.raw(b"[]")["error"]["code"], -32600)
            self.assertEqual(s.raw(b'{"id":1}')["error"]["code"], -32600)
            self.assertEqual(s.raw(b'{"id":1,"method":"nothing"}')["error"]["code"], -32601)
            self.assertEqual(s.raw(b'{"id":"x","method":"tools/call","params":{"name":"nothing"}}')["error"]["code"], -32602)
            self.assertEqual(s.raw(b"{" + b"x" * (3 << 20))["error"]["code"], -32600)
            s.process.stdin.write(b'{"method":"notifications/initialized"}\n\n')  # wants no answer
            self.assertEqual(s.raw(b'{"id":7,"method":"ping"}'), {"jsonrpc": "2.0", "id": 7, "result": {}})


class Tools(unittest.TestCase):
    def test_each_has_its_schemas(self):
        with Session() as s:
            tools = s.ask("tools/list")["result"]["tools"]
        self.assertNotIn("run_program", [t["name"] for t in tools])
        for tool in tools:
            self.assertTrue(tool["annotations"]["readOnlyHint"])
            self.assertLessEqual(set(tool["inputSchema"]["required"]), set(tool["inputSchema"]["properties"]))
            self.assertEqual(set(tool["outputSchema"]["properties"]), {"command", "exit_status"})

    def test_answers_are_what_the_commands_print(self):
        cases = (("summary", {"input": LOG}, ("analyze", "--no-json", "--no-html")),
                 ("findings", {"input": LOG}, ("ask", "--findings")),
                 ("peak", {"input": LOG}, ("ask", "--at-peak")),
                 ("peak", {"input": LOG, "memory": "l1"}, ("ask", "--at-peak=l1")),
                 ("live_set", {"input": LOG, "at": "4"}, ("ask", "--at=4")),
                 ("operation", {"input": LOG, "index": "3"}, ("ask", "--op=3")),
                 ("operations", {"input": LOG, "range": "1-3"}, ("ask", "--range=1-3")),
                 ("find_operations", {"input": LOG, "name": "matmul"}, ("ask", "--ops=matmul")),
                 ("tensor", {"input": LOG, "name": "proj"}, ("ask", "--tensor=proj")),
                 ("fit_boards", {"input": LOG, "boards": "p150"}, ("fit", "--board=p150", "--no-history")),
                 ("verify_fix", {"input": LOG, "changes": ["board=p150"]}, ("verify", "--change=board=p150")))
        with Session() as s:
            for tool, arguments, (command, *options) in cases:
                result = s.call(tool, **arguments)
                self.assertFalse(result["isError"], result)
                self.assertEqual(result["content"][0]["text"], printed(command, str(DATA / LOG), *options), tool)

    def test_history(self):
        """What `ttmem history` prints; nothing that only reads adds to it, and an answer is no way around --root."""
        with tempfile.TemporaryDirectory() as folder:
            env = {"TTMEM_HOME": folder}
            for name in ("a", "b"):
                subprocess.run([TTMEM, "analyze", "-q", "--no-html", str(DATA / LOG), "--name", name], check=True, env={**os.environ, **env})
            subprocess.run([TTMEM, "analyze", "-q", "--no-html", str(SOURCE / "tests/data/small.log")], check=True, env={**os.environ, **env})

            def told(*words):
                return subprocess.run([TTMEM, "history", *words], env={**os.environ, **env}, capture_output=True, text=True).stdout

            before = told("--json")
            with Session(env=env) as s:
                self.assertEqual(s.call("history")["content"][0]["text"], told())
                self.assertEqual(s.call("history", model="small", board="n150", since="30000d")["content"][0]["text"], told("small"))
                self.assertFalse(s.call("history", model="small")["isError"])
                self.assertTrue(s.call("history", model="--output=x")["isError"])
                s.call("fit_boards", input=LOG)
                s.call("summary", input=LOG)
            self.assertEqual(told("--json"), before)
            with Session("--root", str(DATA), env=env) as s:
                self.assertIn("not below", s.call("history")["content"][0]["text"])
            with Session("--root", folder, env=env) as s:
                self.assertEqual(s.call("history")["content"][0]["text"], told())

    def test_a_pasted_message(self):
        text = "TT_FATAL: Out of Memory: Not enough space to allocate 100663296 B DRAM buffer across 12 banks, where each bank needs to store 8388608 B"
        with Session() as s:
            self.assertIn("8.00 MB per bank needed", s.call("explain_failure", text=text)["content"][0]["text"])
            self.assertIn("is missing", s.call("explain_failure")["content"][0]["text"])

    def test_mistakes_are_told_to_the_agent(self):
        with Session() as s:
            for arguments, why in (({}, "'input' is missing"), ({"input": 3}, "'input' is a string"), ({"input": "gone.log"}, "not below")):
                result = s.call("summary", **arguments)
                self.assertTrue(result["isError"])
                self.assertIn(why, result["content"][0]["text"])
            self.assertTrue(s.call("operation", input=LOG, index="999")["isError"])
            self.assertTrue(s.call("verify_fix", input=LOG, changes=[])["isError"])


class Guard(unittest.TestCase):
    def test_reads_only_below_its_roots(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "root")
            root.mkdir()
            shutil.copy(DATA / LOG, root / "in.log")
            shutil.copy(DATA / LOG, pathlib.Path(folder, "out.log"))
            pathlib.Path(folder, "root2").mkdir()
            shutil.copy(DATA / LOG, pathlib.Path(folder, "root2/x.log"))
            os.symlink("../out.log", root / "link.log")
            with Session("--root", str(root), cwd=folder) as s:
                self.assertFalse(s.call("summary", input="root/in.log")["isError"])
                files = {"input": "root/in.log", "times": "out.log"}
                self.assertTrue(s.call("findings", **files)["isError"])  # a file beside the input must lie there, too
                shutil.copy(SOURCE / "fuzz/corpus/perf_csv/compiled.csv", root / "ops.csv")
                shutil.copytree(SOURCE / "fuzz/corpus/decision_trace", root / "plan")
                beside = s.call("findings", input="root/in.log", times="root/ops.csv", decision_trace="root/plan")
                self.assertIn("Device time\n", beside["content"][0]["text"])
                self.assertIn("Compiler plan\n", beside["content"][0]["text"])
                for path in ("out.log", "root/../out.log", "root/link.log", "root2/x.log", "/etc/passwd", "root/in.log\0x", "--help"):
                    self.assertTrue(s.call("summary", input=path)["isError"], path)

    def test_only_files_and_folders(self):
        with tempfile.TemporaryDirectory() as folder, Session("--root", "/", cwd=folder) as s:
            os.mkfifo(f"{folder}/pipe.log")
            pathlib.Path(folder, "bytes.log").write_bytes(bytes(range(256)) * 4000)
            for path in ("/dev/zero", "pipe.log", "/dev/stdin", "bytes.log", "."):
                self.assertTrue(s.call("summary", input=path)["isError"], path)

    def test_an_option_is_no_way_in(self):
        with Session() as s:
            result = s.call("tensor", input=LOG, name="--output=/tmp/x")
            self.assertIn("no weight and no location", result["content"][0]["text"])

    def test_programs_only_when_allowed(self):
        with Session() as s:
            self.assertIn("--allow-run", s.call("run_program", board="n150", command=["true"])["content"][0]["text"])
        with tempfile.TemporaryDirectory() as folder, Session("--allow-run", cwd=folder) as s:
            self.assertLessEqual({"run_program", "fit_program"}, {t["name"] for t in s.ask("tools/list")["result"]["tools"]})
            result = s.call("run_program", board="n150", command=["sh", "-c", "for i in $(seq 900); do echo line $i; done"])
            text = result["content"][0]["text"]
            self.assertIn("opened no ttnn device", text)  # the report comes first, then the end of what the program printed
            self.assertTrue(text.endswith("line 900\n"), text)
            self.assertLess(len(text), 4000)
            self.assertTrue(s.call("fit_program", boards="nothing", command=["true"])["isError"])

    @unittest.skipUnless(LAB.exists(), "SKIPPED: no ttnn in ~/.cache/ttmem-lab")
    def test_a_program_on_mock_boards(self):
        with tempfile.TemporaryDirectory() as folder, Session("--allow-run", cwd=folder) as s:
            program = pathlib.Path(folder, "small.py")
            program.write_text("import ttnn\nd = ttnn.open_device(device_id=0)\na = ttnn.zeros((1, 1, 2048, 2048), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=d)\n"
                               "b = ttnn.add(a, a)\nttnn.close_device(d)\n")
            text = s.call("run_program", board="n150", command=[str(LAB), str(program)])["content"][0]["text"]
            self.assertIn("DRAM peak 1.34 of 1,023.0 MB per bank", text)
            text = s.call("fit_program", boards="n150,p150", command=[str(LAB), str(program)])["content"][0]["text"]
            self.assertRegex(text, r"n150 +yes +1\.34")


def keepers(session):
    """The processes that keep inputs: the server has no other children between questions."""
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(session.process.pid)], capture_output=True, text=True).stdout
    return [int(pid) for pid in out.split()]


class Keeping(unittest.TestCase):
    """An input that was read stays read."""

    def test_asks_the_same_process_again(self):
        with tempfile.TemporaryDirectory() as folder, Session(cwd=folder) as s:
            shutil.copy(DATA / LOG, folder)
            first = s.call("peak", input=LOG)
            (pid,) = keepers(s)
            self.assertEqual(s.call("peak", input=LOG), first)
            for tool, more in (("summary", {}), ("findings", {}), ("fit_boards", {}), ("verify_fix", {"changes": ["board=p150"]}), ("diff_runs", {}), ("explain_failure", {})):
                names = {"before": LOG, "after": LOG} if tool == "diff_runs" else {"input": LOG}
                self.assertFalse(s.call(tool, **names, **more)["isError"], tool)
            self.assertEqual(keepers(s), [pid])

    def test_a_file_that_changes_is_read_anew(self):
        with tempfile.TemporaryDirectory() as folder, Session(cwd=folder) as s:
            log = pathlib.Path(folder, "x.log")
            shutil.copy(DATA / LOG, log)
            before = s.call("peak", input="x.log")["content"][0]["text"]
            pids = keepers(s)
            log.write_bytes(b"\n".join(log.read_bytes().split(b"\n")[:70]) + b"\n")
            after = s.call("peak", input="x.log")["content"][0]["text"]
            self.assertNotEqual(before, after)
            self.assertNotEqual(keepers(s), pids)
            log.unlink()
            self.assertTrue(s.call("peak", input="x.log")["isError"])

    def test_of_a_report_too(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "x.log")
            shutil.copy(DATA / LOG, log)
            env = {"TTMEM_HOME": f"{folder}/home"}
            subprocess.run([TTMEM, "analyze", str(log), "--quiet"], env={**os.environ, **env}, check=True)
            with Session(env=env) as s:
                first = s.call("findings", input="x")
                pids = keepers(s)
                self.assertEqual(s.call("findings", input="x"), first)
                self.assertEqual((len(pids), keepers(s)), (1, pids))
                log.unlink()  # answered from the report's files now
                self.assertIn("Out of memory in DRAM", s.call("findings", input="x")["content"][0]["text"])

    def test_only_some_and_never_orphans(self):
        with tempfile.TemporaryDirectory() as folder:
            s = Session(cwd=folder)
            for i in range(12):
                shutil.copy(DATA / LOG, f"{folder}/{i}.log")
                self.assertFalse(s.call("peak", input=f"{i}.log")["isError"])
                self.assertLessEqual(len(keepers(s)), 4)
            pids = keepers(s)
            self.assertEqual(len(pids), 4)
            os.kill(pids[0], 9)  # the memory ran out, say
            for i in range(12):
                self.assertFalse(s.call("peak", input=f"{i}.log")["isError"])
            pids = keepers(s)
            s.process.kill()
            s.process.wait()
            s.process.stdin.close(), s.process.stdout.close()
            deadline = time.time() + 20
            while any(os.path.exists(f"/proc/{pid}") and "ttmem" in pathlib.Path(f"/proc/{pid}/cmdline").read_text() for pid in pids):
                self.assertLess(time.time(), deadline, "a process outlives its server")
                time.sleep(0.05)

    def test_what_cannot_be_kept_is_told_as_before(self):
        with tempfile.TemporaryDirectory() as folder, Session(cwd=folder) as s:
            pathlib.Path(folder, "empty.log").write_text("nothing here\n")
            self.assertEqual(s.call("summary", input="empty.log")["content"][0]["text"],
                             subprocess.run([TTMEM, "analyze", "--no-json", "--no-html", os.path.realpath(f"{folder}/empty.log")], capture_output=True, text=True).stderr)
            self.assertEqual(keepers(s), [])

    def test_hostile_requests_cost_little(self):
        def memory():
            return sum(int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 for pid in [s.process.pid, *keepers(s)])

        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"  # it keeps what was freed
        with Session(env={"ASAN_OPTIONS": sanitizer}) as s:
            s.call("peak", input=LOG)
            before = memory()
            for body in ('{"a":' * 170000, "[" * 900000, '"' + "\\u0000" * 150000 + '"', "9" * 900000):
                s.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"peak","arguments":{"input":' + body.encode() + b"}}}")
            for i in range(60):
                s.call("operations", input=LOG, range=f"0-{4294967295 - i}")
                s.call("tensor", input=LOG, name="*" * 100000)
                s.call("verify_fix", input=LOG, changes=["dtype=bfp8:" + "*" * 1000] * 100)
            self.assertLess(memory() - before, 64 << 20)


class Others(unittest.TestCase):
    def test_resources(self):
        with tempfile.TemporaryDirectory() as home:
            subprocess.run([TTMEM, "analyze", str(DATA / LOG), "--quiet", "--name", "kept"], env={**os.environ, "TTMEM_HOME": home}, check=True)
            with Session(env={"TTMEM_HOME": home}) as s:
                uris = [r["uri"] for r in s.ask("resources/list")["result"]["resources"]]
                self.assertIn("ttmem://report/kept", uris)
                text = s.ask("resources/read", {"uri": "ttmem://report/kept"})["result"]["contents"][0]["text"]
                self.assertIn("Out of memory in DRAM", text)
                self.assertIn("ttmem fit", s.ask("resources/read", {"uri": "ttmem://manual/fit"})["result"]["contents"][0]["text"])
                self.assertFalse(s.call("summary", input="kept")["isError"])
                for uri in ("ttmem://report/../kept", "ttmem://report/", "ttmem://manual/none", "file:///etc/passwd"):
                    self.assertEqual(s.ask("resources/read", {"uri": uri})["error"]["code"], -32002, uri)

    def test_prompts(self):
        with Session() as s:
            names = [p["name"] for p in s.ask("prompts/list")["result"]["prompts"]]
            self.assertEqual(names, ["triage_out_of_memory", "review_pull_request", "size_deployment"])
            got = s.ask("prompts/get", {"name": names[1], "arguments": {"before": "a.log", "after": "b.log"}})["result"]
            self.assertIn("Compare a.log with b.log", got["messages"][0]["content"]["text"])


@unittest.skipUnless(TOOLS.exists() and not subprocess.run([TOOLS, "-c", "import mcp"], capture_output=True).returncode,
                     "SKIPPED: no official client (make test-clients brings mcp)")
class OfficialClient(unittest.TestCase):
    SESSION = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main(program, log):
    async with stdio_client(StdioServerParameters(command=program, args=["mcp"])) as (read, write), ClientSession(read, write) as session:
        begun, tools = await session.initialize(), await session.list_tools()
        await session.list_resources(), await session.list_prompts()
        answers = [await session.call_tool(name, {"input": log}) for name in ("summary", "peak", "findings")]
    plain = lambda value: value.model_dump(mode="json", exclude_none=True)
    print(json.dumps({"begun": plain(begun), "tools": plain(tools), "answers": [plain(a) for a in answers]}))

asyncio.run(main(*sys.argv[1:]))
"""

    def test_session(self):
        done = subprocess.run([TOOLS, "-c", self.SESSION, TTMEM, LOG], cwd=DATA, capture_output=True, text=True, check=True)
        seen = json.loads(done.stdout)
        self.assertGreaterEqual(len(seen["tools"]["tools"]), 12)
        for answer in seen["answers"]:
            self.assertIn("DRAM", answer["content"][0]["text"])


@unittest.skipUnless((CLIENTS / "node_modules/.bin/mcp-inspector").exists(), "SKIPPED: no inspector (make test-clients brings it)")
class Inspector(unittest.TestCase):
    def inspect(self, *words):
        done = subprocess.run([CLIENTS / "node_modules/.bin/mcp-inspector", "--cli", TTMEM, "mcp", "--root", str(DATA), *words], cwd=DATA, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_command_line(self):
        self.assertGreaterEqual(len(self.inspect("--method", "tools/list")["tools"]), 12)
        answer = self.inspect("--method", "tools/call", "--tool-name", "summary", "--tool-arg", f"input={LOG}")
        self.assertIn("Out of memory in DRAM", answer["content"][0]["text"])


if __name__ == "__main__":
    unittest.main()
