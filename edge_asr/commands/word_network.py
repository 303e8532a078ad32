"""A network over characters as one over whole words, its nodes in the order in which they can be computed.

Parts still stand once, however often they are called. A word that goes on behind a call (``{name}'s``) is a word of
its own here, which begins without a space. The loops of words that may be said around a sentence are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from edge_asr.commands.folding import FREE_MARKS
from edge_asr.commands.network import Network, Part
from edge_asr.errors import ConfigurationError

MOST_ARCS = 500_000

IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Kana and ideographs: nobody writes where a word ends, so each is one."""

_UNHEARD = FREE_MARKS | {"'"}

Index = npt.NDArray[np.int32]
Kind = Literal[0, 1, 2]
SILENT: Kind = 0
WORD: Kind = 1
CALL: Kind = 2


@dataclass(frozen=True, slots=True)
class Arcs:
    """Ways into the nodes of one level, those of one kind together; all arrays have the shape (n,)."""

    kind: Kind
    sources: Index
    targets: Index
    labels: Index
    """Word, called part, or nothing."""


@dataclass(frozen=True, slots=True)
class Level:
    """Nodes that depend only on those of the levels before."""

    begin: int
    end: int
    arcs: tuple[Arcs, ...]


@dataclass(frozen=True, slots=True)
class WordNetwork:
    """Nodes are numbered by level."""

    words: tuple[str, ...]
    """Without apostrophes; with a space before those that begin behind one."""
    parts: tuple[Part, ...]
    """By node; the first is the language."""
    wild: frozenset[int]
    """Parts that are any words at all."""
    levels: tuple[Level, ...]

    def frequent(self, most: int) -> list[str]:
        """Words that stand by themselves, the ones in most sentences first; digits and single letters left out."""
        counts = np.zeros(len(self.words), np.int64)
        for level in self.levels:
            for arcs in level.arcs:
                if arcs.kind == WORD:
                    np.add.at(counts, arcs.labels, 1)
        words = (self.words[number] for number in np.argsort(-counts, kind="stable"))
        alone = [word.strip() for word in words if word[0] == " " and word.strip().isalpha() and len(word) > 2]
        return alone[:most]

    @property
    def size(self) -> int:
        """Nodes."""
        return self.levels[-1].end if self.levels else 0


class _Arc(NamedTuple):
    kind: Kind
    source: int
    target: int
    label: int


def word_network(network: Network) -> WordNetwork:
    """The words of a network.

    Raises:
        ConfigurationError: There are too many.
    """
    reader = _Reader(network)
    parts = [reader.read(number) for number in range(len(network.parts))]
    wild = frozenset(number for number, part in enumerate(network.parts) if part.start in network.wild)
    levels, numbers = _levels(list(dict.fromkeys(reader.arcs)), parts, reader.size)
    return WordNetwork(
        tuple(reader.words),
        tuple(Part(numbers[part.start], numbers[part.end]) for part in parts),
        wild,
        levels,
    )


class _Reader:
    """Reads words part by part; nodes are numbered as they are met."""

    def __init__(self, network: Network) -> None:
        self._known: dict[tuple[int, str], int] = {}
        self._waiting: list[tuple[int, str]] = []
        self._end = 0
        self._network = network
        self.arcs: list[_Arc] = []
        self.words: dict[str, int] = {}
        self.size = 0

    def read(self, number: int) -> Part:
        """One part; where it begins and ends."""
        part = self._network.parts[number]
        self._known = {}
        self._end = self._new_node()
        start = self._place(part.start, " ")
        while self._waiting:
            node, space = self._waiting.pop()
            self._read_from(node, space, part.end)
        return Part(start, self._end)

    def _new_node(self) -> int:
        self.size += 1
        return self.size - 1

    def _place(self, node: int, space: str) -> int:
        """Where a word may begin, behind a space or not."""
        key = (node, space)
        if key not in self._known:
            self._known[key] = self._new_node()
            self._waiting.append(key)
        return self._known[key]

    def _add(self, kind: Kind, source: int, target: int, label: int = 0) -> None:
        if len(self.arcs) >= MOST_ARCS:
            raise ConfigurationError(f"the sentences need more than {MOST_ARCS} words; use fewer or shorter lists")
        self.arcs.append(_Arc(kind, source, target, label))

    def _word(self, text: str) -> int:
        return self.words.setdefault(text, len(self.words))

    def _read_from(self, begin: int, space: str, end: int) -> None:
        walk = _Walk(self._known[begin, space], space)
        walk.go_on(begin, "")
        while walk.waiting:
            node, word = walk.waiting.pop()
            if node == end:
                self._leave(walk, self._end, word)
            self._over_letters(walk, node, word)
            self._over_jumps(walk, node, word)
            self._over_calls(walk, node, word)

    def _over_letters(self, walk: _Walk, node: int, word: str) -> None:
        for letter, targets in self._network.letters[node].items():
            for target in targets:
                if letter == " ":
                    self._leave(walk, self._place(target, " "), word)
                elif letter in _UNHEARD:
                    walk.go_on(target, word)
                elif not word and IDEOGRAPH.match(letter):
                    self._leave(walk, self._place(target, ""), letter)
                else:
                    walk.go_on(target, word + letter)

    def _over_jumps(self, walk: _Walk, node: int, word: str) -> None:
        for target, _mark in self._network.jumps[node]:
            if word:
                walk.go_on(target, word)
            else:
                self._leave(walk, self._place(target, walk.space), "")

    def _over_calls(self, walk: _Walk, node: int, word: str) -> None:
        for call in self._network.calls[node]:
            before = walk.source
            if word:
                before = self._new_node()
                self._leave(walk, before, word)
            self._add(CALL, before, self._place(call.after, ""), call.part)

    def _leave(self, walk: _Walk, target: int, word: str) -> None:
        if word:
            self._add(WORD, walk.source, target, self._word(walk.space + word))
        elif walk.source != target:
            self._add(SILENT, walk.source, target)


class _Walk:
    """Letter by letter, from where a word may begin to where it ends."""

    def __init__(self, source: int, space: str) -> None:
        self.source = source
        self.space = space
        self.waiting: list[tuple[int, str]] = []
        self._seen: set[tuple[int, str]] = set()

    def go_on(self, node: int, word: str) -> None:
        """Once from each node with each beginning of a word."""
        if (node, word) not in self._seen:
            self._seen.add((node, word))
            self.waiting.append((node, word))


def _levels(arcs: list[_Arc], parts: list[Part], size: int) -> tuple[tuple[Level, ...], list[int]]:
    """The levels, and the new number of each node."""
    after: list[list[int]] = [[] for _ in range(size)]
    for arc in arcs:
        after[arc.source].append(arc.target)
        if arc.kind == CALL:
            after[parts[arc.label].end].append(arc.target)
    order = _topological(after)
    place = {node: number for number, node in enumerate(order)}
    depth = [0] * size
    for node in order:
        for target in after[node]:
            if place[target] > place[node]:  # else a loop
                depth[target] = max(depth[target], depth[node] + 1)
    nodes = sorted(range(size), key=lambda node: (depth[node], node))
    numbers = [0] * size
    for number, node in enumerate(nodes):
        numbers[node] = number
    into: dict[int, list[_Arc]] = {}
    for arc in arcs:
        if place[arc.target] > place[arc.source]:
            moved = arc._replace(source=numbers[arc.source], target=numbers[arc.target])
            into.setdefault(depth[arc.target], []).append(moved)
    counts = np.bincount(depth, minlength=max(depth) + 1).tolist()
    ends = np.cumsum(counts).tolist()
    return (
        tuple(
            Level(end - count, end, tuple(_packed(into.get(number, []))))
            for number, (count, end) in enumerate(zip(counts, ends, strict=True))
        ),
        numbers,
    )


def _packed(arcs: list[_Arc]) -> Iterator[Arcs]:
    for kind in (SILENT, WORD, CALL):
        own = sorted((arc for arc in arcs if arc.kind == kind), key=lambda arc: arc.target)
        if own:
            columns = np.array([(arc.source, arc.target, arc.label) for arc in own], np.int32).T
            yield Arcs(kind, *map(np.ascontiguousarray, columns))


def _topological(after: list[list[int]]) -> list[int]:
    """Nodes before those that follow, except where there is a loop; depth first, reversed."""
    seen = [False] * len(after)
    left: list[int] = []
    for root in range(len(after)):
        if seen[root]:
            continue
        seen[root] = True
        path = [(root, iter(after[root]))]
        while path:
            node, following = path[-1]
            target = next((target for target in following if not seen[target]), None)
            if target is None:
                left.append(node)
                path.pop()
            else:
                seen[target] = True
                path.append((target, iter(after[target])))
    return left[::-1]
