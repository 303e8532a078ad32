"""``edge-asr devices``: what records here, and how loud it is."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

from edge_asr.cli.messages import remark, warn
from edge_asr.cli.options import common_options, json_option
from edge_asr.errors import DeviceUnavailable

if TYPE_CHECKING:
    from edge_asr.sources.microphone import InputDevice

_QUIETEST_DBFS = -60.0
_BAR_WIDTH = 30


@click.command()
@click.option("--meter", is_flag=True, help="Record a second from each device and show how loud it was.")
@json_option
@common_options
def devices(*, meter: bool, as_json: bool) -> None:
    """List the sound devices that record.

    A star marks the one that is used when none is named. With --meter, speak while it runs: a microphone that works
    shows a peak above -30 dB, one that is muted shows digital silence.

    \b
    Example:
      edge-asr devices --meter
    """
    from edge_asr.sources.microphone import input_devices

    rows = [_row(device, meter=meter) for device in input_devices()]
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    if not rows:
        remark("no sound device that records; `edge-asr doctor` says what may be in the way")
    for row in rows:
        click.echo(_line(row, meter=meter))


def _row(device: InputDevice, *, meter: bool) -> dict[str, Any]:
    from edge_asr.sources.microphone import measure_level

    row = dataclasses.asdict(device)
    if meter:
        try:
            row |= dataclasses.asdict(measure_level(device)) | {"problem": None}
        except DeviceUnavailable as error:
            warn(str(error))
            row |= {"peak_dbfs": None, "rms_dbfs": None, "problem": error.reason}
    return row


def _line(row: dict[str, Any], *, meter: bool) -> str:
    mark = "*" if row["is_default"] else " "
    channels = f"{row['channels']} channel{'s' if row['channels'] != 1 else ''}"
    text = f"{mark} {row['name']}  ({row['host_api']}, {channels}, {row['sample_rate_hz']} Hz)"
    return f"{text}\n    {_meter(row)}" if meter else text


def _meter(row: dict[str, Any]) -> str:
    if row["problem"] is not None:
        return f"cannot be recorded from: {row['problem']}"
    if row["peak_dbfs"] is None:
        return "digital silence: it is muted, or nothing is plugged in"
    filled = round(_BAR_WIDTH * (1 - max(row["peak_dbfs"], _QUIETEST_DBFS) / _QUIETEST_DBFS))
    return f"[{'#' * filled:<{_BAR_WIDTH}}] peak {row['peak_dbfs']:.1f} dB, average {row['rms_dbfs']:.1f} dB"
