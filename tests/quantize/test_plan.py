from edge_asr.quantize.choices import Choice, Node
from edge_asr.quantize.costs import Costs, costs_by_table
from edge_asr.quantize.divergence import Divergence
from edge_asr.quantize.frontier import NodeKey, assignment_after
from edge_asr.quantize.plan import plan, usual_cost
from edge_asr.quantize.targets import TARGETS

ALL: tuple[Choice, ...] = ("fp32", "int8", "weight8", "weight4", "fp16")


def node(name: str, size: int = 1024) -> Node:
    return Node("encoder", name, "MatMul", (size, size), 4 * size * size, ALL, name)


def harms(**nats: dict[Choice, float]) -> dict[NodeKey, dict[Choice, Divergence]]:
    return {
        ("encoder", name): {choice: Divergence(value, 0.0, 0.0, 1) for choice, value in own.items()}
        for name, own in nats.items()
    }


def costs(nodes: list[Node], target: str, rows: int = 16) -> Costs:
    return costs_by_table(nodes, {(one.component, one.name): rows for one in nodes}, TARGETS[target])


def chosen_for(target: str, rows: int) -> Choice:
    steps, _ = plan([node("a")], harms(a={"int8": 0.001, "weight4": 0.0015}), costs([node("a")], target, rows))
    return assignment_after(steps)["encoder", "a"]


def test_four_bits_are_chosen_where_fetching_weights_is_what_takes_time():
    assert chosen_for("pi5", rows=1) == "weight4"


def test_integers_are_chosen_where_four_bits_would_be_slower_than_the_usual_int8():
    assert chosen_for("pi5", rows=16) == "int8"
    assert chosen_for("pi4", rows=16) == "int8"


def test_time_to_spare_buys_fewer_bytes():
    nodes = [node("a")]
    table = costs(nodes, "pi5")
    steps, weight = plan(
        nodes, harms(a={"int8": 0.001, "weight4": 0.0015}), table, allowed=2 * usual_cost(nodes, table)
    )
    assert assignment_after(steps) == {("encoder", "a"): "weight4"}
    assert weight == 0.0


def test_the_harmless_node_comes_first():
    nodes = [node("a"), node("b")]
    steps, _ = plan(nodes, harms(a={"int8": 0.01}, b={"int8": 0.001}), costs(nodes, "pi5"))
    assert [step.key[1] for step in steps] == ["b", "a"]


def test_of_nodes_that_harm_alike_the_larger_comes_first():
    nodes = [node("a", 256), node("b", 1024)]
    steps, _ = plan(nodes, harms(a={"int8": 0.01}, b={"int8": 0.01}), costs(nodes, "pi5"))
    assert [step.key[1] for step in steps] == ["b", "a"]
