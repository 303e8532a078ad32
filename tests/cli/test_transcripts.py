"""Every format, letter by letter."""

from __future__ import annotations

import json

import pytest

from edge_asr.cli.transcripts import RecordingTranscript, document, event_entry, json_entry
from edge_asr.events import Command, Final, Partial, Word

FINALS = (
    Final("s", 0, "go forward", (Word("go", 0.5, 0.8, 0.98765), Word("forward", 0.8004, 1.3)), 0.5, 1.3, "silence", 1),
    Final("s", 1, "", (), 3.0, 3.0, "silence", 2),
    Final("s", 2, "stop & go", (Word("stop", 61.5, 62.0),), 61.5, 62.25, "end_of_audio", 3),
)
TRANSCRIPT = RecordingTranscript("a.wav", "", "starter-en", 63.00049, FINALS, 0.123456, ("it is cut off",))


def test_text_has_a_line_per_segment() -> None:
    assert document([TRANSCRIPT], "text") == "go forward\nstop & go\n"


def test_a_spoken_command_stands_in_its_segment() -> None:
    meant = Command("Go", {"metres": 10}, 0.97)
    final = Final("s", 0, "go ten metres", (), 0.5, 1.3, "silence", 1, command=meant, open_text="go tan metres")
    transcript = RecordingTranscript("a.wav", "", "moonshine-tiny-en", 2.0, (final,), 0.1)
    segment = json.loads(document([transcript], "json"))[0]["segments"][0]
    assert (segment["intent"], segment["slots"], segment["score"]) == ("Go", {"metres": 10}, 0.97)
    assert segment["open_text"] == "go tan metres"


def test_open_speech_where_commands_are_listened_for_has_no_intent() -> None:
    final = Final("s", 0, "hello", (), 0.5, 1.3, "silence", 1, open_text="hello")
    entry = event_entry("a.wav", "", final)
    assert entry["open_text"] == "hello"
    assert "intent" not in entry


def test_srt() -> None:
    assert document([TRANSCRIPT], "srt") == (
        "1\n00:00:00,500 --> 00:00:01,300\ngo forward\n\n2\n00:01:01,500 --> 00:01:02,250\nstop & go\n\n"
    )


def test_vtt() -> None:
    assert document([TRANSCRIPT], "vtt") == (
        "WEBVTT\n\n00:00:00.500 --> 00:00:01.300\ngo forward\n\n00:01:01.500 --> 00:01:02.250\nstop &amp; go\n\n"
    )


def test_json_has_exactly_the_fields_of_the_contract() -> None:
    assert json_entry(TRANSCRIPT) == {
        "file": "a.wav",
        "model": "starter-en",
        "duration_s": 63.0,
        "text": "go forward stop & go",
        "segments": [
            {
                "start_s": 0.5,
                "end_s": 1.3,
                "text": "go forward",
                "words": [
                    {"word": "go", "start_s": 0.5, "end_s": 0.8, "confidence": 0.9877},
                    {"word": "forward", "start_s": 0.8, "end_s": 1.3, "confidence": None},
                ],
            },
            {"start_s": 3.0, "end_s": 3.0, "text": "", "words": []},
            {
                "start_s": 61.5,
                "end_s": 62.25,
                "text": "stop & go",
                "words": [{"word": "stop", "start_s": 61.5, "end_s": 62.0, "confidence": None}],
            },
        ],
        "rtf": 0.1235,
        "warnings": ["it is cut off"],
    }


def test_json_is_one_list() -> None:
    assert json.loads(document([TRANSCRIPT, TRANSCRIPT], "json")) == [json_entry(TRANSCRIPT)] * 2
    assert document([], "json") == "[]\n"


def test_jsonl_is_one_line_per_recording() -> None:
    lines = document([TRANSCRIPT, TRANSCRIPT], "jsonl").splitlines()

    assert [json.loads(line) for line in lines] == [json_entry(TRANSCRIPT)] * 2


def test_a_channel_transcribed_by_itself_is_named() -> None:
    entry = json_entry(RecordingTranscript("a.wav", "left", "m", 1.0, (), 0.1))

    assert list(entry)[:3] == ["file", "channel", "model"]
    assert entry["channel"] == "left"


def test_letters_are_kept_as_they_are() -> None:
    said = RecordingTranscript("ä.wav", "", "m", 1.0, (Final("s", 0, "你好", (), 0.0, 1.0, "flush", 1),), 0.1)

    assert "你好" in document([said], "json")


@pytest.mark.parametrize("event", [Partial("s", 3, 1, "go for", 2, 0.5, 0.86, 9)])
def test_a_partial_line_of_jsonl(event) -> None:
    assert event_entry("a.wav", "left", event) == {
        "file": "a.wav", "channel": "left", "segment": 3, "type": "partial",
        "text": "go for", "stable_chars": 2, "start_s": 0.5, "end_s": 0.86,
    }  # fmt: skip


def test_a_final_line_of_jsonl() -> None:
    assert event_entry("a.wav", "", FINALS[0]) == {
        "file": "a.wav", "segment": 0, "type": "final",
        "text": "go forward", "reason": "silence", "start_s": 0.5, "end_s": 1.3,
    }  # fmt: skip


def test_a_name_that_is_no_text_leaves_a_document_that_can_be_read() -> None:
    transcript = RecordingTranscript("\udcff.wav", "left", "starter-en", 1.0, (), 0.1)

    assert json.loads(document([transcript], "json").encode())[0]["file"] == r"\xff.wav"
