import xml.etree.ElementTree as ET

import pytest

from edge_asr.charts.axes import Axis
from edge_asr.charts.charts import (
    Bar,
    BarGroup,
    Point,
    Reference,
    Segment,
    Series,
    bar_chart,
    step_cdf,
    thinned,
    xy_chart,
)

SVG = "{http://www.w3.org/2000/svg}"
ACROSS = Axis("threads", 0.0, 10.0, (0.0, 5.0, 10.0))
UP = Axis("factor", 0.0, 1.0, (0.0, 0.5, 1.0))
# The plot area is 64 to 620 across and 256 (bottom) to 16 (top).


def chart(*series, references=()):
    return ET.fromstring(xy_chart("RTF", ACROSS, UP, series, references))


def paths(svg, kind):
    return [path.get("d") for path in svg.iter(f"{SVG}path") if kind in (path.get("class") or "").split()]


def texts(svg):
    return [element.text for element in svg.iter(f"{SVG}text")]


def test_a_line_leads_through_its_points():
    svg = chart(Series(name="wall", points=(Point(0.0, 0.0), Point(5.0, 0.5), Point(10.0, 1.0)), style=0, shape="line"))
    assert paths(svg, "s0")[0] == "M64,256L342,136L620,16"


def test_a_step_goes_across_before_it_goes_up_and_leads_to_the_edge():
    svg = chart(Series(name="ms", points=(Point(2.5, 0.0), Point(5.0, 1.0)), style=1, shape="steps"))
    assert paths(svg, "s1")[0] == "M203,256H342V16H620"


def test_scattered_points_are_not_connected():
    svg = chart(Series(name="wall", points=(Point(0.0, 0.0), Point(10.0, 1.0)), style=0, shape="scatter"))
    assert paths(svg, "s0") == []
    assert len(paths(svg, "mark")) == 3  # one in the legend


def test_an_interval_reaches_from_its_low_to_its_high_end():
    svg = chart(Series(name="wall", points=(Point(5.0, 0.5, low=0.25, high=0.75),), style=0))
    assert paths(svg, "interval") == ["M342,196V76M338,196h8M338,76h8"]


def test_a_reference_is_drawn_at_its_value_with_its_label():
    svg = chart(Series(name="ms", points=(Point(1.0, 1.0),), style=0), references=[Reference("x", 2.5, "chunk length")])
    assert paths(svg, "reference") == ["M203,256L203,16"]
    assert "chunk length" in texts(svg)


def test_a_reference_beyond_the_axis_is_left_out():
    svg = chart(Series(name="ms", points=(Point(1.0, 1.0),), style=0), references=[Reference("y", 2.0, "limit")])
    assert paths(svg, "reference") == []


def test_an_invalid_series_says_so_and_is_drawn_with_crosses():
    svg = chart(Series(name="wall", points=(Point(5.0, 0.5),), style=0, is_invalid=True))
    assert "wall — invalid" in texts(svg)
    assert paths(svg, "cross")[0] == "M338,132l8,8m0,-8l-8,8"
    assert paths(svg, "mark") == []


def test_series_of_one_name_share_an_entry_of_the_legend():
    one = Series(name="wall", points=(Point(1.0, 0.5), Point(2.0, 0.5)), style=0, shape="line")
    assert texts(chart(one, one)).count("wall") == 1


def test_a_chart_has_a_title_and_a_description_for_screen_readers():
    svg = chart(Series(name="wall", points=(Point(5.0, 0.5),), style=0))
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == "RTF"
    assert svg.findtext(f"{SVG}desc") == "factor against threads: wall"


def test_names_stay_text_and_long_ones_are_cut():
    name = "<script>alert(1)</script>" * 5
    svg = chart(Series(name=name, points=(Point(5.0, 0.5),), style=0))
    assert f"{name[:87]}…" in texts(svg)
    assert not list(svg.iter(f"{SVG}script"))


def test_segments_of_a_bar_stand_end_to_end():
    bar = Bar(name="pipeline", segments=(Segment("features", 2.0, 0), Segment("model", 6.0, 1)), text="8.00")
    svg = ET.fromstring(bar_chart("Stages", ACROSS, [BarGroup(label="1 thread", bars=(bar,))]))
    places = [(rect.get("x"), rect.get("width")) for rect in svg.iter(f"{SVG}rect") if rect.get("height") == "15"]
    # 100 to 550 across stand for 0 to 10.
    assert places == [("100", "90"), ("190", "270")]
    assert "8.00" in texts(svg)


def test_a_distribution_rises_from_zero_to_one():
    assert step_cdf([30.0, 10.0, 20.0, 20.0]) == (
        Point(10.0, 0.0),
        Point(10.0, 0.25),
        Point(20.0, 0.5),
        Point(20.0, 0.75),
        Point(30.0, 1.0),
    )


def test_a_thinned_distribution_keeps_both_ends_and_right_shares():
    points = step_cdf([float(value) for value in range(1, 10_001)], most=100)
    assert len(points) == 101
    assert points[1] == Point(1.0, 0.0001)
    assert points[-1] == Point(10_000.0, 1.0)
    assert all(point.y == pytest.approx(point.x / 10_000) for point in points[1:])


def test_thinning_keeps_a_single_peak():
    points = [Point(float(x), 90.0 if x == 777 else 50.0) for x in range(5000)]
    kept = thinned(points, most=100)
    assert len(kept) <= 100
    assert Point(777.0, 90.0) in kept


def test_few_points_are_all_kept():
    points = [Point(1.0, 2.0), Point(2.0, 1.0)]
    assert thinned(points) == tuple(points)
