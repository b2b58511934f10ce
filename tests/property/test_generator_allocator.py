#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The generator's allocator against traces of the real one: every block of every state at the same address.

GEN_LOG names the generator, TTMEM_SHARED the folder with the samples. Skipped (77) where they are not.
"""
import glob
import os
import subprocess
import sys

GEN_LOG = os.environ.get("GEN_LOG", "build/release/bench/gen_log")
SHARED = os.environ.get("TTMEM_SHARED", "../shared")


def main():
    traces = sorted(glob.glob(os.path.join(SHARED, "samples/metal/*/allocator_*.jsonl")))
    if not traces:
        print(f"no allocator traces under {SHARED}: skipped")
        return 77
    failures = 0
    for trace in traces:
        done = subprocess.run([GEN_LOG, "--replay", trace], capture_output=True, text=True, check=False)
        print(f"{os.path.basename(trace)}: {(done.stdout + done.stderr).strip()}")
        failures += done.returncode != 0
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
