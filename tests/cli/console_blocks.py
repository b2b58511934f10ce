# SPDX-License-Identifier: Apache-2.0
"""Prints a markdown file with the output in its ```console blocks made anew: each line `$ command` is run by bash.
usage: console_blocks.py FILE.md FOLDER_OF_PROGRAMS"""
import os
import subprocess
import sys


def run(command):
    environment = dict(os.environ, PATH=sys.argv[2] + ":" + os.environ["PATH"])
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment, check=False)
    return done.stdout.decode("utf-8")


def main():
    inside = False
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            if line.startswith("```"):
                inside = line.startswith("```console")
            if not inside or line.startswith("```"):
                sys.stdout.write(line)
            elif line.startswith("$ "):
                sys.stdout.write(line + run(line[2:].rstrip("\n")))


main()
