"""The sound devices that record, asked for in a process of its own: PortAudio may end the process that loads it."""

from __future__ import annotations

import os
import subprocess

import msgspec

from edge_asr.errors import EdgeAsrError, MachineError
from edge_asr.listening.capture import capture_command, refusal
from edge_asr.listening.messages import Refused
from edge_asr.workers.command import worker_environment
from edge_asr.workers.exits import describe_exit

_TIMEOUT_S = 60.0
"""Of a machine with many devices, each recorded from for a second."""


class ListedDevice(msgspec.Struct, frozen=True, kw_only=True):
    """One device, by all its names; figures only when it was metered."""

    index: int
    name: str
    host_api: str
    channels: int
    sample_rate_hz: int
    is_default: bool
    card_id: str
    """ALSA's word for its card; empty for a device of a sound server."""
    usb_path: str
    """Where its card is plugged in; empty when not on USB."""
    peak_dbfs: float | None = None
    """``None`` for digital silence."""
    rms_dbfs: float | None = None
    offset: float | None = None
    """Direct current, of full scale 1.0."""
    clipped: float | None = None
    """Share of samples that are cut off."""
    problem: str | None = None
    """Why it could not be recorded from."""


def list_devices(*, meter: bool) -> tuple[ListedDevice, ...]:
    """Every device that records.

    Args:
        meter: Record a second from each, too.

    Raises:
        LibraryMissing: PortAudio is not installed.
        MachineError: It ended, or did not answer.
    """
    try:
        child = subprocess.run(
            capture_command("--list", *(["--meter"] if meter else [])),
            capture_output=True,
            timeout=_TIMEOUT_S,
            env=worker_environment(os.environ, malloc_arenas=1),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MachineError(f"the sound library did not answer within {_TIMEOUT_S:g} s") from None
    if child.returncode == 0:
        return msgspec.json.decode(child.stdout, type=tuple[ListedDevice, ...])
    raise _failure(child)


def _failure(child: subprocess.CompletedProcess[bytes]) -> EdgeAsrError:
    try:
        return refusal(msgspec.json.decode(child.stdout, type=Refused))
    except msgspec.DecodeError:
        how = describe_exit(child.returncode, child.stderr.decode(errors="replace").strip().rpartition("\n")[2])
        return MachineError(
            f"the sound library ended its process ({how}); it does so where ALSA has no usable configuration: "
            "`sudo apt install libasound2-data`, and look at ~/.asoundrc and $ALSA_CONFIG_PATH"
        )
