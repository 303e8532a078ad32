from edge_asr.bench.document import Result
from edge_asr.bench.report_markdown import render_markdown
from tests.bench.documents import THROTTLED, configuration, disturbed, document, paced_result, throughput_result


def lines(*results: Result, **changes: object) -> list[str]:
    return render_markdown(document(*results, **changes)).splitlines()


def test_each_configuration_has_one_row_of_the_overview():
    text = lines(throughput_result(1), throughput_result(2, 0.07))
    assert "| configuration | valid | RTF wall | RTF CPU | speed or p90 | WER or CER | memory |" in text
    assert "| starter-en · throughput · 1 thread | yes | 0.100 | 0.120 | 10.0 × | 5.00 % | 80.0 MiB |" in text
    assert "| starter-en · throughput · 2 threads | yes | 0.0700 | 0.0840 | 14.3 × | 5.00 % | 80.0 MiB |" in text


def test_figures_stand_with_interval_and_count():
    text = lines(paced_result())
    assert "| Chunk latency, p50 | 34.0 ms | 33.0 to 35.0 ms | 700 |  |" in text
    assert "| Chunk latency, p99 | n too small (64, 662 needed) |  | 64 |  |" in text


def test_an_invalid_configuration_is_marked_at_the_top_in_its_row_and_at_each_figure():
    text = lines(disturbed(throughput_result()), paced_result())
    assert "> **INVALID: 1 of 2 configurations must not be relied on.**" in text
    assert f"> - starter-en · throughput · 1 thread: {THROTTLED.message}" in text
    assert [line for line in text if "1 thread | **NO** |" in line]
    assert len([line for line in text if "(invalid) |" in line]) == len(throughput_result().figures)


def test_a_failed_configuration_says_why():
    failed = Result(configuration=configuration(), error="the worker died")
    assert "> - starter-en · throughput · 1 thread: not measured: the worker died" in lines(failed)


def test_text_from_outside_cannot_break_the_table_or_add_markup():
    result = throughput_result(configuration=configuration(model="a|b\n<script>`x`"))
    text = lines(result)
    row = next(line for line in text if line.startswith("| a"))
    assert row.startswith("| a\\|b &lt;script&gt;\\`x\\` · throughput · 1 thread |")


def test_the_command_stands_as_code_even_with_backticks():
    text = lines(throughput_result(), command=("edge-asr", "bench", "a`b"))
    assert "- to repeat it: ``edge-asr bench 'a`b'``" in text


def test_models_are_named_with_their_hashes():
    assert [line for line in lines(throughput_result()) if f"encoder {'a' * 12}, joiner {'b' * 12})" in line]


def test_an_empty_document_says_that_nothing_was_measured():
    assert "> **Nothing was measured.**" in lines()
