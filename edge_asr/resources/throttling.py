"""What the Raspberry Pi's firmware says about its power supply and its heat.

The firmware lowers the clock on its own, and the kernel's frequency files need not show it
(https://github.com/raspberrypi/linux/issues/2986): these bits are the only witness.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from edge_asr.resources.procfs import read_int, read_text

Throttle = Literal["under_voltage", "frequency_capped", "throttled", "soft_temperature_limit"]
"""Bits 0 to 3 of the firmware's word; bits 16 to 19 are the same since boot.

https://www.raspberrypi.com/documentation/computers/os.html#get_throttled
"""

_SINCE_BOOT_SHIFT = 16


@dataclass(frozen=True, slots=True)
class Throttling:
    """The firmware's word, taken apart."""

    now: frozenset[Throttle]
    since_boot: frozenset[Throttle]
    """Sticky until the next boot; between two readings only a new one says something."""


def read_throttling(root: Path = Path("/")) -> Throttling | None:
    """The firmware's word; ``None`` on every machine that has no such file, which is not the same as "no bit set"."""
    # soc/soc:firmware on a Pi 3 and 4, soc@107c000000/soc@107c000000:firmware on a Pi 5
    for path in sorted((root / "sys/devices/platform").glob("*/*firmware*/get_throttled")):
        word = _hexadecimal(read_text(path))
        if word is not None:
            return Throttling(_bits(word), _bits(word >> _SINCE_BOOT_SHIFT))
    return None


def read_under_voltage_alarm(root: Path = Path("/")) -> bool | None:
    """The under-voltage alarm of kernels that have no firmware file; ``None`` where there is no such sensor."""
    for sensor in sorted((root / "sys/class/hwmon").glob("hwmon*")):
        if read_text(sensor / "name") == "rpi_volt":
            alarm = read_int(sensor / "in0_lcrit_alarm")
            return None if alarm is None else bool(alarm)
    return None


def _hexadecimal(text: str | None) -> int | None:
    try:
        return int(text, 16) if text else None  # without a prefix, unlike vcgencmd's
    except ValueError:
        return None


def _bits(word: int) -> frozenset[Throttle]:
    return frozenset(name for bit, name in enumerate(get_args(Throttle)) if word >> bit & 1)
