# SPDX-License-Identifier: Apache-2.0
"""The fastest of 50 starts of a program, in milliseconds; fails when it is slower. usage: start_time.py PROGRAM MS"""

import os
import sys
import time

program, most = sys.argv[1], float(sys.argv[2])
times = []
nothing = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
for _ in range(50):
    began = time.monotonic()
    pid = os.posix_spawn(program, [program, "--version"], os.environ, file_actions=nothing)
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(f"{program} --version: status {status}")
    times.append((time.monotonic() - began) * 1e3)
print(f"{os.path.basename(program)}: starts in {min(times):.1f} ms")
sys.exit(min(times) > most)
