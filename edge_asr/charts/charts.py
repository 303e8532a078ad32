"""A small chart kit: numbers in, one inline SVG out; no script, no external resource, no I/O.

Colours are CSS classes, so that a page shows the same chart in a light and in a dark scheme (``style.py``).
Series differ in marker and dash as well as in colour. Lengths are in SVG user units, one CSS pixel at full size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from edge_asr.charts.axes import Axis, Scale

WIDTH = 640.0
COLOURS = 6
"""Styles are 0 to 5; with more series, draw another chart."""
NEUTRAL = 6
"""The style of a segment that is no stage of its own."""

_LEFT, _RIGHT, _TOP = 64.0, 20.0, 16.0
_PLOT_HEIGHT = 240.0
_BELOW = 58.0
"""Under the plot: the labels of the ticks and the title of the axis."""
_LEGEND_ROW = 19.0
_MOST_CHARACTERS = 88
_UNMARKED = ("line", "steps")


@dataclass(frozen=True, slots=True)
class Point:
    """One measured value, with its interval where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points that belong together."""

    name: str
    points: tuple[Point, ...]
    style: int
    """Colour, marker and dash: 0 to ``COLOURS - 1``."""
    shape: Literal["marked", "line", "scatter", "steps"] = "marked"
    is_invalid: bool = False
    """Drawn dotted and with crosses, and said in the legend."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A line to compare with, such as the chunk length."""

    side: Literal["x", "y"]
    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a bar."""

    name: str
    value: float
    style: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Segments end to end."""

    name: str
    segments: tuple[Segment, ...]
    text: str
    """Written after its end."""

    @property
    def total(self) -> float:
        """Length of the whole bar."""
        return sum(segment.value for segment in self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class BarGroup:
    """Bars to compare with each other, under one heading."""

    label: str
    bars: tuple[Bar, ...]
    is_invalid: bool = False


# Points


def step_cdf(values: Sequence[float], most: int = 400) -> tuple[Point, ...]:
    """The share of values at or below each value, thinned evenly to ``most`` steps; smallest and largest stay."""
    ordered = sorted(values)
    count = len(ordered)
    kept = range(count) if count <= most else sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
    return (Point(ordered[0], 0.0), *(Point(ordered[index], (index + 1) / count) for index in kept))


def thinned(points: Sequence[Point], most: int = 300) -> tuple[Point, ...]:
    """Of each stretch its lowest and its highest point, so that no peak is lost."""
    if len(points) <= most:
        return tuple(points)
    size = math.ceil(len(points) / (most // 2))
    kept = []
    for start in range(0, len(points), size):
        stretch = points[start : start + size]
        ends = {min(stretch, key=lambda point: point.y), max(stretch, key=lambda point: point.y)}
        kept += sorted(ends, key=lambda point: point.x)
    return tuple(kept)


# Charts


def xy_chart(title: str, x: Axis, y: Axis, series: Sequence[Series], references: Sequence[Reference] = ()) -> str:
    """Lines, scattered points and steps over two axes, with a legend below.

    Args:
        title: What screen readers say.
        x: The horizontal axis.
        y: The vertical axis.
        series: Drawn in this order; those of one name share an entry in the legend.
        references: Drawn where they lie within the axes.
    """
    across = x.scale(_LEFT, WIDTH - _RIGHT)
    up = y.scale(_TOP + _PLOT_HEIGHT, _TOP)
    entries = list({(one.name, one.is_invalid): one for one in series}.values())
    height = _TOP + _PLOT_HEIGHT + _BELOW + _LEGEND_ROW * len(entries)
    description = f"{y.title} against {x.title}: " + "; ".join(one.name for one in entries)
    body = [
        *_frame(x, y, across, up),
        *(_reference(one, across, up) for one in references if _is_within(one, x, y)),
        *(part for one in series for part in _series(one, across, up)),
        *_legend(entries, _TOP + _PLOT_HEIGHT + _BELOW),
    ]
    return _svg(title, description, height, body)


def bar_chart(title: str, axis: Axis, groups: Sequence[BarGroup]) -> str:
    """Horizontal bars in groups, each of one or more segments; the legend names the segments."""
    left = 100.0
    across = axis.scale(left, WIDTH - 90.0)
    body: list[str] = []
    at = _TOP
    for group in groups:
        label = _cut(group.label) + (" — invalid" if group.is_invalid else "")
        body.append(_text(8, at + 12, label, "label invalid" if group.is_invalid else "label", full=group.label))
        at += 20
        for bar in group.bars:
            body += [_text(left - 8, at + 11.5, bar.name, "tick end"), *_bar(bar, across, at, group.is_invalid)]
            at += 20
        at += 8
    body = [*_bar_axis(axis, across, at), *body]
    names = {segment.name: segment for group in groups for bar in group.bars for segment in bar.segments}
    for row, segment in enumerate(names.values()):
        top = at + _BELOW + row * _LEGEND_ROW
        body.append(f'<rect class="f{segment.style}" x="8" y="{_n(top - 10)}" width="14" height="11"/>')
        body.append(_text(30, top, segment.name, "key"))
    return _svg(title, title, at + _BELOW + _LEGEND_ROW * len(names), body)


def _svg(title: str, description: str, height: float, body: Sequence[str]) -> str:
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {_n(WIDTH)} {_n(height)}" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
        f"{''.join(body)}</svg>"
    )


def _frame(x: Axis, y: Axis, across: Scale, up: Scale) -> Iterator[str]:
    for tick in y.ticks:
        at = up.position(tick)
        yield _line(across.start, at, across.stop, at, "grid")
        yield _text(across.start - 8, at + 4, _tick(tick), "tick end")
    for tick in _sparse(x.ticks, across):
        at = across.position(tick)
        yield _line(at, up.start, at, up.start + 5, "axis")
        yield _text(at, up.start + 18, _tick(tick), "tick middle")
    yield _line(across.start, up.start, across.stop, up.start, "axis")
    yield _text((across.start + across.stop) / 2, up.start + 35, x.title, "title middle")
    middle = _n((up.start + up.stop) / 2)
    yield f'<text class="title middle" transform="translate(14 {middle}) rotate(-90)">{escape(y.title)}</text>'


def _bar_axis(axis: Axis, across: Scale, bottom: float) -> Iterator[str]:
    for tick in axis.ticks:
        at = across.position(tick)
        yield _line(at, _TOP, at, bottom, "grid")
        yield _text(at, bottom + 14, _tick(tick), "tick middle")
    yield _text((across.start + across.stop) / 2, bottom + 30, axis.title, "title middle")


def _sparse(marks: Sequence[float], scale: Scale) -> Iterator[float]:
    """Leave out ticks whose labels would run into each other."""
    free_from = -math.inf
    for mark in marks:
        at = scale.position(mark)
        if at >= free_from:
            yield mark
            free_from = at + 14 + 7 * len(_tick(mark))


def _is_within(reference: Reference, x: Axis, y: Axis) -> bool:
    axis = x if reference.side == "x" else y
    return axis.low <= reference.value <= axis.high


def _reference(reference: Reference, across: Scale, up: Scale) -> str:
    if reference.side == "y":
        at = up.position(reference.value)
        label = _text(across.stop - 4, at - 5, reference.label, "reference end")
        return _line(across.start, at, across.stop, at, "reference") + label
    at = across.position(reference.value)
    is_right = at > (across.start + across.stop) / 2
    anchor, beside = ("reference end", at - 5) if is_right else ("reference", at + 5)
    # Near the foot, where a distribution that keeps its deadline has already left.
    return _line(at, up.start, at, up.stop, "reference") + _text(beside, up.start - 8, reference.label, anchor)


def _series(series: Series, across: Scale, up: Scale) -> Iterator[str]:
    style = series.style
    classes = f"s{style} invalid" if series.is_invalid else f"s{style}"
    for point in series.points:
        if point.low is not None and point.high is not None:
            yield _interval(across.position(point.x), up.position(point.low), up.position(point.high), classes)
    if series.shape != "scatter" and len(series.points) > 1:
        yield f'<path class="{classes}" d="{_path(series, across, up)}"/>'
    if series.shape in _UNMARKED:
        return
    for point in series.points:
        note = f"{series.name}: {_tick(point.x)}, {point.y:.4g}"
        yield _marker(style, across.position(point.x), up.position(point.y), series.is_invalid, note)


def _path(series: Series, across: Scale, up: Scale) -> str:
    places = [(across.position(point.x), up.position(point.y)) for point in series.points]
    parts = [f"M{_n(places[0][0])},{_n(places[0][1])}"]
    for x, y in places[1:]:
        parts.append(f"H{_n(x)}V{_n(y)}" if series.shape == "steps" else f"L{_n(x)},{_n(y)}")
    if series.shape == "steps":
        parts.append(f"H{_n(across.stop)}")
    return "".join(parts)


def _interval(x: float, low: float, high: float, classes: str) -> str:
    ends = f"M{_n(x - 4)},{_n(low)}h8M{_n(x - 4)},{_n(high)}h8"
    return f'<path class="interval {classes}" d="M{_n(x)},{_n(low)}V{_n(high)}{ends}"/>'


def _marker(style: int, x: float, y: float, is_invalid: bool, note: str = "") -> str:
    title = f"<title>{escape(note)}</title>" if note else ""
    if is_invalid:
        return f'<path class="cross s{style}" d="M{_n(x - 4)},{_n(y - 4)}l8,8m0,-8l-8,8">{title}</path>'
    outline = (
        f"M{_n(x - 4)},{_n(y)}a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z",
        f"M{_n(x - 4)},{_n(y - 4)}h8v8h-8z",
        f"M{_n(x)},{_n(y - 5)}l5,9h-10z",
        f"M{_n(x)},{_n(y - 5.5)}l5,5.5l-5,5.5l-5,-5.5z",
        f"M{_n(x)},{_n(y + 5)}l5,-9h-10z",
        f"M{_n(x - 5)},{_n(y - 2)}h10v4h-10z",
    )[style]
    return f'<path class="mark f{style}" d="{outline}">{title}</path>'


def _bar(bar: Bar, across: Scale, top: float, is_invalid: bool) -> Iterator[str]:
    before = 0.0
    for segment in bar.segments:
        start, stop = across.position(before), across.position(before + segment.value)
        before += segment.value
        note = escape(f"{segment.name}: {segment.value:.4g}")
        faded = " faded" if is_invalid else ""
        yield (
            f'<rect class="bar f{segment.style}{faded}" x="{_n(start)}" y="{_n(top)}" '
            f'width="{_n(stop - start)}" height="15"><title>{note}</title></rect>'
        )
    yield _text(across.position(before) + 6, top + 11.5, bar.text, "tick")


def _legend(entries: Sequence[Series], top: float) -> Iterator[str]:
    for row, series in enumerate(entries):
        at = top + row * _LEGEND_ROW
        style = series.style
        suffix = " — invalid" if series.is_invalid else ""
        if series.shape != "scatter":
            invalid = " invalid" if series.is_invalid else ""
            yield f'<path class="s{style}{invalid}" d="M8,{_n(at - 4)}h26"/>'
        if series.shape not in _UNMARKED:
            yield _marker(style, 21, at - 4, series.is_invalid)
        yield _text(42, at, _cut(series.name) + suffix, "key invalid" if suffix else "key", full=series.name)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{_n(x1)},{_n(y1)}L{_n(x2)},{_n(y2)}"/>'


def _text(x: float, y: float, text: str, kind: str, full: str = "") -> str:
    title = f"<title>{escape(full)}</title>" if len(full) > _MOST_CHARACTERS else ""
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}">{escape(text)}{title}</text>'


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


def _tick(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e6 else f"{value:.3g}"


def _n(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
