import pytest

from edge_asr.bench.document import Drift, Figure, Result, Violation
from edge_asr.bench.figure_text import FIGURES, faults, grouped, interval_text, quantity, title_of, value_text, verdict
from tests.bench.documents import THROTTLED, configuration, disturbed, document, throughput_result, throughput_run


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.12345, "ratio", "0.123"),
        (1.0, "ratio", "1.00"),
        (0.0, "share", "0 %"),
        (0.0412, "share", "4.12 %"),
        (1234.5, "ms", "1234 ms"),
        (80 * 2**20, "bytes", "80.0 MiB"),
        (-12.34, "ms", "-12.3 ms"),
        (0.00001234, "ratio", "1.2e-05"),
        (7, "count", "7"),
    ],
)
def test_quantities_have_three_digits_and_a_unit(value, unit, text):
    assert quantity(value, unit) == text


def test_a_figure_without_value_says_why():
    assert (
        value_text(Figure(value=None, unit="ms", note="the clips carry no word times"))
        == "the clips carry no word times"
    )
    assert value_text(Figure(value=None, unit="ms", n=5)) == "n too small"


def test_an_interval_has_its_unit_once():
    assert interval_text(Figure(value=0.05, unit="share", low=0.02, high=0.081)) == "2.00 to 8.10 %"


def test_no_interval_is_written_where_there_is_none():
    assert interval_text(Figure(value=0.05, unit="share")) == ""


def test_groups_come_in_the_order_of_a_report_and_strangers_last():
    figure = Figure(value=1.0, unit="ms")
    names = [name for name, _ in grouped({"made_up": figure, "memory_peak": figure, "rtf_wall": figure})]
    assert names == ["Speed", "Resources", "Other figures"]


def test_an_unknown_figure_keeps_its_key():
    assert title_of("made_up") == "made_up"


def test_faults_name_each_reason_once_with_the_runs_it_struck():
    result = throughput_result(runs=(throughput_run(violations=(THROTTLED, THROTTLED)), throughput_run()))
    assert faults(result) == [f"{THROTTLED.message} (in 1 of 2 runs)"]


def test_a_rule_broken_in_every_run_by_other_figures_is_said_once():
    runs = [throughput_run(violations=(Violation("foreign_load", f"others took {share} %"),)) for share in (9, 12)]
    assert faults(throughput_result(runs=tuple(runs))) == ["others took 9 % (in every run)"]


def test_a_configuration_without_runs_is_no_measurement():
    assert faults(Result(configuration=configuration())) == ["not measured: no run was made"]


def test_the_verdict_counts_what_must_not_be_relied_on():
    assert verdict(document(throughput_result())) == "Valid: the one configuration was measured undisturbed."
    both = document(throughput_result(), disturbed(throughput_result(2)))
    assert verdict(both) == "INVALID: 1 of 2 configurations must not be relied on."


def test_no_two_figures_have_the_same_title():
    assert len({name.title for name in FIGURES.values()}) == len(FIGURES)


def test_a_result_with_runs_and_an_error_is_incomplete():
    assert faults(throughput_result(error="the operators could not be profiled")) == [
        "incomplete: the operators could not be profiled"
    ]


def test_growth_is_written_per_hour():
    assert quantity(3 * 2**20, "bytes per hour") == "3.00 MiB/h"


def test_what_drifted_is_a_fault():
    drifting = throughput_result(drifts=(Drift(figure="memory_growth", message="memory grows by 3.0 MiB/h"),))
    assert faults(drifting) == ["drift: memory grows by 3.0 MiB/h"]


@pytest.mark.parametrize(("unit", "text"), [("ratio per hour", "/h"), ("ms per hour", "ms/h"), ("°C per hour", "°C/h")])
def test_drifts_have_units_of_their_own(unit, text):
    assert quantity(1.5, unit) == f"1.50 {text}"
