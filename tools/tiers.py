"""What each tier gives and costs: a streaming model alone, a second pass behind it, and the second model alone.

Recordings of people, each a live session of its own with a second of silence after it, through the very sessions of the
daemon. Compared: word error rate of the finals, how much audio had come when the first partial was there, and processor
time. The second model alone is the segmented engine, with its voice activity detector.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from prompts import Prompt, load_prompts

from edge_asr.audio import AudioChunk
from edge_asr.cli.stores import DICTATION_MODEL, open_store
from edge_asr.clock import MonotonicClock
from edge_asr.engines.second_pass import InlinePass
from edge_asr.events import Final, Notice, Partial
from edge_asr.requests import SessionOptions
from edge_asr.scoring import score
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import GateSettings, SecondPassSettings, Settings
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.configuration import pack
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.loading import load_model
from edge_asr.workers.models import second_model
from edge_asr.workload import Clip, ClipAudio, load_clip

PIECE_S = 0.1
SILENCE_S = 1.0
LEAST_S = 0.5
"""Shorter prompts are beeps and silence."""


@dataclass(slots=True)
class Heard:
    """What came of some recordings."""

    texts: list[str] = field(default_factory=list)
    first_partials_s: list[float | None] = field(default_factory=list)
    """Seconds of audio that had come, of each recording."""
    cpu_s: float = 0.0
    notices: int = 0


def measure_tiers(options: argparse.Namespace) -> dict[str, Any]:
    """All three, on the same recordings."""
    prompts = [prompt for prompt in load_prompts(options.audio) if prompt.duration_s > LEAST_S][:: options.every]
    clips = [load_clip(Clip(prompt.name, prompt.path, prompt.text)) for prompt in prompts]
    tiers = {
        f"{options.model} alone": load_tier(options.model, ""),
        f"{options.model}, then {DICTATION_MODEL}": load_tier(options.model, DICTATION_MODEL),
        f"{DICTATION_MODEL} alone": load_tier(DICTATION_MODEL, ""),
    }
    heard = {name: hear_all(load, clips) for name, load in tiers.items()}
    first, both, second = heard.values()
    audio_s = sum(len(clip.samples) / clip.sample_rate_hz + SILENCE_S for clip in clips)
    return {
        "recordings": len(clips),
        "audio_s": round(audio_s, 1),
        "tiers": {name: _figures(prompts, each, audio_s) for name, each in heard.items()},
        "first_partials_at_the_same_audio": _agreement(first.first_partials_s, both.first_partials_s),
        "finals_equal_to_the_second_model_alone": _agreement(both.texts, second.texts),
    }


def load_tier(model: str, second: str) -> Callable[[], tuple[LoadedModel, SecondPassSettings]]:
    """What loads a model, with another one behind it; empty for none."""

    def load() -> tuple[LoadedModel, SecondPassSettings]:
        store, settings = open_store(), Settings(second_pass=SecondPassSettings(model=second))
        found = store.resolve(model)
        behind = second_model(store, found.manifest, settings.second_pass)
        packed = pack(
            found.directory, settings, installed_vad(store), second_model=behind.directory if behind else None
        )
        return load_model(packed), settings.second_pass

    return load


def hear_all(load: Callable[[], tuple[LoadedModel, SecondPassSettings]], clips: Sequence[ClipAudio]) -> Heard:
    """Each recording as a live session of its own."""
    (loaded, second), settings, clock = load(), Settings(), MonotonicClock()
    loop = DecodeLoop(
        loaded.engine,
        settings.endpoint,
        settings.scheduler,
        clock,
        Understanding(loaded.text_case, second_hearing=loaded.hear_again(InlinePass, second, clock)),
        gate=GateSettings(),
    )
    heard = Heard()
    for clip in clips:
        _hear(loop, clip, heard)
    loaded.engine.close()
    return heard


def _hear(loop: DecodeLoop, clip: ClipAudio, heard: Heard) -> None:
    rate_hz = clip.sample_rate_hz
    samples = np.concatenate(
        (clip.samples.astype(np.float32) / 32768, np.zeros(round(SILENCE_S * rate_hz), np.float32))
    )
    piece = round(PIECE_S * rate_hz)
    finals: list[str] = []
    first_s: float | None = None
    loop.open("s", SessionOptions(sample_rate_hz=rate_hz))
    for start in range(0, len(samples) + piece, piece):
        began_s = time.process_time()
        if start < len(samples):
            loop.feed("s", AudioChunk(samples[start : start + piece], rate_hz, start, 1))
        else:
            loop.finish("s")
        while loop.step():
            pass
        heard.cpu_s += time.process_time() - began_s
        for event in loop.take_events():
            finals += [event.text] if isinstance(event, Final) else []
            heard.notices += isinstance(event, Notice)
            if isinstance(event, Partial) and event.text and first_s is None:
                first_s = min(start + piece, len(samples)) / rate_hz
    heard.texts.append(" ".join(finals))
    heard.first_partials_s.append(first_s)


def _figures(prompts: Sequence[Prompt], heard: Heard, audio_s: float) -> dict[str, Any]:
    firsts = [first_s for first_s in heard.first_partials_s if first_s is not None]
    return {
        "wer": score([prompt.text for prompt in prompts], heard.texts).error_rate,
        "first_partial_after_s_median": float(np.median(firsts)) if firsts else None,
        "cpu_s_per_audio_s": heard.cpu_s / audio_s,
        "notices": heard.notices,
    }


def _agreement(ours: Sequence[object], theirs: Sequence[object]) -> float:
    """Share of the recordings for which both are the same."""
    return sum(mine == other for mine, other in zip(ours, theirs, strict=True)) / len(ours)
