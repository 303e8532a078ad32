"""Gates: figures and limits in, a verdict out."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.bench.document import Figure, Result, Violation
from edge_asr.bench.gate import (
    DEFAULT_GATES,
    LONG_GATES,
    QUICK_GATES,
    Gate,
    GateOutcome,
    Judgement,
    Surroundings,
    judge,
    read_gates,
)
from edge_asr.errors import ConfigurationError
from tests.bench.documents import configuration, disturbed, milliseconds, ratio, throughput_run

GIB = 1 << 30
HERE = Surroundings(chunk_ms=320.0, memory_bytes=GIB)


def result(**figures: Figure) -> Result:
    return Result(configuration=configuration(), runs=(throughput_run(),), figures=figures)


def judged(*gates: Gate, here: Surroundings = HERE, **figures: Figure) -> Judgement:
    return judge(gates, [result(**figures)], here)


def outcome(gate: Gate, here: Surroundings = HERE, **figures: Figure) -> GateOutcome:
    (only,) = judged(gate, here=here, **figures).outcomes
    return only


# Limits and margins


def test_a_figure_below_its_limit_passes_with_its_margin():
    found = outcome(Gate(figure="rtf_wall", max=0.8), rtf_wall=ratio(0.2))
    assert (found.is_met, found.value, found.limit) == (True, 0.2, 0.8)
    assert found.margin == pytest.approx(0.75)


def test_a_figure_at_its_limit_passes():
    assert outcome(Gate(figure="rtf_wall", max=0.8), rtf_wall=ratio(0.8)).is_met


def test_a_figure_above_its_limit_fails_with_a_negative_margin():
    found = outcome(Gate(figure="rtf_wall", max=0.8), rtf_wall=ratio(1.2))
    assert not found.is_met
    assert found.margin == pytest.approx(-0.5)


def test_a_lower_limit_works_the_other_way():
    low = outcome(Gate(figure="parallel_efficiency", min=1.5), parallel_efficiency=ratio(1.2))
    assert (low.is_met, low.is_lower_limit) == (False, True)
    assert low.margin == pytest.approx(-0.2)
    assert outcome(Gate(figure="parallel_efficiency", min=1.5), parallel_efficiency=ratio(1.8)).is_met


def test_a_limit_of_zero_has_no_margin():
    found = outcome(Gate(figure="deadline_miss", max=0.0), deadline_miss=Figure(value=0.01, unit="share"))
    assert (found.is_met, found.margin) == (False, None)


@pytest.mark.parametrize(
    ("gate", "figure", "limit"),
    [
        (Gate(figure="f", max=0.5, unit="chunk"), milliseconds(1.0), 160.0),
        (Gate(figure="f", max=0.5, unit="chunk"), Figure(value=1.0, unit="s"), 0.16),
        (Gate(figure="f", max=0.25, unit="memory"), Figure(value=1.0, unit="bytes"), GIB / 4),
        (Gate(figure="f", max=0.5), milliseconds(1.0), 0.5),
    ],
)
def test_a_limit_may_be_relative(gate, figure, limit):
    assert outcome(gate, f=figure).limit == pytest.approx(limit)


def test_a_part_of_a_chunk_means_nothing_where_there_is_none():
    segments = Surroundings(chunk_ms=0.0, memory_bytes=GIB)
    demanded = outcome(Gate(figure="f", max=0.5, unit="chunk"), segments, f=milliseconds(1.0))
    assert (demanded.is_met, demanded.note) == (False, "the model does not stream: it has no chunk")
    assert outcome(Gate(figure="f", max=0.5, unit="chunk", optional=True), segments, f=milliseconds(1.0)).is_met


# What was not measured


def test_a_figure_that_is_missing_is_not_met():
    found = outcome(Gate(figure="rtf_wall", max=0.8))
    assert (found.is_met, found.value, found.note) == (False, None, "it was not measured")


def test_an_undecided_figure_is_not_met_and_says_why():
    undecided = milliseconds(None, note="n too small (12, 64 needed)")
    found = outcome(Gate(figure="chunk_compute_p90", max=100), chunk_compute_p90=undecided)
    assert (found.is_met, found.note) == (False, "n too small (12, 64 needed)")


def test_an_optional_gate_is_left_out():
    assert outcome(Gate(figure="rtf_wall", max=0.8, optional=True)).is_met


def test_characters_are_judged_by_the_gate_for_words():
    found = outcome(Gate(figure="wer", max=0.25), cer=Figure(value=0.5, unit="share"))
    assert (found.figure, found.is_met) == ("cer", False)


# Several results


def test_the_worst_of_several_results_counts():
    peaks = [result(memory_peak=Figure(value=value, unit="bytes")) for value in (100.0, 300.0, 200.0)]
    (found,) = judge([Gate(figure="memory_peak", max=250.0)], peaks, HERE).outcomes
    assert (found.value, found.is_met) == (300.0, False)


def test_what_one_result_measured_is_not_lost_to_another_that_did_not():
    results = [result(f=milliseconds(None, note="n too small")), result(f=milliseconds(5.0)), result()]
    (found,) = judge([Gate(figure="f", max=10.0)], results, HERE).outcomes
    assert (found.value, found.is_met) == (5.0, True)


def test_the_reason_is_told_where_no_result_decides():
    results = [result(), result(f=milliseconds(None, note="n too small"))]
    (found,) = judge([Gate(figure="f", max=10.0)], results, HERE).outcomes
    assert found.note == "n too small"


# Growth


def growth(value: float, low: float, high: float) -> Figure:
    return Figure(value=value, unit="bytes per hour", low=low, high=high, n=32)


def test_growth_beyond_doubt_fails():
    assert not outcome(Gate(figure="memory_growth", max=8.0), memory_growth=growth(20, 5, 35)).is_met


def test_growth_that_may_be_none_passes_and_says_so():
    found = outcome(Gate(figure="memory_growth", max=8.0), memory_growth=growth(20, -5, 45))
    assert (found.is_met, found.note) == (True, "no trend: the interval holds zero")


# Verdicts


def test_all_gates_met_is_a_pass():
    assert judged(Gate(figure="rtf_wall", max=0.8), rtf_wall=ratio(0.2)).verdict == "PASS"


def test_one_gate_exceeded_is_a_fail():
    gates = Gate(figure="rtf_wall", max=0.8), Gate(figure="wer", max=0.1)
    assert judged(*gates, rtf_wall=ratio(0.2), wer=Figure(value=0.2, unit="share")).verdict == "FAIL"


@pytest.mark.parametrize("rtf", [0.2, 2.0])
def test_a_disturbed_run_is_invalid_whatever_it_measured(rtf):
    results = [result(rtf_wall=ratio(0.2)), disturbed(result(rtf_wall=ratio(rtf)))]
    judgement = judge([Gate(figure="rtf_wall", max=0.8)], results, HERE)
    assert judgement.verdict == "INVALID"
    assert [violation.code for violation in judgement.violations] == ["throttled"]


def test_a_violation_is_named_once():
    late = Violation("feeder_late", "late")
    both = [disturbed(result(rtf_wall=ratio(0.2)), late) for _ in range(2)]
    assert judge([Gate(figure="rtf_wall", max=0.8)], both, HERE).violations == (late,)


def test_what_could_not_be_measured_is_a_fail():
    broken = [result(rtf_wall=ratio(0.2)), Result(configuration=configuration(), error="the engine crashed")]
    assert judge([Gate(figure="rtf_wall", max=0.8)], broken, HERE).verdict == "FAIL"


# Files


def written(folder: Path, content: str) -> Path:
    path = folder / "gates.toml"
    path.write_text(content)
    return path


def test_a_file_holds_gates(tmp_path):
    content = """
    [[gate]]
    figure = "chunk_compute_p90"
    max = 0.4
    unit = "chunk"
    optional = true

    [[gate]]
    figure = "parallel_efficiency"
    min = 1
    """
    assert read_gates(written(tmp_path, content)) == (
        Gate(figure="chunk_compute_p90", max=0.4, unit="chunk", optional=True),
        Gate(figure="parallel_efficiency", min=1.0),
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "no gate in it"),
        ("[[gate]]\nmax = 1", "missing required field `figure`"),
        ('[[gate]]\nfigure = "rtf_wall"', "neither `max` nor `min`"),
        ('[[gate]]\nfigure = "rtf_wall"\nmax = 1\nmin = 0', "both `max` and `min`"),
        ('[[gate]]\nfigure = "rtf_wal"\nmax = 1', "no figure is called 'rtf_wal'; did you mean 'rtf_wall'?"),
        ('[[gate]]\nfigure = "rtf_wall"\nmax = "much"', "Expected `float"),
        ('[[gate]]\nfigure = "rtf_wall"\nmax = 1\nunit = "miles"', "Invalid enum value 'miles'"),
        ('[[gate]]\nfigure = "rtf_wall"\nmaximum = 1', "unknown field `maximum`"),
        ('[gate]\nfigure = "rtf_wall"\nmax = 1', "Expected `array`"),
        ('[[gates]]\nfigure = "rtf_wall"\nmax = 1', "unknown key 'gates'"),
        ("max = ", "Invalid value"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(tmp_path, content, reason):
    with pytest.raises(ConfigurationError) as caught:
        read_gates(written(tmp_path, content))
    assert reason in str(caught.value)
    assert "docs/self-test.md" in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r"nowhere\.toml: cannot be read"):
        read_gates(tmp_path / "nowhere.toml")


# The defaults


@pytest.mark.parametrize("gates", [DEFAULT_GATES, QUICK_GATES, LONG_GATES])
def test_the_default_gates_name_figures_that_exist(gates):
    from edge_asr.bench.figure_text import FIGURES

    assert {gate.figure for gate in gates} <= set(FIGURES)


def test_a_percentile_is_demanded_of_nobody_who_has_too_few_samples():
    percentiles = [gate for gate in LONG_GATES if gate.figure[-3:-2] == "p"]
    assert percentiles
    assert all(gate.optional for gate in percentiles)
