"""The daemon's microphone: it and whoever reads along."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from edge_asr.errors import DeviceNameUnclear, MachineError
from edge_asr.events import Final
from edge_asr.listening import service
from edge_asr.listening.messages import FromCapture, MicrophoneEvent, Opened, Refused
from edge_asr.listening.service import Listening
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.settings import MicrophoneSettings
from tests.listening.pieces import piece
from tests.listening.test_microphone import ScriptedCapture
from tests.support.recognizer import ScriptedRecognizer
from tests.support.waiting import until


def listening(monkeypatch: pytest.MonkeyPatch, recognizer: ScriptedRecognizer, *said: FromCapture) -> Listening:
    class Scripted:
        @staticmethod
        async def start(_settings: MicrophoneSettings) -> ScriptedCapture:
            return ScriptedCapture(said)

    monkeypatch.setattr(service, "CaptureProcess", Scripted)
    return Listening(MicrophoneSettings("mic"), recognizer, Instruments(new_registry()))


async def follow(microphone: Listening) -> Sequence[MicrophoneEvent]:
    return [event async for event in microphone.feed.events()]


async def test_the_last_words_are_said_when_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    recognizer = ScriptedRecognizer()
    microphone = listening(monkeypatch, recognizer, Opened("mic", "ALSA", 16_000, 1), piece(0))
    reader = asyncio.create_task(follow(microphone))
    microphone.start(on_failure=lambda: None)
    await until(lambda: recognizer.sessions and recognizer.sessions[0].audio)
    states = [microphone.state.state]
    await microphone.close(10.0)
    assert [event.text for event in await reader if isinstance(event, Final)] == ["go forward"]
    assert [*states, microphone.state.state] == ["listening", "stopped"]


async def test_a_machine_that_can_never_record_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asyncio.Event()
    refused = Refused("library_missing", "PortAudio is not installed")
    microphone = listening(monkeypatch, ScriptedRecognizer(), refused)
    microphone.start(failed.set)
    await failed.wait()
    assert isinstance(microphone.failure, MachineError)
    assert str(microphone.failure) == "PortAudio is not installed"
    await microphone.close(10.0)


async def test_closing_what_was_never_started_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    await listening(monkeypatch, ScriptedRecognizer(), piece(0)).close(10.0)


def test_a_number_is_refused_before_anything_starts() -> None:
    with pytest.raises(DeviceNameUnclear):
        Listening(MicrophoneSettings("2"), ScriptedRecognizer(), Instruments(new_registry()))
