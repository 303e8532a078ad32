from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent
from tools.peers_bench.adapters.conversation import NativeCodec, Session, SherpaCodec, Update
from tools.peers_bench.peer import PeerFailed

PADDING = 1600


def native(event: TranscriptEvent) -> Update:
    return NativeCodec(0.32, PADDING).read(msgspec.json.encode(event).decode())


def test_a_native_partial_tells_which_step_it_comes_from() -> None:
    # Three steps of 320 ms, 100 ms of which are the silence before the recording.
    assert native(Partial("s", 2, 0, "go for", 0, 0.0, 0.86, 0)) == Update(3, "go for", 2)


def test_a_native_final_is_no_step() -> None:
    assert native(Final("s", 1, "go", (), 0.0, 0.9, "silence", 0)) == Update(0, "go", 1, is_final=True)


def test_the_native_end_is_an_end() -> None:
    assert native(SessionEnded("s", 3.0)) == Update(is_end=True)


@pytest.mark.parametrize("event", [Failed("s", "overloaded", "no more"), SessionEnded("s", 3.0, dropped_samples=160)])
def test_a_session_that_lost_audio_or_failed_is_none(event: TranscriptEvent) -> None:
    with pytest.raises(PeerFailed):
        native(event)


def test_a_native_piece_is_16_bit() -> None:
    assert NativeCodec(0.32, PADDING).audio(np.array([1, -2], np.int16)) == b"\x01\x00\xfe\xff"


def result(text: str, *, is_eof: bool = False) -> str:
    return json.dumps({"text": text, "segment": 0, "is_final": is_eof, "is_eof": is_eof})


def test_each_message_of_sherpas_server_is_a_step() -> None:
    codec = SherpaCodec()
    updates = [codec.read(message) for message in (result(""), result(" go"), result(" go", is_eof=True), "Done!")]
    assert updates == [
        Update(1, ""),
        Update(2, "go"),
        Update(3, "go", is_final=True),
        Update(is_end=True),
    ]


def test_a_piece_for_sherpas_server_is_floats() -> None:
    assert np.frombuffer(SherpaCodec().audio(np.array([16384], np.int16)), "<f4") == pytest.approx([0.5])


def test_flush_counts_from_the_last_audio_to_the_last_final() -> None:
    session = Session(spoken_ns=[100_000_000, 200_000_000], final_ns=250_000_000)
    assert session.flush_s == pytest.approx(0.05)


def test_a_final_before_the_last_audio_leaves_nothing_to_wait_for() -> None:
    assert Session(spoken_ns=[200_000_000], final_ns=150_000_000).flush_s == 0.0


def test_the_text_is_that_of_all_segments() -> None:
    assert Session(segments={1: "two", 0: "one", 2: ""}).text == "one two"
