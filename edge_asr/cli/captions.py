"""What ``listen`` writes: captions on a terminal, finished sentences elsewhere, JSON lines, or subtitles."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from edge_asr.cli.messages import remark, warn
from edge_asr.cli.transcripts import json_line, segment_entry
from edge_asr.clock import MonotonicClock
from edge_asr.events import Failed, Final, Notice, Partial
from edge_asr.listening.messages import MicrophoneEvent, MicrophoneState
from edge_asr.subtitles import srt_cue

ListenFormat = Literal["captions", "jsonl", "srt"]

_TROUBLE = ("lost", "silent")
_SAID = ("lost", "back", "silent", "sound", "waiting")


class Captions(Protocol):
    """Takes what happens at a microphone, as it happens."""

    def hear(self, event: MicrophoneEvent) -> None:
        """Something was said, or happened to the microphone."""
        ...

    def model_is_ready(self) -> None:
        """From now on there will be words; what was said before is not lost."""
        ...


class PlainCaptions:
    """Finished sentences, a line each; what happens to the microphone on standard error."""

    def hear(self, event: MicrophoneEvent) -> None:
        """Write a final."""
        if isinstance(event, Final):
            self._write(event)
        else:
            _remark_on(event)

    def model_is_ready(self) -> None:
        """Say so, for whoever waits to speak."""
        remark("listening; Ctrl-C ends")

    def _write(self, final: Final) -> None:
        if final.text:
            _write(final.text + "\n")


class SubtitleCaptions(PlainCaptions):
    """SubRip, a cue per final."""

    def __init__(self) -> None:
        self._cues = 0

    def _write(self, final: Final) -> None:
        if final.text:
            self._cues += 1
            _write(srt_cue(self._cues, final))


class JsonLinesCaptions:
    """Everything but the level, a line each, told apart by ``type``."""

    def hear(self, event: MicrophoneEvent) -> None:
        """Write an event."""
        if entry := _entry(event):
            _write(json_line(entry))

    def model_is_ready(self) -> None:
        """Say so on standard error."""
        remark("listening; Ctrl-C ends")


@contextmanager
def open_captions(listen_format: ListenFormat, model: str) -> Iterator[Captions]:
    """Where captions go, for as long as the block lasts."""
    if listen_format == "jsonl":
        yield JsonLinesCaptions()
    elif listen_format == "srt":
        yield SubtitleCaptions()
    elif not sys.stdout.isatty():
        yield PlainCaptions()
    else:
        from edge_asr.cli.terminal_captions import terminal_captions

        with terminal_captions(model, MonotonicClock()) as captions:
            yield captions


def _entry(event: MicrophoneEvent) -> dict[str, object] | None:
    match event:
        case Partial():
            times = {"start_s": round(event.start_s, 3), "end_s": round(event.end_s, 3)}
            said = {"text": event.text, "stable_chars": event.stable_chars}
            return {"type": "partial", "segment": event.segment, **said, **times}
        case Final():
            return {"type": "final", "segment": event.segment, "reason": event.reason, **segment_entry(event)}
        case MicrophoneState():
            return {"type": "microphone", "state": event.state, "device": event.device, "message": event.message}
        case Notice() | Failed():
            kind = "notice" if isinstance(event, Notice) else "failed"
            return {"type": kind, "code": event.code, "message": event.message}
        case _:
            return None


def _remark_on(event: MicrophoneEvent) -> None:
    if isinstance(event, MicrophoneState) and event.state in _SAID:
        (warn if event.state in _TROUBLE else remark)(event.message)
    elif isinstance(event, Notice | Failed):
        warn(event.message)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
