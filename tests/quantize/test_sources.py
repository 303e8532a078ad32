from pathlib import Path

import numpy as np
import pytest

from edge_asr.quantize import sources
from edge_asr.quantize.sources import digest_of, loaded, source_in
from edge_asr.quantize.targets import TARGETS
from tests.quantize.test_run import order
from tests.support.tiny_graphs import frames, run, two_products


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "EXTERNAL_FROM_BYTES", 100)


def test_a_small_graph_needs_no_file(tmp_path: Path):
    assert isinstance(source_in(tmp_path, "model", two_products()), bytes)
    assert not any(tmp_path.iterdir())


@pytest.mark.usefixtures("everything_is_large")
def test_a_graph_that_no_message_can_hold_is_loaded_from_files_that_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    graph = loaded(two_products(), "model")
    assert not any(tmp_path.iterdir())
    assert np.array_equal(graph.run({"x": frames()})[0], run(two_products())[0])


def test_a_search_over_large_graphs_finds_what_it_finds_over_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "small").mkdir()
    small = order(tmp_path / "small", recipe="auto", target=TARGETS["pi5"]).document
    monkeypatch.setattr(sources, "EXTERNAL_FROM_BYTES", 100)
    (tmp_path / "large").mkdir()
    large = order(tmp_path / "large", recipe="auto", target=TARGETS["pi5"]).document
    assert [(point.name, point.divergence) for point in large.points] == [
        (point.name, point.divergence) for point in small.points
    ]


def test_the_digest_is_of_the_weights_too():
    other = two_products()
    other.graph.initializer[0].raw_data = bytes(len(other.graph.initializer[0].raw_data))
    assert digest_of(two_products()) == digest_of(two_products()) != digest_of(other)
