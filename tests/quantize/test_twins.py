from edge_asr.quantize.choices import Node
from edge_asr.quantize.twins import twins_of, with_twins


def node(name: str, weight: str, component: str = "decoder", operator: str = "MatMul") -> Node:
    return Node(component, name, operator, (4, 4), 64, ("fp32", "int8"), weight)


def test_nodes_that_read_the_same_weights_go_together():
    twins = twins_of([node("first/q", "q"), node("first/k", "k"), node("cached/q", "q")])
    assert twins == {
        ("decoder", "first/q"): (("decoder", "first/q"), ("decoder", "cached/q")),
        ("decoder", "first/k"): (("decoder", "first/k"),),
    }


def test_weights_of_another_file_or_another_use_are_not_the_same():
    nodes = [node("a", "w"), node("b", "w", component="encoder"), node("c", "w", operator="Gather")]
    assert all(len(together) == 1 for together in twins_of(nodes).values())


def test_what_is_chosen_for_one_is_chosen_for_all():
    twins = twins_of([node("first/q", "q"), node("cached/q", "q"), node("first/k", "k")])
    assert with_twins({("decoder", "first/q"): "int8"}, twins) == {
        ("decoder", "first/q"): "int8",
        ("decoder", "cached/q"): "int8",
    }
