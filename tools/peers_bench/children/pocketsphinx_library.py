"""pocketsphinx with the US English model of its wheel."""

from __future__ import annotations

from typing import Any

import child_loop
import numpy as np
from pocketsphinx import Decoder


class Recogniser:
    """The default decoder."""

    def __init__(self, _options: dict[str, Any]) -> None:
        self._decoder = Decoder(samprate=child_loop.RATE_HZ, loglevel="ERROR")

    def transcribe(self, samples: child_loop.Samples) -> str:
        self.open()
        self._decoder.process_raw(_pcm(samples), no_search=False, full_utt=True)
        return self.finish()

    def open(self) -> None:
        self._decoder.start_utt()

    def accept(self, piece: child_loop.Samples) -> None:
        self._decoder.process_raw(_pcm(piece), no_search=False, full_utt=False)
        self._decoder.hyp()

    def finish(self) -> str:
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return hypothesis.hypstr if hypothesis else ""


def _pcm(samples: child_loop.Samples) -> bytes:
    return bytes(np.round(samples * 32767).astype("<i2").tobytes())


if __name__ == "__main__":
    child_loop.main(Recogniser)
