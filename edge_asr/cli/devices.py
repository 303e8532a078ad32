"""``edge-asr devices``: what records here, by which names, and how loud it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from edge_asr.cli.messages import remark, warn
from edge_asr.cli.options import common_options, json_option

if TYPE_CHECKING:
    from edge_asr.listening.device_list import ListedDevice

_QUIETEST_DBFS = -60.0
_BAR_WIDTH = 30
_METERED_KEYS = ("peak_dbfs", "rms_dbfs", "offset", "clipped", "problem")

_TOO_QUIET_DBFS = -40.0
"""Speech at arm's length peaks well above; models hear other words in what is quieter."""
_MUCH_OFFSET = 0.02
_MUCH_CLIPPED = 0.001


@click.command()
@click.option("--meter", is_flag=True, help="Record a second from each device and show how loud it was.")
@json_option
@common_options
def devices(*, meter: bool, as_json: bool) -> None:
    """List the sound devices that record.

    A star marks the one that is used when none is named. A device can be named by its name or a part of it, by the id
    of its card, or by the USB port it is plugged into; all of them stay the same after a restart. With --meter, speak
    while it runs: a microphone that works shows a peak above -30 dB, one that is muted shows digital silence.

    \b
    Example:
      edge-asr devices --meter
    """
    import msgspec

    from edge_asr.listening.device_list import list_devices

    found = list_devices(meter=meter)
    if as_json:
        rows = [_entry(device, meter=meter) for device in found]
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return
    if not found:
        remark("no sound device that records; `edge-asr doctor` says what may be in the way")
    for device in found:
        if device.problem is not None:
            warn(f"sound device {device.name!r}: {device.problem}; `edge-asr doctor` says who holds it")
        click.echo(_line(device, meter=meter))


def _entry(device: ListedDevice, *, meter: bool) -> dict[str, object]:
    fields = {name: getattr(device, name) for name in device.__struct_fields__}
    return {name: value for name, value in fields.items() if meter or name not in _METERED_KEYS}


def _line(device: ListedDevice, *, meter: bool) -> str:
    mark = "*" if device.is_default else " "
    channels = f"{device.channels} channel{'s' if device.channels != 1 else ''}"
    text = f"{mark} {device.name}  ({device.host_api}, {channels}, {device.sample_rate_hz} Hz)"
    if device.card_id:
        text += f"\n    also called {device.card_id}" + (f" or usb:{device.usb_path}" if device.usb_path else "")
    return f"{text}\n    {_meter(device)}" if meter else text


def _meter(device: ListedDevice) -> str:
    if device.problem is not None:
        return f"cannot be recorded from: {device.problem}"
    if device.peak_dbfs is None or device.rms_dbfs is None:
        return "digital silence: it is muted, or nothing is plugged in"
    filled = round(_BAR_WIDTH * (1 - max(device.peak_dbfs, _QUIETEST_DBFS) / _QUIETEST_DBFS))
    bar = f"[{'#' * filled:<{_BAR_WIDTH}}] peak {device.peak_dbfs:.1f} dB, average {device.rms_dbfs:.1f} dB"
    return "\n    ".join((bar, *_advice(device)))


def _advice(device: ListedDevice) -> list[str]:
    """What to do about what was measured."""
    advice = []
    if device.clipped is not None and device.clipped > _MUCH_CLIPPED:
        advice.append(f"{device.clipped:.1%} of the samples are cut off: turn the gain down (alsamixer)")
    elif device.peak_dbfs is not None and device.peak_dbfs < _TOO_QUIET_DBFS:
        advice.append("very quiet: if somebody spoke, turn the gain up (alsamixer), or come closer")
    if device.offset is not None and abs(device.offset) > _MUCH_OFFSET:
        advice.append(
            f"direct current of {abs(device.offset):.0%} of full scale: a cheap or badly fed card; it is removed"
        )
    return advice
