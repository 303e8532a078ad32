"""Which tokens continue a sentence: the walk of a vocabulary's tree over a network, remembered.

The tree is walked within one part of the network at a time, and what is found there holds wherever the part is called
from; it is computed once. A state of the constraint is a set of places, each a node with the frame it returns to. A
frame is a set of callers, so twenty sentences that all go on with a name share one place in the list of names.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from edge_asr.commands.folding import FREE_MARKS
from edge_asr.commands.network import Network
from edge_asr.commands.token_trie import ROOT, TokenTrie
from edge_asr.engines.base import Following

MOST_STATES = 200_000
"""Remembered; beyond that everything is forgotten before the next text."""

Spacing = Literal[0, 1, 2]
_IN_WORD: Spacing = 0
_AFTER_SPACE: Spacing = 1  # another space says nothing
_AFTER_MARK: Spacing = 2  # only a space may follow, or the end

Frame = int
"""Number of a set of callers."""
_OUTSIDE: Frame = 0
"""Behind the end of the language there is nothing."""


class _Place(NamedTuple):
    """Where a walk begins."""

    depth: int
    node: int
    spacing: Spacing
    trie: int


@dataclass(slots=True)
class _Reach:
    """Where a walk within one part leads."""

    tokens: list[tuple[int, int, Spacing]] = field(default_factory=list)
    """Token, node behind it."""
    calls: list[tuple[int, int, int, Spacing, int]] = field(default_factory=list)
    """Part, node behind it, and where the tree is: depth, spacing, node."""
    ends: list[tuple[int, Spacing, int]] = field(default_factory=list)
    """Where the tree is at the part's end."""


class _Known(NamedTuple):
    """A state: its places and what stands before them."""

    places: frozenset[tuple[int, Frame]]
    spacing: Spacing


class NetworkConstraint:
    """Implements :class:`~edge_asr.engines.base.TokenConstraint`; used by one thread."""

    def __init__(self, network: Network, trie: TokenTrie) -> None:
        self._network = network
        self._trie = trie
        self._ends = {part.end for part in network.parts}
        self._reach: dict[tuple[int, Spacing, int], _Reach] = {}
        self._forget()

    def begin(self) -> int:
        """The state in which nothing was said."""
        if len(self._states) > MOST_STATES:
            self._forget()
        return self._number(_Known(frozenset(((self._network.parts[0].start, _OUTSIDE),)), _IN_WORD))

    def following(self, state: int) -> Following:
        """What may come next."""
        known = self._following.get(state)
        if known is None:
            known = self._following[state] = self._expand(self._states[state])
        return known

    def may_end(self, state: int) -> bool:
        """Whether the text is a sentence."""
        known = self._may_end.get(state)
        if known is None:
            known = self._may_end[state] = self._is_sentence(self._states[state])
        return known

    # States and frames by number.

    def _forget(self) -> None:
        self._states: list[_Known] = []
        self._numbers: dict[_Known, int] = {}
        self._following: dict[int, Following] = {}
        self._may_end: dict[int, bool] = {}
        self._frames: list[frozenset[tuple[int, Frame]]] = [frozenset()]
        self._frame_numbers: dict[frozenset[tuple[int, Frame]], Frame] = {frozenset(): _OUTSIDE}

    def _number(self, known: _Known) -> int:
        number = self._numbers.get(known)
        if number is None:
            number = self._numbers[known] = len(self._states)
            self._states.append(known)
        return number

    def _frame(self, callers: frozenset[tuple[int, Frame]]) -> Frame:
        number = self._frame_numbers.get(callers)
        if number is None:
            number = self._frame_numbers[callers] = len(self._frames)
            self._frames.append(callers)
        return number

    # From a state on.

    def _expand(self, state: _Known) -> Following:
        found: dict[int, dict[int, set[tuple[int, Frame]]]] = {}
        spacings: dict[int, Spacing] = {}
        for reach, callers in self._walks(state.places, state.spacing):
            for token, node, spacing in reach.tokens:
                nodes = found.get(token)
                if nodes is None:
                    nodes = found[token] = {}
                    spacings[token] = spacing
                known = nodes.get(node)
                nodes[node] = callers if known is None else known | callers
        frames: dict[int, Frame] = {}
        states = []
        for token, nodes in found.items():
            places = []
            for node, callers in nodes.items():
                frame = frames.get(id(callers))
                if frame is None:
                    frame = frames[id(callers)] = self._frame(frozenset(callers))
                places.append((node, frame))
            states.append(self._number(_Known(frozenset(places), spacings[token])))
        return Following(np.array(list(found), np.int64), np.array(states, np.int64))

    def _is_sentence(self, state: _Known) -> bool:
        """Whether nothing more need be said; spaces at the end say nothing."""
        for reach, callers in self._walks(state.places, _AFTER_SPACE, is_silent=True):
            if not callers and any(trie == ROOT for _, _, trie in reach.ends):
                return True
        return False

    def _walks(
        self, places: frozenset[tuple[int, Frame]], spacing: Spacing, *, is_silent: bool = False
    ) -> list[tuple[_Reach, set[tuple[int, Frame]]]]:
        """The walks from places and from wherever they call or return, each with the callers of its part."""
        waiting: dict[_Place, set[tuple[int, Frame]]] = {}
        order: list[_Place] = []
        done: dict[_Place, set[tuple[int, Frame]]] = {}
        walks = []

        def go(place: _Place, callers: set[tuple[int, Frame]]) -> None:
            if place in waiting:
                waiting[place] |= callers
            elif place not in done or not callers <= done[place]:
                waiting[place] = set(callers)
                heapq.heappush(order, place)

        for node, frame in places:
            go(_Place(0, node, spacing, ROOT), set(self._frames[frame]))
        while order:
            place = heapq.heappop(order)
            callers = waiting.pop(place)
            done[place] = done.get(place, set()) | callers
            reach = self._walk(place.node, place.spacing, place.trie)
            walks.append((reach, callers))
            frame = self._frame(frozenset(callers)) if reach.calls else _OUTSIDE
            for part, after, depth, at, trie in reach.calls:
                if not is_silent or trie == ROOT:
                    go(_Place(place.depth + depth, self._network.parts[part].start, at, trie), {(after, frame)})
            for depth, at, trie in reach.ends:
                if not is_silent or trie == ROOT:
                    for after, outer in callers:
                        go(_Place(place.depth + depth, after, at, trie), set(self._frames[outer]))
        return walks

    # Within one part.

    def _walk(self, node: int, spacing: Spacing, trie: int) -> _Reach:
        key = (node, spacing, trie)
        known = self._reach.get(key)
        if known is None:
            known = self._reach[key] = self._new_walk(*key)
        return known

    def _new_walk(self, node: int, spacing: Spacing, trie: int) -> _Reach:
        network, children, tokens = self._network, self._trie.children, self._trie.tokens
        reach = _Reach()
        seen = {(node, spacing, trie)}
        waiting = [(node, spacing, trie, 0)]

        def go(node: int, spacing: Spacing, trie: int, depth: int) -> None:
            if (node, spacing, trie) not in seen:
                seen.add((node, spacing, trie))
                waiting.append((node, spacing, trie, depth))

        def read(node: int, spacing: Spacing, trie: int, depth: int) -> None:
            if (node, spacing, trie) not in seen:
                reach.tokens.extend((token, node, spacing) for token in tokens[trie])
                go(node, spacing, trie, depth)

        while waiting:
            node, spacing, trie, depth = waiting.pop()
            letters = network.letters[node]
            is_wild = node in network.wild
            if node in self._ends:
                reach.ends.append((depth, spacing, trie))
            reach.calls.extend((call.part, call.after, depth, spacing, trie) for call in network.calls[node])
            if not is_wild or (trie == ROOT and spacing != _AFTER_SPACE):  # free words end where a token does
                for target, _ in network.jumps[node]:
                    go(target, spacing, trie, depth)
            if spacing == _AFTER_SPACE:
                for target in letters.get(" ", ()):
                    go(target, spacing, trie, depth)
            for letter, child in children[trie].items():
                if is_wild and not (letter == " " and spacing == _AFTER_SPACE):
                    read(network.wild[node], _AFTER_SPACE if letter == " " else _IN_WORD, child, depth + 1)
                elif letter in (" ", "-") and spacing != _AFTER_SPACE:
                    for target in letters.get(" ", ()):
                        read(target, _AFTER_SPACE, child, depth + 1)
                if letter in FREE_MARKS and spacing == _IN_WORD and (" " in letters or self._is_word_end(node)):
                    read(node, _AFTER_MARK, child, depth + 1)
                if letter != " " and spacing != _AFTER_MARK:
                    for target in letters.get(letter, ()):
                        read(target, _IN_WORD, child, depth + 1)
        return reach

    def _is_word_end(self, node: int) -> bool:
        """Whether a space may follow, or the part's end."""
        seen = {node}
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if " " in self._network.letters[here] or here in self._ends or self._network.calls[here]:
                return True
            for target, _ in self._network.jumps[here]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False
