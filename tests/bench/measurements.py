"""Results with series behind them, for what computes with runs; no figure in them was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edge_asr.bench.document import Chunks, ClipIdentity, Document, Result, Run, Stages, Utterance, Workload
from tests.bench.documents import configuration, document

CLIPS = ("one", "two", "three", "four")


def at_live_pace(
    streams: int, latency_ms: Sequence[float], *, peak_bytes: int = 1, cpu_per_audio_s: float = 0.1, **setting: Any
) -> Result:
    """One run at live pace, chunks of 320 ms, each step as long as its latency."""
    run = Run(
        repetition=0,
        order=0,
        wall_s=100.0,
        audio_s=100.0,
        cpu_s=100.0 * cpu_per_audio_s,
        peak_bytes=peak_bytes,
        chunks=Chunks(chunk_ms=320.0, compute_ms=tuple(latency_ms), latency_ms=tuple(latency_ms)),
    )
    return Result(configuration=configuration(mode="paced", streams=streams, **setting), runs=(run,))


def repeated(
    rtf: float, *, errors: int = 1, peak_bytes: int = 1, seed: int = 0, repetition_noise: float = 0.01, **setting: Any
) -> Result:
    """Five runs as fast as possible: four clips of 10 s and ten words each, nine tenths of the time in the model."""
    generator = np.random.default_rng(seed)

    def run(repetition: int) -> Run:
        pace = rtf * generator.uniform(1 - repetition_noise, 1 + repetition_noise)
        walls_s = 10.0 * pace * generator.uniform(0.99, 1.01, len(CLIPS))
        utterances = (
            Utterance(clip=clip, audio_s=10.0, wall_s=float(wall_s), cpu_s=float(wall_s), errors=errors, units=10)
            for clip, wall_s in zip(CLIPS, walls_s, strict=True)
        )
        return Run(
            repetition=repetition,
            order=repetition,
            wall_s=float(walls_s.sum()),
            audio_s=40.0,
            cpu_s=float(walls_s.sum()),
            peak_bytes=peak_bytes,
            stages=Stages(model_s=0.9 * float(walls_s.sum()), total_s=float(walls_s.sum())),
            utterances=tuple(utterances),
        )

    return Result(configuration=configuration(**setting), runs=tuple(run(number) for number in range(5)))


def listening(scale: float, *, seed: int = 0, chunks: int = 200, **setting: Any) -> Result:
    """Five runs at live pace; every time in them is about 60 ms, or 0.1 CPU seconds per second, times the scale."""
    generator = np.random.default_rng(seed)

    def run(repetition: int) -> Run:
        flushes_ms = 60 * scale * generator.uniform(0.95, 1.05, len(CLIPS))
        return Run(
            repetition=repetition,
            order=repetition,
            audio_s=40.0,
            cpu_s=4.0 * scale * float(generator.uniform(0.99, 1.01)),
            peak_bytes=100 << 20,
            utterances=tuple(
                Utterance(clip=clip, audio_s=10.0, flush_ms=float(flush_ms))
                for clip, flush_ms in zip(CLIPS, flushes_ms, strict=True)
            ),
            chunks=Chunks(
                chunk_ms=320.0, latency_ms=tuple((60 * scale * generator.uniform(0.9, 1.1, chunks)).tolist())
            ),
        )

    return Result(configuration=configuration(mode="paced", **setting), runs=tuple(run(number) for number in range(5)))


def bench_of(*results: Result, clips: Sequence[str] = CLIPS, **changes: Any) -> Document:
    """A bench whose recordings are those that the runs heard."""
    heard = tuple(ClipIdentity(name=clip, sha256=clip, audio_s=10.0, text="ten words") for clip in clips)
    workload = Workload(source="bundled", language="en", normaliser="whisper-english 0.0.10", clips=heard)
    return document(*results, **{"workload": workload, **changes})
