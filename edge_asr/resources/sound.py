"""Sound devices that record, as the kernel's ALSA drivers list them, and who holds them.

A program that finds a device held cannot open it; the kernel knows by whom, the sound libraries do not say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import read_text

_OWNER = re.compile(r"^owner_pid\s*:\s*(\d+)", re.MULTILINE)
_USB_INTERFACE = re.compile(r"(\d+-[\d.]+):[\d.]+$")


@dataclass(frozen=True, slots=True)
class CaptureDevice:
    """One recording device of one card."""

    card: int
    device: int
    name: str
    """The card's and the driver's words."""
    holder_pid: int | None
    """The process that has it open; ``None`` when it is free."""

    @property
    def alsa_name(self) -> str:
        """How ALSA programs call it: ``hw:1,0``."""
        return f"hw:{self.card},{self.device}"


@dataclass(frozen=True, slots=True)
class SoundCard:
    """One card, by the names that stay the same when it is plugged in again."""

    number: int
    """Its place now; another one after the next restart, perhaps."""
    card_id: str
    """ALSA's word for it, such as ``Device``; the second card of the same kind gets ``Device_1``."""
    usb_path: str
    """Bus and ports it is plugged into, such as ``1-1.3``; empty for a card that is not on USB."""


def read_sound_cards(root: Path = Path("/")) -> tuple[SoundCard, ...]:
    """Every card, by number; empty on a machine without sound."""
    folders = sorted((root / "proc/asound").glob("card[0-9]*"), key=lambda folder: int(folder.name[4:]))
    return tuple(
        SoundCard(
            number=int(folder.name[4:]),
            card_id=read_text(folder / "id") or "",
            usb_path=_usb_path(root / "sys/class/sound" / folder.name / "device"),
        )
        for folder in folders
    )


def _usb_path(device: Path) -> str:
    """The USB device's folder in the kernel's tree, without its interface: ``…/usb1/1-1/1-1.3/1-1.3:1.0``."""
    try:
        name = device.resolve(strict=True).name
    except OSError:
        return ""
    found = _USB_INTERFACE.match(name)
    return found[1] if found else ""


def read_capture_devices(root: Path = Path("/")) -> tuple[CaptureDevice, ...]:
    """Every recording device, by card and number; empty on a machine without sound."""
    folders = sorted((root / "proc/asound").glob("card[0-9]*/pcm[0-9]*c"), key=_numbers)
    return tuple(_read_device(folder) for folder in folders)


def _numbers(folder: Path) -> tuple[int, int]:
    return int(folder.parent.name.removeprefix("card")), int(folder.name.removeprefix("pcm").removesuffix("c"))


def _read_device(folder: Path) -> CaptureDevice:
    card, device = _numbers(folder)
    fields = dict(
        line.split(": ", maxsplit=1) for line in (read_text(folder / "info") or "").splitlines() if ": " in line
    )
    words = (read_text(folder.parent / "id"), fields.get("name") or fields.get("id"))
    return CaptureDevice(card, device, ", ".join(word for word in words if word), _holder(folder))


def _holder(folder: Path) -> int | None:
    for status in sorted(folder.glob("sub*/status")):
        if owner := _OWNER.search(read_text(status) or ""):  # "closed" when nobody has it
            return int(owner[1])
    return None
