from edge_asr.bench.document import Figure, Result
from edge_asr.bench.overview import COLUMNS, EMPTY, cells, filled_columns
from tests.bench.documents import configuration, milliseconds, paced_result, throughput_result


def row(result: Result) -> dict[str, str]:
    return dict(zip([column.title for column in COLUMNS], cells(result), strict=True))


def test_a_throughput_run_shows_its_speed():
    assert row(throughput_result(rtf=0.125))["speed or p90"] == "8.00 ×"


def test_a_paced_run_shows_its_latency_and_live_cpu():
    assert row(paced_result(0.15))["speed or p90"] == "38.0 ms"
    assert row(paced_result(0.15))["RTF CPU"] == "0.150"


def test_a_character_error_rate_stands_in_the_column_of_the_word_error_rate():
    result = throughput_result(figures={"cer": Figure(value=0.031, unit="share")})
    assert row(result)["WER or CER"] == "3.10 %"


def test_a_sample_too_small_says_so_and_other_reasons_stay_below_the_table():
    few = milliseconds(None, note="n too small: 5 of 64")
    none = milliseconds(None, note="no reference")
    assert row(paced_result(figures={"flush_latency_p50": few}))["flush"] == "n small"
    assert row(paced_result(figures={"flush_latency_p50": none}))["flush"] == EMPTY


def test_columns_that_no_configuration_fills_are_left_out():
    shown = [COLUMNS[index].title for index in filled_columns((throughput_result(),))]
    assert shown == ["RTF wall", "RTF CPU", "speed or p90", "WER or CER", "memory"]


def test_a_failed_configuration_has_an_empty_row():
    assert set(cells(Result(configuration=configuration(), error="it died"))) == {EMPTY}
