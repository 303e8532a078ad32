"""Memory: whether the model fits, whether a limit would hold, and where the machine swaps to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edge_asr.diagnosis.finding import Finding
from edge_asr.resources.swap import SwapArea

RESERVE_BYTES = 64 << 20
"""Should stay free beside the model: the front process, uploads, everything else on the board."""


def model_memory_findings(model: str, needed_bytes: int, available_bytes: int) -> Iterator[Finding]:
    """Whether the model that would be served fits.

    Args:
        model: Its name.
        needed_bytes: What a worker with it takes.
        available_bytes: What can be used without swapping.
    """
    figures = f"model {model!r} needs about {_mib(needed_bytes)} and {_mib(available_bytes)} are available"
    if needed_bytes > available_bytes:
        yield Finding(
            "error",
            "not_enough_memory",
            figures,
            "the daemon refuses to load a model that does not fit",
            "activate a smaller model (`edge-asr models list`), or stop other programs",
        )
    elif needed_bytes + RESERVE_BYTES > available_bytes:
        yield Finding(
            "warning",
            "memory_short",
            figures,
            "little is left for everything else: under load the kernel ends a process to get memory",
            'activate a smaller model, stop other programs, or set engine.memory_profile = "low"',
        )
    else:
        yield Finding("ok", "memory", figures)


def memory_group_findings(model: str | None, has_controller: bool | None, command_line: str) -> Iterator[Finding]:
    """Whether the kernel can hold a service to a memory limit.

    Args:
        model: The board's.
        has_controller: As :func:`edge_asr.resources.cgroup.has_memory_controller` says.
        command_line: The kernel's, from ``/proc/cmdline``.
    """
    if has_controller is None:
        return
    if has_controller:
        yield Finding("ok", "memory_cgroup", "the kernel can hold services to a memory limit")
        return
    advice = "start the kernel with cgroup_enable=memory"
    if "cgroup_enable=memory" in command_line:
        # https://github.com/raspberrypi/linux/issues/6980
        advice = "the command line asks for it and the kernel does not obey, as 6.12.34 of Raspberry Pi OS: update it"
    elif model and model.startswith("Raspberry Pi"):
        advice = (
            "add cgroup_enable=memory to the one line of /boot/firmware/cmdline.txt (older systems: /boot/cmdline.txt) "
            "and restart the board"
        )
    yield Finding(
        "warning",
        "memory_cgroup_off",
        "the memory controller of control groups is off",
        "MemoryMax= of a unit and memory limits of containers are ignored, without a word",
        advice,
    )


def swap_findings(areas: Sequence[SwapArea]) -> Iterator[Finding]:
    """Where memory goes when it is short."""
    for area in areas:
        if area.medium == "sd_card":
            yield Finding(
                "warning",
                "swap_on_sd_card",
                f"{area.path} ({_mib(area.size_bytes)}) swaps to the SD card; {_mib(area.used_bytes)} are in use",
                "decoding waits for the card when memory is short, and swapping wears the card out",
                "swap to compressed memory (sudo apt install systemd-zram-generator) and remove this one: "
                "sudo swapoff -a; sudo systemctl disable --now dphys-swapfile",
            )
    if areas and all(area.medium != "sd_card" for area in areas):
        places = ", ".join(f"{area.path} ({area.medium.replace('_', ' ')})" for area in areas)
        yield Finding("ok", "swap", f"swap is on {places}")
    if not areas:
        yield Finding(
            "ok", "swap", "there is no swap: memory that is full ends a process, and nothing waits for a disk"
        )


def _mib(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB"
