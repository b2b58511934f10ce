# SPDX-License-Identifier: Apache-2.0
"""What `ttmem run` does inside a Python before the program: watches for `import ttnn`, sees to it that ttnn finds its mock board, and then
loads the recorder. Started as a program it says why ttnn could not be used, if so.

Environment: TTMEM_RECORDING, the file to write. With a mock board also TTMEM_BOARD, its name; TTMEM_ROOT, a folder for a runtime root;
TTMEM_COMPILER, what answers for the kernel compiler; TTMEM_FILES, a list of what the program read.
"""

import importlib.util
import os
import sys
import zlib

OLDEST = (0, 75)  # the first ttnn that was seen to run on a mock board
NEWEST_TRIED = "0.81.1"
# Of the recorder, each after those it imports.
PARTS = tuple(
    "ttmem_" + name
    for name in "names nodes kinds sites native tests threads views devices pieces questions brief operations host traces mock".split()
)


def version_of_ttnn():
    try:
        from importlib.metadata import version

        return version("ttnn")
    except Exception:
        return ""


def is_too_old(version):
    numbers = []
    for part in version.split(".")[:2]:
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits) if digits else 0)
    return bool(version) and tuple(numbers) < OLDEST


def is_there():
    try:
        return importlib.util.find_spec("ttnn") is not None
    except (ImportError, ValueError):
        return False


def complaint(found):
    """Why ttnn, found or not, cannot be used on a mock board with this Python: a sentence and the command that fixes it; None when it can."""
    python = "%d.%d" % sys.version_info[:2]
    who = "%s (Python %s)" % (sys.executable, python)
    version = version_of_ttnn() if found else ""
    if not found:
        wrong = "ttnn is not installed for " + who
    elif is_too_old(version):
        wrong = "ttnn %s of %s cannot run on a mock board, which needs %d.%d or newer" % (version, who, OLDEST[0], OLDEST[1])
    else:
        return None
    if sys.version_info[:2] in ((3, 10), (3, 12)):
        return "%s:\n  %s -m pip install 'ttmem[ttnn]'   (or ttnn alone: pip install ttnn==%s)" % (wrong, sys.executable, NEWEST_TRIED)
    return (
        "%s, and ttnn has wheels for Python 3.10 and 3.12 only:\n"
        "  python3.12 -m venv ttnn-env && ttnn-env/bin/pip install ttnn==%s" % (wrong, NEWEST_TRIED)
    )


def installed_root(package):
    """As ttnn itself finds it."""
    return os.environ.get("TT_METAL_RUNTIME_ROOT") or (package if "-packages" in package else os.path.dirname(os.path.dirname(package)))


def link_root(old, root, compiler, descriptor):
    """A runtime root of links to the old one, with our kernel compiler: kernels do not run on a mock board, and compiling them takes most of
    the time. Nothing of the installation changes."""
    if os.path.isdir(root):
        return  # another process of the program made it
    building = "%s.%d" % (root, os.getpid())
    os.makedirs(os.path.join(building, "runtime"))
    for name in os.listdir(old):
        if name != "runtime":
            os.symlink(os.path.join(old, name), os.path.join(building, name))
    runtime = os.path.join(old, "runtime")
    for name in os.listdir(runtime) if os.path.isdir(runtime) else ():
        if name != "sfpi":
            os.symlink(os.path.join(runtime, name), os.path.join(building, "runtime", name))
    tools = os.path.join(building, "runtime", "sfpi", "compiler", "bin")
    os.makedirs(tools)
    os.symlink(compiler, os.path.join(tools, "riscv-tt-elf-g++"))
    if dispatches_from_ethernet(descriptor):
        link_ethernet_dispatch(old, building)
    try:
        os.rename(building, root)
    except OSError:
        pass  # somebody was faster


def dispatches_from_ethernet(descriptor):
    """True for clusters of n300 boards, ours or the user's own descriptor."""
    try:
        with open(descriptor, encoding="utf-8", errors="replace") as f:
            return any("n300" in line.split("#")[0].lower() for line in f)
    except OSError:
        return False  # ttnn will say so


def link_ethernet_dispatch(old, root):
    """These boards dispatch from Ethernet cores. On a mock board ttnn checks the cores of a program against the grid of boards that do
    not, and refuses most programs; with the Ethernet description in the other's place it has one grid only. See boards/README.md."""
    place = root
    for part in ("tt_metal", "core_descriptors"):
        old, place = os.path.join(old, part), os.path.join(place, part)
        if not os.path.isdir(old):
            return
        if os.path.islink(place):
            os.unlink(place)
        os.mkdir(place)
        for name in os.listdir(old):
            if name != "core_descriptors":
                os.symlink(os.path.join(old, name.replace("_80_arch.yaml", "_80_arch_eth_dispatch.yaml")), os.path.join(place, name))


def load(name):
    """A file beside this one. Neither its folder nor its name is in the way of the program's own modules."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location("_" + name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["_" + name] = module
    spec.loader.exec_module(module)
    return module


def refuse(why):
    """For `ttmem run`, which tells the user when the program has ended."""
    with open(environment().setting("TTMEM_RECORDING") + ".refused", "w") as f:
        f.write(why + "\n")


def environment():
    return sys.modules["_ttmem_environment"]


def lead_to_root(package):
    """ttnn reads where its root is when a device is opened or asked about, from libc's environment."""
    setting, old = environment().setting, installed_root(package)
    root = os.path.join(setting("TTMEM_ROOT"), "%08x" % zlib.crc32(os.fsencode(old)))
    os.makedirs(setting("TTMEM_ROOT"), exist_ok=True)
    link_root(old, root, setting("TTMEM_COMPILER"), setting("TT_METAL_MOCK_CLUSTER_DESC_PATH"))
    environment().set_unseen("TT_METAL_RUNTIME_ROOT", root)


def prepare_board(package):
    """ttnn, about to be imported from this folder, is led to the mock board. ImportError when it cannot be."""
    wrong = complaint(True)
    if not wrong:
        try:
            lead_to_root(package)
        except OSError as error:
            wrong = "cannot make a runtime root for ttnn: %s" % error
    if wrong:
        refuse(wrong)
        raise ImportError("ttmem: " + wrong, name="ttnn")


class Finder:
    """Looks after `import ttnn` and nothing else. Stays: asking for a module's spec need not lead to its import."""

    installed = False

    def find_spec(self, name, path=None, target=None):
        if name != "ttnn":
            return None
        spec = self.find_elsewhere(name, path, target)
        if spec is None:
            if environment().setting("TTMEM_BOARD"):
                refuse(complaint(False))
            return None
        if spec.origin and not hasattr(spec.loader, "of_ttmem") and hasattr(spec.loader, "exec_module"):
            self.follow(spec.loader, os.path.dirname(os.path.abspath(spec.origin)))
        return spec

    def find_elsewhere(self, name, path, target):
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None

    def follow(self, loader, package):
        """The recorder is installed when the module has been executed."""
        execute = loader.exec_module

        def exec_module(module):
            if environment().setting("TTMEM_BOARD"):
                prepare_board(package)
            execute(module)
            if self.installed:  # a reload
                return
            self.installed = True
            try:
                for name in PARTS:
                    load(name)
                recorder = load("ttmem_recorder").Recorder(module, version_of_ttnn())
                if environment().setting("TTMEM_BOARD"):
                    recorder.devices.before_open = lambda: lead_to_root(package)  # the program may have chosen a root meanwhile
                load("ttmem_wrap").install(recorder, module)
            except Exception as error:  # the program is more important than its recording
                sys.stderr.write("ttmem: cannot record with this ttnn: %s: %s\n" % (type(error).__name__, error))

        loader.exec_module = exec_module
        loader.of_ttmem = True


def watch():
    """Called when Python starts, before the program."""
    if os.environ.get("TTMEM_RECORDING"):
        environment = load("ttmem_environment")
        environment.hide()
        if environment.setting("TTMEM_FILES"):
            load("ttmem_files").watch(environment.setting("TTMEM_FILES"))
        sys.meta_path.insert(0, Finder())


if __name__ == "__main__":  # `ttmem run` asks before it starts the program
    _wrong = complaint(is_there())
    if _wrong:
        print(_wrong)
        sys.exit(3)
