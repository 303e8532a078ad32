"""edge-asr in one process, as ``edge-asr transcribe`` runs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import child_loop

from edge_asr.audio import AudioChunk
from edge_asr.clock import MonotonicClock
from edge_asr.events import Failed, Final
from edge_asr.requests import SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import Settings
from edge_asr.transcription import transcribe
from edge_asr.workers.configuration import pack
from edge_asr.workers.loading import load_model

_SESSION = "live"


class Recogniser:
    """``options``: ``directory`` of the model and file of the ``vad`` or nothing."""

    def __init__(self, options: dict[str, Any]) -> None:
        settings = Settings()
        vad = Path(options["vad"]) if options["vad"] else None
        loaded = load_model(pack(Path(options["directory"]), settings, vad))
        self._clock = MonotonicClock()
        self._loop = DecodeLoop(
            loaded.engine, settings.endpoint, settings.scheduler, self._clock, Understanding(loaded.text_case)
        )
        self._given = 0
        self._texts: list[str] = []

    def transcribe(self, samples: child_loop.Samples) -> str:
        transcript = transcribe(
            self._loop, _pieces(samples), SessionOptions(partials=False, is_batch=True), self._clock
        )
        return " ".join(final.text for final in transcript.finals)

    def open(self) -> None:
        self._given = 0
        self._texts = []
        self._loop.open(_SESSION, SessionOptions())

    def accept(self, piece: child_loop.Samples) -> None:
        self._loop.feed(_SESSION, AudioChunk(piece, child_loop.RATE_HZ, self._given, captured_ns=0))
        self._given += len(piece)
        self._decode()

    def finish(self) -> str:
        self._loop.finish(_SESSION)
        self._decode()
        return " ".join(self._texts)

    def _decode(self) -> None:
        while self._loop.step():
            self._take_events()
        self._take_events()

    def _take_events(self) -> None:
        for event in self._loop.take_events():
            if isinstance(event, Failed):
                raise TypeError(event.message)
            if isinstance(event, Final):
                self._texts.append(event.text)


def _pieces(samples: child_loop.Samples) -> Iterator[AudioChunk]:
    for first in range(0, len(samples), child_loop.RATE_HZ):
        yield AudioChunk(samples[first : first + child_loop.RATE_HZ], child_loop.RATE_HZ, first, captured_ns=0)


if __name__ == "__main__":
    child_loop.main(Recogniser)
