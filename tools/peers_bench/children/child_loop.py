"""The program around a recogniser that is a Python library: it takes tasks from the harness and measures itself.

Runs in the library's own environment: standard library and numpy only. One line of JSON in, one out: ``{"do":
"decode", "path": …}`` gives ``{"wall_s", "cpu_s", "text"}``, ``{"do": "listen", …}`` gives ``{"flush_s", "late_s",
"text"}``. What a library prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
import wave
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

RATE_HZ = 16_000
PIECE_SAMPLES = 1600

Samples = npt.NDArray[np.float32]
"""Mono, shape (n,), in [-1, 1]."""


class Recogniser(Protocol):
    """A library with its model loaded."""

    def transcribe(self, samples: Samples) -> str:
        """A whole recording, the way the library has for that."""
        ...

    def open(self) -> None:
        """Begin to listen."""
        ...

    def accept(self, piece: Samples) -> None:
        """Take 100 ms and do whatever is due, partials included."""
        ...

    def finish(self) -> str:
        """No more audio: the text."""
        ...


def main(load: Callable[[dict[str, Any]], Recogniser]) -> None:
    """Load with the options in the first argument, then answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    recogniser = load(json.loads(sys.argv[1]))
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        samples = read_samples(task["path"])
        answer = decode(recogniser, samples) if task["do"] == "decode" else listen(recogniser, samples)
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # native thread pools can hang the interpreter's own way out


def read_samples(path: str) -> Samples:
    """Mono 16-bit WAV as samples in [-1, 1]."""
    with wave.open(path) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / np.float32(32768)


def decode(recogniser: Recogniser, samples: Samples) -> dict[str, Any]:
    """As fast as possible."""
    wall_s, cpu_s = time.monotonic(), time.process_time()
    text = recogniser.transcribe(samples)
    return {"wall_s": time.monotonic() - wall_s, "cpu_s": time.process_time() - cpu_s, "text": text}


def listen(
    recogniser: Recogniser,
    samples: Samples,
    now_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """At live pace: a piece is there when a microphone would have delivered it, whether anybody is ready or not."""
    recogniser.open()
    start_s = deadline_s = now_s()
    late_s = 0.0
    for first in range(0, len(samples), PIECE_SAMPLES):
        piece = samples[first : first + PIECE_SAMPLES]
        deadline_s = start_s + (first + len(piece)) / RATE_HZ
        wait_s = deadline_s - now_s()
        if wait_s > 0:
            sleep(wait_s)
            late_s = max(late_s, now_s() - deadline_s)
        recogniser.accept(piece)
    text = recogniser.finish()
    return {"flush_s": now_s() - deadline_s, "late_s": late_s, "text": text}
