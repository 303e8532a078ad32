"""Sentence templates as a graph of whole words, for models whose tokens are cut by word: the network, letter by letter.

Here every part stands wherever it is called from, so lists that many sentences use multiply; a decoding graph needs it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.folding import FREE_MARKS
from edge_asr.commands.network import Network
from edge_asr.commands.token_trie import build_trie
from edge_asr.errors import ConfigurationError

MOST_WORDS = 200_000
"""Arcs."""


@dataclass(slots=True)
class WordGraph:
    """States 0 to n - 1; 0 is the start."""

    arcs: list[list[tuple[str, int]]] = field(default_factory=list)
    """For each state, words with the state behind them."""
    final: set[int] = field(default_factory=set)
    """States where a sentence may end."""


def word_graph(network: Network) -> WordGraph:
    """The words of a network's sentences.

    Raises:
        ConfigurationError: There is a wildcard, which has no words, or there are too many of them.
    """
    if network.wild:
        raise ConfigurationError("wildcards are any words at all, which a decoding graph cannot hold; leave them out")
    letters = sorted({letter for node in network.letters for letter in node} - FREE_MARKS | {" "})
    reader = _Reader(NetworkConstraint(network, build_trie(letters)), letters)
    graph = WordGraph()
    numbers = {reader.begin: 0}
    waiting = deque((reader.begin,))
    size = 0
    while waiting:
        state = waiting.popleft()
        words = reader.words(state)
        size += len(words)
        if size > MOST_WORDS:
            raise ConfigurationError(f"the sentences need more than {MOST_WORDS} words; use shorter lists")
        graph.arcs.append([])
        if reader.may_end(state):
            graph.final.add(numbers[state])
        for word, after in words:
            if after not in numbers:
                numbers[after] = len(numbers)
                waiting.append(after)
            graph.arcs[-1].append((word, numbers[after]))
    return graph


class _Reader:
    """Words behind the states of a constraint to single letters."""

    def __init__(self, constraint: NetworkConstraint, letters: list[str]) -> None:
        self.begin = constraint.begin()
        self.may_end = constraint.may_end
        self._constraint = constraint
        self._letters = letters

    def words(self, state: int) -> list[tuple[str, int]]:
        """The words that may come next, with the state behind each; none twice to the same state."""
        after_space = self._following(state).get(" ")
        found: list[tuple[str, int]] = []
        waiting = [("", after_space)] if after_space is not None else []
        while waiting:
            word, here = waiting.pop()
            following = self._following(here)
            if word and (" " in following or self.may_end(here)):
                found.append((word, here))
            waiting.extend((word + letter, after) for letter, after in following.items() if letter != " ")
        return sorted(found)

    def _following(self, state: int) -> dict[str, int]:
        following = self._constraint.following(state)
        pairs = zip(following.tokens.tolist(), following.states.tolist(), strict=True)
        return {self._letters[token]: after for token, after in pairs}
