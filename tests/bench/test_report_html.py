import re
from html.parser import HTMLParser

import msgspec
import pytest

from edge_asr.bench.document import Document, Result, Violation, read_document
from edge_asr.bench.report_html import render_html
from tests.bench.documents import (
    THROTTLED,
    configuration,
    disturbed,
    document,
    operators,
    paced_result,
    throughput_result,
)

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Text, tags and whether every tag is closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text += data


def rendered(*results: Result, **changes: object) -> Page:
    return Page(render_html(document(*results, **changes)))


def section(html: str, title: str) -> str:
    """The plots under one heading."""
    return next(part for part in html.split("<section>") if part.startswith(f"<h3>{title}</h3>"))


FULL = (
    throughput_result(1, 0.12, operators=operators()),
    throughput_result(2, 0.07),
    paced_result(),
    paced_result(0.9, varied={"allow_spinning": True}),
)


def test_every_tag_is_closed_in_order():
    assert rendered(*FULL).open == []


def test_the_page_needs_nothing_from_elsewhere_and_no_script():
    page = rendered(*FULL)
    assert not {"script", "link", "iframe", "img", "object"} & set(page.tags)
    assert not {"src", "href", "style", "onload"} & {name for name, _ in page.attributes}
    assert "url(" not in render_html(document(*FULL))


def test_text_from_outside_stays_text():
    evil = "<script>alert('1')</script>&\""
    results = (
        throughput_result(configuration=configuration(model=evil)),
        paced_result(),
        Result(configuration=configuration(model=evil), error=evil),
        disturbed(paced_result(), Violation("x", evil)),
    )
    page = rendered(*results, board={evil: {evil: [evil]}}, command=("edge-asr", evil), notes=(evil,), created=evil)
    assert "script" not in page.tags
    assert page.open == []
    assert page.text.count(evil) > 8


def test_a_valid_document_says_so_and_carries_no_mark():
    page = rendered(*FULL)
    assert "Valid: all 4 configurations were measured undisturbed." in page.text
    assert ("class", "mark") not in page.attributes
    assert ("class", "marks") not in page.attributes


def test_an_invalid_document_says_so_at_the_top_with_the_reason():
    page = rendered(disturbed(throughput_result()), paced_result())
    assert "INVALID: 1 of 2 configurations must not be relied on." in page.text
    before_overview = page.text[: page.text.index("Overview")]
    assert THROTTLED.message in before_overview


def test_every_figure_of_an_invalid_configuration_is_marked():
    html = render_html(document(disturbed(throughput_result())))
    rows = re.findall(
        r"<tr><th scope='row'>(Real-time factor, wall time|Word error rate|Peak memory)</th>.*?</tr>", html
    )
    assert len(rows) == 3
    marked = re.findall(rf"<span title='{re.escape(THROTTLED.message)}'><span class='mark'>invalid</span></span>", html)
    assert len(marked) == len(throughput_result().figures)


@pytest.mark.parametrize("title", ["Where the time goes", "Real-time factor against time", "Memory against time"])
def test_every_plot_of_an_invalid_configuration_is_marked_with_the_reason(title):
    part = section(render_html(document(disturbed(throughput_result()))), title)
    assert "<svg" in part
    assert "<span class='mark'>invalid</span>" in part
    assert THROTTLED.message in part


def test_the_plots_of_an_undisturbed_model_carry_no_mark_of_another():
    other = disturbed(throughput_result(configuration=configuration(model="other-en")))
    part = section(render_html(document(throughput_result(), other)), "Where the time goes")
    figures = part.split("<figure>")[1:]
    assert [THROTTLED.message in figure for figure in figures] == [False, True]


def test_no_line_leads_through_an_invalid_point():
    results = [throughput_result(1, 0.3), throughput_result(2, 0.2), disturbed(throughput_result(4, 0.1))]
    part = section(render_html(document(*results)), "Real-time factor against threads")
    lines = [line for line in re.findall(r'<path class="s0" d="(M[^"]*)"', part) if "L" in line]
    assert len(lines) == 1
    assert lines[0].count("L") == 1  # two points
    assert "wall time — invalid" in part


def test_a_failed_configuration_says_why_and_has_no_figures():
    failed = Result(configuration=configuration(provider="xnnpack"), error="provider xnnpack is not available here")
    page = rendered(failed, throughput_result())
    assert "not measured: provider xnnpack is not available here" in page.text
    assert "It has no figures." in page.text


def test_figures_stand_with_interval_and_count():
    text = rendered(throughput_result(rtf=0.1)).text
    assert "Real-time factor, wall time0.1000.0900 to 0.1105" in text
    assert "Word error rate5.00 %120" in text
    assert "Peak memory80.0 MiB1" in text


def test_a_percentile_of_too_small_a_sample_says_so_instead_of_a_number():
    assert "Chunk latency, p99n too small (64, 662 needed)64" in rendered(paced_result()).text


def test_what_was_not_swept_is_left_out_with_a_sentence():
    part = section(render_html(document(throughput_result())), "Real-time factor against threads")
    assert "Left out: only 1 thread was measured" in part
    assert "<svg" not in part


def test_a_paced_document_leaves_out_what_only_throughput_runs_have():
    html = render_html(document(paced_result()))
    for title in ("Real-time factor against threads", "Where the time goes", "Real-time factor against time"):
        assert "Left out:" in section(html, title)
        assert "<svg" not in section(html, title)
    assert "<svg" in section(html, "Chunk compute")


def test_an_empty_document_still_renders():
    page = rendered()
    assert "Nothing was measured." in page.text
    assert "svg" not in page.tags
    assert page.open == []


def test_distributions_mark_the_chunk_length():
    for title in ("Chunk compute", "Chunk latency"):
        assert "chunk length, 320 ms" in section(render_html(document(paced_result())), title)


def test_spinning_is_compared_with_its_ratio():
    part = section(render_html(document(*FULL)), "What spinning costs at live pace")
    assert ">0.150<" in part
    assert ">0.900, 6.00 ×<" in part


def test_the_pipeline_and_the_model_alone_stand_side_by_side():
    part = section(render_html(document(throughput_result())), "Where the time goes")
    assert ">0.100<" in part  # 2.0 s of 20 s
    assert ">0.0750<" in part  # features and model, 1.5 s of 20 s


def test_operators_stand_in_a_table():
    assert "MatMulInteger400900 ms75.0 %" in rendered(*FULL).text


def test_without_a_profile_the_operators_are_left_out_with_a_sentence():
    assert "Left out: --profile-ops was not asked for." in rendered(throughput_result()).text


def test_the_command_can_be_pasted_into_a_shell():
    assert "edge-asr bench starter-en --audio 'my clips'" in rendered(throughput_result()).text


def test_board_versions_hashes_and_workload_are_named():
    text = rendered(throughput_result()).text
    for fact in ("Raspberry Pi 4 Model B", "Cortex-A72", "6.6.51", "a" * 64, "c" * 64, "whisper-english 0.0.10"):
        assert fact in text


def test_the_raw_document_can_be_taken_out_again(tmp_path):
    page = rendered(*FULL)
    raw = page.text[page.text.index('{\n "schema"') : page.text.rindex("}") + 1]
    (tmp_path / "bench.json").write_text(raw, encoding="utf-8")
    assert read_document(tmp_path / "bench.json") == msgspec.convert(msgspec.to_builtins(document(*FULL)), Document)
