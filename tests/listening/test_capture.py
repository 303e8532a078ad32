"""The recording process, seen from the front: what it says, and how it ends."""

from __future__ import annotations

import sys

import pytest

from edge_asr.errors import ConfigurationError, MachineError
from edge_asr.listening import capture
from edge_asr.listening.capture import CaptureProcess, refusal
from edge_asr.listening.messages import FromCapture, Lost, Opened, Refused
from edge_asr.settings import MicrophoneSettings

SAY_OPENED = """
import sys
from edge_asr.listening.messages import Opened, encode
sys.stdout.buffer.write(encode(Opened("mic", "ALSA", 48000, 1)))
sys.stdout.flush()
"""
OPENED = Opened("mic", "ALSA", 48_000, 1)


async def said(monkeypatch: pytest.MonkeyPatch, script: str, *, must_exist: bool = False) -> list[FromCapture]:
    """What a process with this script in the place of ours says."""
    monkeypatch.setattr(capture, "capture_command", lambda *_: [sys.executable, "-c", script])
    process = await CaptureProcess.start(MicrophoneSettings(device="mic"), must_exist=must_exist)
    return [message async for message in process.messages()]


async def test_messages_come_as_they_were_said(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = 'from edge_asr.listening.messages import Lost\nsys.stdout.buffer.write(encode(Lost("gone")))'
    assert await said(monkeypatch, SAY_OPENED + lost) == [OPENED, Lost("gone")]


async def test_a_process_that_the_sound_library_ends_has_lost_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = await said(monkeypatch, SAY_OPENED + "import os\nos.abort()")
    assert messages == [OPENED, Lost("the process that records ended: killed by signal 6 (SIGABRT)")]


async def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "SILENCE_S", 0.2)
    messages = await said(monkeypatch, "import time\ntime.sleep(600)")
    assert messages == [Lost("the process that records has said nothing for 0.2 s")]


async def test_one_that_hangs_while_it_records_is_ended_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "RECORDING_SILENCE_S", 0.2)
    audio = (
        "from edge_asr.listening.messages import Captured\n"
        'sys.stdout.buffer.write(encode(Captured(b"", 0, 1, 0, None, None, False)))\n'
        "sys.stdout.flush()\nimport time\ntime.sleep(600)"
    )
    messages = await said(monkeypatch, SAY_OPENED + audio)
    assert messages[-1] == Lost("the process that records has said nothing for 0.2 s")


async def test_its_words_name_the_device_and_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    words: list[tuple[str, ...]] = []

    def note(*given: str) -> list[str]:
        words.append(given)
        return [sys.executable, "-c", ""]

    monkeypatch.setattr(capture, "capture_command", note)
    for settings in (MicrophoneSettings("usb:1-1.3", "left"), MicrophoneSettings("default")):
        await (await CaptureProcess.start(settings, must_exist=settings.channel == "left")).close()
    assert words == [
        ("--device", "usb:1-1.3", "--channel", "left", "--must-exist"),
        ("--device", "", "--channel", "mix"),
    ]


def test_a_refusal_is_the_kind_of_error_that_it_was() -> None:
    unclear = refusal(Refused("device_name_unclear", "it fits two"))
    absent = refusal(Refused("device_not_found", "there is none"))
    assert (type(unclear), unclear.code, str(unclear)) == (ConfigurationError, "device_name_unclear", "it fits two")
    assert (type(absent), absent.code) == (MachineError, "device_not_found")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import os\nos.abort()", "the process that records ended: killed by signal 6 (SIGABRT)"),
        ("import time\ntime.sleep(600)", "the process that records has said nothing for 0.2 s"),
    ],
)
async def test_a_sound_library_that_fails_is_not_waited_for_where_the_device_must_exist(
    monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.setattr(capture, "SILENCE_S", 0.2 if "sleep" in script else 30.0)
    assert await said(monkeypatch, script, must_exist=True) == [Refused("device_unavailable", reason)]
