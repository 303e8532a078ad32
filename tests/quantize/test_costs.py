from edge_asr.quantize.choices import Node
from edge_asr.quantize.costs import MeasuredProduct, costs_by_measuring, costs_by_table, costs_on_board, rows_of
from edge_asr.quantize.graph import prepare_graph, quantizable_nodes
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.targets import TARGETS
from tests.support.tiny_graphs import FEATURES, OUTPUTS, frames, two_products

KEYS = [("model", "first"), ("model", "second")]


def nodes() -> list[Node]:
    return quantizable_nodes(prepare_graph(two_products()), "model", TARGETS["x86"])


def test_rows_are_the_frames_that_a_step_multiplies():
    components = {"model": prepare_graph(two_products())}
    found = rows_of(components, nodes(), lambda _role: iter([{"x": frames(count=9)}]))
    assert found == dict.fromkeys(KEYS, 9)


def test_a_graph_that_never_ran_has_one_row():
    assert rows_of({"model": prepare_graph(two_products())}, nodes(), lambda _role: iter([])) == dict.fromkeys(KEYS, 1)


def test_by_table_a_product_costs_what_the_target_says():
    found = costs_by_table(nodes(), dict.fromkeys(KEYS, 9), TARGETS["pi4"])
    assert found.of(nodes()[0], "int8") == TARGETS["pi4"].cost("int8", (FEATURES, 96), 9)


def test_products_of_the_same_shape_are_timed_once():
    found = costs_by_measuring(nodes() * 2, dict.fromkeys(KEYS, 9), Silence())
    assert found.measured == 2
    assert all(found.of(node, choice) > 0 for node in nodes() for choice in node.choices)


def test_a_table_that_is_looked_up_costs_nothing():
    table = Node("decoder", "embedding", "Gather", (500, OUTPUTS), 4 * 500 * OUTPUTS, ("fp32", "int8"), "table")
    assert costs_by_table([table], {("decoder", "embedding"): 1}, TARGETS["pi4"]).of(table, "int8") == 0.0


def test_what_was_measured_on_the_board_is_taken_and_the_rest_follows_its_pace():
    node = Node("encoder", "n", "MatMul", (64, 128), 4 * 64 * 128, ("fp32", "int8", "weight4"), "v")
    other = Node("encoder", "o", "MatMul", (32, 32), 4 * 32 * 32, ("fp32", "int8", "weight4"), "w")
    rows = {("encoder", "n"): 16, ("encoder", "o"): 16}
    table = costs_by_table([node, other], rows, TARGETS["pi4"])
    measured = [
        MeasuredProduct("fp32", (16, 64, 128), 2 * table.of(node, "fp32")),
        MeasuredProduct("int8", (16, 64, 128), 7 * table.of(node, "int8")),
    ]
    costs = costs_on_board([node, other], rows, TARGETS["pi4"], measured)
    assert costs.of(node, "int8") == 7 * table.of(node, "int8")
    assert costs.of(other, "int8") == 7 * table.of(other, "int8")
    assert costs.of(other, "fp32") == 2 * table.of(other, "fp32")
    assert costs.of(other, "weight4") == 4.5 * table.of(other, "weight4"), "nothing measured: the usual pace"
