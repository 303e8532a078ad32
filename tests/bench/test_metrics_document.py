"""``docs/metrics.md`` and the code name the same figures, codes and sample sizes."""

import re
from pathlib import Path

import pytest

from edge_asr.bench.figure_text import FIGURES
from edge_asr.bench.validity import violations
from edge_asr.statistics import samples_needed

TEXT = (Path(__file__).resolve().parents[2] / "docs/metrics.md").read_text(encoding="utf-8")


def named_figures() -> set[str]:
    """Names in code type at the beginning of table rows; ``_p90`` continues the name before it."""
    names: set[str] = set()
    for row in re.findall(r"^\| (`[^|]*) \|", TEXT, flags=re.MULTILINE):
        stem = ""
        for name in re.findall(r"`([^`]+)`", row):
            stem = stem if name.startswith("_") else name.rpartition("_")[0]
            names.add(stem + name if name.startswith("_") else name)
    return names


def test_every_figure_is_explained():
    assert set(FIGURES) <= named_figures()


def test_every_violation_is_explained():
    codes = re.findall(r"``([a-z_]+)``", violations.__doc__ or "")
    assert len(codes) == 11
    assert set(codes) <= named_figures()


def test_nothing_is_explained_that_does_not_exist():
    assert named_figures() <= set(FIGURES) | set(re.findall(r"``([a-z_]+)``", violations.__doc__ or ""))


@pytest.mark.parametrize("percent", [50, 90, 95, 99])
def test_the_sample_sizes_are_those_of_the_code(percent):
    assert f"| p{percent} | {samples_needed(percent)} |" in TEXT
