"""A vocabulary as a tree of characters, in which the tokens that continue a text are found without trying each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from edge_asr.commands.folding import fold

ROOT = 0


@dataclass(slots=True)
class TokenTrie:
    """Nodes are numbers; :data:`ROOT` is where no character was read."""

    children: list[dict[str, int]] = field(default_factory=lambda: [{}])
    """For each node, character to the node behind it."""
    tokens: list[list[int]] = field(default_factory=lambda: [[]])
    """For each node, the tokens whose text ends there."""


def build_trie(texts: Sequence[str]) -> TokenTrie:
    """The tree of a vocabulary.

    Args:
        texts: Text of each token by id, a space where a word begins; empty for tokens that are no text. Case and
            accents do not matter. Tokens with a space elsewhere than at the beginning are left out.
    """
    trie = TokenTrie()
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
            node = child
        trie.tokens[node].append(token)
    return trie
