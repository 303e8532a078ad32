"""sherpa-onnx's Python API as its streaming examples use it."""

from __future__ import annotations

from typing import Any

import child_loop
import numpy as np
import sherpa_onnx

TAIL_S = 0.66
"""Silence at the end; the value of sherpa-onnx's own examples."""


class Recogniser:
    """``options``: ``factory`` and its ``arguments``."""

    def __init__(self, options: dict[str, Any]) -> None:
        factory = getattr(sherpa_onnx.OnlineRecognizer, options["factory"])
        self._recognizer = factory(**options["arguments"])
        self._stream: Any = None
        self._text = ""

    def transcribe(self, samples: child_loop.Samples) -> str:
        self.open()
        self._stream.accept_waveform(child_loop.RATE_HZ, samples)
        return self.finish()

    def open(self) -> None:
        self._stream = self._recognizer.create_stream()
        self._text = ""

    def accept(self, piece: child_loop.Samples) -> None:
        self._stream.accept_waveform(child_loop.RATE_HZ, piece)
        self._decode()

    def finish(self) -> str:
        self._stream.accept_waveform(child_loop.RATE_HZ, np.zeros(round(TAIL_S * child_loop.RATE_HZ), np.float32))
        self._stream.input_finished()
        self._decode()
        return self._text

    def _decode(self) -> None:
        while self._recognizer.is_ready(self._stream):
            self._recognizer.decode_stream(self._stream)
        self._text = self._recognizer.get_result(self._stream)


if __name__ == "__main__":
    child_loop.main(Recogniser)
