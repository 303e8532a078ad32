"""Hours in which nobody speaks: silence, noise and tones, through the very sessions of the daemon. No word may come.

Each kind of sound is heard by a live session and, with ``--recordings``, as a recording, which no gate stands before.
What is counted: finals, and the words that were shown (a partial that is taken back was read too); what it costs is
the process's own time per hour of sound.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from conversation import RATE_HZ

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.cli.stores import open_store
from edge_asr.clock import MonotonicClock
from edge_asr.events import Final, Partial
from edge_asr.requests import SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import EndpointSettings, GateSettings, SchedulerSettings, Settings
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.configuration import pack
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.loading import load_model

PIECE_SAMPLES = RATE_HZ // 10
BEEP_S, BEEP_EVERY_S = 0.3, 2.0

Maker = Callable[[np.random.Generator, int], Float32Array]
"""The next piece, from its first sample's number since the beginning."""


def measure_nothing(options: argparse.Namespace) -> dict[str, Any]:
    """All kinds of sound, one after the other."""
    store = open_store()
    model = store.resolve(options.model)
    loaded = load_model(pack(model.directory, Settings(), None if options.no_vad else installed_vad(store)))
    figures: dict[str, Any] = {}
    for name, make in SOUNDS.items():
        for is_batch in (False, True) if options.recordings else (False,):
            heard = _hear(loaded, make, options.minutes * 60.0, is_batch=is_batch)
            figures[f"{name}{', recording' if is_batch else ''}"] = heard
            print(name, heard, flush=True)
    loaded.engine.close()
    return {"model": options.model, "minutes_each": options.minutes, "figures": figures}


def _hear(loaded: LoadedModel, make: Maker, seconds: float, *, is_batch: bool) -> dict[str, Any]:
    loop = DecodeLoop(
        loaded.engine,
        EndpointSettings(),
        SchedulerSettings(),
        MonotonicClock(),
        Understanding(loaded.text_case),
        gate=GateSettings(),
    )
    loop.open("s", SessionOptions(sample_rate_hz=RATE_HZ, is_batch=is_batch))
    finals: list[str] = []
    shown: set[str] = set()
    spent_s = 0.0
    for piece in _pieces(make, seconds):
        began_s = time.process_time()
        loop.feed("s", piece)
        while loop.step():
            pass
        spent_s += time.process_time() - began_s
        for event in loop.take_events():
            if isinstance(event, Final):
                finals.append(event.text)
            elif isinstance(event, Partial) and event.text:
                shown.add(event.text)
    loop.cancel("s")
    return {
        "finals": len(finals),
        "texts_shown": len(shown),
        "examples": sorted({*finals, *shown} - {""})[:5],
        "cpu_s_per_hour": round(spent_s / seconds * 3600, 2),
    }


def _pieces(make: Maker, seconds: float) -> Iterator[AudioChunk]:
    random = np.random.default_rng(1)
    for start in range(0, round(seconds * RATE_HZ), PIECE_SAMPLES):
        yield AudioChunk(make(random, start), RATE_HZ, start, 1)


# Sounds.


def _silence(_random: np.random.Generator, _start: int) -> Float32Array:
    return np.zeros(PIECE_SAMPLES, np.float32)


def _offset(_random: np.random.Generator, _start: int) -> Float32Array:
    return np.full(PIECE_SAMPLES, 0.3, np.float32)


def _white(level_dbfs: float) -> Maker:
    return lambda random, _start: (random.standard_normal(PIECE_SAMPLES) * 10 ** (level_dbfs / 20)).astype(np.float32)


class _Brown:
    """Noise as of wind or an engine: 6 dB less each octave above 100 Hz."""

    POLE = 0.96

    def __init__(self, level_dbfs: float) -> None:
        self._scale = 10 ** (level_dbfs / 20) * (1 - self.POLE**2) ** 0.5
        self._kernel = self.POLE ** np.arange(400)
        self._before = np.zeros(len(self._kernel) - 1)

    def __call__(self, random: np.random.Generator, _start: int) -> Float32Array:
        white = np.concatenate((self._before, random.standard_normal(PIECE_SAMPLES)))
        self._before = white[-len(self._before) :]
        return (self._scale * np.convolve(white, self._kernel, mode="valid")).astype(np.float32)


def _tone(hertz: float, level_dbfs: float) -> Maker:
    amplitude = 10 ** (level_dbfs / 20) * 2**0.5
    return lambda _random, start: (amplitude * np.sin(2 * np.pi * hertz * _times(start))).astype(np.float32)


def _hum(_random: np.random.Generator, start: int) -> Float32Array:
    """Of the mains, at -30 dBFS."""
    parts = [np.sin(2 * np.pi * 50 * part * _times(start)) / part for part in (1, 2, 3, 4, 6)]
    return (0.04 * np.sum(parts, axis=0)).astype(np.float32)


def _beeps(_random: np.random.Generator, start: int) -> Float32Array:
    """A machine that beeps every two seconds."""
    is_on = _times(start) % BEEP_EVERY_S < BEEP_S
    return (is_on * 0.1 * np.sin(2 * np.pi * 2000 * _times(start))).astype(np.float32)


def _sweep(_random: np.random.Generator, start: int) -> Float32Array:
    """A siren: 400 to 1600 Hz and back in four seconds."""
    times = _times(start)
    phase = 1000 * times - 600 * 4 / (2 * np.pi) * np.cos(2 * np.pi * times / 4)
    return (0.1 * np.sin(2 * np.pi * phase)).astype(np.float32)


def _clicks(random: np.random.Generator, start: int) -> Float32Array:
    """One a second, over the noise of a quiet room."""
    samples = _white(-66)(random, start)
    if start % RATE_HZ == 0:
        samples[:8] += 0.5
    return samples


def _times(start: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.arange(start, start + PIECE_SAMPLES) / RATE_HZ


SOUNDS: dict[str, Maker] = {
    "digital silence": _silence,
    "constant offset of 0.3": _offset,
    "white noise, -60 dBFS": _white(-60),
    "brown noise, -60 dBFS": _Brown(-60),
    "tone 440 Hz, -20 dBFS": _tone(440, -20),
    "tone 1 kHz, -20 dBFS": _tone(1000, -20),
    "tone 440 Hz, -60 dBFS": _tone(440, -60),
    "mains hum, -30 dBFS": _hum,
    "beeps, 2 kHz": _beeps,
    "siren": _sweep,
    "clicks": _clicks,
    "white noise, -40 dBFS": _white(-40),
    "white noise, -25 dBFS": _white(-25),
    "brown noise, -30 dBFS": _Brown(-30),
}
