import io

from rich.console import Console

from edge_asr.bench.document import Document, Result
from edge_asr.cli.bench_table import BenchTable
from tests.bench.documents import THROTTLED, configuration, disturbed, document, paced_result, throughput_result


def drawn(shown: Document, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(BenchTable(shown))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


BOTH = document(throughput_result(2), paced_result(varied={"threads": 2, "cpus": (0, 1), "streams": 4}))


def test_each_configuration_has_a_row_with_its_figures_and_mark():
    row = next(line for line in drawn(BOTH, 120) if line.startswith("throughput · 2 threads"))
    assert row.split()[-11:] == ["0.100", "0.120", "10.0", "×", "–", "5.00", "%", "–", "80.0", "MiB", "yes"]


def test_what_all_configurations_share_stands_above_the_table():
    assert drawn(BOTH)[0] == "starter-en"


def test_every_column_fits_into_eighty():
    lines = drawn(BOTH, 80)
    assert max(map(len, lines)) <= 80
    header = next(line for line in lines if line.startswith("configuration"))
    assert header.split()[-2:] == ["memory", "valid"]
    assert len([line for line in lines if line.endswith("yes")]) == 2


def test_a_narrow_terminal_gets_a_block_for_each_configuration():
    lines = drawn(BOTH, 44)
    assert max(map(len, lines)) <= 44
    assert "throughput · 2 threads, valid: yes" in lines
    assert "RTF wall 0.100" in " ".join(lines)


def test_an_invalid_configuration_is_marked_and_its_reason_stands_below():
    text = drawn(document(disturbed(throughput_result()), paced_result()), 120)
    assert [line for line in text if line.startswith("throughput") and line.endswith("NO")]
    assert "INVALID: 1 of 2 configurations must not be relied on." in text
    assert f"- starter-en · throughput · 1 thread: {THROTTLED.message}" in text


def test_a_failed_configuration_says_why():
    failed = Result(configuration=configuration(provider="xnnpack"), error="the runtime was built without it")
    text = drawn(document(failed, throughput_result()), 120)
    assert "- starter-en · throughput · xnnpack · 1 thread: not measured: the runtime was built without it" in text


def test_what_could_not_be_measured_stands_below():
    assert "- n too small; a longer run gives more: chunk_latency_p99" in drawn(document(paced_result()))
    assert "- no energy meter" in drawn(document(paced_result(), notes=("no energy meter",)))


def test_names_are_no_markup():
    result = throughput_result(configuration=configuration(model="[red]x[/red]"))
    assert "[red]x[/red]" in " ".join(drawn(document(result), 120))


def test_an_empty_document_says_that_nothing_was_measured():
    assert drawn(document()) == ["Nothing was measured."]
