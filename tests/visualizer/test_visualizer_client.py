#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ttnn-visualizer 0.108 opens what `ttmem export --visualizer` writes: its HTTP interface and its agent server say what ttmem says. Run by
scripts/test-clients, which brings it; skips without."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

TTMEM = os.environ["TTMEM"]
DATA = pathlib.Path(os.environ["TTMEM_SOURCE"]) / "tests" / "data"
BIN = pathlib.Path(os.environ.get("TTMEM_CLIENTS", "/nowhere")) / "visualizer" / "bin"
SOURCES = {"recording": "recording_clash.json", "capture": "capture_small.json", "log": "small.log"}
NUMBERS = {"DRAM": 0, "L1": 1}
PATIENCE = 120  # only bounds a hang

if not (BIN / "ttnn-visualizer").exists():
    print("skipped: scripts/test-clients brings ttnn-visualizer")
    sys.exit(77)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.reports = {}
        for name, source in SOURCES.items():
            cls.reports[name] = f"{cls.folder.name}/reports/{name}"
            subprocess.run([TTMEM, "export", "-q", "--visualizer", cls.reports[name], str(DATA / source)], check=True)
        cls.env = dict(os.environ, APP_DATA_DIRECTORY=cls.folder.name + "/app", REPORT_DATA_DIRECTORY=cls.folder.name + "/data", LAUNCH_BROWSER_ON_START="false",
                       FLASK_ENV="production", HOME=cls.folder.name)
        os.mkdir(cls.folder.name + "/app")
        os.makedirs(cls.folder.name + "/data/local/profiler-reports")

    def peak(self, name, memory):
        done = subprocess.run([TTMEM, "analyze", "--json", "-q", "--no-html", "--no-history", "-d", f"{self.folder.name}/out-{name}", str(DATA / SOURCES[name])],
                              check=True, capture_output=True, text=True, env=dict(os.environ, TTMEM_HOME=self.folder.name + "/home"))
        return json.loads(done.stdout)["peak"][memory]["allocated_per_bank_MB"]


class Http(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = str(free.getsockname()[1])
        cls.server = subprocess.Popen([BIN / "ttnn-visualizer", "--host", "127.0.0.1", "--port", cls.port], env=dict(cls.env, PORT=cls.port, HOST="127.0.0.1"),
                                      cwd=cls.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        cls.addClassCleanup(cls.stop)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{cls.port}/api/up", timeout=5)
                return
            time.sleep(0.5)
        raise AssertionError("ttnn-visualizer does not answer")

    @classmethod
    def stop(cls):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(cls.server.pid, signal.SIGTERM)
        cls.server.wait(PATIENCE)

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api{path}", data=data, headers={"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=PATIENCE))

    def test_every_report(self):
        for name, folder in self.reports.items():
            with self.subTest(name):
                instance = self.ask("/instance/local-paths", {"profiler_path": folder})["instance_id"]
                get = lambda path: self.ask(f"{path}{'&' if '?' in path else '?'}instanceId={instance}")
                operations = get("/operations")
                self.assertGreater(len(operations), 2)
                held = get("/operation-buffers")
                self.assertEqual(len(held), len(operations))
                for memory, number in NUMBERS.items():
                    most = max(sum(b["size"] for b in row["buffers"] if b["buffer_type"] == number) for row in held)
                    self.assertAlmostEqual(most / 2**20, self.peak(name, memory), delta=0.0011, msg=memory)
                tensors = {t["id"]: t for t in get("/tensors")}
                self.assertGreater(len(tensors), 1)
                for operation in operations:
                    detail = get(f"/operations/{operation['id']}")
                    self.assertEqual(detail["name"], operation["name"])
                    self.assertEqual({b["address"] for b in detail["buffers"]}, {b["address"] for b in get(f"/operation-buffers/{operation['id']}")["buffers"]})
                    for tensor in detail["inputs"] + detail["outputs"]:
                        self.assertIn(tensor["id"], tensors)
                device = get("/devices")[0]
                self.assertEqual((device["worker_l1_size"], device["num_x_compute_cores"]), (1499136, 8))
                self.assertEqual(get("/report-metadata")["schema_version"], "3.5")
                self.assertEqual(get("/config")["exported_by"], "ttmem")

    def test_circular_buffers_of_an_operation(self):
        instance = self.ask("/instance/local-paths", {"profiler_path": self.reports["capture"]})["instance_id"]
        nodes = [n for o in self.ask(f"/operations?instanceId={instance}") for n in o["device_operations"]]
        circular = [n["params"] for n in nodes if n["node_type"] == "circular_buffer_allocate"]
        self.assertGreater(len(circular), 0)
        self.assertTrue(all(c["size"] > 0 and c["core_range_set"].startswith("{") for c in circular))


class Agent(Case):
    def setUp(self):
        self.server = subprocess.Popen([BIN / "ttnn-visualizer-mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.env)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.stdin.close)
        self.last = 0
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "ttmem", "version": "1"})
        self.send(method="notifications/initialized")

    def send(self, **message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def ask(self, method, **params):
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        while True:
            answer = json.loads(self.server.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def call(self, name, **arguments):
        result = self.ask("tools/call", name=name, arguments=arguments)
        text = result["content"][0]["text"]
        self.assertFalse(result.get("isError"), text)
        return json.loads(text)

    def test_memory_of_a_recording(self):
        handle = self.call("load_report", profiler_path=self.reports["recording"])["handle"]
        self.assertIn("ttnn", json.dumps(self.call("find_operations", handle=handle, name_contains="ttnn")))
        profile = json.dumps(self.call("memory_profile", handle=handle, buffer_type="L1"))
        self.assertIn("1343488", profile.replace(",", ""))


if __name__ == "__main__":
    unittest.main()
