"""What happens inside the measuring process: load, warm up, measure."""

from __future__ import annotations

import gc
import math
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edge_asr.bench.child import ClipTask, Outcome, Task
from edge_asr.bench.document import Chunks, Run, Stages, Utterance
from edge_asr.bench.loaded_rig import Alarm, at_live_pace, rig_of
from edge_asr.bench.paced import chunks_of, measure_paced
from edge_asr.bench.profile import encoder_share, graph_names, parse_trace
from edge_asr.bench.rig import Rig
from edge_asr.bench.throughput import measure_throughput, stages_of, warm_up
from edge_asr.engines.instruments import Instruments, Stopwatch
from edge_asr.families import FAMILIES
from edge_asr.resources.memory import read_process_memory, trim_heap
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.workers.configuration import unpack
from edge_asr.workload import AlignedWord, Clip, ClipAudio, load_clip

if TYPE_CHECKING:
    from edge_asr.bench.child import Loader

PROFILED_S = 10.0
"""Audio that is decoded under the operator trace, which takes some MB a second."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Loaded and warm."""

    rig: Rig
    clips: tuple[ClipAudio, ...]
    load_s: float
    first_decode_ms: float
    warm_up_s: float
    idle_cpu_share: float | None
    sleep: Callable[[float], None]
    """Between two pieces at live pace."""


def prepare(task: Task, load: Loader) -> Prepared:
    """Load the model and let it run until it is warm.

    Raises:
        EdgeAsrError: The model cannot be loaded, or a recording cannot be read.
    """
    watch = Stopwatch()
    began_ns = time.monotonic_ns()
    loaded = load(task.configure, Instruments(stopwatch=watch))
    rig = rig_of(task, loaded, watch)
    loaded_ns = time.monotonic_ns()
    clips = _clips(task.clips)
    warmed_s = warm_up(rig, clips, least_s=task.warm_up_s, most_s=task.most_warm_up_s)
    idle = _idle_share(rig, task) if task.idle_s and task.configuration.mode == "paced" else None
    trim_heap()
    alarm = Alarm()
    is_live = task.configuration.mode == "paced" and loaded.second is not None
    return Prepared(
        rig=at_live_pace(rig, loaded, unpack(task.configure), alarm) if is_live else rig,
        sleep=alarm.sleep if is_live else time.sleep,
        clips=clips,
        load_s=(loaded_ns - began_ns) / 1e9,
        first_decode_ms=(loaded_ns - task.spawned_ns) / 1e6 if task.spawned_ns else 0.0,
        warm_up_s=warmed_s,
        idle_cpu_share=idle,
    )


def measure(task: Task, prepared: Prepared) -> Run:
    """The measured part; an interruption (SIGINT) ends it early, with what was measured.

    Raises:
        EngineFailed: The engine failed on a recording.
    """
    rig = prepared.rig
    is_interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda _number, _frame: is_interrupted.set())
    rig.is_stopping = is_interrupted.is_set
    start_bytes = rig.read().rss_bytes
    rig.engine.forget()
    rig.begin()
    measured = _throughput(task, prepared) if task.configuration.mode == "throughput" else _paced(task, prepared)
    memory = read_process_memory(os.getpid())
    description = rig.engine.describe()
    return Run(
        repetition=0,
        order=0,
        load_s=prepared.load_s,
        is_cold_load=task.is_cold,
        warm_up_s=prepared.warm_up_s,
        first_decode_ms=prepared.first_decode_ms,
        provider=description.provider,
        provider_share=description.provider_share,
        wall_s=measured.wall_s,
        audio_s=measured.audio_s,
        padding_s=rig.tail_s * measured.recordings,
        cpu_s=measured.cpu_s,
        idle_cpu_share=prepared.idle_cpu_share,
        peak_bytes=memory.peak_resident_bytes,
        start_bytes=start_bytes,
        end_bytes=memory.resident_bytes,
        stages=measured.stages,
        utterances=measured.utterances,
        chunks=measured.chunks,
        samples=tuple(rig.samples),
        notes=(
            *description.notes,
            *measured.notes,
            *(("interrupted before its time",) if is_interrupted.is_set() else ()),
        ),
    )


def profile(task: Task, load: Loader) -> Outcome:
    """Decode some seconds under the runtime's operator trace.

    Raises:
        EdgeAsrError: As for :func:`prepare`.
    """
    clips = _clips(task.clips)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="edge-asr-profile-") as folder:
        rig = rig_of(task, load(task.configure, Instruments(watch, f"{folder}/trace")), watch)
        rig.begin()
        rig.engine.forget()
        measure_throughput(rig, clips, least_audio_s=PROFILED_S, streams=1)
        description, steps = rig.engine.describe(), rig.engine.decoded_steps
        decode_ms = watch.decode_ns / 1e6 if description.is_streaming else 0.0
        family = FAMILIES.get(description.family)
        rig.engine.close()
        del rig
        gc.collect()  # the traces are written when the native sessions are freed
        traces = sorted(Path(folder).glob("trace*"))
        names = graph_names(family.roles if family else (), len(traces))
        profiles = [parse_trace(trace.read_bytes(), name) for trace, name in zip(traces, names, strict=True)]
    operators = tuple(operator for graph in profiles for operator in graph.operators)
    products = tuple(product for graph in profiles for product in graph.products)
    return Outcome(operators=operators, products=products, encoder_share=encoder_share(profiles, decode_ms, steps))


@dataclass(frozen=True, slots=True)
class _Measured:
    wall_s: float
    cpu_s: float
    audio_s: float
    recordings: int
    utterances: tuple[Utterance, ...]
    stages: Stages | None = None
    chunks: Chunks | None = None
    notes: tuple[str, ...] = ()


def _throughput(task: Task, prepared: Prepared) -> _Measured:
    rig, streams = prepared.rig, task.configuration.streams
    outcome = measure_throughput(
        rig,
        prepared.clips,
        least_audio_s=task.least_audio_s,
        streams=streams,
        most_s=math.inf if task.most_s is None else task.most_s,
    )
    _wall_s, cpu_s = rig.elapsed()
    return _Measured(
        wall_s=outcome.total_ns / 1e9,
        cpu_s=cpu_s,
        audio_s=outcome.audio_s,
        recordings=outcome.utterances.count,
        utterances=outcome.utterances.items(),
        stages=stages_of(rig, outcome),
    )


def _paced(task: Task, prepared: Prepared) -> _Measured:
    rig, streams = prepared.rig, task.configuration.streams
    outcome = measure_paced(rig, prepared.clips, streams=streams, seconds=task.seconds, sleep=prepared.sleep)
    wall_s, cpu_s = rig.elapsed()
    notes = [f"{count} of the sessions failed: {reason}" for reason, count in outcome.failures.items()]
    if outcome.is_hopeless:
        notes.append("decoding fell behind without end and the run was cut short")
    return _Measured(
        wall_s=wall_s,
        cpu_s=cpu_s,
        audio_s=outcome.audio_s,
        recordings=outcome.utterances.count,
        utterances=outcome.utterances.items(),
        chunks=chunks_of(rig, outcome),
        notes=tuple(notes),
    )


def _clips(tasks: Sequence[ClipTask]) -> tuple[ClipAudio, ...]:
    return tuple(
        load_clip(
            Clip(
                name=task.name,
                path=Path(task.path),
                reference=task.reference,
                vocabulary=task.vocabulary,
                words=tuple(AlignedWord(*word) for word in task.words),
            )
        )
        for task in tasks
    )


def _idle_share(rig: Rig, task: Task) -> float:
    """CPU seconds per second while every listener is silent, with the silence gate as it is configured.

    The measurements themselves go without it: their figures are per second of audio that was decoded.
    """
    settings = unpack(task.configure)
    gated = DecodeLoop(rig.engine, settings.endpoint, settings.scheduler, rig.clock, gate=settings.gate)
    rig = replace(rig, loop=gated)
    rate_hz = rig.engine.sample_rate_hz
    silence = ClipAudio(
        Clip("silence", Path()), np.zeros(round(task.idle_s * rate_hz), np.int16), rate_hz, 0.0, task.idle_s
    )
    rig.begin()
    measure_paced(
        rig,
        [silence],
        streams=task.configuration.streams,
        seconds=task.idle_s / 2,
        sleep=time.sleep,
        waits_for_rule=False,
    )
    wall_s, cpu_s = rig.elapsed()
    return cpu_s / wall_s
