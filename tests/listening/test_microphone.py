"""The microphone as a client of the recogniser: sessions begin, end with the device, and begin again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import pytest

from edge_asr.errors import ConfigurationError, DeviceNameUnclear
from edge_asr.events import Failed, Final, Notice, Partial
from edge_asr.listening.messages import (
    FromCapture,
    Lost,
    MicrophoneEvent,
    MicrophoneLevel,
    MicrophoneState,
    Opened,
    Refused,
    Waiting,
)
from edge_asr.listening.microphone import Microphone
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from tests.listening.pieces import piece
from tests.support.recognizer import ScriptedRecognizer
from tests.support.waiting import until

OPENED = Opened("USB microphone", "ALSA", 48_000, 2)
WAITING = Waiting("no sound device records", "device_not_found")
LABELS = {"device": "USB microphone"}

T = TypeVar("T")


class ScriptedCapture:
    def __init__(self, messages: Sequence[FromCapture]) -> None:
        self._messages = messages
        self.is_closed = False

    async def messages(self) -> AsyncIterator[FromCapture]:
        for message in self._messages:
            yield message
        if not isinstance(self._messages[-1], Lost | Refused):
            await asyncio.Event().wait()  # a device that goes on recording

    async def close(self) -> None:
        self.is_closed = True


class Desk:
    """A microphone with a recogniser and one recording process after the other."""

    def __init__(self, *captures: Sequence[FromCapture], recognizer: ScriptedRecognizer | None = None) -> None:
        self.recognizer = recognizer or ScriptedRecognizer()
        self.captures = [ScriptedCapture(messages) for messages in captures]
        self.heard: list[MicrophoneEvent] = []
        self.registry = new_registry()
        self._started = 0
        self.microphone = Microphone(self._start, self.recognizer, self.heard.append, Instruments(self.registry))
        self.running = asyncio.create_task(self.microphone.run())

    async def _start(self) -> ScriptedCapture:
        self._started += 1
        return self.captures[self._started - 1]

    async def stop(self) -> None:
        self.microphone.stop()
        await self.running

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.heard if isinstance(event, kind)]

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.of(MicrophoneState)]

    def figure(self, name: str) -> float | None:
        return self.registry.get_sample_value(f"edge_asr_microphone_{name}", LABELS)


async def test_what_is_recorded_goes_to_a_live_session_and_its_words_are_heard() -> None:
    desk = Desk([OPENED, piece(0), piece(1)])
    await until(lambda: desk.recognizer.sessions and len(desk.recognizer.sessions[0].audio) == 6400)
    await desk.stop()
    session = desk.recognizer.sessions[0]
    assert bytes(session.audio) == piece(0).pcm + piece(1).pcm
    assert (session.options.is_live, desk.recognizer.protocols) == (True, ["microphone"])
    assert [final.text for final in desk.of(Final)] == ["go forward"]
    assert desk.states == ["listening", "stopped"]
    assert desk.captures[0].is_closed


async def test_words_said_while_the_model_loads_are_kept() -> None:
    desk = Desk([OPENED, piece(0), piece(1), piece(2)], recognizer=ScriptedRecognizer(ready=None))
    await until(lambda: len(desk.of(MicrophoneLevel)) == 3)
    await desk.recognizer.start()
    await until(lambda: desk.recognizer.sessions and len(desk.recognizer.sessions[0].audio) == 9600)
    await desk.stop()
    assert bytes(desk.recognizer.sessions[0].audio).startswith(piece(0).pcm)


async def test_a_lost_microphone_ends_its_session_with_a_final_and_another_begins_when_it_is_back() -> None:
    desk = Desk([OPENED, piece(0), Lost("the device is gone")], [WAITING, WAITING, OPENED, piece(50), piece(51)])
    await until(lambda: len(desk.recognizer.sessions) == 2 and len(desk.recognizer.sessions[1].audio) == 6400)
    assert desk.figure("up") == 1
    await desk.stop()
    assert desk.states == ["listening", "lost", "back", "stopped"]
    assert [(final.segment, round(final.start_s, 3)) for final in desk.of(Final)] == [(0, 0.0), (1, 5.0)]
    assert (desk.figure("losses_total"), desk.figure("up")) == (1, 0)


async def test_a_microphone_that_is_not_there_yet_is_waited_for_and_that_is_said_once() -> None:
    desk = Desk([WAITING, WAITING, OPENED, piece(0)])
    await until(lambda: desk.recognizer.sessions)
    await desk.stop()
    assert desk.states == ["waiting", "listening", "stopped"]


async def test_lost_audio_becomes_silence_a_notice_and_a_figure() -> None:
    desk = Desk([OPENED, piece(0), piece(3, gap_samples=3200, overruns=2)])
    await until(lambda: desk.recognizer.sessions and len(desk.recognizer.sessions[0].audio) > 6400)
    await desk.stop()
    assert bytes(desk.recognizer.sessions[0].audio) == piece(0).pcm + bytes(6400) + piece(3).pcm
    notice = desk.of(Notice)[0]
    assert (notice.code, notice.count) == ("audio_dropped", 3200)
    assert (desk.figure("gap_seconds_total"), desk.figure("overruns_total")) == (0.2, 2)


async def test_silence_is_said_once_and_so_is_its_end() -> None:
    desk = Desk([OPENED, piece(0), piece(1, is_silent=True), piece(2, is_silent=True), piece(3)])
    await until(lambda: len(desk.of(MicrophoneLevel)) == 4)
    await desk.stop()
    assert desk.states == ["listening", "silent", "sound", "stopped"]


async def test_a_device_that_can_never_be_used_ends_it_with_the_reason() -> None:
    refused = DeviceNameUnclear("usb", "it fits two")
    desk = Desk([Refused(refused.code, str(refused))])
    with pytest.raises(ConfigurationError, match="it fits two") as caught:
        await desk.running
    assert caught.value.code == refused.code


async def test_a_session_that_fails_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edge_asr.listening.microphone.RETRY_S", 0.0)
    desk = Desk([OPENED, *(piece(number) for number in range(3))])
    await until(lambda: desk.recognizer.sessions)
    desk.recognizer.sessions[0].say(Failed("s0", "engine_failed", "it broke"))
    await until(lambda: desk.of(Failed))
    desk.microphone._take(piece(3))
    await until(lambda: len(desk.recognizer.sessions) == 2)
    await desk.stop()
    assert bytes(desk.recognizer.sessions[1].audio) == piece(3).pcm


async def test_whoever_hears_may_fail_and_then_it_ends_with_that() -> None:
    recognizer = ScriptedRecognizer()

    def hear(event: MicrophoneEvent) -> None:
        if isinstance(event, Partial):
            raise BrokenPipeError

    capture = ScriptedCapture([OPENED, piece(0)])

    async def start() -> ScriptedCapture:
        return capture

    microphone = Microphone(start, recognizer, hear, Instruments(new_registry()))
    running = asyncio.create_task(microphone.run())
    await until(lambda: recognizer.sessions and recognizer.sessions[0].audio)
    microphone._take(piece(1))
    with pytest.raises(BrokenPipeError):
        await running
    assert recognizer.sessions[0].is_cancelled.is_set()
    assert capture.is_closed
