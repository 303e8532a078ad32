"""Where the time of a throughput run goes: its stages as stacked bars, the model alone beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from edge_asr.bench.document import Result, Run, Stages
from edge_asr.bench.figure_text import quantity
from edge_asr.bench.labels import common_label, distinct_labels
from edge_asr.bench.plots.plot import Plot, Section, by_model, marks, portions
from edge_asr.charts.axes import linear_axis
from edge_asr.charts.charts import NEUTRAL, Bar, BarGroup, Segment, bar_chart

_TITLE = "Where the time goes"
_GROUPS = 8
"""On one chart."""
_NOTHING = 1e-9
"""What is left by rounding when stages are taken from a total."""

_STYLES = {
    "conversion": 4,
    "voice activity": 5,
    "features": 2,
    "encoder": 0,
    "decoder and joiner": 1,
    "model, undivided": 0,
    "second pass": 5,  # of streaming models, which have no voice activity
    "text": 3,
    "waiting and the rest": NEUTRAL,
}


_MODEL = frozenset({"features", "encoder", "decoder and joiner", "model, undivided"})
"""What a model takes even without us around it; their sum is ``rtf_model``."""


def stage_section(results: Sequence[Result]) -> Section:
    """The whole pipeline and the model alone, for each configuration that told its stages apart."""
    return Section(_TITLE, tuple(_plots(results)), "Left out: no run told its stages apart.")


def stage_split(runs: Iterable[Run]) -> dict[str, float]:
    """Wall seconds per audio second of each stage that took any, over all runs; empty where none has stages."""
    staged = [(run.stages, run.audio_s) for run in runs if run.stages and run.audio_s > 0]
    audio_s = sum(audio for _, audio in staged)
    split: dict[str, float] = {}
    for stages, _ in staged:
        for name, seconds in _seconds(stages).items():
            split[name] = split.get(name, 0.0) + seconds / audio_s
    return {name: split[name] for name in _STYLES if split.get(name, 0.0) > _NOTHING}


def _seconds(stages: Stages) -> dict[str, float]:
    if stages.encoder_s is not None and stages.decoder_s is not None:
        model = {"encoder": stages.encoder_s, "decoder and joiner": stages.decoder_s}
    else:
        model = {"model, undivided": stages.model_s}
    named = {
        "conversion": stages.conversion_s,
        "voice activity": stages.vad_s,
        "features": stages.features_s,
        **model,
        "second pass": stages.second_pass_s,
        "text": stages.text_s,
    }
    return {**named, "waiting and the rest": max(0.0, stages.total_s - sum(named.values()))}


def _plots(results: Sequence[Result]) -> Iterator[Plot]:
    for own in by_model(results):
        measured = [(result, split) for result in own if (split := stage_split(result.runs))]
        for chosen in portions(measured, _GROUPS):
            yield _plot(chosen)


def _plot(chosen: Sequence[tuple[Result, dict[str, float]]]) -> Plot:
    results = [result for result, _ in chosen]
    configurations = [result.configuration for result in results]
    labels = distinct_labels(configurations)
    groups = [
        BarGroup(label=label, bars=_bars(split), is_invalid=not result.is_valid)
        for (result, split), label in zip(chosen, labels, strict=True)
    ]
    axis = linear_axis("real-time factor", [bar.total for group in groups for bar in group.bars])
    return Plot(common_label(configurations), bar_chart(_TITLE, axis, groups), marks(results))


def _bars(split: dict[str, float]) -> tuple[Bar, Bar]:
    alone = {name: value for name, value in split.items() if name in _MODEL}
    return _bar("pipeline", split), _bar("model alone", alone)


def _bar(name: str, split: dict[str, float]) -> Bar:
    segments = tuple(Segment(stage, value, _STYLES[stage]) for stage, value in split.items())
    return Bar(name=name, segments=segments, text=quantity(sum(split.values()), "ratio"))
