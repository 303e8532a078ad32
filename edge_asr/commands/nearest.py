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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from edge_asr.commands.resemblance import MOST_RUN, Piece, Resemblance, words_of, written
from edge_asr.commands.word_network import CALL, IDEOGRAPH, SILENT, WORD, WordNetwork
from edge_asr.commands.word_tables import INNER, MAIN, Layer, Steps, WordTables

MOST_HEARD = 40
"""Words of a text that is looked at; nobody commands more at once."""

MOST_KEPT = 64
"""Texts whose sentence is remembered: at home the same is said again and again."""

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
        self._tables = WordTables(network)
        self._found: dict[str, Match | None] = {}

    def find(self, text: str) -> Match | None:
        """The nearest sentence; ``None`` where nothing was heard, too much, or nothing like any sentence."""
        if text not in self._found:
            if len(self._found) >= MOST_KEPT:
                del self._found[next(iter(self._found))]
            self._found[text] = self._look_for(text)
        return self._found[text]

    def _look_for(self, text: str) -> Match | None:
        words = words_of(text)
        if not 0 < len(words) <= MOST_HEARD or not self._network.words:
            return None
        heard = self._resemblance.pieces_of(words)
        insertions = np.array([0.0 if piece.word in self._fillers else len(piece.text) for piece in heard], np.float32)
        costs = self._resemblance.costs(heard)
        search = _Search(self._tables, costs, insertions, [len(piece.text) for piece in heard])
        if not np.isfinite(search.cost):
            return None
        return _match(self._network.words, heard, search.way(), search.cost)


class _Search:
    """The costs of one text: of each node, from each position where its part was entered to each other."""

    def __init__(self, tables: WordTables, words: Costs, insertions: Costs, lengths: Sequence[int]) -> None:
        self._tables = tables
        self._network = network = tables.network
        self._words = words
        weights = words[:, 0, 0]
        self._likely = (words[:, :, 1:].min(axis=(1, 2)) <= FARTHEST * weights) | (weights <= SHORT)
        self._before = np.concatenate([[0], np.cumsum(insertions)]).astype(np.float32)
        self._positions = positions = len(lengths) + 1
        letters = np.concatenate([[0], np.cumsum(lengths)])
        span = letters[None, :] - letters[:, None]
        self._wild = np.where(span > 0, WILD * span, np.inf).astype(np.float32)
        self._costs = tuple(
            np.full((rows, entered, positions), _INFINITE, np.float32)
            for rows, entered in zip(tables.sizes, (1, positions), strict=True)
        )
        self._costs[MAIN][tables.starts[0], 0, 0] = 0
        for number in range(1, len(network.parts)):
            np.fill_diagonal(self._costs[INNER][tables.starts[number]], 0)
        for layer in tables.layers:
            self._compute(layer)

    @property
    def cost(self) -> float:
        """Of the nearest sentence."""
        return float(self._of(self._network.parts[0].end)[0, -1])

    def _of(self, node: int) -> Costs:
        """Costs of one node, (entered, reached)."""
        table, row = self._tables.place(node)
        costs: Costs = self._costs[table][row]
        return costs

    def _part(self, part: int) -> Costs:
        return self._wild if part in self._network.wild else self._of(self._network.parts[part].end)

    def _compute(self, layer: Layer) -> None:
        for ways in layer.steps:
            steps = ways.with_labels(self._likely) if ways.kind == WORD else ways
            table = self._costs[steps.table]
            at_once = max(1, MOST_AT_ONCE // (table.shape[1] * table.shape[2]))
            for begin in range(0, len(steps.targets), at_once):
                self._follow(table, steps, slice(begin, begin + at_once))
        for table, rows in zip(self._costs, layer.rows, strict=True):
            costs = table[rows]
            costs -= self._before
            np.minimum.accumulate(costs, axis=-1, out=costs)
            costs += self._before

    def _follow(self, table: Costs, steps: Steps, chosen: slice) -> None:
        """Some of the steps."""
        targets, labels = steps.targets[chosen], steps.labels[chosen]
        before = table[steps.sources[chosen]]
        if steps.kind == SILENT:
            reached = before
        elif steps.kind == WORD:
            reached = self._over_words(before, labels)
        else:
            reached = self._over_parts(before, labels)
        first = np.flatnonzero(np.diff(targets, prepend=-1))
        rows = targets[first]
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
        while todo:
            node, part, entered, reached = todo.pop()
            if part in self._network.wild:
                found.append((-1, entered, reached))
                continue
            steps = self._step(node, part, entered, reached)
            if steps is not None:
                word, calls = steps
                found += word
                todo += calls
        return found[::-1]

    def _step(
        self, node: int, part: int, entered: int, reached: int
    ) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int, int]]] | None:
        """The last step to a node: its word, and what is to be gone back over, the last of them first."""
        row = 0 if part == 0 else entered
        cost = self._of(node)[row, reached]
        if node == self._network.parts[part].start and reached == entered:
            return None
        for kind, source, label in self._tables.into(node):
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
