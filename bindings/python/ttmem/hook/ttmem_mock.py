# SPDX-License-Identifier: Apache-2.0
"""What crashes ttnn on a mock board, where there is no hardware to speak to, and is carried over because nothing that is allocated depends on it. The
recording counts it."""

import os

from _ttmem_environment import setting
from _ttmem_native import open_library

# Tells the workers of a board which sub-device they belong to. What a sub-device manager does to the allocator is done before.
TELL_WORKERS = (
    b"_ZN2tt8tt_metal16program_dispatch37reset_worker_dispatch_state_on_deviceEPNS0_11distributed10MeshDeviceERNS0_19SystemMemoryManagerEhNS_7xy_pair"
    b"ERKSt5arrayIjLm8EEbSt4spanIKSt6vectorIjN4ttsl17aligned_allocatorIjLm16EEEELm18446744073709551615EE"
)


def leave_out(home, function):
    """True when ttnn does not call a function of its own any more."""
    try:
        library, (_, path) = open_library(home)
        return library.ttmem_mock_leave_out(path, function) == 1
    except (OSError, AttributeError):
        return False


def carry_events(recorder, ttnn):
    """A command queue that waits for an event of another one. Operations run in the order of their calls here, so that there is nothing to wait for."""

    def wait_for_event(*args, **kwargs):
        recorder.waits += 1

    for module in (ttnn, getattr(getattr(ttnn, "_ttnn", None), "events", None)):
        if hasattr(module, "wait_for_event"):
            module.wait_for_event = wait_for_event


def carry_sub_devices(recorder, ttnn):
    """They change what is allocated where, so that they are loaded by ttnn itself; where that cannot be, the program gets an exception."""
    safe = leave_out(recorder.home, TELL_WORKERS)

    def counting(real):
        def load_sub_device_manager(*args, **kwargs):
            if not safe:
                raise RuntimeError("ttmem: ttnn cannot load sub-devices on a mock board")
            recorder.sub_devices += 1
            return real(*args, **kwargs)

        return load_sub_device_manager

    for kind in {getattr(ttnn, name, None) for name in ("MeshDevice", "Device")}:
        if hasattr(kind, "load_sub_device_manager"):
            kind.load_sub_device_manager = counting(kind.load_sub_device_manager)


def choose_dispatch(arguments):
    """Of boards that dispatch from Ethernet cores (ttmem_start.link_ethernet_dispatch): a device that is opened with dispatch from Tensix cores has the
    description of those in its place."""
    config = next((value for value in arguments if hasattr(value, "axis") and hasattr(value, "type")), None)
    ethernet = config is None or "ETH" in str(config.type)
    base = setting("TTMEM_ROOT")
    for root in os.listdir(base) if base and os.path.isdir(base) else ():
        folder = os.path.join(base, root, "tt_metal", "core_descriptors")
        if os.path.islink(os.path.dirname(folder)) or not os.path.isdir(folder):
            continue  # that of the installation: there is nothing to choose
        for link in (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith("_80_arch.yaml")):
            name = os.path.basename(link)
            target = os.path.join(os.path.dirname(os.readlink(link)), name.replace("_arch.", "_arch_eth_dispatch.") if ethernet else name)
            if os.readlink(link) != target:
                os.symlink(target, link + ".new")
                os.replace(link + ".new", link)
