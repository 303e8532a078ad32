"""Which sound device is meant. Pure.

Numbers are not taken: they belong to other devices once something was plugged in, and the wrong microphone listens
without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from edge_asr.errors import DeviceNameUnclear, DeviceNotFound
from edge_asr.resources.sound import SoundCard

_CARD_OF_NAME = re.compile(r"\(hw:(\d+),\d+\)")

DEFAULT = "default"


class NamedDevice(Protocol):
    """What is known of a device by its sound library."""

    @property
    def name(self) -> str:
        """Such as ``USB PnP Sound Device: Audio (hw:1,0)``."""
        ...

    @property
    def is_default(self) -> bool:
        """Whether it is taken when none is named."""
        ...


Device = TypeVar("Device", bound=NamedDevice)


@dataclass(frozen=True, slots=True)
class Names:
    """What a device may be called."""

    name: str
    card_id: str
    usb_path: str


def names_of(device: NamedDevice, cards: Iterable[SoundCard]) -> Names:
    """The names of a device: the sound library's own, and those of the card it belongs to."""
    found = _CARD_OF_NAME.search(device.name)
    card = next((card for card in cards if found and card.number == int(found[1])), None)
    return Names(device.name, card.card_id if card else "", card.usb_path if card else "")


def choose_device(wanted: str, devices: Sequence[Device], cards: Sequence[SoundCard]) -> Device:
    """The device that is meant.

    Args:
        wanted: Name or a part of it, id of the card (``Device``, ``hw:Device``), USB path (``usb:1-1.3``), or empty for
            the default. Upper and lower case are the same.
        devices: Those that record.
        cards: Those of the machine.

    Raises:
        DeviceNameUnclear: It is a number, or fits several devices.
        DeviceNotFound: It fits none.
    """
    check_name(wanted)
    known = [device.name for device in devices]
    if not wanted:
        for device in devices:
            if device.is_default:
                return device
        raise DeviceNotFound("", known)
    fitting = _fitting(wanted.casefold(), devices, cards)
    if not fitting:
        raise DeviceNotFound(wanted, known)
    if len(fitting) > 1:
        raise DeviceNameUnclear(wanted, f"it fits {', '.join(repr(device.name) for device in fitting)}")
    return fitting[0]


def check_name(wanted: str) -> None:
    """Refuse what can be no name of a device, whatever is plugged in.

    Raises:
        DeviceNameUnclear: It is a number.
    """
    if re.fullmatch(r"(hw:)?\d+(,\d+)?", wanted):
        raise DeviceNameUnclear(wanted, "numbers change when devices are plugged in; give a name")


def _fitting(wanted: str, devices: Sequence[Device], cards: Sequence[SoundCard]) -> Sequence[Device]:
    """Devices by the strictest reading that fits any."""
    named = [(device, names_of(device, cards)) for device in devices]
    readings = (
        [device for device, names in named if names.name.casefold() == wanted],
        [device for device, names in named if names.card_id and wanted.removeprefix("hw:") == names.card_id.casefold()],
        [device for device, names in named if names.usb_path and wanted == f"usb:{names.usb_path}"],
        [device for device, names in named if wanted in names.name.casefold()],
    )
    return next((reading for reading in readings if reading), [])
