"""Finals as running text, SubRip and WebVTT."""

from __future__ import annotations

from edge_asr.events import Final
from edge_asr.subtitles import joined_text, srt, vtt


def final(text: str, start_s: float, end_s: float) -> Final:
    return Final("s", 0, text, (), start_s, end_s, "silence", 0)


def test_segments_are_joined_by_one_space() -> None:
    assert joined_text(["turn on", "", "the light"]) == "turn on the light"


def test_chinese_segments_are_joined_without_a_space() -> None:
    assert joined_text(["你好", "世界"]) == "你好世界"
    assert joined_text(["你好", "world"]) == "你好 world"


def test_srt_counts_cues_from_one_and_leaves_out_silence() -> None:
    finals = [final("go forward", 0.5, 1.25), final("", 2.0, 3.0), final("stop", 3661.0004, 3661.9996)]
    assert srt(finals) == ("1\n00:00:00,500 --> 00:00:01,250\ngo forward\n\n2\n01:01:01,000 --> 01:01:02,000\nstop\n\n")


def test_srt_of_silence_is_empty() -> None:
    assert srt([]) == ""


def test_vtt_escapes_what_players_read_as_markup() -> None:
    assert vtt([final("a < b & c --> d", 0, 1)]) == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na &lt; b &amp; c --&gt; d\n\n"
    )


def test_a_cue_of_no_length_still_ends_after_it_starts() -> None:
    assert "00:00:01,000 --> 00:00:01,001" in srt([final("x", 1.0, 1.0)])
