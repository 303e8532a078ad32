"""Encoder-decoder models, component by component: a merged decoder has its products in the branches of an ``If``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from edge_asr.engines.ort_encoder_decoder import Moonshine
from edge_asr.errors import ModelUnsupported
from edge_asr.quantize.graph import apply_assignment, count_float_readers, prepare_graph
from edge_asr.quantize.noise_ear import NoiseEar
from edge_asr.quantize.order import Order
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.run import quantize
from edge_asr.quantize.targets import TARGETS
from edge_asr.store.store import InstalledModel
from tests.support.tiny_products import write_recordings
from tools.shape_moonshine import Sizes, write_moonshine

SIZES = Sizes(width=32, layers=1, heads=4, feedforward=64, vocabulary=40)
ENCODER_PRODUCTS = 6
DECODER_PRODUCTS = (10 + 1) + (8 + 1)
"""Of the first branch, and of the cached one, which has the keys and values of the encoder from before."""
LARGEST_ERROR = {"int8": 0.05, "weight8": 0.02, "weight4": 0.3, "fp16": 0.002}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> InstalledModel:
    directory = tmp_path_factory.mktemp("models") / "shape"
    return InstalledModel(write_moonshine(directory, SIZES), directory)


def ordered(original: InstalledModel, folder: Path, **words: object) -> Order:
    return Order(original=original, output=folder / "out", target=TARGETS["pi5"], **words)  # type: ignore[arg-type]


def three_tokens(directory: Path) -> np.ndarray:
    """Logits of three steps: one of the first branch, two of the cached one."""
    model = Moonshine(directory / "encoder.onnx", directory / "decoder.onnx", "m", 1, 16_000)
    writing = model.hear(np.random.default_rng(0).standard_normal(3840).astype(np.float32))
    return np.concatenate([writing.step(np.array([0]), np.array([token])) for token in (1, 7, 12)])


@pytest.mark.parametrize("recipe", ["int8", "weight8", "weight4", "fp16"])
def test_products_in_both_branches_are_quantized(recipe: str, original: InstalledModel, tmp_path: Path) -> None:
    components = quantize(ordered(original, tmp_path, recipe=recipe), Silence()).document.components
    done = {component.role: sum(component.nodes.values()) for component in components}
    if recipe != "fp16":  # which turns the whole graph
        assert done == {"encoder": ENCODER_PRODUCTS, "decoder": DECODER_PRODUCTS}
    found, expected = three_tokens(tmp_path / "out"), three_tokens(original.directory)
    error = float(np.sqrt(np.mean(np.square(found - expected)) / np.mean(np.square(expected))))
    assert 0 < error < LARGEST_ERROR[recipe]


def test_no_floats_stay_behind_for_the_other_branch(original: InstalledModel, tmp_path: Path) -> None:
    quantize(ordered(original, tmp_path, recipe="int8"), Silence())
    assert count_float_readers(onnx.load(str(tmp_path / "out" / "decoder.onnx"))) == 2  # the look-ups of the table


def test_what_is_only_in_the_cached_branch_is_heard(original: InstalledModel) -> None:
    model = onnx.load(str(original.directory / "decoder.onnx"))
    for node in model.graph.node[-1].attribute:  # weights of its own, as exporters without deduplication give it
        if node.name == "then_branch":
            for inner in node.g.node:
                if inner.input[-1] == "head.weight":
                    inner.input[-1] = "another"
    twin = next(tensor for tensor in model.graph.initializer if tensor.name == "head.weight")
    another = model.graph.initializer.add()
    another.CopyFrom(twin)
    another.name, another.raw_data = "another", (2 * onnx.numpy_helper.to_array(twin)).tobytes()
    prepared = prepare_graph(model)
    ear = NoiseEar({"decoder": prepared})
    assert ear.compare({"decoder": apply_assignment(prepared, "decoder", {"cached/head": "weight4"}).model}).harm > 0


def test_a_search_gives_both_branches_the_same_bits(original: InstalledModel, tmp_path: Path) -> None:
    evaluation = write_recordings(tmp_path / "audio", 6, "words that are not said")
    order = ordered(original, tmp_path, recipe="auto", evaluation=evaluation, budget=0.5, goal="smallest")
    document = quantize(order, Silence()).document
    chosen = {node.name: node.choice for node in document.nodes if node.component == "decoder"}
    for name, choice in chosen.items():
        if name.startswith("cached/"):
            assert choice == chosen[name.replace("cached/", "first/")]
    assert any(choice != "fp32" for choice in chosen.values())


def test_what_is_not_run_step_by_step_is_not_calibrated(original: InstalledModel, tmp_path: Path) -> None:
    with pytest.raises(ModelUnsupported, match="moonshine models cannot be run step by step here"):
        quantize(ordered(original, tmp_path, recipe="int8-static"), Silence())
