"""CPU and NPU beside each other, on figures that a test made up."""

from __future__ import annotations

import msgspec
import pytest

from edge_asr.bench.document import Configuration, Mode, Result, Run
from edge_asr.bench.figures import figures_of
from edge_asr.bench.provider_choice import ProviderChoice, compare_providers, partial_sentences
from tests.bench.documents import disturbed
from tests.bench.tasks import paced_run, throughput_run


def measured(
    provider: str, cpu: float, *, rtf: float = 0.2, errors: int = 1, share: float | None = None
) -> list[Result]:
    """Both modes of one provider: CPU seconds per second at live pace, RTF, errors of ten words."""
    runs: dict[Mode, Run] = {
        "throughput": throughput_run(rtf, errors=errors, provider_share=share),
        "paced": paced_run(cpu, provider_share=share),
    }
    results = []
    for mode, run in runs.items():
        configuration = Configuration(model="starter-en", mode=mode, provider=provider)
        figures = figures_of(configuration, [run], "wer")
        results.append(Result(configuration=configuration, runs=(run,), figures=figures))
    return results


def compared(*results: list[Result]) -> ProviderChoice:
    choice = compare_providers([result for each in results for result in each])
    assert choice is not None
    return choice


def test_an_npu_that_frees_the_cpu_is_recommended_though_it_is_slower():
    choice = compared(measured("cpu", 0.20, rtf=0.2), measured("rknn", 0.05, rtf=0.4))
    assert choice.recommended == "starter-en · rknn · 1 thread"
    assert choice.rows[1].freed == pytest.approx(0.75)
    assert "frees 75% of the CPU time" in choice.sentence
    assert "RTF 0.400 (there 0.200)" in choice.sentence


def test_a_saving_that_is_not_worth_a_driver_leaves_the_cpu():
    choice = compared(measured("cpu", 0.20), measured("rknn", 0.19))
    assert choice.recommended == "starter-en · 1 thread"
    assert "no other provider frees 10%" in choice.sentence


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"errors": 2}, "hears worse: an error rate of 20.0% instead of 10.0%"),
        ({"rtf": 1.2}, "does not keep up"),
    ],
)
def test_a_provider_that_hears_worse_or_falls_behind_is_not_recommended(how, reason):
    choice = compared(measured("cpu", 0.20), measured("rknn", 0.01, **how))
    assert choice.recommended == "starter-en · 1 thread"
    assert reason in choice.sentence


def test_a_provider_is_the_choice_where_the_cpu_does_not_keep_up():
    choice = compared(measured("cpu", 0.9, rtf=1.5), measured("rknn", 0.95))
    assert choice.recommended == "starter-en · rknn · 1 thread"


def test_nothing_is_recommended_where_nothing_keeps_up():
    choice = compared(measured("cpu", 0.9, rtf=1.5), measured("rknn", 0.95, rtf=2.0))
    assert (choice.recommended, choice.sentence[:31]) == ("", "no provider can be recommended ")


def test_the_cpu_stands_first_whatever_was_measured_first():
    choice = compared(measured("rknn", 0.05), measured("cpu", 0.20))
    assert [row.provider for row in choice.rows] == ["cpu", "rknn"]


def test_disturbed_runs_and_those_that_never_came_are_not_chosen():
    swapped = [disturbed(result) for result in measured("rknn", 0.01)]
    dead = [
        Result(configuration=msgspec.structs.replace(result.configuration, provider="qnn"), error="no device")
        for result in swapped
    ]
    choice = compared(measured("cpu", 0.2), swapped, dead)
    assert [row.reason_against for row in choice.rows] == [
        "",
        "its runs do not count: the board throttled: new bit 0x4 while measuring",
        "no device",
    ]
    assert choice.recommended == "starter-en · 1 thread"


def test_one_provider_is_nothing_to_compare():
    assert compare_providers(measured("cpu", 0.2)) is None


def test_a_partial_run_is_said_with_its_share():
    whole, partial = measured("ort:XNNPACK", 0.1, share=1.0), measured("qnn", 0.1, share=0.5)
    assert [sentence.split(": ", 1)[1] for sentence in partial_sentences([*whole, partial[1]])] == [
        "partial, 'qnn' ran 50% of the model's operators and the CPU the rest"
    ]
    assert compared(measured("cpu", 0.2), partial).rows[1].share == 0.5
