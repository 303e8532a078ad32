from pathlib import Path

import pytest

from edge_asr.quantize.panel import Panel
from edge_asr.quantize.recipes import apply_recipe
from edge_asr.quantize.sensitivity import Ear
from edge_asr.quantize.targets import TARGETS
from edge_asr.quantize.workshop import Made, Workshop
from tests.quantize.test_referee import Bench
from tests.support.engine_cases import noise


@pytest.fixture
def panel(tmp_path: Path) -> Panel:
    bench = Bench(tmp_path, sabotaged=False, budget=0.05)
    audio = [noise(0.5, 16_000)]
    return Panel(Ear(bench.workshop, audio, audio, tmp_path / "steps"), bench.referee)


@pytest.fixture
def made(panel: Panel, tmp_path: Path) -> Made:
    workshop: Workshop = panel.ear._workshop  # type: ignore[attr-defined]
    return workshop.make("int8", apply_recipe("int8", workshop.components, TARGETS["x86"]))


def test_a_model_with_no_more_errors_than_the_usual_int8_is_within(panel: Panel, made: Made):
    panel.most_errors = 0
    assert panel.judge(made).verdict == "within"


def test_a_model_with_more_errors_than_the_usual_int8_is_behind(panel: Panel, made: Made):
    panel.most_errors = -1  # as if the usual int8 had one error less than none
    assert panel.judge(made).verdict == "behind"


def test_where_the_smallest_is_wanted_errors_within_the_budget_do_not_matter(panel: Panel, made: Made):
    panel.most_errors = None
    point = panel.judge(made)
    assert point.verdict == "within"
    assert point.divergence is not None


def test_without_a_referee_the_posteriors_decide(panel: Panel, made: Made):
    panel.referee = None
    panel.limit = panel.divergence(made).harm
    assert panel.judge(made).verdict == "within"
    panel.limit /= 2
    assert panel.judge(made).verdict == "over"
