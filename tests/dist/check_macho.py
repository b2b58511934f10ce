# SPDX-License-Identifier: Apache-2.0
"""Whether a file is the program for macOS on arm64, made of this tree. It is not run: what can be seen without a Mac is seen.
usage: check_macho.py PROGRAM COMMIT"""

import struct
import sys

MAGIC, ARM64, EXECUTE, PIE = 0xFEEDFACF, 0x0100000C, 2, 0x200000
LOAD_DYLIB, SIGNATURE, MAIN, BUILD_VERSION = 0xC, 0x1D, 0x80000028, 0x32
MACOS = 1

data = open(sys.argv[1], "rb").read()
magic, machine, _, kind, count, _, flags, _ = struct.unpack_from("<8I", data)
assert (magic, machine, kind) == (MAGIC, ARM64, EXECUTE), "no Mach-O program for arm64"
assert flags & PIE, "not position independent"
libraries, seen, at = [], {}, 32
for _ in range(count):
    command, size = struct.unpack_from("<2I", data, at)
    seen[command] = at
    if command == LOAD_DYLIB:
        name = at + struct.unpack_from("<I", data, at + 8)[0]
        libraries.append(data[name : data.index(b"\0", name)].decode())
    at += size
assert libraries == ["/usr/lib/libSystem.B.dylib"], f"needs {libraries}"
platform, least = struct.unpack_from("<2I", data, seen[BUILD_VERSION] + 8)
assert platform == MACOS and least >> 16 <= 13, "not for macOS 13"
assert MAIN in seen and SIGNATURE in seen, "arm64 runs signed programs only"  # an ad-hoc signature, by the linker
assert sys.argv[2].encode() in data, "of another commit"
assert b"ttnn runs on Linux only, and this is macOS" in data
