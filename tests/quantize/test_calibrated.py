from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.errors import ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.quantize.calibrated import apply_calibrated, needs_recordings
from edge_asr.quantize.choices import WeightOptions
from edge_asr.quantize.graph import Prepared, Quantized, prepare_graph
from edge_asr.quantize.recipes import RecipeName, RecipeOptions
from edge_asr.quantize.targets import TARGETS
from tests.quantize.test_static import streaming_model
from tests.support.engine_cases import noise
from tests.support.tiny_graphs import relative_error

GPTQ = RecipeOptions(weights=WeightOptions(algorithm="gptq"))
FAMILY = FAMILIES["zipformer2-ctc"]


def recordings() -> Iterator[Float32Array]:
    yield noise(4.0, 16_000)
    yield noise(3.0, 16_000, 0.01)


def made(recipe: RecipeName, options: RecipeOptions, folder: Path) -> tuple[Prepared, Quantized]:
    prepared = prepare_graph(streaming_model(), name="model")
    result = apply_calibrated(recipe, {"model": prepared}, FAMILY, TARGETS["pi5"], options, recordings(), folder=folder)
    return prepared, result["model"]


@pytest.mark.parametrize(
    ("recipe", "options", "counts"),
    [
        ("int8-static", RecipeOptions(), {"int8": 2}),
        ("weight4", GPTQ, {"weight4": 3}),
        ("weight8", GPTQ, {"weight8": 3}),
    ],
)
def test_a_recipe_hears_the_recordings_and_quantizes(
    recipe: RecipeName, options: RecipeOptions, counts: dict[str, int], tmp_path: Path
) -> None:
    prepared, result = made(recipe, options, tmp_path)
    assert result.counts.quantized == counts
    before, after = (
        StreamingRunner({"model": model.SerializeToString()}, FAMILY).log_posteriors(noise(3.0, 16_000, 0.03))
        for model in (prepared.model, result.model)
    )
    assert relative_error(after, before) < 0.35


def test_nothing_recorded_is_left_behind(tmp_path: Path) -> None:
    made("int8-static", RecipeOptions(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_same_recordings_give_the_same_model(tmp_path: Path) -> None:
    first, second = (made("weight4", GPTQ, tmp_path)[1].model for _ in range(2))
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)


def test_a_model_that_does_not_stream_is_refused() -> None:
    components = {"model": prepare_graph(streaming_model())}
    silence = [np.zeros(16_000, np.float32)]
    with pytest.raises(ModelUnsupported, match="step by step"):
        apply_calibrated("int8-static", components, FAMILIES["sense-voice"], TARGETS["pi5"], RecipeOptions(), silence)


@pytest.mark.parametrize(
    ("recipe", "options", "expected"),
    [
        ("int8", GPTQ, False),
        ("int8-static", RecipeOptions(), True),
        ("weight4", RecipeOptions(), False),
        ("weight4", GPTQ, True),
    ],
)
def test_recipes_say_whether_they_need_recordings(recipe: str, options: RecipeOptions, expected: bool) -> None:
    assert needs_recordings(recipe, options) is expected
