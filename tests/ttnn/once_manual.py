# SPDX-License-Identifier: Apache-2.0
"""The manual's answer to "Does it fit?" is what the program really prints. Run by scripts/test-ttnn, once."""

import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
SOURCE = os.environ["TTMEM_SOURCE"]
PATIENCE = 900  # only bounds a hang


def main():
    with open(os.path.join(SOURCE, "docs/manual.md"), encoding="utf-8") as f:
        block = re.search(r"```text\n\$ ttmem (fit [^\n]*tests/[^\n]*)\n(.*?)```", f.read(), re.S)
    words = [sys.executable if word == "python" else word for word in block.group(1).split()]
    env = {k: v for k, v in os.environ.items() if k not in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")}
    env.update(PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory(prefix="ttmem-once-readme-") as here:  # ttnn writes into the current folder
        os.symlink(os.path.join(SOURCE, "tests"), os.path.join(here, "tests"))
        run = subprocess.run([PROGRAM, *words], cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    if not run.stdout.startswith(block.group(2).removesuffix("...\n")) or run.returncode != 1:
        sys.exit("docs/manual.md is out of date; `ttmem %s` (exit %d) now prints:\n%s%s" % (block.group(1), run.returncode, run.stdout, run.stderr))


main()
