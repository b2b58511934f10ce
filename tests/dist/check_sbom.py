# SPDX-License-Identifier: Apache-2.0
"""The list of what is inside, against CycloneDX's own schema (of PyPI's cyclonedx-python-lib), and complete: every library of
packaging/sources.txt is in it and in the file of licences. usage: check_sbom.py DIST WORK"""

import json
import pathlib
import subprocess
import sys
import venv

dist, work = map(pathlib.Path, sys.argv[1:3])
root = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(str(error)[:400] if error else 0)
"""

bom = json.loads((dist / "ttmem.cdx.json").read_text())
names = {component["name"] for component in bom["components"]}
wanted = {line.split()[0] for line in (root / "packaging" / "sources.txt").read_text().splitlines() if line and line[0] not in "# "}
texts = (dist / "THIRD-PARTY-LICENSES.txt").read_text()
lacking = sorted((wanted - names) | {name for name in names if f"\n{name} " not in texts})
if lacking:
    sys.exit(f"test-dist: FAILED: without an entry or a licence: {lacking}")
tools = work / "cyclonedx"
python = tools / "bin" / "python"
if not python.exists():
    venv.create(tools, with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "cyclonedx-python-lib[json-validation]==11.12.0"]).returncode:
        subprocess.run(["rm", "-rf", tools])
        sys.exit("test-dist: the schema of CycloneDX could not be had")
if subprocess.run([python, "-c", SCHEMA, dist / "ttmem.cdx.json"]).returncode:
    sys.exit("test-dist: FAILED: ttmem.cdx.json is no CycloneDX 1.5")
print("test-dist: SBOM and licences: done")
