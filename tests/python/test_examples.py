# SPDX-License-Identifier: Apache-2.0
"""What the examples say of themselves is what they print: built against an installed ttmem by its CMake package and by pkg-config, run with
the command in their first comment. The Python ones need build/pytools (tests/requirements.txt)."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
LIBRARY = pathlib.Path(os.environ["LIBTTMEM"])
EXAMPLES = SOURCE / "examples"
TOOLS = SOURCE / "build/pytools/bin/python"


def run(*command, **kwargs):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)
    if done.returncode:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def cached(name):
    """A setting of the build under test: what it was compiled with (sanitizers, say), the examples must be too."""
    return re.search(rf"^{name}:\w+=(.*)$", (LIBRARY.parent / "CMakeCache.txt").read_text(), re.M).group(1)


def shown(path):
    """The first comment: (text up to the output, margin, command, output with its margin)."""
    return re.match(r"(.*?\n([^\n]*)\$ ([^\n]*)\n)((?:\2[^\n]*\n)*)", path.read_text(), re.S).groups()


@unittest.skipUnless(shutil.which("c++"), "no C++ compiler")
class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ttmem-examples-")
        cls.work = pathlib.Path(cls.folder.name)
        run("cmake", "--install", LIBRARY.parent, "--prefix", cls.work / "prefix")
        flags = cached("CMAKE_C_FLAGS")
        configure = [f"-DCMAKE_PREFIX_PATH={cls.work}/prefix", f"-DCMAKE_C_COMPILER={cached('CMAKE_C_COMPILER')}"]
        run("cmake", "-G", "Ninja", "-S", EXAMPLES, "-B", cls.work, *configure, f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}")
        run("cmake", "--build", cls.work)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, path, program, env=None):
        before, margin, command, output = shown(path)
        words, _, standard_input = command.partition(" < ")
        self.assertEqual(words.split()[0], path.stem if path.suffix != ".py" else path.name)
        with open(SOURCE / (standard_input or "README.md")) as file:
            said = run(*program, *words.split()[1:], cwd=SOURCE, env=env, stdin=file)
        said = "".join(margin + line for line in said.splitlines(keepends=True))
        if os.environ.get("TTMEM_UPDATE_GOLDEN"):
            path.write_text(before + said + path.read_text()[len(before + output) :])
        else:
            self.assertEqual(said, output)

    def test_with_the_cmake_package(self):
        for path in [*EXAMPLES.glob("*.c"), *EXAMPLES.glob("*.cpp")]:
            with self.subTest(path.name):
                self.check(path, [self.work / path.stem])

    def test_with_the_static_library(self):
        self.check(EXAMPLES / "follow.c", [self.work / "follow_static"])
        self.assertNotIn("libttmem", run("ldd", self.work / "follow_static"))

    def test_with_pkg_config(self):
        env = {**os.environ, "PKG_CONFIG_PATH": str(next(self.work.rglob("ttmem.pc")).parent)}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "ttmem", env=env))
        program = self.work / "by_pkg_config"
        rpath = f"-Wl,-rpath,{next(self.work.rglob('libttmem.so')).parent}"
        run(cached("CMAKE_C_COMPILER"), *shlex.split(cached("CMAKE_C_FLAGS")), EXAMPLES / "largest_tensors.c", *flags, rpath, "-o", program)
        self.check(EXAMPLES / "largest_tensors.c", [program])

    def test_another_minor_version_is_refused(self):
        (self.work / "other").mkdir()
        (self.work / "other/CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(x C)\nfind_package(ttmem 0.99 REQUIRED)\n")
        with self.assertRaisesRegex(AssertionError, "compatible"):
            run("cmake", "-S", self.work / "other", "-B", self.work / "other", f"-DCMAKE_PREFIX_PATH={self.work}/prefix")

    def test_python(self):
        if not TOOLS.exists() or subprocess.run([TOOLS, "-c", "import duckdb, pandas, pyarrow"], capture_output=True).returncode:
            self.skipTest("no duckdb, pandas and pyarrow in build/pytools (scripts/setup test brings them)")
        if "fsanitize" in cached("CMAKE_C_FLAGS"):
            self.skipTest("an instrumented library: test_tables.py loads that one")
        env = {**os.environ, "TTMEM_LIBRARY": str(LIBRARY), "PYTHONPATH": str(SOURCE / "bindings/python")}
        for path in EXAMPLES.glob("*.py"):
            with self.subTest(path.name):
                self.check(path, [TOOLS, path], env)


if __name__ == "__main__":
    unittest.main()
