"""What a second pass costs and gains, said in sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from edge_asr.bench.document import Figure, Result
from edge_asr.bench.figure_text import quantity

_COMPARED = (
    ("wer", "word error rate"),
    ("cer", "character error rate"),
    ("rtf_cpu", "CPU seconds per second of audio"),
    ("rtf_cpu_live", "CPU seconds per second of audio"),
    ("flush_latency_p50", "last audio to final"),
    ("memory_peak", "peak memory"),
)
"""Figure to what it is called in the sentence, where both configurations have it."""


def tier_sentences(results: Sequence[Result]) -> Iterator[str]:
    """One for each configuration with a second pass that was measured without it, too."""
    alone = {result.configuration: result for result in results}
    for result in results:
        configuration = result.configuration
        first = alone.get(msgspec.structs.replace(configuration, second_pass=""))
        if not configuration.second_pass or first is None:
            continue
        parts = [*_compared(first.figures, result.figures), *_skipped(result.figures)]
        if parts:
            yield f"{configuration.label()}: {'; '.join(parts)}"


def skipped_sentences(results: Sequence[Result]) -> Iterator[str]:
    """One for each configuration in which the second pass did not write every final."""
    for result in results:
        for part in _skipped(result.figures):
            yield f"{result.configuration.label()}: {part}; see docs/two-pass.md"


def _compared(before: Mapping[str, Figure], after: Mapping[str, Figure]) -> Iterator[str]:
    for name, title in _COMPARED:
        first, second = (figures[name].value if name in figures else None for figures in (before, after))
        if first is not None and second is not None:
            unit = after[name].unit
            yield f"{title} {quantity(second, unit)} in place of {quantity(first, unit)}"


def _skipped(figures: Mapping[str, Figure]) -> Iterator[str]:
    figure = figures.get("second_pass_skipped")
    if figure is not None and figure.value:
        yield f"the first model's own finals stood in {figure.note}"
