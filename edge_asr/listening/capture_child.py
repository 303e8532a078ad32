"""``python -m edge_asr.listening.capture_child``: the process that records and that may die without harm.

PortAudio ends the process that loads it when the ALSA configuration is odd, hangs when a device is gone, and finds
devices only once. So it lives here: one process records until its device is lost and then ends without tidying up; the
next one waits for the device, looking for devices anew at every attempt. Messages go to standard output.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import IO, Any

import msgspec

from edge_asr.errors import DeviceNameUnclear, DeviceNotFound, DeviceUnavailable, EdgeAsrError, LibraryMissing
from edge_asr.listening.capture_loop import CaptureLoop
from edge_asr.listening.device_choice import choose_device, names_of
from edge_asr.listening.messages import FromCapture, Opened, Refused, Waiting, encode
from edge_asr.resources.sound import read_sound_cards
from edge_asr.sources import microphone
from edge_asr.workers.stderr_log import PrefixFormatter

PAUSES_S = ((30.0, 0.5), (120.0, 1.0))
"""Between attempts while the device has been away for less than so long: it may be back any moment."""
LONG_PAUSE_S = 5.0
_LOOK_S = 0.5
"""How often the cards of the machine are looked at meanwhile, which costs nothing."""

_logger = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point; leaves by ``os._exit``, since closing a device that is gone can hang."""
    options = _parse(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; whoever started us decides
    _log_to_stderr()
    status = 0
    try:
        if options.list:
            sys.stdout.buffer.write(msgspec.json.encode(_listed(meter=options.meter)))
            sys.stdout.flush()
        else:
            _record(options, sys.stdout.buffer)
    except BrokenPipeError:
        status = 0  # nobody listens any more
    except EdgeAsrError as error:
        sys.stdout.buffer.write(msgspec.json.encode(Refused(error.code, str(error))))
        sys.stdout.flush()
        status = 3
    except Exception:
        _logger.exception("recording fails")
        status = 1
    os._exit(status)


def _record(options: argparse.Namespace, output: IO[bytes]) -> None:
    def say(message: FromCapture) -> None:
        output.write(encode(message))
        output.flush()

    capture = _wait_for_device(options.device, must_exist=options.must_exist, say=say)
    if capture is not None:
        device = capture.device
        say(Opened(device.name, device.host_api, capture.rate_hz, capture.channels))
        CaptureLoop(capture, options.channel, microphone.decode_frames, say).run()


def _wait_for_device(wanted: str, *, must_exist: bool, say: Any) -> microphone.Capture | None:  # noqa: ANN401
    began_s = time.monotonic()
    while True:
        try:
            return microphone.open_capture(choose_device(wanted, microphone.input_devices(), read_sound_cards()))
        except (DeviceNameUnclear, DeviceNotFound, DeviceUnavailable, LibraryMissing) as error:
            if must_exist or isinstance(error, LibraryMissing):
                say(Refused(error.code, str(error)))
                return None
            say(Waiting(str(error), error.code))
        _pause(pause_s(time.monotonic() - began_s))
        microphone.forget_devices()


def pause_s(waited_s: float) -> float:
    """Seconds before the next attempt to open a device that has been away for so long."""
    return next((pause for until_s, pause in PAUSES_S if waited_s < until_s), LONG_PAUSE_S)


def _pause(seconds: float) -> None:
    """Wait, or less when a card was plugged in or out."""
    until_s = time.monotonic() + seconds
    cards = read_sound_cards()
    while (left_s := until_s - time.monotonic()) > 0:
        time.sleep(min(left_s, _LOOK_S))
        if read_sound_cards() != cards:
            return


def _listed(*, meter: bool) -> list[dict[str, Any]]:
    cards = read_sound_cards()
    rows = []
    for device in microphone.input_devices():
        names = names_of(device, cards)
        row = dataclasses.asdict(device) | {"card_id": names.card_id, "usb_path": names.usb_path}
        rows.append(row | (_metered(device) if meter else {}))
    return rows


def _metered(device: microphone.InputDevice) -> dict[str, Any]:
    try:
        return dataclasses.asdict(microphone.measure_level(device)) | {"problem": None}
    except DeviceUnavailable as error:
        nothing = {"peak_dbfs": None, "rms_dbfs": None, "offset": None, "clipped": None}
        return nothing | {"problem": error.reason}


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="capture_child")
    parser.add_argument("--device", default="")
    parser.add_argument("--channel", default="mix")
    parser.add_argument("--must-exist", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--meter", action="store_true")
    return parser.parse_args(arguments)


def _log_to_stderr() -> None:
    """Our own words go on to the parent; those of the sound libraries, which are many, nowhere."""
    handler = logging.StreamHandler(os.fdopen(os.dup(2), "w"))
    handler.setFormatter(PrefixFormatter())
    logging.getLogger("edge_asr").addHandler(handler)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


if __name__ == "__main__":
    main()
