"""Transcripts as documents in every format of ``transcribe``. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from edge_asr.events import Final, Partial, Word
from edge_asr.filenames import readable
from edge_asr.protocols.final_fields import final_fields
from edge_asr.subtitles import joined_text, srt, vtt

TranscriptFormat = Literal["text", "json", "jsonl", "srt", "vtt"]

SUFFIXES: dict[TranscriptFormat, str] = {
    "text": ".txt",
    "json": ".json",
    "jsonl": ".jsonl",
    "srt": ".srt",
    "vtt": ".vtt",
}
"""Names of files that hold one recording's transcript."""


@dataclass(frozen=True, slots=True)
class RecordingTranscript:
    """What is told about one recording, or about one channel of it."""

    file: str
    """As it was named on the command line."""
    channel: str
    """``left``, ``right``, …; empty unless every channel is transcribed by itself."""
    model: str
    duration_s: float
    finals: tuple[Final, ...]
    rtf: float
    warnings: tuple[str, ...] = ()


def document(transcripts: Sequence[RecordingTranscript], transcript_format: TranscriptFormat) -> str:
    """One text that holds these transcripts, with a newline at its end; subtitles hold exactly one."""
    if transcript_format == "json":
        return json.dumps([json_entry(transcript) for transcript in transcripts], ensure_ascii=False, indent=2) + "\n"
    if transcript_format == "jsonl":
        return "".join(json_line(json_entry(transcript)) for transcript in transcripts)
    if transcript_format == "text":
        return "".join(final.text + "\n" for transcript in transcripts for final in transcript.finals if final.text)
    (transcript,) = transcripts
    return srt(transcript.finals) if transcript_format == "srt" else vtt(transcript.finals)


def json_entry(transcript: RecordingTranscript) -> dict[str, object]:
    """The JSON object of one recording; ``channel`` is there only when channels are transcribed apart."""
    return {
        **_place(transcript.file, transcript.channel),
        "model": transcript.model,
        "duration_s": round(transcript.duration_s, 3),
        "text": joined_text(final.text for final in transcript.finals if final.text),
        "segments": [segment_entry(final) for final in transcript.finals],
        "rtf": round(transcript.rtf, 4),
        "warnings": list(transcript.warnings),
    }


def segment_entry(final: Final) -> dict[str, object]:
    """The JSON object of one segment."""
    return {
        "start_s": round(final.start_s, 3),
        "end_s": round(final.end_s, 3),
        "text": final.text,
        "words": [_word_entry(word) for word in final.words],
        **final_fields(final),
    }


def event_entry(file: str, channel: str, event: Partial | Final) -> dict[str, object]:
    """The JSON object of something said on the way, for ``jsonl`` with partials; told apart by its ``type``."""
    times: dict[str, object] = {"start_s": round(event.start_s, 3), "end_s": round(event.end_s, 3)}
    if isinstance(event, Partial):
        said: dict[str, object] = {"type": "partial", "text": event.text, "stable_chars": event.stable_chars}
    else:
        said = {"type": "final", "text": event.text, "reason": event.reason, **final_fields(event)}
    return {**_place(file, channel), "segment": event.segment, **said, **times}


def json_line(entry: dict[str, object]) -> str:
    """One line of ``jsonl``."""
    return json.dumps(entry, ensure_ascii=False) + "\n"


def _place(file: str, channel: str) -> dict[str, object]:
    named: dict[str, object] = {"file": readable(file)}
    return {**named, "channel": channel} if channel else named


def _word_entry(word: Word) -> dict[str, object]:
    return {
        "word": word.text,
        "start_s": round(word.start_s, 3),
        "end_s": round(word.end_s, 3),
        "confidence": None if word.confidence is None else round(word.confidence, 4),
    }
