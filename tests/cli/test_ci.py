#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pipelines get: --check, --budget and --baseline of analyze, diff and fit; the baseline file; JUnit, GitHub's commands and summaries, SARIF, tt-metal's
benchmark runs, the comment of a pull request. Read by those who read them in earnest where build/pytools has them (tests/requirements.txt): junitparser, GitHub's
own markdown (cmarkgfm), a model of SARIF; tt-metal's models where TT_METAL_HOME has its sources, the schema of SARIF where SARIF_SCHEMA names it."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET

SOURCE = pathlib.Path(os.environ.get("TTMEM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
TTMEM = os.path.abspath(os.environ.get("TTMEM", SOURCE / "build/bin/ttmem"))
GEN_LOG = os.path.abspath(os.environ.get("GEN_LOG", SOURCE / "build/release/bench/gen_log"))
SHARED = pathlib.Path(os.environ.get("TTMEM_SHARED", SOURCE / "../shared"))
TOOLS = SOURCE / "build/pytools/bin/python"
LIMIT, SUMMARY_LIMIT = 65536, 1 << 20
OOM = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
QUIET = ("--no-json", "--quiet")
# What a name may hold that a page of GitHub would act on.
EVIL = ["@octocat", "fix #12", "GH-7", "https://evil.example/x", "www.evil.example", "me@evil.example", "![x](http://evil.example/y.png)", "[x](javascript:1)", "</details><script>x</script>",
        "<img src=x>", "a | b", "`code`", "**bold**", "_it_", "~~gone~~", "$math$", "<!-- x", "&lt;b&gt;", "\\\\| x", "::error::x", "%0A::error::x"]


def judged_by(module, code, *args):
    """The output of `code` in the environment of the judges; skips where the judge is not there."""
    if not TOOLS.exists() or subprocess.run([TOOLS, "-c", f"import {module}"], capture_output=True, check=False).returncode:
        raise unittest.SkipTest(f"no {module} in build/pytools (scripts/setup test brings it)")
    done = subprocess.run([TOOLS, "-c", code, *map(str, args)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ttmem-ci-")
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def log(self, name, *args, change=None):
        path = self.at / name
        subprocess.run([GEN_LOG, "--layers", "4", "--hidden", "256", "--vocab", "1000", "--seq", "64", "--seed", "5", "--out", path, *args], check=True, capture_output=True)
        if change:
            path.write_text(change(path.read_text()))
        return name

    def run_ttmem(self, *args, status=0, env=None):
        done = subprocess.run([TTMEM, *map(str, args)], cwd=self.at, capture_output=True, text=True, check=False,
                              env={**{k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "RUNNER_"))}, "TTMEM_HOME": str(self.at / "home"), **(env or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def baseline(self):
        return json.loads((self.at / "memory.json").read_text())


class Baseline(Case):
    def setUp(self):
        super().setUp()
        self.plain = self.log("plain.log", "--runs", "2")
        self.f32 = self.log("f32.log", "--runs", "2", "--weights", "f32")
        self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", "llama")

    def compare(self, log, *more, status, name="llama"):
        return self.run_ttmem("analyze", log, *QUIET, "--baseline", "memory.json", "--name", name, *more, status=status).stderr

    def edit(self, change):
        content = self.baseline()
        change(content)
        (self.at / "memory.json").write_text(json.dumps(content))

    def test_what_it_holds(self):
        entry = self.baseline()["entries"]["llama"]
        found = json.loads(self.run_ttmem("analyze", self.plain, "--json", "--no-json").stdout)
        self.assertEqual(entry["peak"]["DRAM"]["per_bank_MB"], found["peak"]["DRAM"]["allocated_per_bank_MB"])
        self.assertEqual(entry["peak"]["DRAM"]["raised_by"], found["peak"]["DRAM"]["caused_by"]["mlir_op"])
        self.assertEqual(entry["peak"]["DRAM"]["banks"], 12)
        self.assertNotIn("lower_bound", entry["peak"]["DRAM"])
        self.assertEqual([r["per_bank_MB"] for r in entry["operations"]], sorted((r["per_bank_MB"] for r in entry["operations"]), reverse=True))
        self.assertIn("model.layers.*.mlp.up_proj.weight", [r["name"] for r in entry["live_at_peak"]["DRAM"]])
        self.assertIn("llama  DRAM", self.run_ttmem("baseline", "show", "memory.json").stdout)

    def test_the_same_is_written_twice_alike(self):
        before = (self.at / "memory.json").read_bytes()
        self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", "llama")
        self.assertEqual((self.at / "memory.json").read_bytes(), before)

    def test_worse_says_by_how_much_and_by_whom(self):
        self.assertEqual(self.compare(self.plain, status=0), "")
        said = self.compare(self.f32, status=1)
        self.assertRegex(said, r"ttmem: check: DRAM peak rose by 0\.608 MB per bank above the baseline \(\+92\.1 %\), from 0\.660 to 1\.27 MB, raised by #\d+ ttnn\.\w+ ")
        self.assertIn("Largest growth: weights model.layers.*.self_attn.qkv_proj.weight ×4, +0.125 MB per bank.", said)

    def test_better_is_said_and_passes(self):
        self.run_ttmem("baseline", "update", "memory.json", self.f32, "--name", "llama")
        self.assertIn("ttmem: note: DRAM peak fell by 0.608 MB per bank below the baseline", self.compare(self.plain, status=0))

    def test_tolerances_are_a_persons_and_stay(self):
        self.edit(lambda b: (b["tolerance"].update(DRAM="95%"), b["entries"]["llama"].update(note="until the fused kernel lands", tolerance={"L1": "0.5MB"})))
        self.compare(self.f32, status=0)
        self.run_ttmem("baseline", "update", "memory.json", self.f32, "--name", "llama")
        after = self.baseline()
        self.assertEqual(after["tolerance"]["DRAM"], "95%")
        self.assertEqual(after["entries"]["llama"]["tolerance"], {"L1": "0.5MB"})
        self.assertEqual(after["entries"]["llama"]["note"], "until the fused kernel lands")
        self.edit(lambda b: b["entries"]["llama"]["peak"]["DRAM"].update(per_bank_MB=1.26))
        self.compare(self.f32, status=0)
        self.edit(lambda b: b["entries"]["llama"].update(tolerance={"DRAM": "0%"}))
        self.compare(self.f32, status=1)
        self.edit(lambda b: b["entries"]["llama"].update(tolerance={"DRAM": "0.01 MB"}))
        self.compare(self.f32, status=0)
        self.edit(lambda b: b["entries"]["llama"].update(tolerance={"DRAM": 0.1}))
        self.compare(self.f32, status=1)

    def test_a_person_may_order_entries(self):
        self.run_ttmem("baseline", "update", "memory.json", self.f32, "--name", "bert")
        self.edit(lambda b: b.update(entries={"llama": {**b["entries"]["llama"], "tolerance": {"DRAM": "3%"}}, "bert": b["entries"]["bert"]}))
        self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", "llama")
        self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", "bert")
        self.assertEqual(list(self.baseline()["entries"]), ["llama", "bert"])
        self.assertEqual(self.baseline()["entries"]["llama"]["tolerance"], {"DRAM": "3%"})

    def test_other_entries_stay_byte_for_byte(self):
        self.run_ttmem("baseline", "update", "memory.json", self.f32, "--name", "bert")
        text = (self.at / "memory.json").read_text().replace('"places": 4', '"places":    4')
        (self.at / "memory.json").write_text(text)
        self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", "zebra")
        self.assertEqual(list(self.baseline()["entries"]), ["bert", "llama", "zebra"])
        self.assertIn('"places":    4', (self.at / "memory.json").read_text())
        self.assertEqual(self.run_ttmem("analyze", self.plain, *QUIET, "--baseline", "memory.json", status=2).stderr,
                         "ttmem: error: memory.json has no entry 'plain'; it has bert, llama, zebra. --name chooses one, 'ttmem baseline update' adds one\n")

    def test_one_entry_needs_no_name(self):
        self.run_ttmem("analyze", self.f32, *QUIET, "--baseline", "memory.json", status=1)

    def test_a_new_failure_is_worse(self):
        dead = self.log("dead.log", "--runs", "2", "--fail", "exhausted", "--fail-run", "1")
        self.assertIn("1 failure instead of 0 in the baseline: Out of memory", self.compare(dead, status=1))
        self.run_ttmem("baseline", "update", "memory.json", dead, "--name", "llama")
        self.compare(dead, status=0)

    def test_growth_is_worse(self):
        leak = self.log("leak.log", "--runs", "7", "--leak")
        self.edit(lambda b: b["tolerance"].update(DRAM="1000%"))
        self.assertIn("every run leaves", self.compare(leak, status=1))

    def test_what_cannot_be_compared_is_exit_2(self):
        other = self.log("p150.log", "--runs", "2", "--board", "p150")
        self.assertIn("baseline 'llama' is of another board: DRAM has 12 banks there, 8 here", self.compare(other, status=2))
        self.assertIn("baseline 'llama' is of another model", self.compare(OOM, status=2))
        no_states = self.log("ops.log", "--runs", "2", "--kind", "ops", "--no-dumps")
        self.assertIn("this input does not tell the DRAM peak", self.compare(no_states, status=2))
        self.run_ttmem("baseline", "update", "none.json", no_states, status=2)
        self.assertFalse((self.at / "none.json").exists())
        self.edit(lambda b: b["entries"]["llama"].update(peak={}))
        self.assertIn("has no peak to compare with", self.compare(self.plain, status=2))

    def test_what_is_no_baseline_is_exit_2_and_stays(self):
        (self.at / "memory.json").unlink()
        self.assertIn("memory.json", self.compare(self.plain, status=2))
        good = {"schema_version": 1, "entries": {"llama": {"peak": {"DRAM": {"per_bank_MB": 1}}}}}
        wrong = {"": "line 1", "{": "line 1", '{\n"schema_version": 1,\n"entries": {"llama": }}': "line 3", "[]": "line 1", "{}": "schema_version",
                 json.dumps(good) + "x": "line 1", json.dumps({**good, "schema_version": 2}): "schema_version", json.dumps({**good, "entries": []}): "entries", json.dumps({**good, "entries": {"llama": []}}): "'llama' is no entry",
                 json.dumps({**good, "tolerance": {"DRAM": "one"}}): "'the file' has a wrong tolerance of DRAM", json.dumps({**good, "tolerance": 5}): "wrong value of tolerance",
                 json.dumps({**good, "tolerance": {"dram": "1%"}}): "wrong tolerance of dram",
                 json.dumps({**good, "tolerance": {"DRAM": "-1%"}}): "wrong tolerance of DRAM", json.dumps(good).replace("1}}}", '"1"}}}'): "'llama' has a wrong peak of DRAM",
                 json.dumps(good).replace("DRAM", "SRAM"): "'llama' has a wrong peak of SRAM", "\0\xff": "line 1", '{"a":' * 5000: "line 1"}
        for text, says in wrong.items():
            (self.at / "memory.json").write_text(text, encoding="latin-1")
            self.assertIn(says, self.compare(self.plain, status=2), text[:80])
            self.run_ttmem("baseline", "update", "memory.json", self.plain, status=2)
            self.assertEqual((self.at / "memory.json").read_text(encoding="latin-1"), text)
        self.assertEqual([p.name for p in self.at.iterdir() if "memory.json" in p.name], ["memory.json"])

    def test_what_is_read_is_not_written_over(self):
        before = (self.at / self.plain).read_bytes()
        self.run_ttmem("baseline", "update", self.plain, self.plain, status=2)
        for option in ("--junit", "--benchmark"):
            for target in (self.plain, "memory.json"):
                self.compare(self.plain, "--check", option, target, status=2)
        self.assertEqual((self.at / self.plain).read_bytes(), before)
        self.run_ttmem("baseline", "update", "nowhere/memory.json", self.plain, status=2)
        self.run_ttmem("baseline", "show", "nowhere.json", status=2)

    def test_names_of_any_kind(self):
        for name in EVIL + ["a\"b", "ü/x y", "entries"]:
            self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", name)
        self.assertEqual(list(self.baseline()["entries"]), sorted([*EVIL, "a\"b", "ü/x y", "entries", "llama"], key=lambda n: n.encode()))
        self.run_ttmem("diff", self.plain, self.plain, "--quiet", "--baseline", "memory.json", "--name", "a\"b")

    def test_diff_judges_after(self):
        self.run_ttmem("diff", self.f32, self.plain, "--quiet", "--baseline", "memory.json")
        done = self.run_ttmem("diff", self.plain, self.f32, "--quiet", "--tolerance", "100%", "--check", "--baseline", "memory.json", status=1)
        self.assertIn("above the baseline", done.stderr)
        self.run_ttmem("diff", self.plain, self.f32, "--quiet", "--budget", "dram:1MB", status=1)
        self.run_ttmem("diff", self.f32, self.plain, "--quiet", "--budget", "dram:1MB")

    def test_fit_judges_boards(self):
        self.run_ttmem("fit", self.plain, "--baseline", "memory.json", status=2)
        self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", "llama", "--board", "n150,p150")
        self.run_ttmem("baseline", "update", "memory.json", self.plain, "--name", "llama")  # boards stay
        self.assertEqual(sorted(self.baseline()["entries"]["llama"]["boards"]), ["n150", "p150"])
        self.run_ttmem("fit", self.plain, "--check", "--baseline", "memory.json", "--board", "n150,p150")
        said = self.run_ttmem("fit", self.f32, "--baseline", "memory.json", "--board", "p150", status=1).stderr
        self.assertRegex(said, r"p150: DRAM peak rose by .* above the baseline")
        self.run_ttmem("fit", self.plain, "--budget", "dram:1%")
        self.assertIn("n150: DRAM peak", self.run_ttmem("fit", self.plain, "--budget", "dram:0.01%", status=1).stderr)
        self.run_ttmem("fit", self.plain, "--budget", "trace:1%", status=2)
        self.run_ttmem("fit", OOM, "--check", "--board", "p150", status=2)  # a log that is not whole has no answer

    def test_lines_of_a_program_may_move(self):
        """Of a recording: an edit above does not make it another model, and what grew is named by its line of today."""
        recording = json.loads((SOURCE / "tests/data/recording_clash.json").read_text())
        (self.at / "a_recording.json").write_text(json.dumps(recording))
        self.run_ttmem("baseline", "update", "memory.json", "a_recording.json", "--name", "clash")
        self.assertIn("clash.py", [row["at"] for row in self.baseline()["entries"]["clash"]["operations"]])
        self.assertEqual(self.baseline()["entries"]["clash"]["peak"]["L1"]["basis"], "derived")
        moved = re.sub(r"clash\.py:(\d+)", lambda m: f"clash.py:{int(m[1]) + 7}", (SOURCE / "tests/data/recording_clash.json").read_text())
        (self.at / "b_recording.json").write_text(moved)
        self.compare("b_recording.json", status=0, name="clash")
        diff = json.loads(self.run_ttmem("diff", "a_recording.json", "b_recording.json", "--json").stdout)
        self.assertEqual((diff["operations"]["only_before"], diff["operations"]["only_after"], diff["changed"], diff["live_at_peak"]["L1"]), (0, 0, [], []))
        self.edit(lambda b: b["entries"]["clash"]["peak"]["L1"].update(per_bank_MB=0.5))
        done = self.run_ttmem("analyze", "b_recording.json", *QUIET, "--baseline", "memory.json", "--name", "clash", "--github", status=1)
        self.assertRegex(done.stderr, r"::error file=clash\.py,line=15,title=ttmem%3A baseline L1 peak::L1 peak rose by .* raised by #\d+ ttnn\.empty at clash\.py:15")


class Answers(Case):
    def test_junit(self):
        plain = self.log("plain.log", "--runs", "2")
        self.run_ttmem("analyze", OOM, *QUIET, "--check", "--budget", "dram:90%", "--budget", "l1:50%", "--junit", "out.xml", status=1)
        suite = ET.parse(self.at / "out.xml").getroot()[0]
        cases = {case.get("name"): case for case in suite}
        self.assertEqual(list(cases), ["failures", "growth", "budget dram:90%", "budget l1:50%"])
        self.assertEqual([suite.get(k) for k in ("tests", "failures", "errors", "skipped")], ["4", "2", "0", "1"])
        self.assertIn("Out of memory in DRAM", cases["failures"].find("failure").get("message"))
        self.assertEqual(cases["failures"].get("line"), "114")
        self.assertIsNotNone(cases["growth"].find("skipped"))
        self.assertIsNone(cases["budget l1:50%"].find("failure"))
        self.run_ttmem("analyze", plain, *QUIET, "--check", "--junit", "-")
        self.run_ttmem("analyze", plain, *QUIET, "--junit", "out.xml", status=2)
        self.run_ttmem("analyze", plain, *QUIET, "--check", "--junit", "nowhere/out.xml", status=2)
        self.run_ttmem("fit", plain, "--board", "n150", "--junit", "fit.xml", "--quiet")
        self.assertEqual(ET.parse(self.at / "fit.xml").getroot()[0][0].get("name"), "fits n150")
        told = judged_by("junitparser", "import junitparser, sys; x = junitparser.JUnitXml.fromfile(sys.argv[1]); print([(c.name, [type(r).__name__ for r in c.result]) for s in x for c in s])", self.at / "out.xml")
        self.assertEqual(told.strip(), "[('failures', ['Failure']), ('growth', ['Skipped']), ('budget dram:90%', ['Failure']), ('budget l1:50%', [])]")

    def test_junit_is_xml_whatever_the_names_are(self):
        plain = self.log("plain.log", "--runs", "2")
        for name in ("a\uffff", "b\ufffe", "c\x01\x1b[31m", "d]]>&<\"'", "e\U0010ffff", "\u202ef"):
            self.run_ttmem("diff", plain, plain, "--quiet", "--check", "--junit", "out.xml", "--name", name)
            self.assertEqual(len(ET.parse(self.at / "out.xml").getroot()[0]), 1, repr(name))

    def test_junit_of_what_has_no_answer(self):
        no_states = self.log("ops.log", "--runs", "2", "--kind", "ops", "--no-dumps")
        self.run_ttmem("analyze", no_states, *QUIET, "--budget", "dram:90%", "--junit", "out.xml", status=2)
        self.assertIsNotNone(ET.parse(self.at / "out.xml").getroot()[0][0].find("error"))

    def test_tt_metal_reads_the_junit_file(self):
        home = os.environ.get("TT_METAL_HOME", "")
        if not os.path.exists(os.path.join(home, "infra/data_collection/github/workflows.py")):
            self.skipTest("TT_METAL_HOME does not name tt-metal's sources: its collector did not read the JUnit file")
        self.run_ttmem("analyze", OOM, *QUIET, "--check", "--budget", "dram:90%", "--junit", "out.xml", status=1)
        code = ("import sys, datetime; sys.path.insert(0, sys.argv[1]); from infra.data_collection.github.workflows import get_tests_from_test_report_path as read; "
                "print([(t.test_case_name, t.success, t.skipped) for t in read(sys.argv[2], datetime.datetime.now())])")
        self.assertEqual(judged_by("toolz, defusedxml, loguru, pydantic", code, home, self.at / "out.xml").strip(),
                         "[('failures', False, False), ('growth', True, True), ('budget dram:90%', False, False)]")

    def test_github(self):
        summary = self.at / "summary.md"
        summary.write_text("before\n")
        where = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": str(self.at)}
        plain = self.log("plain.log", "--runs", "2")
        done = self.run_ttmem("analyze", self.at / plain, "--no-json", "--json", "--budget", "dram:0.01%", "--github", status=1, env=where)
        json.loads(done.stdout)  # stays what it was
        self.assertRegex(done.stderr, r"\n::error file=plain\.log,line=\d+,title=ttmem%3A budget dram%3A0\.01%25::DRAM peak 0\.660 of 1,023\.0 MB per bank \(0\.1 %25\) exceeds the budget of dram:0\.01%25 by ")
        text = summary.read_text()
        self.assertTrue(text.startswith("before\n## ttmem analyze: plain\n"), text[:200])
        self.assertIn("| budget dram:0.01% | ❌ failed |", text)
        for _ in range(2):
            summary.write_text("x" * (SUMMARY_LIMIT - 100))
            self.run_ttmem("analyze", plain, *QUIET, "--check", "--github", env=where)
            self.assertLessEqual(summary.stat().st_size, SUMMARY_LIMIT)
        self.run_ttmem("analyze", plain, *QUIET, "--check", "--github", status=2, env={"GITHUB_STEP_SUMMARY": str(self.at / "nowhere/summary.md")})
        self.run_ttmem("analyze", plain, *QUIET, "--check", "--github")
        self.run_ttmem("analyze", plain, *QUIET, "--github", status=2)

    def test_sarif(self):
        done = self.run_ttmem("cb", "scan", SOURCE / "tests/data/cb", "--sarif", "out.sarif", "--github", "--check", status=1)
        sarif = json.loads((self.at / "out.sarif").read_text())
        self.assertEqual(sarif["version"], "2.1.0")
        run = sarif["runs"][0]
        found = json.loads(self.run_ttmem("cb", "scan", SOURCE / "tests/data/cb", "--json").stdout)["scan"]["findings"]
        self.assertEqual([(r["ruleId"], r["level"], r["message"]["text"], r["locations"][0]["physicalLocation"]["region"]["startLine"]) for r in run["results"]],
                         [(f["rule"], f["level"], f["text"], f["line"]) for f in found])
        rules = run["tool"]["driver"]["rules"]
        self.assertTrue(all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"]))
        self.assertTrue(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///"))
        self.assertEqual(len(re.findall(r"^::(?:error|warning|notice) file=", done.stderr, re.M)), len(found))
        odd = self.at / "a b" / "k#%ü"
        odd.mkdir(parents=True)
        (odd / "x.cpp").write_bytes((SOURCE / "tests/data/cb/forms.cpp").read_bytes())
        self.run_ttmem("cb", "scan", "./a b", "--sarif", "odd.sarif", "--json")
        place = json.loads((self.at / "odd.sarif").read_text())["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        self.assertEqual(place, {"uri": "a%20b/k%23%25%C3%BC/x.cpp", "uriBaseId": "%SRCROOT%"})
        self.run_ttmem("cb", "scan", odd / "x.cpp", "--sarif", odd / "x.cpp", status=2)
        self.run_ttmem("cb", "scan", odd / "x.cpp", "--sarif", "nowhere/x.sarif", status=2)
        for name in ("out.sarif", "odd.sarif"):
            judged_by("sarif_pydantic", "import sys, json, sarif_pydantic; sarif_pydantic.Sarif.model_validate(json.load(open(sys.argv[1])))", self.at / name)
            if os.environ.get("SARIF_SCHEMA"):
                judged_by("jsonschema", "import sys, json, jsonschema; s = json.load(open(sys.argv[2])); jsonschema.validators.validator_for(s)(s).validate(json.load(open(sys.argv[1])))",
                          self.at / name, os.environ["SARIF_SCHEMA"])

    def test_benchmark(self):
        plain = self.log("plain.log", "--runs", "2")
        os.utime(self.at / plain, (1700000000, 1700000000))
        self.run_ttmem("baseline", "update", "memory.json", plain, "--name", "Meta/Llama_3 8B")
        runner = {"GITHUB_REPOSITORY": "me/model", "GITHUB_SHA": "abc", "GITHUB_REF_NAME": "main", "GITHUB_RUN_ID": "12", "GITHUB_TRIGGERING_ACTOR": "me", "RUNNER_NAME": "n150-7"}
        self.run_ttmem("analyze", plain, *QUIET, "--baseline", "memory.json", "--benchmark", "run.json", env=runner)
        run = json.loads((self.at / "run.json").read_text())
        self.assertEqual((run["ml_model_name"], run["device_hostname"], run["github_pipeline_link"], run["run_end_ts"]),
                         ("plain", "n150-7", "https://github.com/me/model/actions/runs/12", "2023-11-14T22:13:20+00:00"))
        measured = {m["name"]: m for m in run["measurements"]}
        self.assertEqual(len(measured), len(run["measurements"]))
        self.assertEqual((measured["dram_peak_mb_per_bank"]["value"], measured["dram_peak_mb_per_bank"]["target"]), (0.66, 0.66))
        self.run_ttmem("analyze", plain, "--no-json", "--quiet", "--benchmark", "bare.json")
        home = os.environ.get("TT_METAL_HOME", "")
        if not os.path.exists(os.path.join(home, "infra/data_collection/pydantic_models.py")):
            self.skipTest("TT_METAL_HOME does not name tt-metal's sources: its model did not read the benchmark run")
        for name in ("run.json", "bare.json"):
            judged_by("pydantic", "import sys; sys.path.insert(0, sys.argv[1]); from infra.data_collection.pydantic_models import CompleteBenchmarkRun as R; R.model_validate_json(open(sys.argv[2]).read())",
                      home, self.at / name)


class Comment(Case):
    def comment(self, before, after, *more):
        self.run_ttmem("diff", before, after, "--quiet", "--markdown", "-o", "comment.md", *more)
        text = (self.at / "comment.md").read_text()
        self.assertTrue(text.startswith("<!-- ttmem diff -->\n### "), text[:100])
        self.assertLessEqual(len(text.encode()), LIMIT)
        self.assertEqual(text.count("<details>"), text.count("</details>"))
        return text

    def rendered(self, text):
        """As GitHub's own renderer has it, and what is left of links, images and other tags; text nodes as the later passes see them."""
        code = "import sys, cmarkgfm; from cmarkgfm.cmark import Options; sys.stdout.write(cmarkgfm.github_flavored_markdown_to_html(open(sys.argv[1]).read(), Options.CMARK_OPT_UNSAFE))"
        (self.at / "rendered.md").write_text(text)
        html = judged_by("cmarkgfm", code, self.at / "rendered.md")
        tags = {re.match(r"/?[\w!-]+", tag)[0].lstrip("/") for tag in re.findall(r"<([^>]*)>", html)}
        self.assertLessEqual(tags, {"!--", "h2", "h3", "p", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "em"}, html[:2000])
        for node in re.split(r"<[^>]*>", html):
            self.assertNotRegex(node, r"@\w|#\d|\bGH-\d|://|www\.\w", node)
        return html

    def test_what_got_worse_comes_first(self):
        before, after = self.log("a.log", "--runs", "2"), self.log("b.log", "--runs", "2", "--weights", "f32")
        text = self.comment(before, after)
        self.assertRegex(text.split("\n")[1], r"^### Worse: DRAM peak rose by 0\.608 MB per bank \(\+92\.1 %\), raised by #<!-- -->\d+ ttnn\.")
        self.assertIn("Largest growth: weights model.layers.", text.split("<details>")[0])
        self.assertLess(len(text), 8000)
        html = self.rendered(text)
        self.assertIn("<td>model.layers.*.self_attn.qkv_proj.weight ×4</td>", html)
        self.assertIn("### Not worse", self.comment(before, before))
        self.run_ttmem("diff", before, after, "--markdown", "--json", status=2)

    def test_hostile_names(self):
        def poison(text):
            names = iter(EVIL * 1000)
            return re.sub(r'loc\("([^"]*)"', lambda m: 'loc("%s %s"' % (next(names), m[1]), text)
        before = self.log("a.log", "--runs", "2", "--no-dumps", change=poison)
        after = self.log("b.log", "--runs", "2", "--no-dumps", "--weights", "f32", "--odd-layer", "2", change=poison)
        text = self.comment(before, after)
        self.rendered(text)
        done = self.run_ttmem("diff", before, after, "--check", "--quiet", "--github", "--junit", "x.xml", "-o", "out.txt", status=1, env={"GITHUB_STEP_SUMMARY": str(self.at / "s.md")})
        ET.parse(self.at / "x.xml")
        commands = [line for line in done.stderr.split("\n") if line.lstrip().startswith("::")]
        self.assertEqual(len(commands), 1, done.stderr)
        self.rendered((self.at / "s.md").read_text())

    def test_huge(self):
        """Long names that need much escaping, in more operations than a comment has room for."""
        long = "@x" * 90
        def stretch(text):
            return re.sub(r'loc\("([^"]*)"', lambda m: 'loc("%s%s"' % (long, m[1]), text)
        before = self.log("a.log", "--runs", "1", "--layers", "40", "--no-dumps", "--kind", "full", change=stretch)
        after = self.log("b.log", "--runs", "1", "--layers", "41", "--no-dumps", "--weights", "f32", "--seq", "128", "--fail", "exhausted", "--fail-copies", "3", change=lambda t: stretch(t).replace("layers.", "blocks."))
        text = self.comment(before, after)
        self.rendered(text)


if __name__ == "__main__":
    unittest.main()
