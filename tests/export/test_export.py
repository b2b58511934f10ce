#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ttmem export` writes, read back byte by byte and compared with the tables and the findings."""
import csv
import gzip
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
DEMO = SOURCE / "demo/llama_small.log.zst"
TABLES = ("operations", "states", "tensors", "incidents", "statements", "fixes")
INPUTS = (DEMO, SOURCE / "tests/data/small.log", SOURCE / "tests/data/capture_small.json", SOURCE / "tests/data/recording_lanes.json")


def export(form, log, *options):
    done = subprocess.run([TTMEM, "export", f"--{form}", str(log), "-o", "-", *options], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def message(data):
    """Fields of a protocol buffer: number -> values in order, each an int or bytes."""
    at, fields = 0, {}

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            assert key & 7 == 2, key
            size = varint()
            value, at = data[at : at + size], at + size
            assert len(value) == size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def varints(data):
    return message(b"".join(b"\x08" + piece for piece in split_varints(data))).get(1, [])


def split_varints(data):
    start = 0
    for i, byte in enumerate(data):
        if byte < 128:
            yield data[start : i + 1]
            start = i + 1


class Tables(unittest.TestCase):
    def test_csv_is_json(self):
        for log in INPUTS:
            for table in TABLES:
                rows = json.loads(export("json", log, "--table", table))
                text = export("csv", log, "--table", table).decode()
                back = list(csv.DictReader(io.StringIO(text, newline="")))
                as_text = [{k: "" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for k, v in row.items()} for row in rows]
                self.assertEqual(back, as_text, (log, table))

    def test_all_tables_into_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for form, start in (("parquet", b"PAR1"), ("arrow", b"ARROW1"), ("csv", b"operation,index,"), ("json", b"[")):
                out = pathlib.Path(folder, form)
                subprocess.run([TTMEM, "export", f"--{form}", str(DEMO), "-o", str(out), "--quiet"], check=True)
                self.assertEqual(sorted(p.name for p in out.iterdir()), sorted(f"{t}.{form}" for t in TABLES))
                self.assertTrue((out / f"operations.{form}").read_bytes().startswith(start))

    def test_same_bytes_every_time(self):
        for form in ("perfetto", "chrome", "pprof"):
            self.assertEqual(export(form, DEMO), export(form, DEMO), form)
        for form in ("parquet", "arrow"):
            self.assertEqual(export(form, DEMO, "--table", "tensors"), export(form, DEMO, "--table", "tensors"), form)


class Traces(unittest.TestCase):
    def perfetto(self, log):
        """Packets as (kind, time, track, name, counter)."""
        names, events, tracks = {}, [], {}
        for packet in message(export("perfetto", log))[1]:
            packet = message(packet)
            for data in packet.get(12, []):
                for entry in message(data).get(2, []):
                    entry = message(entry)
                    names[entry[1][0]] = entry[2][0].decode()
            for data in packet.get(60, []):
                track = message(data)
                tracks[track[1][0]] = track.get(2, [b""])[0].decode()
            for data in packet.get(11, []):
                event = message(data)
                name = event.get(10)
                events.append((event[9][0], packet[8][0], event[11][0], names[name[0]] if name else None, event.get(30, [None])[0]))
        return tracks, events

    def test_slices_close_and_counters_are_the_states(self):
        for log in INPUTS:
            tracks, events = self.perfetto(log)
            open_slices, last = {}, {}
            for kind, time, track, name, _ in events:
                self.assertIn(track, tracks)
                self.assertGreaterEqual(time, last.get(track, 0), "a track goes back in time")
                last[track] = time
                open_slices[track] = open_slices.get(track, 0) + {1: 1, 2: -1}.get(kind, 0)
                self.assertGreaterEqual(open_slices[track], 0)
            self.assertFalse(any(open_slices.values()), log)
            states = json.loads(export("json", log, "--table", "states"))
            ranks = {s["rank"] for s in states}
            counted = [e[4] for e in events if e[0] == 4 and tracks[e[2]] == "DRAM allocated per bank"]
            known = [s["dram_allocated"] for s in states if s["dram_allocated"] is not None]
            if counted and len(ranks) == 1:
                self.assertEqual([round(c / 2**20, 3) for c in counted], [round(k / 2**20, 3) for k in known], log)
            operations = [o for o in json.loads(export("json", log, "--table", "operations")) if o["index"] is not None]
            on_programs = [e for e in events if e[0] == 1 and "perations" in tracks[e[2]]]
            self.assertGreaterEqual(len(on_programs), len(operations), log)

    def test_what_is_open_at_the_peak_is_what_is_alive(self):
        tracks, events = self.perfetto(DEMO)
        tensors = [e for e in events if tracks[e[2]] == "DRAM tensors"]
        alive = most = 0
        for kind, *_ in tensors:
            alive += {1: 1, 2: -1}[kind]
            most = max(most, alive)
        rows = json.loads(export("json", DEMO, "--table", "tensors"))
        held = sum(1 for t in rows if t["alive_at_peak"] and t["memory"] == "DRAM")
        self.assertGreaterEqual(most, held)

    def test_failures_are_instants(self):
        _, events = self.perfetto(DEMO)
        instants = [e[3] for e in events if e[0] == 3 and not e[3].startswith("Times: ")]
        self.assertEqual(len(instants), 1)
        self.assertTrue(instants[0].startswith("Out of memory in DRAM: fragmented, short by"), instants)

    def test_more_ranks_than_any_machine_has(self):
        line = '[1,%d]<stdout>:            RuntimeTTNN |    DEBUG | Executing operation: %%1 = "ttnn.add"(%%a) : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("add.1")\n'
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write("".join(line % rank for rank in range(1100)))
            log.flush()
            events = json.loads(export("chrome", log.name))["traceEvents"]
        self.assertEqual(len({e["pid"] for e in events}), 1024)
        self.assertIn("Ranks: the first 1024 of 1100", [e["name"] for e in events if e["ph"] == "i"])

    def test_chrome_says_the_same(self):
        for log in INPUTS:
            _, events = self.perfetto(log)
            chrome = json.loads(export("chrome", log))["traceEvents"]
            count = lambda phases: sum(1 for e in chrome if e["ph"] in phases)
            self.assertEqual(count("Bb"), sum(1 for e in events if e[0] == 1))
            self.assertEqual(count("Ee"), sum(1 for e in events if e[0] == 2))
            self.assertEqual(count("C"), sum(1 for e in events if e[0] == 4))
            self.assertEqual(count("i"), sum(1 for e in events if e[0] == 3))


class Times(unittest.TestCase):
    """The time of a trace: stamps of the log, the samples of `live`, the profiler's CSV; else operations are counted."""

    def trace(self, text, *options, name="timed.log"):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, name)
            log.write_bytes(text)
            events = json.loads(export("chrome", log, *options))["traceEvents"]
            again = message(export("perfetto", log, *options))[1]
        said = [e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"][0].partition("; ")[2]
        told = [e["name"] for e in events if e["ph"] == "i" and e["name"].startswith("Times: ")]
        self.assertEqual(len(told), said != "1 us = 1 operation", (said, told))
        if told:
            self.assertIn(said, ("time of the log", "time of the profiler"))
            said = told[0].removeprefix("Times: ")
        slices, open_slices = [], []
        for e in events:
            if e["ph"] == "B":
                open_slices.append(e)
            elif e["ph"] == "E":
                begun = open_slices.pop()
                slices.append((begun["name"], begun["ts"], e["ts"], begun["args"].get("operation")))
        times = [message(p)[8][0] / 1000 for p in again if 11 in message(p)]
        self.assertEqual(sorted(times), sorted(e["ts"] for e in events if e["ph"] != "M"))
        clocks = [[message(c) for c in message(message(p)[6][0])[1]] for p in again if 6 in message(p)]
        return said, {s[3]: s for s in slices if s[3] is not None}, clocks

    LOG = SOURCE / "tests/data/ops.log"

    def lines(self):
        return [line + b"\n" for line in self.LOG.read_bytes().split(b"\n")[:-1]]

    def test_without_stamps(self):
        said, slices, clocks = self.trace(b"".join(self.lines()))
        self.assertEqual((said, clocks), ("1 us = 1 operation", []))
        self.assertEqual({s[2] - s[1] for s in slices.values()}, {1})

    def test_stamps_of_every_line(self):
        """As GitHub and docker put them; one second a line."""
        lines = [b"2026-05-14T01:%02d:%02d.5000000Z " % (i // 60, i % 60) + l for i, l in enumerate(self.lines())]
        said, slices, clocks = self.trace(b"".join(lines))
        rows = [o for o in json.loads(export("json", self.LOG, "--table", "operations"))]
        self.assertEqual(said, f"{len(rows)} of {len(rows)} operations between time stamps of the log (from 2026-05-14 01:00:{rows[0]['line'] - 1:02d}.500), spread evenly")
        for row in rows:
            if row["index"] is not None:
                self.assertEqual(slices[row["index"]][1], (row["line"] - rows[0]["line"]) * 1e6, row)
        start = clocks[0][1][2][0]
        self.assertEqual([(c[1][0], c[2][0]) for c in clocks[0]], [(6, 0), (1, start)])
        self.assertEqual(start, (20587 * 86400 + 3600 + rows[0]["line"] - 1) * 10**9 + 500000000)

    def test_stamps_between_operations(self):
        """Loguru lines of tt-xla: what lies between two of them is spread evenly; one that goes back is another clock."""
        bare = self.lines()
        stamp = b"2026-01-12 10:24:%02d.250 (   1.854s) [        4A7FC640]flatbuffer_loaded_execu:260      1| Execute\n"
        said, slices, _ = self.trace(stamp % 6 + b"".join(bare) + stamp % 3 + stamp % 10)
        count = len(json.loads(export("json", self.LOG, "--table", "operations")))
        self.assertIn(f"{count} of {count} operations between time stamps of the log (from 2026-01-12 10:24:06.", said)
        begins = [slices[i][1] for i in sorted(slices)]
        self.assertEqual(begins, sorted(begins))
        self.assertAlmostEqual(max(s[2] for s in slices.values()), 4e6 * (count - 1) / (count + 1), delta=4e6 / count + 10)

    def test_operations_can_be_counted_instead(self):
        stamp = b"2026-01-12 10:24:%02d.250 (   1.854s) [        4A7FC640]flatbuffer_loaded_execu:260      1| Execute\n"
        text = stamp % 6 + b"".join(self.lines()) + stamp % 9
        said, slices, clocks = self.trace(text, "--times", "operations")
        self.assertEqual((said, clocks), ("1 us = 1 operation", []))

    def test_foreign_and_wrong_stamps(self):
        for text in (b"2026-13-45 99:99:99.1 x\n", b"2026-01-12\n", b"[2026-01-12 10:00:00\n", b"9999-01-01 00:00:00\n", b"2026-02-30 10:00:00,5\n"):
            said, slices, _ = self.trace(text + b"".join(self.lines()) + text)
            self.assertTrue(said.startswith("1 us") or "time stamps" in said, said)
            self.assertTrue(slices)

    HEAD = "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,HOST START TS,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns]\r\n"
    CODES = {"ttnn.matmul": "MatmulDeviceOperation", "ttnn.softmax": "SoftmaxDeviceOperation", "ttnn.add": "BinaryNgDeviceOperation", "ttnn.to_layout": "TilizeWithValPadding"}

    def csv_of(self, log, folder):
        """Every operation whose code is known, 5 ms after the one before, 2 ms long, at 1 GHz; a signpost, the host and a second device between them."""
        rows, known = ["start,signpost,,,,7,,,\r\n", "ttnn.host,python_fallback,1,,,8,,,\r\n"], []
        for op in json.loads(export("json", log, "--table", "operations")):
            if op["index"] is None or op["name"] not in self.CODES:
                continue
            at = 1000000 + 5000000 * len(known)
            known.append(op["index"])
            for device in (0, 1):
                rows.append(f"{self.CODES[op['name']]},tt_dnn_device,{1024 * len(known)},{device},{{'a': 'b'; 'c': \"d\"}},{at},{at},{at + 2000000},2000000\r\n")
        path = pathlib.Path(folder, "ops_perf_results.csv")
        path.write_text(self.HEAD + "".join(rows), newline="")
        return path, known

    def test_times_of_the_profiler(self):
        log = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
        with tempfile.TemporaryDirectory() as folder:
            path, known = self.csv_of(log, folder)
            self.assertGreater(len(known), 3)
            said, slices, clocks = self.trace(log.read_bytes(), "--times", str(path))
        count = len(json.loads(export("json", log, "--table", "operations")))
        self.assertEqual((said, clocks), (f"{len(known)} of {count} operations timed by the profiler's CSV, the others estimated", []))
        first = slices[known[0]][1]
        for i, index in enumerate(known):
            self.assertAlmostEqual(slices[index][1] - first, 5000 * i, delta=0.1)
            self.assertAlmostEqual(slices[index][2] - slices[index][1], 2000, delta=0.1)

    def test_what_is_no_csv_of_the_profiler(self):
        log = str(SOURCE / "tests/cli/data/two_runs_oom_profile.log")
        with tempfile.TemporaryDirectory() as folder:
            for text, why in (("", "has no operation of a device"), ("a,b\n1,2\n", "is no operations CSV"), (self.HEAD, "has no operation of a device"),
                              (self.HEAD + "Nothing,tt_dnn_device,1,0,,1,1,2,3\n", "they are of different runs"), (self.HEAD + '"unclosed,1,2\n', "has no operation")):
                path = pathlib.Path(folder, "x.csv")
                path.write_text(text)
                done = subprocess.run([TTMEM, "export", "--perfetto", log, "--times", str(path), "-o", "-"], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (2, ""), text)
                self.assertIn(why, done.stderr)
            done = subprocess.run([TTMEM, "export", "--pprof", log, "--times", "x", "-o", "-"], capture_output=True, text=True)
            self.assertIn("--times goes with --perfetto and --chrome", done.stderr)


class Pprof(unittest.TestCase):
    def read(self, log):
        profile = message(gzip.decompress(export("pprof", log)))
        strings = [s.decode() for s in profile[6]]
        self.assertEqual(strings[0], "")
        types = [strings[message(t)[1][0]] for t in profile[1]]
        functions = {(f := message(data))[1][0]: strings[f[2][0]] for data in profile[5]}
        locations = {(l := message(data))[1][0]: functions[message(l[4][0])[1][0]] for data in profile[4]}
        samples = [([locations[i] for i in varints(s[1][0])], dict(zip(types, varints(s[2][0])))) for s in map(message, profile[2])]
        return types, samples

    def test_adds_up_to_the_peak(self):
        types, samples = self.read(DEMO)
        self.assertEqual(types, ["dram_at_peak", "dram_allocated", "dram_held", "l1_at_peak", "l1_allocated", "l1_held"])
        rows = json.loads(export("json", DEMO, "--table", "tensors"))
        banks = json.loads(export("json", DEMO, "--table", "states"))[0]["dram_banks"]
        held = sum(t["bank_bytes"] for t in rows if t["alive_at_peak"] and t["memory"] == "DRAM")
        self.assertEqual(sum(s[1]["dram_at_peak"] for s in samples), held * banks)
        self.assertTrue(all(s[1]["dram_allocated"] >= s[1]["dram_at_peak"] for s in samples))

    def test_stacks_are_module_paths(self):
        _, samples = self.read(DEMO)
        stacks = [stack for stack, _ in samples]
        self.assertIn(["ttnn.to_layout", "weight", "qkv_proj", "self_attn", "layers.3", "model", "weights"], stacks)


class Refusals(unittest.TestCase):
    def refuse(self, *words, text):
        done = subprocess.run([TTMEM, "export", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(text, done.stderr)

    def test_what_cannot_be(self):
        self.refuse(str(DEMO), text="export needs a format and an input")
        self.refuse("--csv", "--arrow", str(DEMO), text="two formats")
        self.refuse("--csv", str(DEMO), "-o", "-", text="name it with --table")
        self.refuse("--pprof", "--table", "states", str(DEMO), text="--pprof is one file")
        self.refuse("--csv", "--table", "nothing", str(DEMO), text="takes operations|states")
        self.refuse("--perfetto", "/nowhere.log", text="No such file")
        self.refuse("--csv", str(DEMO), "-o", "/proc/nothing/here", text="cannot make the folder")


if __name__ == "__main__":
    unittest.main()
