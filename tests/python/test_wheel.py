# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel as `pip install .` and `pip install -e .` do, into an environment of its own, and runs its tests there."""

import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("TTMEM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


def skip(why):
    print(f"SKIPPED: the Python package was not tested: {why}")
    sys.exit(77)


def main():
    try:
        import ensurepip, venv  # noqa: F401  (Debian has them in packages of their own)
    except ImportError as error:
        skip(f"{error}; apt-get install python3-venv")
    with tempfile.TemporaryDirectory(prefix="ttmem-wheel-") as folder:
        environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
        if made.returncode:
            skip(f"no virtual environment could be made here: {made.stdout}{made.stderr}")
        python = str(pathlib.Path(folder) / "bin" / "python")
        # From another folder, so that the installed package is the one imported.
        test = [python, str(SOURCE / "bindings" / "python" / "tests" / "check_wheel.py")]
        in_place = SOURCE / "bindings" / "python" / "ttmem" / "libttmem.so"
        was_there = in_place.exists()
        try:
            for how in ([str(SOURCE / "bindings" / "python")], ["-e", str(SOURCE)]):
                # --no-index: the wheel must build without anything from the network.
                if subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", *how], env=environment).returncode:
                    print("pip install failed:", *how)
                    return 1
                status = subprocess.run(test, cwd=folder, env={**environment, "TTMEM_SOURCE": str(SOURCE), "TTMEM_TTNN": "0"}).returncode
                if status:
                    print("the tests of the package failed after pip install", *how)
                    return status
        finally:
            if not was_there:
                in_place.unlink(missing_ok=True)
        return 0


sys.exit(main())
