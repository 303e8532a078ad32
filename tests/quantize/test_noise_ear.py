import numpy as np
import pytest
from onnx import helper

from edge_asr.errors import ModelUnsupported
from edge_asr.quantize.graph import apply_assignment, prepare_graph
from edge_asr.quantize.noise_ear import NoiseEar
from tests.support.tiny_graphs import graph_of, two_products


def test_the_original_is_no_way_from_itself():
    prepared = prepare_graph(two_products())
    assert NoiseEar({"encoder": prepared}).compare({"encoder": prepared.model}).harm == 0.0


def test_fewer_bits_are_further_away():
    prepared = prepare_graph(two_products())
    ear = NoiseEar({"encoder": prepared})
    by_integers, by_four_bits = (
        ear.compare({"encoder": apply_assignment(prepared, "encoder", {"first": choice}).model}).harm
        for choice in ("int8", "weight4")
    )
    assert 0 < by_integers < by_four_bits < 0.1


def test_a_graph_that_takes_no_noise_is_refused():
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
    prepared = prepare_graph(graph_of([node], {"w": np.ones((5, 5), np.float32)}, inputs={"x": ["N", "width"]}))
    with pytest.raises(ModelUnsupported, match="use a fixed recipe"):
        NoiseEar({"encoder": prepared})


def test_it_gives_no_inputs_to_calibrate_with():
    assert list(NoiseEar({"encoder": prepare_graph(two_products())}).steps("encoder")) == []


def test_a_graph_of_samples_gets_enough_of_them():
    node = helper.make_node("Conv", ["x", "w"], ["y"], "frames", strides=[384])
    model = graph_of([node], {"w": np.ones((4, 1, 384), np.float32)}, inputs={"x": ["N", 1, "samples"]})
    prepared = prepare_graph(model)
    assert NoiseEar({"encoder": prepared}).compare({"encoder": prepared.model}).harm == 0.0
