import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from edge_asr.errors import ModelUnsupported
from edge_asr.quantize.bias import correct_bias
from edge_asr.quantize.blank import with_blank_penalty
from edge_asr.quantize.choices import Choice
from edge_asr.quantize.clip import clip_columns, clipped
from edge_asr.quantize.graph import Prepared, apply_assignment, prepare_graph
from edge_asr.quantize.observe import observe
from edge_asr.quantize.smooth import scales_of, smoothed
from edge_asr.quantize.treatment import RESCUES, Treatment, rescue_of, treat
from tests.support.tiny_graphs import FEATURES, OUTPUTS, frames, graph_of, relative_error, run, two_products, weights


def steps():
    return ({"x": frames(seed=seed)} for seed in range(5))


class Hearing:
    blank = 0

    def steps(self, role: str):
        assert role == "model"
        return steps()


def outputs(model: onnx.ModelProto) -> np.ndarray:
    return np.concatenate([run(model, inputs)[0] for inputs in steps()])


def with_bias() -> Prepared:
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["p"], "product"),
        helper.make_node("Add", ["p", "b"], ["s"], "sum"),
        helper.make_node("Relu", ["s"], ["y"], "relu"),
    ]
    constants = {"a": weights(FEATURES, OUTPUTS), "b": weights(OUTPUTS, seed=3)}
    return prepare_graph(graph_of(nodes, constants))


def outlying() -> Prepared:
    """The first channel of the input of the second product is a thousand times larger than the others."""
    model = two_products()
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    first, second = (numpy_helper.to_array(tensors[name]).copy() for name in ("a", "b"))
    first[:, 0] *= 1000
    second[0] /= 1000
    tensors["a"].CopyFrom(numpy_helper.from_array(first, "a"))
    tensors["b"].CopyFrom(numpy_helper.from_array(second, "b"))
    return prepare_graph(model)


def test_means_and_magnitudes_of_channels_are_observed():
    model = two_products()
    inside = np.concatenate([inputs["x"] for inputs in steps()]) @ numpy_helper.to_array(model.graph.initializer[0])
    (seen,) = observe(model, ["h", "no such tensor"], steps()).values()
    np.testing.assert_allclose(seen.mean, inside.reshape(-1, 96).mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(seen.largest, np.abs(inside).reshape(-1, 96).max(axis=0), rtol=1e-5)


def test_the_mean_error_goes_into_the_bias_and_costs_no_node():
    prepared = with_bias()
    plain = apply_assignment(prepared, "model", {"product": "weight4"})
    corrected = correct_bias(prepared, apply_assignment(prepared, "model", {"product": "weight4"}), ["product"], steps)
    assert len(corrected.model.graph.node) == len(plain.model.graph.node)
    sums = [observe(model, ["s"], steps())["s"].mean for model in (prepared.model, plain.model, corrected.model)]
    assert np.abs(sums[1] - sums[0]).max() > 0.01
    np.testing.assert_allclose(sums[2], sums[0], atol=1e-4)


def test_without_a_bias_the_mean_error_is_added_by_itself():
    prepared = prepare_graph(two_products())
    quantized = apply_assignment(prepared, "model", {"first": "weight4"})
    corrected = correct_bias(prepared, quantized, ["first"], steps)
    assert np.isfinite(run(corrected.model)[0]).all()
    before, after = (observe(model, ["h"], steps())["h"].mean for model in (prepared.model, corrected.model))
    np.testing.assert_allclose(after, before, atol=1e-4)


def test_smoothing_changes_nothing_in_float32_and_helps_integers():
    prepared = outlying()
    even = smoothed(prepared, ["first", "second"], steps)
    expected = outputs(prepared.model)
    assert relative_error(outputs(even.model), expected) < 1e-5
    choices: dict[str, Choice] = {"first": "int8", "second": "int8"}
    errors = [
        relative_error(outputs(apply_assignment(one, "model", choices).model), expected) for one in (prepared, even)
    ]
    assert errors[0] > 0.5
    assert errors[1] < 0.1


def test_even_activations_are_left_alone():
    prepared = prepare_graph(two_products())
    assert [node.name for node in smoothed(prepared, ["first", "second"], steps).model.graph.node] == [
        "first",
        "relu",
        "second",
    ]


def test_scales_are_the_root_of_activations_over_weights():
    scales = scales_of(np.array([64, 1, 1, 0], np.float32), np.array([1, 1, 4, 1], np.float32))
    assert scales is not None
    np.testing.assert_allclose(scales[:3] / scales[1], [8, 1, 0.5])
    assert scales[3] == 1


def test_columns_are_clipped_where_rounding_errs_least():
    generator = np.random.default_rng(0)
    column = generator.uniform(-1, 1, 4000).astype(np.float32)
    column[0] = 1.9
    even = generator.uniform(-1, 1, 4000).astype(np.float32)
    found = clip_columns(np.stack([column, even], axis=1))
    assert found[0, 0] < 1.9
    np.testing.assert_array_equal(found[:, 1], even)

    def error(original: np.ndarray, kept: np.ndarray) -> float:
        step = np.abs(kept).max() / 127
        return float(np.sum(np.square(original - np.rint(kept / step) * step)))

    assert error(column, found[:, 0]) < error(column, column)


def test_only_the_named_products_are_clipped():
    prepared = prepare_graph(two_products())
    tensors = {tensor.name: tensor for tensor in prepared.model.graph.initializer}
    outlier = numpy_helper.to_array(tensors["a"]).copy()
    outlier[0, 0] = 1.5 * np.abs(outlier[:, 0]).max()
    tensors["a"].CopyFrom(numpy_helper.from_array(outlier, "a"))
    after = {
        tensor.name: numpy_helper.to_array(tensor) for tensor in clipped(prepared, ["second"]).model.graph.initializer
    }
    np.testing.assert_array_equal(after["a"], outlier)


def scoring() -> onnx.ModelProto:
    model = two_products()
    model.graph.output[0].type.tensor_type.shape.dim.add().dim_param = "N"
    model.graph.output[0].type.tensor_type.shape.dim.add().dim_value = OUTPUTS
    return model


def test_the_blank_is_scored_lower_and_nothing_else():
    model = scoring()
    penalised = with_blank_penalty({"model": model}, blank=2, penalty=0.5)["model"]
    difference = run(penalised)[0] - run(model)[0]
    expected = np.zeros(OUTPUTS)
    expected[2] = -0.5
    np.testing.assert_allclose(difference, np.broadcast_to(expected, difference.shape), atol=1e-6)
    assert [output.name for output in penalised.graph.output] == ["y"]


def test_no_penalty_is_no_node():
    model = scoring()
    assert with_blank_penalty({"model": model}, blank=0, penalty=0.0)["model"] is model


def test_a_model_that_scores_no_blank_gets_no_penalty():
    with pytest.raises(ModelUnsupported, match="scores a blank"):
        with_blank_penalty({"encoder": scoring(), "decoder": scoring()}, blank=0, penalty=0.5)


def test_rescues_add_to_what_is_done_already():
    treatment = Treatment()
    for name in RESCUES:
        treatment = rescue_of(name, treatment).treatments[0]
    assert treatment.clips_weights
    assert treatment.corrects_bias
    assert treatment.smooths
    assert treatment.blank_penalty == 0.1


def test_a_treated_model_is_closer_to_the_original():
    prepared = outlying()
    chosen: dict[tuple[str, str], Choice] = {("model", "first"): "int8", ("model", "second"): "int8"}
    expected = outputs(prepared.model)
    plain, treated = (
        relative_error(outputs(treat({"model": prepared}, chosen, treatment, Hearing(), {})["model"].model), expected)
        for treatment in (Treatment(), Treatment(smooths=True, corrects_bias=True))
    )
    assert treated < plain / 5
