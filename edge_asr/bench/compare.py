"""Two benches side by side: what changed, by how much, and whether that can be said.

Configurations are matched, repetitions and utterances paired. A verdict stands only where the interval of the
difference excludes zero, the change is large enough to matter, and nothing disturbed the runs it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from edge_asr.bench.comparable import differences, matched, shared_clips
from edge_asr.bench.document import Configuration, Document, Result, Run, Utterance
from edge_asr.bench.figure_text import violations_of
from edge_asr.bench.figures import error_blocks
from edge_asr.statistics import Block, PairedChange, TooFew, paired_change, paired_percentile_change
from edge_asr.statistics import Verdict as Change

TOLERANCE = 0.03
"""Relative change of times and memory that no verdict is given below; error rates have none."""

_REPETITIONS_NEEDED = 3
"""Undisturbed on both sides, for a verdict although others were disturbed."""

_ERROR_RATES = ("wer", "cer")

Verdict = Literal["better", "worse", "no_difference_found", "invalid", "undecided"]
"""``invalid``: the runs were disturbed; ``undecided``: too few samples, ``note`` says how many are needed."""


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure before and after; less is better in all of them."""

    name: str
    """As in ``Result.figures``."""
    unit: str
    verdict: Verdict
    change: PairedChange | None = None
    """``None`` where there are too few samples."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ConfigurationChange:
    """One configuration of the first bench against one of the second."""

    before: Configuration
    after: Configuration
    figures: tuple[FigureChange, ...]
    notes: tuple[str, ...] = ()
    """What was left out, and why there is no verdict where there is none."""

    @property
    def is_valid(self) -> bool:
        """Whether there was something to compare, and nothing disturbed it."""
        return bool(self.figures) and all(figure.verdict != "invalid" for figure in self.figures)

    @property
    def is_decided(self) -> bool:
        """Whether the samples were enough for a verdict on a time or on memory: errors alone need no repetitions."""
        verdicts = {figure.verdict for figure in self.figures if figure.name not in _ERROR_RATES}
        return bool(verdicts - {"undecided"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that can be said about two benches together."""

    differences: tuple[str, ...]
    """In board, models, audio, versions: what may be the cause, or forbid the comparison."""
    changes: tuple[ConfigurationChange, ...]
    only_before: tuple[Configuration, ...]
    only_after: tuple[Configuration, ...]

    def verdicts(self, verdict: Verdict) -> list[tuple[ConfigurationChange, FigureChange]]:
        """The figures of which this is said, with their configurations."""
        return [(change, figure) for change in self.changes for figure in change.figures if figure.verdict == verdict]

    @property
    def has_regression(self) -> bool:
        """Whether anything became worse."""
        return bool(self.verdicts("worse"))

    @property
    def is_valid(self) -> bool:
        """Whether something was compared, and every configuration undisturbed."""
        return bool(self.changes) and all(change.is_valid for change in self.changes)

    @property
    def is_decided(self) -> bool:
        """Whether something can be said of the times or the memory of every configuration."""
        return all(change.is_decided for change in self.changes)


def compare_documents(before: Document, after: Document) -> Comparison:
    """Compare two benches.

    Args:
        before: The reference.
        after: What is compared with it.
    """
    pairs, only_before, only_after = matched(before.results, after.results)
    clips = shared_clips(before, after)
    has_same_audio = len(clips) == len(before.workload.clips) == len(after.workload.clips)
    return Comparison(
        differences=tuple(differences(before, after)),
        changes=tuple(_compared(first, second, clips, has_same_audio=has_same_audio) for first, second in pairs),
        only_before=tuple(result.configuration for result in only_before),
        only_after=tuple(result.configuration for result in only_after),
    )


@dataclass(frozen=True, slots=True)
class _Runs:
    """What two results are compared by."""

    before: Sequence[Run]
    after: Sequence[Run]
    is_valid: bool
    clips: frozenset[str]
    has_same_audio: bool


def _compared(before: Result, after: Result, clips: frozenset[str], *, has_same_audio: bool) -> ConfigurationChange:
    runs, notes = _runs(before, after, clips, has_same_audio=has_same_audio)
    if not runs.before or not runs.after:
        return ConfigurationChange(before.configuration, after.configuration, (), notes)
    measure = _throughput if before.configuration.mode == "throughput" else _paced
    figures = (*measure(runs), *_error_rate(runs, before), *_memory(runs))
    seen = tuple(figure for figure in figures if _is_seen(before, figure.name) and _is_seen(after, figure.name))
    if hidden := [figure.name for figure in figures if figure not in seen]:
        notes = (*notes, f"left out, since the daemon does not show it from outside: {', '.join(hidden)}")
    if before.configuration.mode == "paced" and not has_same_audio:
        notes = (*notes, "times at live pace are left out: both benches must hear the same recordings (--audio)")
    return ConfigurationChange(before.configuration, after.configuration, seen, notes)


def _is_seen(result: Result, figure: str) -> bool:
    """Whether a figure was measured at all; of a daemon some are left out, and the runs hold nothing in their place."""
    return result.configuration.door == "library" or figure in result.figures


def _runs(
    before: Result, after: Result, clips: frozenset[str], *, has_same_audio: bool
) -> tuple[_Runs, tuple[str, ...]]:
    """Undisturbed repetitions of both sides where there are enough; all, without verdicts, where there are not."""
    sides = ({run.repetition: run for run in before.runs}, {run.repetition: run for run in after.runs})
    shared = sorted(sides[0].keys() & sides[1].keys())
    calm = [number for number in shared if all(side[number].is_valid for side in sides)]
    is_valid = len(calm) == len(shared) or len(calm) >= _REPETITIONS_NEEDED
    chosen = calm if is_valid else shared
    named = {"before": before, "after": after}
    notes = [f"not measured {when}: {result.error}" for when, result in named.items() if result.error]
    if len(calm) < len(shared):
        what = "left out" if is_valid else f"disturbed: no verdict, {_REPETITIONS_NEEDED} undisturbed ones are needed"
        notes.append(f"{len(shared) - len(calm)} of {len(shared)} repetitions {what}")
        notes += [f"{when}: {reason}" for when, result in named.items() for reason in violations_of(result)]
    first, second = ([side[number] for number in chosen] for side in sides)
    return _Runs(first, second, is_valid, clips, has_same_audio), tuple(notes)


# Figures, by their names in docs/metrics.md.


def _throughput(runs: _Runs) -> Iterator[FigureChange]:
    yield _by_utterance(runs, "rtf_wall", lambda utterance: utterance.wall_s)
    yield _by_utterance(runs, "rtf_cpu", lambda utterance: utterance.cpu_s)


def _paced(runs: _Runs) -> Iterator[FigureChange]:
    if not runs.has_same_audio:
        return  # what whole runs took cannot be paired when they heard something else
    yield _by_run(runs, "rtf_cpu_live", "ratio", lambda run: (run.cpu_s, run.audio_s))
    yield _by_percentile(runs, "chunk_latency", 90, lambda run: run.chunks.latency_ms if run.chunks else ())
    yield _by_percentile(runs, "chunk_latency", 99, lambda run: run.chunks.latency_ms if run.chunks else ())
    for name, field in (
        ("first_partial", "first_partial_ms"),
        ("flush_latency", "flush_ms"),
        ("final_latency", "final_ms"),
    ):
        if any(_said(field)(run) for run in (*runs.before, *runs.after)):
            yield _by_percentile(runs, name, 50, _said(field))


def _memory(runs: _Runs) -> Iterator[FigureChange]:
    yield _by_run(runs, "memory_peak", "bytes", lambda run: (run.peak_bytes, 1))


def _error_rate(runs: _Runs, result: Result) -> Iterator[FigureChange]:
    before, after = (
        [block for block in error_blocks(side) if block.utterance in runs.clips] for side in (runs.before, runs.after)
    )
    if before and after:
        name = "cer" if "cer" in result.figures else "wer"
        yield _judged(name, "share", paired_change(before, after, is_valid=runs.is_valid), tolerance=0)


def _by_utterance(runs: _Runs, name: str, seconds: Callable[[Utterance], float]) -> FigureChange:
    def blocks(side: Iterable[Run]) -> list[Block]:
        return [
            Block(run.repetition, utterance.clip, seconds(utterance), utterance.audio_s)
            for run in side
            for utterance in run.utterances
            if utterance.clip in runs.clips and utterance.audio_s > 0
        ]

    return _judged(name, "ratio", _cautious(blocks(runs.before), blocks(runs.after), is_valid=runs.is_valid))


def _by_run(runs: _Runs, name: str, unit: str, parts: Callable[[Run], tuple[float, float]]) -> FigureChange:
    before, after = (
        [Block(run.repetition, "run", *parts(run)) for run in side if parts(run)[1] > 0]
        for side in (runs.before, runs.after)
    )
    return _judged(name, unit, paired_change(before, after, is_valid=runs.is_valid))


def _by_percentile(runs: _Runs, name: str, percent: int, samples: Callable[[Run], Sequence[float]]) -> FigureChange:
    before, after = ({run.repetition: samples(run) for run in side} for side in (runs.before, runs.after))
    change = paired_percentile_change(before, after, percent, is_valid=runs.is_valid)
    return _judged(f"{name}_p{percent}", "ms", change)


def _said(field: str) -> Callable[[Run], Sequence[float]]:
    def samples(run: Run) -> list[float]:
        values = (getattr(utterance, field) for utterance in run.utterances)
        return [value for value in values if value is not None]

    return samples


def _cautious(before: Sequence[Block], after: Sequence[Block], *, is_valid: bool) -> PairedChange | TooFew:
    """The wider of two intervals: over utterances of repetitions, and over repetitions as a whole.

    Utterances of one repetition share its process and the state of the machine; where that is what varies, the
    first interval alone is too narrow.
    """
    fine = paired_change(before, after, is_valid=is_valid)
    keys = {block.key for block in before} & {block.key for block in after}
    whole = paired_change(*(_by_repetition(side, keys) for side in (before, after)), is_valid=is_valid)
    if isinstance(fine, TooFew) or isinstance(whole, TooFew):
        return fine  # a single repetition
    return max(fine, whole, key=lambda change: change.difference_interval.high - change.difference_interval.low)


def _by_repetition(blocks: Iterable[Block], keys: set[tuple[int, str]]) -> Iterator[Block]:
    for block in blocks:
        if block.key in keys:
            yield Block(block.repetition, "", block.numerator, block.denominator)


def _judged(name: str, unit: str, change: PairedChange | TooFew, tolerance: float = TOLERANCE) -> FigureChange:
    if isinstance(change, TooFew):
        return FigureChange(name, unit, "undecided", note=str(change))
    verdict = _JUDGEMENTS[change.verdict]
    is_small = change.ratio is not None and abs(change.ratio - 1) < tolerance
    if is_small and verdict in ("better", "worse"):
        return FigureChange(name, unit, "no_difference_found", change, note=f"a change under {tolerance:.0%}")
    return FigureChange(name, unit, verdict, change)


_JUDGEMENTS: Mapping[Change, Verdict] = {
    "lower": "better",
    "higher": "worse",
    "no_difference_found": "no_difference_found",
    "invalid": "invalid",
}
