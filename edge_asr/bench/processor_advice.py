"""CPU, NPU or GPU: what the bench of a CPU board says about it, with the arithmetic.

Nothing here claims to know how fast an accelerator is. It says how fast one would have to be; the same bench run on it
says whether it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge_asr.bench.capacity import BoardCapacity
from edge_asr.bench.wording import counted

Processor = Literal["cpu", "npu", "gpu"]


@dataclass(frozen=True, slots=True)
class Advice:
    """Of one kind of processor."""

    processor: Processor
    verdict: str
    arithmetic: tuple[str, ...]


def advise(capacity: BoardCapacity, working_boards: int, streams_needed: int) -> tuple[Advice, ...]:
    """Advice for a load that takes so many boards and, put together, so many streams at a time."""
    return (
        _cpu(capacity, working_boards),
        _npu(capacity, working_boards),
        _gpu(capacity, working_boards, streams_needed),
    )


def _cpu(capacity: BoardCapacity, boards: int) -> Advice:
    test = capacity.at_capacity
    cores_used = test.streams * test.cpu_per_audio_s
    verdict = "enough: one board carries the load" if boards == 1 else f"{boards} boards carry the load"
    return Advice(
        "cpu",
        verdict,
        (
            f"{counted(test.streams, 'stream')} x {test.cpu_per_audio_s:.3f} CPU seconds per second of audio = "
            f"{cores_used:.2f} of {counted(capacity.cores, 'core')}, {cores_used / capacity.cores:.0%}",
        ),
    )


def _npu(capacity: BoardCapacity, boards: int) -> Advice:
    test = capacity.at_capacity
    more = capacity.streams + 1
    arithmetic = [
        f"an NPU decodes stream after stream: for {more} streams a step must take less than "
        f"{test.chunk_ms:.0f} ms / {more} = {test.chunk_ms / more:.1f} ms",
        f"this board's step took {test.step_median_ms:.1f} ms (median, {counted(test.streams, 'stream')}, batched)",
    ]
    arithmetic.append(_around_the_model(capacity.model_share))
    if boards == 1:
        verdict = "not needed: it would only free CPU time for other work"
    else:
        verdict = (
            f"worth a bench on one: it saves boards only if its step takes less than {test.chunk_ms / more:.1f} ms"
        )
    return Advice("npu", verdict, tuple(arithmetic))


def _around_the_model(model_share: float | None) -> str:
    if model_share is None:
        return "how much of the time the model takes is not in this bench; measure with `--mode both`"
    if model_share >= 1:
        return "all of the processing time is inside the model"
    return (
        f"{model_share:.1%} of the processing time is inside the model: with a model that cost nothing the CPU would "
        f"still carry at most 1 / (1 - {model_share:.3f}) = {1 / (1 - model_share):.1f} times the streams"
    )


def _gpu(capacity: BoardCapacity, boards: int, streams: int) -> Advice:
    chunk_ms = capacity.at_capacity.chunk_ms
    if boards == 1:
        return Advice("gpu", "not needed: there is one board to replace", ())
    return Advice(
        "gpu",
        f"worth a bench on one that costs, with its power, less than {boards} boards",
        (
            f"it replaces them all only if a step of {streams} streams in one batch takes less than {chunk_ms:.0f} ms",
            f"that is {streams} streams x 1000 / {chunk_ms:.0f} = {streams * 1000 / chunk_ms:.0f} chunks per second",
            "one machine in place of many is also one failure that stops all",
        ),
    )
