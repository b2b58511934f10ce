#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ttmem mcp`, spoken to as agents do: message by message, and by the official Python client where `mcp` is installed (build/pytools)."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
SHARED = pathlib.Path(os.environ.get("TTMEM_SHARED", SOURCE / "../shared"))
DATA = SOURCE / "tests/cli/data"
LOG = "two_runs_oom_profile.log"
TOOLS = SOURCE / "build/pytools/bin/python"


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
                for path in ("out.log", "root/../out.log", "root/link.log", "root2/x.log", "/etc/passwd", "root/in.log\0x", "--help"):
                    self.assertTrue(s.call("summary", input=path)["isError"], path)

    def test_an_option_is_no_way_in(self):
        with Session() as s:
            result = s.call("tensor", input=LOG, name="--output=/tmp/x")
            self.assertIn("no weight and no location", result["content"][0]["text"])

    def test_programs_only_when_allowed(self):
        with Session() as s:
            self.assertIn("--allow-run", s.call("run_program", board="n150", command=["true"])["content"][0]["text"])
        with Session("--allow-run") as s:
            self.assertIn("run_program", [t["name"] for t in s.ask("tools/list")["result"]["tools"]])


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


@unittest.skipUnless(TOOLS.exists() and not subprocess.run([TOOLS, "-c", "import mcp"], capture_output=True).returncode and (SHARED / "lab/clients").is_dir(),
                     "SKIPPED: no official client (mcp) in build/pytools, or no ../shared")
class OfficialClient(unittest.TestCase):
    def test_session(self):
        done = subprocess.run([TOOLS, SHARED / "lab/clients/mcp_session.py", "--call", "summary", json.dumps({"input": LOG}), "--", TTMEM, "mcp"],
                              cwd=DATA, capture_output=True, text=True, check=True)
        seen = json.loads(done.stdout)
        self.assertGreaterEqual(len(seen["tools"]["tools"]), 12)
        self.assertIn("Out of memory in DRAM", seen["calls"][0]["result"]["content"][0]["text"])


if __name__ == "__main__":
    unittest.main()
