"""What ``listen`` writes where there is no terminal."""

from __future__ import annotations

import json

import pytest

from edge_asr.cli.captions import Captions, JsonLinesCaptions, PlainCaptions, SubtitleCaptions
from edge_asr.events import Failed, Notice
from edge_asr.listening.messages import MicrophoneEvent, MicrophoneLevel, MicrophoneState
from tests.support.values import ended, final, partial

LOST = MicrophoneState("lost", "USB microphone", "the microphone is lost: the device is gone")
BACK = MicrophoneState("back", "USB microphone", "the microphone is back")
LEVEL = MicrophoneLevel(-12.0, -20.0, 1.0, 1)
EVENTS: tuple[MicrophoneEvent, ...] = (
    LEVEL,
    partial("go for", 3),
    final("go forward"),
    LOST,
    ended(),
    BACK,
    Notice("s", "audio_dropped", "0.20 s of audio were lost", 3200),
    final(""),
    final("stop", segment=2, start_s=61.5, end_s=62.25),
    Failed("s", "engine_failed", "it broke"),
)


def written(captions: Captions, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    for event in EVENTS:
        captions.hear(event)
    out, err = capsys.readouterr()
    return out, err


def test_finished_sentences_stand_on_lines_and_what_happens_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, err = written(PlainCaptions(), capsys)
    assert out == "go forward\nstop\n"
    assert err == (
        "edge-asr: warning: the microphone is lost: the device is gone\n"
        "edge-asr: note: the microphone is back\n"
        "edge-asr: warning: 0.20 s of audio were lost\n"
        "edge-asr: warning: it broke\n"
    )


def test_subtitles_are_numbered_without_holes(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = written(SubtitleCaptions(), capsys)
    assert out == "1\n00:00:00,000 --> 00:00:01,000\ngo forward\n\n2\n00:01:01,500 --> 00:01:02,250\nstop\n\n"


def test_json_lines_tell_everything_but_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = written(JsonLinesCaptions(), capsys)
    lines = [json.loads(line) for line in out.splitlines()]
    kinds = ["partial", "final", "microphone", "microphone", "notice", "final", "final", "failed"]
    assert [line["type"] for line in lines] == kinds
    assert lines[0] == {
        "type": "partial",
        "segment": 0,
        "text": "go for",
        "stable_chars": 3,
        "start_s": 0.0,
        "end_s": 1.0,
    }
    assert [word["word"] for word in lines[1]["words"]] == ["go", "forward"]
    assert lines[2] == {
        "type": "microphone",
        "state": "lost",
        "device": "USB microphone",
        "message": "the microphone is lost: the device is gone",
    }
    assert err == ""
