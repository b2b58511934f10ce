#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pipelines of examples/ci, run as their runners would: the steps are taken from the YAML and run in the runner's shell, with its variables, in a repository with
a base and a pull request. ttnn is the fake one of tests/launch, `gh` and `pip` note what they are asked."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

SOURCE = pathlib.Path(os.environ.get("TTMEM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
TTMEM = os.path.abspath(os.environ.get("TTMEM", SOURCE / "build/bin/ttmem"))
TOOLS = SOURCE / "build/pytools/bin/python"
FAKE = SOURCE / "tests/launch/fake_ttnn/site-packages"
MODEL = """import ttnn

device = ttnn.open_device(device_id=0)
x = ttnn.empty(4096, device)
y = ttnn.relu(x)
z = ttnn.softmax(y)
ttnn.deallocate(y)
"""


def read_yaml(name, folder="examples/ci"):
    code = "import json, sys, yaml; print(json.dumps(yaml.load(open(sys.argv[1]), yaml.BaseLoader)))"
    done = subprocess.run([TOOLS, "-c", code, SOURCE / folder / name], capture_output=True, text=True, check=False) if TOOLS.exists() else None
    if not done or done.returncode:
        raise unittest.SkipTest("no PyYAML in build/pytools (scripts/setup test brings it)")
    return json.loads(done.stdout)


class Release(unittest.TestCase):
    def test_the_release_makes_what_there_is(self):
        workflow = read_yaml("release.yml", ".github/workflows")
        self.assertEqual(workflow["on"], {"push": {"tags": ["v*"]}})
        steps = [step.get("run", "") for step in workflow["jobs"]["dist"]["steps"]]
        made = [word for step in steps if step.startswith("make ") for word in step.split()[1:]]
        self.assertEqual(made[-2:], ["dist", "test-dist"])
        targets = re.findall(r"^([a-z-]+):", (SOURCE / "Makefile").read_text(), re.M)
        self.assertEqual([target for target in made if target not in targets], [])
        self.assertIn("build/dist/*", steps[-1])


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-runner-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.repo, self.temp, self.bin = self.at / "repo", self.at / "temp", self.at / "bin"
        for path in (self.repo / "kernels", self.temp, self.bin):
            path.mkdir(parents=True)
        os.symlink(TTMEM, self.bin / "ttmem")
        for tool in ("gh", "pip"):
            (self.bin / tool).write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>"{self.at}/{tool}.asked"\n')
            (self.bin / tool).chmod(0o755)
        self.summary = self.at / "summary.md"
        self.env = {"PATH": f"{self.bin}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}", "HOME": str(self.at), "PYTHONPATH": str(FAKE), "TTMEM_HOME": str(self.at / "home"),
                    "LC_ALL": "C.UTF-8", "CI": "true", "GIT_CONFIG_NOSYSTEM": "1", **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}
        self.git("init", "-q", "-b", "main")
        self.commit(MODEL, "base")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.env.update(MODEL="model")
        self.shell('ttmem run --board n150 --name model --output-dir ../first --quiet -- python3 model.py && ttmem baseline update memory.json ../first/*/ --name model --quiet')
        (self.repo / "kernels/host.cpp").write_bytes((SOURCE / "tests/data/cb/customer/elementwise_add.cpp").read_bytes())

    def git(self, *args):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *args], cwd=self.repo, env=self.env, check=True, capture_output=True)

    def commit(self, model, message):
        (self.repo / "model.py").write_text(model)
        self.git("add", "model.py")
        self.git("commit", "-qm", message)

    def shell(self, script, **env):
        """As both runners start bash; both streams in one, as they read them."""
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=self.repo, env={**self.env, **env}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def github(self):
        """The job: (name of a step, exit status, output) of those that ran; after a failure only those that always run."""
        job = read_yaml("github.yml")["jobs"]["memory"]
        runner = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.repo), "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_REF_NAME": "17/merge", "GITHUB_BASE_REF": "main",
                  "RUNNER_TEMP": str(self.temp), **job["env"]}
        results, failed = [], False
        for step in job["steps"]:
            if "run" not in step or (failed and step.get("if") != "always()"):
                continue
            self.assertNotIn("${{", step["run"], "the runner would fill this in")
            results.append((step["name"], *self.shell(step["run"], **runner, **{k: "token" for k in step.get("env", {})})))
            failed |= results[-1][1] != 0
        return results

    def test_github_of_what_is_fine(self):
        self.commit(MODEL + "# a comment\n", "change")
        results = self.github()
        self.assertEqual([(name, status) for name, status, _ in results],
                         [(name, 0) for name in ("Install", "Run the model of the pull request", "Run the model of the base", "Compare with the base", "Comment", "Check the memory", "Scan the kernels")], results)
        self.assertIn("### Not worse", (self.temp / "comment.md").read_text())
        self.assertEqual((self.at / "gh.asked").read_text(), f"pr comment 17 --edit-last --create-if-none --body-file {self.temp}/comment.md\n")
        self.assertTrue(all(case.find("failure") is None and case.find("error") is None for case in ET.parse(self.repo / "memory.xml").getroot()[0]))
        self.assertEqual(json.loads((self.repo / "cb.sarif").read_text())["version"], "2.1.0")
        self.assertIn("✅ passed", self.summary.read_text())

    def test_github_of_what_got_worse(self):
        self.commit("# moved\n" + MODEL.replace("4096", "8192"), "change")
        (self.repo / "kernels/compute.cpp").write_bytes((SOURCE / "tests/data/cb/forms.cpp").read_bytes())
        results = {name: (status, out) for name, status, out in self.github()}
        self.assertEqual([results[name][0] for name in ("Comment", "Check the memory", "Scan the kernels")], [0, 1, 1], results)
        comment = (self.temp / "comment.md").read_text()
        self.assertRegex(comment.split("\n")[1], r"^### Worse: DRAM peak rose by .* raised by .* at model\.py:7\.")
        self.assertRegex(results["Check the memory"][1], r"\n::error file=model\.py,line=7,title=ttmem%3A baseline DRAM peak::DRAM peak rose by ")
        self.assertRegex(results["Scan the kernels"][1], r"\n::error file=kernels/compute\.cpp,line=\d+,title=over-l1::")
        self.assertEqual(len(ET.parse(self.repo / "memory.xml").getroot().findall(".//failure")), 1)
        self.assertIn("❌ failed", self.summary.read_text())
        self.assertIn("kernels/compute.cpp", (self.repo / "cb.sarif").read_text())

    def test_a_program_on_boards(self):
        """No log at all: `fit` runs the program, and so does the update of its baseline."""
        status, out = self.shell("ttmem baseline update memory.json --board n150 --quiet -- python3 model.py && ttmem fit --board n150 --baseline memory.json --quiet -- python3 model.py")
        self.assertEqual(status, 0, out)
        entry = json.loads((self.repo / "memory.json").read_text())["entries"]["model"]
        self.assertEqual((sorted(entry["boards"]), "DRAM" in entry["peak"]), (["n150"], True))  # its peaks stay
        self.commit(MODEL.replace("4096", "8192"), "change")
        status, out = self.shell("ttmem fit --board n150 --baseline memory.json --quiet --junit fit.xml -- python3 model.py")
        self.assertEqual(status, 1, out)
        self.assertRegex(out, r"ttmem: check: n150: DRAM peak rose by .* above the baseline")
        self.assertEqual(ET.parse(self.repo / "fit.xml").getroot().find(".//testcase").get("classname"), "model")

    def gitlab(self):
        job = read_yaml("gitlab.yml")["memory"]
        self.assertEqual(job["artifacts"]["reports"]["junit"], "memory.xml")
        return self.shell("\n".join(job["before_script"] + job["script"]), GITLAB_CI="true", **job["variables"])

    def test_gitlab(self):
        status, out = self.gitlab()
        self.assertEqual(status, 0, out)
        self.assertEqual(ET.parse(self.repo / "memory.xml").getroot().get("failures"), "0")
        for path in self.repo.glob("run"):
            path.rename(self.at / "old-run")
        self.commit(MODEL.replace("4096", "8192"), "change")
        status, out = self.gitlab()
        self.assertEqual(status, 1, out)
        failure = ET.parse(self.repo / "memory.xml").getroot().find(".//failure")
        self.assertRegex(failure.get("message"), r"DRAM peak rose by .* above the baseline")
        self.assertTrue(re.search(r"Largest growth: ttnn\.\w+ model\.py", failure.text))


if __name__ == "__main__":
    unittest.main()
