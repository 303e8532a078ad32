"""A loaded model as the recogniser under test; its second pass in its turn, or at live pace beside it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from edge_asr.bench.child import Task
from edge_asr.bench.recorder import RecordedEngine
from edge_asr.bench.rig import Notebook, Readings, Rig
from edge_asr.clock import Clock, MonotonicClock
from edge_asr.engines.base import SegmentDecoder
from edge_asr.engines.instruments import Stopwatch, TimedSegmentDecoder
from edge_asr.engines.second_pass import BackgroundPass, InlinePass, SecondPass
from edge_asr.resources.frequency import read_policies
from edge_asr.resources.memory import read_process_memory
from edge_asr.resources.thermal import hottest_celsius
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.workers.configuration import WorkerConfiguration, unpack
from edge_asr.workers.loaded_model import LoadedModel


class Alarm:
    """Sleep that another thread can end: a second pass is ready when it is ready."""

    def __init__(self) -> None:
        self._is_ringing = threading.Event()

    def ring(self) -> None:
        """Wake whoever sleeps, or sleeps next."""
        self._is_ringing.set()

    def sleep(self, seconds: float) -> None:
        """So long, or until it rings."""
        self._is_ringing.wait(seconds)
        self._is_ringing.clear()


def rig_of(task: Task, loaded: LoadedModel, watch: Stopwatch) -> Rig:
    """What decodes on one thread, the second pass included."""
    clock = MonotonicClock()
    notebook = Notebook.for_run_of(_length_s(task), task.sample_every_s)
    engine = RecordedEngine(loaded.engine, clock, notebook.most_steps)

    def inline(decoder: SegmentDecoder) -> SecondPass:
        return InlinePass(TimedSegmentDecoder(decoder, watch))

    return Rig(
        loop=_loop(engine, loaded, unpack(task.configure), clock, inline),
        engine=engine,
        stopwatch=watch,
        clock=clock,
        read=_read,
        cpu_ns=time.process_time_ns,
        language=task.language,
        piece_ms=task.configuration.piece_ms,
        notebook=notebook,
    )


def at_live_pace(rig: Rig, loaded: LoadedModel, settings: WorkerConfiguration, alarm: Alarm) -> Rig:
    """The same with the second pass on a thread of its own, as in the worker; it rings when a segment is done."""

    def in_background(decoder: SegmentDecoder) -> SecondPass:
        return BackgroundPass(decoder, rig.clock, alarm.ring)

    return replace(rig, loop=_loop(rig.engine, loaded, settings, rig.clock, in_background))


def _loop(
    engine: RecordedEngine,
    loaded: LoadedModel,
    settings: WorkerConfiguration,
    clock: Clock,
    make: Callable[[SegmentDecoder], SecondPass],
) -> DecodeLoop:
    return DecodeLoop(
        engine,
        settings.endpoint,
        settings.scheduler,
        clock,
        Understanding(
            text_case=loaded.text_case,
            expect=loaded.expect,
            second_hearing=loaded.hear_again(make, settings.second_pass, clock),
        ),
    )


def _length_s(task: Task) -> float:
    return task.least_audio_s if task.configuration.mode == "throughput" else task.seconds


def _read() -> Readings:
    return Readings(
        rss_bytes=read_process_memory(os.getpid()).resident_bytes,
        celsius=hottest_celsius(),
        frequency_khz=min((policy.current_khz for policy in read_policies() if policy.current_khz), default=None),
    )
