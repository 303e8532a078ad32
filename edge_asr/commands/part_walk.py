"""The walk of a vocabulary's tree over one part of a network: which tokens begin at a node, and where they lead.

Between words a space or a hyphen is the same; behind a word there may be a mark (``,`` ``.`` ``!`` ``?``), and then
only a space or the end. Two spaces are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from edge_asr.commands.folding import FREE_MARKS
from edge_asr.commands.network import Network
from edge_asr.commands.token_trie import ROOT, TokenTrie

Spacing = Literal[0, 1, 2]
IN_WORD: Spacing = 0
AFTER_SPACE: Spacing = 1
AFTER_MARK: Spacing = 2

_ANYWHERE = FREE_MARKS | {"-"}
"""Letters that may be read where the network has none of them."""


class At(NamedTuple):
    """How much of a token was read."""

    spacing: Spacing
    trie: int
    """Node of the tree."""
    depth: int
    """Characters since the walk began."""


@dataclass(slots=True)
class Reach:
    """Where a walk within one part leads."""

    tokens: list[tuple[int, int, Spacing]] = field(default_factory=list)
    """Token, and the node behind it."""
    calls: list[tuple[int, int, At]] = field(default_factory=list)
    """Part, and the node behind it."""
    ends: list[At] = field(default_factory=list)
    """Where the part is left."""
    wild: list[tuple[int, int]] = field(default_factory=list)
    """Node of the tree below which every token leads on, and the node it leads to."""


class PartWalker:
    """Walks, and remembers every walk."""

    def __init__(self, network: Network, trie: TokenTrie) -> None:
        self.network = network
        self.trie = trie
        self.ends = {part.end for part in network.parts}
        self.walked = 0
        """Nodes that walks came by, in all; at each the time of some letters."""
        self._known: dict[tuple[int, Spacing, int], Reach] = {}

    def walk(self, node: int, spacing: Spacing, trie: int) -> Reach:
        """From a node, with the tree at one of its nodes."""
        key = (node, spacing, trie)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Walk(self).run(node, At(spacing, trie, 0))
        return known

    def may_end_word(self, node: int) -> bool:
        """Whether a space may follow, or the end of the part."""
        network = self.network
        seen = {node}
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if " " in network.letters[here] or here in self.ends or network.calls[here]:
                return True
            for target, _ in network.jumps[here]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False


class _Walk:
    def __init__(self, walker: PartWalker) -> None:
        self._walker = walker
        self._network = walker.network
        self._reach = Reach()
        self._seen: set[tuple[int, Spacing, int]] = set()
        self._waiting: list[tuple[int, At]] = []

    def run(self, node: int, at: At) -> Reach:
        children = self._walker.trie.children
        self._go(node, at)
        while self._waiting:
            node, at = self._waiting.pop()
            self._say_nothing(node, at)
            behind = children[at.trie]
            for letter in _ANYWHERE.union(self._network.letters[node]):  # of the tree's letters most lead nowhere
                child = behind.get(letter)
                if child is not None:
                    for target, spacing in self._targets(node, at.spacing, letter):
                        self._read(target, At(spacing, child, at.depth + 1))
        self._walker.walked += len(self._seen)
        return self._reach

    def _go(self, node: int, at: At) -> bool:
        key = (node, at.spacing, at.trie)
        if key in self._seen:
            return False
        self._seen.add(key)
        self._waiting.append((node, at))
        return True

    def _read(self, node: int, at: At) -> None:
        if self._go(node, at):
            self._reach.tokens.extend((token, node, at.spacing) for token in self._walker.trie.tokens[at.trie])

    def _say_nothing(self, node: int, at: At) -> None:
        network = self._network
        if node in self._walker.ends:
            self._reach.ends.append(at)
        self._reach.calls.extend((call.part, call.after, at) for call in network.calls[node])
        target = network.wild.get(node)
        if target is not None:
            self._reach.wild.append((at.trie, target))
        # Free words end where a token does: nothing tells their letters from those of the next word.
        if target is None or (at.trie == ROOT and at.spacing != AFTER_SPACE):
            for after, _ in network.jumps[node]:
                self._go(after, at)
        if at.spacing == AFTER_SPACE:
            for after in network.letters[node].get(" ", ()):
                self._go(after, at)

    def _targets(self, node: int, spacing: Spacing, letter: str) -> Iterable[tuple[int, Spacing]]:
        letters = self._network.letters[node]
        found: list[tuple[int, Spacing]] = []
        if letter in (" ", "-") and spacing != AFTER_SPACE:
            found.extend((target, AFTER_SPACE) for target in letters.get(" ", ()))
        if letter in FREE_MARKS and spacing == IN_WORD and self._walker.may_end_word(node):
            found.append((node, AFTER_MARK))
        if letter != " " and spacing != AFTER_MARK:
            found.extend((target, IN_WORD) for target in letters.get(letter, ()))
        return found
