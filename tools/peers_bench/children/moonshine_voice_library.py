"""moonshine-voice on the weights in its wheel, with the settings it comes with."""

from __future__ import annotations

from typing import Any

import child_loop
from moonshine_voice import ModelArch, Transcript
from moonshine_voice.transcriber import Transcriber
from moonshine_voice.utils import get_model_path


class Recogniser:
    """The tiny English model."""

    def __init__(self, _options: dict[str, Any]) -> None:
        self._transcriber = Transcriber(get_model_path("tiny-en"), ModelArch.TINY)
        self._stream: Any = None

    def transcribe(self, samples: child_loop.Samples) -> str:
        return _text(self._transcriber.transcribe_without_streaming(samples.tolist(), child_loop.RATE_HZ))

    def open(self) -> None:
        self._stream = self._transcriber.create_stream()
        self._stream.start()

    def accept(self, piece: child_loop.Samples) -> None:
        self._stream.add_audio(piece.tolist(), child_loop.RATE_HZ)

    def finish(self) -> str:
        text = _text(self._stream.stop())
        self._stream.close()
        return text


def _text(transcript: Transcript) -> str:
    return " ".join(line.text for line in transcript.lines)


if __name__ == "__main__":
    child_loop.main(Recogniser)
