"""Nodes that read the same weights, such as those in both branches of a merged decoder, get one choice; pure.

With different ones the weights would be in the file twice, and a node that is left alone keeps the floats there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edge_asr.quantize.choices import Choice, Node
from edge_asr.quantize.frontier import NodeKey

Twins = Mapping[NodeKey, tuple[NodeKey, ...]]
"""The first node that reads some weights to all that do, itself included."""


def twins_of(nodes: Sequence[Node]) -> Twins:
    """Which nodes go together; in the order of the nodes.

    A table that is looked up and multiplied with as well is not one of them: what can be done to it differs.
    """
    first: dict[tuple[str, str, str], NodeKey] = {}
    twins: dict[NodeKey, tuple[NodeKey, ...]] = {}
    for node in nodes:
        key = (node.component, node.name)
        leader = first.setdefault((node.component, node.operator, node.weight), key)
        twins[leader] = (*twins.get(leader, ()), key)
    return twins


def with_twins(chosen: Mapping[NodeKey, Choice], twins: Twins) -> dict[NodeKey, Choice]:
    """What was chosen for the first of them, for all."""
    return {key: choice for leader, choice in chosen.items() for key in twins.get(leader, (leader,))}
