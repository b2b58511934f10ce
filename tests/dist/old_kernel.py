# SPDX-License-Identifier: Apache-2.0
"""Runs a program as Linux 4.18 would: system calls that came later (from number 424 on, on every machine) do not exist for it.
usage: old_kernel.py PROGRAM ARGUMENT..."""

import ctypes
import errno
import os
import struct
import sys

FIRST_NEW = 424  # pidfd_send_signal, Linux 5.1
LOAD, AT_LEAST, RETURN = 0x20, 0x35, 0x06  # of classic BPF
ALLOW, ERRNO = 0x7FFF0000, 0x00050000 | errno.ENOSYS
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2

rules = [(LOAD, 0, 0, 0), (AT_LEAST, 0, 1, FIRST_NEW), (RETURN, 0, 0, ERRNO), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0):
    sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[1], sys.argv[1:])
