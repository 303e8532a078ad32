from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper

from edge_asr.engines.ort_session import Inputs
from edge_asr.errors import ConfigurationError
from edge_asr.quantize import moments as moments_module
from edge_asr.quantize.blocks import in_blocks, quantize_blocks
from edge_asr.quantize.choices import WeightOptions
from edge_asr.quantize.feedback import quantize_with_feedback
from edge_asr.quantize.graph import apply_assignment, prepare_graph
from edge_asr.quantize.moments import measure_moments
from tests.support.tiny_graphs import FEATURES, frames, graph_of, relative_error, run, two_products, weights

GPTQ = WeightOptions(algorithm="gptq")


def correlated(count: int = 4000, width: int = 64, seed: int = 0) -> npt.NDArray[np.float32]:
    """Inputs that go together, as those of a trained layer do."""
    generator = np.random.default_rng(seed)
    few = generator.standard_normal((count, 8))
    mixed = few @ np.random.default_rng(99).standard_normal((8, width)) + 0.1 * generator.standard_normal(
        (count, width)
    )
    return np.asarray(mixed, np.float32)


def output_error(integers: npt.NDArray[np.int16], scales: npt.NDArray[np.float32]) -> float:
    matrix, inputs = weights(64, 48), correlated(seed=1)
    restored = (integers * scales[..., None]).reshape(48, -1)[:, :64].T
    return relative_error(inputs @ restored, inputs @ matrix)


def test_feedback_lowers_the_error_of_the_output() -> None:
    inputs = correlated()
    moments = (inputs.T @ inputs / len(inputs)).astype(np.float32)
    nearest = output_error(*quantize_blocks(in_blocks(weights(64, 48), 32), 4, "rtn"))
    assert output_error(*quantize_with_feedback(weights(64, 48), moments, 32, 4)) < nearest / 2


def test_without_anything_in_common_there_is_nothing_to_feed_back() -> None:
    matrix = weights(64, 48)
    integers, scales = quantize_with_feedback(matrix, np.eye(64, dtype=np.float32), 32, 4)
    expected = quantize_blocks(in_blocks(matrix, 32), 4, "k-quant")
    assert np.array_equal(integers, expected[0])
    assert np.array_equal(scales, expected[1])


def test_inputs_that_are_always_zero_do_no_harm() -> None:
    inputs = correlated()
    inputs[:, 10:20] = 0
    moments = (inputs.T @ inputs / len(inputs)).astype(np.float32)
    integers, scales = quantize_with_feedback(weights(64, 48), moments, 32, 4)
    assert np.isfinite(scales).all()
    assert np.abs(integers).max() <= 8


def steps() -> Iterator[Inputs]:
    for seed in range(3):
        yield {"x": frames(20, seed=seed)}


def test_moments_are_those_of_what_each_product_multiplies() -> None:
    prepared = prepare_graph(two_products())
    found = measure_moments(prepared, ["first", "second"], steps)
    inputs = np.concatenate([step["x"][0] for step in steps()])
    assert np.allclose(found["first"], inputs.T @ inputs / len(inputs), atol=1e-4)
    assert found["second"].shape == (96, 96)


def test_moments_of_a_convolution_are_those_of_its_channels() -> None:
    node = helper.make_node("Conv", ["x", "k"], ["y"], "conv")
    model = graph_of([node], {"k": weights(8, FEATURES, 1)}, inputs={"x": ["N", FEATURES, "T"]})
    inputs = frames(FEATURES, 30)
    found = measure_moments(prepare_graph(model), ["conv"], lambda: iter([{"x": inputs}]))
    assert np.allclose(found["conv"], inputs[0] @ inputs[0].T / 30, atol=1e-4)


def test_moments_that_do_not_fit_together_are_gathered_in_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare_graph(two_products())
    together = measure_moments(prepared, ["first", "second"], steps)
    monkeypatch.setattr(moments_module, "MOST_BYTES", 1)
    apart = measure_moments(prepared, ["first", "second"], steps)
    assert all(np.array_equal(together[name], apart[name]) for name in together)


def test_a_graph_is_quantized_with_feedback() -> None:
    prepared = prepare_graph(two_products())
    moments = measure_moments(prepared, ["first", "second"], steps)
    choices = {"first": "weight4", "second": "weight4"}
    made = apply_assignment(prepared, "encoder", choices, weights=GPTQ, moments=moments)  # type: ignore[arg-type]
    assert relative_error(run(made.model)[0], run(prepared.model)[0]) < 0.2


def test_feedback_without_recordings_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="needs recordings that reach 'first'"):
        apply_assignment(prepare_graph(two_products()), "encoder", {"first": "weight4"}, weights=GPTQ)
