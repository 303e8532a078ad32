"""From runs to figures: pooled ratios with intervals, percentiles where the sample is large enough. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from edge_asr.bench.document import Chunks, Configuration, Figure, Run, Utterance
from edge_asr.bench.drift import drift_figures
from edge_asr.statistics import Block, Percentile, TooFew, median, percentile, pooled_ratio

UNITS = {"wer": "words", "cer": "characters"}

NOTHING_HEARD = "nothing was measured"


def figures_of(configuration: Configuration, runs: Sequence[Run], metric: str) -> dict[str, Figure]:
    """Every figure the runs allow, by its name in ``docs/metrics.md``.

    Args:
        configuration: Theirs.
        runs: Repetitions; none gives no figures.
        metric: ``wer`` or ``cer``.
    """
    if not runs:
        return {}
    own = _throughput_figures(runs) if configuration.mode == "throughput" else _paced_figures(runs)
    skipped = {"second_pass_skipped": _skipped_second_passes(runs)} if configuration.second_pass else {}
    return {**own, metric: _error_rate(runs, metric), **skipped, **_resource_figures(runs)}


def blocks_of(runs: Iterable[Run], numerator: Callable[[Utterance], float]) -> list[Block]:
    """One block per repetition and utterance, of seconds per second of audio."""
    return [
        Block(run.repetition, utterance.clip, numerator(utterance), utterance.audio_s)
        for run in runs
        for utterance in run.utterances
    ]


def error_blocks(runs: Iterable[Run]) -> list[Block]:
    """Errors and reference units per utterance; a clip counts once, since a model says the same each time."""
    heard: dict[str, Block] = {}
    for run in runs:
        for utterance in run.utterances:
            if utterance.units:
                heard.setdefault(utterance.clip, Block(0, utterance.clip, utterance.errors, utterance.units))
    return list(heard.values())


def _throughput_figures(runs: Sequence[Run]) -> dict[str, Figure]:
    wall = _ratio(blocks_of(runs, lambda utterance: utterance.wall_s))
    cpu = _ratio(blocks_of(runs, lambda utterance: utterance.cpu_s))
    figures = {"rtf_wall": wall, "rtf_cpu": cpu}
    if wall.value and cpu.value is not None:
        figures["parallel_efficiency"] = Figure(value=cpu.value / wall.value, unit="ratio", n=wall.n)
    model = [
        Block(run.repetition, "run", run.stages.features_s + run.stages.model_s, run.audio_s)
        for run in runs
        if run.stages is not None
    ]
    return {**figures, "rtf_model": _ratio(model)} if model else figures


def _paced_figures(runs: Sequence[Run]) -> dict[str, Figure]:
    spoken = [utterance for run in runs for utterance in run.utterances]
    compute = _chained(run.chunks.compute_ms for run in runs if run.chunks)
    latency = _chained(run.chunks.latency_ms for run in runs if run.chunks)
    heard = [run.chunks for run in runs if run.chunks and run.chunks.step_count]
    figures = {
        "rtf_cpu_live": _ratio([Block(run.repetition, "run", run.cpu_s, run.audio_s) for run in runs if run.audio_s]),
        **_percentiles("chunk_compute", compute, (50, 90, 95, 99)),
        "chunk_compute_max": _largest([chunks.longest_compute_ms for chunks in heard], "ms"),
        **_percentiles("chunk_latency", latency, (50, 90, 99)),
        "chunk_latency_max": _largest([chunks.longest_latency_ms for chunks in heard], "ms"),
        "deadline_miss": _misses(heard),
        "backlog_max": _largest([run.chunks.backlog_max_s for run in runs if run.chunks], "s"),
        "feeder_jitter_p90": _percentile(_chained(run.chunks.jitter_ms for run in runs if run.chunks), 90),
        **_percentiles("first_partial", _said(spoken, "first_partial_ms"), (50, 90)),
        **_percentiles("flush_latency", _said(spoken, "flush_ms"), (50, 90)),
        "flush_latency_max": _largest(_said(spoken, "flush_ms"), "ms"),
        **_percentiles("final_latency", _said(spoken, "final_ms"), (50, 90)),
        **_percentiles("final_rule", _said(spoken, "final_rule_ms"), (50,)),
        **_percentiles("final_compute", _said(spoken, "final_compute_ms"), (50,)),
        **_percentiles("final_delivery", _said(spoken, "final_delivery_ms"), (50,)),
        "pr50": _percentile(_said(spoken, "last_token_ms"), 50),
        "pr90": _percentile(_said(spoken, "last_token_ms"), 90),
        "stability": _stability(spoken),
    }
    delays = _chained(utterance.emission_ms for utterance in spoken)
    if delays:
        figures |= _percentiles("emission_delay", delays, (50, 90, 99))
    else:
        absent = "no recording says where its words are (column `words` of the manifest)"
        figures["emission_delay_p50"] = Figure(value=None, unit="ms", note=absent)
    idle = [run.idle_cpu_share for run in runs if run.idle_cpu_share is not None]
    if idle:
        figures["idle_cpu"] = Figure(value=median(idle), unit="share", n=len(idle))
    return figures


def _resource_figures(runs: Sequence[Run]) -> dict[str, Figure]:
    figures = {
        "memory_peak": Figure(value=max(run.peak_bytes for run in runs), unit="bytes", n=len(runs)),
        **drift_figures(max(runs, key=lambda run: len(run.samples))),  # the longest: minutes say little about a day
        "first_decode": Figure(value=median([run.first_decode_ms for run in runs]), unit="ms", n=len(runs)),
    }
    shares = [run.provider_share for run in runs if run.provider_share is not None]
    if shares:
        figures["provider_share"] = Figure(value=min(shares), unit="share", n=len(shares))
    for name, is_cold in (("load", False), ("load_cold", True)):
        loads = [run.load_s for run in runs if run.is_cold_load == is_cold]
        if loads:
            figures[name] = Figure(value=median(loads), unit="s", n=len(loads))
    return figures


def _ratio(blocks: Sequence[Block]) -> Figure:
    if not any(block.denominator > 0 for block in blocks):
        return Figure(value=None, unit="ratio", note=NOTHING_HEARD)
    pooled = pooled_ratio(blocks)
    interval = pooled.interval
    return Figure(
        value=pooled.value,
        unit="ratio",
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n=pooled.blocks,
    )


def _error_rate(runs: Sequence[Run], metric: str) -> Figure:
    blocks = error_blocks(runs)
    if not blocks:
        return Figure(value=None, unit="share", note="the recordings have no reference text")
    pooled = pooled_ratio(blocks)
    low, high = (pooled.interval.low, pooled.interval.high) if pooled.interval else (None, None)
    units = round(sum(block.denominator for block in blocks))
    return Figure(
        value=pooled.value, unit="share", low=low, high=high, n=units, note=f"{units} {UNITS[metric]} of reference"
    )


def _skipped_second_passes(runs: Sequence[Run]) -> Figure:
    heard = [utterance for run in runs for utterance in run.utterances]
    if not heard:
        return Figure(value=None, unit="share", note=NOTHING_HEARD)
    skipped = sum(utterance.second_passes_skipped > 0 for utterance in heard)
    return Figure(value=skipped / len(heard), unit="share", n=len(heard), note=f"{skipped} of {len(heard)} recordings")


def _percentiles(name: str, samples: Sequence[float], percents: Iterable[int]) -> dict[str, Figure]:
    return {f"{name}_p{percent}": _percentile(samples, percent) for percent in percents}


def _percentile(samples: Sequence[float], percent: int, unit: str = "ms") -> Figure:
    match percentile(samples, percent):
        case TooFew() as few:
            return Figure(value=None, unit=unit, n=len(samples), note=str(few))
        case Percentile() as found:
            low, high = found.interval.low, found.interval.high
            return Figure(value=found.value, unit=unit, low=low, high=high, n=found.samples)


def _largest(samples: Sequence[float], unit: str) -> Figure:
    if not samples:
        return Figure(value=None, unit=unit, note=NOTHING_HEARD)
    return Figure(value=max(samples), unit=unit, n=len(samples))


def _misses(heard: Sequence[Chunks]) -> Figure:
    steps = sum(chunks.step_count for chunks in heard)
    if not steps:
        return Figure(value=None, unit="share", note=NOTHING_HEARD)
    if not any(chunks.chunk_ms for chunks in heard):
        return Figure(value=None, unit="share", note="the model does not stream: its steps have no deadline")
    late = sum(chunks.missed_count for chunks in heard)
    return Figure(value=late / steps, unit="share", n=steps, note=f"{late} of {steps}")


def _stability(spoken: Sequence[Utterance]) -> Figure:
    emitted = sum(utterance.emitted_words for utterance in spoken)
    if not emitted:
        return Figure(value=None, unit="share", note=NOTHING_HEARD)
    changed = sum(utterance.changed_words for utterance in spoken)
    return Figure(value=changed / emitted, unit="share", n=emitted, note="changed words per shown word; 0 is best")


def _said(spoken: Iterable[Utterance], field: str) -> list[float]:
    values = (getattr(utterance, field) for utterance in spoken)
    return [value for value in values if value is not None]


def _chained(series: Iterable[Sequence[float]]) -> list[float]:
    return list(chain.from_iterable(series))
