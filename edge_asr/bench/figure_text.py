"""How figures are called and written, the same in the terminal, in Markdown and in the HTML report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from edge_asr.bench.document import Document, Figure, Result

_MIB = 2**20
_WHOLE_NUMBERS_FROM = 100
TOO_FEW = "n too small"
"""How the note of a figure begins whose sample cannot carry it."""
_SHOWN = {
    "share": (100.0, "%"),
    "bytes": (1 / _MIB, "MiB"),
    "bytes per hour": (1 / _MIB, "MiB/h"),
    "ratio": (1.0, ""),
    "ratio per hour": (1.0, "/h"),
    "ms per hour": (1.0, "ms/h"),
    "°C per hour": (1.0, "°C/h"),
}
"""Unit of a document to factor and unit on the page; others stay."""


@dataclass(frozen=True, slots=True)
class FigureName:
    """What people read for a key of ``Result.figures``."""

    group: str
    title: str


def _percentiles(stem: str, group: str, title: str, *ranks: str) -> dict[str, FigureName]:
    return {f"{stem}_{rank}": FigureName(group, f"{title}, {'largest' if rank == 'max' else rank}") for rank in ranks}


FIGURES: Mapping[str, FigureName] = {
    "rtf_wall": FigureName("Speed", "Real-time factor, wall time"),
    "rtf_cpu": FigureName("Speed", "Real-time factor, CPU time"),
    "parallel_efficiency": FigureName("Speed", "CPU time per wall time"),
    "rtf_model": FigureName("Speed", "Real-time factor, model alone"),
    "rtf_cpu_live": FigureName("Speed", "CPU seconds per audio second at live pace"),
    "wer": FigureName("Accuracy", "Word error rate"),
    "cer": FigureName("Accuracy", "Character error rate"),
    "second_pass_skipped": FigureName("Accuracy", "Recordings with a final that the second pass skipped"),
    **_percentiles("chunk_compute", "Deadlines", "Chunk compute", "p50", "p90", "p95", "p99", "max"),
    **_percentiles("chunk_latency", "Deadlines", "Chunk latency", "p50", "p90", "p99", "max"),
    "deadline_miss": FigureName("Deadlines", "Deadlines missed"),
    "backlog_max": FigureName("Deadlines", "Largest backlog"),
    "feeder_jitter_p90": FigureName("Deadlines", "Feeder jitter, p90"),
    **_percentiles("first_partial", "Latency", "First partial after speech onset", "p50", "p90"),
    **_percentiles("emission_delay", "Latency", "Word emission delay", "p50", "p90", "p99"),
    **_percentiles("flush_latency", "Latency", "Last audio to final", "p50", "p90", "max"),
    **_percentiles("final_latency", "Latency", "End of speech to final", "p50", "p90"),
    "final_rule_p50": FigureName("Latency", "… of it the endpoint rule, p50"),
    "final_compute_p50": FigureName("Latency", "… of it computing, p50"),
    "final_delivery_p50": FigureName("Latency", "… of it delivery, p50"),
    "pr50": FigureName("Latency", "Last token after end of speech, p50"),
    "pr90": FigureName("Latency", "Last token after end of speech, p90"),
    "stability": FigureName("Latency", "Words changed per word shown"),
    "provider_share": FigureName("Resources", "Operators on the provider"),
    "load": FigureName("Resources", "Load time, files in memory"),
    "load_cold": FigureName("Resources", "Load time, files on disk"),
    "first_decode": FigureName("Resources", "First decode"),
    "memory_peak": FigureName("Resources", "Peak memory"),
    "memory_growth": FigureName("Resources", "Memory growth"),
    "rtf_drift": FigureName("Resources", "Drift of the real-time factor"),
    "latency_drift": FigureName("Resources", "Drift of the chunk latency"),
    "temperature_drift": FigureName("Resources", "Drift of the temperature"),
    "idle_cpu": FigureName("Resources", "CPU at silence"),
}
"""Every figure a bench gives, in the order of a report; ``docs/metrics.md`` explains each."""

_UNKNOWN = "Other figures"


def title_of(name: str) -> str:
    """What people read; a figure that is not known here keeps its key."""
    return FIGURES[name].title if name in FIGURES else name


def grouped(figures: Mapping[str, Figure]) -> Iterator[tuple[str, list[tuple[str, Figure]]]]:
    """Groups of a report, each with its figures in order; figures not known here come last."""
    groups: dict[str, list[tuple[str, Figure]]] = {}
    for name in [*(name for name in FIGURES if name in figures), *(name for name in figures if name not in FIGURES)]:
        group = FIGURES[name].group if name in FIGURES else _UNKNOWN
        groups.setdefault(group, []).append((name, figures[name]))
    yield from groups.items()


def value_text(figure: Figure) -> str:
    """The value with its unit, or why there is none."""
    if figure.value is None:
        return figure.note or TOO_FEW
    return quantity(figure.value, figure.unit)


def interval_text(figure: Figure) -> str:
    """``from … to …`` with the unit once; empty without an interval."""
    if figure.value is None or figure.low is None or figure.high is None:
        return ""
    scale, unit = _shown(figure.unit)
    numbers = f"{_number(figure.low * scale)} to {_number(figure.high * scale)}"
    return f"{numbers} {unit}".rstrip()


def quantity(value: float, unit: str) -> str:
    """A number as people write it: three digits, percent for shares, MiB for bytes; counts as they are."""
    if unit == "count":
        return f"{value:g}"
    scale, shown = _shown(unit)
    return f"{_number(value * scale)} {shown}".rstrip()


def _shown(unit: str) -> tuple[float, str]:
    return _SHOWN.get(unit, (1.0, unit))


def _number(value: float) -> str:
    if value == 0 or abs(value) >= _WHOLE_NUMBERS_FROM:
        return f"{value:.0f}"
    text = f"{value:#.3g}"
    return f"{value:.2g}" if "e" in text else text


# Honesty


def violations_of(result: Result) -> list[str]:
    """Why its figures do not count: each rule that was broken once, with how many of the runs it struck where not all.

    Runs break one rule by different figures; the sentence of the first stands for the others.
    """
    struck = Counter(code for run in result.runs for code in {violation.code for violation in run.violations})
    first: dict[str, str] = {}
    for run in result.runs:
        for violation in run.violations:
            first.setdefault(violation.code, violation.message)
    every = len(result.runs)
    return [
        message
        + (
            ""
            if every == 1
            else " (in every run)"
            if struck[code] == every
            else f" (in {struck[code]} of {every} runs)"
        )
        for code, message in first.items()
    ]


def faults(result: Result) -> list[str]:
    """All that is wrong with a configuration: that it was not measured, what drifted, and what disturbed it."""
    if not result.runs:
        return [f"not measured: {result.error or 'no run was made'}"]
    incomplete = [f"incomplete: {result.error}"] if result.error else []
    return [*incomplete, *(f"drift: {drift.message}" for drift in result.drifts), *violations_of(result)]


def verdict(document: Document) -> str:
    """One sentence: how many configurations were measured undisturbed."""
    count = len(document.results)
    if not count:
        return "Nothing was measured."
    valid = sum(result.is_valid for result in document.results)
    if valid == count:
        return f"Valid: {_all(count)} measured undisturbed."
    return f"INVALID: {count - valid} of {count} configuration{'' if count == 1 else 's'} must not be relied on."


def _all(count: int) -> str:
    return "the one configuration was" if count == 1 else f"all {count} configurations were"


def unavailable(results: Iterable[Result]) -> dict[str, list[str]]:
    """Reason to the names of the figures that no configuration has a value for, though one tried."""
    tried: dict[str, list[Figure]] = {}
    for result in results:
        for name, figure in result.figures.items():
            tried.setdefault(name, []).append(figure)
    reasons: dict[str, list[str]] = {}
    for name, figures in tried.items():
        if all(figure.value is None for figure in figures):
            reasons.setdefault(_reason(figures[0]), []).append(name)
    return reasons


def is_sample_too_small(figure: Figure) -> bool:
    """Whether more of the same measuring would give the figure."""
    return figure.value is None and (figure.note or TOO_FEW).startswith(TOO_FEW)


def _reason(figure: Figure) -> str:
    return f"{TOO_FEW}; a longer run gives more" if is_sample_too_small(figure) else value_text(figure)
