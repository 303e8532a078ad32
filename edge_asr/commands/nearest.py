"""The sentence of a network that is nearest to a text, by a weighted edit distance; no sentence is enumerated.

Its words are first compared with every run of a few heard words (a recogniser writes "cap a chino") or of pieces of
them ("alarge"), in native code (:mod:`edge_asr.commands.resemblance`). Then costs are carried through the network level
by level, for all positions of the text at once: of a node, what the cheapest way costs from where its part was entered
to each position. Parts are computed for every position where they may begin, once, and whoever calls them adds their
costs to its own. It is Viterbi's algorithm over a recursive transition network; the time is that of the network's size
times the square of the number of heard words, in numpy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from edge_asr.commands.resemblance import MOST_RUN, Piece, Resemblance, words_of, written
from edge_asr.commands.word_network import CALL, IDEOGRAPH, SILENT, WORD, Arcs, Level, WordNetwork

MOST_HEARD = 40
"""Words of a text that is looked at; nobody commands more at once."""

WILD = 1 / 8
"""Of each letter that a wildcard takes, so that words of the sentence are preferred to it."""

FARTHEST = 0.67
"""Of its letters, what a word may differ from all that was heard; beyond, sentences with it are not looked at."""

SHORT = 3
"""Letters of words that may not have been heard at all."""

MOST_AT_ONCE = 1 << 18
"""Costs that are computed in one piece: about what a core's cache holds."""

SAME = 1e-3
"""Costs are sums of fractions with a power of two below the line; this is for none of them."""

_AMONG_IDEOGRAPHS = re.compile(f"(?<={IDEOGRAPH.pattern}) (?={IDEOGRAPH.pattern})")

Costs = npt.NDArray[np.float32]
_INFINITE = np.float32(np.inf)


@dataclass(frozen=True, slots=True)
class Match:
    """The nearest sentence."""

    spellings: tuple[str, ...]
    """Of the sentence, wildcards filled with what was heard, one of them as the network has it: of words at the edge
    of a part it is not known here whether there is a space before them."""
    cost: float
    """Letters by which it differs from what was heard, wildcards aside."""
    letters: int
    """Of what was heard or of the sentence, whichever is more, wildcards aside."""

    @property
    def distance(self) -> float:
        """The share of the letters that differ; 1 where only a wildcard was heard."""
        return self.cost / self.letters if self.letters else 1.0


class NearestSentence:
    """Finds it; used by one thread.

    Args:
        network: What may be said.
        fillers: Words that cost nothing where no sentence has them.
    """

    def __init__(self, network: WordNetwork, fillers: frozenset[str] = frozenset()) -> None:
        self._network = network
        self._fillers = fillers
        self._resemblance = Resemblance(network.words)
        self._is_inner = _inner_nodes(network)
        self.find = lru_cache(64)(self._find)

    def _find(self, text: str) -> Match | None:
        words = words_of(text)
        if not 0 < len(words) <= MOST_HEARD or not self._network.words:
            return None
        heard = self._resemblance.pieces_of(words)
        insertions = np.array([0.0 if piece.word in self._fillers else len(piece.text) for piece in heard], np.float32)
        costs = self._resemblance.costs(heard)
        search = _Search(self._network, self._is_inner, costs, insertions, [len(piece.text) for piece in heard])
        if not np.isfinite(search.cost):
            return None
        return _match(self._network.words, heard, search.way(), search.cost)


def _inner_nodes(network: WordNetwork) -> npt.NDArray[np.bool_]:
    """Nodes of parts that others call: they are computed for every position at which they may be entered."""
    is_main = np.zeros(network.size, bool)
    is_main[network.parts[0].start] = True
    for level in network.levels:
        for arcs in level.arcs:
            is_main[arcs.targets[is_main[arcs.sources]]] = True
    return ~is_main


class _Search:
    """The costs of one text: of each node, from each position where its part was entered to each other.

    Nodes of the language itself are entered at the beginning only, and have one row.
    """

    def __init__(
        self,
        network: WordNetwork,
        is_inner: npt.NDArray[np.bool_],
        words: Costs,
        insertions: Costs,
        lengths: Sequence[int],
    ) -> None:
        self._network = network
        self._words = words
        weights = words[:, 0, 0]
        self._likely = (words[:, :, 1:].min(axis=(1, 2)) <= FARTHEST * weights) | (weights <= SHORT)
        self._before = np.concatenate([[0], np.cumsum(insertions)]).astype(np.float32)
        self._positions = positions = len(lengths) + 1
        letters = np.concatenate([[0], np.cumsum(lengths)])
        span = letters[None, :] - letters[:, None]
        self._wild = np.where(span > 0, WILD * span, np.inf).astype(np.float32)
        self._rows = np.where(is_inner, np.cumsum(is_inner) - 1, np.cumsum(~is_inner) - 1)
        self._is_inner = is_inner
        self._inner = np.full((int(is_inner.sum()), positions, positions), _INFINITE, np.float32)
        self._main = np.full((int((~is_inner).sum()), 1, positions), _INFINITE, np.float32)
        for number, part in enumerate(network.parts):
            row = self._rows[part.start]
            if number == 0:
                self._main[row, 0, 0] = 0
            else:
                np.fill_diagonal(self._inner[row], 0)
        for level in network.levels:
            self._compute(level)

    @property
    def cost(self) -> float:
        """Of the nearest sentence."""
        return float(self._of(self._network.parts[0].end)[0, -1])

    def _of(self, node: int) -> Costs:
        """Costs of one node, (entered, reached)."""
        costs: Costs = (self._inner if self._is_inner[node] else self._main)[self._rows[node]]
        return costs

    def _part(self, part: int) -> Costs:
        return self._wild if part in self._network.wild else self._of(self._network.parts[part].end)

    def _compute(self, level: Level) -> None:
        for arcs in level.arcs:
            is_inner = self._is_inner[arcs.targets]
            is_likely = self._likely[arcs.labels] if arcs.kind == WORD else True
            for table, chosen in ((self._inner, is_inner & is_likely), (self._main, ~is_inner & is_likely)):
                at_once = max(1, MOST_AT_ONCE // (table.shape[1] * table.shape[2]))
                numbers = np.flatnonzero(chosen)
                for begin in range(0, len(numbers), at_once):
                    self._follow(table, arcs, numbers[begin : begin + at_once])
        nodes = np.arange(level.begin, level.end)
        for table, chosen in ((self._inner, self._is_inner[nodes]), (self._main, ~self._is_inner[nodes])):
            if chosen.any():
                rows = self._rows[nodes[chosen]]
                with np.errstate(invalid="ignore"):
                    table[rows] = np.minimum.accumulate(table[rows] - self._before, axis=-1) + self._before

    def _follow(self, table: Costs, arcs: Arcs, chosen: npt.NDArray[np.int64]) -> None:
        """Some arcs of one level and kind within one table; those to the same node stand together."""
        targets = arcs.targets[chosen]
        labels = arcs.labels[chosen]
        before = table[self._rows[arcs.sources[chosen]]]
        if arcs.kind == SILENT:
            reached = before
        elif arcs.kind == WORD:
            reached = self._over_words(before, labels)
        else:
            reached = self._over_parts(before, labels)
        first = np.flatnonzero(np.diff(targets, prepend=-1))
        rows = self._rows[targets[first]]
        table[rows] = np.minimum(table[rows], np.minimum.reduceat(reached, first, axis=0))

    def _over_words(self, before: Costs, labels: npt.NDArray[np.int32]) -> Costs:
        words = self._words[labels]
        reached = before + words[:, None, :, 0]
        for run in range(1, min(MOST_RUN, self._positions - 1) + 1):
            over = before[:, :, :-run] + words[:, None, :-run, run]
            np.minimum(reached[:, :, run:], over, out=reached[:, :, run:])
        return reached

    def _over_parts(self, before: Costs, labels: npt.NDArray[np.int32]) -> Costs:
        numbers, which = np.unique(labels, return_inverse=True)
        parts = np.stack([self._part(int(number)) for number in numbers])[which]
        reached = before[:, :, 0, None] + parts[:, None, 0, :]
        for entered in range(1, self._positions):
            np.minimum(reached, before[:, :, entered, None] + parts[:, None, entered, :], out=reached)
        return reached

    # The way back.

    def way(self) -> list[tuple[int, int, int]]:
        """Words of the cheapest sentence with the positions they go over; of wildcards, the word is -1."""
        found: list[tuple[int, int, int]] = []
        todo = [(self._network.parts[0].end, 0, 0, self._positions - 1)]
        levels = _LevelOf(self._network)
        while todo:
            node, part, entered, reached = todo.pop()
            if part in self._network.wild:
                found.append((-1, entered, reached))
                continue
            steps = self._step(levels, node, part, entered, reached)
            if steps is not None:
                word, calls = steps
                found += word
                todo += calls
        return found[::-1]

    def _step(
        self, levels: _LevelOf, node: int, part: int, entered: int, reached: int
    ) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int, int]]] | None:
        """The last step to a node: its word, and what is to be gone back over, the last of them first."""
        row = 0 if part == 0 else entered
        cost = self._of(node)[row, reached]
        if node == self._network.parts[part].start and reached == entered:
            return None
        for kind, source, label in levels.into(node):
            before = self._of(source)[row]
            if kind == SILENT and abs(before[reached] - cost) < SAME:
                return [], [(source, part, entered, reached)]
            if kind == WORD:
                for run in range(min(MOST_RUN, reached) + 1):
                    if abs(before[reached - run] + self._words[label, reached - run, run] - cost) < SAME:
                        return [(label, reached - run, reached)], [(source, part, entered, reached - run)]
            if kind == CALL:
                inside = self._part(label)
                for begin in range(reached + 1):
                    if abs(before[begin] + inside[begin, reached] - cost) < SAME:
                        end = self._network.parts[label].end
                        return [], [(source, part, entered, begin), (end, label, begin, reached)]
        return [], [(node, part, entered, reached - 1)]  # the heard word before is none of the sentence


class _LevelOf:
    """The ways into a node."""

    def __init__(self, network: WordNetwork) -> None:
        self._levels = network.levels
        self._begins = [level.begin for level in network.levels]

    def into(self, node: int) -> Iterator[tuple[int, int, int]]:
        """Kind, source and label."""
        level = self._levels[int(np.searchsorted(self._begins, node, side="right")) - 1]
        for arcs in level.arcs:
            first, last = np.searchsorted(arcs.targets, [node, node + 1])
            for number in range(first, last):
                yield arcs.kind, int(arcs.sources[number]), int(arcs.labels[number])


def _match(words: Sequence[str], heard: Sequence[Piece], way: list[tuple[int, int, int]], cost: float) -> Match:
    wild_letters = sum(_letters(heard[begin:end]) for word, begin, end in way if word < 0)
    said = [words[word] if word >= 0 else f" {written(heard[begin:end])}" for word, begin, end in way]
    fixed_letters = sum(len(words[word].strip()) for word, _, _ in way if word >= 0)
    text = "".join(said).strip()
    return Match(
        tuple(dict.fromkeys((_AMONG_IDEOGRAPHS.sub("", text), text, " ".join(text.strip() for text in said)))),
        max(0.0, cost - WILD * wild_letters),
        max(_letters(heard) - wild_letters, fixed_letters),
    )


def _letters(pieces: Sequence[Piece]) -> int:
    return sum(len(piece.text) for piece in pieces)
