"""Figures of each peer, and ours over theirs with 95 % intervals. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from edge_asr.scoring import score
from edge_asr.statistics import Block, PairedChange, median, paired_change, pooled_ratio
from tools.peers_bench.measurement import OWN_MODEL, Measurement, Pass

DAEMON, TRANSCRIBE, LIBRARY = "edge-asr daemon", "edge-asr transcribe", "edge-asr library"
SHERPA_SERVER, SHERPA_PROGRAM = "sherpa-onnx websocket server", "sherpa-onnx program"
SHERPA_PYTHON = "sherpa-onnx Python"
MOONSHINE_VOICE, POCKETSPHINX = "moonshine-voice", "pocketsphinx"

DICTATION_MODEL = "moonshine-tiny-en"
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Ratio:
    """One of ours over one of theirs; below 1 we are cheaper or sooner, but for streams, of which more is better."""

    name: str
    model: str
    ours: str
    theirs: str
    value: float
    low: float | None
    """95 % interval; ``None`` with too few repetitions for one."""
    high: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """What a peer did with a model, over all repetitions; ``None`` where it was not asked to."""

    peer: str
    model: str
    rtf_wall: float | None
    rtf_cpu: float | None
    live_cpu: float | None
    """Processor seconds for each second of audio at live pace."""
    flush_ms: float | None
    """Median."""
    peak_mib: float | None
    """Median over the repetitions."""
    wer: float | None
    """Of what was heard at live pace."""
    foreign_share: float
    """Median share of the machine that others used meanwhile."""


def figures_of(passes: Sequence[Pass]) -> list[Figures]:
    """One for each peer and model, in the order of their first pass."""
    keys = dict.fromkeys((each.peer, each.model) for each in passes)
    return [_figures(peer, model, _of(passes, peer, model)) for peer, model in keys]


def _figures(peer: str, model: str, passes: Sequence[Pass]) -> Figures:
    decoded, heard = _ways(passes, "decode"), _ways(passes, "listen")
    peaks = [each.peak_bytes for each in passes if each.peak_bytes]
    return Figures(
        peer=peer,
        model=model,
        rtf_wall=pooled_ratio(_blocks(decoded, _wall)).value if decoded else None,
        rtf_cpu=pooled_ratio(_blocks(decoded, _cpu)).value if decoded else None,
        live_cpu=pooled_ratio(_blocks(heard, _cpu)).value if heard else None,
        flush_ms=1000 * median([each.wall_s for each in heard]) if heard else None,
        peak_mib=median(peaks) / 2**20 if peaks else None,
        wer=_word_error_rate(heard),
        foreign_share=median([each.foreign_share for each in passes]),
    )


def ratios_of(passes: Sequence[Pass], streams: Sequence[tuple[str, str, int]]) -> list[Ratio]:
    """Every comparison for which both sides were measured.

    Args:
        passes: Of all peers.
        streams: Peer, model, and the most streams it carried, one for each search.
    """
    models = list(dict.fromkeys(each.model for each in passes))
    found = [
        _compared(comparison, model, passes)
        for comparison in COMPARISONS
        for model in (models if comparison.their_model is None else [DICTATION_MODEL])
    ]
    return [ratio for ratio in found if ratio] + _stream_ratios(streams)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which figure of whom over which of whom."""

    name: str
    ours: str
    theirs: str
    compare: Callable[[Sequence[Pass], Sequence[Pass]], tuple[float, float | None, float | None] | None]
    their_model: str | None = None
    """``None``: the same as ours."""


def _compared(comparison: Comparison, model: str, passes: Sequence[Pass]) -> Ratio | None:
    ours = _of(passes, comparison.ours, model)
    theirs = _of(passes, comparison.theirs, comparison.their_model or model)
    result = comparison.compare(ours, theirs) if ours and theirs else None
    return Ratio(comparison.name, model, comparison.ours, comparison.theirs, *result) if result else None


def _stream_ratios(streams: Sequence[tuple[str, str, int]]) -> list[Ratio]:
    ratios = []
    for model in dict.fromkeys(model for _, model, _ in streams):
        ours, theirs = (
            [most for peer, of, most in streams if (peer, of) == (name, model)] for name in (DAEMON, SHERPA_SERVER)
        )
        if ours and theirs and median(theirs):
            value = median(ours) / median(theirs)
            ratios.append(Ratio("streams_vs_sherpa_ws", model, DAEMON, SHERPA_SERVER, value, None, None))
    return ratios


def worst(ratios: Iterable[Ratio]) -> dict[str, float]:
    """One number for each comparison: that of the model with which we come out worst."""
    by_name: dict[str, list[float]] = {}
    for ratio in ratios:
        by_name.setdefault(ratio.name, []).append(ratio.value)
    return {name: min(values) if name.startswith("streams") else max(values) for name, values in by_name.items()}


def median_ratio(
    ours: Sequence[float], theirs: Sequence[float], *, is_paired: bool, seed: int = 0
) -> tuple[float, float | None, float | None]:
    """Ratio of two medians with a bootstrap interval.

    Args:
        ours: Samples; with ``theirs`` in the same order where they belong together.
        theirs: Samples.
        is_paired: Whether both are drawn together.
        seed: Of the resampling.
    """
    value = median(ours) / median(theirs)
    if min(len(ours), len(theirs)) < 2:
        return value, None, None
    draw = np.random.default_rng(seed)
    first = draw.integers(len(ours), size=(RESAMPLES, len(ours)))
    second = first if is_paired else draw.integers(len(theirs), size=(RESAMPLES, len(theirs)))
    drawn = np.median(np.asarray(ours)[first], axis=1) / np.median(np.asarray(theirs)[second], axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return value, float(low), float(high)


# The comparisons.

_Interval = tuple[float, float | None, float | None]


def _rtf(ours: Sequence[Pass], theirs: Sequence[Pass]) -> _Interval | None:
    return _pooled(_ways(ours, "decode"), _ways(theirs, "decode"), _wall)


def _rtf_cpu(ours: Sequence[Pass], theirs: Sequence[Pass]) -> _Interval | None:
    return _pooled(_ways(ours, "decode"), _ways(theirs, "decode"), _cpu)


def _live_cpu(ours: Sequence[Pass], theirs: Sequence[Pass]) -> _Interval | None:
    return _pooled(_ways(ours, "listen"), _ways(theirs, "listen"), _cpu)


def _flush(ours: Sequence[Pass], theirs: Sequence[Pass]) -> _Interval | None:
    mine, others = ({_key(each): each.wall_s for each in _ways(passes, "listen")} for passes in (ours, theirs))
    shared = sorted(mine.keys() & others.keys())
    if not shared or not median([others[key] for key in shared]):
        return None
    return median_ratio([mine[key] for key in shared], [others[key] for key in shared], is_paired=True)


def _memory(ours: Sequence[Pass], theirs: Sequence[Pass]) -> _Interval | None:
    mine, others = ([float(each.peak_bytes) for each in passes if each.peak_bytes] for passes in (ours, theirs))
    return median_ratio(mine, others, is_paired=False) if mine and others else None


COMPARISONS = (
    Comparison("rtf_vs_sherpa_onnx", TRANSCRIBE, SHERPA_PROGRAM, _rtf),
    Comparison("rtf_cpu_vs_sherpa_onnx", TRANSCRIBE, SHERPA_PROGRAM, _rtf_cpu),
    Comparison("rtf_vs_sherpa_python", LIBRARY, SHERPA_PYTHON, _rtf),
    Comparison("rtf_cpu_vs_sherpa_python", LIBRARY, SHERPA_PYTHON, _rtf_cpu),
    Comparison("live_cpu_vs_sherpa_python", LIBRARY, SHERPA_PYTHON, _live_cpu),
    Comparison("live_cpu_vs_sherpa_ws", DAEMON, SHERPA_SERVER, _live_cpu),
    Comparison("flush_latency_vs_sherpa_ws", DAEMON, SHERPA_SERVER, _flush),
    Comparison("peak_memory_vs_sherpa_ws", DAEMON, SHERPA_SERVER, _memory),
    Comparison("rtf_vs_moonshine_voice", LIBRARY, MOONSHINE_VOICE, _rtf, OWN_MODEL),
    Comparison("rtf_cpu_vs_moonshine_voice", LIBRARY, MOONSHINE_VOICE, _rtf_cpu, OWN_MODEL),
    Comparison("live_cpu_vs_moonshine_voice", DAEMON, MOONSHINE_VOICE, _live_cpu, OWN_MODEL),
    Comparison("flush_latency_vs_moonshine_voice", DAEMON, MOONSHINE_VOICE, _flush, OWN_MODEL),
    Comparison("peak_memory_vs_moonshine_voice", DAEMON, MOONSHINE_VOICE, _memory, OWN_MODEL),
    Comparison("library_live_cpu_vs_moonshine_voice", LIBRARY, MOONSHINE_VOICE, _live_cpu, OWN_MODEL),
    Comparison("library_peak_memory_vs_moonshine_voice", LIBRARY, MOONSHINE_VOICE, _memory, OWN_MODEL),
    Comparison("rtf_vs_pocketsphinx", LIBRARY, POCKETSPHINX, _rtf, OWN_MODEL),
    Comparison("live_cpu_vs_pocketsphinx", DAEMON, POCKETSPHINX, _live_cpu, OWN_MODEL),
    Comparison("flush_latency_vs_pocketsphinx", DAEMON, POCKETSPHINX, _flush, OWN_MODEL),
)


def _pooled(
    ours: Sequence[Measurement], theirs: Sequence[Measurement], of: Callable[[Measurement], float]
) -> _Interval | None:
    if not ours or not theirs:
        return None
    mine, others = _blocks(ours, of), _blocks(theirs, of)
    base = pooled_ratio(others).value
    if not base:
        return None
    change = paired_change(others, mine)
    interval = change.ratio_interval if isinstance(change, PairedChange) else None
    value = pooled_ratio(mine).value / base
    return value, interval.low if interval else None, interval.high if interval else None


def _blocks(measurements: Iterable[Measurement], of: Callable[[Measurement], float]) -> list[Block]:
    return [Block(each.repetition, each.recording, of(each), each.audio_s) for each in measurements]


def _word_error_rate(measurements: Sequence[Measurement]) -> float | None:
    known = [each for each in measurements if each.reference]
    return score([each.reference for each in known], [each.text for each in known]).error_rate if known else None


def _of(passes: Sequence[Pass], peer: str, model: str) -> list[Pass]:
    return [each for each in passes if (each.peer, each.model) == (peer, model)]


def _ways(passes: Sequence[Pass], way: str) -> list[Measurement]:
    return [measurement for each in passes for measurement in each.measurements if measurement.way == way]


def _key(measurement: Measurement) -> tuple[int, str]:
    return measurement.repetition, measurement.recording


def _wall(measurement: Measurement) -> float:
    return measurement.wall_s


def _cpu(measurement: Measurement) -> float:
    return measurement.cpu_s
