from edge_asr.quantize.choices import Node
from edge_asr.quantize.costs import costs_by_measuring, costs_by_table, rows_of
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
    table = Node("decoder", "embedding", "Gather", (500, OUTPUTS), 4 * 500 * OUTPUTS, ("fp32", "int8"))
    assert costs_by_table([table], {("decoder", "embedding"): 1}, TARGETS["pi4"]).of(table, "int8") == 0.0
