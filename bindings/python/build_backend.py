# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel: builds libttmem and the programs with CMake and packs them with the Python files.

A backend of its own (PEP 517) because a wheel is a zip file with three text files in it, and because this one then needs nothing
from the network. Environment: TTMEM_WHEEL_BUILD, the folder CMake builds in (default: build/wheel of the project).
scripts/wheels makes those for other machines: TTMEM_WHEEL_PLATFORM says for which one the folder was built.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLATFORM = os.environ.get("TTMEM_WHEEL_PLATFORM")
PROGRAM = "ttmem"
# A wheel has no links: the older name starts the program beside it, which goes by the name it is called with.
OLD_PROGRAM = """#!python
import os, sys
os.execv(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ttmem"), ["tt-memory-profiler"] + sys.argv[1:])
"""
LIBRARY = "ttmem/libttmem.so"
SCRIPTS = ROOT / "scripts" / "old_name.py"  # one file, installed under each of the names it knows


def _version():
    header = ROOT / "include" / "ttmem" / "version.h"
    if not header.exists():
        raise RuntimeError(f"{header} is not there: the wheel is built inside a clone of ttmem (pip 21.3 or newer, which builds in place)")
    return ".".join(re.findall(r"^#define TTM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(), re.M))


def _ttnn():
    """The version of ttnn that the recorder was tried with last."""
    return re.search(r'^NEWEST_TRIED = "(.*)"$', (HERE / "ttmem" / "hook" / "ttmem_start.py").read_text(), re.M).group(1)


def _metadata(version):
    return (
        f"Metadata-Version: 2.1\nName: ttmem\nVersion: {version}\nSummary: Memory profiler for Tenstorrent accelerators\n"
        "License: Apache-2.0\nRequires-Python: >=3.8\n"
        f"Provides-Extra: ttnn\nRequires-Dist: ttnn=={_ttnn()}; extra == 'ttnn'\n"
        "Description-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text()
    )


def _native():
    """Builds and returns {name in the wheel: file}."""
    build = pathlib.Path(os.environ.get("TTMEM_WHEEL_BUILD", ROOT / "build" / "wheel")).resolve()
    native = {f"ttmem-{_version()}.data/scripts/{PROGRAM}": build / "bin" / PROGRAM, LIBRARY: build / "libttmem.so"}
    if PLATFORM:
        return native
    run = lambda *command: subprocess.run([str(c) for c in command], check=True)
    if not (ROOT / "web" / "node_modules").exists():  # pip has cloned the repository itself, nobody could prepare it
        run(ROOT / "scripts" / "setup", "build")
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTTMEM_TESTS=OFF")
    run("cmake", "--build", build, "--target", "ttmem", "ttmem_program")
    return native


def _platform():
    return PLATFORM or sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _tags():
    return ["py3-none-" + platform for platform in _platform().split(".")]


def _info(version):
    """The .dist-info files but RECORD."""
    return {
        "METADATA": _metadata(version),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: ttmem build_backend\nRoot-Is-Purelib: false\n" + "".join(f"Tag: {tag}\n" for tag in _tags()),
        "LICENSE": (ROOT / "LICENSE").read_text(),
        "NOTICE": (ROOT / "NOTICE").read_text(),
        **({"THIRD-PARTY-LICENSES.txt": (ROOT / "build" / "dist" / "THIRD-PARTY-LICENSES.txt").read_text()} if PLATFORM else {}),
    }


def _old_names(version):
    """{name in the wheel: text}; pip puts its own interpreter into a first line that says python."""
    source = SCRIPTS.read_text()
    text = "#!python\n" + source.split("\n", 1)[1]
    names = re.findall(r'^    "(\w+)": \[', source, re.M)
    scripts = {f"ttmem-{version}.data/scripts/{name}.py": text for name in names}
    scripts[f"ttmem-{version}.data/scripts/tt-memory-profiler"] = OLD_PROGRAM
    return scripts


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = {f"ttmem/{source.name}": source.read_bytes() for source in sorted((HERE / "ttmem").glob("*.py"))}
    return _wheel(wheel_directory, package, _native())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """pip install -e: Python reads the package from here, so the library goes here too. What is built is as it is now; another
    `pip install -e` brings it up to date."""
    native = _native()
    shutil.copy(native.pop(LIBRARY), HERE / LIBRARY)
    return _wheel(wheel_directory, {"ttmem_editable.pth": f"{HERE}\n".encode()}, native)


def _wheel(wheel_directory, package, native):
    version = _version()
    info = f"ttmem-{version}.dist-info"
    name = f"ttmem-{version}-py3-none-{_platform()}.whl"
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, data, mode=0o644):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))  # the same bytes every time
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")

        for path, data in package.items():
            add(path, data)
        for path, source in native.items():
            add(path, source.read_bytes(), 0o755)
        for path, text in _old_names(version).items():
            add(path, text.encode(), 0o755)
        for path, text in _info(version).items():
            add(f"{info}/{path}", text.encode())
        record.append(f"{info}/RECORD,,\n")
        add(f"{info}/RECORD", "".join(record).encode())
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    version = _version()
    info = pathlib.Path(metadata_directory) / f"ttmem-{version}.dist-info"
    info.mkdir()
    for name, text in _info(version).items():
        (info / name).write_text(text)
    return info.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("ttmem has no source distribution of its own: clone the repository and run pip install . there")
