"""A vocabulary as a tree of characters, in which the tokens that continue a text are found without trying each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from edge_asr.commands.folding import fold

ROOT = 0

IntArray = npt.NDArray[np.int64]


@dataclass(slots=True)
class TokenTrie:
    """Nodes are numbers; :data:`ROOT` is where no character was read."""

    children: list[dict[str, int]] = field(default_factory=lambda: [{}])
    """For each node, character to the node behind it."""
    tokens: list[list[int]] = field(default_factory=lambda: [[]])
    """For each node, the tokens whose text ends there."""
    parents: list[int] = field(default_factory=lambda: [ROOT])
    """For each node, the one before it."""
    size: int = 0
    """Tokens of the vocabulary, those that are no text included."""
    _below: dict[int, IntArray] = field(default_factory=dict)

    def below(self, node: int) -> IntArray:
        """The tokens whose text goes on behind a node, shape (n,)."""
        known = self._below.get(node)
        if known is None:
            found: list[int] = []
            waiting = list(self.children[node].values())
            while waiting:
                here = waiting.pop()
                found.extend(self.tokens[here])
                waiting.extend(self.children[here].values())
            known = self._below[node] = np.array(sorted(found), np.int64)
        return known

    def is_below(self, node: int, other: int) -> bool:
        """Whether ``node`` lies behind ``other``, or is it."""
        while node not in (other, ROOT):
            node = self.parents[node]
        return node == other


def build_trie(texts: Sequence[str]) -> TokenTrie:
    """The tree of a vocabulary.

    Args:
        texts: Text of each token by id, a space where a word begins; empty for tokens that are no text. Case and
            accents do not matter. Tokens with a space elsewhere than at the beginning are left out.
    """
    trie = TokenTrie(size=len(texts))
    for token, text in enumerate(texts):
        letters = fold(text)
        if not letters or " " in letters[1:] or not letters.isprintable():
            continue
        node = ROOT
        for letter in letters:
            child = trie.children[node].get(letter)
            if child is None:
                child = trie.children[node][letter] = len(trie.children)
                trie.children.append({})
                trie.tokens.append([])
                trie.parents.append(node)
            node = child
        trie.tokens[node].append(token)
    return trie
