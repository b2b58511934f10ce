# SPDX-License-Identifier: Apache-2.0
"""python -m ttmem ARGUMENTS: the program of the wheel."""

import os
import sys

from .analysis import program

os.execv(program(), ["ttmem", *sys.argv[1:]])
