"""In which order the nodes of a model give up bits, by what each choice harms and saves; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edge_asr.quantize.choices import Choice, Node
from edge_asr.quantize.costs import Costs
from edge_asr.quantize.frontier import Option, Step, assignment_after, steps_of
from edge_asr.quantize.sensitivity import Harms

TIME_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
"""How much saved time counts beside saved bytes, both as shares of the whole; the first that keeps the predicted time
of the smallest model within what is allowed is taken."""

BYTES: Mapping[Choice, float] = {"fp32": 4.0, "fp16": 2.0, "int8": 1.0, "weight8": 1.125, "weight4": 0.625}
"""In the file, for each weight; blocks of 32 have a float32 scale."""


def plan(
    nodes: Sequence[Node], harms: Harms, costs: Costs, allowed: float | None = None
) -> tuple[tuple[Step, ...], float]:
    """The order of steps.

    Args:
        nodes: All of them.
        harms: Of each choice that was measured.
        costs: Time of each node in each form.
        allowed: Time of all nodes together that must not be exceeded; by default that of the usual int8.

    Returns:
        The steps, and the weight of time that was needed.
    """
    if allowed is None:
        allowed = usual_cost(nodes, costs)
    steps: tuple[Step, ...] = ()
    for weight in TIME_WEIGHTS:
        options = _Options(nodes, harms, costs, weight)
        steps = steps_of(((node.component, node.name), options.of(node)) for node in nodes)
        chosen = assignment_after(steps)
        total = sum(costs.of(node, chosen.get((node.component, node.name), "fp32")) for node in nodes)
        if total <= allowed * (1 + 1e-9):
            return steps, weight
    return steps, TIME_WEIGHTS[-1]


def usual_cost(nodes: Sequence[Node], costs: Costs) -> float:
    """Time of all nodes as the usual int8 has them: ``MatMul`` by integers, the others in float32."""
    return sum(costs.of(node, "int8" if node.operator == "MatMul" else "fp32") for node in nodes)


class _Options:
    """Weighs size and time of each choice of a node together, both as shares of the whole float32 model."""

    def __init__(self, nodes: Sequence[Node], harms: Harms, costs: Costs, time_weight: float) -> None:
        self._harms = harms
        self._costs = costs
        self._bytes = sum(node.weight_bytes for node in nodes)
        self._time = sum(costs.of(node, "fp32") for node in nodes) or 1.0
        self._time_weight = time_weight

    def of(self, node: Node) -> list[Option]:
        measured = self._harms.get((node.component, node.name), {})
        return [
            Option("fp32", self._cost(node, "fp32"), 0.0),
            *(Option(choice, self._cost(node, choice), max(0.0, found.harm)) for choice, found in measured.items()),
        ]

    def _cost(self, node: Node, choice: Choice) -> float:
        size = node.weight_bytes / 4 * BYTES[choice] / self._bytes
        return size + self._time_weight * self._costs.of(node, choice) / self._time
