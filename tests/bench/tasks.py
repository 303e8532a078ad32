"""Tasks for measurements that are scripted, in this process or in one of its own; and machines that say little."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import soundfile

from edge_asr.bench.child import ClipTask, Task
from edge_asr.bench.document import Chunks, Configuration, Run, Utterance, Violation
from edge_asr.bench.run import measure_once
from edge_asr.workers.messages import Configure
from tests.bench import loaders

RATE_HZ = 16_000


def a_task(**changes: Any) -> Task:
    """Nothing that could be run."""
    varied = {name: changes.pop(name) for name in tuple(changes) if name in Configuration.__struct_fields__}
    configuration = Configuration(**{"model": "scripted", "mode": "paced", **varied})
    return Task(**{"configure": Configure("/nowhere", {}), "configuration": configuration, "clips": (), **changes})


def real_task(folder: Path, loader: Callable[..., Any], **changes: Any) -> Task:
    """A second of speech, heard by a scripted engine in a process of its own."""
    samples = np.zeros(RATE_HZ, np.int16)
    samples[1600 : RATE_HZ // 2] = 8000
    soundfile.write(folder / "go.wav", samples, RATE_HZ, subtype="PCM_16")
    defaults: dict[str, Any] = {
        "configure": Configure(str(folder), loaders.settings()),
        "clips": (ClipTask(name="go.wav", path=str(folder / "go.wav"), reference="go"),),
        "loader": loaders.named(loader),
        "seconds": 0.5,
        "least_audio_s": 1.0,
        "warm_up_s": 1.0,
        "most_warm_up_s": 1.0,
    }
    return a_task(**{**defaults, **changes})


def silent_machine(folder: Path) -> Path:
    """A root that says nothing of processors, heat and memory, so that nothing there disturbs a measurement."""
    root = folder / "silent"
    (root / "proc").mkdir(parents=True)
    return root


def on_a_quiet_machine(folder: Path) -> Callable[[Task], Run]:
    """Measures in a process of its own. How late this machine wakes a feeder is no matter of the tests."""
    root = silent_machine(folder)

    def measure(task: Task) -> Run:
        run = measure_once(task, root=root)
        kept = tuple(violation for violation in run.violations if violation.code != "feeder_late")
        return msgspec.structs.replace(run, violations=kept)

    return measure


def throughput_run(rtf: float = 0.1, *, errors: int = 0, peak_bytes: int = 1, **changes: Any) -> Run:
    """Ten seconds of audio as fast as possible."""
    utterance = Utterance(clip="go", audio_s=10.0, wall_s=10 * rtf, cpu_s=10 * rtf, errors=errors, units=10)
    defaults: dict[str, Any] = {"wall_s": 10 * rtf, "audio_s": 10.0, "cpu_s": 10 * rtf, "peak_bytes": peak_bytes}
    return Run(repetition=0, order=0, utterances=(utterance,), **{**defaults, **changes})


def paced_run(
    cpu_per_audio_s: float = 0.1,
    *,
    compute_ms: float = 10.0,
    backlog_s: float = 0.1,
    flush_ms: float = 20.0,
    violations: tuple[Violation, ...] = (),
    **changes: Any,
) -> Run:
    """Ten seconds of audio at live pace: a hundred chunks of 100 ms."""
    series = (compute_ms,) * 100
    chunks = Chunks(chunk_ms=100.0, compute_ms=series, latency_ms=series, backlog_max_s=backlog_s)
    utterance = Utterance(clip="go", audio_s=10.0, units=10, flush_ms=flush_ms)
    defaults: dict[str, Any] = {"audio_s": 10.0, "cpu_s": 10.0 * cpu_per_audio_s, "peak_bytes": 1, "chunks": chunks}
    return Run(repetition=0, order=0, utterances=(utterance,), violations=violations, **{**defaults, **changes})
