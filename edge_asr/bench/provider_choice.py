"""Which execution provider is worth using on this board, from figures that were measured there. Pure.

An NPU need not be faster than a large core to be worth it: what it frees is the CPU. So a provider is compared with the
first one by CPU time at live pace, and counts only where it keeps up and hears no worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from edge_asr.bench.document import Configuration, Result
from edge_asr.bench.figure_text import quantity, violations_of

LEAST_FREED = 0.1
"""Share of the CPU time that another provider must save: it brings a driver, a compiled model and a way to fail."""
MOST_WORSE = 0.005
"""Error rate that it may add; half a percentage point, the budget of a compiled model."""

_CPU = "cpu"


class ProviderFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What one provider made of a model."""

    provider: str
    model: str
    label: str
    """What tells its row from the others."""
    share: float | None
    """Part of the operators that it ran, 0 to 1; ``None`` where no engine says."""
    rtf_wall: float | None
    cpu_per_audio: float | None
    """CPU seconds per second of audio, at live pace where that was measured."""
    freed: float | None
    """Share of the CPU time of the first row that it saves; below zero where it takes more."""
    latency_p90_ms: float | None
    error_rate: float | None
    reason_against: str = ""
    """Why it is not to be chosen; empty where it may be."""


class ProviderChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Providers beside each other, and the one to use."""

    rows: tuple[ProviderFigures, ...]
    """The CPU first, where it was measured."""
    recommended: str
    """Of the rows, by ``label``; empty where none may be chosen."""
    sentence: str


def compare_providers(results: Sequence[Result]) -> ProviderChoice | None:
    """Compare what was measured; nothing where there are not two providers to compare.

    Args:
        results: Of any models and configurations, with as many streams each; throughput and paced ones of a
            configuration belong together.
    """
    grouped: dict[Configuration, dict[str, Result]] = {}
    for result in results:
        key = msgspec.structs.replace(result.configuration, mode="paced")
        grouped.setdefault(key, {})[result.configuration.mode] = result
    if len({configuration.provider for configuration in grouped}) < 2:
        return None
    ordered = sorted(grouped.items(), key=lambda item: item[0].provider != _CPU)
    rows = [_figures(configuration, by_mode) for configuration, by_mode in ordered]
    first = rows[0]
    rows = [_beside(row, first) for row in rows]
    best = _best(rows)
    return ProviderChoice(rows=tuple(rows), recommended=best.label if best else "", sentence=_sentence(rows, best))


def partial_sentences(results: Sequence[Result]) -> Iterator[str]:
    """One for each configuration whose provider left operators to the CPU."""
    for result in results:
        shares = [run.provider_share for run in result.runs if run.provider_share is not None]
        if shares and min(shares) < 1:
            yield (
                f"{result.configuration.label()}: partial, {result.configuration.provider!r} ran {min(shares):.0%} of "
                "the model's operators and the CPU the rest"
            )


def _figures(configuration: Configuration, by_mode: Mapping[str, Result]) -> ProviderFigures:
    values = {
        name: figure.value
        for _, result in sorted(by_mode.items())  # what both modes have is taken from throughput, which heard more
        for name, figure in result.figures.items()
        if figure.value is not None
    }
    return ProviderFigures(
        provider=configuration.provider,
        model=configuration.model,
        label=configuration.label().replace(" · paced", ""),
        share=values.get("provider_share"),
        rtf_wall=values.get("rtf_wall"),
        cpu_per_audio=values.get("rtf_cpu_live", values.get("rtf_cpu")),
        freed=None,
        latency_p90_ms=values.get("chunk_latency_p90", values.get("chunk_compute_p90")),
        error_rate=values.get("wer", values.get("cer")),
        reason_against=_why_not(tuple(by_mode.values()), values),
    )


def _why_not(results: Sequence[Result], values: Mapping[str, float]) -> str:
    if error := next((result.error for result in results if result.error), ""):
        return error
    if disturbed := next((sentence for result in results for sentence in violations_of(result)), ""):
        return f"its runs do not count: {disturbed}"
    if values.get("rtf_wall", 0.0) >= 1 or values.get("deadline_miss", 0.0) > 0:
        return "it does not keep up"
    return ""


def _beside(row: ProviderFigures, first: ProviderFigures) -> ProviderFigures:
    """The row with what it frees, and whether it hears worse than the first."""
    freed = None
    if row.cpu_per_audio is not None and first.cpu_per_audio:
        freed = 1 - row.cpu_per_audio / first.cpu_per_audio
    reason = row.reason_against
    if not reason and row.error_rate is not None and first.error_rate is not None:
        added = row.error_rate - first.error_rate
        if added > MOST_WORSE:
            reason = f"it hears worse: an error rate of {row.error_rate:.1%} instead of {first.error_rate:.1%}"
    return msgspec.structs.replace(row, freed=freed, reason_against=reason)


def _best(rows: Sequence[ProviderFigures]) -> ProviderFigures | None:
    """The first, unless another frees enough of its CPU time; where the first may not be chosen, the cheapest."""
    able = sorted((row for row in rows if not row.reason_against and row.cpu_per_audio is not None), key=_cost)
    first = rows[0]
    if first not in able:
        return able[0] if able else None
    cheapest = able[0]
    return cheapest if cheapest.freed is not None and cheapest.freed >= LEAST_FREED else first


def _cost(row: ProviderFigures) -> float:
    return float("inf") if row.cpu_per_audio is None else row.cpu_per_audio


def _sentence(rows: Sequence[ProviderFigures], best: ProviderFigures | None) -> str:
    first = rows[0]
    against = [f"{row.label}: {row.reason_against}" for row in rows if row.reason_against]
    aside = f" (not {'; not '.join(against)})" if against else ""
    if best is None:
        return f"no provider can be recommended{aside}"
    if best is first:
        return f"recommended: {best.label}; no other provider frees {LEAST_FREED:.0%} of its CPU time{aside}"
    gain = f"it frees {best.freed:.0%} of the CPU time of {first.label}" if best.freed is not None else "it keeps up"
    return f"recommended: {best.label}; {gain}, {_beside_text(best, first)}{aside}"


def _beside_text(best: ProviderFigures, first: ProviderFigures) -> str:
    pairs = (
        ("latency p90", "ms", best.latency_p90_ms, first.latency_p90_ms),
        ("RTF", "ratio", best.rtf_wall, first.rtf_wall),
        ("error rate", "share", best.error_rate, first.error_rate),
    )
    said = [
        f"{name} {quantity(one, unit)} (there {quantity(other, unit)})"
        for name, unit, one, other in pairs
        if one is not None and other is not None
    ]
    part = [] if best.share is None or best.share >= 1 else [f"{best.share:.0%} of its operators on the provider"]
    return ", ".join([*part, *said])
