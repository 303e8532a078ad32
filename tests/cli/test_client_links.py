"""The client's side of each protocol, where things go wrong halfway."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from edge_asr.cli.client_links import (
    WEBSOCKET_SCHEMES,
    WYOMING_SCHEMES,
    Pcm,
    Timing,
    Wanted,
    converse_native,
    converse_wyoming,
)
from edge_asr.cli.daemon_address import parse_address
from edge_asr.clock import MonotonicClock
from edge_asr.errors import AudioUnreadable
from tests.support.doors import http_door, wyoming_door
from tests.support.recognizer import ScriptedRecognizer


async def damaged() -> AsyncIterator[bytes]:
    """A recording that breaks off."""
    yield bytes(3200)
    raise AudioUnreadable("talk.flac", "it is damaged")


async def test_a_recording_that_breaks_off_ends_the_native_session_at_once() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base:
        address = parse_address(base, WEBSOCKET_SCHEMES)
        with pytest.raises(AudioUnreadable, match=r"talk\.flac: it is damaged"):
            async for _ in converse_native(address, Pcm(16_000, damaged()), Wanted(), Timing(MonotonicClock())):
                pass
        await recognizer.is_idle.wait()


async def test_a_recording_that_breaks_off_ends_the_wyoming_session_at_once() -> None:
    recognizer = ScriptedRecognizer()
    async with wyoming_door(recognizer) as uri:
        address = parse_address(uri, WYOMING_SCHEMES)
        with pytest.raises(AudioUnreadable, match=r"talk\.flac: it is damaged"):
            async for _ in converse_wyoming(address, Pcm(16_000, damaged()), Wanted(), Timing(MonotonicClock())):
                pass
        await recognizer.is_idle.wait()
