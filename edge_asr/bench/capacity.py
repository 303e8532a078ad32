"""What one board carries, read from a bench: the largest number of live streams whose chunks come in time.

A model that does not stream decodes its open segment again at intervals; there the interval stands for the chunk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from edge_asr.bench.document import Configuration, Document, Result, Run
from edge_asr.bench.figure_text import violations_of
from edge_asr.bench.wording import counted
from edge_asr.errors import GateFailed, InputError
from edge_asr.statistics import Percentile, TooFew, percentile

_SAFETY = 1.1
"""A longer run does not hold exactly as many more chunks."""


@dataclass(frozen=True, slots=True)
class StreamTest:
    """One number of live streams, as it was measured."""

    streams: int
    chunk_ms: float
    """Audio per decoding step, which is the time there is for one; see the module for models that do not stream."""
    p99: Percentile | TooFew
    """Of the time from a chunk being complete to its step being done, milliseconds."""
    late_share: float
    """Share of the chunks that took longer than a chunk lasts."""
    seconds: float
    """How long a run lasted."""
    step_median_ms: float
    """Inside the decoding step."""
    cpu_per_audio_s: float
    """CPU seconds per second of audio at live pace."""
    peak_bytes: int
    """Resident memory at its highest."""

    @property
    def keeps_up(self) -> bool:
        """Whether p99 is known and under one chunk."""
        return isinstance(self.p99, Percentile) and self.p99.value < self.chunk_ms


@dataclass(frozen=True, slots=True)
class BoardCapacity:
    """One board with one model and one setting."""

    board: str
    model: str
    configuration: str
    """The setting in words."""
    streams: int
    """Live streams at a time; the largest number tested of which, and of all smaller ones, none was late."""
    tests: tuple[StreamTest, ...]
    """By number of streams; the one of ``streams`` among them."""
    cores: int
    """That the process was allowed to use."""
    piece_ms: int
    """Audio that clients send at a time."""
    provider: str = "cpu"
    model_share: float | None = None
    """Of the processing time, inside the model rather than around it; ``None`` without a throughput run."""
    board_memory_bytes: int | None = None
    violations: tuple[str, ...] = ()
    """Why the measurements do not count; empty when they do."""

    @property
    def at_capacity(self) -> StreamTest:
        """The measurement with the largest number of streams that keeps up."""
        return next(test for test in self.tests if test.streams == self.streams)

    @property
    def is_limit_known(self) -> bool:
        """Whether more streams were tried and were too many."""
        return any(test.streams > self.streams and isinstance(test.p99, Percentile) for test in self.tests)

    @property
    def bytes_per_stream(self) -> float | None:
        """Memory that one more stream takes, between the fewest and the most that keep up; ``None`` with one test."""
        first, last = self.tests[0], self.at_capacity
        if first.streams == last.streams:
            return None
        return (last.peak_bytes - first.peak_bytes) / (last.streams - first.streams)

    def late_shares(self, streams: int) -> tuple[float, ...]:
        """Measured share of late chunks with 0, 1 … ``streams``; where untested, that of the next greater number."""
        measured = [next(test for test in self.tests if test.streams >= number) for number in range(1, streams + 1)]
        return 0.0, *(test.late_share for test in measured)


def capacity_from_document(document: Document, model: str | None = None) -> BoardCapacity:
    """The best setting's capacity: most streams, then the least CPU time.

    Args:
        document: Of a bench with paced runs.
        model: The one to plan with, where several were measured.

    Raises:
        InputError: No paced run is in it, or none of that model, or none with enough chunks for a p99.
        GateFailed: Not even one stream keeps up.
    """
    settings: dict[Configuration, list[Result]] = {}
    for result in _paced(document, model):
        settings.setdefault(_apart_from_streams(result.configuration), []).append(result)
    interval_ms = document.settings.get("engine", {}).get("partial_interval_ms", 0.0)
    tested = [(setting, _tests(results, interval_ms)) for setting, results in settings.items()]
    found = [
        _capacity(document, setting, settings[setting], tests)
        for setting, tests in tested
        if any(test.keeps_up for test in tests)
    ]
    fitting = [capacity for capacity in found if capacity.streams]
    if not fitting:
        raise _nothing_fits([test for _, tests in tested for test in tests])
    return min(fitting, key=lambda one: (bool(one.violations), -one.streams, one.at_capacity.cpu_per_audio_s))


def _paced(document: Document, model: str | None) -> list[Result]:
    paced = [result for result in document.results if result.configuration.mode == "paced" and not result.error]
    if not paced:
        raise InputError("the bench holds no run at live pace; measure with `edge-asr bench --mode paced`")
    names = sorted({result.configuration.model for result in paced})
    if model is not None and model not in names:
        raise InputError(f"the bench holds no run of {model!r} at live pace; it has: {', '.join(names)}")
    return [result for result in paced if model in (None, result.configuration.model)]


def _apart_from_streams(configuration: Configuration) -> Configuration:
    return msgspec.structs.replace(configuration, streams=1)


def _tests(results: Iterable[Result], interval_ms: float) -> list[StreamTest]:
    ordered = sorted(results, key=lambda result: result.configuration.streams)
    return [_test(result, interval_ms) for result in ordered if any(run.chunks for run in result.runs)]


def _test(result: Result, interval_ms: float) -> StreamTest:
    runs = _counting(result)
    chunks = [run.chunks for run in runs if run.chunks]
    latency_ms = [latency for chunk in chunks for latency in chunk.latency_ms]
    step_ms = sorted(step for chunk in chunks for step in chunk.compute_ms)
    period_ms = float(chunks[0].chunk_ms or interval_ms or result.configuration.piece_ms)
    audio_s = sum(run.audio_s for run in runs)
    return StreamTest(
        streams=result.configuration.streams,
        chunk_ms=period_ms,
        p99=percentile(latency_ms, 99),
        late_share=sum(latency > period_ms for latency in latency_ms) / len(latency_ms) if latency_ms else 0.0,
        seconds=max(run.wall_s for run in runs),
        step_median_ms=step_ms[len(step_ms) // 2] if step_ms else 0.0,
        cpu_per_audio_s=sum(run.cpu_s for run in runs) / audio_s if audio_s else 0.0,
        peak_bytes=max(run.peak_bytes for run in runs),
    )


def _counting(result: Result) -> Sequence[Run]:
    """The undisturbed runs; all of them if there is none, for a plan that says so."""
    return [run for run in result.runs if run.is_valid] or result.runs


def _capacity(
    document: Document, setting: Configuration, results: Sequence[Result], tests: Sequence[StreamTest]
) -> BoardCapacity:
    streams = _streams(tests)
    carrying = [result for result in results if result.configuration.streams == streams]
    disturbed = [result for result in carrying if not any(run.is_valid for run in result.runs)]
    return BoardCapacity(
        board=str(document.board.get("model") or "the board of this bench"),
        model=setting.model,
        configuration=setting.label(),
        streams=streams,
        tests=tuple(tests),
        cores=len(setting.cpus) or setting.threads,
        piece_ms=setting.piece_ms,
        provider=setting.provider,
        model_share=_model_share(document, setting),
        board_memory_bytes=document.board.get("memory_bytes"),
        violations=tuple(reason for result in disturbed for reason in violations_of(result)),
    )


def _streams(tests: Sequence[StreamTest]) -> int:
    """The largest number that keeps up and below which no smaller one was seen to fail; 0 if there is none."""
    largest = 0
    for test in tests:
        if isinstance(test.p99, Percentile) and not test.keeps_up:
            break
        largest = test.streams if test.keeps_up else largest
    return largest


def _model_share(document: Document, setting: Configuration) -> float | None:
    """From the throughput runs of the same model on the same provider."""
    stages = [
        run.stages
        for result in document.results
        for run in result.runs
        if (result.configuration.model, result.configuration.provider) == (setting.model, setting.provider)
        and run.stages
        and run.stages.total_s
    ]
    total_s = sum(stage.total_s for stage in stages)
    return sum(stage.model_s for stage in stages) / total_s if total_s else None


def _nothing_fits(tests: Sequence[StreamTest]) -> GateFailed | InputError:
    failed = [test for test in tests if isinstance(test.p99, Percentile)]
    if not failed:
        return InputError(_too_short(tests))
    best = min(failed, key=lambda test: test.streams)
    assert isinstance(best.p99, Percentile)
    return GateFailed(
        f"the board does not keep up: with {counted(best.streams, 'stream')} p99 is "
        f"{best.p99.value:.0f} ms and a chunk lasts {best.chunk_ms:.0f} ms; try fewer streams, a smaller model, or "
        "the setting that `edge-asr tune` finds"
    )


def _too_short(tests: Sequence[StreamTest]) -> str:
    """How much longer it must be, by the number of streams of which the fewest chunks were measured."""
    measured = [(test, test.p99) for test in tests if isinstance(test.p99, TooFew) and test.p99.found]
    if not measured:
        return (
            "the bench holds no decoding step, which a daemon (--url) does not show; measure through the library with "
            "`edge-asr bench MODEL --mode paced`"
        )
    test, sample = min(measured, key=lambda one: one[1].found)
    needed_s = 10 * math.ceil(_SAFETY * test.seconds * sample.needed / sample.found / 10)
    return (
        f"the bench is too short for a p99: {sample.needed} chunks are needed and {sample.found} were measured with "
        f"{counted(test.streams, 'stream')}; run it again with --seconds {needed_s} and the same --repeat"
    )
