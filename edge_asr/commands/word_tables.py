"""A word network as rows of the tables that costs are carried through; made once, for all texts.

Nodes of the language itself are entered at the beginning of a text only. Those of parts that others call are computed
for every position at which these may be entered, so they have a table of their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from edge_asr.commands.word_network import Arcs, Index, Kind, Level, WordNetwork

Table = Literal[0, 1]
MAIN: Table = 0
INNER: Table = 1
"""Of parts that others call."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Arcs of one level and kind within one table, shape (n,); those to the same node stand together."""

    table: Table
    kind: Kind
    sources: Index
    """Rows."""
    targets: Index
    """Rows."""
    labels: Index
    """Word, called part, or nothing."""

    def with_labels(self, wanted: npt.NDArray[np.bool_]) -> Steps:
        """Those whose label is wanted, which is said by label."""
        chosen = np.flatnonzero(wanted[self.labels])
        return Steps(self.table, self.kind, self.sources[chosen], self.targets[chosen], self.labels[chosen])


@dataclass(frozen=True, slots=True)
class Layer:
    """The nodes of one level."""

    steps: tuple[Steps, ...]
    rows: tuple[slice, slice]
    """Of its nodes, by table."""


class WordTables:
    """Where the nodes of a network stand.

    Args:
        network: What may be said.
    """

    def __init__(self, network: WordNetwork) -> None:
        self.network = network
        is_inner = _inner_nodes(network)
        self._is_inner = is_inner
        self._rows = np.where(is_inner, np.cumsum(is_inner), np.cumsum(~is_inner)).astype(np.int32) - 1
        self._begins = [level.begin for level in network.levels]
        self.sizes = int((~is_inner).sum()), int(is_inner.sum())
        """Rows, by table."""
        self.starts = tuple(int(self._rows[part.start]) for part in network.parts)
        """Row of the node at which each part begins."""
        self.layers = tuple(self._layers())

    def place(self, node: int) -> tuple[int, int]:
        """Table and row of a node."""
        return int(self._is_inner[node]), int(self._rows[node])

    def into(self, node: int) -> Iterator[tuple[Kind, int, int]]:
        """The ways into a node: kind, node before and label."""
        level = self.network.levels[bisect_right(self._begins, node) - 1]
        for arcs in level.arcs:
            first, last = np.searchsorted(arcs.targets, [node, node + 1])
            for number in range(first, last):
                yield arcs.kind, int(arcs.sources[number]), int(arcs.labels[number])

    def _layers(self) -> Iterator[Layer]:
        done = [0, 0]
        for level in self.network.levels:
            inner = int(self._is_inner[level.begin : level.end].sum())
            counts = level.end - level.begin - inner, inner
            rows = slice(done[MAIN], done[MAIN] + counts[MAIN]), slice(done[INNER], done[INNER] + counts[INNER])
            yield Layer(tuple(self._steps(level)), rows)
            done = [rows[MAIN].stop, rows[INNER].stop]

    def _steps(self, level: Level) -> Iterator[Steps]:
        for arcs in level.arcs:
            is_inner = self._is_inner[arcs.targets]
            for table, chosen in ((MAIN, ~is_inner), (INNER, is_inner)):
                if chosen.any():
                    yield self._within(table, arcs, chosen)

    def _within(self, table: Table, arcs: Arcs, chosen: npt.NDArray[np.bool_]) -> Steps:
        sources, targets = self._rows[arcs.sources[chosen]], self._rows[arcs.targets[chosen]]
        return Steps(table, arcs.kind, sources, targets, arcs.labels[chosen])


def _inner_nodes(network: WordNetwork) -> npt.NDArray[np.bool_]:
    """Whether each node belongs to a part that others call."""
    is_main = np.zeros(network.size, bool)
    is_main[network.parts[0].start] = True
    for level in network.levels:
        for arcs in level.arcs:
            is_main[arcs.targets[is_main[arcs.sources]]] = True
    return ~is_main
