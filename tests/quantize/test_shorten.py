import numpy as np
from onnx import TensorProto, helper

from edge_asr.quantize.shorten import with_short_names
from tests.support.tiny_graphs import graph_of, run, two_products


def test_a_graph_with_short_names_computes_the_same():
    model = two_products()
    short = with_short_names(model)
    np.testing.assert_array_equal(run(short)[0], run(model)[0])
    assert {name for node in short.graph.node for name in node.output} == {"b", "c", "y"}


def test_inputs_outputs_and_nodes_keep_their_names():
    short = with_short_names(two_products())
    assert [entry.name for entry in (*short.graph.input, *short.graph.output)] == ["x", "y"]
    assert [node.name for node in short.graph.node] == ["first", "relu", "second"]


def test_what_a_subgraph_reads_from_outside_is_still_found():
    branches = {
        name: helper.make_graph(
            [helper.make_node("Add", ["outer tensor", constant], ["inner result"], f"add {name}")],
            name,
            [],
            [helper.make_tensor_value_info("inner result", TensorProto.FLOAT, None)],
        )
        for name, constant in (("then", "one"), ("else", "two"))
    }
    model = graph_of(
        [
            helper.make_node("Relu", ["x"], ["outer tensor"], "relu"),
            helper.make_node("If", ["is it"], ["y"], "if", then_branch=branches["then"], else_branch=branches["else"]),
        ],
        {"one": np.array(1, np.float32), "two": np.array(2, np.float32), "is it": np.array(True)},
    )
    short = with_short_names(model)
    np.testing.assert_array_equal(run(short)[0], run(model)[0])


def test_the_original_keeps_its_names():
    model = two_products()
    with_short_names(model)
    assert {tensor.name for tensor in model.graph.initializer} == {"a", "b"}
